"""LSTM, GRU and RNN as loops over the time steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....dialects.int_expr import IntExpr
from ...emitter import Emitter, Value
from ...recurrent import Activation, Layer, Weights, gru, lstm, rnn
from ...unsupported import Unsupported
from ..context import Context
from ..parts import part, row, stacked
from ..registry import converts
from ..tensor import Tensor

DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


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


def _activations(
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


class _Inputs:
    """The operands of a recurrent operator, by direction."""

    def __init__(
        self,
        ctx: Context,
        x: Tensor,
        w: Tensor,
        r: Tensor,
        b: Tensor | None,
        lengths: Tensor | None,
        direction: str,
        layout: int,
    ):
        if direction not in DIRECTIONS:
            raise ValueError(f"expected a direction ({', '.join(DIRECTIONS)}), got '{direction}'")
        self.ctx, self.layout = ctx, layout
        self.reversals = DIRECTIONS[direction]
        self.x = ctx.permute(x, [1, 0, 2]) if layout else x
        self.lengths = None if lengths is None else ctx.astype(lengths, "int64")
        if w.dims[0] != IntExpr.of(count := len(self.reversals)):
            raise ValueError(f"expected weights of {count} directions, got {w.dims[0]}")
        self.w, self.r, self.b = w, r, b
        self.hidden = r.dims[2]

    def weights(self, direction: int) -> Weights:
        """The weights of a direction; both biases are halves of one vector."""
        ctx, number = self.ctx, IntExpr.of(direction)
        biases: list[Value | None] = [None, None]
        if self.b is not None:
            both = row(ctx, self.b, 0, number)
            size = both.dims[0] // 2
            biases = [part(ctx, both, 0, size * i, size).value for i in range(2)]
        inputs, hidden = (row(ctx, t, 0, number).value for t in (self.w, self.r))
        return Weights(inputs, hidden, biases[0], biases[1])

    def state(self, given: Tensor | None, direction: int) -> Value:
        """The initial state of a direction, zeros where none is given."""
        ctx, axis = self.ctx, 1 if self.layout else 0
        dims = [self.x.dims[1], self.hidden]
        if given is None:
            return ctx.broadcast(ctx.number(0.0, self.x.dtype), dims).value
        return ctx.fitted(row(ctx, given, axis, IntExpr.of(direction)), dims).value

    def results(self, layers: Sequence[Layer]) -> tuple[Tensor, ...]:
        """The outputs of all steps, and the last states, with an axis for directions."""
        ctx = self.ctx
        outputs = stacked(ctx, [ctx.tensor(layer.outputs) for layer in layers], 1)
        states = zip(*(layer.states for layer in layers), strict=True)
        last = [stacked(ctx, [ctx.tensor(s) for s in own], 0) for own in states]
        if self.layout:
            outputs = ctx.permute(outputs, [2, 0, 1, 3])
            last = [ctx.permute(t, [1, 0, 2]) for t in last]
        return outputs, *last


def _per_direction(
    functions: list[Activation], directions: int, size: int
) -> list[list[Activation]]:
    """`size` functions for each direction."""
    if len(functions) != directions * size:
        what = "one activation" if size == 1 else f"{size} activations"
        raise ValueError(f"expected {what} for each of {directions}, got {len(functions)}")
    return [functions[i * size : (i + 1) * size] for i in range(directions)]


@converts("LSTM")
def lstm_(
    ctx: Context,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    initial_h: Tensor | None = None,
    initial_c: Tensor | None = None,
    p: Tensor | None = None,
    *,
    activations: list[str] | None = None,
    activation_alpha: Sequence[float] = (),
    activation_beta: Sequence[float] = (),
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
    output_sequence: int = 0,
    layout: int = 0,
) -> tuple[Tensor, ...]:
    """A layer of LSTM in one direction or two."""
    if input_forget:
        raise Unsupported("coupled input and forget gates")
    inputs = _Inputs(ctx, x, w, r, b, lengths, direction, layout)
    names = activations or ["Sigmoid", "Tanh", "Tanh"] * len(inputs.reversals)
    functions = _activations(names, activation_alpha, activation_beta, clip)
    # ONNX Runtime does not clip the cell, the input of the last activation.
    unclipped = _activations(names, activation_alpha, activation_beta, None)
    functions[2::3] = unclipped[2::3]
    layers: list[Layer] = []
    chosen = _per_direction(functions, len(inputs.reversals), 3)
    for number, (reverse, own) in enumerate(zip(inputs.reversals, chosen, strict=True)):
        states = (inputs.state(given, number) for given in (initial_h, initial_c))
        layers.append(
            lstm(
                ctx.emitter,
                inputs.x.value,
                inputs.weights(number),
                *states,
                order="iofg",
                reverse=reverse,
                activations=own,
                peepholes=None if p is None else row(ctx, p, 0, IntExpr.of(number)).value,
                lengths=None if inputs.lengths is None else inputs.lengths.value,
            )
        )
    return inputs.results(layers)


@converts("GRU")
def gru_(
    ctx: Context,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    initial_h: Tensor | None = None,
    *,
    activations: list[str] | None = None,
    activation_alpha: Sequence[float] = (),
    activation_beta: Sequence[float] = (),
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    linear_before_reset: int = 0,
    output_sequence: int = 0,
    layout: int = 0,
) -> tuple[Tensor, ...]:
    """A layer of GRU in one direction or two."""
    inputs = _Inputs(ctx, x, w, r, b, lengths, direction, layout)
    names = activations or ["Sigmoid", "Tanh"] * len(inputs.reversals)
    functions = _activations(names, activation_alpha, activation_beta, clip)
    chosen = _per_direction(functions, len(inputs.reversals), 2)
    return inputs.results(
        [
            gru(
                ctx.emitter,
                inputs.x.value,
                inputs.weights(number),
                inputs.state(initial_h, number),
                order="zrn",
                reverse=reverse,
                reset_before=not linear_before_reset,
                activations=own,
                lengths=None if inputs.lengths is None else inputs.lengths.value,
            )
            for number, (reverse, own) in enumerate(zip(inputs.reversals, chosen, strict=True))
        ]
    )


@converts("RNN")
def rnn_(
    ctx: Context,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    initial_h: Tensor | None = None,
    *,
    activations: list[str] | None = None,
    activation_alpha: Sequence[float] = (),
    activation_beta: Sequence[float] = (),
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    output_sequence: int = 0,
    layout: int = 0,
) -> tuple[Tensor, ...]:
    """A plain recurrent layer in one direction or two."""
    inputs = _Inputs(ctx, x, w, r, b, lengths, direction, layout)
    names = activations or ["Tanh"] * len(inputs.reversals)
    functions = _activations(names, activation_alpha, activation_beta, clip)
    chosen = _per_direction(functions, len(inputs.reversals), 1)
    return inputs.results(
        [
            rnn(
                ctx.emitter,
                inputs.x.value,
                inputs.weights(number),
                inputs.state(initial_h, number),
                activation=own[0],
                reverse=reverse,
                lengths=None if inputs.lengths is None else inputs.lengths.value,
            )
            for number, (reverse, own) in enumerate(zip(inputs.reversals, chosen, strict=True))
        ]
    )
