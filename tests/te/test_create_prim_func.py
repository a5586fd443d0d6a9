"""The PrimFuncs that tensor expressions become: parameters, names, blocks and attributes."""

import numpy as np
import pytest
from evaluating import array, run
from xdsl.dialects.builtin import ModuleOp

from xrelax import build, nd, te
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source


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
    k = te.reduce_axis((0, 4), name="k")
    b = te.compute((n,), lambda i: te.sum(a[i][k] * scale, axis=k), name="B")
    c = te.compute((n,), lambda i: b[i] + 1.0, name="B", attrs={"layout_free_placeholders": [a]})
    assert isinstance(a.op, te.PlaceholderOp) and a.op.output(0) is a and not a.op.input_tensors
    assert b.op.output(0) is b and b.op.input_tensors == (a,) and b.op.reduce_axis == (k,)
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
