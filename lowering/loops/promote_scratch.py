"""Scratch buffers that are only accessed at constant indices become values, carried by the loops in between."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects import loops
from .places import Access, Place, are_disjoint, place_of
from .scope import Scope


def promote_scratch(func: loops.FuncOp) -> None:
    """Turn stack buffers into values where each element is stored before it is loaded, whatever runs."""
    scope = Scope(Block(), in_place=True)
    by_root: dict[Block, list[Place]] = {}
    for op in list(func.walk()):
        if isinstance(op, loops.AllocaOp) and (accesses := _accesses(op)) is not None:
            found = _promotable(accesses, scope)
            if found is not None:
                root, places = found
                by_root.setdefault(root, []).extend(places)
    for root, places in by_root.items():
        _Promotion(scope, set(places)).promote(root)


def _accesses(op: loops.AllocaOp) -> list[Access] | None:
    """The loads and stores of the buffer, if there are no other uses."""
    users = [use.operation for use in op.result.uses]
    accesses = [u for u in users if isinstance(u, loops.LoadOp | loops.StoreOp)]
    return accesses if accesses and len(accesses) == len(users) else None
