"""Operands of contractions of words: bytes of the signs that the target multiplies, or bf16."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ...backend.target import Target
from ...backend.targets.architecture import InstructionSet
from ...dialects import relax
from ...dialects.int_expr import IntExpr
from ...dialects.relax.operators.forward_convolution import ForwardConvolutionOp
from .graph_builder import GraphBuilder, dims_of, dtype_of
from .narrow_values import Narrow, narrow_form


@dataclass
class Operands:
    """The data and the weight of a contraction."""

    data: Narrow
    weight: Narrow
    build: GraphBuilder

    @property
    def out_dtype(self) -> str:
        """The dtype of sums."""
        return "float32" if self.data.is_bfloat16 else "int32"

    def corrected(
        self, total: SSAValue, ones: Callable[[], SSAValue], sums: Callable[[SSAValue], SSAValue]
    ) -> SSAValue:
        """The sum of products of integers, minus those with zero points.

        `ones` contracts the data with ones, and `sums` is of a weight without its zero point. So
        ``(a - x)(b - y)`` is ``a b - y a - x (b - y)``.
        """
        build, shift, shift_of_weight = self.build, self.data.zero_point, self.weight.zero_point
        if shift_of_weight is not None:
            total = build("subtract", total, build("multiply", ones(), shift_of_weight))
        if shift is None:
            return total
        return build("subtract", total, build("multiply", sums(self._differences()), shift))

    def _differences(self) -> SSAValue:
        """The weight without its zero point, as int32."""
        build, shift = self.build, self.weight.zero_point
        wide = build("astype", self.weight.values, dtype="int32")
        return wide if shift is None else build("subtract", wide, shift)

    def ones(self, axis: int, dims: Sequence[IntExpr]) -> SSAValue:
        """Words of ones in the shape of a weight, of which the data is the sum."""
        filled = self.build("full", self.build.constant(1, "int8"), shape=list(dims))
        return self.build.folded("nn.pack_words", filled, axis=axis)

    def _scaled(self, total: SSAValue, scale: SSAValue, dtype: str | None) -> SSAValue:
        """The sum as a float."""
        assert self.data.scale is not None
        build = self.build
        factor = build("multiply", scale, self._scale_of_rows(self.data.scale))
        found = build("multiply", build("astype", total, dtype="float32"), factor)
        return build("astype", found, dtype=dtype)

    def _scale_of_rows(self, scale: SSAValue) -> SSAValue:
        """The scale of the data, with its axis where the sum has it."""
        if self.data.is_of_one_scale:
            return self.build.scalar(scale)
        dims = dims_of(self.data.values)
        assert dims is not None
        return self.build.spread(scale, len(dims) - 1 - self.data.axis)

    def finished(
        self, total: SSAValue, scale: SSAValue | None, dtype: str | None, *bias: SSAValue
    ) -> SSAValue:
        """The sum in the dtype of the operator, with its bias.

        `scale` is that of the weight, and broadcasts to the sum.
        """
        build = self.build
        if self.data.is_bfloat16:  # rounded once, with the bias
            wide = [build("astype", b, dtype="float32") for b in bias]
            total = build("add", total, *wide) if wide else total
            return build("astype", total, dtype=dtype)
        if scale is not None:
            total = self._scaled(total, scale, dtype)
        total = build("astype", total, dtype=dtype)
        return build("add", total, *bias) if bias else total


def operands_of(
    data: SSAValue, weight: SSAValue, depth: IntExpr, op: relax.OperatorOp, target: Target
) -> Operands | None:
    """The operands of a contraction, if the target has dot products that pay for this depth."""
    left, right = narrow_form(data), narrow_form(weight)
    if left is None or right is None or left.is_bfloat16 != right.is_bfloat16:
        return None
    if depth.constant is not None and depth.constant < left.numbers_in_word // 2:
        return None
    if left.is_bfloat16:
        has_instruction = target.isa.bfdot(target.isa.vector_bits) is not None
        is_wide = dtype_of(op.result) == "float64"
        return Operands(left, right, GraphBuilder(op)) if has_instruction and not is_wide else None
    if isinstance(op, ForwardConvolutionOp) and not right.is_constant:
        return None  # its sums of windows would be a convolution of each call
    if (left.scale is None) != (right.scale is None):
        return None
    if not (left.is_float32 and right.is_float32):
        return None
    outer = 1 if isinstance(op, ForwardConvolutionOp) else len(dims_of(data) or ()) - 1
    if not left.is_of_one_scale and left.axis >= outer:
        return None  # the scale would differ between the terms of a sum
    build, isa = GraphBuilder(op), target.isa
    has_dot = {s: isa.dot(s, False, isa.vector_bits) is not None for s in (True, False)}
    if not has_dot[left.is_unsigned]:
        if has_dot[not left.is_unsigned]:
            left = left.as_signed(build) if left.is_unsigned else left.as_unsigned(build)
        elif isa.pair_products(isa.vector_bits) is None and not _has_pair_sums(isa):
            return None
    return Operands(left, right.as_signed(build), build)


def _has_pair_sums(isa: InstructionSet) -> bool:
    """Whether there are instructions for products of bytes as 16 bits, and sums of those."""
    return isa.pair_sums(False, isa.vector_bits) is not None
