"""Takes the screenshots of `explorer.md`, in both themes: ``python docs/screenshots.py``.

It needs the extras `browser` and `demo`, and Chromium.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from xrelax.explore.actions import Actions
from xrelax.explore.command import explore, load
from xrelax.explore.server import ExplorerServer

FOLDER = Path(__file__).parent
COLOURS = 64
"""Colours of a picture, which make it small."""
SECONDS = 120_000
PROGRAM = '''\
"""A layer whose activation is a kernel of ours."""

from xrelax.script import ir as I
from xrelax.script import relax as R
from xrelax.script import tir as T


@I.ir_module
class Layer:
    @T.prim_func
    def swish(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 256), "float32")
        Y = T.match_buffer(y, (n, 256), "float32")
        for i, j in T.grid(n, 256):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.sigmoid(X[vi, vj])

    @R.function
    def main(
        x: R.Tensor(("n", 64), "float32"),
        w: R.Tensor((64, 256), "float32"),
        v: R.Tensor((256, 64), "float32"),
    ):
        n = T.int64()
        cls = Layer
        with R.dataflow():
            hidden = R.matmul(x, w)
            gate = R.call_tir(cls.swish, (hidden,), R.Tensor((n, 256), "float32"))
            product = R.matmul(gate, v)
            sum = R.add(product, x)
            wave = R.tanh(R.sin(sum))
            out = R.sort(wave)
            R.output(out)
        return out
'''


def take_stages(page: Any) -> None:
    """A line of the program with what it becomes."""
    page.locator("#source .line", has_text="T.sigmoid").locator("button").click()


def take_passes(page: Any) -> None:
    """The difference that a pass makes, and the verdicts."""
    page.click("#tab-passes")
    page.click("#pass-list >> text=fuse-tir")
    page.click("#check")
    page.locator("#check-status", has_text="passes leave").wait_for(timeout=SECONDS)


def take_kernels(page: Any) -> None:
    """The roofline, and a kernel with its schedule."""
    page.click("#tab-kernels")
    page.click("#profile")
    page.locator("#profile-status", has_text="µs").wait_for(timeout=SECONDS)
    page.click("#kernel-list >> text=fused_matmul_swish")
    page.click("#run-schedule")
    page.locator("#schedule-status", has_text="speed of").wait_for(timeout=SECONDS)


def take_values(page: Any) -> None:
    """The error of each operation, and a tensor."""
    page.click("#tab-values")
    page.click("#compare")
    page.locator("#tensor svg").nth(2).wait_for(timeout=SECONDS)
    page.wait_for_load_state("networkidle")


VIEWS: dict[str, Callable[[Any], None]] = {
    "stages": take_stages,
    "passes": take_passes,
    "kernels": take_kernels,
    "values": take_values,
}


def main() -> None:
    """Take all pictures."""
    with TemporaryDirectory() as folder:
        os.chdir(folder)  # for short names of files on the page
        Path("layer.py").write_text(PROGRAM)
        name, module = load("layer.py", None)
        actions = Actions(explore(module, "llvm", name))
    with ExplorerServer(actions) as server, sync_playwright() as playwright:
        Thread(target=server.serve_forever, daemon=True).start()
        options = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        for theme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 1400, "height": 760})
            page.goto(server.url)
            page.select_option("#theme", theme)
            for name, take in VIEWS.items():
                take(page)
                save(page.screenshot(), FOLDER / f"explorer-{name}-{theme}.png")
        browser.close()
        server.shutdown()


def save(picture: bytes, path: Path) -> None:
    """Write a picture with few colours."""
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB", file=sys.stderr)


if __name__ == "__main__":
    main()
