"""Memory in graph functions: `R.builtin.alloc_tensor`, `R.memory` and `R.vm`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from ...dialects import relax
from ...dialects.dtypes import element_type
from ...dialects.int_expr import IntExpr
from ...te.arithmetic import dim_expr
from .relax_dps import SHAPES, DPSCallParser
from .relax_reader import RelaxReader

WRAPPERS = ("R.prim_value", "R.str", "R.dtype")
DEVICE = {"virtual_device_index": 0, "runtime_device_index": 0, "storage_scope": "global"}
"""What a program may say of the place of memory, which is that of the CPU."""


class MemoryCallParser:
    """Reads the calls that allocate and release memory."""

    def __init__(self, function: RelaxReader, dps: DPSCallParser):
        self.function = function
        self.exprs = function.exprs
        vm_storage = ("size", "runtime_device_index", "dtype", "storage_scope")
        tensor = ("storage", "offset", "shape", "dtype", "runtime_device_index")
        self.handlers: dict[str, Callable[[ast.Call], SSAValue]] = {
            "R.memory.alloc_storage": lambda node: self._storage(
                node, ("size", "virtual_device_index", "storage_scope", "dtype")
            ),
            "R.memory.alloc_tensor": lambda node: self._tensor(node, tensor),
            "R.memory.kill_storage": self._kill,
            "R.memory.kill_tensor": self._kill,
            "R.vm.alloc_storage": lambda node: self._storage(node, vm_storage),
            "R.vm.alloc_tensor": lambda node: self._tensor(node, tensor),
            "R.vm.call_tir_dyn": dps.call_tir_dyn,
            "R.vm.kill_object": self._kill,
        }

    def _storage(self, node: ast.Call, names: Sequence[str]) -> SSAValue:
        """``R.memory.alloc_storage(R.shape([64]), 0, "global", "uint8")``; bytes have no dtype."""
        given = self._arguments(node, names, ("size",))
        dims = self._dims(given["size"])
        if len(dims) != 1:
            raise self.function.error(given["size"], f"expected a size in bytes, got {len(dims)}")
        return self.function.emit(relax.AllocStorageOp(dims[0]), node)

    def _tensor(self, node: ast.Call, names: Sequence[str]) -> SSAValue:
        """``R.memory.alloc_tensor(storage, 0, R.shape([1, n]), "float32")``."""
        given = self._arguments(node, names, ("storage", "offset", "shape", "dtype"))
        storage = self.function.value(given["storage"])
        if not isinstance(storage.type, relax.ObjectType):
            raise self.function.error(given["storage"], f"expected storage, got {storage.type}")
        dtype = element_type(self.exprs.dtype(given["dtype"]))
        type_ = relax.TensorType.of(self._dims(given["shape"]), dtype)
        offset = dim_expr(self.exprs.eval(given["offset"]))
        with self.function.scope.source.reporting(node):
            return self.function.emit(relax.StorageTensorOp(storage, offset, type_), node)

    def _kill(self, node: ast.Call) -> SSAValue:
        """``R.memory.kill_tensor(y)``, ``R.memory.kill_storage(s)``, ``R.vm.kill_object(y)``."""
        if len(node.args) != 1 or node.keywords:
            raise self.function.error(node, "expected one argument, what is no longer used")
        value = self.function.value(node.args[0])
        is_tensor = isinstance(value.type, relax.TensorType)
        kill = relax.KillTensorOp if is_tensor else relax.KillStorageOp
        return self.function.emit(kill(value), node)

    def _dims(self, node: ast.expr) -> Sequence[IntExpr]:
        if isinstance(node, ast.Call) and self.function.path(node) in SHAPES and node.args:
            node = node.args[0]
        return self.function.annotations.dims(node)

    def _arguments(
        self, node: ast.Call, names: Sequence[str], required: Sequence[str]
    ) -> dict[str, ast.expr]:
        """The arguments by name, without wrappers; those of the device are what they must be."""
        given = {n: self._plain(a) for n, a in zip(names, node.args, strict=False)}
        given |= {k.arg or "**": self._plain(k.value) for k in node.keywords}
        if set(given) - set(names) or set(required) - set(given) or len(node.args) > len(names):
            raise self.function.error(node, f"expected arguments {', '.join(names)}")
        for name in given.keys() & DEVICE.keys():
            if (found := self.exprs.eval(given[name])) != DEVICE[name]:
                raise self.function.error(
                    given[name], f"expected {name} to be {DEVICE[name]!r}, got {found!r}"
                )
        return given

    def _plain(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Call) and (path := self.function.path(node)) in WRAPPERS:
            if len(node.args) != 1 or node.keywords:
                raise self.function.error(node, f"expected {path}(value)")
            return node.args[0]
        return node
