"""faro: fast permutations of large arrays, on CPUs and GPUs.

>>> import numpy as np, faro
>>> x = np.arange(24).reshape(2, 3, 4)
>>> faro.permute_dims(x, (2, 0, 1)).shape
(4, 2, 3)
>>> faro.permute(np.arange(8), "bit_reversal").tolist()
[0, 4, 2, 6, 1, 5, 3, 7]

docs/guide/python.md is the guide.
"""

from __future__ import annotations

import importlib as _importlib
import os as _os
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from . import _errors, _faro

_faro.set_errors(_errors._make)

from . import _arithmetic, _arrays, _functions, _in_place, _plan, _rows, _run, maps  # noqa: E402
from ._arithmetic import *  # noqa: E402, F403
from ._errors import (  # noqa: E402
    FaroDeviceError,
    FaroError,
    FaroFileError,
    FaroInternalError,
    FaroMemoryError,
    FaroTypeError,
    FaroUnsupportedError,
    FaroValueError,
)
from ._functions import *  # noqa: E402, F403
from ._plan import *  # noqa: E402, F403
from ._rows import *  # noqa: E402, F403

# What most programs never call is imported with the first of its names that is asked for: a third of the time that `import faro` takes.
_LATER = ("_authors", "_automorphisms", "_bits", "_blocks", "_caches", "_checkpoints", "_columns", "_family", "_groups", "_networks", "_row_plans", "_stores")
_MODULES = ("distributions", "shards", "sketch")
if _TYPE_CHECKING:
    from . import _authors, _automorphisms, _bits, _blocks, _caches, _checkpoints, _columns, _family, _groups, _networks  # noqa: E402
    from . import _row_plans, _stores, distributions, shards, sketch  # noqa: E402
    from ._authors import *  # noqa: E402, F403
    from ._automorphisms import *  # noqa: E402, F403
    from ._bits import *  # noqa: E402, F403
    from ._blocks import *  # noqa: E402, F403
    from ._caches import *  # noqa: E402, F403
    from ._checkpoints import *  # noqa: E402, F403
    from ._columns import *  # noqa: E402, F403
    from ._family import *  # noqa: E402, F403
    from ._groups import *  # noqa: E402, F403
    from ._networks import *  # noqa: E402, F403
    from ._row_plans import *  # noqa: E402, F403
    from ._stores import *  # noqa: E402, F403
else:

    def __getattr__(name: str) -> _Any:
        if name in _LATER or name in _MODULES:
            return _importlib.import_module("." + name, __name__)
        if name == "__all__":
            globals()[name] = sum((_importlib.import_module("." + later, __name__).__all__ for later in _LATER), _early)
            return globals()[name]
        if not name.startswith("_"):
            for later in _LATER:
                module = _importlib.import_module("." + later, __name__)
                if name in module.__all__:
                    globals()[name] = found = getattr(module, name)
                    return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__getattr__("__all__")})


__version__: str = _faro.version()


def cuda_status() -> tuple[bool, str]:
    """Whether arrays on a GPU can be permuted here, and one line that says why.

    >>> available, reason = cuda_status()
    >>> available in (True, False) and len(reason) > 0
    True
    """
    available, reason = _faro.cuda_status()
    return available, str(reason)


def clear_plans() -> None:
    """Forgets the plans that calls have made. They are at most 1024 each of NumPy's arrays and of others.

    >>> clear_plans()
    """
    _faro.clear_plans()
    kept = [_run._plan_on, _functions._chosen, _functions._plan_along, _in_place.widened, _arithmetic._planned]
    for later, name in (("_networks", "_plan"), ("_blocks", "_planned"), ("_caches", "_planned")):
        if (module := _sys.modules.get(f"{__name__}.{later}")) is not None:
            kept.append(getattr(module, name))
    for cache in kept:
        cache.cache_clear()


def keep_memory(most_bytes: int) -> None:
    """How much memory of freed results stays for the next ones: 512 MiB at first, or what FARO_KEEP_MEMORY says in bytes. 0: none.

    Results of 2 MiB and more that are new arrays of NumPy lie there. The system clears the pages of new memory when they are first
    written, which takes longer than a permutation. It takes kept memory back where it runs short. What is kept beyond
    ``most_bytes`` is given back at once.

    >>> keep_memory(1 << 28)
    """
    _faro.keep_memory(_run.whole(most_bytes, "keep memory", "most_bytes =", 0, 2**63 - 1))


def kept_memory() -> int:
    """Bytes of freed results that are kept.

    >>> kept_memory() >= 0
    True
    """
    return _faro.kept_memory()


__all__ = [
    "FaroDeviceError", "FaroError", "FaroFileError", "FaroInternalError", "FaroMemoryError", "FaroTypeError",
    "FaroUnsupportedError", "FaroValueError", "clear_plans", "cuda_status", "distributions", "keep_memory", "kept_memory", "maps", "shards", "sketch",
]
__all__ += _arithmetic.__all__
__all__ += _functions.__all__
__all__ += _plan.__all__
__all__ += _rows.__all__
if _TYPE_CHECKING:
    __all__ += _authors.__all__
    __all__ += _automorphisms.__all__
    __all__ += _bits.__all__
    __all__ += _blocks.__all__
    __all__ += _caches.__all__
    __all__ += _checkpoints.__all__
    __all__ += _columns.__all__
    __all__ += _family.__all__
    __all__ += _groups.__all__
    __all__ += _networks.__all__
    __all__ += _row_plans.__all__
    __all__ += _stores.__all__
else:
    _early = __all__
    del __all__  # whoever asks for all names imports every module

_arrays.numpy()
if "FARO_KEEP_MEMORY" in _os.environ:
    try:
        keep_memory(int(_os.environ["FARO_KEEP_MEMORY"]))
    except ValueError:
        _errors.refuse("read FARO_KEEP_MEMORY", repr(_os.environ["FARO_KEEP_MEMORY"]), "a number of bytes")
