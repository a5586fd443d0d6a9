"""Imports with the operators that TVM emits, compared with PyTorch, and with TVM's choices."""

from typing import Any

import pytest

from xrelax import relax

torch = pytest.importorskip("torch")
frontend = relax.frontend.torch


class Model(torch.nn.Module):
    """A module around a function."""

    def __init__(self, function: Any):
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def operators(mod: Any) -> list[str]:
    names = [op.name.removeprefix("relax.") for op in mod.op.walk()]
    return [n for n in names if n not in ("constant", "tuple", "tuple_get_item", "output")]


F = torch.nn.functional
X, Y, NUMBERS = torch.randn(3, 4), torch.randn(4, 5), torch.arange(6).reshape(2, 3)
IMAGE = torch.randn(1, 2, 3, 4)
CORE = {
    "clip": (lambda x: F.hardtanh(x, -0.5, 0.25), [X], ["clip"]),
    "prelu": (lambda x, w: F.prelu(x, w), [X, torch.tensor([0.5])],
              ["reshape", "greater", "multiply", "where"]),
    "power of a float": (lambda x: x.abs() ** 1.5, [X], ["abs", "power"]),
    "power of integers": (lambda x: x**4, [NUMBERS], ["multiply", "multiply", "multiply"]),
    "addmm": (lambda a, x, y: torch.addmm(a, x, y, beta=0.5, alpha=2.0),
              [torch.randn(3, 5), X, Y], ["matmul", "multiply", "multiply", "add"]),
    "addmm without it": (lambda a, x, y: torch.addmm(a, x, y, beta=0),
                         [torch.full((3, 5), torch.nan), X, Y], ["matmul"]),
    "linear": (lambda x, w, b: F.linear(x, w, b), [X, Y.T, torch.randn(5)],
               ["permute_dims", "matmul", "add"]),
    "squeeze": (lambda x: F.avg_pool1d(x, 2), [torch.randn(1, 3, 8)],
                ["expand_dims", "nn.avg_pool2d", "squeeze"]),
    "concat": (lambda x: torch.cat([x, x * 2], -1), [X], ["multiply", "concat"]),
    "tile": (lambda x: x.repeat(2, 1, 3), [X], ["tile"]),
    "flip": (lambda x: x.flip(0, 1), [X], ["flip", "flip"]),
    "slices": (lambda x: x[1::2, -3:-1], [X], ["strided_slice", "strided_slice"]),
    "slice_scatter": (lambda x, y: torch.slice_scatter(x, y, 1, -3, None, 2), [X, X[:, :2]],
                      ["slice_scatter"]),
    "circular pad": (lambda x: F.pad(x, (1, 0), mode="circular"), [X],
                     ["zeros", *["strided_slice", "broadcast_to", "slice_scatter"] * 2]),
    "embedding": (lambda w, i: F.embedding(i, w), [X, NUMBERS // 2], ["astype", "take"]),
    "instance_norm": (lambda x: F.instance_norm(x), [torch.randn(1, 3, 4, 5)],
                      ["nn.instance_norm"]),
    "fmod": (lambda x: torch.fmod(x, 0.25), [X], ["mod"]),
    "eye": (lambda x: x + torch.eye(3, 4), [X],
            ["arange", "arange", "expand_dims", "equal", "astype", "add"]),
    "windows": (lambda x: x * torch.hamming_window(4) + torch.hamming_window(4, False, 0.5, 1.0),
                [X], ["hamming_window", "multiply", "hamming_window", "add"]),
    "select": (lambda x: x[1] + x[-1], [X], ["take", "take", "add"]),
    "split": (lambda x: x.split([1, 3], 1), [X], ["split"]),
    "ranges": (lambda x: x + torch.arange(4, dtype=torch.int32), [X], ["arange", "astype", "add"]),
    "filled": (lambda x: (torch.zeros(2), x.new_ones(3), torch.full_like(x, 1.5)), [X],
               ["full", "full", "full_like"]),
    "empty": (lambda x: torch.empty_like(x).shape[0] * x, [X], ["multiply"]),
    "scans": (lambda x: (x.cumsum(-1, dtype=torch.int32), x.cumprod(0)), [X * 3],
              ["cumsum", "cumprod"]),
    "any": (lambda x: (x > 0.5).any(1), [X], ["greater", "astype", "max", "astype"]),
    "variances": (lambda x: (x.var(), x.std(1, correction=2), x.var(0, correction=0)), [X],
                  ["variance", "multiply", "variance", "multiply", "sqrt", "variance"]),
    "norm": (lambda x: torch.linalg.vector_norm(x, 3, dim=1), [X],
             ["abs", "power", "sum", "power"]),
    "median": (lambda x: x.median(1), [torch.tensor([[1.0, 4, 2, 3], [1, torch.nan, 0, 2]])],
               ["median"]),
    "nearest": (lambda x: (F.interpolate(x, scale_factor=3.0), F.interpolate(x, (5, 8))), [IMAGE],
                ["image.resize2d", "image.resize2d"]),
    "parts of sizes": (lambda x: F.interpolate(x, (1, 2)), [IMAGE], ["image.resize2d"]),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2), [IMAGE], ["nn.max_pool2d", "zeros_like"]),
    "max_pool3d": (lambda x: F.max_pool3d(x, (2, 1, 3)), [IMAGE[None]],
                   ["nn.max_pool3d", "zeros_like"]),
    "max_pool2d with positions": (lambda x: F.max_pool2d(x, 2, return_indices=True), [IMAGE],
                                  ["nn.max_pool2d_with_indices"]),
    "antialiased": (lambda x: F.interpolate(x, (4, 7), mode="bilinear", antialias=True), [IMAGE],
                    ["image.resize2d"]),
}  # fmt: skip


def body(mod: Any) -> list[str]:
    return [n for n in operators(mod) if n not in ("func", "dataflow", "return", "builtin.module")]


@pytest.mark.parametrize("name", CORE)
def test_operators_of_decomposed_programs(name: str):
    function, inputs, expected = CORE[name]
    program = torch.export.export(Model(function), tuple(inputs))
    mod = frontend.from_exported_program(program, run_ep_decomposition=True)
    found = [n for n in body(mod) if name != "linear" or n != "reshape"]
    assert found == expected
    assert_equal(relax.build(mod)["main"](*inputs), function(*inputs))


def assert_equal(result: Any, expected: Any) -> None:
    results, wanted = ([v] if torch.is_tensor(v) else list(v) for v in (result, expected))
    for got, value in zip(results, wanted, strict=True):
        torch.testing.assert_close(
            torch.from_dlpack(got), value, rtol=1e-5, atol=1e-6, equal_nan=True
        )


LAYERS = {
    "linear": (lambda x, w, b: F.linear(x, w, b), [X, Y.T, torch.randn(5)],
               ["permute_dims", "matmul", "add"]),
    "prelu": (lambda x, w: F.prelu(x, w), [X, torch.randn(4)], ["nn.prelu"]),
    "outer": (torch.outer, [X[0], Y[0]], ["outer"]),
    "square": (torch.square, [X], ["square"]),
    "own statistics": (lambda x: F.batch_norm(x, None, None, training=True), [torch.randn(3, 2, 4)],
                       ["nn.instance_norm"]),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), [torch.randn(1, 8, 2, 3)],
                      ["nn.pixel_shuffle"]),
    "meshgrid": (lambda x, y: torch.meshgrid(x, y, indexing="xy"), [X[0], Y[0]], ["meshgrid"]),
    "squeeze": (torch.squeeze, [torch.randn(1, 3, 1)], ["squeeze"]),
    "split": (lambda x: x.split(2, -1), [X], ["split"]),
    "chunk": (lambda x: x.chunk(3), [X], ["split"]),
    "unbind": (lambda x: x.unbind(0), [X], ["split", "squeeze", "squeeze", "squeeze"]),
    "pad": (lambda x: F.pad(x, (1, 2), mode="circular"), [X], ["nn.pad"]),
    "affine_grid": (lambda x: F.affine_grid(x, (2, 3, 4, 5), align_corners=False),
                    [torch.randn(2, 2, 3)], ["image.affine_grid", "permute_dims"]),
    "instance_norm": (lambda x: F.instance_norm(x), [torch.randn(2, 3, 4, 5)],
                      ["nn.instance_norm"]),
    "einsum": (lambda x, y: torch.einsum("ij,jk->ki", x, y), [X, Y], ["einsum"]),
    "cross entropy": (lambda x, t, w: F.cross_entropy(x, t, w, ignore_index=0),
                      [X, torch.tensor([1, 0, 3]), torch.rand(4)],
                      ["nn.log_softmax", "nn.nll_loss"]),
    "one_hot": (lambda x: F.one_hot(x, 7), [NUMBERS], ["one_hot"]),
    "lerp": (lambda x, y, w: torch.lerp(x, y, w), [X, X * 3, torch.rand(4)],
             ["subtract", "multiply", "add"]),
    "bools": (lambda x, y: x + y * x, [X > 0, X[:1] < 0.5], ["multiply", "add"]),
    "masked_fill": (lambda x: x.masked_fill(x > 0, 1.5), [X], ["greater", "full_like", "where"]),
    "masked_scatter": (lambda x: x.masked_scatter(x > 0, x * 2), [X],
                       ["greater", "multiply", "reshape", "cumsum", "subtract", "reshape", "take",
                        "reshape", "where"]),
    "bucketize": (lambda x, b: torch.bucketize(x, b, right=True), [X, Y[0].sort().values],
                  ["bucketize"]),
    "squeeze of another dim": (lambda x: x.squeeze(0), [X], ["squeeze"]),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_operators_of_layers(name: str):
    function, inputs, expected = LAYERS[name]
    program = torch.export.export(Model(function), tuple(inputs))
    mod = frontend.from_exported_program(program, run_ep_decomposition=False)
    assert body(mod) == expected
    assert_equal(relax.build(mod)["main"](*inputs), function(*inputs))


@pytest.mark.parametrize("factor, has_scales", [(2.0, False), (1.5, False), (1.3, True)])
def test_exact_factors_are_those_of_the_sizes(factor: float, has_scales: bool):
    def function(x: Any) -> Any:
        return F.interpolate(x, scale_factor=factor, mode="bilinear")

    image = torch.randn(1, 2, 6, 4)
    mod = frontend.from_exported_program(torch.export.export(Model(function), (image,)))
    (resized,) = (op for op in mod.op.walk() if op.name == "relax.image.resize2d")
    assert ("scales" in resized.properties) == has_scales
    assert_equal(relax.build(mod)["main"](image), function(image))


@pytest.mark.parametrize("options", [{"label_smoothing": 0.25}, {"reduction": "sum"}])
def test_cross_entropies_of_other_kinds(options: Any):
    targets = torch.tensor([1, 2, 3]) if "label_smoothing" in options else X.softmax(1)
    program = torch.export.export(
        Model(lambda x, t: F.cross_entropy(x, t, **options)), (X, targets)
    )
    mod = frontend.from_exported_program(program, run_ep_decomposition=False)
    assert "nn.nll_loss" not in body(mod)
    expected = F.cross_entropy(X, targets, **options)
    assert_equal(relax.build(mod)["main"](X, targets), expected)


class Chunks(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return x.chunk(2, 1)


def test_a_tuple_of_an_operator_is_the_result_of_a_graph():
    mod = frontend.from_fx(torch.fx.symbolic_trace(Chunks()), [((3, 4), "float32")])
    assert [op.name for op in mod.op.walk() if "tuple" in op.name] == []
    assert_equal(relax.build(mod)["main"](X), X.chunk(2, 1))


def test_symbols_have_the_names_of_pytorch():
    shapes = {"x": {0: torch.export.Dim("batch", min=0, max=9)}}
    program = torch.export.export(
        Model(torch.sin).eval(), (X,), dynamic_shapes={"args": (shapes["x"],)}
    )
    (name,) = (str(s) for s in program.range_constraints)
    mod = frontend.from_exported_program(program, run_ep_decomposition=True)
    assert mod["main"].attrs["tir_var_lower_bound"] == {name: 0}
    assert mod["main"].attrs["tir_var_upper_bound"] == {name: 9}


def test_masks_choose_as_many_elements_as_the_symbol_says():
    program = torch.export.export(Model(torch.masked_select), (X, X > 0))
    mod = frontend.from_exported_program(program, run_ep_decomposition=True)
    assert body(mod) == ["reshape", "reshape", "nonzero", "match_cast", "squeeze", "take"]
    (size,) = mod["main"].attrs["tir_var_upper_bound"]
    assert mod["main"].attrs["tir_var_upper_bound"] == {size: 12} and f"{size} = T.int64()" in str(
        mod
    )
    assert mod["main"].attrs["tir_var_lower_bound"] == {size: 0}
    executable = relax.build(mod)
    for mask in (X > 0, X > 9, X < 9):
        assert_equal(executable["main"](X, mask), X[mask])


class Branches(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda x: (x.cos(), x + 1), lambda x: (x.sin(), x * 2), (x,))


def test_branches_are_functions():
    program = torch.export.export(Branches(), (X,))
    mod = frontend.from_exported_program(program, run_ep_decomposition=True)
    names = {v.name_hint for v in mod.get_global_vars()}
    assert names == {"main", "cond_true_branch_0", "cond_false_branch_1"}
    assert "dataflow" not in body(mod)
    executable = relax.build(mod)
    for x in (X.abs(), -X.abs()):
        assert_equal(executable["main"](x), Branches()(x))
