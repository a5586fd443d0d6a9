"""Operators: inference on static, symbolic and unknown shapes, messages, and one rule for all."""

from typing import Any

import pytest
from inferred import error_of, tensor, values
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from xrelax.dialects.int_expr import IntExpr, sym
from xrelax.dialects.relax import OPERATORS, OperatorOp, TensorType
from xrelax.dialects.relax.operators.inference import broadcast_dims

ELEMENTWISE = ["relax.add", "relax.subtract", "relax.multiply", "relax.divide", "relax.maximum"]


def infer(name: str, *operands: str, **attributes: Any) -> TensorType:
    """The type that `of` infers; the verifier must agree with it and with nothing else."""
    op = OPERATORS[name].of(values(*map(tensor, operands)), attributes)
    op.verify()
    result = op.results[0].type
    assert isinstance(result, TensorType)
    other = type(op).create(
        operands=op.operands, properties=op.properties, result_types=[tensor("[99], f64")]
    )
    with pytest.raises(VerifyException, match=f"expected '{name}' to give"):
        other.verify()
    return result


@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize(
    ("lhs", "rhs", "result"),
    [
        ("[4, 8], f32", "[4, 8], f32", "[4, 8], f32"),
        ("[4, 1], f32", "[8], f32", "[4, 8], f32"),
        ("[], f32", "[3], f32", "[3], f32"),
        ("[0], f32", "[1], f32", "[0], f32"),
        ("[n, m], bf16", "[m], bf16", "[n, m], bf16"),
        ("[n * 2], f32", "[n + n], f32", "[n * 2], f32"),
        ("[n, 1], f32", "[1, m], f32", "[n, m], f32"),
        ("[n], ?", "[n], f32", "[n], ?"),
        ("rank 2, f32", "[4], f32", "rank 2, f32"),
        ("rank 1, f32", "[4, 4], f32", "rank 2, f32"),
        ("*, f32", "[4], f32", "*, f32"),
        ("*, ?", "*, ?", "*, ?"),
        ("[m, n], f32", "[m, n + 1], f32", "rank 2, f32"),
        ("[n], f32", "[3, 4], f32", "rank 2, f32"),
    ],
)
def test_broadcasting(name: str, lhs: str, rhs: str, result: str):
    assert infer(name, lhs, rhs) == tensor(result)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_messages(name: str):
    assert error_of(name.removeprefix("relax."), "[4], f32", "[5], f32") == (
        f"expected shapes of '{name}' to broadcast, got (4,) and (5,)"
    )
    assert error_of(name.removeprefix("relax."), "[n, 2], f32", "[m, 1, 3], f32") == (
        f"expected shapes of '{name}' to broadcast, got (n, 2) and (m, 1, 3)"
    )
    assert error_of(name.removeprefix("relax."), "[4], f32", "[4], f64") == (
        f"expected operands of '{name}' to have one dtype, got float32 and float64"
    )


def test_only_numbers_are_divided():
    message = "expected operands of 'relax.divide' to be numbers, got bool"
    assert error_of("divide", "[4], i1", "[4], i1") == message


def test_broadcast_dims_raises():
    with pytest.raises(ValueError, match=r"\(n,\) and \(4,\) do not broadcast"):
        broadcast_dims([sym("n")], [IntExpr.of(4)])


@pytest.mark.parametrize("text", ["[4], f32", "[n, m * 2], i8", "rank 3, f16", "*, ?"])
def test_relu_keeps_the_type(text: str):
    assert infer("relax.nn.relu", text) == tensor(text)


def test_fused_multiply_add():
    n4 = tensor("[n, 4], f32")
    assert infer("relax.ewise_fma", "[n, 1], f32", "[1, 4], f32", "[1, 1], f32") == n4
    assert infer("relax.ewise_fma", "[n], f32", "rank 1, f32", "[n], f32") == tensor("rank 1, f32")
    assert error_of("ewise_fma", "[2, 3], f32", "[2, 3], f32", "[1, 1, 2, 3], f32") == (
        "expected operands of 'relax.ewise_fma' to have one rank, got (2, 3), (2, 3), (1, 1, 2, 3)"
    )
    assert "to broadcast" in error_of("ewise_fma", "[2], f32", "[2], f32", "[3], f32")


@pytest.mark.parametrize(
    ("lhs", "rhs", "result"),
    [
        ("[2, 3], f32", "[3, 4], f32", "[2, 4], f32"),
        ("[n, k], f32", "[k, m], f32", "[n, m], f32"),
        ("[3], f32", "[3], f32", "[], f32"),
        ("[3], f32", "[3, 4], f32", "[4], f32"),
        ("[2, 3], f32", "[3], f32", "[2], f32"),
        ("[b, 1, n, k], f32", "[5, k, m], f32", "[b, 5, n, m], f32"),
        ("rank 2, f32", "[3, 4], f32", "rank 2, f32"),
        ("*, ?", "[3, 4], f32", "*, ?"),
    ],
)
def test_matmul(lhs: str, rhs: str, result: str):
    assert infer("relax.matmul", lhs, rhs) == tensor(result)


@pytest.mark.parametrize(
    ("lhs", "rhs", "message"),
    [
        ("[2, 3], f32", "[4, 2], f32", "to be compatible, got (2, 3) and (4, 2)"),
        ("[n, k], f32", "[m, k], f32", "to be compatible, got (n, k) and (m, k)"),
        ("[2, 4, 3], f32", "[5, 3, 4], f32", "to be compatible, got (2, 4, 3) and (5, 3, 4)"),
        ("[], f32", "[3], f32", "to have at least one dim, got ()"),
        ("[3], f32", "rank 0, f32", "to have at least one dim, got of rank 0"),
        ("[3], f32", "[3], f16", "to have one dtype, got float32 and float16"),
    ],
)
def test_matmul_messages(lhs: str, rhs: str, message: str):
    assert error_of("matmul", lhs, rhs).endswith(message)


def test_linear():
    assert infer_linear("[1, 784], f32", "[128, 784], f32") == tensor("[1, 128], f32")
    assert infer_linear("[b, n, k], f32", "[m, k], f32", "[m], f32") == tensor("[b, n, m], f32")
    assert infer_linear("[k], f32", "[m, k], f32") == tensor("[m], f32")
    assert infer_linear("*, f32", "rank 2, f32", "*, f32") == tensor("*, f32")


def infer_linear(*operands: str) -> Attribute:
    op = OPERATORS["relax.linear"].of(values(*map(tensor, operands)))
    op.verify()
    return op.results[0].type


@pytest.mark.parametrize(
    ("operands", "message"),
    [
        (["[2, 3], f32", "[4], f32"], "weight of 'relax.linear' to have rank 2, got (4,)"),
        (
            ["[2, 3], f32", "[4, 5], f32"],
            "data (…, k) and weight (m, k) of 'relax.linear' to be compatible, got (2, 3) and (4, "
            "5)",
        ),
        (
            ["[2, 3], f32", "[4, 3], f32", "[5], f32"],
            "bias of 'relax.linear' to have shape (4,), got (5,)",
        ),
        (
            ["[2, 3], f32", "[4, 3], f16"],
            "operands of 'relax.linear' to have one dtype, got float32 and float16",
        ),
        (
            ["[2, 3], f32", "[4, 3], f32", "[4], f16"],
            "operands of 'relax.linear' to have one dtype, got float32 and float16",
        ),
    ],
)
def test_linear_messages(operands: list[str], message: str):
    assert error_of("linear", *operands) == f"expected {message}"


def test_permute_dims():
    assert infer("relax.permute_dims", "[n, 4, m], f32") == tensor("[m, 4, n], f32")
    assert infer("relax.permute_dims", "[n, 4, m], f32", axes=(1, -1, 0)) == tensor(
        "[4, m, n], f32"
    )
    assert infer("relax.permute_dims", "rank 2, f32", axes=(1, 0)) == tensor("rank 2, f32")
    assert infer("relax.permute_dims", "*, f32") == tensor("*, f32")
    assert infer("relax.permute_dims", "[], f32", axes=()) == tensor("[], f32")


@pytest.mark.parametrize(("text", "axes"), [("[n, 4], f32", (0, 0)), ("rank 2, f32", (0,))])
def test_permute_dims_messages(text: str, axes: tuple[int, ...]):
    expected = f"expected axes of 'relax.permute_dims' to permute 2 dims, got {axes}"
    assert error_of("permute_dims", text, axes=axes) == expected


def test_attributes_that_do_not_exist():
    with pytest.raises(ValueError, match=r"expected no attributes of 'relax\.add', got alpha"):
        OPERATORS["relax.add"].of(values(tensor("[4], f32"), tensor("[4], f32")), {"alpha": 1})
    message = r"expected attributes among axes of 'relax\.permute_dims', got dims"
    with pytest.raises(ValueError, match=message):
        OPERATORS["relax.permute_dims"].of(values(tensor("[4], f32")), {"dims": 1})


def test_operands_that_are_no_tensors_or_too_few():
    with pytest.raises(ValueError, match=r"expected rhs of 'relax\.add' to be a tensor, got tuple"):
        OPERATORS["relax.add"].of(values(tensor("[4], f32"), TupleType([])))
    with pytest.raises(ValueError, match=r"expected 2 operands of 'relax\.add', got 1"):
        OPERATORS["relax.add"].of(values(tensor("[4], f32")))
    with pytest.raises(ValueError, match=r"expected 2 to 3 operands of 'relax\.linear', got 1"):
        OPERATORS["relax.linear"].of(values(tensor("[4], f32")))


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=list(OPERATORS))
def test_declarations(operator: type[OperatorOp]):
    assert operator.name.startswith("relax.") and operator.__doc__
    names = (*operator.operand_names(), *operator.attribute_names())
    assert operator.__name__.endswith("Op") and len(set(names)) == len(names)
    assert not operator.ORDER or sorted(operator.ORDER) == sorted(names)
