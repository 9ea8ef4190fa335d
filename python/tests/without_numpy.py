"""The package without NumPy: run by tools/test_wheel.sh in an environment that has none."""

import array
import pickle

try:
    import numpy  # noqa: F401
except ImportError:
    pass
else:
    raise SystemExit("NumPy is here")

import faro
from faro import maps

x = array.array("i", range(8))
y = faro.permute(x, "bit_reversal")
assert list(y.cast("B").cast("i")) == [0, 4, 2, 6, 1, 5, 3, 7], list(y)
out = array.array("i", [0] * 8)
assert faro.flip(x, out=out) is out and list(out) == list(range(7, -1, -1))
m = memoryview(bytes(range(6))).cast("B", (2, 3))
assert faro.permute_dims(m, (1, 0)).tolist() == [[0, 3], [1, 4], [2, 5]]
assert maps.gray(2).matrix == [[1, 1], [0, 1]]
assert list(maps.gray(2).indices) == [0, 1, 3, 2]
assert maps.from_indices([2, 0, 1])(0) == 2
assert list(faro.take(x, [3, 3, 0]).cast("B").cast("i")) == [3, 3, 0]
assert list(faro.route([2, 0, 2, 1, 0], 3).places) == [3, 0, 4, 2, 1]
taken = faro.take_columns({"a": x, "b": array.array("d", range(8))}, [3, 0])
assert list(taken["a"].cast("B").cast("i")) == [3, 0] and list(taken["b"].cast("B").cast("d")) == [3, 0]
values, begins = faro.take_segments(x, [0, 1, 8], [1, 0])
assert list(values.cast("B").cast("i")) == [1, 2, 3, 4, 5, 6, 7, 0] and list(begins) == [0, 7, 8]
assert list(faro.plan_rows("take", [1, 1], 8)(x).cast("B").cast("i")) == [1, 1]
assert list(faro.permute_negacyclic(array.array("i", [1, 2, 3, 4]), 3).cast("B").cast("i")) == [1, 4, -3, 2]
p = faro.plan("bit_reversal", shape=(8,), itemsize=4)
assert pickle.loads(pickle.dumps(p))(x).tobytes() == y.tobytes()
try:
    faro.permute(x, "bit_reversl")
except faro.FaroValueError as error:
    assert "bit_reversal" in error.remedy
else:
    raise SystemExit("a misspelt map was taken")
print("without NumPy: all as it should be")
