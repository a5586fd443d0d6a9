"""Tensors: making them, their values, and what they share with NumPy."""

from __future__ import annotations

import gc
import pickle
import weakref

import numpy as np
import pytest

import xrelax
from xrelax.runtime.device import Device, cpu, device
from xrelax.runtime.dtype import DTYPES, bfloat16_to_float32, to_bfloat16
from xrelax.runtime.memory import ALIGNMENT
from xrelax.runtime.tensor import (
    NDArray,
    Tensor,
    array,
    as_tensor,
    empty,
    from_dlpack,
    from_numpy,
    tensor,
)

NUMPY_DTYPES = [name for name in DTYPES if name != "bfloat16"]
SHAPES = [(), (0,), (3,), (2, 0, 4), (2, 3), (1, 2, 3)]


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_array_copies_every_dtype_and_rank(shape, dtype):
    source = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    made = array(source)
    assert (made.shape, made.dtype, made.ndim) == (shape, dtype, len(shape))
    assert (made.size, made.nbytes) == (source.size, source.nbytes)
    assert made.address % ALIGNMENT == 0
    np.testing.assert_array_equal(made.numpy(), source, strict=True)
    assert not np.shares_memory(made.view(), source)


def test_numpy_copies_and_asarray_shares():
    x = array([[1.0, 2.0]])
    x.numpy()[0, 0] = 7
    assert x.numpy()[0, 0] == 1
    np.asarray(x)[0, 0] = 7
    assert x.numpy()[0, 0] == 7
    assert np.array(x, dtype="float16").dtype == np.float16
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(x, dtype="float16", copy=False)


def test_array_takes_lists_scalars_tensors_and_other_byte_orders():
    assert array([1, 2]).dtype == "int64"
    assert array([1, 2], dtype="float32").dtype == "float32"
    assert array(3.5).shape == ()
    assert array(array([True])).numpy().tolist() == [True]
    np.testing.assert_array_equal(array(np.arange(3, dtype=">i4")).numpy(), [0, 1, 2])
    assert (tensor, NDArray) == (array, Tensor)


@pytest.mark.parametrize("source", [object(), ["a"], np.zeros(2, "complex64"), "text"])
def test_array_refuses_what_is_no_array_of_numbers(source):
    with pytest.raises(TypeError, match=r"^expected "):
        array(source)


def test_repr_shows_the_rows():
    assert "[[1. 2.]\n [3. 4.]]" in repr(array(np.array([[1, 2], [3, 4]], "float32")))
    assert "dtype=bfloat16" in repr(array([1.5], dtype="bfloat16"))
    assert "[1.5]" in str(array([1.5], dtype="bfloat16"))


def test_from_numpy_shares_and_keeps_strides_and_flags():
    source = np.arange(12, dtype="float32").reshape(3, 4)
    shared = from_numpy(source)
    shared.view()[0, 0] = 9
    assert source[0, 0] == 9
    transposed = from_numpy(source.T)
    np.testing.assert_array_equal(transposed.numpy(), source.T)
    assert np.shares_memory(transposed.view(), source)
    source.flags.writeable = False
    assert not from_numpy(source).view().flags.writeable
    assert not from_numpy(np.frombuffer(bytes(9), "float32", 2, 1)).layout.packed


def test_memory_lives_as_long_as_its_last_view():
    made = empty((4,))
    storage = weakref.ref(made.owner)
    view = made.view()[1:]
    del made
    gc.collect()
    assert storage() is not None
    view[:] = 3
    del view
    gc.collect()
    assert storage() is None


def test_copyfrom_converts_within_a_kind_and_checks_the_shape():
    x = empty((2, 2))
    assert x.copyfrom(np.eye(2)) is x
    np.testing.assert_array_equal(x.numpy(), np.eye(2))
    with pytest.raises(ValueError, match=r"^expected values of shape \(2, 2\), got \(2,\)$"):
        x.copyfrom([1, 2])
    with pytest.raises(TypeError):
        empty((1,), "int32").copyfrom([1.5])
    read_only = np.zeros(2)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match=r"^expected a writable tensor, got a read-only one$"):
        from_numpy(read_only).copyfrom([1, 2])


def test_copyto_a_tensor_or_a_device():
    x, y = array([1.0, 2.0]), empty((2,), "float64")
    assert x.copyto(y) is y
    assert y.numpy().tolist() == [1, 2]
    z = x.copyto(cpu())
    assert z.address != x.address and z.numpy().tolist() == [1, 2]


def test_len_is_the_first_dim():
    assert len(empty((3, 2))) == 3
    with pytest.raises(TypeError, match="rank 0 has no length"):
        len(empty(()))


def test_empty_takes_a_number_and_refuses_impossible_shapes():
    assert empty(3, "int8").shape == (3,)
    with pytest.raises(ValueError, match=r"^expected dims of at least 0, got \(2, -1\)$"):
        empty((2, -1))
    for dims in ((1 << 62,), (1 << 40, 1 << 40), (1 << 50,)):
        with pytest.raises(MemoryError, match=r"^cannot allocate \d+ bytes$"):
            empty(dims, "float64")


def test_bfloat16_rounds_to_nearest_even_and_keeps_nan_and_infinity():
    values = np.array(
        [1.0, 1.00390625, 1.01171875, -0.0, np.inf, -np.inf, np.nan, 3.4e38], "float32"
    )
    rounded = bfloat16_to_float32(to_bfloat16(values))
    expected = np.array([1, 1, 1.015625, -0.0, np.inf, -np.inf, np.nan, np.inf], "float32")
    np.testing.assert_array_equal(rounded, expected)
    assert np.signbit(rounded[3])
    wide = np.array([1.0039062501, 1.0117187499, -1.0039062501, 1e300, 5e-324])
    rounded = bfloat16_to_float32(to_bfloat16(wide))
    np.testing.assert_array_equal(rounded, [1.0078125, 1.0078125, -1.0078125, np.inf, 0])
    payload = np.array([0x7F800001], "uint32").view("float32")
    assert np.isnan(bfloat16_to_float32(to_bfloat16(payload)))[0]


def test_bfloat16_tensors_hold_bits_and_give_values():
    x = array([[1.5, -2.0]], dtype="bfloat16")
    assert (x.dtype, x.nbytes, x.view().dtype) == ("bfloat16", 4, np.uint16)
    assert x.numpy().dtype == np.float32
    assert x.numpy().tolist() == [[1.5, -2.0]]
    assert array(x).view().tolist() == x.view().tolist()
    assert x.copyfrom(np.array([[3.0, 4.0]], "float32")).numpy().tolist() == [[3, 4]]
    assert empty((1, 2)).copyfrom(x).numpy().tolist() == [[3, 4]]
    bits = from_dlpack(array([[1, 2]], dtype="bfloat16"))
    bits.view()[:] = 0x7F81  # a NaN that a conversion would change
    assert x.copyfrom(bits).view().tolist() == bits.view().tolist()
    assert to_bfloat16(np.array(1.0, "float32")).shape == ()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool"])
def test_pickle_keeps_values_and_dtype(dtype):
    x = array([[1, 0]], dtype=dtype)
    y = pickle.loads(pickle.dumps(x))
    assert (y.dtype, y.shape) == (dtype, (1, 2))
    np.testing.assert_array_equal(y.numpy(), x.numpy())


def test_as_tensor_takes_numpy_scalars_but_no_python_ones():
    number = as_tensor(np.float32(2))
    assert number.numpy() == 2 and not number.layout.writable
    for value in (1, 1.5, [1], None):
        with pytest.raises(TypeError, match=f"^expected a tensor, got {type(value).__name__}$"):
            as_tensor(value)


def test_the_cpu_is_the_only_device():
    assert cpu() == Device() == device("cpu") == device("cpu:0") == device(cpu()) == empty(1).device
    assert str(cpu()) == "cpu:0"
    only = ": xrelax runs on CPUs only$"
    for name in ("cuda", "cpu:1", "gpu:0"):
        with pytest.raises(ValueError, match=f"^expected device 'cpu', got '{name}'{only}"):
            device(name)
    for make in (array, lambda shape, device: empty(shape, device=device)):
        with pytest.raises(ValueError, match=f"^expected device 'cpu', got 'cuda'{only}"):
            make([1], device="cuda")
    with pytest.raises(ValueError, match=f"^expected device cpu:0, got cpu:3{only}"):
        cpu(3)


@pytest.mark.parametrize("name", ["cuda", "rocm", "opencl", "metal", "vulkan", "webgpu"])
def test_other_devices_do_not_exist(name):
    for function in (getattr(xrelax, name), getattr(xrelax.nd, name)):
        other = function(1)
        assert not other.exist and str(other) == f"{name}:1" and cpu().exist
        for use in (device, lambda d: array([1], d), lambda d: empty(1, device=d)):
            with pytest.raises(
                ValueError, match=f"'cpu', got '{name}:1': xrelax runs on CPUs only"
            ):
                use(other)


def test_assignment_of_all_elements():
    tensor = xrelax.runtime.empty((2, 2), "float32")
    tensor[:] = np.ones((2, 2))
    np.testing.assert_array_equal(tensor.numpy(), np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"expected the index \[:\] of an assignment, got \[0\]"):
        tensor[0] = np.ones(2)


def test_views_of_other_shapes_share_the_memory():
    whole = array(np.arange(8, dtype="float32"))
    half = whole._create_view((2, 2), relative_byte_offset=16)
    assert half.numpy().tolist() == [[4, 5], [6, 7]]
    bits = half._create_view([4], "int32", 0)
    assert bits.numpy().tolist() == half.numpy().view("int32").ravel().tolist()
    half.copyfrom(np.zeros((2, 2), "float32"))
    assert whole.numpy().tolist() == [0, 1, 2, 3, 0, 0, 0, 0]
    assert not whole._create_view([2], "int8", 1)._create_view([0], "int64").layout.packed
    with pytest.raises(ValueError, match=r"would occupy bytes 8 <= i_byte < 24, but the Tensor b"):
        half._create_view([4], relative_byte_offset=8)
    with pytest.raises(ValueError, match=r"^expected dims of at least 0, got \(-1,\)$"):
        half._create_view([-1])
    with pytest.raises(ValueError, match=r"^expected a view of packed memory, got strides"):
        from_numpy(np.zeros((2, 2), "float32").T)._create_view([4])
