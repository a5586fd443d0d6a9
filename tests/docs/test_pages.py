"""The pages in docs/ show what the compiler does now, and are easy to find."""

import importlib.util
import re
import shutil
import subprocess
import sys
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


def test_pictures_are_up_to_date():
    for name, draw in load_update().PICTURES.items():
        assert (ROOT / "docs" / name).read_text() == draw(), "run `python docs/update.py`"


def test_the_picture_has_every_stage_and_pass():
    found = re.findall(r">([^<]+)</text>", (ROOT / "docs" / "architecture.svg").read_text())
    words = [word for line in found for word in line.replace(",", "").split()]
    for stage in load_update().STAGES:
        assert {stage.name, *stage.passes} <= set(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_marker_has_its_end(page: Path):
    markers = re.findall(r"^<!-- (\w+).*-->$", page.read_text(), re.MULTILINE)
    assert markers[1::2] == ["end"] * (len(markers) // 2)
    assert set(markers[::2]) <= set(load_update().PARTS)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_output_is_empty(page: Path):
    outputs = re.findall(r"^<!-- output -->\n(.*?)<!-- end -->$", page.read_text(), re.M | re.S)
    assert all(re.fullmatch(r"```text\n.*\S.*```\n", output, re.S) for output in outputs)


def test_a_changed_listing_is_noticed():
    update = load_update()
    page = "<!-- passes llvm -->\nanything\n<!-- end -->\n"
    assert "`convert-to-llvm`" in update.updated(page)


WITHOUT_TORCH = """
import os, runpy, sys
sys.modules["torch"] = None
sys.path.insert(0, os.path.dirname(sys.argv[1]))
runpy.run_path(sys.argv[1], run_name="__main__")
"""
OLD = {
    "a.md": "<!-- passes llvm -->\nold\n<!-- end -->\n",
    "b.md": "<!-- names -->\nold\n<!-- end -->\n",
    "c.md": "<!-- passes llvm -->\nold\n<!-- end -->\n",
}


def updated_pages(root: Path, program: str) -> tuple[subprocess.CompletedProcess, dict[str, str]]:
    folder = root / "docs"
    folder.mkdir()
    for name, text in OLD.items():
        (folder / name).write_text(text)
    for name in ("checkout.py", "picture.py", "peers_picture.py", "update.py"):
        shutil.copy(ROOT / "docs" / name, folder)
    for path in ROOT.iterdir():
        is_module = path.suffix == ".py" or (path / "__init__.py").exists()
        if is_module and not (root / path.name).exists():
            (root / path.name).symlink_to(path)
    (root / "benchmarks").mkdir()
    shutil.copy(ROOT / "benchmarks" / "README.md", root / "benchmarks")
    command = [sys.executable, "-W", "ignore", "-c", program, str(folder / "update.py")]
    result = subprocess.run(command, capture_output=True, text=True)
    return result, {name: (folder / name).read_text() for name in OLD}


def test_without_torch_the_other_pages_are_updated(tmp_path):
    result, pages = updated_pages(tmp_path, WITHOUT_TORCH)
    assert result.returncode == 0, result.stderr
    assert result.stderr == "b.md stays as it is: it needs the module 'torch'\n"
    assert {name for name, text in pages.items() if text == OLD[name]} == {"b.md"}


def test_where_a_page_fails_none_changes(tmp_path, monkeypatch):
    monkeypatch.setitem(OLD, "c.md", "<!-- passes of-no-stage -->\nold\n<!-- end -->\n")
    result, pages = updated_pages(tmp_path, WITHOUT_TORCH)
    assert result.returncode != 0 and pages == OLD


def test_another_checkout_shows_its_own_package(tmp_path, monkeypatch):
    program = "```python\nimport xrelax\n\nprint(xrelax.__file__)\n```\n"
    monkeypatch.setitem(OLD, "c.md", f"{program}<!-- output -->\nold\n<!-- end -->\n")
    result, pages = updated_pages(tmp_path, WITHOUT_TORCH)
    assert result.returncode == 0, result.stderr
    assert f"\n{tmp_path / '__init__.py'}\n" in pages["c.md"]


def test_every_dialect_has_its_section():
    sections = re.findall(r"^## (\w+)$", (ROOT / "docs/dialects.md").read_text(), re.MULTILINE)
    assert sections == list(load_update().DIALECTS)


def test_every_stage_has_its_section():
    sections = re.findall(r"^## (\w+)$", (ROOT / "docs/stages.md").read_text(), re.MULTILINE)
    assert sections == [stage.name for stage in load_update().STAGES]


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text().split("\nnav:")[1]
    assert all(re.search(rf"[-:] {page.name}$", navigation, re.MULTILINE) for page in PAGES)


def test_places_of_the_glossary_exist():
    page = (ROOT / "docs/glossary.md").read_text()
    terms = re.findall(r"^\| (.+) \| (.+) \| (.+) \|$", page, re.MULTILINE)[2:]
    assert 0 < len(terms) <= 40 and terms == sorted(terms, key=lambda row: row[0].lower())
    for term, _, place in terms:
        paths = re.findall(r"`([\w./]+)`", place)
        assert paths and all((ROOT / path).exists() for path in paths), term
