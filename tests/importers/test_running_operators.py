"""Cumulative maxima and minima with their indices, and cumulative sums of exponentials."""

import pytest
from drawn_tensors import each, integers, numbers

torch = pytest.importorskip("torch")
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8, torch.uint8])
def test_extrema_up_to_each_element(check, dtype):
    x = integers(4, 6, low=0, high=5).to(dtype)
    if dtype.is_floating_point:
        x[0, 2], x[1, 0], x[2, 3], x[3] = NAN, -INF, INF, -INF
    if dtype is torch.int8:
        x[0, 1], x[1, 1] = -128, 127
    check(
        each(
            largest=lambda x: torch.cummax(x, 1),
            smallest=lambda x: torch.cummin(x, -1),
            down=lambda x: torch.cummin(x, 0),
        ),
        x,
    )


def test_bools_and_tensors_of_rank_0(check):
    check(lambda x: torch.cummax(x > 0, 0), numbers(7))
    check(lambda x: torch.cummin(x, 0), torch.tensor(3.0))
    check(lambda x: torch.logcumsumexp(x, 0), torch.tensor(3.0))


def test_a_length_that_varies(check):
    dims = [{0: "n"}]
    check(lambda x: torch.cummax(x, 0), numbers(5), dynamic=dims, others=[[numbers(40)]])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sums_of_exponentials(check, dtype):
    x = numbers(5, 6, dtype=dtype) * 40
    x[0, 2], x[1, :3], x[2, 3], x[3, 4] = NAN, -INF, INF, 800.0
    check(each(right=lambda x: x.logcumsumexp(1), down=lambda x: x[3:].logcumsumexp(0)), x)
