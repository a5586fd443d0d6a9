"""The explorer of one small program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from xrelax.explore.actions import Actions
from xrelax.explore.command import explore, load
from xrelax.explore.exploration import Exploration
from xrelax.explore.server import ExplorerServer

PROGRAM = """\
from xrelax.script import ir as I
from xrelax.script import relax as R
from xrelax.script import tir as T


@I.ir_module
class Layer:
    @T.prim_func
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (4, n), "float32")
        Y = T.match_buffer(y, (4, n), "float32")
        for i, j in T.grid(4, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("m", 64), "float32"), w: R.Tensor((64, 32), "float32")):
        m = T.int64()
        cls = Layer
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            R.output(b)
        return b
"""


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explore") / "layer.py"
    path.write_text(PROGRAM)
    return path


@pytest.fixture(scope="session")
def exploration(program: Path) -> Exploration:
    name, mod = load(str(program), None)
    return explore(mod, "llvm", name)


@pytest.fixture(scope="session")
def server(exploration: Exploration) -> Iterator[ExplorerServer]:
    with ExplorerServer(Actions(exploration)) as running:
        Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()
