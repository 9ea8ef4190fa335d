"""faro.torch and faro.jax for what they rest on: functions of faro that meet an array of theirs hand it on. A library's module is
imported when it is first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def functions_for(library: str) -> Any:
    """The module ``faro.torch`` or ``faro.jax``."""
    return import_module(f"{__package__}.{library}")
