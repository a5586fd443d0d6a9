"""What a compilation does grows with the graph as the graph does: counted in calls, not in time."""

import sys
import threading

import pytest

import xrelax as tvm
from xrelax import compilation, relax, tir
from xrelax.lowering.schedule import index_values
from xrelax.script import from_source


def residual_blocks(count: int, width: int = 24) -> tvm.IRModule:
    """A chain of blocks with weights of their own, wider by turns as those of MobileNet."""
    builder = relax.BlockBuilder()

    def tensor(name: str, rows: int, columns: int) -> relax.Var:
        return relax.Var(name, relax.TensorStructInfo((rows, columns), "float32"))

    sizes = [(width, 2 * width), (2 * width, width)]
    x = tensor("x", 9, width)
    weights = [[tensor(f"w{i}_{j}", *s) for j, s in enumerate(sizes)] for i in range(count)]
    with builder.function("main", [x, *(w for pair in weights for w in pair)]):
        with builder.dataflow():
            value = x
            for wide, narrow in weights:
                inner = builder.emit(relax.op.nn.relu(relax.op.matmul(value, wide)))
                value = builder.emit(relax.op.add(relax.op.matmul(inner, narrow), value))
            out = builder.emit_output(value)
        builder.emit_func_output(out)
    return builder.get()


def calls_of_build(module: tvm.IRModule) -> int:
    """How many calls of Python functions a build takes, in all of its threads."""
    calls = 0

    def count(frame: object, event: str, arg: object) -> None:
        nonlocal calls
        calls += event == "call"

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        relax.build(module)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def test_the_cost_is_linear_in_the_graph():
    calls_of_build(residual_blocks(2))  # what is loaded and remembered once
    first, second, third = (calls_of_build(residual_blocks(n)) for n in (4, 8, 16))
    assert (third - second) < 1.15 * 2 * (second - first)


def unrolled_sums(count: int) -> tvm.IRModule:
    return from_source(f"""
@T.prim_func
def main(X: T.Buffer(({count}, 64), "float32"), W: T.Buffer((64,), "float32"),
         Y: T.Buffer(({count},), "float32")):
    T.func_attr({{"tir.is_scheduled": True}})
    for k in range(64):
        for i in T.unroll({count}):
            with T.block("Y"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    Y[vi] = T.float32(0)
                Y[vi] = Y[vi] + X[vi, vk] * W[vk] * W[63 - vk]
""")


def test_the_cost_is_linear_in_unrolled_statements():
    calls_of_build(unrolled_sums(2))
    first, second, third = (calls_of_build(unrolled_sums(n)) for n in (40, 80, 160))
    assert (third - second) < 1.15 * 2 * (second - first)


def test_equal_kernels_are_compiled_once(monkeypatch: pytest.MonkeyPatch):
    compile_llvm = compilation.compile_llvm
    sizes: list[int] = []

    def counted(*args, **options):
        sizes.append(1)
        return compile_llvm(*args, **options)

    monkeypatch.setattr(compilation, "compile_llvm", counted)
    found: list[int] = []
    for count in (2, 8):
        sizes.clear()
        relax.build(residual_blocks(count))
        found.append(len(sizes))
    assert found[0] == found[1] == 3  # two kernels, and the graph function


def test_fused_loops_are_replaced_at_once(monkeypatch: pytest.MonkeyPatch):
    module = from_source("""
@I.ir_module
class M:
    @T.prim_func
    def main(X: T.Buffer((3, 4, 5), "float32"), Y: T.Buffer((3, 4, 5), "float32")):
        for i, j, k in T.grid(3, 4, 5):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                Y[vi, vj, vk] = X[vi, vj, vk] + T.float32(1)
""")
    rewritten: list[str] = []
    rewrite_block = index_values._rewrite_block

    def counted(block, *args):
        rewritten.append(block.block_name.data)
        return rewrite_block(block, *args)

    monkeypatch.setattr(index_values, "_rewrite_block", counted)
    schedule = tir.Schedule(module)
    schedule.fuse(*schedule.get_loops("Y"))
    assert rewritten == ["Y"]
