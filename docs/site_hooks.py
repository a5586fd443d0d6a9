"""MkDocs' hooks: the generated reference, links to files of the repository, our IR's lexer."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

FOLDER = Path(__file__).parent
_LINK = re.compile(r"\[([^\]]*)\]\(\.\./[^)]*\)")
_PAGE = re.compile(r'href="(\.\./[\w/.]*)\.(?:md|ipynb)"')


def on_config(config: Any) -> Any:
    """Let the reference find the package, whose folder may have any name."""
    folder = FOLDER.parent / "build" / "import"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "xrelax"
    if not link.exists():
        link.symlink_to(FOLDER.parent, target_is_directory=True)
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages."""
    from reference_pages import pages

    for path, text in pages():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Name files of the repository, which the site does not have, instead of linking to them."""
    return _LINK.sub(lambda m: m[1], markdown)


def on_page_content(html: str, page: Any, config: Any, files: Files) -> str:
    """Let links of notebooks to pages lead to those of the site; MkDocs does so for Markdown."""
    return _PAGE.sub(r'href="\1.html"', html) if page.file.src_path.endswith(".ipynb") else html
