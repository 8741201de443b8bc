"""`modellint probe` and `modellint map` on folders that transformers wrote, whole and with changed tensors."""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
transformers = pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors.torch")
tokenizers = pytest.importorskip("tokenizers")

import torch  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Workspace

NUMBERS = {"vocab_size": 64, "hidden_size": 16, "intermediate_size": 48, "num_attention_heads": 4}
NUMBERS |= {"num_hidden_layers": 2, "num_key_value_heads": 2, "eos_token_id": 1, "pad_token_id": 0}
UP = "model.layers.1.mlp.up_proj.weight"
#: Changes of the tensors by name, with what the check of weights says, and words of its line.
CHANGES: dict[str, tuple[Callable[[str, Any], dict[str, Any]], str, str]] = {
    "prefixed": (lambda name, value: {f"module.{name}": value}, "failed", "without `module.`"),
    "transposed": (
        lambda name, value: {name: value.t().contiguous() if name == UP else value},
        "failed",
        f"`{UP}` is [16, 48] in the files, and [48, 16] in the model, which is transposed",
    ),
    "missing": (lambda name, value: {} if name == UP else {name: value}, "failed", f"the files lack `{UP}`"),
    "unexpected": (
        lambda name, value: {name: value, **({"model.more": value.clone()} if name == UP else {})},
        "in-part",
        "they have `model.more`, which the model lacks",
    ),
    "whole": (lambda name, value: {name: value}, "passed", "the 27 tensors of `Qwen2ForCausalLM` are there"),
}


@pytest.fixture(scope="module")
def tied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A decoder in bfloat16 whose head is tied, with a tokenizer."""
    folder = tmp_path_factory.mktemp("tied") / "m"
    config = transformers.Qwen2Config(**NUMBERS, tie_word_embeddings=True)
    transformers.Qwen2ForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    vocabulary = {"<pad>": 0, "</s>": 1, **{f"w{number}": number for number in range(2, 60)}}
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<pad>"))
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=inner, eos_token="</s>", pad_token="<pad>")
    fast.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("name", CHANGES)
def test_the_weights_are_compared_with_the_class(name: str, tied: Path, workspace: Workspace) -> None:
    change, status, words = CHANGES[name]
    folder = workspace.root / name
    shutil.copytree(tied, folder)
    file = folder / "model.safetensors"
    changed = {
        new: one for key, value in safetensors.load_file(file).items() for new, one in change(key, value).items()
    }
    safetensors.save_file(changed, file, metadata={"format": "pt"})
    result = workspace.run("probe", name, "--output-format", "json")
    checks = {one["name"]: one for one in result.json["checks"]}
    assert (checks["weights"]["status"], checks["tokens"]["status"]) == (status, "passed")
    assert words in checks["weights"]["detail"]
    assert result.code == (status == "failed")
    if name == "transposed":
        text = workspace.run("probe", name, "--color", "never")
        assert text.code == 1
        assert any(line.split()[:1] == ["weights"] and words in line for line in text.lines)


def test_a_map_shows_tied_weights_and_memory_by_dtype(tied: Path, workspace: Workspace) -> None:
    folder = workspace.root / "m"
    shutil.copytree(tied, folder)
    file = folder / "model.safetensors"
    tensors = safetensors.load_file(file)
    safetensors.save_file({**tensors, "model.norm.weight": tensors["model.norm.weight"].float()}, file)
    count = sum(value.numel() for value in tensors.values())
    (part,) = workspace.run("map", "m", "--output-format", "json").json["models"]
    assert (part["parameters"], part["tied"]) == (count, True)
    assert sum(row["bytes"] for row in part["parts"]) == 2 * count + 2 * 16
    texts = {form: workspace.run("map", "m", "--output-format", form).out for form in ("table", "html")}
    assert f"26 tensors, {count:,} parameters, 14.2 KiB bfloat16, 64 B float32" in texts["table"]
    assert "`tie_word_embeddings`: the output layer shares the rows of the input embedding" in texts["table"]
    assert "tie_word_embeddings" in texts["html"]
    assert texts["html"].startswith("<!doctype html>")
    assert json.dumps(part["tensors"]).count("float32") == 1
