"""Gradients of kernels as functions on tensors, for calls that name one.

::

    @relax.training.utils.register_te_gradient("scale_grad")
    def scale_grad(output_grad, x, k):
        return [te.compute(x.shape, lambda i: output_grad[i] * k)]

    R.call_tir_with_grad(cls.scale, (x,), …, te_grad_name="scale_grad", te_grad_kwargs={"k": 2.0})
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ..dialects import relax
from ..lowering.functions import functions_by_name, unique_name
from ..lowering.graph.gradient_rules import KERNEL_RULES, Backward, Gradients, Rule
from ..te.attributes import literal
from .expr import view
from .te_calls import Kernel

TEGradient = Callable[..., Sequence[Any]]


def register_te_gradient(te_grad_name: str, te_grad_func: TEGradient | None = None) -> Any:
    """Register the gradient of kernels whose calls state its name; also a decorator.

    ``te_grad_func(output_grad, *args, **te_grad_kwargs)`` gets tensors of `te`: the gradient by the
    result of a call, a list of them for several results, and the arguments of the call. It returns
    a list with the gradient by each argument. Pass ``Gradient`` raises ValueError with one line if
    their number differs. TVM's ``relax.training.utils.register_te_gradient``.
    """

    def register(function: TEGradient) -> TEGradient:
        KERNEL_RULES[te_grad_name] = _rule(te_grad_name, function)
        return function

    return register if te_grad_func is None else register(te_grad_func)


def _rule(name: str, function: TEGradient) -> Rule:
    def rule(g: Backward, op: relax.CallTIROp, grad: SSAValue) -> Gradients:
        given = op.te_grad_kwargs
        keywords: dict[str, Any] = {} if given is None else literal(given)
        hint = {"primfunc_name_hint": name}
        kernel = Kernel(function, [view(grad), *map(view, op.args)], {**keywords, **hint})
        if len(kernel.outputs) != len(op.args):
            raise ValueError(
                f"expected a gradient by each of {len(op.args)} arguments from '{name}', "
                f"got {len(kernel.outputs)}"
            )
        call = kernel.call(_add(op, kernel))
        result = g.inserted(call)
        if len(kernel.outputs) == 1:
            yield result
        else:
            yield from g.fields(result, len(kernel.outputs))

    return rule


def _add(user: relax.CallTIROp, kernel: Kernel) -> str:
    """Add a kernel to the module of a call; returns the name that it has there."""
    module = user.parent_op()
    while not isinstance(module, ModuleOp):
        assert module is not None
        module = module.parent_op()
    name = unique_name(kernel.name, functions_by_name(module))
    kernel.func.sym_name = type(kernel.func.sym_name)(name)
    first = module.body.block.first_op
    assert first is not None
    module.body.block.insert_op_before(kernel.func, first)
    return name
