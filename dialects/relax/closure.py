"""Functions as values of the `relax` dialect: local functions, and their calls."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import (
    Attribute,
    Block,
    Operation,
    Region,
    SSAValue,
)
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, Pure, is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from ..irdl import AllocatesResult, IRDLOperation, irdl_op_definition
from ..parameters import FunctionOp
from .function_text import parse_function, print_function
from .type_relations import says_less
from .types import FuncType
from .values import MatchCastOp


class GraphFunctionOp(FunctionOp, ABC):
    """A function that returns a value of the graph."""

    @property
    def returned(self) -> SSAValue:
        """The value the function returns."""
        last = self.body.block.last_op
        assert last is not None
        return last.operands[0]


def is_pure(op: Operation) -> bool:
    """Whether an operation has no user-visible effect other than its result or an error."""
    return isinstance(op, MatchCastOp) or op.has_trait(AllocatesResult) or is_side_effect_free(op)


def effects(operations: Iterable[Operation]) -> Iterator[Operation]:
    """The operations with effects, also inside of others.

    Local functions have effects when they are called.
    """
    for op in operations:
        if isinstance(op, LocalFuncOp):
            continue
        for region in op.regions:
            for block in region.blocks:
                yield from effects(block.ops)
        if not op.regions and not is_pure(op):
            yield op


def verify_pure(name: str, block: Block) -> None:
    """Raise VerifyException if an operation of the function has an effect.

    Dataflow blocks verify their own bodies.
    """
    for op in effects(o for o in block.ops if o.name != "relax.dataflow"):
        raise VerifyException(f"expected '{name}' to be declared impure, as it has '{op.name}'")


@irdl_op_definition
class LocalFuncOp(GraphFunctionOp):
    """A function inside another one, whose values it may capture.

    ``%f = relax.local_func @inner(%a: T) -> T { … relax.return … }``. Calls have the effects of its
    body. `lambda-lift` converts it to a function of the module, with the same attributes.
    """

    name = "relax.local_func"
    func_name = prop_def(StringAttr)
    attrs = opt_prop_def(DictionaryAttr)
    result = result_def(FuncType)
    traits = traits_def(Pure())

    def __init__(
        self,
        name: str,
        param_names: Sequence[str],
        result_type: Attribute,
        body: Region,
        impure: bool = False,
        attrs: DictionaryAttr | None = None,
    ):
        types = [a.type for a in body.block.args]
        super().__init__(
            properties={
                "func_name": StringAttr(name),
                "param_names": ArrayAttr([StringAttr(n) for n in param_names]),
                "attrs": attrs,
            },
            result_types=[FuncType.of(types, result_type, impure)],
            regions=[body],
        )

    def verify_(self) -> None:
        self.verify_parameters()
        last = self.body.block.last_op
        if last is None or last.name != "relax.return":
            raise VerifyException("expected a local function to end with 'relax.return'")
        if not says_less(self.result.type.result, self.returned.type):
            raise VerifyException(
                f"expected '{self.func_name.data}' to return {self.result.type.result}, "
                f"got {self.returned.type}"
            )
        if self.result.type.params.data != tuple(p.type for p in self.params):
            raise VerifyException(f"expected a function of its parameters, got {self.result.type}")
        if not self.result.type.impure:
            verify_pure(self.func_name.data, self.body.block)

    @classmethod
    def parse(cls, parser: Parser) -> LocalFuncOp:
        impure = parser.parse_optional_keyword("impure") is not None
        name, names, result_type, body, attrs = parse_function(parser)
        return LocalFuncOp(name, names, result_type, body, impure, attrs)

    def print(self, printer: Printer) -> None:
        printer.print_string(" impure " if self.result.type.impure else " ")
        name, type_ = self.func_name.data, self.result.type
        print_function(printer, name, self.names, type_.result, self.body, self.attrs)


@irdl_op_definition
class OwnFuncOp(IRDLOperation):
    """The local function around it, for its calls of itself: ``%f = relax.own_func : …``."""

    name = "relax.own_func"
    result = result_def(FuncType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type_: FuncType):
        super().__init__(result_types=[type_])

    @property
    def function(self) -> LocalFuncOp:
        """The local function; raises VerifyException where there is none."""
        around = self.parent_op()
        if not isinstance(around, LocalFuncOp):
            raise VerifyException("expected a local function around 'relax.own_func'")
        return around

    def verify_(self) -> None:
        expected, type_ = self.function.result.type, self.result.type
        if type_ != expected:
            name = self.function.func_name.data
            raise VerifyException(f"expected the type {expected} of '{name}', got {type_}")


class FunctionEffect(MemoryEffect):
    """Calls of function values of impure type have unknown effects; others have none."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        type_ = op.operands[0].type
        return None if isinstance(type_, FuncType) and type_.impure else frozenset()


@irdl_op_definition
class InvokeOp(IRDLOperation):
    """Call a function value: ``%y = relax.invoke %f(%x) : !relax.func<…>, (…) -> …``."""

    name = "relax.invoke"
    callee = operand_def(FuncType)
    args = var_operand_def()
    result = result_def()
    traits = traits_def(FunctionEffect())
    assembly_format = (
        "$callee `(` $args `)` attr-dict `:` type($callee) `,` functional-type($args, $result)"
    )

    def __init__(self, callee: SSAValue, args: Sequence[SSAValue], result_type: Attribute):
        super().__init__(operands=[callee, list(args)], result_types=[result_type])

    def verify_(self) -> None:
        expected = len(cast(FuncType, self.callee.type).params.data)
        if len(self.args) != expected:
            raise VerifyException(f"expected {expected} arguments, got {len(self.args)}")
