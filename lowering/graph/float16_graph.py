"""`to-mixed-precision` of whole graphs: contractions in float16, and what can follow them.

::

    %1 = relax.matmul %x, %w : … f32            %2 = relax.astype %x {dtype = "float16"}
    %3 = relax.nn.relu %1 : … f32        ⇒      %4 = relax.astype %w {dtype = "float16"}
                                                %5 = relax.matmul %2, %4 {out_dtype = "float32"}
                                                %1 = relax.astype %5 {dtype = "float16"}
                                                %6 = relax.nn.relu %1
                                                %3 = relax.astype %6 {dtype = "float32"}

Contractions always read float16. Operators that may follow compute in float16 if all operands are
float16 or constants in its range; others get the dtypes that they had. Values that only
contractions read are stored in float16. Outputs of dataflow blocks keep their dtypes, and code
outside of dataflow blocks is not changed. TVM's ``ToMixedPrecision(out_dtype)``.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.dtypes import element_type
from ...dialects.relax.operators.attention import AttentionOp
from ...dialects.relax.operators.conversion import AstypeOp
from ...dialects.relax.operators.convolution import ConvolutionOp
from ...dialects.relax.operators.elementwise import BinaryElementwiseOp, EwiseFMAOp
from ...dialects.relax.operators.joining import ConcatOp, SplitOp, StackOp
from ...dialects.relax.operators.linear_algebra import MatmulOp
from ...dialects.relax.operators.manipulation import PermuteDimsOp
from ...dialects.relax.operators.normalization import AffineNormOp, RMSNormOp
from ...dialects.relax.operators.pooling import PoolOp
from ...dialects.relax.operators.repetition import BroadcastToOp
from ...dialects.relax.operators.reshaping import ReshapingOp
from ...dialects.relax.operators.resizing import ResizeOp
from ...dialects.relax.operators.slicing import StridedSliceOp
from ...dialects.relax.operators.unary import ElementFunctionOp
from ..functions import graph_functions
from .written import Written, touches, written_values

NARROW, WIDE = "float16", "float32"
LARGEST = float(np.finfo(np.float16).max)

ALWAYS = (AttentionOp, ConvolutionOp, MatmulOp)
"""Operators that read float16."""

FOLLOWING = (
    AffineNormOp,
    AstypeOp,
    BinaryElementwiseOp,
    BroadcastToOp,
    ConcatOp,
    ElementFunctionOp,
    EwiseFMAOp,
    PermuteDimsOp,
    PoolOp,
    RMSNormOp,
    ReshapingOp,
    ResizeOp,
    SplitOp,
    StackOp,
    StridedSliceOp,
)
"""Operators that follow the dtype of their operands."""

Dtypes: TypeAlias = "str | list[Dtypes] | None"
"""The dtype of a tensor, `None` if it is not known or required, or those of a tuple's fields."""


def convert_graphs(module: ModuleOp, out_dtype: str, inputs: Collection[str] = ()) -> None:
    """Convert the dataflow blocks of a module, in place.

    Contractions give `out_dtype`, float32 or float16. Parameters named in `inputs` become float16.
    """
    written = written_values(module)
    for func in graph_functions(module):
        params = _narrow_params(func, inputs)
        blocks = [op for op in func.walk() if isinstance(op, relax.DataflowOp)]
        uses = _Uses()
        for block in reversed(blocks):
            uses.collect(block, written)
        for block in blocks:
            _BlockConverter(block, params, out_dtype, uses, written).convert()


def _narrow_params(func: relax.FuncOp, inputs: Collection[str]) -> dict[SSAValue, Dtypes]:
    """Make parameters of these names float16; returns the dtypes that all had before."""
    found: dict[SSAValue, Dtypes] = {}
    for name, param in zip(func.names, list(func.params), strict=True):
        dtypes, type_, value = _dtypes_of(param.type), param.type, param
        if name in inputs and isinstance(type_, relax.TensorType) and dtypes == WIDE:
            narrow = relax.TensorType.of(type_.dims, element_type(NARROW), type_.rank)
            value = Rewriter.replace_value_with_new_type(param, narrow)
        found[value] = dtypes
    return found


class _Uses:
    """The dtypes that the users of values require."""

    def __init__(self) -> None:
        self.required: dict[SSAValue, Dtypes] = {}

    def collect(self, block: relax.DataflowOp, written: Written) -> None:
        for op in reversed(list(block.body.block.ops)):
            match op:
                case relax.TupleOp() if op.result not in block.output.values:
                    found = self.required.get(op.result)
                    fields = found if isinstance(found, list) else [None] * len(op.fields)
                    for value, dtypes in zip(op.fields, fields, strict=True):
                        self._require(value, dtypes)
                case relax.TupleGetItemOp() if op.result not in block.output.values:
                    assert isinstance(op.tuple_value.type, TupleType)
                    fields: list[Dtypes] = [None] * len(op.tuple_value.type.types.data)
                    fields[op.index.data] = self.required.get(op.result)
                    self._require(op.tuple_value, fields)
                case _:
                    narrow = isinstance(op, ALWAYS) and not touches(op, written)
                    for value in op.operands:
                        dtypes = _all_of(value.type, NARROW if narrow else WIDE)
                        self._require(value, dtypes)

    def _require(self, value: SSAValue, dtypes: Dtypes) -> None:
        self.required[value] = _merged(self.required.get(value), dtypes)


def _merged(first: Dtypes, second: Dtypes) -> Dtypes:
    if isinstance(first, list) and isinstance(second, list):
        return [_merged(a, b) for a, b in zip(first, second, strict=True)]
    if first is None or second is None:
        return second if first is None else first
    return WIDE if WIDE in (first, second) else NARROW


def _all_of(type_: Attribute, dtype: str) -> Dtypes:
    if isinstance(type_, TupleType):
        return [_all_of(field, dtype) for field in type_.types.data]
    return dtype


def _dtypes_of(type_: Attribute) -> Dtypes:
    if isinstance(type_, TupleType):
        return [_dtypes_of(field) for field in type_.types.data]
    return type_.dtype if isinstance(type_, relax.TensorType) else None


class _BlockConverter:
    """Converts one dataflow block in a single pass over its operations."""

    def __init__(
        self,
        op: relax.DataflowOp,
        params: dict[SSAValue, Dtypes],
        out_dtype: str,
        uses: _Uses,
        written: Written,
    ):
        self.op, self.original, self.out_dtype = op, params, out_dtype
        self.required, self.written = uses.required, written
        self.moved: dict[SSAValue, SSAValue] = {}

    def convert(self) -> None:
        operations = list(self.op.body.block.ops)
        for param in self.original:
            if param not in self.written:
                self._store(param, param, operations[0])
        replaced = [op for op in operations if self._converted(op)]
        for op in reversed(replaced):
            Rewriter.erase_op(op)

    def _converted(self, op: Operation) -> bool:
        """Whether an operation has been replaced; otherwise it reads the dtypes that it had."""
        if not touches(op, self.written):
            match op:
                case relax.OperatorOp() if isinstance(op, (*ALWAYS, *FOLLOWING)):
                    return self._convert_operator(op)
                case relax.TupleOp():
                    new = relax.TupleOp([self._now(v) for v in op.fields])
                    return self._replace(op, new, None)
                case relax.TupleGetItemOp():
                    new = relax.TupleGetItemOp(self._now(op.tuple_value), op.index.data)
                    return self._replace(op, new, None)
                case _:
                    pass
        for position, value in enumerate(list(op.operands)):
            wanted = self.original.get(value, _dtypes_of(value.type))
            op.operands[position] = _cast(self._now(value), wanted, op)
        for result in op.results:
            self._store(result, result, op.next_op)
        return False

    def _convert_operator(self, op: relax.OperatorOp) -> bool:
        now = [self._now(v) for v in op.operands]
        attributes = op.attribute_values()
        if always := isinstance(op, ALWAYS):
            dtype = NARROW
            if "out_dtype" in op.attribute_kinds():
                attributes["out_dtype"] = self.out_dtype
        else:
            dtype = NARROW if all(map(_is_castable, now)) else WIDE
        operands = [_cast(v, _all_of(v.type, dtype), op) for v in now]
        new = type(op).of(operands, attributes)
        return self._replace(op, new, NARROW if always else None)

    def _replace(self, op: Operation, new: Operation, stored: str | None) -> bool:
        """Put an operation in place of another, and its result into the dtype `stored`."""
        (result,), block = op.results, op.parent
        assert block is not None
        new.location = op.location
        block.insert_op_before(new, op)
        value = new.results[0]
        if result in self.op.output.values:
            value = _cast(value, _dtypes_of(result.type), op)
        elif stored is not None:
            value = _cast(value, _all_of(value.type, stored), op)
        value.name_hint = result.name_hint
        self.moved[result] = value
        if result not in self.op.output.values:
            self._store(result, value, op)
        return True

    def _store(self, value: SSAValue, now: SSAValue, user: Operation | None) -> None:
        """Store a value in float16 if only contractions read it."""
        required = self.required.get(value)
        if required is not None and user is not None:
            self.moved[value] = _cast(now, _narrowed(_dtypes_of(now.type), required), user)

    def _now(self, value: SSAValue) -> SSAValue:
        return self.moved.get(value, value)


def _narrowed(dtypes: Dtypes, required: Dtypes) -> Dtypes:
    if isinstance(dtypes, list) and isinstance(required, list):
        return [_narrowed(d, r) for d, r in zip(dtypes, required, strict=True)]
    return NARROW if required == NARROW else dtypes


def _is_castable(value: SSAValue) -> bool:
    """Whether a value is no tensor of float32, or a constant in the range of float16."""
    if _dtypes_of(value.type) != WIDE:
        return True
    array = value.owner.value.data.array if isinstance(value.owner, relax.ConstantOp) else None
    return array is not None and bool((np.abs(array.astype(np.float64)) <= LARGEST).all())


def _cast(value: SSAValue, wanted: Dtypes, user: Operation) -> SSAValue:
    """The value with its tensors of float32 and float16 in these dtypes."""
    if isinstance(wanted, list):
        return _cast_fields(value, wanted, user)
    dtype = _dtypes_of(value.type)
    if wanted is None or dtype == wanted or dtype not in (NARROW, WIDE):
        return value
    return _inserted(AstypeOp.of([value], {"dtype": wanted}), user)


def _cast_fields(value: SSAValue, wanted: list[Dtypes], user: Operation) -> SSAValue:
    if _dtypes_of(value.type) == wanted or not _has_floats(value.type):
        return value
    fields = [
        _cast(_inserted(relax.TupleGetItemOp(value, index), user), dtypes, user)
        for index, dtypes in enumerate(wanted)
    ]
    return _inserted(relax.TupleOp(fields), user)


def _has_floats(type_: Attribute) -> bool:
    if isinstance(type_, TupleType):
        return any(_has_floats(field) for field in type_.types.data)
    return _dtypes_of(type_) in (NARROW, WIDE)


def _inserted(op: Operation, user: Operation) -> SSAValue:
    op.location = user.location
    assert user.parent is not None
    user.parent.insert_op_before(op, user)
    return op.results[0]
