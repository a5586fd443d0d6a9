"""Random programs on the builder: against NumPy, and unchanged by what should change nothing."""

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from xdsl.pattern_rewriter import PatternRewriteWalker

from xrelax import relax, te, topi
from xrelax.ir.equality import structural_equal
from xrelax.relax.dpl import is_op, rewrite_call, wildcard
from xrelax.script import from_source

SHAPE = (3, 4)
BINARY = {
    "add": (relax.op.add, topi.add, np.add),
    "subtract": (relax.op.subtract, topi.subtract, np.subtract),
    "multiply": (relax.op.multiply, topi.multiply, np.multiply),
    "maximum": (relax.op.maximum, topi.maximum, np.maximum),
}
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
"""A failing program is compiled again and again while it is made smaller: we look at it whole."""

STEP = st.tuples(
    st.sampled_from([*BINARY]),
    st.integers(0, 99),
    st.integers(0, 99),
    st.sampled_from(["nested", "emitted", "te", "new block", "constant", "tuple"]),
)


def te_scale(tensor, by):
    return te.compute(tensor.shape, lambda i, j: tensor[i, j] * by, name="scale")


class Program:
    """A program of steps, with the value that NumPy gives to each of them."""

    def __init__(self, steps, arrays):
        self.params = [relax.Var(n, relax.TensorStructInfo(SHAPE, "float32")) for n in "xy"]
        self.values = list(zip(self.params, arrays, strict=True))
        self.bb = relax.BlockBuilder()
        with self.bb.function("main", self.params):
            self.bb.begin_dataflow_block()
            for step in steps:
                self.add(*step)
            result, self.expected = self.values[-1]
            out = self.bb.emit_output(result)
            self.bb.end_block()
            self.bb.emit_func_output(out)
        self.mod = self.bb.finalize()

    def add(self, name, first, second, how):
        operator, kernel, numpy = BINARY[name]
        (a, x), (b, y) = (self.values[i % len(self.values)] for i in (first, second))
        match how:
            case "te":
                expr = self.bb.emit_te(kernel, a, b)
            case "constant":
                y = np.full((4,), second % 3, "float32")
                expr = operator(a, relax.const(y))
            case "tuple":
                expr = operator(relax.Tuple([a, b])[0], b)
            case "new block":
                out = self.bb.emit_output(operator(a, b))
                for i, (old, _) in enumerate(self.values):
                    if type(old) is relax.DataflowVar:
                        self.values[i] = (self.bb.emit_output(old), self.values[i][1])
                self.bb.end_block()
                expr = self.bb.emit_te(te_scale, out, 1.0)
                self.bb.begin_dataflow_block()
            case "emitted":
                expr = self.bb.emit(operator(a, b))
            case _:
                expr = operator(a, b)
        self.values.append((expr, numpy(x, y)))


def arrays():
    return np.random.default_rng(0).uniform(-1, 1, (2, *SHAPE)).astype("float32")


@settings(max_examples=25, deadline=None, phases=PHASES)
@given(st.lists(STEP, min_size=1, max_size=12))
def test_programs(steps):
    program = Program(steps, arrays())
    mod = program.mod
    result = relax.build(mod)["main"](*arrays()).numpy()
    np.testing.assert_allclose(result, program.expected, rtol=1e-4, atol=1e-5)
    assert from_source(mod.script(show_meta=True)).script() == mod.script()
    for op in mod.op.walk():
        assert all(use.operation.parent is not None for r in op.results for use in r.uses)
    same = relax.PyExprMutator(mod).visit_expr(mod["main"])
    assert same.script() == mod["main"].script()
    assert structural_equal(same.op, mod["main"].op)


@settings(max_examples=25, deadline=None, phases=PHASES)
@given(st.lists(STEP, min_size=2, max_size=12))
def test_rewritten_programs(steps):
    program = Program(steps, arrays())
    x, y, z = wildcard(), wildcard(), wildcard()
    pattern = is_op("relax.add")(is_op("relax.multiply")(x, y), z)

    def fma(call, found):
        operands = [found[p] for p in (x, y, z)]
        ranks = {o.struct_info.ndim for o in operands}
        return relax.op.ewise_fma(*operands) if len(ranks) == 1 else call

    rewritten = rewrite_call(pattern, fma, program.mod["main"])
    mod = program.mod.clone()
    mod["main"] = rewritten
    fused = relax.transform.FuseOpsByPattern([("fma", pattern)])(program.mod)
    in_place = program.mod.clone()
    replaced = pattern.to_rewrite_pattern(fma)
    PatternRewriteWalker(replaced).rewrite_module(in_place.op)
    for new in (mod, fused, in_place):
        assert relax.analysis.well_formed(new)
        result = relax.build(new)["main"](*arrays()).numpy()
        np.testing.assert_allclose(result, program.expected, rtol=1e-4, atol=1e-5)
    assert executed(fused, "relax.multiply") == executed(program.mod, "relax.multiply")


def executed(mod, name):
    """How often an operator runs in a call of main."""
    inside = {
        v.name_hint: sum(op.name == name for op in f.op.walk()) for v, f in mod.functions.items()
    }
    calls = [op.callee_name for op in mod["main"].op.walk() if op.name == "relax.call"]
    return inside["main"] + sum(inside[callee] for callee in calls)
