"""Graphs of kernels that tensor expressions define, of every fusion pattern, with NumPy beside."""

import random

import numpy as np
import pytest
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, UnitAttr, i1
from xdsl.ir import Block, Region

from xrelax import te
from xrelax.dialects import relax
from xrelax.dialects.dtypes import element_type
from xrelax.dialects.int_expr import IntExpr, sym
from xrelax.dialects.sym import expr_array
from xrelax.lowering.functions import PRIVATE, unique_name


def total(tensor, axis_extent, rows):
    k = te.reduce_axis((0, axis_extent), name="k")
    return te.compute((rows,), lambda i: te.sum(tensor[i, k], axis=k), name="total")


def product(x, w):
    k = te.reduce_axis((0, x.shape[1]), name="k")
    shape = (x.shape[0], w.shape[1])
    return te.compute(shape, lambda i, j: te.sum(x[i, k] * w[k, j], axis=k), name="product")


def linear(x, w, b):
    k = te.reduce_axis((0, x.shape[1]), name="k")
    shape = (x.shape[0], w.shape[0])
    dense = te.compute(shape, lambda i, j: te.sum(x[i, k] * w[j, k], axis=k), name="dense")
    return te.compute(shape, lambda i, j: dense[i, j] + b[j], name="linear")


def centered(x):
    """Two reductions and what is elementwise in both, as of a softmax; exact on whole numbers."""
    n, m = x.shape
    k, k2 = te.reduce_axis((0, m), name="k"), te.reduce_axis((0, m), name="k2")
    top = te.compute((n,), lambda i: te.max(x[i, k], axis=k), name="top")
    below = te.compute((n, m), lambda i, j: top[i] - x[i, j], name="below")
    sums = te.compute((n,), lambda i: te.sum(below[i, k2], axis=k2), name="sums")
    return te.compute((n, m), lambda i, j: sums[i] - below[i, j], name="centered")


def centered_numpy(x):
    below = x.max(1, keepdims=True) - x
    return below.sum(1, keepdims=True, dtype=x.dtype) - below


def elementwise(function):
    return lambda *tensors: te.compute(
        tensors[0].shape, lambda *i: function(*(t(*i) for t in tensors)), name="map"
    )


KINDS = {
    "add": (2, elementwise(lambda a, b: a + b), np.add),
    "subtract": (2, elementwise(lambda a, b: a - b), np.subtract),
    "maximum": (2, elementwise(lambda a, b: te.max(a, b)), np.maximum),
    "relu": (1, elementwise(lambda a: te.max(a, 0)), lambda a: np.maximum(a, 0)),
    "halve": (1, elementwise(lambda a: te.min(a, 2) * 2), lambda a: np.minimum(a, 2) * 2),
    "add_row": (
        ("x", "row"),
        lambda x, b: te.compute(x.shape, lambda i, j: x[i, j] + b[j], name="add_row"),
        lambda x, b: x + b,
    ),
    "add_column": (
        ("x", "column"),
        lambda x, b: te.compute(x.shape, lambda i, j: x[i, j] - b[i], name="add_column"),
        lambda x, b: x - b[:, None],
    ),
    "transpose": (
        1,
        lambda x: te.compute(x.shape[::-1], lambda i, j: x[j, i], name="transpose"),
        lambda x: x.T,
    ),
    "split": (
        1,
        lambda x: te.compute(
            (x.shape[1], x.shape[0]),
            lambda i, j: x[(i * x.shape[0] + j) // x.shape[1], (i * x.shape[0] + j) % x.shape[1]],
            name="reshape",
        ),
        lambda x: x.reshape(x.shape[::-1]),
    ),
    "concat": (
        ("x", "same_rows"),
        lambda x, y: te.compute(
            (x.shape[0], x.shape[1] + y.shape[1]),
            lambda i, j: te.if_then_else(j < x.shape[1], x[i, j], y[i, j - x.shape[1]]),
            name="concat",
        ),
        lambda x, y: np.concatenate([x, y], 1),
    ),
    "every_second": (
        ("even",),
        lambda x: te.compute(
            (x.shape[0] // 2, x.shape[1]), lambda i, j: x[i * 2 + 1, j], name="slice"
        ),
        lambda x: x[1::2],
    ),
    "gather": (
        ("x", "indices"),
        lambda x, at: te.compute(
            (at.shape[0], x.shape[1]), lambda i, j: x[at[i], j], name="gather"
        ),
        lambda x, at: x[at],
    ),
    "sum": (1, lambda x: total(x, x.shape[1], x.shape[0]), lambda x: x.sum(1, dtype=x.dtype)),
    "product": (("x", "weight"), product, np.matmul),
    "linear": (("x", "turned", "bias"), linear, lambda x, w, b: x @ w.T + b),
    "centered": (1, centered, centered_numpy),
}
"""Operands (a number of one shape, or what they are), definition and NumPy of each kernel."""


class KernelGraph:
    """A graph of kernels that is being built, its parameters, and what its values are in NumPy."""

    def __init__(self, rng: random.Random, dtype: str, symbolic: bool, kinds=tuple(KINDS)):
        self.rng, self.dtype, self.symbolic, self.kinds = rng, dtype, symbolic, kinds
        self.module = ModuleOp([])
        self.params, self.arrays, self.sizes = [], [], {}
        self.body, self.kernels, self.values = Block(), {}, []

    def dim(self):
        names = list(self.sizes)
        if names and self.rng.random() < 0.7:
            return self.rng.choice(names)
        size = self.rng.choice((1, 2, 3, 4, 6, 8))
        if self.symbolic and self.rng.random() < 0.6 and len(names) < 3:
            name = "nmk"[sum(isinstance(x, str) for x in names)]
        else:
            name = size
        self.sizes[name] = size
        return name

    def number(self, dim):
        return dim.evaluate(lambda s: self.sizes[s.name])

    def expr(self, dim):
        return sym(dim) if isinstance(dim, str) else IntExpr.of(dim)

    def param(self, dims, dtype=None, below=None):
        dtype = dtype or self.dtype
        type_ = relax.TensorType.of(dims, element_type(dtype))
        shape = [self.number(d) for d in dims]
        values = np.random.RandomState(self.rng.randrange(1 << 30))
        array = values.randint(-3 if below is None else 0, below or 4, shape).astype(dtype)
        self.params.append(type_)
        self.arrays.append(array)
        return len(self.params) - 1, type_, array

    def operand(self, dims):
        fitting = [v for v in self.values if list(v[1].dims) == list(dims)]
        if fitting and self.rng.random() < 0.75:
            return self.rng.choice(fitting[-4:])
        return self.param(dims)

    def operands(self, wanted):
        first = self.values[-1] if self.rng.random() < 0.6 else self.rng.choice(self.values)
        if len(first[1].dims) != 2:
            first = self.operand([self.expr(self.dim()), first[1].dims[0]])
        rows, columns = first[1].dims
        if isinstance(wanted, int):
            return [first, *(self.operand([rows, columns]) for _ in range(wanted - 1))]
        found = []
        for kind in wanted:
            match kind:
                case "x":
                    found.append(first)
                case "even":
                    found.append(self.operand([rows * 2, columns]))
                case "row":
                    found.append(self.operand([columns]))
                case "column":
                    found.append(self.operand([rows]))
                case "same_rows":
                    found.append(self.operand([rows, self.expr(self.dim())]))
                case "indices":
                    size = self.number(rows)
                    found.append(self.param([self.expr(self.dim())], "int64", size))
                case "weight":
                    found.append(self.operand([columns, self.expr(self.dim())]))
                case "turned":
                    found.append(self.operand([self.expr(self.dim()), columns]))
                case "bias":
                    found.append(self.operand([found[-1][1].dims[0]]))
        return found

    def step(self):
        kind = self.rng.choice(self.kinds)
        wanted, define, numpy = KINDS[kind]
        operands = self.operands(wanted)
        key = (kind, *(v[1] for v in operands))
        if key not in self.kernels:
            self.kernels[key] = self.kernel(kind, define, [v[1] for v in operands])
        name, type_, symbols = self.kernels[key]
        with np.errstate(all="ignore"):
            array = numpy(*(v[2] for v in operands))
        tir_vars = te_vars(symbols)
        call = relax.CallTIROp(name, [self.value(v[0]) for v in operands], type_, tir_vars)
        self.body.add_op(call)
        self.values.append((call.result, type_, np.asarray(array, self.dtype)))

    def kernel(self, kind, define, types):
        inputs = [
            te.placeholder(te.tensor.shape_of(t.dims), t.dtype, name=f"p{i}")
            for i, t in enumerate(types)
        ]
        result = define(*inputs)
        taken = [k[0] for k in self.kernels.values()]
        func = te.build_prim_func([*inputs, result], unique_name(kind, taken))
        func.attrs = DictionaryAttr({PRIVATE: UnitAttr(), "tir.noalias": IntegerAttr(1, i1)})
        self.module.body.block.add_op(func)
        dims = func.params[len(inputs)].type.dims
        indices = list(func.names[len(inputs) + 1 :])
        return func.sym_name.data, relax.TensorType.of(dims, element_type(result.dtype)), indices

    def value(self, value):
        return self.placeholders()[value] if isinstance(value, int) else value

    def placeholders(self):
        while len(self.body.args) < len(self.params):
            self.body.insert_arg(self.params[len(self.body.args)], len(self.body.args))
        return self.body.args

    def finish(self, results):
        """The module, whose ``main`` returns the results as a tuple, and its arguments."""
        for name in [s for s in self.sizes if isinstance(s, str)]:
            self.param([sym(name)])
        self.placeholders()
        outer = Block(arg_types=self.params)
        for old, new in zip(self.body.args, outer.args, strict=True):
            old.replace_all_uses_with(new)
        for arg in reversed(list(self.body.args)):
            self.body.erase_arg(arg)
        values = [v[0] if not isinstance(v[0], int) else outer.args[v[0]] for v in results]
        self.body.add_op(relax.OutputOp(values))
        flow = relax.DataflowOp(Region(self.body), [v.type for v in values])
        fields = relax.TupleOp(list(flow.outputs))
        outer.add_ops([flow, fields, relax.ReturnOp(fields.result)])
        names = [f"x{i}" for i in range(len(self.params))]
        main = relax.FuncOp("main", names, fields.result.type, Region(outer))
        self.module.body.block.add_op(main)
        return self.module, self.arrays


def te_vars(symbols):
    return expr_array([sym(s) for s in symbols]) if symbols else None


def generate(rng, dtype="float32", symbolic=False, steps=8, kinds=tuple(KINDS)):
    """A module, its arguments, and the expected results."""
    graph = KernelGraph(rng, dtype, symbolic, kinds)
    graph.values.append(graph.param([graph.expr(graph.dim()), graph.expr(graph.dim())]))
    for _ in range(steps):
        graph.step()
    made = graph.values[1:]
    results = [made[-1], *rng.sample(made[:-1], min(len(made) - 1, rng.choice((0, 0, 1, 2))))]
    module, arrays = graph.finish(list({id(r): r for r in results}.values()))
    expected = [r[2] for r in {id(r): r for r in results}.values()]
    return module, arrays, expected


@pytest.fixture(scope="session")
def generate_graph():
    """`generate`, for tests of other modules."""
    return generate


@pytest.fixture(scope="session")
def kernel_kinds():
    """The kinds of kernels in generated graphs."""
    return KINDS
