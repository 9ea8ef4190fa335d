#!/usr/bin/env bash
# Triton 3.9.0 with TRITON_INTERPRET=1: float32 is cut, not rounded, on its way to bfloat16, a subnormal becomes another number, and to 8 bits NaN,
# infinity and what is too large become numbers: 384 is made of NaN in float8e4nv, and 480, which that type has not, of 464. Ties are rounded away
# from zero in both types of 8 bits. float16 is rounded as by PyTorch 2.15.0, whose conversion is printed after Triton's. A sum of bfloat16, which
# the documentation excludes, is that of the bits: 256 + 1 + 1 + 1 is about 1e-37.
# Seen with numpy 2.4.6, on CPython 3.11:
#     torch.float16 of [1.001220703125, 65519.0, 65520.0, nan]: 1.00098, 65504, inf, nan; PyTorch 1.00098, 65504, inf, nan
#     torch.bfloat16 of [1.0078, 1.01171875, -1e-40, nan]: 1, 1.00781, -4.4081e-39, nan; PyTorch 1.00781, 1.01562, -9.18355e-41, nan
#     torch.float8_e4m3fn of [1.0625, 464.0, nan, inf]: 1.125, 480, 384, 256; PyTorch 1, 448, nan, 448
#     torch.float8_e5m2 of [1.125, 61440.0, nan, inf]: 1.25, 65536, 98304, 65536; PyTorch 1, inf, nan, inf
#     sum of bfloat16 [256.0, 1.0, 1.0, 1.0]: 9.4e-38
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check torch==2.15.0 triton==3.9.0 numpy==2.4.6
cat > "$folder/seen.py" <<'P'
import torch, triton, triton.language as tl

@triton.jit
def convert(x, y, n: tl.constexpr, dtype: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(y + i, tl.load(x + i).to(dtype).to(tl.float32))

@triton.jit
def add(x, y, n: tl.constexpr):
    tl.store(y, tl.sum(tl.load(x + tl.arange(0, n))))

nan, inf = float("nan"), float("inf")
for dtype, torchs, numbers in (
    (tl.float16, torch.float16, [1.001220703125, 65519.0, 65520.0, nan]), (tl.bfloat16, torch.bfloat16, [1.0078, 1.01171875, -1e-40, nan]),
    (tl.float8e4nv, torch.float8_e4m3fn, [1.0625, 464.0, nan, inf]), (tl.float8e5, torch.float8_e5m2, [1.125, 61440.0, nan, inf]),
):
    x, y = torch.tensor(numbers), torch.zeros(4)
    convert[(1,)](x, y, 4, dtype)
    seen, wanted = ([f"{each:.6g}" for each in z.tolist()] for z in (y, x.to(torchs).float()))
    print(f"{torchs} of {numbers}: {', '.join(seen)}; PyTorch {', '.join(wanted)}")
x, y = torch.tensor([256.0, 1.0, 1.0, 1.0], dtype=torch.bfloat16), torch.zeros(1, dtype=torch.bfloat16)
add[(1,)](x, y, 4)
print(f"sum of bfloat16 {x.tolist()}: {y.item():.1e}")
P
seen=$(TRITON_INTERPRET=1 "$folder/env/bin/python" -W ignore "$folder/seen.py")
echo "$seen"
[[ $seen == "torch.float16 of [1.001220703125, 65519.0, 65520.0, nan]: 1.00098, 65504, inf, nan; PyTorch 1.00098, 65504, inf, nan
torch.bfloat16 of [1.0078, 1.01171875, -1e-40, nan]: 1, 1.00781, -4.4081e-39, nan; PyTorch 1.00781, 1.01562, -9.18355e-41, nan
torch.float8_e4m3fn of [1.0625, 464.0, nan, inf]: 1.125, 480, 384, 256; PyTorch 1, 448, nan, 448
torch.float8_e5m2 of [1.125, 61440.0, nan, inf]: 1.25, 65536, 98304, 65536; PyTorch 1, inf, nan, inf
sum of bfloat16 [256.0, 1.0, 1.0, 1.0]: 9.4e-38" ]]
