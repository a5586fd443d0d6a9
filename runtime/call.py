"""The Python side of a native function: check, allocate, call, raise an exception for a status."""

from __future__ import annotations

import ctypes
import operator
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from .arguments import Plan, bind_arguments, make_plan, overlapping, stage, to_tensor
from .call_words import (
    ARENA,
    CALLBACK,
    CHECK,
    CONSTANTS,
    CONTEXT_WORDS,
    POLL,
    PYTHON,
    STATUS_CHECK,
    STATUS_EXCEPTION,
    STATUS_SIGNAL,
    TOKEN,
)
from .callback import CALLBACK_ADDRESS, CallState, Lease, ReadOnlyMemory
from .check_errors import check_error
from .layout import Layout
from .memory import ArenaPool, Storage
from .outputs import Outputs, accepts_out
from .python_words import python_words
from .signature import FunctionSpec, Signature
from .structure import Returned, Size, flatten, reported_sizes, unflatten
from .tensor import Tensor

_CTX_BYTES = 8 * CONTEXT_WORDS
_PLAN_LIMIT = 1024  # combinations of layouts to remember per function

_layout_of = operator.attrgetter("layout")
_address_of = operator.attrgetter("address")

# A CFUNCTYPE releases the GIL while native code runs.
_Entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


class CompiledFunction:
    """A native function as a Python callable.

    Takes one tensor per parameter (ours, NumPy's, torch's, anything with `__dlpack__` or
    `__array_interface__`), by position or name; returns None, a tensor, or a tuple of them. Tuples,
    shapes and integers of the program are Python's tuples and integers.
    Results are new tensors, or `out=`, an array or a tuple with an array for each result, which is
    then returned; a parameter named `out` takes precedence.
    Strided arguments are copied in, and back if written. Raises TypeError or ValueError naming the
    argument, the exception of a callback, ValueError for a failed run-time check, and MemoryError.
    The function keeps `owners` alive, the native code and its constants; callbacks cannot write
    these. `poll` is the address of `POLL_SYMBOL`, by which long calls notice signals: if a handler
    raises, such as KeyboardInterrupt, the call raises the same before its next kernel.
    """

    def __init__(
        self,
        spec: FunctionSpec,
        address: int,
        constants_table: int,
        arenas: ArenaPool,
        owners: object,
        constants: ReadOnlyMemory,
        poll: int = 0,
    ) -> None:
        self.spec = spec
        self._owners = owners
        self.address = address
        self._entry = _Entry(address)
        self._constants = constants
        self.arenas = arenas
        self._arity = len(spec.params)
        self._signature = spec.signature
        self._calls_back = bool(spec.packed_sites) or spec.takes_memory
        self._written = tuple(i for i, p in enumerate(spec.params) if p.written)
        words = CONTEXT_WORDS + len(spec.params) + len(spec.results) + len(spec.symbols)
        self._words: type[ctypes.Array[ctypes.c_int64]] = ctypes.c_int64 * words
        self._pack_words = struct.Struct(f"{words}q").pack_into
        self.context = context_of(constants_table, poll)
        self._plans: dict[object, Plan] = {}

    @property
    def __name__(self) -> str:
        return self.spec.name

    def __repr__(self) -> str:
        return f"<xrelax function {self.spec.name}({', '.join(self.spec.argument_names)})>"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if "out" in kwargs and accepts_out(self.spec):
            outputs = Outputs(self.spec, kwargs.pop("out"))
            if outputs.given is not None:
                return self._call_with_outputs(outputs, args, kwargs)
        if self._signature is not None:
            return self._call_structured(self._signature, args, kwargs)
        if kwargs or len(args) != self._arity:
            args = bind_arguments(self.spec, args, kwargs)
        # The fast path: one table look-up for tensors of layouts seen before.
        # The `layout` of another library's array, if it has one, equals none in the table.
        try:
            plan = self._plans[tuple(map(_layout_of, args))]
        except (AttributeError, KeyError, TypeError):
            args, plan = self.resolve(args)
        results = self._run(args, plan)
        self.learn(plan)
        if self.spec.returns_tuple:
            return tuple(results)
        return results[0] if results else None

    def learn(self, plan: Plan) -> None:
        """Hook that runs with the plan after each call on the Python path."""

    def _call_with_outputs(
        self, outputs: Outputs, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """A call that writes its results to memory of the caller."""
        values: Sequence[Any] = bind_arguments(self.spec, args, kwargs)
        sizes: list[Size] = []
        objects: list[object] = []
        if self._signature is not None:
            values, sizes = self._flattened(self._signature, values, objects)
        found, plan = self.resolve(values, sizes)
        targets = outputs.tensors(plan)
        if not outputs.are_direct(found, plan, self._written):
            results = self._run(found, plan, objects=objects)
            for result, target in zip(results, targets, strict=True):
                target.copyfrom(result)
        else:
            self._run(found, plan, targets, objects)
            self.learn(plan)
        return outputs.given

    def _call_structured(
        self, signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """A call whose arguments or result are tuples, shapes or integers too."""
        objects: list[object] = []
        values = bind_arguments(self.spec, args, kwargs)
        tensors, sizes = self._flattened(signature, values, objects)
        found, plan = self.resolve(tensors, sizes)
        written = self._run(found, plan, objects=objects)
        results, kept = written[: len(plan.results)], written[len(plan.results) :]
        symbols = dict(zip(self.spec.symbols, plan.symbols, strict=True))
        if self.spec.reported:
            symbols |= reported_sizes(self.spec, results)
        given = Returned(iter(results), symbols, kept, found, objects)
        return unflatten(signature.result, given)

    def _flattened(
        self, signature: Signature, values: Sequence[Any], objects: list[object]
    ) -> tuple[list[object], list[Size]]:
        """The tensors and the numbers in arguments; adds the other objects to a table."""
        tensors: list[object] = []
        sizes: list[Size] = []
        for node, name, value in zip(signature.arguments, signature.names, values, strict=True):
            flatten(node, name, value, tensors, sizes, objects)
        return tensors, sizes

    def resolve(
        self, args: Sequence[object], sizes: Sequence[Size] = ()
    ) -> tuple[tuple[Tensor, ...], Plan]:
        """Arguments as tensors, and the plan of a call with them; raises as a call."""
        tensors = tuple(map(to_tensor, self.spec.params, args))
        layouts = tuple(t.layout for t in tensors)
        key: object = (layouts, *(s.value for s in sizes)) if sizes else layouts
        plan = self._plans.get(key)
        if plan is None:
            plan = make_plan(self.spec, layouts, sizes)
            if len(self._plans) >= _PLAN_LIMIT:
                self._plans.clear()
            self._plans[key] = plan
        return tensors, plan

    def _run(
        self,
        args: Sequence[Tensor],
        plan: Plan,
        results: Sequence[Tensor] | None = None,
        objects: list[object] | None = None,
    ) -> Sequence[Tensor]:
        """The results, those of unknown shape last; `objects` is the table of other values.

        Strided arguments, and written ones that share memory, are copied.
        """
        if plan.staged or (self._written and overlapping(self._written, args, plan.extents)):
            return self._call_staged(args, plan, results, objects)
        return self._call_native(args, plan, results, objects)

    def _call_staged(
        self,
        args: Sequence[Tensor],
        plan: Plan,
        results: Sequence[Tensor] | None,
        objects: list[object] | None,
    ) -> Sequence[Tensor]:
        staged, back = stage(self.spec, args)
        result = self._call_native(staged, plan, results, objects)
        for copy, original in back:
            original.copyfrom(copy)
        return result

    def _call_native(
        self,
        args: Sequence[Tensor],
        plan: Plan,
        results: Sequence[Tensor] | None,
        objects: list[object] | None,
    ) -> Sequence[Tensor]:
        if results is None:
            results = [new_result(layout) for layout in plan.results]
        arena = self.arenas.take(plan.arena_size) if plan.arena_size else None
        if self._calls_back:
            kept = self._call_with_callbacks(args, results, arena, plan.symbols, objects)
            return [*results, *(kept[number] for number in sorted(kept))]
        else:
            words = self._fill_words(0, arena, args, results, plan.symbols)
            ctx = ctypes.addressof(words)
            status = self._entry(ctx, ctx + _CTX_BYTES)
            if arena is not None:
                self.arenas.give(arena)
            if status:
                self.fail(status, *words[CHECK : CHECK + 3])
        return results

    def _call_with_callbacks(
        self,
        args: Sequence[Tensor],
        results: Sequence[Tensor],
        arena: Storage | None,
        symbols: Sequence[int],
        objects: list[object] | None,
    ) -> dict[int, Tensor]:
        lease = Lease(arena, self.arenas, args, results, self._constants)
        table = [] if objects is None else objects
        with CallState(self.spec.packed_sites, lease, table) as state:
            words = self._fill_words(state.token, arena, args, results, symbols)
            ctx = ctypes.addressof(words)
            status = self._entry(ctx, ctx + _CTX_BYTES)
        error, state.error = state.error, None
        if error is not None:
            try:
                raise error
            finally:  # the traceback refers to this frame: break the cycle
                del error
        if status:
            self.fail(status, *words[CHECK : CHECK + 3])
        return state.kept

    def _fill_words(
        self,
        token: int,
        arena: Storage | None,
        args: Sequence[Tensor],
        results: Sequence[Tensor],
        symbols: Sequence[int],
    ) -> ctypes.Array[ctypes.c_int64]:
        """The ctx words followed by the argv words, in memory of this call alone."""
        words = self._words()
        context = [*self.context]
        context[TOKEN] = token
        context[ARENA] = 0 if arena is None else arena.address
        addresses = *map(_address_of, args), *map(_address_of, results)
        self._pack_words(words, 0, *context, *addresses, *symbols)
        return words

    def fail(self, status: int, check: int, first: int, second: int) -> NoReturn:
        """Raise the exception for a native status, with the values of a failed check."""
        name = self.spec.name
        if status == STATUS_CHECK:
            message: str = self.spec.checks[check]
            raise check_error(message.replace("{0}", str(first)).replace("{1}", str(second)))
        if status == STATUS_SIGNAL:
            error: BaseException = ctypes.cast(check, ctypes.py_object).value
            ctypes.pythonapi.Py_DecRef(ctypes.py_object(error))
            raise error
        if status == STATUS_EXCEPTION:
            raise RuntimeError(f"expected an exception with status {status} of {name}, got none")
        raise RuntimeError(f"expected {name} to return status 0 to 3, got {status}")


def context_of(constants_table: int, poll: int = 0) -> tuple[int, ...]:
    """The words of a context, with 0 for those that differ between calls."""
    words = [0] * CONTEXT_WORDS
    words[CALLBACK], words[CONSTANTS] = CALLBACK_ADDRESS, constants_table
    if poll and (python := python_words()) is not None:
        words[POLL], words[PYTHON] = poll, ctypes.addressof(python)
    return tuple(words)


def new_result(layout: Layout) -> Tensor:
    """A tensor with undefined values in memory of its own, perhaps that of a former result."""
    storage = Storage(layout.nbytes, pooled=True)
    return Tensor(storage.address, layout, storage)
