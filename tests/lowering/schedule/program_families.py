"""Families of drawn programs, one for each form of kernel that default schedules know."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from drawn_programs import FLOATS, Dim, Draw, Program, dim


def product(d: Draw) -> Program:
    """A product of matrices, either of them as it is or transposed, and what follows."""
    m, k, n = d.dims("mkn")
    left = d.tensor(m, k) if d.chance(70) else f"R.permute_dims({d.tensor(k, m)})"
    if d.chance(70):
        right = d.weight(k, n)
    else:
        right = f"R.permute_dims({d.weight(n, k)})"
    return d.program(d.epilogue(f"R.matmul({left}, {right})", (m, n)), k)


def strided_product(d: Draw) -> Program:
    """A product of every other row or column of a matrix, which no stride of 1 leads along."""
    m, k, n = (d.pick((1, 5, 16, 33, 70)) for _ in range(3))
    rows = f"R.strided_slice({d.tensor(2 * m, k)}, [0], [0], [{2 * m}], [2])"
    right = f"R.strided_slice({d.tensor(k, 3 * n)}, [1], [1], [{3 * n}], [3])"
    return d.program(d.epilogue(f"R.matmul({rows}, {right})", (m, n)), k)


def batched_product(d: Draw) -> Program:
    """Products of stacks of matrices, of which one may be the same for all."""
    b, c, m, k, n = d.dims("bcmkn")
    left = d.pick(((m, k), (b, m, k), (c, b, m, k)))
    right = d.pick(((b, k, n), (1, k, n), (c, 1, k, n)))
    value = f"R.matmul({d.tensor(*left)}, {d.tensor(*right)})"
    return d.program(f"R.nn.relu({value})" if d.chance(40) else value, k)


def contraction(d: Draw) -> Program:
    """Sums of products over one or two letters, in many orders."""
    terms = ("ij,jk->ik", "ij,kj->ik", "ji,jk->ki", "bij,bjk->bik", "ijk,kjl->il", "ij,jk->ki")
    subscripts = d.pick((*terms, "bihd,bjhd->bhij", "bhij,bjhd->bihd", "ij,ij->i", "ij,ij->"))
    letters = sorted({c for c in subscripts if c.isalpha()})
    size = dict(zip(letters, d.dims("".join(letters), 1 << 20), strict=True))
    inputs, output = subscripts.split("->")
    names = [d.tensor(*(size[c] for c in term)) for term in inputs.split(",")]
    summed = prod(size[c] for c in letters if c not in output)
    return d.program(f'R.einsum(({", ".join(names)}), "{subscripts}")', summed)


def vector_product(d: Draw) -> Program:
    """A matrix by a vector, from either side, and one row by a matrix."""
    m, k = d.dims("mk")
    form = d.pick(("vm", "mv", "row", "linear"))
    if form == "vm":
        value, shape = f"R.matmul({d.tensor(k)}, {d.weight(k, m)})", (m,)
    elif form == "mv":
        value, shape = f"R.matmul({d.weight(m, k)}, {d.tensor(k)})", (m,)
    elif form == "row":
        value, shape = f"R.matmul({d.tensor(1, k)}, {d.weight(k, m)})", (1, m)
    else:
        value, shape = f"R.linear({d.tensor(1, k)}, {d.weight(m, k)}, {d.tensor(m)})", (1, m)
    return d.program(d.epilogue(value, shape), k + 1)


def row_product(d: Draw) -> Program:
    """One row by a matrix of so many rows that some number below 5 divides them, or none."""
    m, k = d.pick((16, 33, 70, 2048)), d.pick((25, 49, 121, 62))
    return d.program(d.epilogue(f"R.matmul({d.tensor(1, k)}, {d.tensor(k, m)})", (1, m)), k)


def convolution(d: Draw) -> Program:
    """Two-dimensional, with pads, strides, dilation, groups; all channels their own group, too."""
    groups = d.pick((1, 1, 1, 2, 3))
    inputs, outputs = (groups * d.pick((1, 3, 8, 16, 19)) for _ in range(2))
    if d.chance(25):
        groups, outputs = inputs, inputs * d.pick((1, 2))
    kernel = [d.pick((1, 2, 3, 5)) for _ in range(2)]
    dilation, stride = d.pick((1, 1, 2)), d.pick((1, 1, 2, 3))
    padding = d.pick((0, 1, 2))
    window = [dilation * (size - 1) + 1 for size in kernel]
    image = [d.pick((w, w + 1, w + 6, 14, 23)) for w in window]
    batch, height, width = d.pick((0, 1, 2)), max(image[0], window[0]), max(image[1], window[1])
    x = d.tensor(batch, inputs, height, width)
    w = d.weight(outputs, inputs // groups, *kernel)
    options = f"strides={stride}, padding={padding}, dilation={dilation}, groups={groups}"
    value = f"R.nn.conv2d({x}, {w}, {options})"
    if d.chance(50):
        value = f"R.nn.relu(R.add({value}, {d.tensor(outputs, 1, 1)}))"
    return d.program(value, inputs // groups * prod(kernel) + 1)


def other_convolution(d: Draw) -> Program:
    """One-dimensional, transposed, or with channels last."""
    inputs, outputs, kernel = d.pick((1, 3, 8, 17)), d.pick((1, 5, 16, 33)), d.pick((1, 2, 3))
    stride, padding, size = d.pick((1, 2)), d.pick((0, kernel - 1)), d.pick((3, 8, 19))
    options = f"strides={stride}, padding={padding}"
    terms = inputs * kernel * kernel
    form = d.pick(("one", "transposed", "last"))
    if form == "one":
        x, w = d.tensor(2, inputs, size), d.weight(outputs, inputs, kernel)
        return d.program(f"R.nn.conv1d({x}, {w}, {options})", terms)
    if form == "transposed":
        x, w = d.tensor(1, inputs, size, 5), d.weight(inputs, outputs, kernel, kernel)
        options = f"strides={stride}, padding={min(padding, 1) if kernel > 1 else 0}"
        return d.program(f"R.nn.conv2d_transpose({x}, {w}, {options})", terms)
    x, w = d.tensor(1, size, 7, inputs), d.weight(outputs, kernel, kernel, inputs)
    layouts = 'data_layout="NHWC", kernel_layout="OHWI"'
    return d.program(f"R.nn.conv2d({x}, {w}, {options}, {layouts})", terms)


def _axes(d: Draw, rank: int) -> list[int] | None:
    """Some of the axes, or all."""
    found = [axis for axis in range(rank) if d.chance(50)]
    return found or None


def sums(d: Draw) -> Program:
    """Sums and means over rows, columns, axes in the middle, everything; of products, too."""
    shape = d.dims("ijkl"[: d.pick((1, 2, 2, 3, 4))])
    axes = _axes(d, len(shape))
    summed = prod(shape if axes is None else [shape[a] for a in axes])
    x = d.tensor(*shape)
    value = d.pick((x, x, f"R.multiply({x}, {d.tensor(*shape)})", f"R.nn.relu({x})"))
    keeps = d.chance(30)
    if d.chance(25) and summed and d.dtype in FLOATS:
        return d.program(f"R.mean({value}, axis={axes}, keepdims={keeps})", summed + 1)
    return d.program(f"R.sum({value}, axis={axes}, keepdims={keeps})", summed + 1)


def long_sums(d: Draw) -> Program:
    """Reductions of so many elements that they are computed in parts, or over several rows."""
    d.among(("float32", "float64", "int32", "int64"))
    shapes = ((1, 70001), (3, 40000), (2, 33000), (20011, 3), (264, 1024), (400, 700), (1030, 300))
    rows, columns = d.pick(shapes)
    x = d.tensor(rows, columns)
    axis = d.pick((None, 0, 1, 1))
    operation = d.pick(("sum", "sum", "max", "argmax"))
    return d.program(f"R.{operation}({x}, axis={axis})", 0 if operation != "sum" else 1 << 17)


def extremes(d: Draw) -> Program:
    """The largest and smallest elements, and where they are."""
    shape = d.dims("ijk"[: d.pick((1, 2, 2, 3))], least=1)
    axis = d.pick((None, *range(len(shape))))
    operation = d.pick(("max", "min", "argmax", "argmin"))
    return d.program(f"R.{operation}({d.tensor(*shape)}, axis={axis})")


def places_of_extremes(d: Draw) -> Program:
    """The places of the largest elements of long windows."""
    length = d.pick((200, 300, 512))
    x = d.tensor(dim(1), dim(d.pick((3, 20))), dim(length))
    return d.program(f"R.nn.max_pool1d_with_indices({x}, pool_size=[{length}])[1]")


def norms(d: Draw) -> Program:
    """Softmax along an axis, layer norm, RMS norm, log softmax, variances."""
    return _norm(d, d.dims("ijk"[: d.pick((1, 2, 2, 3))], least=2))


def norms_of_short_rows(d: Draw) -> Program:
    """The same of enough rows for groups of them."""
    return _norm(d, [dim(d.pick((34, 64, 96))), dim(d.pick((16, 33, 64, 200)))])


def _norm(d: Draw, shape: Sequence[Dim]) -> Program:
    d.among(("float32", "float64"))
    axis, last = d.pick(range(len(shape))), shape[-1]
    x, terms = d.tensor(*shape), shape[-1]
    if d.chance(40):
        x = f"R.add({x}, {d.tensor(*shape)})"
    operation = d.pick(("softmax", "log_softmax", "layer_norm", "rms_norm", "variance"))
    if operation == "layer_norm":
        value = f"R.nn.layer_norm({x}, {d.tensor(last)}, {d.tensor(last)}, axes=[-1])"
    elif operation == "rms_norm":
        value = f"R.nn.rms_norm({x}, {d.tensor(last)}, axes=[-1])"
    elif operation == "variance":
        value, terms = f"R.variance({x}, axis={axis})", shape[axis]
    else:
        value, terms = f"R.nn.{operation}({x}, axis={axis})", shape[axis]
    return d.program(value, terms, is_exact=False)


def product_and_norm(d: Draw) -> Program:
    """A softmax or layer norm of a product, and attention."""
    d.among(("float32", "float64"))
    if d.chance(40):
        heads, size = d.pick((1, 3)), d.pick((8, 16, 33))
        queries, keys = d.pick((1, 7, 40)), d.pick((1, 17, 64))
        q = d.tensor(1, queries, heads, size)
        k, v = (d.tensor(1, keys, heads, size) for _ in range(2))
        return d.program(f"R.nn.attention({q}, {k}, {v})", keys + size, is_exact=False)
    m, k, n = d.dims("mkn", least=2)
    value = f"R.multiply(R.matmul({d.tensor(m, k)}, {d.weight(k, n)}), R.const(0.1, '{d.dtype}'))"
    if d.chance(50):
        return d.program(f"R.nn.softmax({value})", k + n, is_exact=False)
    value = f"R.add({value}, {d.tensor(m, n)})"
    norm = f"R.nn.layer_norm({value}, {d.tensor(n)}, {d.tensor(n)}, axes=[-1])"
    return d.program(norm, k + n, is_exact=False)


def elements(d: Draw) -> Program:
    """Functions of elements of tensors that broadcast."""
    shape = d.dims("ijkl"[: d.pick((1, 2, 3, 4))])

    def operand() -> str:
        kept = shape[d.pick(range(len(shape) + 1)) if d.chance(40) else 0 :]
        return d.tensor(*(1 if d.chance(25) else size for size in kept))

    value, depth = d.tensor(*shape), d.pick((1, 2, 3))
    for _ in range(depth):
        value = f"R.{d.pick(('add', 'add', 'multiply', 'maximum'))}({value}, {operand()})"
    return d.program(f"R.nn.relu({value})" if d.chance(30) else value, 1 + depth)


def transposes(d: Draw) -> Program:
    """Dims in another order, of a tensor or a sum of two, of which one is as it was."""
    shape = d.dims("ijkl"[: d.pick((2, 2, 3, 4))])
    axes = d.rng.sample(range(len(shape)), len(shape))
    value = f"R.permute_dims({d.tensor(*shape)}, {axes})"
    if d.chance(50):
        value = f"R.add({value}, {d.tensor(*(shape[a] for a in axes))})"
    return d.program(value, 1)


def joined(d: Draw) -> Program:
    """Tensors one after the other along an axis, as they are or in a sum."""
    shape = d.dims("ij", 1 << 14)
    axis, count = d.pick((0, 1)), d.pick((2, 2, 3, 4))
    sizes = [d.pick((1, 3, 16, 29, 64)) for _ in range(count)]
    parts = [(n, shape[1]) if axis == 0 else (shape[0], n) for n in sizes]
    value = f"R.concat(({', '.join(d.tensor(*part) for part in parts)}), axis={axis})"
    whole = (sum(sizes), shape[1]) if axis == 0 else (shape[0], sum(sizes))
    return d.program(d.epilogue(value, whole) if d.chance(60) else value, 2)


def pooling(d: Draw) -> Program:
    """The largest and the mean of windows."""
    d.among(FLOATS)
    size, stride = d.pick((2, 3)), d.pick((1, 2, 3))
    padding, ceil = d.pick((0, 1)), d.chance(30)
    x = d.tensor(d.pick((1, 2)), d.pick((1, 3, 16, 17)), d.pick((5, 8, 14)), d.pick((4, 9, 16)))
    kind = d.pick(("max", "avg"))
    options = f"pool_size={size}, strides={stride}, padding={padding}, ceil_mode={ceil}"
    return d.program(f"R.nn.{kind}_pool2d({x}, {options})", 0 if kind == "max" else size**2 + 1)


def sliding_windows(d: Draw) -> Program:
    """A depthwise convolution or a pool, channels last, of few or many channels."""
    kernel, stride = [d.pick((1, 2, 3, 5, 7)) for _ in range(2)], d.pick((1, 1, 2, 3))
    dilation, channels = d.pick((1, 1, 2)), d.pick((1, 4, 8, 16, 19, 40))
    padding = [min(d.pick((0, 1, 2, 3)), dilation * (size - 1)) for size in kernel]
    image = [d.pick((1, 5, 7, 9, 14, 23)) + dilation * (size - 1) for size in kernel]
    x, layout = d.tensor(d.pick((1, 2)), *image, channels), '"NHWC"'
    options = f"strides={stride}, padding={padding}, dilation={dilation}, out_layout={layout}"
    if d.chance(30):
        value = f"R.nn.max_pool2d({x}, pool_size={kernel}, {options}, layout={layout})"
        return d.program(value)
    w, groups = d.weight(channels, 1, *kernel), f"groups={channels}, data_layout={layout}"
    value = f"R.nn.conv2d({x}, {w}, {options}, {groups})"
    if d.chance(70):
        value = f"R.nn.relu(R.add({value}, {d.tensor(channels)}))"
    return d.program(value, prod(kernel) + 1)


def gathers(d: Draw) -> Program:
    """Rows, columns or single elements by their indices, which may go on to a product."""
    rows, columns, count, width = d.dims("rcnw", 1 << 18, least=1)
    axis = d.pick((0, 1))
    x = d.tensor(rows, columns)
    indices = d.tensor(count, below=(rows, columns)[axis])
    value = f"R.take({x}, {indices}, axis={axis})"
    if axis == 0 and d.chance(40):
        return d.program(f"R.matmul({value}, {d.tensor(columns, width)})", columns)
    shape = (count, columns) if axis == 0 else (rows, count)
    return d.program(d.epilogue(value, shape), 2)


def winograd(d: Draw) -> Program:
    """A 3x3 convolution in tiles of 2x2 results."""
    d.among(("float32", "float64"))
    n, h, w = d.pick((1, 2, 3)), *(d.pick((1, 2, 5, 8, 13, 20)) for _ in range(2))
    inputs, outputs = d.pick((4, 16, 32)), d.pick((16, 48, 64))
    block = [d.pick((1, 2, 4)), d.pick((1, 3, 8))]
    value = (
        f"R.nn.winograd_conv2d({d.tensor(n, h, w, inputs)}, {d.weight(4, 4, inputs, outputs)}, "
        f'padding=[1], tile=2, block={block}, data_layout="NHWC")'
    )
    return d.program(d.epilogue(value, (n, h, w, outputs)), 16 * inputs, is_exact=False)


def block_product(d: Draw) -> Program:
    """A product with weights of few bits, whose blocks have scales."""
    d.among(("float32",))
    (rows,), bits, blocks = d.dims("m"), d.pick((2, 4, 8)), d.pick((1, 2, 5))
    words, columns = d.pick((1, 2, 4)), d.pick((1, 16, 24, 40))
    panels, depth = -(-columns // 16), blocks * words * 32 // bits
    integers = f'R.astype({d.tensor(columns, depth, below=1 << bits)}, "uint8")'
    weight = f"R.nn.pack_blocks({integers}, bits={bits}, block_size={depth // blocks})"
    factors = ", ".join(d.weight(panels, blocks, 16) for _ in range(d.pick((1, 2))))
    options = f"columns={columns}, bits={bits}, zero_point={1 << (bits - 1)}"
    if d.chance(50):
        options += f', activations="{d.pick(("int8", "int16"))}"'
    value = f"R.nn.matmul_blocks({d.tensor(rows, depth)}, {weight}, {factors}, {options})"
    return d.program(d.epilogue(value, (rows, columns)), depth, is_exact=False)


def attention(d: Draw) -> Program:
    """Attention with and without a causal mask, of few or many queries and shared keys."""
    d.among(("float32", "float64"))
    batch, heads, queries, keys = (d.pick(s) for s in ((1, 2), (1, 2, 6), SOME, SOME))
    key_heads, size, width = d.pick((1, heads)), d.pick((4, 16, 24, 33)), d.pick((8, 16, 20))
    q = d.tensor(batch, queries, heads, size)
    k, v = d.tensor(batch, keys, key_heads, size), d.tensor(batch, keys, key_heads, width)
    mask = d.pick(("None", '"TopLeft"', '"BottomRight"'))
    value = f"R.nn.attention({q}, {k}, {v}, causal_mask={mask})"
    return d.program(value, size * keys, is_exact=False)


SOME = (1, 2, 7, 16, 48, 65, 100)

FAMILIES = (
    product,
    strided_product,
    batched_product,
    contraction,
    vector_product,
    row_product,
    convolution,
    other_convolution,
    sums,
    long_sums,
    extremes,
    places_of_extremes,
    norms,
    norms_of_short_rows,
    product_and_norm,
    elements,
    transposes,
    joined,
    pooling,
    sliding_windows,
    gathers,
    winograd,
    block_product,
    attention,
)
"""Each draws one program."""
