"""Gradients of operators that scatter into what they have read: take, and pools over two dims."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def

from ..types import TensorType, shape_text
from .attributes import Int, Text
from .base import OperatorOp
from .conversion import accumulator, rounded, wide
from .indexed_pooling import MaxPool2dWithIndicesOp
from .indexing import TakeOp
from .inference import common_element_type, require_floats
from .language import TensorLanguage
from .layouts import AnyLayouts
from .pool_attributes import TwoDimWindows
from .pooling import AvgPool2dOp, MaxPool2dOp, PoolOp
from .windows import all_of, expressions, in_order


def _require_gradient(op_name: str, grad: TensorType, result: TensorType) -> None:
    """Raise ValueError unless a gradient fits the result that it belongs to."""
    require_floats(op_name, [grad, result])
    common_element_type(op_name, [grad, result])
    if None not in (grad.dims, result.dims) and grad.dims != result.dims:
        raise ValueError(
            f"expected output_grad of '{op_name}' to have shape {shape_text(result)}, "
            f"got {shape_text(grad)}"
        )


def _summed(
    te: TensorLanguage,
    like: Any,
    shape: Sequence[Any],
    update: Callable[..., tuple[Sequence[Any], Any, Any]],
    name: str,
) -> Any:
    """Zeros like a tensor, with a value added at a place for each index into `shape`.

    ``update(i, j, …)`` gives the place, the value, and the condition under which it is added.
    """
    zero = te.const(0, accumulator(like.dtype))

    def added(*i: Any) -> tuple[Sequence[Any], Callable[[Any], Any], Any]:
        place, value, condition = update(*i)
        return place, lambda old: old + value.astype(zero.dtype), condition

    start = te.compute(like.shape, lambda *i: zero, name=f"{name}_zeros")
    return rounded(te, te.scatter(start, shape, added, name=name), like.dtype)


@irdl_op_definition
class TakeBackwardOp(OperatorOp):
    """The gradient of `take` by `x`, for one of its result."""

    name = "relax.grad.take_backward"
    output_grad = operand_def(TensorType)
    x = operand_def(TensorType)
    indices = operand_def(TensorType)
    axis = opt_prop_def(Int(default=None))
    mode = opt_prop_def(Text(default="fast", choices=("fast", "clip", "wrap", "nan")))
    assembly_format = (
        "$output_grad `,` $x `,` $indices attr-dict `:` type($output_grad) `,` type($x) `,` "
        "type($indices) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        grad, x, indices = operands
        _require_gradient(cls.name, grad, TakeOp.infer([x, indices], attributes))
        return x

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        (grad, x, indices), mode = tensors, attributes["mode"]
        axis = TakeOp.axis_of(x.ndim, attributes)
        dim, rest = x.shape[axis], axis + indices.ndim

        def update(*i: Any) -> tuple[Sequence[Any], Any, Any]:
            index = te.cast("int64", indices(*i[axis:rest]))
            if mode == "nan":
                is_known = (index >= 0 - dim) & (index < dim)
            else:
                is_known = te.const(dim > 0, "bool") if isinstance(dim, int) else dim > 0
            place = TakeOp.place(te, index, dim, mode)
            return (*i[:axis], place, *i[rest:]), grad(*i), is_known

        return _summed(te, x, grad.shape, update, "take_backward")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        grad, x, indices = arrays
        axis, result = TakeOp.axis_of(x.ndim, attributes), np.zeros_like(wide(x))
        rest, along = axis + indices.ndim, [-1 if a == axis else 1 for a in range(x.ndim)]
        numbers = np.arange(x.shape[axis], dtype=np.float64).reshape(along)
        chosen = TakeOp.reference([np.broadcast_to(numbers, x.shape), indices], attributes)
        for at in np.ndindex(grad.shape):
            if x.shape[axis] and not np.isnan(chosen[at]):
                result[(*at[:axis], int(chosen[at]), *at[rest:])] += grad[at]
        return result


class PoolBackwardOp(OperatorOp, ABC):
    """The gradient of a pool over two dims by its data, for one of its result."""

    POOL: ClassVar[type[PoolOp]]
    output_grad = operand_def(TensorType)
    data = operand_def(TensorType)
    assembly_format = (
        "$output_grad `,` $data attr-dict `:` type($output_grad) `,` type($data) `->` type($result)"
    )

    @classmethod
    def pool_attributes(cls, attributes: dict[str, Any]) -> dict[str, Any]:
        """The attributes of the pool."""
        return attributes

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        grad, data = operands
        pooled = cls.POOL.infer([data], cls.pool_attributes(attributes))
        assert isinstance(pooled, TensorType)
        _require_gradient(cls.name, grad, pooled)
        return data


class _BackwardLayouts(AnyLayouts):
    """The layouts of the operands and the result."""

    LAYOUTS: ClassVar[tuple[str, ...]] = ("out_layout", "layout")
    RESULT_LAYOUT: ClassVar[str] = "layout"


class _MaxPoolBackward(TwoDimWindows, PoolBackwardOp, ABC):
    POOL: ClassVar[type[PoolOp]] = MaxPool2dOp

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        MaxPool2dOp.require_elements(attributes)
        return super().infer(operands, attributes)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        grad, data = tensors
        layout, out_layout = cls.POOL.layouts(attributes)
        height, width = in_order(data.shape, layout, "HW")
        _, indices = MaxPool2dWithIndicesOp.compute(te, [data], attributes)

        def update(*i: Any) -> tuple[Sequence[Any], Any, Any]:
            at, index = dict(zip(out_layout, i, strict=True)), indices(*i)
            at |= {"H": index // width, "W": index % width}
            is_known = (index >= 0) & (index < height * width)
            return [at[letter] for letter in layout], grad(*i), is_known

        return _summed(te, data, grad.shape, update, "max_pool2d_backward")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        grad, data = arrays
        layout, out_layout = cls.POOL.layouts(attributes)
        _, indices = MaxPool2dWithIndicesOp.reference([data], attributes)
        result = np.zeros_like(wide(data))
        width = in_order(data.shape, layout, "W")[0]
        for place in np.ndindex(grad.shape):
            at, index = dict(zip(out_layout, place, strict=True)), int(indices[place])
            at |= {"H": index // width, "W": index % width}
            result[tuple(at[letter] for letter in layout)] += grad[place]
        return result


class _Divisor:
    """An attribute after those of windows."""

    divisor_override = opt_prop_def(Int(default=None))


class _AvgPoolBackward(TwoDimWindows, _Divisor, PoolBackwardOp, ABC):
    POOL: ClassVar[type[PoolOp]] = AvgPool2dOp

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        grad, data = tensors
        layout, out_layout = cls.POOL.layouts(attributes)
        windows = AvgPool2dOp.windows(attributes)
        spatial = expressions(te, data, layout, "HW")
        sizes = [te.tensor.shape_of([w.window.size])[0] for w in windows]

        def update(*i: Any) -> tuple[Sequence[Any], Any, Any]:
            at = dict(zip(out_layout, i[:4], strict=True))
            taps: Any = attributes["divisor_override"] or 1
            conditions = [te.const(True, "bool")]
            for letter, w, offset, dim in zip("HW", windows, i[4:], spatial, strict=True):
                if attributes["divisor_override"] is None:
                    taps = taps * w.taps(te, at[letter], dim)
                at[letter], guards = w.read(te, at[letter], offset, dim)
                conditions += guards
            value = grad(*i[:4]).astype(accumulator(grad.dtype))
            count = (
                te.const(taps, value.dtype) if isinstance(taps, int) else taps.astype(value.dtype)
            )
            return [at[letter] for letter in layout], value / count, all_of(conditions)

        return _summed(te, data, [*grad.shape, *sizes], update, "avg_pool2d_backward")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        grad, data = (wide(a) for a in arrays)
        layout, out_layout = cls.POOL.layouts(attributes)
        result = np.zeros_like(data)
        windows = AvgPool2dOp.windows(attributes)
        lengths = in_order(data.shape, layout, "HW")
        counts = in_order(grad.shape, out_layout, "HW")
        taps = [w.numpy_taps(c, n) for w, c, n in zip(windows, counts, lengths, strict=True)]
        for place in np.ndindex(grad.shape):
            at = dict(zip(out_layout, place, strict=True))
            rows, columns = (
                [p for p in _reached(w.window, at[x]) if 0 <= p < n]
                for x, w, n in zip("HW", windows, lengths, strict=True)
            )
            divisor = attributes["divisor_override"] or taps[0][at["H"]] * taps[1][at["W"]]
            for row in rows:
                for column in columns:
                    at |= {"H": row, "W": column}
                    result[tuple(at[letter] for letter in layout)] += grad[place] / divisor
        return result


@irdl_op_definition
class MaxPool2dBackwardOp(_BackwardLayouts, _MaxPoolBackward):
    """The gradient of `nn.max_pool2d`: it goes to the first of the largest elements."""

    name = "relax.grad.max_pool2d_backward"


@irdl_op_definition
class AvgPool2dBackwardOp(_BackwardLayouts, _AvgPoolBackward):
    """The gradient of `nn.avg_pool2d`: it goes to all elements of a window alike."""

    name = "relax.grad.avg_pool2d_backward"


def _reached(window: Any, at: int) -> list[int]:
    """The positions that a window over one dim covers, in the padding too."""
    start = at * window.stride - window.before
    return [start + k * window.dilation for k in range(window.size.constant or 1)]
