"""Loops of ONNX as `relax.loop`: the graph of an iteration becomes a private function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from xdsl.ir import SSAValue

from ...dialects.int_expr import IntExpr
from ..emitter import Emitter, Value
from ..loops import emit_loop
from ..unsupported import Unsupported
from .context import Context
from .fold_values import objects
from .graphs import names_used
from .importer import Importer, parameters_of
from .iteration import MAX_COPIES, Iteration, Step, Stopped
from .nested import leaves
from .scope import Scope
from .tensor import DataDependent, SizeDependent, Tensor

ADVICE = (
    f"give sizes as numbers by shape_dict: loops of up to {MAX_COPIES} nodes over all iterations "
    "are unrolled"
)


class Ends(Exception):
    """The condition of a loop is computed in its body."""


@dataclass
class BodyImporter(Importer):
    """Imports the graph of an iteration; what must be known may be known outside of the loop."""

    origins: dict[SSAValue, Tensor] = field(default_factory=lambda: {})
    """The tensors outside of the loop by their values in the body."""
    index: str = ""
    """The symbol for the number of the iteration."""
    demanded: list[DataDependent] = field(default_factory=lambda: [])

    def demand(self, problem: DataDependent, node: Any, name: str, place: str) -> None:
        """Note a tensor outside of the loop that must be known."""
        found = parameters_of(problem.tensor.value)
        if found and all(value in self.origins for value in found):
            problem.tensor = self.origins[next(iter(found))]
            self.demanded.append(problem)
        else:
            self.fail(node.op_type, name, problem.reason, place, ADVICE)

    def demand_sizes(self, problem: SizeDependent, node: Any, name: str, place: str) -> None:
        """Note the sizes that must be known; the number of the iteration cannot be."""
        if self.index in problem.symbols:
            reason = problem.reason.replace("on sizes", "on the iteration")
            self.fail(node.op_type, name, reason, place, ADVICE)
        else:
            super().demand_sizes(problem, node, name, place)


@dataclass
class Captured:
    """What a body uses of the graphs around it: items by name, and the values among them.

    `sizes` are the expressions of known values.
    """

    items: Mapping[str, Any]
    tensors: list[Tensor]
    sizes: list[IntExpr]


def looped(loop: Iteration, bound: Tensor | None = None) -> tuple[Any, ...]:
    """The results of a loop as an operation; `bound` is a number of iterations that is data.

    Raises Unsupported for tensors that change their shapes, and for outputs whose number depends on
    data.
    """
    if not all(isinstance(item, Tensor) for item in loop.carried):
        raise _only_unrolled(loop, bound, "a sequence that a loop changes")
    if loop.trips is None and bound is None and not loop.ends:
        raise ValueError("expected a number of iterations or a condition, got none")
    captured = _captured(loop)
    try:
        if loop.trips is not None and not (loop.ends and loop.first.condition.known is None):
            return _Loop(loop, captured, None, False).emitted()
        raise Ends
    except Ends:
        if loop.used_outputs():
            _demand_count(loop, bound)
        return _Loop(loop, captured, bound, True).emitted()
    except Stopped:
        return loop.failed()


def _only_unrolled(loop: Iteration, bound: Tensor | None, what: str) -> Unsupported:
    """The error for a loop that must be unrolled: its number of iterations must be known."""
    if bound is not None:
        return DataDependent(bound, f"a number of iterations, for {what},")
    if loop.trips is not None and not loop.trips.is_constant:
        return SizeDependent(loop.trips.symbols(), f"a number of iterations, for {what},")
    return Unsupported(what, ADVICE)


def _demand_count(loop: Iteration, bound: Tensor | None) -> NoReturn:
    """Raise for a loop with outputs whose number of iterations is not known."""
    if bound is not None:
        raise DataDependent(bound, "a number of iterations")
    if loop.condition is not None and loop.condition.known is None:
        raise DataDependent(loop.condition, "a condition")
    raise Unsupported(
        "outputs of a loop whose number of iterations depends on data",
        "give the loop a number of iterations and no condition",
    )


def _captured(loop: Iteration) -> Captured:
    items: dict[str, Any] = {}
    for name in sorted(names_used(loop.graph) - {given.name for given in loop.graph.input}):
        if loop.ctx.scope.has(name):
            items[name] = loop.ctx.scope.find(name)
    tensors = [t for item in items.values() for t in leaves(item)]
    known = [t.known for t in tensors if t.known is not None and t.known.dtype == object]
    sizes = [IntExpr.of(getattr(e, "numerator", e)) for values in known for e in values.flat]
    changing = [t for t in tensors if t.known is None and t.data is None]
    return Captured(items, changing, sizes)


@dataclass
class _Loop:
    """The emission of one operation; `is_while` says that the condition is carried."""

    loop: Iteration
    captured: Captured
    bound: Tensor | None
    is_while: bool

    def emitted(self) -> tuple[Any, ...]:
        """The results of the loop."""
        ctx, loop = self.loop.ctx, self.loop
        carried = [t.value for t in loop.carried]
        if self.is_while:
            carried = [self._condition(ctx, loop.first.condition, 0).value, *carried]
        found = emit_loop(
            ctx.emitter, "loop", self.body, carried,
            scanned=[t.value for t in loop.scanned], given=[t.value for t in self._given()],
            trips=loop.trips, is_while=self.is_while, sizes=self.captured.sizes,
        )  # fmt: skip
        results = [ctx.tensor(value) for value in found[self.is_while :]]
        last, stacks = results[: len(loop.carried)], results[len(loop.carried) :]
        return loop.results(last, dict(zip(loop.used_outputs(), stacks, strict=True)))

    def _given(self) -> list[Tensor]:
        bound = [] if self.bound is None or not self.is_while else [self.bound]
        return [*self.captured.tensors, *bound]

    def _condition(self, ctx: Context, condition: Tensor, index: IntExpr | int) -> Tensor:
        """Whether to run the iteration of an index."""
        condition = ctx.astype(ctx.reshape(condition, []), "bool")
        if self.bound is None:
            return condition
        bound = ctx.reshape(self._bound_in(ctx), [])
        number = ctx.astype(ctx.number(index, "int64"), bound.dtype)
        return ctx.emit("logical_and", condition, ctx.emit("less", number, bound))

    def _bound_in(self, ctx: Context) -> Tensor:
        assert self.bound is not None
        return self.bound if ctx is self.loop.ctx else self._inner_bound

    def body(
        self,
        emitter: Emitter,
        index: IntExpr,
        carried: list[Value],
        rows: list[Value],
        given: list[Value],
    ) -> tuple[list[Value], list[Value]]:
        """Import an iteration into a function."""
        inside = dict(zip((t.value for t in self._given()), given, strict=False))
        ctx = self._context(emitter, index, inside)
        if self.bound is not None and self.is_while:
            self._inner_bound = Tensor.of_value(emitter, inside[self.bound.value])
        states = [Tensor.of_value(emitter, value) for value in carried]
        condition = states.pop(0) if self.is_while else ctx.array(True, "bool")
        elements = [Tensor.of_value(emitter, value) for value in rows]
        number = ctx.known(objects([index], ()), "int64")
        after = self.loop.run(ctx, Step(condition, states, elements), number)
        return self._results(ctx, after, states, index)

    def _context(self, emitter: Emitter, index: IntExpr, inside: Mapping[Value, Value]) -> Context:
        outer = self.loop.ctx.importer
        origins = {inside[t.value]: t for t in self.captured.tensors}
        importer = BodyImporter(
            outer.model, emitter, outer.problems, needed_sizes=outer.needed_sizes,
            sizes=outer.sizes, count=outer.count, origins=origins, index=str(index),
        )  # fmt: skip

        def entered(item: Any) -> Any:
            if isinstance(item, list):
                return [entered(i) for i in cast("list[Any]", item)]
            if not isinstance(item, Tensor):
                return item
            value = None if item.known is not None or item.data else inside[item.value]
            return item.bound(emitter) if value is None else Tensor.of_value(emitter, value)

        scope = Scope(None, {n: entered(item) for n, item in self.captured.items.items()})
        return Context(importer, scope, self.loop.ctx.opset)

    def _results(
        self, ctx: Context, after: Step | None, before: Sequence[Tensor], index: IntExpr
    ) -> tuple[list[Value], list[Value]]:
        importer = cast(BodyImporter, ctx.importer)
        if importer.demanded:
            raise importer.demanded[0]
        if after is None:
            raise Stopped
        for old, new in zip(before, after.carried, strict=True):
            if _changes(old, new):
                what = "a tensor that changes its shape in each iteration"
                raise _only_unrolled(self.loop, self.bound, what)
        carried = [t.value for t in after.carried]
        if self.is_while:
            condition = after.condition if self.loop.ends else ctx.array(True, "bool")
            carried = [self._condition(ctx, condition, index + 1).value, *carried]
        elif self.loop.ends and not _is_true(after.condition):
            raise Ends
        return carried, [after.others[i].value for i in self.loop.used_outputs()]


def _is_true(condition: Tensor) -> bool:
    return condition.known is not None and bool(condition.known.all())


def _changes(old: Tensor, new: Any) -> bool:
    """Whether an iteration changes the type of a carried tensor."""
    if not isinstance(new, Tensor) or new.dtype != old.dtype or new.rank != old.rank:
        return True
    pairs = zip(old.dims, new.dims, strict=True)
    return any(a != b and (b - a).is_constant for a, b in pairs)
