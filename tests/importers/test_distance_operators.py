"""Distances between rows, and bilinear layers."""

import pytest
from drawn_tensors import each, numbers

torch = pytest.importorskip("torch")
INF, NAN = float("inf"), float("nan")


def test_distances_of_pairs(check):
    x, y = numbers(2, 5, 3), numbers(4, 3, seed=1)
    x[0, 1, 2], y[2] = NAN, x[1, 0]
    norms = {f"p{p}": lambda x, y, p=p: torch.cdist(x, y, p=p) for p in (0.0, 1.0, 1.5, 2.0)}
    check(
        each(**norms, own=lambda x, y: torch.pdist(y), none=lambda x, y: torch.pdist(y[:1])), x, y
    )


def test_distances_of_empty_rows(check):
    check(torch.cdist, torch.ones(3, 0), torch.ones(2, 0))
    check(torch.cdist, torch.ones(3, 2), torch.ones(0, 2))


def test_distances_of_a_number_of_rows_that_varies(check):
    dims = [{0: "rows"}, {0: "others"}]
    others = [[numbers(9, 3), numbers(2, 3, seed=1)]]
    given = numbers(5, 3), numbers(4, 3, seed=1)
    check(lambda x, y: torch.cdist(x, y, p=1), *given, dynamic=dims, others=others)


def test_bilinear_layers(check):
    check(torch.nn.Bilinear(3, 4, 5), numbers(2, 3), numbers(2, 4, seed=1))
