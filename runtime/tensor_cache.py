"""Parameters in a folder, as MLC LLM stores them: ``contrib.tvmjs.dump_tensor_cache``.

``tensor-cache.json``, which was ``ndarray-cache.json``, lists the files of the folder and what they
hold: name, shape, dtype, position and format of each tensor. The format "f32-to-bf16" is float32 as
the upper halves of its numbers, rounded; "raw" is the memory of a tensor. All is little-endian.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import md5
from itertools import count
from math import prod
from pathlib import Path
from typing import Any, cast

import numpy as np

from .device import Device
from .dtype import bfloat16_to_float32, dtype_info, to_bfloat16
from .registry import register_func
from .tensor import Tensor, as_tensor, empty

NAMES = ("tensor-cache.json", "ndarray-cache.json")
"""The names of the list, the newest first."""

FORMATS = ("f32-to-bf16", "raw")


@dataclass(frozen=True)
class _Record:
    """An entry of the list."""

    name: str
    shape: list[int]
    dtype: str
    format: str
    nbytes: int
    byteOffset: int = 0  # the name in the file

    @property
    def is_halved(self) -> bool:
        """Whether the upper halves of the numbers are stored."""
        return self.format == "f32-to-bf16" and self.dtype == "float32"


def dump_tensor_cache(
    params: Mapping[str, Any] | Iterable[tuple[str, Any]],
    cache_dir: str | Path,
    encode_format: str | Mapping[str, str] = "f32-to-bf16",
    meta_data: Mapping[str, Any] | Callable[[], Mapping[str, Any]] | None = None,
    shard_cap_mb: int = 32,
    show_progress: bool = True,
    update_if_exists: bool = False,
) -> None:
    """Write tensors, or arrays of any library, with their names to a folder, in files of some size.

    `encode_format` is "raw" or "f32-to-bf16", which rounds float32, for all or by name, where "*"
    is for other names. `meta_data` may be a function, called at the end. A file has at most
    `shard_cap_mb` MB if it has several tensors. With `update_if_exists` the tensors of other names
    that are there stay. `show_progress` does nothing. TVM's ``tvmjs.dump_tensor_cache``; each reads
    what the other one writes. Raises ValueError for another format, and TypeError for a value that
    is no array.
    """
    folder, entries = Path(cache_dir), dict[str, tuple[_Record, bytes]]()
    folder.mkdir(parents=True, exist_ok=True)
    if update_if_exists and any((folder / name).exists() for name in NAMES):
        listed = _list_of(folder)[1]
        meta_data = listed["metadata"] if meta_data is None else meta_data
        entries.update((r.name, (r, data)) for r, data in _stored(folder, listed))
    pairs = dict(cast("Mapping[str, Any]", params))  # also of an iterable of pairs
    for name, value in pairs.items():
        entries[name] = _encoded(name, as_tensor(value), encode_format)
    shards = [
        _write(folder / f"params_shard_{number}.bin", group)
        for number, group in enumerate(_shards(entries.values(), shard_cap_mb << 20))
    ]
    found = meta_data() if callable(meta_data) else meta_data
    listed = {"metadata": dict(found or {}), "records": shards}
    (folder / NAMES[0]).write_text(json.dumps(listed, indent=4))


def load_tensor_cache(
    cachepath: str | Path, device: Device | str | None = None
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of a folder, or of its list, by name, and the metadata.

    TVM's ``tvmjs.load_tensor_cache``. Raises FileNotFoundError where there is no list, and
    ValueError for an entry without a part, or files of another size than it says.
    """
    folder, listed = _list_of(Path(cachepath))
    found = {r.name: _decoded(r, data) for r, data in _stored(folder, listed)}
    return found, listed["metadata"]


def _encoded(name: str, tensor: Tensor, formats: str | Mapping[str, str]) -> tuple[_Record, bytes]:
    """A tensor in the format for its name."""
    chosen = formats if isinstance(formats, str) else formats.get(name, formats.get("*"))
    if chosen not in FORMATS:
        known = ", ".join(FORMATS)
        raise ValueError(f"expected an encode_format ({known}) for '{name}', got {chosen!r}")
    info, values = dtype_info(tensor.dtype), tensor.view()
    halved = chosen == "f32-to-bf16" and tensor.dtype == "float32"
    storage = to_bfloat16(values).astype("<u2") if halved else values.astype(_little(info.storage))
    data = storage.tobytes()
    return _Record(name, list(tensor.shape), tensor.dtype, chosen, len(data)), data


def _decoded(record: _Record, data: bytes) -> Tensor:
    info = dtype_info(record.dtype)
    stored = np.dtype("<u2") if record.is_halved else _little(info.storage)
    if len(data) != prod(record.shape) * stored.itemsize:
        where = f"'{record.name}', of {record.dtype} and shape {record.shape}"
        raise ValueError(f"expected the bytes of {where}, got {len(data)}")
    result = empty(tuple(record.shape), record.dtype)
    values = np.frombuffer(data, stored).reshape(record.shape)
    np.copyto(result.view(), bfloat16_to_float32(values) if record.is_halved else values)
    return result


def _little(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtype.newbyteorder("<")


def _shards(
    entries: Iterable[tuple[_Record, bytes]], limit: int
) -> Iterator[list[tuple[_Record, bytes]]]:
    """The tensors of each file; one that is larger than the limit is alone."""
    group, size = list[tuple[_Record, bytes]](), 0
    for record, data in entries:
        if group and size + len(data) > limit:
            yield group
            group, size = [], 0
        group.append((record, data))
        size += len(data)
    if group:
        yield group


def _write(path: Path, group: Sequence[tuple[_Record, bytes]]) -> dict[str, Any]:
    """Write a file; returns its entry of the list."""
    records, offset = list[dict[str, Any]](), 0
    for record, data in group:
        records.append({**asdict(record), "byteOffset": offset})
        offset += len(data)
    content = b"".join(data for _, data in group)
    path.write_bytes(content)
    return {
        "dataPath": path.name,
        "format": "raw-shard",
        "nbytes": offset,
        "records": records,
        "md5sum": md5(content, usedforsecurity=False).hexdigest(),
    }


def _list_of(path: Path) -> tuple[Path, dict[str, Any]]:
    """The folder, and the list in it."""
    files = [path] if path.suffix == ".json" else [path / name for name in NAMES]
    found = next((file for file in files if file.exists()), files[0])
    listed = json.loads(found.read_text())
    return found.parent, {
        "metadata": _part(listed, "metadata"),
        "records": _part(listed, "records"),
    }


def _part(entry: Any, name: str) -> Any:
    """What an entry of the list has under a name; ValueError if there is none."""
    known = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    if name not in known:
        raise ValueError(f"expected '{name}' in each entry of the cache, got {list(known)}")
    return known[name]


def _stored(folder: Path, listed: Mapping[str, Any]) -> Iterator[tuple[_Record, bytes]]:
    """The tensors of a list, with their bytes."""
    for shard in listed["records"]:
        kind, path, size = (_part(shard, k) for k in ("format", "dataPath", "nbytes"))
        if kind != "raw-shard" or (name := Path(path)).name != str(name):
            raise ValueError(f"expected a raw-shard of the folder, got {path!r}")
        content = (folder / name).read_bytes()
        if len(content) != size:
            raise ValueError(f"expected {size} bytes in '{name}', got {len(content)}")
        for entry in _part(shard, "records"):
            record = _Record(**{k: _part(entry, k) for k in _Record.__dataclass_fields__})
            end = record.byteOffset + record.nbytes
            if not 0 <= record.byteOffset <= end <= size:
                raise ValueError(
                    f"expected '{record.name}' in the {size} bytes of '{name}', got bytes "
                    f"{record.byteOffset} to {end}"
                )
            yield record, content[record.byteOffset : end]


_LOADED: dict[str, Tensor] = {}
"""What programs have loaded, by name."""


def _load(path: str, _device_type: int = 1, _device_id: int = 0) -> None:
    _LOADED.update(load_tensor_cache(path)[0])


def _get(name: str) -> Tensor | None:
    return _LOADED.get(name)


def _update(name: str, tensor: Any, override: bool = False) -> None:
    if override or name not in _LOADED:
        _LOADED[name] = as_tensor(tensor)


def _by_names(names: Sequence[str]) -> list[Tensor]:
    """Loaded tensors; ValueError for a name that is not there."""
    for name in names:
        if name not in _LOADED:
            raise ValueError(f"expected a loaded parameter, got '{name}'")
    return [_LOADED[name] for name in names]


def _by_prefix(prefix: str, number: int) -> list[Tensor]:
    """The loaded tensors ``prefix_0``, ``prefix_1``, …; all there are for a negative number."""
    if number >= 0:
        return _by_names([f"{prefix}_{i}" for i in range(number)])
    end = next(i for i in count() if f"{prefix}_{i}" not in _LOADED)
    return _by_prefix(prefix, end)


def _remove(name: str) -> None:
    _LOADED.pop(name, None)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "load": _load,
    "get": _get,
    "update": _update,
    "remove": _remove,
    "clear": lambda: _LOADED.clear(),
}
"""What programs call as ``vm.builtin.tensor_cache.…``."""

for _name, _function in _FUNCTIONS.items():
    for _cache in ("tensor_cache", "ndarray_cache"):
        register_func(f"vm.builtin.{_cache}.{_name}", _function, override=True)
register_func("vm.builtin.param_array_from_cache", _by_prefix, override=True)
register_func("vm.builtin.param_array_from_cache_by_name", _by_names, override=True)
