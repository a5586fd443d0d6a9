"""`convert-layout`: what lies between convolutions has its channels last, as their kernels do.

::

    %1 = relax.nn.conv2d %x, %v : …
    %2 = relax.nn.relu %1 : …
    %3 = relax.nn.conv2d %2, %w : …

⇒

    %1 = relax.nn.conv2d %x, %v {out_layout = "NHWC"} : …
    %2 = relax.nn.relu %1 : …
    %3 = relax.nn.conv2d %2, %w {data_layout = "NHWC"} : …
    %4 = relax.permute_dims %3 {axes = array<i64: 0, 3, 1, 2>} : …

Convolutions read what comes from elsewhere as it is: their kernels bring the channels last while
they pad. Pools and functions of elements follow their operands; all else gets a permutation, which
fuses with what it is made of. Those that nothing uses are left to dead code elimination. TVM's
``ConvertLayout``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects import relax
from ...dialects.int_expr import ONE
from ...dialects.relax.operators.base import OperatorOp
from ...dialects.relax.operators.conversion import AstypeOp
from ...dialects.relax.operators.convolution import ConvolutionOp
from ...dialects.relax.operators.elementwise import BinaryElementwiseOp
from ...dialects.relax.operators.joining import ConcatOp
from ...dialects.relax.operators.manipulation import PermuteDimsOp
from ...dialects.relax.operators.pooling import PoolOp
from ...dialects.relax.operators.selection import ClipOp
from ...dialects.relax.operators.unary import ElementFunctionOp
from ..functions import graph_functions
from .fold_constant import is_computed_from_constants
from .written import Written, touches, written_values

FUNCTIONS_OF_ELEMENTS = (ElementFunctionOp, BinaryElementwiseOp, AstypeOp, ClipOp)
"""Operators each of whose results depends on the operands' elements at the same place only."""


@dataclass
class _Converter:
    """Replaces operators one after the other, in the order of the program."""

    written: Written
    last: dict[SSAValue, SSAValue] = field(default_factory=lambda: {})
    """Values that have a form with their channels last, and that form."""

    def convert(self, op: Operation) -> None:
        """Replace an operator by one whose result has its channels last, where that pays."""
        if not isinstance(op, OperatorOp) or touches(op, self.written):
            return
        rank = _rank(op.result)
        made = None if rank is None or rank < 3 else self._with_channels_last(op, rank)
        if made is None or rank is None:
            return
        back = PermuteDimsOp.of([made.result], {"axes": [0, rank - 1, *range(1, rank - 1)]})
        if op.parent is None or back.result.type != op.result.type:
            return
        made.location = back.location = op.location
        op.parent.insert_ops_before([made, back], op)
        back.result.name_hint = op.result.name_hint
        op.result.replace_all_uses_with(back.result)
        op.detach()
        op.erase()
        self.last[back.result] = made.result

    def _with_channels_last(self, op: OperatorOp, rank: int) -> OperatorOp | None:
        match op:
            case ConvolutionOp():
                return self._convolution(op)
            case PoolOp():
                return self._pool(op)
            case ConcatOp():
                return self._joined(op, rank)
            case _ if isinstance(op, FUNCTIONS_OF_ELEMENTS):
                return self._function(op, rank)
            case _:
                return None

    def _convolution(self, op: ConvolutionOp) -> OperatorOp | None:
        attributes = op.attribute_values()
        first, last = f"NC{op.SPATIAL}", f"N{op.SPATIAL}C"
        layout, _, out = op.layouts(attributes)
        if out != first:
            return None
        data = self.last.get(op.data) if layout == first else None
        attributes |= {"data_layout": layout if data is None else last, "out_layout": last}
        return type(op).of([op.data if data is None else data, op.weight], attributes)

    def _pool(self, op: PoolOp) -> OperatorOp | None:
        attributes = op.attribute_values()
        first, last = f"NC{op.SPATIAL}", f"N{op.SPATIAL}C"
        data = self.last.get(op.operands[0])
        if data is None or op.layouts(attributes) != (first, first):
            return None
        return type(op).of([data], attributes | {"layout": last, "out_layout": last})

    def _joined(self, op: ConcatOp, rank: int) -> OperatorOp | None:
        attributes = op.attribute_values()
        axis: int | None = attributes["axis"]
        if axis is None or any(v not in self.last for v in op.operands):
            return None
        place = (0, rank - 1, *range(1, rank - 1))[axis % rank]
        return type(op).of([self.last[v] for v in op.operands], attributes | {"axis": place})

    def _function(self, op: OperatorOp, rank: int) -> OperatorOp | None:
        if not any(v in self.last for v in op.operands):
            return None
        if not all(v in self.last or _is_cheap(v, rank) for v in op.operands):
            return None
        operands = [self._operand(v, rank, op) for v in op.operands]
        return type(op).of(operands, op.attribute_values())

    def _operand(self, value: SSAValue, rank: int, user: Operation) -> SSAValue:
        if (known := self.last.get(value)) is not None or _rank(value) != rank:
            return value if known is None else known
        moved = PermuteDimsOp.of([value], {"axes": [0, *range(2, rank), 1]})
        assert user.parent is not None
        user.parent.insert_op_before(moved, user)
        return moved.result


def _rank(value: SSAValue) -> int | None:
    return value.type.rank if isinstance(value.type, relax.TensorType) else None


def _is_cheap(value: SSAValue, rank: int) -> bool:
    """Whether an operand broadcasts alike in both layouts, or can be permuted before the call."""
    type_ = value.type
    if not isinstance(type_, relax.TensorType) or type_.dims is None:
        return False
    if len(type_.dims) == rank:
        return is_computed_from_constants(value)
    return all(d == ONE for d in type_.dims)


def convert_layouts(ops: Sequence[Operation], written: Written) -> None:
    """Bring the channels last between the convolutions among operations, in program order."""
    converter = _Converter(written)
    for op in ops:
        converter.convert(op)


@dataclass(frozen=True)
class ConvertLayoutPass(ModulePass):
    """Keep channels last between convolutions, pools and functions of elements."""

    name = "convert-layout"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        written = written_values(op)
        for func in graph_functions(op):
            convert_layouts(list(func.walk()), written)
