"""Launches of threads, ``tx = T.launch_thread("threadIdx.x", 4)``: loops over what follows them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from .buffers import EnvThread
from .statement_reader import StatementReader

LAUNCH = "T.launch_thread"


def launched(
    statements: StatementReader, node: ast.stmt, rest: Sequence[ast.stmt]
) -> ast.For | None:
    """The loop of a statement that launches threads, over the rest of the block or of its own.

    ``with T.launch_thread("threadIdx.x", 4) as tx:`` has statements of its own. Raises ScriptError
    for other arguments than a tag, or a variable of `EnvThread`, and an extent.
    """
    match node:
        case ast.Assign(targets=[ast.Name() as name], value=ast.Call() as call):
            target, body = name, rest
        case ast.Expr(value=ast.Call(args=[ast.Name() as name, _]) as call):
            target, body = ast.copy_location(ast.Name(name.id, ast.Store()), name), rest
        case ast.With(
            items=[ast.withitem(ast.Call() as call, ast.Name() as name)], body=own_statements
        ):
            target, body = name, own_statements
        case ast.With(items=[ast.withitem(ast.Call(args=[ast.Name() as name, _]) as call, None)]):
            target, body = ast.copy_location(ast.Name(name.id, ast.Store()), name), node.body
        case _:
            return None
    if statements.called(call) != LAUNCH or not isinstance(call.func, ast.Attribute):
        return None
    if len(call.args) != 2 or call.keywords:
        raise statements.error(call, "expected T.launch_thread(thread, extent)")
    given, extent = call.args
    thread = statements.exprs.eval(given)
    tag = thread.tag if isinstance(thread, EnvThread) else statements.exprs.text(given)
    kind = ast.Attribute(call.func.value, "thread_binding", ast.Load())
    loop = ast.Call(kind, [extent, ast.Constant(tag)], [])
    found = ast.For(target, loop, list(body) or [ast.Pass()], [])
    for part in (kind, loop, loop.args[1], found, *found.body):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    return found
