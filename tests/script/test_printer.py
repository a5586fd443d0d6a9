"""What modules look like as TVMScript: the published form, headers, order and names."""

import pytest
from printed_programs import RELU, parse_ir, script

from xrelax.script.printer import print_function, print_module

LINEAR = """
tir.prim_func @linear(%X: !tir.buffer<[1, m], f32>, %W: !tir.buffer<[n, m], f32>,
    %B: !tir.buffer<[n], f32>, %Z: !tir.buffer<[1, n], f32>) params ("x", "w", "b", "z") {
  %Y = tir.alloc_buffer : !tir.buffer<[1, n], f32>
  tir.for %i in (0, 1) { tir.for %j in (0, n) { tir.for %k in (0, m) {
    tir.block "Y" (%vi: spatial (0, 1) = %i, %vj: spatial (0, n) = %j, %vk: reduce (0, m) = %k)
        reads (%X[%vi, %vk], %W[%vj, %vk]) writes (%Y[%vi, %vj]) {
      tir.init {
        %zero = arith.constant 0.0 : f32
        tir.store %zero, %Y[%vi, %vj] : !tir.buffer<[1, n], f32>
      }
      %y = tir.load %Y[%vi, %vj] : !tir.buffer<[1, n], f32>
      %x = tir.load %X[%vi, %vk] : !tir.buffer<[1, m], f32>
      %w = tir.load %W[%vj, %vk] : !tir.buffer<[n, m], f32>
      %p = arith.mulf %x, %w : f32
      %q = arith.addf %y, %p : f32
      tir.store %q, %Y[%vi, %vj] : !tir.buffer<[1, n], f32>
    }
  } } }
  tir.for %i in (0, 1) { tir.for %j in (0, n) {
    tir.block "Z" (%vi: spatial (0, 1) = %i, %vj: spatial (0, n) = %j)
        reads (%Y[%vi, %vj], %B[%vj]) writes (%Z[%vi, %vj]) {
      %y = tir.load %Y[%vi, %vj] : !tir.buffer<[1, n], f32>
      %b = tir.load %B[%vj] : !tir.buffer<[n], f32>
      %q = arith.addf %y, %b : f32
      tir.store %q, %Z[%vi, %vj] : !tir.buffer<[1, n], f32>
    }
  } }
}
"""
MLP = """
relax.func @main(%x: !relax.tensor<[1, m], f32>, %w: !relax.tensor<[n, m], f32>,
    %b: !relax.tensor<[n], f32>) -> !relax.tensor<[1, n], f32> {
  %out = relax.dataflow -> !relax.tensor<[1, n], f32> {
    %lv0 = relax.call_dps_packed "linear"(%x, %w, %b)
      : (!relax.tensor<[1, m], f32>, !relax.tensor<[n, m], f32>, !relax.tensor<[n], f32>)
      -> !relax.tensor<[1, n], f32>
    %out = relax.call_dps_packed "relu"(%lv0)
      : (!relax.tensor<[1, n], f32>) -> !relax.tensor<[1, n], f32>
    relax.output %out : !relax.tensor<[1, n], f32>
  }
  relax.return %out : !relax.tensor<[1, n], f32>
}
"""
GOLDEN = """\
# from xrelax.script import ir as I
# from xrelax.script import tir as T
# from xrelax.script import relax as R

@I.ir_module
class Module:
    @T.prim_func
    def linear(x: T.handle, w: T.handle, b: T.handle, z: T.handle):
        m = T.int64()
        X = T.match_buffer(x, (1, m))
        n = T.int64()
        W = T.match_buffer(w, (n, m))
        B = T.match_buffer(b, (n,))
        Z = T.match_buffer(z, (1, n))
        # with T.block("root"):
        Y = T.alloc_buffer((1, n))
        for i, j, k in T.grid(1, n, m):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                T.reads(X[vi, vk], W[vj, vk])
                T.writes(Y[vi, vj])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vj, vk]
        for i, j in T.grid(1, n):
            with T.block("Z"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(Y[vi, vj], B[vj])
                T.writes(Z[vi, vj])
                Z[vi, vj] = Y[vi, vj] + B[vj]

    @T.prim_func
    def relu(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (1, n))
        Y = T.match_buffer(y, (1, n))
        # with T.block("root"):
        for i, j in T.grid(1, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(X[vi, vj])
                T.writes(Y[vi, vj])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @R.function
    def main(x: R.Tensor((1, "m"), dtype="float32"), w: R.Tensor(("n", "m"), dtype="float32"), b: R.Tensor(("n",), dtype="float32")) -> R.Tensor((1, "n"), dtype="float32"):
        m = T.int64()
        n = T.int64()
        with R.dataflow():
            lv0 = R.call_dps_packed("linear", (x, w, b), out_sinfo=R.Tensor((1, n), dtype="float32"))
            out = R.call_dps_packed("relu", (lv0,), out_sinfo=R.Tensor((1, n), dtype="float32"))
            R.output(out)
        return out"""  # noqa: E501


def test_published_form():
    assert script(MLP + RELU + LINEAR) == GOLDEN


def test_order_of_functions_and_the_name_of_the_class_do_not_depend_on_the_module():
    printed = script(RELU + MLP + LINEAR, name="Other")
    assert printed == GOLDEN.replace("class Module", "class Other")


def test_single_functions_have_only_the_headers_they_need():
    relu, main = parse_ir(RELU + MLP).ops
    assert print_function(relu).splitlines()[:3] == [
        "# from xrelax.script import tir as T",
        "",
        "@T.prim_func",
    ]
    assert print_function(main).splitlines()[:2] == [
        "# from xrelax.script import tir as T",
        "# from xrelax.script import relax as R",
    ]


def test_an_empty_module_is_a_class_that_passes():
    assert script("builtin.module {}").splitlines()[-2:] == ["class Module:", "    pass"]


def test_function_names_that_python_refuses_are_refused():
    tensor = "!relax.tensor<[1], f32>"
    for name in ("class", '"main.1"'):
        text = f"relax.func @{name}(%x: {tensor}) -> {tensor} {{ relax.return %x : {tensor} }}"
        with pytest.raises(ValueError, match="expected a function name that Python accepts"):
            print_module(parse_ir(text))
