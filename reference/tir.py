"""TensorIR: loops, blocks with their first-iteration init, element accesses, views."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import SSAValue

from ..dialects import rt, tir
from ..dialects.nesting import enclosing
from ..dialects.sym import exprs_of
from .control import nothing
from .empty_reductions import empty_reduction, run_where_empty
from .expressions import shape_of, substitute_symbols
from .jumps import Jumps
from .kernel import Frame, Handler, KernelCompiler, Number, Step, for_loop
from .math_ops import fma64
from .memory import Buffer, View, place_view, read, write
from .registered import call_registered
from .values import EvaluationError, Value, value_dtype


def _for(compiler: KernelCompiler, op: tir.ForOp) -> Step:
    lower, extent = compiler.numbers([op.min.data, op.extent.data], op.operands_)
    (body, limit), var = compiler.loop(op, op.body.block), op.loop_var
    initialize = empty_reduction(compiler, op)

    def run(frame: Frame) -> None:
        size = extent(frame)
        if initialize is not None:
            run_where_empty(frame, size, initialize)
        frame.jumps.append(Jumps())
        for_loop(frame, var, lower(frame), size, body, limit)
        frame.jumps.pop()

    return run


def _block(compiler: KernelCompiler, op: tir.BlockOp) -> Step:
    """Where the predicates hold, run the init at the first reduction point, and the body."""
    operands = op.numbering()
    axes = list(zip(op.axis_vars, compiler.numbers(exprs_of(op.bindings), operands), strict=True))
    holds = compiler.bounds(op.predicates.data, operands)
    init = None if op.init is None else compiler.block(op.init.body.block)
    is_first = _at_first(compiler, op)
    body = compiler.block(op.body.block)
    compiler.terms = max(compiler.terms, _reduction_terms(compiler, op))

    def run(frame: Frame) -> None:
        outer = frame.mask
        for var, binding in axes:
            frame.values[var] = binding(frame)
        if frame.narrow(holds(frame)):
            if init is not None:
                inner = frame.mask
                if frame.narrow(is_first(frame)):
                    init(frame)
                frame.mask = inner
            body(frame)
        frame.mask = outer

    return run


def _reduction_terms(compiler: KernelCompiler, op: tir.BlockOp) -> int:
    extents = [
        substitute_symbols(a.extent.data, compiler.symbols)
        for a in op.axes.data
        if a.kind.data == "reduce"
    ]
    return math.prod(e.constant or 1 for e in extents)


def _at_first(compiler: KernelCompiler, op: tir.BlockOp) -> Number:
    pairs = [
        (var, compiler.number(axis.min.data, op.numbering()))
        for var, axis in zip(op.axis_vars, op.axes.data, strict=True)
        if axis.kind.data == "reduce"
    ]

    def is_first(frame: Frame) -> Value:
        result: Value = True
        for var, lower in pairs:
            result = (frame.values[var] == lower(frame)) & result
        return result

    return is_first


def _load(compiler: KernelCompiler, op: tir.LoadOp) -> Step:
    index = compiler.numbers(exprs_of(op.indices), op.operands_)
    buffer, result, precision = op.buffer, op.result, compiler.precision

    def run(frame: Frame) -> None:
        place = [i(frame) for i in index]
        try:
            frame.values[result] = read(frame.values[buffer], place, frame.mask, precision)
        except EvaluationError as error:
            raise EvaluationError(f"{error}{_place_text(op)}") from None

    return run


def _place_text(op: tir.LoadOp) -> str:
    """Which block a load is in, and its place in the source, where these are known."""
    around = enclosing(op, tir.BlockOp)
    block = "" if around is None else f" in block '{around.block_name.data}'"
    found = op.location
    place = (
        f", {found.filename.data}:{found.line.data}" if isinstance(found, FileLineColLoc) else ""
    )
    return f"{block}{place}"


def _store(compiler: KernelCompiler, op: tir.StoreOp) -> Step:
    index = compiler.numbers(exprs_of(op.indices), op.operands_)
    buffer, value, precision = op.buffer, op.value, compiler.precision

    def run(frame: Frame) -> None:
        place = [i(frame) for i in index]
        write(frame.values[buffer], place, frame.values[value], frame.mask, precision)

    return run


def _jump(compiler: KernelCompiler, op: tir.JumpOp) -> Step:
    leaves = isinstance(op, tir.BreakOp)

    def run(frame: Frame) -> None:
        frame.jumps[-1].jump(frame.mask, leaves)

    return run


def _apply(compiler: KernelCompiler, op: tir.ApplyOp) -> Step:
    number, result = compiler.number(op.expr.data, op.operands), op.result

    def run(frame: Frame) -> None:
        frame.values[result] = number(frame)

    return run


def _match_buffer(compiler: KernelCompiler, op: tir.MatchBufferOp) -> Step:
    starts = compiler.numbers(exprs_of(op.starts), op.operands_)
    result, source = op.result, op.source
    assert isinstance(result.type, tir.BufferType)
    dims, name = shape_of(result.type.dims, compiler.symbols), result.name_hint or "a view"

    def run(frame: Frame) -> None:
        place = tuple(s(frame) for s in starts)
        frame.values[result] = View(frame.values[source], place, dims, name)

    return run


def _view(compiler: KernelCompiler, op: rt.ViewOp) -> Step:
    source, symbols, precision = op.source, compiler.symbols, compiler.precision

    def run(frame: Frame) -> None:
        memory = frame.values[source]
        assert isinstance(memory, Buffer)
        frame.values[op.result] = place_view(memory, op, symbols, precision)

    return run


def _slot(compiler: KernelCompiler, op: rt.SlotOp) -> Step:
    result = op.result

    def run(frame: Frame) -> None:
        frame.values[result] = 0

    return run


def _assert(compiler: KernelCompiler, op: tir.AssertOp) -> Step:
    condition, message = op.condition, op.message.data

    def run(frame: Frame) -> None:
        holds = np.asarray(frame.values[condition])
        if not (holds if frame.mask is None else holds | ~frame.mask).all():
            raise EvaluationError(message)

    return run


C_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "atan2": np.arctan2,
    "fabs": np.abs,
    "fma": fma64,
    "pow": np.power,
    **{
        n: getattr(np, n)
        for n in ("cbrt", "ceil", "cos", "cosh", "exp", "exp2", "expm1", "floor", "fmod")
    },
    **{
        n: getattr(np, n)
        for n in ("log", "log10", "log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh")
    },
}
"""Functions of C's math library that `tir.call_extern` may name, ``f`` of float32 or not."""


def _without_type(intrinsic: str) -> str:
    """``sqrt`` of "llvm.sqrt.f32", the name of the same function in C."""
    return intrinsic.split(".")[1]


def _call_extern(compiler: KernelCompiler, op: tir.CallExternOp) -> Step:
    return _foreign_call(compiler, op.callee.data, op.args, op.result)


def _call_intrin(compiler: KernelCompiler, op: tir.CallIntrinOp) -> Step:
    """The call of an intrinsic of LLVM or of a registered function; others have no reference."""
    if (name := op.packed_callee) is not None:
        return _packed_call(compiler, name, op.args[1:], op.result)
    if op.callee is None:
        raise EvaluationError(f"expected an intrinsic of LLVM, got T.{op.intrinsic.data}")
    return _foreign_call(compiler, op.callee, op.args[1:], op.result)


def _foreign_call(
    compiler: KernelCompiler, name: str, args: Sequence[SSAValue], result: SSAValue | None
) -> Step:
    if any(isinstance(a.type, tir.BufferType) for a in args):
        raise EvaluationError(
            f"expected '{name}' to get numbers, got memory, which is compiled code's"
        )
    name = _without_type(name) if name.startswith("llvm.") else name
    function = C_FUNCTIONS.get(name) or C_FUNCTIONS.get(name.removesuffix("f"))
    if name in compiler.externs:
        function = np.frompyfunc(compiler.externs[name], len(args), 1)
    if function is None:
        raise EvaluationError(
            f"expected '{name}' to be registered or a function of C's math library"
        )

    def run(frame: Frame) -> None:
        found = function(*(np.asarray(frame.values[a], np.float64) for a in args))
        if result is not None:
            dtype = value_dtype(result.type)
            frame.values[result] = compiler.precision.narrow(dtype, np.asarray(found, np.float64))

    return run


def _packed_call(
    compiler: KernelCompiler, name: str, args: Sequence[SSAValue], result: SSAValue | None
) -> Step:
    """A call of a registered function, which may write the buffers that it gets."""
    precision = compiler.precision

    def argument(frame: Frame, arg: SSAValue) -> Any:
        if isinstance(arg.owner, tir.StringOp):
            return arg.owner.text.data
        value = frame.values[arg]
        if isinstance(value, View):
            raise EvaluationError(f"expected '{name}' to get whole buffers, got a part of one")
        return value if isinstance(value, Buffer) else np.asarray(value).item()

    def run(frame: Frame) -> None:
        given = [argument(frame, arg) for arg in args]
        written = [v for v in given if isinstance(v, Buffer) and v.array.flags.writeable]
        found = call_registered(compiler.externs, precision, name, given, written)
        if result is not None and result.uses:
            frame.values[result] = precision.narrow(value_dtype(result.type), np.asarray(found))

    return run


TIR: dict[str, Handler] = {
    "tir.alloc_buffer": lambda compiler, op: compiler.scratch(op.result),
    "tir.apply": _apply,
    "tir.assert": _assert,
    "tir.block": _block,
    "tir.break": _jump,
    "tir.call_extern": _call_extern,
    "tir.call_intrin": _call_intrin,
    "tir.continue": _jump,
    "tir.for": _for,
    "tir.init": nothing,
    "tir.load": _load,
    "tir.match_buffer": _match_buffer,
    "tir.store": _store,
    "tir.string": nothing,
    "rt.slot": _slot,
    "rt.view": _view,
}
"""How each `tir` operation runs."""
