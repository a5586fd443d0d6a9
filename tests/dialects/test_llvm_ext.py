"""The `llvm_ext` dialect: each op reads back what it prints, and refuses what LLVM would."""

from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
    VectorType,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.dialects.llvm import LLVM, FastMathAttr, LLVMPointerType
from xdsl.dialects.test import Test
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryEffectKind, has_effects, is_side_effect_free
from xdsl.utils.exceptions import VerifyException

from xrelax.dialects import llvm_ext
from xrelax.dialects.llvm_ext import CastKind, FCmpPredicate

ptr = LLVMPointerType()
v8f32, v8i1, v4f32 = VectorType(f32, [8]), VectorType(i1, [8]), VectorType(f32, [4])
FAST = FastMathAttr("fast")


@pytest.fixture
def context() -> Context:
    context = Context()
    for dialect in (Builtin, LLVM, Test, llvm_ext.LLVMExt):
        context.load_dialect(dialect)
    return context


def values(*types: Attribute):
    return Block(arg_types=types).args


OPERANDS = """
%f, %d, %i, %l, %b = "test.op"() : () -> (f32, f64, i32, i64, i1)
%p, %g = "test.op"() : () -> (!llvm.ptr, vector<8x!llvm.ptr>)
%v, %vi, %m = "test.op"() : () -> (vector<8xf32>, vector<8xi32>, vector<8xi1>)
%h, %y = "test.op"() : () -> (bf16, i8)
"""

LINES = [
    "llvm_ext.cast fptosi %v : vector<8xf32> to vector<8xi32>",
    "llvm_ext.cast fptrunc %d : f64 to bf16",
    "llvm_ext.cast fpext %h : bf16 to f32",
    "llvm_ext.cast uitofp %b : i1 to f32",
    "llvm_ext.cast bitcast %v : vector<8xf32> to vector<4xi64>",
    "llvm_ext.cast ptrtoint %g : vector<8x!llvm.ptr> to vector<8xi64>",
    "llvm_ext.cast inttoptr %l : i64 to !llvm.ptr",
    "llvm_ext.fcmp olt %v, %v : vector<8xf32> -> vector<8xi1>",
    "llvm_ext.fcmp uno %f, %f fastmath <ninf> : f32 -> i1",
    "llvm_ext.select %m, %v, %v : vector<8xi1>, vector<8xf32>",
    "llvm_ext.select %b, %v, %v fastmath <nnan,nsz> : i1, vector<8xf32>",
    "llvm_ext.select %b, %p, %p : i1, !llvm.ptr",
    "llvm_ext.extractelement %v[%i : i32] : vector<8xf32>",
    "llvm_ext.splat %f : f32 -> vector<8xf32>",
    "llvm_ext.poison : vector<8xf32>",
    'llvm_ext.intrinsic "llvm.fma"(%v, %v, %v) fastmath <fast>'
    " : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>",
    'llvm_ext.intrinsic "llvm.masked.load"(%p, %m, %v) align 32 : i64'
    " : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>",
    'llvm_ext.intrinsic "llvm.vector.reduce.fadd"(%f, %v) : (f32, vector<8xf32>) -> f32',
    'llvm_ext.intrinsic "llvm.x86.rdtsc"() overloads [] : () -> i64',
    "llvm_ext.call_ptr %p(%l, %i, %p) : (i64, i32, !llvm.ptr) -> i32",
]
EFFECTS = [
    'llvm_ext.intrinsic "llvm.memset"(%p, %y, %l, %b) : (!llvm.ptr, i8, i64, i1) -> ()',
    "llvm_ext.call_ptr %p() : () -> ()",
]


def printed(op: Operation, *, generic: bool = False) -> str:
    stream = StringIO()
    Printer(stream, print_generic_format=generic).print_op(op)
    return stream.getvalue()


@pytest.mark.parametrize("line", [f"%r = {line}" for line in LINES] + EFFECTS)
def test_round_trip(context: Context, line: str):
    module = Parser(context, OPERANDS + line).parse_module()
    module.verify()
    assert line in printed(module)
    again = Parser(context, printed(module, generic=True)).parse_module()
    again.verify()
    assert printed(again) == printed(module)


def test_switch_round_trip(context: Context):
    line = "llvm_ext.switch %x : i32, default ^bb1, [0: ^bb2(%y : f32), -7: ^bb1]"
    text = f"""
    "test.op"() ({{
    ^bb0(%x: i32, %y: f32):
      {line}
    ^bb1:
      "test.termop"() : () -> ()
    ^bb2(%z: f32):
      "test.termop"() : () -> ()
    }}) : () -> ()
    """
    module = Parser(context, text).parse_module()
    module.verify()
    assert line in printed(module)
    again = Parser(context, printed(module, generic=True)).parse_module()
    assert printed(again) == printed(module)
    switch = next(op for op in module.walk() if isinstance(op, llvm_ext.SwitchOp))
    assert [(value, len(args)) for value, _, args in switch.cases()] == [(0, 1), (-7, 0)]


def cast(kind: CastKind, source: Attribute, result: Attribute):
    return llvm_ext.CastOp(kind, *values(source), result)


def intrinsic(
    name: str, sources: tuple[Attribute, ...], result: Attribute | None = None, **options: object
):
    return llvm_ext.IntrinsicOp(name, values(*sources), result, **options)  # pyright: ignore


INVALID = [
    (
        lambda: cast(CastKind.FPTOSI, i32, i64),
        "expected fptosi from float to integer, got i32 to i64",
    ),
    (
        lambda: cast(CastKind.SITOFP, VectorType(i32, [4]), v8f32),
        "expected sitofp to keep the shape, got vector<4xi32> to vector<8xf32>",
    ),
    (lambda: cast(CastKind.FPEXT, f64, f32), "expected fpext to a wider float, got f64 to f32"),
    (lambda: cast(CastKind.FPTRUNC, f32, f64), "expected fptrunc to a narrower float, got f32 to"),
    (
        lambda: cast(CastKind.BITCAST, f32, i64),
        "expected bitcast between types of the same width, got f32 to i64",
    ),
    (lambda: cast(CastKind.BITCAST, ptr, i64), "expected bitcast between types of the same width"),
    (lambda: cast(CastKind.PTRTOINT, i64, i64), "expected ptrtoint from pointer to integer, got"),
    (
        lambda: llvm_ext.FCmpOp(FCmpPredicate.OLT, *values(f32, f64)),
        "attribute f32 expected from variable 'T', but got f64",
    ),
    (
        lambda: llvm_ext.SelectOp(*values(v8i1, v4f32, v4f32)),
        "expected condition and values to have the same lanes, got vector<8xi1> and vector<4xf32>",
    ),
    (
        lambda: llvm_ext.SelectOp(*values(i1, i32, i32), FAST),
        "expected 'select' with fast-math flags to give a float, got i32",
    ),
    (
        lambda: intrinsic("llvm.fma", (f32, f32), f32),
        "expected 'llvm.fma' to have 3 operands, got 2",
    ),
    (
        lambda: intrinsic("llvm.fma", (f32, f32, f32)),
        "expected 'llvm.fma' to have 1 results, got 0",
    ),
    (
        lambda: intrinsic("llvm.fma", (f32, f64, f32), f32),
        "expected operand #1 of 'llvm.fma' to have type f32, got f64",
    ),
    (
        lambda: intrinsic("llvm.smax", (f32, f32), f32),
        "expected operand #0 of 'llvm.smax' to be an integer or a vector of integers, got f32",
    ),
    (
        lambda: intrinsic("llvm.masked.load", (ptr, VectorType(i1, [4]), v8f32), v8f32),
        "expected operand #1 of 'llvm.masked.load' to have type vector<8xi1>, got vector<4xi1>",
    ),
    (
        lambda: intrinsic("llvm.vector.reduce.fadd", (f64, v8f32), f64),
        "expected operand #0 of 'llvm.vector.reduce.fadd' to have type f32, got f64",
    ),
    (
        lambda: intrinsic("llvm.memset", (ptr, i32, i64, i1)),
        "expected operand #1 of 'llvm.memset' to be i8, got i32",
    ),
    (
        lambda: intrinsic("llvm.frobnicate", (f32,), f32),
        "expected a known intrinsic or overloads, got 'llvm.frobnicate'",
    ),
    (
        lambda: intrinsic("llvm.masked.store", (v8f32, ptr, v8i1), alignment=12),
        "expected the alignment of 'llvm.masked.store' to be a power of two, got 12",
    ),
    (
        lambda: intrinsic("llvm.ctpop", (i32,), i32, fastmath=FAST),
        "expected 'llvm.ctpop' with fast-math flags to give a float, got i32",
    ),
    (
        lambda: llvm_ext.SplatOp(*values(f64), v8f32),
        "attribute f64 expected from variable 'E', but got f32",
    ),
]


@pytest.mark.parametrize(("make", "message"), INVALID)
def test_invalid(make, message: str):  # pyright: ignore
    with pytest.raises(VerifyException) as error:
        make().verify()  # pyright: ignore
    assert message in str(error.value)


def test_fcmp_result_has_the_shape_of_its_operands():
    op = llvm_ext.FCmpOp(FCmpPredicate.OLT, *values(v8f32, v8f32))
    wrong = llvm_ext.FCmpOp.create(
        operands=op.operands, properties=op.properties, result_types=[i1]
    )
    with pytest.raises(VerifyException, match="result of fcmp on vector<8xf32> to be vector<8xi1>"):
        wrong.verify()


def test_switch_refuses_a_repeated_case():
    block, other = Block(arg_types=[i32]), Block()
    block.add_op(llvm_ext.SwitchOp(block.args[0], other, [], [(1, other, []), (1, other, [])]))
    Region([block, other])
    with pytest.raises(VerifyException, match="expected distinct case values"):
        block.last_op.verify()  # pyright: ignore


def test_effects_follow_the_intrinsic():
    load = intrinsic("llvm.masked.load", (ptr, v8i1, v8f32), v8f32)
    store = intrinsic("llvm.masked.store", (v8f32, ptr, v8i1))
    assert is_side_effect_free(intrinsic("llvm.exp", (f32,), f32))
    assert has_effects(load, MemoryEffectKind.READ)
    assert not has_effects(load, MemoryEffectKind.WRITE)
    assert has_effects(store, MemoryEffectKind.WRITE)
    unknown = intrinsic("llvm.x86.sse2.pause", (), overloads=())
    assert not is_side_effect_free(unknown)
    assert not is_side_effect_free(llvm_ext.CallPtrOp(values(ptr)[0], []))


def test_every_table_name_is_written_once_and_in_full():
    for name, signature in llvm_ext.SIGNATURES.items():
        assert name.startswith("llvm.")
        assert all(-1 <= position < len(signature.operands) for position in signature.mangled)
        assert -1 not in signature.mangled or signature.result
