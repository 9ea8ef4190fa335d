#!/usr/bin/env bash
# PyArrow 26.0.1: to_numpy_ndarray() of fixed_shape_tensor arrays takes a missing element for whatever its buffer holds, here 0, without an
# error. A missing tensor it refuses, and to_tensor() of a single tensor refuses the missing element; so does to_numpy() of an ordinary array,
# under zero_copy_only.
# Seen on CPython 3.11:
#     missing element: array [[[1.0, 0.0], [3.0, 4.0]]], scalar ArrowInvalid
#     missing tensor: array ArrowInvalid
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import pyarrow as pa


def seen(function):
    try:
        return function().tolist()
    except pa.ArrowInvalid as error:
        return type(error).__name__


kind = pa.fixed_shape_tensor(pa.float32(), (2, 2))
element = pa.ExtensionArray.from_storage(kind, pa.array([[1, None, 3, 4]], pa.list_(pa.float32(), 4)))
tensor = pa.ExtensionArray.from_storage(kind, pa.array([[1, 2, 3, 4], None], pa.list_(pa.float32(), 4)))
print(f"missing element: array {seen(element.to_numpy_ndarray)}, scalar {seen(lambda: element[0].to_numpy())}")
print(f"missing tensor: array {seen(tensor.to_numpy_ndarray)}")
P
)
echo "$seen"
[[ $seen == "missing element: array [[[1.0, 0.0], [3.0, 4.0]]], scalar ArrowInvalid
missing tensor: array ArrowInvalid" ]]
