"""Graph functions as Python functions on tensors of PyTorch, which need no compilation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ir.function import Function
from ..ir.module import IRModule
from ..py_module import to_torch
from ..reference.evaluate import evaluate
from ..reference.inputs import array_functions
from ..runtime.tensor import as_tensor, from_numpy


class RelaxToPyFuncConverter:
    """Makes Python functions of graph functions; TVM's ``RelaxToPyFuncConverter``.

    They run the module with the reference evaluator, at any stage before kernels are lowered, so
    that the results before and after a pass can be compared. Calls of registered functions are run.
    """

    def __init__(self, ir_module: IRModule):
        self.ir_module = ir_module

    def convert(self, relax_function_names: str | Sequence[str]) -> IRModule:
        """A copy of the module with the functions among its `pyfuncs`.

        Raises ValueError for a name that no graph function has.
        """
        given = relax_function_names
        converted = self.ir_module.clone()
        for name in [given] if isinstance(given, str) else given:
            if not isinstance(converted[name], Function):
                raise ValueError(f"expected a graph function, got the PrimFunc '{name}'")
            converted.pyfuncs[name] = self._function(name)
        return converted

    def _function(self, name: str) -> Callable[..., Any]:
        module = self.ir_module.clone()

        def function(*args: Any) -> Any:
            return _evaluated(module, name, *args)

        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"Graph function '{name}' of a module, on tensors of PyTorch."
        return function


def _evaluated(module: IRModule, name: str, *args: Any) -> Any:
    arrays = [as_tensor(a).numpy() for a in args]
    results = evaluate(module.op, name, arrays, registry=array_functions())
    tensors = [to_torch(from_numpy(r)) for r in results]
    return tensors[0] if len(tensors) == 1 else tuple(tensors)
