"""Functions for code generators outside of the compiler, and the composite functions in them.

A composite function holds what a pattern has matched; its attribute ``Composite`` is a name such as
``example.conv2d``, of the code generator `example`. A function with the attribute ``Codegen`` is
compiled as a whole by that code generator, and holds composite functions as local ones:

::

    relax.func @fused_relax_nn_conv2d_example(%x: …, %w: …) -> … attributes {Codegen = "example"} {
      %f = relax.local_func @fused_relax_nn_conv2d(%x: …, %w: …) -> …
        attributes {Composite = "example.conv2d"} { … }
      %y = relax.invoke %f(%x, %w) : …
      relax.return %y : …
    }
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ...dialects import relax
from ...dialects.diagnostics import Diagnostic
from ..functions import functions_by_name, graph_functions, unique_name
from .fuse_ops import PRIMITIVE
from .outlined import add_return, function_of, parameter_block

COMPOSITE = "Composite"
"""The attribute of a function that holds a match: the name of the pattern."""

CODEGEN = "Codegen"
"""The attribute of a function that a code generator outside of the compiler compiles: its name."""

GLOBAL_SYMBOL = "global_symbol"
"""The attribute of a function that is called from outside: its name there."""


def codegen_of(func: Operation) -> str | None:
    """The code generator that compiles a function."""
    return _text(func, CODEGEN)


def composite_codegen(func: Operation | None) -> str | None:
    """The code generator of a composite function: `example` of ``example.conv2d``."""
    name = None if func is None else _text(func, COMPOSITE)
    return None if name is None else name.split(".")[0]


def _text(func: Operation, key: str) -> str | None:
    attrs = func.properties.get("attrs")
    value = attrs.data.get(key) if isinstance(attrs, DictionaryAttr) else None
    return value.data if isinstance(value, StringAttr) else None


def annotate_codegen(module: ModuleOp) -> None:
    """Put each composite function of the module into a function for its code generator."""
    for func in graph_functions(module):
        codegen = composite_codegen(func)
        if codegen is None:
            continue
        name = f"{func.sym_name.data}_{codegen}"
        name = unique_name(name, functions_by_name(module), separator="")
        module.body.block.insert_op_before(_annotated(func, name, codegen), func)
        rename_callee(module, func.sym_name.data, name)
        Rewriter.erase_op(func)


def _annotated(func: relax.FuncOp, name: str, codegen: str) -> relax.FuncOp:
    body, _ = parameter_block(func.params, [])
    for arg, param_name in zip(body.args, func.names, strict=True):
        arg.name_hint = param_name
    local = local_function(func)
    call = relax.InvokeOp(local.result, body.args, func.result_type)
    body.add_ops([local, call])
    return codegen_function(name, list(func.names), body, [call.result], codegen)


def codegen_function(
    name: str, names: Sequence[str], body: Block, results: Sequence[SSAValue], codegen: str
) -> relax.FuncOp:
    """A function of this body for a code generator."""
    add_return(body, results)
    attrs = {CODEGEN: StringAttr(codegen)}
    func = function_of(name, names, body, attrs, private=False)
    set_name(func, name)
    return func


def set_name(func: relax.FuncOp, name: str) -> None:
    """Rename a function; that is also the global symbol of one that others may call."""
    func.sym_name = StringAttr(name)
    if func.private is None:
        attrs: dict[str, Attribute] = {} if func.attrs is None else dict(func.attrs.data)
        func.attrs = DictionaryAttr({**attrs, GLOBAL_SYMBOL: StringAttr(name)})


def local_function(func: relax.FuncOp) -> relax.LocalFuncOp:
    """A copy of a composite function inside of another one; it is not a kernel of its own."""
    attrs: dict[str, Attribute] = {} if func.attrs is None else dict(func.attrs.data)
    attrs.pop(PRIMITIVE, None)
    body = func.body.clone()
    impure = func.impure is not None
    local = relax.LocalFuncOp(
        func.sym_name.data, func.names, func.result_type, body, impure, DictionaryAttr(attrs)
    )
    local.result.name_hint = func.sym_name.data
    return local


def rename_callee(module: ModuleOp, old: str, new: str) -> None:
    """Let calls of a graph function call another one."""
    for op in module.walk():
        if isinstance(op, relax.CallOp) and op.callee_name == old:
            op.properties["callee"] = SymbolRefAttr(new)


def call_by_name(module: ModuleOp, func: relax.FuncOp, name: str) -> None:
    """Replace a function by a registered one in destination-passing style.

    Raises Diagnostic for an argument that is no tensor.
    """
    for op in list(module.walk()):
        if not isinstance(op, relax.CallOp) or op.callee_name != func.sym_name.data:
            continue
        for arg in op.args:
            if not isinstance(arg.type, relax.TensorType):
                raise Diagnostic(f"expected tensors as arguments of '{name}', got {arg.type}", op)
        call = relax.CallDPSPackedOp(name, op.args, op.result.type)
        call.location = op.location
        call.result.name_hint = op.result.name_hint
        Rewriter.replace_op(op, call)
    Rewriter.erase_op(func)
