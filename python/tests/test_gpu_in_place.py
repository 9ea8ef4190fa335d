"""Arrays on a GPU permuted where they are: rows wider than an element of a plan, and axes in any order. Skipped without a GPU."""

import pytest

torch = pytest.importorskip("torch")

import faro  # noqa: E402
from faro import maps  # noqa: E402

pytestmark = pytest.mark.skipif(not (torch.cuda.is_available() and faro.cuda_status()[0]), reason="no GPU")


def filled(shape):
    return torch.randn(shape, device="cuda")


@pytest.mark.parametrize("columns", [2048, 4096, 2051])
@pytest.mark.parametrize("text", ["bit_reversal", "gray", "reverse"])
def test_wide_rows_along_an_axis(text, columns):
    rows = filled((2, 16, columns))
    wanted = torch.from_numpy(faro.permute(rows.cpu().numpy(), text, axis=1)).cuda()
    assert torch.equal(faro.permute(rows, text, axis=1), wanted)
    own = rows.clone()
    if columns == 2051 and text != "reverse":  # the kernels in place take widths of powers of two
        with pytest.raises(faro.FaroUnsupportedError) as refused:
            faro.permute(own, text, axis=1, in_place=True)
        assert "take()" in refused.value.remedy and torch.equal(own, rows)
        index = torch.from_numpy((~maps.parse(text, (16,))).indices.astype("i8")).cuda()
        assert torch.equal(faro.take(rows, index, 1), wanted)
    else:
        assert faro.permute(own, text, axis=1, in_place=True) is own and torch.equal(own, wanted)


@pytest.mark.parametrize("columns", [2048, 2051, 5000])
@pytest.mark.parametrize("text", ["roll(15, 4)", "flip(15)", "axes(5 3; 0 1; 2 0; 1)"])
def test_wide_rows_rolled_and_flipped(text, columns):
    rows = filled((3, 15, columns))
    by = maps.parse(text, (15,))
    wanted = torch.from_numpy(faro.permute(rows.cpu().numpy(), by, axis=1)).cuda()
    assert torch.equal(faro.permute(rows.clone(), by, axis=1, in_place=True), wanted)


def test_dense_arrays_of_other_orders_in_place():
    x = filled((4, 8, 16, 16))
    for call in (lambda v, **how: faro.flip(v, (2, 3), **how), lambda v, **how: faro.roll(v, 1, 2, **how),
                 lambda v, **how: faro.bit_reverse(v, 1, **how),
                 lambda v, **how: faro.permute_dims(v, (0, 1, 3, 2), **how),
                 lambda v, **how: faro.permute_dims(v, (0, 2, 3, 1), **how)):
        given = x.clone().contiguous(memory_format=torch.channels_last)
        got = call(given, in_place=True)
        assert torch.equal(got, call(x)) and got.data_ptr() == given.data_ptr()
