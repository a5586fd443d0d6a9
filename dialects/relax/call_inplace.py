"""Calls of PrimFuncs that write to their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import opt_prop_def, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..int_lists import int_list, ints_of, parse_int_list
from ..irdl import irdl_op_definition
from ..nesting import operations_in
from ..sym import ExprAttr, expr_array, exprs_of, parse_expr
from .call import SymbolCallOp, verify_outputs
from .closure import GraphFunctionOp
from .func import DataflowOp, OutputOp
from .tuple import Leaf, TupleGetItemOp, TupleOp, leaves
from .types import tensors_in
from .values import MatchCastOp


@irdl_op_definition
class CallTIRInplaceOp(SymbolCallOp):
    """Call a PrimFunc that writes outputs to some of its arguments.

    ``%y = relax.call_tir_inplace @relu_(%x) inplace [0] : (…) -> …``; TVM's ``R.call_tir_inplace``.
    For each output, `inplace_indices` has the position of the argument whose memory it reuses, or
    -1 for a new output. Such an argument, and aliases of it by tuples or casts, must not be used
    afterwards. The memory of a parameter is the caller's: users find the output in the array that
    they pass. A constant is copied first.
    """

    name = "relax.call_tir_inplace"
    inplace_indices = prop_def(ArrayAttr[IntAttr])
    tir_vars = opt_prop_def(ArrayAttr[ExprAttr])
    traits = traits_def(Pure())

    def __init__(
        self,
        callee: str,
        args: Sequence[SSAValue],
        inplace_indices: Sequence[int],
        result_type: Attribute,
        tir_vars: ArrayAttr[ExprAttr] | None = None,
    ):
        super().__init__(
            operands=[list(args)],
            properties={
                "callee": SymbolRefAttr(callee),
                "inplace_indices": int_list(inplace_indices),
                "tir_vars": tir_vars,
            },
            result_types=[result_type],
        )

    @property
    def positions(self) -> list[int]:
        """For each output, the position of the argument whose memory it reuses, or -1."""
        return ints_of(self.inplace_indices)

    def verify_(self) -> None:
        verify_outputs(self.result.type, self.name)
        verify_places(self, self.args, self.positions, tensors_in(self.result.type))

    @classmethod
    def parse(cls, parser: Parser) -> CallTIRInplaceOp:
        callee = parser.parse_symbol_name().data
        args = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        parser.parse_keyword("inplace")
        indices = parse_int_list(parser)
        variables = None
        if parser.parse_optional_keyword("vars"):
            variables = expr_array(
                parser.parse_comma_separated_list(
                    parser.Delimiter.SQUARE, lambda: parse_expr(parser)
                )
            )
        position = parser.pos
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if not isinstance(type_, FunctionType) or len(type_.outputs) != 1:
            parser.raise_error(f"expected a function type with one result, got {type_}", position)
        operands = parser.resolve_operands(args, type_.inputs.data, position)
        return CallTIRInplaceOp(callee, operands, indices, type_.outputs.data[0], variables)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.callee_name)
        with printer.in_parens():
            printer.print_list(self.args, printer.print_ssa_value)
        printer.print_string(f" inplace {self.positions}")
        if self.tir_vars is not None:
            variables = ", ".join(str(e) for e in exprs_of(self.tir_vars))
            printer.print_string(f" vars [{variables}]")
        printer.print_string(" : ")
        types = [a.type for a in self.args]
        printer.print_attribute(FunctionType.from_lists(types, [self.result.type]))


def verify_places(
    op: Operation, args: Sequence[SSAValue], positions: Sequence[int], outputs: Sequence[Attribute]
) -> None:
    """Raise VerifyException unless arguments may become these outputs of a call.

    They are not used after it.
    """
    inplace = [i for i in positions if i != -1]
    if len(positions) != len(outputs):
        raise VerifyException(f"expected {len(outputs)} inplace indices, got {len(positions)}")
    if len(set(inplace)) != len(inplace) or not inplace:
        listed = ", ".join(map(str, positions))
        raise VerifyException(f"expected distinct arguments to change, got {listed}")
    for position, output in zip(positions, outputs, strict=True):
        if position != -1:
            _verify_argument(op, args, position, output)


def _verify_argument(
    op: Operation, args: Sequence[SSAValue], position: int, output: Attribute
) -> None:
    if not 0 <= position < len(args):
        raise VerifyException(f"expected one of {len(args)} arguments, got {position}")
    argument = args[position]
    if argument.type != output:
        raise VerifyException(
            f"expected argument {position} to have the type of its output, {output}, "
            f"got {argument.type}"
        )
    for tensor in leaves(argument):
        count = sum(leaves(a).count(tensor) for a in args)
        if count > 1 or comes_after(op, _users(tensor)):
            raise VerifyException(f"expected argument {position} not to be used afterwards")


def _users(tensor: Leaf) -> set[Operation]:
    """The users of a tensor, also through fields of tuples and casts."""
    found: set[Operation] = set()
    values: list[SSAValue] = [tensor[0]]
    while values:
        value = values.pop()
        for use in value.uses if tensor in leaves(value) else ():
            op = use.operation
            found.add(op)
            if isinstance(op, TupleOp | TupleGetItemOp | MatchCastOp):
                values.append(op.result)
            elif isinstance(op, OutputOp) and isinstance(dataflow := op.parent_op(), DataflowOp):
                values.append(dataflow.outputs[use.index])
    return found


def comes_after(op: Operation, others: AbstractSet[Operation]) -> bool:
    """Whether one of the operations, or an operation around it, follows `op` in its function."""
    current: Operation | None = op
    while current is not None and not isinstance(current, GraphFunctionOp):
        following = current.next_op
        while following is not None:
            if any(inner in others for inner in operations_in(following)):
                return True
            following = following.next_op
        current = current.parent_op()
    return False
