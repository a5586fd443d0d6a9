"""What a schedule is: a copy of a module, variables, lookups, draws, and how it says no."""

import re
from math import prod

import pytest
from programs import chain, matmul_relu, program, row_sum
from schedule_check import check_schedule

from xrelax import tir
from xrelax.ir.equality import assert_structural_equal
from xrelax.lowering.schedule.primitives.sampling import draw_factors
from xrelax.script import from_source
from xrelax.tir.schedule import Schedule, ScheduleError

MODULE = "@I.ir_module\nclass M:\n" + "\n".join(
    "    " + line.replace("def main", f"def {name}")
    for name in ("first", "second")
    for line in chain().splitlines()
)


def names(sch, blocks):
    return [sch.get(b).block_name.data for b in blocks]


def test_the_module_is_a_copy():
    mod = from_source(MODULE)
    before = mod.script()
    sch = Schedule(mod)
    was = sch.mod
    assert sch.mod is was
    sch.compute_inline(sch.get_block("S", "first"))
    assert mod.script() == before == was.script() != sch.mod.script()
    assert sch.mod["second"].script() == mod["second"].script()


def test_only_scheduled_functions_are_marked():
    sch = Schedule(from_source(MODULE))
    block = sch.get_block("S", "first")
    assert sch.mod["first"].attrs is None or "tir.is_scheduled" not in sch.mod["first"].attrs
    sch.compute_inline(block)
    assert sch.mod["first"].attrs["tir.is_scheduled"]
    assert "tir.is_scheduled" not in (sch.mod["second"].attrs or {})


def test_which_function_blocks_are_looked_for_in():
    sch = Schedule(from_source(MODULE))
    unknown = r"expected func_name \(first, second\).* know which function to be working on"
    with pytest.raises(ValueError, match=unknown) as error:
        sch.get_block("S")
    assert isinstance(error.value, ScheduleError)
    with pytest.raises(
        ScheduleError, match=re.escape("PrimFunc of the module (first, second), got 'third'")
    ):
        sch.get_block("S", "third")
    assert sch.func_working_on is None
    sch.work_on("second")
    assert sch.func_working_on == sch.mod.get_global_var("second") == sch.copy().func_working_on
    sch.vectorize(sch.get_loops("S")[1])
    assert "vectorized" in sch.mod["second"].script()
    with pytest.raises(ScheduleError, match="a module of one PrimFunc, got first, second"):
        sch.func


def test_lookups():
    sch = Schedule(from_source(matmul_relu()))
    y, c = sch.get_block("Y"), sch.get_block("C")
    assert names(sch, sch.get_consumers(y)) == ["C"] == names(sch, sch.get_output_blocks("root"))
    assert names(sch, sch.get_producers(c)) == ["Y"]
    assert sch.get_producers(y) == [] == sch.get_consumers(c)
    assert names(sch, sch.get_child_blocks(sch.get_block("root"))) == ["Y", "C"]
    assert names(sch, sch.get_child_blocks(sch.get_loops(y)[0])) == ["Y"]


def test_the_root_block_round_trips():
    sch = Schedule(from_source(chain()))
    before = sch.mod
    root = sch.get_block("root")
    assert_structural_equal(sch.mod.op, before.op)
    sch.annotate(root, "mark", 4)
    text = sch.mod.script()
    assert '        with T.block("root"):' in text
    assert_structural_equal(sch.mod.op, from_source(text).op)
    sch.unannotate(root, "mark")
    assert '        with T.block("root"):' not in sch.mod.script()


def test_variables():
    sch = Schedule(from_source(row_sum(8, 6)))
    i, k = sch.get_loops("Y")
    assert sch.get(sch.sample_categorical([5], [1.0])) == 5
    sch.remove_rv(k)
    with pytest.raises(ScheduleError, match="expected a variable of this schedule, got another"):
        sch.unroll(k)
    with pytest.raises(ScheduleError, match="expected a block, got loop 'i'"):
        sch.get_loops(i)
    with pytest.raises(TypeError, match="expected a variable, got int"):
        sch.get(3)


def test_variables_of_a_copy():
    sch = Schedule(from_source(row_sum(8, 6)))
    i, k = sch.get_loops("Y")
    copy = sch.copy()
    copy.parallel(i)
    sch.unroll(k)
    assert "parallel" in copy.mod.script() and "unroll" not in copy.mod.script()
    assert "unroll" in sch.mod.script() and "parallel" not in sch.mod.script()
    assert len(copy.trace.insts) == len(sch.trace.insts)


@pytest.mark.parametrize(
    ("level", "text"),
    [
        ("detail", "unroll: expected loop 'i' to have a constant extent to be unrolled, got n"),
        ("fast", "'tir.for': expected loop 'i' to have a constant extent to be unrolled, got n"),
        ("none", "'unroll' does not apply (not rendered)"),
    ],
)
def test_error_levels(level, text):
    sch = Schedule(from_source(row_sum()), error_render_level=level)
    with pytest.raises(ScheduleError) as error:
        sch.unroll(sch.get_loops("Y")[0])
    assert str(error.value).partition("error: ")[2] == text or str(error.value) == text


def test_wrong_arguments_of_the_schedule():
    with pytest.raises(TypeError, match="expected an IRModule or PrimFunc, got int"):
        Schedule(3)
    with pytest.raises(ValueError, match=r"error_render_level .* got 'loud'"):
        Schedule(from_source(row_sum()), error_render_level="loud")


@pytest.mark.parametrize(("extent", "n"), [(1, 3), (12, 2), (64, 4), (97, 2), (360, 3), (0, 2)])
def test_drawn_factors(extent, n):
    sch = Schedule(from_source(row_sum(max(extent, 1), 6)), seed=1)
    for _ in range(20):
        factors = draw_factors(max(extent, 1), n, 16, sch.random)
        product = 1
        for f in factors:
            product *= f
        assert len(factors) == n and product == max(extent, 1) and factors[-1] <= 16


def test_factors_of_any_number_are_drawn():
    sch = Schedule(from_source(row_sum(720720, 6)), seed=1)
    factors = draw_factors(720720, 3000, 16, sch.random)
    assert len(factors) == 3000 and prod(factors) == 720720


def test_draws_follow_the_seed():
    def drawn(seed):
        sch = Schedule(from_source(row_sum(360, 6)), seed=seed)
        i, _ = sch.get_loops("Y")
        return [[sch.get(v) for v in sch.sample_perfect_tile(i, 3)] for _ in range(5)]

    assert drawn(1) == drawn(1) != drawn(2)


def test_factors_of_a_symbol_are_left_open():
    def schedule(sch):
        i, _ = sch.get_loops("Y")
        sch.split(i, sch.sample_perfect_tile(i, 3))

    sch = check_schedule(row_sum(), schedule, {"n": 7, "m": 3}, native=False)
    assert "decision=[-1, 1, 1]" in str(sch.trace)


@pytest.mark.parametrize("decision", [-2, -1, 0, 1])
def test_compute_locations(decision):
    def schedule(sch):
        block = sch.get_block("S")
        sch.compute_at(block, sch.sample_compute_location(block, decision))

    check_schedule(chain(), schedule, {"n": 7, "m": 3}, native=False)


def test_drawn_compute_locations():
    for seed in range(6):

        def schedule(sch, seed=seed):
            sch.seed(seed)
            block = sch.get_block("S")
            sch.compute_at(block, sch.sample_compute_location(block))

        check_schedule(chain(4, 5), schedule, native=False)


TILED = program(
    """
    S = T.alloc_buffer((8, 6), "float32")
    for i, j in T.grid(8, 6):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = X[vi, vj] * T.float32(2)
    for i, j, one, k, j_inner in T.grid(8, 2, 1, 6, 2):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            vj = T.axis.spatial(4, j * 2 + j_inner)
            vk = T.axis.reduce(6, k)
            Y[vi, vj] = Y[vi, vj] + S[vi, vk]
""",
    {"X": "(8, 6)", "Y": "(8, 4)"},
)


def test_drawn_compute_locations_differ():
    """No loop of one iteration, and none in which the reduction would compute elements again."""
    sch = Schedule(from_source(TILED), seed=1)
    for _ in range(60):
        sch.sample_compute_location("S")
    drawn = {inst.decision for inst in sch.trace.insts if inst.decision is not None}
    assert drawn == {-2, -1, 0, 1, 3}


REFUSED = [
    (
        lambda s: s.sample_categorical([1, 2], [1.0]),
        "sample_categorical: expected a probability for each candidate, got 1 for 2",
    ),
    (
        lambda s: s.sample_categorical([1], [1.0], decision=1),
        "sample_categorical: expected a decision from 0 to 0, got 1",
    ),
    (
        lambda s: s.sample_perfect_tile(s.get_loops("S")[0], 2, decision=[3, 2]),
        "sample_perfect_tile: expected 2 factors of the extent 8 of loop 'i', got [3, 2]",
    ),
    (
        lambda s: s.sample_perfect_tile(s.get_loops("S")[0], 0),
        "sample_perfect_tile: expected at least one factor, got 0",
    ),
    (
        lambda s: s.sample_compute_location("S", decision=2),
        "sample_compute_location: expected a decision from -2 to 1, got 2",
    ),
    (
        lambda s: s.compute_at("S", s.get_loops("Y")[0], index=3),
        "compute_at: expected an index from 0 to 0 for block 'S' in the loop, got 3",
    ),
    (
        lambda s: s.compute_at("Y", s.get_loops("S")[0]),
        "compute_at: expected block 'Y' to store to one scratch buffer, got an output block",
    ),
    (
        lambda s: s.get_block("Q"),
        "get_block: expected one block 'Q' in function 'main' (S, Y), got none",
    ),
]


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_refused(change, message):
    sch = Schedule(from_source(chain(8, 6)))
    with pytest.raises(ScheduleError) as error:
        change(sch)
    text = str(error.value)
    assert (text.partition("error: ")[2] or text) == message


def test_where_blocks_go_in_a_loop():
    def schedule(sch):
        i, _ = sch.get_loops("C")
        sch.compute_at("Y", i, preserve_unit_loops=True, index=-2)
        assert len(sch.get_loops("Y")) == 4

    check_schedule(matmul_relu(), schedule, {"n": 3, "m": 5, "p": 2}, native=False)

    def reverse(sch):
        i, _, _ = sch.get_loops("Y")
        sch.reverse_compute_at("C", i, preserve_unit_loops=True, index=1)
        assert len(sch.get_loops("C")) == 3

    check_schedule(matmul_relu(), reverse, {"n": 3, "m": 5, "p": 2}, native=False)


def test_inlined():
    check_schedule(chain(), lambda s: s.compute_inline("S"), {"n": 7, "m": 3})
    check_schedule(chain(), lambda s: s.reverse_compute_inline("Y"), {"n": 7, "m": 3})


def test_show(capsys):
    sch = Schedule(from_source(row_sum()))
    sch.get_block("Y")
    sch.show()
    sch.trace.show()
    out = capsys.readouterr().out
    assert "T.prim_func" in out and out.count("sch.get_block") == 2


def test_statements_as_in_tvm():
    sch = Schedule(from_source(row_sum()))
    block, (i, k) = sch.get_block("Y"), sch.get_loops("Y")
    view, loop = sch.get(block), sch.get(k)
    assert view == sch.get(block) and view.same_as(sch.get_sref(block).stmt) and view != loop
    assert [a.name for a in view.iter_vars] == ["vi", "vk"]
    assert [(str(a.extent), a.iter_type) for a in view.iter_vars] == [("n", 0), ("m", 2)]
    assert (loop.loop_var.name, loop.min, str(loop.extent)) == ("k", 0, "m")
    assert (
        isinstance(view, tir.SBlock)
        and isinstance(loop, tir.For)
        and loop.kind == tir.ForKind.SERIAL
    )
    (read,), (written,) = view.reads, view.writes
    assert (read.buffer.name, written.buffer.name) == ("X", "Y")
    assert [(str(r.min), r.extent) for r in read.region] == [("vi", 1), ("vk", 1)]
    assert repr(loop).startswith("for k in range(m):") and repr(view) == str(view)
    outer, inner = sch.split(i, [None, 4])
    assert sch.get(inner).extent == 4 and sch.get_sref(sch.get(outer)).same_as(sch.get_sref(outer))
    sch.remove_rv(outer)
    with pytest.raises(IndexError, match="expected a variable of this schedule"):
        sch.get(outer)


def test_references_to_statements():
    sch = Schedule(from_source(chain()))
    block, loop = sch.get_block("Y"), sch.get_loops("Y")[1]
    reference = sch.get_sref(block)
    assert reference.stmt.same_as(sch.get(block)) and reference.stmt.name_hint == "Y"
    assert reference.parent.same_as(sch.get_sref(loop))
    assert reference.parent.parent.same_as(sch.get_sref(sch.get_loops("Y")[0]))
    assert sch.state.get_sref(sch.get(loop)) == sch.get_sref(loop)
    with pytest.raises(ScheduleError, match="expected a statement of the module, got another"):
        sch.copy().get_sref(reference.stmt)
