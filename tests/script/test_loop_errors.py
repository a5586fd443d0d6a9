"""Wrong loops of graph functions, and the forms in which a right one is written."""

import pytest

from xrelax.script import from_source

PROGRAM = """
@I.ir_module
class Module:
    @R.function(private=True)
    def step(i: R.Prim(value="i"), h: R.Tensor(("n",), "float32"), x: R.Tensor((), "float32")):
        i, n = T.int64(), T.int64()
        a = R.add(h, x)
        return (a, R.sum(a))

    @R.function(private=True)
    def double(i: R.Prim(value="i"), h: R.Tensor(("n",), "float32")):
        i, n = T.int64(), T.int64()
        return (R.add(h, h),)

    @R.function(private=True)
    def halve(i: R.Prim(value="i"), c: R.Tensor((), "bool"), h: R.Tensor(("n",), "float32")):
        i, n = T.int64(), T.int64()
        return (c, R.multiply(h, R.const(0.5, "float32")))

    @R.function(private=True)
    def single(i: R.Prim(value="i"), h: R.Tensor(("n",), "float32")):
        i, n = T.int64(), T.int64()
        return R.add(h, h)

    @R.function(private=True)
    def shape(i: R.Prim(value="i"), h: R.Tensor(("n",), "float32")):
        i, n = T.int64(), T.int64()
        return (h, R.shape_of(h))

    @R.function(private=True)
    def growing(i: R.Prim(value="i"), h: R.Tensor(("n",), "float32")):
        i, n = T.int64(), T.int64()
        return (h, R.zeros((i,), "float32"))

    @R.function(private=True)
    def third(i: R.Prim(value=3), h: R.Tensor(("n",), "float32")):
        n = T.int64()
        return (h,)

    @R.function(private=True)
    def as_long(i: R.Prim(value="i"), h: R.Tensor(("i",), "float32")):
        i = T.int64()
        return (h,)

    @R.function(private=True)
    def narrow(i: R.Prim("int32"), h: R.Tensor(("n",), "float32")):
        n = T.int64()
        return (h,)

    @T.prim_func(private=True)
    def kernel(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32")):
        for j in range(3):
            B[j] = A[j]

    @R.function
    def main(
        h: R.Tensor(("n",), "float32"),
        x: R.Tensor(("m",), "float32"),
        u: R.Tensor("float32"),
        c: R.Tensor((), "bool"),
        k: R.Tensor(("m",), "int64"),
        f: R.Object,
    ):
        n, m = T.int64(), T.int64()
        t = (h,)
        p = R.prim_value(m)
        r = R.loop({})
        return r
"""
ARGUMENTS = "expected arguments func, carried, scanned, given, trips, is_while, got"
TRIPS = "expected trips, or a scanned tensor of known shape, got neither"
COUNT = "expected 3 arguments (i, h, x), got the number of the iteration,"
CASES = [
    ("", "expected a function of the module or a string, got nothing", "R.loop"),
    ("3, (h,)", "expected a function of the module or a string, got '3'", "3, "),
    ("R.add, (h,)", "expected a function of the module or a string, got 'R.add'", "R.add"),
    ("cls.none, (h,), (x,)", "expected a graph function 'none' of the module", "R.loop"),
    ("cls.kernel, (h,), (x,)", "expected a graph function 'kernel' of the module", "R.loop"),
    (
        "cls.step, (h,), (x,), (), m, False, 5",
        "expected at most 6 arguments, got 7",
        "R.loop",
    ),
    ("cls.step, (h,), (x,), steps=5", f"{ARGUMENTS} steps", "steps=5"),
    ("cls.step, **{}", f"{ARGUMENTS} **", "**"),
    ("cls.step, (h,), carried=(h,)", "expected 'carried' once, got it twice", "carried="),
    ("cls.step, (h,)", TRIPS, "R.loop"),
    ("cls.step, (h,), (u,)", TRIPS, "R.loop"),
    ("cls.step, (h,), (c,)", TRIPS, "R.loop"),
    ("cls.step, (3,), (x,)", "expected a value of the graph, got 3", "3,"),
    ("cls.step, (h,), (x,), trips='m'", "an integer over symbols as trips, got 'm'", "'m'"),
    ("cls.step, (h,), (x,), trips=2.5", "an integer over symbols as trips, got 2.5", "2.5"),
    ("cls.step, (h,), (x,), trips=x", "an integer over symbols as trips, got x", "x)"),
    ("cls.step, (h,), (x,), trips=True", "an integer over symbols as trips, got True", "True"),
    ("cls.step, (h,), (x,), trips=q", "name 'q' is not defined", "q)"),
    (
        "cls.step, (h,), (x,), trips=-1",
        "expected tensor dims over symbols of at least 0, got -1",
        "R.loop",
    ),
    (
        "cls.step, (h,), (x,), trips=n",
        "expected scanned and stacked tensors of n elements along the first axis, "
        "got !relax.tensor<[m], f32>",
        "R.loop",
    ),
    ("cls.halve, (c, h), is_while='yes'", "expected True or False for is_while, got 'yes'", "'"),
    ("cls.halve, (c, h), is_while=c", "expected True or False for is_while, got c", "c)"),
    (
        "cls.step, (c,), (x,), is_while=True",
        "expected 'step' to return 1 carried tensor alone, as a while loop stacks nothing",
        "R.loop",
    ),
    (
        "cls.double, (h,), is_while=True",
        "expected a condition of type !relax.tensor<[], i1> as the first carried tensor",
        "R.loop",
    ),
    ("cls.step, (h,), trips=3", f"{COUNT} 1 carried, 0 scanned and 0 given", "R.loop"),
    ("cls.step, (h,), (x,), ((h, x),)", f"{COUNT} 1 carried, 1 scanned and 1 given", "R.loop"),
    ("cls.step, (h,), (k,)", "expected argument 'x' to have dtype float32, got int64", "R.loop"),
    ("cls.step, (h,), (), (x,), 3", "expected argument 'x' to have rank 0, got 1", "R.loop"),
    (
        "cls.step, (h,), (), (f,), 3",
        "expected given tensors, shapes, numbers or tuples of them, got !relax.object",
        "R.loop",
    ),
    (
        "cls.double, (u,), trips=3",
        "expected 'relax.loop' to give tensors of known shape and dtype, got !relax.tensor<*, f32>",
        "R.loop",
    ),
    (
        "cls.single, (h,), trips=3",
        "expected 'single' to return a tuple of 1 carried tensor and outputs, "
        "got !relax.tensor<[n], f32>",
        "R.loop",
    ),
    (
        "cls.shape, (h,), trips=3",
        "expected outputs of 'shape' to be tensors whose shapes follow from its arguments, "
        "and not from the number of the iteration, got !relax.shape<[n]>",
        "R.loop",
    ),
    (
        "cls.growing, (h,), trips=3",
        "expected outputs of 'growing' to be tensors whose shapes follow from its arguments",
        "R.loop",
    ),
    (
        "cls.third, (h,), trips=4",
        "loop of 'third': expected a size of argument 'i' to be 3 in every iteration, got i",
        "R.loop",
    ),
    (
        "cls.as_long, (h,), trips=4",
        "loop of 'as_long': expected a size of argument 'h' to be i in every iteration, got n",
        "R.loop",
    ),
    (
        "cls.narrow, (h,), trips=4",
        "expected argument 'i' to have type !relax.prim<i32>, got !relax.prim<i64, i>",
        "R.loop",
    ),
]


@pytest.mark.parametrize(("arguments", "message", "at"), CASES)
def test_wrong_loops(refused, arguments, message, at):
    refused(PROGRAM.format(arguments), message, at)


SAME = [
    "cls.step, (h,), scanned=(x,)",
    "cls.step, (h,), scanned=(x,), trips=m",
    "cls.step, (h,), scanned=(x,), trips=p",
    "cls.step, (h,), scanned=(x,), trips=None, is_while=False",
    "cls.step, [h], [x]",
    "cls.step, h, x",
    "cls.step, t, x",
    "given=(), scanned=(x,), carried=(h,), func=cls.step",
    '"step", (h,), (x,)',
]


@pytest.mark.parametrize("arguments", SAME)
def test_forms_of_one_loop(round_trip, arguments):
    text = round_trip(from_source(PROGRAM.format(arguments)))
    assert " = R.loop(cls.step, (" in text
    assert text.count(",), scanned=(x,), trips=m)\n") == 1


def test_loops_of_every_kind_keep_their_parts(round_trip):
    kinds = [
        "cls.double, (h,), trips=m * 2 + n",
        "cls.double, (h,), trips=0",
        "cls.halve, (c, h), is_while=True",
        "cls.halve, (c, h), trips=m, is_while=True",
    ]
    for arguments in kinds:
        text = round_trip(from_source(PROGRAM.format(arguments)))
        assert f" = R.loop({arguments})\n" in text
