#!/usr/bin/env python3
"""tools/lower_glibc.py VERSION FILE…   makes shared libraries ask for no newer C library than VERSION, such as 2.28.

A library that is linked on a new system asks for the newest version of each of glibc's symbols, `pthread_create@GLIBC_2.34`, where
an older one, `pthread_create@GLIBC_2.2.5`, is offered by this glibc as well as by the old ones, for programs that were linked long
ago. So each symbol that is too new is given the newest version that is not, in place: its entry in .gnu.version points to another
record of .gnu.version_r, or to none where that is the oldest, and the records of versions that nobody needs any more become
repetitions of one that is needed. A symbol without an older version is an error: whoever links the library has to define it
(python/portable/old_glibc.c).

ELF of 64 bits and this machine's byte order; CC, gcc where it is not set, is the compiler whose glibc it is. The file is written once all
of it is found possible.
"""

import os
import shlex
import struct
import subprocess
import sys
from pathlib import Path

HOST = ("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1")


def number(version):
    """(2, 34) of b"GLIBC_2.34"; None of what is no version of glibc."""
    parts = version.removeprefix(b"GLIBC_").split(b".")
    return tuple(map(int, parts)) if version.startswith(b"GLIBC_") and all(part.isdigit() for part in parts) else None


class Library:
    def __init__(self, path):
        self.data = bytearray(Path(path).read_bytes())
        if self.data[:6] != b"\x7fELF\x02\x01":
            sys.exit(f"{path} is no ELF file of 64 bits")
        self.sections = {}
        table, = struct.unpack_from("<Q", self.data, 40)
        size, count, names = struct.unpack_from("<HHH", self.data, 58)
        headers = [struct.unpack_from("<IIQQQQIIQQ", self.data, table + i * size) for i in range(count)]
        for header in headers:
            self.sections[self.text(headers[names][4] + header[0])] = (header[4], header[5], header[7])
        self.strings = self.sections[b".dynstr"][0]

    def text(self, place):
        return bytes(self.data[place : self.data.index(b"\0", place)])

    def symbols(self):
        """(name, place of its entry in .gnu.version)"""
        start, size, _ = self.sections[b".dynsym"]
        versions = self.sections[b".gnu.version"][0]
        for i in range(size // 24):
            name, = struct.unpack_from("<I", self.data, start + 24 * i)
            yield self.text(self.strings + name), versions + 2 * i

    def records(self, section, head, link):
        """Of .gnu.version_r and _d: places of an outer record and of its inner ones."""
        place, _, count = self.sections.get(section, (0, 0, 0))
        for _ in range(count):
            inner, following = struct.unpack_from("<II", self.data, place + head)
            places = [place + inner]
            while (step := struct.unpack_from("<I", self.data, places[-1] + link)[0]) != 0:
                places.append(places[-1] + step)
            yield place, places
            place += following


def offered():
    """The versions of each symbol that this machine's glibc offers."""
    found = {}
    compiler = shlex.split(os.environ.get("CC", "gcc"))
    for name in HOST:
        path = subprocess.run([*compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
        library = Library(path)
        versions = {}
        for record, inner in library.records(b".gnu.version_d", 12, 4):
            index, = struct.unpack_from("<H", library.data, record + 4)
            string, = struct.unpack_from("<I", library.data, inner[0])
            versions[index] = library.text(library.strings + string)
        for symbol, place in library.symbols():
            version = versions.get(struct.unpack_from("<H", library.data, place)[0] & 0x7FFF, b"")
            if number(version):
                found.setdefault(symbol, set()).add(version)
    return found


def name_version(data, record, told):
    hashed, string = told
    struct.pack_into("<I", data, record, hashed)
    struct.pack_into("<I", data, record + 8, string)


def lower(path, limit, glibc):
    library = Library(path)
    data = library.data
    told = {}  # of every version that is named: its hash and the place of its text
    needs = []
    for _, inner in library.records(b".gnu.version_r", 8, 12):
        needs.append({})
        for place in inner:
            hashed, _, index, string = struct.unpack_from("<IHHI", data, place)
            version = library.text(library.strings + string)
            told[version] = (hashed, string)
            needs[-1][index] = (version, place)
    for need in needs:
        new = {index for index, (version, _) in need.items() if number(version) and number(version) > limit}
        kept = {version: index for index, (version, _) in need.items() if index not in new}
        spare = sorted(new)
        for symbol, place in library.symbols():
            index, = struct.unpack_from("<H", data, place)
            if index not in new:
                continue
            old = [version for version in glibc.get(symbol, ()) if number(version) <= limit]
            if not old:
                sys.exit(f"{path}: {symbol.decode()} is of {need[index][0].decode()}, and no older glibc has it")
            version = max(old, key=number)
            if version == min(old, key=number):
                # Where no version is asked for the oldest is taken, in whatever library it is: before 2.30 a version was looked for in
                # the library that it is said to be of, and libc.so.6 has much that was libpthread's, libdl's and librt's before 2.34.
                struct.pack_into("<H", data, place, 1)
                continue
            if version in told and version not in kept:
                kept[version] = spare.pop()
                name_version(data, need[kept[version]][1], told[version])
            # Nothing in the file names that version: none is asked for, which takes the default one of any glibc.
            struct.pack_into("<H", data, place, kept.get(version, 1))
        for index in spare:
            name_version(data, need[index][1], told[next(iter(kept))])
    Path(path).write_bytes(data)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: tools/lower_glibc.py VERSION FILE...")
    offers = offered()
    for each in sys.argv[2:]:
        lower(each, tuple(map(int, sys.argv[1].split("."))), offers)
