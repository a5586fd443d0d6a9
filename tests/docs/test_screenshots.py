"""The screenshots of the pages are taken again, in both themes; every view is accessible."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
SERIOUS = ("serious", "critical")


def test_views_are_those_of_the_pages(browser: Any, tmp_path: Path):
    for module in ("PIL", "grandalf", "pygments"):
        pytest.importorskip(module)
    from axe_playwright_python.sync_playwright import Axe
    from screenshots import pictures, save, screenshot

    taken: dict[str, int] = {}
    for name, page in pictures(browser):
        found = Axe().run(page).response["violations"]
        problems = [
            (v["id"], n["html"]) for v in found if v["impact"] in SERIOUS for n in v["nodes"]
        ]
        assert (name, problems) == (name, [])
        path = tmp_path / f"{name}.png"
        save(screenshot(page), path)
        taken[path.name] = width_of(path)
        assert path.stat().st_size > 10_000, "it is not blank"
    stored = {path.name: width_of(path) for path in DOCS.glob("*.png")}
    assert taken == stored, "run `python docs/screenshots.py`"


def width_of(path: Path) -> int:
    from PIL import Image

    with Image.open(path) as picture:
        return picture.width


@pytest.mark.parametrize("page", ["explorer.md", "notebooks.md"])
def test_pictures_are_shown_in_both_themes(page: str):
    text = (DOCS / page).read_text()
    light, dark = (
        re.findall(rf"\(([\w-]+)-{theme}\.png#gh-{theme}-mode-only\)", text)
        for theme in ("light", "dark")
    )
    assert light and light == dark
    assert {f"{name}-light.png" for name in light} <= {path.name for path in DOCS.glob("*.png")}
