"""Where the text of a program is found: files, cells, strings, the command line, standard input."""

import linecache
import subprocess
import sys

import pytest

from xrelax.script import ScriptError, from_source

PROGRAM = """
from xrelax.script import ir as I, tir as T

@I.ir_module
class Doubling:
    @T.prim_func
    def double(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("Y"):
                vi = T.axis.remap("S", [i])
                Y[vi] = X[vi] + X[vi]
"""
SHOW = "\nprint(Doubling.script())\n"
EXPECTED = "Y[vi] = X[vi] + X[vi]"


def run(*args, **kwargs):
    result = subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, timeout=120, **kwargs
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_file(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + SHOW)
    assert EXPECTED in run(str(path))


def test_a_command_line():
    assert EXPECTED in run("-c", PROGRAM + SHOW)


def test_standard_input_from_a_file(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + SHOW)
    with path.open() as file:
        assert EXPECTED in run("-", stdin=file)


def test_an_executed_string():
    names = {}
    exec(PROGRAM, names)
    assert EXPECTED in names["Doubling"].script()


def test_an_executed_code_object_of_a_string_in_a_variable():
    text = PROGRAM
    names = {}
    exec(compile(text, "<generated>", "exec"), names)
    assert EXPECTED in names["Doubling"].script()


def test_of_several_strings_the_one_that_is_executed():
    plus, minus = PROGRAM, PROGRAM.replace("X[vi] + X[vi]", "X[vi] - X[vi]")
    other_shape = PROGRAM.replace("(4,)", "(4, 1)").replace("Y[vi] = X[vi] + X[vi]", "pass")
    for text, expected in (
        (minus, "X[vi] - X[vi]"),
        (plus, "X[vi] + X[vi]"),
        (other_shape, "4, 1"),
    ):
        names = {}
        exec(text, names)
        assert expected in names["Doubling"].script()


def test_an_executed_function_of_a_string():
    text = "def make():\n" + "\n".join(f"    {line}" for line in PROGRAM.split("\n"))
    names = {}
    text += "\n    return Doubling\n"
    exec(text, names)
    assert EXPECTED in names["make"]().script()


def test_a_source_string():
    assert EXPECTED in from_source(PROGRAM).script()


def test_a_source_string_needs_no_imports():
    text = PROGRAM.replace("from xrelax.script import ir as I, tir as T", "")
    assert EXPECTED in from_source(text).script()


def test_a_source_string_may_import_under_other_names():
    text = PROGRAM.replace("tir as T", "tir as Tensor0").replace("T.", "Tensor0.")
    assert EXPECTED in from_source(text).script()


def test_values_for_a_source_string():
    text = PROGRAM.replace("(4,)", "(size,)").replace("range(4)", "range(size)")
    assert "T.Buffer((7,)" in from_source(text, {"size": 7}).script()


def test_a_function_in_a_function():
    from xrelax.script import tir as T

    size = 3

    @T.prim_func
    def fill(Y: T.Buffer((3,), "float32")):
        for i in range(size):
            Y[i] = T.float32(1)

    assert "for i in range(3):" in fill.script()


def test_a_function_in_functions_of_its_name_and_their_variables():
    from xrelax.script import tir as T

    def outer(size):
        def fill(count: int):
            @T.prim_func
            def fill(Y: "T.Buffer((size,), 'float32')"):
                for i in range(count):
                    Y[i] = T.float32(1)

            return fill

        return fill(2)

    text = outer(5).script()
    assert 'T.Buffer((5,), "float32")' in text and "for i in range(2):" in text


def test_functions_of_one_name_in_other_files_are_not_around(notebook):
    # The `build` of the cell calls what another file's `build` has made.
    names = {"T": notebook["T"]}
    text = """def build():
    def kernel():
        @T.prim_func
        def main(X: T.Buffer((4,), "float32")):
            X[0] = size
        return main
    return kernel
"""
    exec(compile(text, "<other>", "exec"), names)
    notebook.names["kernel"] = names["build"]()
    notebook.run("def build():\n    size = 2\n    return kernel()")
    with pytest.raises(ScriptError, match="size"):
        notebook.run("build()")


def test_a_source_string_that_is_not_verified():
    text = PROGRAM.replace("range(4)", "range(5)")
    with pytest.raises(ScriptError, match="outside its range"):
        from_source(text.replace('remap("S", [i])', "S(4, i)"))
    assert from_source(text.replace('remap("S", [i])', "S(4, i)"), check_well_formed=False).script()


def test_the_last_of_two_definitions_of_one_name(notebook):
    notebook.run(PROGRAM + PROGRAM.replace("X[vi] + X[vi]", "X[vi] * X[vi]"))
    assert "X[vi] * X[vi]" in notebook["Doubling"].script()


def test_a_cell_that_is_run_again_with_other_text(notebook):
    notebook.run(PROGRAM)
    notebook.run(PROGRAM.replace("X[vi] + X[vi]", "X[vi] - X[vi]"))
    assert "X[vi] - X[vi]" in notebook["Doubling"].script()


def test_an_empty_module(notebook):
    notebook.run("@I.ir_module\nclass Empty:\n    pass\n")
    assert len(notebook["Empty"]) == 0


def test_without_any_source():
    code = compile(PROGRAM, "<nowhere>", "exec")
    linecache.checkcache()
    script = (
        "import marshal, sys\n"
        "code = marshal.loads(sys.stdin.buffer.read())\n"
        "try:\n    exec(code, {})\nexcept OSError as error:\n    print(error)\n"
    )
    import marshal

    result = subprocess.run(
        [sys.executable, "-c", script], input=marshal.dumps(code), capture_output=True, timeout=120
    )
    assert result.stdout.decode().strip() == (
        "the source text of 'Doubling' is not available; pass it to xrelax.script.from_source"
    )


def test_an_error_in_a_cell_names_the_cell(notebook):
    with pytest.raises(ScriptError, match=r"<ipython-input-2-\w+>:11:17: error: name 'Z'"):
        notebook.run(PROGRAM.replace("Y[vi] =", "Z[vi] ="))
