"""Tests compile what they test; those of models share the kernels of one run.

Of a test marked `sampled`, which has many costly cases, ``--sample 34`` runs one case in 34, and
``--sample-others 4`` one in four of the cases of other tests, and of the tests of a front end's
file. ``--sample-seed`` draws them (the header names it). Without these options all run.
"""

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator
from random import Random
from tempfile import TemporaryDirectory
from time import time_ns
from typing import Any

import pytest

CACHED = ("importers", "llm", "quantization")
"""Folders of tests of whole models, many of which have equal kernels."""

BROWSER = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.addoption
    add("--sample", type=int, default=1, metavar="N", help="one in N cases of sampled tests")
    add("--sample-others", type=int, default=1, metavar="N", help="one in N cases of other tests")
    add("--sample-seed", type=int, metavar="SEED", help="which ones (a new seed)")


def pytest_configure(config: pytest.Config) -> None:
    for name in ("sample", "sample_others"):
        if (given := config.getoption(name)) < 1:
            option = name.replace("_", "-")
            raise pytest.UsageError(f"expected --{option} of at least 1, got {given}")
    if not hasattr(config, "workerinput"):  # workers of pytest-xdist share the folder
        folder = TemporaryDirectory(prefix="xrelax-tests-", ignore_cleanup_errors=True)
        os.environ.update(XRELAX_CACHE="0", XRELAX_CACHE_DIR=folder.name)
        config.add_cleanup(folder.cleanup)
    given = getattr(config, "workerinput", {}).get("sample_seed", config.option.sample_seed)
    drawn = time_ns() // 1_000_000 % 1_000_000
    config.option.sample_seed = drawn if given is None else given


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Turn the cache on for tests that change nothing in the compiler, before their fixtures."""
    os.environ["XRELAX_CACHE"] = "1" if item.path.parent.name in CACHED else "0"


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Let the workers of pytest-xdist draw the same cases."""
    node.workerinput["sample_seed"] = node.config.option.sample_seed


def pytest_report_header(config: pytest.Config) -> str | None:
    option = config.option
    if option.sample == option.sample_others == 1:
        return None
    rates = f"--sample {option.sample} --sample-others {option.sample_others}"
    return f"sampled tests: {rates} --sample-seed {option.sample_seed}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases: dict[tuple[object, int], list[pytest.Item]] = defaultdict(list)
    for item in items:
        cases[_group_of(item)].append(item)
    random = Random(config.option.sample_seed)
    dropped = {
        item
        for (_, rate), found in cases.items()
        for item in random.sample(found, len(found) - -(-len(found) // rate))
    }
    config.hook.pytest_deselected(items=[item for item in items if item in dropped])
    items[:] = [item for item in items if item not in dropped]


def _group_of(item: pytest.Item) -> tuple[object, int]:
    """What the cases of a test are drawn from, and of how many one is."""
    option, marker = item.config.option, item.get_closest_marker("sampled")
    test = getattr(item, "function", item)
    if marker is not None:
        return test, min(option.sample, *marker.args) if marker.args else option.sample
    if item.path.parent.name == "importers" and not hasattr(item, "callspec"):
        return item.path, option.sample_others
    return test, option.sample_others


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
