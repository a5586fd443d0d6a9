"""ONNX Runtime's LSTM of quantized weights; its inputs and states are quantized by their ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ....dialects.int_expr import IntExpr
from ...emitter import Emitter, Value
from ...recurrent import Weights
from ...unsupported import Unsupported
from ..context import Context
from ..parts import row
from ..registry import MICROSOFT, converts
from ..tensor import Tensor
from .quantized_products import dynamic_quantize_matmul, is_zero
from .recurrent import Inputs, lstm_activations, lstm_layers


@dataclass(frozen=True)
class QuantizedWeights(Weights):
    """Weights of 8 bits, (input, gates * hidden) and (hidden, gates * hidden), with their scales.

    A list of scales has a zero point as its second value, unless the zero point is 0.
    """

    context: Context
    input_scales: list[Value]
    hidden_scales: list[Value]

    def of_inputs(self, emitter: Emitter, x: Value) -> Value:
        """The products of the inputs of all steps, which are quantized by one range."""
        return self._product(emitter, x, self.inputs, self.input_scales, self.input_bias)

    @property
    def given(self) -> list[Value]:
        """The values that a step needs for the product of the hidden state."""
        return [*self.hidden_scales, *super().given]

    def of_hidden(self, emitter: Emitter, hidden: Value, given: Sequence[Value]) -> Value:
        """The product of the hidden state, which is quantized by the range of the batch."""
        scales = given[: len(self.hidden_scales)]
        weight, *bias = given[len(scales) :]
        return self._product(emitter, hidden, weight, scales, bias[0] if bias else None)

    def _product(
        self,
        emitter: Emitter,
        x: Value,
        weight: Value,
        scales: Sequence[Value],
        bias: Value | None,
    ) -> Value:
        outer = self.context
        ctx = Context(replace(outer.importer, emitter=emitter), outer.scope, outer.opset)
        scale, *shift = map(ctx.tensor, scales)
        operands = (ctx.tensor(x), ctx.tensor(weight), scale, shift[0] if shift else None)
        return dynamic_quantize_matmul(ctx, *operands, bias and ctx.tensor(bias)).value


class QuantizedInputs(Inputs):
    """The operands of a quantized LSTM; `scales` and `shifts` are of the weights w and r."""

    scales: Sequence[Tensor]
    shifts: Sequence[Tensor | None]

    def weights(self, direction: int) -> Weights:
        """The weights of a direction."""
        number, ctx = IntExpr.of(direction), self.ctx
        inputs, hidden = (row(ctx, t, 0, number).value for t in (self.w, self.r))
        scales = [
            self._scales(*pair, number) for pair in zip(self.scales, self.shifts, strict=True)
        ]
        biases = self.biases(direction)
        return QuantizedWeights(inputs, hidden, biases[0], biases[1], ctx, scales[0], scales[1])

    def _scales(self, scale: Tensor, shift: Tensor | None, number: IntExpr) -> list[Value]:
        given = [scale] if shift is None or is_zero(shift) else [scale, shift]
        return [row(self.ctx, t, 0, number).value for t in given]


@converts("DynamicQuantizeLSTM", domain=MICROSOFT)
def dynamic_quantize_lstm(
    ctx: Context,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None,
    lengths: Tensor | None,
    initial_h: Tensor | None,
    initial_c: Tensor | None,
    p: Tensor | None,
    w_scale: Tensor,
    w_zero_point: Tensor | None,
    r_scale: Tensor,
    r_zero_point: Tensor | None,
    *,
    activations: list[str] | None = None,
    activation_alpha: Sequence[float] = (),
    activation_beta: Sequence[float] = (),
    clip: float | None = None,
    direction: str = "forward",
    hidden_size: int | None = None,
    input_forget: int = 0,
) -> tuple[Tensor, ...]:
    """A layer of LSTM in one direction or two, whose matmuls have operands of 8 bits."""
    if input_forget:
        raise Unsupported("coupled input and forget gates")
    inputs = QuantizedInputs(ctx, x, w, r, b, lengths, direction, layout=0)
    inputs.hidden = r.dims[1]
    inputs.scales, inputs.shifts = (w_scale, r_scale), (w_zero_point, r_zero_point)
    functions = lstm_activations(inputs, activations, activation_alpha, activation_beta, clip)
    return lstm_layers(inputs, (initial_h, initial_c), p, functions)
