"""The text of instructions, constants and functions for LLVM."""

import struct

import pytest
from xdsl.dialects import llvm
from xdsl.dialects.builtin import FloatAttr, FloatData, ModuleOp, f32, i64
from xdsl.ir import Block, Region

from xrelax.backend.llvm_module import emit_module
from xrelax.backend.llvm_types import fastmath_text, float_text

LINES = {
    "%r = llvm.add %i, %i overflow<nsw> : i32": "add nsw i32 %1, %1",
    "%r = llvm.mul %i, %i overflow<nsw,nuw> : i32": "mul nsw nuw i32 %1, %1",
    "%r = llvm.sdiv exact %i, %i : i32": "sdiv exact i32 %1, %1",
    "%r = llvm.urem %i, %i : i32": "urem i32 %1, %1",
    "%r = llvm.ashr %i, %i : i32": "ashr i32 %1, %1",
    "%r = llvm.xor %vi, %vi : vector<4xi32>": "xor <4 x i32> %5, %5",
    "%r = llvm.or disjoint %i, %i : i32": "or disjoint i32 %1, %1",
    '%r = llvm.icmp "ult" %i, %i : i32': "icmp ult i32 %1, %1",
    "%r = llvm.sext %i : i32 to i64": "sext i32 %1 to i64",
    "%r = llvm.zext nneg %i : i32 to i64": "zext nneg i32 %1 to i64",
    "%r = llvm.trunc %i overflow<nuw> : i32 to i8": "trunc nuw i32 %1 to i8",
    "%r = llvm.fadd %f, %f : f32": "fadd float %2, %2",
    "%r = llvm.fmul %v, %v {fastmathFlags = #llvm.fastmath<fast>} : vector<4xf32>": (
        "fmul fast <4 x float> %4, %4"
    ),
    "%r = llvm.fsub %f, %f {fastmathFlags = #llvm.fastmath<nsz,reassoc,contract>} : f32": (
        "fsub reassoc nsz contract float %2, %2"
    ),
    "%r = llvm.fneg %v {fastmathFlags = #llvm.fastmath<nnan>} : vector<4xf32>": (
        "fneg nnan <4 x float> %4"
    ),
    '%r = llvm.fcmp "ogt" %f, %f : f32': "fcmp ogt float %2, %2",
    "%r = llvm_ext.fcmp une %v, %v fastmath<ninf> : vector<4xf32> -> vector<4xi1>": (
        "fcmp ninf une <4 x float> %4, %4"
    ),
    "%r = llvm.select %b, %f, %f : i1, f32": "select i1 %6, float %2, float %2",
    "%r = llvm_ext.select %m, %v, %v fastmath<nsz> : vector<4xi1>, vector<4xf32>": (
        "select nsz <4 x i1> %7, <4 x float> %4, <4 x float> %4"
    ),
    "%r = llvm.getelementptr inbounds %p[%i, 2] : (!llvm.ptr, i32) -> !llvm.ptr,"
    " !llvm.struct<(i8, f32, i64)>": (
        "getelementptr inbounds { i8, float, i64 }, ptr %3, i32 %1, i32 2"
    ),
    "%r = llvm.getelementptr %p[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32": (
        "getelementptr float, ptr %3, i32 %1"
    ),
    "%r = llvm.alloca %i x f32 {alignment = 64 : i64} : (i32) -> !llvm.ptr": (
        "alloca float, i32 %1, align 64"
    ),
    "%r = llvm.load %p {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>": (
        "load <4 x float>, ptr %3, align 16"
    ),
    "%r = llvm.load %p atomic acquire {alignment = 8 : i64} : !llvm.ptr -> i64": (
        "load atomic i64, ptr %3 acquire, align 8"
    ),
    "%r = llvm.load %p {llvm_ext.invariant} : !llvm.ptr -> i64": (
        "load i64, ptr %3, !invariant.load !0"
    ),
    "%r = llvm_ext.cast fptosi %v : vector<4xf32> to vector<4xi32>": (
        "fptosi <4 x float> %4 to <4 x i32>"
    ),
    "%r = llvm_ext.cast bitcast %f : f32 to i32": "bitcast float %2 to i32",
    "%r = llvm_ext.extractelement %v[%i : i32] : vector<4xf32>": (
        "extractelement <4 x float> %4, i32 %1"
    ),
    "%r = llvm.insertelement %f, %v[%i : i32] : vector<4xf32>": (
        "insertelement <4 x float> %4, float %2, i32 %1"
    ),
    "%r = llvm.shufflevector %v, %v [0, 7, -1] : vector<4xf32>": (
        "shufflevector <4 x float> %4, <4 x float> %4, <3 x i32> <i32 0, i32 7, i32 poison>"
    ),
    "%u = llvm_ext.poison : vector<4xf32>\n%r = llvm.fadd %u, %v : vector<4xf32>": (
        "fadd <4 x float> poison, %4"
    ),
    '%r = llvm_ext.intrinsic "llvm.copysign"(%f, %f) fastmath<nnan> : (f32, f32) -> f32': (
        "call nnan float @llvm.copysign.f32(float %2, float %2)"
    ),
    "%r = llvm.intr.fma(%v, %v, %v) {fastmathFlags = #llvm.fastmath<fast>} :"
    " (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>": (
        "call fast <4 x float> @llvm.fma.v4f32("
    ),
    '%r = llvm_ext.intrinsic "llvm.masked.load"(%p, %m, %v) align 16 : i64'
    " : (!llvm.ptr, vector<4xi1>, vector<4xf32>) -> vector<4xf32>": (
        "@llvm.masked.load.v4f32.p0(ptr align 16 %3, <4 x i1> %7, <4 x float> %4)"
    ),
    "%r = llvm_ext.call_ptr %p(%i) : (i32) -> f32": "call float %3(i32 %1)",
    "%r = llvm.call tail %p(%i) : !llvm.ptr, (i32) -> f32": "tail call float %3(i32 %1)",
}


@pytest.mark.parametrize(("line", "expected"), LINES.items())
def test_instruction(emit, line: str, expected: str):
    ir = emit(f"""
    llvm.func @f(%i: i32, %f: f32, %p: !llvm.ptr, %v: vector<4xf32>, %vi: vector<4xi32>,
                 %b: i1, %m: vector<4xi1>) {{
      {line}
      llvm.return
    }}""")
    text = next(text for text in ir.splitlines() if text.startswith("  %8 = "))
    assert expected in text


def test_statements(emit):
    ir = emit("""
    llvm.func @f(%x: f32, %p: !llvm.ptr, %n: i64) {
      llvm.store %x, %p {alignment = 4 : i64, nontemporal} : f32, !llvm.ptr
      llvm.store volatile %x, %p : f32, !llvm.ptr
      %zero = llvm.mlir.constant(0 : i8) : i8
      %no = llvm.mlir.constant(false) : i1
      llvm_ext.intrinsic "llvm.memset"(%p, %zero, %n, %no) align 64 : i64
        : (!llvm.ptr, i8, i64, i1) -> ()
      llvm.unreachable
    }""")
    assert "  store float %1, ptr %2, align 4, !nontemporal !0\n" in ir
    assert "  store volatile float %1, ptr %2\n" in ir
    assert "call void @llvm.memset.p0.i64(ptr align 64 %2, i8 0, i64 %3, i1 false)" in ir
    assert "  unreachable\n" in ir and "!0 = !{i32 1}" in ir


def test_structs(emit):
    ir = emit("""
    llvm.func @f(%x: f32) -> i64 {
      %u = llvm.mlir.undef : !llvm.struct<(f32, i64)>
      %s = llvm.insertvalue %x, %u[0] : !llvm.struct<(f32, i64)>
      %r = llvm.extractvalue %s[1] : !llvm.struct<(f32, i64)>
      llvm.return %r : i64
    }""")
    assert "insertvalue { float, i64 } undef, float %1, 0" in ir
    assert "extractvalue { float, i64 } %2, 1" in ir


@pytest.mark.parametrize(
    ("attribute", "type", "literal"),
    [
        ("1.5 : f32", "f32", "float 1.5"),
        ("-0.0 : f64", "f64", "double -0.0"),
        ("0.1 : f32", "f32", "float 0x3FB99999A0000000"),
        ("0.1 : f64", "f64", "double 0x3FB999999999999A"),
        ("1.0e30 : f32", "f32", "float 0x46293E5940000000"),
        ("0x7FC00000 : f32", "f32", "float 0x7FF8000000000000"),
        ("0xFF800000 : f32", "f32", "float 0xFFF0000000000000"),
        ("0x7FF0000000000000 : f64", "f64", "double 0x7FF0000000000000"),
        ("1.0e-45 : f32", "f32", "float 0x36A0000000000000"),
        ("1.0 : bf16", "bf16", "i16 16256"),
        ("-2.0 : f16", "f16", "half 0xHC000"),
        ("true", "i1", "i1 true"),
        ("-1 : i8", "i8", "i8 -1"),
        ("18446744073709551615 : i64", "i64", "i64 -1"),
        ("dense<2> : vector<4xi32>", "vector<4xi32>", "<4 x i32> splat (i32 2)"),
        (
            "dense<[0.5, 0.1]> : vector<2xf32>",
            "vector<2xf32>",
            "<2 x float> <float 0.5, float 0x3FB99999A0000000>",
        ),
        ("dense<[true, false]> : vector<2xi1>", "vector<2xi1>", "<2 x i1> <i1 true, i1 false>"),
        ("dense<[-1, 7]> : vector<2xi8>", "vector<2xi8>", "<2 x i8> <i8 -1, i8 7>"),
        ("dense<1.0> : vector<2xbf16>", "vector<2xbf16>", "<2 x i16> splat (i16 16256)"),
        ("dense<3> : tensor<2xi16>", "!llvm.array<2 x i16>", "[2 x i16] [i16 3, i16 3]"),
    ],
)
def test_constant(emit, attribute: str, type: str, literal: str):
    ir = emit(f"""
    llvm.func @f() -> {type} {{
      %c = llvm.mlir.constant({attribute}) : {type}
      llvm.return %c : {type}
    }}""")
    assert f"  ret {literal}\n" in ir


def test_signalling_nan_keeps_its_payload():
    assert float_text(struct.pack("<I", 0x7F800001), f32) == "0x7FF0000020000000"


def test_zero_and_null(emit):
    ir = emit("""
    llvm.func @f(%p: !llvm.ptr) {
      %z = llvm.mlir.zero : !llvm.ptr
      %a = llvm.mlir.zero : !llvm.array<2 x f32>
      llvm.store %z, %p : !llvm.ptr, !llvm.ptr
      llvm.store %a, %p : !llvm.array<2 x f32>, !llvm.ptr
      llvm.return
    }""")
    assert "store ptr null, ptr %1" in ir
    assert "store [2 x float] zeroinitializer, ptr %1" in ir


def test_splat_of_a_constant_is_a_constant(emit):
    ir = emit("""
    llvm.func @f(%x: f32) -> vector<8xf32> {
      %one = llvm.mlir.constant(1.0 : f32) : f32
      %c = llvm_ext.splat %one : f32 -> vector<8xf32>
      %v = llvm_ext.splat %x : f32 -> vector<8xf32>
      %r = llvm.fadd %c, %v : vector<8xf32>
      llvm.return %r : vector<8xf32>
    }""")
    assert "%2 = insertelement <8 x float> poison, float %1, i64 0" in ir
    assert "%3 = shufflevector <8 x float> %2, <8 x float> poison, <8 x i32> zeroinit" in ir
    assert "fadd <8 x float> splat (float 1.0), %3" in ir


def test_function_head(emit):
    ir = emit("""
    llvm.func internal fastcc @"a b"(
        %x: !llvm.ptr {llvm.noalias, llvm.nonnull, llvm.align = 64 : i64,
                       llvm.dereferenceable = 128 : i64, llvm.readonly, llvm.nocapture},
        %n: i64 {llvm.noundef}) -> (i32 {llvm.noundef})
        attributes {no_inline, no_unwind, target_cpu = "znver4",
                    passthrough = ["willreturn", ["frame-pointer", "none"]]} {
      %c = llvm.mlir.constant(0 : i32) : i32
      llvm.return %c : i32
    }
    llvm.func @g(i64, ...) -> i32
    llvm.func @main(%x: !llvm.ptr, %n: i64) -> i32 {
      %r = llvm.call fastcc @"a b"(%x, %n) : (!llvm.ptr, i64) -> i32
      %s = llvm.call @g(%n, %r) vararg(!llvm.func<i32 (i64, ...)>) : (i64, i32) -> i32
      llvm.return %s : i32
    }""")
    assert (
        'define internal fastcc noundef i32 @"a b"(ptr noalias nonnull align 64'
        " dereferenceable(128) readonly captures(none) %1, i64 noundef %2) noinline nounwind"
        ' "target-cpu"="znver4" willreturn "frame-pointer"="none" {' in ir
    )
    assert "declare i32 @g(i64, ...)" in ir
    assert 'call fastcc i32 @"a b"(ptr %1, i64 %2)' in ir
    assert "call i32 (i64, ...) @g(i64 %2, i32 %3)" in ir


def test_no_flags_is_no_text():
    assert fastmath_text(None) == fastmath_text(llvm.FastMathAttr("none")) == ""


def test_ops_made_with_create_alone_are_emitted():
    """Optional properties may be absent: a lowering passes only those that say something."""
    block = Block(arg_types=[f32, llvm.LLVMPointerType(), i64])
    x, pointer, index = block.args
    address = llvm.GEPOp(pointer, [llvm.GEP_USE_SSA_VAL], f32, [index], inbounds=True)
    load = llvm.LoadOp.create(operands=[address.result], result_types=[f32])
    add = llvm.FAddOp.create(operands=[x, load.results[0]], result_types=[f32])
    constant = llvm.ConstantOp.create(
        properties={"value": FloatAttr(FloatData(2.0), f32)}, result_types=[f32]
    )
    product = llvm.FMulOp.create(operands=[add.results[0], constant.results[0]], result_types=[f32])
    block.add_ops([address, load, add, constant, product])
    block.add_op(llvm.ReturnOp.create(operands=[product.results[0]]))
    func = llvm.FuncOp("f", llvm.LLVMFunctionType(block.arg_types, f32), body=Region(block))
    ir = emit_module(ModuleOp([func]))
    assert "load float, ptr %4\n" in ir
    assert "fadd float %1, %5\n" in ir
    assert "fmul float %6, 2.0\n" in ir
