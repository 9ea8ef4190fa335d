"""Checkpoints: rules applied to all tensors of safetensors files, within a budget of memory."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _faro, _run
from ._errors import FaroFileError, FaroTypeError, refuse
from ._stores import _dtype_name, _path, _telling

__all__ = ["checkpoint", "Checkpoint", "CheckpointTensor"]


@dataclass(frozen=True)
class CheckpointTensor:
    """A tensor of the result: what it is made of, and how; no ``changes``: a copy.

    >>> import numpy as np, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> np.save(folder + "/a.npy", np.zeros((2, 3), "f4"))
    >>> _ = faro.relayout(folder + "/a.npy", folder + "/a.safetensors:w")
    >>> done = faro.checkpoint([{"match": "w", "map": "transpose"}], folder + "/a.safetensors", folder + "/b.safetensors")
    >>> done.tensors["w"].shape, done.tensors["w"].sources
    ((3, 2), ('w',))
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    file: str
    sources: tuple[str, ...]
    changes: str


@dataclass(frozen=True)
class Checkpoint:
    """What was done to a checkpoint, or would be: ``plan`` in words, the tensors of the result, and the numbers behind it.

    >>> import numpy as np, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> np.save(folder + "/a.npy", np.zeros((2, 3), "f4"))
    >>> _ = faro.relayout(folder + "/a.npy", folder + "/a.safetensors:w")
    >>> done = faro.checkpoint([{"match": "w", "map": "transpose"}], folder + "/a.safetensors", folder + "/b.safetensors")
    >>> done.finished, list(done.tensors)
    (True, ['w'])
    """

    plan: str
    tensors: dict[str, CheckpointTensor]
    files: tuple[str, ...]
    dropped: tuple[str, ...]
    matched: tuple[int, ...]
    read_bytes: int
    written_bytes: int
    memory_bytes: int
    tiles: int
    finished: bool = False
    verified: bool = False
    resumed_tiles: int = 0
    seconds: float = field(default=0.0, compare=False)


def _rules_text(rules: Any) -> str:
    if isinstance(rules, (str, os.PathLike)):
        try:
            with open(rules, encoding="utf-8") as file:
                return file.read()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            refuse(f"read `{os.fsdecode(rules)}`", why, "a file of rules, in JSON or TOML", kind=FaroFileError)
    listed = rules if isinstance(rules, Mapping) else _run.listed(rules)
    if not isinstance(listed, (Mapping, tuple)):
        refuse("checkpoint", f"rules {rules!r}", "a list of dictionaries, or the path of a file", kind=FaroTypeError)
    plan = listed if isinstance(listed, Mapping) else {"rules": list(listed)}
    try:
        return json.dumps(plan, default=_dtype_name, allow_nan=False)
    except (TypeError, ValueError) as error:
        refuse("checkpoint", f"rules that are no JSON: {error}", "a list of dictionaries of texts and numbers")


def checkpoint(
    rules: str | os.PathLike[str] | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    source: str | os.PathLike[str],
    result: str | os.PathLike[str],
    *,
    memory: int | None = None,
    shard_size: int | None = None,
    threads: int = 0,
    verify: bool = False,
    resume: bool = False,
    explain: bool = False,
    progress: Any = None,
) -> Checkpoint:
    """A whole safetensors checkpoint, a file or a folder with its index, changed by rules within ``memory`` bytes, each tensor
    read once and written once. ``rules``: a list, a dictionary that has them as ``"rules"``, or the path of such a file of JSON or
    TOML; docs/guide/checkpoints.md says what a rule may say. ``progress(done, total)`` is called with bytes, or a bar as tqdm's is
    moved on; what it raises ends the run, as Ctrl-C does, and ``resume`` goes on with it later. With ``explain`` nothing is written.

    >>> import tempfile
    >>> from safetensors.numpy import load_file, save_file
    >>> import numpy as np
    >>> folder = tempfile.mkdtemp()
    >>> save_file({"h.0.w": np.arange(6, dtype="f4").reshape(2, 3)}, folder + "/a.safetensors")
    >>> rules = [{"match": "h.{layer}.w", "map": "transpose", "dtype": "float16", "name": "layer.{layer}.weight"}]
    >>> checkpoint(rules, folder + "/a.safetensors", folder + "/b.safetensors").plan
    '1 tensor in 1 file, 1 of them changed, 12 KiB of memory'
    >>> load_file(folder + "/b.safetensors")["layer.0.weight"].tolist()
    [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    """

    def size(given: int | None, what: str) -> int:
        return 0 if given is None else _run.whole(given, "checkpoint", what, 1, 2**62)

    request = {
        "memory_bytes": size(memory, "memory ="), "shard_bytes": size(shard_size, "shard_size ="),
        "threads": _run.threads_of(threads, "checkpoint"), "verify": bool(verify), "resume": bool(resume), "explain": bool(explain),
    }
    with _telling(progress) as tell:
        told = json.loads(
            _faro.checkpoint(_rules_text(rules), _path(source, "checkpoint"), _path(result, "checkpoint"), json.dumps(request), tell)
        )
    tensors = {
        each["name"]: CheckpointTensor(
            each["name"], each["dtype"], tuple(each["shape"]), each["bytes"], each["file"], tuple(each["sources"]), each["changes"]
        )
        for each in told["tensors"]
    }
    return Checkpoint(
        told["plan"], tensors, tuple(told["files"]), tuple(told["dropped"]), tuple(rule["matched"] for rule in told["rules"]),
        told["read_bytes"], told["written_bytes"], told["memory_bytes"], told["tiles"], told.get("finished", False),
        told.get("verified", False), told.get("resumed_tiles", 0), told.get("seconds", 0.0),
    )
