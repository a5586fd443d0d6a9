"""Calls of registered functions on memory in the `rt` dialect."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntAttr,
    StringAttr,
    TupleType,
    UnitAttr,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from ..int_expr import IntExpr
from ..int_lists import int_list, ints_of, parse_int_list
from ..irdl import irdl_op_definition
from ..parameters import print_text
from ..relax.objects import with_handles
from ..relax.types import PrimType, ShapeType, tensors_in
from .call import CallDPSOp, MemoryCallOp, parse_call, print_call
from .loop import ForOp, SliceOp

PRINT, ASSERT, STRING = "relax.print", "relax.assert", "relax.str"
OWN_FUNCTIONS = (PRINT, ASSERT, STRING)
"""Functions of the runtime itself, which take a format and values."""

VALUE_OF = "vm.builtin.value_of"
"""The function that casts of objects call; its text is what messages call the cast."""


@irdl_op_definition
class CallPackedOp(MemoryCallOp):
    """Call a registered function on memory: ``rt.call_packed "env.relu"(%x) outs(%y) : (…), (…)``.

    The name is looked up at each call. Outside a dataflow block, calls keep their order. A function
    that ``returns`` takes only the inputs, and its results are copied to the outputs, or become
    results of unknown shape: ``returns kept [[0], []]`` has the numbers of these for each. With a
    ``text`` the callee is a function of the runtime: ``relax.print``, ``relax.assert``,
    ``relax.str`` or ``vm.builtin.value_of``. The `signature` has the arguments and the result as
    types of the graph, if they are not a tensor for each buffer; an object is a number in memory.
    """

    name = "rt.call_packed"
    callee = prop_def(StringAttr)
    returns = opt_prop_def(UnitAttr)
    kept = opt_prop_def(ArrayAttr[ArrayAttr[IntAttr]])
    text = opt_prop_def(StringAttr)
    signature = opt_prop_def(FunctionType)

    def __init__(
        self,
        callee: str,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        returns: bool = False,
        text: str | None = None,
        kept: Sequence[Sequence[int]] | None = None,
        signature: FunctionType | None = None,
    ):
        super().__init__(
            operands=[list(inputs), list(outputs)],
            properties={
                "callee": StringAttr(callee),
                "returns": UnitAttr() if returns else None,
                "kept": None if kept is None else ArrayAttr([int_list(group) for group in kept]),
                "text": None if text is None else StringAttr(text),
                "signature": signature,
            },
        )

    @property
    def kept_results(self) -> list[list[int]]:
        """The results of unknown shape that each value is, which the function returns."""
        return [] if self.kept is None else [ints_of(group) for group in self.kept.data]

    def verify_(self) -> None:
        super().verify_()
        if self.kept is not None and (self.returns is None or self.outputs):
            raise VerifyException("expected values to keep that a function returns, and no outputs")
        takes_text = (*OWN_FUNCTIONS, VALUE_OF)
        if self.text is not None and self.callee.data not in takes_text:
            known = ", ".join(takes_text)
            raise VerifyException(f"expected a text for {known}, got '{self.callee.data}'")
        if self.signature is not None:
            self._verify_signature(self.signature)

    def _verify_signature(self, signature: FunctionType) -> None:
        groups = [("inputs", signature.inputs.data, self.inputs)]
        if self.returns is not None and self.kept is None:
            groups.append(("outputs", signature.outputs.data, self.outputs))
        for what, types, memory in groups:
            count = sum(len(tensors_in(with_handles(type_))) for type_ in types)
            if count != len(memory):
                raise VerifyException(
                    f"expected {count} {what} for the signature, got {len(memory)}"
                )

    @property
    def numbers(self) -> list[IntExpr]:
        """The dims of shapes and the numbers among the arguments, in order."""
        inputs = () if self.signature is None else self.signature.inputs.data
        return [dim for type_ in inputs for dim in _numbers(type_)]

    @classmethod
    def parse(cls, parser: Parser) -> CallPackedOp:
        callee = parser.parse_str_literal(" of the function's name")
        returns = parser.parse_optional_keyword("returns") is not None
        kept = None
        if parser.parse_optional_keyword("kept"):
            kept = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parse_int_list(parser)
            )
        text = None
        if parser.parse_optional_keyword("text"):
            text = parser.parse_str_literal(" of the text")
        inputs, outputs, _ = parse_call(parser)
        signature = None
        if parser.parse_optional_keyword("signature"):
            position = parser.pos
            signature = parser.parse_type()
            if not isinstance(signature, FunctionType):
                parser.raise_error(f"expected a function type, got {signature}", position)
        return CallPackedOp(callee, inputs, outputs, returns, text, kept, signature)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_text(printer, self.callee.data)
        printer.print_string(" returns " if self.returns is not None else "")
        if self.kept is not None:
            printer.print_string(f"kept {self.kept_results} ")
        if self.text is not None:
            printer.print_string(" text ")
            print_text(printer, self.text.data)
            printer.print_string(" ")
        print_call(printer, self.inputs, self.outputs, ())
        if self.signature is not None:
            printer.print_string(" signature ")
            printer.print_attribute(self.signature)


def _numbers(type_: Attribute) -> Sequence[IntExpr]:
    match type_:
        case TupleType(types=fields):
            return [n for field in fields.data for n in _numbers(field)]
        case ShapeType(dims=dims) if dims is not None:
            return dims
        case PrimType(expr=expr) if expr is not None:
            return [expr]
        case _:
            return ()


def results_of(op: CallDPSOp | CallPackedOp | ForOp) -> tuple[SSAValue, ...]:
    """The memory that a call writes, and of a loop's only call the memory around the loop."""
    if not isinstance(op, ForOp):
        return tuple(op.outputs)
    calls = (o for o in op.body.block.ops if isinstance(o, CallDPSOp))
    return tuple(_around(op, output) for call in calls for output in call.outputs)


def _around(loop: ForOp, output: SSAValue) -> SSAValue:
    """The memory of an output after the loop: carried, sliced, or that of the condition."""
    if output in loop.written:
        return loop.carried[loop.written.index(output)]
    if isinstance(output.owner, SliceOp):
        return output.owner.source
    return output if loop.condition is None else loop.condition
