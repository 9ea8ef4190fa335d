#!/usr/bin/env bash
# NumPy 2.4.6: Generator.permuted(x) shuffles, as its documentation says, the flattened array. It flattens in the order of memory: with one seed a matrix
# and its column-major copy, which are equal, become two different ones, and so does one matrix in a column-major out=. permuted() along an axis, and
# permutation(), do not look at the memory. Whoever repeats an experiment from a seed has other numbers after a transpose on the way.
# Seen on CPython 3.11:
#     equal True: rows [[3, 2, 5], [4, 0, 1]], columns [[4, 5, 0], [1, 2, 3]], out in columns [[4, 5, 0], [1, 2, 3]]
#     along 1: rows [[2, 0, 1], [5, 4, 3]], columns [[2, 0, 1], [5, 4, 3]]
#     permutation: [[2, 0, 1], [5, 3, 4]], [[2, 0, 1], [5, 3, 4]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np

rows = np.arange(6).reshape(2, 3)
columns = np.asfortranarray(rows)


def drawn(x, **options):
    return np.random.default_rng(0).permuted(x, **options).tolist()


print(f"equal {np.array_equal(rows, columns)}: rows {drawn(rows)}, columns {drawn(columns)}, out in columns {drawn(rows, out=np.empty_like(columns))}")
print(f"along 1: rows {drawn(rows, axis=1)}, columns {drawn(columns, axis=1)}")
print("permutation: {}, {}".format(*(np.random.default_rng(0).permutation(x, axis=1).tolist() for x in (rows, columns))))
P
)
echo "$seen"
[[ $seen == "equal True: rows [[3, 2, 5], [4, 0, 1]], columns [[4, 5, 0], [1, 2, 3]], out in columns [[4, 5, 0], [1, 2, 3]]
along 1: rows [[2, 0, 1], [5, 4, 3]], columns [[2, 0, 1], [5, 4, 3]]
permutation: [[2, 0, 1], [5, 3, 4]], [[2, 0, 1], [5, 3, 4]]" ]]
