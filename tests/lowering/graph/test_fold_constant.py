"""Chains of operators on constants: what they become, and whose memory that is."""

import numpy as np
import pytest

from xrelax import relax as R
from xrelax import tir
from xrelax.dialects import get_context, relax
from xrelax.inspection import module_of
from xrelax.lowering.graph.known_values import known_array
from xrelax.pipeline import load_pass

GIVEN = np.arange(1, 7, dtype=np.float32).reshape(2, 3)


def folded(make):
    """The operations of a function that returns what `make` gives, after the pass."""
    builder = R.BlockBuilder()
    with builder.function("main", []):
        result = builder.emit(R.Tuple(make(builder.emit)))
        builder.emit_func_output(result)
    module = module_of(builder.get()).clone()
    load_pass("fold-constant")().apply(get_context(), module)
    module.verify()
    return [op for op in module.walk() if op.parent is not module.body.block]


def results(ops):
    """The arrays that the function returns."""
    (made,) = (op for op in ops if isinstance(op, relax.TupleOp))
    return [field.owner.value.data.values for field in made.fields]


def test_each_result_has_memory_of_its_own():
    def views(emit):
        given = R.const(GIVEN)
        turned = emit(R.op.permute_dims(given, [1, 0]))
        flat = emit(R.op.reshape(emit(R.op.permute_dims(turned, [1, 0])), [6]))
        return [turned, flat, emit(R.op.reshape(turned, [6]))]

    ops = folded(views)
    assert not any(isinstance(op, relax.OperatorOp) for op in ops)
    arrays = results(ops)
    for array, expected in zip(arrays, (GIVEN.T, GIVEN.ravel(), GIVEN.T.ravel()), strict=True):
        np.testing.assert_array_equal(array, expected)
    assert all(a.flags.c_contiguous for a in arrays)
    owners = [*arrays, GIVEN]
    assert not any(np.shares_memory(a, b) for i, a in enumerate(owners) for b in owners[:i])


@pytest.fixture(name="take_fails")
def _take_fails(monkeypatch):
    def fail(arrays, attributes):
        raise IndexError("out of range")

    monkeypatch.setattr(relax.OPERATORS["relax.take"], "reference", staticmethod(fail))


@pytest.mark.usefixtures("take_fails")
def test_an_operator_that_fails_takes_the_constants_before_it():
    def take(emit):
        place = emit(R.op.add(R.const(np.int64([4])), R.const(np.int64([5]))))
        return [emit(R.op.take(emit(R.op.permute_dims(R.const(GIVEN))), place, axis=0))]

    ops = folded(take)
    assert [op.name for op in ops if isinstance(op, relax.OperatorOp)] == ["relax.take"]
    (taken,) = (op for op in ops if isinstance(op, relax.OperatorOp))
    turned, place = (operand.owner.value.data.values for operand in taken.operands)
    np.testing.assert_array_equal(turned, GIVEN.T)
    assert place.tolist() == [9]


@pytest.mark.usefixtures("take_fails")
def test_an_operator_that_fails_may_take_a_constant_twice():
    def take(emit):
        place = emit(R.op.add(R.const(np.int64([4])), R.const(np.int64([5]))))
        return [emit(R.op.take(place, place, axis=0))]

    (taken,) = (op for op in folded(take) if isinstance(op, relax.OperatorOp))
    assert taken.operands[0] is taken.operands[1]
    assert taken.operands[0].owner.value.data.values.tolist() == [9]


def test_values_of_many_uses_are_computed_once():
    """A chain in which each value is used twice has 2^60 paths."""
    builder = R.BlockBuilder()
    with builder.function("main", []):
        value = R.const(np.ones(2, np.float32))
        for _ in range(60):
            value = builder.emit(R.op.add(value, value))
        builder.emit_func_output(value)
    module = module_of(builder.get()).clone()
    (returned,) = (op for op in module.walk() if isinstance(op, relax.ReturnOp))
    np.testing.assert_array_equal(known_array(returned.operands[0]), np.float32(2.0**60))


def test_operators_of_symbolic_attributes_have_no_numbers_yet():
    builder = R.BlockBuilder()
    n = tir.Var("n", "int64")
    with builder.function("main", [R.Var("x", R.TensorType([n], "float32"))]):
        builder.emit_func_output(builder.emit(R.op.arange(n, n + 1, dtype="int64")))
    module = module_of(builder.get()).clone()
    (returned,) = (op for op in module.walk() if isinstance(op, relax.ReturnOp))
    assert known_array(returned.operands[0]) is None
