"""Code generators outside of the compiler: composite functions, their merging, and calls."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.dialects.diagnostics import Diagnostic
from xrelax.relax.backend.pattern_registry import get_patterns_with_prefix, register_patterns
from xrelax.relax.dpl import is_op, wildcard
from xrelax.relax.transform import FuseOpsByPattern, MergeCompositeFunctions, RunCodegen
from xrelax.runtime.registry import remove_global_func
from xrelax.script import from_source

PATTERNS = [
    ("numpy.relu", is_op("relax.nn.relu")(wildcard())),
    ("numpy.matmul", is_op("relax.matmul")(wildcard(), wildcard())),
]

NUMPY = {
    "numpy.relu": lambda x: np.maximum(x, 0),
    "numpy.matmul": np.matmul,
    "numpy.linear": lambda x, w, b: x @ w + b,
}

BODIES = {
    "chain": "a = R.matmul(x, w)\n            b = R.nn.relu(a)",
    "two results": "a = R.matmul(x, w)\n            c = R.nn.relu(a)\n            b = R.add(a, c)",
    "around": (
        "a = R.matmul(x, w)\n            c = R.exp(a)\n            d = R.nn.relu(c)\n"
        "            b = R.add(a, R.matmul(d, w))"
    ),
    "constant": "b = R.matmul(R.nn.relu(x), R.multiply(w, R.const(2.0, 'float32')))",
}


def module(body, dim='"n"'):
    return from_source(f"""
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(({dim}, 4), "float32"), w: R.Tensor((4, 4), "float32")):
        with R.dataflow():
            {body}
            R.output(b)
        return b
""")


class Interpreted:
    """A function of a code generator, in destination-passing style, by NumPy."""

    def __init__(self, function):
        self.function = function
        self.calls = 0

    def __call__(self, *tensors):
        self.calls += 1
        params = self.function.params
        values = {p: t.numpy() for p, t in zip(params, tensors, strict=False)}
        for block in self.function.body.blocks:
            for binding in block.bindings:
                values[binding.var] = self.value(binding.value, values)
        result = values[self.function.body.body]
        results = result if isinstance(result, tuple) else [result]
        for tensor, value in zip(tensors[len(params) :], results, strict=True):
            tensor.copyfrom(value)

    def value(self, value, values):
        if isinstance(value, relax.Call):
            return values[value.op](*(values[a] for a in value.args))
        if isinstance(value, relax.Tuple):
            return tuple(values[f] for f in value.fields)
        return NUMPY[value.attrs["Composite"]]


@pytest.fixture
def made():
    """What the code generator `numpy` has compiled; it is removed after the test."""
    found = []

    def compiled(functions, options, constant_names):
        found.extend(Interpreted(f) for f in functions)
        found.append(options)
        return [{f.attrs["global_symbol"]: i for f, i in zip(functions, found, strict=False)}]

    before = set(tvm.runtime.registry.list_global_func_names())
    tvm.register_global_func("relax.ext.numpy", compiled)
    yield found
    for name in set(tvm.runtime.registry.list_global_func_names()) - before:
        remove_global_func(name)


def arguments():
    rng = np.random.default_rng(0)
    return [rng.standard_normal(s).astype("float32") for s in ((3, 4), (4, 4))]


@pytest.mark.parametrize("merged", [True, False])
@pytest.mark.parametrize("dim", ["3", '"n"'])
@pytest.mark.parametrize("body", BODIES)
def test_a_code_generator_computes_with_numpy(made, body, dim, merged):
    mod = module(BODIES[body], dim)
    expected = relax.build(mod)["main"](*arguments()).numpy()
    if merged:
        split = MergeCompositeFunctions()(FuseOpsByPattern(PATTERNS)(mod))
    else:
        split = FuseOpsByPattern(PATTERNS, annotate_codegen=True)(mod)
    # Without the code generator, the functions are compiled as any other.
    result = relax.build(split, check=True)["main"](*arguments())
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5)
    called = RunCodegen({"numpy": {"level": 2}})(split)
    assert [v.name_hint for v in called.get_global_vars()] == ["main"]
    *functions, options = made
    assert options == {"level": 2} and functions
    result = relax.build(called)["main"](*arguments())
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5)
    assert all(f.calls for f in functions)


def test_modules_with_functions_of_one_name_stay_apart(made):
    """A name that is registered already is not replaced."""
    mods = [
        module(b) for b in ("b = R.nn.relu(x)", "a = R.nn.relu(x)\n            b = R.nn.relu(a)")
    ]
    built = [RunCodegen()(MergeCompositeFunctions()(FuseOpsByPattern(PATTERNS)(m))) for m in mods]
    scripts = [b.script() for b in built]
    assert '"fused_relax_nn_relu1_numpy"' in scripts[0]
    assert '"fused_relax_nn_relu_relax_nn_relu_numpy"' in scripts[1]
    again = RunCodegen()(MergeCompositeFunctions()(FuseOpsByPattern(PATTERNS)(mods[0])))
    assert '"fused_relax_nn_relu1_numpy_1"' in again.script()


def test_local_functions_keep_their_attributes():
    mod = MergeCompositeFunctions()(FuseOpsByPattern(PATTERNS)(module(BODIES["chain"])))
    assert 'R.func_attr({"Composite": "numpy.matmul"})' in mod.script()
    assert from_source(mod.script()).script() == mod.script()


def test_patterns_by_prefix():
    linear = is_op("relax.add")(is_op("relax.matmul")(wildcard(), wildcard()), wildcard())
    register_patterns([("prefixed.matmul", PATTERNS[1][1]), ("prefixed.linear", linear)])
    found = get_patterns_with_prefix("prefixed")
    assert [p.name for p in found] == ["prefixed.linear", "prefixed.matmul"]
    mod = FuseOpsByPattern(found)(module("b = R.add(R.matmul(x, w), x)", "4"))
    assert "fused_relax_matmul_relax_add" in mod.script()
    assert relax.backend.pattern_registry.get_pattern("prefixed.linear") is found[0]


def test_annotations_checks_and_attributes():
    bias = wildcard()
    linear = is_op("relax.add")(is_op("relax.matmul")(wildcard(), wildcard()), bias)
    seen = []

    def accepts(context):
        seen.append((context.annotated_expr["bias"].name_hint, context.matched_expr.op.name))
        return True

    pattern = ("own.linear", linear, {"bias": bias}, accepts, lambda found: {"rank": 2})
    mod = FuseOpsByPattern([pattern])(module("b = R.add(R.matmul(x, w), x)", "4"))
    assert seen == [("x", "relax.add")]
    assert mod["fused_relax_matmul_relax_add"].attrs == {
        "Composite": "own.linear", "Primitive": True, "rank": 2,
    }  # fmt: skip


def test_operators_of_lists():
    """The tuple of a concatenation is a pattern of its operands, or any."""
    mod = module("a = R.nn.relu(x)\n            b = R.concat((a, x), axis=0)", "4")
    tensors = tvm.relax.dpl.is_tuple([is_op("relax.nn.relu")(wildcard()), wildcard()])
    expected = ((tensors, "fused_relax_nn_relu_relax_concat"), (wildcard(), "fused_relax_concat"))
    for given, name in expected:
        fused = FuseOpsByPattern([("own.concat", is_op("relax.concat")(given))])(mod)
        assert fused.get_global_vars()[0].name_hint == name


def run_codegen(codegen=None, entry=None):
    patterns = [("absent.relu", PATTERNS[0][1])] if codegen is None else PATTERNS
    split = FuseOpsByPattern(patterns, annotate_codegen=True)(module(BODIES["chain"]))
    if codegen is not None:
        tvm.register_global_func("relax.ext.numpy", codegen, override=True)
    return RunCodegen(entry_functions=entry)(split)


@pytest.mark.parametrize(
    ("run", "error", "message"),
    [
        (run_codegen, ValueError, "expected 'relax.ext.absent' to be registered, got none"),
        (
            lambda: run_codegen(lambda functions, options, names: [{"other": print}]),
            ValueError,
            "expected 'relax.ext.numpy' to return a callable 'fused_relax_nn_relu_numpy', got",
        ),
        (
            lambda: run_codegen(lambda functions, options, names: [print]),
            ValueError,
            "expected 'relax.ext.numpy' to return a list of mappings from names of functions",
        ),
    ],
)
def test_errors(made, run, error, message):
    with pytest.raises(error, match=message):
        run()


def test_only_tensors_are_passed(made):
    mod = from_source("""
@R.function
def main(x: R.Tensor(("n * 2",), "float32"), s: R.Shape(["n"])):
    return R.nn.relu(x)
""")
    split = FuseOpsByPattern(PATTERNS, annotate_codegen=True)(tvm.IRModule({"main": mod}))
    with pytest.raises(Diagnostic, match="expected tensors as arguments of 'fused_relax_nn_relu_n"):
        RunCodegen()(split)
