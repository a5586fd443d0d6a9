"""Files of JSON objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_json(path: Path) -> dict[str, Any]:
    """An object of a file; raises FileNotFoundError, and ValueError with one line."""
    if not path.is_file():
        raise FileNotFoundError(f"expected a model folder with {path.name}, got no file '{path}'")
    try:
        found = json.loads(path.read_text("utf-8"))
        if not isinstance(found, dict):
            raise ValueError("no object")
    except ValueError as error:
        raise ValueError(f"expected an object of JSON in '{path}', got {error}") from None
    return found  # pyright: ignore[reportUnknownVariableType]
