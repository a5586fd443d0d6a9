"""Arguments of loops, and what their results are compared with."""

import numpy as np


def arrays(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.standard_normal(s) * 0.3).astype(np.float32) for s in shapes]


def compare(found, wanted, **tolerance):
    for got, expected in zip(found, wanted, strict=True):
        assert got.shape == expected.shape
        np.testing.assert_allclose(got.numpy(), expected, **({"rtol": 1e-5} | tolerance))
