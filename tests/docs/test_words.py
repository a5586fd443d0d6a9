"""Documents and code use the field's terms: these words have a standard one."""

import re
from pathlib import Path

import pytest
from package_files import MODULES, ROOT

DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    ROOT / "benchmarks" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
TERMS = {
    "a place in memory": "storage",
    "a word from": "by default",
    "be looked into": "be inspected",
    "can_run_together": "is vectorizable",
    "covers_densely": "bijective",
    "detour": "promote to SSA values",
    "durations": "time model",
    "few rows": "small m",
    "few_rows": "small m",
    "functions of elements": "elementwise operators",
    "functions of floats": "math functions",
    "functions of rows": "row-wise operators",
    "handed on": "escaped",
    "handed_on": "escaped",
    "half floats": "half precision",
    "is_turned": "swaps_operands",
    "leave the caches": "are larger than the cache",
    "look into": "inspect",
    "own_nest": "perfect nest",
    "products of matrices": "matmuls",
    "promote_scratch": "mem2reg",
    "put out": "evict",
    "short floats": "half precision",
    "sizes and places": "shape and index expressions",
    "stream_rows": "vectorize column reductions",
    "take_arm": "fold the if",
    "tile_dots": "inner products",
    "turned": "swapped, transposed",
    "turned_tiles": "register transposes",
    "way through Python": "Python path",
    "whole_and_rest": "peel",
    "widen_choices": "vectorize arg-reductions",
    "with_room": "deep stack",
    "without a word": "by default, silently",
}
"""What to say instead, by whole words in any case."""


def found(text: str) -> list[str]:
    """The lines of a text with such words, and what to say."""
    pattern = re.compile(rf"\b({'|'.join(TERMS)})\b".replace(" ", r"\s+"), re.IGNORECASE)
    matches = [" ".join(match[0].lower().split()) for match in pattern.finditer(text)]
    instead = {name.lower(): term for name, term in TERMS.items()}
    return [f"'{word}': say '{instead[word]}'" for word in matches]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.relative_to(ROOT).as_posix())
def test_terms(document: Path):
    assert found(document.read_text()) == []


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
