"""Mutated programs: whatever a person types, a program or a script error comes out."""

import ast
import copy

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from xrelax.script import ScriptError, from_source

PROGRAMS = [
    """
@T.prim_func
def kernel(x: T.handle, w: T.Buffer((4, 8), "float32"), y: T.handle, s: T.float32):
    n, m = T.int64(), T.int64()
    X = T.match_buffer(x, (n, 8), "float32")
    Y = T.match_buffer(y, (n, 4), "float32")
    Z = T.alloc_buffer((n, 4), "float32")
    for i, j, k in T.grid(n, 4, 8):
        with T.block("Z"):
            vi, vj = T.axis.remap("SS", [i, j])
            vk = T.axis.reduce(8, k)
            T.where(i * 4 + j < n * 4)
            T.reads(X[vi, vk], w[0:4, vk])
            T.writes(Z[vi, vj])
            with T.init():
                Z[vi, vj] = T.float32(0)
            Z[vi, vj] = Z[vi, vj] + X[vi, vk] * w[vj, vk]
    for i in T.parallel(n, annotations={"a": 1}):
        row = T.match_buffer(Z[i, 0:4], (4,))
        for j in range(4):
            a: T.float32 = row[j] * s
            if a > 0.5 and j != 2:
                Y[i, j] = T.exp(a)
            elif a == 0.0:
                Y[i, j] += T.Select(j < 2, a, -a)
            else:
                Y[i, j] = T.Cast("float32", T.floormod(j, 3) // 2)
    assert n > 0, "not empty"
""",
    """
@I.ir_module
class Module:
    I.module_attrs({"key": 2})
    @T.prim_func
    def scale(X: T.Buffer((4, 6), "float32"), Y: T.Buffer((4, 6), "float32")):
        T.func_attr({"global_symbol": "scale", "tir.noalias": True})
        for i, j in T.grid(4, 6):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @R.function(private=True)
    def later(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n", "m"), "float32"):
        return R.nn.relu(x)

    @R.function
    def main(
        x: R.Tensor((4, 6), "float32"), w: R.Tensor((3, "k"), "float32"), b: R.Tensor((3, "n"))
    ):
        k, n = T.int64(), T.int64()
        cls = Module
        with R.dataflow():
            lv = R.call_tir(cls.scale, (x,), out_sinfo=R.Tensor((4, 6), dtype="float32"))
            lv1 = R.call_dps_packed("env.f", (lv, w), R.Tensor((k, 3), "float32"))
            gv = R.permute_dims(lv1, axes=[1, 0])
            R.output(gv)
        gv1 = later(gv)
        gv2: R.Tensor((3, k), "float32") = R.add(gv1, w) * 2.0
        return (gv2, R.const([1, 2], "int32"))
""",
]
TREES = [ast.parse(text) for text in PROGRAMS]
POOL = [n for tree in TREES for n in ast.walk(tree) if isinstance(n, ast.expr)]
STATEMENTS = [n for tree in TREES for n in ast.walk(tree) if isinstance(n, ast.stmt)]
CONSTANTS = [0, -1, 1 << 70, 1.5, float("nan"), True, None, "float32", "n + 1", "", b"x", ..., 2j]


def parse(text):
    """Parse a program that may be wrong; the printed text of a right one parses too."""
    try:
        program = from_source(text)
    except ScriptError as error:
        assert str(error).startswith("<script>:")
        assert error.message and "\n" not in error.message
        return
    from_source(program.script(show_meta=True))


def places(tree, kind):
    """Every (owner, field, index) that holds a node of a kind."""
    found = []
    for node in ast.walk(tree):
        for field, value in ast.iter_fields(node):
            if isinstance(value, kind):
                found.append((node, field, None))
            elif isinstance(value, list):
                found += [(node, field, i) for i, v in enumerate(value) if isinstance(v, kind)]
    return found


def put(place, value):
    node, field, index = place
    if index is None:
        setattr(node, field, value)
    else:
        getattr(node, field)[index] = value


@st.composite
def mutated_trees(draw):
    tree = copy.deepcopy(draw(st.sampled_from(TREES)))
    for _ in range(draw(st.integers(1, 3))):
        change = draw(st.sampled_from(["replace", "constant", "delete", "statement", "name"]))
        if not places(tree, ast.expr):
            break  # everything is gone
        if change in ("replace", "constant"):
            place = draw(st.sampled_from(places(tree, ast.expr)))
            new = copy.deepcopy(draw(st.sampled_from(POOL)))
            put(
                place,
                new if change == "replace" else ast.Constant(draw(st.sampled_from(CONSTANTS))),
            )
        elif change == "name":
            named = [n for n in ast.walk(tree) if isinstance(n, ast.Name | ast.Attribute)]
            if not named:
                break
            node = draw(st.sampled_from(named))
            name = draw(
                st.sampled_from(["T", "R", "X", "vi", "nothing", "block", "grid", "n", "cls"])
            )
            setattr(node, "id" if isinstance(node, ast.Name) else "attr", name)
        else:
            place = draw(st.sampled_from(places(tree, ast.stmt)))
            new = copy.deepcopy(draw(st.sampled_from(STATEMENTS)))
            put(place, new if change == "statement" else ast.Pass())
    return tree


SETTINGS = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@SETTINGS
@given(mutated_trees())
def test_mutated_trees(tree):
    try:
        text = ast.unparse(ast.fix_missing_locations(tree))
    except (ValueError, TypeError, AttributeError, RecursionError):
        return  # no program at all
    parse(text)


@SETTINGS
@given(st.data())
def test_mutated_texts(data):
    text = data.draw(st.sampled_from(PROGRAMS))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text) - 1))
        length = data.draw(st.integers(0, 12))
        piece = data.draw(
            st.one_of(
                st.text("()[]{}:,.\"'=+-*/<>@ \nTRXn0189_\\\0é", max_size=4),
                st.sampled_from(
                    [
                        "T.",
                        "R.",
                        "for ",
                        "with ",
                        "lambda: ",
                        "await ",
                        "*",
                        "not ",
                        "if ",
                        " else ",
                        "#",
                    ]
                ),
            )
        )
        text = text[:start] + piece + text[start + length :]
    parse(text)


@SETTINGS
@given(st.data())
def test_mutated_lines(data):
    """Lines that are moved, doubled or left out."""
    lines = data.draw(st.sampled_from(PROGRAMS)).split("\n")
    for _ in range(data.draw(st.integers(1, 3))):
        source = data.draw(st.integers(0, len(lines) - 1))
        line = lines[source]
        if data.draw(st.booleans()):
            del lines[source]
        lines.insert(data.draw(st.integers(0, len(lines))), line)
    parse("\n".join(lines))
