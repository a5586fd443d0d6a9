"""Struct infos: what shapes and dtypes they take, what they show, and constants made with them."""

import numpy as np
import pytest

from xrelax import relax, te, tir
from xrelax.runtime import array
from xrelax.script import relax as R

n = tir.Var("n", "int64")
SHAPE = relax.Var("s", relax.ShapeStructInfo((2, n)))
RANK = relax.Var("s", relax.ShapeStructInfo(ndim=2))


def tensor(*args, **kwargs):
    return relax.TensorStructInfo(*args, **kwargs)


@pytest.mark.parametrize(
    ("info", "text"),
    [
        (tensor((1, 2), "float32"), 'R.Tensor((1, 2), dtype="float32")'),
        (tensor([1, 2]), 'R.Tensor((1, 2), dtype="float32")'),
        (tensor((n, n * 4), "int8"), 'R.Tensor((n, n * 4), dtype="int8")'),
        (tensor(("n", "n * 4"), "int8"), 'R.Tensor((n, n * 4), dtype="int8")'),
        (
            tensor(("n // 2 % 3", "max(n, 1) - 1")),
            'R.Tensor(((n // 2) % 3, T.max(1, n) - 1), dtype="float32")',
        ),
        (tensor((np.int64(3),)), 'R.Tensor((3,), dtype="float32")'),
        (tensor(()), 'R.Tensor((), dtype="float32")'),
        (
            tensor(relax.Var("s", relax.ShapeStructInfo((2, n)))),
            'R.Tensor((2, n), dtype="float32")',
        ),
        (
            tensor(relax.Var("s", relax.ShapeStructInfo(ndim=2))),
            'R.Tensor(dtype="float32", ndim=2)',
        ),
        (tensor(dtype="float32", ndim=2), 'R.Tensor(dtype="float32", ndim=2)'),
        (tensor(dtype=""), "R.Tensor()"),
        (tensor(te.placeholder((3, n)).shape), 'R.Tensor((3, n), dtype="float32")'),
        (
            tensor(tensor((1, n)).shape, tensor((), "int32").dtype),
            'R.Tensor((1, n), dtype="int32")',
        ),
        (relax.ShapeStructInfo((1, n)), "R.Shape([1, n])"),
        (relax.ShapeStructInfo(ndim=2), "R.Shape(ndim=2)"),
        (relax.PrimStructInfo("int64"), 'R.Prim("int64")'),
        (relax.PrimStructInfo(value=n + 1), "R.Prim(value=n + 1)"),
        (
            relax.TupleStructInfo([tensor((1,)), relax.ObjectStructInfo()]),
            'R.Tuple(R.Tensor((1,), dtype="float32"), R.Object)',
        ),
        (relax.ObjectStructInfo(), "R.Object"),
        (
            relax.FuncStructInfo([tensor((1,))], tensor((2,))),
            'R.Callable((R.Tensor((1,), dtype="float32"),), R.Tensor((2,), dtype="float32"), True)',
        ),
    ],
)
def test_texts(info, text):
    assert str(info) == repr(info) == text


@pytest.mark.parametrize(
    ("annotation", "info"),
    [
        (R.Tensor((1, "n"), "float32"), tensor((1, n), "float32")),
        (R.Tensor((1, n), dtype="int8"), tensor((1, n), "int8")),
        (R.Tensor("float32", ndim=2), tensor(dtype="float32", ndim=2)),
        (R.Tensor((2,)), tensor((2,), "")),
        (R.Shape([1, n]), relax.ShapeStructInfo((1, n))),
        (R.Prim("int64"), relax.PrimStructInfo("int64")),
        (R.Prim(value=n), relax.PrimStructInfo(value=n)),
        (R.Object, relax.ObjectStructInfo()),
        (R.Callable([R.Object], R.Object), relax.FuncStructInfo([R.Object], R.Object)),
        (
            R.Tuple(R.Object, R.Tensor((2,), "bool")),
            relax.TupleStructInfo([relax.ObjectStructInfo(), tensor((2,), "bool")]),
        ),
    ],
)
def test_annotations_of_scripts_are_struct_infos(annotation, info):
    x = relax.Var("x", annotation)
    assert x.struct_info == x.struct_info_ == x.ty == x.checked_type == info
    assert hash(x.struct_info) == hash(info) and type(x.struct_info) is type(info)


def test_shapes():
    shape = tensor((1, n, "n + 1")).shape
    assert shape[0] == 1 and len(shape) == 3 and shape.values == tuple(shape)
    assert bool(shape[1] == n) and bool(shape[1] + 1 == shape[2])
    assert tensor(dtype="float32").shape is None
    assert (tensor(ndim=3).ndim, tensor((1,)).ndim, tensor().ndim) == (3, 1, -1)
    assert tensor((3, 4)).shape == (3, 4)
    assert isinstance(shape, relax.ShapeExpr) and not isinstance((3, 4), relax.ShapeExpr)


def test_names_of_2025():
    assert relax.TensorType is relax.TensorStructInfo
    assert relax.TupleType([relax.ShapeType((1,))]).fields == [relax.ShapeStructInfo((1,))]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tensor((1.5,)), "expected a dim to be a number, a symbol or a string, got 1.5"),
        (lambda: tensor((-1,)), "expected a dim of at least 0, got -1"),
        (lambda: tensor(("n +",)), r"expected a dim such as 'n' or 'n \* 4', got 'n \+'"),
        (lambda: tensor(("f(n)",)), r"expected a dim such as 'n' or 'n \* 4', got 'f\(n\)'"),
        (lambda: tensor((1,), "float31"), "expected a dtype .*, got 'float31'"),
        (lambda: tensor((1, 2), ndim=3), "expected a shape of 3 dims, got 2"),
        (lambda: relax.Var("x", 3), "expected a struct info such as .*, got 3"),
        (lambda: relax.Var("x", R.function2), "expected an annotation such as R.Tensor, got R.fun"),
    ],
)
def test_errors(make, message):
    with pytest.raises((TypeError, ValueError), match=message) as error:
        make()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("value", "annotation", "text"),
    [
        (1, None, 'R.const(1, "int32")'),
        (1.5, None, 'R.const(1.5, "float32")'),
        (True, None, 'R.const(True, "bool")'),
        (1, "float16", 'R.const(1.0, "float16")'),
        (1.5, "bfloat16", 'R.const(1.5, "bfloat16")'),
        (np.float64(2), None, 'R.const(2.0, "float32")'),
        (np.int8(2), None, 'R.const(2, "int8")'),
        (array(np.float32(3)), tensor((), "float64"), 'R.const(3.0, "float64")'),
    ],
)
def test_scalar_constants(value, annotation, text):
    assert str(relax.const(value, annotation)) == text


def test_constants_share_memory():
    data = np.ones((100, 100), "float32")
    for constant in (
        relax.const(data),
        relax.const(data, "float32"),
        relax.const(data, tensor((100, 100), "float32")),
    ):
        assert np.shares_memory(constant.data.view(), data)
        assert constant.struct_info == tensor((100, 100), "float32")
    assert relax.const(data, "int32").struct_info.dtype == "int32"
    assert relax.const([[1, 2], [3, 4]]).struct_info == tensor((2, 2), "int32")
    turned = relax.const(data.reshape(10, 1000).T)
    assert turned.struct_info.shape == (1000, 10)


def test_constants_of_torch():
    torch = pytest.importorskip("torch")
    data = torch.nn.Parameter(torch.ones(3, 4))
    constant = relax.const(data, tensor(data.shape, "float32"))
    assert constant.struct_info.shape == (3, 4)
    assert relax.const(torch.ones(2, dtype=torch.bfloat16)).struct_info.dtype == "bfloat16"
    assert relax.const(torch.ones(2), torch.float16).struct_info.dtype == "float16"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: relax.const(np.ones(3), tensor((4,), "float64")),
            r"expected a constant of shape \(4,\), got \(3,\)",
        ),
        (lambda: relax.const(300, "int8"), "expected numbers of int8, got 300"),
        (lambda: relax.const("text"), "expected a tensor, got str"),
        (lambda: relax.const(1.0, R.Object), "expected the dtype or struct info of a tensor"),
    ],
)
def test_wrong_constants(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_nan_of_any_bits_stays_nan_in_bfloat16():
    value = np.array([0x7FFFFFFF, 0x7F800001], np.uint32).view(np.float32)
    assert np.isnan(relax.const(value, "bfloat16").data.numpy()).all()
