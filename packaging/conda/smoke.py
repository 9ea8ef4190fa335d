"""Whether the package that was installed moves arrays: what a permutation of axes and a map give, beside NumPy's."""

import faro
import numpy as np

x = np.arange(6 * 35 * 16, dtype="f4").reshape(6, 35, 16)
assert np.array_equal(faro.permute_dims(x, (2, 0, 1)), np.transpose(x, (2, 0, 1)))
y = np.arange(2**10)
assert np.array_equal(faro.permute(y, "bit_reversal"), [y[int(f"{i:010b}"[::-1], 2)] for i in range(2**10)])
print(f"faro {faro.__version__}")
