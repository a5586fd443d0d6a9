"""Dataflow blocks of imported functions, around operations with regions."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region

from xrelax import relax as api
from xrelax.dialects import relax
from xrelax.dialects.dtypes import element_type
from xrelax.importers.emitter import Emitter
from xrelax.importers.functions import graph_function
from xrelax.ir.module import IRModule


@pytest.fixture
def parts():
    entry, body = Block(), Block()
    x = entry.insert_arg(relax.TensorType.of([4], element_type("float32")), 0)
    return entry, Emitter(body), x


def branch(value, *operators):
    """A branch that applies operators to a value, without constants of its own."""
    inner = Emitter(Block())
    for operator, *others in operators:
        value = inner.op(operator, value, *others)
    inner.insert(relax.YieldOp(value))
    return Region(inner.block)


def compiled(function):
    return api.build(IRModule(ModuleOp([function])), check=True)


def kinds(block):
    return [op.name.removeprefix("relax.") for op in block.ops]


def test_one_block_without_regions(parts):
    entry, emitter, x = parts
    y = emitter.op("exp", x)
    function = graph_function("main", ["x"], entry, emitter.block, [y, x], unwrap=True)
    assert kinds(function.body.block) == ["dataflow", "return"]
    np.testing.assert_allclose(compiled(function)(np.zeros(4, "f"))[0].numpy(), np.ones(4))


def test_operations_with_regions_stand_between_blocks(parts):
    entry, emitter, x = parts
    weight = emitter.constant(relax.TensorData.of(np.arange(4, dtype="f")))
    scaled = emitter.op("multiply", x, weight)
    condition = emitter.op("less", emitter.op("sum", scaled), emitter.number(1.0, "float32"))
    regions = branch(scaled, ("add", weight), ("exp",)), branch(scaled)
    chosen = relax.IfOp(condition, *regions, scaled.type)
    emitter.insert(chosen)
    last = emitter.op("multiply", chosen.result, weight)
    function = graph_function("main", ["x"], entry, emitter.block, [last, scaled])
    block = function.body.block
    assert kinds(block) == ["dataflow", "if", "dataflow", "return"]
    assert [kinds(b) for b in chosen.branches] == [["dataflow", "yield"], ["yield"]]
    constants = [op for op in block.walk() if isinstance(op, relax.ConstantOp)]
    users = [{use.operation.parent for use in op.result.uses} for op in constants]
    assert all(own == {op.parent} for op, own in zip(constants, users, strict=True))
    assert sum(op.value.data.shape == (4,) for op in constants) == 3
    run = compiled(function)
    for given in (np.ones(4, "f"), -np.ones(4, "f")):
        product = given * np.arange(4, dtype="f")
        wanted = np.exp(product + np.arange(4)) if product.sum() < 1 else product
        y, z = run(given)
        np.testing.assert_allclose(y.numpy(), wanted * np.arange(4), rtol=1e-6)
        np.testing.assert_allclose(z.numpy(), product)


def test_result_of_an_operation_with_regions(parts):
    entry, emitter, x = parts
    condition = emitter.op("less", emitter.op("sum", x), emitter.number(1.0, "float32"))
    two = emitter.number(2.0, "float32")
    nested = relax.IfOp(condition, branch(x, ("exp",)), branch(x, ("add", two)), x.type)
    inner = Emitter(Block())
    inner.insert(nested)
    inner.insert(relax.YieldOp(nested.result))
    outer = relax.IfOp(condition, Region(inner.block), branch(x, ("tanh",)), x.type)
    emitter.insert(outer)
    function = graph_function(
        "main", ["x"], entry, emitter.block, [outer.result], unwrap=True, tuple_outside=True
    )
    assert kinds(function.body.block) == ["dataflow", "if", "return"]
    run = compiled(function)
    np.testing.assert_allclose(run(np.zeros(4, "f")).numpy(), np.ones(4), rtol=1e-6)
    np.testing.assert_allclose(run(np.ones(4, "f")).numpy(), np.tanh(np.ones(4)), rtol=1e-6)
