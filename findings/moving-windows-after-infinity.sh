#!/usr/bin/env bash
# After an infinity every later number of a moving mean, sum or deviation is NaN in Bottleneck 1.6.0 and numbagg 0.9.6, since they subtract what
# leaves the window: a window that holds 4 and 5 has no mean. So 1e16 in float64 makes 0 of all later sums of ones, and 1e8 in float32 of their
# means in Bottleneck. pandas 3.1.1 takes infinity for missing, so that the windows that hold it are NaN, and has the later ones right. move_max is
# right after either.
# Seen with numpy 2.4.6, on CPython 3.11:
#     mean of two of [1.0, 2.0, inf, 3.0, 4.0, 5.0] in float64: [1.5, inf, inf, 3.5, 4.5]
#         Bottleneck [1.5, inf, inf, nan, nan]
#         numbagg [1.5, inf, inf, nan, nan]
#         pandas [1.5, nan, nan, 3.5, 4.5]
#     sum of two of [1.0, 1e+16, 1.0, 1.0, 1.0, 1.0] in float64: [1e+16, 1e+16, 2.0, 2.0, 2.0]
#         Bottleneck [1e+16, 1e+16, 0.0, 0.0, 0.0]
#         numbagg [1e+16, 1e+16, 0.0, 0.0, 0.0]
#         pandas [1e+16, 1e+16, 2.0, 2.0, 2.0]
#     mean of two of [1.0, 100000000.0, 1.0, 1.0, 1.0] in float32: [50000000.0, 50000000.0, 1.0, 1.0]
#         Bottleneck [50000000.0, 50000000.0, 0.0, 0.0]
#         numbagg [50000000.0, 50000000.0, 1.0, 1.0]
#         pandas [50000000.5, 50000000.5, 1.0, 1.0]
#     max: Bottleneck [2.0, inf, inf, 4.0, 5.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check bottleneck==1.6.0 numbagg==0.9.6 numba==0.68.1 pandas==3.1.1 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - <<'P'
import bottleneck as bn, numbagg, numpy as np, pandas as pd

def windows(x, function):
    return function(np.lib.stride_tricks.sliding_window_view(x, 2), axis=1).tolist()

infinity = np.array([1, 2, np.inf, 3, 4, 5])
for name, x in ("mean", infinity), ("sum", np.array([1, 1e16, 1, 1, 1, 1])), ("mean", np.array([1, 1e8, 1, 1, 1], np.float32)):
    print(f"{name} of two of {x.tolist()} in {x.dtype}: {windows(x, getattr(np, name))}")
    print(f"    Bottleneck {getattr(bn, 'move_' + name)(x, 2)[1:].tolist()}")
    print(f"    numbagg {getattr(numbagg, 'move_' + name)(x, window=2)[1:].tolist()}")
    print(f"    pandas {getattr(pd.Series(x).rolling(2), name)()[1:].tolist()}")
print(f"max: Bottleneck {bn.move_max(infinity, 2)[1:].tolist()}")
P
)
echo "$seen"
[[ $seen == "mean of two of [1.0, 2.0, inf, 3.0, 4.0, 5.0] in float64: [1.5, inf, inf, 3.5, 4.5]
    Bottleneck [1.5, inf, inf, nan, nan]
    numbagg [1.5, inf, inf, nan, nan]
    pandas [1.5, nan, nan, 3.5, 4.5]
sum of two of [1.0, 1e+16, 1.0, 1.0, 1.0, 1.0] in float64: [1e+16, 1e+16, 2.0, 2.0, 2.0]
    Bottleneck [1e+16, 1e+16, 0.0, 0.0, 0.0]
    numbagg [1e+16, 1e+16, 0.0, 0.0, 0.0]
    pandas [1e+16, 1e+16, 2.0, 2.0, 2.0]
mean of two of [1.0, 100000000.0, 1.0, 1.0, 1.0] in float32: [50000000.0, 50000000.0, 1.0, 1.0]
    Bottleneck [50000000.0, 50000000.0, 0.0, 0.0]
    numbagg [50000000.0, 50000000.0, 1.0, 1.0]
    pandas [50000000.5, 50000000.5, 1.0, 1.0]
max: Bottleneck [2.0, inf, inf, 4.0, 5.0]" ]]
