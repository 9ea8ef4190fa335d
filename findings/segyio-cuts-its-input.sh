#!/usr/bin/env bash
# segyio 1.9.14: writing a trace in IBM floats, which is format 1 of SEG-Y, converts the numbers where they lie in the caller's array, and back: after
# f.trace[0] = x the array x itself holds other numbers. IBM floats have 21 to 24 bits and are cut, not rounded: 0.1 becomes the number below though
# the one above is nearer, and -0.0 becomes 0. In IEEE floats (format 5) x stays as it was, and so it does if it is float64 or read-only, as a copy is
# written then.
# Seen with numpy 2.4.6, on CPython 3.11:
#     format 1, float32: afterwards [0.09999996423721313, 0.3333333134651184, 16777215.0, 0.0]
#     format 1, read-only float32: afterwards [0.10000000149011612, 0.3333333432674408, 16777215.0, -0.0]
#     format 1, float64: afterwards [0.1, 0.3333333333333333, 16777215.0, -0.0]
#     format 5, float32: afterwards [0.10000000149011612, 0.3333333432674408, 16777215.0, -0.0]
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check segyio==1.9.14 numpy==2.4.6
seen=$("$folder/env/bin/python" -W ignore - "$folder" <<'P'
import sys

import numpy as np, segyio

for format, dtype, writeable in (1, np.float32, True), (1, np.float32, False), (1, np.float64, True), (5, np.float32, True):
    x = np.array([0.1, 1 / 3, 16777215, -0.0], dtype)
    x.setflags(write=writeable)
    spec = segyio.spec()
    spec.sorting, spec.format, spec.samples, spec.tracecount = None, format, np.arange(x.size), 1
    with segyio.create(sys.argv[1] + "/x.sgy", spec) as file:
        file.trace[0] = x
    print(f"format {format}, {'' if writeable else 'read-only '}{x.dtype}: afterwards {x.tolist()}")
P
)
echo "$seen"
[[ $seen == "format 1, float32: afterwards [0.09999996423721313, 0.3333333134651184, 16777215.0, 0.0]
format 1, read-only float32: afterwards [0.10000000149011612, 0.3333333432674408, 16777215.0, -0.0]
format 1, float64: afterwards [0.1, 0.3333333333333333, 16777215.0, -0.0]
format 5, float32: afterwards [0.10000000149011612, 0.3333333432674408, 16777215.0, -0.0]" ]]
