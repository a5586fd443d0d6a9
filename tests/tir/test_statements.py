"""The statements and expressions of kernels as TVM shows them: `PrimFunc.body`."""

from __future__ import annotations

import pytest

from xrelax import ir, tir
from xrelax.ir.equality import structural_equal
from xrelax.script import from_source

SUMS = """
@T.prim_func
def main(A: T.Buffer((16, 8)), P: T.Buffer((8,), "int32"), C: T.Buffer((16,))):
    B = T.alloc_buffer((16, 8))
    for i, j in T.grid(16, 8):
        with T.block("copy"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(i * 8 + j < 100)
            B[vi, vj] = T.exp(A[vi, P[vj]]) * 2.0
    for i in T.parallel(16, annotations={"key": 3}):
        for k in range(8):
            with T.block("sum"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    C[vi] = 0.0
                C[vi] = C[vi] + B[vi, vk]
"""


def test_blocks_and_loops():
    func = from_source(SUMS)
    root = func.body.block
    assert root.name_hint == "root" and root.iter_vars == root.reads == root.writes == []
    assert [b.name for b in root.alloc_buffers] == ["B"]
    first, second = root.body
    assert isinstance(root.body, tir.SeqStmt) and len(root.body) == 2
    assert isinstance(second, tir.For) and second.kind == tir.ForKind.PARALLEL
    assert second.annotations == {"key": 3} and second.extent == 16
    realize = second.body.body
    assert isinstance(realize, tir.SBlockRealize) and realize.same_as(root.body[1].body.body)
    assert realize != realize.block and realize.predicate
    assert [a.name for a in realize.block.iter_vars] == ["vi_1", "vk"]
    assert str(realize.iter_values) == "[i_1, k]" and realize.iter_values[1].same_as(
        second.body.loop_var
    )
    assert str(realize.block.init) == "C[vi] = T.float32(0)"
    copy = first.body.body
    assert str(copy.predicate) == "i * 8 + j < 100"
    vi, vj = (a.var for a in copy.block.iter_vars)
    buffer = root.alloc_buffers[0]
    region = tir.BufferRegion(buffer, [ir.Range(vi, vi + 1), ir.Range(vj, vj + 1)])
    assert copy.block.writes == [region] and str(region) == "B[vi:vi + 1, vj:vj + 1]"


def test_expressions():
    store = from_source(SUMS).body.block.body[0].body.body.block.body
    assert isinstance(store, tir.BufferStore) and store.buffer.name == "B"
    product = store.value
    assert isinstance(product, tir.Mul) and not isinstance(product, tir.Add | tir.Var)
    assert isinstance(product.a, tir.Call) and product.b.value == 2
    (load,) = product.a.args
    assert isinstance(load, tir.BufferLoad) and load.buffer.name == "A"
    assert isinstance(load.indices[0], tir.Var) and isinstance(load.indices[1], tir.BufferLoad)
    assert str(store) == "B[vi, vj] = T.exp(A[vi, P[vj]]) * T.float32(2)"


def test_statements_are_compared_as_written():
    first, second = (from_source(text).body.block.body for text in (SUMS, SUMS))
    assert first != second and structural_equal(first, second)
    assert structural_equal(first[0].body, second[0].body)
    other = from_source(SUMS.replace("* 2.0", "* 3.0")).body.block.body
    assert not structural_equal(first, other) and structural_equal(first[1], other[1])
    assert not structural_equal(first[0].body.body, first[0].body.body.block)


def test_operations_of_integers():
    n, m = tir.Var("n", "int32"), tir.Var("m", "int32")
    cases = {
        tir.Add: n + 3,
        tir.Sub: n * 2 - 3,
        tir.Mul: n * m * 4,
        tir.FloorDiv: (n + 1) // 4,
        tir.FloorMod: n % 4,
        tir.Min: tir.min(n, 4),
        tir.Max: tir.max(n, m),
        tir.LT: n < 4,
        tir.Mod: tir.truncmod(n, m),
        tir.And: tir.all(n < 4, m < 4),
        tir.Var: n,
    }
    for kind, expr in cases.items():
        assert [k.__name__ for k in cases if isinstance(expr, k)] == [kind.__name__]
    assert str((n * 2 - 3).a) == "n * 2" and (n * 2 - 3).b == 3 and n.name == "n"
    with pytest.raises(AttributeError, match="expected a binary expression, which has two sides"):
        _ = n.a
    with pytest.raises(AttributeError, match=r"expected a symbol, which has a name, got n \+ 1"):
        _ = (n + 1).name


CONTROL = """
@T.prim_func
def main(A: T.Buffer((16,), "int32"), s: T.uint8, h: T.handle):
    for i in range(16):
        v: T.int32 = A[i]
        A[i] = 0
        while A[i] < 4:
            if s > T.uint8(3):
                A[i] = A[i] + v * v
            else:
                break
        with T.attr("i", "pragma_unroll", 1):
            T.evaluate(T.call_extern("int32", "f", A.data, v, h))
    assert A[0] > 1, "large"
"""


def test_control():
    found = []
    body = from_source(CONTROL).body
    tir.stmt_functor.post_order_visit(body, lambda n: found.append(n))
    kinds = {type(n).__name__ for n in found}
    assert kinds >= {"Bind", "While", "IfThenElse", "Break", "AttrStmt", "Evaluate", "AssertStmt"}
    named = next(n for n in found if isinstance(n, tir.Bind))
    assert named.var.dtype == "int32" and str(named) == "v: T.int32 = A[i]"
    uses = [n for n in found if isinstance(n, tir.Var) and n.same_as(named.var)]
    assert len(uses) == 3
    call = next(n for n in found if isinstance(n, tir.Evaluate)).value
    assert str(call) == 'T.call_extern("int32", "f", A.data, v, h)'
    outer = []
    tir.stmt_functor.pre_order_visit(
        body, lambda n: outer.append(n) or not isinstance(n, tir.For | tir.AssertStmt)
    )
    assert [type(n).__name__ for n in outer] == ["SeqStmt", "For", "AssertStmt"]


VALUES = {
    "casts": "T.Cast('uint8', A[vi]) * T.uint8(3) >> T.uint8(1)",
    "choices": "T.if_then_else(vi < 3, A[vi], T.Select(A[vi] > 2, A[vi], 0 - A[vi]))",
    "indices": "A[(vi * 3 + n) % 8] + T.max(vi, n)",
    "integers": "A[vi] // 3 + T.truncmod(A[vi], 7) + T.min(A[vi], 2)",
    "bits": "(A[vi] & 6 | 1) ^ T.popcount(A[vi]) << 2",
    "bools": "T.Cast('int32', T.Or(T.And(not A[vi] > 2, A[vi] != 0), n < 3 and vi < n))",
    "floats": "T.Cast('int32', T.exp(-T.Cast('float32', A[vi])) + T.pow(F[vi], T.abs(F[vi])))",
    "data": "A[P[vi]] + P[vi]",
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_values_say_what_is_computed(value: str):
    text = """
@T.prim_func
def main(a: T.handle, F: T.Buffer((8,), "float32"), P: T.Buffer((8,), "int32"),
         Y: T.Buffer((8,), "int32"), n: T.int64):
    A = T.match_buffer(a, (8,), "int32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = VALUE
"""
    func = from_source(text.replace("VALUE", value))
    store = func.body.block.body.body.block.body
    again = from_source(text.replace("VALUE", str(store.value)))
    assert structural_equal(again.op, func.op)
