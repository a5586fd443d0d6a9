"""What rearranges iterations refuses blocks whose instances meet, and keeps them where order stays.

No verifier runs before: primitives must not rely on what it refuses.
"""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from xrelax.dialects import get_context, tir
from xrelax.lowering.schedule.blocks import ScheduleError
from xrelax.lowering.schedule.kinds import set_kind
from xrelax.lowering.schedule.loops import fuse, reorder
from xrelax.lowering.schedule.merge_loops import merge_loops
from xrelax.reference.evaluate import evaluate

BLOCK = """
      tir.block "Y" (%vi: spatial (0, 8) = %i, %vj: spatial (0, 8) = %j)
      reads (%X[%vi, %vj]) writes (%Y[%vi:2, (%vj - 1):2]) {
        %x = tir.load %X[%vi, %vj] : !tir.buffer<[8, 8], f32>
        %y = arith.addf %x, %x : f32
        tir.store %x, %Y[FIRST] : !tir.buffer<[10, 10], f32>
        tir.store %y, %Y[SECOND] : !tir.buffer<[10, 10], f32>
      }"""
FUNC = """
tir.prim_func @f(%X: !tir.buffer<[8, 8], f32>, %Y: !tir.buffer<[10, 10], f32>) {
  tir.for %i in (0, 8) {
    tir.for %j in (0, 8) {BLOCK
    }
  }
}"""


def parsed(first: str, second: str) -> ModuleOp:
    text = FUNC.replace("BLOCK", BLOCK).replace("FIRST", first).replace("SECOND", second)
    return Parser(get_context(), text).parse_module()


def loops_of(module: ModuleOp) -> list[tir.ForOp]:
    return [op for op in module.walk() if isinstance(op, tir.ForOp)]


def refusal(change, module: ModuleOp) -> str:
    before = str(module)
    with pytest.raises(ScheduleError) as error:
        change(*loops_of(module))
    assert str(module) == before
    return error.value.message


RACES = [
    ("%vi, %vj", "%vi, %vj + 1", "j"),
    ("%vi, %vj", "%vi + 1, %vj", "i"),
    ("%vi, 0", "%vi, %vj + 1", "j"),
    ("%vi floordiv 2, %vj", "%vi + 1, %vj", "i"),
]


@pytest.mark.parametrize("kind", ["parallel", "vectorized", "blockIdx.x"])
@pytest.mark.parametrize("first, second, loop", RACES)
def test_iterations_that_write_one_element_run_neither_at_once_nor_in_lanes(
    first, second, loop, kind
):
    message = refusal(lambda i, j: set_kind({"i": i, "j": j}[loop], kind), parsed(first, second))
    expected = (
        f"expected iterations of loop '{loop}' to write different parts of 'Y' for it to be {kind}"
    )
    assert message == expected


@pytest.mark.parametrize("kind", ["parallel", "vectorized"])
@pytest.mark.parametrize(
    "first, second", [("%vi, %vj", "%vi + 1, %vj"), ("%vi, %vj * 1", "%vi, %vj")]
)
def test_iterations_that_write_elements_of_their_own_may(first, second, kind):
    set_kind(loops_of(parsed(first, second))[1], kind)


def test_which_of_two_stores_is_the_last_one_depends_on_the_order():
    message = refusal(lambda i, j: reorder([j, i]), parsed("%vi + 1, %vj", "%vi, %vj + 1"))
    assert message == (
        "expected other instances of block 'Y' not to write elements of 'Y' that one of them writes"
    )
    reorder(loops_of(parsed("%vi, %vj", "%vi, %vj"))[::-1])


@pytest.mark.parametrize("first, second, loop", RACES)
def test_loops_that_keep_the_order_are_fused_and_unrolled(first, second, loop):
    module = parsed(first, second)
    arrays = [np.arange(64, dtype="float32").reshape(8, 8), np.zeros((10, 10), "float32")]
    want = evaluate(module.clone(), "f", arrays)
    set_kind(loops_of(module)[1], "unrolled")
    set_kind(loops_of(module)[1], "serial")
    fuse(loops_of(module))
    for got, expected in zip(evaluate(module, "f", arrays), want, strict=True):
        np.testing.assert_array_equal(got, expected)


NESTS = """
tir.prim_func @f(%Y: !tir.buffer<[9], f32>, %Z: !tir.buffer<[9], f32>) {
  %c = arith.constant 1.0 : f32
  tir.for %i in (0, 8) {
    tir.block "Y" (%v: spatial (0, 8) = %i) reads () writes (%Y[%v:2]) {
      tir.store %c, %Y[%v] : !tir.buffer<[9], f32>
      EXTRA
    }
  }
  tir.for %j in (0, 8) {
    tir.block "Z" (%w: spatial (0, 8) = %j) reads (%Y[%w:2]) writes (%Z[%w]) {
      %y = tir.load %Y[READ] : !tir.buffer<[9], f32>
      tir.store %y, %Z[%w] : !tir.buffer<[9], f32>
    }
  }
}"""


@pytest.mark.parametrize(
    "extra, read, is_legal",
    [
        ("", "%w", True),
        ("", "%w + 1", False),
        ("tir.store %c, %Y[%v + 1] : !tir.buffer<[9], f32>", "%w + 1", False),
        ("tir.store %c, %Y[%v + 1] : !tir.buffer<[9], f32>", "%w", False),
    ],
)
def test_nests_are_merged_where_each_iteration_uses_what_it_stores_alone(extra, read, is_legal):
    text = NESTS.replace("EXTRA", extra).replace("READ", read)
    module = Parser(get_context(), text).parse_module()
    if is_legal:
        merge_loops(loops_of(module))
    else:
        assert refusal(lambda *loops: merge_loops(loops), module) == (
            "expected an iteration of loop 'j' to use from 'Y' only what the same iteration of "
            "loop 'i' stores"
        )
