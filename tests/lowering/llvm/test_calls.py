"""Graph functions: kernels, the arena, constants, private functions, the registry, C functions."""

import pickle

import numpy as np
import pytest

from xrelax.dialects.diagnostics import Diagnostic
from xrelax.lowering.llvm.interface import module_interface
from xrelax.runtime import register_func
from xrelax.runtime.signature import FunctionSpec, TensorSpec, evaluate_dim

B, S = "!tir.buffer<[n], f32>", "!tir.buffer<[n * 4 + 64], i8>"
SCALE = """
loops.func @NAME(%X: !tir.buffer<[k], f32>, %W: !tir.buffer<[1], f32>, %Y: !tir.buffer<[k], f32>)
  symbols [k] noalias {
  %w = loops.load %W[0] : !tir.buffer<[1], f32> -> f32
  loops.for %i in (0, k) {
    %x = loops.load %X[%i] : !tir.buffer<[k], f32> -> f32
    %y = arith.OP %x, %w : f32
    loops.store %y, %Y[%i] : !tir.buffer<[k], f32>, f32
  }
}
"""
MUL = SCALE.replace("NAME", "mul").replace("OP", "mulf")
ADD = SCALE.replace("NAME", "add").replace("OP", "addf")
KERNEL_TYPES = f"({B}, !tir.buffer<[1], f32>), ({B})"
TWO = "rt.constant <float32, [1], [2.0]> : !tir.buffer<[1], f32>"
THREE = "rt.constant <float32, [1], [3.0]> : !tir.buffer<[1], f32>"


@pytest.fixture
def registered():
    """Registers functions for one test."""
    return lambda name, function: register_func(name, function, override=True)


def test_constants_and_intermediates_in_the_arena(build):
    module = f"""
    rt.func @main(%x: {B}, %y: {B}) results 1 {{
      rt.check %x "x" : {B}
      %a = rt.arena n * 4 + 64
      %two = {TWO}
      rt.dataflow {{
        %t = rt.view %a[64] : {S} to {B}
        %three = {THREE}
        rt.call_dps @mul(%x, %two) outs(%t) : {KERNEL_TYPES}
        rt.call_dps @add(%t, %three) outs(%y) : {KERNEL_TYPES}
      }}
    }}{MUL}{ADD}"""
    executable = build(module)
    for n in (0, 1, 100, 5):
        x = np.arange(n, dtype=np.float32)
        np.testing.assert_array_equal(executable["main"](x).numpy(), x * 2 + 3)
    assert len(executable.constants) == 2
    with pytest.raises(ValueError, match="x"):
        executable["main"](np.zeros((2, 2), np.float32))


PRIVATE = f"""
rt.func private @inner(%x: {B}, %y: {B}, %scratch: !tir.buffer<[n * 4], i8>) results 2 {{
  %two = {TWO}
  %t = rt.view %scratch[0] : !tir.buffer<[n * 4], i8> to {B}
  rt.call_dps @mul(%x, %two) outs(%t) : {KERNEL_TYPES}
  rt.call_dps @mul(%t, %two) outs(%y) : {KERNEL_TYPES}
}}
rt.func @main(%x: {B}, %y: {B}) results 1 {{
  %a = rt.arena n * 4 + 64
  %s = rt.view %a[0] : {S} to !tir.buffer<[n * 4], i8>
  rt.call_dps @inner(%x) outs(%y, %s) : ({B}), ({B}, !tir.buffer<[n * 4], i8>)
}}
{MUL}"""


def test_private_function_gets_its_scratch_from_the_caller(build):
    executable = build(PRIVATE)
    x = np.arange(10, dtype=np.float32)
    np.testing.assert_array_equal(executable["main"](x).numpy(), x * 4)
    assert list(executable) == ["main"]


def test_interface(parse):
    interface = module_interface(
        parse(f"""
    rt.func @main(%x: !tir.buffer<[n, m + 1], f32>, %k: !tir.buffer<[m, 4], ui8>, %y:
      !tir.buffer<[n * m - 3, (n + 3) floordiv 4], bf16>) params ("data", "k")
      results tuple 1 written [1] {{
      %a = rt.arena max(n, m * 4) * 64 + 64
    }}
    rt.func @other(%x: {B}) {{
      rt.call_packed "env.f"(%x) outs() : ({B}), ()
    }}""")
    )
    main, other = interface.functions
    assert [(p.name, p.dtype, p.shape, p.written) for p in main.params] == [
        ("data", "float32", ("n", ("add", "m", 1)), False),
        ("k", "uint8", ("m", 4), True),
    ]
    assert main.symbols == ("n", "m")
    product, quotient = main.results[0].shape
    assert product == ("add", ("mul", "m", "n"), -3)
    assert quotient == ("floordiv", ("add", "n", 3), 4)
    assert evaluate_dim(product, {"n": 5, "m": 2}) == 7
    assert main.returns_tuple and not main.packed_sites
    assert other.packed_sites[0].name == "env.f"
    assert other.packed_sites[0].args == (TensorSpec("float32", ("n",)),)
    assert FunctionSpec.from_json(main.to_json()) == main
    assert pickle.loads(pickle.dumps(interface.functions)) == interface.functions


PACKED = f"""
rt.func private @inner(%x: {B}, %y: {B}) results 1 {{
  rt.call_packed "test.llvm.double"(%x) outs(%y) : ({B}), ({B})
}}
rt.func @main(%x: {B}, %e: !tir.buffer<[2, 3], i64>, %y: {B}) results 1 {{
  %a = rt.arena n * 4 + 64
  %t = rt.view %a[0] : {S} to {B}
  rt.call_packed "test.llvm.first"(%x, %e) outs() : ({B}, !tir.buffer<[2, 3], i64>), ()
  rt.call_dps @inner(%x) outs(%t) : ({B}), ({B})
  %two = {TWO}
  rt.call_dps @add(%t, %two) outs(%y) : {KERNEL_TYPES}
}}
{ADD}"""


def test_functions_of_the_registry(build, registered):
    seen = []
    registered("test.llvm.first", lambda x, e: seen.append((x.shape, e.shape, e.numpy().sum())))

    def double(x, y):
        np.asarray(y)[:] = np.asarray(x) * 2

    registered("test.llvm.double", double)
    main = build(PACKED)["main"]
    x, e = np.arange(5, dtype=np.float32), np.ones((2, 3), np.int64)
    np.testing.assert_array_equal(main(x, e).numpy(), x * 2 + 2)
    assert seen == [((5,), (2, 3), 6)]


def test_exception_in_a_callback_stops_the_call(build, registered):
    calls = []
    error = KeyError("from Python")

    def fail(x, e):
        calls.append("first")
        raise error

    registered("test.llvm.first", fail)
    registered("test.llvm.double", lambda x, y: calls.append("double"))
    main = build(PACKED)["main"]
    with pytest.raises(KeyError) as raised:
        main(np.zeros(4, np.float32), np.ones((2, 3), np.int64))
    assert raised.value is error and calls == ["first"]


def test_exception_goes_through_private_functions(build, registered):
    registered("test.llvm.first", lambda x, e: None)

    def fail(x, y):
        raise ZeroDivisionError("inner")

    registered("test.llvm.double", fail)
    with pytest.raises(ZeroDivisionError, match="inner"):
        build(PACKED)["main"](np.zeros(4, np.float32), np.ones((2, 3), np.int64))


def test_callback_may_call_back(build, registered):
    """Each call has its own arena and its own token."""
    main = build(PACKED)["main"]
    e = np.ones((2, 3), np.int64)
    registered("test.llvm.first", lambda x, e: None)

    def double(x, y):
        values = np.asarray(x)
        if values[0] > 0:
            inner = main(values - 1, e).numpy()
            np.testing.assert_array_equal(inner, 2 * (values - 1) + 2)
        np.asarray(y)[:] = values * 2

    registered("test.llvm.double", double)
    x = np.full(3, 3, np.float32)
    np.testing.assert_array_equal(main(x, e).numpy(), 2 * x + 2)


def test_copies(build):
    strided = "!tir.buffer<[n, 3], i32, strides = [1, n]>"
    main = build(f"""
    rt.func @main(%x: !tir.buffer<[n, 3], i32>, %y: !tir.buffer<[n, 3], i32>, %z: {strided})
      results tuple 2 {{
      rt.copy %x, %y : !tir.buffer<[n, 3], i32>, !tir.buffer<[n, 3], i32>
      rt.copy %y, %z : !tir.buffer<[n, 3], i32>, {strided}
    }}""")["main"]
    for n in (0, 4):
        x = np.arange(n * 3, dtype=np.int32).reshape(n, 3)
        y, z = main(x)
        np.testing.assert_array_equal(y.numpy(), x)
        np.testing.assert_array_equal(z.numpy().reshape(3, n), x.T)


def test_index_parameters_of_kernels(build):
    """A call's `vars` are the first symbols of the kernel; the shapes give the others."""
    main = build(f"""
    rt.func @main(%x: {B}, %y: {B}) results 1 {{
      rt.call_dps @k(%x) outs(%y) vars [n * 2 + 1] : ({B}), ({B})
    }}
    loops.func @k(%X: !tir.buffer<[m], f32>, %Y: !tir.buffer<[m], f32>) symbols [s, m] noalias {{
      %i = tir.apply s * 100 + m
      %v = arith.index_cast %i : index to i32
      %f = arith.sitofp %v : i32 to f32
      loops.for %j in (0, m) {{
        loops.store %f, %Y[%j] : !tir.buffer<[m], f32>, f32
      }}
    }}""")["main"]
    np.testing.assert_array_equal(main(np.zeros(3, np.float32)).numpy(), [703, 703, 703])


def test_functions_named_like_those_of_c(build):
    """A kernel called `exp` neither replaces the C library's function nor is it called instead."""
    executable = build(f"""
    rt.func @expf(%x: {B}, %y: {B}) results 1 {{
      rt.call_dps @exp(%x) outs(%y) : ({B}), ({B})
    }}
    loops.func @exp(%X: {B}, %Y: {B}) symbols [n] noalias {{
      loops.for %i in (0, n) {{
        %x = loops.load %X[%i] : {B} -> f32
        %y = math.exp %x : f32
        loops.store %y, %Y[%i] : {B}, f32
      }}
    }}""")
    x = np.linspace(-1, 1, 5, dtype=np.float32)
    np.testing.assert_allclose(executable["expf"](x).numpy(), np.exp(x), rtol=1e-6)


EXTERN = f"""
rt.func @main(%x: {B}, %y: {B}) results 1 {{
  rt.call_dps @k(%x) outs(%y) : ({B}), ({B})
}}
loops.func @k(%X: {B}, %Y: {B}) symbols [n] noalias {{
  loops.for %i in (0, n) {{
    %x = loops.load %X[%i] : {B} -> f32
    %y = tir.call_extern "CALLEE"(%x, %x) : (f32, f32) -> f32
    loops.store %y, %Y[%i] : {B}, f32
  }}
}}"""


def test_c_function(build):
    x = np.array([3.0, -4.0], np.float32)
    main = build(EXTERN.replace("CALLEE", "hypotf"))["main"]
    np.testing.assert_allclose(main(x).numpy(), np.hypot(x, x), rtol=1e-6)


def test_equal_constants_are_one(build):
    functions = [
        f"""
    rt.func @{name}(%x: {B}, %y: {B}) results 1 {{
      rt.check %x "x" : {B}
      %two = {TWO}
      rt.call_dps @mul(%x, %two) outs(%y) : {KERNEL_TYPES}
    }}"""
        for name in ("first", "second")
    ]
    executable = build("".join(functions) + MUL)
    assert len(executable.constants) == 1
    for name in ("first", "second"):
        assert executable[name](np.ones(1, np.float32)).numpy().tolist() == [2.0]


def test_constant_of_bfloat16(build):
    main = build("""
    rt.func @main(%y: !tir.buffer<[2], bf16>) results 1 {
      %c = rt.constant <bfloat16, [2], [16256, 49152]> : !tir.buffer<[2], bf16>
      rt.copy %c, %y : !tir.buffer<[2], bf16>, !tir.buffer<[2], bf16>
    }""")["main"]
    np.testing.assert_array_equal(main().numpy(), [1, -2])


ERRORS = {
    "expected memory to be planned": f"rt.func @f(%x: {B}) {{ %a = rt.alloc : {B} }}",
    "expected a kernel or a private function called 'nobody'": (
        f"rt.func @f(%x: {B}, %y: {B}) {{ rt.call_dps @nobody(%x) outs(%y) : ({B}), ({B}) }}"
    ),
    "expected a kernel or a private function called 'g'": (
        f"rt.func @f(%x: {B}, %y: {B}) {{ rt.call_dps @g(%x) outs(%y) : ({B}), ({B}) }}"
        f"rt.func @g(%x: {B}, %y: {B}) {{ }}"
    ),
    "expected 'f', which calls itself, to be 'recursive'": (
        f"rt.func private @f(%x: {B}, %y: {B}) {{ rt.call_dps @f(%x) outs(%y) : ({B}), ({B}) }}"
    ),
    "to get its scratch memory from its caller": "rt.func private @f() { %a = rt.arena 64 }",
    "'mul' expects 3 buffers, got 2": (
        f"rt.func @f(%x: {B}, %y: {B}) {{ rt.call_dps @mul(%x) outs(%y) : ({B}), ({B}) }}{MUL}"
    ),
    "expected kernels and functions on memory": f"tir.prim_func @f(%x: {B}) {{ }}",
    "numbers of 32 or 64 bits, got i8": (
        f"loops.func @f(%x: {B}) symbols [n] {{"
        '%c = arith.constant 1 : i8\ntir.call_extern "g"(%c) : (i8) -> () }'
    ),
    "expected all calls of 'g' to have the same types": (
        f"loops.func @f(%x: {B}) symbols [n] {{ %c = arith.constant 1 : i32\n"
        'tir.call_extern "g"(%c) : (i32) -> ()\ntir.call_extern "g"() : () -> () }'
    ),
}


@pytest.mark.parametrize("message", ERRORS)
def test_errors(convert, message):
    with pytest.raises(Diagnostic) as failure:
        convert(ERRORS[message])
    assert message in str(failure.value) and "\n" not in str(failure.value)
