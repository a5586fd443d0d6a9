"""Which discardable attributes the emitter understands: any other is an error, never dropped."""

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from ..dialects import llvm_ext
from .errors import BackendError

_KNOWN_ATTRIBUTES: dict[type[Operation], dict[str, type[Attribute]]] = {
    llvm.LoadOp: {llvm_ext.INVARIANT: UnitAttr},
    llvm.BrOp: {llvm_ext.LOOP: DictionaryAttr},
    llvm.CondBrOp: {llvm_ext.LOOP: DictionaryAttr, llvm_ext.BRANCH_WEIGHTS: DenseArrayBase},
}


def check_attributes(op: Operation) -> None:
    """Raise `BackendError` for an attribute of `op` that the text would silently lose."""
    known = _KNOWN_ATTRIBUTES.get(type(op), {})
    for key, value in op.attributes.items():
        if key not in known:
            raise BackendError(f"unknown attribute '{key}'")
        if not isinstance(value, known[key]):
            raise BackendError(f"expected '{key}' to be a {known[key].name}, got {value}")
