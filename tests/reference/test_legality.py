"""Which loops are proven independent: one small nest for each rule."""

from __future__ import annotations

import pytest

from xrelax.reference.legality import independent_loops

BUFFERS = "%X: !tir.buffer<[n, m], i32>, %Y: !tir.buffer<[n, m], i32>, %Z: !tir.buffer<[l], i32>"
TYPES = {
    "X": "!tir.buffer<[n, m], i32>",
    "Y": "!tir.buffer<[n, m], i32>",
    "Z": "!tir.buffer<[l], i32>",
}


def nest(loops: list[tuple[str, str]], load: str, store: str) -> str:
    """A PrimFunc with these loops around one load and one store."""
    heads = "".join(f"tir.for %{var} in ({bounds}) {{\n" for var, bounds in loops)
    body = f"%v = tir.load %{load} : {TYPES[load[0]]}\ntir.store %v, %{store} : {TYPES[store[0]]}\n"
    return f"tir.prim_func @f({BUFFERS}) {{\n{heads}{body}{'}' * len(loops)} }}"


ROWS, COLUMNS, FOUR = ("i", "0, n"), ("j", "0, m"), ("k", "0, 4")
CASES = {
    "each dim has a loop of its own": ([ROWS, COLUMNS], "X[%i, %j]", "Y[%i, %j]", "ij"),
    "a store that a loop does not index": ([ROWS, COLUMNS], "X[%i, %j]", "Y[%i, 0]", "i"),
    "reading what the same iteration writes": ([ROWS], "Z[%i]", "Z[%i]", "i"),
    "reading what the iteration before wrote": ([ROWS], "Z[%i]", "Z[%i + 1]", ""),
    "a step that jumps over the neighbour": ([ROWS], "Z[%i * 2]", "Z[%i * 2 + 1]", "i"),
    "a split loop": ([ROWS, FOUR], "Z[%i * 4 + %k]", "Z[%i * 4 + %k]", "ik"),
    "a split loop that overlaps": ([ROWS, FOUR], "Z[%i * 3 + %k]", "Z[%i * 3 + %k]", "k"),
    "backwards": ([ROWS], "Z[n - %i]", "Z[n - %i]", "i"),
    "different directions": ([ROWS], "Z[%i]", "Z[n - 1 - %i]", ""),
    "outer loops that shift accesses apart": ([ROWS, COLUMNS], "Z[%i + %j]", "Z[%i * 2 + %j]", ""),
    "outer loops that shift both alike": ([ROWS, COLUMNS], "Z[%i * 2 + %j]", "Z[%i * 2 + %j]", "j"),
    "a fused loop": ([("f", "0, n * m")], "X[0, 0]", "Y[%f floordiv m, %f mod m]", "f"),
    "a fused loop, encoded twice": (
        [("f", "0, 8")], "Y[%f floordiv 2, %f mod 2]", "Y[%f floordiv 4, %f mod 4]", "",
    ),
    "a fused loop of millions": (
        [("f", "0, 9000000")], "X[0, 0]", "Y[%f floordiv 3, %f mod 3]", "f",
    ),
    "only the quotient": ([("f", "0, n * m")], "X[0, 0]", "Y[%f floordiv m, 0]", ""),
    "a triangle": ([ROWS, ("j", "0, %i + 1")], "Z[%j]", "Y[%i, %j]", "ij"),
    "one iteration": ([("i", "0, 1")], "Z[0]", "Z[0]", "i"),
    "a product of two loops": ([ROWS, COLUMNS], "X[0, 0]", "Z[%i * %j]", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_independent_loops(parse, case):
    loops, load, store, independent = CASES[case]
    func = parse(nest(loops, load, store)).body.block.first_op
    found = independent_loops(func.body.block, {"n": 3, "m": 5, "l": 40}, {})
    assert "".join(sorted(op.loop_var.name_hint for op in found)) == independent


def test_memory_of_an_iteration_does_not_count(parse):
    module = parse(f"""
    tir.prim_func @f({BUFFERS}) {{
      tir.for %i in (0, n) {{
        %T = tir.alloc_buffer : !tir.buffer<[1], i32>
        %v = tir.load %Z[%i] : !tir.buffer<[l], i32>
        tir.store %v, %T[0] : !tir.buffer<[1], i32>
        %w = tir.load %T[0] : !tir.buffer<[1], i32>
        tir.store %w, %Z[%i] : !tir.buffer<[l], i32>
      }}
    }}""")
    assert (
        len(independent_loops(module.body.block.first_op.body.block, {"n": 3, "m": 5, "l": 40}, {}))
        == 1
    )


def test_vector_accesses_are_as_wide_as_their_lanes(parse):
    def loops(step):
        module = parse(f"""
        loops.func @f(%Z: !tir.buffer<[l], f32>) symbols [l] {{
          loops.for %i in (0, 5) {{
            %v = loops.load %Z[%i * {step}] : !tir.buffer<[l], f32> -> vector<4xf32>
            loops.store %v, %Z[%i * {step}] : !tir.buffer<[l], f32>, vector<4xf32>
          }}
        }}""")
        return len(independent_loops(module.body.block.first_op.body.block, {"l": 40}, {}))

    assert (loops(4), loops(3)) == (1, 0)
