"""Libraries of compiled code: objects, inspection, threads, other targets, what goes wrong."""

import gc
from ctypes import c_double, c_int32

import pytest
from concurrent_calls import in_threads

from xrelax.backend.errors import BackendError
from xrelax.backend.jit import Library, compile_module, compile_object
from xrelax.backend.llvm_module import emit_module
from xrelax.backend.target import Target
from xrelax.runtime.native import NativeError

SQUARE = """
llvm.func @square(%x: f64) -> f64 {
  %r = llvm.fmul %x, %x : f64
  llvm.return %r : f64
}
"""


def test_object_is_reloaded(build, function):
    first = build(SQUARE)
    second = compile_object(first.objects[0], Target("llvm"))
    assert second.address("square") != first.address("square")
    assert function(second, "square", c_double, c_double)(3.0) == 9.0
    with pytest.raises(BackendError, match="compiled from LLVM IR, got one from an object"):
        second.optimized_ir()


def test_inspection(build):
    library = build(SQUARE)
    assert "fmul double" in library.optimized_ir()
    assert "square:" in library.assembly()
    assert library.optimized_ir() == library.optimized_ir()


def test_libraries_with_equal_names_live_side_by_side_and_apart(build, function):
    libraries = [
        build(f"""
        llvm.func @f() -> i32 {{
          %c = llvm.mlir.constant({i} : i32) : i32
          llvm.return %c : i32
        }}""")
        for i in range(4)
    ]
    functions = [function(library, "f", c_int32) for library in libraries]
    del libraries
    functions[1:3] = []
    gc.collect()
    assert [native() for native in functions] == [0, 3]


def test_compiling_from_threads(parse, function):
    target, results = Target("llvm"), {}

    def work(i: int):
        text = SQUARE.replace("fmul %x, %x", "fadd %x, %x" if i % 2 else "fmul %x, %x")
        library: Library = compile_module(emit_module(parse(text), target), target)
        results[i] = function(library, "square", c_double, c_double)(5.0)

    in_threads(6, work)
    assert results == {i: 10.0 if i % 2 else 25.0 for i in range(6)}


def test_cross_compilation(build):
    target = Target("llvm -mtriple=aarch64-unknown-linux-gnu")
    library = build(SQUARE, target)
    assert "fmul\td0, d0, d0" in library.assembly()
    with pytest.raises(NativeError, match="cannot load code for aarch64-unknown-linux-gnu"):
        library.address("square")


@pytest.mark.parametrize(
    ("ir", "message"),
    [
        (
            "define float @ok() {\n  ret float 0.0\n}\ndefine float @g() {\n  ret i32 0\n}",
            "internal error in LLVM IR of 'g': value doesn't match function result type 'float'"
            " in 'ret i32 0'",
        ),
        (
            "define i32 @ok() {\n  ret i32 0\n}\n"
            "define i32 @g(i1 %c) {\nb0:\n br i1 %c, label %b1, label %b2\n"
            "b1:\n %s = add i32 1, 2\n br label %b2\nb2:\n ret i32 %s\n}",
            "internal error in LLVM IR of 'g': Instruction does not dominate all uses!;"
            " %s = add i32 1, 2; ret i32 %s",
        ),
    ],
)
def test_bad_text_names_the_function(ir: str, message: str):
    with pytest.raises(BackendError) as error:
        compile_module(ir, Target("llvm"))
    assert str(error.value) == message


def test_missing_symbols_are_named(build):
    library = build("""
    llvm.func @nowhere()
    llvm.func @f() {
      llvm.call @nowhere() : () -> ()
      llvm.return
    }""")
    with pytest.raises(NativeError, match=r"cannot link 'f': .*nowhere"):
        library.address("f")
    with pytest.raises(NativeError, match=r"cannot link 'g': .*g"):
        build(SQUARE).address("g")
