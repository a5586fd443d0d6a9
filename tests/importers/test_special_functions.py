"""Error, gamma and Bessel functions, compared with PyTorch over their domains."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
special = torch.special

NAN, INF = float("nan"), float("inf")
EDGES = (0.0, -0.0, 1, -1, 2, -2, 3, 8, -8, 10, INF, -INF, NAN, 1e-5, -1e-5, 1e-20, 25, 1e5, -1e5)


def numbers(*edges: float, low: float = -12, high: float = 12) -> Any:
    made = torch.Generator().manual_seed(0)
    middle = torch.rand(300, generator=made, dtype=torch.float64) * (high - low) + low
    return torch.cat([middle, middle / 8, torch.tensor(edges, dtype=torch.float64)])


REALS = numbers(*EDGES)
FUNCTIONS = {
    "erfc": (torch.erfc, REALS),
    "erfcx": (special.erfcx, REALS),
    "erfinv": (torch.erfinv, numbers(0, 1, -1, 1.5, NAN, 1 - 1e-12, 1e-20, low=-1, high=1)),
    "ndtr": (special.ndtr, numbers(*EDGES, low=-5)),
    "log_ndtr": (special.log_ndtr, REALS),
    "ndtri": (special.ndtri, numbers(0, 1, 0.5, -0.1, 1.1, NAN, 1e-10, 1e-300, low=0, high=1)),
    "lgamma": (torch.lgamma, REALS),
    "digamma": (torch.digamma, REALS),
    "trigamma": (lambda x: torch.polygamma(1, x), numbers(0.0, 1, 20, INF, NAN, low=0.1)),
    "polygamma": (lambda x: torch.polygamma(2, x), numbers(0.0, -1, 20, NAN)),
    "i0": (torch.i0, REALS),
    "i1": (special.i1, REALS),
    "i0e": (special.i0e, REALS),
    "i1e": (special.i1e, REALS),
}


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name, dtype, compiled):
    function, given = FUNCTIONS[name]
    x = given.to(dtype)
    expected = function(x.double()).to(dtype)  # PyTorch has not all of them in half precision
    got = compiled(function, x)
    tolerance = {torch.float64: 1e-9, torch.float32: 1e-6, torch.bfloat16: 1e-2}[dtype]
    torch.testing.assert_close(got, expected, rtol=tolerance, atol=tolerance / 100, equal_nan=True)


def test_tails_keep_their_precision(compiled):
    x = torch.tensor([5.0, 9, 12, 26], dtype=torch.float64)
    torch.testing.assert_close(compiled(torch.erfc, x), torch.erfc(x), rtol=1e-12, atol=0)
    torch.testing.assert_close(
        compiled(special.log_ndtr, -x * 10), special.log_ndtr(-x * 10), rtol=1e-12, atol=0
    )


def test_integers_are_converted_to_floats(compiled):
    x = torch.arange(1, 6)
    torch.testing.assert_close(compiled(torch.lgamma, x), torch.lgamma(x), rtol=1e-6, atol=0)
