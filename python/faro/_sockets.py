"""Words between the processes of a machine: a socket from each rank to each, some ten times as fast as gloo's collectives.

Each rank listens in a folder of its own user's, and connects to those before it. Where the folders of one are not found by another, as
in containers, there are no sockets, on any rank.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from typing import Callable

from ._errors import FaroDeviceError, refuse

_MOST_RANKS = 64
_MOST_BYTES = 32768  # what every socket takes at once, so that all send before anybody reads
_SECONDS = 300.0


def between(ranks: int, rank: int, gather: Callable[[bytes], list[bytes]]) -> "Sockets | bool":
    """Sockets among all ranks, which find each other by ``gather``; False where they do not. Collective."""
    if ranks > _MOST_RANKS or not hasattr(socket, "AF_UNIX"):
        return False
    folder = tempfile.mkdtemp(prefix="faro-")  # for this user alone
    listening = socket.socket(socket.AF_UNIX)
    peers: dict[int, socket.socket] = {}
    try:
        token = os.urandom(16)
        path = os.path.join(folder, "words")
        listening.bind(path)
        listening.listen(ranks)
        found = True
        for peer, theirs in enumerate(gather(token + os.fsencode(path))):
            if peer >= rank:
                break
            try:
                peers[peer] = socket.socket(socket.AF_UNIX)
                peers[peer].connect(os.fsdecode(theirs[16:]))
                peers[peer].sendall(theirs[:16] + rank.to_bytes(4, "little"))
            except OSError:
                found = False
        if not all(each == b"y" for each in gather(b"y" if found else b"n")):
            for peer_socket in peers.values():
                peer_socket.close()
            return False
        listening.settimeout(_SECONDS)
        while len(peers) < ranks - 1:
            other, _ = listening.accept()
            hello = _received(other, 20)
            if hello[:16] == token:
                peers[int.from_bytes(hello[16:], "little")] = other
    finally:
        listening.close()
        shutil.rmtree(folder, ignore_errors=True)
    for peer_socket in peers.values():
        peer_socket.settimeout(_SECONDS)
    return Sockets(rank, peers)


def _received(peer: socket.socket, count: int) -> bytes:
    all_bytes = b""
    while len(all_bytes) < count:
        some = peer.recv(count - len(all_bytes))
        if not some:
            raise OSError("the other end is closed")
        all_bytes += some
    return all_bytes


class Sockets:
    """One rank's ends, by the others' ranks."""

    def __init__(self, rank: int, peers: dict[int, socket.socket]):
        self._rank, self._peers = rank, peers

    def gather(self, mine: bytes) -> "list[bytes] | None":
        """What all said, by rank; None, on all, where one has more to say than goes at once. Where a rank is gone, all have heard it from
        each that is there, and none waits."""
        word = mine if len(mine) <= _MOST_BYTES else b""
        said = {self._rank: mine}
        fits = len(mine) <= _MOST_BYTES
        lost: list[tuple[int, OSError]] = []
        for peer, each in self._peers.items():
            try:
                each.sendall(len(mine).to_bytes(8, "little") + word)
            except OSError as error:
                lost.append((peer, error))
        if not lost:
            try:
                for peer, each in self._peers.items():
                    size = int.from_bytes(_received(each, 8), "little")
                    fits = fits and size <= _MOST_BYTES
                    said[peer] = _received(each, size) if size <= _MOST_BYTES else b""
            except OSError as error:
                lost.append((peer, error))
        if lost:
            for each in self._peers.values():
                each.close()
            refuse("tell the other ranks", f"no word from rank {lost[0][0]}: {lost[0][1]}", "ranks that all go on", kind=FaroDeviceError)
        return [said[peer] for peer in sorted(said)] if fits else None
