#!/usr/bin/env bash
# With order 0, the nearest neighbour, which is meant for labels, scipy.ndimage of SciPy 1.17.1 computes by way of float64: shift by nothing, rotate
# by 90 degrees and zoom give labels that the image does not have, where they are above 2^53 as those of connectomics are, and two neighbours can
# become one. The type stays int64. maximum_filter and median_filter do so, too; scipy.ndimage.maximum over regions, numpy.rot90 and repeat keep them.
# Seen with numpy 2.4.6, on CPython 3.11:
#     labels [[9007199254740993, 9007199254740992], [5, 1152921504606846979]]
#     shift by 0: [[9007199254740992, 9007199254740992], [5, 1152921504606846976]]
#     rotate by 90: [[9007199254740992, 1152921504606846976], [9007199254740992, 5]]
#     numpy.rot90: [[9007199254740992, 1152921504606846979], [9007199254740993, 5]]
#     zoom by 2, every second: [[9007199254740992, 9007199254740992], [5, 1152921504606846976]]
#     maximum_filter: 1152921504606846976, maximum: 1152921504606846979
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check scipy==1.17.1 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
import numpy as np, scipy.ndimage as nd

labels = np.array([[2**53 + 1, 2**53], [5, 2**60 + 3]])
print(f"labels {labels.tolist()}")
print(f"shift by 0: {nd.shift(labels, 0, order=0).tolist()}")
print(f"rotate by 90: {nd.rotate(labels, 90, order=0).tolist()}")
print(f"numpy.rot90: {np.rot90(labels).tolist()}")
print(f"zoom by 2, every second: {nd.zoom(labels, 2, order=0, grid_mode=True, mode='nearest')[::2, ::2].tolist()}")
print(f"maximum_filter: {nd.maximum_filter(labels, 3)[0, 0]}, maximum: {nd.maximum(labels)}")
P
)
echo "$seen"
[[ $seen == "labels [[9007199254740993, 9007199254740992], [5, 1152921504606846979]]
shift by 0: [[9007199254740992, 9007199254740992], [5, 1152921504606846976]]
rotate by 90: [[9007199254740992, 1152921504606846976], [9007199254740992, 5]]
numpy.rot90: [[9007199254740992, 1152921504606846979], [9007199254740993, 5]]
zoom by 2, every second: [[9007199254740992, 9007199254740992], [5, 1152921504606846976]]
maximum_filter: 1152921504606846976, maximum: 1152921504606846979" ]]
