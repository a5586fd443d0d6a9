"""Losses of classifiers: the negative log likelihood and the cross entropy, and a gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, opt_prop_def

from ...int_expr import IntExpr
from ..types import TensorType, shape_text
from .attributes import Int, Text
from .base import BinaryOp, OperatorOp
from .conversion import accumulator, rounded, wide
from .indexing import inside, numpy_inside, require_indices
from .inference import common_element_type, require_floats
from .language import TensorLanguage
from .normalization import require_shape
from .steps import SteppedOp

REDUCTIONS = ("none", "sum", "mean")


def _class_axis(rank: int) -> int:
    """The axis of the classes: the first one without a batch, else the second."""
    return min(1, rank - 1)


def _samples(dims: Sequence[Any]) -> list[Any]:
    """The dims of predictions without the classes."""
    axis = _class_axis(len(dims))
    return [*dims[:axis], *dims[axis + 1 :]]


def _check(
    op_name: str, predictions: TensorType, targets: TensorType, weights: Sequence[TensorType]
) -> list[IntExpr] | None:
    """The dims of the samples, `None` if unknown; raises ValueError for operands that differ."""
    require_floats(op_name, (predictions, *weights))
    common_element_type(op_name, (predictions, *weights))
    require_indices(op_name, [targets])
    if predictions.rank == 0:
        raise ValueError(f"expected predictions of '{op_name}' to have classes, got shape ()")
    if predictions.dims is None:
        return None
    axis = _class_axis(len(predictions.dims))
    for vector in weights:
        require_shape(op_name, "weights", vector, predictions.dims[axis : axis + 1])
    require_shape(op_name, "targets", targets, _samples(predictions.dims))
    return _samples(predictions.dims)


class _Losses:
    """The weight of each sample, and the place of its class in the predictions.

    A target is an index as those of `take`; one that is `ignore_index` has no weight.
    """

    def __init__(self, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]):
        self.predictions, self.targets, *weights = tensors
        self.te, self.ignored = te, attributes["ignore_index"]
        self.weights = weights[0] if weights else None
        self.dtype = accumulator(self.predictions.dtype)
        self.axis = _class_axis(self.predictions.ndim)

    def place(self, *i: Any) -> Any:
        """The class of a sample."""
        return inside(self.te, self.targets(*i), self.predictions.shape[self.axis])

    def weight(self, *i: Any) -> Any:
        """The weight of a sample."""
        one = self.te.const(1, self.dtype)
        own = one if self.weights is None else self.weights(self.place(*i)).astype(self.dtype)
        target = self.te.cast("int64", self.targets(*i))
        return self.te.if_then_else(target != self.ignored, own, self.te.const(0, self.dtype))

    def loss(self, *i: Any) -> Any:
        """The loss of a sample; 0 without a weight, whatever its prediction."""
        found = self.predictions(*i[: self.axis], self.place(*i), *i[self.axis :])
        weight = self.weight(*i)
        zero = self.te.const(0, self.dtype)
        target = self.te.cast("int64", self.targets(*i))
        return self.te.if_then_else(
            target != self.ignored, 0 - weight * found.astype(self.dtype), zero
        )

    def total(self, element: Any, name: str) -> Any:
        """The sum of a function of all samples."""
        axes = [self.te.reduce_axis((0, d), f"k{n}") for n, d in enumerate(self.targets.shape)]

        def value() -> Any:
            return self.te.sum(element(*axes), axis=axes) if axes else element()

        return self.te.compute((), value, name=name)


def _numpy_losses(
    arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The prediction at each target, the weight of each sample, and the index of its class."""
    predictions, targets, *weights = arrays
    data, axis = wide(predictions), _class_axis(predictions.ndim)
    place = numpy_inside(targets, data.shape[axis])
    found = np.take_along_axis(data, np.expand_dims(place, axis), axis).squeeze(axis)
    own = wide(weights[0])[place] if weights else np.ones(place.shape, data.dtype)
    weight = np.where(targets.astype(np.int64) == attributes["ignore_index"], 0, own)
    return found, weight.astype(data.dtype), place


@irdl_op_definition
class NLLLossOp(OperatorOp):
    """``-weights[targets] * predictions[targets]``; `torch.nn.functional.nll_loss`.

    Predictions are log probabilities of shape (classes,) or (n, classes, …), and targets have the
    same shape without the classes.
    A target is an index as those of `take`; samples whose target is `ignore_index` do not count.
    `reduction` "mean" divides the sum by that of the weights; "none" gives the loss of each sample.
    """

    name = "relax.nn.nll_loss"
    predictions = operand_def(TensorType)
    targets = operand_def(TensorType)
    weights = opt_operand_def(TensorType)
    reduction = opt_prop_def(Text(default="mean", choices=REDUCTIONS))
    ignore_index = opt_prop_def(Int(default=-100))
    assembly_format = (
        "$predictions `,` $targets (`weights` $weights^ `:` type($weights))? attr-dict "
        "`:` type($predictions) `,` type($targets) `->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        predictions, targets, *weights = operands
        samples = _check(cls.name, predictions, targets, weights)
        if attributes["reduction"] != "none":
            return TensorType.of([], predictions.known_element)
        if samples is None:
            return TensorType(targets.shape, predictions.element_type)
        return TensorType.of(samples, predictions.known_element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        losses, dtype = _Losses(te, tensors, attributes), tensors[0].dtype
        if attributes["reduction"] == "none":
            shape = tensors[1].shape
            return te.compute(shape, lambda *i: losses.loss(*i).astype(dtype), name="nll_loss")
        total = losses.total(losses.loss, "nll_loss")
        if attributes["reduction"] == "mean":
            weight = losses.total(losses.weight, "nll_weight")
            total = te.compute((), lambda: total() / weight(), name="nll_mean")
        return rounded(te, total, dtype)

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        found, weight, _ = _numpy_losses(arrays, attributes)
        ignored = arrays[1].astype(np.int64) == attributes["ignore_index"]
        losses = np.where(ignored, 0, -weight * found).astype(found.dtype)
        if attributes["reduction"] == "none":
            return losses
        total = losses.sum(dtype=losses.dtype)
        return total if attributes["reduction"] == "sum" else total / weight.sum(dtype=total.dtype)


@irdl_op_definition
class NLLLossBackwardOp(OperatorOp):
    """The gradient of `nn.nll_loss` by its predictions, for one of its result."""

    name = "relax.grad.nll_loss_backward"
    output_grad = operand_def(TensorType)
    predictions = operand_def(TensorType)
    targets = operand_def(TensorType)
    weights = opt_operand_def(TensorType)
    reduction = opt_prop_def(Text(default="mean", choices=REDUCTIONS))
    ignore_index = opt_prop_def(Int(default=-100))
    assembly_format = (
        "$output_grad `,` $predictions `,` $targets (`weights` $weights^ `:` type($weights))? "
        "attr-dict `:` type($output_grad) `,` type($predictions) `,` type($targets) "
        "`->` type($result)"
    )

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        grad, predictions, targets, *weights = operands
        samples = _check(cls.name, predictions, targets, weights)
        common_element_type(cls.name, (grad, predictions))
        wanted = samples if attributes["reduction"] == "none" else ()
        require_shape(cls.name, "output_grad", grad, wanted)
        return predictions

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        grad, *own = tensors
        losses, reduction = _Losses(te, own, attributes), attributes["reduction"]
        weight = losses.total(losses.weight, "nll_weight") if reduction == "mean" else None
        dtype, zero = own[0].dtype, te.const(0, losses.dtype)

        def element(*i: Any) -> Any:
            at = _samples(i)
            given = (grad(*at) if reduction == "none" else grad()).astype(losses.dtype)
            share = 0 - given * losses.weight(*at)
            if weight is not None:
                share = share / weight()
            is_target = te.cast("int64", i[losses.axis]) == losses.place(*at)
            return te.if_then_else(is_target, share, zero).astype(dtype)

        return te.compute(own[0].shape, element, name="nll_loss_backward")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> NDArray[Any]:
        grad, *own = arrays
        _, weight, place = _numpy_losses(own, attributes)
        share = -wide(grad) * weight
        if attributes["reduction"] == "mean":
            share = share / weight.sum(dtype=weight.dtype)
        axis = _class_axis(own[0].ndim)
        result = np.zeros_like(wide(own[0]))
        np.put_along_axis(result, np.expand_dims(place, axis), np.expand_dims(share, axis), axis)
        return result


@irdl_op_definition
class CrossEntropyWithLogitsOp(SteppedOp, BinaryOp):
    """``-sum(lhs * rhs)`` of log probabilities and labels, divided by the first dim of a batch.

    Both have one shape, of rank 1 or more; a tensor of rank 1 is one sample. TVM's
    ``nn.cross_entropy_with_logits``.
    """

    name = "relax.nn.cross_entropy_with_logits"

    @classmethod
    def infer(cls, operands: Sequence[TensorType], attributes: dict[str, Any]) -> TensorType:
        lhs, rhs = operands
        require_floats(cls.name, operands)
        element = common_element_type(cls.name, operands)
        ranks = {o.rank for o in operands if o.rank is not None}
        if (
            0 in ranks
            or len(ranks) > 1
            or (None not in (lhs.dims, rhs.dims) and lhs.dims != rhs.dims)
        ):
            raise ValueError(
                f"expected operands of '{cls.name}' to have one shape of rank 1 or more, "
                f"got {shape_text(lhs)} and {shape_text(rhs)}"
            )
        return TensorType.of([], element)

    @classmethod
    def compute(cls, te: TensorLanguage, tensors: Sequence[Any], attributes: dict[str, Any]) -> Any:
        dtype = accumulator(tensors[0].dtype)
        lhs, rhs = (rounded(te, t, dtype) for t in tensors)
        products = lhs * rhs
        axes = [te.reduce_axis((0, d), f"k{n}") for n, d in enumerate(lhs.shape)]
        total = te.compute(
            (), lambda: te.sum(products(*axes), axis=axes), name=f"{products.name}_red"
        )

        def negative(value: Any) -> Any:
            return (value * te.const(-1, dtype)).astype(tensors[0].dtype)

        def mean(value: Any) -> Any:
            return (value / te.cast(dtype, lhs.shape[0])).astype(tensors[0].dtype)

        if lhs.ndim == 1:
            return te.elementwise(negative, total, name="cross_entropy")
        return te.elementwise(mean, total * -1.0, name="cross_entropy")

    @classmethod
    def reference(cls, arrays: Sequence[NDArray[Any]], attributes: dict[str, Any]) -> Any:
        lhs, rhs = map(wide, arrays)
        total = -(lhs * rhs).sum(dtype=lhs.dtype)
        return total / lhs.dtype.type(lhs.shape[0]) if lhs.ndim > 1 else total
