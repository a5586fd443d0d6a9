"""Runs a function and a reference on the same inputs, and compares them operation by operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr, TupleType
from xdsl.ir import Attribute, Operation

from ..backend.target import Target
from ..dialects import relax
from ..dialects.attributes import PRECISION
from ..dialects.dtypes import is_float
from ..lowering.functions import functions_by_name
from ..reference.arguments import flatten
from ..reference.compare import EPSILON, as_float64
from ..reference.evaluate import run
from ..reference.inputs import array_functions, copy_arguments
from ..reference.memory import Buffer
from ..runtime.arguments import bind_names
from ..runtime.tensor import array, as_tensor
from .captured import (
    EVALUATED_STAGES,
    MACHINE_CODE,
    CapturedBuild,
    CapturedStage,
    Stored,
    Value,
    captured_build,
    captured_stage,
)
from .comparison import Tolerance
from .operations import GraphOperation, Label, graph_operations
from .report import DebugReport
from .rows import Evaluated, Rows, Seen, Tensors, has_nan
from .ties import search_of


@dataclass
class Runs:
    """A module, and forms of it that show results of kernels, by function and stage."""

    module: ModuleOp
    target: Target
    labels: Mapping[str, Sequence[Label]]
    _builds: dict[str, CapturedBuild] = field(default_factory=lambda: {})
    _stages: dict[tuple[str, str], CapturedStage] = field(default_factory=lambda: {})

    def debug(
        self,
        name: str,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        reference: Runs | Mapping[str, Any] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        stage: str = MACHINE_CODE,
        described: str = "the given values",
    ) -> DebugReport:
        """The report of a call; for the options see `VirtualMachine.debug`.

        Without a reference that is float64, and `described` is what a report calls given values.
        """
        if stage not in (*EVALUATED_STAGES, MACHINE_CODE):
            known = ", ".join((*EVALUATED_STAGES, MACHINE_CODE))
            raise ValueError(f"expected a stage that can run ({known}), got '{stage}'")
        operations = self.operations(name)
        if isinstance(reference, Runs):
            own, other = (_parameters(r.function(name)) for r in (self, reference))
            if own != other:
                raise ValueError(f"expected a reference with parameters ({own}), got ({other})")
            _verify_same_graph(operations, reference.operations(name))
        given = self._arguments(name, args, kwargs)
        result, seen = self.values(name, args, kwargs, stage)
        evaluated = self._evaluate(name, given)
        if isinstance(reference, Runs):
            others = reference.values(name, reference.converted(name, args, kwargs), {})[1]
            wanted = _named(reference.operations(name), others)
            described = f"the build for {reference.target.short_name}"
        elif reference is not None:
            wanted = _given_values(operations, reference)
        else:
            pairs = zip(operations, evaluated, strict=True)
            wanted = {o.name: dict(enumerate(e.wide)) for o, e in pairs if e}
            described = "float64"
        given_nan = any(map(has_nan, flatten(tuple(given))))
        builds = [self, reference] if isinstance(reference, Runs) else [self]
        epsilon = max(_rounding(build.module) for build in builds)
        rows = Rows(wanted, Tolerance(rtol, atol), len(builds) > 1, given_nan, epsilon)
        kernels = _kernels(operations, seen)
        reports = [
            rows.row(o, kernels.get(o.name, ("", ())), s, e)
            for o, s, e in zip(operations, seen, evaluated, strict=True)
        ]
        return DebugReport(name, described, tuple(reports), result, str(self.target), stage)

    def operations(self, name: str) -> list[GraphOperation]:
        """The operations of a function; raises as `function` does."""
        return graph_operations(self.function(name), self.labels.get(name))

    def function(self, name: str) -> relax.FuncOp:
        """A function of the module; raises ValueError for one that is no graph."""
        func = functions_by_name(self.module).get(name)
        if not isinstance(func, relax.FuncOp):
            raise ValueError(f"expected a graph function to debug, got the kernel '{name}'")
        return func

    def converted(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """Arguments of another build, with floats in the dtypes that this one takes."""
        func = self.function(name)
        given = bind_names(f"'{name}'", func.names, args, kwargs)
        return [_converted(p.type, a) for p, a in zip(func.params, given, strict=True)]

    def values(
        self,
        name: str,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        stage: str = MACHINE_CODE,
    ) -> tuple[Any, list[Seen | None]]:
        """The result of a call at a stage, and what it shows of each operation."""
        if stage == MACHINE_CODE:
            build = self._build(name)
            result, found = build.run(name, args, kwargs)
        else:
            build = self._stage(name, stage)
            result, found = build.run(name, self._arguments(name, args, kwargs))
        seen: list[Seen | None] = [None] * len(self.operations(name))
        for mark, data in build.constants.items():
            seen[mark.number] = view = seen[mark.number] or Seen("constant")
            view.add((data,), mark)
        for number, site in build.sites.items():
            for mark in site.marks:
                seen[mark.number] = view = seen[mark.number] or Seen(site.callee)
                view.add(found.get(number, ()), mark)
        return result, seen

    def _build(self, name: str) -> CapturedBuild:
        if name not in self._builds:
            self._builds[name] = captured_build(self.module, name, self.target)
        return self._builds[name]

    def _stage(self, name: str, stage: str) -> CapturedStage:
        if (name, stage) not in self._stages:
            self._stages[name, stage] = captured_stage(self.module, name, self.target, stage)
        return self._stages[name, stage]

    def _arguments(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """Copies of arguments as the evaluator takes them."""
        func = self.function(name)
        names = func.names
        given = bind_names(f"'{name}'", names, args, kwargs)
        return [_argument(p.type, a) for p, a in zip(func.params, given, strict=True)]

    def _evaluate(self, name: str, args: Sequence[Any]) -> list[Evaluated | None]:
        """The value of each operation; `None` for one in a branch that is not taken."""
        found: list[dict[object, tuple[Value, int]]] = [{}, {}]
        for is_wide, values in zip((False, True), found, strict=True):

            def observe(
                op: object, value: Any, terms: int, values: dict[object, Any] = values
            ) -> None:
                buffers = [b for b in flatten(value) if isinstance(b, Buffer)]
                values[op] = tuple(Stored(b.array, b.dtype) for b in buffers), terms

            copies, functions = copy_arguments(args), array_functions()
            run(self.module, name, copies, registry=functions, float64=is_wide, observe=observe)
        exact, wide = found
        values = {op: value for op, (value, _) in exact.items()}
        return [
            Evaluated(exact[o.op][0], wide[o.op][0], exact[o.op][1], search_of(o.op, values, args))
            if o.op in exact and o.op in wide
            else None
            for o in self.operations(name)
        ]


def _rounding(module: ModuleOp) -> float:
    """The distance from 1 to the next number of the precision that a module asks for, or 0."""
    asked = module.attributes.get(PRECISION)
    return EPSILON[asked.data] if isinstance(asked, StringAttr) else 0.0


def _argument(type_: Attribute, given: Any) -> Any:
    if isinstance(type_, TupleType):
        fields = cast("Sequence[Attribute]", type_.types.data)
        return tuple(_argument(t, g) for t, g in zip(fields, given, strict=True))
    if not isinstance(type_, relax.TensorType):
        return given
    is_number = type(given) in (bool, int, float)
    tensor = array(given, dtype=type_.dtype) if is_number else as_tensor(given)
    return tensor.view().copy()


def _converted(type_: Attribute, given: Any) -> Any:
    if not isinstance(type_, relax.TensorType) or type(given) in (bool, int, float):
        return given
    tensor, wanted = as_tensor(given), type_.dtype
    if wanted is None or not (is_float(wanted) and is_float(tensor.dtype)):
        return given
    return array(as_float64(tensor.view(), tensor.dtype), dtype=wanted)


def _named(operations: Sequence[GraphOperation], seen: Sequence[Seen | None]) -> dict[str, Tensors]:
    return {o.name: s.value for o, s in zip(operations, seen, strict=True) if s is not None}


def _given_values(
    operations: Sequence[GraphOperation], values: Mapping[str, Any]
) -> dict[str, Tensors]:
    """Values by the names of the user's own; raises ValueError where no operation is among them."""
    found: dict[str, Tensors] = {}
    for name in [o.name for o in operations if o.has_name and o.name in values]:
        value = values[name]
        is_one = not isinstance(value, tuple | list)
        leaves = [value] if is_one else cast("Sequence[Any]", value)
        tensors = [as_tensor(leaf) for leaf in leaves]
        found[name] = {i: Stored(t.view(), t.dtype) for i, t in enumerate(tensors)}
    if operations and not found:
        known = ", ".join([o.name for o in operations if o.has_name][:8]) or "none"
        raise ValueError(f"expected values by the names of operations ({known}), got none of them")
    return found


def _verify_same_graph(own: Sequence[GraphOperation], others: Sequence[GraphOperation]) -> None:
    """Raise ValueError where operators of one name differ, or no name is in both graphs."""
    known = {o.name: o for o in others}
    common = [o for o in own if o.name in known]
    if not common:
        raise ValueError("expected a reference of the same graph, got one with other names")
    for operation in common:
        other = known[operation.name]
        are_operators = all(isinstance(o.op, relax.OperatorOp) for o in (operation, other))
        if are_operators and operation.operator != other.operator:
            name, operator = operation.name, operation.operator
            raise ValueError(
                f"expected a reference of the same graph with '{name}' as {operator}, got one "
                f"with '{name}' as {other.operator}"
            )


def _parameters(func: relax.FuncOp) -> str:
    """Names and shapes; dtypes may differ between builds that are compared."""
    types = [p.type for p in func.params]
    shapes = [t.dims if isinstance(t, relax.TensorType) else t for t in types]
    texts = [_text(s) if isinstance(s, tuple) else str(s) for s in shapes]
    return ", ".join(f"{n}: {t}" for n, t in zip(func.names, texts, strict=True))


def _text(dims: Sequence[object]) -> str:
    return f"({', '.join(map(str, dims))})"


def _kernels(
    operations: Sequence[GraphOperation], seen: Sequence[Seen | None]
) -> dict[str, tuple[str, tuple[str, ...]]]:
    """For each operation its kernel, and if it is the kernel's result, the names of all in it."""
    kernels = {o.op: s.kernel for o, s in zip(operations, seen, strict=True) if s is not None}
    names: dict[Any, str] = {o.op: o.name for o in operations}
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for operation in [o for o in operations if o.op in kernels]:
        inside: set[str] = set()
        work: list[Operation] = [operation.op]
        while work:
            for owner in [v.owner for v in work.pop().operands if isinstance(v.owner, Operation)]:
                if isinstance(owner, relax.TupleGetItemOp | relax.TupleOp | relax.MatchCastOp):
                    work.append(owner)
                elif owner in names and owner not in kernels and names[owner] not in inside:
                    inside.add(names[owner])
                    work.append(owner)
        kernel, own = kernels[operation.op], [o.name for o in operations if o.name in inside]
        found[operation.name] = kernel, (*own, operation.name)
        for name in own:
            found.setdefault(name, (kernel, ()))
    return found
