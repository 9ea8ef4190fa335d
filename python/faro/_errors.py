"""What faro refuses, as Python exceptions with what was got, what was wanted and the remedy."""

from __future__ import annotations

import sys as _sys
from typing import Any, NoReturn


class FaroError(Exception):
    """Something that faro refused or could not do.

    ``str(error)`` is one line; its parts are ``operation``, ``got``, ``wanted`` and ``remedy``, each one line
    of plain text. Nothing has been written when it is raised, unless it says so.

    >>> import faro
    >>> try:
    ...     faro.maps.parse("bit_reversl(3)")
    ... except faro.FaroError as error:
    ...     "bit_reversal" in error.remedy
    True
    """

    operation: str = ""
    got: str = ""
    wanted: str = ""
    remedy: str = ""


class FaroValueError(FaroError, ValueError):
    """A value outside what the operation accepts, or a text that cannot be understood."""


class FaroTypeError(FaroError, TypeError):
    """An argument of a type that cannot be used."""


class FaroUnsupportedError(FaroError, NotImplementedError):
    """Understood, but not possible (yet) with this build, machine or plan."""


class FaroDeviceError(FaroError, RuntimeError):
    """No such device here, or a call of a device failed."""


class FaroFileError(FaroError, OSError):
    """A file that is missing, malformed or cannot be written."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class FaroMemoryError(FaroError, MemoryError):
    """Not enough memory."""


class FaroInternalError(FaroError, RuntimeError):
    """A bug in faro: please report it."""


# By the statuses of faro.h.
_OF_STATUS: dict[int, type[FaroError]] = {
    1: FaroInternalError,
    2: FaroValueError,
    3: FaroValueError,
    4: FaroValueError,
    5: FaroUnsupportedError,
    6: FaroDeviceError,
    7: FaroInternalError,
    8: FaroFileError,
    9: FaroMemoryError,
}


def _make(status: int, message: str, operation: str, got: str, wanted: str, remedy: str) -> FaroError:
    error = _OF_STATUS.get(status, FaroInternalError)(message)
    error.operation, error.got, error.wanted, error.remedy = operation, got, wanted, remedy
    return error


_MOST_SHOWN = 400  # characters of a value of the caller's


def _line(text: str) -> str:
    """One line of what an array or a long list is written as."""
    shown = " ".join(text.split())
    return shown if len(shown) <= _MOST_SHOWN else shown[:_MOST_SHOWN] + "..."


def refuse(operation: str, got: str, wanted: str, remedy: str = "", kind: type[FaroError] = FaroValueError) -> NoReturn:
    """Raises an error of these parts."""
    got = _line(got)
    error = kind(f"{operation}: got {got}, wanted {wanted}" + (f"; {remedy}" if remedy else ""))
    error.operation, error.got, error.wanted, error.remedy = operation, got, wanted, remedy
    raise error


def called() -> str:
    """The function of faro's that the user called."""
    frame: Any = _sys._getframe(1)
    named = "read an array"
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
            named = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
        frame = frame.f_back
    return named
