"""Files of any content in a model folder: no rule raises, nothing hangs, and what is no JSON is told once."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest

from modellint.folders import ModelFolder
from modellint.packs import load_rules
from modellint.reading.files import Files

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace

CODES = ("ML601", "ML602", "ML603", "ML606", "ML607")
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 7\n"
#: A folder with all files that are read, small and whole.
WHOLE: dict[str, Any] = {
    "config.json": {
        "architectures": ["BertForSequenceClassification"],
        "vocab_size": 4,
        "pad_token_id": 0,
        "image_token_id": 3,
        "text_config": {"vocab_size": 4, "eos_token_id": [1, 2]},
        "id2label": {"0": "a", "1": "b"},
        "label2id": {"a": 0, "b": 1},
        "num_labels": 2,
        "num_classes": 3,
        "pretrained_cfg": {"classifier": "fc"},
        "auto_map": {"AutoModel": "own.Own", "AutoTokenizer": [None, "own.Own"]},
    },
    "generation_config.json": {
        "eos_token_id": [1],
        "suppress_tokens": [1],
        "bad_words_ids": [[1]],
        "forced_decoder_ids": [[1, 2]],
    },
    "tokenizer.json": {
        "added_tokens": [{"id": 3, "content": "<x>", "special": True}],
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2}, "merges": []},
    },
    "tokenizer_config.json": {
        "eos_token": {"content": "<x>"},
        "pad_token": "a",
        "chat_template": [{"name": "default", "template": "{{ '<|a|>' }}"}],
        "added_tokens_decoder": {"3": {"content": "<x>"}},
        "extra_special_tokens": {"image_token": "<y>"},
        "additional_special_tokens": ["<z>"],
        "auto_map": {"AutoTokenizer": ["own.Own", None]},
    },
    "special_tokens_map.json": {"eos_token": "<x>"},
    "added_tokens.json": {"<x>": 3},
    "vocab.json": {"a": 0, "b": 1},
    "chat_template.json": {"chat_template": "{{ a }}"},
}
ODD: list[Any] = [
    *(None, True, False, -1, 0, 1.5, 10**30, float("inf"), "", "x", "x.y", "\ud800", "a" * 9000),
    *(
        [],
        {},
        [[]],
        [{}],
        {"": ""},
        [None],
        {"content": None},
        {"x": {"x": {"x": {"x": {"x": {}}}}}},
        [[[[[[[[[[1]]]]]]]]]],
    ),
]


def written(folder: Path, documents: dict[str, Any]) -> ModelFolder:
    folder.mkdir(parents=True, exist_ok=True)
    for name, document in documents.items():
        (folder / name).write_bytes(json.dumps(document).encode("utf-8", "surrogatepass"))
    return ModelFolder(folder, Files())


def spots(document: Any) -> list[tuple[Any, Any]]:
    """All places of a document: a container, and a key of it."""
    found = []
    keys = document if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    for key in keys:
        found += [(document, key), *spots(document[key])]
    return found


@pytest.mark.parametrize("seed", range(8))
def test_values_of_any_type_raise_nothing(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    rules = [rule for rule in load_rules().values() if rule.code in CODES]
    assert len(rules) == len(CODES)
    for number in range(60):
        documents = json.loads(json.dumps(WHOLE))
        for name in chance.sample(sorted(documents), chance.randrange(4)):
            del documents[name]
        for _ in range(chance.randrange(1, 4)):
            container, key = chance.choice(spots(documents))
            if chance.random() < 0.8:
                container[key] = chance.choice(ODD)
            elif isinstance(container, dict):
                container[chance.choice(["x", "0", "-1", "pad_token", "9" * 20])] = container.pop(key)
        folder = written(tmp_path / str(number), documents)
        for rule in rules:
            list(rule.check_folder(folder, None))  # type: ignore[arg-type]


CONTENTS = {
    "empty": b"",
    "text": b"no json",
    "cut": b'{"a": [1, 2',
    "deep": b"[" * 200_000,
    "latin": b'{"a": "\xe9"}',
    "null": b"\0" * 50,
    "digits": b'{"a": ' + b"9" * 20_000 + b"}",
    "pointer": POINTER,
}
NAMES = (*WHOLE, "vocab.txt", "tokenizer.model", "qwen.tiktoken", "chat_template.jinja")


def test_files_of_any_content_are_told_at_most_once(workspace: Workspace) -> None:
    for name in NAMES:
        for kind, content in CONTENTS.items():
            folder = workspace.root / f"{name}-{kind}"
            written(
                folder, {"config.json": {"architectures": ["BertModel"], "vocab_size": 9}, "tokenizer_config.json": {}}
            )
            (folder / name).write_bytes(content)
    run = workspace.run("check", "--output-format", "json", "--select", ",".join((*CODES, "ML001")), ".")
    places = [finding["path"] for finding in run.json["findings"]]
    assert run.code in (0, 1)
    assert len(places) == len(set(places))
    assert not any("pointer" in place for place in places)


def test_links_out_of_the_folder_are_not_followed(workspace: Workspace) -> None:
    outside = workspace.root.parent / "outside.json"
    outside.write_text('{"<secret>": 99}')
    written(workspace.root / "m", {"config.json": {"vocab_size": 9}, "tokenizer_config.json": {}})
    (workspace.root / "m/added_tokens.json").symlink_to(outside)
    assert "secret" not in workspace.check("--select", ",".join(CODES), "m").out
