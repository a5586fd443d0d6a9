"""The stages of the compiler and the passes that lead from one to the next, in order.

`xrelax-opt --emit`, `mod.show(stage=…)`, the README's picture and the tests follow this list.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from xdsl.passes import ModulePass

PASSES: dict[str, str] = {
    "convert-relax-to-rt": ".lowering.runtime.relax_to_rt:RelaxToRTPass",
    "convert-tir-to-loops": ".lowering.loops.tir_to_loops:TIRToLoopsPass",
    "convert-to-llvm": ".lowering.llvm.convert:ConvertToLLVMPass",
    "lift-workspace": ".lowering.runtime.lift_workspace:LiftWorkspacePass",
    "legalize-ops": ".lowering.graph.legalize_ops:LegalizeOpsPass",
    "normalize": ".lowering.graph.normalize:NormalizePass",
    "plan-memory": ".lowering.runtime.plan_memory:PlanMemoryPass",
    "promote-buffers": ".lowering.loops.promote_buffers:PromoteBuffersPass",
    "schedule-default": ".lowering.schedule.default:ScheduleDefaultPass",
    "specialize-prim-funcs": ".lowering.graph.specialize_prim_funcs:SpecializePrimFuncsPass",
    "unroll-loops": ".lowering.loops.unroll_loops:UnrollLoopsPass",
    "vectorize-loops": ".lowering.loops.vectorize_loops:VectorizeLoopsPass",
}
"""Our passes by name, as `module:class` relative to the package."""

UPSTREAM_PASSES = ("canonicalize", "cse", "dce")
"""xDSL's passes that the pipeline uses as they are."""


@dataclass(frozen=True)
class Stage:
    """A form of the module and the passes that bring it there from the stage before."""

    name: str
    passes: tuple[str, ...]


STAGES: tuple[Stage, ...] = (
    Stage("relax", ("normalize", "cse", "dce")),
    Stage("tir", ("legalize-ops", "specialize-prim-funcs", "schedule-default")),
    Stage("rt", ("convert-relax-to-rt", "lift-workspace", "plan-memory")),
    Stage(
        "loops",
        (
            "convert-tir-to-loops",
            "unroll-loops",
            "vectorize-loops",
            "promote-buffers",
            "cse",
            "dce",
        ),
    ),
    Stage("llvm", ("convert-to-llvm",)),
)


def load_pass(name: str) -> type[ModulePass]:
    """The class of a pass; raises ValueError for an unknown name."""
    if name in UPSTREAM_PASSES:
        from xdsl.transforms import get_all_passes

        return get_all_passes()[name]()
    if name not in PASSES:
        raise ValueError(f"expected a pass ({', '.join(sorted(PASSES))}), got '{name}'")
    module, attribute = PASSES[name].split(":")
    return getattr(import_module(module, __package__), attribute)
