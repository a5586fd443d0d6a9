"""The example as a command, compiled models included."""

import os
import sys
from pathlib import Path

import fashion_mnist
import numpy as np
import pytest
from digits_mlp import load_digits, numpy_mlp, train_mlp
from fashion_data import DataError, LabelledImages, load_images, load_parameters

VARIANTS = ["TensorIR kernels", "library calls", "mixture", "mixture, parameters bound"]
PUBLISHED_FOLDER = os.environ.get("XRELAX_FASHION_MNIST")
PUBLISHED_IMAGE = 2437
PUBLISHED_SCORES = [36.977055, -20.72949, -3.975003]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """An npz of 6x5 images and one of parameters that fit."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (7, 6, 5), np.uint8)
    np.savez(tmp_path / "data.npz", images=images, labels=rng.integers(0, 10, 7))
    shapes = {"w0": (16, 30), "b0": (16,), "w1": (10, 16), "b1": (10,)}
    parameters = {name: rng.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    np.savez(tmp_path / "params.npz", **parameters)
    return tmp_path / "data.npz", tmp_path / "params.npz"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = fashion_mnist.main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


def check_runs(runs: list[fashion_mnist.Run], expected: np.ndarray):
    assert [each.name for each in runs] == VARIANTS
    for each in runs:
        scale = np.abs(expected).max()
        np.testing.assert_allclose(each.scores, expected, rtol=0, atol=1e-5 * scale)
        assert each.seconds > 0


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_every_variant_on_the_digits(library: str):
    pytest.importorskip("sklearn", reason="scikit-learn, which ships the digits, is not installed")
    if library == "torch":
        pytest.importorskip("torch", reason="PyTorch is not installed")
    fashion_mnist.register_library(library)
    train, test = load_digits()
    parameters = train_mlp(train)
    few = LabelledImages(test.images[:50], test.labels[:50], test.classes)
    runs = fashion_mnist.run_compiled(few, parameters)
    check_runs(runs, numpy_mlp(few.rows, **parameters))
    assert all(fashion_mnist.accuracy(each, few) > 0.9 for each in runs)


def test_command_prints_every_variant_and_stage(files, tmp_path: Path, capsys):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    pytest.importorskip("tabulate", reason="tabulate is not installed")
    picture = tmp_path / "out.png"
    options = ["--data", files[0], "--params", files[1], "--image", 3, "--library", "numpy"]
    status, output, errors = run(capsys, *options, "--output", picture)
    assert (status, errors) == (0, "")
    assert "7 images of 6x5 pixels; library calls go to numpy" in output
    for name in ["NumPy", *VARIANTS]:
        assert any(line.startswith(name) and line.endswith(" µs") for line in output.splitlines())
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_missing_tabulate_is_one_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "tabulate", None)
    with pytest.raises(DataError, match="the tables need tabulate: install the extra `demo`"):
        fashion_mnist._print_table({"class": ["a"], "score": ["1.0"]})


def test_stages_begin_with_relax_and_are_never_empty():
    sizes = fashion_mnist.stage_sizes()
    assert sizes[0][0] == "relax"
    assert len(sizes) >= 3 and all(count > 0 for _, count in sizes)


def test_count_operations():
    text = """builtin.module {
  relax.func @main(%x : !relax.tensor<[n], f32>) {
    // a comment.with a dot
    %0 = arith.constant 1.0 : f32
    %1, %2 = "test.op"(%0) : (f32) -> (f32, f32)
    relax.return %1 : f32
  }
}"""
    assert fashion_mnist.count_operations(text) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--data", "{data}"], "expected --data and --params together"),
        (["--data", "{data}", "--params", "{data}"], "expected an array 'w0'"),
        (["--data", "none", "--params", "{params}"], "none: cannot be read"),
        (["--data", "{data}", "--params", "{params}", "--image", "7"], "from 0 to 6, got 7"),
        (["--data", "{data}", "--params", "{params}", "--image", "-1"], "from 0 to 6, got -1"),
        (["--data", "{data}", "--params", "{other}"], "expected parameters from 30 pixels"),
        (["--download", "{folder}", "--mirror", "http://127.0.0.1:1"], "cannot be downloaded"),
    ],
)
def test_bad_input_is_one_line(files, tmp_path: Path, capsys, options: list[str], message: str):
    with np.load(files[1]) as parameters:
        np.savez(tmp_path / "other.npz", **{**parameters, "w0": np.ones((16, 31), np.float32)})
    names = {"data": files[0], "params": files[1], "folder": tmp_path / "folder"}
    names["other"] = tmp_path / "other.npz"
    status, output, errors = run(capsys, *(option.format(**names) for option in options))
    assert (status, output) == (2, "")
    assert errors.startswith("fashion_mnist.py: error: ") and message in errors
    assert errors.count("\n") == 1


def test_disagreement_with_numpy_fails(capsys):
    good = fashion_mnist.Run("NumPy", np.ones((2, 10), np.float32), 1.0)
    bad = fashion_mnist.Run("broken", np.full((2, 10), np.nan, np.float32), 1.0)
    assert fashion_mnist._report_disagreement([good, good]) == 0
    assert fashion_mnist._report_disagreement([good, bad]) == 1
    assert capsys.readouterr().err == "fashion_mnist.py: error: broken disagrees with NumPy\n"


@pytest.mark.skipif(
    PUBLISHED_FOLDER is None,
    reason="XRELAX_FASHION_MNIST names no folder with fashion_mnist_test.npz and parameters",
)
@pytest.mark.parametrize("parameter_file", ["fasionmnist_mlp_params.pkl", "mlp_params.npz"])
def test_published_model(parameter_file: str):
    folder = Path(str(PUBLISHED_FOLDER))
    data = load_images(folder / "fashion_mnist_test.npz")
    parameters = load_parameters(folder / parameter_file)
    expected = numpy_mlp(data.rows, **parameters)
    np.testing.assert_allclose(expected[PUBLISHED_IMAGE, :3], PUBLISHED_SCORES, rtol=1e-5)
    fashion_mnist.register_library("numpy")
    runs = fashion_mnist.run_compiled(data, parameters)
    check_runs(runs, expected)
    assert [round(fashion_mnist.accuracy(each, data), 4) for each in runs] == [0.8665] * 4
