"""Cases of operators that choose elements by tensors of indices."""

from __future__ import annotations

import numpy as np
from drawing import ALL, Draw
from harness import Case, torch

from xrelax.dialects.int_expr import sym


def indices(d: Draw, shape, dim: int, beyond: int = 3):
    """Indices into a dim, counted from both ends, and some outside."""
    dtype = d.pick(("int64", "int32", "int8"))
    return np.asarray(d.array(shape, -dim - beyond, dim + beyond, dtype=dtype))


def torch_inside(index, dim: int):
    """What an index means: from the end below 0, else the nearest one."""
    index = index.long()
    return torch.where(index < 0, index + dim, index).clamp(0, dim - 1)


def take(mode: str):
    def draw(d: Draw):
        shape = d.shape(1, 3, least=1)
        axis = d.axis(len(shape))
        chosen = indices(d, d.shape(0, 2), shape[axis])
        named = {"axis": axis} if len(shape) > 1 or d.chance(50) else {}
        return [d.array(shape), chosen], {**named, **({"mode": mode} if mode != "fast" else {})}

    return draw


def torch_take(x, index, axis=None, mode="fast"):
    axis, index = axis or 0, index.long()
    dim = x.shape[axis]
    places = {"clip": index.clamp(0, dim - 1), "wrap": index % dim}.get(
        mode, torch_inside(index, dim)
    )
    found = x.index_select(axis, places.reshape(-1))
    if mode == "nan":
        known = ((index >= -dim) & (index < dim)).reshape(-1)
        shape = [-1 if a == axis % x.ndim else 1 for a in range(x.ndim)]
        nothing = torch.tensor(float("nan") if x.is_floating_point() else 0).to(x.dtype)
        found = torch.where(known.reshape(shape), found, nothing)
    axis %= x.ndim
    return found.reshape((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


def gather_elements(d: Draw):
    shape = list(d.shape(1, 3, least=1))
    axis = d.axis(len(shape))
    own = list(shape)
    own[axis] = d.size()
    return [d.array(shape), indices(d, own, shape[axis])], {"axis": axis}


def smaller_gather(d: Draw):
    arrays, attributes = gather_elements(d)
    axis = attributes["axis"] % arrays[0].ndim
    kept = tuple(
        slice(None) if a == axis else slice(0, d.integer(0, n))
        for a, n in enumerate(arrays[1].shape)
    )
    return [arrays[0], arrays[1][kept].copy()], attributes


def torch_gather(data, index, axis):
    return torch.gather(data, axis, torch_inside(index, data.shape[axis]))


def gather_nd(d: Draw):
    shape = d.shape(1, 4, least=1)
    batch = d.integer(0, len(shape) - 1)
    depth = d.integer(1, len(shape) - batch)
    outer = (*shape[:batch], *d.shape(0, 2))
    columns = [np.asarray(indices(d, outer, n), np.int64) for n in shape[batch : batch + depth]]
    return [d.array(shape), np.stack(columns, -1)], {"batch_dims": batch} if batch else {}


def torch_gather_nd(data, index, batch_dims=0):
    depth = index.shape[-1]
    dims = data.shape[batch_dims : batch_dims + depth]
    chosen = [torch_inside(index[..., k], n) for k, n in enumerate(dims)]
    rank = index.ndim - 1
    leading = [
        torch.arange(n).reshape([-1 if a == k else 1 for a in range(rank)])
        for k, n in enumerate(data.shape[:batch_dims])
    ]
    return data[tuple([*leading, *chosen])]


def symbolic_but_last(shapes, attributes):
    """Symbols for all dims but the last one of the indices, which says how many there are."""
    names = {s: sym(f"n{s}") for shape in shapes for s in shape if s != 1}
    data, index = ([names.get(s, s) for s in shape] for shape in shapes)
    return [tuple(data), (*index[:-1], shapes[1][-1])], attributes


def index_tensor(d: Draw):
    shape = d.shape(1, 3, least=1)
    outer = d.shape(0, 2)
    dims = shape[: d.integer(1, len(shape))]
    return [d.array(shape), *(indices(d, d.broadcastable(outer), n) for n in dims)], {}


def torch_index(data, *index):
    return data[tuple(torch_inside(i, n) for i, n in zip(index, data.shape, strict=False))]


def scatter_elements(d: Draw):
    (data, index), attributes = smaller_gather(d)
    reductions = (
        ("update", "min", "max") if d.dtype == "bool" else ("update", "add", "mul", "min", "max")
    )
    reduction = {"reduction": d.pick(reductions)} if d.chance(80) else {}
    updates = d.array([n + d.integer(0, 1) for n in index.shape])
    return [data, index, updates], {**attributes, **reduction}


def one_by_one(data, places, updates, reduction: str):
    """`data` after one update after the other; places broadcast with updates."""
    functions = {
        "update": lambda a, b: b,
        "add": lambda a, b: a + b,
        "mul": lambda a, b: a * b,
        "min": torch.minimum,
        "max": torch.maximum,
    }
    result, function = data.clone(), functions[reduction]
    places = [p.long().expand(updates.shape) for p in places]
    for at in np.ndindex(*updates.shape):
        place = tuple(int(p[at]) for p in places)
        if all(-n <= p < n for p, n in zip(place, data.shape, strict=True)):
            result[place] = function(result[place], updates[at])
    return result


def along(shape, axis: int):
    """Indices along one axis of a shape, for every element."""
    return torch.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])


def torch_scatter_elements(data, index, updates, axis, reduction="update"):
    axis %= data.ndim
    places = [index if a == axis else along(index.shape, a) for a in range(data.ndim)]
    chosen = updates[tuple(slice(n) for n in index.shape)]
    return one_by_one(data, places, chosen, reduction)


def scatter_nd(d: Draw):
    shape = d.shape(1, 3, least=1)
    depth = d.integer(1, len(shape))
    outer = d.shape(0, 2)
    columns = [np.asarray(indices(d, outer, n), np.int64) for n in shape[:depth]]
    reductions = ("update", "max") if d.dtype == "bool" else ("update", "add", "mul", "min", "max")
    updates = d.array((*outer, *shape[depth:]))
    return [d.array(shape), np.stack(columns, -1), updates], {"reduction": d.pick(reductions)}


def torch_scatter_nd(data, index, updates, reduction="update"):
    outer, depth = index.ndim - 1, index.shape[-1]
    after = (1,) * (updates.ndim - outer)
    chosen = [index[..., k].reshape((*index.shape[:-1], *after)) for k in range(depth)]
    rest = [along(updates.shape, a) for a in range(outer, updates.ndim)]
    return one_by_one(data, [*chosen, *rest], updates, reduction)


def symbolic_scatter_nd(shapes, attributes):
    """Symbols for all dims but the last one of the indices, which says how many there are."""
    (data, index), _ = symbolic_but_last(shapes[:2], {})
    depth = shapes[1][-1]
    return [data, index, (*index[:-1], *data[depth:])], attributes


def index_put(d: Draw):
    (data, *index), _ = index_tensor(d)
    outer = np.broadcast_shapes(*(i.shape for i in index))
    values = d.array(d.broadcastable((*outer, *data.shape[len(index) :])))
    accumulate = {"accumulate": True} if d.dtype != "bool" and d.chance(50) else {}
    return [data, *index, values], accumulate


def torch_index_put(data, *index, accumulate=False):
    *index, values = index
    outer = np.broadcast_shapes(*(tuple(i.shape) for i in index))
    rest = tuple(data.shape[len(index) :])
    chosen = [i.broadcast_to(outer).reshape((*outer, *(1,) * len(rest))) for i in index]
    after = [along((*outer, *rest), a) for a in range(len(outer), len(outer) + len(rest))]
    new = values.broadcast_to((*outer, *rest))
    return one_by_one(data, [*chosen, *after], new, "add" if accumulate else "update")


def some_zeros(d: Draw):
    shape = d.shape()
    x = d.array(shape, -2, 2)
    array = np.where(d.array(shape, dtype="bool"), x, np.zeros((), x.dtype))
    return [array], {"size": (d.pick((0, 1, int(np.count_nonzero(array)), 30)),)}


def slice_scatter(d: Draw):
    shape = d.shape(1, 3)
    axis, far = d.integer(-len(shape), len(shape) - 1), (1 << 63) - 1
    start, end = (d.pick((-far, far)) if d.chance(15) else d.integer(-9, 9) for _ in range(2))
    chosen = {"start": start, "end": end, "step": d.pick((1, 1, 2, 3)), "axis": axis}
    length = len(range(shape[axis])[start : end : chosen["step"]])
    src = [length if a == axis % len(shape) else s for a, s in enumerate(shape)]
    return [d.array(shape), d.array(tuple(src))], chosen


def torch_slice_scatter(x, src, start, end, step, axis):
    return torch.slice_scatter(x, src, axis, start, max(end, -(1 << 62)), step)


def symbolic_but_axis(shapes, attributes):
    """Symbols for the dims that have no slice."""
    axis = attributes["axis"] % len(shapes[0])
    changed = [
        tuple(s if a == axis else sym(f"n{s}") for a, s in enumerate(shape)) for shape in shapes
    ]
    return changed, attributes


def positions(x, size):
    found, result = x.nonzero().T, torch.zeros(x.ndim, *size, dtype=torch.int64)
    count = min(found.shape[1], *size)
    result[:, :count] = found[:, :count]
    return result


CASES = (
    Case("relax.nonzero", some_zeros, positions, ALL),
    *(
        Case("relax.take", take(m), torch_take, ALL, note=m)
        for m in ("fast", "clip", "wrap", "nan")
    ),
    Case("relax.gather_elements", gather_elements, torch_gather, ALL),
    Case(
        "relax.gather_elements",
        smaller_gather,
        torch_gather,
        ALL,
        symbolic=lambda s, a: None,
        note="smaller",
    ),
    Case("relax.gather_nd", gather_nd, torch_gather_nd, ALL, symbolic=symbolic_but_last),
    Case("relax.index_tensor", index_tensor, torch_index, ALL),
    Case(
        "relax.scatter_elements",
        scatter_elements,
        torch_scatter_elements,
        ALL,
        symbolic=lambda s, a: None,
    ),
    Case("relax.scatter_nd", scatter_nd, torch_scatter_nd, ALL, symbolic=symbolic_scatter_nd),
    Case("relax.index_put", index_put, torch_index_put, ALL),
    Case(
        "relax.slice_scatter",
        slice_scatter,
        torch_slice_scatter,
        ALL,
        symbolic=symbolic_but_axis,
    ),
)
