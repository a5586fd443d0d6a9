"""PyTorch's dtypes by name, and its type promotion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from ...dialects.dtypes import DTYPES, FLOATS
from ..unsupported import Unsupported

_BY_NAME = {name: getattr(torch, name) for name in DTYPES}
COMPLEX_ADVICE = "compute with its real and imaginary parts, as torch.view_as_real gives them"


class Operand(NamedTuple):
    """An operand of promotion: a dtype, and 2 for tensors, 1 for those of rank 0, 0 for numbers."""

    dtype: str
    priority: int


def dtype_name(dtype: torch.dtype) -> str:
    """The name of a dtype; raises Unsupported for one without a counterpart, such as complex64."""
    name = str(dtype).removeprefix("torch.")
    if name not in _BY_NAME:
        advice = COMPLEX_ADVICE if dtype.is_complex else ""
        raise Unsupported(f"expected a dtype ({', '.join(DTYPES)}), got {name}", advice)
    return name


def torch_dtype(name: str | torch.dtype) -> torch.dtype:
    """The dtype of a name, or itself."""
    return name if isinstance(name, torch.dtype) else _BY_NAME[name]


def number_dtype(value: object) -> str:
    """The dtype of a Python number in promotion; symbolic integers are integers."""
    if isinstance(value, bool):
        return "bool"
    return dtype_name(torch.get_default_dtype()) if isinstance(value, float) else "int64"


def _category(dtype: str) -> int:
    return 0 if dtype == "bool" else 2 if dtype in FLOATS else 1


def promote(operands: Sequence[Operand]) -> str:
    """The dtype in which PyTorch computes with these operands.

    Tensors of rank 1 or more determine it, unless one of rank 0, or else a number, is of a higher
    category (bool, integer, float); as ``torch.result_type``.
    """
    result = ""
    for priority in (2, 1, 0):
        names = [o.dtype for o in operands if o.priority == priority]
        for group in _promoted(names):
            if not result:
                result = group
            elif _category(group) > _category(result):
                result = _promoted([result, group])[0]
    return result


def _promoted(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    result = _BY_NAME[names[0]]
    for name in names[1:]:
        result = torch.promote_types(result, _BY_NAME[name])
    return [dtype_name(result)]


def float_of(dtype: str) -> str:
    """The dtype of a mathematical function's result: itself for floats, else the default float."""
    return dtype if dtype in FLOATS else dtype_name(torch.get_default_dtype())
