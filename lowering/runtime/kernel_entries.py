"""Entries for kernels: a public PrimFunc can be called by users, with all of its buffers given.

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

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region

from ...dialects import rt, tir
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import sym
from ...dialects.parameters import value_hint
from ..call_signature import buffer_formals, unify
from ..verify_calls import written_params

KERNEL_SUFFIX = ".kernel"
"""What the name of a kernel ends in whose own name is that of its entry."""


def kernel_entry(func: tir.PrimFuncOp, kernel: str) -> rt.FuncOp:
    """The `rt.func` with the PrimFunc's name that checks its arguments and calls `kernel`.

    Raises Diagnostic with one line for a parameter that users cannot pass: a scalar, an
    index that no buffer's shape determines, or a buffer with gaps.
    """
    block, names = Block(), list[str]()
    for name, param in zip(func.names, func.params, strict=True):
        if isinstance(param.type, tir.BufferType):
            dense = tir.BufferType.of(param.type.dims, param.type.element_type)
            block.insert_arg(dense, len(block.args)).name_hint = value_hint(name)
            names.append(name)
    indices = _index_names(func)
    _verify_layout(func)
    block.add_ops([rt.CheckOp(arg, name) for arg, name in zip(block.args, names, strict=True)])
    written = [names.index(func.names[i]) for i in written_params(func)]
    # The call lists memory in the kernel's order: what follows a written buffer counts as written.
    first = min(written, default=len(names))
    call = rt.CallDPSOp(kernel, block.args[:first], block.args[first:], [sym(n) for n in indices])
    block.add_op(call)
    return rt.FuncOp(func.sym_name.data, names, 0, Region(block), written=written)


def can_enter(func: tir.PrimFuncOp) -> bool:
    """Whether the shapes of the buffers determine every other parameter of the kernel."""
    return all(
        isinstance(p.type, tir.BufferType)
        or (isinstance(p.type, IndexType) and n in _buffer_symbols(func))
        for n, p in zip(func.names, func.params, strict=True)
    )


def _buffer_symbols(func: tir.PrimFuncOp) -> set[str]:
    types = [p.type for p in func.params if isinstance(p.type, tir.BufferType)]
    return {n for n in func.names if any(sym(n) in t.dims for t in types)}


def _index_names(func: tir.PrimFuncOp) -> list[str]:
    if not can_enter(func):
        others = ", ".join(
            f"'{n}' of type {p.type}"
            for n, p in zip(func.names, func.params, strict=True)
            if not isinstance(p.type, tir.BufferType) and n not in _buffer_symbols(func)
        )
        raise Diagnostic(
            f"expected parameters of '{func.sym_name.data}' to be buffers or their dims, "
            f"got {others}"
        )
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
