"""MkDocs' hooks: the generated reference, outputs of notebooks, links to files of the repository.

With ``XRELAX_RUN_NOTEBOOKS=1`` in the environment, pages of notebooks have the outputs of their
cells.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mkdocs.structure.files import File, Files

FOLDER = Path(__file__).parent
_LINK = re.compile(r"\[([^\]]*)\]\(\.\./[^)]*\)")
_PAGE = re.compile(r'href="([\w/.]+)\.(?:md|ipynb)(#[^"]*)?"')


def on_config(config: Any) -> Any:
    """Let the reference find the package, whose folder may have any name."""
    link_package(FOLDER.parent, FOLDER.parent / "build" / "import" / "xrelax")
    for folder in (FOLDER, FOLDER.parent / "tests" / "operators"):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    return config


def link_package(root: Path, package: Path) -> None:
    """Make a folder with links to the package's modules, and to nothing else of the checkout.

    mkdocstrings reads every module below it, and would follow a link to the checkout itself in
    circles.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text())
    names = {name.split(".")[1] for name in project["tool"]["setuptools"]["packages"][1:]}
    if package.is_symlink():
        package.unlink()
    package.mkdir(parents=True, exist_ok=True)
    for path in [*root.glob("*.py"), *(root / name for name in names)]:
        link = package / path.name
        if not link.exists():
            link.symlink_to(path, target_is_directory=path.is_dir())


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages, and outputs to notebooks."""
    from reference_pages import pages

    for path, text in pages():
        files.append(File.generated(config, path, content=text))
    if os.environ.get("XRELAX_RUN_NOTEBOOKS") == "1":
        for file in files:
            if file.src_uri.endswith(".ipynb"):
                copy = executed(FOLDER / file.src_uri, FOLDER.parent / "build" / "notebooks")
                file.abs_src_path = str(copy)
    return files


def executed(notebook: Path, folder: Path) -> Path:
    """A copy of a notebook with outputs, below a folder; it is reused until the notebook changes.

    Raises CellExecutionError for a cell that fails without a tag that says so.
    """
    key = hashlib.sha256(notebook.read_bytes()).hexdigest()[:16]
    copy = folder / key / notebook.name
    if not copy.exists():
        import nbformat
        from nbclient import NotebookClient

        content = nbformat.read(notebook, as_version=4)
        with TemporaryDirectory() as work:  # in which cells write files
            NotebookClient(
                content,
                timeout=600,
                kernel_name="python3",
                resources={"metadata": {"path": work}},
                extra_arguments=["--log-level=ERROR"],  # not that local TCP is not encrypted
            ).execute()
        copy.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(content, copy)
    return copy


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Name files of the repository, which the site does not have, instead of linking to them."""
    return _LINK.sub(lambda m: m[1], markdown)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Let links of notebooks to pages lead to those of the site; MkDocs does so for Markdown."""
    return _PAGE.sub(r'href="\1.html\2"', html) if page.file.src_path.endswith(".ipynb") else html
