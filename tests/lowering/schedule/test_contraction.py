"""Tiled contractions compute what the loops say, whatever the tiles divide, on every target."""

import re

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.backend.target import Target
from xrelax.dialects import get_context, tir
from xrelax.inspection import module_of
from xrelax.pipeline import STAGES, run_stage
from xrelax.reference.evaluate import evaluate
from xrelax.runtime import num_threads, set_num_threads
from xrelax.script import from_source

SIZES = ((0, 5, 3), (1, 1, 1), (7, 16, 5), (13, 17, 8), (30, 32, 1), (33, 40, 0), (64, 96, 12))
LARGE = ((61, 100, 60), (97, 260, 96), (200, 33, 40), (64, 129, 61))
"""Sizes beside which the caches of `SMALL` are small."""
SMALL = "-cache-sizes=1024,8192,16384"
RESULTS = {
    "R.matmul(x, w)": lambda product, r, b: product,
    "R.nn.relu(R.add(R.matmul(x, w), b))": lambda product, r, b: np.maximum(product + b, 0),
    "R.subtract(r, R.matmul(x, w))": lambda product, r, b: r - product,
}
TARGETS = ("llvm", "llvm -mcpu=haswell", "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76")


def whole_numbers(shape, seed=0):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float32)


def product(rows, columns, depth, right="w", shape=None):
    shape = (depth, columns) if shape is None else shape
    return f"""
@R.function
def main(x: R.Tensor(({rows}, {depth}), "float32"), w: R.Tensor({shape}, "float32"),
         b: R.Tensor(({columns},), "float32")):
    return R.nn.relu(R.add(R.matmul(x, {right}), b))
"""


def operands(rows, columns, depth):
    return (
        whole_numbers((rows, depth)),
        whole_numbers((depth, columns), 1),
        whole_numbers(columns, 2),
    )


@pytest.mark.sampled
@pytest.mark.parametrize("is_transposed", [False, True])
@pytest.mark.parametrize("target", TARGETS)
def test_scheduled_kernels_agree_with_the_graph(target, is_transposed):
    for rows, columns, depth in SIZES:
        shape = (columns, depth) if is_transposed else (depth, columns)
        right = "R.permute_dims(w, [1, 0])" if is_transposed else "w"
        text = product(rows, columns, depth, right, str(shape).replace("'", ""))
        x, w, b = whole_numbers((rows, depth)), whole_numbers(shape, 1), whole_numbers(columns, 2)
        lowered = kernels(text, target)
        got = evaluate(lowered, "main", [x, w, b])
        expected = np.maximum(x @ (w.T if is_transposed else w) + b, 0)
        np.testing.assert_array_equal(np.asarray(got).reshape(rows, columns), expected)


def kernels(text, target="llvm"):
    """The module of a function with the schedules of a target."""
    module = module_of(from_source(text)).clone()
    for stage in STAGES[:2]:
        run_stage(module, stage, get_context(), target)
    return module


@pytest.mark.parametrize("target", TARGETS)
def test_products_in_blocks_agree_with_the_graph(target):
    for rows, columns, depth in LARGE[:2]:
        x, w, b = operands(rows, columns, depth)
        lowered = kernels(product(rows, columns, depth), f"{target} {SMALL}")
        got = evaluate(lowered, "main", [x, w, b])
        np.testing.assert_array_equal(np.asarray(got)[0], np.maximum(x @ w + b, 0))


@pytest.mark.sampled
@pytest.mark.parametrize("form", ["constant", "per call", "transposed"])
@pytest.mark.parametrize("has_epilogue", [False, True])
def test_compiled_products_in_blocks(form, has_epilogue):
    for rows, columns, depth in LARGE:
        right = "R.permute_dims(w, [1, 0])" if form == "transposed" else "w"
        shape = (columns, depth) if form == "transposed" else (depth, columns)
        text = product(rows, columns, depth, right, shape)
        if not has_epilogue:
            text = text.replace(
                f"R.nn.relu(R.add(R.matmul(x, {right}), b))", f"R.matmul(x, {right})"
            )
        x, w, b = operands(rows, columns, depth)
        given = [np.ascontiguousarray(w.T) if form == "transposed" else w, b]
        params = dict(zip("wb", given, strict=True)) if form == "constant" else None
        ex = relax.build(from_source(text), target=f"llvm {SMALL}", params=params)["main"]
        got = ex(x, *([] if form == "constant" else given)).numpy()
        expected = np.maximum(x @ w + b, 0) if has_epilogue else x @ w
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("result", RESULTS)
def test_rows_in_blocks(result):
    for rows, columns in ((125, 100), (240, 100), (250, 64), (517, 37)):
        text = f"""
@R.function
def main(x: R.Tensor(({rows}, 16), "float32"), r: R.Tensor(({rows}, {columns}), "float32"),
         w: R.Tensor((16, {columns}), "float32"), b: R.Tensor(({columns},), "float32")):
    return {result}
"""
        x, w, b = operands(rows, columns, 16)
        r = whole_numbers((rows, columns), 3)
        main = relax.build(from_source(text), f"llvm {SMALL}", params={"w": w, "b": b})["main"]
        np.testing.assert_array_equal(main(x, r).numpy(), RESULTS[result](x @ w, r, b))


def test_steps_are_not_worked_on_one_by_one():
    text = product(64, 64, 127)
    lowered = kernels(text, "llvm -mcpu=skylake-avx512 -cache-sizes=1024,2048,4096")
    x, w, b = operands(64, 64, 127)
    got = evaluate(lowered, "main", [x, w, b])
    np.testing.assert_array_equal(np.asarray(got).reshape(64, 64), np.maximum(x @ w + b, 0))


@pytest.mark.parametrize("are_constant", [False, True])
def test_compiled_products_of_static_shapes(are_constant):
    for rows, columns, depth in (
        (1, 100, 64),
        (1, 4100, 20),
        (3, 77, 130),
        (8, 48, 33),
        (50, 65, 31),
        (0, 96, 31),
        (7, 65, 0),
    ):
        main = from_source(product(rows, columns, depth))
        x, w, b = operands(rows, columns, depth)
        params = {"w": w, "b": b} if are_constant else None
        rest = () if are_constant else (w, b)
        got = relax.build(main, params=params)["main"](x, *rest).numpy()
        np.testing.assert_array_equal(got, np.maximum(x @ w + b, 0))


def test_compiled_products_whose_columns_are_apart():
    for dtype in ("float32", "float64", "float16", "int8"):
        for rows, columns, depth in ((70, 100, 64), (13, 77, 133), (66, 130, 15)):
            text = product(rows, columns, depth, "R.permute_dims(w, [1, 0])", (columns, depth))
            main = relax.build(from_source(text.replace("float32", dtype)))["main"]
            x, w, b = (
                whole_numbers(shape, seed).astype(dtype)
                for seed, shape in enumerate(((rows, depth), (columns, depth), (columns,)))
            )
            np.testing.assert_array_equal(main(x, w, b).numpy(), np.maximum(x @ w.T + b, 0))


def test_compiled_products_of_symbolic_shapes():
    main = relax.build(from_source(product("'m'", "'n'", "'k'", shape="('k', 'n')")))["main"]
    for rows, columns, depth in SIZES:
        x, w, b = operands(rows, columns, depth)
        np.testing.assert_array_equal(main(x, w, b).numpy(), np.maximum(x @ w + b, 0))


@pytest.mark.sampled
@pytest.mark.parametrize("are_constant", [False, True])
@pytest.mark.parametrize(("columns", "depth"), [(10, 128), (64, 16), (100, 96), (260, 33)])
def test_any_number_of_rows(columns, depth, are_constant):
    main = from_source(product("'m'", columns, depth))
    _, w, b = operands(1, columns, depth)
    built = relax.build(main, params={"w": w, "b": b} if are_constant else None)["main"]
    for rows in (0, 1, 2, 3, 5, 13, 14, 15, 64, 100):
        x = whole_numbers((rows, depth), 3)
        got = built(x, *(() if are_constant else (w, b))).numpy()
        np.testing.assert_array_equal(got, np.maximum(x @ w + b, 0))


def test_any_number_of_rows_in_any_number_of_batches():
    main = from_source("""
@R.function
def main(x: R.Tensor(("b", "m", 48), "float32"), w: R.Tensor((48, 96), "float32")):
    y = R.matmul(x, w)
    return R.add(y, R.astype(R.arange(0, 96, 1, dtype="int64"), "float32"))
""")
    w = whole_numbers((48, 96), 1)
    built = relax.build(main, params={"w": w})["main"]
    for batch, rows in ((0, 3), (1, 1), (3, 7), (2, 18)):
        x = whole_numbers((batch, rows, 48))
        np.testing.assert_array_equal(built(x).numpy(), x @ w + np.arange(96, dtype=np.float32))


@pytest.mark.sampled
@pytest.mark.parametrize(("stride", "padding"), [(1, 1), (2, 0), (2, 3)])
@pytest.mark.parametrize("is_constant", [False, True])
def test_convolutions(stride, padding, is_constant):
    main = from_source(f"""
@R.function
def main(x: R.Tensor((2, 9, 11, 5), "float32"), w: R.Tensor((3, 3, 5, 20), "float32")):
    return R.nn.conv2d(x, w, strides=({stride}, {stride}), padding=({padding}, {padding}),
                       data_layout="NHWC", kernel_layout="HWIO")
""")
    x, w = whole_numbers((2, 9, 11, 5)), whole_numbers((3, 3, 5, 20), 1)
    ex = relax.build(main, params={"w": w} if is_constant else None)
    got = ex["main"](*((x,) if is_constant else (x, w))).numpy()
    edges = [(0, 0), (padding, padding), (padding, padding), (0, 0)]
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, edges), (3, 3), (1, 2))
    expected = np.einsum("nhwcij,ijco->nhwo", windows[:, ::stride, ::stride], w)
    np.testing.assert_array_equal(got, expected)


def test_batches_and_both_operands_moving():
    main = from_source("""
@R.function
def main(x: R.Tensor((2, 3, "n", 8), "float32"), y: R.Tensor((2, 3, "m", 8), "float32")):
    return R.matmul(x, R.permute_dims(y, [0, 1, 3, 2]))
""")
    ex = relax.build(main)["main"]
    for n, m in ((1, 1), (5, 19), (33, 16)):
        x, y = whole_numbers((2, 3, n, 8)), whole_numbers((2, 3, m, 8), 1)
        np.testing.assert_array_equal(ex(x, y).numpy(), x @ y.swapaxes(2, 3))


@pytest.mark.parametrize("subscripts", ["bij,bkj->bik", "bji,bjk->bki", "bij,bij->bi"])
@pytest.mark.parametrize("sizes", [(0, 5, 3, 0), (0, 5, 3, 4), (2, 0, 3, 40), (2, 40, 3, 0)])
def test_products_without_results(subscripts, sizes):
    size = dict(zip("bijk", sizes, strict=True))
    operands, out = subscripts.split("->")
    shapes = [tuple(size[axis] for axis in operand) for operand in operands.split(",")]
    main = from_source(f"""
@R.function
def main(x: R.Tensor({shapes[0]}, "float32"), y: R.Tensor({shapes[1]}, "float32")):
    return R.einsum((x, y), subscripts="{subscripts}")
""")
    found = relax.build(main)["main"](*(np.ones(shape, np.float32) for shape in shapes))
    assert found.shape == tuple(size[axis] for axis in out)


def test_a_dear_epilogue_runs_on_tiles_in_memory():
    text = product(40, 48, 64).replace("R.nn.relu", "R.nn.gelu")
    ops = kernels(text).body.block.ops
    (text,) = [str(op) for op in ops if isinstance(op, tir.PrimFuncOp)]
    assert text.index("_update") < text.index("math.erf")
    assert not re.search(r"alloc_buffer : !tir.buffer<\[40, 48\]", text)


def test_compiled_without_masks_in_memory_or_with_half_the_lanes():
    for target in ("llvm -mcpu=haswell", "llvm -mcpu=x86-64"):
        if "x86" not in Target("llvm").triple:
            pytest.skip("runs code for x86")
        main = relax.build(from_source(product(33, 21, "'k'", shape="('k', 21)")), target=target)
        x, w, b = operands(33, 21, 9)
        np.testing.assert_array_equal(main["main"](x, w, b).numpy(), np.maximum(x @ w + b, 0))


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "int32", "uint8"])
def test_element_types(dtype):
    main = from_source(product(19, 37, 11).replace("float32", dtype).replace("R.nn.relu", ""))
    x, w, b = (np.abs(a).astype(dtype) for a in operands(19, 37, 11))
    np.testing.assert_array_equal(relax.build(main)["main"](x, w, b).numpy(), x @ w + b)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_batches_in_blocks(dtype):
    main = from_source(f"""
@R.function
def main(x: R.Tensor((2, 3, 67, 96), "{dtype}"), w: R.Tensor((2, 3, 96, 50), "{dtype}"),
         r: R.Tensor((2, 3, 67, 50), "{dtype}")):
    return R.add(R.matmul(x, w), r)
""")
    shapes = ((2, 3, 67, 96), (2, 3, 96, 50), (2, 3, 67, 50))
    x, w, r = (whole_numbers(shape, seed).astype(dtype) for seed, shape in enumerate(shapes))
    main = relax.build(main, target=f"llvm {SMALL}")["main"]
    np.testing.assert_array_equal(main(x, w, r).numpy(), x @ w + r)


@pytest.mark.parametrize("is_transposed", [False, True])
def test_any_number_of_columns(is_transposed):
    right = "R.permute_dims(w)" if is_transposed else "w"
    text = product(30, "'n'", "'k'", right, "('n', 'k')" if is_transposed else "('k', 'n')")
    main = relax.build(from_source(text))["main"]
    for columns, depth in ((0, 5), (1, 1), (10, 128), (31, 16), (64, 33), (97, 0), (100, 45)):
        x, w, b = operands(30, columns, depth)
        given = np.ascontiguousarray(w.T) if is_transposed else w
        np.testing.assert_array_equal(main(x, given, b).numpy(), np.maximum(x @ w + b, 0))


FEW_OR_MANY = {
    "in place": (("m", 96), (96, 256), "w"),
    "batched": ((3, "m", 96), (3, 96, 256), "w"),
}
"""Shapes of two operands, and how the second one is used."""


@pytest.mark.sampled
@pytest.mark.parametrize("form", FEW_OR_MANY)
@pytest.mark.parametrize("has_epilogue", [False, True])
def test_few_rows_and_many(form, has_epilogue):
    *shapes, use = FEW_OR_MANY[form]
    value = f"R.matmul(x, {use})"
    text = f"""
@R.function
def main(x: R.Tensor({shapes[0]}, "float32"), w: R.Tensor({shapes[1]}, "float32")):
    return {f"R.nn.relu({value})" if has_epilogue else value}
"""
    target = "llvm -mcpu=skylake-avx512 -cache-sizes=32768,1048576,33554432"
    lowered = str(kernels(text, target))
    (limit,) = set(map(int, re.findall(r"min\(1, m floordiv (\d+)\)", lowered)))
    built = relax.build(from_source(text))["main"]
    for rows in (0, 1, 2, 3, 5, 7, limit - 1, limit, limit + 1, 17, 31, 64):
        x, w = (
            whole_numbers([rows if dim == "m" else dim for dim in shape], seed)
            for seed, shape in enumerate(shapes)
        )
        expected = np.maximum(x @ w, 0) if has_epilogue else x @ w
        np.testing.assert_array_equal(built(x, w).numpy(), expected)
        found = on_threads(lambda x=x / 7, w=w / 3: built(x, w).numpy().tobytes())
        assert len(set(found)) == 1, f"bits of {rows} rows depend on threads"


def on_threads(run):
    """What a call returns on one thread, on two and on five."""
    before, found = num_threads(), []
    for threads in (1, 2, 5):
        set_num_threads(threads)
        found.append(run())
    set_num_threads(before)
    return found


@pytest.mark.parametrize("rows", [3, 40, 90])
def test_rows_are_at_most_so_many(rows):
    """Each case of a minimum is a predicate of its own, and all keep the rows in range."""
    module = from_source("""
@R.function
def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 37), "float32"),
         b: R.Tensor((37,), "float32")):
    first = R.strided_slice(x, axes=[0], begin=[0], end=[50])
    return R.add(R.matmul(first, w), b)
""")
    x, w, b = whole_numbers((rows, 64)), whole_numbers((64, 37), 1), whole_numbers(37, 2)
    for given in ({}, {"w": w}):
        bound = relax.transform.BindParams("main", given)(tvm.IRModule({"main": module}))
        arguments = [x, *([] if given else [w]), b]
        got = relax.build(bound)["main"](*arguments).numpy()
        np.testing.assert_array_equal(got, x[:50] @ w + b)


def test_rows_of_a_size_that_the_analysis_does_not_know():
    """The last row of a symbolic number is `max(0, n - max(0, …))` rows."""
    compiled = relax.build(
        from_source(
            """
@R.function
def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((256, 64), "float32")):
    n = T.int64()
    last = R.strided_slice(x, axes=[0], begin=[n - 1], end=[n])
    return R.tanh(R.linear(last, w))
"""
        )
    )
    rng = np.random.default_rng(0)
    w = rng.standard_normal((256, 64), np.float32)
    for count in (1, 5, 9):
        x = rng.standard_normal((count, 64), np.float32)
        got = compiled["main"](x, w).numpy()
        np.testing.assert_allclose(got, np.tanh(x[-1:] @ w.T), rtol=1e-4, atol=1e-5)
