"""Documents and code use the field's terms: these words have a standard one."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from package_files import MODULES, ROOT

DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "tutorials").rglob("*.md")),
    *sorted((ROOT / "docs" / "tutorials").rglob("*.ipynb")),
]
TERMS = {
    "_Digits": "iterator map",
    "a place in memory": "storage",
    "a word from": "by default",
    "ask_for": "emit prefetch",
    "be looked into": "be inspected",
    "borders": "loop partition",
    "can_run_together": "is vectorizable",
    "circle of imports": "cycle",
    "covers_densely": "bijective",
    "DEAR": "expensive",
    "detour": "promote to SSA values",
    "driven by": "bound to",
    "drives": "is bound to",
    "durations": "time model",
    "ENOUGH": "least trip count",
    "few rows": "small m",
    "few_rows": "small m",
    "fold_totals": "horizontal reductions",
    "for ever": "a loop",
    "functions of elements": "elementwise operators",
    "functions of floats": "math functions",
    "functions of rows": "row-wise operators",
    "half floats": "half precision",
    "handed on": "escaped",
    "handed out": "taken, returned",
    "hands out": "allocates, assigns",
    "handed_on": "escaped",
    "hoist_totals": "horizontal reductions",
    "in a circle": "in a cycle",
    "in the large": "systematically",
    "initialisation": "initialization",
    "initialise": "initialize",
    "initialised": "initialized",
    "is_light": "is cheap",
    "is_turned": "swaps_operands",
    "join_totals": "horizontal reductions",
    "lane_totals": "horizontal reductions",
    "leave the caches": "are larger than the cache",
    "left alone": "skipped, unchanged",
    "look into": "inspect",
    "looked through": "ignored",
    "looks through": "ignores",
    "normalisation": "normalization",
    "optimisation": "optimization",
    "own_nest": "perfect nest",
    "produced_parts": "required ranges",
    "products of matrices": "matmuls",
    "promote_scratch": "mem2reg",
    "provably takes": "are provably compatible",
    "put out": "evict",
    "put right": "corrected",
    "put_together": "build vector",
    "short floats": "half precision",
    "sizes and places": "shape and index expressions",
    "split_by_count": "multiversion",
    "stay as they are": "are unchanged",
    "stays as it is": "is unchanged",
    "STRAIGHT": "MAX_…",
    "stream_rows": "vectorize column reductions",
    "table_of_choices": "truth table of the combiner",
    "take_arm": "fold the if",
    "tile_dots": "inner products",
    "told apart": "distinguished",
    "trim_inside": "peel",
    "turn_cycles": "transpose cost",
    "turned": "swapped, transposed",
    "turned_tiles": "register transposes",
    "TURNS": "chunks per thread",
    "twin": "copy",
    "twins": "copies",
    "way through python": "Python path",
    "whoever": "the caller, the user",
    "whole_and_rest": "peel",
    "widen_choices": "vectorize arg-reductions",
    "with_room": "deep stack",
    "without a word": "by default, silently",
}
"""What to say instead, by whole words; those in lower case in any case."""


def pattern_of(words: Iterable[str], flags: int = 0) -> re.Pattern[str]:
    """Any of the words, whole, also across lines."""
    return re.compile(rf"\b({'|'.join(words)})\b".replace(" ", r"\s+"), flags)


PATTERNS = (
    pattern_of((word for word in TERMS if word.islower()), re.IGNORECASE),
    pattern_of(word for word in TERMS if not word.islower()),
)


def found(text: str) -> list[str]:
    """Such words of a text, and what to say."""
    words = [" ".join(m[0].split()) for pattern in PATTERNS for m in pattern.finditer(text)]
    names = [word if word in TERMS else word.lower() for word in words]
    return [f"'{name}': say '{TERMS[name]}'" for name in names]


def prose(document: Path) -> str:
    """The text of a page, or the Markdown cells of a notebook."""
    text = document.read_text()
    if document.suffix != ".ipynb":
        return text
    cells = json.loads(text)["cells"]
    return "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.relative_to(ROOT).as_posix())
def test_terms(document: Path):
    assert found(prose(document)) == []


def test_terms_of_code():
    assert {
        str(path.relative_to(ROOT)): w for path in MODULES if (w := found(path.read_text()))
    } == {}


def test_refusals_of_primitives_are_not_swallowed():
    """Rules say what they try by `Schedule.try_` and `Schedule.applies`."""
    assert not [path for path in MODULES if "suppress(ScheduleError" in path.read_text()]


def test_words_are_found_whole_in_any_case_and_across_lines():
    assert found("Turned, not returned; few\nrows") == [
        "'turned': say 'swapped, transposed'",
        "'few rows': say 'small m'",
    ]


def test_constants_are_found_in_their_case():
    assert found("TURNS turns, ENOUGH is enough") == [
        "'TURNS': say 'chunks per thread'",
        "'ENOUGH': say 'least trip count'",
    ]


def test_only_markdown_cells_of_notebooks_are_prose(tmp_path: Path):
    cells = [
        {"cell_type": kind, "source": [f"a {kind}\n", "cell"]} for kind in ("code", "markdown")
    ]
    (tmp_path / "page.ipynb").write_text(json.dumps({"cells": cells}))
    assert prose(tmp_path / "page.ipynb") == "a markdown\ncell"
