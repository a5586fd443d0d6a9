"""What the models should find in their inputs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx_inputs import Array, page, parts, voice

Outputs = Sequence[Array]


def anything(_: Sequence[Outputs]) -> None:
    """Nothing is known of the outputs."""


def lines(outputs: Sequence[Outputs]) -> list[list[int]]:
    """The classes that a recognizer reads: without repetitions and blanks, which are 0."""
    found: list[list[int]] = []
    for (scores,) in outputs:
        best = scores.argmax(-1).ravel()
        starts = np.concatenate(([True], best[1:] != best[:-1]))
        found.append([int(c) for c in best[starts] if c])
    return found


def reads(classes: Sequence[int], outputs: Sequence[Outputs]) -> None:
    assert lines(outputs) == [list(classes)]


def reads_letters(count: int, outputs: Sequence[Outputs]) -> None:
    assert [len(line) for line in lines(outputs)] == [count]


def is_upside_down(outputs: Sequence[Outputs]) -> None:
    ((scores,),) = outputs
    assert scores.argmax(-1).tolist() == [0, 1]


def covers_the_text(outputs: Sequence[Outputs]) -> None:
    ((mask,),) = outputs
    ink = page().min(-1) < 0.5
    assert (mask[0, 0][ink] > 0.5).mean() > 0.5 and (mask > 0.5).mean() < 0.1


def hears(notes: Sequence[int], outputs: Sequence[Outputs]) -> None:
    """Notes are numbers of piano keys."""
    ((_, pitches, _),) = outputs
    assert sorted(np.argsort(-pitches[0].mean(0))[: len(notes)]) == list(notes)


def hears_speech_first(outputs: Sequence[Outputs]) -> None:
    """The parts of a voice, then of noise, in calls or in one."""
    probabilities = np.concatenate([np.ravel(call[0]) for call in outputs])
    speech, rest = np.split(probabilities, [len(parts(voice(0.5)))])
    assert speech.max() > 0.9 and rest[-4:].max() < 0.1


def is_of_types(types: Sequence[int], outputs: Sequence[Outputs]) -> None:
    ((scores,),) = outputs
    assert scores.argmax(-1).tolist() == list(types)
