"""Cases of operators that make tensors, and of choice and conversion."""

from __future__ import annotations

import numpy as np
from drawing import ALL, FLOATS, INTEGERS, NUMBERS, Draw
from harness import Case, torch


def torch_dtype(name):
    return getattr(torch, name)


def choice(d: Draw):
    shape = d.shape()
    arrays = [d.array(d.broadcastable(shape), dtype="bool")]
    arrays += [d.array(s, special=True) for s in (shape, d.broadcastable(shape))]
    return arrays, {}


def clipped(d: Draw):
    bounds = (
        (-1.5, 0.25, 0, 2) if d.dtype in FLOATS else (0, 1, 2) if d.dtype == "uint8" else (-2, 1)
    )
    attributes = {"min": d.pick((None, *bounds)), "max": d.pick(bounds)}
    return [d.array(d.shape(), -4, 4, special=True)], attributes


def converted(d: Draw):
    """Floats within the range of the target, where PyTorch defines the result."""
    target = d.pick(ALL)
    low, high = (0, 100) if "uint8" in (target, d.dtype) else (-100, 100)
    return [d.array(d.shape(), low, high)], {"dtype": target}


def wrapped(d: Draw):
    return [d.array(d.shape(), -300, 300, special=True)], {"dtype": d.pick(INTEGERS)}


def saturated(d: Draw):
    x = d.array(d.shape(1), -1e4, 1e4, special=True)
    return [x], {"dtype": d.pick(("int8", "uint8", "int32", "int64"))}


def reread(d: Draw):
    x = d.array(d.shape(), special=True)
    kinds = ("int", "uint", "float") if x.dtype.itemsize > 1 else ("int", "uint")
    return [x], {"dtype": f"{d.pick(kinds)}{8 * x.dtype.itemsize}"}


def shape_alone(d: Draw):
    return [], {"shape": d.shape(), "dtype": d.dtype}


def dims_alone(d: Draw):
    return [], {"shape": d.shape()}


def filling(d: Draw):
    attributes = {"shape": d.shape(), "dtype": d.dtype}
    return [d.array((), 0, 3, dtype=d.pick(("float32", "int32")))], attributes


def like(d: Draw):
    return [d.array(d.shape())], {"dtype": d.pick((None, d.pick(ALL)))}


def like_with_value(d: Draw):
    (x,), attributes = like(d)
    return [x, d.array((), 0, 3, dtype="float32")], attributes


def count(d: Draw):
    step = d.pick((1, 1, 2, -3))
    start, end = sorted((d.integer(-5, 20), d.integer(-5, 20)), reverse=step < 0)
    return [], {"start": start, "end": end, "step": step, "dtype": d.dtype}


def symbolic_count(shapes, attributes):
    """The end as a symbol, where it can be a size."""
    from xrelax.dialects.int_expr import sym

    end = attributes["end"]
    return None if end < 0 else (shapes, attributes | {"end": sym(f"n{end}")})


def fractions(d: Draw):
    start, step = d.pick((0, 0.5, -1.25)), d.pick((0.25, 0.1, -0.5))
    return [], {
        "start": start,
        "end": start + step * d.integer(0, 9),
        "step": step,
        "dtype": d.dtype,
    }


def hamming(d: Draw):
    return [], {
        "window_size": d.integer(1, 20),
        "periodic": d.pick((True, False)),
        "alpha": d.pick((0.54, 0.5)),
        "beta": d.pick((0.46, 1)),
        "dtype": d.dtype,
    }


def hamming_window(window_size, periodic, alpha, beta, dtype):
    window = torch.hamming_window(window_size, periodic, alpha, beta, dtype=torch.float64)
    return window.to(torch_dtype(dtype))


def symbolic_size(shapes, attributes):
    from xrelax.dialects.int_expr import sym

    return shapes, attributes | {"window_size": sym(f"n{attributes['window_size']}")}


def triangle(d: Draw):
    return [d.array(d.shape(2, 4), special=True)], {"k": d.integer(-3, 3)}


def unit(d: Draw):
    m = d.pick((None, d.size()))
    return [], {"n": d.size(), "m": m, "k": d.integer(-2, 2), "dtype": d.dtype}


def hot(d: Draw):
    shape = d.shape()
    depth = d.integer(1, 6)
    attributes = {"depth": depth, "axis": d.integer(-1, len(shape))}
    return [d.array(shape, 0, depth - 1)], attributes


def one_hot(x, depth, axis):
    found = torch.nn.functional.one_hot(x.long(), depth)
    return found if axis == -1 else torch.movedim(found, -1, axis)


def unit_matrix(n, m, k, dtype):
    columns = n if m is None else m
    return torch.from_numpy(np.eye(n, columns, k)).to(torch_dtype(dtype))


CASES = (
    Case("relax.where", choice, lambda c, x, y: torch.where(c, x, y), ALL),
    Case(
        "relax.clip",
        clipped,
        lambda x, min, max: torch.clamp(x, min, max),
        NUMBERS,
    ),
    Case("relax.astype", converted, lambda x, dtype: x.to(torch_dtype(dtype)), ALL),
    Case(
        "relax.astype",
        wrapped,
        lambda x, dtype: x.to(torch_dtype(dtype)),
        INTEGERS,
        note="wrapping",
    ),
    Case("relax.wrap_param", converted, lambda x, dtype: x.to(torch_dtype(dtype)), ALL),
    Case("relax.astype", saturated, None, FLOATS, note="saturating"),
    Case(
        "relax.bitcast",
        reread,
        lambda x, dtype: x.view(torch_dtype(dtype)),
        tuple(d for d in NUMBERS if d != "bfloat16"),
    ),
    Case(
        "relax.bitcast",
        lambda d: ([d.array(d.shape(), -(1 << 15), (1 << 15) - 1, "int16")], {"dtype": "bfloat16"}),
        lambda x, dtype: x.view(torch_dtype(dtype)),
        ("int16",),
        note="bfloat16",
    ),
    Case(
        "relax.zeros",
        shape_alone,
        lambda shape, dtype: torch.zeros(shape, dtype=torch_dtype(dtype)),
        ALL,
    ),
    Case(
        "relax.ones",
        shape_alone,
        lambda shape, dtype: torch.ones(shape, dtype=torch_dtype(dtype)),
        ALL,
    ),
    Case(
        "relax.shape_to_tensor",
        dims_alone,
        lambda shape: torch.tensor(shape, dtype=torch.int64),
        ("int64",),
    ),
    Case(
        "relax.full",
        filling,
        lambda x, shape, dtype: x.to(torch_dtype(dtype)).expand(shape),
        NUMBERS,
    ),
    Case(
        "relax.zeros_like",
        like,
        lambda x, dtype: torch.zeros_like(x, dtype=dtype and torch_dtype(dtype)),
        ALL,
    ),
    Case(
        "relax.ones_like",
        like,
        lambda x, dtype: torch.ones_like(x, dtype=dtype and torch_dtype(dtype)),
        ALL,
    ),
    Case(
        "relax.full_like",
        like_with_value,
        lambda x, v, dtype: v.to(torch_dtype(dtype) if dtype else x.dtype).expand(x.shape),
        FLOATS,
    ),
    Case(
        "relax.arange",
        count,
        lambda start, end, step, dtype: torch.arange(start, end, step).to(torch_dtype(dtype)),
        NUMBERS[:-1],
        symbolic=symbolic_count,
    ),
    Case(
        "relax.arange",
        fractions,
        lambda start, end, step, dtype: torch.arange(start, end, step, dtype=torch.float64).to(
            torch_dtype(dtype)
        ),
        FLOATS,
        symbolic=lambda shapes, attributes: None,
        note="floats",
    ),
    Case("relax.hamming_window", hamming, hamming_window, FLOATS, symbolic=symbolic_size),
    Case("relax.tril", triangle, lambda x, k: torch.tril(x, k), ALL),
    Case("relax.triu", triangle, lambda x, k: torch.triu(x, k), ALL),
    Case("relax.eye", unit, unit_matrix, ALL),
    Case("relax.one_hot", hot, one_hot, ("int32", "int64", "int8")),
)
