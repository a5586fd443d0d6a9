"""Translate a module in the `llvm` dialect to LLVM IR text, as ``mlir-translate --mlir-to-llvmir``.

llvm.func @f(%x: f32) -> f32 {          define float @f(float %1) {
  %y = llvm.fadd %x, %x : f32     ⇒     b0:
  llvm.return %y : f32                    %2 = fadd float %1, %1
}                                         ret float %2
                                        }
"""

from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.dialects.llvm import (
    FramePointerKindAttr,
    FuncOp,
    GlobalOp,
    LinkageAttr,
    TargetFeaturesAttr,
)
from xdsl.ir import Attribute

from .errors import BackendError
from .llvm_function import Emitters, FunctionWriter, ModuleState
from .llvm_instructions import EMITTERS
from .llvm_types import constant_text, escaped, symbol_text, type_text
from .target import Target

_VISIBILITY = {0: "", 1: "hidden ", 2: "protected "}
_UNNAMED_ADDR = {0: "", 1: "local_unnamed_addr", 2: "unnamed_addr"}


def function_lines(func: FuncOp, module: ModuleState, emitters: Emitters) -> list[str]:
    """A function, or its declaration if it has no body."""
    name = func.sym_name.data
    try:
        if not func.body.blocks:
            return [f"declare {_head(func, None)}"]
        writer = FunctionWriter(module)
        body = writer.write(func, emitters)
        scope = f" !dbg {writer.subprogram}" if writer.subprogram else ""
        return [f"define {_head(func, writer)}{scope} {{", *body, "}"]
    except BackendError as error:
        raise BackendError(f"in function '{name}': {error}") from None


def _head(func: FuncOp, writer: FunctionWriter | None) -> str:
    type = func.function_type
    attributes = _argument_attributes(func.arg_attrs, len(type.inputs))
    args = [type_text(t) + a for t, a in zip(type.inputs, attributes, strict=True)]
    if writer is not None:
        names = [writer.names[arg] for arg in func.body.blocks[0].args]
        args = [f"{arg} {name}" for arg, name in zip(args, names, strict=True)]
    args += ["..."] * type.is_variadic
    (result,) = _argument_attributes(func.res_attrs, 1)
    convention = func.CConv.convention.data
    head = (
        f"{_linkage(func.linkage)}{_VISIBILITY[func.visibility_.value.data]}"
        f"{'' if convention == 'ccc' else convention + ' '}{result.lstrip()}{' ' * bool(result)}"
        f"{type_text(type.output)} {symbol_text(func.sym_name.data)}({', '.join(args)})"
    )
    unnamed = func.unnamed_addr.value.data if func.unnamed_addr is not None else 0
    return " ".join(filter(None, (head, _UNNAMED_ADDR[unnamed], *_function_attributes(func))))


def _linkage(linkage: LinkageAttr) -> str:
    name = linkage.linkage.data
    return "" if name == "external" else f"{name} "


_FUNCTION_FLAGS = {
    "no_inline": "noinline",
    "always_inline": "alwaysinline",
    "no_unwind": "nounwind",
    "will_return": "willreturn",
    "optimize_none": "optnone",
    "cold": "cold",
    "hot": "hot",
}
_FUNCTION_STRINGS = {"target_cpu": "target-cpu", "tune_cpu": "tune-cpu"}
_ELSEWHERE = frozenset(
    "sym_name function_type CConv linkage visibility_ unnamed_addr arg_attrs res_attrs"
    " sym_visibility".split()
)


def _function_attributes(func: FuncOp) -> list[str]:
    # xDSL's parser leaves `attributes {no_inline}` among the discardable attributes.
    attributes = {**func.properties, **func.attributes}
    texts: list[str] = []
    for key, value in attributes.items():
        if key not in _ELSEWHERE:
            texts += _function_attribute(key, value)
    return texts


def _function_attribute(key: str, value: Attribute) -> list[str]:
    if key == "passthrough" and isinstance(value, ArrayAttr):
        return [_passthrough(item) for item in cast(ArrayAttr[Attribute], value).data]
    if key in _FUNCTION_FLAGS:
        return [_FUNCTION_FLAGS[key]]
    if key in _FUNCTION_STRINGS and isinstance(value, StringAttr):
        return [_string_attribute(_FUNCTION_STRINGS[key], value.data)]
    if key == "target_features" and isinstance(value, TargetFeaturesAttr):
        return [_string_attribute("target-features", ",".join(f.data for f in value.features))]
    if key == "frame_pointer" and isinstance(value, FramePointerKindAttr):
        return [_string_attribute("frame-pointer", value.data.value)]
    raise BackendError(f"unknown function attribute '{key}' = {value}")


def _passthrough(item: Attribute) -> str:
    match item:
        case StringAttr(data=name):
            return name
        case ArrayAttr(data=(StringAttr(data=key), StringAttr(data=value))):
            return _string_attribute(key, value)
        case _:
            raise BackendError(f"expected passthrough of names or [name, value], got {item}")


def _string_attribute(key: str, value: str) -> str:
    return f'"{escaped(key.encode())}"="{escaped(value.encode())}"'


def global_line(op: GlobalOp) -> str:
    """A global variable or constant; without a value, an external declaration."""
    name = op.sym_name.data
    linkage = op.linkage.linkage.data
    if op.body.blocks:
        raise BackendError(f"cannot emit global '{name}' with an initializer region")
    if op.value is None and linkage != "external":
        raise BackendError(f"expected {linkage} global '{name}' to have a value")
    unnamed = op.unnamed_addr.value.data if op.unnamed_addr is not None else 0
    words = (
        "external" if op.value is None else _linkage(op.linkage).rstrip(),
        "thread_local" * (op.thread_local_ is not None),
        _UNNAMED_ADDR[unnamed],
        f"addrspace({op.addr_space.value.data})" * bool(op.addr_space.value.data),
        "global" if op.constant is None else "constant",
        type_text(op.global_type),
        "" if op.value is None else constant_text(op.value, op.global_type),
    )
    text = " ".join(filter(None, words))
    if op.section is not None:
        text += f', section "{escaped(op.section.data.encode())}"'
    if op.alignment is not None:
        text += f", align {op.alignment.value.data}"
    return f"{symbol_text(name)} = {text}"


def _argument_attributes(attrs: ArrayAttr[DictionaryAttr] | None, count: int) -> list[str]:
    """Text of the attributes of each argument, with a blank before each attribute."""
    if attrs is None:
        return [""] * count
    if len(attrs.data) != count:
        raise BackendError(f"expected attributes of {count} arguments, got {len(attrs.data)}")
    return ["".join(_argument_attribute(*item) for item in a.data.items()) for a in attrs.data]


_FLAGS = {
    f"llvm.{name}": f" {name}"
    for name in ("noalias", "nonnull", "noundef", "readonly", "writeonly", "readnone", "nofree")
} | {
    "llvm.nocapture": " captures(none)",
    "llvm.signext": " signext",
    "llvm.zeroext": " zeroext",
    "llvm.inreg": " inreg",
    "llvm.returned": " returned",
}
_NUMBERS = {
    "llvm.align": " align {}",
    "llvm.dereferenceable": " dereferenceable({})",
    "llvm.dereferenceable_or_null": " dereferenceable_or_null({})",
}


def _argument_attribute(key: str, value: Attribute) -> str:
    if key in _FLAGS and isinstance(value, UnitAttr):
        return _FLAGS[key]
    if key in _NUMBERS and isinstance(value, IntegerAttr):
        return _NUMBERS[key].format(value.value.data)
    raise BackendError(f"unknown argument attribute '{key}' = {value}")


def emit_module(module: ModuleOp, target: Target | None = None, *, debug_info: bool = False) -> str:
    """LLVM IR of a module of `llvm.func` and `llvm.mlir.global`, of `llvm` and `llvm_ext` ops.

    With a target, the text has its triple and data layout; with `debug_info`, it has source
    locations, which do not affect the code. Raises `BackendError`, which names the function and the
    operation, for operations and attributes that have no LLVM IR.
    """
    conversions = () if target is None else (target.isa.converts_f16, target.isa.converts_bf16)
    state = ModuleState(*conversions, debug_info=debug_info)
    lines: list[str] = []
    if target is not None:
        lines += (
            f'target datalayout = "{target.data_layout}"',
            f'target triple = "{target.triple}"',
        )
    for op in module.body.block.ops:
        match op:
            case FuncOp():
                lines += function_lines(op, state, EMITTERS)
            case GlobalOp():
                lines.append(global_line(op))
            case _:
                raise BackendError(f"cannot emit '{op.name}' at the top of a module")
    lines += state.declarations.values()
    lines += state.metadata_lines()
    return "\n".join(lines) + "\n"
