"""The pages in docs/ show what the compiler does now, and are easy to find."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))


def load_update():
    spec = importlib.util.spec_from_file_location("docs_update", ROOT / "docs" / "update.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_is_up_to_date(page: Path):
    text = page.read_text()
    try:
        expected = load_update().updated(text)
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        pytest.skip("the page describes names that need torch")
    assert text == expected, "run `python docs/update.py`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_marker_has_its_end(page: Path):
    markers = re.findall(r"^<!-- (\w+).*-->$", page.read_text(), re.MULTILINE)
    assert markers[1::2] == ["end"] * (len(markers) // 2)
    assert set(markers[::2]) <= set(load_update().PARTS)


def test_a_changed_listing_is_noticed():
    update = load_update()
    page = "<!-- passes llvm -->\nanything\n<!-- end -->\n"
    assert "`convert-to-llvm`" in update.updated(page)


def test_every_dialect_has_its_section():
    sections = re.findall(r"^## (\w+)$", (ROOT / "docs/dialects.md").read_text(), re.MULTILINE)
    assert sections == list(load_update().DIALECTS)


def test_every_stage_has_its_section():
    sections = re.findall(r"^## (\w+)$", (ROOT / "docs/stages.md").read_text(), re.MULTILINE)
    assert sections == [stage.name for stage in load_update().STAGES]


def test_readme_links_to_every_page():
    readme = (ROOT / "README.md").read_text()
    assert all(f"(docs/{page.name})" in readme for page in PAGES)
