"""What notebooks show, in a browser: themes, tabs without scripts, and accessibility."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_executables import SOURCE

from xrelax import relax
from xrelax.runtime.tensor import array
from xrelax.script import from_source
from xrelax.tir import Schedule

SERIOUS = ("serious", "critical")
PAGE = (
    '<!doctype html><html lang="en"><title>outputs</title><body {attributes} '
    'style="background: {back}; margin: 1rem"><main>{content}</main></body></html>'
)
THEMES = {
    "jupyter-light": ('data-jp-theme-light="true"', "#ffffff", "rgb(255, 255, 255)"),
    "jupyter-dark": ('data-jp-theme-light="false"', "#111111", "rgb(15, 19, 24)"),
    "vscode-light": ('class="vscode-light"', "#ffffff", "rgb(255, 255, 255)"),
    "vscode-dark": ('class="vscode-dark"', "#1e1e1e", "rgb(15, 19, 24)"),
}


@pytest.fixture(scope="module")
def outputs() -> str:
    """One of each, as the outputs of a notebook."""
    module = from_source(SOURCE)
    executable = relax.build(module)
    shown = (
        module,
        module["double"],
        module["main"].struct_info,
        executable,
        executable,
        executable.profile("main", np.ones((4, 8), "f"), np.ones((8, 3), "f"), repeat=2),
        Schedule(module),
        array(np.random.default_rng(0).standard_normal((20, 70), np.float32)),
        module.show_graph(),
    )
    return "".join(one._repr_html_() for one in shown)


@pytest.fixture(params=["light", "dark"])
def page(browser: Any, request: pytest.FixtureRequest) -> Iterator[Any]:
    """A page without scripts and without a network, in a system of either theme."""
    scheme: Any = request.param
    context = browser.new_context(color_scheme=scheme, viewport={"width": 900, "height": 700})
    opened = context.new_page()
    requests: list[str] = []
    opened.on("request", lambda r: requests.append(r.url))
    yield opened
    context.close()
    assert [url for url in requests if not url.startswith(("file:", "about:"))] == []


@pytest.mark.parametrize("theme", THEMES)
def test_themes_are_those_of_the_front_end(page: Any, theme: str, outputs: str, tmp_path: Path):
    from axe_playwright_python.sync_playwright import Axe

    attributes, back, expected = THEMES[theme]
    page.set_content(PAGE.format(attributes=attributes, back=back, content=outputs))
    colour = "e => getComputedStyle(e).backgroundColor"
    assert page.locator(".xrelax").first.evaluate(colour) == expected
    found = Axe().run(page).response["violations"]
    problems = [(v["id"], n["html"]) for v in found if v["impact"] in SERIOUS for n in v["nodes"]]
    assert problems == []
    page.screenshot(path=tmp_path / "outputs.png", full_page=True)
    assert (tmp_path / "outputs.png").stat().st_size > 20_000


def test_without_a_theme_the_system_decides(page: Any, outputs: str):
    page.set_content(PAGE.format(attributes="", back="Canvas", content=outputs))
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    colour = page.locator(".xrelax").first.evaluate("e => getComputedStyle(e).backgroundColor")
    assert colour == ("rgb(15, 19, 24)" if dark else "rgb(255, 255, 255)")


def test_tabs_of_one_output_leave_those_of_others(page: Any, outputs: str):
    page.set_content(PAGE.format(attributes="", back="#fff", content=outputs))
    first, second = page.locator(".tabs").all()
    first.get_by_text("kernels", exact=True).click()
    assert first.get_by_role("columnheader", name="bytes read").is_visible()
    assert not first.get_by_role("columnheader", name="parameters").is_visible()
    assert second.get_by_role("columnheader", name="parameters").is_visible()
    page.keyboard.press("ArrowRight")
    assert first.locator(".panel").nth(2).is_visible()


def test_functions_fold(page: Any, outputs: str):
    page.set_content(PAGE.format(attributes="", back="#fff", content=outputs))
    kernel = page.locator("details").first
    assert kernel.get_by_text("T.axis.remap").first.is_visible()
    kernel.locator("summary").click()
    assert not kernel.get_by_text("T.axis.remap").first.is_visible()
    assert kernel.locator("summary .folded").is_visible()
