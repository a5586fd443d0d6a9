"""Relations of types, and the symbols in them."""

import pytest

from xrelax import relax, tir
from xrelax.relax import FuncStructInfo as Func
from xrelax.relax import ObjectStructInfo as Object
from xrelax.relax import PrimStructInfo as Prim
from xrelax.relax import ShapeStructInfo as Shape
from xrelax.relax import TensorStructInfo as Tensor
from xrelax.relax import TupleStructInfo as Tuple
from xrelax.relax.analysis import BaseCheckResult as Result
from xrelax.script import from_source
from xrelax.script import relax as R

N, M = tir.Var("n", "int64"), tir.Var("m", "int64")
KNOWN = Tensor((N, M), "float32")
FUNC = Func([Tensor((1, N), "float32")], Tensor((1, N), "float32"))
ERASED = Func([Tensor(ndim=2)], Tensor(ndim=2))


@pytest.mark.parametrize(
    ("base", "derived", "result"),
    [
        (Object(), KNOWN, Result.PASS),
        (KNOWN, Object(), Result.FAIL_L1),
        (KNOWN, Shape((N, M)), Result.FAIL_L0),
        (Tensor(ndim=2), KNOWN, Result.PASS),
        (KNOWN, Tensor(ndim=2), Result.FAIL_L2),
        (Tensor(ndim=2), Tensor(), Result.FAIL_L1),
        (Tensor(ndim=3), KNOWN, Result.FAIL_L0),
        (Tensor((N, M), "int32"), KNOWN, Result.FAIL_L0),
        (KNOWN, Tensor((N, M), ""), Result.FAIL_L1),
        (Tensor((N, 1)), Tensor((N, 2)), Result.FAIL_L0),
        (Shape((1, 2)), Shape((1, N)), Result.FAIL_L2),
        (Prim("int64"), Prim("int32"), Result.FAIL_L0),
        (Tuple([Object(), KNOWN]), Tuple([KNOWN, KNOWN]), Result.PASS),
        (Tuple([KNOWN]), Tuple([KNOWN, KNOWN]), Result.FAIL_L0),
        (ERASED, FUNC, Result.PASS),
        (FUNC, ERASED, Result.FAIL_L2),
        (FUNC, Func(FUNC.params, FUNC.ret, purity=False), Result.FAIL_L0),
    ],
)
def test_which_types_have_the_values_of_others(base, derived, result):
    assert relax.analysis.type_base_check(base, derived) is result
    assert base.is_base_of(derived) == (result is Result.PASS)


@pytest.mark.parametrize(
    ("lhs", "rhs", "common"),
    [
        (KNOWN, KNOWN, KNOWN),
        (KNOWN, Tensor((N, 2)), Tensor(ndim=2)),
        (KNOWN, Tensor((N, M), "int32"), Tensor((N, M), "")),
        (KNOWN, Tensor((N,)), Tensor()),
        (Shape((1,)), Shape((2,)), Shape(ndim=1)),
        (Prim("int64"), Prim("int32"), Object()),
        (Prim(value=N), Prim(value=M), Prim("int64")),
        (KNOWN, Shape((N, M)), Object()),
        (Tuple([KNOWN]), Tuple([KNOWN, KNOWN]), Object()),
        (FUNC, Func([Tensor((2, N))], Tensor((1, N))), Func([Tensor(ndim=2)], Tensor((1, N)))),
    ],
)
def test_the_common_supertype(lhs, rhs, common):
    for a, b in ((lhs, rhs), (rhs, lhs)):
        assert relax.analysis.struct_info_lca(a, b) == common


def test_annotations_outside_of_scripts_are_types():
    assert R.Prim("bool").as_struct_info() == Prim("bool")
    assert relax.analysis.type_lca(R.Tensor((4,), "float32"), R.Any()) == Object()


def test_types_without_dims():
    analysis = relax.analysis
    assert analysis.get_static_type(Tuple([KNOWN, FUNC])) == Tuple([Tensor(ndim=2), ERASED])
    assert analysis.erase_to_well_defined(KNOWN, {N: 2, M: M + 1}) == Tensor((2, M + 1))
    assert analysis.erase_to_well_defined(KNOWN, {N: N}) == Tensor(ndim=2)


def test_symbols_of_types():
    analysis = relax.analysis
    assert analysis.tir_vars_in_type(Tensor((1, N * 2, M))) == [N, M]
    assert analysis.definable_tir_vars_in_type(Tensor((1, N * 2, M))) == [M]
    assert analysis.tir_vars_in_struct_info(FUNC) == [N]
    dims = analysis.collect_non_negative_expressions(
        Tuple([KNOWN, Shape([N - 2, 4]), Prim(value=M)])
    )
    assert dims == [N, M, N - 2]


def test_symbols_of_functions():
    func = from_source("""
@R.function
def main(x: R.Tensor(("n",), "float32")):
    y = R.match_cast(x, R.Tensor(("m",), "float32"))
    return y
""")
    assert set(relax.analysis.defined_symbolic_vars(func)) == {N, M}
    assert relax.analysis.free_symbolic_vars(func) == []
