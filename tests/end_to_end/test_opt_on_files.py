"""`xrelax-opt` on files of every stage: whole, cut, mutated, with weights; never a traceback."""

import random
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.script import from_source
from xrelax.tools import opt

STAGES = ("relax", "tir", "rt", "loops", "llvm")
TIMEOUT = 60.0

MODULE = """
@I.ir_module
class Module:
    @T.prim_func
    def normalize(x: T.handle, g: T.handle, z: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 5), "float16")
        G = T.match_buffer(g, (n,), "int32")
        Z = T.match_buffer(z, (n, 5), "float16")
        S = T.alloc_buffer((n, 5), "float16")
        for i0 in T.parallel((n + 3) // 4):
            for i1, j, k in T.grid(4, 5, 5):
                with T.block("S"):
                    vi = T.axis.spatial(n, i0 * 4 + i1)
                    vj, vk = T.axis.remap("SR", [j, k])
                    T.where(i0 * 4 + i1 < n)
                    with T.init():
                        S[vi, vj] = T.float16(0)
                    if G[vi] > 0:
                        S[vi, vj] = S[vi, vj] + T.abs(X[vi, vk])
        for i in range(n):
            for j in T.vectorized(5):
                with T.block("Z"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Z[vi, vj] = X[vi, vj] / (S[vi, vj] + T.float16(1))

    @R.function
    def main(x: R.Tensor(("n", 5), "float16"), g: R.Tensor(("n",), "int32"),
             w: R.Tensor((3, 5), "float16")):
        n = T.int64()
        with R.dataflow():
            y = R.call_tir(normalize, (x, g), R.Tensor((n, 5), "float16"))
            z = R.linear(R.nn.relu(y), w)
            R.output(y, z)
        return (z, y)
"""


@pytest.fixture(scope="module")
def texts():
    return dict(tvm.stages(from_source(MODULE)))


@pytest.fixture
def tool(tmp_path, capsys):
    """Run the tool on a text; its status, output and error output, checked to be well-behaved."""

    def run(text, *args):
        path = tmp_path / "input.mlir"
        path.write_text(text)
        with ThreadPoolExecutor(1) as pool:
            status = pool.submit(opt.run, [str(path), *args]).result(TIMEOUT)
        out, err = capsys.readouterr()
        assert status in (0, 1)
        assert len(err.splitlines()) == status, err
        assert not (status and out)
        return status, out, err

    return run


@pytest.mark.sampled
@pytest.mark.parametrize("wanted", STAGES)
@pytest.mark.parametrize("given", STAGES)
def test_every_stage_from_the_text_of_every_other(texts, tool, given, wanted):
    status, out, err = tool(texts[given], f"--emit={wanted}")
    assert (status, err) == (0, "")
    if given == wanted != "llvm":
        assert out.strip() == texts[given].strip()
    elif STAGES.index(given) < STAGES.index(wanted):
        present = {op: f" {op}" in out for op in ("relax.func", "tir.prim_func", "rt.func")}
        assert present == {op: f" {op}" in texts[wanted] for op in present}


@pytest.mark.sampled
@pytest.mark.parametrize("given", STAGES[:-1])
def test_check_of_every_stage(texts, tool, given):
    assert tool(texts[given], "--emit=llvm", "--check")[0] == 0


def test_a_cut_file(texts, tool):
    for name in STAGES:
        text = texts[name].rstrip()
        for part in (0.1, 0.37, 0.8, 0.99):
            assert tool(text[: int(part * len(text))])[0] == 1


@pytest.mark.parametrize("text", ['"', 'builtin.module {"', 'rt.assert "'])
def test_a_quote_without_an_end(tool, text):
    assert tool(text + "x = y " * 1000)[0] == 1


WORDS = re.compile(r"[%@!#]?[\w.]+|\s+|.", re.DOTALL)
NUMBERS = ("0", "1", "7", "1000000", "99999999999999999999", "-1", "4294967296")


def mutated(text, words, rng):
    """The text with a word or a few removed, swapped, repeated or replaced."""
    tokens = WORDS.findall(text)
    for _ in range(rng.choice((1, 1, 2, 4))):
        i, j = (rng.randrange(len(tokens)) for _ in range(2))
        match rng.randrange(5):
            case 0:
                del tokens[i : i + rng.choice((1, 2, 5))]
            case 1:
                tokens[i], tokens[j] = tokens[j], tokens[i]
            case 2:
                tokens.insert(i, tokens[j])
            case 3:
                numbers = [k for k, t in enumerate(tokens) if t.isdigit()]
                tokens[rng.choice(numbers)] = rng.choice(NUMBERS)
            case _:
                tokens[i] = rng.choice(words)
    return "".join(tokens)


@pytest.mark.sampled
@pytest.mark.parametrize("name", STAGES)
def test_mutated_files(texts, tool, name):
    rng = random.Random(name)
    words = [w for text in texts.values() for w in WORDS.findall(text)]
    arguments = ([], ["--emit=llvm"], ["--emit=loops", "--check"])
    statuses = []
    for _ in range(25):
        chosen = rng.choice(arguments) if name != "llvm" else []
        statuses.append(tool(mutated(texts[name], words, rng), *chosen)[0])
    assert 1 in statuses


def with_weights(**arrays):
    """A module with these arrays as constants, and the name of each in its text."""
    params = "".join(f', {n}: R.Tensor({a.shape}, "float32")' for n, a in arrays.items())
    sums = "".join(f"    y = R.add(y, {n})\n" for n in arrays)
    text = f'@R.function\ndef main(x: R.Tensor((20,), "float32"){params}):\n    y = x\n{sums}'
    module = tvm.IRModule.from_expr(from_source(f"{text}    return y\n"))
    return relax.transform.BindParams("main", arrays)(module)


def test_weights_are_saved_and_read_back(tmp_path, tool):
    first, second = np.arange(20, dtype="float32"), np.full(20, np.nan, "float32")
    text = str(with_weights(first=first, second=second).op)
    saved, again = tmp_path / "weights", tmp_path / "again.npz"
    np.savez(again, first=first, second=second)
    status, out, _ = tool(text, f"--weights={again}", f"--save-weights={saved}", "--emit=rt")
    assert status == 0 and "rt.constant" in out
    with np.load(saved) as file:
        np.testing.assert_array_equal(file["first"], first)
        np.testing.assert_array_equal(file["second"], second)
    assert tool(out, f"--weights={saved}", "--emit=llvm", "--check")[0] == 0
    assert "expected the data of constant 'first'" in tool(out, "--emit=llvm", "--check")[2]


def test_weights_of_one_name_and_of_any_name(tmp_path, capsys):
    """Functions may each have a "w"; `numpy.savez` itself takes no array called "file"."""
    module = with_weights(w=np.zeros(20, "float32"), file=np.arange(20, dtype="float32"))
    other = with_weights(w=np.ones(20, "float32"))
    module["other"] = other["main"]
    text = str(module.op)
    source, weights = tmp_path / "input.mlir", tmp_path / "weights.npz"
    source.write_text(text)
    kept = {"w": np.zeros(20, "float32"), "file": np.arange(20, dtype="float32")}
    opt._write_weights(str(weights), module.op)
    with np.load(weights) as file:
        assert sorted(file) == ["file", "w", "w_1"]
        assert all(np.array_equal(file[n], a) for n, a in kept.items())
        np.testing.assert_array_equal(file["w_1"], np.ones(20, "float32"))
    source.write_text(str(module.op))
    assert opt.run([str(source), f"--weights={weights}", "--emit=llvm", "--check"]) == 0
    assert capsys.readouterr().err == ""


def broken_weights(good):
    flipped = bytearray(good)
    flipped[100] ^= 255
    return {"cut": good[:200], "empty": b"", "flipped": bytes(flipped), "text": b"not an archive"}


@pytest.mark.parametrize("kind", ["cut", "empty", "flipped", "text", "array", "missing", "pickle"])
def test_files_that_hold_no_weights(tmp_path, tool, kind):
    w = np.arange(20, dtype="float32")
    text, path = str(with_weights(w=w).op), tmp_path / "weights.npz"
    np.savez(path, w=w)
    if kind == "array":
        with path.open("wb") as file:
            np.save(file, w)
    elif kind == "pickle":
        np.savez(path, w=np.array([None]))
    elif kind == "missing":
        path.unlink()
    else:
        path.write_bytes(broken_weights(path.read_bytes())[kind])
    status, _, err = tool(text, f"--weights={path}")
    assert status == 1 and "weights.npz: expected an .npz file of arrays" in err


@pytest.mark.parametrize(
    ("array", "got"),
    [
        (np.zeros((20,), "float32"), "float32 of shape [20] with hash"),
        (np.zeros((2, 10), "float32"), "float32 of shape [2, 10]"),
        (np.arange(20, dtype="float64"), "float64 of shape [20]"),
    ],
)
def test_other_weights_than_the_text_names(tmp_path, tool, array, got):
    text, path = str(with_weights(w=np.arange(20, dtype="float32")).op), tmp_path / "weights.npz"
    np.savez(path, w=array)
    status, _, err = tool(text, f"--weights={path}")
    assert status == 1 and f"got {got}" in err and "'w' to be float32 of shape [20]" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-p", "legalize-op"], "got 'legalize-op', did you mean 'legalize-ops'?"),
        (["-p", "nothing"], "expected a registered pass, got 'nothing'"),
        (["-p", "cse{"], "cannot read the passes"),
        (["-p", "normalize{a=1}"], "a"),
        (["-p", "convert-to-llvm"], "expected kernels and functions on memory"),
        (["--save-weights", "/nowhere/at/all"], "/nowhere/at/all"),
    ],
)
def test_arguments_that_cannot_work(texts, tool, arguments, message):
    status, _, err = tool(texts["relax"], *arguments)
    assert status == 1 and message in err
