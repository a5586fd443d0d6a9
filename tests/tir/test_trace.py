"""Traces: recorded, printed as Python, carried as JSON, simplified, and run on other modules."""

import json

import pytest
from programs import chain, matmul_relu

import xrelax as tvm
from xrelax import tir
from xrelax.lowering.schedule.primitives.trace_text import from_json, python_text, to_json
from xrelax.script import from_source
from xrelax.tir.schedule import (
    BlockRV,
    Code,
    ExprRV,
    Instruction,
    InstructionKind,
    LoopRV,
    Schedule,
    ScheduleError,
    Trace,
)

PRINTED = """\
# from xrelax import tir
def apply_trace(sch: tir.Schedule) -> None:
  b0 = sch.get_block(name="Y", func_name="main")
  l1, l2, l3 = sch.get_loops(block=b0)
  v4, v5 = sch.sample_perfect_tile(loop=l2, n=2, max_innermost_factor=4, decision=[3, 4])
  l6, l7 = sch.split(loop=l2, factors=[v4, v5], preserve_unit_iters=True, \
disable_predication=False)
  sch.reorder(l6, l3, l7)
  sch.enter_postproc()
  sch.vectorize(loop=l7)
  v8 = sch.sample_categorical(candidates=[8, 16], probs=[0.5, 0.5], decision=1)
  sch.annotate(block_or_loop=b0, ann_key="unit", ann_val=v8)
  l9, = sch.split(loop=l1, factors=["n"], preserve_unit_iters=True, disable_predication=False)"""


def scheduled() -> Schedule:
    sch = Schedule(from_source(matmul_relu(m=12)))
    _, j, k = sch.get_loops(sch.get_block("Y"))
    j0, j1 = sch.split(j, sch.sample_perfect_tile(j, 2, 4, decision=[3, 4]))
    sch.reorder(j0, k, j1)
    sch.enter_postproc()
    sch.vectorize(j1)
    unit = sch.sample_categorical([8, 16], [0.5, 0.5], decision=1)
    block, i = sch.trace.insts[0].outputs[0], sch.trace.insts[1].outputs[0]
    assert isinstance(block, BlockRV) and isinstance(i, LoopRV)
    sch.annotate(block, "unit", unit)
    sch.split(i, ["n"])
    return sch


def fresh() -> Schedule:
    return Schedule(from_source(matmul_relu(m=12)))


def test_printed_as_python_that_runs():
    sch = scheduled()
    assert str(sch.trace) == PRINTED
    names: dict[str, object] = {"tir": tir}
    exec(str(sch.trace), names)
    again = fresh()
    names["apply_trace"](again)
    assert again.mod.script() == sch.mod.script()
    assert str(again.trace) == PRINTED


def test_an_empty_trace_is_a_function_too():
    assert str(fresh().trace).endswith("None:\n  pass")


def test_json_round_trip():
    sch = scheduled()
    text = json.dumps(sch.trace.as_json())
    again = fresh()
    Trace.apply_json_to_schedule(json.loads(text), again)
    assert again.mod.script() == sch.mod.script()
    assert str(Trace.from_json(json.loads(text))) == PRINTED
    lines, decisions = json.loads(text)
    assert lines[3] == ["Split", ["l2", ["v4", "v5"]], [True, False], ["l6", "l7"]]
    assert decisions == [[2, [3, 4]], [7, 1]]


def test_json_of_tvm():
    """Factors are inputs of their own, and truth values numbers."""
    lines = [
        ["GetSBlock", [], ["Y", "main"], ["b0"]],
        ["GetLoops", ["b0"], [], ["l1", "l2", "l3"]],
        ["Split", ["l2", None, 4], [1, 0], ["l4", "l5"]],
        ["Reorder", ["l5", "l4"], [], []],
    ]
    sch = fresh()
    Trace.apply_json_to_schedule([lines, []], sch)
    assert "for i, j, j_1, k in T.grid(n, 4, 3, p):" in sch.mod.script()


def test_json_of_an_unknown_instruction():
    with pytest.raises(ValueError, match=r"expected an instruction .*, got 'Melt'"):
        Trace.from_json([[["Melt", [], [], []]], []])


def test_arguments_as_text():
    for value in (None, True, 3, 0.5, "a", [1, ["b"]], {"k": [2]}, Code("lambda i: i")):
        assert from_json(json.loads(json.dumps(to_json(value, {}))), {}) == value
    assert python_text({"k": ["x", 2]}, {}) == '{"k": ["x", 2]}'
    assert python_text(Code("lambda i: i"), {}) == "lambda i: i"
    with pytest.raises(TypeError, match="expected an argument that a trace can hold, got object"):
        python_text(object(), {})


def test_replay_without_the_postprocessing():
    again = fresh()
    scheduled().trace.apply_to_schedule(again, remove_postproc=True)
    assert "vectorized" not in again.mod.script()
    assert [i.kind.method for i in again.trace.insts][-1] == "reorder"


def test_other_decisions():
    sch = scheduled()
    inst = next(i for i in sch.trace.insts if i.kind.method == "sample_perfect_tile")
    assert sch.trace.get_decision(inst) == [3, 4] == sch.trace.decisions[inst]
    again = fresh()
    sch.trace.with_decision(inst, [6, 2]).apply_to_schedule(again)
    assert "T.vectorized(2)" in again.mod.script()
    provided = fresh()
    sch.trace.apply_to_schedule(
        provided, decision_provider=lambda i, inputs, attrs, old: [12, 1] if i is inst else old
    )
    assert "T.vectorized(1)" in provided.mod.script()


def test_simplified_drops_what_nothing_uses():
    sch = fresh()
    sch.get_loops(sch.get_block("C"))
    i, *_ = sch.get_loops(sch.get_block("Y"))
    sch.sample_categorical([1], [1.0])
    sch.parallel(i)
    methods = [inst.kind.method for inst in sch.trace.simplified().insts]
    assert methods == ["get_block", "get_loops", "parallel"]


def test_replay_on_another_module():
    sch = scheduled()
    other = Schedule(from_source(matmul_relu(n=5, m=12, p=3).replace("main", "main")))
    sch.trace.simplified(remove_postproc=True).apply_to_schedule(other)
    assert "for i, j, k, j_1 in T.grid(5, 3, 3, 4)" in other.mod.script()


def test_replay_where_it_does_not_apply():
    with pytest.raises(ScheduleError, match="expected one block 'Y' in function 'main'"):
        scheduled().trace.apply_to_schedule(
            Schedule(from_source(chain().replace('T.block("Y")', 'T.block("Z")')))
        )


def test_a_refused_primitive_is_not_recorded():
    sch = fresh()
    _, _, k = sch.get_loops("Y")
    count = len(sch.trace.insts)
    with pytest.raises(ScheduleError):
        sch.parallel(k)
    assert len(sch.trace.insts) == count


def test_course_spellings():
    assert tvm.tir.Schedule is tvm.s_tir.Schedule is Schedule
    assert tvm.tir.schedule.Trace is Trace
    sch = tvm.s_tir.Schedule(from_source(matmul_relu()))
    assert isinstance(sch.get_sblock("Y"), tvm.tir.schedule.SBlockRV)
    assert type(sch.trace) is Trace


def test_traces_of_tvm():
    block = BlockRV()
    find = Instruction(InstructionKind.get("GetSBlock"), attrs=["Y", "main"], outputs=[block])
    unit = Instruction(kind=InstructionKind.get("Annotate"), inputs=[block, 4], attrs=["unit"])
    draw = Instruction(
        InstructionKind.get("SampleCategorical"), (), [[8, 16], [0.5, 0.5]], [ExprRV()]
    )
    trace = Trace([find, unit, draw], {draw: 1})
    assert trace.as_python()[1:] == [
        'sch.annotate(block_or_loop=b0, ann_key="unit", ann_val=4)',
        "v1 = sch.sample_categorical(candidates=[8, 16], probs=[0.5, 0.5], decision=1)",
    ]
    lines = [["GetSBlock", [], ["Y", "main"], ["b0"]], ["GetLoops", ["b0"], [], ["l1", "l2", "l3"]]]
    sch = fresh()
    Trace.apply_json_to_schedule([lines, []], sch)
    assert sch.trace.as_json()[0][0] == ["GetBlock", [], ['"Y"', '"main"'], ["b0"]]
    with pytest.raises(ValueError, match=r"GetBlock: expected attrs \(name, func_name\), got 3"):
        Instruction(InstructionKind.get("GetBlock"), attrs=["Y", "main", 1])
