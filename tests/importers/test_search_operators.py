"""Searches in sorted sequences, histograms, modes and medians without NaN."""

import pytest
from drawn_tensors import each, integers, numbers

torch = pytest.importorskip("torch")
NAN = float("nan")


@pytest.mark.parametrize("length", [0, 1, 7, 16, 17, 64, 100])
def test_searches(check, length):
    sequence = integers(3, length, low=-9, high=10).sort().values.float()
    x = torch.cat([integers(3, 6, low=-11, high=12).float(), torch.full((3, 1), NAN)], 1)
    check(
        each(
            below=lambda s, x: torch.searchsorted(s, x),
            upto=lambda s, x: torch.searchsorted(s, x, side="right", out_int32=True),
            vector=lambda s, x: torch.searchsorted(s[0].contiguous(), x, right=True),
            buckets=lambda s, x: torch.bucketize(x, s[1].contiguous()),
            number=lambda s, x: torch.bucketize(0.5, s[1].contiguous()),
        ),
        sequence, x,
    )  # fmt: skip


def test_sequences_in_another_order(check):
    sequence = numbers(2, 20)
    check(
        lambda s, x, o: torch.searchsorted(s, x, sorter=o),
        sequence, numbers(2, 5, seed=1), sequence.argsort(),
    )  # fmt: skip


def test_sequences_of_a_length_that_varies(check):
    def given(length):
        return [numbers(length).sort().values, numbers(4, seed=1)]

    dims = [{0: "n"}, {}]
    check(torch.searchsorted, *given(5), dynamic=dims, others=[given(40)])


def test_histograms(check):
    x = numbers(50) * 3
    x[3] = NAN
    check(
        each(
            given=lambda x: torch.histc(x, 7, -2.5, 3),
            own=lambda x: torch.histc(x[4:], 5),
            equal=lambda x: torch.histc(x[:1].expand(3), 4),
        ),
        x,
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.int32, torch.bool])
def test_modes(check, dtype):
    x = integers(4, 6, 3, low=-2, high=2).to(dtype)
    check(each(last=lambda x: x.mode(), middle=lambda x: x.mode(1, keepdim=True)), x)


def test_modes_of_nan(check):
    check(lambda x: x.mode(1).values, torch.tensor([[NAN, 1.0, NAN], [NAN, NAN, NAN]]))


def test_medians_without_nan(check):
    x = numbers(4, 6)
    x[0], x[1, :3], x[2, 0] = NAN, NAN, NAN
    check(
        each(
            along=lambda x: torch.nanmedian(x, 1).values,
            places=lambda x: torch.nanmedian(x[1:], 1, keepdim=True),
            all=lambda x: torch.nanmedian(x),
            none=lambda x: torch.nanmedian(x[0]),
        ),
        x,
    )
