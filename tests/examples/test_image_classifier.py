"""The example as a command, compiled models included."""

import os
import re
import sys
from pathlib import Path

import image_classifier
import numpy as np
import pytest
from classifier_runs import LibraryCalls, Run, accuracy, run_compiled, run_torch
from digits_data import load_digits
from image_data import LabelledImages, load_images, load_parameters
from mlp_in_numpy import numpy_mlp, softmax, train_mlp

import xrelax as tvm

for package in ("matplotlib", "sklearn", "tabulate", "tqdm"):
    pytest.importorskip(package, reason=f"{package}, of the extra `demo`, is not installed")

VARIANTS = ["TensorIR kernels", "library calls", "mixture", "mixture, parameters bound"]
LIBRARY_CALLS = [None, (3, 10), (2, 6), (2, 6)]
PUBLISHED_FOLDER = os.environ.get("XRELAX_FASHION_MNIST")
PUBLISHED_IMAGE = 2437
PUBLISHED_SCORES = [36.977055, -20.72949, -3.975003]
needs_published = pytest.mark.skipif(
    PUBLISHED_FOLDER is None,
    reason="XRELAX_FASHION_MNIST names no folder with fashion_mnist_test.npz and parameters",
)


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


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch", None)


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    status = image_classifier.main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


def columns(output: str, first: str) -> dict[str, list[str]]:
    """The lines of the table whose heading starts with a word: the cells of each, by its name."""
    lines = iter(output.splitlines())
    next(line for line in lines if line.startswith(first))
    ends = [len(part) for part in next(lines).split("  ")]
    table = {}
    for line in lines:
        if not line:
            return table
        table[line[: ends[0]].strip()] = re.split(r"\s{2,}", line[ends[0] :].strip())
    return table


def check_runs(runs: list[Run], expected: np.ndarray):
    assert [each.name for each in runs] == VARIANTS
    for each, calls in zip(runs, LIBRARY_CALLS, strict=True):
        scale = np.abs(expected).max()
        np.testing.assert_allclose(each.scores, expected, rtol=0, atol=1e-5 * scale)
        assert each.seconds > 0 and each.is_compiled
        found = each.library_calls
        assert (None if found is None else (found.count, found.tensors)) == calls
        assert found is None or (found.empty > 0 and found.converting > 0)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_every_variant_on_the_digits(library: str):
    if library == "torch":
        pytest.importorskip("torch", reason="PyTorch is not installed")
    train, test = load_digits()
    parameters = train_mlp(train)
    few = LabelledImages(test.name, test.title, test.images[:50], test.labels[:50], test.classes)
    runs = run_compiled(few, parameters, library)
    check_runs(runs, numpy_mlp(few.rows, **parameters))
    assert all(accuracy(each, few) > 0.9 for each in runs)
    x, y = tvm.nd.array(np.array([[-1, 2]], np.float32)), tvm.nd.array(np.zeros((1, 2), np.float32))
    tvm.get_global_func("env.relu")(x, y)
    np.testing.assert_array_equal(y.numpy(), [[0, 2]])  # the library's functions are back


def test_pytorch_on_files(files):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    data, parameters = load_images(files[0]), load_parameters(files[1])
    found = run_torch(data, parameters)
    expected = numpy_mlp(data.rows, **parameters)
    np.testing.assert_allclose(found.scores, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    assert found.name == "PyTorch" and not found.is_compiled


def check_printed(output: str, files: tuple[Path, Path], peers: list[str], library: str):
    """The tables of the command for image 3 of the files."""
    data, parameters = load_images(files[0]), load_parameters(files[1])
    probabilities = softmax(numpy_mlp(data.rows, **parameters))
    assert output.startswith("Fashion-MNIST: 7 images of 6x5 pixels, one per call\n")
    images = columns(output, "image")
    assert [images[name][0] for name in ("true label", "predicted")] == [
        data.classes[data.labels[3]],
        data.classes[probabilities[3].argmax()],
    ]
    for position, name in enumerate(data.classes):
        printed = float(images[name][0].strip("<>%"))
        assert abs(printed - 100 * probabilities[3, position]) < 0.2
    times = columns(output, "variant")
    assert list(times) == ["NumPy", *peers, *VARIANTS]
    right = (probabilities.argmax(axis=1) == data.labels).mean()
    for predicted, share, time in times.values():
        assert predicted == images["predicted"][0] and share == f"{right:.2%}"
        assert re.fullmatch(r"\d+\.\d µs", time)
    words = " ".join(output.split())
    assert "each of the 3 calls leaves compiled code" in words
    assert f"Converting these 10 tensors for {library} adds" in words


def test_command_without_pytorch(files, tmp_path: Path, capsys, no_torch):
    options = ["--data", files[0], "--params", files[1], "--image", 3, "--output", tmp_path]
    status, output, errors = run(capsys, *options)
    assert (status, errors) == (0, "")
    assert "library calls go to numpy; PyTorch is not installed\n" in output
    check_printed(output, files, [], "numpy")
    assert output.endswith(f"picture: {tmp_path / 'fashion_mnist.png'}\n")
    assert (tmp_path / "fashion_mnist.png").read_bytes().startswith(b"\x89PNG")


def test_command_with_pytorch(files, capsys):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    status, output, errors = run(capsys, "--data", files[0], "--params", files[1], "--image", 3)
    assert (status, errors) == (0, "")
    assert "library calls go to torch\n" in output and "picture" not in output
    check_printed(output, files, ["PyTorch"], "torch")


def test_digits_are_named_so(tmp_path: Path, capsys):
    status, output, errors = run(capsys, "--library", "numpy", "--output", tmp_path)
    assert (status, errors) == (0, "")
    assert output.startswith("scikit-learn's digits: 500 images of 8x8 pixels")
    assert [path.name for path in tmp_path.iterdir()] == ["digits.png"]
    images = columns(output, "image")
    assert "NO" in images["right"] and "yes" in images["right"]
    assert "fashion" not in output.lower()


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
    assert errors.startswith("image_classifier.py: error: ") and message in errors
    assert errors.count("\n") == 1


def test_library_that_is_not_installed_is_one_line(capsys, no_torch):
    status, output, errors = run(capsys, "--library", "torch")
    assert (status, output) == (2, "")
    assert errors == (
        "image_classifier.py: error: --library torch needs PyTorch: install the extra `torch`\n"
    )


def test_disagreement_with_numpy_fails(capsys):
    good = Run("NumPy", np.ones((2, 10), np.float32), 1.0)
    bad = Run("broken", np.full((2, 10), np.nan, np.float32), 1.0, True, LibraryCalls(1, 1, 1, 1))
    assert image_classifier._report_disagreement([good, good]) == 0
    assert image_classifier._report_disagreement([good, bad]) == 1
    assert capsys.readouterr().err == "image_classifier.py: error: broken disagrees with NumPy\n"


@needs_published
@pytest.mark.parametrize("parameter_file", ["fasionmnist_mlp_params.pkl", "mlp_params.npz"])
def test_published_model(parameter_file: str):
    folder = Path(str(PUBLISHED_FOLDER))
    data = load_images(folder / "fashion_mnist_test.npz")
    parameters = load_parameters(folder / parameter_file)
    expected = numpy_mlp(data.rows, **parameters)
    np.testing.assert_allclose(expected[PUBLISHED_IMAGE, :3], PUBLISHED_SCORES, rtol=1e-5)
    runs = run_compiled(data, parameters, "numpy")
    check_runs(runs, expected)
    assert [round(accuracy(each, data), 4) for each in runs] == [0.8665] * 4


@needs_published
def test_command_on_published_images(tmp_path: Path, capsys):
    folder = Path(str(PUBLISHED_FOLDER))
    options = ["--data", folder / "fashion_mnist_test.npz", "--params", folder / "mlp_params.npz"]
    status, output, errors = run(capsys, *options, "--image", 2437, "--output", tmp_path)
    assert (status, errors) == (0, "")
    assert output.count("86.65%") == len(columns(output, "variant"))
    images = columns(output, "image")
    assert images["right"][-2:] == ["NO", "NO"]
    assert images["predicted"][0] == "T-shirt/top"
    assert [path.name for path in tmp_path.iterdir()] == ["fashion_mnist.png"]
