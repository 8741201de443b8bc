"""JSON documents: parts and places by scanning are those of the whole document, and bad input ends."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from modellint.folders import Json, jsons
from modellint.source import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = ("a", "b", "[", "}", '"', "\\", "é", "a b", "")


def some_value(chance: random.Random, depth: int = 0) -> Any:
    kind = chance.random()
    if kind < 0.3 or depth > 4:
        return chance.choice([1, -2.5, None, True, "a]b", 'x\\"{', " [", "", " é", "😀"])
    if kind < 0.6:
        return [some_value(chance, depth + 1) for _ in range(chance.randrange(6))]
    return {f"{chance.choice(KEYS)}{n}": some_value(chance, depth + 1) for n in range(chance.randrange(6))}


def paths(value: Any, keys: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    yield keys, value
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield from paths(one, (*keys, key))


@pytest.mark.parametrize("seed", range(20))
def test_a_part_is_found_in_a_large_document(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsons, "_SMALL", -1)
    chance = random.Random(seed)
    for _ in range(4):
        value = [some_value(chance)]
        text = json.dumps(value, indent=chance.choice([None, 1]), ensure_ascii=chance.choice([True, False]))
        document = Json("/a.json", text.encode())
        found = list(paths(value))
        for keys, one in chance.sample(found, min(len(found), 12)):
            assert document.get(*keys, default="?") == one
            assert document.has(*keys)
            if keys and isinstance(keys[-1], str):
                span = document.place(*keys).span
                line = text.split("\n")[span.line - 1]
                assert json.loads(line[span.column - 1 : span.end_column - 1]) == keys[-1]
        assert not document.has(0, "nowhere")
        assert document.get(99, default=5) == 5


def test_a_missing_key_has_the_place_of_what_surrounds_it() -> None:
    document = Json("/a.json", b'{\n  "a": {"b": 1}\n}')
    assert document.place("a", "c", "d") == document.place("a")
    assert document.place("x").span.line == 1
    assert document.value_place("a", "b").span.column == 14


def test_a_key_that_occurs_twice_is_told() -> None:
    document = Json("/a.json", b'{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}')
    assert sorted(document.repeated) == ["a", "c"]
    assert document.get("a") == 3


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"a":1,}',
        b'{"a" 1}',
        b'{"a":1}x',
        b"[" * 100_000,
        b"\xff{}",
        b"\xef\xbb\xbf{}",
        b'{"a":' * 400_000,
        b"[" * 5_000_000,
        b"[1" + b",[]" * 2_000_000 + b"]",
        b'{"a":"' + b"\\" * 2_000_000,
        b'{"a":[' + b"{" * 1_900_000,
        b'{"a":[' + b'"' * 1_900_000,
        b'{"n": ' + b"9" * 5_000 + b"}",
    ],
    ids=lambda data: f"{data[:8]!r} {len(data)}",
)
def test_what_is_no_document_is_refused_with_a_place(data: bytes) -> None:
    with pytest.raises(UnreadableError) as refused:
        _ = Json("/a.json", data).value
    assert refused.value.span.line == 1
    assert refused.value.reason


def test_a_part_of_a_large_document_is_all_that_is_decoded() -> None:
    vocabulary = b",".join(b'"token %d": %d' % (number, number) for number in range(200_000))
    data = b'{"added": [{"id": 7}], "model": {"vocab": {' + vocabulary + b'}}, "last": 1}'
    document = Json("/a.json", data)
    assert document.get("added", 0, "id") == 7
    assert document.get("last") == 1
    assert document.get("model", "vocab", "token 199999") == 199_999
    with pytest.raises(UnreadableError, match="too much"):
        Json("/b.json", b'{"a": [' + b"1," * 2_000_000 + b"1]}").get("a")
