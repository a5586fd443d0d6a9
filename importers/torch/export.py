"""`torch.export` of a model, with what depends on data refused by the model's line."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)
from torch.export import ExportedProgram
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from .inference import verify_inference
from .registry import KEEP_IN_TENSOR, Problem, UnsupportedError
from .source_lines import frame_place

_DATA = (GuardOnDataDependentSymNode, DataDependentOutputException, DynamicOutputShapeException)
_KINDS = (UnsupportedFakeTensorException, UnsupportedOperatorException)


def exported_program(
    model: torch.nn.Module, args: Sequence[Any], kwargs: Mapping[str, Any], dynamic_shapes: Any
) -> ExportedProgram:
    """The program of a model for inference, by example inputs.

    Raises UnsupportedError for a model in training mode where that matters, and for one whose
    Python code needs a value or a size that only data gives; and whatever else the export raises.
    """
    verify_inference(model)
    try:
        with torch.no_grad():
            return torch.export.export(
                model, tuple(args), dict(kwargs), dynamic_shapes=dynamic_shapes
            )
    except _DATA as error:
        reason, advice = "Python code that depends on the values of a tensor", KEEP_IN_TENSOR
        raise _unsupported(error, reason, advice) from None
    except _KINDS as error:
        reason = f"a tensor or an operator that the export has not: {_first_line(error)}"
        raise _unsupported(error, reason, "pass dense tensors that are not quantized") from None


def _unsupported(error: Exception, reason: str, advice: str) -> UnsupportedError:
    where = frame_place(traceback.extract_tb(error.__traceback__))
    problem = Problem(type(error).__name__, "", where, reason, advice)
    message = f"expected a model that can be exported, got {reason} at {where}: {advice}"
    return UnsupportedError([problem], message)


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
