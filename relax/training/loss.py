"""Losses as graph functions of predictions and targets.

``MSELoss(reduction="sum")(predictions, targets)`` is a function ``mse_loss`` of one dataflow block;
the arguments are variables or their types. `AppendLoss` puts it after a model. TVM's
``relax.training.loss``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...builder import op
from ...builder.block_builder import BlockBuilder
from ...ir.base_function import BaseFunc
from ...ir.expr import Var
from ...ir.struct_info import TensorStructInfo

REDUCTIONS = ("mean", "sum", "none")


class Loss:
    """A loss of outputs of a model, the first `num_backbone_outputs` parameters, and targets.

    `reduction` is "mean", "sum" or "none"; raises ValueError for any other one.
    """

    def __init__(self, loss_name: str, num_backbone_outputs: int, reduction: str = "mean"):
        if reduction not in REDUCTIONS:
            raise ValueError(f"expected reduction among {', '.join(REDUCTIONS)}, got {reduction!r}")
        self.loss_name = loss_name
        self.num_backbone_outputs = num_backbone_outputs
        self.reduction = reduction

    def reduced(self, value: Any) -> Any:
        """The elements of a loss as one number, unless the reduction is "none"."""
        return value if self.reduction == "none" else getattr(op, self.reduction)(value)

    def function(self, compute: Callable[..., Any], **params: Any) -> BaseFunc:
        """The function of parameters by name that `compute` defines; `None` is left out."""
        variables = [_variable(n, p) for n, p in params.items() if p is not None]
        builder = BlockBuilder()
        with builder.function(self.loss_name, variables):
            with builder.dataflow():
                result = builder.emit_output(compute(*variables))
            builder.emit_func_output(result)
        return builder.get()[self.loss_name].with_attr("global_symbol", self.loss_name)


def _variable(name: str, given: Any) -> Var:
    """A new variable like the given one, or of the given type."""
    if isinstance(given, Var):
        return Var(given.name_hint, given.struct_info)
    return Var(name, given)


class L1Loss(Loss):
    """The absolute difference of predictions and targets; `torch.nn.L1Loss`."""

    def __init__(self, reduction: str = "mean"):
        super().__init__("l1_loss", 1, reduction)

    def __call__(self, predictions: Any, targets: Any) -> BaseFunc:
        """The function of predictions and targets of one shape."""

        def compute(p: Var, t: Var) -> Any:
            return self.reduced(op.abs(p - t))

        return self.function(compute, predictions=predictions, targets=targets)


class MSELoss(Loss):
    """The squared difference of predictions and targets; `torch.nn.MSELoss`."""

    def __init__(self, reduction: str = "mean"):
        super().__init__("mse_loss", 1, reduction)

    def __call__(self, predictions: Any, targets: Any) -> BaseFunc:
        """The function of predictions and targets of one shape."""

        def compute(p: Var, t: Var) -> Any:
            difference = p - t
            return self.reduced(difference * difference)

        return self.function(compute, predictions=predictions, targets=targets)


class CrossEntropyLoss(Loss):
    """`nn.nll_loss` of `nn.log_softmax`, for targets that are classes; `torch.nn.CrossEntropyLoss`.

    Samples whose target is `ignore_index` do not count. The classes are the last dim of the
    predictions, which have rank 1 or 2.
    """

    def __init__(self, reduction: str = "mean", ignore_index: int = -100):
        super().__init__("cross_entropy_loss", 1, reduction)
        self.ignore_index = ignore_index

    def __call__(self, predictions: Any, targets: Any, weights: Any = None) -> BaseFunc:
        """The function of predictions, classes, and perhaps weights of the classes."""

        def compute(p: Var, *rest: Var) -> Any:
            return op.nn.nll_loss(
                op.nn.log_softmax(p),
                *rest,
                reduction=self.reduction,
                ignore_index=self.ignore_index,
            )

        return self.function(compute, predictions=predictions, targets=targets, weights=weights)


class CategoricalCrossEntropyLoss(Loss):
    """The cross entropy of `nn.log_softmax` and integer labels for each class, as one-hot ones.

    With an `ignore_index` of at least 0, the label of a sample is its class, and samples of that
    class do not count.
    """

    def __init__(self, reduction: str = "mean", ignore_index: int = -100):
        super().__init__("categorical_cross_entropy_loss", 1, reduction)
        self.ignore_index = ignore_index

    def __call__(self, predictions: Any, targets: Any, weights: Any = None) -> BaseFunc:
        """The function of predictions and labels of shape (n, classes), and perhaps weights.

        Raises TypeError for labels that are no integers.
        """

        def compute(p: Var, t: Var, *weight: Var) -> Any:
            if "int" not in t.dtype:
                raise TypeError(f"expected integers as targets, got {t.dtype}")
            logits = op.nn.log_softmax(p)
            if self.ignore_index >= 0:
                assert isinstance(t.struct_info, TensorStructInfo) and t.shape is not None
                classes = op.reshape(op.argmax(t, axis=1), (t.shape[0],))
                return op.nn.nll_loss(logits, classes, *weight, **self._options())
            product = op.multiply(op.negative(logits), op.astype(t, p.dtype))
            for vector in weight:
                product = product * vector
            return self.reduced(product)

        return self.function(compute, predictions=predictions, targets=targets, weights=weights)

    def _options(self) -> dict[str, Any]:
        return {"reduction": self.reduction, "ignore_index": self.ignore_index}
