"""Unification of a call's shapes with its callee's symbols."""

import pytest
from xdsl.dialects.builtin import f32

from xrelax.dialects.diagnostics import Diagnostic
from xrelax.dialects.int_expr import IntExpr, IntLike, sym
from xrelax.dialects.relax import TensorType
from xrelax.dialects.tir import BufferType
from xrelax.lowering.call_signature import Formal, Unification, unify
from xrelax.lowering.equations import Equation

LINEAR = {
    "x": (1, sym("m")),
    "w": (sym("n"), sym("m")),
    "b": (sym("n"),),
    "z": (1, sym("n")),
}


def formals(shapes: dict[str, tuple[IntLike, ...]]) -> list[Formal]:
    return [Formal(f"argument '{n}'", BufferType.of(s, f32)) for n, s in shapes.items()]


def call(
    shapes: dict[str, tuple[IntLike, ...]], *actual: tuple[IntLike, ...] | None
) -> Unification:
    return unify("call of 'f'", formals(shapes), [TensorType.of(s, f32) for s in actual])


def test_numbers():
    found = call(LINEAR, (1, 784), (128, 784), (128,), (1, 128))
    assert found.symbols == {"m": IntExpr.of(784), "n": IntExpr.of(128)}
    assert found.undecided == []


def test_symbols_of_the_caller_may_have_the_callees_names():
    """As in an MLP's second layer: the callee's m is the caller's n, and its n the caller's k."""
    found = call(LINEAR, (1, sym("n")), (sym("k"), sym("n")), (sym("k"),), (1, sym("k")))
    assert found.symbols == {"m": sym("n"), "n": sym("k")}
    assert found.undecided == []


def test_composed_dims():
    shapes = {"x": (sym("n"),), "y": (sym("n") * 2 + 1,)}
    assert call(shapes, (sym("k") * 3,), (sym("k") * 6 + 1,)).undecided == []
    with pytest.raises(Diagnostic, match=r"shape \(9,\), got \(8,\)"):
        call(shapes, (4,), (8,))


def test_what_only_run_time_can_decide_is_listed():
    found = call(LINEAR, (1, sym("p")), (128, sym("q")), (128,), (1, 128))
    assert found.undecided == [Equation("argument 'w'", sym("p"), sym("q"))]


def test_a_number_of_the_callee_against_a_symbol():
    found = call({"x": (4,)}, (sym("p"),))
    assert found.undecided == [Equation("argument 'x'", IntExpr.of(4), sym("p"))]


def test_unknown_shapes_say_nothing():
    found = call({"x": (sym("n"),), "y": (sym("n") + 1,)}, None, (5,))
    assert found.symbols == {} and found.undecided == []


def test_index_values_determine_symbols():
    given = {"i": IntExpr.of(2)}
    shapes = formals({"x": (sym("n"),), "y": (sym("n") - sym("i"),)})
    found = unify(
        "call of 'f'", shapes, [TensorType.of((8,), f32), TensorType.of((6,), f32)], given
    )
    assert found.symbols == {"i": IntExpr.of(2), "n": IntExpr.of(8)}


def test_memory_with_gaps_does_not_fit_a_dense_callee():
    dense, gaps = BufferType.of((4,), f32), BufferType.of((4,), f32, strides=(2,))
    assert unify("call of 'f'", [Formal("argument 'x'", gaps)], [gaps]).undecided == []
    with pytest.raises(Diagnostic, match=r"strides \(2,\) and offset 0, got \(1,\)"):
        unify("call of 'f'", [Formal("argument 'x'", gaps)], [dense])
    with pytest.raises(Diagnostic, match=r"strides \(1,\) and offset 0, got \(2,\)"):
        unify("call of 'f'", [Formal("argument 'x'", dense)], [gaps])
