"""Decisions: what rules and samples leave to a search."""

from random import Random

import pytest
from tuned_kernels import matmul, tiled

from xrelax import tir
from xrelax.backend.target import Target
from xrelax.dialects.diagnostics import Diagnostic
from xrelax.ir.module import IRModule
from xrelax.lowering.schedule.blocks import ScheduleError
from xrelax.lowering.schedule.primitives.decisions import Decisions
from xrelax.meta_schedule.relax_integration import extract_tasks
from xrelax.meta_schedule.space_generator import (
    PostOrderApply,
    ScheduleFn,
    SpaceGenerator,
    default_sample,
    replayed_sample,
)
from xrelax.meta_schedule.workload import Workload
from xrelax.script import from_source

TARGET = Target("llvm -mtriple=x86_64-linux-gnu -mcpu=znver4")


def test_without_decisions_the_answer_is_the_default():
    sch = tir.Schedule(matmul())
    assert sch.decide("x", 3, lambda: pytest.fail("candidates are not made")) == 3


def test_the_default_is_an_answer_of_decisions_that_fix_and_draw_nothing():
    decisions = Decisions()
    assert decisions.choose("x", 3, (1, 2), None) == 3
    assert decisions.values == {"x": 3}


def test_fixed_answers_are_taken_unless_they_are_no_candidates():
    decisions = Decisions({"x": [1, 2], "y": 9})
    assert decisions.choose("x", (3, 4), [(1, 2)], None) == (1, 2)
    assert decisions.choose("y", 3, (1, 2), None) == 3


def test_equal_names_get_numbers():
    decisions = Decisions({"x": 1, "x#2": 2})
    assert [decisions.choose("x", 0, (1, 2), None) for _ in range(2)] == [1, 2]


def test_a_choice_of_one_is_no_decision():
    decisions = Decisions(random=Random(0))
    assert decisions.choose("x", 3, (), None) == 3 and not decisions.made


def test_cheap_candidates_are_drawn_more_often():
    drawn = [Decisions(random=Random(seed)).choose("x", 10, (1, 10), float) for seed in range(100)]
    assert drawn.count(1) > 90


def test_costs_are_parts_of_that_of_the_default():
    decisions = Decisions({"x": 1})
    decisions.choose("x", 10, (1,), float)
    assert decisions.cost == pytest.approx(-2.302585)


def test_rules_without_answers_make_the_default_schedule():
    module = matmul(128, 128, 128)
    sample = default_sample(module, TARGET)
    assert sample.values["C.tile"] == (6, 4)
    again = PostOrderApply().sample(module, TARGET, Decisions(sample.values))
    assert again.key == sample.key and sample.cost == 0


def test_rules_follow_answers_for_blocks_of_rows():
    target = Target("llvm -mtriple=x86_64-linux-gnu -mcpu=znver4 -cache-sizes=1024,8192,16384")
    module, plan = matmul(600, 64, 8), {"C.plan": "in place"}
    for answer, has_blocks in (({}, True), ({"C.row_tiles": 0}, False), ({"C.row_tiles": 2}, True)):
        sample = PostOrderApply().sample(module, target, Decisions(plan | answer))
        assert ("peel" in str(sample.trace)) == has_blocks
        assert answer.items() <= sample.values.items() and "C.row_tiles" in sample.values
        again = PostOrderApply().sample(module, target, Decisions(sample.values))
        assert again.key == sample.key


def test_rules_follow_answers():
    sample = PostOrderApply().sample(
        matmul(128, 128, 128), TARGET, Decisions({"C.plan": "packed", "C.tile": (4, 2)})
    )
    text = str(sample.trace)
    assert "factors=[None, 4]" in text and "factors=[None, 2, 16]" in text
    assert "cache_read" in text


@pytest.mark.parametrize("seed", range(6))
def test_random_schedules_replay_from_json(seed):
    module = matmul(24, 80, 40)
    sample = PostOrderApply().sample(module, TARGET, Decisions(random=Random(seed)))
    trace = tir.schedule.Trace.from_json(sample.trace.as_json())
    assert replayed_sample(module, trace).key == sample.key


ROWS = "x: R.Tensor((64, 256), 'float32')"
LONG_ROWS = "x: R.Tensor((4, 8192), 'float32')"
HEADS = ", ".join(f"{n}: R.Tensor((1, 64, 2, 32), 'float32')" for n in "qkv")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("params", "value", "names"),
    [
        (ROWS, "R.nn.softmax(x)", {"T_softmax_maxelem.group", "T_softmax_exp.rows"}),
        (LONG_ROWS, "R.nn.softmax(x)", {"T_softmax_exp.place", "T_softmax_norm.vectors"}),
        (ROWS, "R.sum(x, axis=[1])", {"x_red.rows", "x_red.lanes"}),
        (ROWS, "R.argmax(x, axis=1)", {"x_red_temp.group", "x_red.rows"}),
        (ROWS, "R.nn.gelu(x)", {"T_gelu.vectors"}),
        (
            "x: R.Tensor((1, 8, 32, 32), 'float32')",
            "R.nn.max_pool2d(x, pool_size=(2, 2), strides=(2, 2))",
            {"pool_max.unroll"},
        ),
        (HEADS, "R.nn.attention(q, k, v)", {"T_scores.tile", "T_scores.copies"}),
    ],
)
def test_choices_of_rules(params, value, names):
    main = from_source(f"@R.function\ndef main({params}):\n    return {value}\n")
    (task,) = extract_tasks(IRModule({"main": main}), TARGET)
    module, space = Workload.of(task.mod).mod, PostOrderApply()
    default = default_sample(module, TARGET)
    assert names <= default.values.keys()
    for seed in range(2):
        drawn = space.sample(module, TARGET, Decisions(random=Random(seed)))
        assert replayed_sample(module, drawn.trace).key == drawn.key
        assert space.sample(module, TARGET, Decisions(drawn.values)).key == drawn.key


def test_samples_of_a_function_are_decisions():
    module = matmul()
    space = ScheduleFn(tiled)
    sample = space.sample(module, TARGET, Decisions({"sample_perfect_tile": [4, 8]}))
    assert sample.values == {"sample_perfect_tile": (4, 8)}
    assert "decision=[4, 8]" in str(sample.trace)
    drawn = {
        space.sample(module, TARGET, Decisions(random=Random(seed))).values["sample_perfect_tile"]
        for seed in range(20)
    }
    assert len(drawn) > 2


def test_a_fixed_sample_that_does_not_apply_is_an_error():
    with pytest.raises(ScheduleError, match="expected 2 factors of the extent 32"):
        ScheduleFn(tiled).sample(matmul(), TARGET, Decisions({"sample_perfect_tile": [3, 8]}))


def test_what_a_function_returns():
    def in_list(sch):
        return [tiled(sch)]

    assert "decompose_reduction" in str(
        ScheduleFn(in_list).sample(matmul(), TARGET, Decisions(random=Random(0))).trace
    )
    with pytest.raises(ScheduleError, match="expected a schedule, got a int"):
        ScheduleFn(lambda sch: 3).sample(matmul(), TARGET, Decisions())


def test_names_of_spaces():
    assert isinstance(SpaceGenerator.create("post-order-apply"), PostOrderApply)
    assert isinstance(SpaceGenerator.create(tiled), ScheduleFn)
    with pytest.raises(ValueError, match="expected a space"):
        SpaceGenerator.create("post")


UNINITIALIZED = """
@T.prim_func
def main(A: T.Buffer((8,), "float32")):
    B = T.alloc_buffer((8,), "float32")
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = B[vi]
"""


def test_kernels_are_verified_before_a_trace_is_replayed():
    sch = tir.Schedule(matmul())
    sch.cache_read("C", 0, "global")
    module = sch.mod.clone()
    (first, *_) = (op for op in module.op.walk() if op.name == "tir.for")
    first.detach()  # now nothing writes what is read
    with pytest.raises(Diagnostic, match="expected block 'C' to read initialized elements"):
        replayed_sample(module, tir.schedule.Trace())
