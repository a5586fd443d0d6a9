"""Reads ONNX models: files, bytes and protobufs, with checks of what they refer to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import onnx
from google.protobuf.message import DecodeError

from .checks import graphs_in, verify_functions, verify_graph, verify_texts

NEWEST_OPSET = 28
"""The newest opset whose operators are known."""


@dataclass(frozen=True)
class Model:
    """A model: its graph, the opset of each domain, and where its external data may be."""

    graph: Any
    opsets: Mapping[str, int]
    folder: Path | None
    name: str

    def data_files(self) -> list[str]:
        """The files that have data of tensors."""
        places = {e.value for t in _tensors(self.graph) for e in _location(t)}
        return [os.path.abspath(self.folder / p) for p in sorted(places)] if self.folder else []


def _tensors(graph: Any) -> Iterator[Any]:
    """The tensors of a graph, and of the graphs inside."""
    for inner in graphs_in(graph.node, [graph]):
        yield from inner.initializer
        for attribute in (a for node in inner.node for a in node.attribute):
            yield attribute.t


def _location(tensor: Any) -> list[Any]:
    is_external = tensor.data_location == onnx.TensorProto.EXTERNAL
    return [e for e in tensor.external_data if e.key == "location"] if is_external else []


def read_model(source: Any, opset: int | None = None) -> Model:
    """The model of a path, of bytes, or of a `ModelProto`.

    Functions of the model are inlined. `opset` replaces that of the default domain. Raises OSError
    for a file that cannot be read, ValueError for one that is no model.
    """
    folder, name = None, "the model"
    if isinstance(source, str | os.PathLike):
        path = Path(cast("str", source))
        folder, name, source = path.parent, path.name, path.read_bytes()
    proto = _parsed(source, name) if isinstance(source, bytes) else source
    if not isinstance(proto, onnx.ModelProto):
        kind = type(source).__name__
        raise ValueError(f"expected a path, bytes or a ModelProto of ONNX, got {kind}")
    if not proto.HasField("graph") or not proto.opset_import:
        raise ValueError(f"expected a model of ONNX, got '{name}' without a graph or an opset")
    verify_graph(proto.graph, f"'{name}'")
    if proto.functions:
        proto = _inlined(proto, name)
    return Model(proto.graph, _opsets(proto, opset), folder, name)


def _opsets(proto: Any, opset: int | None) -> Mapping[str, int]:
    """The opset of each domain, with that of ONNX itself replaced by `opset`."""
    opsets: dict[str, int] = {}
    for entry in proto.opset_import:
        verify_texts([entry.domain])
        domain = _domain(entry.domain)
        if opsets.setdefault(domain, entry.version) != entry.version:
            raise ValueError(
                f"expected one opset of domain '{domain}', got {opsets[domain]} and {entry.version}"
            )
    if opset is not None:
        opsets[""] = opset
    if not 1 <= opsets.get("", 1) <= NEWEST_OPSET:
        raise ValueError(f"expected an opset from 1 to {NEWEST_OPSET}, got {opsets['']}")
    return opsets


def _parsed(data: bytes, name: str) -> Any:
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(data)
    except DecodeError as error:
        raise ValueError(f"expected a model of ONNX, got '{name}' that cannot be parsed") from error
    return proto


def _inlined(proto: Any, name: str) -> Any:
    from onnx.inliner import inline_local_functions

    verify_functions(proto)
    try:
        inlined = inline_local_functions(proto)
    except Exception as error:  # the inliner's C++ code has errors of several types
        text = " ".join(str(error).split())
        raise ValueError(f"expected functions of '{name}' that can be inlined: {text}") from error
    verify_graph(inlined.graph, f"'{name}'")
    return inlined


def _domain(name: str) -> str:
    """The domain under its short name: that of ONNX itself is empty."""
    return "" if name == "ai.onnx" else name
