#!/usr/bin/env bash
# meshio 5.3.5: big-endian points come back from Gmsh's binary files with their bytes reversed, and no error says so. VTK's legacy and XML files of
# the same mesh have them right, and PLY refuses them.
# Seen with numpy 2.4.6, on CPython 3.11:
#     msh: reversed
#     vtk: right
#     vtu: right
#     ply: refused
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check meshio==5.3.5 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import contextlib, io, sys

import meshio, numpy as np

points = np.arange(9, dtype=">f8").reshape(3, 3)
for extension in "msh", "vtk", "vtu", "ply":
    path = f"{sys.argv[1]}/mesh.{extension}"
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            meshio.Mesh(points, [("triangle", np.array([[0, 1, 2]], np.int32))]).write(path)
        back = meshio.read(path).points
        same, swapped = (np.array_equal(back, points.astype("f8").view(order)) for order in ("<f8", ">f8"))
        print(f"{extension}: {'right' if same else 'reversed' if swapped else 'other'}")
    except KeyError:
        print(f"{extension}: refused")
P
)
echo "$seen"
[[ $seen == "msh: reversed
vtk: right
vtu: right
ply: refused" ]]
