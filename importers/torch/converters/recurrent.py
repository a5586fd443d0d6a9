"""LSTM, GRU and plain recurrent layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias, cast

from ...emitter import Emitter, Value, dims_of, is_tensor
from ...recurrent import Layer, Weights, gru, lstm, rnn
from ...unsupported import Unsupported
from ..context import Context
from ..recurrent_operators import recurrent_name
from ..registry import converts

States: TypeAlias = "Value | Sequence[Value]"
"""The hidden state of all layers, or several states."""


def _relu(emitter: Emitter, value: Value) -> Value:
    return emitter.op("nn.relu", value)


_CELLS: dict[str, Callable[..., Layer]] = {
    "lstm": lstm,
    "gru": gru,
    "rnn_tanh": rnn,
    "rnn_relu": partial(rnn, activation=_relu),
}
"""What a layer computes, by the names of PyTorch's operators."""


def _converter(cell: Callable[..., Layer]) -> Callable[..., tuple[Value, ...]]:
    def convert(
        ctx: Context, x: Value, states: States, params: Sequence[Value],
        has_biases: bool, num_layers: int, dropout: float, train: bool, bidirectional: bool,
        batch_first: bool,
    ) -> tuple[Value, ...]:  # fmt: skip
        """The outputs of the last layer, and the last states of all layers."""
        _verify_dropout(num_layers, dropout, train)

        def layer(x: Value, weights: Weights, own: list[Value], reverse: bool) -> Layer:
            return cell(ctx, x, weights, *own, reverse=reverse)

        return _layers(
            ctx, layer, x, _listed(states), params, has_biases, bidirectional, batch_first
        )

    return convert


for _name, _cell in _CELLS.items():
    converts(f"aten.{_name}.input", recurrent_name(_name))(_converter(_cell))


def _listed(states: States) -> list[Value]:
    return [cast("Value", states)] if is_tensor(states) else list(cast("Sequence[Value]", states))


def _verify_dropout(layers: int, dropout: float, train: bool) -> None:
    if layers > 1 and dropout > 0 and train:
        raise Unsupported("dropout in training mode", "call model.eval() before the export")


def _layers(
    ctx: Context,
    layer: Callable[[Value, Weights, list[Value], bool], Layer],
    x: Value,
    states: Sequence[Value],
    params: Sequence[Value],
    has_biases: bool,
    bidirectional: bool,
    batch_first: bool,
) -> tuple[Value, ...]:
    """All layers in both directions; x is (time, batch, input), or (batch, time, input)."""
    if batch_first:
        x = ctx.permute(x, [1, 0, 2])
    directions = 2 if bidirectional else 1
    is_projected = len({dims_of(s)[2] for s in states}) > 1
    size = (4 if has_biases else 2) + is_projected
    last: list[list[Value]] = [[] for _ in states]
    groups = [list(params[i : i + size]) for i in range(0, len(params), size)]
    for first in range(0, len(groups), directions):
        found: list[Value] = []
        for direction, group in enumerate(groups[first : first + directions]):
            own = [_state(ctx, s, first + direction) for s in states]
            biases = group[2:4] if has_biases else [None, None]
            projection = group[-1] if is_projected else None
            weights = Weights(*group[:2], *biases, projection=projection)
            made = layer(x, weights, own, direction == 1)
            found.append(made.outputs)
            for group_of_states, state in zip(last, made.states, strict=True):
                group_of_states.append(state)
        x = found[0] if len(found) == 1 else ctx.op("concat", *found, axis=-1)
    if batch_first:
        x = ctx.permute(x, [1, 0, 2])
    return x, *(ctx.op("stack", *states, axis=0) for states in last)


def _state(ctx: Context, states: Value, number: int) -> Value:
    """The state of one layer and direction, of (layers, batch, hidden)."""
    row = ctx.op("strided_slice", states, axes=[0], begin=[number], end=[number + 1], strides=[1])
    return ctx.reshape(row, dims_of(states)[1:])
