"""Cases of operators that give elements other places: reshape, concat, strided_slice and others."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from drawing import ALL, Draw
from harness import Case, torch

from xrelax.dialects.int_expr import sym


def reshape(d: Draw):
    factors = [d.size() for _ in range(d.integer(1, 4))]
    return [d.array(grouped(d, factors))], {"shape": grouped(d, factors)}


def grouped(d: Draw, factors: list[int]) -> tuple[int, ...]:
    """A shape whose dims are products of neighbouring factors, with dims of 1 among them."""
    dims, current = list[int](), 1
    for factor in factors:
        current *= factor
        if d.chance(50):
            dims, current = [*dims, current], 1
        if d.chance(20):
            dims.append(1)
    return (*dims, current)


def reshape_mixed(d: Draw):
    """Dims that neither divide each other."""
    shapes = [(6, 4), (8, 3), (24,), (2, 12), (4, 1, 6), (3, 2, 2, 2)]
    return [d.array(d.pick(shapes))], {"shape": d.pick(shapes)}


def view_as_words(d: Draw):
    shape = (*d.shape(high=2), 4 * d.size())
    return [d.array(shape)], {"shape": (-1,), "dtype": "int32"}


def reshape_free(d: Draw):
    shape = d.shape(1, 3, least=1)
    return [d.array(shape)], {"shape": (shape[-1], -1)}


def any_tensor(d: Draw):
    return [d.array(d.shape())], {}


def expand_dims(d: Draw):
    shape, count = d.shape(), d.integer(1, 2)
    rank = len(shape) + count
    return [d.array(shape)], {
        "axis": [a - rank if d.chance(30) else a for a in d.rng.sample(range(rank), count)]
    }


def torch_expand_dims(x, axis):
    for a in sorted(a % (x.ndim + len(axis)) for a in axis):
        x = x.unsqueeze(a)
    return x


def squeeze(d: Draw):
    shape = list(d.shape(0, 3, least=2))
    axes = sorted(d.rng.sample(range(len(shape) + 2), 2))
    for a in axes:
        shape.insert(a, 1)
    return [d.array(shape)], {
        "axis": [a - len(shape) if d.chance(30) else a for a in axes]
    } if d.chance(60) else {}


def permute_dims(d: Draw):
    shape = d.shape(0, 4)
    order = d.rng.sample(range(len(shape)), len(shape))
    axes = [a - len(shape) if d.chance(30) else a for a in order]
    return [d.array(shape)], {"axes": axes} if d.chance(70) else {}


def torch_permute_dims(data, axes=None):
    return data.permute(list(range(data.ndim))[::-1] if axes is None else axes)


def broadcast_to(d: Draw):
    shape = d.shape()
    return [d.array(d.broadcastable(shape))], {"shape": shape}


def repeat(d: Draw):
    shape = d.shape(1, 3)
    axis = {"axis": d.axis(len(shape))} if d.chance(60) else {}
    return [d.array(shape)], {"repeats": d.integer(0, 3), **axis}


def tile(d: Draw):
    return [d.array(d.shape())], {"repeats": [d.integer(0, 3) for _ in range(d.integer(1, 4))]}


def flip(d: Draw):
    shape = d.shape(1, 3)
    return [d.array(shape)], {"axis": d.axes(len(shape))}


def roll(d: Draw):
    shape = d.shape(1, 3)
    return [d.array(shape)], {"shift": d.integer(-9, 9), "axis": d.axis(len(shape))}


def concat(d: Draw):
    shape = d.shape(1, 3)
    axis = d.axis(len(shape))
    shapes = [list(shape) for _ in range(d.integer(1, 4))]
    for other in shapes:
        other[axis] = d.size()
    return [d.array(s) for s in shapes], {"axis": axis} if d.chance(80) or axis else {}


def stack(d: Draw):
    shape = d.shape(0, 3)
    return [d.array(shape) for _ in range(d.integer(1, 4))], {"axis": d.axis(len(shape) + 1)}


def split_sections(d: Draw):
    shape, sections = list(d.shape(2, 3, least=2)), d.integer(1, 3)
    axis = d.axis(len(shape))
    shape[axis] = shape[axis % len(shape) - 1] * sections
    return [d.array(shape)], {"indices_or_sections": sections, "axis": axis}


def symbolic_sections(shapes, attributes):
    """Symbols for sizes; the axis is as many times the dim before as there are sections."""
    (shape,), axis = shapes, attributes["axis"]
    dims = [sym(f"n{s}") for s in shape]
    dims[axis] = dims[axis % len(dims) - 1] * attributes["indices_or_sections"]
    return [tuple(dims)], attributes


def split_indices(d: Draw):
    shape = d.shape(1, 3)
    axis = d.axis(len(shape))
    cuts = tuple(d.integer(-3, 9) for _ in range(d.integer(0, 3)))
    return [d.array(shape)], {"indices_or_sections": cuts, "axis": axis}


def torch_split(x, indices_or_sections, axis=0):
    if isinstance(indices_or_sections, int):
        return torch.tensor_split(x, indices_or_sections, axis)
    cuts = [0, *indices_or_sections, x.shape[axis]]
    parts = [range(x.shape[axis])[slice(b, e)] for b, e in pairwise(cuts)]
    return tuple(x.index_select(axis, torch.tensor(list(p), dtype=torch.int64)) for p in parts)


def strided_slice(d: Draw):
    shape = d.shape(1, 3)
    axes = d.axes(len(shape))
    far = (-(1 << 31), (1 << 31) - 1, (1 << 63) - 1)
    begin, end = (
        tuple(d.pick(far) if d.chance(15) else d.integer(-9, 9) for _ in axes) for _ in range(2)
    )
    strides = {"strides": [d.pick((1, 1, 2, 3, -1, -2)) for _ in axes]} if d.chance(70) else {}
    return [d.array(shape)], {"axes": axes, "begin": begin, "end": end, **strides}


def torch_strided_slice(x, axes, begin, end, strides=None):
    for axis, b, e, s in zip(axes, begin, end, strides or [1] * len(axes), strict=True):
        chosen = list(range(x.shape[axis])[slice(b, e, s)])
        x = x.index_select(axis, torch.tensor(chosen, dtype=torch.int64))
    return x


def inbound_slice(d: Draw):
    shape = d.shape(1, 3, least=2)
    axes = [a % len(shape) for a in d.axes(len(shape))]
    begin = tuple(d.integer(0, shape[a] - 1) for a in axes)
    end = tuple(d.integer(b, shape[a]) for a, b in zip(axes, begin, strict=True))
    return [d.array(shape)], {"axes": axes, "begin": begin, "end": end, "assume_inbound": True}


def symbolic_bounds(shapes, attributes):
    """Every size, begin and end as a symbol of its own; the sizes as they appear in the operand."""
    (shape,) = shapes
    names = {s: sym(f"n{s}") for s in shape}
    changed = {n: tuple(names.get(v, v) for v in attributes[n]) for n in ("begin", "end")}
    return [tuple(names[s] for s in shape)], {**attributes, **changed}


def pad(mode: str):
    def draw(d: Draw):
        shape = d.shape(1, 3, least=0 if mode == "constant" else 1)
        widths = [d.integer(0, 3) for _ in range(2 * len(shape))]
        value = {"pad_value": d.integer(0, 3)} if mode == "constant" and d.chance(50) else {}
        return [d.array(shape)], {"pad_width": widths, "pad_mode": mode, **value}

    return draw


def torch_pad(data, pad_width, pad_mode="constant", pad_value=0):
    for axis, (low, high) in enumerate(zip(pad_width[::2], pad_width[1::2], strict=True)):
        if pad_mode == "constant":
            shape = list(data.shape)
            margins = []
            for width in (low, high):
                shape[axis] = width
                margins.append(torch.full(shape, pad_value, dtype=data.dtype))
            data = torch.cat([margins[0], data, margins[1]], axis)
            continue
        numpy_mode = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[pad_mode]
        places = np.pad(np.arange(data.shape[axis]), (low, high), numpy_mode)
        data = data.index_select(axis, torch.from_numpy(places))
    return data


CASES = (
    Case(
        "relax.reshape", reshape, lambda x, shape: x.reshape(shape), ALL, symbolic=lambda s, a: None
    ),
    Case(
        "relax.reshape",
        reshape_mixed,
        lambda x, shape: x.reshape(shape),
        ALL,
        symbolic=lambda s, a: None,
    ),
    Case("relax.reshape", reshape_free, lambda x, shape: x.reshape(shape), ALL),
    Case("relax.memory.view", reshape_free, lambda x, shape: x.reshape(shape), ALL),
    Case(
        "relax.memory.view",
        view_as_words,
        lambda x, shape, dtype: x.contiguous().view(torch.int32).reshape(shape),
        ("int8", "uint8"),
        symbolic=lambda s, a: None,
        note="words",
    ),
    Case("relax.flatten", any_tensor, lambda x: x.reshape(-1), ALL),
    Case("relax.expand_dims", expand_dims, torch_expand_dims, ALL),
    Case(
        "relax.squeeze",
        squeeze,
        lambda x, axis=None: x.squeeze() if axis is None else x.squeeze(axis),
        ALL,
    ),
    Case("relax.permute_dims", permute_dims, torch_permute_dims, ALL),
    Case("relax.broadcast_to", broadcast_to, lambda x, shape: x.broadcast_to(shape), ALL),
    Case(
        "relax.repeat",
        repeat,
        lambda x, repeats, axis=None: x.repeat_interleave(repeats, axis),
        ALL,
    ),
    Case("relax.tile", tile, lambda x, repeats: x.tile(repeats), ALL),
    Case("relax.flip", flip, lambda x, axis: x.flip(axis), ALL),
    Case("relax.roll", roll, lambda x, shift, axis: x.roll(shift, axis), ALL),
    Case("relax.concat", concat, lambda *x, axis=0: torch.cat(x, axis), ALL),
    Case("relax.stack", stack, lambda *x, axis=0: torch.stack(x, axis), ALL),
    Case(
        "relax.split", split_sections, torch_split, ALL, symbolic=symbolic_sections, note="sections"
    ),
    Case("relax.split", split_indices, torch_split, ALL, note="indices"),
    Case("relax.strided_slice", strided_slice, torch_strided_slice, ALL, symbolic=symbolic_bounds),
    Case(
        "relax.strided_slice",
        inbound_slice,
        lambda x, assume_inbound, **a: torch_strided_slice(x, **a),
        ALL,
        symbolic=symbolic_bounds,
        note="inbound",
    ),
    *(
        Case("relax.nn.pad", pad(m), torch_pad, ALL, note=m)
        for m in ("constant", "reflect", "replicate", "circular")
    ),
)
