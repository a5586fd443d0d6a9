"""The downloader against a server on the loopback interface."""

import hashlib
import http.server
import io
import re
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import fashion_download
import pytest
from fashion_download import RemoteFile
from image_data import DataError

pytest.importorskip("pooch", reason="pooch, which downloads, is not installed")
pytest.importorskip("tqdm", reason="tqdm, which shows the progress, is not installed")

CONTENT = {"first.bin": bytes(range(256)) * 1000, "second.bin": b"short"}
FILES = tuple(
    RemoteFile(name, "http://unused.invalid", hashlib.sha256(content).hexdigest())
    for name, content in CONTENT.items()
)


class Server(http.server.ThreadingHTTPServer):
    """Serves `content` and notes what was asked for."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.content = dict(CONTENT)
        self.asked: list[str] = []
        self.cut = False
        self.pause = 0.0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/files"


class Terminal(io.StringIO):
    """A standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self):
        name = self.path.removeprefix("/files/")
        self.server.asked.append(name)
        content = self.server.content.get(name)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        half = len(content) // 2
        self.wfile.write(content[:half])
        time.sleep(self.server.pause)
        self.wfile.write(b"" if self.server.cut else content[half:])

    def log_message(self, *_):
        """Keep the test's output clean."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_fetches_once(server: Server, tmp_path: Path, capsys):
    folder = tmp_path / "new" / "folder"
    for _ in range(2):
        fashion_download.download(folder, server.url, FILES)
    assert server.asked == ["first.bin", "second.bin"]
    assert names(folder) == ["first.bin", "second.bin"]
    assert {name: (folder / name).read_bytes() for name in CONTENT} == CONTENT
    assert capsys.readouterr() == ("", "")


def test_terminal_shows_progress_and_then_a_clear_line(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sys, "stderr", Terminal())
    server.pause = 0.3  # the bar is redrawn after 0.1 s at the earliest
    fashion_download.download(tmp_path, server.url, FILES)
    drawn = sys.stderr.getvalue().split("\r")
    assert any(re.match(r"first\.bin:  [4-6]\d%.* 1\d\dk/256k ", line) for line in drawn)
    assert drawn[-1] == "" and drawn[-2].isspace()
    server.cut = True
    with pytest.raises(DataError):
        fashion_download.download(tmp_path / "other", server.url, FILES)
    assert sys.stderr.getvalue().split("\r")[-2].isspace()


def test_published_folder_is_used_without_a_mirror(server: Server, tmp_path: Path):
    file = RemoteFile("second.bin", server.url, FILES[1].sha256)
    fashion_download.download(tmp_path, files=(file,))
    assert (tmp_path / "second.bin").read_bytes() == b"short"


def test_damaged_local_file_is_fetched_again(server: Server, tmp_path: Path):
    (tmp_path / "second.bin").write_bytes(b"other")
    fashion_download.download(tmp_path, server.url + "/", FILES)
    assert (tmp_path / "second.bin").read_bytes() == b"short"


def test_changed_content_is_refused(server: Server, tmp_path: Path):
    server.content["second.bin"] = b"forged"
    digest = hashlib.sha256(b"forged").hexdigest()
    with pytest.raises(DataError, match=r"second\.bin: cannot be downloaded: ") as failure:
        fashion_download.download(tmp_path, server.url, FILES)
    assert FILES[1].sha256 in str(failure.value) and digest in str(failure.value)
    assert "\n" not in str(failure.value)
    assert names(tmp_path) == ["first.bin"]


def test_interrupted_download_is_refused(server: Server, tmp_path: Path):
    server.cut = True
    with pytest.raises(DataError, match=r"first\.bin"):
        fashion_download.download(tmp_path, server.url, FILES)
    assert names(tmp_path) == []


def test_missing_file_and_unusable_addresses(server: Server, tmp_path: Path):
    del server.content["first.bin"]
    with pytest.raises(DataError, match=r"first\.bin: cannot be downloaded: 404"):
        fashion_download.download(tmp_path, server.url, FILES)
    for mirror in ("http://127.0.0.1:1", "no-address", "file:///none"):
        with pytest.raises(DataError, match=r"first\.bin: cannot be downloaded"):
            fashion_download.download(tmp_path, mirror, FILES)
    assert names(tmp_path) == []


def test_folder_that_cannot_be_made(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="Not a directory"):
        fashion_download.download(tmp_path / "file" / "folder", "http://127.0.0.1:1", FILES)


@pytest.mark.parametrize("library", ["pooch", "tqdm"])
def test_missing_library_is_one_line(library: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(DataError, match="needs pooch and tqdm: install the extra `demo`"):
        fashion_download.download(tmp_path)
