"""Graph functions and planned functions: operators, calls, names, storage."""

from __future__ import annotations

import numpy as np
import pytest

from xrelax.dialects.relax import sidecar
from xrelax.reference import EvaluationError, evaluate

T = "!relax.tensor<[n, 4], f32>"
B = "!tir.buffer<[n, 4], f32>"
RELU0 = f"""
tir.prim_func @relu0(%X: {B}, %Y: {B}) {{
  tir.for %i in (0, n) {{
    tir.for %j in (0, 4) {{
      %z = arith.constant 0.0 : f32
      %x = tir.load %X[%i, %j] : {B}
      %y = arith.maximumf %x, %z : f32
      tir.store %y, %Y[%i, %j] : {B}
    }}
  }}
}}
"""


def normal(*shape, dtype="float32", seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def double(x, y):
    y[...] = 2 * x


def test_a_graph_with_every_kind_of_call(parse):
    module = parse(
        RELU0
        + f"""
    relax.func @main(%x: {T}, %w: !relax.tensor<[3, 4], f32>)
        -> tuple<!relax.tensor<[n, 3], f32>, {T}> {{
      %y, %h = relax.dataflow -> !relax.tensor<[n, 3], f32>, {T} {{
        %a = relax.call_tir @relu0(%x) : ({T}) -> {T}
        %b = relax.call_dps_packed "relu0"(%a) : ({T}) -> {T}
        %c = relax.call_dps_packed "env.double"(%b) : ({T}) -> {T}
        %d = relax.call @helper(%c) : ({T}) -> {T}
        %e = relax.linear %d, %w : {T}, !relax.tensor<[3, 4], f32> -> !relax.tensor<[n, 3], f32>
        relax.output %e, %d : !relax.tensor<[n, 3], f32>, {T}
      }}
      %r = relax.tuple(%y, %h) : (!relax.tensor<[n, 3], f32>, {T})
          -> tuple<!relax.tensor<[n, 3], f32>, {T}>
      relax.return %r : tuple<!relax.tensor<[n, 3], f32>, {T}>
    }}
    relax.func private @helper(%x: {T}) -> {T} {{
      %c = relax.constant <float32, [1], [0.5]> : !relax.tensor<[1], f32>
      %y = relax.add %x, %c : {T}, !relax.tensor<[1], f32> -> {T}
      relax.return %y : {T}
    }}""",
        verify=False,
    )
    x, w = normal(2, 4), normal(3, 4, seed=1)
    y, h = evaluate(module, "main", [x, w], registry={"env.double": double, "relu0": None})
    np.testing.assert_array_equal(h, 2 * np.maximum(x, 0) + np.float32(0.5))
    np.testing.assert_allclose(y, h @ w.T, rtol=1e-6)


def test_tuples_as_arguments_and_their_fields(parse):
    from xrelax.dialects.relax import ReturnOp, TupleGetItemOp

    module = parse(f"""
    relax.func @main(%t: tuple<{T}, {T}>) -> {T} {{
      %y = relax.alloc_tensor : {T}
      relax.return %y : {T}
    }}""")
    func = module.body.block.first_op
    old = func.body.block.last_op
    field = TupleGetItemOp(func.params[0], 1)
    func.body.block.insert_ops_before([field, ReturnOp(field.result)], old)
    old.detach()
    module.verify()
    x = normal(2, 4)
    np.testing.assert_array_equal(evaluate(module, "main", [(0 * x, x)])[0], x)
    with pytest.raises(
        EvaluationError, match="expected argument 't' to be a tuple of 2, got ndarray"
    ):
        evaluate(module, "main", [x])


@pytest.mark.parametrize("float64", [False, True])
def test_bfloat16_graphs(parse, float64):
    t = "!relax.tensor<[n], bf16>"
    module = parse(f"""
    relax.func @main(%x: {t}) -> {t} {{
      %y = relax.add %x, %x : {t}, {t} -> {t}
      %z = relax.multiply %y, %x : {t}, {t} -> {t}
      relax.return %z : {t}
    }}""")
    bits = np.array([0x3F80, 0x4049], "uint16")  # 1 and 3.140625
    (z,) = evaluate(module, "main", [bits], float64=float64)
    if float64:
        np.testing.assert_array_equal(z, [2, 2 * 3.140625**2])
    else:
        np.testing.assert_array_equal(z, np.array([0x4000, 0x419E], "uint16"))


def test_memory_of_alloc_tensor_is_poison(parse):
    module = parse(f"""
    relax.func impure @main(%x: {T}) -> {T} {{
      %y = relax.alloc_tensor : {T}
      %o = relax.call_packed "half"(%x, %y) : ({T}, {T}) -> !relax.object
      relax.return %y : {T}
    }}""")

    def half(x, y):
        y[1:] = x[1:] / 2

    x = normal(3, 4)
    (y,) = evaluate(module, "main", [x], registry={"half": half})
    assert np.isnan(y[0]).all()
    np.testing.assert_array_equal(y[1:], x[1:] / 2)


def test_constants_of_a_sidecar(parse):
    w = normal(5, 4)
    from xrelax.dialects.relax import TensorData

    digest = TensorData.of(w).digest
    t = "!relax.tensor<[5, 4], f32>"
    text = f"""
    relax.func @main(%x: {t}) -> {t} {{
      %w = relax.constant <float32, [5, 4], "w0", "{digest}"> : {t}
      %y = relax.subtract %x, %w : {t}, {t} -> {t}
      relax.return %y : {t}
    }}"""
    with sidecar({"w0": w}):
        module = parse(text)
    np.testing.assert_array_equal(evaluate(module, "main", [w])[0], 0 * w)
    with pytest.raises(
        EvaluationError, match="expected the data of constant 'w0' in a sidecar file"
    ):
        evaluate(parse(text), "main", [w])


def test_names_that_nobody_registered(parse):
    module = parse(f"""
    relax.func @main(%x: {T}) -> {T} {{
      %y = relax.call_dps_packed "env.relu"(%x) : ({T}) -> {T}
      relax.return %y : {T}
    }}""")
    with pytest.raises(
        EvaluationError, match=r"in 'main': expected 'env.relu' to be a PrimFunc of the module or a"
    ):
        evaluate(module, "main", [normal(1, 4)])
    with pytest.raises(
        EvaluationError, match=r"expected argument 'x' to have shape \(1, 4\), got \(1, 5\)"
    ):
        evaluate(module, "main", [normal(1, 5)])
    with pytest.raises(EvaluationError, match="expected a function 'mian' in the module, got none"):
        evaluate(module, "mian", [])


PLANNED = (
    RELU0
    + f"""
rt.func @main(%x: {B}, %y: {B}) results 1 {{
  rt.check %x "x" : {B}
  %a = rt.arena n * 32
  %t = rt.view %a[0] : !tir.buffer<[n * 32], i8> to {B}
  %u = rt.view %a[n * 16] : !tir.buffer<[n * 32], i8> to {B}
  rt.dataflow {{
    rt.call_dps @relu0(%x) outs(%t) : ({B}), ({B})
    rt.call_packed "env.double"(%t) outs(%u) : ({B}), ({B})
    rt.copy %u, %y : {B}, {B}
  }}
}}
"""
)


@pytest.mark.parametrize("float64", [False, True])
def test_planned_functions(parse, float64):
    x = normal(3, 4)
    (y,) = evaluate(parse(PLANNED), "main", [x], registry={"env.double": double}, float64=float64)
    np.testing.assert_array_equal(y, 2 * np.maximum(x, 0))


def test_views_that_overlap_show(parse):
    module = parse(PLANNED.replace("%a[n * 16]", "%a[n * 16 - 4]"))
    with pytest.raises(
        EvaluationError,
        match=r"expected the output of 'env.double' in memory of its own, got 'u' over 't'",
    ):
        evaluate(module, "main", [normal(3, 4)], registry={"env.double": double})


def test_views_outside_of_the_arena_show(parse):
    smaller = PLANNED.replace("rt.arena n * 32", "rt.arena n * 28").replace(
        "* 32], i8", "* 28], i8"
    )
    module = parse(smaller.replace("rt.view %a[n * 16]", "rt.view %a[n * n * 16]"))
    with pytest.raises(
        EvaluationError, match=r"expected view 'u' inside of 84 bytes, got \[144, 192\)"
    ):
        evaluate(module, "main", [normal(3, 4)], registry={"env.double": double})


def test_results_that_nobody_writes_are_poison(parse):
    module = parse(PLANNED.replace(f"rt.copy %u, %y : {B}, {B}", ""))
    (y,) = evaluate(module, "main", [normal(3, 4)], registry={"env.double": double})
    assert np.isnan(y).all()


@pytest.mark.parametrize("float64", [False, True])
def test_fresh_arena_memory_is_poison(parse, float64):
    module = parse(PLANNED.replace(f'rt.call_packed "env.double"(%t) outs(%u) : ({B}), ({B})', ""))
    (y,) = evaluate(module, "main", [normal(3, 4)], float64=float64)
    assert np.isnan(y).all()


def test_constants_cannot_be_written(parse):
    module = parse(
        RELU0
        + """
    rt.func @main(%x: !tir.buffer<[1, 4], f32>) {
      %c = rt.constant <float32, [1, 4], [1.0, 2.0, 3.0, 4.0]> : !tir.buffer<[1, 4], f32>
      rt.call_dps @relu0(%x) outs(%c) : (!tir.buffer<[1, 4], f32>), (!tir.buffer<[1, 4], f32>)
    }"""
    )
    with pytest.raises(
        EvaluationError, match="in 'relu0': expected 'Y' to be writable, got constant memory"
    ):
        evaluate(module, "main", [normal(1, 4)])


def test_index_parameters_and_loops_callees(parse):
    module = parse("""
    loops.func @fill(%Y: !tir.buffer<[n], f32>) symbols [n, k] {
      loops.for %i in (0, n) {
        %v = tir.apply %i * k
        %w = arith.index_cast %v : index to i32
        %f = arith.sitofp %w : i32 to f32
        loops.store %f, %Y[%i] : !tir.buffer<[n], f32>, f32
      }
    }
    tir.prim_func @scale(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>, %m: index) {
      tir.for %i in (0, n) {
        %x = tir.load %X[%i] : !tir.buffer<[n], f32>
        %v = tir.apply m + %m
        %w = arith.index_cast %v : index to i32
        %f = arith.sitofp %w : i32 to f32
        %y = arith.mulf %x, %f : f32
        tir.store %y, %Y[%i] : !tir.buffer<[n], f32>
      }
    }
    rt.func @main(%x: !tir.buffer<[n], f32>, %y: !tir.buffer<[n], f32>) results 1 {
      %t = rt.alloc : !tir.buffer<[n], f32>
      rt.call_dps @fill() outs(%t) vars [n, n + 1] : (), (!tir.buffer<[n], f32>)
      rt.call_dps @scale(%t) outs(%y) vars [n * 2]
          : (!tir.buffer<[n], f32>), (!tir.buffer<[n], f32>)
    }""")
    (y,) = evaluate(module, "main", [normal(3)])
    np.testing.assert_array_equal(y, np.arange(3) * 4 * 12)
