"""Types, functions and modules as JSON; TVM's ``ir.save_json`` and ``ir.load_json``."""

from __future__ import annotations

import json
from typing import Any

from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from ..dialects import get_context
from ..ir.base_function import BaseFunc
from ..ir.module import IRModule
from ..ir.struct_info import StructInfo, struct_info, to_type
from .decorate import from_source
from .errors import ScriptError


def save_json(node: Any) -> str:
    """A module, a function or a type as JSON, with the data of constants.

    Raises TypeError for anything else.
    """
    if isinstance(node, IRModule | BaseFunc):
        text, kind = node.script(show_meta=True), "program"
    elif isinstance(node, StructInfo):
        text, kind = str(to_type(node)), "type"
    else:
        raise TypeError(f"expected a module, a function or a type, got {type(node).__name__}")
    return json.dumps({"kind": kind, "text": text})


def load_json(json_str: str) -> Any:
    """What `save_json` has saved, also if it is ill-formed; raises ValueError for other text."""
    try:
        match json.loads(json_str):
            case {"kind": "program", "text": str(text)}:
                return from_source(text, check_well_formed=False)
            case {"kind": "type", "text": str(text)}:
                return struct_info(Parser(get_context(), text).parse_type())
            case _:
                pass
    except (ParseError, ScriptError, VerifyException, ValueError):
        pass
    raise ValueError(f"expected JSON of save_json, got {json_str[:40]!r}")
