"""Kernels with lifted scratch buffers compute the same, before and after memory is planned."""

import pytest
from xdsl.parser import Parser

from xrelax.dialects import get_context
from xrelax.lowering.runtime.lift_workspace import lift_function
from xrelax.pipeline import load_pass
from xrelax.reference.check import check_pipeline

MODULE = """
rt.func @main(%x: !tir.buffer<[n, m], f32>, %z: !tir.buffer<[n, m], f32>) results 1 {
  rt.dataflow {
    %t = rt.alloc : !tir.buffer<[n, m], f32>
    rt.call_dps @kernel(%x) outs(%t) : (!tir.buffer<[n, m], f32>), (!tir.buffer<[n, m], f32>)
    rt.call_dps @kernel(%t) outs(%z) : (!tir.buffer<[n, m], f32>), (!tir.buffer<[n, m], f32>)
  }
}
tir.prim_func @kernel(%X: !tir.buffer<[a, b], f32>, %Z: !tir.buffer<[a, b], f32>) {
  %total = tir.alloc_buffer : !tir.buffer<[a], f32>
  tir.for %i in (0, a) KIND {
    tir.block "row" (%vi: spatial (0, a) = %i)
    reads (%X[%vi, 0 : b]) writes (%total[%vi], %Z[%vi, 0 : b]) {
      %row = tir.alloc_buffer : !tir.buffer<[b, 3], f32>
      tir.for %j in (0, b) {
        tir.block "copy" (%vj: spatial (0, b) = %j) reads (%X[%vi, %vj]) writes (%row[%vj, 0]) {
          %x = tir.load %X[%vi, %vj] : !tir.buffer<[a, b], f32>
          tir.store %x, %row[%vj, 0] : !tir.buffer<[b, 3], f32>
        }
        tir.block "total" (%vj: reduce (0, b) = %j) reads (%X[%vi, %vj]) writes (%total[%vi]) {
          tir.init {
            %zero = arith.constant 0.0 : f32
            tir.store %zero, %total[%vi] : !tir.buffer<[a], f32>
          }
          %x = tir.load %X[%vi, %vj] : !tir.buffer<[a, b], f32>
          %t = tir.load %total[%vi] : !tir.buffer<[a], f32>
          %s = arith.addf %t, %x : f32
          tir.store %s, %total[%vi] : !tir.buffer<[a], f32>
        }
      }
      tir.for %j in (0, b) {
        tir.block "Z" (%vj: spatial (0, b) = %j)
        reads (%row[%vj, 0], %total[%vi]) writes (%Z[%vi, %vj]) {
          %x = tir.load %row[%vj, 0] : !tir.buffer<[b, 3], f32>
          %t = tir.load %total[%vi] : !tir.buffer<[a], f32>
          %s = arith.subf %x, %t : f32
          tir.store %s, %Z[%vi, %vj] : !tir.buffer<[a, b], f32>
        }
      }
    }
  }
}
"""
PASSES = ("lift-workspace", "plan-memory", "convert-tir-to-loops", "promote-buffers")


def parse(kind: str):
    module = Parser(get_context(), MODULE.replace("KIND", kind)).parse_module()
    module.verify()
    return module


@pytest.mark.parametrize("kind", ["", "parallel"])
def test_results(kind: str):
    check_pipeline(parse(kind), [(n, load_pass(n)()) for n in PASSES], functions=["main"])


@pytest.mark.parametrize("kind, slots", [("", 1), ("parallel", 16)])
def test_each_thread_has_its_own_slot(kind: str, slots: int):
    _, kernel = parse(kind).body.block.ops
    dims = {"a": 6, "b": 9}
    sizes = [size.evaluate(lambda symbol: dims[symbol.name]) for size in lift_function(kernel)]
    assert sorted(sizes) == sorted([64, slots * 128])
