#!/usr/bin/env bash
# vtk 9.7.2: numpy_to_vtk() takes big-endian numbers of NumPy for little-endian ones, in a copy (deep=True), too. It refuses complex128 and takes
# complex64, of which it drops the imaginary part with no more than NumPy's warning.
# pyvista 0.49.1 passes this on for the points of a mesh, the columns of a table and point data that is a slice; point data that is contiguous,
# row-major or column-major, is right.
# Seen with numpy 2.4.6, on CPython 3.11:
#     numpy_to_vtk, deep=False: [[16777216, 33554432, 50331648], [67108864, 83886080, 100663296]]
#     numpy_to_vtk, deep=True: [[16777216, 33554432, 50331648], [67108864, 83886080, 100663296]]
#     complex64 [1+5j, 2]: [1.0, 2.0]
#     complex128 [1+5j, 2]: refused
#     point data, row-major: [[1, 2, 3], [4, 5, 6]]
#     point data, column-major: [[1, 2, 3], [4, 5, 6]]
#     point data, one column: [16777216, 67108864]
#     points: [[16777216.0, 33554432.0, 50331648.0], [67108864.0, 83886080.0, 100663296.0]] after their bytes are reversed again
#     first column of a table: [16777216, 67108864]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check vtk==9.7.2 pyvista==0.49.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import warnings

import numpy as np, pyvista
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy

warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
x = np.array([[1, 2, 3], [4, 5, 6]], ">i4")
for deep in False, True:
    print(f"numpy_to_vtk, deep={deep}: {vtk_to_numpy(numpy_to_vtk(x, deep=deep)).tolist()}")
for name in "complex64", "complex128":
    try:
        print(f"{name} [1+5j, 2]: {vtk_to_numpy(numpy_to_vtk(np.array([1 + 5j, 2], name))).tolist()}")
    except AssertionError:
        print(f"{name} [1+5j, 2]: refused")
mesh = pyvista.PolyData(np.zeros((2, 3)))
for name, array in ("row-major", x), ("column-major", np.asfortranarray(x)), ("one column", x[:, 0]):
    mesh["data"] = array
    print(f"point data, {name}: {mesh['data'].tolist()}")
points = pyvista.PolyData(x.astype(">f4")).points
print(f"points: {points.view('>f4').tolist()} after their bytes are reversed again")
print(f"first column of a table: {pyvista.Table(x)[0].tolist()}")
P
)
echo "$seen"
[[ $seen == "numpy_to_vtk, deep=False: [[16777216, 33554432, 50331648], [67108864, 83886080, 100663296]]
numpy_to_vtk, deep=True: [[16777216, 33554432, 50331648], [67108864, 83886080, 100663296]]
complex64 [1+5j, 2]: [1.0, 2.0]
complex128 [1+5j, 2]: refused
point data, row-major: [[1, 2, 3], [4, 5, 6]]
point data, column-major: [[1, 2, 3], [4, 5, 6]]
point data, one column: [16777216, 67108864]
points: [[16777216.0, 33554432.0, 50331648.0], [67108864.0, 83886080.0, 100663296.0]] after their bytes are reversed again
first column of a table: [16777216, 67108864]" ]]
