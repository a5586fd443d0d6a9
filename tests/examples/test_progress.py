"""The progress bar is for terminals alone."""

import io
import re
import sys
import time

import pytest
from image_data import DataError
from progress import DELAY, progress

STEPS = [1, 2, 3, 4]


class Terminal(io.StringIO):
    """A standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def slow_steps() -> list[int]:
    """The steps, as they come; the first one takes longer than the delay of the bar."""
    done: list[int] = []
    for step in progress(STEPS, "training"):
        time.sleep(0 if done else 1.5 * DELAY)
        done.append(step)
    return done


def test_terminal_shows_the_bar_and_then_a_clear_line(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert slow_steps() == STEPS
    drawn = sys.stderr.getvalue().split("\r")
    assert any(re.match(r"training:  25%.* 1/4 ", line) for line in drawn)
    assert drawn[-1] == "" and drawn[-2].isspace()


def test_short_steps_show_no_bar(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    monkeypatch.setattr("progress.DELAY", 60)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert list(progress(STEPS, "training")) == STEPS
    assert sys.stderr.getvalue().strip() == ""


def test_pipe_shows_nothing(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    assert slow_steps() == STEPS
    assert capsys.readouterr() == ("", "")


def test_missing_tqdm_is_one_line(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with pytest.raises(DataError, match="the progress bars need tqdm: install the extra `demo`"):
        progress(STEPS, "training")
