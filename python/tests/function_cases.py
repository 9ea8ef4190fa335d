"""Calls of every function that moves axes, of three, for the tests of its keywords: (name, arguments, named)."""

_CALLS = {
    "permute_dims": [(((2, 0, 1),), {}), (((2, 0, 1),), {"inverse": True}), ((), {})],
    "transpose": [((), {})],
    "flip": [(((0, 2),), {}), ((), {})],
    "roll": [((5,), {}), (((1, -2), (0, 2)), {"inverse": True})],
    "permute": [(("gray",), {}), (("transpose",), {}), (("gray",), {"axis": 1})],
    "bit_reverse": [((), {}), ((1,), {})],
    "permute_qubits": [(((2, 0, 1),), {}), (((2, 0, 1),), {"little_endian": True, "inverse": True})],
    "rearrange": [(("a (b c) d -> d b (a c)",), {"b": 2}), (("a ... -> ... a",), {}), (("d b a c -> a (b c) d",), {"inverse": True, "b": 2}),
                  (("a b c -> (a b c)",), {}), (("a b c -> (c a) b",), {})],
}
CASES = [(name, *case) for name, cases in _CALLS.items() for case in cases]
