"""One evaluation of a module: its functions by name, the registry, kernels translated so far."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from ..dialects import loops, tir
from ..dialects.dtypes import is_float
from ..dialects.nesting import on_deep_stack
from ..dialects.rt.call import MAX_CALL_DEPTH, depth_message
from ..runtime.dtype import dtype_of_numpy
from .arguments import Expected, GraphValue, bind_symbols
from .control import CONTROL
from .jumps import around_jumps
from .kernel import Frame, KernelCompiler, Step
from .loops import LOOPS
from .memory import Buffer
from .registered import Registry, call_registered, set_written
from .tir import TIR
from .values import EvaluationError, Precision, Value, value_dtype

Kernel: TypeAlias = tir.PrimFuncOp | loops.FuncOp

Observer: TypeAlias = Callable[[Operation, Any, int], None]
"""Called after each operation of a graph, and each call of a plan, with its value, and with the
`terms` so far."""

DEEP_CALLS = 20
"""Nested calls that fit on the stack of any thread and into Python's default recursion limit."""


@dataclass
class Session:
    """Where functions of the module are found and run."""

    module: ModuleOp
    registry: Registry
    precision: Precision
    vectorize: bool = True
    terms: int = 0
    """A bound for how many roundings follow each other in the results so far."""
    quiet: bool = False
    objects: list[object] = field(default_factory=lambda: [])
    """Objects of Python, which planned functions have numbers of."""
    tracks: bool = False
    """Whether to read new memory that nothing has written is an error."""
    observe: Observer | None = None
    depth: int = 0
    """How many calls of graph functions are nested at the moment."""
    functions: dict[str, Operation] = field(init=False)
    loaded: dict[str, list[Buffer]] = field(default_factory=lambda: {})
    """What functions have computed that run once, when the module is loaded."""
    kernels: dict[Any, Step] = field(default_factory=lambda: {})

    def __post_init__(self) -> None:
        self.functions = {}
        for op in self.module.body.block.ops:
            name = op.properties.get("sym_name", op.attributes.get("sym_name"))
            if isinstance(name, StringAttr):
                self.functions[name.data] = op

    @contextmanager
    def nested_call(self, name: str) -> Generator[Callable[[Callable[[], Any]], Any]]:
        """Gives what runs a call of a graph function, with room for it on the stack.

        Raises EvaluationError where calls are nested deeper than native code nests them.
        """
        self.depth += 1
        try:
            if self.depth > MAX_CALL_DEPTH:
                raise EvaluationError(depth_message(name))
            yield on_deep_stack if self.depth == DEEP_CALLS else lambda work: work()
        finally:
            self.depth -= 1

    def function(self, name: str) -> Operation:
        """The function of that name; raises EvaluationError where there is none."""
        if name not in self.functions:
            raise EvaluationError(f"expected a function '{name}' in the module, got none")
        return self.functions[name]

    def kernel_named(self, name: str) -> Kernel | None:
        """The PrimFunc or loop function of that name."""
        op = self.functions.get(name)
        return op if isinstance(op, Kernel) else None

    def run_kernel(self, op: Kernel, buffers: Sequence[Value], variables: Sequence[int]) -> None:
        """Run a kernel on buffers, in place; `variables` are the values of its index parameters."""
        try:
            self._run_kernel(op, buffers, variables)
        except EvaluationError as error:
            raise EvaluationError(f"in '{op.sym_name.data}': {error}") from None

    def _run_kernel(self, op: Kernel, buffers: Sequence[Value], variables: Sequence[int]) -> None:
        if isinstance(op, loops.FuncOp) and op.external is not None:
            raise EvaluationError(f"expected a body, got '{op.external.data}' of an object file")
        values, symbols = _bind_kernel(op, buffers, variables, self.precision)
        arrays = [b.array for b in buffers if isinstance(b, Buffer)]
        alone = self.vectorize and not _overlap(arrays)
        key = (op, tuple(sorted(symbols.items())), alone)
        if key not in self.kernels:
            handlers = {**TIR, **LOOPS, **CONTROL}
            tracks = self.tracks and isinstance(op, tir.PrimFuncOp)  # loops: lanes that are dropped
            compiler = KernelCompiler(
                symbols, self.precision, handlers, self.registry, tracks=tracks
            )
            compiler.jumping, compiler.loops_with_jumps = around_jumps(op)
            if alone:
                known: dict[SSAValue, int] = {
                    p: values[p] for p in op.params if isinstance(p.type, IndexType)
                }
                compiler.choose_axes(op.body.block, known)
            self.kernels[key] = compiler.block(op.body.block)
            self.terms = max(self.terms, compiler.terms)
        self.kernels[key](Frame(values))

    def call_for_result(
        self,
        name: str,
        inputs: Sequence[GraphValue],
        outputs: Sequence[Buffer],
        changed: Sequence[Buffer] = (),
    ) -> None:
        """Copy what a registered function returns to the outputs; raises EvaluationError.

        It may change some of the inputs in place.
        """
        given = self.returned_arrays(name, inputs, len(outputs), changed)
        for array, output in zip(given, outputs, strict=True):
            self.store(name, array, output)

    def store(self, name: str, array: NDArray[Any], output: Buffer) -> None:
        """Copy an array that a registered function returns; raises EvaluationError."""
        native = self.precision.native(output.dtype, output.array)
        if (array.dtype, array.shape) != (native.dtype, native.shape):
            raise EvaluationError(
                f"expected '{name}' to return {native.dtype} of shape {native.shape}, "
                f"got {array.dtype} of shape {array.shape}"
            )
        output.array[...] = self.precision.widen(output.dtype, array)
        set_written(output)

    def returned_buffers(self, name: str, inputs: Sequence[GraphValue], count: int) -> list[Buffer]:
        """What a registered function returns, of dtypes and shapes that it chooses."""
        return [self.buffer(name, a) for a in self.returned_arrays(name, inputs, count)]

    def buffer(self, name: str, array: NDArray[Any]) -> Buffer:
        """A buffer with the values of an array."""
        dtype = dtype_of_numpy(array.dtype)
        return Buffer(self.precision.widen(dtype, array).copy(), dtype, name)

    def returned_arrays(
        self,
        name: str,
        inputs: Sequence[GraphValue],
        count: int,
        changed: Sequence[Buffer] = (),
    ) -> list[NDArray[Any]]:
        """The arrays that a registered function returns; EvaluationError for another number."""
        result = self.call_registered(name, inputs, changed)
        is_one = not isinstance(result, tuple | list)
        given = [result] if is_one else list(cast("Sequence[Any]", result))
        if len(given) != count:
            raise EvaluationError(f"expected '{name}' to return {count} tensors, got {len(given)}")
        return list(map(array_of, given))

    def write(self, text: str, values: Sequence[Buffer]) -> None:
        """Print values in a format, unless the evaluation is only to be compared."""
        if not self.quiet:
            print(self.formatted(text, values))

    def formatted(self, text: str, values: Sequence[Buffer]) -> str:
        """Values in a format, or one after the other where it is empty."""
        arrays = [self.precision.native(b.dtype, b.array) for b in values]
        return text.format(*arrays) if text else " ".join(map(str, arrays))

    def call_registered(
        self, name: str, args: Sequence[GraphValue], written: Sequence[Buffer]
    ) -> Any:
        """Call a registered function on arrays of the user's kind; raises EvaluationError."""
        return call_registered(self.registry, self.precision, name, args, written)


def array_of(value: Any) -> NDArray[Any]:
    """What a registered function returns as an array."""
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def _bind_kernel(
    op: Kernel, buffers: Sequence[Value], variables: Sequence[int], precision: Precision
) -> tuple[dict[SSAValue, Value], dict[str, int]]:
    """Values of the parameters and of the symbols."""
    given, numbers = list(buffers), list(variables)
    values: dict[SSAValue, Value] = {}
    symbols: dict[str, int] = {}
    names = op.names if isinstance(op, tir.PrimFuncOp) else [p.name_hint or "" for p in op.params]
    indices = sum(isinstance(p.type, IndexType) for p in op.params)
    for name, param in zip(names, op.params, strict=True):
        is_listed = isinstance(param.type, IndexType) and bool(numbers)
        if is_listed and len(variables) < indices and given:  # others are among the arguments
            is_listed = not _is_integer(given[0])
        source = numbers if is_listed else given
        if not source:
            raise EvaluationError(f"expected an argument for parameter '{name}', got none")
        values[param] = _argument(name, param, source.pop(0), precision)
        if isinstance(param.type, IndexType):
            symbols[name] = values[param]
    if given:
        raise EvaluationError(f"expected {len(values)} arguments, got {len(values) + len(given)}")
    memory = [
        (n, p) for n, p in zip(names, op.params, strict=True) if isinstance(p.type, tir.BufferType)
    ]
    expected = [
        Expected(n, p.type.dims, p.type.dtype)
        for n, p in memory
        if isinstance(p.type, tir.BufferType)
    ]
    if isinstance(op, loops.FuncOp):  # callers give the first ones
        symbols.update(zip(op.symbol_names, numbers, strict=False))
    bind_symbols(expected, [values[p].array for _, p in memory], symbols)
    return values, symbols


def _is_integer(value: Value) -> bool:
    """Whether an argument is a number, which may be in memory."""
    if isinstance(value, Buffer):
        return value.array.ndim == 0 and not is_float(value.dtype)
    return np.ndim(value) == 0


def _argument(name: str, param: SSAValue, given: Value, precision: Precision) -> Value:
    if isinstance(param.type, tir.BufferType):
        if not isinstance(given, Buffer):
            raise EvaluationError(f"expected argument '{name}' to be a tensor, got {given}")
        if given.dtype != param.type.dtype:
            raise EvaluationError(
                f"expected argument '{name}' to have dtype {param.type.dtype}, got {given.dtype}"
            )
        return replace(given, name=param.name_hint or name)
    scalar = given
    if isinstance(given, Buffer):
        scalar = precision.load(given.dtype, given.array)[()]
    return (
        int(scalar)
        if isinstance(param.type, IndexType)
        else precision.narrow(value_dtype(param.type), scalar)
    )


def _overlap(arrays: Sequence[Any]) -> bool:
    return any(np.may_share_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


def check_apart(callee: str, outputs: Sequence[Buffer], inputs: Sequence[Buffer]) -> None:
    """Raise EvaluationError where memory that a call writes overlaps other memory of the call."""
    for position, output in enumerate(outputs):
        for other in (*inputs, *outputs[:position]):
            if np.may_share_memory(output.array, other.array) and output.array.size:
                raise EvaluationError(
                    f"expected the output of '{callee}' in memory of its own, "
                    f"got '{output.name}' over '{other.name}'"
                )
