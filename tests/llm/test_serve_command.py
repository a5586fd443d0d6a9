"""`xrelax-serve`, with the commands and programs of docs/serving.md on a tiny model."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("gguf")
pytest.importorskip("tokenizers")
pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from xrelax.llm import serve_command

PAGE = Path(__file__).parents[2] / "docs" / "serving.md"
COMMAND = "import sys; from xrelax.llm.serve_command import main; sys.exit(main())"


@pytest.fixture
def folder(tiny_file, tmp_path, monkeypatch):
    (tmp_path / "model.gguf").symlink_to(tiny_file)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def port(folder):
    """The port of a process of the command, which is stopped as by Ctrl-C."""
    command = [sys.executable, "-c", COMMAND, "model.gguf", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline()
        address = re.fullmatch(
            r"serving model at http://127\.0\.0\.1:(\d+)/v1  \(Ctrl-C to stop\)\n", line
        )
        assert address, line
        yield address[1]
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0


def parts(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


def test_commands_and_programs_of_the_page(port, capsys):
    pytest.importorskip("openai")
    for command in parts("sh"):
        if shutil.which("curl") is None:
            continue
        command = command.replace("8000", port).replace("curl", "curl --fail --silent")
        run = subprocess.run(["sh", "-ec", command], capture_output=True, text=True)
        assert run.returncode == 0 and '"status":"ok"' in run.stdout, run.stderr
    for program in parts("python"):
        exec(compile(program.replace("8000", port), str(PAGE), "exec"), {})
    assert re.search(r"(stop|length) \d+\n$", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["model.gguf", "--host", "0.0.0.0", "--port", "0"],
            "expected --api-key (or XRELAX_API_KEY) for the host 0.0.0.0, got none",
        ),
        (["none.gguf", "--port", "0"], "expected a GGUF file, got no file 'none.gguf'"),
        (
            ["model.gguf", "--max-requests", "0"],
            "expected --max-requests of at least 1, got 0",
        ),
        (
            ["model.gguf", "--draft", "none.gguf", "--port", "0"],
            "expected a GGUF file, got no file 'none.gguf'",
        ),
        (
            ["model.gguf", "--cache", "int4", "--port", "0"],
            "expected a cache of int8, float16, bfloat16, float32, got 'int4'",
        ),
    ],
)
def test_mistakes_are_one_line(folder, capsys, monkeypatch, arguments, message):
    monkeypatch.delenv("XRELAX_API_KEY", raising=False)
    assert serve_command.main(arguments) == 2
    assert capsys.readouterr().err == f"xrelax-serve: error: {message}\n"


def test_a_port_that_is_taken(folder, capsys):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert serve_command.main(["model.gguf", "--port", str(listener.getsockname()[1])]) == 2
    assert "Address already in use" in capsys.readouterr().err


def test_missing_packages(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert serve_command.main(["model.gguf"]) == 2
    message = "expected the packages of xrelax[serve], got none named uvicorn"
    assert capsys.readouterr().err == f"xrelax-serve: error: {message}\n"
