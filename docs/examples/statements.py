"""Examples of the statements of kernels."""
# ruff: noqa: E402

# %% tir.For tir.ForKind tir.SBlock
from xrelax import te, tir

x = te.placeholder((4, 8), name="X")
schedule = tir.Schedule(te.create_prim_func([x, te.compute((4, 8), lambda i, j: x[i, j] * 2, "Y")]))
block, (outer, inner) = schedule.get_block("Y"), schedule.get_loops("Y")
schedule.vectorize(inner)
found, loop = schedule.get(block), schedule.get(inner)
print(isinstance(found, tir.SBlock), [a.name for a in found.iter_vars])
print([(r.buffer, [(b.min, b.extent) for b in r.region]) for r in found.reads])
print(isinstance(loop, tir.For), loop.loop_var, loop.extent, loop.kind == tir.ForKind.VECTORIZED)

# %% tir.stmt_functor tir.SBlockRealize tir.SeqStmt tir.BufferStore tir.BufferRegion
from xrelax import te, tir

x = te.placeholder((4, 8), name="X")
twice = te.compute((4, 8), lambda i, j: x[i, j] * 2, "twice")
kernel = te.create_prim_func([x, te.compute((4, 8), lambda i, j: twice[i, j] + 1, "Y")])
found = []
tir.stmt_functor.post_order_visit(kernel.body, found.append)
for node in found:
    if isinstance(node, tir.BufferStore):
        print(node.buffer, node.indices, "=", node.value, isinstance(node.value, tir.Add))
realized = [node.block for node in found if isinstance(node, tir.SBlockRealize)]
print([(b.name_hint, [isinstance(r, tir.BufferRegion) for r in b.reads]) for b in realized])
print(isinstance(kernel.body.block.body, tir.SeqStmt))

# %% tir.MatchBufferRegion
from xrelax import ir, tir

x, row = tir.decl_buffer((4, 8), name="X"), tir.decl_buffer((8,), name="row")
i, vi = tir.Var("i", "int64"), tir.Var("vi", "int64")
source = tir.BufferRegion(x, [ir.Range(vi, vi + 1), ir.Range(0, 8)])
views = [tir.MatchBufferRegion(row, source)]
axes, store = [tir.IterVar((0, 4), vi, 0)], tir.BufferStore(row, 1.0, [0])
block = tir.SBlock(axes, None, None, "first", store, match_buffers=views)
loop = tir.For(i, 0, 4, tir.ForKind.SERIAL, tir.SBlockRealize([i], True, block))
tir.PrimFunc([x], loop).show()

# %% tir.IfThenElse tir.While tir.Bind tir.Break tir.Evaluate tir.AssertStmt
from xrelax import tir
from xrelax.script import tir as T


@T.prim_func
def steps(X: T.Buffer((8,), "int32")):
    for i in range(8):
        while X[i] < 9:
            first: T.int32 = X[i]
            X[i] = first * first
            if first > 3:
                break
    T.evaluate(T.call_extern("int32", "rand"))
    assert X[0] < 9, "large"


kinds = tir.IfThenElse, tir.While, tir.Bind, tir.Break, tir.Evaluate, tir.AssertStmt
tir.stmt_functor.post_order_visit(steps.body, lambda n: isinstance(n, kinds) and print(type(n)))

# %% tir.AttrStmt tir.Continue tir.AllocBuffer tir.DeclBuffer tir.Return
from xrelax import tir
from xrelax.script import tir as T


@T.prim_func
def parts(x: T.handle("float32"), n: T.int32) -> T.int32:
    with T.attr("i", "pragma_unroll", 1):
        for i in range(n):
            X, Y = T.decl_buffer((8,), data=x), T.alloc_buffer((8,))
            if i % 2 == 0:
                continue
            Y[0] = X[0]
    return n


kinds = tir.AttrStmt, tir.Continue, tir.AllocBuffer, tir.DeclBuffer, tir.Return
tir.stmt_functor.post_order_visit(parts.body, lambda n: isinstance(n, kinds) and print(type(n)))
