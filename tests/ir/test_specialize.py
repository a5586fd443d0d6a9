"""Copies of PrimFuncs with other shapes, and with values of numbers."""

import pytest

from xrelax import tir
from xrelax.ir import assert_structural_equal
from xrelax.script import from_source

SOURCE = """
@T.prim_func
def scaled(x: T.handle, y: T.handle, {number}):
{lines}
    X = T.match_buffer(x, ({m}, {n} * 2), "float32")
    Y = T.match_buffer(y, ({m}, {n} * 2), "float32", strides=({s}, 1), elem_offset={n})
    for i, j in T.grid({m}, {n} * 2):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] * 2.0
"""


def scaled(lines="pass", m="m", n="n", s="s", number="n: T.int64"):
    return from_source(SOURCE.format(lines=f"    {lines}", m=m, n=n, s=s, number=number))


FUNC = scaled("m, s = T.int64(), T.int64()")
X, Y, N = FUNC.params


def test_numbers_get_values():
    assert FUNC.specialize({}).same_as(FUNC)
    new = FUNC.specialize({N: 4})
    assert_structural_equal(new, scaled("m, s = T.int64(), T.int64()", n="4", number=""))
    assert [str(p) for p in FUNC.specialize({N: N * 2}).params] == ["X", "Y"]


def test_buffers_get_shapes():
    like = tir.decl_buffer((3, 8), strides=[16, 1], elem_offset=4)
    new = FUNC.specialize({Y: like, N: 4})
    assert_structural_equal(new, scaled(m="3", n="4", s="16", number=""))
    assert new.params[1].strides == (16, 1) and new.params[1].elem_offset == 4
    assert new.params[0].strides == () and new.params[1].ty.shape == (3, 8)


@pytest.mark.parametrize(
    "values, message",
    [
        ({X: tir.decl_buffer((3, 8)), N: 5}, r"got !tir.buffer<\[3, 8\], f32>"),
        ({N: 5, X: tir.decl_buffer((3, 8))}, r"got !tir.buffer<\[3, 8\], f32>"),
        ({X: tir.decl_buffer((3, 8), "int8")}, "got !tir.buffer"),
        ({X: tir.decl_buffer((3,))}, "got !tir.buffer"),
        ({X: tir.decl_buffer((3, 8)), Y: tir.decl_buffer((4, 8))}, "expected m = 3 of 'Y', got 4"),
        ({X: tir.decl_buffer((3, 8))}, r"got !tir.buffer<\[3, 8\], f32>"),
        ({tir.Var("k"): 5}, "expected parameters of 'scaled', got k"),
    ],
)
def test_what_contradicts(values, message):
    with pytest.raises(ValueError, match=message):
        FUNC.specialize(values)


def test_scalars():
    func = from_source("""
@T.prim_func
def shifted(p: T.handle, x: T.float32, m: T.int32, Y: T.Buffer((4,), "int32")):
    Y[0] = m + T.Cast("int32", x)
    T.evaluate(T.call_extern("int32", "f", p))
""")
    p, x, m, _ = func.params
    assert "-3) + T.Cast" in func.specialize({m: -3}).script()
    for param, type_ in ((p, "!tir.handle"), (x, "f32")):
        with pytest.raises(ValueError, match=f"expected '{param}' to be an integer or a .*{type_}"):
            func.specialize({param: 2})


def test_buffers_of_no_function():
    tile = tir.decl_buffer((4, tir.Var("n")), "int8", name="tile", scope="local", elem_offset=3)
    assert (tile.name, tile.dtype, tile.scope) == ("tile", "int8", "local")
    assert str(tile.offset_of([1, 2])[0]) == "n + 5"
    flat = tile.get_flattened_buffer()
    assert str(flat.shape[0]) == "n * 4" and flat.get_flattened_buffer().same_as(flat)
    with pytest.raises(ValueError, match="expected 2 indices for 'tile', got 1"):
        tile.offset_of([1])
    with pytest.raises(ValueError, match="expected 'strided' without strides"):
        tir.decl_buffer((4, 4), name="strided", strides=[8, 1]).get_flattened_buffer()
