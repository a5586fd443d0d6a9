"""`Mutator`: modules, effects and parameters of a model replaced by others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .containers import ModuleDict, ParameterDict, ParameterList
from .core import Module, ModuleList, Parameter
from .effects import Effect


class Mutator:
    """Visits what a model is made of; what a method returns is put in its place.

    A subclass defines `visit_module`, `visit_effect` or `visit_param`, each with the path of the
    node. TVM's ``nn.Mutator``.
    """

    def visit(self, name: str, node: Any) -> Any:
        """The model, where every part is replaced; the parts of containers too."""
        for child_name, child in node.named_children():
            visit = self._visitor(child)
            if visit is not None:
                path = f"{name}.{child_name}" if name else child_name
                node.replace_child(child_name, visit(path, child))
        return node

    def _visitor(self, child: Any) -> Callable[[str, Any], Any] | None:
        match child:
            case ModuleList() | ParameterList():
                return self.visit_modulelist
            case ModuleDict() | ParameterDict():
                return self.visit_moduledict
            case Module():
                return self.visit_module
            case Effect():
                return self.visit_effect
            case Parameter():
                return self.visit_param
            case _:
                return None

    def visit_module(self, name: str, node: Module) -> Any:
        """What replaces a module: by default itself, after its parts."""
        return self.visit(name, node)

    def visit_effect(self, name: str, node: Effect) -> Any:
        """What replaces an effect."""
        return node

    def visit_param(self, name: str, node: Parameter) -> Any:
        """What replaces a parameter."""
        return node

    def visit_modulelist(self, name: str, node: Module) -> Any:
        """What replaces a list of modules or parameters."""
        return self.visit(name, node)

    def visit_moduledict(self, name: str, node: Module) -> Any:
        """What replaces a dict of modules or parameters."""
        return self.visit(name, node)
