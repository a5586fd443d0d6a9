"""Conversions and constants of floats, compiled and compared bit by bit."""

from ctypes import c_float, c_uint16, c_void_p

import numpy as np
import pytest
from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    VectorType,
    f32,
)
from xdsl.ir import Block, Region

from xrelax.backend.jit import compile_module
from xrelax.backend.llvm_module import emit_module
from xrelax.backend.target import Target


def pointer(array: np.ndarray) -> int:
    return array.ctypes.data


def bf16_of(values: np.ndarray) -> np.ndarray:
    """Bits of the bf16 next to each f32, ties to even: the definition, in integers."""
    bits = values.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), (bits >> 16).astype(np.uint16) | 0x40, rounded)


WITHOUT_BF16 = Target("llvm -mcpu=haswell") if Target("llvm").triple.startswith("x86_64") else None


def convert(
    build, function, source: str, result: str, kind: str, data, dtype: type, target=WITHOUT_BF16
):
    """`data` through a cast of one vector of all its elements."""
    n = len(data)
    library = build(
        f"""
    llvm.func @f(%x: !llvm.ptr, %y: !llvm.ptr) {{
      %v = llvm.load %x {{alignment = 1 : i64}} : !llvm.ptr -> vector<{n}x{source}>
      %w = llvm_ext.cast {kind} %v : vector<{n}x{source}> to vector<{n}x{result}>
      llvm.store %w, %y {{alignment = 1 : i64}} : vector<{n}x{result}>, !llvm.ptr
      llvm.return
    }}""",
        target,
    )
    output = np.zeros(n, dtype)
    function(library, "f", None, c_void_p, c_void_p)(pointer(data), pointer(output))
    return output


def awkward_floats(count: int) -> np.ndarray:
    """Ties, denormals, infinities, NaNs, and random bit patterns."""
    random = np.random.default_rng(0).integers(0, 2**32, count, np.uint32)
    random[:10] = (
        0x3F808000, 0x3F818000, 0x3F808001, 0x7F7FFFFF, 0x00000001,
        0x00008000, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFC12345,
    )  # fmt: skip
    return random.view(np.float32)


def test_bf16_rounds_to_nearest_even_without_bf16_hardware(build, function):
    data = awkward_floats(64)
    result = convert(build, function, "f32", "bf16", "fptrunc", data, np.uint16)
    np.testing.assert_array_equal(result, bf16_of(data))


@pytest.mark.skipif(not Target("llvm").isa.converts_bf16, reason="needs an instruction for it")
def test_bf16_rounds_by_an_instruction_that_may_flush_denormals(build, function):
    data = awkward_floats(64)
    result = convert(build, function, "f32", "bf16", "fptrunc", data, np.uint16, Target("llvm"))
    wanted = bf16_of(data)
    is_denormal = abs(data) < np.finfo(np.float32).tiny
    zero = np.signbit(data).astype(np.uint16) << 15
    assert is_denormal.any()
    assert ((result == wanted) | (is_denormal & (result == zero))).all()


def test_bf16_round_trip(build, function):
    words = np.array([0x3F80, 0xC000, 0x0001, 0x8000, 0x7F80, 0x42F7, 0x7F7F, 0x0080], np.uint16)
    floats = convert(build, function, "bf16", "f32", "fpext", words, np.float32)
    assert floats[0] == 1.0 and floats[1] == -2.0 and floats[4] == np.inf
    again = convert(build, function, "f32", "bf16", "fptrunc", floats, np.uint16)
    np.testing.assert_array_equal(again, words)


def test_f64_to_bf16_rounds_once(build, function):
    """Rounding to f32 first would make a tie of what is just above one."""
    above = 1.0 + 2.0**-8 + 2.0**-40
    data = np.array([above, -above, 1.0 + 2.0**-8, 1e300, 5e-324, np.nan, 3.5e38, 1.0])
    result = convert(build, function, "f64", "bf16", "fptrunc", data, np.uint16)
    expected = [0x3F81, 0xBF81, 0x3F80, 0x7F80, 0x0000, 0x7FC0, 0x7F80, 0x3F80]
    assert result.tolist() == expected


def test_f64_to_f16_rounds_once(build, function):
    random = np.random.default_rng(1).normal(size=60) * 10.0 ** np.arange(-9, 6).repeat(4)
    above = 1.0 + 2.0**-11 + 2.0**-40
    data = np.concatenate([random, [above, -above, 1e9, np.inf]])
    result = convert(build, function, "f64", "f16", "fptrunc", data, np.float16)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(result, data.astype(np.float16))


@pytest.mark.parametrize(
    ("source", "result", "kind", "data", "expected"),
    [
        ("i32", "bf16", "sitofp", np.array([-3, 257], np.int32), [0xC040, 0x4380]),
        ("i8", "bf16", "uitofp", np.array([255, 1], np.uint8), [0x437F, 0x3F80]),
        ("bf16", "i32", "fptosi", np.array([0xC040, 0x437F], np.uint16), [-3, 255]),
        ("f16", "i32", "fptoui", np.array([0x4200, 0x3C00], np.uint16), [3, 1]),
        ("i32", "f16", "sitofp", np.array([-3, 70000], np.int32), [0xC200, 0x7C00]),
        ("f32", "i32", "fptosi", np.array([-3.9, 2.5], np.float32), [-3, 2]),
        ("bf16", "f64", "fpext", np.array([0x3F80, 0xC040], np.uint16), [1.0, -3.0]),
    ],
)
def test_casts(build, function, source, result, kind, data, expected):
    dtype = {"bf16": np.uint16, "f16": np.uint16, "i32": np.int32, "f64": np.float64}[result]
    output = convert(build, function, source, result, kind, data, dtype)
    assert output.tolist() == expected


def test_scalar_bf16(build, function):
    library = build("""
    llvm.func @f(%x: f32) -> i16 {
      %h = llvm.fptrunc %x : f32 to bf16
      %r = llvm_ext.cast bitcast %h : bf16 to i16
      llvm.return %r : i16
    }""")
    data = awkward_floats(32)
    native = function(library, "f", c_uint16, c_float)
    finite = data[~np.isnan(data)]
    assert [native(x) for x in finite] == bf16_of(finite).tolist()


@pytest.mark.parametrize(
    "value", [0.1, -0.0, 1e-45, 3.4028234663852886e38, float("inf"), float("nan"), 16777216.0]
)
def test_float_constants_are_exact(build, function, value: float):
    bits = np.float32(value).view(np.uint32)
    library = build(f"""
    llvm.func @f() -> f32 {{
      %c = llvm.mlir.constant(0x{bits:08X} : f32) : f32
      llvm.return %c : f32
    }}
    """)
    assert np.float32(function(library, "f", c_float)()).view(np.uint32) == bits


def test_dense_constants_keep_every_bit(function):
    """Bit patterns of all kinds, signalling NaNs among them, as one vector constant."""
    data = awkward_floats(32)
    value = DenseIntOrFPElementsAttr(VectorType(f32, [32]), BytesAttr(data.tobytes()))
    block = Block(arg_types=[llvm.LLVMPointerType()])
    constant = llvm.ConstantOp(value, value.type)
    block.add_ops([constant, llvm.StoreOp(constant.result, block.args[0], 4), llvm.ReturnOp()])
    func = llvm.FuncOp(
        "f",
        llvm.LLVMFunctionType(block.arg_types),
        llvm.LinkageAttr("external"),
        body=Region(block),
    )
    library = compile_module(emit_module(ModuleOp([func])), Target("llvm"))
    output = np.zeros(32, np.float32)
    function(library, "f", None, c_void_p)(pointer(output))
    np.testing.assert_array_equal(output.view(np.uint32), data.view(np.uint32))
