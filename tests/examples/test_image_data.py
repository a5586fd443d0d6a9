"""The example reads good files in every form, and answers every bad one with one line."""

import gzip
import os
import pickle
import struct
import zipfile
from pathlib import Path

import image_data
import numpy as np
import pytest

IMAGES = np.arange(3 * 4 * 5, dtype=np.uint8).reshape(3, 4, 5)
LABELS = np.array([2, 0, 9], np.uint8)
PARAMETERS = {
    "w0": np.arange(6 * 20, dtype=np.float32).reshape(6, 20),
    "b0": np.ones(6, np.float32),
    "w1": np.ones((10, 6), np.float32),
    "b1": np.zeros(10, np.float32),
}


def idx(array: np.ndarray) -> bytes:
    """The array in the idx format."""
    head = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return head + array.tobytes()


def write_folder(folder: Path, pack=lambda content: content, suffix: str = "") -> Path:
    """A folder of idx files, as Fashion-MNIST is published."""
    (folder / f"{image_data.TEST_IMAGES}{suffix}").write_bytes(pack(idx(IMAGES)))
    (folder / f"{image_data.TEST_LABELS}{suffix}").write_bytes(pack(idx(LABELS)))
    return folder


def check(data: image_data.LabelledImages):
    np.testing.assert_array_equal(data.images, (IMAGES / 255).astype(np.float32))
    np.testing.assert_array_equal(data.labels, LABELS)
    assert data.rows.shape == (3, 20) and data.rows.dtype == np.float32
    assert data.classes[2] == "Pullover"


def fails(function, path: Path, message: str):
    with pytest.raises(image_data.DataError) as failure:
        function(path)
    text = str(failure.value)
    assert message in text and str(path.parent) in text and "\n" not in text


def test_npz_images(tmp_path: Path):
    np.savez_compressed(tmp_path / "a.npz", images=IMAGES, labels=LABELS)
    check(image_data.load_images(tmp_path / "a.npz"))


def test_folder_of_idx_files(tmp_path: Path):
    check(image_data.load_images(write_folder(tmp_path)))


def test_compressed_idx_files_by_folder_and_by_name(tmp_path: Path):
    write_folder(tmp_path, gzip.compress, ".gz")
    check(image_data.load_images(tmp_path))
    check(image_data.load_images(tmp_path / f"{image_data.TEST_IMAGES}.gz"))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickled_parameters(tmp_path: Path, protocol: int):
    path = tmp_path / "p.pkl"
    path.write_bytes(pickle.dumps(PARAMETERS, protocol))
    if protocol < 3:
        # Old protocols spell bytes as a call of `_codecs.encode`, which is not an array's name.
        fails(image_data.load_parameters, path, "_codecs.encode")
    else:
        for name, value in image_data.load_parameters(path).items():
            np.testing.assert_array_equal(value, PARAMETERS[name])


def test_npz_parameters_become_float32(tmp_path: Path):
    np.savez(tmp_path / "p.npz", **{name: np.float64(v) for name, v in PARAMETERS.items()})
    for name, value in image_data.load_parameters(tmp_path / "p.npz").items():
        assert value.dtype == np.float32 and value.flags.c_contiguous
        np.testing.assert_array_equal(value, PARAMETERS[name])


class Evil:
    """Asks whoever unpickles it to make a folder."""

    def __init__(self, path: Path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_pickle_that_calls_something_else_is_refused_unrun(tmp_path: Path):
    path, target = tmp_path / "p.pkl", tmp_path / "made"
    path.write_bytes(pickle.dumps({**PARAMETERS, "w0": Evil(target)}))
    fails(image_data.load_parameters, path, "expected NumPy arrays only, got posix.mkdir")
    assert not target.exists()


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_truncated_files(tmp_path: Path, share: float):
    np.savez(tmp_path / "a.npz", images=IMAGES, labels=LABELS)
    np.savez(tmp_path / "p.npz", **PARAMETERS)
    (tmp_path / "p.pkl").write_bytes(pickle.dumps(PARAMETERS))
    write_folder(tmp_path, gzip.compress, ".gz")
    readers = {
        "a.npz": image_data.load_images,
        f"{image_data.TEST_IMAGES}.gz": image_data.load_images,
        "p.npz": image_data.load_parameters,
        "p.pkl": image_data.load_parameters,
    }
    for name, read in readers.items():
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[: int(len(content) * share)])
        fails(read, tmp_path / name, name)


def test_damaged_npz_member(tmp_path: Path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("images.npy", b"no array")
        archive.writestr("labels.npy", b"no array")
    fails(image_data.load_images, path, "expected 'images' to be an array, got bytes")


@pytest.mark.parametrize(
    ("images", "labels", "message"),
    [
        (IMAGES[0], LABELS, "expected uint8 images of shape (count, height, width), got uint8 (4,"),
        (IMAGES.astype(np.float32), LABELS, "got float32 (3, 4, 5)"),
        (IMAGES[:0], LABELS[:0], "got uint8 (0, 4, 5)"),
        (IMAGES, LABELS[:2], "expected 3 integer labels, got uint8 (2,)"),
        (IMAGES, LABELS / 2, "expected 3 integer labels, got float64 (3,)"),
        (IMAGES, LABELS + 1, "expected labels from 0 to 9, got 1 to 10"),
    ],
)
def test_images_and_labels_that_do_not_fit(
    tmp_path: Path, images: np.ndarray, labels: np.ndarray, message: str
):
    np.savez(tmp_path / "a.npz", images=images, labels=labels)
    fails(image_data.load_images, tmp_path / "a.npz", message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"b0": np.ones(5, np.float32)}, "'b0' to have shape (6,) for 'w0' (6, 20), got (5,)"),
        ({"w1": np.ones((10, 5), np.float32)}, "expected 'w1' to have shape (10, 6) for"),
        ({"w0": np.ones(6, np.float32)}, "expected 'w0' to have 2 dims, got (6,)"),
        ({"w0": np.ones((6, 20), np.int64)}, "'w0' to be an array of floats, got int64"),
        ({"b1": [0.0]}, "expected 'b1' to be an array of floats, got list"),
    ],
)
def test_parameters_that_do_not_fit(tmp_path: Path, change: dict, message: str):
    (tmp_path / "p.pkl").write_bytes(pickle.dumps({**PARAMETERS, **change}))
    fails(image_data.load_parameters, tmp_path / "p.pkl", message)


def test_missing_pieces(tmp_path: Path):
    np.savez(tmp_path / "a.npz", images=IMAGES)
    fails(image_data.load_images, tmp_path / "a.npz", "an array 'labels', got ['images']")
    fails(image_data.load_images, tmp_path / "none.npz", "cannot be read")
    (tmp_path / "x-images-idx3-ubyte").write_bytes(idx(IMAGES))
    fails(image_data.load_images, tmp_path / "x-images-idx3-ubyte", "x-labels-idx1-ubyte")
    (tmp_path / "text").write_bytes(b"hello")
    fails(image_data.load_images, tmp_path / "text", "expected an npz or an idx file")
    (tmp_path / "list.pkl").write_bytes(pickle.dumps([1]))
    fails(image_data.load_parameters, tmp_path / "list.pkl", "a dict of arrays, got list")
