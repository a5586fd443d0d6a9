"""`convert-layout` to layouts that the user asks for; TVM's ``ConvertLayout(desired_layouts)``.

::

    %1 = relax.nn.conv2d %x, %w : …
    %2 = relax.nn.relu %1 : …

⇒ with NHWC and OHWI for ``relax.nn.conv2d``

    %0 = relax.permute_dims %x {axes = [0, 2, 3, 1]} : …
    %w_1 = relax.permute_dims %w {axes = [0, 2, 3, 1]} : …
    %1 = relax.nn.conv2d %0, %w_1 {data_layout = "NHWC", kernel_layout = "OHWI"} : …
    %3 = relax.nn.relu %1 : …
    %2 = relax.permute_dims %3 {axes = [0, 3, 1, 2]} : …

Only dataflow blocks are converted. Their outputs, and what operators without a rule read, have the
original order of axes. Blocks, as in NCHW4c, are split off by ``relax.layout_transform``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.relax.operators.base import OperatorOp
from ...dialects.relax.operators.convolution import ConvolutionOp
from ...dialects.relax.operators.inference import tuple_type
from ...dialects.relax.operators.layout_transforms import LayoutTransformOp
from ...dialects.relax.operators.manipulation import PermuteDimsOp
from ...dialects.relax.operators.resizing import ResizeOp
from ..functions import blame, graph_functions
from .axis_orders import (
    AxisOrder,
    Orders,
    divides,
    index_map,
    ordered_dims,
    original_orders,
    permutation,
)
from .order_following import Following
from .order_rules import following
from .window_order_rules import with_layouts
from .written import Written, touches, written_values

Desired: TypeAlias = Callable[[OperatorOp], "Sequence[str] | None"]
"""The layouts that an operator gets: of its data, and of the weight and result if it has them."""


def convert_to(module: ModuleOp, desired: Desired) -> None:
    """Convert the dataflow blocks of a module, in place.

    Raises Diagnostic for layouts of an operator that has none, and for others than it can have.
    """
    written = written_values(module)
    for func in graph_functions(module):
        for op in [op for op in func.walk() if isinstance(op, relax.DataflowOp)]:
            _BlockConverter(op, desired, written).convert()


class _BlockConverter:
    """Converts one dataflow block in a single pass over its operations."""

    def __init__(self, op: relax.DataflowOp, desired: Desired, written: Written):
        self.op, self.desired, self.written = op, desired, written
        self.moved: dict[SSAValue, tuple[SSAValue, Orders]] = {}
        """What replaces values, and the orders that it has."""

        self.replaced: list[Operation] = []

    def convert(self) -> None:
        for op in list(self.op.body.block.ops):
            if not self._converted(op):
                for position, value in enumerate(list(op.operands)):
                    op.operands[position] = self._read(value, original_orders(value.type), op)
        for op in reversed(self.replaced):
            Rewriter.erase_op(op)

    def _converted(self, op: Operation) -> bool:
        if touches(op, self.written):
            return False
        match op:
            case OperatorOp():
                return self._convert_operator(op)
            case relax.TupleOp():
                orders = [self._orders(v) for v in op.fields]
                if orders == original_orders(op.result.type):
                    return False
                fields = [self._read(v, o, op) for v, o in zip(op.fields, orders, strict=True)]
                return self._replace(op, relax.TupleOp(fields), list(orders))
            case relax.TupleGetItemOp() if op.tuple_value in self.moved:
                value, orders = self.moved[op.tuple_value]
                index, fields = op.index.data, cast("list[Orders]", orders)
                return self._replace(op, relax.TupleGetItemOp(value, index), fields[index])
            case relax.MatchCastOp() if op.value in self.moved:
                value, orders = self.moved[op.value]
                type_ = _reordered(op.result.type, orders)
                if type_ is None:
                    return False
                return self._replace(op, relax.MatchCastOp(value, type_), orders)
            case _:
                return False

    def _convert_operator(self, op: OperatorOp) -> bool:
        orders = [self._orders(v) for v in op.operands]
        layouts = self.desired(op)
        if layouts is None and all(
            o == original_orders(v.type) for o, v in zip(orders, op.operands, strict=True)
        ):
            return False
        known = [cast(AxisOrder, order) for order in orders if order is not None]
        if len(known) < len(orders):
            return False
        found = following(op, known) if layouts is None else _wanted(op, layouts)
        if found is None:
            return False
        operands = [self._read(v, o, op) for v, o in zip(op.operands, found.operands, strict=True)]
        return self._replace(op, type(op).of(operands, found.attributes), found.result)

    def _replace(self, op: Operation, new: Operation, orders: Orders) -> bool:
        """Put an operation in place of another; an output gets its original order back."""
        (result,) = op.results
        new.location, new.results[0].name_hint = op.location, result.name_hint
        assert op.parent is not None
        op.parent.insert_op_before(new, op)
        self.moved[result] = new.results[0], orders
        self.replaced.append(op)
        if result in self.op.output.values:
            original = original_orders(result.type)
            back = self._read(result, original, op)
            back.name_hint = result.name_hint
            self.moved[result] = back, original
        return True

    def _orders(self, value: SSAValue) -> Orders:
        return self.moved[value][1] if value in self.moved else original_orders(value.type)

    def _read(self, value: SSAValue, wanted: Orders, user: Operation) -> SSAValue:
        """The value in the orders that an operation reads."""
        new, orders = self.moved.get(value, (value, original_orders(value.type)))
        return _permuted(new, orders, wanted, user)


def _permuted(value: SSAValue, orders: Orders, wanted: Orders, user: Operation) -> SSAValue:
    if orders == wanted:
        return value
    block = user.parent
    assert block is not None
    if isinstance(orders, list):
        fields: list[SSAValue] = []
        for index, (old, new) in enumerate(zip(orders, cast("list[Orders]", wanted), strict=True)):
            field = relax.TupleGetItemOp(value, index)
            block.insert_op_before(field, user)
            fields.append(_permuted(field.result, old, new, user))
        op: Operation = relax.TupleOp(fields)
    else:
        assert isinstance(orders, tuple) and isinstance(wanted, tuple)
        axes = permutation(orders, wanted)
        if axes is None:
            op = LayoutTransformOp.of([value], {"index_map": str(index_map(orders, wanted))})
        else:
            op = PermuteDimsOp.of([value], {"axes": axes})
    op.location = user.location
    block.insert_op_before(op, user)
    return op.results[0]


def _reordered(type_: Attribute, orders: Orders) -> Attribute | None:
    """The type of a value whose axes are in these orders; `None` if it cannot be split so."""
    if isinstance(type_, TupleType) and isinstance(orders, list):
        fields = [_reordered(t, o) for t, o in zip(type_.types.data, orders, strict=True)]
        known = [field for field in fields if field is not None]
        return tuple_type(known) if len(known) == len(fields) else None
    if not isinstance(type_, relax.TensorType) or not isinstance(orders, tuple):
        return type_
    if not divides(orders, type_.dims):
        return None
    if type_.dims is None:
        return type_
    return relax.TensorType.of(ordered_dims(orders, type_.dims), type_.known_element)


def _wanted(op: OperatorOp, layouts: Sequence[str]) -> Following:
    """An operator that gets layouts; raises Diagnostic if it cannot have them."""
    with blame(op):
        try:
            if not isinstance(op, ConvolutionOp | ResizeOp):
                raise ValueError(f"expected layouts of convolutions or resizes, got '{op.name}'")
            found = with_layouts(op, layouts, op.attribute_values())
            op.encode(found.attributes)
            return found
        except ValueError as error:
            raise Diagnostic(str(error)) from None
