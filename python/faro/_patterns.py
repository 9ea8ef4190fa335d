"""Patterns, ``b s (h d) -> b h s d``, as single axes in another order, for shapes whose extents may be symbols."""

from __future__ import annotations

from typing import Any, Mapping, Sequence


_Group = tuple[str, ...]  # of one axis, or of those that brackets join
_DOTS: _Group = ("", "...")  # that stand alone: each of their axes is a group


def _groups(side: str) -> list[_Group] | None:
    groups: list[_Group] = []
    is_inside = False
    for word in side.replace("(", " ( ").replace(")", " ) ").split():
        if word in ("(", ")"):
            if is_inside == (word == "("):
                return None
            is_inside = word == "("
            if is_inside:
                groups.append(())
        elif is_inside:
            groups[-1] = (*groups[-1], word)
        else:
            groups.append(_DOTS if word == "..." else (word,))
    return None if is_inside else groups


def _expanded(groups: list[_Group], dots: Sequence[str]) -> list[list[str]]:
    """With names for the axes of ``...``, each a group of its own unless brackets join them."""
    made: list[list[str]] = []
    for group in groups:
        if group == _DOTS:
            made.extend([name] for name in dots)
        else:
            made.append([each for word in group for each in (dots if word == "..." else [word]) if each != "1"])
    return made


def single_axes(pattern: str, shape: Sequence[Any], inverse: bool, lengths: Mapping[str, Any]) -> Any:
    """(extents of the single axes of an array of this shape, their order, the result's shape), or None for a pattern that does not
    fit it, or is not understood here: the engine says what is wrong."""
    said, *told = pattern.split(",")
    sides = said.split("->")
    sizes = dict(lengths)
    for each in told:
        name, _, length = each.partition("=")
        if not length.strip().isdigit():
            return None
        sizes[name.strip()] = int(length)
    if len(sides) != 2 or len(shape) == 0:
        return None
    given, wanted = _groups(sides[1 if inverse else 0]), _groups(sides[0 if inverse else 1])
    if given is None or wanted is None or any("..." in group and group != _DOTS for group in given):
        return None
    many = len(shape) - len(given) + 1 if _DOTS in given else 0
    dots = [f"...{k}" for k in range(many)]
    axes, result_axes = _expanded(given, dots), _expanded(wanted, dots)
    before, after = [name for group in axes for name in group], [name for group in result_axes for name in group]
    if many < 0 or len(axes) != len(shape) or len(set(before)) != len(before) or sorted(before) != sorted(after):
        return None
    if any(name.isdigit() for name in before) or not _measured(axes, shape, sizes):
        return None
    result = []
    for group in result_axes:
        extent = 1
        for name in group:
            extent = extent * sizes[name]
        result.append(extent)
    return [sizes[name] for name in before], [before.index(name) for name in after], result


def _measured(groups: list[list[str]], shape: Sequence[Any], sizes: dict[str, Any]) -> bool:
    """Adds the lengths that the shape tells; False where they do not agree, or are not told."""
    for group, extent in zip(groups, shape):
        known, unknown = 1, [name for name in group if name not in sizes]
        for name in group:
            known = known * sizes.get(name, 1)
        if len(unknown) > 1:
            return False
        if len(group) == 1 and unknown:
            sizes[unknown[0]] = extent
        elif not unknown:
            if extent != known:
                return False
        elif known == 0 or extent % known != 0:
            return False
        else:
            sizes[unknown[0]] = extent // known
    return True
