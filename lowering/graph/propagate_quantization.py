"""`propagate-quantization`: move integers instead of floats, and leave out what changes nothing.

::

    %1 = relax.dequantize %0, %s, %z : … u8 -> f32
    %2 = relax.permute_dims %1 : … f32
    %3 = relax.quantize %2, %s, %z : … f32 -> u8

⇒

    %3 = relax.permute_dims %0 : … u8

Operators that only move elements, or choose the largest ones, take the integers, and their result
is dequantized. To quantize a dequantized value with the same scale and zero point gives the integer
again: the two roundings are too small to reach the next one. So a model that quantizes around each
operator, as files of ONNX do, keeps integers between its kernels. ONNX Runtime's
``QDQPropagationTransformer``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects import relax
from ...dialects.relax.operators.joining import ConcatOp, SplitOp
from ...dialects.relax.operators.manipulation import MovingOp, PermuteDimsOp
from ...dialects.relax.operators.pooling import MaxPoolOp
from ...dialects.relax.operators.quantization import DequantizeOp, QuantizeOp
from ...dialects.relax.operators.reshaping import ReshapingOp
from ...dialects.relax.operators.slicing import StridedSliceOp
from ..functions import graph_functions
from .graph_builder import GraphBuilder, dims_of, dtype_of, replace_result
from .known_values import known_array
from .written import Written, touches, written_values

_MOVING = (ReshapingOp, PermuteDimsOp, MovingOp, StridedSliceOp, SplitOp, ConcatOp, MaxPoolOp)
"""Operators whose elements are elements of operands."""


@dataclass(frozen=True)
class PropagateQuantizationPass(ModulePass):
    """Move integers instead of floats that are made of them; drop conversions that change none."""

    name = "propagate-quantization"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        written = written_values(op)
        for func in graph_functions(op):
            for inner in list(func.walk()):
                if isinstance(inner, _MOVING):
                    _move(inner, written)
                elif isinstance(inner, QuantizeOp):
                    _drop(inner, written)


def _move(op: relax.OperatorOp, written: Written) -> None:
    """Apply an operator to the integers of its operands, which have one scale and zero point."""
    made = [v.owner for v in op.operands]
    sources = [d for d in made if isinstance(d, DequantizeOp) and not touches(d, written)]
    if len(sources) < max(len(made), 1) or touches(op, written) or not _moves_elements(op):
        return
    first = sources[0]
    if not all(_have_one_range(first, other) for other in sources):
        return
    integers = type(op).of([d.data for d in sources], op.attribute_values())
    integers.location = op.location
    assert op.parent is not None
    op.parent.insert_op_before(integers, op)
    if not isinstance(op, SplitOp):
        replace_result(op, _dequantized(integers.result, first, op))
        return
    for use in list(op.result.uses):
        part = use.operation
        assert isinstance(part, relax.TupleGetItemOp) and part.parent is not None
        own = relax.TupleGetItemOp(integers.result, part.index.data)
        part.parent.insert_op_before(own, part)
        replace_result(part, _dequantized(own.result, first, part))
    op.detach()
    op.erase()


def _moves_elements(op: relax.OperatorOp) -> bool:
    """Whether all elements of results are elements of the operands."""
    match op:
        case StridedSliceOp():
            return not op.attribute_values()["assume_inbound"]
        case SplitOp():
            return all(isinstance(u.operation, relax.TupleGetItemOp) for u in op.result.uses)
        case _:
            return True


def _dequantized(integers: SSAValue, like: DequantizeOp, user: Operation) -> SSAValue:
    out_dtype = like.attribute_values()["out_dtype"]
    range_ = (like.scale, like.zero_point)
    return GraphBuilder(user)("dequantize", integers, *range_, out_dtype=out_dtype)


def _drop(op: QuantizeOp, written: Written) -> None:
    """Replace a quantized value that was dequantized from the same integers by these."""
    source = op.data.owner
    if not isinstance(source, DequantizeOp) or touches(op, written) or touches(source, written):
        return
    if dtype_of(op.result) == dtype_of(source.data) and _have_one_range(source, op):
        replace_result(op, source.data)


SCALES = 2.0**-100, 2.0**100
"""Between these scales no product of an integer of 8 bits is a denormal number or overflows."""


def _have_one_range(op: DequantizeOp, other: DequantizeOp | QuantizeOp) -> bool:
    """Whether two conversions of float32 have one positive scale and one zero point."""
    floats = (op.result, op.scale, other.scale)
    if dtype_of(op.data) not in ("int8", "uint8") or any(dtype_of(v) != "float32" for v in floats):
        return False
    if any(dims_of(v) != () for v in (op.scale, op.zero_point, other.scale, other.zero_point)):
        return False
    scale = known_array(op.scale)
    if scale is None or not SCALES[0] < scale.item() < SCALES[1]:
        return False
    return _are_equal(op.scale, other.scale) and _are_equal(op.zero_point, other.zero_point)


def _are_equal(value: SSAValue, other: SSAValue) -> bool:
    if value is other:
        return True
    one, two = known_array(value), known_array(other)
    return one is not None and two is not None and np.array_equal(one, two)
