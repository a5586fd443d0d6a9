"""`SetupTrainer`: a module with a model becomes one with all functions that training needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ...ir.base_function import BaseFunc
from ...ir.function import Function
from ...ir.module import IRModule
from ...ir.struct_info import TupleStructInfo
from ...ir.transform import Pass, PassContext, PassInfo
from ...lowering.graph.gradient import add_gradient
from ..transform import LegalizeOps
from .optimizer import Optimizer
from .utils import AppendLoss

BACKBONE, LOSS, ADJOINT = "backbone", "backbone_loss", "backbone_loss_adjoint"
OPTIMIZER = "optimizer"


class AnyLoss(Protocol):
    """A loss as those of `training.loss`."""

    num_backbone_outputs: int

    def __call__(self, *args: Any) -> BaseFunc:
        """The function of predictions and targets."""
        ...


class SetupTrainer(Pass):
    """Add the loss, its gradients and the optimizer to a module with a model, for a `Trainer`.

    The model is the function ``backbone(*inputs, *params, *states)``, one dataflow block, which
    returns predictions and new states; the attributes `param_num` and `state_num` of the module say
    how many parameters and states there are. New functions are ``backbone_loss``,
    ``backbone_loss_adjoint`` and ``optimizer``, new attributes `input_num` and `optim_state`, the
    first states of the optimizer. `loss_args` are the arguments of the loss, such as types.
    Calling it raises ValueError with one line for a module of another form. TVM's
    ``relax.training.SetupTrainer``.
    """

    info = PassInfo("SetupTrainer")

    def __init__(
        self, loss: AnyLoss, optimizer: Optimizer, loss_args: Sequence[Any], legalize: bool = True
    ):
        self.loss, self.optimizer = loss, optimizer
        self.loss_args, self.legalize = loss_args, legalize

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        params, states = (_count(mod, name) for name in ("param_num", "state_num"))
        inputs = _inputs(mod, params, states)
        loss = self.loss(*self.loss_args)
        mod = AppendLoss(BACKBONE, loss, self.loss.num_backbone_outputs, LOSS)(mod)
        model = mod[LOSS]
        assert isinstance(model, Function)
        trained = model.params[inputs : inputs + params]
        add_gradient(mod.op, LOSS, [p.name_hint for p in trained])
        self.optimizer.init(trained)
        mod[OPTIMIZER] = self.optimizer.get_function().with_attr("global_symbol", OPTIMIZER)
        mod = mod.with_attrs({"input_num": inputs, "optim_state": self.optimizer.state})
        return LegalizeOps()(mod) if self.legalize else mod


def _count(mod: IRModule, name: str) -> int:
    value = mod.attrs.get(name)
    if not isinstance(value, int):
        raise ValueError(f"expected the module to have an integer attribute '{name}', got {value}")
    return value


def _inputs(mod: IRModule, params: int, states: int) -> int:
    """The number of inputs of the model."""
    func = mod[BACKBONE]
    if not isinstance(func, Function) or len(func.params) < params + states:
        raise ValueError(f"expected '{BACKBONE}' to have {params + states} parameters and states")
    result = func.ret_struct_info
    if states and (not isinstance(result, TupleStructInfo) or len(result.fields) <= states):
        raise ValueError(f"expected '{BACKBONE}' to return predictions and {states} states")
    return len(func.params) - params - states
