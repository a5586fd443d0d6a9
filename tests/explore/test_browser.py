"""The explorer's page in a browser: every view is clicked through, in both themes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xrelax.explore.exploration import Exploration
from xrelax.explore.page import page_text
from xrelax.explore.server import ExplorerServer

SERIOUS = ("serious", "critical")
LONG = 600_000
"""Milliseconds for actions, which compile."""


@pytest.fixture
def page(browser: Any, server: ExplorerServer) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1500, "height": 850}, bypass_csp=True)
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    opened.goto(server.url)
    yield opened
    context.close()
    assert problems == []


def is_accessible(page: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    problems = [(v["id"], n["html"]) for v in found if v["impact"] in SERIOUS for n in v["nodes"]]
    assert problems == []


def themes(page: Any, name: str, folder: Path) -> None:
    """Look at a view in both themes."""
    for theme in ("light", "dark"):
        page.select_option("#theme", theme)
        is_accessible(page)
        page.screenshot(path=folder / f"{name}-{theme}.png")
        assert (folder / f"{name}-{theme}.png").stat().st_size > 10_000


def test_lines_of_all_panes_belong_together(page: Any, tmp_path: Path):
    assert page.locator("#source .line").count() > 20
    page.locator("#source .line", has_text="R.matmul").locator("button").click()
    for pane in ("#code-0", "#code-1"):
        assert page.locator(f"{pane} .line.pinned").count() > 0
        assert page.locator(f"{pane} .line.pinned").first.is_visible()
    assert page.locator("#source .line.pinned").inner_text().endswith("R.matmul(x, w)")
    page.select_option("#stage-0", label="loops")
    assert "vector" in page.locator("#code-0").inner_text()
    assert page.locator("#code-0 .line.pinned").count() > 0
    page.locator("#code-1 .line.has-place").first.hover()
    assert page.locator("#source .line.same").count() == 1
    themes(page, "stages", tmp_path)


def test_passes_and_the_verdict_of_the_reference(
    page: Any, tmp_path: Path, exploration: Exploration
):
    page.click("#tab-passes")
    page.click("#pass-list >> text=fuse-tir")
    assert page.locator("#diff .line.added").count() > 0
    assert page.locator("#diff .line.removed").count() > 0
    page.click("#pass-list >> text=fold-constant")
    assert "changes nothing" in page.locator("#diff").inner_text()
    page.click("#check")
    page.locator("#check-status", has_text="passes leave").wait_for(timeout=LONG)
    assert page.locator("#pass-list .good").count() == len(exploration.passes)
    themes(page, "passes", tmp_path)


def test_kernels_are_profiled_and_scheduled(page: Any, tmp_path: Path):
    page.click("#tab-kernels")
    page.fill("#sizes", "m=8, n=32")
    page.click("#profile")
    page.locator("#profile-status", has_text="µs").wait_for(timeout=LONG)
    assert page.locator("#roofline circle").count() == 1
    page.click("#kernel-list >> text=double")
    default = page.input_value("#schedule")
    assert "sch.vectorize" in default
    page.fill("#schedule", "sch.vectorize(x)")
    page.click("#run-schedule")
    page.locator("#schedule-status", has_text="line 1: 'x' is not defined").wait_for(timeout=LONG)
    page.fill("#schedule", "b = sch.get_block('Y')\ni, j = sch.get_loops(b)\nsch.unroll(i)")
    page.click("#run-schedule")
    page.locator("#schedule-status", has_text="speed of the default").wait_for(timeout=LONG)
    assert "T.unroll" in page.locator("#kernel-result").inner_text()
    page.select_option("#result-form", "asm")
    assert "ret" in page.locator("#kernel-result").inner_text()
    themes(page, "kernels", tmp_path)
    page.click("#reset-schedule")
    assert page.input_value("#schedule") == default


def test_the_chosen_kernel_and_its_edited_schedule_stay(page: Any):
    page.click("#tab-kernels")
    page.click("#kernel-list >> text=double")
    page.fill("#schedule", "# mine")
    page.click("#profile")
    page.locator("#profile-status", has_text="µs").wait_for(timeout=LONG)
    assert page.locator("#kernel-list [aria-current=true]").inner_text().startswith("double")
    assert page.input_value("#schedule") == "# mine"
    page.locator("#roofline .point").click()
    assert page.locator("#roofline .point.chosen").count() == 1
    assert page.input_value("#schedule").startswith("def schedule")
    page.click("#kernel-list >> text=double")
    assert page.input_value("#schedule") == "# mine"
    assert page.locator("#roofline .point.chosen").count() == 0


def test_values_of_every_stage(page: Any, tmp_path: Path):
    page.click("#tab-values")
    page.fill("#sizes", "m=8")
    page.click("#compare")
    page.locator("#values-status", has_text="no bad operation: 1 of 2").wait_for(timeout=LONG)
    assert page.locator("#error-plot .point").count() == 1
    assert page.locator("#tensor svg").count() == 3
    assert page.locator("#operation-list button").first.is_disabled()
    page.select_option("#value-stage", "relax")
    page.locator("#values-status", has_text="no bad operation: 2 of 2").wait_for(timeout=LONG)
    page.locator("#operation-list button").first.click()
    page.locator("#operation-name", has_text="a = matmul").wait_for()
    assert "float32 (8, 32)" in page.locator("#operation-note").inner_text()
    page.click("#operation-note button")
    assert page.locator("#source .line.pinned").inner_text().endswith("R.matmul(x, w)")
    page.click("#tab-values")
    inputs = tmp_path / "inputs.npz"
    np.savez(inputs, x=np.full((3, 64), -1, np.float32), w=np.ones((64, 32), np.float32))
    page.set_input_files("#inputs", inputs)
    page.click("#compare")
    page.locator("#tensor >> text=largest 64").first.wait_for(timeout=LONG)
    themes(page, "values", tmp_path)
    np.savez(inputs, q=np.ones(2))
    page.set_input_files("#inputs", inputs)
    page.click("#compare")
    page.locator("#values-status.bad", has_text="(x, w), got q").wait_for(timeout=LONG)


def test_tabs_by_keyboard(page: Any):
    page.focus("#tab-stages")
    page.keyboard.press("ArrowRight")
    assert page.locator("#passes").is_visible() and not page.locator("#stages").is_visible()
    assert page.evaluate("document.activeElement.id") == "tab-passes"


def test_the_exported_page_stands_alone(browser: Any, exploration: Exploration, tmp_path: Path):
    path = tmp_path / "page.html"
    path.write_text(page_text(exploration))
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.locator("#source .line").count() > 20
    for view in ("stages", "passes", "kernels"):
        page.click(f"#tab-{view}")
        themes(page, view, tmp_path)
    assert not page.locator("#run-schedule").is_visible()
    assert not page.locator("#tab-values").is_visible()
    assert page.locator("#kernel-script .line").count() > 5
    page.close()
