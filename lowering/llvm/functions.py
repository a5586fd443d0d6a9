"""Functions: kernels, entries that the runtime calls, and private graph functions.

    internal i32 xrelax.KERNEL(ptr ctx, ptr buf0, …, scalars…, i64 sym0, …)
    declare  i32 xrelax.KERNEL.KEY(ptr ctx, ptr buf0, …)                        of another object
    internal i32 xrelax.PRIVATE(ptr ctx, ptr param0, …, ptr result0, …, i64 sym0, …)
    external i32 xrelax.PUBLIC(ptr ctx, ptr argv)

`argv` holds the arguments of a private function, in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import ArrayAttr, VectorType, i32, i64
from xdsl.ir import Operation, SSAValue

from ...dialects import llvm_ext, loops, rt
from ...dialects.dtypes import byte_width
from ...dialects.int_expr import Sym
from ...dialects.tir.types import BufferType
from ...runtime.memory import ALIGNMENT
from ..call_signature import Formal
from .builder import FunctionBuilder
from .calls import enter, leave
from .interrupts import start_polling
from .module_state import Callee, ModuleState
from .streaming import end_streams
from .types import PTR, UNIT, Properties, integer_attr, lowered, native_symbol
from .words import load_word

MARKED: Properties = {"passthrough": ArrayAttr([llvm_ext.EXPLICIT_VECTORS])}
"""Properties of the function of such a kernel."""


def is_explicit(func: loops.FuncOp) -> bool:
    """Whether a kernel has loops, and every one without a loop in it works on vectors."""
    innermost = [
        op
        for op in func.walk()
        if isinstance(op, _LOOPS) and not any(isinstance(o, _LOOPS) for o in _inside(op))
    ]
    return bool(innermost) and all(any(map(_has_vectors, _inside(op))) for op in innermost)


_LOOPS = (loops.ForOp, scf.ForOp, scf.WhileOp)


def _inside(op: Operation) -> list[Operation]:
    return [o for o in op.walk() if o is not op]


def _has_vectors(op: Operation) -> bool:
    return any(isinstance(v.type, VectorType) for v in (*op.operands, *op.results))


def lower_kernel(module: ModuleState, func: loops.FuncOp, aligned: set[SSAValue]) -> None:
    """A kernel; it is not inlined, has a name in profiles, and its arguments are `noalias`."""
    if func.external is not None:
        _declare_kernel(module, func, func.external.data)
        return
    f = _start(module, func)
    f.add_context()
    for param in func.params:
        f.define(param, f.add_argument(lowered(param.type), param.name_hint))
    _add_symbols(f, func.symbol_names)
    if func.noalias is not None:
        f.noalias = set(func.params)
    f.aligned = aligned
    f.lower_block(func.body.block)
    end_streams(f)
    attrs = [_context_attributes(), *(_buffer_attributes(f, p) for p in func.params)]
    properties = {"no_inline": UNIT, **(MARKED if is_explicit(func) else {})}
    f.finish(attrs, properties=properties)
    _add_callee(f, func.sym_name.data, func.params, func.symbol_names)


def _declare_kernel(module: ModuleState, func: loops.FuncOp, symbol: str) -> None:
    """Declare a kernel of another object file, which is assumed to be able to fail."""
    types = [PTR, *(lowered(p.type) for p in func.params), *(i64 for _ in func.symbol_names)]
    module.external(symbol, types, i32, pure=False)
    f = FunctionBuilder(module, symbol, func.sym_name.data)
    f.can_fail = True
    _add_callee(f, func.sym_name.data, func.params, func.symbol_names)


def _start(module: ModuleState, func: loops.FuncOp | rt.FuncOp) -> FunctionBuilder:
    name = func.sym_name.data
    f = FunctionBuilder(module, native_symbol(name), name)
    f.location = func.location
    return f


def _add_symbols(f: FunctionBuilder, names: Sequence[str]) -> None:
    for name in names:
        f.define(Sym(name), f.add_argument(i64, name))


def _context_attributes() -> Properties:
    return {"llvm.noalias": UNIT, "llvm.nocapture": UNIT}


def _buffer_attributes(f: FunctionBuilder, param: SSAValue) -> Properties:
    """The attributes of a buffer's pointer, which may be null if the buffer is empty."""
    if not isinstance(type_ := param.type, BufferType):
        return {}
    alignment = ALIGNMENT if param in f.aligned else byte_width(type_.element_type)
    attrs: Properties = {"llvm.align": integer_attr(alignment, i64)}
    if param in f.noalias:
        attrs["llvm.noalias"] = UNIT
    if param not in f.escaping:
        if param not in f.escaped:
            attrs["llvm.nocapture"] = UNIT
        if param not in f.written:
            attrs["llvm.readonly"] = UNIT
    return attrs


def declare_recursive(module: ModuleState, func: rt.FuncOp) -> None:
    """Declare a function that may call itself, before its callers are lowered."""
    f = _start(module, func)
    f.can_fail = True
    module.private_functions.add(func.sym_name.data)
    _add_callee(f, func.sym_name.data, func.args, func.declared_symbols())


def _add_callee(
    f: FunctionBuilder, name: str, params: Sequence[SSAValue], symbols: Sequence[str]
) -> None:
    formals = [
        Formal(f"argument '{p.name_hint or position}'", p.type)
        for position, p in enumerate(params)
        if isinstance(p.type, BufferType)
    ]
    # A kernel with scalars cannot be called on buffers alone, so calls of it find no callee.
    if len(formals) == len(params):
        f.module.callees[name] = Callee(f.symbol, tuple(formals), tuple(symbols), f.can_fail)


def lower_graph_function(module: ModuleState, func: rt.FuncOp) -> None:
    """A graph function: an entry if it is public, with direct arguments if it is private."""
    if func.private is None:
        _lower_public(module, func)
    else:
        _lower_private(module, func)


def _lower_public(module: ModuleState, func: rt.FuncOp) -> None:
    f = _start(module, func)
    f.is_private = False
    f.add_context()
    argv = f.add_argument(PTR)
    words = [*func.args, *map(Sym, func.declared_symbols())]
    for position, word in enumerate(words):
        type_ = i64 if isinstance(word, Sym) else PTR
        f.define(word, load_word(f, argv, position, type_))
    start_polling(f, func)
    f.lower_block(func.body.block)
    f.finish(linkage="external")


def _lower_private(module: ModuleState, func: rt.FuncOp) -> None:
    f = _start(module, func)
    f.add_context()
    for arg in func.args:
        f.define(arg, f.add_argument(PTR, arg.name_hint))
    symbols = func.declared_symbols()
    _add_symbols(f, symbols)
    f.polls = True
    module.private_functions.add(func.sym_name.data)
    if func.recursive is None:
        f.lower_block(func.body.block)
        f.finish()
        _add_callee(f, func.sym_name.data, func.args, symbols)
        if f.always_polls:
            module.polling.add(func.sym_name.data)
    else:
        enter(f, func.sym_name.data)
        f.lower_block(func.body.block)
        leave(f)
        f.finish()
