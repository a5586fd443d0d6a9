"""The notebooks of the tutorials run, are stored without results, and have pages in the site."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

DOCS = Path(__file__).parents[2] / "docs"
TUTORIALS = DOCS / "tutorials"
NOTEBOOKS = sorted(p.relative_to(TUTORIALS).as_posix() for p in TUTORIALS.glob("*/*.ipynb"))


def read(name: str) -> nbformat.NotebookNode:
    return nbformat.read(TUTORIALS / name, as_version=4)


def test_notebooks_are_pages():
    index, site = (TUTORIALS / "index.md").read_text(), (DOCS.parent / "mkdocs.yml").read_text()
    assert NOTEBOOKS
    assert sorted(re.findall(r"\]\(([\w/]+\.ipynb)\)", index)) == NOTEBOOKS
    assert sorted(re.findall(r"tutorials/(\S+\.ipynb)", site)) == NOTEBOOKS


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_stored_without_results(name: str):
    notebook = read(name)
    assert notebook.metadata.kernelspec.name == "python3"
    first = notebook.cells[0]
    title, _, opening = first.source.partition("\n")
    assert first.cell_type == "markdown" and title.startswith("# ") and opening.strip()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(code) > 3
    assert not any(cell.outputs or cell.execution_count for cell in code)


@pytest.mark.sampled(1)  # all of them, also in samples: readers paste their cells
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Cells that are tagged to fail have an error of at most six lines; others have none."""
    for module in ("matplotlib", "sklearn", "torch", "transformers"):
        pytest.importorskip(module)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    notebook = read(name)
    # A cell that fails without the tag raises CellExecutionError.
    NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    ).execute()
    for cell in notebook.cells:
        errors = [o for o in cell.get("outputs", ()) if o.output_type == "error"]
        assert bool(errors) == ("raises-exception" in cell.metadata.get("tags", ()))
        for error in errors:
            assert len("\n".join(error.traceback).splitlines()) <= 6
