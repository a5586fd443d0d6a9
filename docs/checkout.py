"""Imports the package from this checkout, whose folder may have any name, not an installed one.

Import it before any module of the package.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def import_package() -> None:
    """Make `xrelax` the package of this checkout, unless it has been imported already."""
    if "xrelax" in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(
        "xrelax", ROOT / "__init__.py", submodule_search_locations=[str(ROOT)]
    )
    assert spec is not None and spec.loader is not None
    module = sys.modules["xrelax"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)


import_package()
