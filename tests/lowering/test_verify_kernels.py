"""Reads before writes: what the analysis finds against an enumeration, point by point."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import numpy as np
import pytest

from xrelax import relax
from xrelax.dialects.diagnostics import Diagnostic
from xrelax.ir import IRModule
from xrelax.script import ScriptError, from_source

SIZE = 6


@dataclass(frozen=True)
class Access:
    """An index ``scale * variable + start`` into a buffer of SIZE elements, or into a row of it."""

    variable: int
    scale: int
    start: int

    def text(self, names):
        return f"{names[self.variable]} * {self.scale} + {self.start}"

    def at(self, values):
        return values[self.variable] * self.scale + self.start


@dataclass(frozen=True)
class Statement:
    """Loops around ``S[store] = 1``, or around ``Y[0] = S[load]``, or around both in this order."""

    extents: tuple[int, ...]
    accesses: tuple[tuple[str, Access], ...]
    predicate: int | None

    def lines(self):
        names = [f"i{n}" for n in range(len(self.extents))]
        yield f"    for {', '.join(names)} in T.grid({', '.join(map(str, self.extents))}):"
        yield "        with T.block('B'):"
        variables = [f"v{n}" for n in range(len(self.extents))]
        for variable, name, extent in zip(variables, names, self.extents, strict=True):
            yield f"            {variable} = T.axis.opaque({extent}, {name})"
        if self.predicate is not None:
            yield f"            T.where({names[0]} < {self.predicate})"
        for kind, access in self.accesses:
            place = f"S[{access.text(variables)}]"
            line = f"{place} = T.float32(1)" if kind == "store" else f"Y[0] = {place}"
            yield f"            {line}"

    def iterations(self):
        for values in itertools.product(*map(range, self.extents)):
            if self.predicate is None or values[0] < self.predicate:
                yield values


def draw(rng):
    statements: list[Statement] = []
    for _ in range(rng.randint(1, 3)):
        extents = tuple(rng.randint(1, 4) for _ in range(rng.randint(1, 2)))
        accesses: list[tuple[str, Access]] = []
        for kind in rng.choice((("store",), ("load",), ("store", "load"), ("load", "store"))):
            variable = rng.randrange(len(extents))
            last = extents[variable] - 1
            scale = rng.choice((-1, 1, 1, 2, 0))
            low, high = min(0, scale * last), max(0, scale * last)
            if high - low >= SIZE:
                scale, low, high = 1, 0, last
            accesses.append((kind, Access(variable, scale, rng.randint(-low, SIZE - 1 - high))))
        predicate = rng.randint(1, extents[0]) if rng.random() < 0.3 else None
        statements.append(Statement(extents, tuple(accesses), predicate))
    return statements


def reads_unwritten(statements):
    """The definition: every iteration of every statement, in order."""
    written: set[int] = set()
    for statement in statements:
        for values in statement.iterations():
            for kind, access in statement.accesses:
                if kind == "store":
                    written.add(access.at(values))
                elif access.at(values) not in written:
                    return True
    return False


def kernel(statements):
    body = "\n".join(line for s in statements for line in s.lines())
    return f"""
@T.prim_func
def main(Y: T.Buffer((1,), "float32")):
    S = T.alloc_buffer(({SIZE},))
{body}
"""


def is_refused(text):
    try:
        from_source(text)
    except ScriptError as error:
        assert "which nothing has written" in str(error)
        return True
    return False


def test_what_is_refused_is_wrong():
    """Nothing right is refused, and little that is wrong is left to the evaluator."""
    rng = random.Random(11)
    wrong = found = right = 0
    for _ in range(400):
        statements = draw(rng)
        refused, is_wrong = is_refused(kernel(statements)), reads_unwritten(statements)
        assert is_wrong or not refused, kernel(statements)
        wrong, found, right = wrong + is_wrong, found + refused, right + (not is_wrong)
    assert right > 50 and wrong > 100 and found > 0.9 * wrong, (right, wrong, found)


PRODUCT = """
@I.ir_module
class Module:
    @T.prim_func
    def matmul(X: T.Buffer((4, 5), "float32"), W: T.Buffer((5, 6), "float32"),
               Y: T.Buffer((4, 6), "float32")):
        for i, j, k in T.grid(4, 6, 5):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]

    @R.function
    def main(x: R.Tensor((4, 5), "float32"), w: R.Tensor((5, 6), "float32"),
             y: R.Tensor((4, 6), "float32")):
        return CALL
"""
RESULT = 'R.Tensor((4, 6), "float32")'
NEW_MEMORY = [
    f"R.call_tir(Module.matmul, (x, w), {RESULT})",
    f'R.call_dps_packed("matmul", (x, w), {RESULT})',
]


@pytest.mark.parametrize("call", NEW_MEMORY)
def test_an_output_is_new_memory(call):
    with pytest.raises(ScriptError, match=r"add T.init\(\)") as error:
        from_source(PRODUCT.replace("CALL", call))
    _, line, _ = str(error.value).split("\n")
    assert line.strip() == "Y[vi, vj] = Y[vi, vj] + X[vi, vk] * W[vk, vj]"


def test_a_kernel_may_update_what_it_gets():
    call = f"R.call_tir_inplace(Module.matmul, (x, w, y), [2], {RESULT})"
    module = from_source(PRODUCT.replace("CALL", call))
    x, w, y = (np.ones(s, np.float32) for s in ((4, 5), (5, 6), (4, 6)))
    result = relax.build(module, check=True)["main"](x, w, y)
    np.testing.assert_array_equal(result.numpy(), np.full((4, 6), 6, np.float32))
    kernel_alone = IRModule.from_expr(module["matmul"])
    relax.build(kernel_alone, check=True)["matmul"](x, w, y)
    assert y[0, 0] >= 6


def test_a_module_put_together_is_checked_when_it_is_built():
    call = f"R.call_tir_inplace(Module.matmul, (x, w, y), [2], {RESULT})"
    module = from_source(PRODUCT.replace("CALL", call))
    other = from_source(
        PRODUCT.replace("CALL", NEW_MEMORY[0]).replace("Y[vi, vj] +", "T.float32(1) +")
    )
    module["main"] = other["main"]
    with pytest.raises(Diagnostic, match=r"<script>:10:\d+: error: .*add T.init\(\)"):
        relax.build(module)


def test_a_reduction_that_starts_late():
    text = PRODUCT.replace("CALL", NEW_MEMORY[0])
    text = text.replace(
        'vi, vj, vk = T.axis.remap("SSR", [i, j, k])',
        "vi, vj, vk = T.axis.spatial(4, i), T.axis.spatial(6, j), T.axis.reduce(5, ORDER)\n"
        "                with T.init():\n                    Y[vi, vj] = T.float32(0)",
    )
    from_source(text.replace("ORDER", "k"))
    with pytest.raises(ScriptError, match="runs where each reduction axis has its first value"):
        from_source(text.replace("ORDER", "4 - k"))
