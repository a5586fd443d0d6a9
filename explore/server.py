"""Serves the explorer's page to this machine alone.

The page and its actions need the token of the address that is opened; requests that name another
host, as pages of other sites would after they bound their name to this machine, are refused.
"""

from __future__ import annotations

import json
import secrets
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .actions import Actions
from .page import page_text

HOST = "127.0.0.1"
MAX_BODY = 64 << 20
"""Bytes of a request that are read; inputs are the longest."""

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:"
)
"""What the page may load: nothing but itself, and its own actions."""


class ExplorerServer(ThreadingHTTPServer):
    """The server of one exploration; `url` is what to open."""

    daemon_threads = True

    def __init__(self, actions: Actions, port: int = 0):
        super().__init__((HOST, port), _Handler)
        self.token = secrets.token_urlsafe(16)
        self.actions = actions
        self.lock = Lock()
        """Actions run one at a time."""
        self.page = page_text(actions.exploration, token=self.token).encode()

    @property
    def url(self) -> str:
        """The address with the token."""
        return f"http://{HOST}:{self.server_port}/?token={self.token}"

    def hosts(self) -> set[str]:
        """The hosts that requests may name."""
        return {f"{name}:{self.server_port}" for name in (HOST, "localhost")}


class _Handler(BaseHTTPRequestHandler):
    server: ExplorerServer  # pyright: ignore[reportIncompatibleVariableOverride]
    server_version = "xrelax-explore"
    sys_version = ""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        given = parse_qs(parts.query).get("token", [""])[0]
        if self._is_allowed(given):
            if parts.path == "/":
                self._send(HTTPStatus.OK, self.server.page, "text/html; charset=utf-8")
            else:
                self._refuse(HTTPStatus.NOT_FOUND, "no such page")

    def do_POST(self) -> None:
        if not self._is_allowed(self.headers.get("X-Token", "")):
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_BODY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"expected at most {MAX_BODY} bytes")
            return
        try:
            arguments = json.loads(self.rfile.read(int(length)))
            with self.server.lock:
                result = self.server.actions.run(self.path.removeprefix("/actions/"), arguments)
        except (KeyError, TypeError, ValueError):
            self._refuse(HTTPStatus.BAD_REQUEST, "expected an action with its arguments")
            return
        self._send(HTTPStatus.OK, json.dumps(result).encode(), "application/json")

    def _is_allowed(self, token: str) -> bool:
        allowed = self.headers.get("Host", "") in self.server.hosts()
        if allowed and secrets.compare_digest(token.encode(), self.server.token.encode()):
            return True
        self._refuse(HTTPStatus.FORBIDDEN, "expected the address that xrelax-explore printed")
        return False

    def _refuse(self, status: HTTPStatus, message: str) -> None:
        self.close_connection = True
        self._send(status, f"{message}\n".encode(), "text/plain; charset=utf-8")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged: the terminal is the user's."""
