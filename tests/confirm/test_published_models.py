"""Claims about a folder that is sound are refuted, each by the library that reads it; examples confirm true ones."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from served import served

from modellint.claims import folders
from modellint.confirm.child import answer
from modellint.confirm.plan import Group
from modellint.finding import Status, Verdict
from modellint.probes import Probe, Target
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modellint.claims import Claim

transformers = pytest.importorskip("transformers")

RULES = Path(__file__).parents[2] / "rules"
NET = """\
from torch import nn
from transformers import PreTrainedModel


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 8)


class Own(PreTrainedModel):
    pass
"""
SETTINGS = {
    "id2label": {"0": "calm", "1": "rough"},
    "label2id": {"calm": 0, "rough": 1},
    "num_labels": 2,
    "problem_type": "single_label_classification",
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GENERATION = {"eos_token_id": [2, 5], "suppress_tokens": [5]}
TEMPLATE = "{% for message in messages %}{{ '<s>' + message.content }}{% endfor %}"


def sound_folder(folder: Path) -> Path:
    """A small decoder with weights, a tokenizer, a template, and code of its own, all of which fit."""
    shutil.copytree(RULES / "ml604_weights_missing/good/one-file", folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(RULES / "ml602_special_id_outside/good/ids-within" / name, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **SETTINGS}))
    (folder / "generation_config.json").write_text(json.dumps(GENERATION))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    (folder / "net.py").write_text(NET)
    shutil.copy(folder / "model.safetensors", folder / "again.safetensors")
    torch.save({"body.weight": torch.zeros(8, 4), "body.bias": torch.zeros(8)}, folder / "net.pt")
    torch.save({"lm_head.weight": torch.zeros(20, 8)}, folder / "top.pt")
    return folder


def verdicts_of(target: Target, claims: Sequence[Claim], folder: Path) -> list[Verdict]:
    answered = answer(
        Group(target, tuple((number, Probe(target, claim)) for number, claim in enumerate(claims))),
        served((str(folder),)),
    )
    return [answered[number] for number in range(len(claims))]


FALSE: tuple[tuple[type[Claim], tuple[Any, ...]], ...] = (
    (folders.IdHasNoRow, (6, "")),
    (folders.IdHasNoRow, (40, "<s>")),
    (folders.IdHasNoClass, (1, "<s>")),
    (folders.IdIsNoToken, (5,)),
    (folders.IdIsText, (1,)),
    (folders.IdsDiffer, ("eos",)),
    (folders.EndSuppressed, ()),
    (folders.FileRefused, ("model.safetensors",)),
    (folders.FileRefused, ("model.safetensors", "lm_head.weight")),
    (folders.HeldTwice, ("lm_head.weight", ("model.safetensors", "net.pt"))),
    (folders.NoWeightsFound, ("transformers", "LlamaForCausalLM")),
    (folders.NotWeightsOnly, ("net.pt",)),
    (folders.TensorDiffers, ("lm_head.weight",)),
    (folders.LiesDeeper, ("top.pt",)),
    (folders.TemplateToken, ("<s>",)),
    (folders.TemplateToken, ("",)),
    (folders.OwnClassMissing, ("net.Own",)),
    (folders.SettingRefused, ("config.json", "id2label")),
    (folders.SettingRefused, ("generation_config.json", "eos_token_id")),
    (folders.SettingRefused, ("generation_config.json", "suppress_tokens")),
    (folders.LabelMissing, (1,)),
    (folders.LabelsDiffer, ("rough",)),
    (folders.LabelsDropped, ()),
    (folders.LossUseless, ()),
)


@pytest.mark.dear
def test_what_is_sound_refutes(tmp_path: Path) -> None:
    folder = sound_folder(tmp_path / "model")
    place = Place((folder / "config.json").as_posix(), Span(1, 1, 1, 1))
    claims = [kind(place, *fields) for kind, fields in FALSE]
    found = verdicts_of(Target(folder), claims, tmp_path)
    others = [
        (kind.__name__, fields, verdict.status, verdict.detail)
        for (kind, fields), verdict in zip(FALSE, found, strict=True)
        if verdict.status is not Status.REFUTED
    ]
    assert others == []


@pytest.mark.dear
def test_a_name_that_no_template_reads_is_not_confirmed(tmp_path: Path) -> None:
    folder = sound_folder(tmp_path / "model")
    claim = folders.TemplateName(Place((folder / "chat_template.jinja").as_posix(), Span(1, 1, 1, 1)), "message")
    (verdict,) = verdicts_of(Target(folder), [claim], tmp_path)
    assert verdict.status is Status.UNCONFIRMED
    assert "no template read `message`" in (verdict.detail or "")


@pytest.mark.dear
def test_code_that_cannot_be_imported_says_nothing_of_its_classes(tmp_path: Path) -> None:
    folder = sound_folder(tmp_path / "model")
    (folder / "net.py").write_text("import os\n\nos.no_such_function()\n")
    claim = folders.OwnClassMissing(Place((folder / "config.json").as_posix(), Span(1, 1, 1, 1)), "net.Own")
    (verdict,) = verdicts_of(Target(folder), [claim], tmp_path)
    assert verdict.status is Status.UNCONFIRMED
    assert "no_such_function" in (verdict.detail or "")


@pytest.mark.dear
@pytest.mark.parametrize(
    ("value", "status"), [("2", Status.CONFIRMED), (2.5, Status.UNCONFIRMED), ([2, "5"], Status.CONFIRMED)]
)
def test_an_id_is_what_makes_a_tensor_of_whole_numbers(tmp_path: Path, value: object, status: Status) -> None:
    folder = sound_folder(tmp_path / "model")
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": value}))
    place = Place((folder / "generation_config.json").as_posix(), Span(1, 1, 1, 1))
    claim = folders.SettingRefused(place, "generation_config.json", "eos_token_id")
    (verdict,) = verdicts_of(Target(folder), [claim], tmp_path)
    assert verdict.status is status


@pytest.mark.parametrize(("keys", "status"), [((), Status.REFUTED), (("body.weight",), Status.UNCONFIRMED)])
def test_a_state_that_a_class_takes_refutes(tmp_path: Path, keys: tuple[str, ...], status: Status) -> None:
    folder = sound_folder(tmp_path / "model")
    place = Place((folder / "net.py").as_posix(), Span(5, 1, 5, 1))
    claim = folders.StateDiffers(place, place, "net.pt", keys)
    (verdict,) = verdicts_of(Target(folder / "net.py", "Net"), [claim], tmp_path)
    assert verdict.status is status
