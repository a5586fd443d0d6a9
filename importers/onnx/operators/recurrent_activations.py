"""The activations of recurrent operators by ONNX's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...emitter import Emitter, Value
from ...recurrent import Activation
from ...unsupported import Unsupported


def _number(e: Emitter, value: float, like: Value) -> Value:
    return e.number(value, str(getattr(like.type, "dtype", "float32")))


def _affine(e: Emitter, x: Value, alpha: float, beta: float) -> Value:
    scaled = e.op("multiply", x, _number(e, alpha, x))
    return e.op("add", scaled, _number(e, beta, x))


def _hard_sigmoid(e: Emitter, x: Value, alpha: float, beta: float) -> Value:
    return e.op("clip", _affine(e, x, alpha, beta), min=0.0, max=1.0)


def _scaled_tanh(e: Emitter, x: Value, alpha: float, beta: float) -> Value:
    inner = e.op("tanh", e.op("multiply", x, _number(e, beta, x)))
    return e.op("multiply", inner, _number(e, alpha, x))


def _elu(e: Emitter, x: Value, alpha: float, beta: float) -> Value:
    positive = e.op("greater", x, _number(e, 0.0, x))
    scaled = e.op("multiply", e.op("expm1", x), _number(e, alpha, x))
    return e.op("where", positive, x, scaled)


def _thresholded(e: Emitter, x: Value, alpha: float, beta: float) -> Value:
    above = e.op("greater", x, _number(e, alpha, x))
    return e.op("where", above, x, _number(e, 0.0, x))


def _softsign(e: Emitter, x: Value, alpha: float, beta: float) -> Value:
    return e.op("divide", x, e.op("add", e.op("abs", x), _number(e, 1.0, x)))


def _leaky(e: Emitter, x: Value, alpha: float, beta: float) -> Value:
    return e.op("nn.leakyrelu", x, alpha=alpha)


def _plain(operator: str) -> Callable[[Emitter, Value, float, float], Value]:
    def apply(e: Emitter, x: Value, alpha: float, beta: float) -> Value:
        return e.op(operator, x)

    return apply


_ACTIVATIONS: dict[str, tuple[Callable[[Emitter, Value, float, float], Value], float, float]] = {
    "affine": (_affine, 1.0, 0.0),
    "elu": (_elu, 1.0, 0.0),
    "hardsigmoid": (_hard_sigmoid, 0.2, 0.5),
    "leakyrelu": (_leaky, 0.01, 0.0),
    "relu": (_plain("nn.relu"), 0.0, 0.0),
    "scaledtanh": (_scaled_tanh, 1.0, 1.0),
    "sigmoid": (_plain("sigmoid"), 0.0, 0.0),
    "softplus": (_plain("nn.softplus"), 0.0, 0.0),
    "softsign": (_softsign, 0.0, 0.0),
    "tanh": (_plain("tanh"), 0.0, 0.0),
    "thresholdedrelu": (_thresholded, 1.0, 0.0),
}
"""Functions of ONNX by their names in lower case, with the defaults of alpha and beta."""
_WITH_ALPHA = ("affine", "elu", "hardsigmoid", "leakyrelu", "scaledtanh", "thresholdedrelu")
_WITH_BETA = ("affine", "hardsigmoid", "scaledtanh")


def activations(
    names: Sequence[str], alphas: Sequence[float], betas: Sequence[float], clip: float | None
) -> list[Activation]:
    """Functions by name; alphas and betas are for those that have one, in order."""
    alpha, beta = iter(alphas), iter(betas)
    found: list[Activation] = []
    for name in map(str.lower, names):
        if name not in _ACTIVATIONS:
            raise Unsupported(f"activation '{name}'")
        function, a, b = _ACTIVATIONS[name]
        a = next(alpha, a) if name in _WITH_ALPHA else a
        b = next(beta, b) if name in _WITH_BETA else b
        found.append(_bound(function, a, b, clip))
    return found


def _bound(
    function: Callable[[Emitter, Value, float, float], Value],
    alpha: float,
    beta: float,
    clip: float | None,
) -> Activation:
    def apply(e: Emitter, x: Value) -> Value:
        x = x if not clip else e.op("clip", x, min=-clip, max=clip)
        return function(e, x, alpha, beta)

    return apply
