"""`xrelax-serve`: serve a language model over HTTP, with OpenAI's API."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from .loading import load

KEY = "XRELAX_API_KEY"
"""The environment variable for the key; other users see the arguments of a command."""
GRACE = 5
"""Seconds that running requests have at the end."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 2 for what is wrong with its arguments or the model."""
    options = _parser().parse_args(arguments)
    try:
        _serve(options)
    except KeyboardInterrupt:
        pass
    except (ImportError, OSError, ValueError) as error:
        print(f"xrelax-serve: error: {error}", file=sys.stderr)
        return 2
    return 0


def _serve(options: argparse.Namespace) -> None:
    try:
        import uvicorn

        from .server import Server, is_loopback
    except ImportError as error:
        raise ImportError(
            f"expected the packages of xrelax[serve], got none named {error.name}"
        ) from None
    from .batching import Batcher

    host, key = options.host, options.api_key or os.environ.get(KEY) or None
    if key is None and not is_loopback(host):
        raise ValueError(f"expected --api-key (or {KEY}) for the host {host}, got none")
    if options.max_requests < 1:
        raise ValueError(f"expected --max-requests of at least 1, got {options.max_requests}")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # A port that is taken is said before the model is compiled.
    with socket.create_server((host, options.port), family=family, backlog=2048) as listener:
        draft = options.draft if options.draft in (None, "prompt") else load(options.draft)
        model = load(
            options.model,
            context=options.context,
            activations=options.activations,
            cache=options.cache,
            weights=options.weights,
        )
        name, port = Path(options.model).stem, listener.getsockname()[1]
        with Batcher(model, limit=options.max_requests, draft=draft) as batcher:
            config = uvicorn.Config(
                Server(batcher, name, key).app,
                log_level="warning",
                timeout_graceful_shutdown=GRACE,
            )
            shown = f"[{host}]" if ":" in host else host
            print(f"serving {name} at http://{shown}:{port}/v1  (Ctrl-C to stop)", flush=True)
            uvicorn.Server(config).run(sockets=[listener])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("xrelax-serve", description=__doc__)
    parser.add_argument("model", help="a GGUF file or a model folder")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen at (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="(8000; 0 for any that is free)")
    parser.add_argument("--api-key", metavar="KEY", help=f"what clients must send (${KEY})")
    parser.add_argument("--context", type=int, help="positions of the cache, of all requests")
    parser.add_argument(
        "--max-requests", type=int, default=256, help="that run or wait at once (256)"
    )
    parser.add_argument("--activations", default="int16", help="int8, int16 (default) or float32")
    parser.add_argument(
        "--cache", default="float16", help="int8, float16 (default), bfloat16 or float32"
    )
    parser.add_argument("--weights", help="round floats to q4_0, q4_1, q5_0, q5_1 or q8_0")
    parser.add_argument("--draft", help="guess tokens: prompt (repeats), or the file of a model")
    return parser
