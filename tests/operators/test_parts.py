"""Parts of a tensor: sections of a symbolic dim, and the memory from a byte on."""

import numpy as np
import pytest
from xdsl.parser import Parser

from xrelax import relax
from xrelax.dialects import get_context
from xrelax.ir.module import IRModule
from xrelax.reference import evaluate
from xrelax.script import from_source

SPLIT = """
@R.function
def main(x: R.Tensor(("n", 1), "float32")):
    return R.split(x, 4)
"""
VIEW = """
relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[3], f32> {
  %0 = relax.memory.view %x {shape = [#sym.expr<3>], relative_byte_offset = #sym.expr<4>}
      : !relax.tensor<[n], f32> -> !relax.tensor<[3], f32>
  relax.return %0 : !relax.tensor<[3], f32>
}
"""


@pytest.mark.parametrize("rows", [2, 5])
def test_sections_beyond_the_end_are_empty(rows):
    x = np.arange(rows, dtype="float32").reshape(rows, 1)
    size = -(-rows // 4)
    main = from_source(SPLIT)
    for found in (relax.build(main)(x), evaluate(IRModule.from_expr(main).op, "main", [x])):
        for i, part in enumerate(found):
            np.testing.assert_array_equal(np.asarray(part), x[size * i : size * (i + 1)])


def test_a_view_without_dtype_has_its_start():
    module, x = Parser(get_context(), VIEW).parse_module(), np.arange(6, dtype="float32")
    (found,) = evaluate(module, "main", [x])
    np.testing.assert_array_equal(found, x[1:4])
    np.testing.assert_array_equal(relax.build(IRModule(module))(x).numpy(), x[1:4])
