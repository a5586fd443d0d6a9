"""The tiles that the cost model chooses."""

import pytest

from xrelax.backend.target import Target
from xrelax.lowering.cost_model import Columns, Rows, TileCost
from xrelax.lowering.schedule.rules.tiles import choose_tile

TARGET = Target("llvm -mcpu=znver4 -cache-sizes=49152,1048576,33554432")


def chosen(columns: Columns) -> tuple[int, int]:
    tile = choose_tile(TileCost(Rows([28], is_known=True), columns, 16, TARGET))
    return tile.rows, tile.vectors


@pytest.mark.parametrize("depth", [96, 288])
def test_words_from_the_second_cache_are_loaded_for_more_rows(depth: int):
    """At a depth of 96 the panels fit the first cache, and words are like numbers."""
    numbers = chosen(Columns(128, depth))
    words = chosen(Columns(128, depth, is_words=True))
    assert (words == numbers) == (depth == 96)
    assert words[1] <= numbers[1] and words[0] >= numbers[0]
