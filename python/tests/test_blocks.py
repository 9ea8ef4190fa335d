"""Scaled blocks: against ml_dtypes' types, by the formulas of the MX standard; and against torchao, where it is installed."""

import itertools

import ml_dtypes
import numpy as np
import pytest

import faro
from remedies import same

FORMATS = {"mxfp8_e4m3": (32, ml_dtypes.float8_e4m3fn), "mxfp8_e5m2": (32, ml_dtypes.float8_e5m2),
           "mxfp4": (32, ml_dtypes.float4_e2m1fn), "nvfp4": (16, ml_dtypes.float4_e2m1fn)}


def numbers(shape, dtype, seed=0, finite=True):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape) * 2.0 ** rng.integers(-12, 12, shape)
    x[rng.random(shape) < 0.02] = 0
    if not finite:
        x[rng.random(shape) < 0.002] = np.inf
        x[rng.random(shape) < 0.002] = np.nan
    return x.astype(dtype)


def codes_of(q, dtype):
    """Of ml_dtypes' rounding, saturated."""
    largest = np.float32(ml_dtypes.finfo(dtype).max)
    return np.clip(q.astype(np.float32), -largest, largest).astype(dtype)


def by_formula(x, name, axis, rounding, global_scale):
    """Data as numbers, scales as ml_dtypes has them, with blocks along `axis`."""
    block, dtype = FORMATS[name]
    moved = np.moveaxis(x.astype(np.float32), axis, -1)
    blocks = moved.reshape(*moved.shape[:-1], -1, block)
    largest = np.abs(blocks).max(-1)
    top = np.float32(ml_dtypes.finfo(dtype).max)
    if name == "nvfp4":
        wanted = np.clip(largest / np.float32(6) / np.float32(global_scale), np.float32(2**-6), np.float32(448))
        scales = wanted.astype(ml_dtypes.float8_e4m3fn)
        factors = np.float32(1) / np.float32(global_scale) / scales.astype(np.float32)
    else:
        with np.errstate(divide="ignore"):
            power = np.floor(np.log2(largest.astype(np.float64))) - np.floor(np.log2(float(top)))
            if rounding == "ceil":
                quotient = (largest / top).astype(np.float64)
                mantissa, exponent = np.frexp(quotient)
                power = np.where(quotient == 0, -np.inf, exponent - (mantissa == 0.5))
        power = np.clip(power, -127, 127)
        scales = (2.0**power).astype(ml_dtypes.float8_e8m0fnu)
        factors = (2.0 ** -power).astype(np.float32)
    q = codes_of((blocks * factors[..., None]).reshape(moved.shape), dtype)
    return np.moveaxis(q, -1, axis), np.moveaxis(scales, -1, axis)


def packed(q):
    """Two of 4 bits to a byte."""
    bits = q.view(np.uint8) & 15
    return bits[..., 0::2] | bits[..., 1::2] << 4


def tiled(scales, axis):
    rows = np.moveaxis(scales.view(np.uint8), axis, -1)
    rows = rows.reshape(-1, rows.shape[-1])
    full = np.zeros((-(-rows.shape[0] // 128) * 128, -(-rows.shape[1] // 4) * 4), np.uint8)
    full[: rows.shape[0], : rows.shape[1]] = rows
    return full.reshape(full.shape[0] // 128, 4, 32, full.shape[1] // 4, 4).transpose(0, 3, 2, 1, 4).reshape(full.shape)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("dtype", ["float32", "float16", ml_dtypes.bfloat16])
def test_blocks_are_those_of_the_formula(name, dtype):
    x = numbers((6, 64, 96), dtype)
    for axes, axis, rounding in itertools.product([None, (2, 0, 1), (0, 2, 1)], [-1, 0, 1], ["floor", "ceil"]):
        moved = x if axes is None else x.transpose(axes)
        if moved.shape[axis] % FORMATS[name][0] or moved.shape[-1] % 2:
            continue
        scale = 0.375 if name == "nvfp4" else None
        q, s = by_formula(moved, name, axis, rounding, scale)
        data, scales = faro.quantize_blocks(x, name, axes, axis=axis, rounding=rounding, global_scale=scale)
        wanted = packed(q) if FORMATS[name][1] is ml_dtypes.float4_e2m1fn else q
        same(data.view(np.uint8), wanted.view(np.uint8))
        same(scales.view(np.uint8), s.view(np.uint8))
        assert scales.dtype == s.dtype and data.dtype == wanted.dtype

        back = None if axes is None else tuple(np.argsort(axes))
        block = FORMATS[name][0]
        wide = q.astype(np.float32) * np.repeat(s.astype(np.float32) * np.float32(scale or 1), block, axis)
        wide = wide if back is None else wide.transpose(back)
        for to in ("float32", "bfloat16"):
            got = faro.dequantize_blocks(data, scales, name, back, axis=axis, dtype=to, global_scale=scale)
            same(np.asarray(got, np.float32), wide.astype(got.dtype).astype(np.float32))


def test_layouts_of_scales():
    x = numbers((160, 5, 192), "float32")
    _, rows = faro.quantize_blocks(x, "mxfp8_e4m3", (2, 1, 0))
    assert rows.shape == (192, 5, 5)
    _, wide = faro.quantize_blocks(x, "mxfp8_e4m3", (2, 1, 0), scale_layout="wide")
    assert wide.shape == (5, 5, 192)
    same(wide.view(np.uint8), rows.view(np.uint8).transpose(2, 1, 0))
    for axis in (-1, 0):
        q, plain = faro.quantize_blocks(x, "mxfp8_e4m3", (2, 1, 0), axis=axis)
        data, tiles = faro.quantize_blocks(x, "mxfp8_e4m3", (2, 1, 0), axis=axis, scale_layout="tiled")
        same(tiles.view(np.uint8), tiled(plain, axis))
        same(data.view(np.uint8), q.view(np.uint8))
        back = [faro.dequantize_blocks(q, s, "mxfp8_e4m3", (2, 1, 0), axis=axis, scale_layout=layout)
                for s, layout in ((plain, "data"), (tiles, "tiled"))]
        same(*back)


def test_views_and_nothing():
    x = numbers((64, 128), "float32")
    same(faro.quantize_blocks(x[::-1, ::2], "mxfp4")[0], faro.quantize_blocks(x[::-1, ::2].copy(), "mxfp4")[0])
    data, scales = faro.quantize_blocks(np.empty((0, 64), "float32"), "mxfp8_e4m3")
    assert data.shape == (0, 64) and scales.shape == (0, 2)
    assert faro.dequantize_blocks(data, scales, "mxfp8_e4m3").shape == (0, 64)
    assert faro.quantize_blocks(np.empty((0, 64), "float32"), "nvfp4", scale_layout="tiled")[1].shape == (0, 4)


def test_a_tensor_becomes_tensors():
    torch = pytest.importorskip("torch")
    x = torch.randn(64, 48)
    data, scales = faro.quantize_blocks(x, "mxfp8_e5m2", (1, 0))
    assert data.dtype == torch.float8_e5m2 and tuple(scales.shape) == (48, 2)
    same(data.view(torch.uint8).numpy(), faro.quantize_blocks(x.numpy(), "mxfp8_e5m2", (1, 0))[0].view(np.uint8))
    back = faro.dequantize_blocks(data, scales, "mxfp8_e5m2", (1, 0), dtype="bfloat16")
    assert back.dtype == torch.bfloat16 and (back.float() - x).abs().max() < 0.6


@pytest.mark.parametrize("rounding", ["floor", "ceil"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_torchao_has_the_same_bits(rounding, dtype):
    torch = pytest.importorskip("torch")
    mx = pytest.importorskip("torchao.prototype.mx_formats.mx_tensor")
    nv = pytest.importorskip("torchao.prototype.mx_formats.nvfp4_tensor")
    utils = pytest.importorskip("torchao.prototype.mx_formats.utils")
    x = torch.from_numpy(numbers((256, 320), "float32", 5)).to(getattr(torch, dtype))
    x[0, :32] = 0
    mode = mx.ScaleCalculationMode.FLOOR if rounding == "floor" else mx.ScaleCalculationMode.RCEIL
    turned = x.t().contiguous()
    elements = {"mxfp8_e4m3": torch.float8_e4m3fn, "mxfp8_e5m2": torch.float8_e5m2, "mxfp4": torch.float4_e2m1fn_x2}
    for name, element in elements.items():
        scales, data = mx.to_mx(turned, element, 32, mode)
        got, got_scales = faro.quantize_blocks(x, name, (1, 0), rounding=rounding)
        assert torch.equal(got.view(torch.uint8), data.view(torch.uint8).reshape(got.shape))
        assert torch.equal(got_scales.view(torch.uint8), scales.view(torch.uint8))
        tiles = faro.quantize_blocks(x, name, (1, 0), rounding=rounding, scale_layout="tiled")[1]
        assert torch.equal(tiles.view(torch.uint8).flatten(), utils.to_blocked(scales.view(torch.uint8)))
    for scale in (None, float(x.float().abs().max()) / (448 * 6)):
        scales, data = nv.nvfp4_quantize(turned, 16, None if scale is None else torch.tensor(scale))
        got, got_scales = faro.quantize_blocks(x, "nvfp4", (1, 0), global_scale=scale)
        assert torch.equal(got, data) and torch.equal(got_scales.view(torch.uint8), scales.view(torch.uint8).reshape(got_scales.shape))


@pytest.mark.parametrize("call, told", [
    (lambda: faro.quantize_blocks(np.zeros((4, 40), "float32"), "mxfp8_e4m3"), "a multiple of 32"),
    (lambda: faro.quantize_blocks(np.zeros((4, 32), "float32"), "mxfp6"), "one of mxfp8_e4m3"),
    (lambda: faro.quantize_blocks(np.zeros((32, 3), "float32"), "mxfp4", axis=0), "an even number"),
    (lambda: faro.quantize_blocks(np.zeros((4, 32), "float32"), "mxfp4", global_scale=2), "format='nvfp4'"),
    (lambda: faro.quantize_blocks(np.zeros((4, 32), "float32"), "nvfp4", global_scale=-1), "above 0"),
    (lambda: faro.quantize_blocks(np.zeros((4, 32), "float32"), "nvfp4", rounding="up"), "floor or ceil"),
    (lambda: faro.quantize_blocks(np.zeros((4, 32), "float32"), "nvfp4", scale_layout="rows"), "one of data"),
    (lambda: faro.quantize_blocks(np.zeros(32, ">f4"), "mxfp4"), "elements float32"),
    (lambda: faro.quantize_blocks(np.float32(1), "mxfp4"), "whole blocks"),
    (lambda: faro.dequantize_blocks(np.zeros((2, 32), "u1"), np.zeros((2, 2), "u1"), "mxfp8_e4m3"), "shape (2, 1)"),
    (lambda: faro.dequantize_blocks(np.zeros((2, 32), "f4"), np.zeros((2, 1), "u1"), "mxfp8_e4m3"), "of one byte"),
    (lambda: faro.dequantize_blocks(np.zeros((2, 32), "u1"), np.zeros((2, 1), "u1"), "mxfp8_e4m3", dtype="int8"), "float32"),
])
def test_refusals(call, told):
    with pytest.raises(faro.FaroError, match=told.replace("(", r"\(").replace(")", r"\)")):
        call()
