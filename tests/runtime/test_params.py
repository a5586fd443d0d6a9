"""Named tensors as bytes in TVM's format: what is written, read and refused."""

from struct import pack

import numpy as np
import pytest

import xrelax as tvm
from xrelax.runtime.dtype import DTYPES

VALUES = {
    "weight": np.arange(6, dtype="float32").reshape(2, 3),
    "größe": np.array(-3, "int64"),
    "": np.zeros((0, 4), "uint8"),
}
WEIGHT = tvm.runtime.save_param_dict({"w": VALUES["weight"]})


def test_parameters_are_read_again(tmp_path):
    found = tvm.runtime.load_param_dict(bytearray(tvm.runtime.save_param_dict(VALUES)))
    assert list(found) == list(VALUES)
    for name, value in VALUES.items():
        assert (found[name].shape, found[name].dtype) == (value.shape, str(value.dtype))
        np.testing.assert_array_equal(found[name].numpy(), value)
    path = tmp_path / "model.params"
    tvm.runtime.save_param_dict_to_file(found, path)
    np.testing.assert_array_equal(
        tvm.runtime.load_param_dict_from_file(str(path))["weight"].numpy(), VALUES["weight"]
    )
    assert tvm.runtime.load_param_dict(tvm.runtime.save_param_dict({})) == {}


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype):
    value = tvm.nd.array([[0, 1], [1, 0]], dtype=dtype)
    (found,) = tvm.runtime.load_param_dict(tvm.runtime.save_param_dict({"x": value})).values()
    assert found.dtype == dtype
    np.testing.assert_array_equal(found.view(), value.view())


def test_strided_arrays_and_those_of_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0).reshape(2, 3)
    found = tvm.runtime.load_param_dict(
        tvm.runtime.save_param_dict({"x": x.T, "y": x.numpy()[:, ::2]})
    )
    np.testing.assert_array_equal(found["x"].numpy(), x.numpy().T)
    np.testing.assert_array_equal(found["y"].numpy(), x.numpy()[:, ::2])


def test_the_bytes_are_those_of_tvm():
    assert WEIGHT == (
        pack("<QQQ", 0xF7E58D4F05049CB7, 0, 1)
        + pack("<Q", 1)
        + b"w"
        + pack("<Q", 1)
        + pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, 2, 2, 32, 1)
        + pack("<qqq", 2, 3, 24)
        + VALUES["weight"].tobytes()
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "expected 16 more bytes of parameters, got 0"),
        (WEIGHT[:-1], "expected 24 more bytes of parameters, got 23"),
        (WEIGHT + b"x", "expected the end of the parameters, got 1 more bytes"),
        (b"x" + WEIGHT[1:], "expected parameters to start with 0xf7e58d4f05049cb7, got"),
        (WEIGHT[:33] + pack("<Q", 2) + WEIGHT[41:], "expected 1 tensors for as many names, got 2"),
        (WEIGHT[:41] + b"x" + WEIGHT[42:], "expected a tensor to start with 0xdd5e40f096b4a13f"),
        (WEIGHT[:73] + pack("<q", -2) + WEIGHT[81:], r"float32 of shape \[-2, 3\], got 24"),
        (WEIGHT[:65] + pack("<i", -1) + WEIGHT[69:], r"float32 of shape \[\], got 2"),
        (WEIGHT[:65] + pack("<i", 1 << 30) + WEIGHT[69:], "expected 8589934592 more bytes"),
        (WEIGHT[:73] + pack("<q", 9) + WEIGHT[81:], r"float32 of shape \[9, 3\], got 24"),
        (WEIGHT[:24] + pack("<Q", 1 << 60) + WEIGHT[32:], "expected 1152921504606846976 more"),
    ],
)
def test_damaged_bytes(data, message):
    with pytest.raises(ValueError, match=message) as error:
        tvm.runtime.load_param_dict(data)
    assert "\n" not in str(error.value)


def test_values_without_elements_and_dtypes_that_are_unknown():
    with pytest.raises(TypeError, match="expected a tensor, got str"):
        tvm.runtime.save_param_dict({"x": "y"})
    with pytest.raises(TypeError, match=r"expected a DLPack type of .*, got code 2, 8 bits"):
        tvm.runtime.load_param_dict(WEIGHT[:70] + b"\x08" + WEIGHT[71:])
