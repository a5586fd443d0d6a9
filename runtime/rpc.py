"""`tvm.rpc.LocalSession`: the interface of a remote device, on this machine.

Programs that upload a library, load it there and measure it can be tried without a second machine.
There are no connections to others.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .device import Device, cpu, device
from .executable import Executable, load_module
from .registry import get_global_func
from .temporary import TempDirectory


class LocalSession:
    """A session with a folder for uploaded files, which goes with it; TVM's ``rpc.LocalSession``.

    Names of files are relative to the folder; ValueError is raised for one outside of it.
    """

    def __init__(self) -> None:
        self._folder = TempDirectory()

    def upload(self, data: str | Path | bytes | bytearray, target: str | None = None) -> None:
        """Copy a file, by default under its own name, or bytes under the name `target`.

        Raises OSError if there is no such file, and ValueError for bytes without a name.
        """
        if isinstance(data, bytes | bytearray):
            if target is None:
                raise ValueError("expected a name for the uploaded bytes, got None")
            self._path(target).write_bytes(data)
        else:
            self._path(target or Path(data).name).write_bytes(Path(data).read_bytes())

    def download(self, path: str) -> bytearray:
        """The bytes of an uploaded file; raises OSError if there is none."""
        return bytearray(self._path(path).read_bytes())

    def remove(self, path: str) -> None:
        """Remove an uploaded file; raises OSError if there is none."""
        self._path(path).unlink()

    def listdir(self, path: str = ".") -> str:
        """The names of the uploaded files, joined by commas."""
        return ",".join(sorted(entry.name for entry in self._path(path).iterdir()))

    def load_module(self, path: str) -> Executable:
        """The executable in an uploaded file; raises as `runtime.load_module`."""
        return load_module(self._path(path))

    def get_function(self, name: str) -> Any:
        """The registered function of a name; raises ValueError if there is none."""
        return get_global_func(name)

    def device(self, dev_type: str, dev_id: int = 0) -> Device:
        """The device of the session; raises ValueError for one other than the CPU."""
        return device(dev_type, dev_id)

    def cpu(self, dev_id: int = 0) -> Device:
        """The CPU of the session."""
        return cpu(dev_id)

    def _path(self, name: str) -> Path:
        folder = Path(self._folder.path).resolve()
        path = (folder / name).resolve()
        if not path.is_relative_to(folder):
            raise ValueError(f"expected a file in the folder of the session, got '{name}'")
        return path
