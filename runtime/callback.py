"""Calls from native code back into registered Python functions.

There is one C function pointer: native code passes it the token of a call, which identifies its
state. The state holds exceptions; native code sees only a status.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
import threading
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .call_words import STATUS_EXCEPTION
from .layout import Layout
from .memory import ArenaPool, Storage, owner_of
from .packed_values import Packing, number_count, store_results, tensor_of, values_of
from .registry import get_global_func
from .signature import PackedSite
from .tensor import Tensor

_SILENT: ContextVar[bool] = ContextVar("silent", default=False)


def format_values(text: str, values: Sequence[Any]) -> str:
    """The values in a format, or separated by spaces if it is empty."""
    return text.format(*values) if text else " ".join(map(str, values))


@contextmanager
def without_prints() -> Generator[None]:
    """Suppress the output of programs in this thread, within a context."""
    token = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(token)


def _print(text: str, values: Sequence[Any]) -> None:
    if not _SILENT.get():
        print(format_values(text, values))


def _fail(text: str, values: Sequence[Any]) -> None:
    raise AssertionError(format_values(text, values))


OWN: Mapping[str, Callable[[str, Sequence[Any]], object]] = {
    "relax.assert": _fail,
    "relax.print": _print,
    "relax.str": lambda text, _: text,
}
"""The built-in functions of the runtime, on a format and arrays."""


def run_site(
    site: PackedSite, args: Sequence[Tensor], numbers: Sequence[int], state: CallState
) -> None:
    """Call the function of a site; raises its exception, TypeError or ValueError for its result.

    A function that returns a value gets only its inputs, and the value is copied to the outputs, or
    kept under the numbers of results. `numbers` are the words of the site.
    """
    subject, function = _called(site)
    packing = Packing(subject, args, numbers, state.objects)
    first = len(args) - site.returned
    inputs: Sequence[Any] = args[:first]
    if site.signature is not None:
        inputs = [packing.argument(node) for node in site.signature.arguments]
    result = function(*inputs)
    if site.kept:
        values = values_of(subject, result, len(site.kept))
        for places, value in zip(site.kept, values, strict=True):
            state.kept |= dict.fromkeys(places, tensor_of(subject, value).contiguous_copy())
    elif site.signature is not None and site.returned:
        packing.store(site.signature.result, result)
    elif site.returned:
        store_results(subject, result, args[first:])


def _called(site: PackedSite) -> tuple[str, Callable[..., object]]:
    """What messages call the function of a site, and the function."""
    text, own = site.text, OWN.get(site.name)
    if text is None or own is None:
        return text or f"'{site.name}'", get_global_func(site.name)
    return f"'{site.name}'", lambda *inputs: own(text, [a.numpy() for a in inputs])


TAKE_SITE, GIVE_SITE = -1, -2
"""Sites that allocate and release memory for nested calls of native code.

The data is one word: to allocate, the size in bytes, which the address replaces; to release, the
address.
"""


class NestedMemory:
    """Memory of a nested call; it returns to its pool with the last tensor on it."""

    __slots__ = ("_owner", "storage")

    def __init__(self, pool: ArenaPool, nbytes: int) -> None:
        self.storage = pool.take(nbytes)
        self._owner = owner_of(pool.give, self.storage)

    def __contains__(self, address: int) -> bool:
        start = self.storage.address
        return start <= address < start + self.storage.nbytes


class ReadOnlyMemory:
    """The memory of tensors that callbacks may not write, such as the constants of a module."""

    __slots__ = ("_ends", "_starts")

    def __init__(self, tensors: Iterable[Tensor]) -> None:
        ranges = sorted((t.address, t.address + t.layout.nbytes) for t in tensors)
        self._starts = [start for start, _ in ranges]
        self._ends = list(itertools.accumulate((end for _, end in ranges), max))

    def __contains__(self, address: int) -> bool:
        position = bisect_right(self._starts, address)
        return position > 0 and address < self._ends[position - 1]


class Lease:
    """The memory of a call that callbacks borrow: arguments, results and the arena.

    Every tensor that a callback gets owns the lease. The arena returns to its pool when the call
    has ended *and* the last such tensor is freed, so that a callback may keep tensors.
    """

    __slots__ = ("_constants", "_kept", "_nested", "_pool", "_read_only")

    def __init__(
        self,
        arena: Storage | None,
        pool: ArenaPool,
        args: Sequence[Tensor],
        results: Sequence[Tensor],
        constants: ReadOnlyMemory,
    ) -> None:
        self._constants = constants
        self._pool = pool
        self._kept = (args, results, None if arena is None else owner_of(pool.give, arena))
        self._nested: dict[int, NestedMemory] = {}
        self._read_only = ReadOnlyMemory(a for a in args if not a.layout.writable)

    def tensor(self, address: int, dtype: str, shape: tuple[int, ...]) -> Tensor:
        """A view of borrowed memory, read-only for constants and read-only arguments."""
        writable = address not in self._read_only and address not in self._constants
        owner = next((m for m in reversed(self._nested.values()) if address in m), self)
        return Tensor(address, Layout(shape, dtype, None, writable), owner)

    def take(self, nbytes: int) -> int:
        """The address of new memory for a nested call; raises MemoryError if there is none."""
        memory = NestedMemory(self._pool, max(nbytes, 1))
        self._nested[memory.storage.address] = memory
        return memory.storage.address

    def give(self, address: int) -> None:
        """Release the memory of a nested call."""
        del self._nested[address]


class CallState:
    """A running call whose native code may call back; use as a context manager.

    `token` identifies it to the callback, `error` is the exception of a callback, and `kept` are
    results of unknown shape by their numbers. `objects` are the objects that arguments and
    callbacks have given, by the numbers that native code has of them.
    """

    __slots__ = ("error", "kept", "lease", "objects", "sites", "thread", "token")

    def __init__(self, sites: Sequence[PackedSite], lease: Lease, objects: list[object]) -> None:
        self.sites = sites
        self.objects = objects
        self.lease = lease
        self.error: BaseException | None = None
        self.kept: dict[int, Tensor] = {}
        self.token = next(_tokens)
        self.thread = threading.get_ident()

    def __enter__(self) -> CallState:
        _install_hook()
        _active[self.token] = self
        return self

    def __exit__(self, *_: object) -> None:
        del _active[self.token]

    def call(self, site: int, data: int | None, dims: int | None) -> None:
        """Call the function of a site with views of the addresses and dims from native code."""
        if site < 0:
            self._exchange(site, ctypes.c_int64.from_address(data or 0))
            return
        packed = self.sites[site]
        addresses = (ctypes.c_int64 * len(packed.args)).from_address(data or 0)
        count = sum(len(a.shape) for a in packed.args) + number_count(packed)
        sizes = (ctypes.c_int64 * count).from_address(dims or 0)
        args: list[Tensor] = []
        start = 0
        for address, spec in zip(addresses, packed.args, strict=True):
            end = start + len(spec.shape)
            args.append(self.lease.tensor(address, spec.dtype, tuple(sizes[start:end])))
            start = end
        run_site(packed, args, list(sizes), self)

    def _exchange(self, site: int, word: ctypes.c_int64) -> None:
        if site == TAKE_SITE:
            word.value = self.lease.take(word.value)
        else:
            self.lease.give(word.value)


_active: dict[int, CallState] = {}
_tokens = itertools.count(1)


def _call_back(token: int, site: int, data: int | None, dims: int | None) -> int:
    state = _active[token]
    try:
        if state.error is not None:  # native code has missed the status of an earlier callback
            return STATUS_EXCEPTION
        state.call(site, data, dims)
        return 0
    except BaseException as error:  # KeyboardInterrupt too must reach the caller
        state.error = error
        return STATUS_EXCEPTION


_callback = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p
)(_call_back)


def _pointer() -> int:
    value = ctypes.cast(_callback, ctypes.c_void_p).value
    assert value is not None
    return value


CALLBACK_ADDRESS = _pointer()
"""The C function pointer for ctx[0] of every call."""


class _EntryErrorHook:
    """An unraisable hook for exceptions that are raised before the first statement of `_call_back`.

    A Ctrl-C during native code becomes KeyboardInterrupt at the next entry into Python, and a
    RecursionError is raised there too. No `try` can catch those, ctypes only reports them to this
    hook, and native code would continue as if the callback had succeeded. All other exceptions are
    passed to the previous hook.
    """

    def __init__(self, before: Callable[[sys.UnraisableHookArgs], object]) -> None:
        self._before = before

    def __call__(self, failure: sys.UnraisableHookArgs) -> None:
        is_ours = failure.object is _call_back or repr(_call_back) in (failure.err_msg or "")
        state = _innermost(threading.get_ident()) if is_ours else None
        if state is None:
            self._before(failure)
        elif state.error is None:
            state.error = failure.exc_value


def _innermost(thread: int) -> CallState | None:
    return next((s for s in reversed(list(_active.values())) if s.thread == thread), None)


def _install_hook() -> None:
    """Install the hook, also after another tool has replaced it."""
    if not isinstance(sys.unraisablehook, _EntryErrorHook):
        sys.unraisablehook = _EntryErrorHook(sys.unraisablehook)
