"""`convert-layout`: use channels-last layouts between convolutions, as their kernels do.

::

    %1 = relax.nn.conv2d %x, %v : …
    %2 = relax.nn.relu %1 : …
    %3 = relax.nn.conv2d %2, %w : …

⇒

    %1 = relax.nn.conv2d %x, %v {out_layout = "NHWC"} : …
    %2 = relax.nn.relu %1 : …
    %3 = relax.nn.conv2d %2, %w {data_layout = "NHWC", out_layout = "NCHW"} : …

Convolutions read inputs and store outputs of other operators in the original layout: their kernels
permute while they pad and store. Pools and elementwise operators follow their operands. Only values
that are used in both layouts get a permutation. If an image is flattened for matmuls with
constants, these are permuted instead. TVM's ``ConvertLayout``. With `desired_layouts`, as
``"relax.nn.conv2d NHWC OHWI"``, operators get those layouts and `desired_layouts.py` says the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriteWalker

from ...dialects import relax
from ...dialects.int_expr import ONE
from ...dialects.relax.operators.base import OperatorOp
from ...dialects.relax.operators.conversion import AstypeOp
from ...dialects.relax.operators.convolution import ConvolutionOp
from ...dialects.relax.operators.elementwise import BinaryElementwiseOp
from ...dialects.relax.operators.joining import ConcatOp
from ...dialects.relax.operators.manipulation import PermuteDimsOp
from ...dialects.relax.operators.pooling import PoolOp
from ...dialects.relax.operators.quantization import AffineOp
from ...dialects.relax.operators.reduction import ReductionOp
from ...dialects.relax.operators.reshaping import ReshapeOp, ReshapingOp
from ...dialects.relax.operators.selection import ClipOp
from ...dialects.relax.operators.slicing import PadOp
from ...dialects.relax.operators.unary import ElementFunctionOp
from ...dialects.relax.operators.unit_dims import ExpandDimsOp
from ...dialects.relax.operators.words import PackWordsOp
from ..functions import graph_functions
from .desired_layouts import convert_to
from .flattened import flatten_last
from .fold_constant import FoldTupleField
from .graph_builder import dims_of
from .known_values import is_computed_from_constants
from .written import Written, touches, written_values

FUNCTIONS_OF_ELEMENTS = (ElementFunctionOp, BinaryElementwiseOp, AstypeOp, ClipOp)
"""Elementwise operators."""

CHANNELS_LAST = "_last"
"""What the name of a value with its channels last ends in."""


@dataclass
class _Converter:
    """Adds channels-last copies of operators, and then keeps one of the two."""

    written: Written
    last: dict[SSAValue, SSAValue] = field(default_factory=lambda: {})
    """The channels-last forms of values."""

    copies: list[tuple[OperatorOp, OperatorOp]] = field(default_factory=lambda: [])
    """Operators with their channels-last copies."""

    def add_copy(self, op: Operation) -> None:
        """Add a copy of an operator whose result has its channels last, if that is profitable."""
        if not isinstance(op, OperatorOp) or touches(op, self.written) or op.parent is None:
            return
        if isinstance(op, ReshapingOp) and op.x in self.last:
            dims, shape = dims_of(op.x) or (), dims_of(op.result)
            if shape is not None and all(d == ONE for d in dims[2:]):  # one order in both layouts
                _replace(op, ReshapeOp.of([self.last[op.x]], {"shape": shape}))
                return
            for replaced in flatten_last(op, self.last[op.x], self.written):
                _erase(replaced)
            return
        if isinstance(op, ReductionOp) and op.x in self.last and self._loses_its_pixels(op):
            _replace(op, self._reduced(op))
            return
        rank = _rank(op.result)
        copy = None if rank is None or rank < 3 else self._with_channels_last(op, rank)
        if copy is not None:
            copy.location = op.location
            if op.result.name_hint is not None:
                copy.result.name_hint = f"{op.result.name_hint}{CHANNELS_LAST}"
            op.parent.insert_op_before(copy, op)
            self.last[op.result] = copy.result
            self.copies.append((op, copy))

    def choose(self) -> None:
        """Keep the used one of each operator and its copy, users first."""
        for op, copy in reversed(self.copies):
            if not op.result.uses:
                _erase(op)
            elif copy.result.uses or not self._is_alone(op):
                rank = _rank(op.result)
                assert rank is not None
                axes = [0, rank - 1, *range(1, rank - 1)]
                _replace(op, PermuteDimsOp.of([copy.result], {"axes": axes}))
            else:
                if isinstance(op, ConvolutionOp | PoolOp) and copy.operands[0] != op.operands[0]:
                    out = {"out_layout": f"NC{op.SPATIAL}"}
                    _replace(op, type(op).of(copy.operands, copy.attribute_values() | out))
                _erase(copy)

    def _is_alone(self, op: OperatorOp) -> bool:
        """Whether the operator can replace its copy without permutations."""
        if isinstance(op, ConvolutionOp | PoolOp):
            return True
        forms = [self.last[v] for v in op.operands if v in self.last]
        return all(form.has_one_use() for form in forms)

    def _with_channels_last(self, op: OperatorOp, rank: int) -> OperatorOp | None:
        match op:
            case ConvolutionOp():
                return self._convolution(op)
            case PoolOp():
                return self._pool(op)
            case ConcatOp():
                return self._joined(op, rank)
            case ReductionOp() if op.x in self.last and op.attribute_values()["keepdims"]:
                return self._reduced(op)
            case PackWordsOp() | AffineOp():
                return self._along_axis(op, rank)
            case PadOp():
                return self._padded(op, rank)
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
        place = _place(axis, rank)
        return type(op).of([self.last[v] for v in op.operands], attributes | {"axis": place})

    def _loses_its_pixels(self, op: ReductionOp) -> bool:
        """Whether batch and channels are left of an image, which both layouts have in order."""
        attributes, rank = op.attribute_values(), _rank(op.x) or 0
        axes = {axis % rank for axis in attributes["axis"] or ()}
        return axes == {*range(2, rank)} and not attributes["keepdims"]

    def _reduced(self, op: ReductionOp) -> OperatorOp:
        attributes, data = op.attribute_values(), self.last[op.x]
        axes: Sequence[int] | None = attributes["axis"]
        places = None if axes is None else sorted(_place(a, _rank(data) or 0) for a in axes)
        return type(op).of([data], attributes | {"axis": places})

    def _along_axis(self, op: PackWordsOp | AffineOp, rank: int) -> OperatorOp | None:
        data, *parameters = op.operands
        if data not in self.last:
            return None
        attributes = op.attribute_values()
        place = _place(attributes["axis"], rank)
        return type(op).of([self.last[data], *parameters], attributes | {"axis": place})

    def _padded(self, op: PadOp, rank: int) -> OperatorOp | None:
        (data,) = op.operands
        if data not in self.last:
            return None
        attributes = op.attribute_values()
        widths = attributes["pad_width"]
        pairs = [widths[2 * a : 2 * a + 2] for a in (0, *range(2, rank), 1)]
        moved = [width for pair in pairs for width in pair]
        return type(op).of([self.last[data]], attributes | {"pad_width": moved})

    def _function(self, op: OperatorOp, rank: int) -> OperatorOp | None:
        if not any(v in self.last for v in op.operands):
            return None
        for value in op.operands:
            if value not in self.last and not _is_alike(value, rank):
                if _rank(value) is None or not is_computed_from_constants(value):
                    return None
        operands = [self._operand(v, rank, op) for v in op.operands]
        return type(op).of(operands, op.attribute_values())

    def _operand(self, value: SSAValue, rank: int, user: Operation) -> SSAValue:
        if (known := self.last.get(value)) is not None:
            return known
        own = _rank(value)
        if own is None or _is_alike(value, rank):
            return value
        assert user.parent is not None
        if own < rank:
            full = ExpandDimsOp.of([value], {"axis": list(range(rank - own))})
            user.parent.insert_op_before(full, user)
            value = full.result
        moved = PermuteDimsOp.of([value], {"axes": [0, *range(2, rank), 1]})
        user.parent.insert_op_before(moved, user)
        return moved.result


def _rank(value: SSAValue) -> int | None:
    return value.type.rank if isinstance(value.type, relax.TensorType) else None


def _place(axis: int, rank: int) -> int:
    """Where an axis is with channels last."""
    return (0, rank - 1, *range(1, rank - 1))[axis % rank]


def _is_alike(value: SSAValue, rank: int) -> bool:
    """Whether an operand of fewer dims broadcasts to both layouts in the same way."""
    dims = value.type.dims if isinstance(value.type, relax.TensorType) else None
    return dims is not None and len(dims) < rank and all(d == ONE for d in dims)


def _replace(op: OperatorOp, new: OperatorOp) -> None:
    assert op.parent is not None
    new.location, new.result.name_hint = op.location, op.result.name_hint
    op.parent.insert_op_before(new, op)
    op.result.replace_all_uses_with(new.result)
    _erase(op)


def _erase(op: Operation) -> None:
    op.detach()
    op.erase()


def _read_fields(module: ModuleOp) -> None:
    """Replace fields of tuples that are created here, such as those of normalizations."""
    PatternRewriteWalker(FoldTupleField()).rewrite_module(module)
    for op in [op for func in graph_functions(module) for op in func.walk()]:
        if isinstance(op, relax.TupleOp) and not op.result.uses:
            _erase(op)


@dataclass(frozen=True)
class ConvertLayoutPass(ModulePass):
    """Keep channels last between convolutions, pools and elementwise operators.

    With `desired_layouts` operators get these layouts: a name, then the layouts of data, and of
    weight and result of a convolution.
    """

    name = "convert-layout"
    desired_layouts: tuple[str, ...] | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.desired_layouts is not None:
            found = {name: layouts for name, *layouts in map(str.split, self.desired_layouts)}
            convert_to(op, lambda operator: found.get(operator.name))
            return
        _read_fields(op)
        written = written_values(op)
        for func in graph_functions(op):
            converter = _Converter(written)
            for inner in list(func.walk()):
                converter.add_copy(inner)
            converter.choose()
