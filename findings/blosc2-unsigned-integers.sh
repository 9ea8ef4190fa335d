#!/usr/bin/env bash
# blosc2 4.14.1 computes with uint64 as with int64 in some operations and not in others: // , >>, %, abs and mean of 2^64 - 1 are those of -1, while
# >, / and max are right; abs of it is 0. Comparisons convert the other operand to the array's type first: of uint8, 200 is not less than 200.5 and 10
# alone is less than 300; a bool equals 2.5 and is 0 divided by 2. NumPy has the numbers beside.
# Seen with numpy 2.4.6, on CPython 3.11:
#     uint64, a // 2: [18446744073709551615, 2], NumPy [9223372036854775807, 2]
#     uint64, a >> 1: [13835058055282163712, 2], NumPy [9223372036854775807, 2]
#     uint64, a % 7: [2, 5], NumPy [1, 5]
#     uint64, abs(a): [0, 5], NumPy [18446744073709551615, 5]
#     uint64, mean(a): 2.0, NumPy 9.223372036854776e+18
#     uint64, max(a): 18446744073709551615, NumPy 18446744073709551615
#     uint64, a > 5: [True, False], NumPy [True, False]
#     uint8, a < 200.5: [True, False, False], NumPy [True, True, False]
#     uint8, a < 300: [True, False, False], NumPy [True, True, True]
#     bool, a == 2.5: [True, False], NumPy [False, False]
#     bool, a / 2: [0, 0], NumPy [0.5, 0.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check blosc2==4.14.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import blosc2, numpy as np

a = np.array([2**64 - 1, 5], np.uint64)
operations = {"a // 2": lambda m, a: a // 2, "a >> 1": lambda m, a: a >> 1, "a % 7": lambda m, a: a % 7, "abs(a)": lambda m, a: m.abs(a),
              "mean(a)": lambda m, a: m.mean(a), "max(a)": lambda m, a: m.max(a), "a > 5": lambda m, a: a > 5}
b = np.array([10, 200, 255], np.uint8)
comparisons = {"a < 200.5": lambda m, a: a < 200.5, "a < 300": lambda m, a: a < 300}
c = np.array([True, False])
logic = {"a == 2.5": lambda m, a: a == 2.5, "a / 2": lambda m, a: a / 2}
for array, table in (a, operations), (b, comparisons), (c, logic):
    for name, operation in table.items():
        seen = operation(blosc2, blosc2.asarray(array))
        print(f"{array.dtype}, {name}: {np.asarray(seen[()]).tolist()}, NumPy {operation(np, array).tolist()}")
P
)
echo "$seen"
[[ $seen == "uint64, a // 2: [18446744073709551615, 2], NumPy [9223372036854775807, 2]
uint64, a >> 1: [13835058055282163712, 2], NumPy [9223372036854775807, 2]
uint64, a % 7: [2, 5], NumPy [1, 5]
uint64, abs(a): [0, 5], NumPy [18446744073709551615, 5]
uint64, mean(a): 2.0, NumPy 9.223372036854776e+18
uint64, max(a): 18446744073709551615, NumPy 18446744073709551615
uint64, a > 5: [True, False], NumPy [True, False]
uint8, a < 200.5: [True, False, False], NumPy [True, True, False]
uint8, a < 300: [True, False, False], NumPy [True, True, True]
bool, a == 2.5: [True, False], NumPy [False, False]
bool, a / 2: [0, 0], NumPy [0.5, 0.0]" ]]
