"""Signs, exponents, neighbors and bytes of numbers, and views by strides."""

from typing import Any

import pytest
from drawn_tensors import each, integers, numbers

import xrelax

torch = pytest.importorskip("torch")
NAN, INF = float("nan"), float("inf")
EDGES = [0.0, -0.0, 1.0, -1.5, 3e38, 1e-40, -1e-45, INF, -INF, NAN, -NAN]


def assert_same_bits(got: Any, expected: Any) -> None:
    kind = {2: torch.int16, 4: torch.int32, 8: torch.int64}[expected.dtype.itemsize]
    assert torch.equal(got.view(kind), expected.view(kind))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_signs(compiled, dtype):
    x = torch.tensor(EDGES, dtype=dtype)
    pairs = [t.flatten().contiguous() for t in torch.meshgrid(x, x, indexing="ij")]
    assert_same_bits(compiled(torch.copysign, *pairs), torch.copysign(*pairs))
    assert torch.equal(compiled(torch.signbit, x), torch.signbit(x))


def test_signs_of_integers(check):
    x = torch.tensor([3, -4, 0])
    check(
        each(
            signs=torch.signbit,
            size=lambda x: torch.copysign(x, -1.0),
            of_bools=lambda x: torch.signbit(x > 0),
        ),
        x,
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_next_numbers(compiled, dtype):
    x = torch.tensor([*EDGES, 1e-300, torch.finfo(dtype).max], dtype=dtype)
    pairs = [t.flatten().contiguous() for t in torch.meshgrid(x, x, indexing="ij")]
    got, expected = compiled(torch.nextafter, *pairs), torch.nextafter(*pairs)
    torch.testing.assert_close(got, expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16])
def test_exponents(compiled, dtype):
    x = torch.cat([numbers(40).to(dtype) * 100, torch.tensor([*EDGES, 5e-324], dtype=dtype)])
    for got, expected in zip(compiled(torch.frexp, x), torch.frexp(x), strict=True):
        torch.testing.assert_close(got, expected, rtol=0, atol=0, equal_nan=True)


def test_angles(check):
    check(each(x=torch.angle), torch.tensor([1.0, -2.0, 0.0, -0.0, NAN]))
    check(torch.angle, torch.tensor([1, -2]))


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_views_of_bytes(check, width):
    signed = {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}
    floats = {16: torch.bfloat16, 32: torch.float32, 64: torch.float64}
    x = integers(2, 16, low=-128, high=128, dtype=torch.int8).view(signed[width])
    check(each(**{f"as{w}": lambda x, t=t: x.view(t) for w, t in signed.items()}), x)
    for w, kind in floats.items():
        number = torch.tensor([[1.5, -2.0, 3.0, 0.25]], dtype=kind)
        if width <= w or w == 32:
            check(lambda x, t=signed[width]: x.view(t), number)
        back = number.view(signed[width])
        check(lambda x, t=kind: x.view(t), back)


def test_bools_are_bytes(check):
    x = torch.tensor([[True, False, True, True]])
    check(each(bytes=lambda x: x.view(torch.uint8), wide=lambda x: x.view(torch.int32)), x)
    check(lambda x: x.view(torch.bool), torch.tensor([0, 1, 1], dtype=torch.uint8))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_lengths_of_vectors(compiled, dtype):
    x = torch.tensor([0.0, -0.0, 3, -4, 1e-30, 1e30, INF, -INF, NAN], dtype=dtype)
    pairs = [t.flatten().contiguous() for t in torch.meshgrid(x, x, indexing="ij")]
    got, expected = compiled(torch.hypot, *pairs), torch.hypot(*pairs)
    torch.testing.assert_close(got, expected, rtol=1e-6, atol=0, equal_nan=True)


def test_views_by_strides(check):
    def written(x: Any) -> Any:
        return x.as_strided_scatter(torch.arange(3.0), (3,), (4,), 1)

    check(
        each(
            windows=lambda x: x.as_strided((5, 4), (2, 1)),
            backwards=lambda x: x.as_strided((3, 2), (1, 5), 3),
            of_transpose=lambda x: x.t().as_strided((4,), (1,)),
            of_part=lambda x: x[1:].as_strided((2, 2), (3, 1), 5),
            one=lambda x: x.as_strided((), ()),
            none=lambda x: x.as_strided((0, 3), (3, 1)),
            written=written,
        ),
        numbers(3, 4),
    )


def test_views_outside_of_the_tensor_are_refused():
    class Model(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return x[1:].clone()[1:].as_strided((2,), (1,), 0)

    with pytest.raises(ValueError, match="expected places in the memory of the tensor, of 3 elem"):
        xrelax.compile(Model(), (numbers(5),))
