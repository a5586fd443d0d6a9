"""Kernels as programs of the fuzzer: how they are parsed, called and compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .data import contents
from .evaluate import run, size_of
from .guard import Guarded
from .numbers import Array, Value, rounded
from .outcome import Wrong
from .steps import Step, apply_step
from .syntax import Buffer, Kernel
from .texts import kernel_text

GUARDS: dict[str, Guarded] = {}


@dataclass(frozen=True)
class KernelProgram:
    """A kernel and what its schedule does.

    With `is_left` the scheduled function is printed and parsed, and its default schedule is added.
    """

    kernel: Kernel
    steps: tuple[Step, ...] = ()
    is_left: bool = False

    @property
    def name(self) -> str:
        """The function's name."""
        return self.kernel.name

    def followed_by(self, step: Step) -> KernelProgram:
        """The program with one more step."""
        return replace(self, steps=(*self.steps, step))

    def parsed(self) -> dict[str, Any]:
        """The scheduled function by its name."""
        from xrelax.script import from_source
        from xrelax.tir.schedule import Schedule

        function = from_source(kernel_text(self.kernel))
        if not self.steps:
            return {self.name: function}
        schedule = Schedule(function, seed=0, debug_mask="all")
        for step in self.steps:
            apply_step(schedule, step)
        return self.functions(schedule)

    def functions(self, schedule: Any) -> dict[str, Any]:
        """The function of a schedule by its name, printed and parsed where it `is_left`."""
        from xrelax.script import from_source

        function = schedule.mod["main"]
        return {self.name: from_source(unmarked(function.script())) if self.is_left else function}

    def compare(self, executable: Any) -> None:
        """Call the function for all sizes; raise `Wrong` where it differs from the evaluation."""
        from xrelax.runtime import set_num_threads

        for sizes in self.kernel.sizes:
            inputs = inputs_of(self.kernel, sizes)
            wanted = run(self.kernel, sizes, inputs)
            for at_end in (True, False):
                set_num_threads(2 if at_end else 1)
                found = call(executable[self.name], self.kernel, sizes, inputs, at_end)
                for buffer in self.kernel.outputs:
                    problem = difference(found[buffer.name], wanted[buffer.name])
                    if problem:
                        raise Wrong(f"{buffer.name} for {sizes}: {problem}")


def unmarked(script: str) -> str:
    """A function without the mark that keeps default schedules off it."""
    return script.replace('"tir.is_scheduled": True', '"fuzz": True')


def inputs_of(kernel: Kernel, sizes: tuple[int, ...]) -> dict[str, Array]:
    """The arrays of the inputs by name."""
    return {b.name: contents(b, shape_of(b, kernel, sizes), kernel.seed) for b in kernel.inputs}


def shape_of(buffer: Buffer, kernel: Kernel, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a buffer for a call."""
    symbols = dict(zip(kernel.symbols, sizes, strict=True))
    return tuple(size_of(d, symbols) for d in buffer.dims)


def call(
    function: Any, kernel: Kernel, sizes: tuple[int, ...], inputs: dict[str, Array], at_end: bool
) -> dict[str, Array]:
    """Call with guarded copies of the inputs; returns what it wrote, in `numbers.storage`."""
    given = [(b, to_bits(inputs[b.name], b.dtype)) for b in kernel.inputs]
    for buffer in kernel.outputs:
        shape = shape_of(buffer, kernel, sizes)
        noise = np.full(shape, 1, np.bool_) if buffer.dtype == "bool" else np.full(shape, 77)
        given.append((buffer, to_bits(rounded(noise, buffer.dtype), buffer.dtype)))
    arrays = [_argument(buffer, array, at_end) for buffer, array in given]
    function(*(tensor(a, b.dtype) for a, (b, _) in zip(arrays, given, strict=True)))
    for array, (buffer, before) in zip(arrays, given, strict=True):
        if not GUARDS[buffer.name].is_intact():
            raise Wrong(f"memory beside {buffer.name} was written for {sizes}")
        if buffer in kernel.inputs and array.tobytes() != before.tobytes():
            raise Wrong(f"the input {buffer.name} was written for {sizes}")
    written = zip(arrays[len(kernel.inputs) :], kernel.outputs, strict=True)
    return {b.name: from_bits(a, b.dtype) for a, b in written}


def _argument(buffer: Buffer, array: Array, at_end: bool) -> Array:
    """A guarded copy, which is strided or read-only where the buffer's argument is to be."""
    guard = GUARDS.setdefault(buffer.name, Guarded())
    if buffer.layout == "strided" and array.ndim and array.size:
        wide = np.repeat(array, 2, axis=-1)
        last = 2 * array.shape[-1] - 1
        # The last element touches the guard: the array in memory ends with it.
        return guard.place(wide[..., :last] if array.ndim == 1 else wide, at_end)[..., ::2]
    placed = guard.place(array, at_end)
    if buffer.layout == "read-only":
        placed.flags.writeable = False
    return placed


def to_bits(array: Array, dtype: str) -> Array:
    """An array as it is in memory: bfloat16 is the upper half of float32."""
    if dtype != "bfloat16":
        return array
    return (
        (np.ascontiguousarray(array).view(np.uint32) >> 16).astype(np.uint16).reshape(array.shape)
    )


def from_bits(array: Array, dtype: str) -> Array:
    """The numbers of an array in memory."""
    if dtype != "bfloat16":
        return array.copy()
    return (array.astype(np.uint32) << 16).view(np.float32).reshape(array.shape)


def tensor(array: Array, dtype: str) -> Any:
    """An argument of compiled functions."""
    if dtype != "bfloat16":
        return array
    from xrelax.runtime.tensor import Tensor, from_numpy

    bits = from_numpy(array)
    return Tensor(bits.address, bits.layout._replace(dtype=dtype), array)


def difference(found: Array, wanted: Value) -> str:
    """What is wrong with an array, "" for nothing: all but numbers without bound are compared."""
    if found.shape != wanted.data.shape:
        return f"expected shape {wanted.data.shape}, got {found.shape}"
    with np.errstate(all="ignore"):
        same = (found == wanted.data) | ((found != found) & (wanted.data != wanted.data))
        if wanted.error is not None:
            distance = np.abs(found.astype(float) - wanted.data.astype(float))
            same |= (distance <= wanted.error) | np.isinf(wanted.error)
    if same.all():
        return ""
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    count = f"{int((~same).sum())} of {same.size} elements differ"
    return f"{count}, at {list(at)} expected {wanted.data[at]!r}, got {found[at]!r}"
