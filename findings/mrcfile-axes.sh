#!/usr/bin/env bash
# MRC files say with MAPC, MAPR and MAPS which axis of the map runs along columns, rows and sections. mrcfile 1.5.4 gives the data by sections,
# rows and columns whatever they say, and voxel_size beside them by x, y and z; its validator finds nothing. gemmi 0.7.5 permutes the same file.
# A cube in an order that crystallography uses has the right shape, and is transposed.
# Seen with numpy 2.4.6, on CPython 3.11:
#     MAPC, MAPR, MAPS (1, 2, 3): valid True, mrcfile (2, 3, 4), gemmi (4, 3, 2), which is the former transposed by (2, 1, 0)
#     MAPC, MAPR, MAPS (2, 1, 3): valid True, mrcfile (2, 3, 4), gemmi (3, 4, 2), which is the former transposed by (1, 2, 0)
#     MAPC, MAPR, MAPS (3, 1, 2): valid True, mrcfile (2, 3, 4), gemmi (3, 2, 4), which is the former transposed by (1, 0, 2)
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check mrcfile==1.5.4 gemmi==0.7.5 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import io, itertools, math, sys

import gemmi, mrcfile, numpy as np

x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)  # sections, rows, columns
for order in ((1, 2, 3), (2, 1, 3), (3, 1, 2)):
    path = f"{sys.argv[1]}/{order}.mrc"
    with mrcfile.new(path) as file:
        file.set_data(x)
        h, extents = file.header, dict(zip(order, x.shape[::-1]))
        h.mapc, h.mapr, h.maps = order
        h.mx, h.my, h.mz = h.cella.x, h.cella.y, h.cella.z = [extents[axis] for axis in (1, 2, 3)]
    read, valid, map = mrcfile.read(path), mrcfile.validate(path, print_file=io.StringIO()), gemmi.read_ccp4_map(path)
    map.setup(math.nan)
    xyz = np.array(map.grid)
    axes = [p for p in itertools.permutations(range(3)) if np.array_equal(read.transpose(p), xyz)]
    print(f"MAPC, MAPR, MAPS {order}: valid {valid}, mrcfile {read.shape}, gemmi {xyz.shape}, which is the former transposed by {axes[0]}")
P
)
echo "$seen"
[[ $seen == "MAPC, MAPR, MAPS (1, 2, 3): valid True, mrcfile (2, 3, 4), gemmi (4, 3, 2), which is the former transposed by (2, 1, 0)
MAPC, MAPR, MAPS (2, 1, 3): valid True, mrcfile (2, 3, 4), gemmi (3, 4, 2), which is the former transposed by (1, 2, 0)
MAPC, MAPR, MAPS (3, 1, 2): valid True, mrcfile (2, 3, 4), gemmi (3, 2, 4), which is the former transposed by (1, 0, 2)" ]]
