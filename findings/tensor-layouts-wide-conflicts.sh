#!/usr/bin/env bash
# tensor-layouts 0.3.2: analysis.bank_conflicts(), whose text says that values of a thread model vectorized loads, takes all 32 threads of a warp
# as one access. A GPU serves 16 bytes a thread in four phases of 8 threads, and the words of one phase meet only each other: where lanes 0 to 7
# lie in half of the banks and lanes 8 to 15 in the other half, it waits twice in every phase, and the count over the warp sees nothing.
# 32 rows of 8 words, 4 words a lane, Swizzle<1,2,4>: 8 wavefronts by phases, and `max_ways` 4, what no placement avoids.
# Seen on CPython 3.11:
#     max_ways 4, by phases 8
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check tensor-layouts==0.3.2
seen=$("$folder/env/bin/python" - <<'P'
from tensor_layouts import Layout, Swizzle, compose
from tensor_layouts.analysis import bank_conflicts

layout = compose(Swizzle(1, 2, 4), Layout((32, 4), (8, 1)))  # (lane, value) to words
phases = 0
for phase in range(4):
    words = [{} for _ in range(32)]
    for lane in range(8 * phase, 8 * phase + 8):
        for value in range(4):
            word = layout(lane, value)
            words[word % 32][word] = True
    phases += max(map(len, words))
print(f"max_ways {bank_conflicts(layout, element_bytes=4)['max_ways']}, by phases {phases}")
P
)
echo "$seen"
[[ $seen == "max_ways 4, by phases 8" ]]
