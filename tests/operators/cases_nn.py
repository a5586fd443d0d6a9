"""Cases of neural network operators: products, normalizations, attention."""

from __future__ import annotations

from typing import Any

import numpy as np
from drawing import FLOATS, NUMBERS, Draw
from harness import Case, all_symbolic, torch

SUM_RTOL = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-5, "float64": 1e-12}
SUM_ATOL = {"float16": 1e-2, "bfloat16": 6e-2, "float32": 2e-5, "float64": 1e-12}
"""For sums of some hundred products of numbers up to 3, which may cancel."""


def summed(operator: str, draw: Any, function: Any, dtypes: Any = FLOATS, **options: Any) -> Case:
    return Case(operator, draw, function, dtypes, SUM_RTOL, SUM_ATOL, **options)


def matrices(d: Draw):
    n, k, m = d.size(), d.size(), d.size()
    batch = d.shape(0, 2)
    transposed = d.chance(40)
    lhs = (k,) if d.chance(15) else (*batch, n, k)
    rhs = (m, k) if transposed else (k, m)
    rhs = (*d.broadcastable(batch), *rhs) if d.chance(85) or transposed else (k,)
    return [d.array(lhs), d.array(rhs)], {"transpose_rhs": True} if transposed else {}


def matmul(lhs: Any, rhs: Any, transpose_rhs: bool = False, out_dtype: str | None = None):
    if out_dtype is not None:
        lhs, rhs = lhs.to(getattr(torch, out_dtype)), rhs.to(getattr(torch, out_dtype))
    return lhs @ (rhs.mT if transpose_rhs else rhs)


def widened(d: Draw):
    operands, attributes = matrices(d)
    wide = {"int8": "int32", "uint8": "int32", "float16": "float32", "bfloat16": "float32"}
    return operands, {**attributes, "out_dtype": wide[d.dtype]}


def grouped_operands(d: Draw):
    groups, rows, k, n = d.size(1), d.size(), d.size(), d.size()
    offsets = sorted(d.integer(0, rows) for _ in range(groups))
    transposed = d.chance(50)
    weight = d.array((groups, *((n, k) if transposed else (k, n))))
    given = [d.array((rows, k)), weight, np.array(offsets, d.pick(("int32", "int64")))]
    return given, {"transpose_rhs": True} if transposed else {}


def grouped_matmul(data: Any, weight: Any, offsets: Any, transpose_rhs: bool = False):
    result = data.new_zeros(len(data), weight.shape[1 if transpose_rhs else 2])
    starts = [0, *offsets.tolist()]
    for start, end, matrix in zip(starts, starts[1:], weight, strict=False):
        result[start:end] = data[start:end] @ (matrix.mT if transpose_rhs else matrix)
    return result


def linear_operands(d: Draw):
    k, m = d.size(), d.size()
    bias = [d.array((m,))] if d.chance(60) else []
    return [d.array((*d.shape(0, 2), k)), d.array((m, k)), *bias], {}


def vectors(d: Draw):
    return [d.array((d.size(),)), d.array((d.size(),))], {}


SUBSCRIPTS = (
    "ij,jk->ik", "ij,jk", "bij,bkj->bik", "ij->ji", "ii->i", "ij->", "i,j->ij", "ij,kj,kl->il",
    "...ij,...jk->...ik", "b...,b...->...", "bhid,bhjd->bhij",
)  # fmt: skip


def letters_and_tensors(d: Draw):
    subscripts = d.pick(SUBSCRIPTS)
    sizes, batch = {c: d.size() for c in "bdhijkl"}, d.shape(0, 2)
    arrays = []
    for own in subscripts.partition("->")[0].split(","):
        before, dots, after = own.partition("...")
        inner = d.broadcastable(batch) if dots else ()
        arrays.append(d.array((*(sizes[c] for c in before), *inner, *(sizes[c] for c in after))))
    return arrays, {"subscripts": subscripts}


def einsum(*tensors: Any, subscripts: str):
    return torch.einsum(subscripts, *tensors)


def batch_norm_operands(d: Draw):
    shape = d.shape(2, 4, 1)
    axis = d.pick((1, -1)) if len(shape) > 1 else 0
    channels = (shape[axis],)
    vectors = [d.array(channels) for _ in range(3)]
    flags = {"center": d.chance(80), "scale": d.chance(80)}
    epsilon = {"epsilon": 1e-3} if d.chance(40) else {}
    return [d.array(shape), *vectors, d.array(channels, 0.1, 3)], {"axis": axis, **epsilon, **flags}


def batch_norm(
    x: Any,
    g: Any,
    b: Any,
    m: Any,
    v: Any,
    axis: int,
    center: bool,
    scale: bool,
    epsilon: Any = 1e-5,
):
    weight, bias = g if scale else None, b if center else None
    result = torch.nn.functional.batch_norm(
        x.movedim(axis, 1), m, v, weight, bias, False, 0, epsilon
    )
    return result.movedim(1, axis), m, v


def batch_norm_in_training(d: Draw):
    arrays, attributes = batch_norm_operands(d)
    momentum = {"momentum": d.pick((0, 0.25, 1))} if d.chance(60) else {}
    return arrays, {**attributes, **momentum, "training": True}


def trained_batch_norm(
    x: Any, g: Any, b: Any, m: Any, v: Any, axis: int, training: bool,
    momentum: float = 0.1, **attributes: Any,
):  # fmt: skip
    wide = x.double()
    axes = [a for a in range(x.ndim) if a != axis % x.ndim]
    mean, var = wide.mean(axes), wide.var(axes, correction=0)
    result, _, _ = batch_norm(wide, *(t.double() for t in (g, b)), mean, var, axis, **attributes)
    moved = (o.lerp(n, momentum) for o, n in ((m.double(), mean), (v.double(), var)))
    return tuple(t.to(x.dtype) for t in (result, *moved))


def layer_norm_operands(d: Draw):
    shape = d.shape(1, 4, 1)
    count = d.integer(1, len(shape))
    flags = {"center": d.chance(80), "scale": d.chance(80)}
    own = shape[len(shape) - count :]
    axes = [a - count for a in range(count)]
    x = d.array(shape)
    return [x, d.array(own), d.array(own)], {"axes": axes, **flags}


def layer_norm(x: Any, g: Any, b: Any, axes: Any, center: bool, scale: bool):
    return torch.nn.functional.layer_norm(
        x, x.shape[len(x.shape) - len(axes) :], g if scale else None, b if center else None
    )


def rms_norm_operands(d: Draw):
    (x, g, _), attributes = layer_norm_operands(d)
    return [x, g], {"axes": attributes["axes"]}


def rms_norm(x: Any, g: Any, axes: Any):
    return torch.nn.functional.rms_norm(x, x.shape[len(x.shape) - len(axes) :], g, 1e-5)


def group_norm_operands(d: Draw):
    groups, each = d.integer(1, 3), d.integer(1, 3)
    shape = (d.size(1), groups * each, *d.shape(1, 2, 1))
    vectors = [d.array((shape[1],)) for _ in range(2)]
    attributes = {"num_groups": groups, "channel_axis": 1, "axes": list(range(2, len(shape)))}
    return [d.array(shape), *vectors], {**attributes, "center": d.chance(80), "scale": d.chance(80)}


def group_norm(x: Any, g: Any, b: Any, num_groups: int, center: bool, scale: bool, **_: Any):
    weight, bias = g if scale else None, b if center else None
    return torch.nn.functional.group_norm(x, num_groups, weight, bias)


def instance_norm_operands(d: Draw):
    operands, attributes = group_norm_operands(d)
    while operands[0][0, 0].size < 4:
        operands, attributes = group_norm_operands(d)
    return operands, {n: v for n, v in attributes.items() if n != "num_groups"}


def instance_norm(x: Any, g: Any, b: Any, center: bool, scale: bool, **_: Any):
    weight = {"weight": g} if scale else {}
    return torch.nn.functional.instance_norm(x, **weight, **({"bias": b} if center else {}))


def attention_operands(d: Draw):
    batch, queries, keys, size = (d.size(1) for _ in range(4))
    key_heads, repeats = d.integer(1, 3), d.pick((1, 1, 2))
    heads, value_size = key_heads * repeats, d.size(1)
    operands = [
        d.array((batch, queries, heads, size), -1, 1),
        d.array((batch, keys, key_heads, size), -1, 1),
        d.array((batch, keys, key_heads, value_size)),
    ]
    if d.chance(50):
        bias = d.array(d.broadcastable((batch, heads, queries, keys)))
        if d.dtype in ("float32", "float64") and d.chance(50):
            bias[d.numpy.random(bias.shape) < 0.5] = float("-inf")
        operands.append(bias)
    return operands, ({"scale": 0.3} if d.chance(30) else {}) | scores(d)


def scores(d: Draw) -> dict[str, Any]:
    """What is done to the scores of attention: a soft cap, a mask, a window."""
    attributes: dict[str, Any] = {"softcap": 0.5} if d.chance(30) else {}
    causal = d.pick((None, "TopLeft", "BottomRight"))
    if causal is not None:
        attributes |= {"causal_mask": causal, "window_size": d.pick((None, None, 1, 3))}
    return attributes


def attention(
    q: Any,
    k: Any,
    v: Any,
    bias: Any = None,
    scale: Any = None,
    causal_mask: str | None = None,
    softcap: Any = None,
    window_size: int | None = None,
):
    repeats, queries, keys = q.shape[2] // k.shape[2], q.shape[1], k.shape[1]
    mask = torch.zeros((1, 1, queries, keys), dtype=q.dtype) if bias is None else bias
    if causal_mask is not None:
        offset = keys - queries if causal_mask == "BottomRight" else 0
        visible = torch.ones((queries, keys), dtype=torch.bool).tril(offset)
        if window_size is not None:
            visible = visible.triu(offset - window_size + 1)
        mask = mask.masked_fill(~visible, float("-inf"))
    mask = mask.expand(q.shape[0], q.shape[2], queries, keys)
    k, v = (x.repeat_interleave(repeats, dim=2) for x in (k, v))
    q, k, v = (x.movedim(1, 2) for x in (q, k, v))
    if softcap is not None:
        products = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
        scores = torch.tanh(products / softcap) * softcap + mask
        return (torch.softmax(scores, -1).nan_to_num(0) @ v).movedim(1, 2)
    found = torch.nn.functional.scaled_dot_product_attention(q, k, v, mask, scale=scale)
    return found.movedim(1, 2)


def grouped_symbols(shapes: Any, attributes: Any) -> Any:
    """Symbols for sizes other than 1; only for batch and spatial dims where there are groups."""
    changed = all_symbolic(shapes, attributes)[0]
    if attributes.get("groups", attributes.get("num_groups", 1)) == 1:
        return changed, attributes
    axis = len(shapes[0]) - 1 if attributes.get("data_layout", "").endswith("C") else 1
    data = list(changed[0])
    data[axis] = shapes[0][axis]
    return [tuple(data), *shapes[1:]], attributes


def head_symbols(shapes: Any, attributes: Any) -> Any:
    """Symbols for sizes other than 1, but not for heads that several share."""
    if shapes[0][2] == shapes[1][2]:
        return all_symbolic(shapes, attributes)
    heads = {shapes[0][2], shapes[1][2]}
    changed = all_symbolic(shapes, attributes)[0]
    kept = [
        tuple(s if s in heads else c for s, c in zip(shape, new, strict=True))
        for shape, new in zip(shapes, changed, strict=True)
    ]
    return kept, attributes


SHORT = ("int8", "uint8", "float16", "bfloat16")

CASES = (
    summed("relax.matmul", matrices, matmul, NUMBERS),
    summed("relax.matmul", widened, matmul, SHORT, note="out_dtype"),
    summed("relax.linear", linear_operands, lambda *x: torch.nn.functional.linear(*x), NUMBERS),
    summed("relax.grouped_matmul", grouped_operands, grouped_matmul, NUMBERS),
    summed("relax.einsum", letters_and_tensors, einsum),
    Case("relax.outer", vectors, lambda x, y: torch.outer(x, y), NUMBERS),
    summed("relax.nn.batch_norm", batch_norm_operands, batch_norm),
    summed("relax.nn.batch_norm", batch_norm_in_training, trained_batch_norm, note="training"),
    summed("relax.nn.layer_norm", layer_norm_operands, layer_norm),
    summed("relax.nn.rms_norm", rms_norm_operands, rms_norm),
    summed("relax.nn.group_norm", group_norm_operands, group_norm, symbolic=grouped_symbols),
    summed("relax.nn.instance_norm", instance_norm_operands, instance_norm),
    summed("relax.nn.attention", attention_operands, attention, symbolic=head_symbols),
)
