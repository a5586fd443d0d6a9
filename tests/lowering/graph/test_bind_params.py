"""Parameters bound to constants: the course's module, symbols everywhere, and each refusal."""

# ruff: noqa: E501 - lines of IR are as long as the printer makes them

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from xrelax.dialects import get_context
from xrelax.dialects.diagnostics import Diagnostic
from xrelax.dialects.relax import TensorData
from xrelax.lowering.graph.bind_params import bind_params, bind_symbolic_vars

LINEAR0 = """
tir.prim_func @linear0(%X: !tir.buffer<[1, m], f32>, %W: !tir.buffer<[n, m], f32>, %B: !tir.buffer<[n], f32>, %Z: !tir.buffer<[1, n], f32>) params ("x", "w", "b", "z") {
}
"""
MIXTURE = (
    LINEAR0
    + """
relax.func @main(%x: !relax.tensor<[1, m], f32>, %w0: !relax.tensor<[n, m], f32>, %b0: !relax.tensor<[n], f32>, %w1: !relax.tensor<[k, n], f32>, %b1: !relax.tensor<[k], f32>) -> !relax.tensor<[1, k], f32> {
  %out = relax.dataflow -> !relax.tensor<[1, k], f32> {
    %lv0 = relax.call_dps_packed "linear0"(%x, %w0, %b0) : (!relax.tensor<[1, m], f32>, !relax.tensor<[n, m], f32>, !relax.tensor<[n], f32>) -> !relax.tensor<[1, n], f32>
    %lv1 = relax.call_dps_packed "env.relu"(%lv0) : (!relax.tensor<[1, n], f32>) -> !relax.tensor<[1, n], f32>
    %gv = relax.call_dps_packed "env.linear"(%lv1, %w1, %b1) : (!relax.tensor<[1, n], f32>, !relax.tensor<[k, n], f32>, !relax.tensor<[k], f32>) -> !relax.tensor<[1, k], f32>
    relax.output %gv : !relax.tensor<[1, k], f32>
  }
  relax.return %out : !relax.tensor<[1, k], f32>
}
"""
)
SHAPES = {"w0": (128, 784), "b0": (128,), "w1": (10, 128), "b1": (10,)}


def parse(text: str) -> ModuleOp:
    module = Parser(get_context(), text).parse_module()
    module.verify()
    return module


def data(*shape: int, dtype: str = "float32") -> TensorData:
    return TensorData.of(np.arange(np.prod(shape)).reshape(shape).astype(dtype))


def weights() -> dict[str | int, TensorData]:
    return {name: data(*shape) for name, shape in SHAPES.items()}


def test_the_course_module():
    """m, n and k are 784, 128 and 10 throughout main; the PrimFunc stays symbolic."""
    module, params = parse(MIXTURE), weights()
    bind_params(module, "main", params)
    module.verify()
    w0, b0, w1, b1 = (params[name].digest for name in SHAPES)
    expected = parse(
        LINEAR0
        + f"""
relax.func @main(%x: !relax.tensor<[1, 784], f32>) -> !relax.tensor<[1, 10], f32> {{
  %w0 = relax.constant <float32, [128, 784], "w0", "{w0}"> : !relax.tensor<[128, 784], f32>
  %b0 = relax.constant <float32, [128], "b0", "{b0}"> : !relax.tensor<[128], f32>
  %w1 = relax.constant <float32, [10, 128], "w1", "{w1}"> : !relax.tensor<[10, 128], f32>
  %b1 = relax.constant <float32, [10], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]> : !relax.tensor<[10], f32>
  %out = relax.dataflow -> !relax.tensor<[1, 10], f32> {{
    %lv0 = relax.call_dps_packed "linear0"(%x, %w0, %b0) : (!relax.tensor<[1, 784], f32>, !relax.tensor<[128, 784], f32>, !relax.tensor<[128], f32>) -> !relax.tensor<[1, 128], f32>
    %lv1 = relax.call_dps_packed "env.relu"(%lv0) : (!relax.tensor<[1, 128], f32>) -> !relax.tensor<[1, 128], f32>
    %gv = relax.call_dps_packed "env.linear"(%lv1, %w1, %b1) : (!relax.tensor<[1, 128], f32>, !relax.tensor<[10, 128], f32>, !relax.tensor<[10], f32>) -> !relax.tensor<[1, 10], f32>
    relax.output %gv : !relax.tensor<[1, 10], f32>
  }}
  relax.return %out : !relax.tensor<[1, 10], f32>
}}"""
    )
    assert str(module) == str(expected)
    assert b1 == data(10).digest


def test_by_position_and_in_part():
    """What only x determines stays symbolic."""
    module = parse(MIXTURE)
    bind_params(module, "main", {2: data(128)})
    module.verify()
    head = str(module).split("@main")[1].splitlines()[0]
    assert "%x: !relax.tensor<[1, m], f32>, %w0: !relax.tensor<[128, m], f32>, %w1" in head
    assert "%b0" not in head


def test_nothing_bound_changes_nothing():
    module = parse(MIXTURE)
    bind_params(module, "main", {})
    assert str(module) == str(parse(MIXTURE))


def test_a_key_of_the_data_is_kept():
    module = parse(MIXTURE)
    array = np.zeros((128, 784), "float32")
    bind_params(module, "main", {"w0": TensorData.of(array, key="layer.0")})
    assert 'relax.constant <float32, [128, 784], "layer.0"' in str(module)


def test_an_unused_parameter_leaves_no_constant():
    module = parse("""
    relax.func @main(%x: !relax.tensor<[n], f32>, %y: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
      relax.return %x : !relax.tensor<[n], f32>
    }""")
    bind_params(module, "main", {"y": data(4)})
    module.verify()
    assert "relax.constant" not in str(module)
    assert "@main(%x: !relax.tensor<[4], f32>)" in str(module)


def test_results_of_operators_are_inferred_again():
    """A weight whose shape was not known makes the shapes of everything after it known."""
    module = parse("""
    relax.func @main(%x: !relax.tensor<[1, 4], f32>, %w: !relax.tensor<rank 2, f32>) -> tuple<!relax.tensor<rank 2, f32>> {
      %y = relax.dataflow -> !relax.tensor<rank 2, f32> {
        %0 = relax.matmul %x, %w : !relax.tensor<[1, 4], f32>, !relax.tensor<rank 2, f32> -> !relax.tensor<rank 2, f32>
        %1 = relax.nn.relu %0 : !relax.tensor<rank 2, f32> -> !relax.tensor<rank 2, f32>
        relax.output %1 : !relax.tensor<rank 2, f32>
      }
      %t = relax.tuple(%y) : (!relax.tensor<rank 2, f32>) -> tuple<!relax.tensor<rank 2, f32>>
      relax.return %t : tuple<!relax.tensor<rank 2, f32>>
    }""")
    bind_params(module, "main", {"w": data(4, 3)})
    module.verify()
    assert "-> tuple<!relax.tensor<[1, 3], f32>> {" in str(module)
    assert "rank" not in str(module)


def test_a_symbol_inside_a_dim_is_solved_for():
    module = parse("""
    relax.func @main(%x: !relax.tensor<[n], f32>, %w: !relax.tensor<[n * 4 + 2], f32>) -> !relax.tensor<[n], f32> {
      relax.return %x : !relax.tensor<[n], f32>
    }""")
    bind_params(module, "main", {"w": data(14)})
    module.verify()
    assert "%x: !relax.tensor<[3], f32>" in str(module)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"w9": data(1)}, "expected a parameter of 'main' (x, w0, b0, w1, b1), got 'w9'"),
        ({5: data(1)}, "expected a parameter number of 'main' below 5 (x, w0, b0, w1, b1), got 5"),
        ({"w0": data(1), 1: data(1)}, "expected one value for parameter 'w0' of 'main', got two"),
        (
            {"b0": data(128, 1)},
            "parameters of 'main': expected argument 'b0' to have rank 1, got 2 (shape (128, 1))",
        ),
        (
            {"b0": data(128, dtype="float64")},
            "parameters of 'main': expected argument 'b0' to have dtype float32, got float64",
        ),
        (
            {"x": data(2, 784)},
            "parameters of 'main': expected argument 'x' to have shape (1, 784), got (2, 784)",
        ),
        (
            {"w0": data(784, 128), "b0": data(128)},
            "parameters of 'main': expected symbol 'n' to be 784 as in argument 'w0', got 128 in "
            "argument 'b0'",
        ),
    ],
)
def test_refusals(values: dict[str | int, TensorData], message: str):
    module = parse(MIXTURE)
    with pytest.raises(Diagnostic) as error:
        bind_params(module, "main", values)
    assert str(error.value) == message
    assert str(module) == str(parse(MIXTURE))


def test_a_dim_that_no_number_fits():
    module = parse("""
    relax.func @main(%x: !relax.tensor<[n], f32>, %w: !relax.tensor<[n * 4], f32>) -> !relax.tensor<[n], f32> {
      relax.return %x : !relax.tensor<[n], f32>
    }""")
    with pytest.raises(Diagnostic, match=r"dim n \* 4 of argument 'w' cannot be 14"):
        bind_params(module, "main", {"w": data(14)})


def test_a_dim_that_leaves_a_choice():
    module = parse("""
    relax.func @main(%x: !relax.tensor<[n, m], f32>, %w: !relax.tensor<[n * m], f32>) -> !relax.tensor<[n, m], f32> {
      relax.return %x : !relax.tensor<[n, m], f32>
    }""")
    with pytest.raises(Diagnostic, match=r"dim m \* n of argument 'w' does not follow from 14"):
        bind_params(module, "main", {"w": data(14)})


def test_unknown_function():
    with pytest.raises(
        Diagnostic, match=r"expected a graph function of the module \(main\), got 'linear0'"
    ):
        bind_params(parse(MIXTURE), "linear0", weights())


def test_a_function_that_others_call_keeps_its_parameters():
    module = parse("""
    relax.func @f(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
      relax.return %x : !relax.tensor<[n], f32>
    }
    relax.func @main(%x: !relax.tensor<[n], f32>) -> !relax.tensor<[n], f32> {
      %0 = relax.call @f(%x) : (!relax.tensor<[n], f32>) -> !relax.tensor<[n], f32>
      relax.return %0 : !relax.tensor<[n], f32>
    }""")
    with pytest.raises(Diagnostic, match="got 'f', which 'main' calls"):
        bind_params(module, "f", {"x": data(4)})


def test_symbolic_vars():
    module = parse(MIXTURE)
    bind_symbolic_vars(module, "main", {"n": 128, "k": 10})
    module.verify()
    assert "%w0: !relax.tensor<[128, m], f32>, %b0: !relax.tensor<[128], f32>" in str(module)
    assert (
        "tir.prim_func @linear0(%X: !tir.buffer<[1, m], f32>, %W: !tir.buffer<[n, m], f32>"
        in str(module)
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"q": 4}, "expected a symbol of 'main' (m, n, k), got 'q'"),
        ({"m": -1}, "expected symbol 'm' to be at least 0, got -1"),
    ],
)
def test_symbolic_var_refusals(values: dict[str, int], message: str):
    with pytest.raises(Diagnostic) as error:
        bind_symbolic_vars(parse(MIXTURE), "main", values)
    assert str(error.value) == message
