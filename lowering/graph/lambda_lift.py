"""`lambda-lift`: move local functions to the module.

::

    relax.func @main(%x: T, %y: T) -> T {
      %f = relax.local_func @inner(%a: T) -> T {
        %b = relax.add %a, %y : …
        relax.return %b : T
      }
      %z = relax.invoke %f(%x) : …

⇒

::

    relax.func @main(%x: T, %y: T) -> T {
      %z = relax.call @main_inner(%x, %y) : …
    relax.func private @main_inner(%a: T, %y: T) -> T {
      %b = relax.add %a, %y : …
      relax.return %b : T
    }

Captured values, and symbols that the parameters do not determine, become parameters; a function
that calls itself, by its `relax.own_func`, passes them on. Calls that take or return function
values are inlined before (`inline_closures`). A function value with other uses than calls, such as
a field of a tuple, is an error: there are no closures at run time. TVM's
``LambdaLift``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import sym
from ...dialects.parameters import value_hint
from ...dialects.relax.symbols import declared_before, determined_symbols
from ...dialects.relax.types import type_symbols
from ..functions import functions_by_name, graph_functions, unique_name
from .inline_closures import inline_closures


def lambda_lift(module: ModuleOp) -> None:
    """Move every local function of the module's graph functions to the module, in place.

    Raises Diagnostic with one line for a function value that is not only called.
    """
    inline_closures(module)
    taken = set(functions_by_name(module))
    work = graph_functions(module)
    while work:
        func = work.pop(0)
        while (local := _first(func)) is not None:
            name = unique_name(f"{func.sym_name.data}_{local.func_name.data}", taken, first=0)
            taken.add(name)
            work.append(lifted := lift(local, name))
            Rewriter.insert_op(lifted, InsertPoint.after(func))


def _first(func: relax.FuncOp) -> relax.LocalFuncOp | None:
    """The first local function without nested ones, or one that these call."""
    for op in func.walk():
        if isinstance(op, relax.LocalFuncOp):
            inner = [o for o in op.walk() if isinstance(o, relax.LocalFuncOp) and o is not op]
            calls = [use.operation for own in _own(op.body.block) for use in own.result.uses]
            if not inner or any(_is_inside(call, o) for call in calls for o in inner):
                return op
    return None


def lift(local: relax.LocalFuncOp, name: str) -> relax.FuncOp:
    """A private function for a local one, whose calls become calls of it.

    The caller adds it to the module. Raises Diagnostic with one line for other uses than calls.
    """
    for value in (local.result, *(op.result for op in _own(local.body.block))):
        _verify_only_called(local, value)
    captured, symbols = captured_values(local), _captured_symbols(local)
    missing = [s for s in symbols if s not in determined_symbols(v.type for v in captured)]
    count = len(local.params)
    for value in captured:
        captured_name = unique_name(value.name_hint or "captured", local.names)
        arg = local.insert_param(len(local.params), captured_name, value.type)
        value.replace_uses_with_if(arg, lambda use: _is_inside(use.operation, local))
    for symbol in missing:
        type_ = relax.PrimValueOp(sym(symbol)).result.type
        local.insert_param(len(local.params), unique_name(symbol, local.names), type_)
    call_itself(local, local.body.block, name, local.params[count:])
    for use in list(local.result.uses):
        _replace_call(use.operation, name, captured, missing)
    names, types, attrs = local.names, local.result.type, local.attrs
    body = local.detach_region(local.body)
    Rewriter.erase_op(local)
    return relax.FuncOp(name, names, types.result, body, types.impure, private=True, attrs=attrs)


def _own(block: Block) -> list[relax.OwnFuncOp]:
    return [op for op in block.ops if isinstance(op, relax.OwnFuncOp)]


def call_itself(
    local: relax.LocalFuncOp, block: Block, name: str, more: Sequence[SSAValue] = ()
) -> None:
    """Let a body of a local function call itself by a name, with more arguments, in place.

    Raises Diagnostic with one line for a function value that is not only called.
    """
    for op in _own(block):
        _verify_only_called(local, op.result)
        for use in list(op.result.uses):
            _replace_call(use.operation, name, more, [])
        Rewriter.erase_op(op)


def _verify_only_called(local: relax.LocalFuncOp, value: SSAValue) -> None:
    for use in value.uses:
        if not isinstance(use.operation, relax.InvokeOp) or use.index != 0:
            raise Diagnostic(
                f"expected local function '{local.func_name.data}' only to be called, "
                f"got it as a value of '{use.operation.name}'",
                use.operation,
            )


def _is_inside(op: Operation | Block | Region | None, local: relax.LocalFuncOp) -> bool:
    while isinstance(op, Operation) and op is not local:
        op = op.parent_op()
    return op is local


def captured_values(local: relax.LocalFuncOp) -> list[SSAValue]:
    """Outer values that the function uses, in order of first use."""
    found: dict[SSAValue, None] = {}
    for op in local.walk():
        for operand in () if op is local else op.operands:
            owner = operand.owner
            inside = owner if isinstance(owner, Operation) else owner.parent_op()
            if not _is_inside(inside, local):
                found[operand] = None
    return list(found)


def _captured_symbols(local: relax.LocalFuncOp) -> list[str]:
    """Symbols of the program around that the function uses and its parameters do not declare.

    A cast to one of them is a check.
    """
    own = set(determined_symbols(p.type for p in local.params))
    used: set[str] = set()
    for op in local.walk():
        for attribute in (*op.result_types, *op.properties.values()):
            used |= set() if op is local else type_symbols(attribute)
    used |= {s for p in local.params for s in type_symbols(p.type)}
    return sorted((used & declared_before(local)) - own)


def _replace_call(
    op: Operation, name: str, captured: Sequence[SSAValue], symbols: Sequence[str]
) -> None:
    assert isinstance(op, relax.InvokeOp)
    numbers = [relax.PrimValueOp(sym(s)) for s in symbols]
    for symbol, number in zip(symbols, numbers, strict=True):
        number.result.name_hint = value_hint(symbol)
    args = [*op.args, *captured, *(n.result for n in numbers)]
    call = relax.CallOp(name, args, op.result.type)
    call.location = op.location
    call.result.name_hint = op.result.name_hint
    Rewriter.replace_op(op, [*numbers, call], [call.result])


@dataclass(frozen=True)
class LambdaLiftPass(ModulePass):
    """Move local functions to the module; values that they capture become arguments."""

    name = "lambda-lift"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lambda_lift(op)
