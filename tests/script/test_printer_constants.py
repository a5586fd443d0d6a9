"""What constants of graphs look like as TVMScript: numbers, and metadata that has their data."""

import ast

import numpy as np
import pytest
from printed_programs import parse_ir, script, with_imports

from xrelax.dialects.relax import ConstantOp, TensorData, sidecar
from xrelax.ir.equality import assert_structural_equal
from xrelax.script.parser.module import parse_text
from xrelax.script.printer import print_module
from xrelax.script.printer.metadata import read_constants

CONSTANTS = """
relax.func @main(%x: !relax.tensor<[1, 2], f32>) -> !relax.tensor<[1, 2], f32> {
  %out = relax.dataflow -> !relax.tensor<[1, 2], f32> {
    %c0 = relax.constant <float32, [2], [1.0, 2.0]> : !relax.tensor<[2], f32>
    %c1 = relax.constant <float32, [2], [1.0, 2.0]> : !relax.tensor<[2], f32>
    %one = relax.constant <float32, [], [0.1]> : !relax.tensor<[], f32>
    %lv0 = relax.add %x, %c1 : !relax.tensor<[1, 2], f32>, !relax.tensor<[2], f32>
      -> !relax.tensor<[1, 2], f32>
    %lv1 = relax.add %lv0, %c0 : !relax.tensor<[1, 2], f32>, !relax.tensor<[2], f32>
      -> !relax.tensor<[1, 2], f32>
    %lv2 = relax.multiply %lv1, %c1 : !relax.tensor<[1, 2], f32>, !relax.tensor<[2], f32>
      -> !relax.tensor<[1, 2], f32>
    %out = relax.add %lv2, %one : !relax.tensor<[1, 2], f32>, !relax.tensor<[], f32>
      -> !relax.tensor<[1, 2], f32>
    relax.output %out : !relax.tensor<[1, 2], f32>
  }
  relax.return %out : !relax.tensor<[1, 2], f32>
}
"""


def test_constants_are_numbered_by_first_appearance_and_end_with_the_published_line():
    printed = script(CONSTANTS)
    assert ' = R.add(x, metadata["relax.expr.Constant"][0])' in printed
    assert ' = R.add(lv0, metadata["relax.expr.Constant"][1])' in printed
    assert ' = R.multiply(lv1, metadata["relax.expr.Constant"][0])' in printed
    assert ' = R.add(lv2, R.const(0.1, "float32"))' in printed
    omitted = "# Metadata omitted. Use show_meta=True in script() method to show it."
    assert printed.splitlines()[-2:] == ["", omitted]


def test_metadata_is_a_literal_that_gives_the_constants_back():
    printed = script(CONSTANTS, show_meta=True)
    assert "omitted" not in printed
    assign = ast.parse(printed).body[0]
    assert isinstance(assign, ast.Assign) and ast.unparse(assign.targets[0]) == "metadata"
    first, second = read_constants(ast.literal_eval(assign.value))
    assert first == second and first.values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("ir", "dtype", "shape"),
    [
        ("bf16", "bfloat16", (2, 3)),
        ("f16", "float16", (3,)),
        ("f64", "float64", (0, 4)),
        ("i1", "bool", (5,)),
        ("ui8", "uint8", (2, 1, 2)),
        ("i64", "int64", (40,)),
    ],
)
def test_metadata_of_every_kind_of_dtype(ir, dtype, shape):
    storage = {"bfloat16": "uint16"}.get(dtype, dtype)
    array = (np.arange(np.prod(shape)) % 2 + 0.5).reshape(shape).astype(storage)
    dims = list(shape)
    text = (
        f"relax.func @main(%x: !relax.tensor<[2], f32>) -> !relax.tensor<{dims}, {ir}> {{"
        f'%c = relax.constant <{dtype}, {dims}, "weight", ""> : !relax.tensor<{dims}, {ir}>'
        f"relax.return %c : !relax.tensor<{dims}, {ir}> }}"
    )
    digest = TensorData.of(array, dtype).digest
    with sidecar({"weight": array}):
        module = parse_ir(text.replace('""', f'"{digest}"'))
    printed = print_module(module, show_meta=True)
    (data,) = read_constants(ast.literal_eval(ast.parse(printed).body[0].value))
    (constant,) = [op for op in module.walk() if isinstance(op, ConstantOp)]
    assert data == constant.value.data and data.key == "weight"
    assert_structural_equal(module, parse_text(with_imports(printed), {}))


def test_metadata_without_data_fails_with_the_name_of_the_constant():
    text = (
        "relax.func @main(%x: !relax.tensor<[2], f32>) -> !relax.tensor<[2], f32> {"
        '%c = relax.constant <float32, [2], "w0", "00"> : !relax.tensor<[2], f32>'
        "relax.return %c : !relax.tensor<[2], f32> }"
    )
    with pytest.raises(ValueError, match="constant 'w0'"):
        print_module(parse_ir(text), show_meta=True)
