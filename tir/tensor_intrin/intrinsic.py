"""`tir.TensorIntrin`: what a piece of code computes, as a nest, and the code that does it."""

from __future__ import annotations

from typing import Any

from ...dialects import tir
from ...ir.prim_func import PrimFunc
from ...lowering.schedule.tensorize import INTRINSICS


class TensorIntrin:
    """A description and an implementation on the same buffers; TVM's ``tir.TensorIntrin``."""

    def __init__(self, desc: PrimFunc, impl: PrimFunc):
        """Pair a description with an implementation.

        Both are functions on buffers of the same shapes and dtypes. Strides of the implementation
        may be symbols, which stand for those of the buffers that it is used on. Raises TypeError
        for anything but PrimFuncs and ValueError for parameters that differ.
        """
        self.desc, self.impl = desc, impl
        ours, theirs = (_parameters(f) for f in (desc, impl))
        if len(ours) != len(theirs):
            raise ValueError(
                f"expected an implementation of {len(ours)} parameters, got {len(theirs)}"
            )
        for position, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            if (a.dims, a.element_type, a.scope) != (b.dims, b.element_type, b.scope):
                raise ValueError(
                    f"expected parameter {position} of the implementation to be {_text(a)}, "
                    f"got {_text(b)}"
                )

    @staticmethod
    def register(name: str, desc: PrimFunc, impl: PrimFunc, override: bool = False) -> None:
        """Let `name` stand for an intrinsic in `Schedule.tensorize`.

        Raises ValueError where there is one already, unless `override` is given.
        """
        if name in INTRINSICS and not override:
            raise ValueError(f"expected a new name of a tensor intrinsic, got '{name}'")
        intrinsic = TensorIntrin(desc, impl)
        INTRINSICS[name] = intrinsic.desc.prim_func, intrinsic.impl.prim_func

    @staticmethod
    def get(name: str, allow_missing: bool = False) -> TensorIntrin | None:
        """The intrinsic of a name.

        Raises ValueError for an unknown one, unless `allow_missing` asks for `None`.
        """
        found = INTRINSICS.get(name)
        if found is None and not allow_missing:
            known = ", ".join(INTRINSICS) or "none registered"
            raise ValueError(f"expected a tensor intrinsic ({known}), got '{name}'")
        return None if found is None else TensorIntrin(*map(PrimFunc, found))


def _parameters(func: Any) -> list[tir.BufferType]:
    if not isinstance(func, PrimFunc):
        raise TypeError(f"expected a PrimFunc, got {type(func).__name__}")
    assert isinstance(func.op, tir.PrimFuncOp)
    types = [p.type for p in func.op.params]
    buffers = [t for t in types if isinstance(t, tir.BufferType)]
    if len(buffers) != len(types):
        raise ValueError("expected an intrinsic to have buffers as parameters, got a scalar")
    return buffers


def _text(type_: tir.BufferType) -> str:
    dims = ", ".join(map(str, type_.dims))
    return f"({dims}) of {type_.dtype} in '{type_.scope.data}'"
