"""Examples of operators are short calls that are named after the operator."""

from __future__ import annotations

import numpy as np
import pytest
from operator_examples import example_of, first_cases

from xrelax.dialects.relax import OPERATORS

CASES = first_cases()
LARGEST = 256
"""Elements of all operands, those of convolutions over three dims included."""


def test_every_operator_has_a_case():
    assert OPERATORS.keys() == CASES.keys()


@pytest.mark.sampled
@pytest.mark.parametrize("operator", sorted(CASES))
def test_calls_are_short(operator: str):
    call = example_of(CASES[operator])
    name = operator.rpartition(".")[2]
    assert f"def {name}(" in call.markdown()
    assert sum(operand.size for operand in call.operands) <= LARGEST
    if "float32" in CASES[operator].dtypes:
        kinds = {operand.dtype.name for operand in call.operands if operand.dtype.kind == "f"}
        assert kinds <= {"float32"}


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "equal", "logical_not"])
def test_results_differ(name: str):
    (result,) = example_of(CASES[f"relax.{name}"]).results
    assert set(result.ravel().tolist()) == {True, False}


def test_operands_have_the_operator_s_names_and_short_values():
    call = example_of(CASES["relax.matmul"])
    text = call.markdown()
    assert "lhs: R.Tensor((" in text and "\nlhs = [" in text and "\nresult = [" in text
    assert all(np.allclose(o, np.round(o, 1)) for o in call.operands)
