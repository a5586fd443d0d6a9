"""Shapes that exporters compute: chains over symbolic dims, compared with ONNX's evaluator."""

import random

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator
from onnx_models import model

from xrelax.dialects import relax
from xrelax.dialects.int_expr import IntExpr, sym
from xrelax.importers.onnx.fold import folded
from xrelax.importers.onnx.fold_values import objects
from xrelax.importers.onnx.ratio import Ratio

SIZES = ((1, 1), (2, 3), (5, 1), (7, 12), (16, 9), (33, 64))


class Chain:
    """A random chain of nodes on vectors and scalars of int64, which starts at shapes."""

    def __init__(self, seed, opset):
        self.random, self.opset = random.Random(seed), opset
        self.nodes, self.constants = [], {}
        self.lengths = {}  # by name; None for a scalar
        self.add("Shape", ["x"], 3)
        self.add("Shape", ["y"], 2)

    def add(self, operator, inputs, length, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        if length != "inner":
            self.lengths[name] = length
        return name

    def constant(self, value, dtype="int64"):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.array(value, dtype)
        return name

    def axes(self, operator, value, axes, length, since=13):
        if self.opset < since:
            return self.add(operator, [value], length, axes=axes)
        return self.add(operator, [value, self.constant(axes)], length)

    def any(self, scalar=None):
        names = [n for n, d in self.lengths.items() if scalar is None or (d is None) == scalar]
        return self.random.choice(names) if names else self.gather(scalar)

    def gather(self, scalar=True):
        vector = self.any(scalar=False)
        length = self.lengths[vector]
        place = self.random.randrange(-length, length)
        index = place if scalar else [place, self.random.randrange(length)]
        return self.add("Gather", [vector, self.constant(index)], None if scalar else 2, axis=0)

    def step(self):
        getattr(self, self.random.choice(STEPS))()

    def arithmetic(self):
        a = self.any()
        operator = self.random.choice(["Add", "Sub", "Max", "Min", "Mul"])
        if self.random.random() < 0.5:
            b = self.constant(self.random.randrange(-3, 4))
        else:
            b = self.random.choice([n for n, d in self.lengths.items() if d in (None, 1)] or [a])
        if operator == "Mul":
            b = self.constant(self.random.choice([-1, 2, 3]))
        self.add(operator, [a, b], self.lengths[a] or self.lengths.get(b))

    def division(self):
        operator = self.random.choice(["Div", "Mod"])
        a = self.any()
        self.add(operator, [a, self.constant(self.random.choice([1, 2, 3, 4]))], self.lengths[a])

    def fraction(self):
        a = self.any()
        length = self.lengths[a]
        value = self.add("Cast", [a], "inner", to=TensorProto.FLOAT)
        operator, by = self.random.choice([("Div", 2), ("Div", 3), ("Mul", 0.5), ("Mul", 1.25)])
        value = self.add(operator, [value, self.constant(by, "float32")], "inner")
        if self.random.random() < 0.5:
            value = self.add("Add", [value, self.constant(-2, "float32")], "inner")
        if self.random.random() < 0.8:
            value = self.add(self.random.choice(["Floor", "Ceil"]), [value], "inner")
        self.add("Cast", [value], length, to=TensorProto.INT64)

    def concatenate(self):
        parts = [self.any(scalar=False) for _ in range(2)]
        length = sum(self.lengths[p] for p in parts)
        if length < 9:
            self.add("Concat", parts, length, axis=0)

    def part(self):
        vector = self.any(scalar=False)
        dim, step = self.lengths[vector], self.random.choice([1, 1, 2, -1])
        start, end = self.random.randrange(-dim - 1, dim + 1), self.random.choice([1, 9, 2**62, -1])
        end = -(2**62) if step < 0 else end
        length = len(range(*slice(start, end, step).indices(dim)))
        if length and self.opset >= 10:
            given = [self.constant([v]) for v in (start, end, 0, step)]
            self.add("Slice", [vector, *given], length)

    def unsqueeze(self):
        self.axes("Unsqueeze", self.any(scalar=True), [0], 1)

    def squeeze(self):
        vectors = [n for n, d in self.lengths.items() if d == 1]
        if vectors:
            self.axes("Squeeze", self.random.choice(vectors), [0], None)

    def reduction(self):
        operator = self.random.choice(["ReduceSum", "ReduceMax", "ReduceMin"])
        if self.opset >= 11 or operator == "ReduceSum":  # integers since then in the evaluator
            vector = self.any(scalar=False)
            keeps = self.random.randrange(2)
            self.add(operator, [vector], 1 if keeps else None, keepdims=keeps)

    def choice(self):
        a = self.any()
        condition = self.add(
            self.random.choice(["Equal", "Greater", "Less"]),
            [a, self.constant(self.random.choice([-1, 0, 1]))],
            "inner",
        )
        self.add("Where", [condition, self.constant(1), a], self.lengths[a])

    def filled(self):
        length = self.constant([self.random.randrange(1, 4)])
        value = helper.make_tensor("value", TensorProto.INT64, [1], [1])
        ones = self.add("ConstantOfShape", [length], "inner", value=value)
        self.add("Mul", [ones, self.any(scalar=True)], int(self.constants[length][0]))

    def moved(self):
        vector = self.any(scalar=False)
        shaped = self.add("Reshape", [vector, self.constant([1, -1])], "inner")
        turned = self.add("Transpose", [shaped], "inner", perm=[1, 0])
        self.add("Reshape", [turned, self.constant([-1])], self.lengths[vector])

    def placed(self):
        vector = self.any(scalar=False)
        if self.opset >= 11:
            one = self.axes("Unsqueeze", self.any(scalar=True), [0], "inner")
            places = self.constant([[self.lengths[vector] - 1]])
            self.add("ScatterND", [vector, places, one], self.lengths[vector])

    def counted(self):
        start = self.any(scalar=True)
        end = self.add("Add", [start, self.constant(3)], "inner")
        if self.opset >= 11:
            self.add("Range", [start, end, self.constant(1)], 3)


STEPS = [
    "arithmetic", "arithmetic", "division", "fraction", "concatenate", "part", "unsqueeze",
    "squeeze", "reduction", "choice", "filled", "moved", "placed", "counted", "gather",
]  # fmt: skip


def known_values(proto, dims, opset):
    """The values of nodes by name that are known for inputs with these dims."""
    found = {t.name: onnx.numpy_helper.to_array(t) for t in proto.graph.initializer}
    sizes = {d for shape in dims.values() for d in shape}
    for node in proto.graph.node:
        attributes = {a.name: attribute(a) for a in node.attribute}
        if node.op_type == "Shape":
            results = [objects(dims[node.input[0]], [len(dims[node.input[0]])])]
        else:
            values = [found[name] for name in node.input]
            known = all(value is not None for value in values)
            results = folded(node.op_type, values, attributes, opset, sizes) if known else None
        found |= dict(zip(node.output, results or [None], strict=True))
    return found


def attribute(given):
    value = helper.get_attribute_value(given)
    if isinstance(value, onnx.TensorProto):
        return relax.TensorData.of(onnx.numpy_helper.to_array(value))
    return value


def evaluated(known, sizes):
    """Known values for the sizes of symbols."""
    if known.dtype != object:
        return known

    def number(element):
        value_of = lambda symbol: sizes[symbol.name]  # noqa: E731
        if isinstance(element, Ratio):
            return element.numerator.evaluate(value_of) / element.denominator
        return IntExpr.of(element).evaluate(value_of)

    return np.array([number(e) for e in known.flat]).reshape(known.shape)


def chain_of(seed, opset):
    """A model of a random chain, and the names of its results."""
    chain = Chain(seed, opset)
    for _ in range(25):
        chain.step()
    names = list(chain.lengths)
    inputs = {"x": ("float32", ["n", "m", 6]), "y": ("float32", ["m", 1])}
    return model(chain.nodes, inputs, names, opset, chain.constants), names


@pytest.mark.parametrize("opset", [9, 11, 13, 18])
def test_chains(opset):
    dims = {"x": [sym("n"), sym("m"), IntExpr.of(6)], "y": [sym("m"), IntExpr.of(1)]}
    results = unknown = 0
    for seed in range(25):
        proto, names = chain_of(seed * 100 + opset, opset)
        values = known_values(proto, dims, opset)
        found = {name: values[name] for name in names if values[name] is not None}
        results, unknown = results + len(names), unknown + len(names) - len(found)
        evaluator = ReferenceEvaluator(proto)
        for n, m in SIZES:
            feeds = {"x": np.zeros((n, m, 6), np.float32), "y": np.zeros((m, 1), np.float32)}
            wanted = dict(zip(names, evaluator.run(None, feeds), strict=True))
            for name, known in found.items():
                got = evaluated(known, {"n": n, "m": m})
                text = f"seed {seed}: {name} of n={n}, m={m}: {known}"
                np.testing.assert_array_equal(got, wanted[name], text)
    assert unknown < results / 5  # whether n is 1, for example


def test_ratios_round_as_floats():
    """Floor of n * 0.7 in float32 is 7 for n = 10, where the exact product is below 7."""
    size = objects([sym("n")], [1])
    (as_float,) = folded("Cast", [size], {"to": TensorProto.FLOAT}, 17)
    assert folded("Mul", [as_float, np.float32([0.7])], {}, 17) is None
    (third,) = folded("Div", [as_float, np.float32([3])], {}, 17)
    assert folded("Mul", [third, np.float32([3])], {}, 17) is None
    (more,) = folded("Add", [third, np.float32([2])], {}, 17)
    (up,) = folded("Ceil", [more], {}, 17)
    for n in range(40):
        wanted = np.ceil(np.float32(n) / np.float32(3) + np.float32(2))
        assert evaluated(up, {"n": n}) == wanted
