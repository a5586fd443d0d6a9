"""Greatest common divisors and least common multiples."""

import pytest
from drawn_tensors import each, integers

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.uint8])
def test_divisors(check, dtype):
    x = integers(4, 30, low=0 if dtype is torch.uint8 else -60, high=60).to(dtype)
    x[0, :3], x[1, 0] = 0, 0
    y = x.flip(1)[:1]
    check(each(divisors=torch.gcd, multiples=torch.lcm), x, y)


def test_large_numbers(check):
    fibonacci = torch.tensor([7540113804746346429, 4660046610375530309])
    check(torch.gcd, fibonacci[:1], fibonacci[1:])


def test_a_shape_that_varies(check):
    others = [[integers(9, low=1, high=99), integers(1, low=1, high=99)]]
    given = integers(5, low=1, high=99), integers(1, low=1, high=99)
    check(torch.gcd, *given, dynamic=[{0: "n"}, {}], others=others)
