"""Dead code of one function, as analyses remove it."""

from xrelax.dialects import relax
from xrelax.lowering.graph.dead_code import remove_all_unused
from xrelax.script import from_source

PROGRAM = """
from xrelax.script import relax as R
@R.function(pure=False)
def f(c: R.Tensor((), "bool"), x: R.Tensor(("n",), "float32")):
    with R.dataflow():
        a = R.add(x, x)
        b = R.multiply(a, a)
        d = R.nn.relu(x)
        R.output(b, d)
    if c:
        u = R.add(x, x)
        e = x
    else:
        e = R.add(x, x)
    R.print(d)
    return x
"""


def test_what_is_used_stays():
    func = from_source(PROGRAM).op
    remove_all_unused(func)
    func.verify()
    (dataflow, *rest) = func.body.block.ops
    assert [op.name for op in dataflow.body.block.ops] == ["relax.nn.relu", "relax.output"]
    assert [r.name_hint for r in dataflow.results] == ["d"]
    assert [op.name for op in rest] == ["relax.print", "relax.return"]
    assert isinstance(func, relax.FuncOp)


THREE_OUTPUTS = """
@R.function
def f(x: R.Tensor((4,), "float32")):
    with R.dataflow():
        a = R.add(x, x)
        b = R.multiply(x, x)
        c = R.exp(x)
        R.output(a, b, c)
    return (c, a)
"""


def test_outputs_that_are_read_stay_themselves():
    func = from_source(THREE_OUTPUTS).op
    remove_all_unused(func)
    func.verify()
    dataflow, result, _ = func.body.block.ops
    (output,) = [op for op in dataflow.body.block.ops if op.name == "relax.output"]
    read = [output.operands[v.index].owner.name for v in result.operands]
    assert read == ["relax.exp", "relax.add"]


def test_nothing_to_remove_changes_nothing():
    func = from_source(PROGRAM).op
    remove_all_unused(func)
    before = str(func)
    remove_all_unused(func)
    assert str(func) == before
