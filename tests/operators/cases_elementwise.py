"""Cases of elementwise operators of two tensors: arithmetic, comparisons, logic, bits."""

from __future__ import annotations

from drawing import ALL, FLOATS, INTEGERS, NUMBERS, Draw
from harness import Case, torch


def pair(d: Draw, low: float = -3, high: float = 3, special: bool = True):
    """Two operands that broadcast, in either order."""
    shape = d.shape()
    operands = [d.array(s, low, high, special=special) for s in (shape, d.broadcastable(shape))]
    d.rng.shuffle(operands)
    return operands, {}


def dividend(d: Draw):
    """Divisors are not 0 for integers, where PyTorch ends the process."""
    (x, y), _ = pair(d, -9, 9)
    return [x, y if d.dtype in FLOATS else y + (y == 0).astype(y.dtype)], {}


def base_and_exponent(d: Draw):
    (x, y), _ = pair(d, -3, 3)
    return [x, y], {}


def counted(d: Draw):
    return pair(d, -10, 70)


def triple(d: Draw):
    shape = d.shape()
    fewer = [tuple(1 if d.chance(25) else s for s in shape) for _ in range(2)]
    return [d.array(s) for s in (shape, *fewer)], {}


def fused(x, y, z):
    wide = torch.float64 if x.dtype.is_floating_point else x.dtype
    return (x.to(wide) * y.to(wide) + z.to(wide)).to(x.dtype)


def few(d: Draw):
    """Values that are often equal."""
    return pair(d, -1, 1) if d.dtype in INTEGERS else pair(d)


def truncated(x, y):
    return torch.div(x, y, rounding_mode=None if x.is_floating_point() else "trunc")


def wrapped(divide, by_minus_one):
    """A division that wraps at the least integer divided by -1, where torch's traps."""

    def function(x, y):
        if x.is_floating_point() or not x.is_signed():
            return divide(x, y)
        others = torch.where(y == -1, 1, y)
        return torch.where(y == -1, by_minus_one(x), divide(x, others))

    return function


CASES = (
    Case("relax.add", pair, lambda x, y: x + y, ALL),
    Case("relax.subtract", pair, lambda x, y: x - y, NUMBERS),
    Case("relax.multiply", pair, lambda x, y: x * y, ALL),
    Case("relax.divide", dividend, wrapped(truncated, torch.neg), NUMBERS),
    Case("relax.floor_divide", dividend, wrapped(torch.floor_divide, torch.neg), NUMBERS),
    Case("relax.mod", dividend, wrapped(torch.fmod, torch.zeros_like), NUMBERS),
    Case("relax.floor_mod", dividend, wrapped(torch.remainder, torch.zeros_like), NUMBERS),
    Case("relax.atan2", pair, lambda x, y: torch.atan2(x, y), FLOATS),
    Case("relax.log_add_exp", pair, lambda x, y: torch.logaddexp(x, y), FLOATS),
    Case("relax.power", base_and_exponent, lambda x, y: torch.pow(x, y), NUMBERS),
    Case("relax.ewise_fma", triple, fused, NUMBERS),
    Case("relax.maximum", pair, lambda x, y: torch.maximum(x, y), ALL),
    Case("relax.minimum", pair, lambda x, y: torch.minimum(x, y), ALL),
    Case("relax.equal", few, lambda x, y: x == y, ALL),
    Case("relax.not_equal", few, lambda x, y: x != y, ALL),
    Case("relax.less", few, lambda x, y: x < y, ALL),
    Case("relax.less_equal", few, lambda x, y: x <= y, ALL),
    Case("relax.greater", few, lambda x, y: x > y, ALL),
    Case("relax.greater_equal", few, lambda x, y: x >= y, ALL),
    Case("relax.logical_and", few, lambda x, y: torch.logical_and(x, y), ALL),
    Case("relax.logical_or", few, lambda x, y: torch.logical_or(x, y), ALL),
    Case("relax.logical_xor", few, lambda x, y: torch.logical_xor(x, y), ALL),
    Case("relax.bitwise_and", pair, lambda x, y: x & y, (*INTEGERS, "bool")),
    Case("relax.bitwise_or", pair, lambda x, y: x | y, (*INTEGERS, "bool")),
    Case("relax.bitwise_xor", pair, lambda x, y: x ^ y, (*INTEGERS, "bool")),
    Case("relax.left_shift", counted, lambda x, y: torch.bitwise_left_shift(x, y), INTEGERS),
    Case("relax.right_shift", counted, lambda x, y: torch.bitwise_right_shift(x, y), INTEGERS),
)
