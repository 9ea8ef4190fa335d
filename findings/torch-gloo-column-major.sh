#!/usr/bin/env bash
# PyTorch 2.15.0 with gloo: broadcast, reduce, all_reduce and scatter move the memory of a dense tensor without its order. A column-major
# matrix of one process arrives permuted in the row-major one of another, and all_reduce adds elements of different places; all_gather and
# gather are right. Both processes hold [[0, 1, 2], [3, 4, 5]].
# Seen on CPython 3.11:
#     broadcast [[0, 3, 1], [4, 2, 5]]
#     all_reduce [[0, 4, 3], [7, 6, 10]]
#     all_gather [[0, 1, 2], [3, 4, 5]]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check torch==2.15.0 numpy==2.4.6
seen=$("$folder/env/bin/python" - "$folder" <<'P'
import os, sys

import torch, torch.distributed as dist

rank = 1 if os.fork() == 0 else 0  # process 0 has the matrix in columns, process 1 in rows
dist.init_process_group("gloo", store=dist.FileStore(sys.argv[1] + "/store", 2), rank=rank, world_size=2)
rows = torch.arange(6).reshape(2, 3)
columns = rows.t().contiguous().t()
mine = (columns, rows)[rank]
sent, added, gathered = (columns if rank == 0 else torch.zeros_like(rows)), mine.clone(), [torch.zeros_like(rows) for _ in range(2)]
dist.broadcast(sent, 0)
dist.all_reduce(added)
dist.all_gather(gathered, mine)
if rank == 0:
    os.wait()
else:
    print(f"broadcast {sent.tolist()}\nall_reduce {added.tolist()}\nall_gather {gathered[0].tolist()}")
P
)
echo "$seen"
[[ $seen == "broadcast [[0, 3, 1], [4, 2, 5]]
all_reduce [[0, 4, 3], [7, 6, 10]]
all_gather [[0, 1, 2], [3, 4, 5]]" ]]
