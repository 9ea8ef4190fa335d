#!/usr/bin/env bash
# Taichi 1.7.4: a signed fixed-point number of 8 bits with max_value=2 in BitpackedFields is a count of 64ths, of which 127 are the most. 1.98 is
# stored as 127 and 1.999 rounded to 128, which does not fit and comes back as -2; 2, which max_value names, as well, and 5 as 1. Unsigned, 1.999
# and 2 come back as 0. There is no saturation and no error. quant.float rounds 1.999 to 2.
# Seen with numpy 2.4.6, on CPython 3.11:
#     [0.5, 1.98, 1.999, 2.0, 5.0]
#     signed, 8 bits: [0.5, 1.984375, -2.0, -2.0, 1.0]
#     signed, 4 bits: [0.5, -2.0, -2.0, -2.0, 1.0]
#     unsigned, 8 bits: [0.5, 1.9765625, 0.0, 0.0, 1.0]
#     float: [0.5, 1.984375, 2.0, 2.0, 5.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check taichi==1.7.4 numpy==2.4.6
cat > "$folder/seen.py" <<'P'
import taichi as ti

ti.init(arch=ti.cpu, log_level=ti.ERROR, offline_cache=False)

def stored(quantized, numbers):
    x = ti.field(quantized)
    packed = ti.BitpackedFields(max_num_bits=64)
    packed.place(x)
    ti.root.dense(ti.i, len(numbers)).place(packed)
    for i, number in enumerate(numbers):
        x[i] = number
    return [x[i] for i in range(len(numbers))]

numbers = [0.5, 1.98, 1.999, 2.0, 5.0]
print(numbers)
for name, quantized in (
    ("signed, 8 bits", ti.types.quant.fixed(bits=8, signed=True, max_value=2.0)),
    ("signed, 4 bits", ti.types.quant.fixed(bits=4, signed=True, max_value=2.0)),
    ("unsigned, 8 bits", ti.types.quant.fixed(bits=8, signed=False, max_value=2.0)),
    ("float", ti.types.quant.float(exp=5, frac=7, signed=True)),
):
    print(f"{name}: {stored(quantized, numbers)}")
P
seen=$("$folder/env/bin/python" "$folder/seen.py" | grep -vF '[Taichi]')
echo "$seen"
[[ $seen == "[0.5, 1.98, 1.999, 2.0, 5.0]
signed, 8 bits: [0.5, 1.984375, -2.0, -2.0, 1.0]
signed, 4 bits: [0.5, -2.0, -2.0, -2.0, 1.0]
unsigned, 8 bits: [0.5, 1.9765625, 0.0, 0.0, 1.0]
float: [0.5, 1.984375, 2.0, 2.0, 5.0]" ]]
