"""Kernels that the tests tune."""

from xrelax.script import from_source

MATMUL = """
@I.ir_module
class Module:
    @T.prim_func
    def main(
        A: T.Buffer(({m}, {k}), "float32"),
        B: T.Buffer(({k}, {n}), "float32"),
        C: T.Buffer(({m}, {n}), "float32"),
    ):
        T.func_attr({{"tir.noalias": True}})
        for i, j, k in T.grid({m}, {n}, {k}):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def matmul(m=16, n=32, k=16):
    """A naive matmul."""
    return from_source(MATMUL.format(m=m, n=n, k=k))


def tiled(sch):
    """The course's schedule of a matmul, with sampled tiles."""
    block = sch.get_block("C", "main")
    i, j, k = sch.get_loops(block)
    j_0, j_1 = sch.split(j, factors=sch.sample_perfect_tile(loop=j, n=2))
    sch.reorder(i, j_0, k, j_1)
    sch.decompose_reduction(block, k)
    return sch
