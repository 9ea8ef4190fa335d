"""A program of a user with types, for `mypy --strict`, which tools/test_wheel.sh runs; it runs, too."""

import numpy as np

import faro
from faro import maps

x = np.zeros((2, 3))
y = faro.permute_dims(x, (1, 0), inverse=True)
m: maps.Map = maps.gray(3) @ ~maps.gray(3) ** 2
p: faro.Plan = faro.plan(m, itemsize=4)
words: str = p.inverse.explain()
seconds: float | None = p.predicted_time
routing: faro.Routing = faro.route([0, 1], 2)
advice: faro.Layout = faro.layout(32, 32, 4, ["row", "column"])
worst: int = advice.worst
try:
    faro.flip(x, axis=7)
except faro.FaroValueError as error:
    got: str = error.got
