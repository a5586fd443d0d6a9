"""The text of whole modules for LLVM: globals, metadata, declarations, order, and what has none."""

import pytest
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region

from xrelax.backend.errors import BackendError
from xrelax.backend.llvm_module import emit_module
from xrelax.backend.llvm_types import symbol_text
from xrelax.backend.target import Target


def test_globals(emit):
    ir = emit("""
    llvm.mlir.global internal constant @table(dense<[1.0, 2.0]> : tensor<2xf32>)
      {alignment = 64 : i64} : !llvm.array<2 x f32>
    llvm.mlir.global internal constant @text("a\\22\\00") : !llvm.array<3 x i8>
    llvm.mlir.global external @outside() : i64
    llvm.func @f() -> !llvm.ptr {
      %p = llvm.mlir.addressof @table : !llvm.ptr
      llvm.return %p : !llvm.ptr
    }""")
    assert "@table = internal constant [2 x float] [float 1.0, float 2.0], align 64" in ir
    assert '@text = internal constant [3 x i8] c"a\\22\\00"' in ir
    assert "@outside = external global i64" in ir
    assert "ret ptr @table" in ir


def test_loop_metadata_is_distinct_for_each_loop(emit):
    loop = """
      llvm.br ^l{0}(%zero : i64)
    ^l{0}(%i{0}: i64):
      %n{0} = llvm.add %i{0}, %one : i64
      %c{0} = llvm.icmp "slt" %n{0}, %n : i64
      llvm.cond_br %c{0}, ^l{0}(%n{0} : i64), ^e{0} {{
        llvm_ext.loop = {{vectorize.enable = false, unroll.disable, unroll.count = 4 : i32}},
        llvm_ext.weights = array<i32: 100, 1>}}
    ^e{0}:"""
    ir = emit(f"""
    llvm.func @f(%n: i64) {{
      %zero = llvm.mlir.constant(0) : i64
      %one = llvm.mlir.constant(1) : i64
      {loop.format(1)}
      {loop.format(2)}
      llvm.return
    }}""")
    assert '!0 = !{!"llvm.loop.vectorize.enable", i1 false}' in ir
    assert '!1 = !{!"llvm.loop.unroll.disable"}' in ir
    assert '!2 = !{!"llvm.loop.unroll.count", i32 4}' in ir
    assert "!3 = distinct !{!3, !0, !1, !2}" in ir and "!llvm.loop !3, !prof !4" in ir
    assert "!5 = distinct !{!5, !0, !1, !2}" in ir and "!llvm.loop !5, !prof !4" in ir
    assert '!4 = !{!"branch_weights", i32 100, i32 1}' in ir


def test_intrinsics_are_declared_once_for_each_type(emit):
    ir = emit("""
    llvm.func @f(%x: f32, %y: f64, %v: vector<8xf32>) {
      %a = llvm_ext.intrinsic "llvm.exp"(%x) : (f32) -> f32
      %b = llvm_ext.intrinsic "llvm.exp"(%a) : (f32) -> f32
      %c = llvm_ext.intrinsic "llvm.exp"(%y) : (f64) -> f64
      %d = llvm_ext.intrinsic "llvm.exp"(%v) : (vector<8xf32>) -> vector<8xf32>
      %e = llvm.intr.exp(%x) : (f32) -> f32
      llvm.return
    }""")
    assert sorted(line for line in ir.splitlines() if "declare" in line) == [
        "declare <8 x float> @llvm.exp.v8f32(<8 x float>)",
        "declare double @llvm.exp.f64(double)",
        "declare float @llvm.exp.f32(float)",
    ]


def test_blocks_follow_their_dominators_and_unreachable_ones_are_left_out(emit):
    ir = emit("""
    llvm.func @f(%c: i1, %x: i32) -> i32 {
      llvm.br ^second
    ^third:
      llvm.return %y : i32
    ^dead:
      llvm.br ^third
    ^second:
      %y = llvm.add %x, %x : i32
      llvm.cond_br %c, ^third, ^fourth
    ^fourth:
      llvm.br ^third
    }""")
    labels = [line for line in ir.splitlines() if line.endswith(":")]
    assert labels == ["b0:", "b1:", "b2:", "b3:"]
    assert ir.index("add i32") < ir.index("ret i32")


def test_target_lines(parse):
    target = Target("llvm")
    ir = emit_module(parse("llvm.func @f()"), target)
    assert f'target triple = "{target.triple}"' in ir
    assert f'target datalayout = "{target.data_layout}"' in ir


def test_symbols_are_quoted_where_needed():
    assert symbol_text("f.1$x") == "@f.1$x"
    assert symbol_text('ä"') == '@"\\C3\\A4\\22"'


ERRORS = {
    '%r = llvm.call_intrinsic "llvm.x"() : () -> i32': "cannot emit 'llvm.call_intrinsic'",
    "%r = llvm.add %i, %i {mine} : i32": "cannot emit 'llvm.add': unknown attribute 'mine'",
    "%r = llvm.fadd %h, %h : bf16": (
        "cannot emit 'llvm.fadd': expected arithmetic on f16, f32 or f64, got bf16"
    ),
    "%r = llvm.mlir.constant(1.0 : f32) : f64": (
        "cannot emit 'llvm.mlir.constant': expected a constant of type f64, got 1.000000e+00 : f32"
    ),
    "%r = llvm.load %p atomic acquire : !llvm.ptr -> i64": (
        "cannot emit 'llvm.load': expected an atomic access to have an alignment"
    ),
    "llvm.br ^b {llvm_ext.loop = 1 : i32}\n^b:": "expected 'llvm_ext.loop' to be a dictionary, got",
    "llvm.br ^b(%i : i32)\n^b:": (
        "cannot emit 'llvm.br': expected 0 arguments for the target block, got 1"
    ),
    "llvm.br ^b\n^a:\n%s = llvm.add %i, %i : i32\nllvm.br ^b\n^b:\n%r = llvm.add %s, %s : i32": (
        "cannot emit 'llvm.add': an operand is used before its definition"
    ),
}


@pytest.mark.parametrize(("line", "message"), ERRORS.items())
def test_error(parse, line: str, message: str):
    module = parse(f"""
    llvm.func @f(%i: i32, %h: bf16, %p: !llvm.ptr) {{
      {line}
      llvm.return
    }}""")
    with pytest.raises(BackendError) as error:
        emit_module(module)
    assert str(error.value).startswith("in function 'f': ")
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "llvm.func @f(%p: !llvm.ptr {llvm.byval = i32}) { llvm.return }",
            "in function 'f': unknown argument attribute 'llvm.byval' = i32",
        ),
        (
            "llvm.func @f() attributes {mine = 1 : i32}",
            "in function 'f': unknown function attribute 'mine' = 1 : i32",
        ),
        ("builtin.module {}", "cannot emit 'builtin.module' at the top of a module"),
        (
            "llvm.mlir.global internal @g() : i32",
            "expected internal global 'g' to have a value",
        ),
    ],
)
def test_module_error(parse, text: str, message: str):
    with pytest.raises(BackendError) as error:
        emit_module(parse(text + "\nllvm.mlir.global external @other() : i32"))
    assert str(error.value) == message


def test_branch_to_the_entry_block_is_an_error():
    block = Block()
    block.add_op(llvm.BrOp(block))
    func = llvm.FuncOp("f", llvm.LLVMFunctionType([]), body=Region(block))
    with pytest.raises(BackendError, match="expected no branch to the entry block"):
        emit_module(ModuleOp([func]))
