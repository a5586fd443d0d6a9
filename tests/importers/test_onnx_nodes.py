"""ONNX's own node tests pass, or are in the list of unsupported ones with their reason."""

import pytest
from onnx_nodes import cases, listed, run_case

PARTS = 64
"""Cases run in so many tests, since to list them takes seconds."""


@pytest.mark.sampled
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.filterwarnings("ignore")
def test_nodes(part: int):
    unsupported, failures = listed(), list[str]()
    outcomes = {name: run_case(name) for name in list(cases())[part::PARTS]}
    for name, outcome in outcomes.items():
        if outcome.state in ("wrong", "failed") or outcome.reason != unsupported.get(name, ""):
            failures.append(f"{name} is {outcome.state}: {outcome.detail}")
    assert not failures, "\n".join(failures)
    assert any(outcome.state == "passed" for outcome in outcomes.values())


def test_the_list_has_no_other_names():
    assert set(listed()) <= set(cases())
