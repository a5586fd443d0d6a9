"""What programs of TVM's tutorials are made of: sessions, code generators, kernels with options."""

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax, rpc, te
from xrelax.relax.backend.pattern_registry import get_patterns_with_prefix, register_patterns
from xrelax.relax.dpl import is_op, wildcard
from xrelax.relax.transform import FuseOpsByPattern, MergeCompositeFunctions
from xrelax.script import ir as I
from xrelax.script import relax as R
from xrelax.script import tirx as T
from xrelax.support import utils


@pytest.fixture
def library(tmp_path):
    n = tvm.runtime.convert(16)
    x = te.placeholder((n,), name="x")
    y = te.compute((n,), lambda i: x[i] * 3.0, name="y")
    kernel = te.create_prim_func([x, y]).with_attr("global_symbol", "triple")
    module = tvm.IRModule.from_expr(kernel)
    path = str(tmp_path / "triple.tar")
    tvm.compile(module, target="llvm").export_library(path)
    return path


def test_a_library_goes_to_a_session(library):
    remote = rpc.LocalSession()
    remote.upload(library)
    remote.upload(b"text", "notes.txt")
    assert remote.listdir() == "notes.txt,triple.tar" and remote.download("notes.txt") == b"text"
    remote.remove("notes.txt")
    function = remote.load_module("triple.tar")
    device = remote.cpu()
    assert device == remote.device("cpu") == tvm.cpu()
    values = np.arange(16, dtype="float32")
    x, y = tvm.runtime.tensor(values, device), tvm.runtime.tensor(np.zeros_like(values), device)
    function(x, y)
    np.testing.assert_equal(y.numpy(), 3 * values)
    assert function.time_evaluator("triple", device, number=2)(x, y).mean > 0
    assert remote.get_function("xrelax.linalg.inv") is tvm.get_global_func("xrelax.linalg.inv")


def test_sessions_keep_to_their_folder(library):
    remote = rpc.LocalSession()
    for name in ("../triple.tar", library, "sub/../../x"):
        with pytest.raises(ValueError, match="expected a file in the folder of the session, got"):
            remote.upload(b"", name)
    with pytest.raises(ValueError, match="expected a name for the uploaded bytes, got None"):
        remote.upload(b"")
    with pytest.raises(FileNotFoundError):
        remote.load_module("triple.tar")
    with pytest.raises(ValueError, match="expected device 'cpu', got 'opencl'"):
        remote.device("opencl")


def test_temporary_folders():
    with utils.tempdir() as folder:
        with open(folder.relpath("a.txt"), "w") as file:
            file.write("a")
        assert folder.listdir() == ["a.txt"]
    with pytest.raises(FileNotFoundError):
        folder.listdir()


def test_values_of_packed_functions():
    assert tvm.runtime.convert([1, ("a", [2.5])]) == (1, ("a", (2.5,)))
    assert tvm.runtime.convert({"a": [None]}) == {"a": (None,)}


def test_a_graph_is_divided_for_a_code_generator():
    @I.ir_module
    class Convolution:
        @R.function
        def main(x: R.Tensor((1, 2, 8, 8), "float32"), w: R.Tensor((4, 2, 3, 3), "float32")):
            with R.dataflow():
                y = relax.op.nn.conv2d(x, w)
                z = relax.op.nn.relu(y)
                R.output(z)
            return z

    convolution = is_op("relax.nn.conv2d")(wildcard(), wildcard())
    register_patterns(
        [
            ("tutorial.conv2d", convolution),
            ("tutorial.conv2d_relu", is_op("relax.nn.relu")(convolution)),
        ]
    )
    assert not tvm.cuda(0).exist and tvm.get_global_func("relax.ext.tutorial", True) is None
    patterns = get_patterns_with_prefix("tutorial")
    divided = FuseOpsByPattern(patterns, bind_constants=False, annotate_codegen=True)(Convolution)
    text = str(MergeCompositeFunctions()(divided))
    assert text.count("tutorial.conv2d_relu") == 1 and '"Codegen": "tutorial"' in text


def test_kernels_with_options_and_attributes():
    @I.ir_module
    class Kernels:
        @T.prim_func(s_tir=True)
        def scale(x: T.handle, y: T.handle):
            n = T.int32()
            X = T.match_buffer(x, (n, 4), "float32")
            Y = T.match_buffer(y, (n, 4), "float32")
            for i, j in T.grid(n, 4):
                with T.sblock("scale"):
                    v, w = T.axis.remap("SS", [i, j])
                    Y[v, w] = X[v, w] * T.float32(2)

        @R.function
        def main(x: R.Tensor((3, 4), "float32")):
            cls = Kernels
            y = R.call_tir(cls.scale, (x,), out_ty=R.Tensor((3, 4), "float32"))
            z = y
            return z

    named = Kernels["scale"].with_attr({"global_symbol": "twice", "note": 1})
    assert named.attrs["global_symbol"] == "twice" and named.attrs["note"] == 1
    assert tvm.ir.structural_equal(named, named) and not tvm.ir.structural_equal(
        named, Kernels["scale"]
    )
    module = relax.transform.CanonicalizeBindings()(Kernels)
    assert len(module["main"].body.blocks[0].bindings) == 1
    x = np.ones((3, 4), "float32")
    np.testing.assert_array_equal(tvm.compile(module)["main"](x), 2 * x)
