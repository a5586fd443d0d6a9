"""The documentation's site builds without warnings, links lead somewhere, every name has a page."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError

from xrelax.dialects.relax import OPERATORS
from xrelax.names import NAMES
from xrelax.pipeline import PASSES

ROOT = Path(__file__).parents[2]


class Links(HTMLParser):
    """The addresses and the anchors of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            if name == "id" and value:
                self.anchors.add(value)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for module in ("mkdocs", "mkdocstrings", "torch", "onnx"):  # front ends have pages too
        pytest.importorskip(module)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return folder


def test_links_lead_somewhere(site: Path):
    pages = {p: Links(p.read_text()) for p in sorted(site.rglob("*.html")) if p.name != "404.html"}
    dead: list[tuple[str, str]] = []
    for page, found in pages.items():
        for link in found.links:
            path, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:|//", link):
                continue
            target = (page.parent / unquote(path)).resolve() if path else page
            exists = target.exists() and (
                not anchor or target not in pages or unquote(anchor) in pages[target].anchors
            )
            if not exists:
                dead.append((str(page.relative_to(site)), link))
    assert dead == []


def test_every_name_has_a_page(site: Path):
    expected = [
        *(f"api/{name}" for name in NAMES),
        *(f"operators/{name.removeprefix('relax.')}" for name in OPERATORS),
        *(f"passes/{name}" for name in PASSES),
    ]
    missing = [name for name in expected if not (site / f"reference/{name}.html").exists()]
    assert missing == []


def test_every_name_has_an_example_that_ran(site: Path):
    texts = {name: (site / f"reference/api/{name}.html").read_text() for name in NAMES}
    assert [name for name, text in texts.items() if 'id="example"' not in text] == []


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("tir.Schedule", "xrelax.tir.schedule.Schedule mod split get_loops"),  # inherited
        ("te", "xrelax.te create_prim_func compute placeholder"),  # imported
        ("relax.frontend.nn", "xrelax.builder.nn spec Linear"),
    ],
)
def test_pages_show_members(site: Path, name: str, members: str):
    page = Links((site / f"reference/api/{name}.html").read_text())
    owner, *names = members.split()
    assert {f"{owner}.{member}" for member in names} <= page.anchors


def test_pages_of_namespaces_list_their_names(site: Path):
    page = Links((site / "reference/api/relax.html").read_text())
    assert {"relax.Var.html", "relax.build.html", "relax.frontend.html"} <= set(page.links)


def test_every_operator_has_an_example_that_ran(site: Path):
    bare = [
        name
        for name in OPERATORS
        if "result ="
        not in (site / f"reference/operators/{name.removeprefix('relax.')}.html").read_text()
    ]
    assert bare == []


def test_pages_of_passes_have_examples(site: Path):
    texts = {name: (site / f"reference/passes/{name}.html").read_text() for name in PASSES}
    assert [name for name, text in texts.items() if 'id="example"' not in text] == []


def test_the_reference_reads_the_package_alone(tmp_path: Path):
    pytest.importorskip("mkdocs")
    from site_hooks import link_package

    for _ in range(2):  # a second build finds the links of the first
        link_package(ROOT, tmp_path / "xrelax")
    links = {path.name for path in (tmp_path / "xrelax").iterdir()}
    assert {"names.py", "runtime", "tir"} <= links
    assert not links & {"build", "docs", "examples", "tests", ".venv"}


def test_notebooks_may_have_outputs(tmp_path: Path):
    pytest.importorskip("mkdocs")
    from site_hooks import executed

    cells = [nbformat.v4.new_code_cell("print(6 * 7)"), nbformat.v4.new_code_cell("open('x', 'w')")]
    notebook = tmp_path / "six.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), notebook)
    copy = executed(notebook, tmp_path / "copies")
    assert copy.name == notebook.name and not (tmp_path / "x").exists()
    found = nbformat.read(copy, as_version=4).cells[0].outputs
    assert [output.text for output in found] == ["42\n"]
    copy.write_text("kept")
    assert executed(notebook, tmp_path / "copies").read_text() == "kept"
    cells[0].source = "1 / 0"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), notebook)
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        executed(notebook, tmp_path / "copies")


def test_nothing_is_loaded_from_elsewhere(site: Path):
    """Pages work without a network, but for links that people follow."""
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)"', page.read_text()
        )
        assert loaded == [], page.name
