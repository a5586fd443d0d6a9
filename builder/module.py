"""The functions of a module while it is built: unique names, and one function for equal ones."""

from __future__ import annotations

from collections.abc import Container, Iterable

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..dialects import relax, tir
from ..dialects.diagnostics import verify
from ..ir.base_function import BaseFunc
from ..ir.callees import GlobalVar
from ..ir.detached import copy_values
from ..ir.equality import structural_equal
from ..ir.function import function_view
from ..ir.module import IRModule
from ..lowering.canonical_form import CanonicalForm
from ..lowering.functions import functions_by_name
from ..lowering.graph.verify_kernels import verify_kernels
from ..lowering.verify_calls import verify_calls


def numbered_name(stem: str, taken: Container[str], start: int = 0) -> str:
    """The stem, or the first of ``stem1``, ``stem2``, … that is not taken."""
    name, number = stem if start == 0 else f"{stem}{start}", start
    while name in taken:
        number += 1
        name = f"{stem}{number}"
    return name


class Names:
    """The names of the values of one function."""

    def __init__(self, taken: Iterable[str]):
        self._taken = set(taken)
        self._counts: dict[str, int] = {}

    def fresh(self, stem: str) -> str:
        """A name like the stem that no other value has."""
        name = numbered_name(stem, self._taken, self._counts.get(stem, 0))
        self._counts[stem] = int(name.removeprefix(stem) or 0)
        self._taken.add(name)
        return name

    def free(self, name: str) -> None:
        """Let a name be given again."""
        self._taken.discard(name)
        self._counts.clear()


class ModuleBuilder:
    """Collects functions; a module to start from is copied."""

    def __init__(self, mod: IRModule | None = None):
        self._mod = IRModule() if mod is None else mod.clone()
        self._functions = functions_by_name(self._mod.op)
        self._kernels: dict[tuple[object, ...], str] = {}
        for name, op in self._functions.items():
            if isinstance(op, tir.PrimFuncOp):
                self._kernels.setdefault(kernel_key(op), name)

    def unique_name(self, wanted: str) -> str:
        """The name, with the first number that makes it differ from those of the functions."""
        return numbered_name(wanted, self._functions)

    def add(self, op: Operation, name: str) -> GlobalVar:
        """Add a function operation, which becomes the module's own, under a unique name."""
        unique = self.unique_name(name)
        op.properties["sym_name"] = BaseFunc.symbol(unique)
        self._mod.op.body.block.add_op(op)
        self._functions[unique] = op
        return GlobalVar(unique, function_view(op))

    def add_view(self, func: BaseFunc, name: str) -> GlobalVar:
        """Add a copy of a function; one that is equal but for its name is used again."""
        for known, op in self._functions.items():
            if type(op) is type(func.op) and structural_equal(op, func.op, compare_name=False):
                return GlobalVar(known, function_view(op))
        return self.add(func.op.clone(), name)

    def add_kernel(self, func: tir.PrimFuncOp, name: str) -> GlobalVar:
        """Add a PrimFunc, or find one that computes the same."""
        key = kernel_key(func)
        if key not in self._kernels:
            self._kernels[key] = self.add(func, name).name_hint
        known = self._kernels[key]
        return GlobalVar(known, function_view(self._functions[known]))

    def update(self, gv: GlobalVar | str, func: BaseFunc) -> None:
        """Replace the function of a name, or add it."""
        name = gv if isinstance(gv, str) else gv.name_hint
        self._kernels = {k: n for k, n in self._kernels.items() if n != name}
        self._mod[name] = func
        self._functions = functions_by_name(self._mod.op)

    def get(self) -> IRModule:
        """A copy of the module, whose values are known as those of the original."""
        copy = self._mod.clone()
        for old, new in zip(self._mod.op.ops, copy.op.ops, strict=True):
            if isinstance(old, relax.FuncOp):
                copy_values(old, new)
        return copy

    def verified(self) -> IRModule:
        """A copy of the module, verified with its calls."""
        copy = self.get()
        check(copy.op)
        return copy


def kernel_key(func: tir.PrimFuncOp) -> tuple[object, ...]:
    """What PrimFuncs that compute the same share, whatever they are called."""
    return tuple(CanonicalForm(func, map_free_vars=True, compare_name=False).program)


def check(module: ModuleOp) -> None:
    """Verify a module and its calls; raises Diagnostic with one line."""
    verify(module)
    verify_calls(module)
    verify_kernels(module)
