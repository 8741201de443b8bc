"""Maps of model folders: parts, tensors of repeated layers, memory by dtype, and files that cannot be read."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace

_SIZES = {"F32": 4, "BF16": 2}


def write_weights(path: Path, tensors: dict[str, tuple[str, list[int]]]) -> None:
    """A safetensors file of zeros."""
    header: dict[str, Any] = {}
    end = 0
    for name, (dtype, shape) in tensors.items():
        start = end
        count = 1
        for size in shape:
            count *= size
        end += _SIZES[dtype] * count
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
    data = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(data)) + data + bytes(end))


def model(layers: int = 12) -> dict[str, tuple[str, list[int]]]:
    inner = {f"model.layers.{n}.mlp.up_proj.weight": ("BF16", [16, 8]) for n in range(layers)}
    return {"model.embed_tokens.weight": ("BF16", [32, 8]), **inner, "model.norm.weight": ("F32", [8])}


@pytest.fixture
def folder(workspace: Workspace) -> Path:
    path = workspace.root / "tiny"
    path.mkdir()
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "tie_word_embeddings": True}
    (path / "config.json").write_text(json.dumps(config))
    write_weights(path / "model.safetensors", model())
    return path


@pytest.mark.usefixtures("folder")
def test_layers_that_repeat_are_one_row(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    lines = workspace.run("map", "tiny").lines
    assert lines[:2] == ["tiny", "LlamaForCausalLM in model.safetensors"]
    assert [line.split() for line in lines[3:7]] == [
        ["part", "tensors", "parameters", "memory"],
        ["model.embed_tokens", "1", "256", "512", "B"],
        ["model.layers", "12", "1,536", "3.0", "KiB"],
        ["model.norm", "1", "8", "32", "B"],
    ]
    assert "14 tensors, 1,800 parameters, 3.5 KiB bfloat16, 32 B float32" in lines
    assert "`tie_word_embeddings`: the output layer shares the rows of the input embedding" in lines
    [row] = [line.split() for line in lines if line.startswith("model.layers.*")]
    assert row == ["model.layers.*.mlp.up_proj.weight", "12", "[16,", "8]", "bfloat16", "1,536", "3.0", "KiB"]


@pytest.mark.usefixtures("folder")
def test_programs_get_each_row(workspace: Workspace) -> None:
    found = workspace.run("map", "tiny", "--output-format", "json").json
    [part] = found["models"]
    assert (found["kind"], part["class"], part["parameters"], part["tied"]) == (
        "folder",
        "LlamaForCausalLM",
        1800,
        True,
    )
    assert part["parts"][1] == {"name": "model.layers", "tensors": 12, "parameters": 1536, "bytes": 3072}
    assert part["tensors"][-1]["shape"] == [8]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("output_format", "start"), [("html", "<!doctype html>"), ("dot", "digraph"), ("mermaid", "flow")]
)
def test_other_formats_show_the_parts(workspace: Workspace, output_format: str, start: str) -> None:
    out = workspace.run("map", "tiny", "--output-format", output_format).out
    assert out.startswith(start)
    assert "model.embed_tokens" in out
    assert "3.0 KiB" in out


def test_shards_that_are_missing_are_named(workspace: Workspace, folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    names = list(model())
    table = {name: f"model-0000{1 + (name == names[0])}-of-00002.safetensors" for name in names}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": table}))
    write_weights(folder / "model-00001-of-00002.safetensors", {name: model()[name] for name in names[1:]})
    out = workspace.run("map", "tiny").out
    assert "`model-00002-of-00002.safetensors`: it is not there" in out
    assert "13 tensors" in out


def test_the_parts_of_a_pipeline_have_tables_of_their_own(workspace: Workspace) -> None:
    pipeline = workspace.root / "pipe"
    for name in ("unet", "vae"):
        (pipeline / name).mkdir(parents=True)
        (pipeline / name / "config.json").write_text(json.dumps({"_class_name": name.upper()}))
        write_weights(pipeline / name / "diffusion_pytorch_model.safetensors", {"conv_in.weight": ("F32", [4, 4])})
    index = {"_class_name": "P", "unet": ["diffusers", "UNET"], "vae": ["diffusers", "VAE"]}
    (pipeline / "model_index.json").write_text(json.dumps(index))
    lines = workspace.run("map", "pipe").lines
    assert [line for line in lines if line.startswith("pipe/")] == ["pipe/unet", "pipe/vae"]


def test_a_folder_without_weights_is_refused(workspace: Workspace) -> None:
    workspace.write({"tiny/config.json": "{}", "tiny/tokenizer.json": "{}"})
    result = workspace.run("map", "tiny")
    assert (result.code, result.err) == (2, "Error: tiny: the folder has no weights\n")


def test_broken_weights_are_told(workspace: Workspace, folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\xff" * 20)
    result = workspace.run("map", "tiny")
    assert result.code == 2
    assert result.err.startswith("Error: tiny: `model.safetensors`: its header is said to have ")
