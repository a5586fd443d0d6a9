"""Kernels in object files of their own, and those that stay with the graph functions."""

import numpy as np
import pytest

from xrelax import inspection, relax
from xrelax.lowering.llvm.separate import separable_kernels
from xrelax.reference import EvaluationError, evaluate

KERNEL = """
tir.prim_func @{name}(%X: !tir.buffer<[{n}], f32>, %Y: !tir.buffer<[{n}], f32>) {attributes} {{
  {check}
  tir.for %i in (0, {n}) {{
    tir.block "Y" (%v: spatial (0, {n}) = %i) reads (%X[%v]) writes (%Y[%v]) {{
      %x = tir.load %X[%v] : !tir.buffer<[{n}], f32>
      %y = arith.addf %x, %x : f32
      tir.store %y, %Y[%v] : !tir.buffer<[{n}], f32>
    }}
  }}
}}
"""
CHECK = """
  %x0 = tir.load %X[0] : !tir.buffer<[n], f32>
  %least = arith.constant 0.0 : f32
  %ok = arith.cmpf oge, %x0, %least : f32
  tir.assert %ok, "expected a first value of at least 0"
"""
MAIN = """
relax.func @main(%x: !relax.tensor<[m], f32>) -> !relax.tensor<[m], f32> {{
  %y = relax.call_tir @{name}(%x) : (!relax.tensor<[m], f32>) -> !relax.tensor<[m], f32>
  relax.return %y : !relax.tensor<[m], f32>
}}
"""
X = np.arange(3, dtype="float32")


def kernel(name: str, n: str = "n", attributes: str = "", check: str = "") -> str:
    return KERNEL.format(name=name, n=n, attributes=attributes, check=check)


def run(executable, name: str) -> np.ndarray:
    """The result of a kernel by its own name."""
    result = np.zeros(3, "float32")
    executable[name](X, result)
    return result


def test_public_kernels_that_compute_the_same_share_their_code(parse):
    executable = relax.build(parse(kernel("one") + kernel("two", "k")))
    objects = executable.library.objects
    assert len(objects) == 3  # the shared one, entries, and the one for calls from Python
    assert executable.stats()["code_bytes"] == sum(map(len, objects))
    assert executable.attributes["llvm_ir"].count("define i32 @xrelax.one.kernel.") == 1
    for name in ("one", "two"):
        np.testing.assert_array_equal(run(executable, name), 2 * X)


def test_private_kernels_that_compute_the_same_are_one(parse):
    text = kernel("one") + kernel("two", "k", 'attributes {"private"}') + MAIN.format(name="two")
    executable = relax.build(parse(text))
    assert executable.stats()["kernels"] == 1
    np.testing.assert_array_equal(executable(X).numpy(), 2 * X)


def test_a_kernel_with_a_message_stays_with_its_module(parse):
    module = parse(kernel("one") + kernel("two", check=CHECK))
    planned = inspection.lower_to(module, "rt")
    assert [f.sym_name.data for f in separable_kernels(planned)] == ["one.kernel"]
    executable = relax.build(module)
    assert "define internal i32 @xrelax.two.kernel(" in executable.attributes["llvm_ir"]
    np.testing.assert_array_equal(run(executable, "two"), 2 * X)
    with pytest.raises(ValueError, match="expected a first value of at least 0"):
        executable["two"](X - 1, X.copy())


def test_a_kernel_that_nobody_calls_is_not_compiled_alone(parse):
    unused = kernel("unused", "4", 'attributes {"private"}')
    executable = relax.build(parse(unused + kernel("one")))
    assert len(executable.library.objects) == 3  # with the one for calls from Python
    assert "unused" not in executable.attributes["optimized_llvm_ir"]()


def test_a_workspace_comes_from_the_caller(parse):
    text = """
    tir.prim_func @sum(%X: !tir.buffer<[n, 4096], f32>, %Y: !tir.buffer<[n, 4096], f32>) {
      %T = tir.alloc_buffer : !tir.buffer<[n, 4096], f32>
      tir.for %i in (0, n) {
        tir.for %j in (0, 4096) {
          tir.block "T" (%a: spatial (0, n) = %i, %b: spatial (0, 4096) = %j)
              reads (%X[%a, %b]) writes (%T[%a, %b]) {
            %x = tir.load %X[%a, %b] : !tir.buffer<[n, 4096], f32>
            tir.store %x, %T[%a, %b] : !tir.buffer<[n, 4096], f32>
          }
        }
      }
      tir.for %i in (0, n) {
        tir.for %j in (0, 4096) {
          tir.block "Y" (%a: spatial (0, n) = %i, %b: spatial (0, 4096) = %j)
              reads (%T[%a, 4095 - %b]) writes (%Y[%a, %b]) {
            %x = tir.load %T[%a, 4095 - %b] : !tir.buffer<[n, 4096], f32>
            tir.store %x, %Y[%a, %b] : !tir.buffer<[n, 4096], f32>
          }
        }
      }
    }
    """
    executable = relax.build(parse(text))
    assert len(executable.library.objects) == 3  # with the one for calls from Python
    x = np.arange(3 * 4096, dtype="float32").reshape(3, 4096)
    y = np.zeros_like(x)
    executable["sum"](x, y)
    np.testing.assert_array_equal(y, x[:, ::-1])


def test_a_kernel_of_another_object_is_not_evaluated(parse):
    module = parse("""
    loops.func @k(%X: !tir.buffer<[3], f32>, %Y: !tir.buffer<[3], f32>) external "xrelax.k.1f" {
    }
    rt.func @main(%x: !tir.buffer<[3], f32>, %y: !tir.buffer<[3], f32>) results 1 {
      rt.call_dps @k(%x) outs(%y) : (!tir.buffer<[3], f32>), (!tir.buffer<[3], f32>)
    }
    """)
    with pytest.raises(
        EvaluationError, match=r"'k': expected a body, got 'xrelax\.k\.1f' of an ob"
    ):
        evaluate(module, "main", [X])
