"""Pools with `ceil_mode`, also with windows wider than the data, against PyTorch."""

from random import Random

import numpy as np
import pytest

from xrelax import relax
from xrelax.script import from_source

torch = pytest.importorskip("torch")


def drawn(rng, kind, rank):
    """A size of each spatial dim and the attributes of a pool that PyTorch takes."""
    while True:
        sizes = [rng.randint(1, 6) for _ in range(rank)]
        pool, strides = ([rng.randint(1, 4) for _ in range(rank)] for _ in range(2))
        dilation = [rng.randint(1, 2) if kind == "max" else 1 for _ in range(rank)]
        padding = [rng.randint(0, k // 2) for k in pool]
        counts = rng.random() < 0.5
        rest = (dilation, True) if kind == "max" else (True, counts)
        x = torch.tensor(np.random.default_rng(rng.randrange(99)).normal(size=(1, 2, *sizes)))
        function = getattr(torch.nn.functional, f"{kind}_pool{rank}d")
        try:
            wanted = function(x, pool, strides, padding, *rest)
        except RuntimeError:
            continue
        attributes = {
            "pool_size": pool,
            "strides": strides,
            "padding": padding * 2,
            "dilation": dilation,
            "ceil_mode": True,
        }
        if kind == "avg":
            attributes["count_include_pad"] = counts
        return x.numpy(), attributes, wanted.numpy()


def is_wide(x, attributes):
    """Whether a window is wider than the data with its padding."""
    rank = x.ndim - 2
    reach = [
        d * (k - 1) + 1
        for d, k in zip(attributes["dilation"], attributes["pool_size"], strict=True)
    ]
    given = [n + 2 * p for n, p in zip(x.shape[2:], attributes["padding"][:rank], strict=True)]
    return any(r > n for r, n in zip(reach, given, strict=True))


@pytest.mark.sampled
@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("kind", ["max", "avg"])
def test_ceil_mode(kind, rank):
    rng, wide = Random(f"{kind}{rank}"), 0
    while wide < 4:
        x, attributes, wanted = drawn(rng, kind, rank)
        if not is_wide(x, attributes) and rng.random() < 0.8:
            continue
        wide += is_wide(x, attributes)
        for dims in (x.shape[2:], [f"n{i}" for i in range(rank)]):
            options = ", ".join(f"{k}={v}" for k, v in attributes.items())
            main = from_source(f"""
@R.function
def main(x: R.Tensor({(1, 2, *dims)}, "float64")):
    return R.nn.{kind}_pool{rank}d(x, {options})
""")
            found = relax.build(main)(x).numpy()
            np.testing.assert_allclose(found, wanted, atol=1e-12, err_msg=f"{x.shape} {options}")
