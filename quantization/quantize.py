"""`xrelax.quantize`: a graph whose layers compute on integers of 8 bits, from example inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp

from ..backend.target import HOST
from ..dialects import get_context
from ..inspection import module_of
from ..ir.module import IRModule
from ..pipeline import make_pass
from ..profiling.report import plain_table
from .calibration import calibrate, relative_error, results_of
from .layers import Range, layers_of, quantize_layer

SCHEMES = ("minmax", "percentile")


@dataclass(frozen=True)
class QuantizedLayer:
    """A layer, the range of its data, and whether it computes on integers."""

    operator: str
    name: str
    range: Range
    is_quantized: bool


@dataclass(frozen=True)
class Quantized:
    """A quantized module, its layers, and its error on the example inputs.

    The error is the root mean square of the differences from float32, over that of the results.
    """

    module: IRModule
    layers: tuple[QuantizedLayer, ...]
    error: float

    def __str__(self) -> str:
        head = ["layer", "operator", "low", "high", "scale", "zero point", "computes in"]
        rows = [
            [
                layer.name,
                layer.operator,
                f"{layer.range.low:.4g}",
                f"{layer.range.high:.4g}",
                f"{layer.range.scale:.4g}",
                str(layer.range.zero_point),
                "int8" if layer.is_quantized else "float32",
            ]
            for layer in self.layers
        ]
        return f"{plain_table(head, rows)}\nrelative error of the results: {self.error:.2e}"


def quantize(
    mod: IRModule,
    calibration_data: Iterable[Any],
    *,
    scheme: str = "minmax",
    percentile: float = 99.99,
    max_error: float | None = None,
    function: str = "main",
    target: str = HOST,
) -> Quantized:
    """Let the layers of a graph function with constant weights compute on integers of 8 bits.

    `calibration_data` are inputs of the function: a tensor or a tuple of them for each call. The
    range of a layer's data is that of all values, or with `scheme="percentile"` that between
    percentiles of each input. Weights have a scale for each output channel. If the error of the
    results is more than `max_error`, the layers that cause most of it stay in float32. ONNX
    Runtime's ``quantize_static``, and PT2E quantization of PyTorch. Raises ValueError with one line
    for a function without such layers, no data, values that are not finite, and wrong options; for
    data that does not fit as a call does.
    """
    if scheme not in SCHEMES:
        raise ValueError(f"expected scheme of {', '.join(SCHEMES)}, got '{scheme}'")
    if not 50 < percentile <= 100:
        raise ValueError(f"expected percentile above 50, at most 100, got {percentile}")
    if max_error is not None and not max_error >= 0:
        raise ValueError(f"expected max_error of at least 0, got {max_error}")
    inputs = list(map(_arguments, calibration_data))
    if not inputs:
        raise ValueError("expected calibration_data to have an input, got none")
    module = module_of(mod).clone()
    # Norms scale the weights of convolutions before these are rounded.
    for name in ("decompose-ops-for-inference", "dead-code-elimination"):
        make_pass(name, target).apply(get_context(), module)
    count = len(layers_of(module, function))
    if not count:
        raise ValueError(
            f"expected '{function}' to have a linear layer, matmul or convolution of float32 with "
            "a constant weight, got none"
        )
    most = percentile if scheme == "percentile" else 100.0
    work = _Work(module, function, inputs, target, most)
    chosen = frozenset(range(count))
    if max_error is not None and work.error(chosen) > max_error:
        chosen = work.within(max_error)
    return Quantized(IRModule(work.quantized(chosen)), work.layers(chosen), work.error(chosen))


def _arguments(given: Any) -> tuple[Any, ...]:
    return tuple(cast("Sequence[Any]", given)) if isinstance(given, tuple | list) else (given,)


class _Work:
    """The calibrated function, and versions of it in which some layers are quantized."""

    def __init__(
        self,
        module: ModuleOp,
        function: str,
        inputs: Sequence[tuple[Any, ...]],
        target: str,
        percentile: float,
    ):
        self._module, self._function = module, function
        self._inputs, self._target = inputs, target
        self._calibration = calibrate(module, function, inputs, percentile, target)
        self._errors: dict[frozenset[int], float] = {frozenset(): 0.0}

    def quantized(self, chosen: Collection[int]) -> ModuleOp:
        """A copy of the module in which these layers are quantized."""
        module = self._module.clone()
        for number, layer in enumerate(layers_of(module, self._function)):
            if number in chosen:
                quantize_layer(layer, self._calibration.ranges[number])
        return module

    def error(self, chosen: frozenset[int]) -> float:
        """The error of the results with these layers quantized."""
        if chosen not in self._errors:
            found = results_of(self.quantized(chosen), self._function, self._inputs, self._target)
            self._errors[chosen] = relative_error(found, self._calibration.results)
        return self._errors[chosen]

    def within(self, max_error: float) -> frozenset[int]:
        """The layers with which the error is not larger, without those that alone cause most."""
        count = len(self._calibration.ranges)
        order = sorted(range(count), key=lambda n: self.error(frozenset({n})))
        few, many = 0, count
        while many - few > 1:  # `few` hold, `many` do not
            middle = (few + many) // 2
            if self.error(frozenset(order[:middle])) <= max_error:
                few = middle
            else:
                many = middle
        return frozenset(order[:few])

    def layers(self, chosen: Collection[int]) -> tuple[QuantizedLayer, ...]:
        """What became of each layer."""
        found = layers_of(self._module, self._function)
        pairs = enumerate(zip(found, self._calibration.ranges, strict=True))
        return tuple(
            QuantizedLayer(
                op.name.removeprefix("relax."), op.result.name_hint or f"{n}", range_, n in chosen
            )
            for n, (op, range_) in pairs
        )
