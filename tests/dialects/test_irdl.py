"""Operations of `dialects.irdl`: what they are given, and what is asked of them, is as in xDSL."""

from typing import Any

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr, i32
from xdsl.ir import Region
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    OpDef,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from xrelax.dialects import irdl, tir

BASES = {"xdsl": (IRDLOperation, irdl_op_definition)}
BASES["ours"] = (irdl.IRDLOperation, irdl.irdl_op_definition)


def segments(base: Any, define: Any) -> Any:
    class SegmentsOp(base):
        name = "test.segments"
        first = operand_def(IndexType)
        several = var_operand_def(IndexType)
        last = opt_operand_def(i32)
        result = result_def()
        others = var_result_def()
        body = region_def()
        label = opt_prop_def(StringAttr)
        count = prop_def(IntegerAttr, default_value=IntegerAttr(3, i32))
        irdl_options = (AttrSizedOperandSegments(as_property=True),)

    return define(SegmentsOp)


def rest(base: Any, define: Any) -> Any:
    class RestOp(base):
        name = "test.rest"
        first = operand_def(IndexType)
        several = var_operand_def(IndexType)

    return define(RestOp)


@pytest.mark.parametrize("several", [0, 1, 3])
@pytest.mark.parametrize("is_last", [False, True])
def test_segments(several: int, is_last: bool):
    values = test.TestOp(result_types=[IndexType()] * 4 + [i32]).results
    shown: list[Any] = []
    for base, define in BASES.values():
        op = segments(base, define)(
            operands=[values[0], list(values[1 : 1 + several]), values[4] if is_last else None],
            result_types=[i32, [i32, i32]],
            properties={"label": None},
            regions=[Region()],
        )
        op.verify()
        shown.append((op.first, tuple(op.several), op.last, op.several.types, op.properties))
        assert op.result is op.results[0] and tuple(op.others) == tuple(op.results[1:])
        assert op.body is op.regions[0] and op.label is None and op.count.value.data == 3
    assert shown[0] == shown[1]


@pytest.mark.parametrize("several", [0, 2])
def test_the_rest_of_the_operands(several: int):
    values = test.TestOp(result_types=[IndexType()] * 3).results
    for base, define in BASES.values():
        op = rest(base, define)(operands=[values[0], values[1 : 1 + several]])
        op.verify()
        assert op.first is values[0] and tuple(op.several) == tuple(values[1 : 1 + several])
        assert op.several.types == (IndexType(),) * several


def test_wrong_operands_do_not_verify():
    value = test.TestOp(result_types=[i32]).results[0]
    messages: list[str] = []
    for base, define in BASES.values():
        with pytest.raises(VerifyException) as error:
            rest(base, define)(operands=[value, []]).verify()
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_an_operation_is_one_of_its_classes():
    loop = tir.ForOp.__new__(tir.ForOp)
    assert isinstance(loop, tir.ForOp) and isinstance(loop, irdl.IRDLOperation)
    assert isinstance(loop, IRDLOperation) and not isinstance(loop, tir.BlockOp)


def test_a_format_is_compiled_when_it_is_used(monkeypatch: pytest.MonkeyPatch):
    from xdsl.irdl.declarative_assembly_format import FormatProgram

    compiled: list[str] = []
    from_str = FormatProgram.from_str

    def counted(text: str, definition: OpDef) -> FormatProgram:
        compiled.append(definition.name)
        return from_str(text, definition)

    monkeypatch.setattr(FormatProgram, "from_str", staticmethod(counted))

    @irdl.irdl_op_definition
    class FormattedOp(irdl.IRDLOperation):
        name = "test.formatted"
        value = operand_def(i32)
        assembly_format = "$value attr-dict"

    value = test.TestOp(result_types=[i32]).results[0]
    op = FormattedOp(operands=[value])
    assert not compiled
    assert str(op) == str(op) == "test.formatted %0"
    assert compiled == ["test.formatted"]
