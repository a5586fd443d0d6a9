"""Programs of `torch.export` as modules: parameters, weights, symbols, structure, places."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xrelax
from xrelax import relax
from xrelax.runtime import XRelaxWarning

torch = pytest.importorskip("torch")
frontend = relax.frontend.torch
Dim = torch.export.Dim


class Perceptron(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = torch.nn.Linear(8, 4)
        self.register_buffer("scale", torch.full((4,), 2.0))
        self.unused = torch.nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        return torch.relu(self.hidden(x)) * self.scale


def exported(model: torch.nn.Module, *args: Any, **options: Any) -> Any:
    return torch.export.export(model.eval(), args, **options)


def dynamic(size: Any = None) -> dict[str, Any]:
    return {"dynamic_shapes": {"x": {0: size or Dim("batch")}}}


def operations(mod: Any, name: str) -> list[Any]:
    return [op for op in mod.op.walk() if op.name == name]


def test_main_has_the_inputs_as_parameters_and_returns_a_tuple():
    mod = frontend.from_exported_program(exported(Perceptron(), torch.ones(2, 8)))
    assert mod["main"].op.names == ("x",)
    x = np.ones((2, 8), np.float32)
    results = relax.build(mod)["main"](x)
    assert isinstance(results, tuple) and results[0].shape == (2, 4)


def test_module_prints_as_a_script_that_parses_back():
    mod = frontend.from_exported_program(exported(Perceptron(), torch.ones(2, 8), **dynamic()))
    again = xrelax.script.from_source(mod.script(show_meta=True))
    assert again.script() == mod.script()


def test_single_output_is_unwrapped_on_demand():
    program = exported(Perceptron(), torch.ones(2, 8))
    mod = frontend.from_exported_program(program, unwrap_unit_return_tuple=True)
    assert not operations(mod, "relax.tuple")
    assert relax.build(mod)["main"](torch.ones(2, 8)).shape == (2, 4)


@pytest.mark.parametrize("outside", [False, True])
def test_tuple_is_made_inside_or_outside_the_dataflow_block(outside: bool):
    program = exported(Perceptron(), torch.ones(2, 8))
    mod = frontend.from_exported_program(program, no_bind_return_tuple=outside)
    (made,) = operations(mod, "relax.tuple")
    assert (made.parent_op().name == "relax.func") is outside


def test_weights_are_constants_that_share_the_memory_of_the_model():
    model = Perceptron()
    program = exported(model, torch.ones(2, 8))
    mod = frontend.from_exported_program(program)
    data = {c.value.data.key: c.value.data for c in operations(mod, "relax.constant")}
    assert {"hidden.weight", "hidden.bias", "scale"} <= set(data)
    weight = model.hidden.weight
    assert data["hidden.weight"].values.ctypes.data == weight.data_ptr()
    assert not [key for key in data if key.startswith("unused")]


def test_weight_that_is_not_contiguous_is_copied():
    model = Perceptron()
    model.hidden.weight = torch.nn.Parameter(torch.randn(8, 4).t())
    x = torch.randn(2, 8)
    result = xrelax.compile(model, (x,))(x)
    torch.testing.assert_close(result, model(x).detach())


def test_tied_weights_are_one_constant_in_the_executable():
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(4, 4, bias=False)
            self.second = torch.nn.Linear(4, 4, bias=False)
            self.second.weight = self.first.weight

        def forward(self, x: Any) -> Any:
            return self.second(self.first(x))

    compiled = xrelax.compile(Tied(), (torch.ones(1, 4),))
    assert len(compiled.executable.constants) == 1


def test_parameters_stay_inputs_on_demand():
    model = Perceptron()
    program = exported(model, torch.ones(2, 8))
    mod = frontend.from_exported_program(program, keep_params_as_input=True)
    assert mod["main"].op.names[0] == "x"
    assert mod["main"].attrs["num_input"] == 1
    mod, params = relax.frontend.detach_params(mod)
    assert "params" not in (mod["main"].attrs or {})
    x = torch.randn(2, 8)
    (result,) = relax.build(mod)["main"](x, *params["main"])
    np.testing.assert_allclose(result.numpy(), model(x).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_symbols_have_the_names_and_ranges_of_the_dims():
    program = exported(Perceptron(), torch.ones(4, 8), **dynamic(Dim("batch", min=2, max=32)))
    main = frontend.from_exported_program(program)["main"]
    assert main.op.declared_symbols() == ["batch"]
    assert main.attrs["tir_var_lower_bound"] == {"batch": 2}
    assert main.attrs["tir_var_upper_bound"] == {"batch": 32}


class Last(torch.nn.Module):
    """As many of the last numbers of a buffer as the batch has, at most all."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("numbers", torch.arange(8.0))

    def forward(self, x: Any) -> Any:
        return x + self.numbers[max(0, 8 - x.shape[0]) :]


def test_sizes_are_simplified_by_ranges_that_calls_check():
    program = exported(Last(), torch.ones(4), **dynamic(Dim("batch", min=2, max=8)))
    mod = frontend.from_exported_program(program)
    (slice_,) = operations(mod, "relax.strided_slice")
    assert str(slice_.result.type) == "!relax.tensor<[batch], f32>"
    main = relax.build(mod)["main"]
    for size in (2, 8):
        torch.testing.assert_close(
            torch.from_dlpack(main(torch.ones(size))[0]), Last()(torch.ones(size))
        )
    for size in (1, 9):
        with pytest.raises(
            ValueError, match=r"dim 0 \('batch'\) of argument 'x' to be in \[2, 8\]"
        ):
            main(torch.ones(size))


class Counted(torch.nn.Module):
    def forward(self, x: Any, n: int) -> Any:
        torch._check(n <= 5)
        return x[max(0, 5 - n) :]


def test_ranges_of_numbers_are_checked():
    shapes = {"x": None, "n": Dim.DYNAMIC}
    program = exported(Counted(), torch.arange(8.0), 3, dynamic_shapes=shapes)
    compiled = xrelax.compile(program)
    torch.testing.assert_close(compiled(torch.arange(8.0), 4), torch.arange(1.0, 8))
    with pytest.raises(ValueError, match=r"expected argument 'n' to be in \[\d, 5\], got 6"):
        compiled(torch.arange(8.0), 6)


class Doubled(torch.nn.Module):
    def forward(self, x: Any, n: int) -> Any:
        return x + n, n * 2


@pytest.mark.parametrize("n", [4, np.int64(4), np.array(4), torch.tensor(4)])
def test_numbers_of_any_library_determine_results(n):
    shapes = {"x": None, "n": Dim.DYNAMIC}
    program = exported(Doubled(), torch.ones(3), 3, dynamic_shapes=shapes)
    total, number = xrelax.compile(program)(torch.ones(3), n)
    torch.testing.assert_close(total, torch.full((3,), 5.0))
    assert number == 8


class Pairs(torch.nn.Module):
    """The sums of pairs of rows times a matrix, and the number of pairs."""

    def forward(self, x: Any, y: Any) -> Any:
        return x.reshape(-1, 2, x.shape[1]).sum(1) @ y[:-1], x.shape[0] // 2


def test_composed_dims_determine_symbols():
    pairs, width = Dim("pairs", min=2, max=8), Dim("width", min=1, max=8)
    shapes = {"x": {0: 2 * pairs, 1: 4 * width - 1}, "y": {0: 4 * width}}
    program = exported(Pairs(), torch.ones(6, 7), torch.ones(8, 5), dynamic_shapes=shapes)
    compiled = xrelax.compile(program)
    for rows, columns in ((6, 7), (16, 11)):
        x, y = torch.rand(rows, columns), torch.rand(columns + 1, 5)
        torch.testing.assert_close(compiled(x, y), Pairs()(x, y))
    for rows, columns, depth, message in (
        (18, 7, 8, r"dim 0 \('x_0'\) of argument 'x' to be in \[4, 16\], got 18"),
        (7, 7, 8, "expected dim 0 to be 6, got 7"),
        (6, 9, 8, "expected dim 1 to be 7, got 9"),
        (6, 7, 4, "expected dim 0 to be 8, got 4"),
    ):
        with pytest.raises(ValueError, match=message):
            compiled(torch.ones(rows, columns), torch.ones(depth, 5))


def test_automatic_dims_are_symbols_too():
    program = exported(Perceptron(), torch.ones(4, 8), **dynamic(Dim.AUTO))
    mod = frontend.from_exported_program(program)
    assert len(mod["main"].op.declared_symbols()) == 1
    assert relax.build(mod)["main"](torch.ones(7, 8))[0].shape == (7, 4)


def test_operations_have_the_places_of_the_model():
    mod = frontend.from_exported_program(exported(Perceptron(), torch.ones(2, 8)))
    (multiply,) = operations(mod, "relax.multiply")
    location = multiply.location
    lines = Path(__file__).read_text().splitlines()
    assert location.filename.data == __file__
    assert "torch.relu(self.hidden(x)) * self.scale" in lines[location.line.data - 1]


def test_buffer_that_changes_what_results_read_is_refused():
    class Counter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x: Any) -> Any:
            self.calls += 1
            return x + self.calls

    with pytest.raises(
        ValueError, match=r"^expected a program without side effects, got one that ch"
    ):
        frontend.from_exported_program(exported(Counter(), torch.ones(2)))


def test_buffer_that_no_result_reads_may_change():
    class Counter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x: Any) -> Any:
            self.calls += 1
            return x * 2

    mod = frontend.from_exported_program(exported(Counter(), torch.ones(2)))
    assert relax.build(mod)["main"](torch.ones(2))[0].numpy().tolist() == [2, 2]


def test_input_that_changes_is_refused():
    class Writer(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            x.add_(1)
            return x * 2

    with pytest.raises(ValueError, match="changes input 'x'"):
        frontend.from_exported_program(exported(Writer(), torch.ones(2)))


def test_converter_of_ones_own():
    class Sine(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return torch.special.bessel_j0(x)

    def double(context: Any, x: Any) -> Any:
        return context.op("add", x, x)

    program = exported(Sine(), torch.ones(2))
    custom = {"aten.special_bessel_j0.default": double}
    mod = frontend.from_exported_program(program, custom_convert_map=custom)
    assert relax.build(mod)["main"](torch.ones(2))[0].numpy().tolist() == [2, 2]


def test_converters_of_tvms_form():
    """They get a node, and return an expression of the values of its arguments."""

    class Products(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return torch.cat([x, x * y], 0).view(y.shape[0] * 2, 3)

    def weighted(node: Any, importer: Any) -> Any:
        x, y = (importer.env[n] for n in node.args)
        product = importer.block_builder.emit(relax.op.multiply(x, y), "product")
        return relax.op.add(product, relax.op.sqrt(product))

    def joined(node: Any, importer: Any) -> Any:
        x, y = (importer.env[n] for n in node.args[0])
        return importer.block_builder.emit(relax.op.concat([y, x], axis=0))

    rows = {0: torch.export.Dim("n")}
    shapes = {"x": rows, "y": rows}
    x, y = torch.rand(4, 3), torch.rand(4, 3)
    program = torch.export.export(Products(), (x, y), dynamic_shapes=shapes)
    custom = {"mul.Tensor": weighted, "cat.default": joined}
    mod = frontend.from_exported_program(program, custom_convert_map=custom)
    assert "product" in mod.script()
    (found,) = relax.build(mod)["main"](x, y)
    torch.testing.assert_close(torch.from_dlpack(found), torch.cat([x * y + (x * y).sqrt(), x]))


def test_sparse_tensors_are_refused():
    class Product(torch.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return torch.sparse.mm(x, y)

    program = torch.export.export(Product(), (torch.eye(3).to_sparse(), torch.ones(3, 2)))
    with pytest.raises(ValueError, match=r"input \('x'\).*: a sparse tensor; use to_dense"):
        frontend.from_exported_program(program)


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_sparse_weights_are_dense(layout: Any):
    class Neighbors(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            edges = torch.tensor([[0, 1, 0], [0, 0, 2], [0, 3, 0]], dtype=torch.float32)
            self.register_buffer("edges", edges.to_sparse(layout=layout))

        def forward(self, x: Any) -> Any:
            return torch.sparse.mm(self.edges, x), self.edges.to_dense() @ x.relu()

    x = torch.randn(3, 2)
    with warnings.catch_warnings(action="ignore"):  # of CSR, which PyTorch calls a beta
        program = torch.export.export(Neighbors(), (x,))
    results = relax.build(frontend.from_exported_program(program))["main"](x)
    for found, wanted in zip(results, program.module()(x), strict=True):
        torch.testing.assert_close(torch.from_dlpack(found), wanted)
    assert program.state_dict["edges"].layout is layout


def test_program_from_a_file(tmp_path: Any):
    torch.export.save(exported(Perceptron(), torch.ones(4, 8), **dynamic()), tmp_path / "m.pt2")
    mod = frontend.from_exported_program(torch.export.load(tmp_path / "m.pt2"))
    assert relax.build(mod)["main"](torch.ones(3, 8))[0].shape == (3, 4)


def test_input_that_changes_must_be_a_result():
    class Doubles(torch.nn.Module):
        def __init__(self, returns: bool) -> None:
            super().__init__()
            self.returns = returns

        def forward(self, x: Any) -> Any:
            x.mul_(2)
            return x if self.returns else x + 1

    x = torch.ones(2)
    program = exported(Doubles(returns=True), x)
    with pytest.warns(XRelaxWarning, match=r"^the program changes input 'x' at .*mul_") as caught:
        mod = frontend.from_exported_program(program, unwrap_unit_return_tuple=True)
    assert caught[0].filename == __file__
    assert relax.build(mod)["main"](x).numpy().tolist() == [2, 2]
    assert x.tolist() == [1, 1]
    with pytest.raises(ValueError, match="got one that changes input 'x'"):
        frontend.from_exported_program(exported(Doubles(returns=False), x))
    with pytest.raises(ValueError, match="got one that changes input 'x'"):
        xrelax.compile(Doubles(returns=True), (x,))
