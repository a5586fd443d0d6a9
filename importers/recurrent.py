"""LSTM, GRU and plain recurrent layers as loops over time, for one layer and direction.

The inputs of all steps are multiplied by the weights at once, before the loop; a step multiplies
the hidden state alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..dialects.int_expr import IntExpr
from .emitter import Emitter, Value, dims_of, dtype_of
from .loops import emit_loop

Activation = Callable[[Emitter, Value], Value]


@dataclass(frozen=True)
class Weights:
    """The weights of a layer: (gates * hidden, input), (gates * hidden, hidden), and biases.

    An LSTM may have a projection of its outputs, (projected, hidden).
    """

    inputs: Value
    hidden: Value
    input_bias: Value | None
    hidden_bias: Value | None
    projection: Value | None = field(default=None, kw_only=True)

    def of_inputs(self, emitter: Emitter, x: Value) -> Value:
        """The products of the inputs of all steps."""
        return linear(emitter, x, self.inputs, self.input_bias)

    @property
    def given(self) -> list[Value]:
        """The values that a step needs for the product of the hidden state."""
        return [self.hidden, *(() if self.hidden_bias is None else (self.hidden_bias,))]

    def of_hidden(self, emitter: Emitter, hidden: Value, given: Sequence[Value]) -> Value:
        """The product of a hidden state by the `given` values as a step has them."""
        return linear(emitter, hidden, given[0], given[1] if len(given) > 1 else None)


class Layer(NamedTuple):
    """The hidden states of all steps (time, batch, hidden), and the last states."""

    outputs: Value
    states: list[Value]


def sigmoid(emitter: Emitter, x: Value) -> Value:
    """The activation of gates."""
    return emitter.op("sigmoid", x)


def tanh(emitter: Emitter, x: Value) -> Value:
    """The activation of states."""
    return emitter.op("tanh", x)


def linear(emitter: Emitter, x: Value, weight: Value, bias: Value | None) -> Value:
    """``x @ weight.T + bias``."""
    return emitter.op("linear", x, weight, *(() if bias is None else (bias,)))


def gates(emitter: Emitter, x: Value, count: int) -> list[Value]:
    """Equal parts of the last axis of (batch, count * hidden)."""
    return list(emitter.fields(emitter.op("split", x, indices_or_sections=count, axis=-1)))


def _loop(
    emitter: Emitter,
    name: str,
    step: Callable[[Emitter, Value, list[Value], list[Value]], list[Value]],
    x: Value,
    states: Sequence[Value],
    given: Sequence[Value],
    reverse: bool,
    lengths: Value | None,
) -> Layer:
    """Run a step for every row of x; its first state is the output.

    With `lengths` (batch,) rows of a sequence after its end change no state, and their output is 0.
    """
    if reverse:
        x = emitter.op("flip", x, axis=[0])
    trips = dims_of(x)[0]
    ends = [] if lengths is None else [lengths]

    def body(
        inner: Emitter, index: IntExpr, carried: list[Value], rows: list[Value], given: list[Value]
    ) -> tuple[list[Value], list[Value]]:
        found = step(inner, rows[0], carried, given[: len(given) - len(ends)])
        if not ends:
            return found, found[:1]
        time = inner.number(trips - 1 - index if reverse else index, "int64")
        runs = inner.op("expand_dims", inner.op("less", time, given[-1]), axis=[1])
        kept = [inner.op("where", runs, *pair) for pair in zip(found, carried, strict=True)]
        return kept, [inner.op("where", runs, found[0], inner.number(0.0, dtype_of(found[0])))]

    *last, outputs = emit_loop(
        emitter,
        name,
        body,
        states,
        scanned=[x],
        given=[*given, *ends],
        trips=trips,
        sizes=[trips],
    )
    if reverse:
        outputs = emitter.op("flip", outputs, axis=[0])
    return Layer(outputs, last)


def lstm(
    emitter: Emitter,
    x: Value,
    weights: Weights,
    hidden: Value,
    cell: Value,
    *,
    order: str = "ifgo",
    reverse: bool = False,
    lengths: Value | None = None,
    activations: Sequence[Activation] = (sigmoid, tanh, tanh),
    peepholes: Value | None = None,
) -> Layer:
    """An LSTM over x (time, batch, input); `order` names the gates i, f, o and the input g.

    The states are the hidden state and the cell, (batch, hidden) each. `peepholes` (3 * hidden,)
    are weights of the cell for the gates i, o and f. PyTorch's order is "ifgo", ONNX's "iofg".
    Source: Hochreiter and Schmidhuber (1997), Gers and Schmidhuber (2000), for projections Sak et
    al. (2014).
    """
    gate, of_input, of_cell = activations
    projected = weights.of_inputs(emitter, x)
    count = len(weights.given)
    peeps = [] if peepholes is None else gates(emitter, peepholes, 3)
    projections = [] if weights.projection is None else [weights.projection]

    def step(e: Emitter, row: Value, states: list[Value], given: list[Value]) -> list[Value]:
        h, c = states
        of = dict(zip("iof", given[count : count + len(peeps)], strict=bool(peeps)))
        total = e.op("add", weights.of_hidden(e, h, given[:count]), row)
        parts = dict(zip(order, gates(e, total, 4), strict=True))

        def opened(name: str, cell: Value) -> Value:
            part = parts[name]
            if name in of:
                part = e.op("add", part, e.op("multiply", of[name], cell))
            return gate(e, part)

        kept = e.op("multiply", opened("f", c), c)
        added = e.op("multiply", opened("i", c), of_input(e, parts["g"]))
        new = e.op("add", kept, added)
        output = e.op("multiply", opened("o", new), of_cell(e, new))
        return [linear(e, output, given[-1], None) if projections else output, new]

    given = [*weights.given, *peeps, *projections]
    return _loop(emitter, "lstm_step", step, projected, [hidden, cell], given, reverse, lengths)


def gru(
    emitter: Emitter,
    x: Value,
    weights: Weights,
    hidden: Value,
    *,
    order: str = "rzn",
    reverse: bool = False,
    lengths: Value | None = None,
    reset_before: bool = False,
    activations: Sequence[Activation] = (sigmoid, tanh),
) -> Layer:
    """A GRU over x (time, batch, input); `order` names the gates r, z and the candidate n.

    The reset gate multiplies the candidate's product of the hidden state, or with `reset_before`
    the hidden state before it. PyTorch's order is "rzn", ONNX's "zrn". Source: Cho et al. (2014).
    """
    gate, of_state = activations
    projected = weights.of_inputs(emitter, x)

    def step(e: Emitter, row: Value, states: list[Value], given: list[Value]) -> list[Value]:
        (h,) = states
        inputs = dict(zip(order, gates(e, row, 3), strict=True))
        products = _products(e, weights, h, given, order)
        reset = gate(e, e.op("add", inputs["r"], products["r"]))
        update = gate(e, e.op("add", inputs["z"], products["z"]))
        if reset_before:
            scaled = _products(e, weights, e.op("multiply", reset, h), given, order)["n"]
        else:
            scaled = e.op("multiply", reset, products["n"])
        candidate = of_state(e, e.op("add", inputs["n"], scaled))
        difference = e.op("subtract", h, candidate)
        return [e.op("add", candidate, e.op("multiply", update, difference))]

    return _loop(emitter, "gru_step", step, projected, [hidden], weights.given, reverse, lengths)


def _products(
    e: Emitter, weights: Weights, h: Value, given: Sequence[Value], order: str
) -> dict[str, Value]:
    total = weights.of_hidden(e, h, given)
    return dict(zip(order, gates(e, total, 3), strict=True))


def rnn(
    emitter: Emitter,
    x: Value,
    weights: Weights,
    hidden: Value,
    *,
    activation: Activation = tanh,
    reverse: bool = False,
    lengths: Value | None = None,
) -> Layer:
    """A plain recurrent layer over x (time, batch, input). Source: Elman (1990)."""
    projected = weights.of_inputs(emitter, x)

    def step(e: Emitter, row: Value, states: list[Value], given: list[Value]) -> list[Value]:
        product = weights.of_hidden(e, states[0], given)
        return [activation(e, e.op("add", product, row))]

    return _loop(emitter, "rnn_step", step, projected, [hidden], weights.given, reverse, lengths)
