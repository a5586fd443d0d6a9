"""Reads labelled images and the parameters of the classifier from files that nobody vouches for."""

from __future__ import annotations

import gzip
import io
import pickle
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FASHION_CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
TEST_IMAGES = "t10k-images-idx3-ubyte"
TEST_LABELS = "t10k-labels-idx1-ubyte"
PARAMETER_NAMES = ("w0", "b0", "w1", "b1")

Parameters = dict[str, np.ndarray]

# What NumPy and zipfile raise between them for an archive that is cut, forged or encrypted.
_NPZ_ERRORS = (
    EOFError,
    MemoryError,
    OSError,
    RuntimeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)


class DataError(Exception):
    """A file or an option that the example cannot use; the message is one line for its user."""


@dataclass(frozen=True)
class LabelledImages:
    """Grey images with the number of the class that each one shows."""

    name: str
    """The data set, as in names of files."""
    title: str
    """The data set, as in sentences."""
    images: np.ndarray
    """float32 of shape (count, height, width), from 0 (black) to 1."""
    labels: np.ndarray
    """int64 of shape (count,)."""
    classes: tuple[str, ...]

    @property
    def rows(self) -> np.ndarray:
        """The images as the classifier takes them: float32 of shape (count, height * width)."""
        return self.images.reshape(len(self.images), -1)


def load_images(path: Path) -> LabelledImages:
    """Read Fashion-MNIST: an .npz with `images` and `labels`, or idx files or their folder.

    Raises DataError when the files are damaged or do not belong together.
    """
    if path.is_dir():
        path = _existing(path, TEST_IMAGES)
    content = _read(path)
    if content.startswith(b"PK"):
        arrays = _read_npz(path, content, ("images", "labels"))
        images, labels = arrays["images"], arrays["labels"]
    else:
        images = _read_idx(path, content)
        beside = path.name.removesuffix(".gz").replace("images-idx3", "labels-idx1")
        label_path = _existing(path.parent, beside)
        labels = _read_idx(label_path, _read(label_path))
    return _check_images(path, images, labels)


def load_parameters(path: Path) -> Parameters:
    """Read w0, b0, w1 and b1 from an .npz, or from a pickle that holds NumPy arrays alone.

    Raises DataError when the file is damaged, or holds anything else.
    """
    content = _read(path)
    if content.startswith(b"PK"):
        return check_parameters(path, _read_npz(path, content, PARAMETER_NAMES))
    return check_parameters(path, _read_pickle(path, content))


def check_parameters(path: Path, values: object) -> Parameters:
    """The four parameters as contiguous float32 arrays whose shapes fit each other."""
    if not isinstance(values, dict):
        raise DataError(f"{path}: expected a dict of arrays, got {type(values).__name__}")
    for name in PARAMETER_NAMES:
        array = values.get(name)
        if not isinstance(array, np.ndarray) or array.dtype.kind != "f":
            got = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            raise DataError(f"{path}: expected '{name}' to be an array of floats, got {got}")
    parameters = {name: np.ascontiguousarray(values[name], np.float32) for name in PARAMETER_NAMES}
    for name, rank in zip(PARAMETER_NAMES, (2, 1, 2, 1), strict=True):
        if parameters[name].ndim != rank:
            raise DataError(
                f"{path}: expected '{name}' to have {rank} dims, got {parameters[name].shape}"
            )
    hidden, inputs = parameters["w0"].shape
    classes = parameters["w1"].shape[0]
    shapes = {"b0": (hidden,), "w1": (classes, hidden), "b1": (classes,)}
    for name, shape in shapes.items():
        if parameters[name].shape != shape:
            raise DataError(
                f"{path}: expected '{name}' to have shape {shape} for 'w0' {(hidden, inputs)}, "
                f"got {parameters[name].shape}"
            )
    return parameters


def _check_images(path: Path, images: np.ndarray, labels: np.ndarray) -> LabelledImages:
    if images.ndim != 3 or images.dtype != np.uint8 or 0 in images.shape:
        raise DataError(
            f"{path}: expected uint8 images of shape (count, height, width), "
            f"got {images.dtype} {images.shape}"
        )
    if labels.shape != images.shape[:1] or labels.dtype.kind not in "iu":
        raise DataError(
            f"{path}: expected {len(images)} integer labels, got {labels.dtype} {labels.shape}"
        )
    if labels.min() < 0 or labels.max() >= len(FASHION_CLASSES):
        raise DataError(
            f"{path}: expected labels from 0 to {len(FASHION_CLASSES) - 1}, "
            f"got {labels.min()} to {labels.max()}"
        )
    pixels = images.astype(np.float32) / np.float32(255)
    labels = labels.astype(np.int64)
    return LabelledImages("fashion_mnist", "Fashion-MNIST", pixels, labels, FASHION_CLASSES)


def _existing(folder: Path, name: str) -> Path:
    """The file of that name, plain or compressed."""
    for path in (folder / name, folder / f"{name}.gz"):
        if path.is_file():
            return path
    raise DataError(f"{folder}: expected a file {name} or {name}.gz, got neither")


def _read(path: Path) -> bytes:
    """The file's bytes, decompressed when they are gzip, whatever the file's name."""
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: damaged gzip file: {_line(error)}") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error


def _read_npz(path: Path, content: bytes, names: tuple[str, ...]) -> Parameters:
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            missing = [name for name in names if name not in archive]
            if missing:
                raise DataError(f"{path}: expected an array '{missing[0]}', got {archive.files}")
            arrays = {name: archive[name] for name in names}
    except _NPZ_ERRORS as error:
        raise DataError(f"{path}: damaged npz file: {_line(error)}") from error
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray):  # NumPy returns what is no .npy member as bytes
            raise DataError(f"{path}: expected '{name}' to be an array, got {type(array).__name__}")
    return arrays


def _read_idx(path: Path, content: bytes) -> np.ndarray:
    """An array of unsigned bytes: 0, 0, 8, the rank, the big-endian dims, then the elements."""
    if len(content) < 4 or content[:3] != b"\x00\x00\x08":
        raise DataError(f"{path}: expected an npz or an idx file of unsigned bytes")
    rank = content[3]
    start = 4 + 4 * rank
    if len(content) < start:
        raise DataError(f"{path}: expected {start} bytes of idx header, got {len(content)}")
    shape = tuple(int(dim) for dim in np.frombuffer(content[4:start], ">u4"))
    size = int(np.prod(shape, dtype=object))
    if len(content) - start != size:
        raise DataError(f"{path}: expected {size} elements, got {len(content) - start}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


class _ArrayUnpickler(pickle.Unpickler):
    """Admits the four names that a pickled NumPy array needs, and nothing else."""

    # NumPy moved its private modules in 2.0: both places mean today's functions.
    _RECONSTRUCT = np.empty(0).__reduce__()[0]
    _FROM_BUFFER = np.empty(0).__reduce_ex__(5)[0]
    _ADMITTED = {  # noqa: RUF012
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): np.dtype,
        ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,
        ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,
        ("numpy.core.numeric", "_frombuffer"): _FROM_BUFFER,
        ("numpy._core.numeric", "_frombuffer"): _FROM_BUFFER,
    }

    def find_class(self, module_name: str, global_name: str) -> object:
        admitted = self._ADMITTED.get((module_name, global_name))
        if admitted is None:
            raise pickle.UnpicklingError(
                f"expected NumPy arrays only, got {module_name}.{global_name}"
            )
        return admitted


def _read_pickle(path: Path, content: bytes) -> object:
    try:
        return _ArrayUnpickler(io.BytesIO(content)).load()
    # A damaged pickle can call the admitted functions with any argument, so any error may follow.
    except Exception as error:
        raise DataError(f"{path}: not a usable pickle: {_line(error)}") from error


def _line(error: Exception) -> str:
    """An error's message on one line."""
    return " ".join(str(error).split()) or type(error).__name__
