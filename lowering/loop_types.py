"""Loops of graphs and their functions: types of results, and the symbols of an iteration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, TupleType
from xdsl.ir import Attribute, SSAValue, TypeAttribute

from ..dialects.diagnostics import Diagnostic
from ..dialects.int_expr import IntExpr, Sym
from ..dialects.nesting import enclosing
from ..dialects.relax import FuncOp, LoopOp
from ..dialects.relax.symbols import declared_in, paired_dims
from ..dialects.relax.type_relations import forget_symbols
from ..dialects.relax.types import TensorType, type_symbols
from .call_signature import Unification, unify_types
from .functions import count_text, unique_name
from .substitute import substituted


@dataclass(frozen=True)
class LoopOperands:
    """What a loop works on."""

    carried: Sequence[SSAValue]
    scanned: Sequence[SSAValue]
    given: Sequence[SSAValue]

    def trips(self) -> IntExpr | None:
        """The elements along the first axis of the first scanned tensor, if they are known."""
        type_ = self.scanned[0].type if self.scanned else None
        dims = type_.dims if isinstance(type_, TensorType) else None
        return dims[0] if dims else None

    def argument_types(self) -> list[Attribute]:
        """The types of the arguments of an iteration after its number."""
        slices = [_row(v.type) for v in self.scanned]
        return [*(v.type for v in self.carried), *slices, *(v.type for v in self.given)]


def loop_type(
    name: str,
    params: Sequence[Attribute],
    result: Attribute,
    operands: LoopOperands,
    trips: IntExpr | None,
    is_while: bool,
) -> TupleType:
    """The type of a loop over a function `name` with these types of parameters and result.

    Raises Diagnostic with one line for a function that no loop on these operands can run.
    """
    count = len(operands.carried)
    if not isinstance(result, TupleType) or len(result.types.data) < count:
        raise Diagnostic(
            f"expected '{name}' to return a tuple of {count_text(count, 'carried tensor')} "
            f"and outputs, got {result}"
        )
    outputs = result.types.data[count:]
    if is_while and outputs:
        raise Diagnostic(
            f"expected '{name}' to return {count_text(count, 'carried tensor')} alone, as a "
            f"while loop stacks nothing, got {result}"
        )
    if trips is None and not is_while:
        raise Diagnostic("expected trips, or a scanned tensor of known shape, got neither")
    known: dict[str, IntExpr] = {}
    for param, type_ in zip(params[1:], operands.argument_types(), strict=False):
        for dim, actual in paired_dims(param, type_):
            if isinstance(atom := dim.as_atom, Sym):
                known.setdefault(atom.name, actual)
    carried = [cast(TypeAttribute, v.type) for v in operands.carried]
    stacks = [_stacked(name, t, known, trips) for t in outputs]
    return TupleType(ArrayAttr([*carried, *stacks]))


def unify_loop(op: LoopOp, callee: FuncOp) -> Unification:
    """Unify an iteration of a loop with its function: arguments, then the fields of the result.

    Raises Diagnostic with one line where they do not fit.
    """
    index = loop_index(op)
    arguments, fields = op.body_types(index)
    where = f"loop of '{callee.sym_name.data}'"
    if len(arguments) != len(callee.params):
        raise Diagnostic(
            f"{where}: expected {count_text(len(callee.params), 'argument')} "
            f"({', '.join(callee.names)}), got the number of the iteration, "
            f"{len(op.carried)} carried, {len(op.scanned)} scanned and {len(op.given)} given"
        )
    subjects = [*(f"argument '{n}'" for n in callee.names), "the result"]
    expected = [*(p.type for p in callee.params), callee.result_type]
    got = [*arguments, TupleType(ArrayAttr(fields))]
    unified = unify_types(where, subjects, expected, got)
    for equation in unified.undecided:
        if index in equation.expected.symbols() | equation.actual.symbols():
            raise Diagnostic(
                f"{where}: expected a size of {equation.subject} to be {equation.expected} "
                f"in every iteration, got {equation.actual}"
            )
    return unified


def loop_index(op: LoopOp) -> str:
    """The symbol of the iteration, a name that the operands and the function around do not have."""
    taken = {s for v in op.operands for s in type_symbols(v.type)}
    func = enclosing(op, FuncOp)
    if func is not None:
        taken |= {*func.declared_symbols(), *declared_in(func.body.block)}
    return unique_name("i", taken)


def _row(type_: Attribute) -> Attribute:
    if not isinstance(type_, TensorType) or not type_.dims:
        return type_
    return TensorType.of(type_.dims[1:], type_.known_element)


def _stacked(
    name: str, output: Attribute, known: dict[str, IntExpr], trips: IntExpr | None
) -> TypeAttribute:
    type_ = substituted(forget_symbols(output, known.keys()), known)
    if not isinstance(type_, TensorType) or (type_.dims is None and type_.rank != 0):
        raise Diagnostic(
            f"expected outputs of '{name}' to be tensors whose shapes follow from its arguments, "
            f"and not from the number of the iteration, got {output}"
        )
    assert trips is not None
    return TensorType.of([trips, *(type_.dims or ())], type_.known_element)
