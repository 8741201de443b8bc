"""Vocabularies read from bytes have the ids that the libraries give; other bytes are refused."""

from __future__ import annotations

import base64
import contextlib
import json
import time
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modellint.folders import sentencepiece, vocabularies

tokenizers = pytest.importorskip("tokenizers")

FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
TEXTS = st.sampled_from(["a", "b", "c", "d", "<x>", "<y>", ""])


def document(model: dict[str, Any], added: list[tuple[int, str]]) -> bytes:
    entries = [{"id": number, "content": content, **FLAGS} for number, content in added]
    parts = dict.fromkeys(("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"))
    return json.dumps({"version": "1.0", **parts, "added_tokens": entries, "model": model}).encode()


@settings(max_examples=200)
@given(
    st.dictionaries(TEXTS, st.integers(0, 9), max_size=5), st.lists(st.tuples(st.integers(0, 12), TEXTS), max_size=5)
)
def test_added_tokens_get_the_ids_that_tokenizers_gives(words: dict[str, int], added: list[tuple[int, str]]) -> None:
    data = document({"type": "WordLevel", "vocab": words, "unk_token": "a"}, added)
    own, _ = vocabularies.of_tokenizer_json(data)
    library = tokenizers.Tokenizer.from_buffer(data)
    assert dict(own.ids) == library.get_vocab()
    assert own.size >= len(own.ids)
    assert own.highest == max(library.get_vocab().values(), default=-1)


MODELS: list[dict[str, Any]] = [
    {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0], ["a", -2.0]]},
    {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]},
    {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 5}, "merges": [["a", "b"]]},
    {"type": "WordPiece", "vocab": {"a": 0, "##b": 1}, "unk_token": "a", "continuing_subword_prefix": "##"},
    {"type": "WordLevel", "vocab": {'"merges": [': 0, "]}}": 1}, "unk_token": "a"},
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{model['type']}-{len(model['vocab'])}")
def test_all_kinds_of_models(model: dict[str, Any]) -> None:
    if model["type"] == "WordPiece":
        model = {**model, "max_input_chars_per_word": 100}
    data = document(model, [(9, "<x>"), (1, "a")])
    own, added = vocabularies.of_tokenizer_json(data)
    assert dict(own.ids) == tokenizers.Tokenizer.from_buffer(data).get_vocab()
    assert added == [("<x>", 9), ("a", 1)]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b'{"model": []}',
        b'{"model": {"vocab": {"a": -1}}}',
        b'{"model": {"vocab": {"a": "0"}}}',
        b'{"model": {"vocab": {"a": true}}}',
        b'{"model": {"vocab": {"a": 4294967296}}}',
        b'{"model": {"vocab": [1, 2]}}',
        b'{"model": {"vocab": {"a": ' + b"9" * 5000 + b"}}}",
        b"\xff\xfe",
        b'{"model": ' + b"[" * 100_000,
        b'{"model": {"vocab": {' + b",".join(b'"%d": %d' % (n, n) for n in range(720_000)) + b"}}}",
    ],
    ids=lambda data: repr(data[:30]),
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        vocabularies.of_tokenizer_json(data)


def test_a_large_vocabulary_is_read_at_once() -> None:
    """Two hundred thousand tokens, and twice as many merges."""
    words = {f"▁w{number:x}é": number for number in range(200_000)}
    pairs = [[f"▁w{number:x}", "é"] for number in range(400_000)]
    data = document({"type": "BPE", "vocab": words, "merges": pairs}, [(200_000, "<x>")])
    assert len(data) > 15_000_000
    start = time.process_time()
    own, _ = vocabularies.of_tokenizer_json(data)
    assert time.process_time() - start < 3  # a fifth of a second where nothing else runs
    assert own.highest == 200_000
    tracemalloc.start()
    vocabularies.of_tokenizer_json(data)
    assert tracemalloc.get_traced_memory()[1] < 120_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("a\nb\n", {"a": 0, "b": 1}),
        ("a\r\nb", {"a": 0, "b": 1}),
        ("a\n\na\n", {"a": 2, "": 1}),
        ("x\u2028y\n", {"x\u2028y": 0}),
    ],
)
def test_lines(text: str, ids: dict[str, int]) -> None:
    own = vocabularies.of_lines(text.encode())
    assert dict(own.ids) == ids
    assert own.highest == max(ids.values())


def test_ranks_of_tiktoken() -> None:
    tokens = [b"a", b"b", b"\xff", b"ab"]
    own = vocabularies.of_tiktoken(b"".join(base64.b64encode(one) + b" %d\n" % rank for rank, one in enumerate(tokens)))
    assert own.highest == 3
    assert own.ids["ab"] == 3
    for data in (b"", b"YQ==\n", b"YQ== x\n", b"Y 0\n", b"YQ== " + b"9" * 30):
        with pytest.raises(ValueError, match=r"."):
            vocabularies.of_tiktoken(data)


def test_pieces_of_sentencepiece() -> None:
    library = pytest.importorskip("sentencepiece")
    import published

    for options in ({}, {"control_symbols": "<x>,<y>"}, {"pad_id": 3}, {"model_type": "bpe"}):
        data = published.pieces(**options)
        own, other = sentencepiece.read(data), library.SentencePieceProcessor(model_proto=data)
        assert list(own.texts) == [other.id_to_piece(number) for number in range(len(other))]
        special = {n for n in range(len(other)) if other.is_control(n) or other.is_unknown(n)}
        assert own.controls == special


@given(st.binary(max_size=60))
def test_bytes_that_are_no_pieces(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        assert sentencepiece.read(data).texts
