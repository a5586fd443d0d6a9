"""Printing and assertions in the `relax` dialect: formats of tensors, scalars and tuples."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from string import Formatter

from xdsl.dialects.builtin import StringAttr, TupleType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from ..irdl import IRDLOperation, irdl_op_definition
from .control import is_condition
from .types import tensors_in


def _verify_format(text: str, values: Sequence[SSAValue], op_name: str) -> None:
    """Verify that the format has at most a field for each value, and that values are tensors."""
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
        if not _is_shown(value.type):
            raise VerifyException(f"expected tensors for '{op_name}', got {value.type}")


def _is_shown(type_: Attribute) -> bool:
    """Whether a type is that of tensors and scalars, also in tuples."""
    if isinstance(type_, TupleType):
        return all(map(_is_shown, type_.types.data))
    return bool(tensors_in(type_))


def _flat_fields(values: Sequence[SSAValue]) -> list[str]:
    """A field of a format for each value by the numbers of its tensors: ``({1}, {2})``."""
    numbers = count()

    def field(type_: Attribute) -> str:
        if not isinstance(type_, TupleType):
            return f"{{{next(numbers)}}}"
        inner = ", ".join(map(field, type_.types.data))
        return f"({inner},)" if len(type_.types.data) == 1 else f"({inner})"

    return [field(v.type) for v in values]


def _flat_format(text: str, values: Sequence[SSAValue]) -> str:
    """The format of values as one of their tensors; it is unchanged where there is no tuple."""
    if not any(isinstance(v.type, TupleType) for v in values):
        return text
    fields = _flat_fields(values)
    if not text:
        return " ".join(fields)
    automatic, parts = iter(fields), list[str]()
    for literal, name, spec, _ in Formatter().parse(text):
        parts.append(literal.replace("{", "{{").replace("}", "}}"))
        if name is not None:
            field = fields[int(name)] if name else next(automatic)
            parts.append(field.replace("}", f":{spec}}}") if spec else field)
    return "".join(parts)


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

    @property
    def text(self) -> str:
        """The format of the tensors of the values, those of tuples one by one."""
        return _flat_format(self.format.data, self.values)


@irdl_op_definition
class AssertOp(IRDLOperation):
    """Assert a condition: ``relax.assert %c, "x = {}"(%x) : …``; TVM's ``R.assert_op``.

    If the bool is false, Python raises AssertionError with the message.
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

    @property
    def text(self) -> str:
        """The format of the tensors of the values, by default all values."""
        if self.format.data or not self.values:
            return _flat_format(self.format.data or "Assertion Failed", self.values)
        return f"Assertion Failed: {', '.join(_flat_fields(self.values))}"
