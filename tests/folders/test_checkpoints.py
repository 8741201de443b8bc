"""Checkpoints by their opcodes, against torch itself: the same tensors, and the same refusals."""

from __future__ import annotations

import argparse
import collections
import datetime
import io
import pathlib
import random
import struct
import zipfile
from typing import Any

import pytest

from modellint.folders import Checkpoint, Refused, Trouble, pickles
from modellint.folders.allowed import ALLOWED

torch = pytest.importorskip("torch")


def read(data: bytes) -> Checkpoint:
    return pickles.read("m", len(data), lambda start, length: data[start : start + length])


def saved(value: Any, **options: Any) -> bytes:
    stream = io.BytesIO()
    torch.save(value, stream, **options)
    return stream.getvalue()


def archive(*entries: tuple[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", kind) as file:
        for name, data in entries:
            file.writestr(name, data)
    return stream.getvalue()


class Own:
    """A class of a program."""


VALUES: dict[str, Any] = {
    "tensors": {"a": torch.zeros(2, 3), "b": torch.zeros(4, dtype=torch.float64)},
    "dtypes": {
        str(one): torch.zeros(2, dtype=one)
        for one in (torch.bfloat16, torch.half, torch.int8, torch.uint8, torch.bool, torch.complex64, torch.int64)
    },
    "views": {"a": torch.zeros(4, 4)[1:, 1:], "b": torch.zeros(0, 3), "c": torch.zeros(2).expand(3, 2)},
    "a number": {"a": torch.tensor(3.0)},
    "a state dict": torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)).state_dict(),
    "a parameter": {"p": torch.nn.Parameter(torch.zeros(2))},
    "an optimizer": torch.optim.Adam(torch.nn.Linear(1, 1).parameters()).state_dict(),
    "a sparse tensor": {"s": torch.eye(2).to_sparse()},
    "a quantised tensor": {"q": torch.quantize_per_tensor(torch.zeros(2), 0.1, 0, torch.qint8)},
    "plain values": {"n": 1 << 80, "f": 1.5, "t": (1, 2, 3, 4), "s": "é" * 300, "l": list(range(500)), "none": None},
    "bytes": {"b": b"x", "a": bytearray(b"x")},
    "sets and complex numbers": {"s": {1, 2}, "c": 1j},
    "types of torch": {"d": torch.float16, "v": torch.device("cpu"), "s": torch.Size([1, 2])},
    "ordered": collections.OrderedDict(a=torch.zeros(1)),
    "counted": collections.Counter("aab"),
    "meta": {"m": torch.zeros(2, device="meta")},
    "a random state": {"r": torch.get_rng_state()},
    "arguments": {"a": argparse.Namespace(lr=1)},
    "a module": torch.nn.Linear(2, 2),
    "a class": {"o": Own()},
    "a function": {"f": len},
    "a path": {"p": pathlib.PurePosixPath("x")},
    "a date": {"d": datetime.date(2020, 1, 1)},
    "a slice": {"s": slice(1, 2)},
    "a deque": {"d": collections.deque([1])},
    "a frozen set": {"s": frozenset([1])},
    "a default dict": {"d": collections.defaultdict(int)},
}
FORMATS: dict[str, dict[str, Any]] = {
    "zip": {},
    "before torch 1.6": {"_use_new_zipfile_serialization": False},
    "protocol 4": {"pickle_protocol": 4},
}


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", VALUES)
def test_torch_loads_and_refuses_the_same(name: str, form: str) -> None:
    data = saved(VALUES[name], **FORMATS[form])
    try:
        loaded = torch.load(io.BytesIO(data), weights_only=True)
    except Exception:
        loaded = None
    found = read(data)
    assert (loaded is not None) == (not found.refusals)
    if isinstance(loaded, dict):
        tensors = {key: value for key, value in loaded.items() if isinstance(value, torch.Tensor)}
        told = {key: (one.dtype, one.shape) for key, one in found.tables.get((), {}).items()}
        assert told == {key: (str(one.dtype)[6:], tuple(one.shape)) for key, one in tensors.items()}


def test_the_names_that_torch_allows_are_those_of_the_table() -> None:
    from torch import _weights_only_unpickler as unpickler

    assert frozenset(unpickler._get_allowed_globals()) == ALLOWED


def test_the_table_with_most_tensors_is_the_state_dict() -> None:
    state = {f"layer.{number}": torch.zeros(2) for number in range(3)}
    found = read(saved({"epoch": 3, "model": state, "ema": {"decay": torch.zeros(1)}}))
    assert found.at == ("model",)
    assert sorted(found.weights.tensors) == sorted(state)
    assert sorted(found.tables) == [("ema",), ("model",)]


def test_a_command_is_named() -> None:
    call = b"\x80\x02cposix\nsystem\nX" + struct.pack("<I", 4) + b"true\x85R."
    for data in (call, archive(("a/data.pkl", call))):
        (refusal,) = read(data).refusals
        assert (refusal.kind, refusal.name) == (Refused.NAME, "posix.system")
    by_stack = b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93\x8c\x011\x85R."
    assert "builtins.eval" in {refusal.name for refusal in read(by_stack).refusals}
    instance = b"(S'true'\nios\nsystem\n."
    assert "os.system" in {refusal.name for refusal in read(b"\x80\x02" + instance).refusals}


def test_torchscript_is_told_apart() -> None:
    stream = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), stream)
    found = read(stream.getvalue())
    assert (found.is_script, found.refusals) == (True, ())


def test_a_storage_that_is_missing_or_short_breaks_a_file() -> None:
    data = saved({"a": torch.zeros(100)})
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        entries = {name: file.read(name) for name in file.namelist()}
    storage = next(name for name in entries if name.endswith("data/0"))
    lacking = archive(*((name, one) for name, one in entries.items() if name != storage))
    short = archive(*((name, one[:10] if name == storage else one) for name, one in entries.items()))
    assert [read(one).weights.trouble for one in (data, lacking, short)] == [None, Trouble.BROKEN, Trouble.BROKEN]
    old = saved({"a": torch.zeros(100)}, _use_new_zipfile_serialization=False)
    assert [read(one).weights.trouble for one in (old, old[:-50])] == [None, Trouble.BROKEN]


BOMBS = {
    "opcodes": archive(("a/data.pkl", b"\x80\x02" + b"]" * 3_000_000 + b".")),
    "copies": archive(("a/data.pkl", b"\x80\x02]" + b"2" * 3_000_000 + b".")),
    "a zip bomb": archive(("a/data.pkl", b"\x80\x02" + b"]" * 40_000_000), kind=zipfile.ZIP_DEFLATED),
    "a long number": archive(("a/data.pkl", b"\x80\x02\x8b" + struct.pack("<i", 1 << 22) + bytes(1 << 22) + b".")),
    "nested twice": archive(("a/data.pkl", b"\x80\x02)" + b"2\x86" * 200 + b"}2Ns.")),
    "a nested key": archive(("a/data.pkl", b"\x80\x02})" + b"2\x86" * 200 + b"Ns.")),
    "itself": archive(("a/data.pkl", b"\x80\x02}q\x00X\x01\x00\x00\x00ah\x00s.")),
    "digits": b"\x80\x02I" + b"9" * 100_000 + b"\n.",
    "an entry outside": archive(("../x", b"1"), ("a/data.pkl", b"\x80\x02}.")),
    "no pickle": archive(("a/b", b"1")),
    "text": b"hello",
    "zeros": bytes(4096),
    "no directory": b"PK\x03\x04" + b"x" * 100,
    "nothing": b"",
}


@pytest.mark.parametrize("name", BOMBS)
def test_bad_input_ends(name: str) -> None:
    found = read(BOMBS[name])
    assert found.weights.trouble is not None or found.refusals or not found.tables


def test_any_bytes_are_read_or_refused() -> None:
    chance = random.Random(0)
    value = {"a": torch.zeros(3, 4), "n": {"b": torch.zeros(2, dtype=torch.int64)}, "x": [1, 2, "s"]}
    wholes = [saved(value), saved(value, _use_new_zipfile_serialization=False)]
    for number in range(600):
        data = bytearray(wholes[number % 2])
        for _ in range(chance.choice([1, 2, 6, 20])):
            data[chance.randrange(len(data))] = chance.randrange(256)
        read(bytes(data[: chance.randrange(len(data))] if number % 5 == 0 else data))
