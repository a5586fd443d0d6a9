"""Every operator on drawn operands: compiled code, the reference evaluator and PyTorch agree."""

import pytest
from harness import all_cases, draw_examples, graph_function, labelled_cases, run_case
from xdsl.dialects.builtin import ModuleOp

import xrelax as tvm
from xrelax.dialects.relax import OPERATORS
from xrelax.ir.equality import assert_structural_equal
from xrelax.script import from_source

CASES = labelled_cases()


def test_every_operator_has_a_case():
    assert {c.operator for c in all_cases()} == set(OPERATORS)


@pytest.mark.sampled
@pytest.mark.parametrize("label", CASES)
def test_operator(label: str):
    failures = [o.failure for o in run_case(CASES[label]) if o.failure]
    assert not failures, "\n".join(failures)


@pytest.mark.parametrize("label", CASES)
def test_operator_in_scripts(label: str):
    """The script of a function with the operator is the same function."""
    functions = [graph_function(e) for e in draw_examples(CASES[label])]
    module = tvm.IRModule(ModuleOp(functions))
    text = module.script()
    assert_structural_equal(from_source(text).op, module.op)
    assert from_source(text).script() == text
