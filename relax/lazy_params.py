"""`LazyTransformParams`: transforms of weights that load them one by one."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.expr import Var
from ..ir.module import IRModule
from ..ir.transform import Pass, PassContext, PassInfo
from ..lowering.functions import graph_functions
from ..lowering.graph.lazy_transform_params import LazyCalls, lazy_transform_params


class LazyTransformParams(Pass):
    """Transforms of weights load them one by one, and store each result when it is not used again.

    Functions whose names end with ``transform_params`` call the registered functions ``fget_item(
    *extra_get_item_params, number)`` and ``fset_item(*extra_set_item_params, number, value)``. The
    extra parameters become parameters. Without `fset_item` results are returned. Calling it raises
    Diagnostic with one line for a function that uses the tuple of its weights as a whole. TVM's
    ``relax.transform.LazyTransformParams``.
    """

    info = PassInfo("lazy-transform-params")

    def __init__(
        self,
        fget_item: str = "get_item",
        fset_item: str | None = "set_item",
        extra_get_item_params: Sequence[Var] | None = None,
        extra_set_item_params: Sequence[Var] | None = None,
    ):
        given = (extra_get_item_params or (), extra_set_item_params or ())
        extra = [[(v.name_hint, v.borrowed.type) for v in group] for group in given]
        self.calls = LazyCalls(fget_item, fset_item, *extra)

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        for func in graph_functions(mod.op):
            if func.sym_name.data.endswith("transform_params"):
                lazy_transform_params(func, self.calls)
        return mod
