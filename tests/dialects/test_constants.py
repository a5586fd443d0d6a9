"""Constants: what is in the text, what is in a sidecar, and what does not fit."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from xrelax.dialects import get_context
from xrelax.dialects.dtypes import DTYPES
from xrelax.dialects.relax import DataAttr, TensorData, sidecar
from xrelax.dialects.relax.constant import storage_dtype


def parse(text: str) -> TensorData:
    attribute = Parser(get_context(), text).parse_attribute()
    assert isinstance(attribute, DataAttr)
    return attribute.data


def round_trip(data: TensorData) -> TensorData:
    return parse(str(DataAttr(data)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_constants_are_in_the_text(dtype: str):
    array = np.array([[0, 1, 1]]).astype(storage_dtype(dtype))
    data = TensorData.of(array, dtype)
    again = round_trip(data)
    assert again == data and again.values.dtype == array.dtype
    assert np.array_equal(again.values, array)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_are_exact(dtype: str):
    info = np.finfo(dtype)
    values = [0.1, -0.0, 1e-5, info.max, info.tiny, info.smallest_subnormal, np.inf, -np.inf]
    array = np.array(values, dtype)
    again = round_trip(TensorData.of(array)).values
    assert array.tobytes() == again.tobytes()
    assert np.isnan(round_trip(TensorData.of(np.array([np.nan], dtype))).values[0])


def test_nan_and_infinity_text():
    data = TensorData.of(np.array([np.nan, np.inf, -np.inf, 1e20], "float32"))
    assert str(DataAttr(data)) == (
        '#relax.data<float32, [4], ["nan", "inf", "-inf", 1.0000000200408773e+20]>'
    )


def test_bfloat16_is_its_bits():
    data = TensorData.of(np.array([0x3F80, 0x7FC0], "uint16"), "bfloat16")
    assert str(DataAttr(data)) == "#relax.data<bfloat16, [2], [16256, 32704]>"
    assert round_trip(data) == data
    assert data.tensor_type() == round_trip(data).tensor_type()


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int8"])
def test_integer_limits(dtype: str):
    info = np.iinfo(dtype)
    array = np.array([info.min, info.max], dtype)
    assert np.array_equal(round_trip(TensorData.of(array)).values, array)


@pytest.mark.parametrize("shape", [(), (0, 3), (1, 1)])
def test_shapes(shape: tuple[int, ...]):
    data = TensorData.of(np.ones(shape, "float32"))
    assert round_trip(data) == data and round_trip(data).values.shape == shape


def test_large_constants_come_from_a_sidecar():
    array = np.arange(17, dtype="float32")
    data = TensorData.of(array, key="w0")
    text = str(DataAttr(data))
    assert text == f'#relax.data<float32, [17], "w0", "{data.digest}">'
    with sidecar({"w0": array}):
        assert parse(text).values is array
    without = parse(text)
    assert without == data and str(DataAttr(without)) == text
    with pytest.raises(ValueError, match="data of constant 'w0' in a sidecar file, got none"):
        _ = without.values


def test_threads_hash_constants_at_the_same_time(monkeypatch: pytest.MonkeyPatch):
    both, compute = Barrier(2), TensorData._hash

    def hashed(data: TensorData, array: NDArray[Any]) -> str:
        both.wait(timeout=60)
        return compute(data, array)

    monkeypatch.setattr(TensorData, "_hash", hashed)
    constants = [TensorData.of(np.full(17, i)) for i in range(2)]
    with ThreadPoolExecutor(2) as pool:
        digests = list(pool.map(lambda data: data.digest, constants))
    assert len(set(digests)) == 2 and all(data.is_hashed for data in constants)
    assert [data.digest for data in constants] == digests  # it does not wait again


def test_a_constant_without_a_key_is_named_by_its_digest():
    data = TensorData.of(np.zeros(17))
    assert data.label == data.digest[:12] and not data.is_inline


@pytest.mark.parametrize(
    "array",
    [np.zeros(16, "float32"), np.ones(17, "float32"), np.zeros(17, "int32")],
    ids=["shape", "content", "dtype"],
)
def test_a_sidecar_with_other_data_is_refused(array: NDArray[Any]):
    text = str(DataAttr(TensorData.of(np.zeros(17, "float32"), key="w0")))
    with (
        sidecar({"w0": array}),
        pytest.raises(ParseError, match="expected the sidecar's 'w0' to be"),
    ):
        parse(text)


def test_equality_is_by_content():
    a = TensorData.of(np.zeros(4, "float32"), key="a")
    assert a == TensorData.of(np.zeros(4, "float32"), key="b")
    assert hash(a) == hash(TensorData.of(np.zeros(4, "float32")))
    others = [
        np.zeros(4, "int32"),
        np.zeros((2, 2), "float32"),
        np.array([0, 0, 0, -0.0], "float32"),
    ]
    assert all(a != TensorData.of(other) for other in others)
    assert TensorData.of(np.zeros(4, "uint16"), "bfloat16") != TensorData.of(np.zeros(4, "uint16"))


def test_strided_arrays_count_by_their_values():
    array = np.arange(6, dtype="float32").reshape(2, 3)
    assert TensorData.of(array.T) == TensorData.of(np.ascontiguousarray(array.T))


def test_equal_constants_are_found_without_a_hash_of_their_contents():
    first, second, other = (np.arange(10_000, dtype="float32") for _ in range(3))
    other[4321] = 7  # between the elements that are looked at first
    found = {TensorData.of(first): "first"}
    assert found.get(TensorData.of(second)) == "first"
    assert found.get(TensorData.of(other)) is None
    assert found.get(TensorData.of(first.view("int32"), "int32")) is None
    assert not next(iter(found)).is_hashed


def test_constants_are_compared_by_their_bits():
    nan, zero = np.array([np.nan], "float32"), np.zeros(1, "float32")
    assert TensorData.of(nan) == TensorData.of(nan.copy())
    assert TensorData.of(zero) != TensorData.of(-zero)
