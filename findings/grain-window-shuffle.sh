#!/usr/bin/env bash
# Grain 0.2.18: WindowShuffleMapDataset permutes the elements within each window where the windows divide the dataset. Where they do not, the last
# window runs on into the next epoch: of range(10) in windows of 4 one epoch lacks 8 and 9 and has 0 and 1 twice, and a window longer than the
# dataset does so to all of it. len() is right, and no error is given; shuffle() and WindowShuffleIterDataset of the same elements permute them.
# Seen with numpy 2.4.6, on CPython 3.11:
#     range(10) in windows of 5: len 10, missing [], twice []
#         its iterator: missing [], twice []; WindowShuffleIterDataset: missing [], twice []; shuffle: missing [], twice []
#     range(10) in windows of 4: len 10, missing [8, 9], twice [0, 1]
#         its iterator: missing [8, 9], twice [0, 1]; WindowShuffleIterDataset: missing [], twice []; shuffle: missing [], twice []
#     range(10) in windows of 12: len 10, missing [5], twice [0]
#         its iterator: missing [5], twice [0]; WindowShuffleIterDataset: missing [], twice []; shuffle: missing [], twice []
#     two epochs in windows of 4: [1, 2, 3, 0, 4, 7, 5, 6, 0, 1, 8, 9, 3, 2, 4, 5, 7, 6, 8, 9]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check grain==0.2.18 numpy==2.4.6
seen=$("$folder/env/bin/python" - <<'P'
from collections import Counter

import grain

def counted(seen, n):
    return f"missing {sorted(set(range(n)) - set(seen))}, twice {sorted(x for x, times in Counter(seen).items() if times > 1)}"

for n, window in (10, 5), (10, 4), (10, 12):
    source = grain.MapDataset.range(n)
    by_map = grain.experimental.WindowShuffleMapDataset(source, window_size=window, seed=1)
    by_iterator = grain.experimental.WindowShuffleIterDataset(source.to_iter_dataset(), window_size=window, seed=1)
    print(f"range({n}) in windows of {window}: len {len(by_map)}, {counted([by_map[i] for i in range(n)], n)}")
    print(f"    its iterator: {counted(list(by_map.to_iter_dataset()), n)}; WindowShuffleIterDataset: {counted(list(by_iterator), n)}; "
          f"shuffle: {counted(list(source.shuffle(seed=1)), n)}")
two = grain.experimental.WindowShuffleMapDataset(grain.MapDataset.range(10), window_size=4, seed=1).repeat(2)
print("two epochs in windows of 4:", [int(each) for each in two])
P
)
echo "$seen"
[[ $seen == "range(10) in windows of 5: len 10, missing [], twice []
    its iterator: missing [], twice []; WindowShuffleIterDataset: missing [], twice []; shuffle: missing [], twice []
range(10) in windows of 4: len 10, missing [8, 9], twice [0, 1]
    its iterator: missing [8, 9], twice [0, 1]; WindowShuffleIterDataset: missing [], twice []; shuffle: missing [], twice []
range(10) in windows of 12: len 10, missing [5], twice [0]
    its iterator: missing [5], twice [0]; WindowShuffleIterDataset: missing [], twice []; shuffle: missing [], twice []
two epochs in windows of 4: [1, 2, 3, 0, 4, 7, 5, 6, 0, 1, 8, 9, 3, 2, 4, 5, 7, 6, 8, 9]" ]]
