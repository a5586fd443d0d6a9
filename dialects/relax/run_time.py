"""What graphs do besides computing: print, assert, and call Python for a result."""

from __future__ import annotations

from collections.abc import Sequence
from string import Formatter

from xdsl.dialects.builtin import StringAttr, TupleType
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..irdl import IRDLOperation, irdl_op_definition
from .call import NamedCallOp, verify_outputs
from .control import is_condition
from .types import TensorType


def _verify_format(text: str, values: Sequence[SSAValue], op_name: str) -> None:
    """The text may have a field for each value, and the values are tensors."""
    try:
        fields = [field for _, field, _, _ in Formatter().parse(text) if field is not None]
    except ValueError:
        raise VerifyException(f"expected a format of '{op_name}', got '{text}'") from None
    allowed = {"", *map(str, range(len(values)))}
    if len(fields) > len(values) or not allowed.issuperset(fields):
        raise VerifyException(
            f"expected a format of {len(values)} values of '{op_name}', got '{text}'"
        )
    for value in values:
        if not isinstance(value.type, TensorType):
            raise VerifyException(f"expected tensors for '{op_name}', got {value.type}")


@irdl_op_definition
class PrintOp(IRDLOperation):
    """Print values in program order: ``relax.print "x = {}"(%x) : (…) -> tuple<>``.

    Without a format the values are printed one after the other. TVM's ``R.print``.
    """

    name = "relax.print"
    format = prop_def(StringAttr)
    values = var_operand_def()
    result = result_def(TupleType)
    assembly_format = "$format `(` $values `)` attr-dict `:` functional-type($values, $result)"

    def __init__(self, values: Sequence[SSAValue], format: str = ""):
        super().__init__(
            operands=[list(values)],
            properties={"format": StringAttr(format)},
            result_types=[TupleType(())],
        )

    def verify_(self) -> None:
        _verify_format(self.format.data, self.values, self.name)


@irdl_op_definition
class AssertOp(IRDLOperation):
    """Fail with a message unless a bool holds: ``relax.assert %c, "x = {}"(%x) : …``.

    TVM's ``R.assert_op``; Python gets an AssertionError.
    """

    name = "relax.assert"
    condition = operand_def()
    format = prop_def(StringAttr)
    values = var_operand_def()
    result = result_def(TupleType)
    assembly_format = (
        "$condition `,` $format `(` $values `)` attr-dict "
        "`:` type($condition) `,` functional-type($values, $result)"
    )

    def __init__(self, condition: SSAValue, values: Sequence[SSAValue] = (), format: str = ""):
        super().__init__(
            operands=[condition, list(values)],
            properties={"format": StringAttr(format)},
            result_types=[TupleType(())],
        )

    def verify_(self) -> None:
        if not is_condition(self.condition.type):
            raise VerifyException(f"expected a condition of one bool, got {self.condition.type}")
        _verify_format(self.format.data, self.values, self.name)


@irdl_op_definition
class CallPurePackedOp(NamedCallOp):
    """Call a registered function for its result, a tensor or a tuple of tensors.

    ``%y = relax.call_pure_packed "env.relu"(%x) : (…) -> …``; TVM's ``R.call_pure_packed``.
    """

    name = "relax.call_pure_packed"
    traits = traits_def(Pure())

    def verify_(self) -> None:
        verify_outputs(self.result.type, self.name)
