"""What may be chosen about printed programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Options:
    """Whether bindings show the types of their variables, and what functions call their module.

    With an empty `module_alias` functions use the name of the class: ``Module.kernel``. Without
    `syntax_sugar` each loop and each axis has a line: there is no ``T.grid`` or ``T.axis.remap``.
    """

    show_types: bool = True
    module_alias: str = "cls"
    syntax_sugar: bool = True
    indent_spaces: int = 4


def options_of(
    show_all_struct_info: bool = True,
    show_all_ty: bool | None = None,
    module_alias: str = "cls",
    syntax_sugar: bool = True,
    indent_spaces: int = 4,
    verbose_expr: bool = False,
    extra_config: Mapping[str, Any] | None = None,
) -> Options:
    """The options of ``script(…)``, which versions of TVM spell in two ways.

    `verbose_expr` concerns expressions, not functions. Raises ValueError for less than one space,
    and for an `extra_config` that asks for type parameters, ``def main[n](…)``.
    """
    if indent_spaces < 1:
        raise ValueError(f"expected indent_spaces of at least 1, got {indent_spaces}")
    for name, value in (extra_config or {}).items():
        if name != "script.use_pep695" or value:
            raise ValueError(f"expected no extra_config, got {name}={value}")
    shown = show_all_struct_info if show_all_ty is None else show_all_ty
    return Options(shown, module_alias, syntax_sugar, indent_spaces)
