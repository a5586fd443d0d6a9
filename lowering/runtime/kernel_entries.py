"""Entry points of public PrimFuncs, which users call with all buffers.

::

    tir.prim_func @relu0(%X: …, %Y: …) params ("x", "y") { … }

⇒

::

    rt.func @relu0(%x: …, %y: …) written [1] {
      rt.check %x "x" : …
      rt.check %y "y" : …
      rt.call_dps @relu0.kernel(%x) outs(%y) : …
    }
    tir.prim_func @relu0.kernel(%X: …, %Y: …) params ("x", "y") { … }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import FunctionType, IndexType, i64
from xdsl.ir import Block, Region, SSAValue

from ...dialects import relax, rt, tir
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import sym
from ...dialects.parameters import value_hint
from ..call_signature import buffer_formals, unify
from ..scalar_parameters import scalars_in_memory
from ..verify_calls import written_params

KERNEL_SUFFIX = ".kernel"
"""The suffix of a kernel whose original name is that of its entry."""


def kernel_entry(func: tir.PrimFuncOp, kernel: str) -> rt.FuncOp:
    """The `rt.func` with the PrimFunc's name that checks its arguments and calls `kernel`.

    Scalars become buffers of rank 0, also in the PrimFunc. Indices that no buffer's shape
    determines are integer arguments. Raises Diagnostic with one line for a buffer that is not
    dense.
    """
    names = [n for n in func.names if n not in _determined(func)]
    given = [n for n in names if isinstance(func.params[func.names.index(n)].type, IndexType)]
    scalars_in_memory(func)
    block, indices = Block(), _index_names(func)
    for name, param in zip(func.names, func.params, strict=True):
        if isinstance(param.type, tir.BufferType):
            dense = tir.BufferType.of(param.type.dims, param.type.element_type)
            block.insert_arg(dense, len(block.args)).name_hint = value_hint(name)
    memory = [n for n in func.names if n not in indices]
    _verify_layout(func)
    block.add_ops([rt.CheckOp(arg, name) for arg, name in zip(block.args, memory, strict=True)])
    written = [memory.index(func.names[i]) for i in written_params(func)]
    # Operands are in the kernel's order: those after the first written one count as written.
    first = min(written, default=len(memory))
    call = rt.CallDPSOp(kernel, block.args[:first], block.args[first:], [sym(n) for n in indices])
    block.add_op(call)
    buffers = dict(zip(memory, block.args, strict=True))
    return rt.FuncOp(
        func.sym_name.data,
        memory,
        0,
        Region(block),
        written=written,
        symbols=given,
        signature=(names, _user_types(names, buffers)) if given else None,
    )


def _user_types(names: Sequence[str], buffers: Mapping[str, SSAValue]) -> FunctionType:
    """The type for users: tensors and integers as arguments, no result."""
    memory = {n: cast(tir.BufferType, b.type) for n, b in buffers.items()}
    return FunctionType.from_lists(
        [
            relax.TensorType.of(memory[n].dims, memory[n].element_type)
            if n in memory
            else relax.PrimType.of(i64, sym(n))
            for n in names
        ],
        [],
    )


def can_enter(func: tir.PrimFuncOp) -> bool:
    """Whether the shapes of the buffers determine every index parameter of the kernel."""
    return set(_index_names(func)) <= _determined(func)


def _determined(func: tir.PrimFuncOp) -> set[str]:
    """The index parameters that are a dim of a buffer."""
    types = [p.type for p in func.params if isinstance(p.type, tir.BufferType)]
    return {n for n in _index_names(func) if any(sym(n) in t.dims for t in types)}


def _index_names(func: tir.PrimFuncOp) -> list[str]:
    return [
        n for n, p in zip(func.names, func.params, strict=True) if isinstance(p.type, IndexType)
    ]


def _verify_layout(func: tir.PrimFuncOp) -> None:
    types = [p.type for p in func.params if isinstance(p.type, tir.BufferType)]
    dense = [tir.BufferType.of(t.dims, t.element_type) for t in types]
    formals = buffer_formals(func.names, [p.type for p in func.params])
    where = f"entry of '{func.sym_name.data}'"
    for equation in unify(where, formals, dense, {n: sym(n) for n in _index_names(func)}).undecided:
        raise Diagnostic(
            f"{where}: expected {equation.subject} to be row-major, got {equation.expected} "
            f"where that is {equation.actual}"
        )
