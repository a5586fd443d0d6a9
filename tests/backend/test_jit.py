"""Compiled modules run: results of whole functions."""

import ctypes
import math
from ctypes import CFUNCTYPE, c_double, c_float, c_int32, c_int64, c_void_p

import numpy as np
import pytest

from xrelax.backend.target import Target
from xrelax.runtime.native import NativeError

AXPY = """
llvm.func @axpy(%n: i64, %a: f32, %x: !llvm.ptr {llvm.noalias, llvm.readonly},
                %y: !llvm.ptr {llvm.noalias}) -> i32 {
  %zero = llvm.mlir.constant(0) : i64
  %one = llvm.mlir.constant(1) : i64
  %ok = llvm.mlir.constant(0 : i32) : i32
  %some = llvm.icmp "slt" %zero, %n : i64
  llvm.cond_br %some, ^loop(%zero : i64), ^exit
^loop(%i: i64):
  %px = llvm.getelementptr inbounds %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %py = llvm.getelementptr inbounds %y[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  %vx = llvm.load %px {alignment = 4 : i64} : !llvm.ptr -> f32
  %vy = llvm.load %py {alignment = 4 : i64} : !llvm.ptr -> f32
  %m = llvm.fmul %a, %vx : f32
  %s = llvm.fadd %m, %vy : f32
  llvm.store %s, %py {alignment = 4 : i64} : f32, !llvm.ptr
  %next = llvm.add %i, %one overflow<nsw> : i64
  %more = llvm.icmp "slt" %next, %n : i64
  llvm.cond_br %more, ^loop(%next : i64), ^exit LOOP
^exit:
  llvm.return %ok : i32
}
"""


def pointer(array: np.ndarray) -> int:
    return array.ctypes.data


def test_axpy_is_vectorised_for_the_target(build, function):
    target = Target("llvm")
    library = build(AXPY.replace("LOOP", ""))
    assert f"<{target.lanes(32)} x float>" in library.optimized_ir()
    axpy = function(library, "axpy", c_int32, c_int64, c_float, c_void_p, c_void_p)
    x, y = np.arange(1003, dtype=np.float32), np.ones(1003, np.float32)
    assert axpy(1003, 2.0, pointer(x), pointer(y)) == 0
    np.testing.assert_array_equal(y, 2 * x + 1)


def test_narrower_target_uses_narrower_vectors(build):
    ir = build(AXPY.replace("LOOP", ""), Target("llvm -mcpu=x86-64")).optimized_ir()
    assert "<4 x float>" in ir and "<8 x float>" not in ir and "<16 x float>" not in ir


def test_loop_metadata_reaches_the_vectoriser(build):
    plain = build(AXPY.replace("LOOP", "{llvm_ext.loop = {vectorize.enable = false}}"))
    assert " x float>" not in plain.optimized_ir()
    narrow = build(AXPY.replace("LOOP", "{llvm_ext.loop = {vectorize.width = 2 : i32}}"))
    assert "<2 x float>" in narrow.optimized_ir()


def test_optimisation_level_zero_leaves_loops_scalar(build):
    assert " x float>" not in build(AXPY.replace("LOOP", ""), opt_level=0).optimized_ir()


def test_branchy_loop_with_block_arguments(build, function):
    """Collatz: two values carried round, one side of a branch each."""
    library = build("""
    llvm.func @steps(%n: i64) -> i64 {
      %zero = llvm.mlir.constant(0) : i64
      %one = llvm.mlir.constant(1) : i64
      %three = llvm.mlir.constant(3) : i64
      llvm.br ^head(%n, %zero : i64, i64)
    ^head(%x: i64, %k: i64):
      %done = llvm.icmp "eq" %x, %one : i64
      llvm.cond_br %done, ^exit(%k : i64), ^body
    ^body:
      %k1 = llvm.add %k, %one : i64
      %bit = llvm.and %x, %one : i64
      %odd = llvm.icmp "eq" %bit, %one : i64
      llvm.cond_br %odd, ^odd, ^even
    ^odd:
      %t = llvm.mul %x, %three : i64
      %u = llvm.add %t, %one : i64
      llvm.br ^head(%u, %k1 : i64, i64)
    ^even:
      %h = llvm.lshr %x, %one : i64
      llvm.br ^head(%h, %k1 : i64, i64)
    ^exit(%r: i64):
      llvm.return %r : i64
    }""")
    assert function(library, "steps", c_int64, c_int64)(27) == 111


@pytest.mark.parametrize("opt_level", [0, 3])
def test_both_edges_of_a_branch_to_one_block(build, function, opt_level: int):
    library = build(
        """
    llvm.func @choose(%c: i1, %a: i32, %b: i32) -> i32 {
      llvm.cond_br %c, ^join(%a, %b : i32, i32), ^join(%b, %a : i32, i32)
    ^join(%x: i32, %y: i32):
      %hundred = llvm.mlir.constant(100 : i32) : i32
      %t = llvm.mul %x, %hundred : i32
      %r = llvm.add %t, %y : i32
      llvm.return %r : i32
    }""",
        opt_level=opt_level,
    )
    choose = function(library, "choose", c_int32, ctypes.c_bool, c_int32, c_int32)
    assert (choose(True, 1, 2), choose(False, 1, 2)) == (102, 201)


def test_switch_with_cases_that_share_a_block(build, function):
    library = build("""
    llvm.func @pick(%x: i32, %a: i32, %b: i32) -> i32 {
      llvm_ext.switch %x : i32, default ^join(%x : i32),
        [0: ^join(%a : i32), -1: ^join(%b : i32), 7: ^seven]
    ^seven:
      llvm.br ^join(%x : i32)
    ^join(%r: i32):
      llvm.return %r : i32
    }""")
    pick = function(library, "pick", c_int32, c_int32, c_int32, c_int32)
    assert [pick(x, 10, 20) for x in (0, -1, 7, 5)] == [10, 20, 7, 5]


def test_masked_tail(build, function):
    """8 lanes at a time over n floats; the mask of the last step keeps the rest untouched."""
    library = build("""
    llvm.func @double(%p: !llvm.ptr, %n: i64) {
      %zero = llvm.mlir.constant(0) : i64
      %eight = llvm.mlir.constant(8) : i64
      %fill = llvm.mlir.constant(dense<0.0> : vector<8xf32>) : vector<8xf32>
      llvm.br ^loop(%zero : i64)
    ^loop(%i: i64):
      %mask = llvm_ext.intrinsic "llvm.get.active.lane.mask"(%i, %n) : (i64, i64) -> vector<8xi1>
      %a = llvm.getelementptr inbounds %p[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %v = llvm_ext.intrinsic "llvm.masked.load"(%a, %mask, %fill) align 4 : i64
        : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
      %w = llvm.fadd %v, %v : vector<8xf32>
      llvm_ext.intrinsic "llvm.masked.store"(%w, %a, %mask) align 4 : i64
        : (vector<8xf32>, !llvm.ptr, vector<8xi1>) -> ()
      %next = llvm.add %i, %eight : i64
      %more = llvm.icmp "slt" %next, %n : i64
      llvm.cond_br %more, ^loop(%next : i64), ^exit
    ^exit:
      llvm.return
    }""")
    data = np.arange(16, dtype=np.float32)
    function(library, "double", None, c_void_p, c_int64)(pointer(data), 11)
    expected = np.arange(16, dtype=np.float32)
    expected[:11] *= 2
    np.testing.assert_array_equal(data, expected)


def test_xdsl_masked_store(build, function):
    library = build("""
    llvm.func @f(%p: !llvm.ptr, %x: f32) {
      %v = llvm_ext.splat %x : f32 -> vector<4xf32>
      %m = llvm.mlir.constant(dense<[true, false, true, false]> : vector<4xi1>) : vector<4xi1>
      llvm.intr.masked.store %v, %p, %m {alignment = 4 : i32}
        : vector<4xf32>, vector<4xi1> into !llvm.ptr
      llvm.return
    }""")
    data = np.zeros(4, np.float32)
    function(library, "f", None, c_void_p, c_float)(pointer(data), 3.0)
    assert data.tolist() == [3, 0, 3, 0]


def test_vector_ops(build, function):
    """relu, shifted by one lane, lane 2 replaced, reduced."""
    library = build("""
    llvm.func @f(%p: !llvm.ptr, %x: f32) -> f32 {
      %zero = llvm.mlir.constant(0.0 : f32) : f32
      %two = llvm.mlir.constant(2 : i32) : i32
      %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
      %z = llvm_ext.splat %zero : f32 -> vector<4xf32>
      %m = llvm_ext.fcmp ogt %v, %z : vector<4xf32> -> vector<4xi1>
      %r = llvm_ext.select %m, %v, %z : vector<4xi1>, vector<4xf32>
      %s = llvm.shufflevector %r, %r [1, 2, 3, 0] : vector<4xf32>
      %t = llvm.insertelement %x, %s[%two : i32] : vector<4xf32>
      llvm.store %t, %p {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr
      %e = llvm_ext.extractelement %t[%two : i32] : vector<4xf32>
      %sum = llvm_ext.intrinsic "llvm.vector.reduce.fadd"(%e, %t) fastmath<reassoc>
        : (f32, vector<4xf32>) -> f32
      llvm.return %sum : f32
    }""")
    data = np.array([-1, 2, -3, 4], np.float32)
    assert function(library, "f", c_float, c_void_p, c_float)(pointer(data), 10.0) == 22.0
    assert data.tolist() == [2, 0, 10, 0]


def test_intrinsics_of_several_types_in_one_module(build, function):
    library = build("""
    llvm.func @single(%x: f32, %y: f32) -> f32 {
      %r = llvm_ext.intrinsic "llvm.maximum"(%x, %y) : (f32, f32) -> f32
      llvm.return %r : f32
    }
    llvm.func @twice(%x: f64) -> f64 {
      %y = llvm_ext.intrinsic "llvm.exp"(%x) : (f64) -> f64
      %r = llvm_ext.intrinsic "llvm.maximum"(%x, %y) : (f64, f64) -> f64
      llvm.return %r : f64
    }
    llvm.func @lanes(%p: !llvm.ptr) {
      %v = llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
      %y = llvm_ext.intrinsic "llvm.exp"(%v) : (vector<4xf32>) -> vector<4xf32>
      %r = llvm_ext.intrinsic "llvm.maximum"(%v, %y) : (vector<4xf32>, vector<4xf32>)
        -> vector<4xf32>
      llvm.store %r, %p {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr
      llvm.return
    }""")
    single = function(library, "single", c_float, c_float, c_float)
    assert single(1.0, 2.0) == 2.0 and math.isnan(single(1.0, math.nan))
    assert function(library, "twice", c_double, c_double)(1.0) == pytest.approx(math.e)
    data = np.array([-1, 0, 1, 2], np.float32)
    expected = np.maximum(data, np.exp(data))
    function(library, "lanes", None, c_void_p)(pointer(data))
    np.testing.assert_allclose(data, expected, rtol=1e-6)


INTEGER_INTRINSICS = {
    '"llvm.smax"(%a, %b) : (i32, i32) -> i32': (-5, 3, 3),
    '"llvm.umin"(%a, %b) : (i32, i32) -> i32': (-5, 3, 3),
    '"llvm.ctpop"(%a) : (i32) -> i32': (255, 0, 8),
    '"llvm.ctlz"(%a, %no) : (i32, i1) -> i32': (1, 0, 31),
    '"llvm.abs"(%a, %no) : (i32, i1) -> i32': (-9, 0, 9),
    '"llvm.sadd.sat"(%a, %b) : (i32, i32) -> i32': (2**31 - 1, 1, 2**31 - 1),
    '"llvm.fshl"(%a, %a, %b) : (i32, i32, i32) -> i32': (1, 33, 2),
}


@pytest.mark.parametrize(("call", "case"), INTEGER_INTRINSICS.items())
def test_integer_intrinsic(build, function, call: str, case: tuple[int, int, int]):
    library = build(f"""
    llvm.func @f(%a: i32, %b: i32) -> i32 {{
      %no = llvm.mlir.constant(false) : i1
      %r = llvm_ext.intrinsic {call}
      llvm.return %r : i32
    }}""")
    lhs, rhs, expected = case
    assert function(library, "f", c_int32, c_int32, c_int32)(lhs, rhs) == expected


def test_overflow_check_and_memcpy(build, function):
    library = build("""
    llvm.func @f(%a: i64, %b: i64, %to: !llvm.ptr, %from: !llvm.ptr) -> i1 {
      %s = llvm_ext.intrinsic "llvm.smul.with.overflow"(%a, %b)
        : (i64, i64) -> !llvm.struct<(i64, i1)>
      %n = llvm.extractvalue %s[0] : !llvm.struct<(i64, i1)>
      %o = llvm.extractvalue %s[1] : !llvm.struct<(i64, i1)>
      %no = llvm.mlir.constant(false) : i1
      llvm.cond_br %o, ^exit, ^copy
    ^copy:
      llvm_ext.intrinsic "llvm.memcpy"(%to, %from, %n, %no) align 1 : i64
        : (!llvm.ptr, !llvm.ptr, i64, i1) -> ()
      llvm.br ^exit
    ^exit:
      llvm.return %o : i1
    }""")
    native = function(library, "f", ctypes.c_bool, c_int64, c_int64, c_void_p, c_void_p)
    source, result = np.arange(8, dtype=np.uint8), np.zeros(8, np.uint8)
    assert native(2, 3, pointer(result), pointer(source)) is False
    assert result.tolist() == [0, 1, 2, 3, 4, 5, 0, 0]
    assert native(2**40, 2**40, None, None) is True


def test_callback_through_a_pointer_and_its_status(build, function):
    """The runtime's callback: `i32 cb(i64 token, i32 site, ptr data, ptr dims)`; non-zero ends."""
    library = build("""
    llvm.func @entry(%ctx: !llvm.ptr {llvm.noalias, llvm.nonnull}, %argv: !llvm.ptr) -> i32 {
      %site = llvm.mlir.constant(5 : i32) : i32
      %zero = llvm.mlir.constant(0 : i32) : i32
      %one = llvm.mlir.constant(1 : i32) : i32
      %cb = llvm.load %ctx {alignment = 8 : i64} : !llvm.ptr -> !llvm.ptr
      %slot = llvm.getelementptr inbounds %ctx[1] : (!llvm.ptr) -> !llvm.ptr, i64
      %token = llvm.load %slot {alignment = 8 : i64} : !llvm.ptr -> i64
      %status = llvm_ext.call_ptr %cb(%token, %site, %argv, %ctx)
        : (i64, i32, !llvm.ptr, !llvm.ptr) -> i32
      %fine = llvm.icmp "eq" %status, %zero : i32
      llvm.cond_br %fine, ^fine, ^pending {llvm_ext.weights = array<i32: 2000, 1>}
    ^fine:
      llvm.return %zero : i32
    ^pending:
      llvm.return %one : i32
    }""")
    seen: list[tuple[int, int, int]] = []
    statuses = iter([0, 17])

    def receive(token: int, site: int, data: int, dims: int) -> int:
        seen.append((token, site, ctypes.cast(data, ctypes.POINTER(c_int64))[0]))
        return next(statuses)

    callback = CFUNCTYPE(c_int32, c_int64, c_int32, c_void_p, c_void_p)(receive)
    context = np.array([ctypes.cast(callback, c_void_p).value, 1234], np.int64)
    argv = np.array([99], np.int64)
    entry = function(library, "entry", c_int32, c_void_p, c_void_p)
    assert entry(pointer(context), pointer(argv)) == 0
    assert entry(pointer(context), pointer(argv)) == 1
    assert seen == [(1234, 5, 99), (1234, 5, 99)]


def test_libm_and_malloc_resolve(build, function):
    names = {"expf": 1, "erff": 1, "tanhf": 1, "powf": 2, "fmodf": 2, "log1pf": 1, "tgammaf": 1}
    heads = "".join(f"llvm.func @{n}({', '.join(['f32'] * k)}) -> f32\n" for n, k in names.items())
    calls, value = "", "%x"
    for name, arity in names.items():
        args = ", ".join([value] + ["%x"] * (arity - 1))
        calls += f"%{name} = llvm.call @{name}({args}) : ({', '.join(['f32'] * arity)}) -> f32\n"
        value = f"%{name}"
    library = build(f"""
    {heads}
    llvm.func @malloc(i64) -> !llvm.ptr
    llvm.func @free(!llvm.ptr)
    llvm.func @f(%x: f32) -> f32 {{
      %size = llvm.mlir.constant(4) : i64
      %p = llvm.call @malloc(%size) : (i64) -> !llvm.ptr
      {calls}
      llvm.store volatile {value}, %p : f32, !llvm.ptr
      %r = llvm.load %p : !llvm.ptr -> f32
      llvm.call @free(%p) : (!llvm.ptr) -> ()
      llvm.return %r : f32
    }}""")
    x = 0.5
    y = math.fmod(math.tanh(math.erf(math.exp(x))) ** x, x)
    result = function(library, "f", c_float, c_float)(x)
    assert result == pytest.approx(math.gamma(math.log1p(y)), rel=1e-4)


def test_internal_functions_and_globals(build, function):
    library = build("""
    llvm.mlir.global internal constant @table(dense<[10, 20, 30]> : tensor<3xi32>)
      : !llvm.array<3 x i32>
    llvm.func internal @at(%i: i64) -> i32 {
      %p = llvm.mlir.addressof @table : !llvm.ptr
      %a = llvm.getelementptr inbounds %p[0, %i] : (!llvm.ptr, i64) -> !llvm.ptr,
        !llvm.array<3 x i32>
      %r = llvm.load %a {llvm_ext.invariant} : !llvm.ptr -> i32
      llvm.return %r : i32
    }
    llvm.func @f(%i: i64) -> i32 {
      %r = llvm.call @at(%i) : (i64) -> i32
      llvm.return %r : i32
    }""")
    native = function(library, "f", c_int32, c_int64)
    assert [native(i) for i in range(3)] == [10, 20, 30]
    with pytest.raises(NativeError, match="cannot link 'at'"):
        library.address("at")
