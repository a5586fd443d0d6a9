"""Emission of conversions; those that LLVM may lower to runtime library calls are expanded.

LLVM lowers `fptrunc` to bf16, and from f64 to f16, to `__truncsfbf2` and the like, which a JIT
without a compiler runtime cannot resolve. They are expanded to integer arithmetic that rounds to
nearest even, and so are conversions of f16, if the processor has no instructions for them. The
instruction for bf16 of x86-64 reads denormals as zeros, as dot products of bf16 do.
"""

from collections.abc import Callable

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float64Type, f32
from xdsl.dialects.llvm import (
    BitcastOp,
    FPExtOp,
    FPTruncOp,
    IntToPtrOp,
    OverflowAttr,
    OverflowFlag,
    PtrToIntOp,
    SExtOp,
    SIToFPOp,
    TruncOp,
    ZExtOp,
)
from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects.llvm_ext import CastOp
from ..dialects.llvm_ext.types import element_type, lanes, like
from .llvm_function import Emitter, FunctionWriter
from .llvm_types import type_text


def _emit_cast(w: FunctionWriter, opcode: str, flags: str, value: SSAValue, result: SSAValue):
    if opcode == "fpext" and _is_expanded(w, value.type):
        _extend(w, value, result)
        return
    expansion = _EXPANSIONS.get((opcode, type(element_type(result.type))))
    if opcode in ("fptosi", "fptoui") and isinstance(
        element_type(value.type), BFloat16Type | Float16Type
    ):
        expansion = _small_float_to_int
    if expansion is None or (opcode == "fptrunc" and not _expands(w, value.type, result.type)):
        text = f"{opcode} {flags}{w.typed(value)} to {w.type(result)}"
        w.append(f"{w.define(result)} = {text}")
    else:
        expansion(w, opcode, value, result)


def _expands(w: FunctionWriter, source: Attribute, result: Attribute) -> bool:
    return _is_expanded(w, result) or isinstance(element_type(source), Float64Type)


def _is_expanded(w: FunctionWriter, type_: Attribute) -> bool:
    """Whether the processor has no conversions for a 16-bit float type."""
    element = element_type(type_)
    is_f16 = isinstance(element, Float16Type)
    return isinstance(element, BFloat16Type) or (is_f16 and not w.module.converts_f16)


def _truncate(w: FunctionWriter, _: str, value: SSAValue, result: SSAValue) -> None:
    name = w.names[value]
    if isinstance(element_type(value.type), Float64Type):
        name = _round_to_odd(w, name, value.type)
    _from_f32(w, name, result)


def _int_to_small_float(w: FunctionWriter, opcode: str, value: SSAValue, result: SSAValue) -> None:
    name = w.fresh()
    w.append(f"{name} = {opcode} {w.typed(value)} to {type_text(like(result.type, f32))}")
    _from_f32(w, name, result)


def _small_float_to_int(w: FunctionWriter, opcode: str, value: SSAValue, result: SSAValue) -> None:
    floats = type_text(like(value.type, f32))
    if _is_expanded(w, value.type):
        name = _as_f32(w, value)
    else:
        name = w.fresh()
        w.append(f"{name} = fpext {w.typed(value)} to {floats}")
    w.append(f"{w.define(result)} = {opcode} {floats} {name} to {w.type(result)}")


def _from_f32(w: FunctionWriter, name: str, result: SSAValue) -> None:
    if isinstance(element_type(result.type), BFloat16Type):
        _f32_to_bf16(w, name, result)
    elif _is_expanded(w, result.type):
        _f32_to_f16(w, name, result)
    else:
        floats = type_text(like(result.type, f32))
        w.append(f"{w.define(result)} = fptrunc {floats} {name} to {w.type(result)}")


class _Lanes:
    """Types and literals, scalar or vector as one value is, and appending of instructions."""

    def __init__(self, w: FunctionWriter, shape: Attribute):
        count = lanes(shape)
        self._w = w
        self._format = f"<{count[0]} x {{}}>" if count else "{}"
        self._literal = "splat ({} {})" if count else "{1}"

    def type(self, element: str) -> str:
        return self._format.format(element)

    def literal(self, element: str, value: int | str) -> str:
        return self._literal.format(element, value)

    def add(self, text: str) -> str:
        name = self._w.fresh()
        self._w.append(f"{name} = {text}")
        return name


def _bf16_as_f32(w: FunctionWriter, value: SSAValue) -> str:
    """Extend a bf16, which is held as an i16: it is the upper half of the f32."""
    v = _Lanes(w, value.type)
    wide = v.add(f"zext {w.typed(value)} to {v.type('i32')}")
    bits = v.add(f"shl {v.type('i32')} {wide}, {v.literal('i32', 16)}")
    return v.add(f"bitcast {v.type('i32')} {bits} to {v.type('float')}")


def _f16_as_f32(w: FunctionWriter, value: SSAValue) -> str:
    """Extend an f16: shift its exponent to that of an f32, and scale by the difference of biases.

    That is exact, also for denormals. Infinities and NaN get the largest exponent of f32.
    """
    v = _Lanes(w, value.type)
    i32s, f32s = v.type("i32"), v.type("float")
    half = v.add(f"bitcast {w.typed(value)} to {v.type('i16')}")
    bits = v.add(f"zext {v.type('i16')} {half} to {i32s}")
    magnitude = v.add(f"and {i32s} {bits}, {v.literal('i32', 0x7FFF)}")
    moved = v.add(f"shl {i32s} {magnitude}, {v.literal('i32', 13)}")
    small = v.add(f"bitcast {i32s} {moved} to {f32s}")
    scaled = v.add(f"fmul {f32s} {small}, {v.literal('float', _TWO_TO_112)}")
    finite = v.add(f"bitcast {f32s} {scaled} to {i32s}")
    largest = v.add(f"or {i32s} {moved}, {v.literal('i32', 0x7F800000)}")
    is_finite = v.add(f"icmp ult {i32s} {magnitude}, {v.literal('i32', 0x7C00)}")
    word = v.add(f"select {v.type('i1')} {is_finite}, {i32s} {finite}, {i32s} {largest}")
    sign = v.add(f"and {i32s} {bits}, {v.literal('i32', 0x8000)}")
    high = v.add(f"shl {i32s} {sign}, {v.literal('i32', 16)}")
    total = v.add(f"or {i32s} {word}, {high}")
    return v.add(f"bitcast {i32s} {total} to {f32s}")


_TWO_TO_112, _HALF = "0x46F0000000000000", "0x3FE0000000000000"
"""LLVM's hexadecimal literals of floats: the bits of the f64."""


def _as_f32(w: FunctionWriter, value: SSAValue) -> str:
    is_bf16 = isinstance(element_type(value.type), BFloat16Type)
    return (_bf16_as_f32 if is_bf16 else _f16_as_f32)(w, value)


def _extend(w: FunctionWriter, value: SSAValue, result: SSAValue) -> None:
    name, floats = _as_f32(w, value), type_text(like(value.type, f32))
    opcode = "fpext" if isinstance(element_type(result.type), Float64Type) else "bitcast"
    w.append(f"{w.define(result)} = {opcode} {floats} {name} to {w.type(result)}")


def _f32_to_f16(w: FunctionWriter, name: str, result: SSAValue) -> None:
    """Compute the normal, denormal and special result, and select by the range of the f32.

    A normal result drops 13 bits, rounded to nearest even. The processor rounds a denormal result
    in the sum with 1/2, whose last bit has the same value as that of the f16.
    """
    v = _Lanes(w, result.type)
    f32s, i32s, i1s = v.type("float"), v.type("i32"), v.type("i1")
    word = v.add(f"bitcast {f32s} {name} to {i32s}")
    bits = v.add(f"and {i32s} {word}, {v.literal('i32', 0x7FFFFFFF)}")
    high = v.add(f"lshr {i32s} {bits}, {v.literal('i32', 13)}")
    odd = v.add(f"and {i32s} {high}, {v.literal('i32', 1)}")
    rebased = v.add(f"sub {i32s} {bits}, {v.literal('i32', (112 << 23) - 0xFFF)}")
    rounded = v.add(f"add {i32s} {rebased}, {odd}")
    normal = v.add(f"lshr {i32s} {rounded}, {v.literal('i32', 13)}")
    magnitude = v.add(f"bitcast {i32s} {bits} to {f32s}")
    total = v.add(f"fadd {f32s} {magnitude}, {v.literal('float', _HALF)}")
    total_bits = v.add(f"bitcast {f32s} {total} to {i32s}")
    denormal = v.add(f"sub {i32s} {total_bits}, {v.literal('i32', 0x3F000000)}")
    is_denormal = v.add(f"icmp ult {i32s} {bits}, {v.literal('i32', 0x38800000)}")
    finite = v.add(f"select {i1s} {is_denormal}, {i32s} {denormal}, {i32s} {normal}")
    payload = v.add(f"and {i32s} {high}, {v.literal('i32', 0x3FF)}")
    nan = v.add(f"or {i32s} {payload}, {v.literal('i32', 0x7E00)}")
    is_nan = v.add(f"icmp ugt {i32s} {bits}, {v.literal('i32', 0x7F800000)}")
    special = v.add(f"select {i1s} {is_nan}, {i32s} {nan}, {i32s} {v.literal('i32', 0x7C00)}")
    is_special = v.add(f"icmp uge {i32s} {bits}, {v.literal('i32', 0x47800000)}")
    chosen = v.add(f"select {i1s} {is_special}, {i32s} {special}, {i32s} {finite}")
    sign = v.add(f"lshr {i32s} {word}, {v.literal('i32', 16)}")
    sign_bit = v.add(f"and {i32s} {sign}, {v.literal('i32', 0x8000)}")
    signed = v.add(f"or {i32s} {chosen}, {sign_bit}")
    half = v.add(f"trunc {i32s} {signed} to {v.type('i16')}")
    w.append(f"{w.define(result)} = bitcast {v.type('i16')} {half} to {w.type(result)}")


def _f32_to_bf16(w: FunctionWriter, name: str, result: SSAValue) -> None:
    v = _Lanes(w, result.type)
    f32s, i32s = v.type("float"), v.type("i32")
    if w.module.converts_bf16:
        number = v.add(f"fptrunc {f32s} {name} to {v.type('bfloat')}")
        w.append(f"{w.define(result)} = bitcast {v.type('bfloat')} {number} to {w.type(result)}")
        return
    bits = v.add(f"bitcast {f32s} {name} to {i32s}")
    high = v.add(f"lshr {i32s} {bits}, {v.literal('i32', 16)}")
    odd = v.add(f"and {i32s} {high}, {v.literal('i32', 1)}")
    bias = v.add(f"add {i32s} {odd}, {v.literal('i32', 0x7FFF)}")
    total = v.add(f"add {i32s} {bits}, {bias}")
    rounded = v.add(f"lshr {i32s} {total}, {v.literal('i32', 16)}")
    quiet = v.add(f"or {i32s} {high}, {v.literal('i32', 0x40)}")
    is_nan = v.add(f"fcmp uno {f32s} {name}, {name}")
    word = v.add(f"select {v.type('i1')} {is_nan}, {i32s} {quiet}, {i32s} {rounded}")
    w.append(f"{w.define(result)} = trunc {i32s} {word} to {w.type(result)}")


def _round_to_odd(w: FunctionWriter, name: str, shape: Attribute) -> str:
    """Round an f64 to an f32 with an odd last bit if inexact, which makes double rounding safe."""
    v = _Lanes(w, shape)
    f32s, f64s, i32s, i64s = (v.type(t) for t in ("float", "double", "i32", "i64"))
    near = v.add(f"fptrunc {f64s} {name} to {f32s}")
    back = v.add(f"fpext {f32s} {near} to {f64s}")
    bits = v.add(f"bitcast {f32s} {near} to {i32s}")
    value_bits = v.add(f"bitcast {f64s} {name} to {i64s}")
    back_bits = v.add(f"bitcast {f64s} {back} to {i64s}")
    beyond = v.add(f"icmp ugt {i64s} {back_bits}, {value_bits}")
    step = v.add(f"zext {v.type('i1')} {beyond} to {i32s}")
    below = v.add(f"sub {i32s} {bits}, {step}")
    inexact = v.add(f"fcmp one {f64s} {back}, {name}")
    sticky = v.add(f"zext {v.type('i1')} {inexact} to {i32s}")
    odd = v.add(f"or {i32s} {below}, {sticky}")
    return v.add(f"bitcast {i32s} {odd} to {f32s}")


_Expansion = Callable[[FunctionWriter, str, SSAValue, SSAValue], None]
_EXPANSIONS: dict[tuple[str, type[Attribute]], _Expansion] = {
    ("fptrunc", BFloat16Type): _truncate,
    ("fptrunc", Float16Type): _truncate,
    ("sitofp", BFloat16Type): _int_to_small_float,
    ("sitofp", Float16Type): _int_to_small_float,
    ("uitofp", BFloat16Type): _int_to_small_float,
    ("uitofp", Float16Type): _int_to_small_float,
}


def _llvm_cast(opcode: str) -> Emitter:
    def emit(w: FunctionWriter, op: Operation) -> None:
        flags = "nneg " if "nonNeg" in op.properties else ""
        if (overflow := op.properties.get("overflowFlags")) is not None:
            flags = _trunc_flags(overflow)
        _emit_cast(w, opcode, flags, op.operands[0], op.results[0])

    return emit


def _trunc_flags(attr: Attribute) -> str:
    assert isinstance(attr, OverflowAttr)
    return "".join(f"{flag.value} " for flag in OverflowFlag if flag in attr.data)


def _ext_cast(w: FunctionWriter, op: CastOp) -> None:
    _emit_cast(w, op.kind.data.value, "", op.arg, op.res)


CAST_EMITTERS: dict[type[Operation], Emitter] = {
    BitcastOp: _llvm_cast("bitcast"),
    FPExtOp: _llvm_cast("fpext"),
    FPTruncOp: _llvm_cast("fptrunc"),
    IntToPtrOp: _llvm_cast("inttoptr"),
    PtrToIntOp: _llvm_cast("ptrtoint"),
    SExtOp: _llvm_cast("sext"),
    SIToFPOp: _llvm_cast("sitofp"),
    TruncOp: _llvm_cast("trunc"),
    ZExtOp: _llvm_cast("zext"),
    CastOp: _ext_cast,
}
"""The emitters of conversions."""
