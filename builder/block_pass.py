"""Passes on the dataflow blocks of graph functions; TVM's ``dataflowblock_pass``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ..ir.blocks import DataflowBlock
from ..ir.function import Function
from ..ir.module import IRModule
from ..ir.transform import PassContext, pass_decorator, pass_of
from .block_builder import inside_of
from .mutator import PyExprMutator

Transform: TypeAlias = "Callable[[DataflowBlock, IRModule, PassContext], DataflowBlock]"


class _BlockRewriter(PyExprMutator):
    """Rebuilds functions; dataflow blocks as a function of blocks says."""

    def __init__(self, transform: Transform, mod: IRModule, ctx: PassContext):
        super().__init__()
        self._transform = transform
        self._mod = mod
        self._ctx = ctx

    def visit_dataflow_block_(self, block: DataflowBlock) -> Any:
        with inside_of(self.builder_):
            new = self._transform(block, self._mod, self._ctx)
        return super().visit_dataflow_block_(block) if new == block else new


def _lifted(transform: Transform) -> Callable[[IRModule, PassContext], IRModule]:
    def on_module(mod: IRModule, ctx: PassContext) -> IRModule:
        for var, func in mod.items():
            if isinstance(func, Function):
                mod[var] = _BlockRewriter(transform, mod, ctx).visit_expr(func)
        return mod

    return on_module


dataflowblock_pass = pass_decorator(
    lambda d, info: pass_of(d, info, "transform_dataflowblock", _lifted),
    "Decorator of a function ``(block, mod, ctx)``, or a class: a pass on each dataflow block.\n\n"
    "It returns the block as it is, or what the `visit_binding_block` of a mutator makes of it.",
)
