"""Runs a function and a reference on the same inputs, and compares them operation by operation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Attribute, Operation

from ..backend.target import Target
from ..dialects import relax
from ..dialects.dtypes import is_float
from ..lowering.functions import functions_by_name
from ..lowering.graph.convert_layout import CHANNELS_LAST
from ..reference.arguments import flatten
from ..reference.compare import EPSILON, as_float64, rounding_noise
from ..reference.evaluate import run
from ..reference.inputs import array_functions, copy_arguments
from ..reference.memory import Buffer
from ..runtime.arguments import bind_names
from ..runtime.tensor import array, as_tensor
from .captured import CapturedBuild, Stored, Value, captured_build
from .comparison import Error, Tolerance, compared, largest_of
from .operations import GraphOperation, Label, Mark, graph_operations
from .report import DebugReport, OperationReport

Tensors: TypeAlias = dict[int, Stored]
"""The tensors of a result that are known, by number."""

NAN = "NaN appears here first"
OVERFLOW = "an infinity appears here first, float64 is finite"


@dataclass(frozen=True)
class Evaluated:
    """The value of an operation by the reference evaluator, in its own precision and in float64."""

    exact: Value
    wide: Value
    terms: int


@dataclass
class Seen:
    """What a call of the compiled code has shown of an operation."""

    kernel: str
    value: Tensors = field(default_factory=lambda: {})

    def add(self, value: Value, mark: Mark) -> None:
        """Add a tensor, or all of them."""
        for index, tensor in enumerate(value):
            self.value[mark.item or index] = _in_order(tensor, mark.layout)


@dataclass
class Runs:
    """A module, and builds of it that show results of kernels."""

    module: ModuleOp
    target: Target
    labels: Mapping[str, Sequence[Label]]
    _builds: dict[str, CapturedBuild] = field(default_factory=lambda: {})

    def debug(
        self,
        name: str,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        reference: Runs | Mapping[str, Any] | None = None,
        rtol: float | None = None,
        atol: float | None = None,
        described: str = "the given values",
    ) -> DebugReport:
        """The report of a call; for the options see `VirtualMachine.debug`.

        Without a reference that is float64, and `described` is what a report calls given values.
        """
        operations = self.operations(name)
        if isinstance(reference, Runs):
            own, other = (_parameters(r.function(name)) for r in (self, reference))
            if own != other:
                raise ValueError(f"expected a reference with parameters ({own}), got ({other})")
            _verify_same_graph(operations, reference.operations(name))
        given = self._arguments(name, args, kwargs)
        result, seen = self.values(name, args, kwargs)
        evaluated = self._evaluate(name, given)
        if isinstance(reference, Runs):
            others = reference.values(name, args, kwargs)[1]
            wanted = _named(reference.operations(name), others)
            described = f"the build for {reference.target}"
        elif reference is not None:
            wanted = _given_values(operations, reference)
        else:
            pairs = zip(operations, evaluated, strict=True)
            wanted = {o.name: dict(enumerate(e.wide)) for o, e in pairs if e}
            described = "float64"
        has_nan = any(map(_has_nan, flatten(tuple(given))))
        rows = _Rows(wanted, Tolerance(rtol, atol), isinstance(reference, Runs), has_nan)
        kernels = _kernels(operations, seen)
        reports = [
            rows.row(o, kernels.get(o.name, ("", ())), s, e)
            for o, s, e in zip(operations, seen, evaluated, strict=True)
        ]
        return DebugReport(name, described, tuple(reports), result, str(self.target))

    def operations(self, name: str) -> list[GraphOperation]:
        """The operations of a function; raises as `function` does."""
        return graph_operations(self.function(name), self.labels.get(name))

    def function(self, name: str) -> relax.FuncOp:
        """A function of the module; raises ValueError for one that is no graph."""
        func = functions_by_name(self.module).get(name)
        if not isinstance(func, relax.FuncOp):
            raise ValueError(f"expected a graph function to debug, got the kernel '{name}'")
        return func

    def values(
        self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, list[Seen | None]]:
        """The result of a call of the compiled code, and what it shows of each operation."""
        if name not in self._builds:
            self._builds[name] = captured_build(self.module, name, self.target)
        build = self._builds[name]
        result, found = build.run(name, args, kwargs)
        seen: list[Seen | None] = [None] * len(self.operations(name))
        for mark, data in build.constants.items():
            seen[mark.number] = view = seen[mark.number] or Seen("constant")
            view.add((data,), mark)
        for number, site in build.sites.items():
            for mark in site.marks:
                seen[mark.number] = view = seen[mark.number] or Seen(site.callee)
                view.add(found.get(number, ()), mark)
        return result, seen

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
        return [
            Evaluated(exact[o.op][0], wide[o.op][0], exact[o.op][1])
            if o.op in exact and o.op in wide
            else None
            for o in self.operations(name)
        ]


def _argument(type_: Attribute, given: Any) -> Any:
    if isinstance(type_, TupleType):
        fields = cast("Sequence[Attribute]", type_.types.data)
        return tuple(_argument(t, g) for t, g in zip(fields, given, strict=True))
    if not isinstance(type_, relax.TensorType):
        return given
    is_number = type(given) in (bool, int, float)
    tensor = array(given, dtype=type_.dtype) if is_number else as_tensor(given)
    return tensor.view().copy()


def _has_nan(value: Any) -> bool:
    if not isinstance(value, np.ndarray):
        return False
    array = cast("NDArray[Any]", value)
    return array.dtype.kind == "f" and bool(np.isnan(array).any())


def _in_order(value: Stored, layout: str) -> Stored:
    """A tensor with its axes in the order of the graph."""
    if layout != CHANNELS_LAST:
        return value
    return Stored(np.moveaxis(value.array, -1, 1), value.dtype)


def _named(operations: Sequence[GraphOperation], seen: Sequence[Seen | None]) -> dict[str, Tensors]:
    return {o.name: s.value for o, s in zip(operations, seen, strict=True) if s is not None}


def _given_values(
    operations: Sequence[GraphOperation], values: Mapping[str, Any]
) -> dict[str, Tensors]:
    """Values by the names of the user's own; raises ValueError where there is none of them."""
    found: dict[str, Tensors] = {}
    for name in [o.name for o in operations if o.has_name and o.name in values]:
        value = values[name]
        is_one = not isinstance(value, tuple | list)
        leaves = [value] if is_one else cast("Sequence[Any]", value)
        tensors = [as_tensor(leaf) for leaf in leaves]
        found[name] = {i: Stored(t.view(), t.dtype) for i, t in enumerate(tensors)}
    if not found:
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


@dataclass
class _Rows:
    """The reports of operations, made in order."""

    wanted: Mapping[str, Tensors]
    tolerance: Tolerance
    is_build: bool
    """Whether another build is the reference."""
    has_nan: bool
    """Whether an argument or an earlier result has NaN."""
    has_overflow: bool = False
    """Whether an earlier result is infinite where float64 is finite."""

    def row(
        self,
        operation: GraphOperation,
        kernel: tuple[str, tuple[str, ...]],
        seen: Seen | None,
        known: Evaluated | None,
    ) -> OperationReport:
        """What is known of an operation; raises ValueError for a reference of other shapes."""
        exact = () if known is None else known.exact
        return OperationReport(
            operation.name,
            operation.operator,
            operation.source,
            operation.module,
            tuple(v.array.shape for v in exact),
            tuple(v.dtype for v in exact),
            *kernel,
            None if seen is None or known is None else self._error(operation.name, seen, known),
        )

    def _error(self, name: str, seen: Seen, known: Evaluated) -> Error | None:
        found = {i: _shaped(v, known.exact[i].array.shape) for i, v in seen.value.items()}
        wanted = self.wanted.get(name, {})
        if self.is_build:  # whose views have the shapes of what they view
            wanted = {i: _shaped(v, known.exact[i].array.shape) for i, v in wanted.items()}
        errors = [self._of(name, v, wanted[i], known, i) for i, v in found.items() if i in wanted]
        if not self.has_nan and any(_has_nan(_wide(v)) for v in found.values()):
            self.has_nan = True
            errors.insert(0, Error(0.0, 0.0, 0.0, NAN))
        if not self.has_overflow and any(_overflows(v, known.wide[i]) for i, v in found.items()):
            self.has_overflow = True
            errors.insert(0, Error(0.0, 0.0, 0.0, OVERFLOW))
        return largest_of(errors) if errors else None

    def _of(self, name: str, found: Stored, wanted: Stored, known: Evaluated, index: int) -> Error:
        if found.array.shape != wanted.array.shape:
            raise ValueError(
                f"expected the reference of '{name}' to have shape {found.array.shape}, "
                f"got {wanted.array.shape}"
            )
        noise = _noise(known.exact[index], known.wide[index], wanted)
        dtype = _dtype(found, wanted)
        return compared(_wide(found), _wide(wanted), dtype, known.terms, noise, self.tolerance)


def _overflows(found: Stored, wide: Stored) -> bool:
    if not is_float(found.dtype):
        return False
    return bool((np.isinf(_wide(found)) & np.isfinite(wide.array)).any())


def _shaped(value: Stored, shape: tuple[int, ...]) -> Stored:
    """The same elements in a shape, if they are as many."""
    if value.array.size != prod(shape):
        return value
    return Stored(value.array.reshape(shape), value.dtype)


def _wide(value: Stored) -> NDArray[Any]:
    """Floats as float64, other values as they are."""
    return as_float64(value.array, value.dtype) if is_float(value.dtype) else value.array


def _dtype(found: Stored, wanted: Stored) -> str:
    """The dtype of the two with the larger rounding errors."""
    if not is_float(found.dtype) or not is_float(wanted.dtype):
        return found.dtype
    return max(found.dtype, wanted.dtype, key=EPSILON.__getitem__)


def _noise(exact: Stored, wide: Stored, wanted: Stored) -> float:
    """What rounding alone may add up to, in the less exact one of the graph and the reference."""
    if not is_float(exact.dtype):
        return 0.0
    own = rounding_noise(_wide(exact), _wide(wide))
    return own * max(1.0, EPSILON.get(wanted.dtype, 0.0) / EPSILON[exact.dtype])


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
