"""How runs are measured and divided, and which images show them."""

import classifier_runs
import numpy as np
import pytest
from classifier_runs import LibraryCalls, Run, choose_images

import xrelax as tvm
from xrelax.runtime import remove_global_func


def test_libraries_alternate_and_the_last_one_gives_the_scores():
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    called: list[int] = []

    def function(row: int) -> np.ndarray:
        called.append(tvm.get_global_func("test.number")())
        return np.array([[row, called[-1]]])

    libraries = [{"test.number": lambda n=n: n} for n in (5, 6, 7)]
    try:
        scores, seconds = classifier_runs._measure("x", function, [1, 2], libraries)
    finally:
        remove_global_func("test.number")
    assert called == [7, 5, 6, 7, 5, 6, 7]
    np.testing.assert_array_equal(scores, [[1, 7], [2, 7]])
    assert len(seconds) == 3 and all(time > 0 for time in seconds)


def test_parts_of_a_run():
    assert Run("x", np.eye(2), 5.0).parts == (5, 0, 0)
    assert Run("x", np.eye(2), 7.0, True, LibraryCalls(1, 2, 3.0, 4.0)).parts == (3, 1, 3)
    assert Run("x", np.eye(2), 3.5, True, LibraryCalls(1, 2, 5.0, 4.0)).parts == (5, 0, 0)


@pytest.mark.parametrize(
    ("right", "first", "expected"),
    [
        ([1, 1, 1, 1, 1], 3, ([3, 4], [])),
        ([1, 0, 1, 0, 1], 4, ([4, 0], [1, 3])),
        ([0, 0, 0, 0, 0], 1, ([1, 2], [0, 3])),
        ([1, 1, 0, 1, 1], 1, ([1, 2], [])),
        ([0], 0, ([0], [])),
    ],
)
def test_wrong_images_are_among_the_chosen(right: list[int], first: int, expected: tuple):
    assert choose_images(np.array(right, bool), first, count=2, wrong=2) == expected
