"""The stages of the compiler and the passes that lead from one to the next, in order.

`xrelax-opt --emit`, `mod.show(stage=…)`, the picture in `docs/architecture.md` and the tests follow
this list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from .backend.build_key import DISABLED, EXTENSIONS
from .backend.target import HOST
from .dialects.diagnostics import suggestion, verify

PASSES: dict[str, str] = {
    "adjust-matmul-order": ".lowering.graph.adjust_matmul_order:AdjustMatmulOrderPass",
    "align-storage": ".lowering.schedule.align_storage:AlignStoragePass",
    "annotate-reuse-distance": (
        ".lowering.runtime.annotate_reuse_distance:AnnotateReuseDistancePass"
    ),
    "annotate-tir-op-pattern": ".lowering.graph.annotate_tir_op_pattern:AnnotateTIROpPatternPass",
    "attach-attr-layout-free-buffers": (
        ".lowering.graph.attach_layout_free_buffers:AttachAttrLayoutFreeBuffersPass"
    ),
    "attach-global-symbol": ".lowering.graph.attach_global_symbol:AttachGlobalSymbolPass",
    "block-sums": ".lowering.loops.block_sums:BlockSumsPass",
    "bundle-model-params": ".lowering.graph.bundle_model_params:BundleModelParamsPass",
    "call-tir-rewrite": ".lowering.graph.call_tir_rewrite:CallTIRRewritePass",
    "canonicalize-bindings": ".lowering.graph.canonicalize_bindings:CanonicalizeBindingsPass",
    "combine-parallel-matmul": (
        ".lowering.graph.combine_parallel_matmul:CombineParallelMatmulPass"
    ),
    "convert-convolution-to-matmul": (
        ".lowering.graph.convolution_to_matmul:ConvolutionToMatmulPass"
    ),
    "convert-layout": ".lowering.graph.convert_layout:ConvertLayoutPass",
    "convert-relax-to-rt": ".lowering.runtime.relax_to_rt:RelaxToRTPass",
    "convert-tir-to-loops": ".lowering.loops.tir_to_loops:TIRToLoopsPass",
    "convert-to-dataflow": ".lowering.graph.convert_to_dataflow:ConvertToDataflowPass",
    "convert-to-llvm": ".lowering.llvm.convert:ConvertToLLVMPass",
    "cse-loops": ".lowering.loops.cse_loops:CSELoopsPass",
    "dead-code-elimination": ".lowering.graph.dead_code:DeadCodeEliminationPass",
    "decompose-ops-for-inference": (
        ".lowering.graph.decompose_ops_for_inference:DecomposeOpsForInferencePass"
    ),
    "decompose-ops-for-training": ".lowering.graph.decompose_norms:DecomposeOpsForTrainingPass",
    "decompose-split": ".lowering.graph.decompose_split:DecomposeSplitPass",
    "deduplicate-prim-funcs": ".lowering.graph.deduplicate_prim_funcs:DeduplicatePrimFuncsPass",
    "eliminate-common-subexpr": (
        ".lowering.graph.eliminate_common_subexpr:EliminateCommonSubexprPass"
    ),
    "expand-matmul-of-sum": ".lowering.graph.expand_matmul_of_sum:ExpandMatmulOfSumPass",
    "expand-tuple-arguments": (".lowering.graph.expand_tuple_arguments:ExpandTupleArgumentsPass"),
    "flatten-norms": ".lowering.graph.flatten_norms:FlattenNormsPass",
    "fold-constant": ".lowering.graph.fold_constant:FoldConstantPass",
    "fold-permute-dims": ".lowering.graph.fold_permutations:FoldPermuteDimsPass",
    "fold-scale-axis": ".lowering.graph.fold_scale_axis:FoldScaleAxisPass",
    "fuse-ops": ".lowering.graph.fuse_ops:FuseOpsPass",
    "fuse-ops-by-pattern": ".lowering.graph.fuse_ops_by_pattern:FuseOpsByPatternPass",
    "fuse-tir": ".lowering.graph.fuse_tir:FuseTIRPass",
    "fuse-transpose-matmul": ".lowering.graph.fuse_transpose_matmul:FuseTransposeMatmulPass",
    "gradient": ".lowering.graph.gradient:GradientPass",
    "hoist-invariants": ".lowering.loops.hoist_invariants:HoistInvariantsPass",
    "hoist-to-load": ".lowering.runtime.hoist_to_load:HoistToLoadPass",
    "inline-private-functions": (
        ".lowering.graph.inline_private_functions:InlinePrivateFunctionsPass"
    ),
    "inline-producers": ".lowering.schedule.inline_producers:InlineProducersPass",
    "kill-after-last-use": ".lowering.runtime.kill_after_last_use:KillAfterLastUsePass",
    "lambda-lift": ".lowering.graph.lambda_lift:LambdaLiftPass",
    "lazy-get-input": ".lowering.graph.lazy_params:LazyGetInputPass",
    "lazy-set-output": ".lowering.graph.lazy_params:LazySetOutputPass",
    "legalize-ops": ".lowering.graph.legalize_ops:LegalizeOpsPass",
    "lift-transform-params": ".lowering.graph.lift_transform_params:LiftTransformParamsPass",
    "lift-workspace": ".lowering.runtime.lift_workspace:LiftWorkspacePass",
    "lower-alloc-tensor": ".lowering.runtime.lower_alloc_tensor:LowerAllocTensorPass",
    "lower-multi-reduction": ".lowering.loops.lower_multi_reduction:LowerMultiReductionPass",
    "lower-prims": ".lowering.graph.lower_prims:LowerPrimsPass",
    "merge-composite-functions": (
        ".lowering.graph.merge_composite_functions:MergeCompositeFunctionsPass"
    ),
    "normalize": ".lowering.graph.normalize:NormalizePass",
    "optimize-layout-transform": (
        ".lowering.graph.optimize_layout_transform:OptimizeLayoutTransformPass"
    ),
    "pack-weights": ".lowering.graph.pack_weights:PackWeightsPass",
    "plan-memory": ".lowering.runtime.plan_memory:PlanMemoryPass",
    "prefetch-panels": ".lowering.loops.prefetch_panels:PrefetchPanelsPass",
    "promote-buffers": ".lowering.loops.promote_buffers:PromoteBuffersPass",
    "propagate-quantization": (".lowering.graph.propagate_quantization:PropagateQuantizationPass"),
    "remove-purity-checking": ".lowering.graph.remove_purity_checking:RemovePurityCheckingPass",
    "remove-redundant-reshape": (
        ".lowering.graph.remove_redundant_reshape:RemoveRedundantReshapePass"
    ),
    "remove-unused-outputs": ".lowering.graph.remove_unused_outputs:RemoveUnusedOutputsPass",
    "remove-unused-parameters": (
        ".lowering.graph.remove_unused_parameters:RemoveUnusedParametersPass"
    ),
    "reorder-permute-dims-after-concat": (
        ".lowering.graph.reorder_permute_dims_after_concat:ReorderPermuteDimsAfterConcatPass"
    ),
    "reorder-take-after-matmul": (
        ".lowering.graph.reorder_take_after_matmul:ReorderTakeAfterMatmulPass"
    ),
    "resolve-shapes": ".lowering.graph.resolve_shapes:ResolveShapesPass",
    "rewrite-dataflow-reshape": (
        ".lowering.graph.rewrite_dataflow_reshape:RewriteDataflowReshapePass"
    ),
    "schedule-default": ".lowering.schedule.default:ScheduleDefaultPass",
    "specialize-prim-funcs": ".lowering.graph.specialize_prim_funcs:SpecializePrimFuncsPass",
    "split-layout-rewrite-preproc": (
        ".lowering.graph.split_layout_rewrite_preproc:SplitLayoutRewritePreprocPass"
    ),
    "split-loops": ".lowering.loops.split_loops:SplitLoopsPass",
    "static-plan-block-memory": (
        ".lowering.runtime.static_plan_block_memory:StaticPlanBlockMemoryPass"
    ),
    "to-mixed-precision": ".lowering.graph.mixed_precision:ToMixedPrecisionPass",
    "to-non-dataflow": ".lowering.graph.to_non_dataflow:ToNonDataflowPass",
    "topological-sort": ".lowering.graph.topological_sort:TopologicalSortPass",
    "unroll-loops": ".lowering.loops.unroll_loops:UnrollLoopsPass",
    "use-attention": ".lowering.graph.attention:UseAttentionPass",
    "use-dot-products": ".lowering.graph.dot_products:UseDotProductsPass",
    "use-matrix-products": ".lowering.loops.matrix_products:UseMatrixProductsPass",
    "use-silu": ".lowering.graph.use_silu:UseSiluPass",
    "use-winograd": ".lowering.graph.winograd:UseWinogradPass",
    "vectorize-loops": ".lowering.loops.vectorize_loops:VectorizeLoopsPass",
}
"""Our passes by name, as `module:class` relative to the package, and registered ones."""

UPSTREAM_PASSES = ("canonicalize", "dce")
"""xDSL's passes that the pipeline uses as they are."""


@dataclass(frozen=True)
class Stage:
    """A form of the module and the passes that bring it there from the stage before."""

    name: str
    passes: tuple[str, ...]


STAGES: list[Stage] = [
    Stage(
        "relax",
        (
            "lambda-lift",
            "normalize",
            "resolve-shapes",
            "lower-prims",
            "decompose-ops-for-inference",
            "use-attention",
            "use-silu",
            "fold-permute-dims",
            "fuse-transpose-matmul",
            "propagate-quantization",
            "to-mixed-precision",
            "use-dot-products",
            "fold-scale-axis",
            "convert-layout",
            "use-winograd",
            "convert-convolution-to-matmul",
            "pack-weights",
            "decompose-split",
            "flatten-norms",
            "fold-constant",
            "eliminate-common-subexpr",
            "dead-code-elimination",
        ),
    ),
    Stage(
        "tir",
        (
            "inline-producers",
            "rewrite-dataflow-reshape",
            "legalize-ops",
            "annotate-tir-op-pattern",
            "fuse-ops",
            "fuse-tir",
            "specialize-prim-funcs",
            "deduplicate-prim-funcs",
            "attach-attr-layout-free-buffers",
            "schedule-default",
            "align-storage",
        ),
    ),
    Stage(
        "rt",
        (
            "convert-relax-to-rt",
            "hoist-to-load",
            "lift-workspace",
            "plan-memory",
            "annotate-reuse-distance",
        ),
    ),
    Stage(
        "loops",
        (
            "convert-tir-to-loops",
            "split-loops",
            "vectorize-loops",
            "unroll-loops",
            "promote-buffers",
            "lower-multi-reduction",
            "hoist-invariants",
            "cse-loops",
            "dce",
            "use-matrix-products",
            "prefetch-panels",
            "block-sums",
        ),
    ),
    Stage("llvm", ("convert-to-llvm",)),
]
STAGE_NAMES = tuple(stage.name for stage in STAGES)

SCHEDULE = "schedule"
"""The default schedules of the kernels of stage "tir", as Python."""
TEXT_NAMES = (SCHEDULE, "llvm-opt", "asm")
"""The names of text in other forms: schedules, LLVM IR after optimization, and assembly."""

Observer = Callable[[str, ModuleOp], None]
"""Called with the name of each pass that has run and the module after it."""


def plain_name(name: str) -> str:
    """A pass name in one spelling: `fuse-tir`, ``FuseTIR`` and ``relax.FuseTIR`` are the same."""
    return name.rpartition(".")[2].replace("-", "").replace("_", "").lower()


def enabled_passes(stage: Stage) -> list[str]:
    """The names of a stage's passes, without those that the context leaves out."""
    disabled = DISABLED.get()
    return [name for name in stage.passes if plain_name(name) not in disabled]


def load_pass(name: str) -> type[ModulePass]:
    """The class of a pass; raises ValueError for an unknown name."""
    if name in UPSTREAM_PASSES:
        from xdsl.transforms import get_all_passes

        return get_all_passes()[name]()
    if name not in PASSES:
        known = ", ".join(sorted(PASSES))
        raise ValueError(f"expected a pass ({known}), got '{name}'{suggestion(name, PASSES)}")
    module, attribute = PASSES[name].split(":")
    return getattr(import_module(module, __package__), attribute)


PassClass = TypeVar("PassClass", bound=type[ModulePass])


def register_pass(*, before: str | None = None) -> Callable[[PassClass], PassClass]:
    """Class decorator: add a pass from outside the package, for `xrelax-opt -p` and `load_pass`.

    With `before` the pipeline runs it before the pass of that name. Builds with such a pass are not
    cached. Defining a class again in its module replaces it. Raises ValueError for the name of
    another pass, an unknown `before`, and a class inside a function or class.
    """

    def register(cls: PassClass) -> PassClass:
        place = f"{cls.__module__}:{cls.__qualname__}"
        if "." in cls.__qualname__:
            raise ValueError(f"expected pass '{cls.name}' at the top level of a module")
        if cls.name in UPSTREAM_PASSES or PASSES.get(cls.name, place) != place:
            raise ValueError(f"expected a new name of a pass, got '{cls.name}' twice")
        if before is not None:
            _insert(cls.name, before)
            EXTENSIONS.add(f"pass {cls.name}")
        PASSES[cls.name] = place
        return cls

    return register


def _insert(name: str, before: str) -> None:
    """Run a pass before another one of the pipeline, and nowhere else."""
    stages = [
        replace(stage, passes=tuple(p for p in stage.passes if p != name)) for stage in STAGES
    ]
    known = [p for stage in stages for p in stage.passes]
    if before not in known:
        raise ValueError(
            f"expected a pass of the pipeline ({', '.join(known)}), got '{before}'"
            f"{suggestion(before, known)}"
        )
    at = next(i for i, stage in enumerate(stages) if before in stage.passes)
    passes = stages[at].passes
    split = passes.index(before)
    stages[at] = replace(stages[at], passes=(*passes[:split], name, *passes[split:]))
    STAGES[:] = stages


def make_pass(name: str, target: str) -> ModulePass:
    """A pass with its default options, for a target by its text if it has the option `target`."""
    found = load_pass(name)
    takes_target = any(field.name == "target" for field in fields(found))
    options = {"target": target} if takes_target else {}
    return found(**options)


def passes_before(name: str, target: str) -> list[ModulePass]:
    """All passes of the pipeline that come before the first one of a name."""
    names = [p for stage in STAGES for p in stage.passes]
    return [make_pass(p, target) for p in names[: names.index(name)]]


def pass_before(name: str) -> str:
    """The name of the pass that comes before another one in the pipeline."""
    names = [p for stage in STAGES for p in stage.passes]
    return names[names.index(name) - 1]


def run_stage(
    module: ModuleOp,
    stage: Stage,
    context: Context,
    target: str = HOST,
    observe: Observer | None = None,
) -> None:
    """Bring a module, in place, from the stage before to `stage`; it verifies afterwards.

    Raises PassFailedException or Diagnostic with one line where a pass cannot go on.
    """
    run_passes(module, stage, context, target, observe)
    verify(module)


def run_passes(
    module: ModuleOp,
    stage: Stage,
    context: Context,
    target: str = HOST,
    observe: Observer | None = None,
) -> None:
    """The same without a verification, for what something else verifies, as LLVM does its code."""
    for name in enabled_passes(stage):
        make_pass(name, target).apply(context, module)
        if observe is not None:
            observe(name, module)
