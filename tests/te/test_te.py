"""Tensor expressions: what they compute, the PrimFuncs they become, and what is refused."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from xrelax import build, nd, te, tir, topi
from xrelax.dialects.diagnostics import verify
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source
from xrelax.te import arithmetic, expr


def run(tensors, *arrays, shapes=None, dtypes=None):
    """The last tensors of a create_prim_func, computed from arrays for the first ones."""
    function = te.create_prim_func(tensors)
    module = ModuleOp([function.op.clone()])
    verify(module)
    outputs = []
    for position, tensor in enumerate(tensors[len(arrays) :]):
        shape = shapes[position] if shapes else tensor.shape
        outputs.append(np.zeros(shape, tensor.dtype))
    results = evaluate(module, "main", [*arrays, *outputs])[len(arrays) :]
    return results[0] if len(results) == 1 else results


def array(*shape, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith(("int", "uint")):
        return rng.integers(0, 9, shape).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)


def test_placeholders():
    a = te.placeholder((128, te.var("n")), name="A", dtype="int8")
    assert (a.name, a.shape[0], str(a.shape[1]), a.dtype, a.ndim) == ("A", 128, "n", "int8", 2)
    assert type(a).__name__ == "Tensor"
    b = te.placeholder((te.var("n"), 3))
    assert a.shape[1] == b.shape[0]
    assert bool(a.shape[1] * 2 != b.shape[0] + b.shape[0]) is False
    with pytest.raises(ValueError, match=r"only known at run time"):
        bool(a.shape[1] > b.shape[0] * 2)


def test_lambdas_of_every_kind():
    a = te.placeholder((3, 4), name="A")
    x = array(3, 4)
    for function in (
        lambda i, j: a[i, j] + 1,
        lambda *i: a(*i) + 1,
        lambda i, *rest: 1 + a(i, *rest),
        lambda i, j, scale=1: a[i, j] + scale,
    ):
        np.testing.assert_array_equal(run([a, te.compute((3, 4), function)], x), x + 1)
    np.testing.assert_array_equal(run([te.compute((), lambda: 3.0)]), np.float32(3))
    assert te.compute((3,), lambda i: 0).dtype == "int32"
    assert te.compute((3,), lambda i: i > 1).dtype == "bool"
    relu = te.compute(a.shape, lambda *i: te.max(a(*i), 0), name="relu")
    assert relu.dtype == "float32"
    np.testing.assert_array_equal(run([a, relu], x), np.maximum(x, 0))


def test_several_outputs():
    a = te.placeholder((5,), name="A")
    low, high = te.compute((5,), lambda i: (a[i] - 1, a[4 - i] * np.float32(2)), name="both")
    x = array(5)
    got = run([a, low, high], x)
    np.testing.assert_array_equal(got[0], x - 1)
    np.testing.assert_array_equal(got[1], x[::-1] * 2)
    assert (low.name, high.name) == ("both.v0", "both.v1")


@pytest.mark.parametrize(
    ("reduce", "function"),
    [(te.sum, np.sum), (te.prod, np.prod), (te.max, np.max), (te.min, np.min)],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8", "int8"])
def test_reductions(reduce, function, dtype):
    a = te.placeholder((3, 4, 2), dtype, name="A")
    j, k = te.reduce_axis((0, 4), name="j"), te.reduce_axis((0, 2), "k")
    x = array(3, 4, 2, dtype=dtype)
    b = te.compute((3,), lambda i: reduce(a[i, j, k], axis=[j, k]))
    assert b.dtype == dtype
    got = run([a, b], x)
    expected = function(
        x, axis=(1, 2), **({"dtype": dtype} if function in (np.sum, np.prod) else {})
    )
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_sums_and_products_of_bools_are_numbers():
    a = te.placeholder((3, 4), "bool", name="A")
    k = te.reduce_axis((0, 4), name="k")
    x = array(3, 4, dtype="bool")
    total = te.compute((3,), lambda i: te.sum(a[i, k], axis=k))
    assert total.dtype == "int32"
    np.testing.assert_array_equal(run([a, total], x), x.sum(axis=1))
    largest = te.compute((3,), lambda i: te.max(a[i, k], axis=k))
    assert largest.dtype == "bool"
    np.testing.assert_array_equal(run([a, largest], x), x.any(axis=1))


@pytest.mark.parametrize(
    ("reduce", "identity"), [(te.max, -np.inf), (te.min, np.inf), (te.sum, 0), (te.prod, 1)]
)
def test_identities_of_empty_reductions(reduce, identity):
    a = te.placeholder((2, 0), name="A")
    k = te.reduce_axis((0, 0), name="k")
    b = te.compute((2,), lambda i: reduce(a[i, k], axis=k))
    assert f"T.float32({identity})" in te.create_prim_func([a, b]).script().replace('"', "")


def test_ranges_that_do_not_start_at_zero_and_conditions():
    a = te.placeholder((8,), name="A")
    k = te.reduce_axis((2, 7), name="k")
    x = array(8)
    b = te.compute((1,), lambda i: te.sum(a[k], axis=k))
    np.testing.assert_allclose(run([a, b], x), [x[2:7].sum()], rtol=1e-6)
    odd = te.compute((1,), lambda i: te.sum(a[k], axis=k, where=k % 2 == 1))
    np.testing.assert_allclose(run([a, odd], x), [x[3:7:2].sum()], rtol=1e-6)
    positive = te.compute((1,), lambda i: te.max(a[k], axis=k, where=a[k] < 0))
    np.testing.assert_allclose(run([a, positive], x), [max(v for v in x[2:7] if v < 0)])


def argmax_of(a, count):
    def larger(lhs, rhs):
        better = expr.PrimExpr.__ge__(lhs[1], rhs[1])
        return (te.if_then_else(better, lhs[0], rhs[0]), te.if_then_else(better, lhs[1], rhs[1]))

    argmax = te.comm_reducer(
        larger, lambda index, value: (te.const(-1, index), te.const(float("-inf"), value)), "argmax"
    )
    k = te.reduce_axis((0, count), name="k")
    return te.compute((a.shape[0],), lambda i: argmax((k, a[i, k]), axis=k), name="argmax")


def test_a_reducer_of_tuples():
    a = te.placeholder((4, 9), name="A")
    index, value = argmax_of(a, 9)
    x = array(4, 9)
    got = run([a, index, value], x)
    np.testing.assert_array_equal(got[0], x.argmax(axis=1))
    np.testing.assert_array_equal(got[1], x.max(axis=1))


def test_composed_and_exposed_intermediates():
    a, b = te.placeholder((4, 6), name="A"), te.placeholder((6, 5), name="B")
    k = te.reduce_axis((0, a.shape[1]), name="k")
    c = te.compute((4, 5), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="matmul")
    d = te.compute(c.shape, lambda *i: te.max(c(*i), 0), name="relu")
    x, y = array(4, 6), array(6, 5, seed=1)
    expected = x @ y
    np.testing.assert_allclose(run([a, b, d], x, y), np.maximum(expected, 0), rtol=1e-5, atol=1e-6)
    inner, outer = run([a, b, c, d], x, y)
    np.testing.assert_allclose(inner, expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(outer, np.maximum(expected, 0), rtol=1e-5, atol=1e-6)
    composed = te.create_prim_func([a, b, d])
    assert "matmul = T.alloc_buffer((4, 5))" in composed.script()
    assert composed.attrs == {"global_symbol": "main", "tir.noalias": True}
    assert 'def main(A: T.Buffer((4, 6), "float32"), B: ' in composed.script()
    assert "alloc_buffer" not in te.create_prim_func([a, b, c, d]).script()


def test_show(capsys):
    a = te.placeholder((4,), name="A")
    te.create_prim_func([a, te.compute((4,), lambda i: a[i] * 2.0)]).show()
    assert "compute[v_i] = A[v_i] * T.float32(2)" in capsys.readouterr().out


def test_attributes_annotate_the_block_and_a_tag_does_not():
    a = te.placeholder((4,), name="A")
    b = te.compute((4,), lambda i: a[i] + 1, "B", tag="injective", attrs={"rule": "none", "by": 2})
    assert (b.op.tag, b.op.attrs) == ("injective", {"rule": "none", "by": 2})
    text = te.create_prim_func([a, b]).script()
    assert 'T.block_attr({"by": 2, "rule": "none"})' in text and "injective" not in text
    b = te.compute((4,), lambda i: a[i] + 1, "B", attrs={"of": a})
    with pytest.raises(ValueError, match="expected a number, string, list or dict, got Tensor"):
        te.create_prim_func([a, b])


def test_tags_of_scopes():
    @te.tag_scope("conv")
    def one():
        return te.compute((4,), lambda i: te.const(1.0), name="one")

    with te.tag_scope(tag="gemm"):
        assert te.compute((4,), lambda i: te.const(1.0)).op.tag == "gemm"
        with pytest.raises(ValueError, match="no tag in the scope of tag 'gemm', got 'conv'"):
            one()
    assert one().op.tag == "conv" and te.compute((4,), lambda i: te.const(1.0)).op.tag == ""


def test_symbolic_shapes():
    n, m = te.var("n"), te.var("m")
    a, b = te.placeholder((n, m), name="A"), te.placeholder((m, 3), name="B")
    k = te.reduce_axis((0, m), name="k")
    c = te.compute((n, 3), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k) if True else 0, name="C")
    d = te.compute((n, 3), lambda i, j: c[i, j] + te.cast("float32", n * 10 + i), name="D")
    x, y = array(2, 5), array(5, 3, seed=2)
    expected = x @ y + 20 + np.arange(2, dtype="float32")[:, None]
    np.testing.assert_allclose(run([a, b, d], x, y, shapes=[(2, 3)]), expected, rtol=1e-5)


def test_a_symbol_that_no_dim_determines_becomes_a_parameter():
    n = te.var("n")
    a = te.placeholder((n * 2,), name="A")
    function = te.create_prim_func([a, te.compute((n * 2,), lambda i: a[i] + 1)])
    assert function.op.names == ("var_A", "var_compute", "n")
    x = array(6)
    result = evaluate(ModuleOp([function.op.clone()]), "main", [x, np.zeros(6, "float32"), 3])[1]
    np.testing.assert_array_equal(result, x + 1)


def test_names_are_made_unique():
    a = te.placeholder((2,), name="x")
    b = te.compute((2,), lambda x: a[x], name="x")
    c = te.compute((2,), lambda x: b[x], name="x")
    assert te.create_prim_func([a, c]).op.names == ("x", "x_1")
    n = te.var("x")
    assert te.create_prim_func([n, a]).op.names == ("x", "x_1")


def test_shared_parts_of_expressions_are_walked_once():
    def doubled(i):
        x = te.cast("float32", i)
        for _ in range(60):
            x = x + x
        return x

    te.compute((4,), doubled)


def one(shape=(4,), dtype="float32"):
    return te.placeholder(shape, dtype, name="A")


K = te.reduce_axis((0, 4), name="k")
ERRORS = [
    (lambda: te.placeholder((4,), "float33"), r"expected a dtype \(.*\), got 'float33'"),
    (
        lambda: te.placeholder((4.5,)),
        r"expected a dim to be an int or an expression of symbols, got 4.5",
    ),
    (lambda: one()[0, 1], r"expected 1 indices for 'A', got 2"),
    (
        lambda: te.compute((2, 3), lambda i: i),
        r"expected a function of 2 indices for 2 dims, got 1",
    ),
    (lambda: te.compute((2,), lambda i: "text"), r"expected an expression or a number, got str"),
    (lambda: te.reduce_axis((4,)), r"expected a range \(start, stop\) for 'rv', got 1 numbers"),
    (
        lambda: te.create_prim_func([te.compute((4,), lambda i, a=one(): a[i])]),
        r"expected input 'A' among the arguments of create_prim_func",
    ),
    (
        lambda: te.create_prim_func([one(), te.compute((4,), lambda i: te.sum(one()[K], axis=K))]),
        r"among the arguments",
    ),
    (
        lambda: te.create_prim_func([te.var("n"), one(), te.var("n")]),
        r"expected distinct arguments, got 'n' twice",
    ),
    (
        lambda: te.create_prim_func([one()], "int16"),
        r"index_dtype_override to be int32, int64 or None, got 'int16'",
    ),
    (
        lambda: te.var("n", "float12"),
        r"expected a dtype .*, got 'float12'",
    ),
    (lambda: te.const(300, "uint8"), r"expected a number of uint8 in \[0, 255\], got 300"),
    (lambda: one()[0] << 1, r"expected integers for 'shift_left', got float32"),
    (lambda: ~one()[0], r"expected an integer or bool for '~', got float32"),
    (lambda: te.const(1, "int32") / 2, r"expected floats on both sides of '/', got int32"),
    (lambda: topi.add(one((3,)), one((4,))), r"\(3,\) and \(4,\) do not broadcast"),
    (
        lambda: topi.matmul(one((3, 4)), one((3, 4))),
        r"shapes of 'relax.matmul' to be compatible, got \[3, 4\] and \[3, 4\]",
    ),
    (
        lambda: te.topi.linear(one((3, 4)), one((3, 5))),
        r"shapes of 'relax.linear' to be compatible, got \[3, 4\] and \[3, 5\]",
    ),
    (
        lambda: te.topi.transpose(one((3, 4)), (0, 0)),
        r"expected axes of 'relax.permute_dims' to permute 2 dims, got \(0, 0\)",
    ),
]


@pytest.mark.parametrize(("make", "message"), ERRORS)
def test_errors(make, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        make()
    assert "\n" not in str(error.value)


def test_wrong_reductions():
    a = one((2, 4))
    for name, element, message in (
        ("in", lambda s, m: s + 1, "expected a reduction to be the whole body of 'in'"),
        ("mixed", lambda s, m: (s, a[0, 0]), "expected every output of 'mixed' to be a reduction"),
        ("two", lambda s, m: (s, m), "expected the outputs of 'two' to be one reduction"),
    ):
        with pytest.raises(RuntimeError, match=message):
            te.compute(
                (2,),
                lambda i, f=element: f(te.sum(a[i, K], axis=K), te.max(a[i, K], axis=K)),
                name=name,
            )
    index, _ = argmax_of(a, 4)
    with pytest.raises(ValueError, match="expected distinct arguments, got 'A' twice"):
        te.create_prim_func([a, index, a])
    with pytest.raises(ValueError, match=r"expected axes of te.reduce_axis, got i"):
        te.compute((2,), lambda i: te.sum(a[i, 0], axis=i))
    assert "argmax_v1 = T.alloc_buffer((2,))" in te.create_prim_func([a, index]).script()


def test_numpy_scalars_and_weak_literals():
    a = one(dtype="float64")
    for value in (np.float64(2) * a[0], a[0] * np.float32(2), 2 * a[0], a[0] + True):
        assert value.dtype == "float64"
    assert (one(dtype="int8")[0] + 1).dtype == "int8"
    assert (one(dtype="int8")[0] * 0.5).dtype == "float32"
    assert te.const(0.1, "float32").value == np.float32(0.1)
    assert arithmetic.convert(1 << 40).dtype == "int64"
    assert (te.const(100, "int8") + te.const(100, "int8")).value == -56
    assert (-te.const(1, "uint8")).value == 255
    assert str(1 - a[0]) == "T.float64(1.0) - A[0]" and str(5 >> te.const(1)) == "5 >> 1"


@pytest.mark.parametrize("override", [None, "int32", "int64"])
def test_the_override_of_index_dtypes_is_no_name(override):
    a = te.placeholder((4,), "float32", name="a")
    b = te.compute((4,), lambda i: a[i] + 1, name="b")
    for function in (
        te.create_prim_func([a, b], override),
        te.create_prim_func([a, b], index_dtype_override=override),
    ):
        assert function.script() == te.create_prim_func([a, b]).script()
    assert te.create_prim_func([a, b], name="other").op.sym_name.data == "other"


def test_definitions_as_in_tvm():
    n, scale = te.var("n"), te.var("scale", "float32")
    a = te.placeholder((n, 4), name="A")
    b = te.compute((n,), lambda i: te.sum(a[i][K] * scale, axis=K), name="B")
    c = te.compute((n,), lambda i: b[i] + 1.0, name="B", attrs={"layout_free_placeholders": [a]})
    assert isinstance(a.op, te.PlaceholderOp) and a.op.output(0) is a and not a.op.input_tensors
    assert b.op.output(0) is b and b.op.input_tensors == (a,) and b.op.reduce_axis == (K,)
    assert len(b.op.body) == len(b.op.axis) == 1 and b.value_index == 0
    kernel = te.create_prim_func([a, n, scale, c])
    text = kernel.script()
    assert "(var_A: T.handle, n: T.int64, scale: T.float32, var_B: T.handle)" in text
    assert 'T.block("B")' in text and 'T.block("B_1")' in text
    assert kernel.attrs["layout_free_buffers"] == [0]
    x, y = np.ones((3, 4), "float32"), nd.empty((3,))
    build(kernel)(nd.array(x), 2.0, y)  # n is known by the shapes
    np.testing.assert_array_equal(y.numpy(), 9.0)
    for wrong in (n + 1, 2.0):
        with pytest.raises(TypeError, match="expected a tensor or a variable, got"):
            te.create_prim_func([a, wrong])


def test_blocks_of_scripts_list_buffers_of_free_layout():
    func = from_source("""
@T.prim_func
def main(A: T.Buffer((4,)), B: T.Buffer((4,)), D: T.Buffer((4,))):
    C = T.alloc_buffer((4,))
    for i in range(4):
        with T.block("C"):
            T.block_attr({"layout_free_placeholders": [B], "kind": 1})
            vi = T.axis.spatial(4, i)
            C[vi] = A[vi] * B[vi]
    for i in range(4):
        with T.block("D"):
            T.block_attr({"layout_free_placeholders": [C]})
            vi = T.axis.spatial(4, i)
            D[vi] = C[vi]
""")
    assert func.attrs["layout_free_buffers"] == [1]
    assert "placeholders" not in func.script() and func.script().count("block_attr") == 1


def test_pools_as_in_tvm():
    x = te.placeholder((1, 2, 4, 4), name="x")
    y = topi.nn.adaptive_pool(x, [2, 2], "max")
    assert y.shape == (1, 2, 2, 2) and topi.nn.global_pool(x, "avg").shape == (1, 2, 1, 1)
    with pytest.raises(ValueError, match=r"expected a pool_type \(avg, max\), got 'sum'"):
        topi.nn.global_pool(x, "sum")
    up = topi.nn.upsampling(
        te.placeholder((1, 4, 3, 2)), 2.0, 3.0, layout="NHWC", method="bilinear"
    )
    assert up.shape == (1, 8, 9, 2)
    with pytest.raises(ValueError, match=r"expected a method \(nearest_neighbor, .*, got 'best'"):
        topi.nn.upsampling(x, 2, 2, method="best")
    with pytest.raises(TypeError, match=r"topi\.acos only supports floating-point inputs, but got"):
        topi.acos(te.placeholder((2,), dtype="int16"))


def test_a_let_of_a_symbol():
    x, n = tir.Var("x", "int32"), te.var("n")
    a = te.placeholder((n,), "int64", name="a")
    data = np.arange(4)
    for element, wanted in (
        (lambda i: tir.Let(x, a[i] * 2, x + 1), data * 2 + 1),
        (lambda i: tir.Let(x, i * 2, a[i] + x % 3), data + data * 2 % 3),
        (lambda i: tir.Let(n, i + 1, n * n) + n, (data + 1) ** 2 + 4),
        (lambda i: tir.Let(x, i, tir.Let(x, x + 1, x * 10) + x), data * 11 + 10),
    ):
        b = te.compute((n,), element, name="b")
        found = np.empty(4, b.dtype)
        build(te.create_prim_func([a, b]))["main"](data, found)
        np.testing.assert_array_equal(found, wanted)
