"""What may be chosen about printed programs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Whether bindings show the types of their variables, and what functions call their module.

    With an empty `module_alias` functions use the name of the class: ``Module.kernel``.
    """

    show_types: bool = True
    module_alias: str = "cls"


def options_of(
    show_all_struct_info: bool = True,
    show_all_ty: bool | None = None,
    module_alias: str = "cls",
) -> Options:
    """The options of ``script(…)``, which versions of TVM spell in two ways."""
    shown = show_all_struct_info if show_all_ty is None else show_all_ty
    return Options(shown, module_alias)
