"""Maps of indices: written as functions or text, printed, applied and turned around."""

import itertools

import numpy as np
import pytest

from xrelax import tir

MAPS = {
    "transposed": (lambda i, j: (j, i), "lambda a0, a1: (a1, a0)"),
    "tiled": (lambda i, j: (i // 4, j, i % 4), "lambda a0, a1, a2: (a0 * 4 + a2, a1)"),
    "blocked": (
        lambda i, j: (i // 2, j // 4, i % 2 * 4 + j % 4),
        "lambda a0, a1, a2: (a0 * 2 + a2 // 4, a1 * 4 + a2 % 4)",
    ),
    "digits": (
        lambda i, j: (j // 6, j // 2 % 3, i, j % 2),
        "lambda a0, a1, a2, a3: (a2, a0 * 6 + a1 * 2 + a3)",
    ),
    "fused": (lambda i, j: i * 13 + j, "lambda a0: (a0 // 13, a0 % 13)"),
    "padded rows": (
        lambda i, j: [i * 16 + j + 3],
        "lambda a0: ((a0 + 13) // 16 - 1, (a0 + 13) % 16)",
    ),
    "shifted": (
        lambda i, j: ((i + 3) // 4, (i + 3) % 4, j),
        "lambda a0, a1, a2: (a0 * 4 + a1 - 3, a2)",
    ),
    "split sum": (
        lambda i, j: ((i * 13 + j) // 4, (i * 13 + j) % 4),
        "lambda a0, a1: ((a0 * 4 + a1) // 13, (a0 * 4 + a1) % 13)",
    ),
    "in steps": (lambda i, j: (j * 3 + 1, i), "lambda a0, a1: (a1, (a0 + 2) // 3 - 1)"),
    "skewed": (lambda i, j: (i + j, j), "lambda a0, a1: (a0 - a1, a1)"),
    "reversed": (lambda i, j: (6 - i, j), "lambda a0, a1: (-a0 + 6, a1)"),
}


class Bools:
    bool = bool


@pytest.mark.parametrize("name", MAPS)
def test_inverses(name):
    function, text = MAPS[name]
    found = tir.IndexMap.from_func(function)
    inverse, gap = found.non_surjective_inverse((7, 13))
    assert str(inverse) == f"T.index_map({text})"
    shape = found.map_shape((7, 13))
    for old in itertools.product(range(7), range(13)):
        new = found.map_indices(old)
        assert all(0 <= index < dim for index, dim in zip(new, shape, strict=True))
        assert tuple(inverse.map_indices(new)) == old
    filled = {tuple(found.map_indices(old)) for old in itertools.product(range(7), range(13))}
    for new in itertools.product(*map(range, shape)):
        assert bool(eval(str(gap), {"arg": new.__getitem__, "T": Bools})) == (new not in filled)
    array = np.arange(1, 7 * 13 + 1).reshape(7, 13)
    moved = found.map_ndarray(array)
    assert sorted(moved[moved != 0]) == sorted(array.flat)


def test_the_inverse_of_digits_with_gaps():
    found = tir.IndexMap.from_func(lambda i, j, k: i * 13 + j * 3 + k)
    inverse, _ = found.non_surjective_inverse((2, 4, 3))
    assert str(inverse) == "T.index_map(lambda a0: (a0 // 13, (a0 % 13) // 3, (a0 % 13) % 3))"
    for old in itertools.product(range(2), range(4), range(3)):
        assert tuple(inverse.map_indices(found.map_indices(old))) == old


def test_maps():
    found = tir.IndexMap.from_func(lambda *i: i[::-1], ndim=2)
    assert str(found) == "T.index_map(lambda i0, i1: (i1, i0))" == repr(found)
    assert found == tir.IndexMap.from_func(lambda a, b: (b, a)) and hash(found)
    assert found.is_equivalent_to(found.inverse((3, 4)))
    assert [str(i) for i in found.final_indices] == ["arg(1)", "arg(0)"]
    assert len(found.initial_indices) == 2
    n = tir.Var("n", "int64")
    rows = tir.IndexMap.from_func(lambda i, j: i * n + j)
    assert str(rows) == "T.index_map(lambda i, j: (i * n + j,))"
    assert str(rows.inverse((3, n))) == "T.index_map(lambda a0: (a0 // n, a0 % n))"
    assert tir.IndexMap.from_text("lambda i, j: [i * n + j]") == rows
    tiled = tir.IndexMap.from_func(lambda *outer, k: [*outer, k // 4, k % 4], ndim=3)
    assert str(tiled) == "T.index_map(lambda i0, i1, k: (i0, i1, k // 4, k % 4))"
    named = tir.IndexMap.from_func(lambda n: (n, tir.Var("n", "int64")))
    assert str(named) == "T.index_map(lambda n_0: (n_0, n))"


@pytest.mark.parametrize(
    "act, message",
    [
        (
            lambda: tir.IndexMap.from_func(lambda *i: i),
            "expected ndim for a function of any number of indices",
        ),
        (
            lambda: tir.IndexMap.from_func(lambda i: i, 2),
            "expected a map of 2 indices, got one of i",
        ),
        (lambda: tir.IndexMap.from_func(lambda i: i / 2.0), "expected a dim"),
        (
            lambda: tir.IndexMap.from_text("lambda i: f(i)"),
            "a lambda of integer expressions, got 'lam",
        ),
        (lambda: tir.IndexMap.from_func(lambda i: i // 4).inverse((8,)), "to tell 'i' of lambda i"),
        (
            lambda: tir.IndexMap.from_func(lambda i, j: i + j).inverse((8, 8)),
            "to tell 'i' of lambda i, j",
        ),
        (
            lambda: tir.IndexMap.from_func(lambda i: (i // 4, i % 4)).inverse((7,)),
            r"leave no gaps in \[2, 4\]",
        ),
        (lambda: tir.IndexMap.from_func(lambda i: i - 1).map_shape((7,)), "at least 0, got -1"),
        (lambda: tir.IndexMap.from_func(lambda i: i).map_indices((1, 2)), "expected 1 indices"),
    ],
)
def test_wrong_maps(act, message):
    with pytest.raises((TypeError, ValueError), match=message):
        act()
