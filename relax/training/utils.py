"""`AppendLoss`: a model with a loss after it as one more function of the module."""

from __future__ import annotations

from ...dialects.relax import FuncOp
from ...ir.base_function import BaseFunc
from ...ir.kernel_gradients import register_te_gradient as register_te_gradient
from ...ir.module import IRModule
from ...ir.transform import Pass, PassContext, PassInfo
from ...lowering.graph.append_loss import append_loss


class AppendLoss(Pass):
    """Add ``{func_name}_loss``: the function `func_name`, and the loss of its results.

    The first `num_backbone_outputs` results are the first arguments of the loss, whose other
    parameters follow those of the function; other results, such as states, are returned after the
    loss. Both functions are one dataflow block. Calling it raises Diagnostic with one line for
    functions that do not fit each other. TVM's ``relax.training.AppendLoss``.
    """

    info = PassInfo("append-loss")

    def __init__(
        self,
        func_name: str,
        loss_function: BaseFunc,
        num_backbone_outputs: int = 1,
        new_func_name: str | None = None,
    ):
        self.func_name, self.loss = func_name, loss_function
        self.count = num_backbone_outputs
        self.new_name = new_func_name or f"{func_name}_loss"

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        assert isinstance(self.loss.op, FuncOp)
        append_loss(mod.op, self.func_name, self.loss.op, self.count, self.new_name)
        return mod
