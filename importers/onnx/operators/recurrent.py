"""LSTM, GRU and RNN as loops over the time steps."""

from __future__ import annotations

from collections.abc import Sequence

from ....dialects.int_expr import IntExpr
from ...emitter import Value
from ...recurrent import Activation, Layer, Weights, gru, lstm, rnn
from ...unsupported import Unsupported
from ..context import Context
from ..parts import part, row, stacked
from ..registry import converts
from ..tensor import Tensor
from .recurrent_activations import activations as find_activations

DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


class Inputs:
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
        """The weights of a direction."""
        number = IntExpr.of(direction)
        inputs, hidden = (row(self.ctx, t, 0, number).value for t in (self.w, self.r))
        return Weights(inputs, hidden, *self.biases(direction))

    def biases(self, direction: int) -> list[Value | None]:
        """The biases of a direction, halves of one vector."""
        if self.b is None:
            return [None, None]
        both = row(self.ctx, self.b, 0, IntExpr.of(direction))
        size = both.dims[0] // 2
        return [part(self.ctx, both, 0, size * i, size).value for i in range(2)]

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
    inputs = Inputs(ctx, x, w, r, b, lengths, direction, layout)
    functions = lstm_activations(inputs, activations, activation_alpha, activation_beta, clip)
    return lstm_layers(inputs, (initial_h, initial_c), p, functions)


def lstm_activations(
    inputs: Inputs,
    names: list[str] | None,
    alphas: Sequence[float],
    betas: Sequence[float],
    clip: float | None,
) -> list[list[Activation]]:
    """Three activations for each direction."""
    names = names or ["Sigmoid", "Tanh", "Tanh"] * len(inputs.reversals)
    functions = find_activations(names, alphas, betas, clip)
    # ONNX Runtime does not clip the cell, the input of the last activation.
    functions[2::3] = find_activations(names, alphas, betas, None)[2::3]
    return _per_direction(functions, len(inputs.reversals), 3)


def lstm_layers(
    inputs: Inputs,
    states: Sequence[Tensor | None],
    p: Tensor | None,
    activations: Sequence[Sequence[Activation]],
) -> tuple[Tensor, ...]:
    """The results of a layer of LSTM, from its initial states and its peepholes."""
    ctx, layers = inputs.ctx, list[Layer]()
    for number, (reverse, own) in enumerate(zip(inputs.reversals, activations, strict=True)):
        hidden, cell = (inputs.state(given, number) for given in states)
        layers.append(
            lstm(
                ctx.emitter,
                inputs.x.value,
                inputs.weights(number),
                hidden,
                cell,
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
    inputs = Inputs(ctx, x, w, r, b, lengths, direction, layout)
    names = activations or ["Sigmoid", "Tanh"] * len(inputs.reversals)
    functions = find_activations(names, activation_alpha, activation_beta, clip)
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
    inputs = Inputs(ctx, x, w, r, b, lengths, direction, layout)
    names = activations or ["Tanh"] * len(inputs.reversals)
    functions = find_activations(names, activation_alpha, activation_beta, clip)
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
