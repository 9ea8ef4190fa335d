"""Paged caches of keys and values, moved from one engine's layout to another's.

A layout is a list of words, one for each axis from the first to the last, as ``"kv block token head width"``. Lists of arrays are
axes, too: a list of layers, each an array, has ``layer`` as its first word. To the library an array is what one layer has of keys, or
of values, with strides, so that all layouts, and any mixture of them, are the same move (faro/caches.hpp).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

from . import _arrays, _changes, _device_rows, _faro, _run
from ._errors import FaroTypeError, refuse
from ._indices import index_entries

__all__ = ["CacheMove", "cache_layouts", "move_cache", "plan_cache_move"]

_MOVING = "move_cache"
_WORDS = ("layer", "kv", "block", "token", "slot", "head", "part", "width", "hidden")

_LAYOUTS = {
    "NHD": "block token head width",
    "HND": "block head token width",
    "vllm-flash-attention": "layer kv block token head width",
    "vllm-flashinfer": "layer block kv token head width",
    "vllm-mla": "layer block token width",
    "vllm-paged-keys": "layer block head part token width",
    "vllm-paged-values": "layer block head width token",
    "sglang-mha": "kv layer slot head width",
    "sglang-mla": "layer slot head width",
    "lmcache-kv-2ltd": "kv layer token hidden",
    "lmcache-kv-2td": "layer kv token hidden",
    "lmcache-kv-t2d": "layer token kv hidden",
    "lmcache-kv-mla": "kv layer token hidden",
}


def cache_layouts() -> dict[str, str]:
    """Layouts of engines by name, and their axes in words. docs/guide/caches.md says of which versions they are.

    >>> cache_layouts()["sglang-mha"]
    'kv layer slot head width'
    """
    return dict(_LAYOUTS)


_NUMBERS = {"i1": 0, "u1": 1, "i2": 2, "u2": 3, "i4": 4, "u4": 5, "i8": 6, "u8": 7, "f2": 8, "f4": 10, "f8": 11, "b1": 12,
            "c8": 13, "c16": 14}


_Layout = tuple[int, int, int, int, int, int, int, int, int]  # as the extension takes one


@dataclass(frozen=True)
class _Side:
    """What the arrays of a side have in common, in numbers; heads of 0: a hidden axis, of which the other side tells."""

    number: int
    itemsize: int
    blocks: int
    block_tokens: int
    block_stride: int
    token_stride: int
    heads: int
    head_stride: int
    width: int
    part: int
    part_stride: int
    element_stride: int

    def with_heads(self, heads: int) -> "_Side":
        if self.heads:
            return self
        values = {**self.__dict__, "heads": heads, "width": self.width // heads, "part": self.width // heads,
                  "head_stride": self.width // heads * self.element_stride}
        return _Side(**values)

    def layout(self) -> _Layout:
        return (self.number, self.blocks, self.block_tokens, self.block_stride, self.token_stride, self.head_stride, self.part,
                self.part_stride, self.element_stride)


def _words(layout: Any, which: str) -> list[str]:
    if not isinstance(layout, str):
        refuse(_MOVING, f"{which}_layout={layout!r}", "a name or a text of axes", kind=FaroTypeError)
    words = _LAYOUTS.get(layout, layout).split()
    for word in words:
        if word not in _WORDS:
            refuse(_MOVING, f"{which}_layout with {word!r}", f"axes {', '.join(_WORDS)}, or one of {', '.join(_LAYOUTS)}")
    if len(set(words)) != len(words) or ("slot" in words and {"block", "token"} & set(words)):
        refuse(_MOVING, f"{which}_layout {layout!r}", "each axis once, and slot in place of block and token")
    if ("hidden" in words) == ("width" in words) or ("hidden" in words and {"head", "part"} & set(words)):
        refuse(_MOVING, f"{which}_layout {layout!r}", "an axis width, or hidden in place of head and width")
    if not {"token", "slot"} & set(words):
        refuse(_MOVING, f"{which}_layout {layout!r}", "an axis of tokens, token or slot")
    return words


def _leaves(given: Any, words: list[str], index: dict[str, int], which: str) -> list[tuple[dict[str, int], Any, list[str]]]:
    """(which layer and which of keys and values, an array, the words of its axes) for each array of lists."""
    if not isinstance(given, (list, tuple)):
        return [(index, given, words)]
    if not words or words[0] not in ("layer", "kv"):
        refuse(_MOVING, f"a list of arrays as {which}, of axes {' '.join(words)!r}", "layer or kv for each list", kind=FaroTypeError)
    found = []
    for i, each in enumerate(given):
        found += _leaves(each, words[1:], {**index, words[0]: i}, which)
    return found


def _read_side(given: Any, layout: str, block_tokens: int | None, dtype: Any, which: str,
               writable: bool) -> tuple[_Side, dict[tuple[int, int], int], list[_arrays.Array], list[Any]]:
    """(the layout, addresses by layer and kv, the arrays as they are described and as they were given)."""
    side: _Side | None = None
    addresses: dict[tuple[int, int], int] = {}
    arrays = []
    given_arrays = []
    words = _words(layout, which)
    if words[0] == "layer" and not isinstance(given, (list, tuple)) and hasattr(given, "ndim") and given.ndim == len(words) - 1:
        words = words[1:]  # of one layer
    for index, x, left in _leaves(given, words, {}, which):
        array = _arrays.describe(x, writable=writable)
        here, outer = _side_of(array, left, block_tokens, dtype, which)
        if side is not None and here != side:
            refuse(_MOVING, f"arrays of different shapes, strides or types as {which}", "one layout for all")
        side = here
        arrays.append(array)
        given_arrays.append(x)
        for layer, layer_bytes in outer["layer"]:
            for kv, kv_bytes in outer["kv"]:
                key = (index.get("layer", layer), index.get("kv", kv))
                addresses[key] = array.address + layer_bytes + kv_bytes
    if side is None:
        refuse(_MOVING, f"no arrays as {which}", "at least one")
    return side, addresses, arrays, given_arrays


def _side_of(array: _arrays.Array, words: list[str], block_tokens: int | None, dtype: Any, which: str) -> tuple[_Side, dict[str, Any]]:
    if len(array.shape) != len(words):
        refuse(_MOVING, f"a {which} of {len(array.shape)} axes for {' '.join(words)!r}", f"{len(words)} axes")
    extents, strides = dict(zip(words, array.shape)), dict(zip(words, array.strides))
    if any(e > 1 and (strides[w] < 0 or strides[w] % array.itemsize) for w, e in extents.items()):
        refuse(_MOVING, f"a {which} with strides {array.strides}", "strides of whole elements that are not negative")
    step = {w: strides[w] // array.itemsize if extents[w] > 1 else 0 for w in words}
    if any(extents.get(w, 1) > 1 and step[w] == 0 for w in ("width", "hidden", "part")):  # 0 is 1 in faro.h
        refuse(_MOVING, f"a {which} with strides {array.strides}, whose numbers repeat along a head", "numbers that lie apart")
    tokens = extents.get("token", 1)
    blocks = extents.get("block", 1)
    block_stride, token_stride = step.get("block", 0), step.get("token", 0)
    if "slot" in words:
        tokens = 1 if block_tokens is None else _run.whole(block_tokens, _MOVING, f"{which}_block_tokens =", 1, 2**40)
        blocks = extents["slot"] // tokens
        block_stride, token_stride = tokens * step["slot"], step["slot"]
    elif block_tokens is not None and block_tokens != tokens:
        refuse(_MOVING, f"{which}_block_tokens={block_tokens} of blocks of {tokens}", f"{tokens}, or None")
    hidden = "hidden" in words
    inner = "hidden" if hidden else "width"
    if "part" in words:
        width, part, part_stride = extents["part"] * extents["width"], extents["width"], step["part"]
    else:
        width = part = extents[inner]
        part_stride = 0
    if dtype is None:
        meaning = str(_arrays._meaning_of(array))
    else:
        meaning = dtype.__name__ if isinstance(dtype, type) else _changes.name_of(dtype)
    number = _NUMBERS.get(meaning)
    if meaning in _changes.NUMBERS and getattr(array.dtype, "isnative", True):
        number = _changes.NUMBERS.index(meaning)
    if number is None:
        refuse(_MOVING, f"a {which} of {array.dtype if dtype is None else dtype}", "integers, floats or complex numbers of this machine's byte order",
               kind=FaroTypeError)
    side = _Side(number, array.itemsize, blocks, tokens, block_stride, token_stride, 0 if hidden else extents.get("head", 1),
                 step.get("head", 0), width, part, part_stride, max(step[inner], 1))
    outer = {w: [(i, i * strides.get(w, 0)) for i in range(extents.get(w, 1))] for w in ("layer", "kv")}
    return side, outer


def _scale(given: Any, layer: int, kv: int, which: str) -> float:
    """One number, or one for each of keys and values, or a list of these for each layer, as NumPy broadcasts to (layers, kv)."""
    try:
        each: Any = given
        if hasattr(each, "tolist"):
            each = each.tolist()
        if isinstance(each, (list, tuple)):
            if any(isinstance(row, (list, tuple)) for row in each):
                each = each[layer] if len(each) > 1 else each[0]
            each = each[kv] if len(each) > 1 else each[0]
        scale = float(each)
    except (TypeError, ValueError, IndexError):
        refuse(_MOVING, f"{which}_scale={given!r}", "a number, one for each of keys and values, or rows of these for each layer")
    if not 0 < scale < math.inf:
        refuse(_MOVING, f"{which}_scale {scale}", "a finite scale above 0")
    return scale


@functools.lru_cache(maxsize=64)
def _planned(heads: int, width: int, source: _Layout, target: _Layout,
             arrays: tuple[tuple[int, int, float, float], ...], device: int, threads: int) -> Any:
    return _faro.CachePlan.make(heads, width, source, target, list(arrays), device, threads)


class CacheMove:
    """A move between the caches of two engines, kept: plan_cache_move() makes it. One at a time may run with the same target.

    >>> import numpy as np, faro
    >>> isinstance(faro.plan_cache_move(np.zeros((3, 2, 1, 2)), np.zeros((2, 4, 1, 2))), CacheMove)
    True
    """

    def __init__(self, src: Any, dst: Any, src_layout: str, dst_layout: str, src_block_tokens: int | None, dst_block_tokens: int | None,
                 src_dtype: Any, dst_dtype: Any, src_scale: Any, dst_scale: Any, threads: int):
        source, read, sources, _ = _read_side(src, src_layout, src_block_tokens, src_dtype, "src", False)
        target, written, targets, self._keep_dst = _read_side(dst, dst_layout, dst_block_tokens, dst_dtype, "dst", True)
        heads = source.heads or target.heads or 1
        for side in (source, target):
            if side.width % heads and not side.heads:
                refuse(_MOVING, f"a hidden axis of {side.width} for {heads} heads", "a multiple")
        source, target = source.with_heads(heads), target.with_heads(heads)
        if (source.heads, source.width) != (target.heads, target.width):
            refuse(_MOVING, f"{source.heads} heads of {source.width} to {target.heads} heads of {target.width}", "as many of both")
        if read.keys() != written.keys():
            refuse(_MOVING, f"{_counted(read)} to {_counted(written)}", "as many layers, and of each keys and values on both sides")
        devices = {array.device for array in (*sources, *targets)}
        if len(devices) != 1:
            refuse(_MOVING, "arrays on several devices", "one device", "copy one side to the other's device first")
        self._device: int | None = devices.pop()
        if source.itemsize != _itemsize(source) or target.itemsize != _itemsize(target):
            refuse(_MOVING, "src_dtype or dst_dtype of another width than the elements", "one of the elements' width")
        pairs = tuple((read[key], written[key], _scale(src_scale, *key, "src"), _scale(dst_scale, *key, "dst")) for key in sorted(read))
        self._src, self._dst = src, dst
        self._first = targets[0]
        self._capacity = source.block_tokens, target.block_tokens
        self._handle = _planned(source.heads, source.width, source.layout(), target.layout(), pairs,
                                -1 if self._device is None else self._device, _run.threads_of(threads, _MOVING))

    def run(self, src_blocks: Any, dst_blocks: Any, tokens: Any = None, *, stream: Any = None, check: bool = False) -> Any:
        """Moves the first ``tokens`` of each sequence, and returns the target. Arguments and errors: those of move_cache().

        >>> import numpy as np, faro
        >>> src, dst = np.arange(12.0).reshape(3, 2, 1, 2), np.zeros((2, 4, 1, 2))
        >>> move = faro.plan_cache_move(src, dst)
        >>> move.run([2, 0], [1], tokens=3)[1, :, 0].tolist()
        [[8.0, 9.0], [10.0, 11.0], [0.0, 1.0], [0.0, 0.0]]
        """
        queue = self._stream(stream)
        source, sequences, source_columns, kept = self._table(src_blocks, "src_blocks", None)
        target, _, target_columns, also_kept = self._table(dst_blocks, "dst_blocks", sequences)
        most = min(source_columns * self._capacity[0], target_columns * self._capacity[1])
        lengths = kept_lengths = None
        if tokens is None:
            tokens = most
        elif not hasattr(tokens, "__index__") or getattr(tokens, "shape", ()) != ():
            lengths, count, _, kept_lengths = self._table(tokens, "tokens", None)
            if count != sequences:
                refuse(_MOVING, f"{count} numbers of tokens", f"one for each of {sequences} sequences")
            tokens = most
        self._handle.run(source, target, sequences, _run.whole(tokens, _MOVING, "tokens =", 0, 2**62), lengths, queue)
        if check:
            self._handle.check(queue)
        del kept, also_kept, kept_lengths
        return self._dst

    def explain(self) -> str:
        """The layouts, and how they are moved, in words.

        >>> import numpy as np, faro
        >>> move = faro.plan_cache_move(np.zeros((3, 2, 1, 2)), np.zeros((2, 4, 1, 2)))
        >>> "3 blocks of 2 tokens" in move.explain()
        True
        """
        return str(self._handle.explain())

    def _stream(self, stream: Any) -> int:
        if self._device is None:
            return _run.stream_of(self._first, stream, _MOVING)
        if stream is not None:
            return _run.stream_of(self._first, stream, _MOVING)
        modes = _arrays.plain_tensors(self._keep_dst[:1], self._device)
        return int(modes.queue(self._device)) if modes is not None else _arrays.describe(self._keep_dst[0]).stream

    def _table(self, given: Any, name: str, sequences: int | None) -> tuple[Any, int, int, Any]:
        """(entries, sequences, entries of one, what keeps them)."""
        if self._device is None:
            entries: Any = index_entries(given, _MOVING)
            shape, signed, kept = tuple(entries.shape), entries.is_signed, entries
        else:
            kept, entries = _device_rows.entries_of(given, self._device, _MOVING)
            shape, signed = tuple(entries.shape), _device_rows.is_signed(entries)
        if name == "tokens":
            if len(shape) != 1:
                refuse(_MOVING, f"tokens of {len(shape)} axes", "a number, or one for each sequence")
            shape = (shape[0], 1)
        elif len(shape) == 1:
            shape = (1, shape[0])
        if len(shape) != 2 or (sequences is not None and shape[0] != sequences):
            refuse(_MOVING, f"{name} of shape {shape}", "a row of blocks, or one for each sequence" if sequences is None else
                   f"rows for {sequences} sequences")
        made = _faro.Rows.make(entries.address, entries.size, entries.itemsize, signed, 0, 1, 1, 0)
        return made, shape[0], shape[1], (kept, entries)


def _itemsize(side: _Side) -> int:
    return (1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 1, 8, 16, 1, 1, 1, 1)[side.number]


def _counted(keys: Any) -> str:
    layers, kinds = {layer for layer, _ in keys}, {kv for _, kv in keys}
    return f"{len(layers)} layers of {len(kinds)}"


def plan_cache_move(src: Any, dst: Any, *, src_layout: str = "NHD", dst_layout: str | None = None, src_block_tokens: int | None = None,
                    dst_block_tokens: int | None = None, src_dtype: Any = None, dst_dtype: Any = None, src_scale: Any = 1,
                    dst_scale: Any = 1, threads: int = 0) -> CacheMove:
    """A move between two caches whose arrays stay where they are, to be run with many tables: what move_cache() does without planning.

    On a GPU the addresses of all layers are brought there once, and a run is one launch that waits for nothing and may be captured.
    Arguments and errors: those of move_cache().

    >>> import numpy as np, faro
    >>> layers, other = np.ones((2, 2, 3, 4, 1, 8)), np.zeros((2, 2, 6, 1, 2, 8))
    >>> move = faro.plan_cache_move(layers, other, src_layout="layer kv block token head width", dst_layout="layer kv block head token width")
    >>> float(move.run([[2, 0], [1, 2]], [[0, 1, 2], [3, 4, 5]], tokens=[5, 6]).sum())
    352.0
    """
    return CacheMove(src, dst, src_layout, src_layout if dst_layout is None else dst_layout, src_block_tokens, dst_block_tokens, src_dtype,
                     dst_dtype, src_scale, dst_scale, threads)


def move_cache(src: Any, dst: Any, src_blocks: Any, dst_blocks: Any, *, tokens: Any = None, src_layout: str = "NHD",
               dst_layout: str | None = None, src_block_tokens: int | None = None, dst_block_tokens: int | None = None,
               src_dtype: Any = None, dst_dtype: Any = None, src_scale: Any = 1, dst_scale: Any = 1, stream: Any = None,
               check: bool = False, threads: int = 0) -> Any:
    """Moves sequences of a paged cache of keys and values to another one, of other blocks, layout and type; returns ``dst``.

    ``src``, ``dst``: an array, or lists of arrays, whose axes a layout names in words: ``layer``, ``kv`` (keys and values), ``block``, ``token``,
    ``slot`` (blocks of ``src_block_tokens`` tokens, else 1, one after another), ``head``, ``part``, ``width``, ``hidden`` (heads and width); or
    one of faro.cache_layouts(): ``"NHD"``, ``"HND"``, ``"vllm-flashinfer"``, …. ``dst_layout=None``: as the source's.

    ``src_blocks``, ``dst_blocks``: the blocks of a sequence's tokens in their order, whole numbers of shape (blocks,) or (sequences, blocks);
    block sizes may differ. ``tokens``: how many of each sequence, one number or one for each; None: as many as both tables hold. Entries
    behind the last token are not read.

    Numbers are converted where types differ (float32, float16, bfloat16, 8-bit floats), in float32, and 8-bit floats saturate. A stored
    number q stands for ``q * scale``: ``src_scale`` and ``dst_scale`` are numbers, or as NumPy broadcasts to (layers, kv). ``dst_dtype="float8_e4m3fn"``:
    what the bytes of uint8 stand for.

    Raises FaroValueError, before anything is written, for a table's entry that is no block, and a block of the target that is named twice.
    On a GPU tables lie there, too, all layers are one launch, nothing waits, tokens in such a block are left out, and ``check=True`` waits
    and raises. Cost: a sweep over what is moved; making the plan, a few microseconds an array, is kept for the last 64 (plan_cache_move).

    >>> import numpy as np, faro
    >>> src, dst = np.arange(12.0).reshape(3, 2, 1, 2), np.zeros((2, 1, 4, 2), "f4")
    >>> faro.move_cache(src.astype("f2"), dst, [2, 0], [1], tokens=3, dst_layout="HND")[1, 0].tolist()
    [[8.0, 9.0], [10.0, 11.0], [0.0, 1.0], [0.0, 0.0]]
    """
    move = plan_cache_move(src, dst, src_layout=src_layout, dst_layout=dst_layout, src_block_tokens=src_block_tokens,
                           dst_block_tokens=dst_block_tokens, src_dtype=src_dtype, dst_dtype=dst_dtype, src_scale=src_scale,
                           dst_scale=dst_scale, threads=threads)
    return move.run(src_blocks, dst_blocks, tokens, stream=stream, check=check)
