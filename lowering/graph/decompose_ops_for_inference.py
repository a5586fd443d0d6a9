"""`decompose-ops-for-inference`: replace batch normalization by constants by multiply and add.

::

    %1 = relax.nn.batch_norm %x, %gamma, %beta, %mean, %var : …
    %2 = relax.tuple_get_item %1[0]

⇒ with ``scale = gamma / sqrt(var + epsilon)`` and ``shift = beta - mean * scale``

    %2 = relax.add (relax.multiply %x, scale), shift

and after a convolution by a constant weight, which is scaled, together with its bias

    %x = relax.nn.conv2d %data, %w            ⇒      %x = relax.nn.conv2d %data, (%w * scale)
    …                                                %2 = relax.add %x, shift

`fold-constant` then folds the operators on constants. Scales and shifts of float16 and bfloat16 are
float32, as what they are applied to, and weights in these dtypes, which would lose precision, are
not scaled. Batch normalizations in training stay. With `norms` they and those of other values are
decomposed too, all by the moving statistics, as `decompose_norms.py` says. Markers that only
gradients read, such as ``relax.grad.no_grad``, go. TVM's ``DecomposeOpsForInference``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from ...dialects import relax
from ...dialects.relax.operators.batch_norm import BatchNormOp
from ...dialects.relax.operators.conversion import accumulator
from ...dialects.relax.operators.elementwise import AddOp
from ...dialects.relax.operators.forward_convolution import ForwardConvolutionOp
from ...dialects.relax.operators.layouts import has_plain_layouts
from ...dialects.relax.operators.markers import GradientMarkerOp
from .decompose_norms import chosen_functions, decompose_norms
from .known_values import is_computed_from_constants
from .written import Written, touches, written_values


@dataclass
class _Builder:
    """Appends operators before one that is to be replaced."""

    rewriter: PatternRewriter
    before: Operation

    def emit(self, name: str, *operands: SSAValue, **attributes: Any) -> SSAValue:
        """The result of an operator of the graph."""
        op = relax.OPERATORS[f"relax.{name}"].of(operands, attributes)
        op.location = self.before.location
        self.rewriter.insert(op)
        return op.result

    def number(self, value: float, like: SSAValue) -> SSAValue:
        """A constant without dims of the dtype that `like` has."""
        op = relax.ConstantOp(relax.TensorData.of(np.array(value, _type(like).dtype)))
        self.rewriter.insert(op)
        return op.result

    def wide(self, value: SSAValue) -> SSAValue:
        """A value in float32 if its dtype is shorter."""
        dtype = _type(value).dtype
        assert dtype is not None
        wide = accumulator(dtype)
        return value if wide == dtype else self.emit("astype", value, dtype=wide)

    def trailing(self, vector: SSAValue, count: int) -> SSAValue:
        """A vector reshaped to have `count` trailing dims of 1."""
        if not count:
            return vector
        return self.emit("expand_dims", vector, axis=list(range(1, count + 1)))


def _type(value: SSAValue) -> relax.TensorType:
    assert isinstance(value.type, relax.TensorType)
    return value.type


def _scale_and_shift(norm: BatchNormOp, build: _Builder) -> tuple[SSAValue, SSAValue]:
    """The numbers for each channel with which the result is ``data * scale + shift``."""
    attributes, var = norm.attribute_values(), build.wide(norm.moving_var)
    spread = build.emit("sqrt", build.emit("add", var, build.number(attributes["epsilon"], var)))
    gamma = build.wide(norm.gamma) if attributes["scale"] else build.number(1, var)
    beta = build.wide(norm.beta) if attributes["center"] else build.number(0, var)
    scale = build.emit("divide", gamma, spread)
    moved = build.emit("multiply", build.wide(norm.moving_mean), scale)
    return scale, build.emit("subtract", beta, moved)


@dataclass
class DropGradientMarkers(RewritePattern):
    """Replace a marker that only gradients read by its operand, if no call may write either."""

    written: Written

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GradientMarkerOp, rewriter: PatternRewriter) -> None:
        if not touches(op, self.written):
            rewriter.replace(op, [], [op.operands[0]])


class DropStatistics(RewritePattern):
    """Replace the mean and variance results of a batch normalization by its operands."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relax.TupleGetItemOp, rewriter: PatternRewriter) -> None:
        norm = op.tuple_value.owner
        if _is_for_inference(norm) and op.index.data > 0:
            rewriter.replace(op, [], [(norm.moving_mean, norm.moving_var)[op.index.data - 1]])


@dataclass
class DecomposeBatchNorm(RewritePattern):
    """Replace a batch normalization by multiply and add, or by a scaled convolution.

    They are inserted where the result is used: after calls that may write operands.
    """

    written: Written

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relax.TupleGetItemOp, rewriter: PatternRewriter) -> None:
        norm = op.tuple_value.owner
        if not _is_for_inference(norm) or op.index.data or not _is_constant(norm):
            return
        if touches(norm, self.written):
            return
        data, rank = norm.data, _type(norm.data).rank
        assert rank is not None
        axis = norm.attribute_values()["axis"] % rank
        build = _Builder(rewriter, op)
        scale, shift = _scale_and_shift(norm, build)
        result = None
        is_only_use = norm.result.has_one_use()  # otherwise its operand would be computed twice
        if is_only_use and not any(touches(op, self.written) for op in _before(norm)):
            result = _scaled_convolution(data, axis, scale, shift, build)
        if result is None:
            trailing = rank - 1 - axis
            product = build.emit("multiply", build.wide(data), build.trailing(scale, trailing))
            result = build.emit("add", product, build.trailing(shift, trailing))
            if result.type != op.result.type:
                result = build.emit("astype", result, dtype=_type(data).dtype)
        rewriter.replace(op, [], [result])


def _before(norm: BatchNormOp) -> list[Operation]:
    """The operations that compute the data, up to a convolution and its bias."""
    owner = norm.data.owner
    if not isinstance(owner, Operation):
        return []
    return [owner, *(o.owner for o in owner.operands if isinstance(o.owner, Operation))]


def _is_for_inference(norm: Operation | Block) -> TypeGuard[BatchNormOp]:
    return isinstance(norm, BatchNormOp) and not norm.attribute_values()["training"]


def _is_constant(norm: BatchNormOp) -> bool:
    type_ = _type(norm.data)
    known = type_.rank is not None and type_.dtype is not None
    return known and all(is_computed_from_constants(v) for v in norm.operands[1:])


def _scaled_convolution(
    data: SSAValue, axis: int, scale: SSAValue, shift: SSAValue, build: _Builder
) -> SSAValue | None:
    """The convolution, with or without bias, that computes `data`, scaled and shifted by channels.

    None if there is none, or if it has other uses.
    """
    bias, found = None, data
    if isinstance(data.owner, AddOp) and data.has_one_use():
        found, bias = _convolved_first(data.owner.operands)
    conv = found.owner
    if not isinstance(conv, ForwardConvolutionOp) or not found.has_one_use():
        return None
    if not has_plain_layouts(conv):
        return None
    _, kernel, out_layout = conv.layouts(conv.attribute_values())
    trailing = len(out_layout) - 1 - axis
    if out_layout[axis] != "C" or not is_computed_from_constants(conv.weight):
        return None
    if _type(conv.weight).dtype != _type(scale).dtype or data.type != found.type:
        return None
    if bias is not None and not _is_for_channels(bias, trailing):
        return None
    weight = build.emit("multiply", conv.weight, build.trailing(scale, _behind(kernel, "O")))
    result = build.emit(
        conv.name.removeprefix("relax."), conv.data, weight, **conv.attribute_values()
    )
    offset = build.trailing(shift, trailing)
    if bias is not None:
        offset = build.emit(
            "add", build.emit("multiply", bias, build.trailing(scale, trailing)), offset
        )
    return build.emit("add", result, offset)


def _convolved_first(operands: Sequence[SSAValue]) -> tuple[SSAValue, SSAValue]:
    first, second = operands
    is_swapped = isinstance(second.owner, ForwardConvolutionOp)
    return (second, first) if is_swapped else (first, second)


def _is_for_channels(bias: SSAValue, trailing: int) -> bool:
    """Whether a constant has one number for each channel, or one for all."""
    dims = _type(bias).dims
    if dims is None or not is_computed_from_constants(bias):
        return False
    others = [d for i, d in enumerate(reversed(dims)) if i != trailing]
    return all(d.constant == 1 for d in others)


def _behind(layout: str, letter: str) -> int:
    return len(layout) - 1 - layout.index(letter)


@dataclass(frozen=True)
class DecomposeOpsForInferencePass(ModulePass):
    """Decompose batch normalizations with constants, and scale the convolutions before them.

    With `norms` those of other values, and those in training, are decomposed too. Markers that only
    gradients read go. `func_name` names the only function.
    """

    name = "decompose-ops-for-inference"
    func_name: str | None = None
    norms: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        written = written_values(op)
        patterns = (DropGradientMarkers(written), DropStatistics(), DecomposeBatchNorm(written))
        for func in chosen_functions(op, self.func_name):
            for pattern in patterns:
                walker = PatternRewriteWalker(pattern, apply_recursively=False)
                walker.rewrite_region(func.body)
        if self.norms:
            decompose_norms(op, self.func_name, training=False)
