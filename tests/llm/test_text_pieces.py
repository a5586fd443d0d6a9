"""Text from tokens piece by piece, and stop strings."""

from __future__ import annotations

import pytest

from xrelax.llm.text_pieces import LONGEST, StopStrings, TextPieces


def decode(tokens):
    """Tokens are bytes."""
    return bytes(tokens).decode(errors="replace")


def test_unfinished_characters_wait():
    pieces = TextPieces(decode)
    assert [pieces.add(byte) for byte in "aé€".encode()] == ["a", "", "é", "", "", "€"]
    assert pieces.rest() == ""


def test_what_is_unfinished_at_the_end_is_replaced():
    pieces = TextPieces(decode)
    assert pieces.add(0xE2) == "" and pieces.rest() == "\ufffd" and pieces.rest() == ""


def test_bytes_that_are_no_text_do_not_wait_without_end():
    pieces = TextPieces(decode)
    found = [pieces.add(0x80) for _ in range(LONGEST)]
    assert found == [""] * (LONGEST - 1) + ["\ufffd" * LONGEST]


@pytest.mark.parametrize(
    ("stops", "texts", "found"),
    [
        ([], ["ab", "c"], ["ab", "c"]),
        (["abc"], ["xa", "b", "cd", "e"], ["x", "", "", ""]),
        (["abc"], ["xa", "b", "d"], ["x", "", "abd"]),
        (["aab"], ["aa", "ab"], ["", "a"]),
        (["b", "abcd"], ["abc"], ["a"]),
        (["cd", "bcx"], ["abc", "d"], ["a", "b"]),
        (["\n\n"], ["a\n", "b\n", "\nc"], ["a", "\nb", ""]),
    ],
)
def test_text_up_to_a_stop_string(stops, texts, found):
    strings = StopStrings(stops)
    assert [strings.add(text) for text in texts] == found
    assert strings.found == any(stop in "".join(texts) for stop in stops)


def test_what_may_begin_a_stop_string_comes_at_the_end():
    strings = StopStrings(["abc"])
    assert (strings.add("xab"), strings.rest(), strings.rest()) == ("x", "ab", "")
