"""`xrelax.quantize`: a model whose layers compute on integers of 8 bits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ..backend.target import HOST
from ..importers.compilable import Compilable
from ..importers.compile import import_model, needs_examples
from ..importers.imported import Imported
from ..ir.module import IRModule
from .report import QuantizedLayer, Report
from .selection import Selection

SCHEMES = ("minmax", "percentile", "dynamic")


@dataclass(frozen=True, repr=False)
class Quantized(Compilable):
    """A quantized model, and the report of its layers; `xrelax.compile` takes it."""

    model: Imported
    report: Report

    @property
    def module(self) -> IRModule:
        """The module, in which quantized layers are between `R.quantize` and `R.dequantize`."""
        return self.model.module

    @property
    def layers(self) -> tuple[QuantizedLayer, ...]:
        """The layers in order."""
        return self.report.layers

    @property
    def error(self) -> float | None:
        """The error of the results on the example inputs, `None` without any."""
        return self.report.error

    def compile(self, **options: Any) -> Any:
        """Native code with the calls of the model; `options` are those of `build`."""
        return self.model.compile(**options)

    def __str__(self) -> str:
        return str(self.report)

    def __repr__(self) -> str:
        count = sum(layer.is_quantized for layer in self.layers)
        known = "" if self.error is None else f"; relative error {self.error:.2e}"
        return f"<Quantized: {count} of {len(self.layers)} layers on integers{known}>"


def quantize(
    model: Any,
    calibration_data: Iterable[Any] | None = None,
    *,
    scheme: str = "minmax",
    percentile: float = 99.99,
    max_error: float | None = None,
    skip: Collection[str] = (),
    function: str = "main",
    target: str = HOST,
    progress: bool = True,
    **options: Any,
) -> Quantized:
    """Let the layers of a model with constant weights compute on integers of 8 bits.

    `model` is what `xrelax.compile` takes: a `torch.nn.Module` or an `ExportedProgram`, an ONNX
    model or the path of its file, or an `IRModule` with a graph function. `options` are the
    arguments of `compile` that describe inputs: `example_inputs`, `kwargs`, `dynamic_shapes`,
    `shape_dict`, `dtype_dict`, `opset`; the first input is the default for `example_inputs`.

    `calibration_data` are inputs of the model: a tensor, a tuple of arguments, or a dict of them by
    name for each call. The range of a layer's data is that of all values, or with
    `scheme="percentile"` that between percentiles of each input. With `scheme="dynamic"` each row,
    or each image, is quantized in its own range at run time, and inputs only measure errors.
    Weights have a scale for each output channel. If the error of the results is more than
    `max_error`, the layers that cause most of it stay in float32, as do those in `skip`: names of
    layers or operators, in which ``*`` is any text. `target` is for the runs on the inputs, of
    which `progress` shows a bar on terminals, if tqdm is installed.

    ONNX Runtime's ``quantize_static`` and ``quantize_dynamic``, and PyTorch's PT2E quantization.
    Raises ValueError with one line for a function without such layers, no data, values that are not
    finite, and wrong options; for a model that cannot be imported, and for data that does not fit,
    as a compilation and a call do.
    """
    _verify(scheme, percentile, max_error, skip)
    inputs = _inputs(calibration_data)
    needs_example = needs_examples(model) and not {"example_inputs", "kwargs"} & {*options}
    if not inputs:
        _verify_without_inputs(scheme, max_error, needs_example)
    elif needs_example:
        options |= {"example_inputs": inputs[0][0], "kwargs": inputs[0][1]}
    imported = import_model(model, **options)
    arguments = [imported.arguments(args, kwargs) for args, kwargs in inputs]
    selection = Selection(imported, function, arguments, target, progress)
    selection.skip(skip)
    selection.calibrate(None if scheme == "dynamic" else _percentile(scheme, percentile))
    if max_error is not None:
        selection.limit(max_error)
    return Quantized(imported.with_module(selection.module()), selection.report())


def _verify_without_inputs(scheme: str, max_error: float | None, needs_example: bool) -> None:
    """Raise ValueError if something needs an input."""
    if scheme != "dynamic":
        raise ValueError("expected calibration_data to have an input, got none")
    if max_error is not None:
        raise ValueError("expected calibration_data for max_error, got none")
    if needs_example:
        raise ValueError("expected calibration_data or example_inputs for a model, got none")


def _percentile(scheme: str, percentile: float) -> float:
    return percentile if scheme == "percentile" else 100.0


def _verify(scheme: str, percentile: float, max_error: float | None, skip: Any) -> None:
    if scheme not in SCHEMES:
        raise ValueError(f"expected scheme of {', '.join(SCHEMES)}, got '{scheme}'")
    if not 50 < percentile <= 100:
        raise ValueError(f"expected percentile above 50, at most 100, got {percentile}")
    if max_error is not None and not max_error >= 0:
        raise ValueError(f"expected max_error of at least 0, got {max_error}")
    if not isinstance(skip, Collection) or isinstance(skip, str):
        raise ValueError(f"expected skip to be a list of names, got {skip!r}")


def _inputs(data: Any) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """The arguments of each call, by position and by name."""
    if data is None:
        return []
    kind = type(cast("object", data)).__name__
    if hasattr(data, "shape") or isinstance(data, Mapping | str) or not _is_iterable(data):
        raise ValueError(f"expected calibration_data to be a list of inputs, got one {kind}")
    return [_arguments(given) for given in data]


def _is_iterable(value: Any) -> bool:
    return hasattr(value, "__iter__") or hasattr(value, "__getitem__")  # a data set


def _arguments(given: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(given, Mapping):
        return (), dict(cast("Mapping[str, Any]", given))
    return tuple(cast("Sequence[Any]", given)) if isinstance(given, tuple | list) else (given,), {}
