"""Cases of reductions and of running sums and products."""

from __future__ import annotations

from drawing import ALL, FLOATS, NUMBERS, Draw
from harness import Case, torch


def reduced(d: Draw, low: float = -3, high: float = 3, least: int = 0, special: bool = False):
    """One operand with axes, often one or all of them."""
    shape = d.shape(0, 4, least)
    axis = d.pick((None, d.axes(len(shape), 1) or None))
    attributes = {"axis": axis, "keepdims": d.chance(50)}
    return [d.array(shape, low, high, special=special)], attributes


def with_specials(d: Draw):
    return reduced(d, special=d.chance(50))


def filled(d: Draw):
    return reduced(d, -9, 9, least=1, special=d.chance(40))


def truths(d: Draw):
    return reduced(d, 0, 1, special=False) if d.dtype not in FLOATS else reduced(d, special=True)


def products(d: Draw):
    """Factors near 1, so that large products stay finite."""
    (x,), attributes = reduced(d, 0.5, 1.5)
    return [x], attributes


def summed_as(d: Draw):
    (x,), attributes = reduced(d, -5, 5)
    return [x], attributes | {"dtype": "float32" if d.dtype in FLOATS else "int64"}


def spread(d: Draw):
    """PyTorch warns where the correction leaves nothing to divide by."""
    (x,), attributes = reduced(d, -3, 3, least=1)
    axes = dims(x, attributes["axis"])
    return [x], attributes | {"correction": int(any(x.shape[a] > 1 for a in axes) and d.chance(50))}


def place(d: Draw):
    shape = d.shape(0, 3, least=1)
    axis = d.axis(len(shape)) if shape and d.chance(70) else None
    x = d.array(shape, -2, 2, special=d.chance(50))
    return [x], {"axis": axis, "keepdims": d.chance(50)}


def running(d: Draw, low: float = -3, high: float = 3):
    shape = d.shape(1, 3)
    x = d.array(shape, low, high)
    axis = d.axis(len(shape)) if d.chance(75) else None
    return [x], {"axis": axis, "exclusive": d.chance(40)}


def running_products(d: Draw):
    return running(d, 0.5, 1.5)


def along(d: Draw):
    shape = d.shape(1, 3)
    return [d.array(shape, -9, 9, special=d.chance(50))], {"axis": d.axis(len(shape))}


def dims(x, axis):
    return tuple(range(x.ndim)) if axis is None else tuple(axis)


def total(x, axis, keepdims, dtype=None):
    kind = getattr(torch, dtype) if dtype else None if x.dtype == torch.bool else x.dtype
    if x.ndim == 0:
        return x.to(kind or torch.int64)
    return torch.sum(x, dims(x, axis), keepdim=keepdims, dtype=kind)


def product(x, axis, keepdims):
    kind = torch.int64 if x.dtype == torch.bool else x.dtype
    for a in sorted((a % x.ndim for a in dims(x, axis)), reverse=True):
        x = torch.prod(x.to(kind), a, keepdim=keepdims, dtype=kind)
    return x.to(kind)


def folded(name):
    def function(x, axis, keepdims):
        for a in sorted((a % x.ndim for a in dims(x, axis)), reverse=True):
            x = getattr(torch, name)(x, a, keepdim=keepdims)
        return x if name.startswith("a") and name[1] == "m" else x.bool()

    return function


def mean(x, axis, keepdims):
    return torch.mean(x, dims(x, axis), keepdim=keepdims)


def variance(x, axis, keepdims, correction):
    return torch.var(x, dims(x, axis) or None, keepdim=keepdims, correction=correction)


def deviation(x, axis, keepdims, correction):
    return torch.std(x, dims(x, axis) or None, keepdim=keepdims, correction=correction)


def cumulative(name):
    def function(x, axis, exclusive):
        kind = torch.int64 if x.dtype == torch.bool else x.dtype
        x, along = (x.reshape(-1), 0) if axis is None else (x, axis)
        if exclusive:
            start = getattr(torch, "zeros_like" if name == "cumsum" else "ones_like")
            first = start(x.narrow(along, 0, min(1, x.shape[along])))
            x = torch.cat([first, x.narrow(along, 0, max(0, x.shape[along] - 1))], along)
        return getattr(torch, name)(x, along, dtype=kind)

    return function


LOOSE = {"rtol": {"float32": 1e-5, "float64": 1e-12}, "atol": {"float32": 1e-5, "float64": 1e-12}}

CASES = (
    Case("relax.sum", with_specials, total, ALL, **LOOSE),
    Case("relax.sum", summed_as, total, (*NUMBERS, "bool"), note="dtype", **LOOSE),
    Case("relax.prod", products, product, ALL, **LOOSE),
    Case("relax.mean", with_specials, mean, FLOATS, **LOOSE),
    Case("relax.variance", spread, variance, FLOATS, **LOOSE),
    Case("relax.std", spread, deviation, FLOATS, **LOOSE),
    Case("relax.max", filled, folded("amax"), ALL),
    Case("relax.min", filled, folded("amin"), ALL),
    Case("relax.any", truths, folded("any"), ALL),
    Case("relax.all", truths, folded("all"), ALL),
    Case(
        "relax.argmax",
        place,
        lambda x, axis, keepdims: torch.argmax(x, axis, keepdim=keepdims and x.ndim > 0),
        NUMBERS,
    ),
    Case(
        "relax.argmin",
        place,
        lambda x, axis, keepdims: torch.argmin(x, axis, keepdim=keepdims and x.ndim > 0),
        NUMBERS,
    ),
    Case("relax.cumsum", running, cumulative("cumsum"), ALL, **LOOSE),
    Case("relax.cumprod", running_products, cumulative("cumprod"), ALL, **LOOSE),
    Case("relax.cummax", along, lambda x, axis: torch.cummax(x, axis).values, NUMBERS),
    Case("relax.logcumsumexp", along, lambda x, axis: torch.logcumsumexp(x, axis), FLOATS, **LOOSE),
)
