"""Lower TensorIR to loops: replace axes by index expressions, and emit initializations.

::

    tir.for %i in (0, n) {                                      loops.for %i in (0, n) {
      tir.for %k in (0, m) {                                      loops.store %zero, %Y[%i]
        tir.block "Y" (%vi: spatial (0, n) = %i,                  loops.for %k in (0, m) {
                       %vk: reduce (0, m) = %k) … {        ⇒        %y = loops.load %Y[%i]
          tir.init { tir.store %zero, %Y[%vi] }                     %x = loops.load %X[%i, %k]
          %y = tir.load %Y[%vi]                                     …
          %x = tir.load %X[%vi, %vk]                              }
          …                                                     }
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import loops, rt, tir
from ...dialects.int_expr import ONE, Atom, IntExpr, sym
from ...dialects.nesting import enclosing
from ...dialects.sym import exprs_of
from ..analysis.independence import is_noalias
from ..functions import symbol_order
from ..scope import Bound, Scope, View, index_constant, name_of
from ..sizes import STACK_BYTES, stack_buffers
from .convert_calls import CallConverter
from .lower_jumps import without_jumps
from .reduction_init import Accesses, InitPlan, Level, plan_init
from .tighten_bounds import tighten_bounds


def convert_function(func: tir.PrimFuncOp) -> loops.FuncOp:
    """Convert a function to a kernel; the function is not changed.

    `index` parameters are symbols only. The kernel's symbols are the `index` parameters in order,
    then the symbols that buffers determine. Buffers do not overlap unless ``tir.noalias`` is false.
    """
    return _FunctionConverter(without_jumps(func)).convert()


@dataclass
class _FunctionConverter(CallConverter):
    frames: list[Block] = field(default_factory=lambda: [])
    on_stack: set[tir.AllocBufferOp] = field(default_factory=lambda: set())
    accesses: Accesses = field(default_factory=Accesses)

    def convert(self) -> loops.FuncOp:
        buffers = [p for p in self.func.params if not isinstance(p.type, IndexType)]
        body = Block(arg_types=[p.type for p in buffers])
        self.scope = Scope(body, location=self.func.location)
        self.frames.append(body)
        self.on_stack = stack_buffers(self.func)
        for name, param in zip(self.func.names, self.func.params, strict=True):
            if isinstance(param.type, tir.HandleType):
                self.fail(f"expected T.match_buffer for handle '{name}'")
        for old, new in zip(buffers, body.args, strict=True):
            self.scope.define(old, new)
        for name, param in zip(self.func.names, self.func.params, strict=True):
            if isinstance(param.type, IndexType):
                self.scope.meaning[param] = sym(name)
        self.convert_all(self.func.body.block)
        tighten_bounds(body)
        name = self.func.sym_name.data
        kernel = loops.FuncOp(
            name,
            symbol_order(self.func),
            Region(body),
            is_noalias(self.func),
            reuse_distance=self.func.reuse_distance,
        )
        kernel.location = self.func.location
        return kernel

    def convert_all(self, block: Block) -> None:
        for op in block.ops:
            outer = self.scope.follow(op)
            convert = _CONVERT.get(type(op))
            if convert is None:
                self.convert_scalar(op)
            else:
                convert(self, op)
            self.scope.location = outer

    def convert_for(self, op: tir.ForOp) -> None:
        kind = op.kind.data
        if kind == "thread_binding":
            self.fail(
                f"expected loops without thread axes on a CPU, got loop '{name_of(op.loop_var)}' "
                f"bound to {op.thread_tag}"
            )
        scope = self.scope
        lower, extent = scope.exprs([op.min.data, op.extent.data], op.operands_)
        if extent == ONE:
            scope.meaning[op.loop_var] = lower
            self.convert_all(op.body.block)
            return
        loop, var = self.open_loop(op, lower, extent)
        body = loop.body.block
        self.nest.append(Level(op, loop, var, lower, extent))
        if kind == "parallel":
            self.frames.append(body)
        with scope.inside(body):
            self.convert_all(op.body.block)
        body.add_op(loops.YieldOp([]))
        if kind == "parallel":
            self.frames.pop()
        self.nest.pop()

    def open_loop(self, op: tir.ForOp, lower: IntExpr, extent: IntExpr) -> tuple[loops.ForOp, Atom]:
        body = Block(arg_types=[IndexType()])
        values, block = self.scope.values.list, self._sum_block(op)
        loop = loops.ForOp(lower, extent, values, [], Region(body), op.kind.data, block)
        self.scope.emit(loop)
        return loop, self.scope.define_loop(op.loop_var, body.args[0], lower, extent)

    def _sum_block(self, op: tir.ForOp) -> int | None:
        given = None if op.annotations is None else op.annotations.data.get(tir.SUM_BLOCK)
        if isinstance(given, IntegerAttr):
            return given.value.data
        if given is not None:
            self.fail(f"expected '{tir.SUM_BLOCK}' to be an integer, got {given}")
        return None

    def convert_block(self, op: tir.BlockOp) -> None:
        numbering = op.numbering()
        for axis_var, binding in zip(op.axis_vars, exprs_of(op.bindings), strict=True):
            self.scope.meaning[axis_var] = self.scope.expr(binding, numbering)
        bounds = self.scope.undecided(
            [
                (self.scope.expr(b.lhs.data, numbering), self.scope.expr(b.rhs.data, numbering))
                for b in op.predicates.data
            ]
        )
        init = op.init
        plan = None
        if init is not None:
            plan = plan_init(op, bounds, self.nest, self.scope, self.accesses)
            if plan is not None:
                self.convert_init(init, plan)
        with self.guarded(bounds):
            if init is not None and plan is None:
                with self.guarded(self.scope.undecided(self.first_iteration(op))):
                    self.convert_all(init.body.block)
            self.convert_all(op.body.block)

    def first_iteration(self, op: tir.BlockOp) -> list[Bound]:
        """The bounds that all reduce axes have their first values, which are their smallest."""
        numbering = op.numbering()
        return [
            (self.scope.index(axis_var), self.scope.expr(axis.min.data, numbering) + 1)
            for axis_var, axis in zip(op.axis_vars, op.axes.data, strict=True)
            if axis.kind.data == "reduce"
        ]

    def convert_init(self, init: tir.InitOp, plan: InitPlan) -> None:
        """Emit the initialization in a nest of its own before the reduction loops."""
        around = Block()
        self.convert_init_level(init, plan, plan.loops, dict(plan.first), around)
        parent = plan.before.parent
        assert parent is not None
        for op in list(around.ops):
            op.detach()
            parent.insert_op_before(op, plan.before)

    def convert_init_level(
        self,
        init: tir.InitOp,
        plan: InitPlan,
        levels: Sequence[Level],
        renaming: dict[Atom, IntExpr],
        block: Block,
    ) -> None:
        scope = self.scope
        with scope.inside(block), scope.renamed(renaming):
            if not levels:
                nest, self.nest = self.nest, []
                bounds = [(a.substitute(renaming), b.substitute(renaming)) for a, b in plan.bounds]
                with self.guarded(scope.undecided(bounds)):
                    self.convert_all(init.body.block)
                self.nest = nest
                return
            level = levels[0]
            meaning = scope.meaning[level.source.loop_var]
            lower, extent = level.lower.substitute(renaming), level.extent.substitute(renaming)
            loop, var = self.open_loop(level.source, lower, extent)
            scope.meaning[level.source.loop_var] = meaning
        renaming[level.var] = IntExpr.of(var)
        self.convert_init_level(init, plan, levels[1:], renaming, loop.body.block)
        loop.body.block.add_op(loops.YieldOp([]))

    @contextmanager
    def guarded(self, bounds: Sequence[Bound]) -> Generator[None]:
        """Emit what follows under a condition, if there are bounds."""
        if not bounds:
            yield
            return
        body = Block()
        self.scope.emit(loops.IfOp(bounds, self.scope.values.list, Region(body)))
        nest, self.nest = self.nest, []
        with self.scope.inside(body):
            yield
        self.nest = nest

    def convert_load(self, op: tir.LoadOp) -> None:
        indices = self.scope.exprs(exprs_of(op.indices), op.operands_)
        buffer, indices = self.scope.place(op.buffer, indices)
        new = loops.LoadOp(buffer, indices, self.scope.values.list, op.result.type)
        self.scope.emit(new)
        self.scope.define(op.result, new.result)

    def convert_store(self, op: tir.StoreOp) -> None:
        value = self.scope.value(op.value)
        indices = self.scope.exprs(exprs_of(op.indices), op.operands_)
        buffer, indices = self.scope.place(op.buffer, indices)
        values, past = self.scope.values.list, _goes_past_caches(op)
        self.scope.emit(loops.StoreOp(value, buffer, indices, values, is_nontemporal=past))

    def convert_apply(self, op: tir.ApplyOp) -> None:
        self.scope.meaning[op.result] = self.scope.expr(op.expr.data, op.operands)

    def convert_match_buffer(self, op: tir.MatchBufferOp) -> None:
        starts = self.scope.exprs(exprs_of(op.starts), op.operands_)
        buffer, starts = self.scope.place(op.source, starts)
        rank = op.result.type.rank
        self.scope.views[op.result] = View(buffer, tuple(starts), rank)

    def convert_alloc(self, op: tir.AllocBufferOp) -> None:
        """Stack memory, taken once per call or once per iteration of the parallel loop around."""
        if op not in self.on_stack:
            self.fail(
                f"expected scratch buffer '{name_of(op.result)}' of type {op.result.type} to fit "
                f"into {STACK_BYTES} bytes of stack or to be lifted by 'lift-workspace'"
            )
        new = loops.AllocaOp(op.result.type)
        Rewriter.insert_op(new, InsertPoint.at_start(self.frames[-1]))
        self.scope.define(op.result, new.result)

    def convert_view(self, op: rt.ViewOp) -> None:
        """A part of the workspace, for the whole function."""
        new = rt.ViewOp(self.scope.value(op.source), op.offset.data, op.result.type)
        Rewriter.insert_op(new, InsertPoint.at_start(self.frames[0]))
        self.scope.define(op.result, new.result)

    def convert_constant(self, op: ConstantOp) -> None:
        if (number := index_constant(op)) is not None:
            self.scope.meaning[op.result] = IntExpr.of(number)
        else:
            self.convert_scalar(op)

    def skip(self, op: Operation) -> None:
        """What another operation converts: an initialization its block, a string its call."""


_CONVERT: dict[type[Operation], Callable[[_FunctionConverter, Any], None]] = {
    ConstantOp: _FunctionConverter.convert_constant,
    tir.AllocBufferOp: _FunctionConverter.convert_alloc,
    tir.ApplyOp: _FunctionConverter.convert_apply,
    tir.AttrOp: _FunctionConverter.convert_attr,
    tir.BlockOp: _FunctionConverter.convert_block,
    tir.CallOp: _FunctionConverter.convert_kernel_call,
    tir.CallExternOp: _FunctionConverter.convert_call_extern,
    tir.CallIntrinOp: _FunctionConverter.convert_intrinsic,
    tir.ForOp: _FunctionConverter.convert_for,
    arith.FPToSIOp: _FunctionConverter.convert_float_to_integer,
    arith.FPToUIOp: _FunctionConverter.convert_float_to_integer,
    tir.InitOp: _FunctionConverter.skip,
    tir.LoadOp: _FunctionConverter.convert_load,
    tir.MatchBufferOp: _FunctionConverter.convert_match_buffer,
    tir.ReturnOp: _FunctionConverter.convert_return,
    tir.StoreOp: _FunctionConverter.convert_store,
    tir.StringOp: _FunctionConverter.skip,
    rt.ViewOp: _FunctionConverter.convert_view,
}


def _goes_past_caches(op: tir.StoreOp) -> bool:
    block = enclosing(op, tir.BlockOp)
    annotations = None if block is None else block.annotations
    return annotations is not None and tir.NONTEMPORAL in annotations.data


@dataclass(frozen=True)
class TIRToLoopsPass(ModulePass):
    """Replace every `tir.prim_func` by a `loops.func` of the same name."""

    name = "convert-tir-to-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in list(op.body.block.ops):
            if isinstance(func, tir.PrimFuncOp):
                op.body.block.insert_op_before(convert_function(func), func)
                func.detach()
                func.erase()
