"""The `tir` namespace of the Python API: TensorIR functions, their schedules, scalar expressions.

Scalar functions are those of `te` and of scripts: ``tir.exp`` is ``te.exp`` and ``T.exp``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..name_lookup import known, resolve

if TYPE_CHECKING:
    from ..ir.prim_func import PrimFunc as PrimFunc
    from .index_map import IndexMap as IndexMap
    from .schedule import Schedule as Schedule
    from .tensor_intrin import TensorIntrin as TensorIntrin

__script_path__ = "tir"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    from ..te.intrinsics import FUNCTIONS
    from .expr_classes import CLASSES

    known_here = {**FUNCTIONS, **CLASSES}
    return known_here[name] if name in known_here else resolve("tir.", name)


def __dir__() -> list[str]:
    return [*globals(), *known("tir.")]
