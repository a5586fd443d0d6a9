"""Passes of the Python API: forms, contexts, instruments, sequences, and passes that go wrong."""

import numpy as np
import pytest
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

import xrelax as tvm
from xrelax import relax, topi
from xrelax.dialects.relax import OPERATORS
from xrelax.ir import transform
from xrelax.ir.instrument import (
    PassInstrument,
    PassTimingInstrument,
    PrintAfterAll,
    PrintBeforeAll,
    pass_instrument,
)
from xrelax.lowering.graph.normalize import NormalizePass
from xrelax.pipeline import PASSES
from xrelax.script import from_source

ReluOp = OPERATORS["relax.nn.relu"]


def module():
    return from_source("""
@I.ir_module
class Module:
    @T.prim_func
    def double(X: T.Buffer((2,), "float32"), Y: T.Buffer((2,), "float32")):
        for i in range(2):
            with T.block("Y"):
                vi = T.axis.spatial(2, i)
                Y[vi] = X[vi] + X[vi]

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        a = R.nn.relu(x)
        b = R.nn.relu(a)
        return b
""")


class FoldRelu(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReluOp, rewriter: PatternRewriter) -> None:
        if isinstance(op.operands[0].owner, ReluOp):
            rewriter.replace(op, [], [op.operands[0]])


def relus(mod):
    return sum(isinstance(op, ReluOp) for op in mod.op.walk())


@transform.module_pass(opt_level=1, name="AddMain")
def add_main(mod, ctx):
    mod["copy"] = mod["main"]
    return mod


@transform.module_pass(opt_level=1)
class Rename:
    """Adds a copy under a name."""

    def __init__(self, name, suffix=""):
        self.name_to_add = name + suffix

    def transform_module(self, mod, ctx):
        mod[self.name_to_add] = mod["main"]
        return mod


@transform.function_pass(opt_level=0)
def mark(func, mod, ctx):
    return func.with_attr("marked", 1)


@transform.prim_func_pass(opt_level=0, name="MarkKernels")
class MarkKernels:
    def transform_function(self, func, mod, ctx):
        return func.with_attr("kernel", True)


def names(mod):
    return [v.name_hint for v in mod.get_global_vars()]


def test_the_module_given_stays():
    mod = module()
    before = mod.script()
    assert names(add_main(mod)) == ["double", "main", "copy"]
    assert mod.script() == before


def test_classes_take_arguments():
    step = Rename("other", suffix="_one")
    assert names(step(module())) == ["double", "main", "other_one"]
    assert step.info.name == "Rename" and step.info.opt_level == 1
    assert step.name_to_add == "other_one" and isinstance(step, transform.Pass)
    assert Rename.__name__ == "Rename" and Rename.__doc__ == "Adds a copy under a name."


def test_passes_on_functions():
    marked = mark(module())
    assert marked["main"].attrs == {"global_symbol": "main", "marked": 1}
    assert marked["double"].attrs == {"global_symbol": "double"}
    kernels = MarkKernels()(module())
    assert kernels["double"].attrs["kernel"] is True
    assert "kernel" not in kernels["main"].attrs


def test_sequences_mix_all_kinds():
    sequence = tvm.transform.Sequential(
        [NormalizePass(), FoldRelu(), mark, relax.transform.LegalizeOps(), add_main], name="all"
    )
    mod = module()
    result = sequence(mod)
    assert relus(mod) == 2 and relus(result) == 0
    assert set(names(result)) == {"double", "relu", "main", "copy"}
    assert result["copy"].attrs == {"global_symbol": "copy", "marked": 1}
    x = np.array([-1, 2], "float32")
    np.testing.assert_array_equal(relax.build(result)["main"](x).numpy(), [0, 2])
    with pytest.raises(TypeError, match="expected a pass or a rewrite pattern, got int"):
        transform.Sequential([3])


def test_contexts():
    sequence = transform.Sequential([add_main, mark])
    with transform.PassContext(opt_level=0) as ctx:
        assert transform.PassContext.current() is ctx
        assert "copy" not in sequence(module())
    with transform.PassContext(opt_level=0, required_pass=["AddMain"]):
        assert "copy" in sequence(module())
    with transform.PassContext(disabled_pass=["mark"]):
        assert "marked" not in sequence(module())["main"].attrs
    with transform.PassContext(disabled_pass=["relax.LegalizeOps"]):
        assert relus(relax.transform.LegalizeOps()(module())) == 2
    assert transform.PassContext.current() is not ctx


def test_passes_see_the_options_of_the_context():
    @transform.module_pass
    def ask(mod, ctx):
        return mod.with_attr("value", ctx.config["my.value"])

    with transform.PassContext(config={"my.value": 3}):
        assert "my" not in ask(module()).op.attributes
        assert ask(module()).op.attributes["value"].value.data == 3


def test_instruments():
    seen = []

    class Recorder(PassInstrument):
        def enter_pass_ctx(self):
            seen.append("enter")

        def exit_pass_ctx(self):
            seen.append("exit")

        def should_run(self, mod, info):
            return info.name != "AddMain"

        def run_before_pass(self, mod, info):
            seen.append(("before", info.name, relus(mod)))

        def run_after_pass(self, mod, info):
            seen.append(("after", info.name, relus(mod)))

    with transform.PassContext(instruments=[Recorder()]):
        transform.Sequential([add_main, FoldRelu()])(module())
    assert seen == [
        "enter",
        ("before", "sequential", 2),
        ("before", "FoldRelu", 2),
        ("after", "FoldRelu", 1),
        ("after", "sequential", 1),
        "exit",
    ]


def test_instruments_by_decorator(capsys):
    @pass_instrument
    class Count:
        def __init__(self):
            self.count = 0

        def run_before_pass(self, mod, info):
            self.count += 1

    counter, timing = Count(), PassTimingInstrument()
    with transform.PassContext(instruments=[counter, timing, PrintBeforeAll(), PrintAfterAll()]):
        transform.Sequential([mark, FoldRelu()])(module())
    assert counter.count == 3
    lines = timing.render().splitlines()
    assert [line.partition(":")[0] for line in lines] == ["sequential", "  mark", "  FoldRelu"]
    assert all(float(line.split()[-2]) > 0 for line in lines)
    printed = capsys.readouterr().out
    assert printed.index("# before mark") < printed.index("# after mark")


@transform.module_pass
def break_call(mod, ctx):
    from xrelax.dialects.relax import CallTIROp

    func = mod["main"].op
    x = func.body.block.args[0]
    call = CallTIROp("nothing", [x], x.type)
    func.body.block.insert_op_before(call, func.body.block.first_op)
    return mod


@transform.module_pass
def break_order(mod, ctx):
    block = mod["main"].op.body.block
    first = block.first_op
    first.detach()
    block.insert_op_before(first, block.last_op)
    return mod


@transform.module_pass
def return_nothing(mod, ctx):
    pass


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (
            break_call,
            "after pass 'break_call': expected call_tir of a PrimFunc of the module",
        ),
        (
            break_order,
            "after pass 'break_order': expected 'a' to be defined before its use",
        ),
        (return_nothing, "expected pass 'return_nothing' to return an IRModule, got NoneType"),
    ],
)
def test_a_pass_that_goes_wrong_is_named(step, message):
    mod = module()
    before = mod.script()
    with pytest.raises(Exception, match=message) as error:
        transform.Sequential([step])(mod)
    assert "\n" not in str(error.value) and mod.script() == before


def test_passes_take_modules():
    with pytest.raises(TypeError, match="expected an IRModule for 'mark', got Function"):
        mark(module()["main"])
    with pytest.raises(TypeError, match="expected class 'Wrong' to have a method"):

        @transform.module_pass
        class Wrong:
            pass


def test_every_pass_of_the_pipeline_has_a_name():
    names = dir(relax.transform)
    assert {"FuseOps", "FuseTIR", "LegalizeOps", "Normalize", "BindParams", "Sequential"} < {*names}
    assert {relax.transform.pass_name(n) for n in names} >= set(PASSES)
    for name in names:
        assert getattr(relax.transform, name).__doc__


def test_passes_of_the_pipeline():
    mod = module()
    legal = relax.transform.LegalizeOps()(mod)
    assert relus(mod) == 2 and relus(legal) == 0 and "relu" in legal
    assert repr(relax.transform.FoldConstant()).startswith("fold-constant(")
    with pytest.raises(AttributeError, match=r"FuseTir2', did you mean 'FuseTIR'"):
        relax.transform.FuseTir2
    with pytest.raises(ValueError, match=r"expected options of Normalize \(none\), got tiles=4"):
        relax.transform.Normalize(tiles=4)


def test_parameters_are_bound_in_sequences():
    mod = from_source("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), w: R.Tensor(("n",), "float32")):
        return R.add(x, w)
""")
    bind = relax.transform.BindParams("main", {"w": np.ones(3, "float32")})
    result = transform.Sequential([bind, FoldRelu()])(mod)
    assert [p.name_hint for p in result["main"].params] == ["x"]
    assert result["main"].params[0].struct_info.shape == (3,)
    fixed = relax.transform.BindSymbolicVars({"n": 4})(mod)
    assert fixed["main"].params[1].struct_info.shape == (4,)
    assert len(mod["main"].params) == 2


def test_a_target_as_an_attribute_is_text():
    func = from_source(
        "@T.prim_func\ndef main(X: T.Buffer((4,), 'float32')):\n"
        "    for i in range(4):\n        X[i] = T.float32(0)"
    ).with_attr("target", tvm.target.Target("llvm -mcpu=znver4"))
    assert str(func.attrs["target"]).endswith("-mcpu=znver4") and "znver4" in func.script()


def test_legalize_ops_with_functions_of_the_user():
    mod = from_source("""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.add(x, y)
            b = R.multiply(a, a)
            R.output(b)
        return b
""")

    def swapped(builder, call):
        return builder.call_te(topi.subtract, call.args[1], call.args[0])

    legal = relax.transform.LegalizeOps({"relax.add": swapped}, skip_ops=["relax.multiply"])(mod)
    assert "R.call_tir(cls.subtract, (y, x)" in legal.script()
    assert "R.multiply(a, a)" in legal.script() and "R.add(x, y)" in mod.script()
    x, y = np.arange(4, dtype="float32"), np.ones(4, "float32")
    np.testing.assert_array_equal(relax.build(legal)(x, y).numpy(), (y - x) ** 2)
    with pytest.raises(ValueError, match=r"operator of the graph, got 'relax.ad'.*'relax.add'"):
        relax.transform.LegalizeOps(skip_ops=["relax.ad"])
    with pytest.raises(TypeError, match=r"expected a function for 'relax\.add', got int"):
        relax.transform.LegalizeOps({"relax.add": 3})
