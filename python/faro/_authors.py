"""For the authors of kernels: layouts of shared memory, source code of permutations, programs on memory machines, swizzles."""

from __future__ import annotations

import json
import numbers
from dataclasses import dataclass, field
from typing import Any, Iterable

from . import _faro, _run, maps, sketch
from ._errors import FaroTypeError, FaroValueError, refuse

__all__ = ["layout", "layout_convert", "layout_check", "emit", "simulate", "synth", "Layout", "LayoutCandidate", "Conversion",
           "IndexCheck", "Emitted", "Simulation", "Synthesis"]


def _json(operation: str, request: dict[str, Any]) -> str:
    return json.dumps(request, default=lambda value: _run.whole(value, operation, "the value"))


@dataclass(frozen=True)
class LayoutCandidate:
    """A layout that was weighed: its worst congestion, and what each access costs.

    >>> sorted({c.worst for c in layout(32, 32, 4, ["row", "column"]).candidates})[0]
    1
    """

    layout: str
    worst: int
    extra_bytes: int
    proven_by_ranks: bool
    costs: list[dict[str, Any]]


@dataclass(frozen=True)
class Layout:
    """The layout that was chosen, why, and the device code of ``shared_index(i, j)``.

    >>> "shared_index" in layout(64, 64, 2, ["row(8)", "column(8)"]).code
    True
    """

    choice: str
    worst: int
    reason: str
    cute: dict[str, int] | None
    candidates: list[LayoutCandidate]
    remarks: list[str]
    code: str = field(repr=False)
    shared_elements: int


def layout(rows: int, columns: int, element_bytes: int, accesses: str | Iterable[str], *, seed: int = 0) -> Layout:
    """Which placement of a rows x columns array in shared memory has the fewest bank conflicts for these accesses:
    ``"row"``, ``"column(8)"``, ``"diagonal"``, ``"stride(3)"``, ``"@trace.txt"`` (docs/guide/layouts.md).

    >>> layout(32, 32, 4, ["row", "column"]).worst
    1
    """
    listed = (accesses,) if isinstance(accesses, str) else _run.listed(accesses)
    if not isinstance(listed, tuple) or not all(isinstance(each, str) for each in listed):
        refuse("layout", f"accesses {accesses!r}", "texts such as 'row' and 'column(8)'", kind=FaroTypeError)
    rows, columns = _run.whole(rows, "layout", "rows", 0, 2**62), _run.whole(columns, "layout", "columns", 0, 2**62)
    element_bytes = _run.whole(element_bytes, "layout", "element_bytes", 0, 2**62)
    told = json.loads(_faro.layout(rows, columns, element_bytes, ",".join(listed), _run.whole(seed, "layout", "seed", 0, 2**64 - 1)))
    candidates = [
        LayoutCandidate(c["layout"], c["worst"], c["extra_bytes"], c["proven_by_ranks"], c["costs"])
        for c in told["candidates"]
    ]
    return Layout(
        told["choice"], told["worst"], told["reason"], told["cute"], candidates, told["remarks"], told["code"],
        told["shared_elements"],
    )


@dataclass(frozen=True)
class Conversion:
    """Registers of one layout made those of another: what it costs, and its code.

    >>> layout_convert("mma.m16n8.C", "mma.m16n8k8.A").least_shuffles
    4
    """

    shuffles: int | None  #: of 32-bit words, a warp; None where elements change warps, and of loads and stores
    least_shuffles: int | None  #: that chains of exchanges linear over F2 need
    proven: bool | None  #: there are no more than these
    turns: int | None  #: of a scheduler, by shuffles
    shared_turns: int | None  #: the same through shared memory; None where there is no such way
    shared_bytes: int | None
    explanation: str = field(repr=False)  #: in words
    code: str | None = field(repr=False)  #: with ``emit=``: a header of CUDA C++
    facts: dict[str, Any] = field(repr=False)  #: all that `faro layout convert --json` prints


def layout_convert(source: str, target: str, *, element: int = 32, capability: int = 90, emit: str | None = None,
                   way: str = "registers") -> Conversion:
    """The registers of a warp converted from one layout of fragments to another by the fewest shuffles, or through shared
    memory, and between warps of a block (docs/guide/exchange.md). A layout without lanes, such as ``"tma.128B(64x64)"``, is one
    in shared memory, which the conversion then loads or stores.

    ``element``: its bits, 8, 16, 32 or 64. ``capability``: 90 is 9.0; ldmatrix needs 75, stmatrix 90. ``emit``: the name of a
    ``__device__`` function, whose header is the result's ``code``; ``way``: "registers", "shared" or "cheapest". Takes
    milliseconds. Raises FaroValueError for texts that are no layouts, or that do not fit each other, FaroUnsupportedError for
    code of warps of other than 32 lanes.

    >>> layout_convert("mma.m16n8.C", "mma.m16n8k8.A").shuffles
    4
    >>> "ldmatrix" in layout_convert("tma.128B(64x64)", "mma.m16n8k16.A[64x64]", element=16, emit="load").code
    True
    """
    for name, value in (("source", source), ("target", target), ("way", way), ("emit", "" if emit is None else emit)):
        if not isinstance(value, str):
            refuse("layout convert", f"{name} = {value!r}", "a text", kind=FaroTypeError)
    options: dict[str, Any] = {
        "element": _run.whole(element, "layout convert", "element =", 0, 64), "way": way,
        "capability": _run.whole(capability, "layout convert", "capability =", 1, 999),
    }
    if emit is not None:
        options["name"] = emit
    told = json.loads(_faro.layout_convert(source, target, _json("layout convert", options)))
    least, shared = told["least_shuffles"], told["shared"]
    explanation, code = told.pop("explanation"), told.pop("code")
    return Conversion(
        told["shuffles"], None if least is None else least["linear_steps"], told["proven"], told["turns"],
        None if shared is None else shared["turns"], None if shared is None else shared["bytes"], explanation, code, told,
    )


@dataclass(frozen=True)
class IndexCheck:
    """Whether expressions give a layout's elements, and if not, the first place where they do not.

    >>> layout_check("contiguous(4)", "4 * lane + i").agrees
    True
    """

    agrees: bool
    places: int  #: registers times lanes times warps
    first_difference: dict[str, Any] | None  #: warp, lane, i, what they have got there, and what was wanted


def layout_check(layout: str, *indices: str, element: int = 32) -> IndexCheck:
    """Holds a kernel's own index expressions, in C, to a layout: one for each of its axes, or one for the element's number, of
    ``i``, ``lane``, ``warp`` and ``thread`` (docs/guide/exchange.md). ``element``: its bits. Raises FaroValueError for another
    number of them, or what is no expression.

    >>> layout_check("mma.m16n8.C", "lane / 4 + 8 * (i / 2)", "2 * (lane % 4) + i").first_difference["lane"]
    0
    """
    for text in (layout, *indices):
        if not isinstance(text, str):
            refuse("layout check", f"{text!r}", "a text", kind=FaroTypeError)
    told = json.loads(_faro.layout_check(layout, json.dumps(indices), _run.whole(element, "layout check", "element =", 0, 64)))
    return IndexCheck(told["agrees"], told["places"], told["first_difference"])


@dataclass(frozen=True)
class Emitted:
    """Source code that carries out a map, and its kernels with their launches and predicted accesses.

    >>> emit("gray(10)", element="float").element_bytes
    4
    """

    text: str = field(repr=False)
    map: str
    map_class: str
    name: str
    element: str
    element_bytes: int
    alignment_bytes: int
    workspace_bytes: int
    kernels: list[dict[str, Any]] = field(repr=False)


def emit(by: "str | maps.Map", *, kernel: str | None = None, target: str = "cuda", element: str | None = None,
         name: str | None = None, n_tile: int | None = None, n_iter: int | None = None, map: str | None = None,
         plain_rows: bool = False, factors: bool = False, launcher: bool = False, dtype_in: str | None = None, dtype: str | None = None,
         op: str | None = None, scale: float | None = None, offset: float | None = None, add: str | None = None, beta: float | None = None,
         rounding: str = "truncate", saturate: bool = False) -> Emitted:
    """An affine map as standalone CUDA C++ or C++ (docs/guide/emit.md). ``kernel``: naive, tile, banks, iters, two-pass
    or one-pass; ``map``: C++ over v, x and y, applied to each element. With ``dtype_in`` numbers of that type are changed, as ``Change``
    says: to ``dtype``, scaled, and a third array of the type ``add`` added.

    >>> "__global__" in emit("bit_reversal(15)").text
    True
    >>> emit("bit_reversal(15)", dtype_in="float32", dtype="bfloat16", scale=0.5).element_bytes
    4
    """
    asked = {
        "kernel": kernel, "target": target, "element": element, "name": name, "n_tile": n_tile, "n_iter": n_iter,
        "map": map, "plain_rows": plain_rows, "factors": factors, "launcher": launcher, "from": dtype_in, "to": dtype, "op": op,
        "scale": scale, "offset": offset, "add": add, "beta": beta, "to_nearest": rounding == "nearest", "saturate": saturate,
    }
    options = {key: value for key, value in asked.items() if value is not None and value is not False}
    parsed = by if isinstance(by, maps.Map) else maps.parse(by)
    told = json.loads(_faro.emit(parsed._handle, _json("emit", options)))["emit"]
    return Emitted(
        told["text"], told["map"], told["class"], told["name"], told["element"], told["element_bytes"],
        told["alignment_bytes"], told["workspace_bytes"], told["kernels"],
    )


@dataclass(frozen=True)
class Simulation:
    """A program's exact time on a memory machine, in units, its formula and its accesses.

    >>> simulate("transpose-diagonal", width=4, latency=5, threads=16, n=16).machine
    'dmm'
    """

    program: str
    machine: str
    time: int
    formula: int | None
    formula_text: str | None
    lower_bound: int | None
    rounds: int
    stages: int
    congestion: dict[int, int]
    facts: dict[str, Any] = field(repr=False)  #: all that `faro simulate --json` prints


def simulate(program: str, *, machine: str = "dmm", width: int = 32, latency: int = 32, **sizes: Any) -> Simulation:
    """Runs a program of the memory machines, verified and timed (docs/guide/programs.md). ``sizes``: threads, n,
    registers, dmms, shared_latency, spec, seed, layout, direct, overlap, timeline.

    >>> simulate("transpose-diagonal", width=4, latency=5, threads=16, n=16).time
    16
    """
    request = {"program": program, "machine": machine, "width": width, "latency": latency, **sizes}
    told = json.loads(_faro.simulate(_json("simulate", {key: value for key, value in request.items() if value is not None})))
    return Simulation(
        told["program"], told["machine"], told["time"], told["formula"], told["formula_text"], told["lower_bound"],
        told["rounds"], told["stages"], {int(k): v for k, v in told["congestion"].items()}, told,
    )


@dataclass(frozen=True)
class Synthesis:
    """What a search for swizzles found, or proved.

    >>> synth("aos-crc", struct=3, warp=8).solutions > 0
    True
    """

    outcome: str  #: "found", "none": proven that there is none, or "not finished"
    solutions: int | None  #: distinct ones; None where none was found and the search was not finished
    best: dict[str, Any] | None  #: the cheapest: its holes and what they cost
    all: list[dict[str, Any]] = field(repr=False)  #: with ``all=True``: every solution, up to 10000
    sketch: str = field(repr=False)  #: the sketch in words, a statement a line
    text: str | None = field(repr=False)  #: with ``emit=``: CUDA C++
    seconds: float
    facts: dict[str, Any] = field(repr=False)  #: all that `faro synth --json` prints


def synth(what: "str | sketch.Program", *, struct: int | None = None, warp: int | None = None, space: str = "full",
          time_limit: float = 600, all: bool = False, emit: str | None = None, element: str = "uint32_t", batch: int = 0,
          image: bool = False, device_function: bool = False) -> Synthesis:
    """The swizzles that complete an example, or a sketch of one's own, or a proof that there are none
    (docs/guide/swizzle.md, ``faro.sketch``).

    ``struct`` and ``warp`` are the examples'. ``time_limit``: seconds. ``emit``: the name of a kernel, whose text is the
    result's, of the cheapest solution; ``device_function=True``: what stands between its loads and stores. Ctrl-C ends the
    search. Raises FaroValueError for what is no sketch, FaroUnsupportedError for one that no search does.

    >>> synth("aos-rcr", struct=4, warp=8).outcome
    'found'
    """
    for name, value in (("struct", struct), ("warp", warp)):
        if value is not None:
            _run.whole(value, "synth", f"{name} =", 1, 2**31 - 1)
    if not isinstance(time_limit, numbers.Real) or not time_limit >= 0:
        refuse("synth", f"time_limit = {time_limit!r}", "seconds, 0 or more",
               kind=FaroValueError if isinstance(time_limit, numbers.Real) else FaroTypeError)
    request: dict[str, Any] = {"space": space, "time_limit": float(time_limit), "all": all}
    if isinstance(what, sketch.Program):
        request.update(what._json())
    else:
        request.update({k: v for k, v in (("example", what), ("struct", struct), ("warp", warp)) if v is not None})
    if emit is not None:
        request["emit"] = {"name": emit, "element": element, "batch": batch, "image": image, "device_function": device_function}
    told = json.loads(_faro.synth(_json("synth", request)))
    emitted = told["emitted"]
    return Synthesis(
        told["outcome"], told["solutions"], told["best"], told["all"], told["sketch"],
        None if emitted is None else emitted["text"], told["seconds"], told,
    )
