"""Which operands of an operator its kernel has."""

from xdsl.parser import Parser

from xrelax.dialects import get_context, tir
from xrelax.lowering.graph.legalize_ops import _needed

KERNEL = """
tir.prim_func @rows(
    %X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>, %Z: !tir.buffer<[1], f32>) {
  tir.for %i in (0, n) {
    tir.block "Z" (%v: spatial (0, n) = %i) reads () writes (%Z[0]) {
      %x = arith.constant 1.0 : f32
      tir.store %x, %Z[0] : !tir.buffer<[1], f32>
    }
  }
}
"""


def test_one_of_two_unread_operands_has_the_symbol():
    (kernel,) = Parser(get_context(), KERNEL).parse_module().ops
    assert isinstance(kernel, tir.PrimFuncOp)
    assert _needed([0, 1], kernel) == [1]
