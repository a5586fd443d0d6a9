"""Programs given as IR, and their text as TVMScript, which parses back to the same program."""

import ast

from xdsl.parser import Parser

from xrelax.dialects import get_context
from xrelax.ir.equality import assert_structural_equal
from xrelax.script.parser.module import parse_text
from xrelax.script.printer import print_module

RELU = """
tir.prim_func @relu(%X: !tir.buffer<[1, n], f32>, %Y: !tir.buffer<[1, n], f32>) params ("x", "y") {
  tir.for %i in (0, 1) { tir.for %j in (0, n) {
    tir.block "Y" (%vi: spatial (0, 1) = %i, %vj: spatial (0, n) = %j)
        reads (%X[%vi, %vj]) writes (%Y[%vi, %vj]) {
      %x = tir.load %X[%vi, %vj] : !tir.buffer<[1, n], f32>
      %zero = arith.constant 0.0 : f32
      %m = arith.maximumf %x, %zero : f32
      tir.store %m, %Y[%vi, %vj] : !tir.buffer<[1, n], f32>
    }
  } }
}
"""


def parse_ir(text):
    """The verified module of an IR text."""
    module = Parser(get_context(), text).parse_module()
    module.verify()
    return module


def script(text, **options):
    """The text of a module given as IR; checks that it is Python and reads back as the module."""
    module = parse_ir(text)
    printed = print_module(module, **options)
    ast.parse(printed)
    assert "\t" not in printed and not printed.endswith("\n")
    if "# Metadata omitted" not in printed:
        assert_structural_equal(module, parse_text(with_imports(printed), {}))
    return printed


def with_imports(printed):
    """A text whose imports, which are printed as comments, are statements."""
    return "\n".join(
        line.removeprefix("# ") if line.startswith("# from") else line
        for line in printed.splitlines()
    )
