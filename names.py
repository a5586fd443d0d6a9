"""Every name of the Python API and where it lives: today's and all historical spellings.

A value is ``module`` or ``module:attribute``, relative to the package. Names with a common prefix
form a namespace: ``nd.array`` is the attribute `array` of ``xrelax.nd``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_OTHER_DEVICES = ("cuda", "rocm", "opencl", "metal", "vulkan", "webgpu")
_UTILITIES = ("support", "contrib")
_CHECKPOINTS = ("checkpoint", "emit_checkpoint", "emit_checkpoint_sequential")
_LAYERS = (
    "emit",
    "Linear",
    "LogSoftmax",
    "Module",
    "Parameter",
    "Placeholder",
    "ReLU",
    "Sequential",
)
_COMPARISONS = ("assert_allclose", "check_numerical_grads")
_ITER_MAPS = {
    "iter_map": (
        "detect_iter_map",
        "inverse_affine_iter_map",
        "iter_map_simplify",
        "normalize_iter_map_to_expr",
        "normalize_to_iter_sum",
    ),
    "iter_map_expr": (
        "IterMapExpr",
        "IterMapLevel",
        "IterMark",
        "IterSplitExpr",
        "IterSumExpr",
    ),
}

_TYPES = {
    "AnyType": "ObjectStructInfo",
    "FuncType": "FuncStructInfo",
    "ObjectType": "ObjectStructInfo",
    "PrimType": "PrimStructInfo",
    "ShapeType": "ShapeStructInfo",
    "TensorType": "TensorStructInfo",
    "TupleType": "TupleStructInfo",
    "Type": "StructInfo",
}
"""Names of types since 2026, and those before."""

_EXPRS = {
    "blocks": ("BindingBlock", "DataflowBlock", "If", "MatchCast", "SeqExpr", "VarBinding"),
    "call_parts": ("ExternFunc", "GlobalVar"),
    "calls": ("Call",),
    "expr": (
        *("Constant", "DataflowVar", "Expr", "PrimValue", "ShapeExpr"),
        *("Tuple", "TupleGetItem", "Var"),
    ),
    "function": ("Function",),
    "strings": ("StringImm",),
}
"""The classes of `relax.expr`, by modules of `ir`."""

_STATEMENTS = {
    "statements": ("AttrStmt", "For", "ForKind", "IfThenElse", "SeqStmt", "While"),
    "leaf_statements": (
        "AllocBuffer",
        "AssertStmt",
        "Bind",
        "Break",
        "BufferStore",
        "Continue",
        "DeclBuffer",
        "Evaluate",
        "Return",
    ),
    "block_views": ("SBlock", "SBlockRealize"),
    "regions": ("BufferRegion",),
}

NAMES: dict[str, str] = {
    # today's spellings
    "IRModule": ".ir.module:IRModule",
    "arith.Analyzer": ".te.analyzer:Analyzer",
    "arith.ConstIntBound": ".te.ranges:ConstIntBound",
    "arith.IntervalSet": ".te.ranges:IntervalSet",
    "arith.ModularSet": ".te.ranges:ModularSet",
    **{f"arith.{n}": f".te.{file}:{n}" for file, names in _ITER_MAPS.items() for n in names},
    "arith.detect_clip_bound": ".te.linear:detect_clip_bound",
    "arith.detect_linear_equation": ".te.linear:detect_linear_equation",
    "arith.estimate_region_lower_bound": ".te.region_bounds:estimate_region_lower_bound",
    "arith.estimate_region_upper_bound": ".te.region_bounds:estimate_region_upper_bound",
    "build": ".driver:build",
    "error.OpError": ".dialects.diagnostics:OpError",
    "error.TVMError": ".dialects.diagnostics:TVMError",
    "compile": ".importers.compile:compile",
    "cpu": ".runtime:cpu",
    "device": ".runtime:device",
    "device_from_target": ".runtime.device:device_from_target",
    **{name: f".runtime.device:{name}" for name in _OTHER_DEVICES},
    "Device": ".runtime:Device",
    "get_global_func": ".runtime:get_global_func",
    "llm": ".llm",
    "load_module": ".runtime:load_module",
    "meta_schedule": ".meta_schedule",
    "meta_schedule.Runner": ".meta_schedule.runner:Runner",
    "meta_schedule.TuneConfig": ".meta_schedule.tune:TuneConfig",
    "meta_schedule.TuneContext": ".meta_schedule.task:TuneContext",
    "meta_schedule.builder": ".meta_schedule.builder",
    "meta_schedule.cost_model": ".meta_schedule.cost_model",
    "meta_schedule.database": ".meta_schedule.database",
    "meta_schedule.measure_callback": ".meta_schedule.measure_callback",
    "meta_schedule.relax_integration": ".meta_schedule.relax_integration",
    "meta_schedule.runner": ".meta_schedule.runner",
    "meta_schedule.space_generator": ".meta_schedule.space_generator",
    "meta_schedule.tir_integration": ".meta_schedule.tir_integration",
    "meta_schedule.tune_relax": ".meta_schedule.relax_integration:tune_relax",
    "meta_schedule.tune_tasks": ".meta_schedule.tune:tune_tasks",
    "meta_schedule.tune_tir": ".meta_schedule.tir_integration:tune_tir",
    "quantize": ".quantization:quantize",
    "register_global_func": ".runtime:register_global_func",
    "stages": ".inspection:stages",
    "target.Target": ".backend.target:Target",
    "ir": ".ir",
    "relax": ".relax",
    "runtime": ".runtime",
    **{f"{name}.utils.TempDirectory": ".runtime.temporary:TempDirectory" for name in _UTILITIES},
    **{f"{name}.utils.tempdir": ".runtime.temporary:tempdir" for name in _UTILITIES},
    "rpc.LocalSession": ".runtime.rpc:LocalSession",
    **{f"{place}DataType": ".runtime.data_type:DataType" for place in ("", "runtime.")},
    "runtime.convert": ".runtime:convert",
    "runtime.module.BenchmarkResult": ".runtime.timing:BenchmarkResult",
    "runtime.XRelaxWarning": ".runtime:XRelaxWarning",
    "runtime.num_threads": ".runtime:num_threads",
    "runtime.set_num_threads": ".runtime:set_num_threads",
    "script": ".script",
    "te": ".te",
    "testing": ".testing",
    **{f"testing.{name}": f".testing.numerics:{name}" for name in _COMPARISONS},
    "topi": ".te.topi",
    "ir.GlobalVar": ".ir.call_parts:GlobalVar",
    "ir.IRModule": ".ir.module:IRModule",
    "ir.Op": ".ir.call_parts:Op",
    "ir.instrument": ".ir.instrument",
    "ir.load_json": ".script.json:load_json",
    "ir.save_json": ".script.json:save_json",
    "ir.Range": ".te.ranges:Range",
    "ir.VDevice": ".ir.struct_info:VDevice",
    "ir.assert_structural_equal": ".ir.equality:assert_structural_equal",
    "ir.structural_equal": ".ir.equality:structural_equal",
    "ir.structural_hash": ".ir.equality:structural_hash",
    "ir.transform": ".ir.transform",
    "instrument": ".ir.instrument",
    "relax.BasePyModule": ".py_module:BasePyModule",
    "relax.BlockBuilder": ".builder.block_builder:BlockBuilder",
    "relax.Call": ".ir.calls:Call",
    "relax.Constant": ".ir.expr:Constant",
    "relax.DataflowBlock": ".ir.blocks:DataflowBlock",
    "relax.DataflowVar": ".ir.expr:DataflowVar",
    "relax.Executable": ".runtime:Executable",
    "relax.Expr": ".ir.expr:Expr",
    "relax.ExternFunc": ".ir.call_parts:ExternFunc",
    "relax.FuncStructInfo": ".ir.struct_info:FuncStructInfo",
    "relax.Function": ".ir.function:Function",
    "relax.GlobalVar": ".ir.call_parts:GlobalVar",
    "relax.If": ".ir.blocks:If",
    "relax.BindingBlock": ".ir.blocks:BindingBlock",
    "relax.MatchCast": ".ir.blocks:MatchCast",
    "relax.ObjectStructInfo": ".ir.struct_info:ObjectStructInfo",
    "relax.PyExprMutator": ".builder.mutator:PyExprMutator",
    "relax.PyExprVisitor": ".builder.mutator:PyExprVisitor",
    "relax.PrimStructInfo": ".ir.struct_info:PrimStructInfo",
    "relax.PrimValue": ".ir.expr:PrimValue",
    "relax.StringImm": ".ir.strings:StringImm",
    "relax.SeqExpr": ".ir.blocks:SeqExpr",
    "relax.ShapeExpr": ".ir.expr:ShapeExpr",
    "relax.ShapeStructInfo": ".ir.struct_info:ShapeStructInfo",
    "relax.StructInfo": ".ir.struct_info:StructInfo",
    "relax.TensorStructInfo": ".ir.struct_info:TensorStructInfo",
    "relax.Tuple": ".ir.expr:Tuple",
    "relax.TupleGetItem": ".ir.expr:TupleGetItem",
    "relax.TupleStructInfo": ".ir.struct_info:TupleStructInfo",
    "relax.Var": ".ir.expr:Var",
    "relax.VarBinding": ".ir.blocks:VarBinding",
    "relax.VirtualMachine": ".runtime:VirtualMachine",
    "relax.analysis": ".builder.analysis",
    "relax.build": ".driver:build",
    "relax.call_dps_packed": ".builder.op:call_dps_packed",
    "relax.call_tir": ".builder.op:call_tir",
    "relax.const": ".builder.op:const",
    "relax.binding_rewrite.DataflowBlockRewrite": ".builder.binding_rewrite:DataflowBlockRewrite",
    "relax.dpl": ".builder.dpl",
    "relax.expr_functor": ".builder.mutator",
    "relax.frontend.nn": ".builder.nn",
    "relax.extern": ".ir.call_parts:ExternFunc",
    "relax.frontend": ".relax.frontend",
    "relax.frontend.detach_params": ".importers.torch.parameters:detach_params",
    "relax.frontend.onnx": ".relax.frontend.onnx",
    "relax.frontend.onnx.OnnxModel": ".importers.onnx.compiled_model:OnnxModel",
    "relax.frontend.onnx.Unsupported": ".importers.unsupported:Unsupported",
    "relax.frontend.onnx.UnsupportedError": ".importers.unsupported:UnsupportedError",
    "relax.frontend.onnx.converts": ".importers.onnx.registry:converts",
    "relax.frontend.onnx.from_onnx": ".importers.onnx.frontend:from_onnx",
    "relax.frontend.torch": ".relax.frontend.torch",
    "relax.frontend.torch.CompiledModel": ".importers.torch.compiled_model:CompiledModel",
    "relax.frontend.torch.Unsupported": ".importers.unsupported:Unsupported",
    "relax.frontend.torch.UnsupportedError": ".importers.unsupported:UnsupportedError",
    "relax.frontend.torch.converts": ".importers.torch.registry:converts",
    "relax.frontend.torch.from_exported_program": (
        ".importers.torch.exported_program:from_exported_program"
    ),
    "relax.frontend.torch.from_fx": ".importers.torch.fx:from_fx",
    "relax.frontend.torch.dynamo": ".importers.torch.dynamo",
    "relax.frontend.torch.dynamo_capture_subgraphs": (
        ".importers.torch.dynamo:dynamo_capture_subgraphs"
    ),
    "relax.frontend.torch.relax_dynamo": ".importers.torch.dynamo:relax_dynamo",
    "relax.frontend.torch.register_backend": ".importers.torch.dynamo:register",
    "relax.get_shape_of": ".builder.op:get_shape_of",
    "relax.prim_value": ".builder.op:prim_value",
    "relax.get_default_pipeline": ".relax.pipelines:get_default_pipeline",
    "relax.get_pipeline": ".relax.pipelines:get_pipeline",
    "relax.op": ".builder.op",
    "relax.RelaxToPyFuncConverter": ".relax.to_pyfunc:RelaxToPyFuncConverter",
    "relax.register_pipeline": ".relax.pipelines:register_pipeline",
    **{f"relax.testing.nn.{name}": f".builder.checkpoints:{name}" for name in _CHECKPOINTS},
    **{f"relax.testing.nn.{name}": f".builder.layers:{name}" for name in _LAYERS},
    "relax.training": ".relax.training",
    "relax.utils.copy_with_new_vars": ".ir.function:copy_with_new_vars",
    "relax.transform": ".relax.transform",
    "transform": ".ir.transform",
    "tir": ".tir",
    "tir.Buffer": ".ir.buffers:Buffer",
    "tir.FloatImm": ".te.literals:FloatImm",
    "tir.IntImm": ".te.literals:IntImm",
    "tir.StringImm": ".te.literals:StringImm",
    "tir.IndexMap": ".tir.index_map:IndexMap",
    "tir.PrimFunc": ".ir.function:PrimFunc",
    "tir.Schedule": ".tir.schedule:Schedule",
    "tir.ScheduleError": ".tir.schedule:ScheduleError",
    "tir.TensorIntrin": ".tir.tensor_intrin:TensorIntrin",
    "tir.tensor_intrin": ".tir.tensor_intrin",
    "tir.tensor_intrin.arm_cpu": ".tir.tensor_intrin.arm_cpu",
    "tir.tensor_intrin.x86": ".tir.tensor_intrin.x86",
    "tir.meta_schedule": ".meta_schedule",
    "tir.ProducerLoad": ".te.tensor:producer_load",
    **{f"tir.{n}": f".ir.{file}:{n}" for file, names in _STATEMENTS.items() for n in names},
    "tir.stmt_functor": ".ir.stmt_functor",
    "tir.Var": ".tir.expr_classes:Var",
    "tir.call_extern": ".te.foreign:call_extern",
    "tir.const": ".te:const",
    "tir.decl_buffer": ".ir.buffers:decl_buffer",
    "tir.is_buffer_var": ".ir.buffers:is_buffer_var",
    "tir.schedule": ".tir.schedule",
    "tir.schedule.analysis": ".tir.schedule_analysis",
    "tir.schedule.transform": ".tir.schedule_transform",
    "s_tir": ".tir",
    "s_tir.meta_schedule": ".meta_schedule",
    "s_tir.Schedule": ".tir.schedule:Schedule",
    "s_tir.ScheduleError": ".tir.schedule:ScheduleError",
    "s_tir.TensorIntrin": ".tir.tensor_intrin:TensorIntrin",
    "s_tir.schedule": ".tir.schedule",
    "s_tir.schedule.analysis": ".tir.schedule_analysis",
    "s_tir.schedule.transform": ".tir.schedule_transform",
    # other spellings, of 2022 to 2026
    "TVMError": ".dialects.diagnostics:TVMError",
    "arith.IntSet": ".te.ranges:IntervalSet",
    "arith.estimate_region_strict_bound": ".te.region_bounds:estimate_region_lower_bound",
    "arith.analyzer.Analyzer": ".te.analyzer:Analyzer",
    "ffi.Array": "builtins:tuple",
    "ffi.get_global_func": ".runtime:get_global_func",
    "ffi.register_global_func": ".runtime:register_global_func",
    "ffi.structural_equal": ".ir.equality:structural_equal",
    "ffi.structural_hash": ".ir.equality:structural_hash",
    "error.DiagnosticError": ".script.errors:ScriptError",
    "error.InternalError": ".dialects.diagnostics:TVMError",
    "ir.Call": ".ir.calls:Call",
    "ir.FuncType": ".ir.struct_info:FuncStructInfo",
    "ir.PrimType": ".ir.struct_info:PrimStructInfo",
    "ir.TupleType": ".ir.struct_info:TupleStructInfo",
    "ir.base.load_json": ".script.json:load_json",
    "ir.base.save_json": ".script.json:save_json",
    "ir.op.Op": ".ir.call_parts:Op",
    "ir.Type": ".ir.struct_info:StructInfo",
    "ir.Var": ".ir.expr:Var",
    "nd.NDArray": ".runtime:NDArray",
    "nd.array": ".runtime:array",
    "nd.cpu": ".runtime:cpu",
    **{f"nd.{name}": f".runtime.device:{name}" for name in _OTHER_DEVICES},
    "nd.empty": ".runtime:empty",
    "register_func": ".runtime:register_func",
    **{f"relax.{new}": f".ir.struct_info:{old}" for new, old in _TYPES.items()},
    **{f"relax.type.{new}": f".ir.struct_info:{old}" for new, old in _TYPES.items()},
    **{f"relax.struct_info.{old}": f".ir.struct_info:{old}" for old in _TYPES.values()},
    "relax.base_py_module.BasePyModule": ".py_module:BasePyModule",
    "relax.block_builder.BlockBuilder": ".builder.block_builder:BlockBuilder",
    "relax.backend.get_patterns_with_prefix": (".relax.pattern_registry:get_patterns_with_prefix"),
    "relax.backend.pattern_registry": ".relax.pattern_registry",
    "relax.backend.register_patterns": ".relax.pattern_registry:register_patterns",
    "relax.dpl.context": ".builder.dpl",
    "relax.dpl.pattern": ".builder.dpl",
    "relax.dpl.rewrite": ".builder.dpl",
    **{f"relax.expr.{n}": f".ir.{file}:{n}" for file, names in _EXPRS.items() for n in names},
    "relax.expr.const": ".builder.op:const",
    "relax.expr.make_shape": ".builder.op:make_shape",
    "relax.relax_to_pyfunc_converter.RelaxToPyFuncConverter": (
        ".relax.to_pyfunc:RelaxToPyFuncConverter"
    ),
    "relax.pipeline": ".relax.pipelines",
    "relax.transform.transform": ".relax.transform",
    "relax.vm.VirtualMachine": ".runtime:VirtualMachine",
    "relax.vm.build": ".driver:build",
    "relax.vm_build.Executable": ".runtime:Executable",
    "relax.vm_build.build": ".driver:build",
    "script.relax.rewriter": ".builder.dpl_rewriter:rewriter",
    "script.relax.entry.TypeProxy": ".script.outside:TypeProxy",
    "script.relax.entry.StructInfoProxy": ".script.outside:TypeProxy",
    "tensor": ".runtime:array",
    **{f"testing.utils.{name}": f".testing.numerics:{name}" for name in _COMPARISONS},
    "tir.Block": ".ir.block_views:SBlock",
    "tir.BlockRealize": ".ir.block_views:SBlockRealize",
    "tir.SizeVar": ".tir.expr_classes:Var",
    "tir.LetStmt": ".ir.leaf_statements:Bind",
    **{f"tir.stmt.{n}": f".ir.{file}:{n}" for file, names in _STATEMENTS.items() for n in names},
    **{f"tir.expr.{name}": f".te.literals:{name}" for name in ("FloatImm", "IntImm", "StringImm")},
    "tir.expr.ProducerLoad": ".te.tensor:producer_load",
    "tir.expr.Var": ".tir.expr_classes:Var",
    "tir.build": ".driver:build",
    "tirx": ".tir",
}


class Namespace(ModuleType):
    """Attributes of the table that share a prefix, each imported when it is first used."""

    def __init__(self, prefix: str):
        super().__init__(
            f"{__package__}.{prefix.rstrip('.')}",
            f"The names `{prefix}…` of the table in `names.py`.",
        )
        self.__dict__["_prefix"] = prefix

    def __getattr__(self, name: str) -> Any:
        return resolve(self.__dict__["_prefix"], name)

    def __dir__(self) -> list[str]:
        return known(self.__dict__["_prefix"])


def known(prefix: str) -> list[str]:
    """The attributes under a prefix."""
    return sorted({n[len(prefix) :].split(".")[0] for n in NAMES if n.startswith(prefix)})


def resolve(prefix: str, name: str) -> Any:
    """The object of a name under a prefix; raises AttributeError for an unknown one."""
    entry = NAMES.get(prefix + name)
    if entry is not None:
        module, _, attribute = entry.partition(":")
        loaded = import_module(module, __package__)
        return getattr(loaded, attribute) if attribute else loaded
    if any(n.startswith(f"{prefix}{name}.") for n in NAMES):
        return Namespace(f"{prefix}{name}.")
    from difflib import get_close_matches  # which programs without a wrong name do not need

    owner = f"{__package__}.{prefix}".rstrip(".")
    close = get_close_matches(name, known(prefix), 1)
    hint = f", did you mean '{close[0]}'?" if close else ""
    raise AttributeError(f"module '{owner}' has no attribute '{name}'{hint}")


class NameFinder(MetaPathFinder, Loader):
    """Lets import statements reach what the table names: ``relax.dpl``, ``s_tir.schedule``.

    A module has one object under all names, also where only the package is in the table.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        if package != __package__ or not (_module_of(name) or self._is_namespace(fullname, path)):
            return None
        return ModuleSpec(fullname, self, is_package=True)

    def _is_namespace(self, fullname: str, path: Sequence[str] | None) -> bool:
        is_prefix = f"{fullname.partition('.')[2]}." in _PREFIXES
        return is_prefix and PathFinder.find_spec(fullname, path) is None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        name = spec.name.partition(".")[2]
        actual = _module_of(name)
        found = resolve("", name) if actual is None else import_module(f"{__package__}.{actual}")
        self._own_spec = found.__spec__
        return found

    def exec_module(self, module: ModuleType) -> None:
        # The import system has put the spec of this name on a module that has one of its own.
        module.__spec__ = self._own_spec


def _module_of(name: str) -> str | None:
    """The module that another name of the table, or one below it, stands for."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        entry = NAMES.get(".".join(parts[:count]))
        if entry is not None and ":" not in entry:
            actual = ".".join([entry.removeprefix("."), *parts[count:]])
            is_there = actual != name and find_spec(f"{__package__}.{actual}") is not None
            return actual if is_there else None
    return None


_PREFIXES = {n[: i + 1] for n in NAMES for i, c in enumerate(n) if c == "."}

sys.meta_path.insert(0, NameFinder())
