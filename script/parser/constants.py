"""Constants of a printed program: the `metadata` that `script(show_meta=True)` writes."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...dialects.relax import TensorData
from ..errors import Source
from ..printer.metadata import read_constants


def metadata_constants(source: Source, tree: ast.Module) -> Sequence[TensorData]:
    """The constants that a program text defines, in order; none where it has no metadata."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="metadata")], value=value):
                with source.reporting(node):
                    return read_constants(ast.literal_eval(value))
            case _:
                continue
    return ()
