#!/usr/bin/env python3
"""bench/checkpoint.py FARO [FOLDER [ROUNDS]]   2 GiB of float32 in safetensors, 32 tensors of 4096 x 4096, each transposed and cast to bfloat16: faro
within 256 MiB beside `cp`, and the ways of NumPy and PyTorch. Needs safetensors, ml_dtypes and, for its row, torch; five gigabytes in FOLDER."""

import importlib.util
import os
import pathlib
import sys

from beside_copy import print_table

NUMPY = """
import ml_dtypes
from safetensors.numpy import load_file, save_file
tensors = load_file("in.safetensors")
save_file({name: tensors.pop(name).T.astype(ml_dtypes.bfloat16, order="C") for name in list(tensors)}, "out.safetensors")
"""
LAZILY = """
import ml_dtypes
from safetensors import safe_open
from safetensors.numpy import save_file
with safe_open("in.safetensors", "np") as file:
    save_file({name: file.get_tensor(name).T.astype(ml_dtypes.bfloat16, order="C") for name in file.keys()}, "out.safetensors")
"""
TORCH = """
import torch
from safetensors.torch import load_file, save_file
tensors = load_file("in.safetensors")
save_file({name: tensors.pop(name).t().to(torch.bfloat16).contiguous() for name in list(tensors)}, "out.safetensors")
"""
RULES = '{"rules": [{"match": "{name*}", "map": "transpose", "dtype": "bfloat16"}]}'


def make_input():
    import numpy as np
    from safetensors.numpy import save_file

    random = np.random.default_rng(0)
    save_file({f"layers.{i}.weight": random.standard_normal((4096, 4096), dtype="f4") for i in range(32)}, "in.safetensors")


def main():
    faro = os.path.abspath(sys.argv[1])
    os.chdir(pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else "."))
    if not os.path.exists("in.safetensors"):
        make_input()
    pathlib.Path("rules.json").write_text(RULES)
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
    run = [faro, "checkpoint", "rules.json", "in.safetensors", "out.safetensors", "--memory", "256MiB", "--quiet"]
    ways = {"cp": ["cp", "in.safetensors", "out.safetensors"], "faro": run, "faro --verify": [*run, "--verify"],
            "NumPy, all loaded": [sys.executable, "-c", NUMPY], "NumPy, one by one": [sys.executable, "-c", LAZILY]}
    if importlib.util.find_spec("torch"):
        ways["torch"] = [sys.executable, "-c", TORCH]
    print_table(ways, "out.safetensors", rounds)


if __name__ == "__main__":
    main()
