#!/usr/bin/env bash
# NumPy 2.4.6 with ml_dtypes 0.6.0: numpy.save() writes arrays of float8_e5m2 and complex32 without a word, and numpy.load() of the
# file raises, with ml_dtypes imported, too: what was saved cannot be read again. The header has `<f1` and `<W4`, names that
# numpy.dtype() does not know. Their neighbours come back as bytes without a type (`<V1`), which is at least readable.
# Seen on CPython 3.11:
#     float8_e5m2: saved as <f1, ValueError; complex32: saved as <W4, ValueError; float8_e4m3fn: saved as <V1, read as |V1
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6 ml_dtypes==0.6.0
seen=$("$folder/env/bin/python" - <<'P'
import ast, io

import ml_dtypes, numpy as np


def saved_and_read(name):
    file = io.BytesIO()
    np.save(file, np.ones(3, getattr(ml_dtypes, name)))
    descr = ast.literal_eval(file.getvalue()[10:].split(b"\n")[0].decode())["descr"]
    file.seek(0)
    try:
        read = f"read as {np.load(file).dtype}"
    except ValueError:
        read = "ValueError"
    return f"{name}: saved as {descr}, {read}"


print("; ".join(map(saved_and_read, ("float8_e5m2", "complex32", "float8_e4m3fn"))))
P
)
echo "$seen"
[[ $seen == "float8_e5m2: saved as <f1, ValueError; complex32: saved as <W4, ValueError; float8_e4m3fn: saved as <V1, read as |V1" ]]
