"""The precisions in which contestants are compared, and the quantized files of the lowest."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Precision:
    """What contractions take: how it is called, its bytes, and who takes part."""

    dtype: str
    nbytes: int
    tolerance: float
    """The largest error that counts as equal, unless the workload's is larger."""
    peers: Collection[str] | None = None
    """The peers that have it, if not all have."""


PRECISIONS = {
    "f32": Precision("float32", 4, 0.0),
    "bf16": Precision("bfloat16", 2, 5e-2, ("torch", "torch.compile", "openvino")),
    "int8": Precision("int8", 1, 1e-1, ("onnxruntime", "openvino")),
}
"""For bf16 every contestant rounds its own way; for int8 all run one file, which ONNX Runtime's
tools quantize: uint8 activations, calibrated by the inputs, and int8 weights by channel."""


def quantized(path: Path, folder: Path, inputs: Mapping[str, np.ndarray]) -> Path:
    """A copy of an ONNX file with QuantizeLinear and DequantizeLinear around its operators."""
    import onnx
    from onnxruntime.quantization import (
        CalibrationDataReader,
        QuantFormat,
        QuantType,
        quantize_static,
    )
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Once(CalibrationDataReader):
        def __init__(self) -> None:
            self.feeds = iter([dict(zip(names, inputs.values(), strict=True))])

        def get_next(self) -> Any:
            return next(self.feeds, None)

    whole, prepared, result = (folder / f"{name}.onnx" for name in ("whole", "prepared", "int8"))
    onnx.save(onnx.load(path), whole)  # with its data
    logging.disable()
    quant_pre_process(whole, prepared, skip_symbolic_shape=True)
    names = [i.name for i in onnx.load(prepared).graph.input]
    quantize_static(
        prepared,
        result,
        Once(),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
    )
    logging.disable(logging.NOTSET)
    return result
