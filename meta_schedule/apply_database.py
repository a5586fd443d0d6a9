"""The schedules of a database in place of the kernels of a module."""

from __future__ import annotations

import warnings

from ..backend.target import Target
from ..dialects import tir
from ..ir.module import IRModule
from ..ir.prim_func import PrimFunc
from ..lowering.functions import PRIVATE
from ..lowering.graph.fusion_patterns import OP_PATTERN
from ..lowering.graph.rewrite_layout import rewrite_calls
from ..lowering.schedule.layout import MovedParameter
from ..runtime.warning import XRelaxWarning
from .database import Database
from .space_generator import replayed_sample
from .workload import Workload, kernel_of, kernels_of, normalized


def apply_database(
    mod: IRModule, database: Database, target: Target, enable_warning: bool = False
) -> list[str]:
    """Schedule the kernels that are in a database, in place; returns their names.

    If a schedule transforms the layout of a parameter, the calls of its kernel are updated.
    """
    moved: list[MovedParameter] = []
    found: list[str] = []
    for name, function in kernels_of(mod).items():
        kernel = normalized(PrimFunc(function))
        record = database.query_tuning_record(kernel, target)
        if record is None:
            if enable_warning:
                text = f"expected a tuning record of kernel '{name}', got none"
                warnings.warn(text, XRelaxWarning, stacklevel=2)
            continue
        sample = replayed_sample(Workload.of(kernel).mod, record.trace)
        _replace(function, kernel_of(sample.mod))
        moved += [m._replace(function=name) for m in sample.moved]
        found.append(name)
    rewrite_calls(mod.op, moved)
    return found


def _replace(function: tir.PrimFuncOp, tuned: tir.PrimFuncOp) -> None:
    """Put a scheduled kernel in the place of a kernel, with its name and what callers know."""
    new = tuned.clone()
    new.sym_name = function.sym_name
    for name in (PRIVATE, OP_PATTERN):
        if (value := function.attr(name)) is not None:
            new.set_attr(name, value)
    block = function.parent
    assert block is not None
    block.insert_op_before(new, function)
    function.detach()
    function.erase()
