"""A check of a pipeline names the pass that broke the program, with function, sizes and error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from xrelax.dialects import relax, tir
from xrelax.dialects.int_expr import arg
from xrelax.dialects.sym import expr_array, exprs_of
from xrelax.reference import CheckError, check_pipeline

SYMBOLS = r" \((n = \d+, m|m = \d+, n) = \d+\)"


@dataclass(frozen=True)
class DamagePass(ModulePass):
    """Does something to the first operation of a kind in `main` or in the function `inside`."""

    name: ClassVar[str] = "damage"
    op_type: type[Operation]
    damage: Callable[[Operation], None]
    inside: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        top = [o for o in op.body.block.ops if self.inside in ("", o.properties["sym_name"].data)]
        self.damage(next(i for o in top for i in o.walk() if isinstance(i, self.op_type)))


@dataclass(frozen=True)
class IdlePass(ModulePass):
    """Changes nothing."""

    name: ClassVar[str] = "idle"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        return None


def swap_operands(op):
    op.operands = (op.operands[1], op.operands[0])


def erase(op):
    op.detach()


@pytest.mark.parametrize("program", ["graph", "planned", "loops", "kernels"])
def test_passes_that_change_nothing_pass(parse, programs, registry, program):
    module = parse(programs[program])
    before = str(module)
    result = check_pipeline(
        module, [("idle", IdlePass()), ("again", IdlePass())], registry=registry
    )
    assert str(module) == before == str(result) and result is not module


def test_the_message_has_sizes_and_error(parse, programs):
    fault = DamagePass(arith.SubfOp, swap_operands)
    numbers = r"expected .* within .* at \[\d+\], got .*; max error"
    message = rf"^pass 'swap' changes result 0 of 'main'{SYMBOLS}: {numbers}"
    with pytest.raises(CheckError, match=message):
        check_pipeline(parse(programs["graph"]), [("swap", fault)])


def test_bad_ir_is_attributed(parse, programs):
    def too_far(op):
        op.properties["indices"] = expr_array([exprs_of(op.indices)[0], arg(1) + 1000])

    fault = DamagePass(tir.StoreOp, too_far, "difference")
    with pytest.raises(CheckError, match=r"^pass 'bad' (breaks|left IR).*indices of dim 1 of 'D'"):
        check_pipeline(parse(programs["graph"]), [("bad", fault)])
    arity = DamagePass(tir.StoreOp, lambda op: op.properties.update(indices=expr_array([])), "sum")
    with pytest.raises(
        CheckError, match=r"^pass 'arity' left IR that does not verify: .*expected 1 indices"
    ):
        check_pipeline(parse(programs["graph"]), [("arity", arity)])


def test_a_failing_pass_is_named(parse, programs):
    def fail(op):
        raise PassFailedException("cannot lower 'relax.call_tir'")

    with pytest.raises(CheckError, match=r"^pass 'lower' failed: cannot lower 'relax.call_tir'"):
        check_pipeline(parse(programs["graph"]), [("lower", DamagePass(relax.CallTIROp, fail))])


def test_a_dropped_function_is_named(parse, programs):
    drop = DamagePass(relax.FuncOp, erase)
    with pytest.raises(CheckError, match=r"^pass 'drop' dropped the function 'main'"):
        check_pipeline(parse(programs["graph"]), [("drop", drop)])


def test_public_functions(parse, programs):
    from xrelax.reference.check import public_functions

    assert public_functions(parse(programs["graph"])) == ["total", "main"]
    assert public_functions(parse(programs["kernels"])) == ["difference", "sum", "total"]


def test_private_kernels_without_calls_count_if_they_are_alone(parse, programs):
    from xrelax.reference.check import public_functions

    hidden = "tir.prim_func @hidden(%X: !tir.buffer<[4], f32>) attributes {private} {\n}\n"
    assert public_functions(parse(programs["graph"] + hidden)) == ["total", "main"]
    assert public_functions(parse(hidden)) == ["hidden"]


def test_machine_code_is_compared_at_the_end(parse, programs):
    def correct(name, args):
        x, y = (a.astype("f8") for a in args)
        return [(np.subtract(x, y).sum(1) + 0.5).astype("f4")]

    def wrong(name, args):
        return [correct(name, args)[0] * np.float32(1.001)]

    check_pipeline(parse(programs["graph"]), [], functions=["main"], machine_code=correct)
    with pytest.raises(CheckError, match=r"^the machine code changes result 0 of 'main'"):
        check_pipeline(parse(programs["graph"]), [], functions=["main"], machine_code=wrong)


@pytest.mark.parametrize("factor", [1, 2])
def test_what_machine_code_writes_is_compared(parse, factor):
    module = parse("""
    tir.prim_func @double(%X: !tir.buffer<[n], f32>, %Y: !tir.buffer<[n], f32>) {
      tir.for %i in (0, n) {
        %x = tir.load %X[%i] : !tir.buffer<[n], f32>
        %y = arith.addf %x, %x : f32
        tir.store %y, %Y[%i] : !tir.buffer<[n], f32>
      }
    }""")

    def machine_code(name, args):
        np.multiply(args[0], factor, out=args[1])
        return []

    if factor == 2:
        check_pipeline(module, [], machine_code=machine_code)
        return
    with pytest.raises(CheckError, match=r"^the machine code changes argument 'Y' of 'double'"):
        check_pipeline(module, [], machine_code=machine_code)


def test_a_module_without_a_meaning_is_an_error(parse, programs):
    module = parse(programs["graph"].replace("@total(%X", "@other(%X"))
    module.walk()
    unknown = parse(programs["planned"])
    with pytest.raises(
        CheckError, match=r"^the module as given cannot be evaluated: in 'main': expected 'double'"
    ):
        check_pipeline(unknown, [], registry={})
    with pytest.raises(CheckError, match="expected a function 'nothing' in the module, got none"):
        check_pipeline(module, [], functions=["nothing"])


def test_integers_are_drawn_so_that_indices_fit(parse, programs):
    module = parse("""
    tir.prim_func @gather(%I: !tir.buffer<[n], i64>, %X: !tir.buffer<[m], f32>,
        %Y: !tir.buffer<[n], f32>) {
      tir.for %i in (0, n) {
        %k = tir.load %I[%i] : !tir.buffer<[n], i64>
        %at = arith.index_cast %k : i64 to index
        %x = tir.load %X[%at] : !tir.buffer<[m], f32>
        tir.store %x, %Y[%i] : !tir.buffer<[n], f32>
      }
    }""")
    check_pipeline(module, [("idle", IdlePass())])


def test_symbols_are_drawn_in_the_ranges_of_attributes(parse):
    from xrelax.reference.inputs import draw_symbols

    module = parse("""
    relax.func @main(%x: !relax.tensor<[n, m], f32>) -> !relax.tensor<[n, m], f32> attributes
        {"tir_var_lower_bound" = {n = 7 : i64},
         "tir_var_upper_bound" = {n = 8 : i64, m = 2 : i64}} {
      relax.return %x : !relax.tensor<[n, m], f32>
    }""")
    rng = np.random.default_rng(0)
    drawn = [draw_symbols(module.body.block.first_op, rng, 5) for _ in range(40)]
    assert {d["n"] for d in drawn} == {7}
    assert {d["m"] for d in drawn} == {1, 2}
    assert draw_symbols(module.body.block.first_op, rng, 5, equal=True) == {"m": 2, "n": 7}
