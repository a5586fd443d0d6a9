"""Expressions of sampled numbers: as arguments of primitives, in index maps, and in traces."""

import json

import numpy as np
import pytest
from programs import matmul_relu

import xrelax as tvm
from xrelax.script import from_source
from xrelax.tir.schedule import (
    ExprRV,
    Instruction,
    InstructionKind,
    Schedule,
    ScheduleError,
    Trace,
)


def fresh(**sizes) -> Schedule:
    return Schedule(from_source(matmul_relu(**sizes)))


def scheduled() -> Schedule:
    sch = fresh(m=12)
    _, j, _ = sch.get_loops(sch.get_block("Y"))
    _, v1, v2 = sch.sample_perfect_tile(j, 3, decision=[1, 3, 4])
    sch.annotate(j, "tile", {"sizes": [v1, v1 * v2]})
    sch.unannotate(j, "tile")
    sch.split(j, [None, v1 * v2 // 2])
    sch.transform_layout(
        "C", ("write", 0), lambda v0, v6: (v0, v6 // (v1 * v2 - 6), v6 % (v1 * v2 - 6))
    )
    return sch


def test_traces_keep_expressions():
    lines = scheduled().trace.as_python()
    assert 'ann_val={"k": [v5, v5 * v6]}'.replace("k", "sizes") in lines[3]
    assert "factors=[None, (v5 * v6) // 2]" in lines[5]
    assert "lambda v0, v6_1: (v0, v6_1 // (v5 * v6 - 6), v6_1 % (v5 * v6 - 6))" in lines[7]


@pytest.mark.parametrize("decision", [[1, 3, 4], [3, 1, 4], [1, 12, 1]])
def test_replay_evaluates_them_again(decision):
    trace = scheduled().trace
    if decision == [3, 1, 4]:  # an index map needs a divisor above 0
        with pytest.raises(ScheduleError, match=r"transform_layout: expected .*"):
            _replayed(trace, decision)
        return
    again = _replayed(trace, decision)
    size = decision[1] * decision[2]
    assert f"for i, j, j_1, k in T.grid(n, {24 // size}, {size // 2}, p):" in again.mod.script()
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape, np.float32) for shape in ((5, 7), (7, 12)))
    c = tvm.runtime.tensor(np.zeros((5, 12 // (size - 6), size - 6), np.float32))
    tvm.build(again.mod)(tvm.runtime.tensor(a), tvm.runtime.tensor(b), c)
    expected = np.maximum(a @ b, 0).reshape(c.numpy().shape)
    np.testing.assert_allclose(c.numpy(), expected, rtol=1e-5, atol=1e-5)


def _replayed(trace: Trace, decision: list[int]) -> Schedule:
    inst = next(i for i in trace.insts if i.kind.method == "sample_perfect_tile")
    again = fresh(m=12)
    trace.with_decision(inst, decision).apply_to_schedule(again)
    return again


def test_json_and_python_round_trip():
    sch = scheduled()
    again, printed = fresh(m=12), fresh(m=12)
    Trace.apply_json_to_schedule(json.loads(json.dumps(sch.trace.as_json())), again)
    assert str(again.trace) == str(sch.trace)
    names: dict[str, object] = {"tir": tvm.tir}
    exec(str(sch.trace), names)
    names["apply_trace"](printed)
    assert str(printed.trace) == str(sch.trace)
    assert again.mod.script() == printed.mod.script() == sch.mod.script()


def test_what_uses_them_is_kept():
    sch = fresh(m=12)
    _, j, _ = sch.get_loops("Y")
    v0 = sch.sample_categorical([2, 4], [0.5, 0.5], decision=1)
    sch.sample_categorical([2, 4], [0.5, 0.5])
    assert sch.get(v0 * 2 + 1) == 9 and sch.get(3 - v0) == -1 and sch.get(v0) == 4
    sch.split(j, [v0 - 1, None])
    kept = sch.trace.simplified()
    assert [i.kind.method for i in kept.insts] == [
        "get_block",
        "get_loops",
        "sample_categorical",
        "split",
    ]


def test_a_trace_has_the_number_where_it_has_no_expression():
    sch = fresh(m=12)
    i, j, _ = sch.get_loops("Y")
    v0 = sch.sample_categorical([2, 4], [0.5, 0.5], decision=1)
    sch.split(i, [None, v0 * tvm.tir.Var("n", "int64")])
    sch.split(j, [None, tvm.tir.min(v0, 3)])
    factors = [line.partition("factors=")[2] for line in sch.trace.as_python()]
    assert [f[: f.index("]") + 1] for f in factors if f] == ['[None, "n * 4"]', "[None, 3]"]


def test_what_is_not_known():
    sch = fresh(m=12)
    i, j, _ = sch.get_loops("Y")
    _, v1 = sch.sample_perfect_tile(i, 2)
    first = sch.sample_perfect_tile(i, 2)[0]
    for use in (lambda: sch.split(j, [None, first * 2]), lambda: sch.get(first + v1)):
        with pytest.raises(ScheduleError, match="expected a number, got a factor of a symbolic"):
            use()
    with pytest.raises(ScheduleError, match="expected a divisor other than 0, got one"):
        sch.split(j, [None, 4 // (v1 - 1)])
    with pytest.raises(ScheduleError, match="expected a divisor other than 0, got one"):
        sch.transform_layout("C", "C", lambda a, b: (a, b // (v1 - 1), b % v1))
    with pytest.raises(ScheduleError, match="expected a variable of this schedule"):
        fresh(m=12).get(v1 + 1)
    with pytest.raises(ValueError, match="expected a Python bool, got an expression"):
        bool(v1 > 1)


def test_outputs_are_variables_of_schedules():
    kind = InstructionKind.get("SampleCategorical")
    number = tvm.tir.FloatImm("float32", 1.0)
    with pytest.raises(TypeError, match=r"SampleCategorical: expected outputs to be BlockRV, .* v"):
        Instruction(kind, [], [[3], [number]], [tvm.tir.Var("v", "int32")])
    trace = Trace([Instruction(kind, [], [[tvm.tir.IntImm("int32", 3)], [number]], [ExprRV()])])
    assert json.dumps(trace.as_json()) == '[[["SampleCategorical", [], [[3], [1.0]], ["v0"]]], []]'
    sch = fresh()
    Trace.apply_json_to_schedule(trace.as_json(), sch)
    assert sch.trace.as_python() == [
        "v0 = sch.sample_categorical(candidates=[3], probs=[1.0], decision=0)"
    ]
