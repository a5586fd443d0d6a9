"""Symbols replaced throughout a function: types, attributes, loops, blocks, and nothing else."""

# ruff: noqa: E501 - lines of IR are as long as the printer makes them

from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from xrelax.dialects import get_context, relax, tir
from xrelax.dialects.int_expr import sym
from xrelax.lowering.substitute import substitute_symbols

KERNEL = """
tir.prim_func @f(%X: !tir.buffer<[n, m], f32, strides = [m * 2, 1], offset = n>, %Y: !tir.buffer<[n + 1], f32>) {
  %T = tir.alloc_buffer : !tir.buffer<[m * n, (n + 3) floordiv 4], f32>
  tir.for %i in (0, n) {
    tir.block "Y" (%vi: spatial (0, n) = %i) where (%i * 4 < n) reads (%X[%vi, 0 : m]) writes (%Y[%vi]) {
      %x = tir.load %X[%vi, m - 1] : !tir.buffer<[n, m], f32, strides = [m * 2, 1], offset = n>
      tir.store %x, %Y[%vi] : !tir.buffer<[n + 1], f32>
    }
  }
}
"""


def parse(text: str) -> ModuleOp:
    module = Parser(get_context(), text).parse_module()
    module.verify()
    return module


def test_prim_func():
    module, expected = parse(KERNEL), KERNEL
    substitute_symbols(module.body.block.first_op, {"n": 8, "m": 5})
    for old, new in (
        ("(n + 3) floordiv 4", "2"),
        ("m * 2", "10"),
        ("m * n", "40"),
        ("n + 1", "9"),
        ("m - 1", "4"),
        ("n, m", "8, 5"),
        ("offset = n", "offset = 8"),
        ("(0, n)", "(0, 8)"),
        ("< n)", "< 8)"),
        ("0 : m", "0 : 5"),
    ):
        assert old in expected
        expected = expected.replace(old, new)
    module.verify()
    assert str(module) == str(parse(expected))


def test_symbols_are_replaced_at_once():
    """n and m change places; one after the other would make them the same."""
    module = parse(KERNEL)
    func = module.body.block.first_op
    assert isinstance(func, tir.PrimFuncOp)
    substitute_symbols(func, {"n": sym("m"), "m": sym("n")})
    module.verify()
    assert func.params[0].type.dims == (sym("m"), sym("n"))


def test_graph_function():
    module = parse("""
    relax.func @f(%x: !relax.tensor<[n], f32>, %s: !relax.shape<[n, 2]>) -> tuple<!relax.tensor<[n], f32>, !relax.shape<[n, 2]>> attributes {n = "n"} {
      %y = relax.call_tir @g(%x) vars [#sym.expr<n * 2>] : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
      %t = relax.tuple(%y, %s) : (!relax.tensor<[n], f32>, !relax.shape<[n, 2]>) -> tuple<!relax.tensor<[n], f32>, !relax.shape<[n, 2]>>
      relax.return %t : tuple<!relax.tensor<[n], f32>, !relax.shape<[n, 2]>>
    }""")
    func = module.body.block.first_op
    assert isinstance(func, relax.FuncOp)
    substitute_symbols(func, {"n": 4})
    module.verify()
    text = str(module)
    assert "[n" not in text and "n * 2" not in text
    assert "vars [#sym.expr<8>]" in text and "!relax.shape<[4, 2]>" in text
    assert 'attributes {n = "n"}' in text
