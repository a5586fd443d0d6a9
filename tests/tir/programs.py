"""PrimFuncs that the tests of schedules begin with, as text; sizes are numbers or symbols."""

from collections.abc import Mapping

SHAPES = ({"n": 4, "m": 8, "p": 6}, {"n": 7, "m": 13, "p": 5}, {"n": 1, "m": 3, "p": 2})
"""Sizes for programs: such that factors divide, prime ones, and small ones."""

SIZES = ({"n": 8, "m": 6}, {"n": 7, "m": 5}, {"n": 1, "m": 1})
"""Such sizes for programs of two."""

VECTORS = {"X": "({n},)", "Y": "({n},)"}
"""The buffers of programs on two vectors."""


def program(body: str, buffers: Mapping[str, str], **sizes: int | str) -> str:
    """The PrimFunc "main" on buffers of these shapes; in the text, ``{n}`` is the size n."""
    symbols = [size for size in sizes.values() if isinstance(size, str)]
    lines = ["@T.prim_func", f"def main({', '.join(f'p{name}: T.handle' for name in buffers)}):"]
    lines += [f"    {symbol} = T.int64()" for symbol in symbols]
    for name, shape in buffers.items():
        lines.append(f'    {name} = T.match_buffer(p{name}, {shape.format(**sizes)}, "float32")')
    return "\n".join([*lines, body.format(**sizes)])


def matmul_relu(n: int | str = "n", m: int | str = "m", p: int | str = "p") -> str:
    """Blocks "Y", a product into scratch memory, and "C"."""
    buffers = {"A": "({n}, {p})", "B": "({p}, {m})", "C": "({n}, {m})"}
    body = """
    Y = T.alloc_buffer(({n}, {m}), "float32")
    for i, j, k in T.grid({n}, {m}, {p}):
        with T.block("Y"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid({n}, {m}):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
"""
    return program(body, buffers, n=n, m=m, p=p)


def chain(n: int | str = "n", m: int | str = "m") -> str:
    """Blocks "S" and "Y", elementwise, by way of scratch memory."""
    body = """
    S = T.alloc_buffer(({n}, {m}), "float32")
    for i, j in T.grid({n}, {m}):
        with T.block("S"):
            vi, vj = T.axis.remap("SS", [i, j])
            S[vi, vj] = X[vi, vj] * T.float32(2)
    for i, j in T.grid({n}, {m}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = S[vi, vj] + T.float32(1)
"""
    return program(body, {"X": "({n}, {m})", "Y": "({n}, {m})"}, n=n, m=m)


def scaled(n: int | str, index: str = "vi", value: str = "X[vi]") -> str:
    """Block "Y", a function of the elements of another buffer."""
    body = f"""
    for i in range({{n}}):
        with T.block("Y"):
            vi = T.axis.spatial({{n}}, i)
            Y[{index}] = {value} * T.float32(2)
"""
    return program(body, VECTORS, n=n)


def in_place(n: int | str) -> str:
    """Block "Y", which adds to what its buffer held before."""
    body = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            Y[vi] = Y[vi] + X[vi]
"""
    return program(body, VECTORS, n=n)


def viewed(n: int | str) -> str:
    """Block "Y", a copy of the elements of a view."""
    body = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            V = T.match_buffer(X[vi : vi + 1], (1,))
            Y[vi] = V[0]
"""
    return program(body, VECTORS, n=n)


def shifted(n: int | str) -> str:
    """Blocks "Y" and "Z", which read parts of one buffer, "Z" two of them."""
    body = """
    for i in range({n}):
        with T.block("Y"):
            vi = T.axis.spatial({n}, i)
            Y[vi] = X[vi + 2]
    for i in range({n}):
        with T.block("Z"):
            vi = T.axis.spatial({n}, i)
            Z[vi] = X[vi + 3] + X[vi]
"""
    return program(body, {"X": "({n} + 4,)", "Y": "({n},)", "Z": "({n},)"}, n=n)


def row_sum(n: int | str = "n", m: int | str = "m") -> str:
    """Block "Y", the sums of rows."""
    body = """
    for i, k in T.grid({n}, {m}):
        with T.block("Y"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Y[vi] = T.float32(0)
            Y[vi] = Y[vi] + X[vi, vk]
"""
    return program(body, {"X": "({n}, {m})", "Y": "({n},)"}, n=n, m=m)
