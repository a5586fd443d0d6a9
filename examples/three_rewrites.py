"""One rewrite three ways: a multiplication and an addition become one fused operator.

Run ``python examples/three_rewrites.py``. A mutator visits calls in TVM's way, a pattern of the
pattern language says what to find, and a rewrite pattern of xDSL works on the operations
themselves. All three give the same program.
"""

from __future__ import annotations

import numpy as np
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

import xrelax as tvm
from xrelax import relax
from xrelax.dialects.relax import OPERATORS
from xrelax.relax.dpl import is_op, rewrite_call, wildcard

AddOp, EwiseFMAOp, MultiplyOp = (
    OPERATORS[f"relax.{name}"] for name in ("add", "ewise_fma", "multiply")
)


def build_module() -> tvm.IRModule:
    """``x * y + y`` of matrices with any number of rows."""
    x = relax.Var("x", relax.TensorStructInfo(("n", 4), "float32"))
    y = relax.Var("y", relax.TensorStructInfo(("n", 4), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x, y]):
        with bb.dataflow():
            product = bb.emit(relax.op.multiply(x, y))
            total = bb.emit_output(relax.op.add(product, y))
        bb.emit_func_output(total)
    return bb.finalize()


@relax.expr_functor.mutator
class FMAMutator(relax.PyExprMutator):
    """Replaces an addition whose first operand is bound to a multiplication."""

    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        if call.op != tvm.ir.Op.get("relax.add"):
            return call
        value = self.lookup_binding(call.args[0])
        if not isinstance(value, relax.Call) or value.op != tvm.ir.Op.get("relax.multiply"):
            return call
        return relax.Call(tvm.ir.Op.get("relax.ewise_fma"), [*value.args, call.args[1]])


def by_mutator(mod: tvm.IRModule) -> tvm.IRModule:
    """The rewrite by a visitor that builds a new function."""
    function = relax.analysis.remove_all_unused(FMAMutator().visit_expr(mod["main"]))
    return tvm.IRModule({"main": function})


def by_pattern(mod: tvm.IRModule) -> tvm.IRModule:
    """The rewrite by a description of what to find."""
    x, y, z = wildcard(), wildcard(), wildcard()
    pattern = is_op("relax.add")(is_op("relax.multiply")(x, y), z)

    def fused(call, found):
        return relax.op.ewise_fma(found[x], found[y], found[z])

    return tvm.IRModule({"main": rewrite_call(pattern, fused, mod["main"])})


class FuseMultiplyAdd(RewritePattern):
    """The rewrite on operations."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp, rewriter: PatternRewriter) -> None:
        product, rest = op.operands
        if isinstance(product.owner, MultiplyOp):
            rewriter.replace(op, EwiseFMAOp.of([*product.owner.operands, rest]))


def by_xdsl(mod: tvm.IRModule) -> tvm.IRModule:
    """The rewrite in place, on a copy, and then a pass."""
    copy = mod.clone()
    PatternRewriteWalker(FuseMultiplyAdd()).rewrite_module(copy.op)
    return relax.transform.DeadCodeElimination()(copy)


WAYS = {"mutator": by_mutator, "pattern": by_pattern, "xDSL": by_xdsl}


def main() -> None:
    """Print the program before and after, and check that all ways compute the same."""
    mod = build_module()
    x, y = np.random.default_rng(0).standard_normal((2, 3, 4)).astype("float32")
    print(mod["main"].script())
    for name, rewrite in WAYS.items():
        rewritten = rewrite(mod)
        result = relax.build(rewritten)["main"](x, y).numpy()
        np.testing.assert_allclose(result, x * y + y, rtol=1e-6)
        print(f"# by {name}\n{rewritten['main'].script()}")


if __name__ == "__main__":
    main()
