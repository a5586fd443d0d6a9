"""Ranges of indices and single iterations of loop nests."""

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser

from xrelax.dialects import get_context, tir
from xrelax.dialects.bounds import Interval
from xrelax.dialects.int_expr import IntExpr, arg, sym
from xrelax.dialects.nesting import operations_in
from xrelax.dialects.tir.iterations import Iteration, UnknownValue, happens
from xrelax.dialects.tir.ranges import surely_less, value_range

KERNEL = """
tir.prim_func @f(%X: !tir.buffer<[n], f32>, %s: index, %ok: i1) {
  tir.for %i in (0, n) {
    tir.for %j in (%i, 4) {
      tir.for %d in (0, %s) {
        tir.block "b" (%v: spatial (2, 8) = %i * 2 + %j) where (%i < 3) {
          %k = tir.apply %v + %i
          %t = tir.call_extern "t"() : () -> index
          scf.if %ok {
            %w = tir.apply 0
          }
        }
      }
    }
  }
}
"""


@pytest.fixture
def ops() -> dict[str, Operation]:
    module = Parser(get_context(), KERNEL).parse_module()
    assert isinstance(module, ModuleOp)
    found: dict[str, Operation] = {}
    for op in operations_in(module):
        values = [*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)]
        found.update((v.name_hint, op) for v in values if v.name_hint is not None)
    return found


def test_ranges(ops: dict[str, Operation]):
    i, j, d, k = ops["i"], ops["j"], ops["d"], ops["k"]
    n = sym("n")
    assert isinstance(i, tir.ForOp) and isinstance(j, tir.ForOp) and isinstance(d, tir.ForOp)
    assert value_range(i.loop_var) == Interval.range(0, n)
    assert value_range(j.loop_var) == Interval(IntExpr.of(0), n + 2)
    assert value_range(d.loop_var) is None
    block = ops["v"]
    assert isinstance(block, tir.BlockOp) and isinstance(k, tir.ApplyOp)
    assert value_range(block.axis_vars[0]) == Interval.range(2, 8)
    assert value_range(k.result) == Interval(IntExpr.of(2), n + 8)
    assert value_range(ops["t"].results[0]) is None


def test_iterations_obey_loops_and_predicates(ops: dict[str, Operation]):
    i, j = ops["i"], ops["j"]
    assert isinstance(i, tir.ForOp) and isinstance(j, tir.ForOp)
    seen: list[tuple[int, int]] = []

    def look(at: Iteration) -> bool:
        seen.append((at.values[i.loop_var], at.values[j.loop_var]))
        return False

    assert not happens(ops["d"], look)
    assert all(first <= second < first + 4 for first, second in seen)
    size = 37
    assert {first for first, _ in seen} >= {0, size - 1}


def test_what_depends_on_data_does_not_happen(ops: dict[str, Operation]):
    assert not happens(ops["k"], lambda _: True)  # a loop's extent is a parameter
    assert not happens(ops["w"], lambda _: True)  # a condition on data


def test_evaluation(ops: dict[str, Operation]):
    k = ops["k"]
    assert isinstance(k, tir.ApplyOp)
    at = Iteration(values=dict.fromkeys(k.operands, 5))
    assert at.value_of(k.result) == 10
    assert at.evaluate(sym("n") - sym("n") + arg(0), [k.result]) == 10
    assert at.evaluate(sym("n"), ()) != at.evaluate(sym("m"), ())
    for expr in (arg(0), IntExpr.of(1) // 0):
        with pytest.raises(UnknownValue):
            at.evaluate(expr, [ops["t"].results[0]])


def test_surely_less():
    n = sym("n")
    assert surely_less(n, n * 2) and surely_less(IntExpr.of(0), n)
    assert not surely_less(n, sym("m")) and not surely_less(n, n)
