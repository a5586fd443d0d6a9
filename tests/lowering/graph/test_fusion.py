"""Fused graphs compute what they did, in fewer kernels, and repeat nothing."""

import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from xrelax import relax as R
from xrelax import te
from xrelax.dialects import get_context, relax, tir
from xrelax.dialects.diagnostics import verify
from xrelax.inspection import module_of
from xrelax.lowering.graph.fuse_tir import fuse_tir
from xrelax.lowering.graph.fusion_groups import MAX_CALLS
from xrelax.lowering.graph.fusion_patterns import OpPattern, summarize
from xrelax.lowering.graph.fusion_statistics import fusion_statistics, table
from xrelax.lowering.schedule.blocks import blocks_in
from xrelax.pipeline import load_pass
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source

PASSES = ("normalize", "annotate-tir-op-pattern", "fuse-ops", "fuse-tir", "schedule-default")


def fused(module, passes=PASSES):
    module = module.clone()
    for name in passes:
        load_pass(name)().apply(get_context(), module)
        verify(module)
    return module


def kernel_calls(module):
    main = next(f for f in module.ops if isinstance(f, relax.FuncOp) and f.private is None)
    return [op.callee_name for op in main.walk() if isinstance(op, relax.CallTIROp)]


def functions(module):
    return {f.sym_name.data: f for f in module.ops if isinstance(f, tir.PrimFuncOp)}


def check(module, arrays, expected):
    got = evaluate(module, "main", arrays)
    got = got[0] if len(got) == 1 and isinstance(got[0], (tuple, list)) else got
    for result, want in zip(got, expected, strict=True):
        np.testing.assert_array_equal(result, want)


SUBTRACTIONS = """
@I.ir_module
class Module:
    @T.prim_func
    def sub(a: T.handle, b: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        C = T.match_buffer(c, (n,), "float32")
        for i in range(n):
            with T.block("C"):
                v = T.axis.spatial(n, i)
                C[v] = A[v] - B[v]

    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32"),
             u: R.Tensor((8,), "float32"), v: R.Tensor((8,), "float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.sub, (x, y), out_sinfo=R.Tensor((4,), "float32"))
            b = R.call_tir(cls.sub, (a, x), out_sinfo=R.Tensor((4,), "float32"))
            c = R.call_tir(cls.sub, (x, y), out_sinfo=R.Tensor((4,), "float32"))
            d = R.call_tir(cls.sub, (x, c), out_sinfo=R.Tensor((4,), "float32"))
            e = R.call_tir(cls.sub, (u, v), out_sinfo=R.Tensor((8,), "float32"))
            f = R.call_tir(cls.sub, (e, u), out_sinfo=R.Tensor((8,), "float32"))
            g = R.call_tir(cls.sub, (y, x), out_sinfo=R.Tensor((4,), "float32"))
            h = R.call_tir(cls.sub, (g, y), out_sinfo=R.Tensor((4,), "float32"))
            R.output(b, d, f, h)
        return (b, d, f, h)
"""


READ_IN_A_BRANCH = """
@R.function
def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
    a = R.add(x, x)
    b = R.multiply(a, x)
    if c:
        d = R.subtract(a, b)
    else:
        d = b
    return d
"""


@pytest.mark.parametrize("condition", [True, False])
def test_what_a_branch_reads_is_computed_by_itself(condition):
    module = fused(module_of(from_source(READ_IN_A_BRANCH)), ("legalize-ops", *PASSES))
    assert kernel_calls(module) == ["add", "multiply", "subtract"]
    x = np.arange(4, dtype=np.float32)
    double = x + x
    expected = double - double * x if condition else double * x
    check(module, [x, np.array(condition)], [expected])


TWO_PRODUCTS = """
@R.function
def main(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")):
    with R.dataflow():
        out = R.add(R.matmul(x, y), R.matmul(y, x))
        R.output(out)
    return out
"""


def test_a_group_has_one_reduction():
    module = fused(module_of(from_source(TWO_PRODUCTS)), ("legalize-ops", *PASSES))
    assert sorted(kernel_calls(module)) == ["fused_matmul_add", "matmul"]


def test_groups_share_a_function_where_arguments_and_dims_are_the_same():
    module = module_of(from_source(SUBTRACTIONS))
    x, y, u, v = (np.random.default_rng(0).random(n, "float32") for n in (4, 4, 8, 8))
    found = fused(module)
    first, second, third, fourth = kernel_calls(found)
    assert len({first, second, third}) == 3 and fourth == first
    check(found, [x, y, u, v], [(x - y) - x, x - (x - y), (u - v) - u, (y - x) - y])


@settings(max_examples=12, deadline=None, derandomize=True, database=None)
@given(st.randoms(use_true_random=True), st.booleans())
def test_generated_graphs(generate_graph, rng, symbolic):
    dtype = rng.choice(("float32", "float64", "int32", "int8"))
    module, arrays, expected = generate_graph(rng, dtype, symbolic, rng.randrange(1, 12))
    check(module, arrays, expected)
    for position in range(2, len(PASSES) + 1):
        check(fused(module, PASSES[:position]), arrays, expected)


@settings(max_examples=8, deadline=None, derandomize=True, database=None)
@given(st.randoms(use_true_random=True), st.booleans())
def test_generated_graphs_compiled(generate_graph, rng, symbolic):
    module, arrays, expected = generate_graph(rng, "float32", symbolic, 8)
    got = R.build(module)["main"](*arrays)
    for result, want in zip(got, expected, strict=True):
        np.testing.assert_array_equal(result.numpy(), want)


def test_generated_graphs_have_every_kernel_and_fuse(generate_graph, kernel_kinds):
    calls, kinds = Counter(), Counter()
    for seed in range(40):
        module, _, _ = generate_graph(random.Random(seed), steps=10)
        kinds.update(k for k in kernel_kinds if any(n.startswith(k) for n in functions(module)))
        calls["before"] += len(kernel_calls(module))
        calls["after"] += len(kernel_calls(fused(module, PASSES[:4])))
    assert set(kinds) == set(kernel_kinds)
    assert calls["after"] < 0.8 * calls["before"]


def pattern(*tensors):
    return summarize(te.build_prim_func(list(tensors)))


def test_patterns_of_kernels(kernel_kinds):
    x, y = te.placeholder((4, 8), name="x"), te.placeholder((4, 8), name="y")
    row, w = te.placeholder((8,), name="row"), te.placeholder((8, 6), name="w")
    inputs = {"x": [x], "even": [x], 1: [x], 2: [x, y]}
    more = {"row": row, "weight": w, "column": te.placeholder((4,)), "same_rows": y}
    more |= {"indices": te.placeholder((3,), "int64"), "turned": te.placeholder((6, 8))}
    more |= {"bias": te.placeholder((6,))}
    found = {}
    for kind, (wanted, define, _) in kernel_kinds.items():
        operands = inputs[wanted] if isinstance(wanted, int) else []
        for name in () if isinstance(wanted, int) else wanted:
            operands = [*operands, *(inputs.get(name) or [more[name]])]
        found[kind] = pattern(*operands, define(*operands)).pattern
    injective = ("transpose", "split", "concat", "every_second", "gather")
    special = {"sum": 3, "product": 4, "linear": 4, "centered": 4} | dict.fromkeys(injective, 2)
    assert found == {kind: OpPattern(special.get(kind, 0)) for kind in kernel_kinds}


def graph(lines, result, params):
    names = ", ".join(f"{n}: R.Tensor({s}, 'float32')" for n, s in params.items())
    body = "\n".join(f"            {line}" for line in lines)
    return module_of(
        from_source(
            f"@I.ir_module\nclass Module:\n    @R.function\n    def main({names}):\n"
            f"        with R.dataflow():\n{body}\n            R.output({result})\n"
            f"        return {result}\n"
        )
    ).clone()


def legalized(lines, result, **params):
    module = graph(lines, result, params)
    load_pass("legalize-ops")().apply(get_context(), module)
    return fused(module, PASSES[:4])


def test_a_long_chain_is_cut_at_the_limit():
    lines = ["y0 = R.add(x, x)", *(f"y{i} = R.add(y{i - 1}, x)" for i in range(1, 150))]
    module = legalized(lines, "y149", x="(4,)")
    assert len(kernel_calls(module)) == -(-150 // MAX_CALLS)


def test_a_reduction_takes_its_input_and_its_epilogue():
    text = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def total(X: T.Buffer((6, 8), "float32"), Y: T.Buffer((6,), "float32")):
        for i, k in T.grid(6, 8):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + X[vi, vk]

    @R.function
    def main(x: R.Tensor((6, 8), "float32"), c: R.Tensor((6,), "float32")):
        with R.dataflow():
            a = R.multiply(x, x)
            b = R.subtract(a, x)
            s = R.call_tir(Module.total, (b,), R.Tensor((6,), "float32"))
            r = R.nn.relu(s)
            t = R.add(r, c)
            R.output(t)
        return t
"""
    module = module_of(from_source(text)).clone()
    load_pass("legalize-ops")().apply(get_context(), module)
    result = fused(module)
    assert len(kernel_calls(result)) == 1
    (kernel,) = functions(result).values()
    assert len(blocks_in(kernel)) == 2
    x = np.random.default_rng(0).integers(-3, 4, (6, 8)).astype(np.float32)
    c = np.arange(6, dtype=np.float32)
    (got,) = evaluate(result, "main", [x, c])
    np.testing.assert_array_equal(got, np.maximum((x * x - x).sum(1), 0) + c)


def test_nothing_is_computed_twice():
    """Fused kernels hold each operation of the graph once, however often its result is used."""
    lines = [
        "m = R.matmul(x, w)",
        "a = R.nn.relu(m)",
        "b = R.multiply(m, a)",
        "c = R.subtract(m, b)",
        "d = R.add(c, a)",
    ]
    module = legalized(lines, "d", x="(4, 8)", w="(8, 6)")
    (kernel,) = functions(module).values()
    ops = Counter(op.name for op in kernel.walk())
    assert ops["arith.maximumf"] == 1 and ops["arith.subf"] == 1
    assert ops["arith.mulf"] == 2 and ops["arith.addf"] == 2  # one of each is the matmul's


def test_nan_and_infinity_pass():
    module = legalized(
        ["a = R.add(x, x)", "b = R.nn.relu(a)", "c = R.maximum(b, x)"], "c", x="(4,)"
    )
    assert len(kernel_calls(module)) == 1
    x = np.array([np.nan, np.inf, -np.inf, 1], np.float32)
    (got,) = evaluate(module, "main", [x])
    np.testing.assert_array_equal(got, np.maximum(np.maximum(x + x, 0), x))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_intermediate_values_are_those_of_float32(dtype):
    text = f"""
@R.function
def main(x: R.Tensor((64,), "{dtype}"), y: R.Tensor((64,), "{dtype}")):
    with R.dataflow():
        a = R.multiply(x, y)
        b = R.add(a, y)
        c = R.multiply(b, b)
        R.output(c)
    return c
"""
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal(64).astype(dtype) * 3 for _ in range(2))
    a = np.float32(x) * np.float32(y) + np.float32(y)
    found = R.build(from_source(text))["main"](x, y).numpy()
    np.testing.assert_array_equal(found, (a * a).astype(dtype))


def test_a_symbol_has_the_name_of_a_parameter():
    """The parameters of a kernel without names are called ``x0``, ``x1``, …."""
    text = """
@R.function
def main(a: R.Tensor(("x0",), "int64")):
    x0 = T.int64()
    third = R.sort(R.strided_slice(a, [0], [0], [x0], [3]))
    return R.multiply(R.sort(third), R.arange(x0, x0 + 1, 1, "int64"))
"""
    found = R.build(from_source(text))(np.arange(7)).numpy()
    np.testing.assert_array_equal(found, [0, 21, 42])


def test_course_module():
    """The pass of the course on its own: primitive functions with a dataflow block inside."""
    text = """
@I.ir_module
class Module:
    @R.function(private=True)
    def fused_matmul_add0(x: R.Tensor((1, 8), "float32"), w: R.Tensor((8, 4), "float32"),
                          b: R.Tensor((4,), "float32")):
        R.func_attr({"Primitive": 1})
        with R.dataflow():
            lv0 = R.matmul(x, w)
            gv = R.add(lv0, b)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((1, 8), "float32"), w: R.Tensor((8, 4), "float32"),
             b: R.Tensor((4,), "float32")):
        with R.dataflow():
            lv0 = Module.fused_matmul_add0(x, w, b)
            lv1 = R.nn.relu(lv0)
            R.output(lv1)
        return lv1
"""
    module = module_of(from_source(text)).clone()
    load_pass("legalize-ops")().apply(get_context(), module)
    fuse_tir(module)
    verify(module)
    assert list(functions(module)) == ["relu", "fused_matmul_add0"]
    assert kernel_calls(module) == ["fused_matmul_add0", "relu"]
    assert isinstance(module, ModuleOp)


def test_statistics():
    module = graph(
        ["a = R.matmul(x, w)", "b = R.add(a, c)", "d = R.nn.relu(b)"],
        "d",
        {"x": '("n", 8)', "w": "(8, 4)", "c": "(4,)"},
    )
    before, after = fusion_statistics(module, "main", {"n": 2})
    product, row, result = 2 * 8 + 8 * 4, 4, 2 * 4
    assert (before.kernels, after.kernels) == (3, 1)
    assert before.bytes == 4 * (product + result + result + row + result + 2 * result)
    assert after.bytes == 4 * (product + row + result)
    assert "| model | 3 | 1 |" in table({"model": (before, after)})
    with pytest.raises(ValueError, match="expected numbers for all symbols, got none for n"):
        fusion_statistics(module)
    with pytest.raises(ValueError, match="expected a graph function of the module, got 'f'"):
        fusion_statistics(module, "f")


LOOP = """
@I.ir_module
class Module:
    @R.function(private=True)
    def step(i: R.Prim(value="i"), c: R.Tensor((), "bool"), h: R.Tensor(("k",), "float32")):
        i, k = T.int64(), T.int64()
        return (c, R.nn.relu(R.add(h, h)))

    @R.function
    def main(c: R.Tensor((), "bool"), h: R.Tensor(("n",), "float32")):
        n = T.int64()
        r = R.loop(cls.step, (c, h), trips=n, is_while={})
        return R.nn.relu(r[1])
"""


def test_statistics_of_loops():
    counted = module_of(from_source(LOOP.format(False)))
    before, after = fusion_statistics(counted, "main", {"n": 5})
    assert (before.kernels, after.kernels) == (11, 6)
    assert (before.bytes, after.bytes) == (4 * 5 * (5 * 5 + 2), 4 * 5 * (5 * 2 + 2))
    with pytest.raises(ValueError, match="with a number of trips, got one of 'step'"):
        fusion_statistics(module_of(from_source(LOOP.format(True))), "main", {"n": 5})
