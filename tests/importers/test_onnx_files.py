"""Broken and hostile files: one line of error, without a crash, a hang or an allocation."""

import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx_messages import message, small

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.onnx.frontend import from_onnx


def test_what_is_right_compiles():
    compiled = compile_onnx(small().SerializeToString())
    np.testing.assert_array_equal(compiled(np.ones((1, 4), "float32")).numpy(), [[1, 2, 3, 4]])


@pytest.mark.parametrize("length", [0, 1, 7, 20, 50, -30, -2])
def test_a_truncated_file(length, tmp_path):
    path = tmp_path / "cut.onnx"
    path.write_bytes(small().SerializeToString()[:length])
    assert message(path).startswith("expected a model of ONNX, got 'cut.onnx' ")


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n" * 9, b"# a text\n", bytes(100), b"\xff" * 9]
)
def test_bytes_of_another_format(content):
    assert message(content).startswith("expected a model of ONNX, got 'the model'")


@pytest.mark.parametrize("given", [None, 3, [1], object(), onnx.GraphProto()])
def test_what_is_no_model(given):
    expected = f"expected a path, bytes or a ModelProto of ONNX, got {type(given).__name__}"
    assert message(given) == expected


def test_paths_without_a_file(tmp_path):
    assert "No such file" in message(tmp_path / "absent.onnx")
    assert "directory" in message(str(tmp_path))
    assert message("x\0y.onnx") == "embedded null byte"


def test_models_without_a_graph_or_opset():
    expected = "expected a model of ONNX, got 'the model' without a graph or an opset"
    assert message(onnx.ModelProto(ir_version=8)) == expected
    made = small()
    del made.opset_import[:]
    assert message(made) == expected


@pytest.mark.parametrize("dims", [[-1], [2, -2], [1 << 41], [1 << 62, 1 << 62]])
def test_shapes_of_constants(dims):
    made = small()
    made.graph.initializer[0].ClearField("dims")
    made.graph.initializer[0].dims.extend(dims)
    expected = f"initializer ('w'): expected a shape of tensor 'w', got {tuple(dims)}"
    assert expected in message(made)


def test_the_length_of_constants():
    made = small()
    made.graph.initializer[0].raw_data += b"\0"
    assert "initializer ('w'): expected 16 bytes of tensor 'w', got 17" in message(made)
    made.graph.initializer[0].ClearField("raw_data")
    assert "initializer ('w'): expected 16 bytes of tensor 'w', got 0" in message(made)
    made.graph.initializer[0].float_data.extend([1, 2, 3])
    assert "initializer ('w'): expected 16 bytes of tensor 'w', got 12" in message(made)
    assert "expected 16 bytes" in message(made, keep_params_in_input=True)


def test_types_of_constants():
    made = small()
    made.graph.initializer[0].data_type = TensorProto.STRING
    assert "initializer ('w'): tensors of type STRING" in message(made)
    assert "tensors of type STRING" in message(made, keep_params_in_input=True)


def test_sparse_constants():
    made = small()
    values = made.graph.initializer.pop()
    made.graph.sparse_initializer.append(onnx.SparseTensorProto(values=values, dims=[8]))
    assert "input ('w'): a sparse tensor" in message(made)


def external(folder, **entries):
    """The file of a model whose weights are in other files of its folder."""
    made = small()
    constant = made.graph.initializer[0]
    constant.ClearField("raw_data")
    constant.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        constant.external_data.add(key=key, value=value)
    path = folder / "model.onnx"
    path.write_bytes(made.SerializeToString())
    return path


@pytest.fixture
def folder(tmp_path):
    """A folder with weights, beside a file that no model should read."""
    (tmp_path / "secret").write_bytes(bytes(16))
    inner = tmp_path / "models"
    inner.mkdir()
    (inner / "weights").write_bytes(np.arange(8, dtype="float32").tobytes())
    os.symlink(tmp_path / "secret", inner / "link")
    os.symlink(tmp_path, inner / "up")
    (inner / "folder").mkdir()
    return inner


def test_external_data_is_read(folder):
    x = np.zeros((1, 4), "float32")
    path = external(folder, location="weights", offset="16", length="16")
    np.testing.assert_array_equal(compile_onnx(path)(x).numpy(), [[4, 5, 6, 7]])
    path = external(folder, location="folder/../weights", length="16")
    np.testing.assert_array_equal(compile_onnx(path)(x).numpy(), [[0, 1, 2, 3]])


def test_external_data_that_is_not_aligned(folder):
    weights = b"\0\0\0" + np.arange(4, dtype="float32").tobytes()
    (folder / "weights").write_bytes(weights)
    compiled = compile_onnx(external(folder, location="weights", offset="3"))
    found = compiled(np.zeros((1, 4), "float32")).numpy()
    np.testing.assert_array_equal(found, [[0, 1, 2, 3]])


@pytest.mark.parametrize(
    "location",
    [
        *("../secret", "up/secret", "link", "up/models/../secret"),
        *("absent", "folder", "", ".", "model.onnx/x"),
    ],
)
def test_external_data_outside_of_the_folder(folder, location):
    expected = f"expected the data of tensor 'w' in a file of the model's folder, got '{location}'"
    assert expected in message(external(folder, location=location, length="16"))


def test_external_data_at_absolute_paths(folder):
    secret = str(folder.parent / "secret")
    assert f"of the model's folder, got '{secret}'" in message(external(folder, location=secret))
    assert "of the model's folder, got '/dev/zero'" in message(
        external(folder, location="/dev/zero", length="16")
    )


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ({"offset": "32"}, "expected 16 bytes of tensor 'w', got 0"),
        ({"offset": "33"}, "expected bytes 33 to 32 of 'weights' for tensor 'w', got a file of 32"),
        ({"length": "33"}, "expected bytes 0 to 33 of 'weights' for tensor 'w', got a file of 32"),
        ({"offset": "20", "length": "16"}, "expected bytes 20 to 36 of 'weights'"),
        ({"offset": "-16"}, "expected a number as offset of tensor 'w', got '-16'"),
        ({"length": "0x10"}, "expected a number as length of tensor 'w', got '0x10'"),
        ({"length": "9" * 100}, "of 'weights' for tensor 'w', got a file of 32"),
        ({"length": "8"}, "expected 16 bytes of tensor 'w', got 8"),
    ],
)
def test_external_ranges(folder, entries, expected):
    assert expected in message(external(folder, location="weights", **entries))


def test_external_data_of_a_model_without_a_path(folder):
    content = external(folder, location="weights").read_bytes()
    assert "expected the path of the model to read 'weights' of tensor 'w'" in message(content)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"shape_dict": {"z": [1]}}, "expected shapes of inputs (x), got one of 'z'"),
        ({"dtype_dict": {"z": "int8"}}, "expected dtypes of inputs (x), got one of 'z'"),
        ({"shape_dict": {"x": [-2, 4]}}, "dims of 'x' that are sizes or names, got -2"),
        ({"shape_dict": {"x": [2.5, 4]}}, "dims of 'x' that are sizes or names, got 2.5"),
        ({"shape_dict": {"x": [2, 5]}}, "expected shapes that broadcast, got (2, 5) and (4,)"),
        ({"dtype_dict": "float33"}, "got 'float33'"),
    ],
)
def test_options(options, expected):
    assert expected in message(small(), **options)


def test_inputs_that_are_no_identifiers():
    made = small()
    made.graph.input[0].name = made.graph.node[0].input[0] = "a b"
    assert message(made, sanitize_input_names=False) == (
        "expected names of inputs that are identifiers, got 'a b'"
    )
    assert from_onnx(made)["main"].op.params[0].name_hint
