"""Masked accesses compute the same when their memory is promoted to values."""

import numpy as np
import pytest
from xdsl.parser import Parser

from xrelax.dialects import get_context
from xrelax.pipeline import load_pass
from xrelax.reference import evaluate

X, Y, S = (np.arange(1, n + 1, dtype=np.float32) for n in (5, 5, 4))

HEADER = """
loops.func @f(%X: !tir.buffer<[5], f32>, %Y: !tir.buffer<[5], f32>, %S: !tir.buffer<[4], f32>)
    noalias {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %ones = vector.broadcast %one : f32 to vector<8xf32>
"""

LANES_ARE_ADDED = """
  loops.for %k in (0, 4) {
    %m = loops.mask 5 : vector<8xi1>
    %y = loops.load %Y[0] mask %m : !tir.buffer<[5], f32> -> vector<8xf32>
    %t = loops.multi_reduction <add>, %zero, %y fastmath<reassoc> : f32, vector<8xf32>
    loops.store %t, %S[%k] : !tir.buffer<[4], f32>, f32
    %b = arith.addf %y, %ones : vector<8xf32>
    loops.store %b, %Y[0] mask %m : !tir.buffer<[5], f32>, vector<8xf32>
  }
}"""

MASK_OF_THE_LOOP = """
  loops.for %k in (0, 4) {
    %m = loops.mask %k + 1 : vector<8xi1>
    %y = loops.load %Y[0] mask %m : !tir.buffer<[5], f32> -> vector<8xf32>
    %b = arith.addf %y, %ones : vector<8xf32>
    loops.store %b, %Y[0] mask %m : !tir.buffer<[5], f32>, vector<8xf32>
  }
}"""

NESTED = """
  loops.for %i in (0, 2) {
    %m = loops.mask 5 : vector<8xi1>
    %y = loops.load %Y[0] mask %m : !tir.buffer<[5], f32> -> vector<8xf32>
    %s = loops.for %k in (0, 3) carry (%c = %y : vector<8xf32>) {
      %n = arith.addf %c, %ones : vector<8xf32>
      READ
      loops.yield %n : vector<8xf32>
    }
    loops.store %s, %Y[0] mask %m : !tir.buffer<[5], f32>, vector<8xf32>
  }
}"""

TOTAL = """%t = loops.multi_reduction <add>, %zero, %c fastmath<reassoc> : f32, vector<8xf32>
      loops.store %t, %S[%k] : !tir.buffer<[4], f32>, f32"""

CARRIED_TO_ANOTHER_MASK = """
  %t = loops.alloca : !tir.buffer<[8], f32>
  %last = loops.for %k in (0, 4) carry (%c = %ones : vector<8xf32>) {
    %m = loops.mask 4 - %k : vector<8xi1>
    loops.store %c, %t[0] mask %m : !tir.buffer<[8], f32>, vector<8xf32>
    %v = loops.load %t[0] mask %m : !tir.buffer<[8], f32> -> vector<8xf32>
    %w = arith.addf %v, %ones : vector<8xf32>
    loops.yield %v : vector<8xf32>
  }
  %all = loops.mask 5 : vector<8xi1>
  loops.store %last, %Y[0] mask %all : !tir.buffer<[5], f32>, vector<8xf32>
}"""


@pytest.mark.parametrize(
    ("body", "selects"),
    [
        (LANES_ARE_ADDED, 1),
        (MASK_OF_THE_LOOP, 0),
        (NESTED.replace("READ", ""), 0),
        (NESTED.replace("READ", TOTAL), 1),
        (CARRIED_TO_ANOTHER_MASK, 1),
    ],
)
def test_promotion_keeps_results(body: str, selects: int):
    context = get_context()
    module = Parser(context, HEADER + body).parse_module()
    module.verify()
    wanted = evaluate(module, "f", [X.copy(), Y.copy(), S.copy()])
    load_pass("promote-buffers")().apply(context, module)
    module.verify()
    for got, expected in zip(
        evaluate(module, "f", [X.copy(), Y.copy(), S.copy()]), wanted, strict=True
    ):
        np.testing.assert_array_equal(got, expected)
    assert str(module).count("arith.select") == selects


def test_values_with_several_uses_are_followed_once():
    """Each of 60 values is used twice: there are 2 ** 60 paths from the load to the store."""
    squares = "".join(f"%v{i + 1} = arith.mulf %v{i}, %v{i} : vector<8xf32>\n" for i in range(60))
    body = f"""
  %m = loops.mask 5 : vector<8xi1>
  %t = loops.alloca : !tir.buffer<[8], f32>
  loops.store %ones, %t[0] mask %m : !tir.buffer<[8], f32>, vector<8xf32>
  %v0 = loops.load %t[0] mask %m : !tir.buffer<[8], f32> -> vector<8xf32>
  {squares}
  loops.store %v60, %Y[0] mask %m : !tir.buffer<[5], f32>, vector<8xf32>
}}"""
    context = get_context()
    module = Parser(context, HEADER + body).parse_module()
    load_pass("promote-buffers")().apply(context, module)
    module.verify()
    assert "loops.alloca" not in str(module) and "arith.select" not in str(module)
