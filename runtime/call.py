"""The Python side of a native function: check, allocate, call, turn a status into an exception."""

from __future__ import annotations

import ctypes
import operator
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from .arguments import Plan, bind_arguments, make_plan, overlapping, stage, to_tensor
from .callback import CALLBACK_ADDRESS, CallState, Lease, ReadOnlyMemory
from .memory import ArenaPool, Storage
from .signature import FunctionSpec, Signature
from .structure import Size, put_together, take_apart
from .tensor import Tensor

_CTX_WORDS = 8
_CTX_BYTES = 8 * _CTX_WORDS
_FAILED_CHECK = 4  # index of the ctx word; the two reported values follow it
_PLAN_LIMIT = 1024  # combinations of layouts to remember per function

_layout_of = operator.attrgetter("layout")
_address_of = operator.attrgetter("address")

# A CFUNCTYPE releases the GIL while native code runs.
_Entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


class CompiledFunction:
    """A native function as a Python callable.

    Takes one tensor per parameter (ours, NumPy's, torch's, anything with `__dlpack__` or
    `__array_interface__`), by position or name; returns None, a tensor, or a tuple of them. Where
    the program has tuples, shapes or integers as parameters or results, they are Python's.
    Strided arguments are copied in, and back if written. Raises TypeError or ValueError naming the
    argument, whatever a callback raised, ValueError for a failed run-time check, and MemoryError.
    `owners` are kept alive with it: the native code and its constants, which callbacks only read.
    """

    def __init__(
        self,
        spec: FunctionSpec,
        address: int,
        constants_table: int,
        arenas: ArenaPool,
        owners: object,
        constants: ReadOnlyMemory,
    ) -> None:
        self.spec = spec
        self._owners = owners
        self._entry = _Entry(address)
        self._constants_table = constants_table
        self._constants = constants
        self._arenas = arenas
        self._arity = len(spec.params)
        self._signature = spec.signature
        self._calls_back = bool(spec.packed_sites) or spec.takes_memory
        self._written = tuple(i for i, p in enumerate(spec.params) if p.written)
        words = _CTX_WORDS + len(spec.params) + len(spec.results) + len(spec.symbols)
        self._words: type[ctypes.Array[ctypes.c_int64]] = ctypes.c_int64 * words
        self._pack_words = struct.Struct(f"4q32x{words - _CTX_WORDS}q").pack_into
        self._plans: dict[object, Plan] = {}

    @property
    def __name__(self) -> str:
        return self.spec.name

    def __repr__(self) -> str:
        return f"<xrelax function {self.spec.name}({', '.join(self.spec.argument_names)})>"

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if self._signature is not None:
            return self._call_structured(self._signature, args, kwargs)
        if kwargs or len(args) != self._arity:
            args = bind_arguments(self.spec, args, kwargs)
        # Called millions of times: tensors of layouts seen before cost one table look-up.
        # The `layout` of another library's array, if it has one, equals none in the table.
        try:
            plan = self._plans[tuple(map(_layout_of, args))]
        except (AttributeError, KeyError, TypeError):
            args, plan = self._resolve(args)
        results = self._run(args, plan)
        if self.spec.returns_tuple:
            return tuple(results)
        return results[0] if results else None

    def _call_structured(
        self, signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """A call whose arguments or result are tuples, shapes or integers too."""
        values = bind_arguments(self.spec, args, kwargs)
        tensors: list[object] = []
        sizes: list[Size] = []
        for node, name, value in zip(signature.arguments, signature.names, values, strict=True):
            take_apart(node, name, value, tensors, sizes)
        found, plan = self._resolve(tensors, sizes)
        symbols = dict(zip(self.spec.symbols, plan.symbols, strict=True))
        return put_together(signature.result, iter(self._run(found, plan)), symbols)

    def _resolve(
        self, args: Sequence[object], sizes: Sequence[Size] = ()
    ) -> tuple[tuple[Tensor, ...], Plan]:
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

    def _run(self, args: Sequence[Tensor], plan: Plan) -> list[Tensor]:
        """The results, on copies where arguments are strided or written ones share memory."""
        if plan.staged or (self._written and overlapping(self._written, args, plan.extents)):
            return self._call_staged(args, plan)
        return self._call_native(args, plan)

    def _call_staged(self, args: Sequence[Tensor], plan: Plan) -> list[Tensor]:
        staged, back = stage(self.spec, args)
        result = self._call_native(staged, plan)
        for copy, original in back:
            original.copyfrom(copy)
        return result

    def _call_native(self, args: Sequence[Tensor], plan: Plan) -> list[Tensor]:
        results: list[Tensor] = []
        for nbytes, layout in plan.results:
            storage = Storage(nbytes)
            results.append(Tensor(storage.address, layout, storage))
        arena = self._arenas.take(plan.arena_size) if plan.arena_size else None
        if self._calls_back:
            self._call_with_callbacks(args, results, arena, plan.symbols)
        else:
            words = self._fill_words(0, arena, args, results, plan.symbols)
            ctx = ctypes.addressof(words)
            status = self._entry(ctx, ctx + _CTX_BYTES)
            if arena is not None:
                self._arenas.give(arena)
            if status:
                self._raise_status(status, words)
        return results

    def _call_with_callbacks(
        self,
        args: Sequence[Tensor],
        results: Sequence[Tensor],
        arena: Storage | None,
        symbols: Sequence[int],
    ) -> None:
        lease = Lease(arena, self._arenas, args, results, self._constants)
        with CallState(self.spec.packed_sites, lease) as state:
            words = self._fill_words(state.token, arena, args, results, symbols)
            ctx = ctypes.addressof(words)
            status = self._entry(ctx, ctx + _CTX_BYTES)
        error, state.error = state.error, None
        if error is not None:
            try:
                raise error
            finally:  # the traceback refers to this frame: leave no cycle
                del error
        if status:
            self._raise_status(status, words)

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
        self._pack_words(
            words,
            0,
            CALLBACK_ADDRESS,
            token,
            0 if arena is None else arena.address,
            self._constants_table,
            *map(_address_of, args),
            *map(_address_of, results),
            *symbols,
        )
        return words

    def _raise_status(self, status: int, words: ctypes.Array[ctypes.c_int64]) -> None:
        name = self.spec.name
        if status == 2:
            check, first, second = words[_FAILED_CHECK : _FAILED_CHECK + 3]
            message: str = self.spec.checks[int(check)]
            raise ValueError(message.replace("{0}", str(first)).replace("{1}", str(second)))
        if status == 3:
            raise MemoryError(f"{name} ran out of memory")
        if status == 1:
            raise RuntimeError(f"expected an exception with status 1 of {name}, got none")
        raise RuntimeError(f"expected {name} to return status 0, 1, 2 or 3, got {status}")
