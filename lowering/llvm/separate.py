"""Compile kernels to object files of their own: separable kernels, their modules, declarations.

::

    rt.func @main(…) results 1 { rt.call_dps @relu(%x) outs(%y) : … }
    tir.prim_func @relu(%X: …, %Y: …) attributes {"private"} { … }

⇒

::

    rt.func @main(…) results 1 { rt.call_dps @relu(%x) outs(%y) : … }
    loops.func @relu(%X: …, %Y: …) noalias external "xrelax.relu.1f2e" {}

and a module with only the kernel, whose LLVM function has that symbol. This is done after memory
planning and scheduling, when kernels no longer depend on the rest of the module.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr
from xdsl.ir import Block, Region
from xdsl.rewriter import Rewriter

from ...dialects import loops, tir
from ..analysis.independence import is_noalias
from ..functions import call_graph, functions_by_name, symbol_order
from .interface import Tables
from .types import native_symbol


def separable_kernels(module: ModuleOp, uncalled: bool = False) -> list[tir.PrimFuncOp]:
    """The kernels of a planned module that can be compiled alone.

    Excluded are kernels that no function calls, unless `uncalled`, and kernels that refer to tables
    of the module, such as the messages of assertions.
    """
    calls = call_graph(functions_by_name(module))
    called = {name for names in calls.values() for name in names}
    return [
        op
        for op in module.body.block.ops
        if isinstance(op, tir.PrimFuncOp)
        and (uncalled or op.sym_name.data in called)
        and _stands_alone(op)
    ]


def _stands_alone(func: tir.PrimFuncOp) -> bool:
    tables = Tables()
    for op in func.walk():
        tables.add(op)
    return tables == Tables()


def kernel_symbol(name: str, key: str) -> str:
    """The native symbol of a kernel: its name for people, and a key that no other kernel has."""
    return f"{native_symbol(name)}.{key}"


def export_kernel(module: ModuleOp, name: str, symbol: str) -> None:
    """Give a kernel, in its module in the `llvm` dialect, a symbol that other objects can use."""
    for op in module.body.block.ops:
        if isinstance(op, llvm.FuncOp) and op.sym_name.data == native_symbol(name):
            op.sym_name = StringAttr(symbol)
            op.linkage = llvm.LinkageAttr("external")


def declare_kernel(func: tir.PrimFuncOp, symbol: str) -> None:
    """Replace a kernel by the declaration of one of another object file."""
    buffers = [p for p in func.params if not isinstance(p.type, IndexType)]
    block = Block(arg_types=[p.type for p in buffers])
    for arg, param in zip(block.args, buffers, strict=True):
        arg.name_hint = param.name_hint
    declaration = loops.FuncOp(
        func.sym_name.data, symbol_order(func), Region(block), is_noalias(func), symbol
    )
    Rewriter.replace_op(func, declaration, [])
