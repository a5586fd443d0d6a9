"""A module that tests save, and what its file holds."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from xrelax.runtime.package import write_package
from xrelax.runtime.saving import sealed

SOURCE = """
@I.ir_module
class Module:
    @T.prim_func
    def reverse(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[n - 1 - vi]

    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 32), "float32")):
        n = T.int64()
        with R.dataflow():
            y = R.matmul(x, w)
            z = R.call_dps_packed("saving.double", (y,), R.Tensor((n, 32), "float32"))
            R.output(y, z)
        return (y, R.nn.relu(z))
"""


def contents(path: Path) -> tuple[dict[str, Any], dict[str, bytes], dict[str, np.ndarray]]:
    """The manifest, the object files and the constants of a file."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        code = {n: archive.read(n) for n in archive.namelist() if n.endswith(".o")}
    arrays = np.load(path)
    return manifest, code, {f"{n}.npy": arrays[n] for n in arrays.files if "constants/" in n}


def edited(path: Path, **changes: Any) -> Path:
    """The file with another manifest, of which it has the hash, and the same parts."""
    manifest, code, parts = contents(path)
    write_package(path, sealed({**manifest, **changes}, list(code.values())), {**code, **parts})
    return path
