"""Cases of losses of classifiers, and of gradients that are operators."""

from __future__ import annotations

from typing import Any

import numpy as np
from cases_indexing import take, torch_take
from cases_windows import avg_pool, max_pool, pool
from drawing import FLOATS, NUMBERS, Draw
from harness import Case, torch


def nll_operands(d: Draw):
    """Predictions, targets of which some are ignored, perhaps weights, and the attributes."""
    classes, samples = d.pick((1, 3, 5)), d.shape(0, 3, least=1)
    shape = (classes,) if not samples else (samples[0], classes, *samples[1:])
    targets = d.array(samples, 0, classes - 1, dtype=d.pick(("int64", "int32")))
    attributes = {"reduction": d.pick(("none", "sum", "mean"))}
    if classes > 1 and d.chance(50):
        attributes["ignore_index"] = 1
        targets = np.asarray(targets)
        targets.reshape(-1)[:1] = 0
    weights = [d.array((classes,), 0.5, 2)] if d.chance(50) else []
    return [d.array(shape), targets, *weights], attributes


def torch_nll(predictions, targets, weights=None, reduction="mean", ignore_index=-100):
    return torch.nn.functional.nll_loss(
        predictions, targets.long(), weights, ignore_index=ignore_index, reduction=reduction
    )


def nll_gradient(d: Draw):
    arrays, attributes = nll_operands(d)
    shape = arrays[1].shape if attributes["reduction"] == "none" else ()
    return [d.array(shape), *arrays], attributes


def of_gradient(function: Any):
    """The gradient of a function by its first argument, for one of its result."""

    def run(grad, data, *others, **attributes):
        data = data.detach().requires_grad_()
        function(data, *others, **attributes).backward(grad)
        return data.grad

    return run


def cross_entropy(d: Draw):
    shape = d.shape(1, 3, least=1)
    return [d.array(shape), d.array(shape)], {}


def torch_cross_entropy(lhs, rhs):
    total = -(lhs.float() * rhs.float() if lhs.itemsize < 4 else lhs * rhs).sum()
    return (total / (lhs.shape[0] if lhs.ndim > 1 else 1)).to(lhs.dtype)


def taken(d: Draw):
    arrays, attributes = take("fast")(d)
    axis = attributes.get("axis", 0) % arrays[0].ndim
    shape = (*arrays[0].shape[:axis], *arrays[1].shape, *arrays[0].shape[axis + 1 :])
    return [d.array(shape), *arrays], attributes


def pooled(with_dilation: bool, forward: Any):
    draw = pool(2, with_dilation, False)

    def gradient(d: Draw):
        (data,), attributes = draw(d)
        result = forward(torch.zeros(data.shape), **attributes)
        return [d.array(tuple(result.shape)), data], attributes

    return gradient


def collapsed(d: Draw):
    data = d.array(d.shape(0, 3))
    return [data], {"shape": d.broadcastable(data.shape)}


def collapsed_like(d: Draw):
    (data,), attributes = collapsed(d)
    return [data, d.array(attributes["shape"])], {}


def torch_collapsed(x, shape):
    # PyTorch has no sums of short floats that are rounded once.
    wide = x.float() if x.is_floating_point() and x.itemsize < 4 else x
    return wide.sum_to_size(shape).to(x.dtype) if wide.shape != torch.Size(shape) else x


SUMS = {"float16": 2e-2, "bfloat16": 1e-1, "float32": 2e-5}


CASES = (
    Case("relax.collapse_sum_to", collapsed, torch_collapsed, NUMBERS, atol=SUMS),
    Case(
        "relax.collapse_sum_like",
        collapsed_like,
        lambda x, y: torch_collapsed(x, y.shape),
        NUMBERS,
        atol=SUMS,
    ),
    Case("relax.nn.nll_loss", nll_operands, torch_nll, FLOATS),
    Case("relax.grad.nll_loss_backward", nll_gradient, of_gradient(torch_nll), FLOATS),
    Case(
        "relax.nn.cross_entropy_with_logits",
        cross_entropy,
        torch_cross_entropy,
        FLOATS,
        atol={"float16": 2e-2, "bfloat16": 1e-1, "float32": 2e-5},
    ),
    Case("relax.grad.take_backward", taken, of_gradient(torch_take), FLOATS),
    Case(
        "relax.grad.max_pool2d_backward",
        pooled(True, max_pool(2)),
        of_gradient(max_pool(2)),
        FLOATS,
        symbolic=lambda shapes, attributes: None,
    ),
    Case(
        "relax.grad.avg_pool2d_backward",
        pooled(False, avg_pool(2)),
        of_gradient(avg_pool(2)),
        FLOATS,
        symbolic=lambda shapes, attributes: None,
    ),
    *(
        Case(name, lambda d: ([d.array(d.shape())], {}), lambda x: x, FLOATS)
        for name in (
            "relax.grad.no_grad",
            "relax.grad.start_checkpoint",
            "relax.grad.end_checkpoint",
            "relax.builtin.stop_lift_params",
        )
    ),
)
