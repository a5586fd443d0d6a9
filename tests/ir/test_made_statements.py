"""Statements made of parts, and the kernels that they become."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import ir, tir
from xrelax.dialects.diagnostics import BuilderError, Diagnostic
from xrelax.ir.equality import assert_structural_equal, structural_equal
from xrelax.script import from_source


def buffers(*names: str, shape=(8,), dtype="float32"):
    return [tir.decl_buffer(shape, dtype, name) for name in names]


def run(func, *arrays):
    tensors = [tvm.runtime.tensor(a) for a in arrays]
    tvm.build(func)(*tensors)
    return [t.numpy() for t in tensors]


def test_a_kernel_of_loops_and_choices():
    a, b = buffers("A", "B")
    i = tir.Var("i", "int32")
    twice = tir.BufferStore(b, tir.BufferLoad(a, [i]) * 2.0, [i])
    choice = tir.IfThenElse(
        i < 3, twice, tir.SeqStmt([tir.Evaluate(0), tir.BufferStore(b, 1, [i])])
    )
    loop = tir.For(loop_var=i, min=0, extent=8, kind=tir.ForKind.SERIAL, body=choice)
    assert isinstance(loop, tir.For) and loop.body is choice and loop.loop_var is i
    assert loop.kind == tir.ForKind.SERIAL and loop.extent.value == 8 and loop.step is None
    func = tir.PrimFunc([a, b], loop)
    expected = from_source("""
@T.prim_func
def main(A: T.Buffer((8,)), B: T.Buffer((8,))):
    for i in range(8):
        if i < 3:
            B[i] = A[i] * 2.0
        else:
            B[i] = 1.0
""")
    assert_structural_equal(func, expected)
    assert structural_equal(loop, expected.body) and not structural_equal(loop, expected.body.body)
    assert str(loop) == str(expected.body) and str(twice) == "B[i] = A[i] * T.float32(2)"
    x = np.arange(8, dtype="float32")
    _, y = run(func, x, np.zeros_like(x))
    np.testing.assert_array_equal(y, np.where(x < 3, x * 2, 1))


def test_a_kernel_of_blocks():
    a, c, s = buffers("A", shape=(8, 4)) + buffers("C", "S")
    i, k, vi, vk = (tir.Var(name, "int64") for name in ("i", "k", "vi", "vk"))
    total = tir.BufferLoad(s, [vi])
    axes = [tir.IterVar(ir.Range(0, 8), vi, 0), tir.IterVar((0, 4), "vk", 2)]
    block = tir.SBlock(
        axes,
        [tir.BufferRegion(a, [ir.Range(vi, vi + 1), ir.Range(vk, vk + 1)])],
        [tir.BufferRegion(s, [ir.Range(vi, vi + 1)])],
        "sum",
        tir.BufferStore(s, total + tir.BufferLoad(a, [vi, vk]), [vi]),
        init=tir.BufferStore(s, 0, [vi]),
        annotations={"key": 1},
    )
    realize = tir.SBlockRealize([i, k], tir.all(i < 6, k + i <= 7), block)
    inner = tir.For(i, 0, 8, "parallel", tir.For(k, 0, 4, 0, realize))
    copied = tir.SBlock(
        [tir.IterVar((0, 8), "vj", 0)],
        None,
        None,
        "copy",
        tir.BufferStore(c, tir.if_then_else(tir.Var("vj") < 6, s_at(s), 0.0), [tir.Var("vj")]),
    )
    last = tir.For(k, 0, 8, 0, tir.SBlockRealize([k], True, copied))
    root = tir.SBlock([], [], [], "root", tir.SeqStmt([inner, last]), alloc_buffers=[s])
    func = tir.PrimFunc([a, c], tir.SBlockRealize([], True, root))
    shown = func.script()
    assert 'T.block_attr({"key": 1})' in shown and "T.where(i < 6 and i + k < 8)" in shown
    assert "T.reads(S[vj])" in shown
    assert str(block).startswith('with T.block("sum"):\n    vi = T.axis.spatial(8, vi)\n')
    x = np.random.default_rng(0).standard_normal((8, 4), np.float32)
    _, y = run(func, x, np.zeros(8, np.float32))
    kept = np.add.outer(np.arange(8), np.arange(4)) <= 7
    expected = np.where(np.arange(8) < 6, (x * kept).sum(1), 0)
    np.testing.assert_allclose(y, expected, rtol=1e-6, atol=1e-6)


def s_at(buffer):
    return tir.BufferLoad(buffer, [tir.Var("vj")])


def test_parameters_of_all_kinds():
    n, m = tir.Var("n", "int64"), tir.Var("s", "uint8")
    handle, a = tir.Var("x", "handle"), tir.decl_buffer((n,), "uint8", "X")
    i = tir.Var("i", "int64")
    body = tir.For(i, 1, n - 1, 0, tir.BufferStore(a, m + tir.BufferLoad(a, [i]), [i]), step=2)
    func = tir.PrimFunc([handle, m, n], body, buffer_map={handle: a}, attrs={"key": 3})
    assert func.name == "main" and func.attrs == {"global_symbol": "main", "key": 3}
    assert [str(p) for p in func.params] == ["X", "s", "n"]
    x = tvm.runtime.tensor(np.arange(6, dtype="uint8"))
    tvm.build(func)(x, 250)
    np.testing.assert_array_equal(x.numpy(), [0, 251, 2, 253, 4, 255])
    other = func.with_body(tir.BufferStore(func.params[0], 7, [0]))
    assert other.attrs == func.attrs and str(other.body) == "X[0] = T.uint8(7)"


def test_other_statements():
    (a,) = buffers("A", dtype="int32")
    v, i = tir.Var("v", "float32"), tir.Var("i", "int64")
    doubled = tir.BufferStore(a, tir.Cast("int32", v + v), [2])
    body = tir.SeqStmt(
        [
            tir.AssertStmt(tir.BufferLoad(a, [0]) > 0, "small"),
            tir.AssertStmt(tir.BufferLoad(a, [0]) > 0, "TypeError", [tir.StringImm("small")]),
            tir.Bind(v, tir.Cast("float32", tir.BufferLoad(a, [1]))),
            tir.Bind(i, 3),
            tir.While(tir.BufferLoad(a, [i]) < 9, tir.BufferStore(a, 9, [i])),
            tir.AttrStmt(
                "i", "pragma_unroll", 1, tir.BufferStore(a, tir.Cast("int32", v + v), [2])
            ),
        ]
    )
    func = tir.PrimFunc([a], body)
    assert (
        str(func.body)
        == str(body)
        == (
            'assert A[0] > T.int32(0), "small"\n'
            'assert A[0] > T.int32(0), "TypeError: small"\n'
            'v: T.float32 = T.Cast("float32", A[1])\n'
            "while A[3] < T.int32(9):\n"
            "    A[3] = T.int32(9)\n"
            "with T.attr('i', \"pragma_unroll\", T.int32(1)):\n"
            '    A[2] = T.Cast("int32", v + v)'
        )
    )
    found = []
    tir.stmt_functor.post_order_visit(body, found.append)
    assert {type(n).__name__ for n in found} >= {"While", "Bind", "AssertStmt", "AttrStmt"}
    assert body[2].var is v and len(body) == 6 and hash(body) == id(body) and body != func.body


KERNELS = (
    """
@T.prim_func
def main(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "uint32"), Y: T.Buffer((4,), "int32")):
    for i in range(4):
        Y[i] = T.dp4a(T.Cast("uint32", A[i]), T.Cast("int32", B[i]))
""",
    """
@T.prim_func
def main(x: T.handle, Y: T.Buffer((8,)), p: T.handle("int8", "local"), f: T.bool, n: T.int64):
    X = T.match_buffer(x, (8,))
    for i in range(n):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            V = T.match_buffer(X[vi], ())
            Y[vi] = T.if_then_else(f, V[()], T.float32(0))
""",
    """
@T.prim_func
def f(X: T.Buffer((8,), "float32"), Y: T.Buffer((8,), "float32")):
    a: T.handle("float32") = T.tvm_struct_get(X.data, 1, 2, dtype="handle")
    for i in range(8):
        T.evaluate(T.call_extern("void", "f", T.address_of(X[7 - i]), Y.data))
""",
)


@pytest.mark.parametrize("text", KERNELS)
def test_the_parts_of_a_kernel_make_it_again(text):
    func = from_source(text)
    assert_structural_equal(tir.PrimFunc(func.params, func.body, attrs=func.attrs), func)
    private = from_source(text.replace("prim_func", "prim_func(private=True)"))
    assert_structural_equal(private.with_body(private.body), private)


def test_parts_of_scheduled_kernels():
    sch = tir.Schedule(from_source(KERNELS[1].replace("range(n)", "range(8)")))
    loop, block = sch.get_loops("Y")[0], sch.get(sch.get_block("Y"))
    used = [sch.func.params[1], block.reads[0].buffer, tir.Var("f", "bool")]
    func = tir.PrimFunc(used[:2], tir.For(tir.Var("t", "int64"), 0, 2, 0, tir.Evaluate(0)))
    assert func.script().count("for t") == 1
    view = sch.get(loop)
    with pytest.raises(NameError, match="expected variable 'f' to be defined here"):
        tir.PrimFunc([sch.mod["main"].params[1]], tir.Evaluate(tir.Cast("int32", used[2])))
    assert view.extent == 8


def test_modules_of_functions():
    (a,) = buffers("A")
    func = tir.PrimFunc([a], tir.BufferStore(a, 1, [0]))
    module = tvm.IRModule(functions={"f": func}, attrs={"key": 1})
    assert [v.name_hint for v in module.get_global_vars()] == ["f"] and module.attrs == {"key": 1}
    assert tvm.IRModule({"f": func}).attrs == {}


def test_wrong_parts():
    (a, b), i = buffers("A", "B"), tir.Var("i", "int64")
    store = tir.BufferStore(a, tir.BufferLoad(b, [i]), [i])
    block = tir.SBlock([tir.IterVar((0, 8), "vi", 0)], None, None, "b", store)
    x = tir.Var("x", "float32")
    cases = [
        (TypeError, "expected body to be a Statement, got int", lambda: tir.For(i, 0, 8, 0, 1)),
        (TypeError, r"For\(\) missing 1 required", lambda: tir.For(i, 0, 8, 0)),
        (ValueError, "expected 1 indices for 'A', got 2", lambda: tir.BufferStore(a, 1, [i, i])),
        (TypeError, "expected buffer to be a Buffer, got int", lambda: tir.BufferStore(1, 1, [i])),
        (TypeError, "expected a store without a predicate", lambda: tir.BufferStore(a, 1, [i], x)),
        (ValueError, "expected 1 values of axes for block 'b'", lambda: realized([], block)),
        (ValueError, "expected an iter_type of", lambda: tir.IterVar((0, 8), "vi", 9)),
        (TypeError, "expected a statement that is made of parts", lambda: tir.DeclBuffer(a)),
        (
            AttributeError,
            r"expected a part of BufferStore \(buffer, .*, got 'op'",
            lambda: store.op,
        ),
        (BuilderError, "expected 'B' to be a parameter or", lambda: tir.PrimFunc([a], store)),
        (Diagnostic, "symbol 'i' in 'tir.load' is not", lambda: tir.PrimFunc([a, b], store)),
        (TypeError, "expected parameters to be buffers or", lambda: tir.PrimFunc([i + 1], store)),
        (TypeError, "expected a PrimFunc of parameters and", lambda: tir.PrimFunc([a, b])),
        (
            BuilderError,
            "predicate of block 'b': expected comparisons",
            lambda: tir.PrimFunc([a, b, i], realized([i], block, tir.BufferLoad(a, [0]) > 1.0)),
        ),
        (
            TypeError,
            "expected a variable, got 3",
            lambda: tir.PrimFunc([a], tir.For(3, 0, 8, 0, tir.Evaluate(0))),
        ),
        (
            Diagnostic,
            "takes values in",
            lambda: tir.PrimFunc([a, b], tir.For(i, 0, 9, 0, realized([i], block))),
        ),
    ]
    for error, message, make in cases:
        with pytest.raises(error, match=message):
            make()


def realized(values, block, predicate=True):
    return tir.SBlockRealize(values, predicate, block)
