"""Tests compile what they test: none finds the results of an earlier run.

Of a test marked `sampled`, which has many costly cases, ``--sample 8`` runs one case in eight,
drawn by ``--sample-seed`` (the header names it); without it all run.
"""

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator
from random import Random
from time import time_ns
from typing import Any

import pytest

os.environ["XRELAX_CACHE"] = "0"

BROWSER = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sample", type=int, default=1, metavar="N", help="cases of sampled tests")
    parser.addoption("--sample-seed", type=int, metavar="SEED", help="which ones (a new seed)")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.sample < 1:
        raise pytest.UsageError(f"expected --sample of at least 1, got {config.option.sample}")
    given = getattr(config, "workerinput", {}).get("sample_seed", config.option.sample_seed)
    drawn = time_ns() // 1_000_000 % 1_000_000
    config.option.sample_seed = drawn if given is None else given


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Let the workers of pytest-xdist draw the same cases."""
    node.workerinput["sample_seed"] = node.config.option.sample_seed


def pytest_report_header(config: pytest.Config) -> str | None:
    option = config.option
    if option.sample == 1:
        return None
    return f"sampled tests: --sample {option.sample} --sample-seed {option.sample_seed}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases: dict[object, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled"):
            cases[getattr(item, "function", item)].append(item)
    random = Random(config.option.sample_seed)
    dropped = {
        item
        for found in cases.values()
        for item in random.sample(found, len(found) - -(-len(found) // config.option.sample))
    }
    config.hook.pytest_deselected(items=[item for item in items if item in dropped])
    items[:] = [item for item in items if item not in dropped]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium; where it is missing tests are skipped, unless XRELAX_BROWSER asks for it."""
    found = next(filter(None, map(shutil.which, BROWSER)), None)
    if "XRELAX_BROWSER" not in os.environ:
        pytest.importorskip("playwright")
        if found is None:
            pytest.skip("there is no Chromium here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield chromium
        chromium.close()
