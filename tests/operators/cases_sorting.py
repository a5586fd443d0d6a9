"""Cases of operators that bring elements into order."""

from __future__ import annotations

import math

import numpy as np
from drawing import ALL, Draw, as_dtype
from harness import Case, torch

from xrelax.dialects.int_expr import sym
from xrelax.dialects.relax.operators.unique import FURTHER


def drawn(d: Draw, least: int = 0):
    shape = d.shape(1, 3, least=least)
    return shape, d.axis(len(shape)), [d.array(shape, special=d.chance(50))]


def sort(d: Draw):
    _, axis, arrays = drawn(d)
    return arrays, {"axis": axis, "descending": d.chance(50)}


def torch_sort(data, axis, descending):
    return torch.sort(data, dim=axis, descending=descending, stable=True).values


def argsort(d: Draw):
    arrays, attributes = sort(d)
    return arrays, {**attributes, "dtype": d.pick(("int32", "int64"))}


def torch_argsort(data, axis, descending, dtype):
    order = torch.sort(data, dim=axis, descending=descending, stable=True).indices
    return order.to(getattr(torch, dtype))


def topk(d: Draw):
    shape, axis, arrays = drawn(d, least=1)
    k, kind = d.integer(1, shape[axis]), d.pick(("both", "values", "indices"))
    attributes = {"k": k, "axis": axis, "ret_type": kind, "largest": d.chance(50)}
    return arrays, {**attributes, "dtype": d.pick(("int32", "int64"))}


def topk_of_many(d: Draw):
    """Lines that are long enough to be taken block by block, with many equal elements."""
    data = d.array((2, d.integer(700, 800)), special=d.chance(50))
    return [data], {
        "k": d.integer(1, 3),
        "axis": 1,
        "ret_type": "both",
        "largest": d.chance(50),
        "dtype": "int64",
    }


def torch_topk(data, k, axis, ret_type, largest, dtype):
    # Which of equal elements torch.topk takes is not defined.
    found = torch.sort(data, dim=axis, descending=largest, stable=True)
    values, indices = (x.narrow(axis, 0, k) for x in found)
    indices = indices.to(getattr(torch, dtype))
    return {"both": (values, indices), "values": values, "indices": indices}[ret_type]


def median(d: Draw):
    shape = d.shape(1, 3, least=1)
    # Which of equal elements torch.median takes is not defined, so that they are distinct.
    values = as_dtype(d.numpy.permuted(np.arange(math.prod(shape)) - 3), d.dtype).reshape(shape)
    if d.dtype in ("float32", "float64") and d.chance(30):
        values[tuple(d.integer(0, n - 1) for n in shape)] = math.nan
    axes = d.pick((None, [d.axis(len(shape))], d.axes(len(shape), 1)))
    return [values], {"axis": axes, "keepdims": d.chance(50)}


def torch_median(x, axis, keepdims):
    axes = range(x.ndim) if axis is None else [a % x.ndim for a in axis]
    kept = [n for n in range(x.ndim) if n not in axes]
    lines = x.permute(*kept, *sorted(axes)).reshape(*(x.shape[n] for n in kept), -1)
    shape = x.sum(list(axes), keepdim=keepdims).shape
    values, indices = (found.reshape(shape) for found in lines.median(-1))
    return (values, indices) if axis is not None and len(axis) == 1 else values


def unique(d: Draw):
    shape = d.shape(0, 3)
    axis = d.axis(len(shape)) if shape and d.chance(60) else None
    attributes = {name: d.chance(50) for name in ("sorted", *FURTHER)}
    array = as_dtype(d.array(shape, 0, 2, dtype="int32"), d.dtype)
    return [array], {**attributes, "axis": axis, "size": (d.pick((0, 1, 3, 30)),)}


def torch_unique(x, sorted, axis, size, **further):
    slices = x.reshape(-1) if axis is None else x.movedim(axis, 0)
    rows = [tuple(row.reshape(-1).tolist()) for row in slices]
    different = list(dict.fromkeys(rows))
    if sorted:
        different.sort()
    first, counts, inverse = (
        torch.tensor([function(row) for row in some], dtype=torch.int64)
        for function, some in (
            (rows.index, different), (rows.count, different), (different.index, rows)
        )
    )  # fmt: skip
    values, first, counts = (filled(v, *size) for v in (slices[first], first, counts))
    results = dict(zip(FURTHER, (first, inverse, counts), strict=True))
    found = (values.movedim(0, axis or 0), *(results[n] for n in FURTHER if further[n]))
    return found if len(found) > 1 else found[0]


def filled(tensor, size):
    """The first rows, then zeros."""
    result = torch.zeros(size, *tensor.shape[1:], dtype=tensor.dtype)
    result[: len(tensor)] = tensor[:size]
    return result


def symbolic_rows(shapes, attributes):
    """A symbol for the number of lines alone."""
    return [(sym("n"), shapes[0][1])], attributes


def bucketize(d: Draw):
    boundaries = np.sort(d.array((d.pick((0, 1, 5, 40)),)))
    flags = {name: d.chance(50) for name in ("out_int32", "right")}
    return [d.array(d.shape(), special=d.chance(50)), boundaries], flags


def samples(d: Draw):
    """Probabilities in sixteenths, whose sums are exact."""
    rows, classes, count = d.integer(1, 3), d.integer(1, 5), d.integer(0, 4)
    prob = d.numpy.multinomial(16, [1 / classes] * classes, rows) / 16
    uniform = d.numpy.integers(0, 16, (count, 1)) / 16
    indices = d.numpy.integers(0, rows, (count, 1)).astype(d.pick(("int32", "int64")))
    arrays = [as_dtype(prob, d.dtype), as_dtype(uniform, d.dtype), indices]
    return arrays, {"dtype": d.pick(("int32", "int64"))}


def sampled(prob, uniform_sample, sample_indices, dtype):
    sums = prob.cumsum(1)[sample_indices[:, 0].long()]
    found = torch.searchsorted(sums, uniform_sample, right=True)
    return found.clamp(max=prob.shape[1] - 1).to(getattr(torch, dtype))


CASES = (
    Case(
        "relax.multinomial_from_uniform",
        samples,
        sampled,
        ("float32", "float64"),
        symbolic=lambda s, a: None,
    ),
    Case(
        "relax.bucketize",
        bucketize,
        lambda x, b, **flags: torch.bucketize(x, b, **flags),
        ("float32", "float64", "float16", "int8", "int32", "int64", "uint8"),
    ),
    Case("relax.sort", sort, torch_sort, ALL),
    Case("relax.argsort", argsort, torch_argsort, ALL),
    Case("relax.median", median, torch_median, ("float32", "float64", "float16", "int32", "int8")),
    Case("relax.unique", unique, torch_unique, ALL),
    Case("relax.topk", topk, torch_topk, ALL),
    Case("relax.topk", topk_of_many, torch_topk, ALL, symbolic=symbolic_rows, note="many"),
)
