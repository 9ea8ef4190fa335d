"""Patterns of axes against einops: whatever einops.rearrange takes, and what it refuses."""

import math

import faro
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

LENGTHS = st.sampled_from([1, 1, 2, 3, 4])


@st.composite
def patterns(draw):
    """(pattern, lengths that it leaves open, shape): axes and `...` on both sides, in brackets or not; `()` and `1` between them."""
    names = ["a", "b", "c2", "dd", "e_e"][: draw(st.integers(0, 5))]
    length = {name: draw(LENGTHS) for name in names}
    dots = [draw(LENGTHS) for _ in range(draw(st.integers(0, 3)))]
    has_dots = draw(st.booleans())
    words = draw(st.permutations(names + ["..."] * has_dots))
    left, shape, said = [], [], {}
    while words:
        take = 1 if words[0] == "..." else draw(st.integers(1, 3))
        group = words[: 1 if words[0] == "..." else min([take] + [i for i, word in enumerate(words) if word == "..."])]
        words = words[len(group) :]
        if group == ["..."]:
            left, shape = [*left, "..."], [*shape, *dots]
            continue
        in_brackets = len(group) > 1 or draw(st.booleans())
        left.append(f"({' '.join(group)})" if in_brackets else group[0])
        shape.append(math.prod(length[name] for name in group))
        open_ = draw(st.sampled_from(group))  # follows from the array
        said |= {name: length[name] for name in group if name != open_}
    right = []
    words = draw(st.permutations(names + ["..."] * has_dots))
    while words:
        group, words = words[: (n := draw(st.integers(1, 4)))], words[n:]
        right.append(f"({' '.join(group)})" if draw(st.booleans()) else " ".join(group))
    for side, extents in ((left, shape), (right, None)):
        if draw(st.booleans()):
            if extents is None:
                side.insert(draw(st.integers(0, len(side))), draw(st.sampled_from(["1", "()"])))
            else:
                side.append(draw(st.sampled_from(["1", "()"])))
                extents.append(1)
    return f"{' '.join(left)} -> {' '.join(right)}", said, tuple(shape)


def drawn(shape):
    return np.random.default_rng(0).integers(0, 255, shape, dtype=np.uint8)


@given(patterns())
def test_patterns_do_what_einops_does(case):
    einops = pytest.importorskip("einops")
    pattern, lengths, shape = case
    x = drawn(shape)
    wanted = einops.rearrange(x, pattern, **lengths)
    got = faro.rearrange(x, pattern, **lengths)
    assert got.shape == wanted.shape and (got == wanted).all(), (pattern, lengths, shape)
    strided = np.repeat(x, 2, axis=-1)[..., ::2] if shape else x
    got = faro.rearrange(strided, pattern, **lengths)
    assert got.shape == wanted.shape and (got == wanted).all(), (pattern, lengths, shape)


@given(patterns())
def test_sized_patterns_can_be_read_backwards(case):
    pattern, lengths, shape = case
    x = drawn(shape)
    there = faro.rearrange(x, pattern, **lengths)
    said = faro._run.sized_pattern(pattern + "".join(f", {n}={e}" for n, e in lengths.items()), shape, inverse=False)
    assert "..." not in said
    again = faro.rearrange(x, said)
    assert again.shape == there.shape and (again == there).all(), said
    back = faro.rearrange(there, said, inverse=True)
    assert back.shape == shape and (back == x).all(), said
    if "..." not in pattern.partition("->")[2] or " ... " in f" {pattern.partition('->')[2]} ":
        said = faro._run.sized_pattern(said, there.shape, inverse=True)
        assert (faro.rearrange(there, said, inverse=True) == x).all()


@pytest.mark.parametrize(
    ("pattern", "shape", "result"),
    [
        ("... h w -> (...) h w", (2, 3, 4, 5), (6, 4, 5)),
        ("... h w -> (...) h w", (4, 5), (1, 4, 5)),
        ("b ... c -> c (b ...)", (2, 3, 4, 5), (5, 24)),
        ("... -> (...)", (), (1,)),
        ("... -> (...)", (2, 3), (6,)),
        ("... -> ...", (), ()),
        ("-> 1 1", (), (1, 1)),
        ("1 ->", (1,), ()),
        ("... a -> (a ... 1) ()", (2, 0, 3), (0, 1)),
    ],
)
def test_shapes_and_gradients_everywhere(pattern, shape, result):
    x = drawn(shape)
    assert faro.rearrange(x, pattern).shape == result
    if x.size > 1:
        assert faro.rearrange(x.copy(), pattern, in_place=True).shape == result
    torch = pytest.importorskip("torch")
    from faro import torch as faro_torch

    t = torch.zeros(shape, requires_grad=True)
    out = faro_torch.rearrange(t, pattern)
    assert tuple(out.shape) == result
    weights = torch.arange(out.numel(), dtype=torch.float32).reshape(result)
    (out * weights).sum().backward()
    assert t.grad.shape == t.shape
    assert (faro.rearrange(t.grad.numpy(), pattern) == weights.numpy()).all()


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (4, 5), (2, 0, 5)])
def test_jax_joins_and_differentiates(shape):
    jax = pytest.importorskip("jax")
    from faro import jax as faro_jax

    x = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    for pattern in ("... h w -> (...) h w", "... h w -> w (h ...)", "b ... c -> c (b ... 1) ()"):
        wanted = faro.rearrange(x, pattern)
        got, back = jax.vjp(jax.jit(lambda v: faro_jax.rearrange(v, pattern)), jax.numpy.asarray(x))
        assert got.shape == wanted.shape and (np.asarray(got) == wanted).all()
        assert (np.asarray(back(got)[0]) == x).all()


@pytest.mark.parametrize(
    ("pattern", "inverse", "said"),
    [
        ("(...) w -> ... w", False, "names and their lengths"),
        ("(...) w -> w (...)", False, "names and their lengths"),
        ("... w -> (...) w", True, "names and their lengths"),
        ("a b -> a b ...", False, "on one side only"),
        ("a b ... -> a b", False, "on one side only"),
    ],
)
def test_what_einops_refuses_is_refused(pattern, inverse, said):
    with pytest.raises(faro.FaroError, match=said):
        faro.rearrange(np.zeros((6, 5)), pattern, inverse=inverse)
    # The remedy: names and their lengths.
    assert faro.rearrange(np.zeros((6, 5)), "a b w -> (a b) w", a=2, inverse=True).shape == (2, 3, 5)
