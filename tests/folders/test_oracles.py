"""The libraries agree: with the ids that are read from files, and with each thing that is told about a folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from modellint import folders
from modellint.folders import ModelFolder, jinja
from modellint.reading.files import Files

transformers = pytest.importorskip("transformers")
import published  # noqa: E402
import torch  # noqa: E402
from breaking import CHANGES, Change  # noqa: E402
from jinja2 import TemplateSyntaxError, UndefinedError  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

#: Folders whose tokenizer transformers does not load by itself, or whose tokens are no input.
NO_TOKENIZER = ("adapter", "pipeline", "segformer", "timm", "vit", "wav2vec2", "llama_pieces", "yolos")
WITH_TOKENS = [name for name in published.FOLDERS if name not in NO_TOKENIZER]


def made(change: Change, folder: Path) -> Path:
    published.FOLDERS[change.folder](folder)
    change.make(folder)
    return folder


def chosen(*codes: str) -> Iterable[Any]:
    """The changes of tokens, or those with some codes."""
    found = [change for change in CHANGES if change.code in codes and change.folder in WITH_TOKENS]
    return [pytest.param(change, id=str(change)) for change in found]


def table_of(folder: Path) -> torch.nn.Embedding:
    model = transformers.AutoModel.from_pretrained(folder)
    model = getattr(model, "text_model", model)
    embedding = model.get_input_embeddings()
    assert isinstance(embedding, torch.nn.Embedding)
    return embedding


@pytest.mark.parametrize("name", WITH_TOKENS)
def test_ids_are_those_that_the_library_gives(name: str, tmp_path: Path) -> None:
    published.FOLDERS[name](tmp_path)
    tokens = ModelFolder(tmp_path, Files()).tokens
    assert tokens is not None
    assert dict(tokens.ids) == transformers.AutoTokenizer.from_pretrained(tmp_path).get_vocab()


@pytest.mark.parametrize("change", chosen("ML601"))
def test_a_token_without_a_row_raises_in_the_library(change: Change, tmp_path: Path) -> None:
    made(change, tmp_path)
    vocabulary = transformers.AutoTokenizer.from_pretrained(tmp_path).get_vocab()
    folder = ModelFolder(tmp_path, Files())
    table = folders.table_rows(folder)
    assert folder.tokens is not None
    assert table is not None
    assert dict(folder.tokens.ids) == vocabulary
    embedding = torch.nn.Embedding(table.rows, 2) if "rows_in" in str(change) else table_of(tmp_path)
    with pytest.raises(IndexError):
        embedding(torch.tensor([max(vocabulary.values())]))


@pytest.mark.parametrize("change", chosen(""))
def test_a_change_without_harm_loads(change: Change, tmp_path: Path) -> None:
    made(change, tmp_path)
    if "image_token_above" in str(change):
        return  # the model replaces the id
    vocabulary = transformers.AutoTokenizer.from_pretrained(tmp_path).get_vocab()
    table_of(tmp_path)(torch.tensor(sorted(vocabulary.values())))


@pytest.mark.parametrize("change", [one for one in CHANGES if one.code == "ML606" and one.folder != "timm"], ids=str)
def test_labels_do_not_load_or_do_not_answer(change: Change, tmp_path: Path) -> None:
    made(change, tmp_path)
    document = json.loads((tmp_path / "config.json").read_text("utf-8"))
    try:
        config = transformers.AutoConfig.from_pretrained(tmp_path)
        name = document["architectures"][0]
        model = getattr(transformers, name).from_pretrained(tmp_path)
    except (AttributeError, RuntimeError, ValueError, TypeError):
        return
    if document.get("problem_type") not in (
        None,
        "regression",
        "single_label_classification",
        "multi_label_classification",
    ):
        assert model(torch.tensor([[1]]), labels=torch.tensor([0])).loss is None
        return
    is_inverse = {name: number for number, name in config.id2label.items()} == config.label2id
    is_whole = sorted(config.id2label) == list(range(model.num_labels))
    is_learning = model.num_labels > 1
    assert not (is_inverse and is_whole and is_learning) or document["num_labels"] != model.num_labels


@pytest.mark.parametrize(
    "change", [one for one in CHANGES if one.code == "ML607" and one.folder == "llama_chat"], ids=str
)
def test_a_template_does_not_compile_or_has_no_such_token(change: Change, tmp_path: Path) -> None:
    made(change, tmp_path)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    (template,) = folders.chat_templates(ModelFolder(tmp_path, Files()))
    messages = [{"role": "user", "content": "x"}]
    if jinja.read_template(template.text).error is not None:
        with pytest.raises(TemplateSyntaxError):
            tokenizer.apply_chat_template(messages, tokenize=False)
        return
    try:
        written = tokenizer.apply_chat_template(messages, tokenize=False)
    except UndefinedError:
        return
    if "<|im_start|>user" not in written:
        return  # the message is lost
    markers = [word for word in ("<|im_edn|>", "<|im_strat|>", "<|tool|>") if word in written]
    assert markers
    assert all(len(tokenizer(marker, add_special_tokens=False)["input_ids"]) > 1 for marker in markers)
