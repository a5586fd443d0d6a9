"""The explorer's server: who may ask, and what actions answer."""

from __future__ import annotations

import base64
import io
import json
from http.client import HTTPConnection
from typing import Any

import numpy as np
import pytest

import xrelax as tvm
from xrelax.explore.actions import Actions
from xrelax.explore.command import explore
from xrelax.explore.exploration import Exploration
from xrelax.explore.server import MAX_BODY, ExplorerServer
from xrelax.script import from_source


def ask(
    server: ExplorerServer, method: str, path: str, headers: dict[str, str], body: Any = None
) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    response = connection.getresponse()
    found = response.status, response.read().decode()
    connection.close()
    return found


def test_the_page_is_served_to_those_who_have_the_token(server: ExplorerServer):
    status, text = ask(server, "GET", server.url.partition(str(server.server_port))[2], {})
    assert status == 200 and server.token in text
    assert ask(server, "GET", "/", {})[0] == 403
    assert ask(server, "GET", "/?token=wrong", {})[0] == 403
    assert ask(server, "GET", f"/other?token={server.token}", {})[0] == 404


def test_other_hosts_are_refused(server: ExplorerServer):
    headers = {"Host": f"example.com:{server.server_port}"}
    assert ask(server, "GET", f"/?token={server.token}", headers)[0] == 403
    assert server.server_address[0] == "127.0.0.1"


def test_actions_need_the_token(server: ExplorerServer):
    assert ask(server, "POST", "/actions/check", {}, {})[0] == 403
    headers = {"X-Token": server.token}
    assert ask(server, "POST", "/actions/other", headers, {})[0] == 400
    assert ask(server, "POST", "/actions/schedule", headers, {"kernel": "double"})[0] == 400
    assert ask(server, "POST", "/actions/check", headers, [1])[0] == 400
    long = {**headers, "Content-Length": str(MAX_BODY + 1)}
    assert ask(server, "POST", "/actions/check", long, {})[0] == 413


@pytest.fixture
def actions(exploration: Exploration) -> Actions:
    return Actions(exploration)


def test_check_names_the_passes(actions: Actions, exploration: Exploration):
    found = actions.run("check", {})
    assert found == {"passed": [p.name for p in exploration.passes]}


def test_profile_has_kernels_and_the_roofline(actions: Actions):
    found = actions.run("profile", {"sizes": {"m": 16}})
    assert found["function"] == "main"
    (kernel,) = found["kernels"]
    assert kernel["name"] == "fused_matmul_relu"
    assert kernel["operations"] == 2 * 16 * 32 * 64 + 16 * 32
    assert found["flops"] > 0 and found["levels"]


def test_an_edited_schedule_is_compiled_and_compared(actions: Actions):
    text = "b = sch.get_block('Y')\ni, j = sch.get_loops(b)\nsch.reorder(j, i)"
    found = actions.run("schedule", {"kernel": "double", "text": text, "sizes": {"n": 32}})
    assert found["difference"] == 0 and found["microseconds"] > 0
    script = "\n".join(found["script"])
    assert script.index("j") < script.index("vj") and found["asm"]


def test_mistakes_come_back_as_one_line(actions: Actions):
    arguments = {"kernel": "double", "text": "pass\nsch.unroll(x)", "sizes": {}}
    assert actions.run("schedule", arguments) == {"error": "'x' is not defined", "line": 2}
    found = actions.run("schedule", {**arguments, "kernel": "other"})
    assert found == {"error": "expected a kernel (double, fused_matmul_relu), got 'other'"}


STAGES = ("relax", "tir", "rt", "loops", "asm")


@pytest.mark.parametrize("stage", STAGES)
def test_values_of_a_stage_beside_float64(actions: Actions, stage: str):
    found = actions.run("values", {"stage": stage, "sizes": {"m": 8}, "seed": 3, "file": None})
    assert (found["function"], found["stage"], found["first_bad"]) == ("main", stage, None)
    product, relu = found["operations"]
    assert (product["name"], relu["operator"]) == ("a", "nn.relu")
    assert product["stored"] == ([0] if stage == "relax" else []), "it is fused later"
    assert relu["tensors"] == ["float32 (8, 32)"] and 0 < relu["relative"] < 1e-5
    tensor = actions.run("tensor", {"operation": "b", "item": 0, "matrix": 0})
    assert [panel["title"] for panel in tensor["panels"]] == ["Result", "float64", "Difference"]
    assert all("<svg" in panel["html"] for panel in tensor["panels"])
    missing = {"operation": "a", "item": 1, "matrix": 0}
    assert actions.run("tensor", missing) == {
        "error": "expected a result that is stored, got that of 'a'"
    }


def test_registered_functions_are_called():
    @tvm.register_func("test.explore.twice", override=True)
    def twice(x, y):
        np.from_dlpack(y)[:] = 2 * np.from_dlpack(x)

    actions = Actions(
        explore(
            from_source("""
@R.function
def main(x: R.Tensor((8,), "float32")):
    return R.call_dps_packed("test.explore.twice", (x,), R.Tensor((8,), "float32"))
""")
        )
    )
    assert "problem" not in actions.run("check", {})
    for stage in STAGES:
        found = actions.run("values", {"stage": stage, "sizes": {}, "seed": 0, "file": None})
        assert found["operations"][0]["relative"] == 0, stage


def npz(**arrays: Any) -> str:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return base64.b64encode(file.getvalue()).decode()


def test_values_for_given_inputs(actions: Actions):
    x = -np.ones((3, 64), np.float32)
    given = {"stage": "asm", "sizes": {}, "seed": 0, "file": npz(x=x, w=np.ones((64, 32), "f"))}
    (_, relu) = actions.run("values", given)["operations"]
    assert relu["tensors"] == ["float32 (3, 32)"], "m is the size of x"
    (result, *_) = actions.run("tensor", {"operation": "b", "item": 0, "matrix": 0})["panels"]
    assert "mean 0, largest 0" in result["html"]


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("%", "expected a file of numpy.savez, without objects"),
        (base64.b64encode(b"PK").decode(), "expected a file of numpy.savez, without objects"),
        (npz(x=np.array([{}])), "expected a file of numpy.savez, without objects"),
        (npz(q=np.ones(2)), "expected arrays named as parameters (x, w), got q"),
        (npz(x=np.ones((2, 3))), "expected argument 'x' to have shape (2, 64), got (2, 3)"),
    ],
)
def test_files_that_are_no_inputs(actions: Actions, file: str, message: str):
    given = {"stage": "tir", "sizes": {}, "seed": 0, "file": file}
    assert actions.run("values", given) == {"error": message}


def test_tensors_need_values_first(exploration: Exploration):
    given = {"operation": "b", "item": 0, "matrix": 0}
    assert "error" in Actions(exploration).run("tensor", given)


def test_half_precision():
    source = """
@R.function
def main(x: R.Tensor((2, 3, 8), "bfloat16")):
    with R.dataflow():
        y = R.exp(x)
        s = R.sort(y)
        R.output(s)
    return s
"""
    actions = Actions(explore(from_source(source)))
    for stage in STAGES:
        found = actions.run("values", {"stage": stage, "sizes": {}, "seed": 0, "file": None})
        assert found["first_bad"] is None, stage
    tensor = actions.run("tensor", {"operation": "s", "item": 0, "matrix": 1})
    assert tensor["matrices"] == 2
    assert actions.run("profile", {"sizes": {}})["microseconds"] > 0
    kernel = actions.exploration.kernels[0]
    same = {"kernel": kernel.name, "text": kernel.function, "sizes": {}}
    assert actions.run("schedule", same)["difference"] == 0
