"""Gradients of operators that move, reduce and multiply elements, and of layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import IntExpr
from ...dialects.relax.operators.windows import windows_of
from .gradient_rules import Backward, Gradients, gradient, known_dims, known_dtype, numbers_of


@gradient("sum")
def _sum(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    attributes = op.attribute_values()
    if known_dtype(grad) != known_dtype(op.x):
        grad = g("astype", grad, dtype=known_dtype(op.x))
    yield g.spread_over(grad, op.x, attributes["axis"], attributes["keepdims"])


@gradient("mean")
def _mean(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    attributes = op.attribute_values()
    share = g.divided(grad, op.x, attributes["axis"])
    yield g.spread_over(share, op.x, attributes["axis"], attributes["keepdims"])


@gradient("variance")
def _variance(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    attributes = op.attribute_values()
    axis = attributes["axis"]
    distance = g("subtract", op.x, g("mean", op.x, axis=axis, keepdims=True))
    slope = g("multiply", g.number(2, op.x), g.divided(distance, op.x, axis))
    yield g("multiply", g.spread_over(grad, op.x, axis, attributes["keepdims"]), slope)


@gradient("max", "min")
def _extremum(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    """Elements that are equal share the gradient evenly."""
    attributes = op.attribute_values()
    axis, keepdims = attributes["axis"], attributes["keepdims"]
    found = g.spread_over(op.result, op.x, axis, keepdims)
    chosen = g("astype", g("equal", op.x, found), dtype=known_dtype(op.x))
    count = g("sum", chosen, axis=axis, keepdims=True)
    share = g("multiply", g.spread_over(grad, op.x, axis, keepdims), chosen)
    yield g("divide", share, count)


@gradient("cumsum")
def _cumsum(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    attributes = op.attribute_values()
    axis = attributes["axis"]
    if known_dtype(grad) != known_dtype(op.data):
        grad = g("astype", grad, dtype=known_dtype(op.data))
    along, exclusive = axis or 0, attributes.get("exclusive", False)
    backwards = g("cumsum", g("flip", grad, axis=along), axis=along, exclusive=exclusive)
    result = g("flip", backwards, axis=along)
    yield g("reshape", result, shape=known_dims(op.data)) if axis is None else result


@gradient("triu", "tril")
def _triangle(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g(op.name.removeprefix("relax."), grad, **numbers_of(op))


@gradient("reshape", "flatten", "squeeze", "expand_dims")
def _reshape(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g("reshape", grad, shape=known_dims(op.x))


@gradient("permute_dims")
def _permute_dims(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    rank, attributes = len(known_dims(grad)), op.attribute_values()
    order = op.order(rank, attributes)
    if attributes["axes"] is None:
        yield g("permute_dims", grad)
    else:
        yield g("permute_dims", grad, axes=[order.index(a) for a in range(rank)])


@gradient("broadcast_to")
def _broadcast_to(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g.fitted(grad, op.x)


@gradient("collapse_sum_to")
def _collapse_sum_to(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g("broadcast_to", grad, shape=known_dims(op.data))


@gradient("concat")
def _concat(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    axis: int = op.attribute_values()["axis"]
    ends: list[IntExpr] = []
    for tensor in op.operands[:-1]:
        ends.append(known_dims(tensor)[axis] + (ends[-1] if ends else 0))
    if any(e.constant is None for e in ends):
        starts = [IntExpr.of(0), *ends]
        for start, tensor in zip(starts, op.operands, strict=True):
            stop: IntExpr = start + known_dims(tensor)[axis]
            yield g("strided_slice", grad, axes=[axis], begin=[start], end=[stop])
        return
    parts = g("split", grad, indices_or_sections=[e.constant for e in ends], axis=axis)
    yield from g.fields(parts, len(op.operands))


@gradient("split")
def _split(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    fields = list(g.fields(grad, len(op.result.type.types.data)))
    yield g("concat", *fields, axis=op.attribute_values()["axis"])


@gradient("stack")
def _stack(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    axis, count = op.attribute_values()["axis"], len(op.operands)
    parts = g("split", grad, indices_or_sections=count, axis=axis)
    for part in g.fields(parts, count):
        yield g("squeeze", part, axis=[axis])


@gradient("strided_slice")
def _strided_slice(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    """The gradient of a slice is 0 around what it reads."""
    attributes: dict[str, Any] = op.attribute_values()
    dims = known_dims(op.x)
    margins, rank = [[0, 0] for _ in dims], len(dims)
    axes: tuple[int, ...] = attributes["axes"]
    for position, axis in enumerate(axes):
        dim, step = dims[axis].constant, (attributes["strides"] or [1] * rank)[position]
        begin, end = (attributes[n][position].constant for n in ("begin", "end"))
        if dim is None or begin is None or end is None or step != 1:
            raise Diagnostic("expected a slice of numbers with steps of 1 for its gradient", op)
        start, stop, _ = slice(begin, end).indices(dim)
        margins[axis % rank] = [start, dim - max(start, stop)]
    yield g("nn.pad", grad, pad_width=[m for pair in margins for m in pair])


@gradient("take")
def _take(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g("grad.take_backward", grad, op.x, op.indices, **numbers_of(op))
    yield None


@gradient("matmul")
def _matmul(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    a, b = op.operands
    if op.attribute_values()["transpose_rhs"]:
        yield g.fitted(g("matmul", grad, b), a)
        yield g.fitted(g("matmul", g.transposed(grad), a), b)
        return
    ranks = [min(len(known_dims(x)), 2) for x in (a, b)]
    if ranks == [1, 1]:
        yield g("multiply", grad, b)
        yield g("multiply", grad, a)
    elif ranks == [1, 2]:
        row = g("expand_dims", grad, axis=[-2])
        yield g.fitted(g("matmul", row, g.transposed(b)), a)
        yield g.fitted(g("matmul", g("expand_dims", a, axis=[1]), row), b)
    elif ranks == [2, 1]:
        column = g("expand_dims", grad, axis=[-1])
        yield g.fitted(g("matmul", column, g("expand_dims", b, axis=[0])), a)
        yield g.fitted(g("squeeze", g("matmul", g.transposed(a), column), axis=[-1]), b)
    else:
        yield g.fitted(g("matmul", grad, g.transposed(b)), a)
        yield g.fitted(g("matmul", g.transposed(a), grad), b)


@gradient("linear")
def _linear(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    data, weight, *bias = op.operands
    yield g("matmul", grad, weight)
    rank = len(known_dims(data))
    column, row = (g("expand_dims", x, axis=[-2]) if rank == 1 else x for x in (grad, data))
    yield g.fitted(g("matmul", g.transposed(column), row), weight)
    for vector in bias:
        yield g.fitted(grad, vector)


@gradient("nn.nll_loss")
def _nll_loss(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g("grad.nll_loss_backward", grad, *op.operands, **numbers_of(op))
    for _ in op.operands[1:]:
        yield None


@gradient("nn.max_pool2d", "nn.avg_pool2d")
def _pool2d(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    name = op.name.removeprefix("relax.nn.")
    yield g(f"grad.{name}_backward", grad, op.data, **numbers_of(op))


@gradient("nn.layer_norm")
def _layer_norm(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    """``(d - mean(d) - y * mean(d * y)) / s`` for ``y = (x - mean) / s``, of gradients d."""
    attributes = op.attribute_values()
    axis, data = attributes["axes"], op.data
    shape = _affine_shape(data, axis)
    distance = g("subtract", data, g("mean", data, axis=axis, keepdims=True))
    square = g("mean", g("multiply", distance, distance), axis=axis, keepdims=True)
    spread = g("sqrt", g("add", square, g.number(attributes["epsilon"], data)))
    normal = g("divide", distance, spread)
    own = grad
    if attributes["scale"]:
        own = g("multiply", grad, g("reshape", op.gamma, shape=shape))
    along = g("mean", g("multiply", own, normal), axis=axis, keepdims=True)
    rest = g("subtract", own, g("mean", own, axis=axis, keepdims=True))
    yield g("divide", g("subtract", rest, g("multiply", normal, along)), spread)
    scaled = g("multiply", grad, normal)
    yield _to_affine(g, scaled, op.gamma, shape) if attributes["scale"] else None
    yield _to_affine(g, grad, op.beta, shape) if attributes["center"] else None


@gradient("nn.rms_norm")
def _rms_norm(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    attributes, data = op.attribute_values(), op.data
    axis = attributes["axes"]
    shape = _affine_shape(data, axis)
    square = g("mean", g("multiply", data, data), axis=axis, keepdims=True)
    spread = g("sqrt", g("add", square, g.number(attributes["epsilon"], data)))
    normal = g("divide", data, spread)
    own = g("multiply", grad, g("reshape", op.weight, shape=shape))
    along = g("mean", g("multiply", own, normal), axis=axis, keepdims=True)
    yield g("divide", g("subtract", own, g("multiply", normal, along)), spread)
    yield _to_affine(g, g("multiply", grad, normal), op.weight, shape)


def _affine_shape(data: SSAValue, axes: Sequence[int]) -> list[IntExpr]:
    """The shape that parameters of these axes, which are in order, broadcast in."""
    dims = known_dims(data)
    own = [a % len(dims) for a in axes]
    if own != sorted(own):
        raise Diagnostic(f"expected axes of a normalization in order, got {tuple(axes)}")
    return [d if n in own else IntExpr.of(1) for n, d in enumerate(dims)]


def _to_affine(
    g: Backward, grad: SSAValue, parameter: SSAValue, shape: Sequence[IntExpr]
) -> SSAValue:
    total = g("collapse_sum_to", grad, shape=shape)
    return g("reshape", total, shape=known_dims(parameter))


@gradient("nn.conv2d")
def _conv2d(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    attributes = op.attribute_values()
    layouts = [attributes[n] for n in ("data_layout", "kernel_layout", "out_layout")]
    if layouts not in (["NCHW", "OIHW", None], ["NCHW", "OIHW", "NCHW"]):
        raise Diagnostic("expected the layouts NCHW and OIHW for a gradient", op)
    data, weight = op.operands
    sizes, own, out = (_numbers(op, known_dims(v)) for v in (data, weight, op.result))
    windows = windows_of(op.name, [IntExpr.of(n) for n in own[2:]], attributes)
    reached = [
        (n - 1) * w.stride - w.before - w.after + (k - 1) * w.dilation + 1
        for n, k, w in zip(out[2:], own[2:], windows, strict=True)
    ]
    padding = [w.before for w in windows] + [w.after for w in windows]
    strides, dilation = [w.stride for w in windows], [w.dilation for w in windows]
    groups = attributes["groups"]
    yield g(
        "nn.conv2d_transpose",
        grad,
        weight,
        strides=strides,
        padding=padding,
        dilation=dilation,
        groups=groups,
        output_padding=[n - r for n, r in zip(sizes[2:], reached, strict=True)],
    )
    # Images are channels of a convolution with the gradients as kernels.
    batch, channels = sizes[0], own[1]
    split = g("reshape", data, shape=[batch, groups, channels, *sizes[2:]])
    swapped = g("permute_dims", split, axes=[2, 1, 0, 3, 4])
    images = g("reshape", swapped, shape=[channels, groups * batch, *sizes[2:]])
    product = g(
        "nn.conv2d",
        images,
        g("permute_dims", grad, axes=[1, 0, 2, 3]),
        strides=dilation,
        padding=padding,
        dilation=strides,
        groups=groups,
    )
    result = g("permute_dims", product, axes=[1, 0, 2, 3])
    if known_dims(result) != known_dims(weight):
        result = g("strided_slice", result, axes=[2, 3], begin=[0, 0], end=own[2:])
    yield result


def _numbers(op: Any, dims: Sequence[IntExpr]) -> list[int]:
    found = [d.constant for d in dims]
    if None in found:
        raise Diagnostic("expected shapes of numbers for the gradient of a convolution", op)
    return [n for n in found if n is not None]
