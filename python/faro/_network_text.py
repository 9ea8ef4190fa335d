"""The adjoint of a network by its text: what gradients go back by.

A program of permutations, ``hadamard``, ``fourier`` and multiplications is linear, and its adjoint is a program again: its factors, each
its own adjoint, in the other order. The definitions of a text become those of the adjoints, under their names.

>>> adjoint("parm(3; wht) . bmmc(bit_reversal)")
'bmmc(inverse(bit_reversal)) . parm(3; wht)'
"""

from __future__ import annotations

import functools
import re
from typing import NoReturn

from ._errors import FaroUnsupportedError, refuse

# Of the library and of pairs(): a program of real and complex elements each.
_ADJOINTS = {
    "wht": "wht", "fft": "inverse_fft", "inverse_fft": "fft", "id": "id",
    "fft_reversed": "inverse_fft . bmmc(bit_reversal)", "inverse_fft_reversed": "fft . bmmc(bit_reversal)",
}
_PAIRS = {
    "hadamard": "pairs(hadamard)",
    # fourier is twiddles after hadamard, and so the twiddles are half of pairs(fourier) . pairs(hadamard).
    "fourier": "pairs(hadamard) . pairs(inverse_fourier) . pairs(hadamard) . each(multiply 0.5)",
    "inverse_fourier": "pairs(hadamard) . pairs(fourier) . pairs(hadamard) . each(multiply 0.5)",
}


def _no_gradient(what: str) -> NoReturn:
    refuse("differentiate a network", f"`{what}`, which is not linear", "permutations, hadamard, fourier and multiplications",
           "functions of PyTorch between linear networks have a gradient, and so has faro.torch.sort()",
           kind=FaroUnsupportedError)


def _pieces(text: str, separator: str) -> list[str]:
    """What stands between separators outside of brackets and quotation marks."""
    depth, quoted, parts = 0, False, [""]
    for place, c in enumerate(text):
        quoted ^= c == '"'
        depth += 0 if quoted else (c == "(") - (c == ")")
        is_number = c == "." and text[place + 1 : place + 2].isdigit() and text[place - 1 : place].isdigit()
        if c == separator and depth == 0 and not quoted and not is_number:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts]


@functools.lru_cache(maxsize=256)
def adjoint(text: str) -> str:
    """The adjoint of a program. Raises FaroUnsupportedError, naming the part, for one that is not linear."""
    return _definitions(text, adjoint=True)


@functools.lru_cache(maxsize=256)
def linear_part(text: str) -> str:
    """What a program does to tangents: itself without what it adds. Raises as ``adjoint``."""
    return _definitions(text, adjoint=False)


def _definitions(text: str, adjoint: bool) -> str:
    if text.lstrip().startswith("@"):
        refuse("differentiate a network", f"the file `{text.strip()}`", "the program's text",
               f"pathlib.Path({text.strip()[1:]!r}).read_text() is that", kind=FaroUnsupportedError)
    *definitions, program = [part for part in _pieces(text, ";") if part] or [""]
    heads = [definition.partition("=") for definition in definitions]
    own = {head.split()[0] for head, _, _ in heads if head.split()}
    said = [f"{head.strip()} = {_expression(body, own, adjoint)}" for head, _, body in heads]
    return "; ".join([*said, _expression(program, own, adjoint)])


def _expression(text: str, own: set[str], adjoint: bool) -> str:
    factors = [_factor(factor, own, adjoint) for factor in _pieces(text, ".")]
    return " . ".join(reversed(factors) if adjoint else factors)


def _factor(text: str, own: set[str], adjoint: bool) -> str:
    name, bracket, rest = text.partition("(")
    name, inside = name.strip(), rest.rstrip().removesuffix(")")
    if bracket and name == "":
        return f"({_expression(inside, own, adjoint)})"
    if bracket and name == "compose":
        return f"({_expression(' . '.join(f'({part})' for part in _pieces(inside, ',')), own, adjoint)})"
    if bracket and name == "two":
        return f"two({_expression(inside, own, adjoint)})"
    if bracket and name == "parm":
        mask, _, program = inside.partition(";")
        return f"parm({mask.strip()}; {_expression(program, own, adjoint)})"
    if bracket and name == "bmmc":
        return _permutation(inside, adjoint)
    if bracket and name == "pairs":
        if inside.strip() not in _PAIRS:
            _no_gradient(f"pairs({inside.strip()})")
        return _PAIRS[inside.strip()] if adjoint else f"pairs({inside.strip()})"
    if bracket and name == "each":
        return _each(inside.strip())
    called = re.split(r"[\s(]", text, maxsplit=1)[0]
    if called in own:
        return text
    if called not in _ADJOINTS:
        _no_gradient(text)
    if called.endswith("reversed") and text != called:  # its size is that of the place where it stands
        text = called
    if not adjoint:
        return text
    return text.replace(called, _ADJOINTS[called], 1) if not called.endswith("reversed") else f"({_ADJOINTS[called]})"


def _permutation(inside: str, adjoint: bool) -> str:
    if not adjoint:
        return f"bmmc({inside})"
    if re.match(r"\s*A\s*=", inside):
        refuse("differentiate a network", f"`bmmc({inside})`", "a map by name", "bmmc(affine(n; COLUMNS; C)) is the same map",
               kind=FaroUnsupportedError)
    return f"bmmc(inverse({inside}))"


def _each(function: str) -> str:
    name = function.split()[0] if function.split() else ""
    if name in ("multiply", "negate", "conjugate") and '"' not in function:
        return f"each({function})"
    if name == "add" and '"' not in function:
        return "id"
    _no_gradient(f"each({function})")
