"""`merge-composite-functions`: one function for composite functions of the same code generator.

::

    %0 = relax.call @fused_relax_matmul(%x, %w) : …      # Composite = "example.matmul"
    %1 = relax.call @fused_relax_nn_relu(%0) : …         # Composite = "example.relu"

⇒

::

    %1 = relax.call @fused_relax_matmul_relax_nn_relu_example(%x, %w) : …

    relax.func @fused_relax_matmul_relax_nn_relu_example(%x: …, %w: …) -> …
        attributes {Codegen = "example", …} {
      %f = relax.local_func @fused_relax_matmul(…) -> … { … }      # as it was
      %0 = relax.invoke %f(%x, %w) : …
      %g = relax.local_func @fused_relax_nn_relu(…) -> … { … }
      %1 = relax.invoke %g(%0) : …
      relax.return %1 : …

A call joins the calls that make its operands, unless one of them would then depend on itself
through other operations. Values that are also used outside become further results. TVM's
``MergeCompositeFunctions``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ..functions import functions_by_name, graph_functions
from .composite import codegen_function, codegen_of, composite_codegen, local_function
from .groups import Group, GroupOutliner
from .outlined import parameter_block


def merge_composite_functions(module: ModuleOp) -> None:
    """Merge calls of composite functions in all graph functions, in place."""
    outliner = GroupOutliner(module)
    for func in graph_functions(module):
        if composite_codegen(func) is None and codegen_of(func) is None:
            for block in [b for op in func.walk() for r in op.regions for b in r.blocks]:
                _merge(block, func, outliner)
    composites = [f for f in graph_functions(module) if composite_codegen(f) is not None]
    called = {o.callee_name for o in module.walk() if isinstance(o, relax.CallOp)}
    for func in composites:
        if func.private is not None and func.sym_name.data not in called:
            Rewriter.erase_op(func)


def _merge(block: Block, user: relax.FuncOp, outliner: GroupOutliner) -> None:
    functions = functions_by_name(outliner.module)
    _resolve_fields(block)
    regions = _Regions(functions)
    for op in block.ops:
        regions.add(op)
    for ops, codegen in regions.groups():
        group = Group(ops, lambda op: isinstance(op, relax.ShapeOp | relax.PrimValueOp))
        if group.outputs and group.insertion_point() is not None:
            func = _function(group, codegen, functions)
            outliner.outline(group, func, user, suffix=f"_{codegen}")


def _resolve_fields(block: Block) -> None:
    """Replace fields of tuples that the block makes, which would hide who makes a value."""
    for op in list(block.ops):
        if isinstance(op, relax.TupleGetItemOp) and isinstance(op.tuple_value.owner, relax.TupleOp):
            made = op.tuple_value.owner
            op.result.replace_all_uses_with(made.fields[op.index.data])
            Rewriter.erase_op(op)
            if made.result.first_use is None:
                Rewriter.erase_op(made)


@dataclass
class _Region:
    codegen: str | None
    ops: list[Operation] = field(default_factory=lambda: [])
    dependencies: set[int] = field(default_factory=lambda: set())
    """The regions that its operations depend on, also through others."""


class _Regions:
    """The operations of a block in regions of one code generator; others are alone."""

    def __init__(self, functions: dict[str, Operation]):
        self.functions = functions
        self.regions: dict[int, _Region] = {}
        self.of: dict[Operation, int] = {}

    def add(self, op: Operation) -> None:
        """Put the next operation into a region, which may merge some."""
        used = {self.of[o] for o in _owners(op) if o in self.of}
        behind = {d for region in used for d in self.regions[region].dependencies}
        codegen = self._codegen(op)
        joined = [r for r in sorted(used) if self.regions[r].codegen == codegen and r not in behind]
        if codegen is None or not joined:
            number = len(self.of)
            self.regions[number] = _Region(codegen)
            joined = [number]
        first, *others = joined
        for other in others:
            self._unite(first, other)
        self.of[op] = first
        region = self.regions[first]
        region.ops.append(op)
        region.dependencies |= (used | behind) - set(joined)

    def _codegen(self, op: Operation) -> str | None:
        if isinstance(op, relax.CallOp):
            return composite_codegen(self.functions.get(op.callee_name))
        if isinstance(op, relax.TupleGetItemOp) and isinstance(op.tuple_value.owner, Operation):
            # A field belongs to the call, unless the tuple is also used as a whole.
            source = op.tuple_value
            whole = any(not isinstance(u.operation, relax.TupleGetItemOp) for u in source.uses)
            return None if whole or op.tuple_value.owner not in self.of else self._region(source)
        return None

    def _region(self, value: SSAValue) -> str | None:
        owner = value.owner
        return self.regions[self.of[owner]].codegen if isinstance(owner, Operation) else None

    def _unite(self, first: int, other: int) -> None:
        gone = self.regions.pop(other)
        self.regions[first].ops += gone.ops
        self.regions[first].dependencies |= gone.dependencies - {first}
        for op in gone.ops:
            self.of[op] = first
        for region in self.regions.values():
            if other in region.dependencies:
                region.dependencies = region.dependencies - {other} | {first}

    def groups(self) -> list[tuple[list[Operation], str]]:
        """The operations of regions with a code generator, in order."""
        order = {op: i for i, op in enumerate(self.of)}
        found = [r for r in self.regions.values() if r.codegen is not None]
        return [(sorted(r.ops, key=order.__getitem__), r.codegen or "") for r in found]


def _owners(op: Operation) -> list[Operation]:
    found = dict.fromkeys(o.owner for inner in op.walk() for o in inner.operands)
    return [o for o in found if isinstance(o, Operation)]


def _function(group: Group, codegen: str, functions: dict[str, Operation]) -> relax.FuncOp:
    body, names = parameter_block(group.inputs, group.undetermined)
    values: dict[SSAValue, SSAValue] = dict(zip(group.inputs, body.args, strict=False))
    local: dict[str, relax.LocalFuncOp] = {}
    for op in group.ops:
        if not isinstance(op, relax.CallOp):
            body.add_op(op.clone(values))
            continue
        name = op.callee_name
        if name not in local:
            callee = functions[name]
            assert isinstance(callee, relax.FuncOp)
            local[name] = local_function(callee)
            body.add_op(local[name])
        for arg in op.args:
            if arg not in values and isinstance(arg.owner, Operation):
                body.add_op(arg.owner.clone(values))
        call = relax.InvokeOp(local[name].result, [values[a] for a in op.args], op.result.type)
        call.result.name_hint = op.result.name_hint
        values[op.result] = call.result
        body.add_op(call)
    calls = [op.callee_name for op in group.ops if isinstance(op, relax.CallOp)]
    name = "_".join(["fused", *(c.removeprefix("fused_") for c in calls)])
    return codegen_function(name, names, body, [values[v] for v in group.outputs], codegen)


@dataclass(frozen=True)
class MergeCompositeFunctionsPass(ModulePass):
    """Merge calls of composite functions of one code generator in a function."""

    name = "merge-composite-functions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        merge_composite_functions(op)
