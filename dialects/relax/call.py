"""Calls, allocation, printing and assertions in the `relax` dialect."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import count
from string import Formatter

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FlatSymbolRefAttr,
    StringAttr,
    SymbolRefAttr,
    TupleType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import EffectInstance, MemoryEffect, Pure, SymbolTable
from xdsl.utils.exceptions import VerifyException

from ..irdl import AllocatesResult, IRDLOperation, irdl_op_definition
from ..nesting import ancestors
from ..sym import ExprAttr
from .control import is_condition
from .types import TensorType, tensors_in


def verify_outputs(type_: Attribute, op_name: str) -> None:
    """Raise VerifyException unless a call's outputs are tensors of known shape and dtype."""
    tensors = tensors_in(type_)
    if not tensors:
        raise VerifyException(
            f"expected '{op_name}' to give a tensor or a tuple of tensors, got {type_}"
        )
    for tensor in tensors:
        if tensor.dims is None or tensor.dtype is None:
            raise VerifyException(
                f"expected '{op_name}' to give tensors of known shape and dtype, got {tensor}"
            )


class SymbolCallOp(IRDLOperation, ABC):
    """A call of a function of the module."""

    callee = prop_def(FlatSymbolRefAttr)
    args = var_operand_def()
    result = result_def()

    @property
    def callee_name(self) -> str:
        """Name of the function."""
        return self.callee.root_reference.data


class NamedCallOp(IRDLOperation, ABC):
    """A call of a function by name, which need not be in the module."""

    callee = prop_def(StringAttr)
    args = var_operand_def()
    result = result_def()
    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, callee: str, args: Sequence[SSAValue], result_type: Attribute):
        super().__init__(
            operands=[list(args)],
            properties={"callee": StringAttr(callee)},
            result_types=[result_type],
        )

    @property
    def callee_name(self) -> str:
        """Name of the function."""
        return self.callee.data


@irdl_op_definition
class CallTIROp(SymbolCallOp):
    """Call a PrimFunc of the module, which writes tensors that this op allocates.

    ``%y = relax.call_tir @relu0(%x) : (!relax.tensor<[1, n], f32>) -> !relax.tensor<[1, n], f32>``;
    TVM's ``R.call_tir``. Several outputs make a tuple. `tir_vars` are the values of index
    parameters. `te_grad_name` names a registered function on tensors for pass `gradient`, and
    `te_grad_kwargs` are keywords of it; TVM's ``R.call_tir_with_grad``.
    """

    name = "relax.call_tir"
    tir_vars = opt_prop_def(ArrayAttr[ExprAttr])
    te_grad_name = opt_prop_def(StringAttr)
    te_grad_kwargs = opt_prop_def(DictionaryAttr)
    traits = traits_def(Pure())
    assembly_format = (
        "$callee `(` $args `)` (`vars` $tir_vars^)? (`gradient` $te_grad_name^)? "
        "(`with` $te_grad_kwargs^)? attr-dict `:` functional-type($args, $result)"
    )

    def __init__(
        self,
        callee: str,
        args: Sequence[SSAValue],
        result_type: Attribute,
        tir_vars: ArrayAttr[ExprAttr] | None = None,
        te_grad_name: str | None = None,
        te_grad_kwargs: DictionaryAttr | None = None,
    ):
        super().__init__(
            operands=[list(args)],
            properties={
                "callee": SymbolRefAttr(callee),
                "tir_vars": tir_vars,
                "te_grad_name": None if te_grad_name is None else StringAttr(te_grad_name),
                "te_grad_kwargs": te_grad_kwargs,
            },
            result_types=[result_type],
        )

    def verify_(self) -> None:
        verify_outputs(self.result.type, self.name)
        if self.te_grad_kwargs is not None and self.te_grad_name is None:
            raise VerifyException(
                f"expected te_grad_name with te_grad_kwargs, got {self.te_grad_kwargs} alone"
            )


@irdl_op_definition
class CallDPSPackedOp(NamedCallOp):
    """Call a PrimFunc of the module or a registered function in destination-passing style.

    ``%y = relax.call_dps_packed "env.relu"(%x) : (…) -> …``; TVM's ``R.call_dps_packed``. The
    function is looked up in the module first, then in the registry.
    """

    name = "relax.call_dps_packed"
    traits = traits_def(Pure())

    def verify_(self) -> None:
        verify_outputs(self.result.type, self.name)


class CalleeEffect(MemoryEffect):
    """Calls of functions that are declared impure have unknown effects; others have none."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        callee = _callee_of(op)
        is_impure = callee is not None and callee.properties.get("impure") is not None
        return None if is_impure else frozenset()


def _callee_of(call: Operation) -> Operation | None:
    module = next((p for p in ancestors(call) if p.has_trait(SymbolTable)), None)
    if module is None:
        return None
    name = call.properties["callee"]
    assert isinstance(name, SymbolRefAttr)
    return SymbolTable.lookup_symbol(module, name)


@irdl_op_definition
class CallOp(SymbolCallOp):
    """Call a graph function of the module: ``%y = relax.call @fused(%x) : (…) -> …``.

    It has the effects of the function.
    """

    name = "relax.call"
    traits = traits_def(CalleeEffect())
    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, $result)"

    def __init__(self, callee: str, args: Sequence[SSAValue], result_type: Attribute):
        super().__init__(
            operands=[list(args)],
            properties={"callee": SymbolRefAttr(callee)},
            result_types=[result_type],
        )


@irdl_op_definition
class CallPackedOp(NamedCallOp):
    """Call a registered function for its effects, in program order.

    ``relax.call_packed "log"(%x) : (…) -> …``; TVM's ``R.call_packed``. The function may read and
    write its arguments; its result is an object.
    """

    name = "relax.call_packed"


@irdl_op_definition
class AllocTensorOp(IRDLOperation):
    """An uninitialized tensor; TVM's ``R.builtin.alloc_tensor``.

    ``%0 = relax.alloc_tensor : !relax.tensor<[1, 128], f32>``.
    """

    name = "relax.alloc_tensor"
    result = result_def(TensorType)
    traits = traits_def(AllocatesResult())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type_: TensorType):
        super().__init__(result_types=[type_])

    def verify_(self) -> None:
        verify_outputs(self.result.type, self.name)


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


@irdl_op_definition
class CallPurePackedOp(NamedCallOp):
    """Call a registered function for its result.

    Compiled functions need a tensor or a tuple of tensors of known shapes.
    ``%y = relax.call_pure_packed "env.relu"(%x) : (…) -> …``; TVM's ``R.call_pure_packed``.
    """

    name = "relax.call_pure_packed"
    traits = traits_def(Pure())
