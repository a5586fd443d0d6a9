"""Kernels as TVMScript."""

from __future__ import annotations

from .syntax import INDEX, Axis, Block, Buffer, Expr, Kernel, index
from .visits import Loop, bindings_of, guards_of, loops_of

FORMS = {
    "add": "({} + {})",
    "sub": "({} - {})",
    "mul": "({} * {})",
    "div": "({} / {})",
    "min": "T.min({}, {})",
    "max": "T.max({}, {})",
    "floordiv": "({} // {})",
    "floormod": "({} % {})",
    "truncdiv": "T.truncdiv({}, {})",
    "truncmod": "T.truncmod({}, {})",
    "and": "({} & {})",
    "or": "({} | {})",
    "xor": "({} ^ {})",
    "shl": "T.shift_left({}, {})",
    "shr": "T.shift_right({}, {})",
    "neg": "(-{})",
    "not": "(~{})",
    "abs": "T.abs({})",
    "floor": "T.floor({})",
    "ceil": "T.ceil({})",
    "round": "T.round({})",
    "trunc": "T.trunc({})",
    "sqrt": "T.sqrt({})",
    "exp": "T.exp({})",
    "log": "T.log({})",
    "sin": "T.sin({})",
    "tanh": "T.tanh({})",
    "cos": "T.cos({})",
    "atan": "T.atan({})",
    "exp2": "T.exp2({})",
    "log2": "T.log2({})",
    "log1p": "T.log1p({})",
    "expm1": "T.expm1({})",
    "rsqrt": "T.rsqrt({})",
    "sinh": "T.sinh({})",
    "asinh": "T.asinh({})",
    "popcount": "T.popcount({})",
    "lt": "({} < {})",
    "le": "({} <= {})",
    "eq": "({} == {})",
    "ne": "({} != {})",
    "gt": "({} > {})",
    "ge": "({} >= {})",
    "both": "T.And({}, {})",
    "either": "T.Or({}, {})",
    "negation": "T.Not({})",
    "select": "T.Select({}, {}, {})",
    "if_then_else": "T.if_then_else({}, {}, {})",
    "ternary": "({1} if {0} else {2})",
}
INFINITE = {"inf": 'T.infinity("{}")', "-inf": '(-T.infinity("{}"))', "nan": 'T.{}("nan")'}


def expr_text(expr: Expr) -> str:
    """An expression of a script."""
    match expr.op:
        case "const" if expr.dtype == INDEX:
            return str(expr.value)
        case "const":
            shown = INFINITE.get(str(expr.value))
            return shown.format(expr.dtype) if shown else f"T.{expr.dtype}({expr.value!r})"
        case "var":
            return str(expr.value)
        case "load":
            return f"{expr.value}[{', '.join(map(expr_text, expr.args)) or '()'}]"
        case "cast":
            return f'T.cast({expr_text(expr.args[0])}, "{expr.dtype}")'
        case _:
            return FORMS[expr.op].format(*map(expr_text, expr.args))


def kernel_text(kernel: Kernel) -> str:
    """The decorated function."""
    params = kernel.params
    lines = [
        "@T.prim_func",
        f"def {kernel.name}({', '.join(f'p{p.name}: T.handle' for p in params)}):",
    ]
    lines += [f"    {s} = T.int64()" for s in kernel.symbols]
    for p in params:
        lines.append(f'    {p.name} = T.match_buffer(p{p.name}, {_shape(p)}, "{p.dtype}")')
    for s in kernel.scratch:
        lines.append(f'    {s.name} = T.alloc_buffer({_shape(s)}, "{s.dtype}")')
    for block in kernel.blocks:
        lines += ["    " + line for line in _nest(block)]
    return "\n".join(lines) + "\n"


def _shape(buffer: Buffer) -> str:
    return "(" + "".join(f"{expr_text(d)}, " for d in buffer.dims) + ")"


def _nest(block: Block) -> list[str]:
    loops = loops_of(block)
    lines = ["    " * depth + _head(loop) for depth, loop in enumerate(loops)]
    inner = [f'with T.block("{block.name}"):', *("    " + line for line in _block(block))]
    return lines + ["    " * len(loops) + line for line in inner]


def _head(loop: Loop) -> str:
    if loop.start:
        kind = "T.serial" if loop.kind == "range" else loop.kind
        end = expr_text(index("add", loop.extent, loop.start))
        return f"for {loop.name} in {kind}({loop.start}, {end}):"
    return f"for {loop.name} in {loop.kind}({expr_text(loop.extent)}):"


def _block(block: Block) -> list[str]:
    bindings = bindings_of(block)
    lines = [_axis(axis, bindings[axis.name]) for axis in block.axes]
    guards = [expr_text(g) for g in guards_of(block)]
    lines += [f"T.where({' and '.join(guards)})"] if guards else []
    return lines + (_body(block) or ["pass"])


def _axis(axis: Axis, value: Expr) -> str:
    return f"{axis.name} = T.axis.{axis.role}({expr_text(axis.extent)}, {expr_text(value)})"


def _body(block: Block) -> list[str]:
    target, *others = map(expr_text, block.targets)
    texts = [expr_text(e) for e in block.exprs]
    match block.form:
        case "plain":
            return [f"{target} = {texts[0]}"]
        case "let":
            return [f"x = {texts[0]}", f"{target} = T.max(x, {texts[1]})"]
        case "branch":
            return [
                f"if {texts[0]}:",
                f"    {target} = {texts[1]}",
                "else:",
                f"    {target} = {texts[2]}",
            ]
        case "while":
            return [
                'c = T.alloc_buffer((1,), "int32")',
                "c[0] = 0",
                f"{target} = {texts[1]}",
                f"while c[0] < {block.count}:",
                f"    {target} = {texts[0]}",
                "    c[0] = c[0] + 1",
            ]
        case "reduce":
            step = FORMS[block.combine].format(target, texts[1])
            return ["with T.init():", f"    {target} = {texts[0]}", f"{target} = {step}"]
        case "argument":
            return _argument(block, target, others[0], texts[0], expr_text(block.exprs[1]))
        case _:
            raise AssertionError(block.form)


def _argument(block: Block, value: str, place: str, text: str, least: str) -> list[str]:
    """The extreme in one target and its place along the reduced axis, the first, in another."""
    axis = next(a.name for a in block.axes if a.role == "reduce")
    sign = ">=" if block.combine == "max" else "<="
    dtype = block.targets[1].dtype
    cast = f'T.cast({axis}, "{dtype}")'
    return [
        "with T.init():",
        f"    {place} = T.{dtype}(-1)",
        f"    {value} = {least}",
        f"v_place: T.{dtype} = T.Select({value} {sign} {text}, {place}, {cast})",
        f"v_value: T.{block.targets[0].dtype} = T.Select({value} {sign} {text}, {value}, {text})",
        f"{place} = v_place",
        f"{value} = v_value",
    ]
