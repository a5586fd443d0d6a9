"""Scalar parameters of kernels in memory: buffers of rank 0, whose elements are loaded once."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ..dialects import tir
from ..dialects.diagnostics import Diagnostic
from ..dialects.int_expr import Sym
from ..dialects.sym import Values
from ..dialects.tir.func import symbols_of


def scalars_in_memory(func: tir.PrimFuncOp, indices: Mapping[str, Attribute] = {}) -> None:
    """Replace scalar parameters, and index parameters in `indices`, by loads from buffers.

    `indices` has the integer types that they have in memory. Raises Diagnostic with one line for a
    pointer, and for an index parameter that shapes, loops or indices use.
    """
    first, loads = func.body.block.first_op, list[Operation]()
    for param in func.params:
        name = func.names[param.index]
        if isinstance(param.type, tir.HandleType):
            raise Diagnostic(f"in '@{func.sym_name.data}': expected T.match_buffer for '{name}'")
        if isinstance(param.type, IndexType):
            if name in indices:
                loads += _in_memory(func, param, indices[name])
        elif not isinstance(param.type, tir.BufferType):
            loads += _in_memory(func, param, func.element_type_of(param))
    if first is None:
        func.body.block.add_ops(loads)
    else:
        func.body.block.insert_ops_before(loads, first)
    func.unsigned = None


def _in_memory(func: tir.PrimFuncOp, param: BlockArgument, element: Attribute) -> list[Operation]:
    """Make a parameter a buffer; the operations that load its value."""
    buffer = func.body.block.insert_arg(tir.BufferType.of((), element), param.index)
    loads: list[Operation] = [tir.LoadOp(buffer, (), ())]
    if isinstance(param.type, IndexType):
        loads.append(arith.IndexCastOp(loads[0].results[0], IndexType()))
        _replace_symbol(func, func.names[param.index - 1], loads[1].results[0])
    buffer.name_hint = loads[-1].results[0].name_hint = param.name_hint
    param.replace_all_uses_with(loads[-1].results[0])
    func.body.block.erase_arg(param)
    return loads


def is_size_parameter(func: tir.PrimFuncOp, name: str) -> bool:
    """Whether shapes, loops or indices use an index parameter; else only scalars depend on it."""
    types = [p.type for p in func.params if isinstance(p.type, tir.BufferType)]
    return any(name in t.symbols() for t in types) or any(
        name in symbols_of(op) for op in func.body.walk() if not isinstance(op, tir.ApplyOp)
    )


def _replace_symbol(func: tir.PrimFuncOp, name: str, value: SSAValue) -> None:
    """Replace a symbol by a value where scalars are computed of it."""
    if is_size_parameter(func, name):
        raise Diagnostic(
            f"expected '{name}' of '{func.sym_name.data}' as an integer over symbols, as shapes, "
            "loops or indices use it, got a scalar of unknown value"
        )
    for op in list(func.body.walk()):
        if isinstance(op, tir.ApplyOp) and name in op.expr.data.symbols():
            values = Values()
            expr = values.rebase(op.expr.data, op.operands_)
            expr = expr.substitute({Sym(name): values.expr(value)})
            Rewriter.replace_op(op, tir.ApplyOp(expr, values.list))
