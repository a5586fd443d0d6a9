"""Takes the screenshots of `explorer.md` and `notebooks.md`, in both themes.

``python docs/screenshots.py`` writes them; it needs the extras `browser`, `notebook` and `demo`,
and Chromium. tests/docs/test_screenshots.py takes them too.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from xrelax import relax
from xrelax.explore.actions import Actions
from xrelax.explore.command import explore, load
from xrelax.explore.server import ExplorerServer

FOLDER = Path(__file__).parent
COLOURS = 64
"""Colours of a picture, which make it small."""
LONG = 600_000
"""Milliseconds for actions, which compile."""
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


OUTPUTS = (
    '<!doctype html><html lang="en"><title>notebook</title><style>body {{ margin: 1rem; }} '
    "main {{ display: grid; grid-template-columns: 44rem auto; gap: .75rem; align-items: start; }} "
    "[data-theme=dark] {{ background: #111; }} .below {{ grid-column: 1 / 3; }}</style>"
    '<body data-theme="{theme}"><main>{module}{graph}<div class="below">{executable}</div></main>'
    "</body></html>"
)
"""A page with outputs of cells."""


def take_stages(page: Any) -> None:
    """A line of the program with what it becomes."""
    page.locator("#source .line", has_text="T.sigmoid").locator("button").click()


def take_passes(page: Any) -> None:
    """The difference that a pass makes, and the verdicts."""
    page.click("#tab-passes")
    page.click("#pass-list >> text=fuse-tir")
    page.click("#check")
    page.locator("#check-status", has_text="passes leave").wait_for(timeout=LONG)


def take_kernels(page: Any) -> None:
    """The roofline, and a kernel with its schedule."""
    page.click("#tab-kernels")
    page.click("#profile")
    page.locator("#profile-status", has_text="µs").wait_for(timeout=LONG)
    page.click("#kernel-list >> text=fused_matmul_swish")
    page.click("#run-schedule")
    page.locator("#schedule-status", has_text="speed of").wait_for(timeout=LONG)


def take_values(page: Any) -> None:
    """The error of each operation, and a tensor."""
    page.click("#tab-values")
    page.click("#compare")
    page.locator("#tensor svg").nth(2).wait_for(timeout=LONG)
    page.wait_for_load_state("networkidle")


VIEWS: dict[str, Callable[[Any], None]] = {
    "stages": take_stages,
    "passes": take_passes,
    "kernels": take_kernels,
    "values": take_values,
}
THEMES = ("light", "dark")


def pictures(browser: Any) -> Iterator[tuple[str, Any]]:
    """The name of each picture, and the page that it is taken of, until the next."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "layer.py"
        path.write_text(PROGRAM)
        before = Path.cwd()
        os.chdir(folder)  # for short names of files on the page
        try:
            name, module = load(path.name, None)
            actions = Actions(explore(module, "llvm", name))
        finally:
            os.chdir(before)
    yield from _of_explorer(browser, actions)
    page = browser.new_page(viewport={"width": 1200, "height": 760})
    for theme in THEMES:
        page.set_content(_outputs(module, theme))
        page.get_by_text("kernels", exact=True).click()
        yield f"notebooks-{theme}", page
    page.close()


def _of_explorer(browser: Any, actions: Actions) -> Iterator[tuple[str, Any]]:
    with ExplorerServer(actions) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page(viewport={"width": 1400, "height": 760}, bypass_csp=True)
        page.goto(server.url)
        for name, take in VIEWS.items():
            take(page)
            for theme in THEMES:
                page.select_option("#theme", theme)
                yield f"explorer-{name}-{theme}", page
        page.close()
        server.shutdown()


def _outputs(module: Any, theme: str) -> str:
    """What a notebook shows of a module, of its fused graph, and of its executable."""
    sized = relax.transform.BindSymbolicVars({"n": 64})(module)
    groups = sized
    for step in ("LegalizeOps", "AnnotateTIROpPattern", "FuseOps"):
        groups = getattr(relax.transform, step)()(groups)
    shown = {"module": sized, "graph": groups.show_graph(), "executable": relax.build(sized)}
    return OUTPUTS.format(theme=theme, **{k: v._repr_html_() for k, v in shown.items()})


def screenshot(page: Any) -> bytes:
    """The page from its top to its end."""
    return page.screenshot(full_page=True)


def main() -> None:
    """Take all pictures."""
    options = ["--no-sandbox", "--disable-gpu"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        for name, page in pictures(browser):
            save(screenshot(page), FOLDER / f"{name}.png")
        browser.close()


def save(picture: bytes, path: Path) -> None:
    """Write a picture with few colours."""
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1024:.0f} KiB", file=sys.stderr)


if __name__ == "__main__":
    main()
