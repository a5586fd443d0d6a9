"""LLVM IR text of a module of `llvm.func`s: what the JIT compiles.

llvm.func @f(%x: f32) -> f32 {          define float @f(float %1) {
  %y = llvm.fadd %x, %x : f32     ⇒     b0:
  llvm.return %y : f32                    %2 = fadd float %1, %1
}                                         ret float %2
                                        }
"""

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.llvm import FuncOp, GlobalOp

from .errors import BackendError
from .llvm_function import ModuleState
from .llvm_instructions import EMITTERS
from .llvm_module import function_lines, global_line
from .target import Target


def emit_module(module: ModuleOp, target: Target | None = None) -> str:
    """LLVM IR of a module of `llvm.func` and `llvm.mlir.global`, of `llvm` and `llvm_ext` ops.

    With a target the text states its triple and data layout. Raises `BackendError`, which names
    the function and the operation, for what has no LLVM IR; nothing is left out silently.
    """
    state = ModuleState(target is None or target.isa.converts_f16)
    lines: list[str] = []
    if target is not None:
        lines += (
            f'target datalayout = "{target.data_layout}"',
            f'target triple = "{target.triple}"',
        )
    for op in module.body.block.ops:
        match op:
            case FuncOp():
                lines += function_lines(op, state, EMITTERS)
            case GlobalOp():
                lines.append(global_line(op))
            case _:
                raise BackendError(f"cannot emit '{op.name}' at the top of a module")
    lines += state.declarations.values()
    lines += state.metadata_lines()
    return "\n".join(lines) + "\n"
