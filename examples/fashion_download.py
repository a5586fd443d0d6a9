"""Fetches the Fashion-MNIST test images and the course's published parameters, with checksums."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from image_data import DataError


@dataclass(frozen=True)
class RemoteFile:
    """A file, the folder it is published in, and the SHA-256 that its content must have."""

    name: str
    folder: str
    sha256: str


_IMAGES = "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion"
_MODELS = "https://raw.githubusercontent.com/mlc-ai/web-data/main/models"
PARAMETERS = "fasionmnist_mlp_params.pkl"
FILES = (
    RemoteFile(
        "t10k-images-idx3-ubyte.gz",
        _IMAGES,
        "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    ),
    RemoteFile(
        "t10k-labels-idx1-ubyte.gz",
        _IMAGES,
        "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
    ),
    RemoteFile(
        PARAMETERS,
        _MODELS,
        "65e60c21536ed052ba5e1e6c94806530c7d804056822a6b39066ce6a5b02e646",
    ),
)


def download(folder: Path, mirror: str | None = None, files: tuple[RemoteFile, ...] = FILES):
    """Bring every file into the folder; one that is already there and intact is not fetched.

    `mirror` is the address of a folder that holds all the files, instead of the published places.
    Raises DataError when a file cannot be had whole and unchanged; nothing is left of it then.
    """
    try:
        import pooch
        from tqdm import tqdm
    except ModuleNotFoundError as error:
        raise DataError("--download needs pooch and tqdm: install the extra `demo`") from error
    pooch.get_logger().setLevel("WARNING")
    for file in files:
        url = f"{(mirror or file.folder).rstrip('/')}/{file.name}"
        # pooch puts the server's total in place of this one, but cannot use a bar that has none.
        with tqdm(
            desc=file.name, total=1, unit="B", unit_scale=True, leave=False, disable=None
        ) as bar:
            downloader = pooch.HTTPDownloader(progressbar=bar)
            try:
                pooch.retrieve(url, file.sha256, file.name, folder, downloader=downloader)
            except (OSError, ValueError) as error:
                raise DataError(f"{url}: cannot be downloaded: {error}") from error
