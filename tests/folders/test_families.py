"""Classes of transformers with their own configurations are told nothing about, and changed ones are.

The weights are headers only, of models that are built without memory. Numbers that change no size of a tensor, such as
the heads of BERT, are no mistake that can be seen here.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from modellint.folders import ModelFolder  # noqa: E402
from modellint.packs import load_rules  # noqa: E402
from modellint.reading.files import Files  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

DTYPES = {torch.float32: ("F32", 4), torch.int64: ("I64", 8), torch.bool: ("BOOL", 1), torch.bfloat16: ("BF16", 2)}
CAUSAL = (
    "llama mistral qwen2 qwen3 gemma2 gemma3_text phi3 gpt2 gpt_neox opt bloom falcon mixtral qwen3_moe "
    "deepseek_v3 mamba"
)
OTHERS = {
    "bert": "BertForMaskedLM",
    "roberta": "RobertaForMaskedLM",
    "albert": "AlbertForMaskedLM",
    "electra": "ElectraForPreTraining",
    "modernbert": "ModernBertForMaskedLM",
    "mobilebert": "MobileBertForMaskedLM",
    "convbert": "ConvBertForMaskedLM",
    "distilbert": "DistilBertForMaskedLM",
    "t5": "T5ForConditionalGeneration",
    "bart": "BartForConditionalGeneration",
    "whisper": "WhisperForConditionalGeneration",
    "wav2vec2": "Wav2Vec2ForCTC",
    "vit": "ViTForImageClassification",
    "swin": "SwinForImageClassification",
    "clip": "CLIPModel",
    "llava": "LlavaForConditionalGeneration",
    "mllama": "MllamaForConditionalGeneration",
    "git": "GitForCausalLM",
}
#: Changes of numbers, by keys that one of which a configuration has.
CHANGES = {
    "rows": (("vocab_size",), 7),
    "width": (("hidden_size", "n_embd", "d_model", "dim"), 64),
    "layers": (("num_hidden_layers", "n_layer", "num_layers", "n_layers", "encoder_layers"), 1),
    "key heads": (("num_key_value_heads",), 1),
    "types": (("type_vocab_size",), 1),
    "experts": (("num_local_experts", "num_experts", "n_routed_experts"), 1),
}
#: Classes whose layers share their weights, or compute their number, and sizes that several numbers explain.
UNSEEN = {
    ("albert", "layers"),
    ("albert", "width"),
    ("mobilebert", "width"),
    ("convbert", "width"),
    ("bart", "layers"),
    ("whisper", "layers"),
    ("deepseek_v3", "key heads"),
    ("falcon", "key heads"),
}


def written(kind: str, cls: str, folder: Path) -> None:
    config = transformers.AutoConfig.for_model(kind)
    with torch.device("meta"):
        model = getattr(transformers, cls)(config)
    model.config.architectures = [cls]
    model.config.save_pretrained(folder)
    tied = set(getattr(model, "all_tied_weights_keys", None) or {})
    header, at = {}, 0
    for name, tensor in model.state_dict().items():
        if name not in tied:
            dtype, size = DTYPES[tensor.dtype]
            end = at + size * tensor.numel()
            header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [at, end]}
            at = end
    text = json.dumps(header).encode()
    with (folder / "model.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + at)


def findings(folder: Path, config: dict[str, Any] | None = None) -> list[str]:
    overlay = {} if config is None else {folder / "config.json": json.dumps(config).encode()}
    rules = load_rules()
    model = ModelFolder(folder, Files(overlay))
    codes = ("ML604", "ML605", "ML608", "ML609")
    return [finding.message for code in codes for finding in rules[code].check_folder(model, None)]  # type: ignore[arg-type]


def name_of(kind: str) -> str:
    return transformers.models.auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES[kind]


@pytest.mark.dear
@pytest.mark.parametrize("kind", [*CAUSAL.split(), *OTHERS])
def test_a_class_fits_its_own_configuration_and_no_other(kind: str, tmp_path: Path) -> None:
    written(kind, OTHERS.get(kind) or name_of(kind), tmp_path)
    assert findings(tmp_path) == []
    whole = json.loads((tmp_path / "config.json").read_text())
    silent = []
    for change, (keys, more) in CHANGES.items():
        config = json.loads(json.dumps(whole))
        part = config.get("text_config", config)
        key = next((key for key in keys if isinstance(part.get(key), int)), None)
        if key is None or "vocab_size" not in part or "image_size" in part or kind == "wav2vec2":
            continue
        part[key] += more
        if not findings(tmp_path, config):
            silent.append((kind, change))
    assert set(silent) <= UNSEEN
