"""The explorer's server: who may ask, and what actions answer."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from typing import Any

import pytest

from xrelax.explore.actions import Actions
from xrelax.explore.exploration import Exploration
from xrelax.explore.server import MAX_BODY, ExplorerServer


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
