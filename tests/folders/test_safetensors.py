"""Headers of safetensors: what the library refuses is refused, and nothing else."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from modellint.folders import Trouble, Weights, safetensors

if TYPE_CHECKING:
    from pathlib import Path


def read(data: bytes) -> Weights:
    return safetensors.read("m", len(data), lambda start, length: data[start : start + length])


def file(header: Any, body: int = 0, length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + bytes(body)


def entry(dtype: str, shape: list[int], start: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def test_names_shapes_and_dtypes() -> None:
    header = {
        "__metadata__": {"format": "pt"},
        "a": entry("F32", [2, 3], 0, 24),
        "b": entry("BF16", [4], 24, 32),
        "c": entry("I64", [], 32, 40),
        "d": entry("BOOL", [0, 5], 40, 40),
    }
    weights = read(file(header, 40))
    assert weights.trouble is None
    told = {name: (tensor.dtype, tensor.shape, tensor.size) for name, tensor in weights.tensors.items()}
    assert told == {
        "a": ("float32", (2, 3), 24),
        "b": ("bfloat16", (4,), 8),
        "c": ("int64", (), 8),
        "d": ("bool", (0, 5), 0),
    }


TWICE = b'{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}'
REFUSED = {
    "empty": b"",
    "short": b"\1\2",
    "a cut header": file({"a": entry("F32", [2], 0, 8)}, 0, 5_000),
    "a huge length": (1 << 62).to_bytes(8, "little") + b"{}",
    "no json": file(b"hello"),
    "no utf-8": file(b'{"\xff":1}'),
    "a list": file([1]),
    "deep": file(b'{"a":' * 100_000),
    "an overlap": file({"a": entry("F32", [2], 0, 8), "b": entry("F32", [2], 4, 12)}, 12),
    "a hole": file({"a": entry("F32", [2], 0, 8), "b": entry("F32", [2], 12, 20)}, 20),
    "a cut tensor": file({"a": entry("F32", [2], 0, 8)}, 4),
    "bytes of no tensor": file({"a": entry("F32", [2], 0, 8)}, 40),
    "a negative offset": file({"a": entry("F32", [2], -8, 0)}, 8),
    "an unknown dtype": file({"a": entry("F99", [2], 0, 8)}, 8),
    "another size": file({"a": entry("F32", [3], 0, 8)}, 8),
    "a fraction": file(b'{"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}}', 8),
    "a long number": file(b'{"a":{"dtype":"F32","shape":[' + b"9" * 5_000 + b'],"data_offsets":[0,8]}}', 8),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_library_reads_is_broken(name: str) -> None:
    weights = read(REFUSED[name])
    assert (weights.trouble, weights.tensors) == (Trouble.BROKEN, {})
    assert weights.reason


def test_the_last_of_two_entries_counts() -> None:
    assert {name: one.shape for name, one in read(file(TWICE, 8)).tensors.items()} == {"a": (2,)}


def test_a_large_header_is_not_read() -> None:
    asked: list[int] = []

    def part(start: int, length: int) -> bytes:
        asked.append(length)
        return (90_000_000).to_bytes(8, "little")[start : start + length]

    assert safetensors.read("m", 1 << 40, part).trouble is Trouble.UNREAD
    assert max(asked) == 8
    bomb = file(b'{"a":[' + b"[]," * 2_000_000 + b"0]}")
    assert read(bomb).trouble is Trouble.UNREAD


def test_the_library_refuses_the_same(tmp_path: Path) -> None:
    library = pytest.importorskip("safetensors")
    pytest.importorskip("torch")
    path = tmp_path / "a.safetensors"

    def opened(data: bytes) -> dict[str, tuple[int, ...]] | None:
        path.write_bytes(data)
        try:
            with library.safe_open(str(path), "pt") as inside:
                return {name: tuple(inside.get_slice(name).get_shape()) for name in inside.keys()}  # noqa: SIM118
        except Exception:
            return None

    whole = file({"a": entry("F32", [2, 3], 0, 24), "b": entry("F16", [4], 24, 32), "c": entry("I64", [1], 32, 40)}, 40)
    chance = random.Random(0)
    samples = [whole, file(TWICE, 8), *REFUSED.values()]
    for number in range(400):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 1, 3])):
            data[chance.randrange(len(data) - 40)] = chance.choice(b'0123456789{}[],":-aF \\')
        samples.append(bytes(data if number % 5 else data[: chance.randrange(len(data))]))
    for data in samples:
        weights = read(data)
        told = None if weights.trouble is not None else {name: one.shape for name, one in weights.tensors.items()}
        assert told == opened(data), data
