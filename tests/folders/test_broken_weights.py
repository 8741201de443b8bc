"""Small folders that the libraries write are told nothing about; broken in many ways, each says so."""

from __future__ import annotations

import argparse
import json
import os
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors.torch")

from modellint.folders import ModelFolder  # noqa: E402
from modellint.packs import load_rules  # noqa: E402
from modellint.reading.files import Files  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CODES = ("ML604", "ML605", "ML608", "ML609")
MAIN, BIN, INDEX = "model.safetensors", "pytorch_model.bin", "model.safetensors.index.json"
LLAMA = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 48, "num_attention_heads": 4}
LLAMA |= {"num_hidden_layers": 3, "num_key_value_heads": 2}
BERT = {"vocab_size": 60, "hidden_size": 16, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 2}
BERT |= {"max_position_embeddings": 32}
MADE: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "llama": ("LlamaConfig", "LlamaForCausalLM", LLAMA, {}),
    "shards": ("LlamaConfig", "LlamaForCausalLM", {**LLAMA, "num_hidden_layers": 4}, {"max_shard_size": "8kB"}),
    "tied": ("Qwen2Config", "Qwen2ForCausalLM", {**LLAMA, "tie_word_embeddings": True}, {}),
    "bert": ("BertConfig", "BertForSequenceClassification", BERT, {}),
    "gpt2": ("GPT2Config", "GPT2LMHeadModel", {"vocab_size": 64, "n_embd": 16, "n_layer": 2, "n_head": 2}, {}),
    "t5": (
        "T5Config",
        "T5ForConditionalGeneration",
        {"vocab_size": 60, "d_model": 16, "d_kv": 8, "d_ff": 40, "num_layers": 2, "num_heads": 2},
        {},
    ),
    "experts": ("MixtralConfig", "MixtralForCausalLM", {**LLAMA, "intermediate_size": 24, "num_local_experts": 4}, {}),
    "vit": ("ViTConfig", "ViTForImageClassification", {**BERT, "image_size": 32, "patch_size": 8}, {}),
}


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("intact")
    for name, (config, cls, numbers, options) in MADE.items():
        numbers = {key: value for key, value in numbers.items() if name != "vit" or "vocab" not in key}
        model = getattr(transformers, cls)(getattr(transformers, config)(**numbers))
        model.save_pretrained(top / name, **options)
    shutil.copytree(top / "llama", top / "pickled")
    torch.save(safetensors.load_file(top / "pickled" / MAIN), top / "pickled" / BIN)
    (top / "pickled" / MAIN).unlink()
    return top


def told(folder: Path) -> list[tuple[str, str]]:
    """Code and severity of each finding."""
    rules, model = load_rules(), ModelFolder(folder, Files())
    found = [one for code in CODES for one in rules[code].check_folder(model, None)]  # type: ignore[arg-type]
    return [(one.code, one.severity.value) for one in found]


class Break(NamedTuple):
    """A way to break a folder, with the code that says so; without one it does no harm."""

    folder: str
    name: str
    make: Callable[[Path], object]
    code: str = ""


def config(folder: str, **numbers: int) -> Break:
    def make(path: Path) -> None:
        file = path / "config.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), **numbers}))

    return Break(folder, f"config {numbers}", make, "ML605")


def tensors(folder: str, name: str, change: Callable[[str, Any], tuple[str, Any] | None], code: str = "ML605") -> Break:
    def make(path: Path) -> None:
        pairs = (change(key, value) for key, value in safetensors.load_file(path / MAIN).items())
        safetensors.save_file(dict(pair for pair in pairs if pair is not None), path / MAIN)

    return Break(folder, name, make, code)


def without(part: str) -> Callable[[str, Any], tuple[str, Any] | None]:
    return lambda key, value: None if part in key else (key, value)


def prefix(text: str) -> Callable[[str, Any], tuple[str, Any]]:
    return lambda key, value: (text + key, value)


def transposed(part: str) -> Callable[[str, Any], tuple[str, Any]]:
    return lambda key, value: (key, value.t().contiguous() if part in key else value)


def shard(path: Path, number: int) -> Path:
    return sorted(path.glob("model-*.safetensors"))[number]


def pickled(change: Callable[[dict[str, Any]], Any], **options: Any) -> Callable[[Path], None]:
    return lambda path: torch.save(change(torch.load(path / BIN)), path / BIN, **options)


def indexed(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        document = json.loads((path / INDEX).read_text())
        change(document)
        (path / INDEX).write_text(json.dumps(document))

    return make


HTML = b"<!doctype html><html>404</html>"
BREAKS = [
    *(config(name, vocab_size=99) for name in ("llama", "shards", "tied", "bert", "gpt2", "t5", "experts")),
    *(config(name, hidden_size=32) for name in ("llama", "bert", "experts", "vit")),
    config("gpt2", n_embd=32),
    config("t5", d_model=32),
    *(config("llama", num_hidden_layers=number) for number in (2, 4)),
    config("bert", num_hidden_layers=3),
    config("gpt2", n_layer=3),
    config("t5", num_layers=3),
    config("vit", num_hidden_layers=4),
    config("llama", intermediate_size=40),
    config("bert", intermediate_size=44),
    config("gpt2", n_inner=50),
    config("t5", d_ff=44),
    config("t5", d_kv=4),
    config("vit", patch_size=4),
    *(config("llama", num_key_value_heads=number) for number in (1, 4)),
    config("llama", head_dim=8),
    config("experts", num_local_experts=8),
    config("bert", max_position_embeddings=64),
    config("bert", type_vocab_size=3),
    config("gpt2", n_positions=64),
    tensors("llama", "a layer lacks a matrix", without("layers.1.self_attn.q_proj")),
    tensors("llama", "a layer is missing", without("layers.1.")),
    tensors("llama", "the last layer is missing", without("layers.2.")),
    tensors("llama", "the head is missing", without("lm_head")),
    tensors("llama", "the table is missing", without("embed_tokens")),
    tensors("llama", "a renamed matrix", lambda key, value: (key.replace("1.mlp.up_proj", "1.mlp.up"), value)),
    tensors("llama", "a transposed matrix", transposed("layers.1.mlp.gate_proj")),
    tensors("llama", "transposed keys", transposed("layers.1.self_attn.k_proj")),
    tensors("llama", "a transposed table", transposed("embed_tokens")),
    tensors("bert", "a transposed layer", transposed("layer.1.intermediate.dense.weight")),
    tensors("llama", "module.", prefix("module."), "ML608"),
    tensors("bert", "_orig_mod.", prefix("_orig_mod."), "ML608"),
    tensors("llama", "model.", prefix("model."), "ML608"),
    tensors("bert", "model.", prefix("model."), "ML608"),
    Break("shards", "a shard is missing", lambda path: shard(path, 2).unlink(), "ML604"),
    Break("shards", "no index", lambda path: (path / INDEX).unlink(), "ML604"),
    Break(
        "shards", "a cut shard", lambda path: os.truncate(shard(path, 1), shard(path, 1).stat().st_size - 20), "ML604"
    ),
    Break("shards", "a shard twice", lambda path: shutil.copy(shard(path, 1), shard(path, 2)), "ML604"),
    Break("shards", "an entry more", indexed(lambda one: one["weight_map"].update(x=shard_name(one))), "ML604"),
    Break("shards", "a total size", indexed(lambda one: one["metadata"].update(total_size=1))),
    Break("llama", "cut short", lambda path: os.truncate(path / MAIN, 900), "ML604"),
    Break("llama", "a page of an error", lambda path: (path / MAIN).write_bytes(HTML), "ML604"),
    Break("pickled", "a page of an error", lambda path: (path / BIN).write_bytes(HTML), "ML604"),
    Break("pickled", "cut short", lambda path: os.truncate(path / BIN, 9_000), "ML604"),
    Break("pickled", "a whole model", pickled(lambda _: torch.nn.Linear(2, 2)), "ML609"),
    Break("pickled", "arguments", pickled(lambda state: {**state, "args": argparse.Namespace()}), "ML609"),
    Break("pickled", "a later protocol", pickled(dict, pickle_protocol=5), "ML609"),
    Break("pickled", "under a key", pickled(lambda state: {"state_dict": state, "epoch": 1}), "ML608"),
    Break("pickled", "the old format", pickled(dict, _use_new_zipfile_serialization=False)),
    tensors("llama", "half precision", lambda key, value: (key, value.half()), ""),
    tensors("bert", "no pooler", without("pooler"), ""),
]


def shard_name(document: dict[str, Any]) -> str:
    return str(next(iter(document["weight_map"].values())))


@pytest.mark.parametrize("name", [*MADE, "pickled"])
def test_an_intact_folder_is_told_nothing_about(name: str, intact: Path) -> None:
    assert told(intact / name) == []


@pytest.mark.parametrize("change", BREAKS, ids=lambda change: f"{change.folder}: {change.name}")
def test_a_broken_folder_says_so(change: Break, intact: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(intact / change.folder, folder)
    change.make(folder)
    found = told(folder)
    if not change.code:
        assert found == []
    else:
        assert {code for code, _ in found} == {change.code}
        assert {"error", "warning"} & {severity for _, severity in found}
