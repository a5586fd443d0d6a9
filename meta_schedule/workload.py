"""Workloads: modules of one kernel "main", which a search schedules and a database is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from ..dialects import get_context, tir
from ..dialects.diagnostics import verify
from ..ir.equality import structural_equal, structural_hash
from ..ir.module import IRModule
from ..ir.prim_func import PrimFunc
from ..lowering.functions import PRIVATE
from ..lowering.graph.fusion_patterns import OP_PATTERN
from ..lowering.schedule.blocks import IS_SCHEDULED

MAIN = "main"
"""The name of the kernel of a workload."""


@dataclass(frozen=True)
class Workload:
    """A kernel and its structural hash; TVM's ``Workload``."""

    mod: IRModule
    shash: str

    @staticmethod
    def of(mod: IRModule | PrimFunc) -> Workload:
        """The workload of a kernel, whatever its name; raises ValueError for several kernels."""
        normal = normalized(mod)
        return Workload(normal, f"{structural_hash(normal, map_free_vars=True):016x}")

    @cached_property
    def function(self) -> tir.PrimFuncOp:
        """The kernel."""
        return kernel_of(self.mod)

    def as_json(self) -> list[str]:
        """The hash, and the IR as text."""
        return [self.shash, str(self.mod.op)]

    @staticmethod
    def from_json(json_obj: list[str]) -> Workload:
        """The workload of `as_json`; raises ParseError or Diagnostic for invalid text."""
        shash, text = json_obj
        return Workload(IRModule(parsed(text)), shash)

    def is_same(self, other: Workload) -> bool:
        """Whether two workloads are structurally equal."""
        return self.shash == other.shash and structural_equal(self.mod, other.mod, True)


def parsed(text: str) -> ModuleOp:
    """A verified module from its text."""
    module = Parser(get_context(), text).parse_module()
    verify(module)
    return module


def normalized(mod: IRModule | PrimFunc) -> IRModule:
    """A module with a copy of the only kernel as "main", without what its callers concern.

    Raises ValueError unless there is exactly one kernel.
    """
    function = mod.op if isinstance(mod, PrimFunc) else kernel_of(mod)
    new = function.clone()
    assert isinstance(new, tir.PrimFuncOp)
    for attribute in (PRIVATE, OP_PATTERN):
        new.set_attr(attribute, None)
    return IRModule({MAIN: PrimFunc(new)})


def kernel_of(mod: IRModule) -> tir.PrimFuncOp:
    """The only PrimFunc of a module; raises ValueError if it has none or several."""
    found = [op for op in mod.op.ops if isinstance(op, tir.PrimFuncOp)]
    if len(found) != 1:
        names = ", ".join(op.sym_name.data for op in found) or "none"
        raise ValueError(f"expected a module of one PrimFunc, got {names}")
    return found[0]


def kernels_of(mod: IRModule) -> dict[str, tir.PrimFuncOp]:
    """The kernels of a module that have no schedule, by name."""
    kernels = (op for op in mod.op.ops if isinstance(op, tir.PrimFuncOp))
    return {op.sym_name.data: op for op in kernels if op.attr(IS_SCHEDULED) is None}
