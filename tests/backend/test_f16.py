"""Conversions of f16 on processors without instructions for them: every value, bit by bit."""

from ctypes import c_void_p

import numpy as np
import pytest

from xrelax.backend.target import Target

LANES = 64
LOOP = """
    llvm.func @f(%x: !llvm.ptr, %y: !llvm.ptr) {{
      %v = llvm.load %x {{alignment = 1 : i64}} : !llvm.ptr -> {source}
      %w = llvm_ext.cast {kind} %v : {source} to {result}
      llvm.store %w, %y {{alignment = 1 : i64}} : {result}, !llvm.ptr
      llvm.return
    }}"""
TARGETS = ("llvm", "llvm -mcpu=x86-64")


def test_which_targets_convert():
    without = ("x86-64", "x86-64-v2")
    found = [Target(f"llvm -mtriple=x86_64-linux-gnu -mcpu={c}") for c in (*without, "haswell")]
    assert [t.isa.converts_f16 for t in found] == [False, False, True]
    for triple in ("aarch64-linux-gnu", "arm64-apple-darwin23.0.0"):
        assert Target(f"llvm -mtriple={triple}").isa.converts_f16


@pytest.fixture(params=[t for t in TARGETS if Target("llvm").triple.startswith("x86_64")])
def convert(build, function, request):
    """Converts an array by vectors, and its first elements one by one."""

    def call(values: np.ndarray, types: tuple[str, str], kind: str, dtype: type) -> np.ndarray:
        output = np.zeros(len(values), dtype)
        for lanes, count in ((LANES, len(values) - len(values) % LANES), (1, 100)):
            source, result = (t if lanes == 1 else f"vector<{lanes}x{t}>" for t in types)
            text = LOOP.format(source=source, result=result, kind=kind)
            library = build(text, Target(request.param))
            native = function(library, "f", None, c_void_p, c_void_p)
            for start in range(0, count, lanes):
                native(
                    values.ctypes.data + start * values.itemsize,
                    output.ctypes.data + start * output.itemsize,
                )
        return output[: len(values) - len(values) % LANES]

    return call


@pytest.mark.parametrize(("name", "dtype"), [("f32", np.float32), ("f64", np.float64)])
def test_every_f16_is_extended(convert, name, dtype):
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    found = convert(values, ("f16", name), "fpext", dtype)
    np.testing.assert_array_equal(found, values.astype(dtype))
    np.testing.assert_array_equal(np.signbit(found), np.signbit(values))


def numbers_around_every_f16() -> np.ndarray:
    """Every f16, what lies half-way to the next one, and the f32 on both sides of that."""
    values = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float64)
    middles = ((values + np.append(values[1:], 65536)) / 2).astype(np.float32)
    sides = [np.nextafter(middles, np.float32(x)) for x in (0, np.inf)]
    special = np.array([np.inf, np.nan, 1e-30, 3e38, 65520, 65519.996], np.float32)
    found = np.concatenate([values.astype(np.float32), middles, *sides, special])
    return np.concatenate([found, -found, np.zeros(LANES, np.float32)])


@pytest.mark.parametrize(("name", "dtype"), [("f32", np.float32), ("f64", np.float64)])
def test_numbers_are_rounded_to_the_nearest_f16(convert, name, dtype):
    values = numbers_around_every_f16().astype(dtype)
    with np.errstate(over="ignore"):
        expected = values.astype(np.float16)
    found = convert(values, (name, "f16"), "fptrunc", np.float16)
    count = len(found)
    np.testing.assert_array_equal(found, expected[:count])
    signs = np.isnan(expected[:count]) | (np.signbit(found) == np.signbit(expected[:count]))
    assert signs.all()
