"""Kernels with holes, for ``faro.synth`` to fill: what must be computed, and what the lanes of a warp do
(docs/guide/swizzle.md).

Every lane has one element and wants the mean of it and of the two after it, around a ring of 8. Whom it asks in turn i is
left open:

>>> import faro
>>> from faro import sketch
>>> spec = sketch.Specification()
>>> I, O = spec.input("I", 8), spec.output("O", 8)
>>> for i in range(8):
...     O[i] = sketch.total([I[(i + k) % 8] for k in range(3)], divisor=3)
>>> p = sketch.Program(spec, warp=8)
>>> t = sketch.lane
>>> asked = p.xform("lane", n=8, m=8, asked=3)
>>> own, x, mean = p.registers("own", 1), p.registers("x", 1), p.accumulator("mean", divisor=3)
>>> p.load(own[0], I, t)
>>> with p.loop("i", 3) as i:
...     p.shuffle(x[0], own[0], asked(t, i))
...     p.accumulate(mean, x[0])
>>> p.store(O, t, mean)
>>> faro.synth(p).outcome
'found'

Indices are expressions of ``lane``, ``warp``, ``block``, loop counters and holes, with Python's operators: ``//`` and ``%``
as in Python, comparisons that are 0 or 1, ``&``, ``|`` and ``~`` for and, or and not, ``^`` of bits, and ``select``.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any, Callable, Iterable, Iterator, Sequence

from ._errors import FaroTypeError, refuse

__all__ = ["Specification", "Program", "Index", "lane", "warp", "block", "select", "total"]


class Index:
    """A whole number that a lane knows. Immutable.

    >>> half = (lane // 2) % 2
    """

    __slots__ = ("_tree",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tree: Any):
        self._tree = tree

    def __add__(self, other: Any) -> "Index":
        return _node("+", self, other)

    def __radd__(self, other: Any) -> "Index":
        return _node("+", other, self)

    def __sub__(self, other: Any) -> "Index":
        return _node("-", self, other)

    def __rsub__(self, other: Any) -> "Index":
        return _node("-", other, self)

    def __mul__(self, other: Any) -> "Index":
        return _node("*", self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> "Index":
        return _node("/", self, other)

    def __rfloordiv__(self, other: Any) -> "Index":
        return _node("/", other, self)

    def __mod__(self, other: Any) -> "Index":
        return _node("%", self, other)

    def __rmod__(self, other: Any) -> "Index":
        return _node("%", other, self)

    def __lt__(self, other: Any) -> "Index":
        return _node("<", self, other)

    def __le__(self, other: Any) -> "Index":
        return _node("<=", self, other)

    def __gt__(self, other: Any) -> "Index":
        return _node("<", other, self)

    def __ge__(self, other: Any) -> "Index":
        return _node("<=", other, self)

    def __eq__(self, other: Any) -> "Index":  # type: ignore[override]
        return _node("==", self, other)

    def __ne__(self, other: Any) -> "Index":  # type: ignore[override]
        return _node("not", _node("==", self, other))

    def __xor__(self, other: Any) -> "Index":
        return _node("^", self, other)

    __rxor__ = __xor__

    def __and__(self, other: Any) -> "Index":
        return _node("and", self, other)

    def __or__(self, other: Any) -> "Index":
        return _node("or", self, other)

    def __invert__(self) -> "Index":
        return _node("not", self)

    def __bool__(self) -> bool:
        refuse("build a sketch", "an index asked whether it is true", "what can be said before the kernel runs",
               "select(), or & | ~", kind=FaroTypeError)


def _tree(index: Any) -> Any:
    if isinstance(index, Index):
        return index._tree
    if isinstance(index, int):
        return int(index)
    refuse("build a sketch", f"a {type(index).__name__}", "an index or a whole number", kind=FaroTypeError)


def _node(word: str, *operands: Any) -> Index:
    return Index([word, *map(_tree, operands)])


lane = Index(["lane"])  #: 0 to warp - 1
warp = Index(["warp"])  #: the warp's number in its block
block = Index(["block"])  #: the block's number


def select(condition: Any, if_true: Any, if_false: Any) -> Index:
    """One of two indices, both of which are evaluated.

    >>> neighbour = select(lane % 2 == 0, lane + 1, lane - 1)
    """
    return _node("select", condition, if_true, if_false)


# --- what must be computed


class _Array:
    def __init__(self, name: str, kind: str, size: int, number: int, wanted: dict[str, list[Any]] | None):
        self.name, self.kind, self.size, self.number = name, kind, size, number
        self._wanted = wanted

    def __getitem__(self, index: int) -> Any:
        """Element ``index`` of an input, as a value."""
        return [self.name, int(index)]

    def __setitem__(self, index: int, value: Any) -> None:
        """What must stand in an output when the kernel is done."""
        if self._wanted is None:
            refuse("build a specification", f"an element of `{self.name}` that is set", "an output's")
        self._wanted[self.name].append([int(index), value])


def total(terms: Iterable[Any], *, outer: str = "+", inner: str = "", divisor: int = 1) -> Any:
    """The value of an accumulator: ``outer`` over the terms, ``inner`` within a term of several values, then divided.

    Operators: ``"+"``, ``"*"``, ``"^"``, ``"&"``, ``"|"``, ``"min"``, ``"max"``. Terms are values, or sequences of them where
    there is an ``inner``; their order does not matter.

    >>> spec = Specification()
    >>> I, O = spec.input("I", 4), spec.output("O", 1)
    >>> O[0] = total([I[i] for i in range(4)], divisor=4)
    """
    given = [list(term) if inner else [term] for term in terms]
    return {"sum": {"outer": outer, "inner": inner, "divisor": divisor}, "terms": given}


class Specification:
    """Inputs, outputs, and what each element of an output must be: ordinary Python over symbols.

    >>> spec = Specification()
    >>> I, O = spec.input("I", 4), spec.output("O", 4)
    >>> for i in range(4):
    ...     O[i] = I[3 - i]
    """

    def __init__(self) -> None:
        self._arrays: list[_Array] = []
        self._wanted: dict[str, list[Any]] = {}

    def _declare(self, name: str, kind: str, size: int) -> _Array:
        wanted = self._wanted if kind == "output" else None
        if wanted is not None:
            wanted[name] = []
        self._arrays.append(_Array(name, kind, size, len(self._arrays), wanted))
        return self._arrays[-1]

    def input(self, name: str, size: int) -> _Array:
        """An array of ``size`` elements that the kernel reads."""
        return self._declare(name, "input", size)

    def output(self, name: str, size: int) -> _Array:
        """An array that the kernel writes; elements that are not set may hold anything."""
        return self._declare(name, "output", size)

    def _json(self) -> dict[str, Any]:
        arrays = [{"name": a.name, "kind": a.kind, "size": a.size} for a in self._arrays]
        return {"arrays": arrays, "wanted": self._wanted}


# --- what the lanes do


class _Registers:
    def __init__(self, number: int, size: int):
        self.number, self.size = number, size

    def __getitem__(self, index: Any) -> Any:
        return [self.number, _tree(index)]


class _Accumulator:
    def __init__(self, number: int):
        self.number = number


class _Hole:
    def __init__(self, number: int):
        self.number = number

    def __call__(self, *arguments: Any) -> Index:
        return Index(["hole", self.number, *map(_tree, arguments)])


class Program:
    """Warps of lanes with registers: declarations, then statements in the order in which they are called.

    A mistake is found when the program is given to ``faro.synth``, which raises FaroValueError naming it.

    >>> spec = Specification()
    >>> I, O = spec.input("I", 4), spec.output("O", 4)
    >>> for i in range(4):
    ...     O[i] = I[3 - i]
    >>> p = Program(spec, warp=4)
    >>> x = p.registers("x", 1)
    >>> p.load(x[0], I, 3 - lane)
    >>> p.store(O, lane, x[0])
    """

    def __init__(self, specification: Specification, *, warp: int = 32, warps: int = 1, blocks: int = 1, banks: int = 0,
                 name: str = "sketch"):
        self.name, self._specification = name, specification
        self._launch = {"warp": warp, "warps": warps, "blocks": blocks, **({"banks": banks} if banks else {})}
        self._declarations: list[dict[str, Any]] = []
        self._counts = {"registers": 0, "accumulator": 0, "hole": 0, "shared": len(specification._arrays)}
        self._loops = 0
        self._open: list[list[Any]] = [[]]

    def _declare(self, kind: str, name: str, family: str, **facts: Any) -> int:
        self._declarations.append({"kind": kind, "name": name, **{k: v for k, v in facts.items() if v is not None}})
        number = self._counts[family]
        self._counts[family] += 1
        return number

    def registers(self, name: str, size: int) -> _Registers:
        """An array of registers in every lane."""
        return _Registers(self._declare("registers", name, "registers", size=size), size)

    def shared(self, name: str, size: int) -> _Array:
        """An array in each block's shared memory."""
        return _Array(name, "shared", size, self._declare("shared", name, "shared", size=size), None)

    def accumulator(self, name: str, *, outer: str = "+", inner: str = "", divisor: int = 1) -> _Accumulator:
        """A sum in every lane, empty at first."""
        return _Accumulator(self._declare("accumulator", name, "accumulator", outer=outer, inner=inner, divisor=divisor))

    def xform(self, name: str, *, n: int, m: int, asked: int | None = None, one_to_one: bool = False,
              of_registers: bool = False, easy: bool = False) -> _Hole:
        """A hole f(i, k) below ``n`` for i below ``n`` and k below ``asked`` (``m``): fans and rotations in groups."""
        return _Hole(self._declare("xform", name, "hole", n=n, m=m, asked=asked, one_to_one=one_to_one,
                                   of_registers=of_registers, easy=easy))

    def part(self, name: str, choices: int, arguments: dict[str, int], *, constants: Sequence[int] = (), easy: bool = False) -> _Hole:
        """A hole of 0 to ``choices`` - 1 by conditions on the arguments, each below the number given."""
        return _Hole(self._declare("part", name, "hole", choices=choices, arguments=arguments, constants=list(constants), easy=easy))

    def condition(self, name: str, arguments: dict[str, int], *, constants: Sequence[int] = (), easy: bool = False) -> _Hole:
        """A hole of 0 or 1: a comparison of two arguments, or always the same."""
        return _Hole(self._declare("condition", name, "hole", arguments=arguments, constants=list(constants), easy=easy))

    def bits(self, name: str, n: int, arguments: dict[str, int], *, one_to_one: bool = False, easy: bool = False) -> _Hole:
        """A hole below ``n``, a power of two: an XOR of words, one for each bit that is set in an argument; swizzles such as i ^ k.
        ``easy``: no others than i ^ (k << s) ^ c. ``space="extra"`` opens every matrix of bits."""
        return _Hole(self._declare("bits", name, "hole", n=n, arguments=arguments, one_to_one=one_to_one, easy=easy))

    def family(self, name: str, arguments: dict[str, int], formulas: Iterable[Callable[..., Any]]) -> _Hole:
        """A hole that is one of these functions of its arguments.

        >>> p = Program(Specification(), warp=8)
        >>> source = p.family("source", {"i": 8}, [lambda i: 7 - i, lambda i: i ^ 1])
        """
        own = [Index(["argument", k]) for k in range(len(arguments))]
        return _Hole(self._declare("family", name, "hole", arguments=arguments, formulas=[_tree(f(*own)) for f in formulas]))

    def warp_offset(self, name: str, arguments: dict[str, int], units: Sequence[int], *, most_constant: int = 4) -> _Hole:
        """A hole: a constant, and multiples of each argument's unit."""
        return _Hole(self._declare("warp_offset", name, "hole", arguments=arguments, units=list(units), most_constant=most_constant))

    def warp_size(self, name: str, *, most_constant: int = 4) -> _Hole:
        """A hole: a constant, and a multiple of the warp's lanes."""
        return _Hole(self._declare("warp_size", name, "hole", most_constant=most_constant))

    def _say(self, *statement: Any) -> None:
        self._open[-1].append(list(statement))

    def load(self, to: Any, array: _Array, address: Any, when: Any = 1) -> None:
        """register = array[address], where ``when``."""
        self._say("load", to, array.number, _tree(address), _tree(when))

    def store(self, array: _Array, address: Any, value: Any, when: Any = 1) -> None:
        """array[address] = a register, or the value of an accumulator, where ``when``."""
        if isinstance(value, _Accumulator):
            return self._say("store_sum", array.number, _tree(address), value.number, _tree(when))
        self._say("store", array.number, _tree(address), value, _tree(when))

    def shuffle(self, to: Any, source: Any, lane: Any) -> None:
        """register = what another lane has in ``source``, whose index that lane evaluates."""
        self._say("shuffle", to, source, _tree(lane))

    def permute(self, to: _Registers, source: _Registers, index: Callable[[Index], Any]) -> None:
        """to[i] = source[index(i)] for every i at once."""
        self._say("permute", to.number, source.number, _tree(index(Index(["argument", 0]))))

    def move(self, to: Any, source: Any) -> None:
        """register = register."""
        self._say("move", to, source)

    def accumulate(self, accumulator: _Accumulator, *term: Any, when: Any = 1) -> None:
        """Appends a term of one or more registers, where ``when``."""
        self._say("accumulate", accumulator.number, list(term), _tree(when))

    def start(self, accumulator: _Accumulator, *term: Any) -> None:
        """Forgets what was accumulated, and appends a term: an initial value, or the next step of a tree."""
        self._say("start", accumulator.number, list(term))

    def evaluate(self, to: Any, accumulator: _Accumulator) -> None:
        """register = the accumulator's value."""
        self._say("evaluate", to, accumulator.number)

    def barrier(self) -> None:
        """All warps of the block meet."""
        self._say("barrier")

    def present(self, registers: _Registers, output: _Array, address: Any, when: Any = 1) -> None:
        """Demands that the warp holds all that output[address] needs."""
        self._say("present", registers.number, output.number, _tree(address), _tree(when))

    @contextlib.contextmanager
    def loop(self, name: str, count: int) -> Iterator[Index]:
        """``with p.loop("i", 3) as i:`` records its body once, to be run with i = 0 to count - 1."""
        number = self._loops
        self._loops += 1
        body: list[Any] = []
        self._open.append(body)
        try:
            yield Index(["loop", number])
        finally:
            self._open.pop()
        self._say("loop", number, name, count, body)

    def _transfer(self, word: str, registers: _Registers, array: _Array, slice: int, rounds: int, offset: Any, size: Any,
                  lane: Callable[[Index, Index], Any] | None) -> None:
        facts = {"slice": slice, "rounds": rounds, "offset": _tree(offset)}
        if size is not None:
            facts["size"] = _tree(size)
        if lane is not None:
            facts["lane"] = _tree(lane(Index(["argument", 0]), Index(["argument", 1])))
        self._say(word, registers.number, array.number, facts)

    def global_to_registers(self, to: _Registers, array: _Array, *, slice: int = 1, rounds: int = 1, offset: Any = 0,
                            size: Any = None, lane: Callable[[Index, Index], Any] | None = None) -> None:
        """A coalesced load: register r slice + s of lane t is array[offset + r slice W + slice lane(t, r) + s]."""
        self._transfer("global_to_registers", to, array, slice, rounds, offset, size, lane)

    def registers_to_global(self, array: _Array, source: _Registers, *, slice: int = 1, rounds: int = 1, offset: Any = 0,
                            size: Any = None, lane: Callable[[Index, Index], Any] | None = None) -> None:
        """The same the other way."""
        self._transfer("registers_to_global", source, array, slice, rounds, offset, size, lane)

    def text(self) -> str:
        """The sketch's file, for `faro synth @FILE`.

        >>> '"sketch"' in Program(Specification(), warp=8).text()
        True
        """
        return json.dumps(self._json())

    def _json(self) -> dict[str, Any]:
        sketch = {**self._launch, "declarations": self._declarations, "statements": self._open[0]}
        return {"name": self.name, "specification": self._specification._json(), "sketch": sketch}
