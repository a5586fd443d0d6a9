"""Gradients of elementwise operators: arithmetic, functions of one number, activations."""

from __future__ import annotations

import math
from typing import Any

from xdsl.ir import SSAValue

from ...dialects.relax.operators.selu import SELU_ALPHA, SELU_SCALE
from .gradient_rules import Backward, Gradients, gradient, known_dims, known_dtype


@gradient("add")
def _add(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    for operand in op.operands:
        yield g.fitted(grad, operand)


@gradient("subtract")
def _subtract(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g.fitted(grad, op.lhs)
    yield g.fitted(g("negative", grad), op.rhs)


@gradient("multiply")
def _multiply(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g.fitted(g("multiply", grad, op.rhs), op.lhs)
    yield g.fitted(g("multiply", grad, op.lhs), op.rhs)


@gradient("divide")
def _divide(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g.fitted(g("divide", grad, op.rhs), op.lhs)
    product = g("multiply", g("negative", grad), op.result)
    yield g.fitted(g("divide", product, op.rhs), op.rhs)


@gradient("power")
def _power(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    x, y = op.operands
    scaled = g("multiply", grad, y)
    less = g("power", x, g("subtract", y, g.number(1, y)))
    yield g.fitted(g("multiply", scaled, less), x)
    yield g.fitted(g("multiply", g("multiply", grad, op.result), g("log", x)), y)


@gradient("maximum", "minimum")
def _extremum(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    """An operand that equals the other one shares nothing: the gradient is that of one."""
    zero = g.number(0, op.lhs)
    tests = {True: g("less", op.lhs, op.rhs), False: g("greater_equal", op.lhs, op.rhs)}
    is_max = op.name == "relax.maximum"
    yield g.fitted(g("where", tests[is_max], zero, grad), op.lhs)
    yield g.fitted(g("where", tests[not is_max], zero, grad), op.rhs)


@gradient("log_add_exp")
def _log_add_exp(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    """Each operand's share of the sum."""
    for operand in op.operands:
        share = g("exp", g("subtract", operand, op.result))
        yield g.fitted(g("multiply", grad, share), operand)


@gradient("ewise_fma")
def _fma(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g.fitted(g("multiply", grad, op.y), op.x)
    yield g.fitted(g("multiply", grad, op.x), op.y)
    yield g.fitted(grad, op.z)


@gradient(
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("logical_and", "logical_or", "logical_xor", "logical_not"),
    *("zeros_like", "ones_like", "full_like", "zeros", "ones", "full", "arange"),
    *("sign", "floor", "ceil", "round", "trunc", "argmax", "argmin", "one_hot", "grad.no_grad"),
    *("isnan", "isinf", "isfinite"),
)
def _constant(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    for _ in op.operands:
        yield None


@gradient("abs")
def _abs(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    zero, one = g.number(0, op.operands[0]), g.number(1, op.operands[0])
    sign = g("where", g("less", op.operands[0], zero), g("negative", one), one)
    yield g("multiply", grad, sign)


@gradient("negative")
def _negative(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g("negative", grad)


@gradient("square")
def _square(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g("multiply", grad, g("multiply", g.number(2, op.operands[0]), op.operands[0]))


@gradient("exp")
def _exp(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g("multiply", grad, op.result)


@gradient("log")
def _log(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g("divide", grad, op.operands[0])


@gradient("log1p")
def _log1p(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g("divide", grad, g("add", op.operands[0], g.number(1, op.operands[0])))


@gradient("sin")
def _sin(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g("multiply", grad, g("cos", op.operands[0]))


@gradient("cos")
def _cos(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g("multiply", g("negative", grad), g("sin", op.operands[0]))


@gradient("tanh")
def _tanh(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    square = g("multiply", op.result, op.result)
    yield g("multiply", grad, g("subtract", g.number(1, grad), square))


@gradient("sqrt")
def _sqrt(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g("divide", g("multiply", g.number(0.5, grad), grad), op.result)


@gradient("rsqrt")
def _rsqrt(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    share = g("divide", g("multiply", g.number(-0.5, grad), op.result), op.operands[0])
    yield g("multiply", grad, share)


@gradient("sigmoid")
def _sigmoid(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    rest = g("subtract", g.number(1, grad), op.result)
    yield g("multiply", g("multiply", grad, op.result), rest)


@gradient("erf")
def _erf(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    density = g("exp", g("negative", g("multiply", op.operands[0], op.operands[0])))
    yield g("multiply", grad, g("multiply", g.number(2 / math.sqrt(math.pi), grad), density))


@gradient("astype")
def _astype(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    yield g("astype", grad, dtype=known_dtype(op.operands[0]))


@gradient("where")
def _where(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    condition, x, y = op.operands
    yield None
    yield g.fitted(g("where", condition, grad, g.number(0, grad)), x)
    yield g.fitted(g("where", condition, g.number(0, grad), grad), y)


@gradient("clip")
def _clip(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    x, attributes = op.operands[0], op.attribute_values()
    above = g("greater_equal", x, g.number(attributes["min"], x))
    below = g("less_equal", x, g.number(attributes["max"], x))
    yield g("where", g("logical_and", above, below), grad, g.number(0, grad))


@gradient("nn.relu")
def _relu(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    zero = g.number(0, grad)
    yield g("where", g("less", op.operands[0], zero), zero, grad)


@gradient("nn.leakyrelu")
def _leakyrelu(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    slope = g("multiply", grad, g.number(op.attribute_values()["alpha"], grad))
    yield g("where", g("less", op.operands[0], g.number(0, grad)), slope, grad)


@gradient("nn.selu")
def _selu(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    """Below 0 the derivative is ``selu(x) + scale * alpha``."""
    x, scale = op.operands[0], g.number(SELU_SCALE, grad)
    below = g("add", op.result, g.number(SELU_SCALE * SELU_ALPHA, grad))
    slope = g("where", g("greater", x, g.number(0, grad)), scale, below)
    yield g("multiply", grad, slope)


@gradient("nn.silu")
def _silu(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    sigmoid = g("sigmoid", op.operands[0])
    rest = g("multiply", op.result, g("subtract", g.number(1, grad), sigmoid))
    yield g("multiply", grad, g("add", sigmoid, rest))


@gradient("nn.gelu")
def _gelu(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    """``x * P(x)`` has the derivative ``P(x) + x * p(x)`` with the normal distribution P."""
    x, half = op.operands[0], g.number(0.5, grad)
    scaled = g("multiply", x, g.number(1 / math.sqrt(2), grad))
    cumulative = g("multiply", half, g("add", g.number(1, grad), g("erf", scaled)))
    density = g("exp", g("negative", g("multiply", scaled, scaled)))
    density = g("multiply", g.number(1 / math.sqrt(2 * math.pi), grad), density)
    yield g("multiply", grad, g("add", cumulative, g("multiply", x, density)))


@gradient("nn.gelu_tanh")
def _gelu_tanh(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    x, one, half = op.operands[0], g.number(1, grad), g.number(0.5, grad)
    factor, cubic = math.sqrt(2 / math.pi), 0.044715
    square = g("multiply", x, x)
    inner = g("add", one, g("multiply", g.number(cubic, grad), square))
    tanh = g("tanh", g("multiply", g("multiply", x, inner), g.number(factor, grad)))
    slope = g("add", one, g("multiply", g.number(3 * cubic, grad), square))
    slope = g("multiply", slope, g.number(factor, grad))
    rest = g("multiply", g("subtract", one, g("multiply", tanh, tanh)), g("multiply", x, slope))
    total = g("add", g("add", one, tanh), rest)
    yield g("multiply", grad, g("multiply", half, total))


@gradient("nn.softmax")
def _softmax(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    axis = [op.attribute_values()["axis"]]
    total = g("sum", g("multiply", grad, op.result), axis=axis, keepdims=True)
    yield g("multiply", g("subtract", grad, total), op.result)


@gradient("nn.log_softmax")
def _log_softmax(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    axis = [op.attribute_values()["axis"]]
    total = g("sum", grad, axis=axis, keepdims=True)
    yield g("subtract", grad, g("multiply", total, g("exp", op.result)))


@gradient("nn.cross_entropy_with_logits")
def _cross_entropy(g: Backward, op: Any, grad: SSAValue) -> Gradients:
    if len(known_dims(op.lhs)) > 1:
        grad = g.divided(grad, op.lhs, [0])
    negative = g("negative", grad)
    yield g("multiply", negative, op.rhs)
    yield g("multiply", negative, op.lhs)
