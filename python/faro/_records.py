"""Classes of named values, in what ``import faro`` reads at once: the standard library's dataclasses bring inspect, ast and dis with them, a third
of the time that the import takes."""

from __future__ import annotations

from typing import Any, Callable, TypeVar, dataclass_transform

_Kind = TypeVar("_Kind")


def _refuses(self: Any, name: str, *_: Any) -> None:
    raise AttributeError(f"{type(self).__name__}.{name} is fixed")


def _named(self: Any) -> str:
    return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


@dataclass_transform()
def record(*, frozen: bool = False) -> Callable[[type[_Kind]], type[_Kind]]:
    """Gives a class its constructor, of what is annotated, and a text; ``frozen``: what it holds stays."""

    def made(kind: type[_Kind]) -> type[_Kind]:
        names = list(kind.__annotations__)
        parameters = (f"{name}=kind.{name}" if hasattr(kind, name) else name for name in names)
        lines = (f"to[{name!r}] = {name}" if frozen else f"self.{name} = {name}" for name in names)
        functions: dict[str, Any] = {}
        exec(f"def __init__(self, {', '.join(parameters)}):\n {'to = self.__dict__;' if frozen else ''}{'; '.join(lines)}", {"kind": kind}, functions)
        functions |= {"__repr__": _named} | ({"__setattr__": _refuses, "__delattr__": _refuses} if frozen else {})
        for name, each in functions.items():
            setattr(kind, name, each)
        return kind

    return made
