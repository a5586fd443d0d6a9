"""Which loops may run on threads, and how long an iteration is taken to be."""

import pytest
from xdsl.parser import Parser

from xrelax.backend.targets.machine_model import MachineModel
from xrelax.dialects import get_context, loops, tir
from xrelax.lowering.analysis.independence import conflict_of
from xrelax.lowering.llvm.loop_cost import UNKNOWN_TRIPS, iteration_cost, thousandths

MODEL = MachineModel(loop_iteration=0.25, loop_operation=0.125, loop_vector=0.5)
ITERATION, SCALAR, VECTOR = map(
    thousandths, (MODEL.loop_iteration, MODEL.loop_operation, MODEL.loop_vector)
)


def first_loop(text: str, kind: type):
    module = Parser(get_context(), text).parse_module()
    module.verify()
    return next(op for op in module.walk() if isinstance(op, kind))


COPY = """
tir.prim_func @f(%X: !tir.buffer<[n, 64], f32>, %Y: !tir.buffer<[n, 64], f32>) {{
  tir.for %i in (0, n - 4) {{
    tir.for %j in (0, 64) {{
      tir.block "Y" (%v: opaque (0, n) = {write}, %r: opaque (0, n) = {read},
                     %w: spatial (0, 64) = %j)
      reads (%{source}[%r, %w]) writes (%Y[%v, %w]) {{
        %x = tir.load %{source}[%r, %w] : !tir.buffer<[n, 64], f32>
        tir.store %x, %Y[%v, %w] : !tir.buffer<[n, 64], f32>
      }}
    }}
  }}
}}
"""


@pytest.mark.parametrize(
    "write, read, source, expected",
    [
        ("%i", "%i", "X", True),
        ("%i + 1", "%i", "X", True),
        ("%i", "%i", "Y", True),
        ("%i + 1", "%i", "Y", False),  # what the iteration before has written
        ("%i", "%i + 1", "Y", False),
        ("%i floordiv 2", "%i", "X", False),  # two iterations write one row
        ("%i * 2 + %j mod 2", "%i", "X", True),
        ("%i * 2 + %j mod 4", "%i", "X", True),  # rows overlap, of other columns
        ("%i * 2 + %j floordiv 32", "%i", "X", True),
        ("%i + %j floordiv 32", "%i", "X", True),
        ("0", "%i", "X", False),
        ("%j", "%i", "X", False),
    ],
)
def test_independent_iterations(write, read, source, expected):
    text = COPY.format(write=write, read=read, source=source)
    assert (conflict_of(first_loop(text, tir.ForOp)) is None) is expected


def test_both_digits_of_a_fused_loop_tell_iterations_apart():
    text = """
    tir.prim_func @f(%Y: !tir.buffer<[6, 64], f32>) {
      tir.for %i in (0, 24) {
        tir.for %j in (0, 16) {
          tir.block "Y" (%v: spatial (0, 6) = %i floordiv 4, %w: opaque (0, 64) = WRITTEN)
          reads () writes (%Y[%v, %w]) {
            %x = arith.constant 0.0 : f32
            tir.store %x, %Y[%v, %w] : !tir.buffer<[6, 64], f32>
          }
        }
      }
    }"""
    for written, expected in (("%i mod 4 * 16 + %j", True), ("%j", False)):
        loop = first_loop(text.replace("WRITTEN", written), tir.ForOp)
        assert (conflict_of(loop) is None) is expected


@pytest.mark.parametrize(
    "body, expected",
    [
        ("%a = arith.addf %x, %x : f32", f"{SCALAR}"),
        ("%a = arith.addf %v, %v : vector<16xf32>", f"{VECTOR}"),
        ("loops.for %j in (0, m) { %a = arith.addf %x, %x : f32 }", f"m * {ITERATION + SCALAR}"),
        ("loops.for %j in (%i, 8) { %a = arith.addf %x, %x : f32 }", f"{8 * (ITERATION + SCALAR)}"),
        (
            "loops.for %j in (0, %i + 1) { %a = arith.addf %x, %x : f32 }",
            f"n * {ITERATION + SCALAR}",
        ),
        (
            "%t = arith.fptosi %x : f32 to i64\n%k = arith.index_cast %t : i64 to index\n"
            "loops.for %j in (0, %k) { %a = arith.addf %x, %x : f32 }",
            f"{2 * SCALAR + UNKNOWN_TRIPS * (ITERATION + SCALAR)}",
        ),
    ],
)
def test_cost_of_an_iteration(body, expected):
    text = f"""
    loops.func @k(%X: !tir.buffer<[n, m], f32>) symbols [n, m] noalias {{
      %x = arith.constant 1.0 : f32
      %v = vector.broadcast %x : f32 to vector<16xf32>
      loops.for %i in (0, n) parallel {{
        {body}
      }}
    }}"""
    cost, _ = iteration_cost(first_loop(text, loops.ForOp), MODEL)
    assert str(cost - ITERATION) == expected
