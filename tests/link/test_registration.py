"""Remove any one entry from `modules:` of a recipe, and it is named; leave the recipe as it is, and nothing is said."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import modellint

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from _pytest.mark import ParameterSet

    from modellint.finding import Finding

HEAD = """\
import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
"""
FOOT = """

if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["seed"], hparams["batch_size"])
    brain = Model(modules=hparams["modules"], opt_class=hparams["opt_class"], hparams=hparams, run_opts=run_opts)
    brain.fit(hparams["epoch_counter"], [], [])
    brain.evaluate([])
"""
COMMON = """\
seed: 1234
batch_size: 8
n_mels: 80
width: 256
vocab: 40
ctc_epochs: 3
opt_class: !name:torch.optim.Adam
    lr: 0.001
epoch_counter: !new:speechbrain.utils.epoch_loop.EpochCounter
    limit: 15
"""

SEQ2SEQ = (
    COMMON
    + """\
encoder: !new:speechbrain.lobes.models.CRDNN.CRDNN
    input_shape: [null, null, !ref <n_mels>]
    rnn_neurons: !ref <width>
embedding: !new:speechbrain.nnet.embedding.Embedding
    num_embeddings: !ref <vocab>
    embedding_dim: 128
decoder: !new:speechbrain.nnet.RNN.AttentionalRNNDecoder
    rnn_type: gru
    attn_type: location
    enc_dim: !ref <width> * 2
    hidden_size: !ref <width>
    attn_dim: !ref <width>
    num_layers: 1
    input_size: 128
ctc_lin: !new:speechbrain.nnet.linear.Linear {input_size: 512, n_neurons: !ref <vocab>}
seq_lin: !new:speechbrain.nnet.linear.Linear {input_size: !ref <width>, n_neurons: !ref <vocab>}
lm: !new:speechbrain.lobes.models.RNNLM.RNNLM
    output_neurons: !ref <vocab>
    embedding_dim: 128
log_softmax: !new:speechbrain.nnet.activations.Softmax
    apply_log: True
lm_scorer: !new:speechbrain.decoders.scorer.RNNLMScorer
    language_model: !ref <lm>
    temperature: 1.25
scorer: !new:speechbrain.decoders.scorer.ScorerBuilder
    full_scorers: [!ref <lm_scorer>]
    weights: {rnnlm: 0.5}
searcher: !new:speechbrain.decoders.S2SRNNBeamSearcher
    embedding: !ref <embedding>
    decoder: !ref <decoder>
    linear: !ref <seq_lin>
    bos_index: 0
    eos_index: 0
    min_decode_ratio: 0.0
    max_decode_ratio: 1.0
    beam_size: 80
    scorer: !ref <scorer>
modules:
    encoder: !ref <encoder>
    embedding: !ref <embedding>
    decoder: !ref <decoder>
    ctc_lin: !ref <ctc_lin>
    seq_lin: !ref <seq_lin>
    lm: !ref <lm>
"""
)
SEQ2SEQ_SCRIPT = """\
    def compute_forward(self, batch, stage):
        x = self.modules.encoder(batch.feats)
        h, _ = self.modules.decoder(self.modules.embedding(batch.tokens), x, batch.lengths)
        p_seq = self.hparams.log_softmax(self.modules.seq_lin(h))
        current_epoch = self.hparams.epoch_counter.current
        if stage == sb.Stage.TRAIN and current_epoch <= self.hparams.ctc_epochs:
            return p_seq, self.hparams.log_softmax(self.modules.ctc_lin(x))
        if stage != sb.Stage.TRAIN:
            hyps, _, _, _ = self.hparams.searcher(x, batch.lengths)
            return p_seq, hyps
        return p_seq, None

    def compute_objectives(self, predictions, batch, stage):
        return predictions[0].sum()
"""

SEPARATION = (
    COMMON
    + """\
encoder: !new:blocks.Encoder
    channels: !ref <width>
masknet: !new:blocks.MaskNet
    intra: !ref <intra>
    inter: !ref <inter>
    channels: !ref <width>
intra: !new:blocks.Block [!ref <width>]
inter: !new:blocks.Block [!ref <width>]
decoder: !new:blocks.Decoder
    channels: !ref <width>
resample: !new:blocks.Resample
    factor: 2
modules:
    encoder: !ref <encoder>
    masknet: !ref <masknet>
    decoder: !ref <decoder>
"""
)
SEPARATION_SCRIPT = """\
    def compute_forward(self, mix, stage):
        mix = self.hparams.resample(mix)
        features = self.hparams.encoder(mix)
        masks = self.hparams.masknet(features)
        return self.separate(features * masks)

    def separate(self, features):
        return self.hparams.decoder(features)

    def fit_batch(self, batch):
        return self.compute_forward(batch.mix, sb.Stage.TRAIN).sum()
"""
BLOCKS = """\
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv1d(1, channels, 16)

    def forward(self, x):
        return self.conv(x)


class Decoder(nn.ConvTranspose1d):
    def __init__(self, channels):
        super().__init__(channels, 1, 16)


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(channels, channels) for _ in range(2)])


class MaskNet(nn.Module):
    def __init__(self, intra, inter, channels):
        super().__init__()
        self.blocks = nn.ModuleList([intra, inter])
        self.norm = nn.GroupNorm(1, channels)


class Resample(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x[..., :: self.factor]
"""

CLASSIFIER = (
    COMMON
    + """\
compute_features: !new:speechbrain.lobes.features.Fbank
    n_mels: !ref <n_mels>
normalize: !new:speechbrain.processing.features.InputNormalization
    norm_type: sentence
pool: !new:torch.nn.AdaptiveAvgPool1d [1]
embedding_model: !new:speechbrain.nnet.containers.Sequential
    input_shape: [null, null, !ref <n_mels>]
    lstm: !new:speechbrain.nnet.RNN.LSTM
        input_size: !ref <n_mels>
        hidden_size: !ref <width>
    linear: !new:speechbrain.nnet.linear.Linear
        input_size: !ref <width>
        n_neurons: !ref <width>
classifier: !new:speechbrain.nnet.linear.Linear
    input_size: !ref <width>
    n_neurons: !ref <vocab>
modules:
    normalize: !ref <normalize>
    embedding_model: !ref <embedding_model>
    classifier: !ref <classifier>
model: !new:torch.nn.ModuleList
    - [!ref <embedding_model>, !ref <classifier>]
"""
)
CLASSIFIER_SCRIPT = """\
    def compute_forward(self, batch, stage):
        feats = self.modules.normalize(self.hparams.compute_features(batch.sig), batch.lengths)
        x = self.hparams.pool(self.hparams.embedding_model(feats))
        return self.mods.classifier(x)

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()
"""

GAN = (
    COMMON
    + """\
models: !include:models.yaml
    width: !ref <width>
modules:
    generator: !ref <models[generator]>
    discriminator: !ref <models[discriminator]>
"""
)
GAN_MODELS = """\
width: 1
generator: !new:torch.nn.Sequential
    - !new:torch.nn.Linear [80, !ref <width>]
    - !new:torch.nn.ReLU
discriminator: !new:torch.nn.Linear
    in_features: !ref <width>
    out_features: 1
"""
GAN_SCRIPT = """\
    def fit_batch(self, batch):
        fake = self.modules.generator(batch.mel)
        loss = self.modules["discriminator"](fake).sum()
        return loss

    def compute_forward(self, batch, stage):
        return self.hparams.models["generator"](batch.mel)
"""

PROJECTS = {
    "seq2seq": {"hparams/train.yaml": SEQ2SEQ, "train.py": HEAD + SEQ2SEQ_SCRIPT + FOOT},
    "separation": {
        "hparams/train.yaml": SEPARATION,
        "train.py": HEAD + SEPARATION_SCRIPT + FOOT,
        "blocks.py": BLOCKS,
    },
    "classifier": {"hparams/train.yaml": CLASSIFIER, "train.py": HEAD + CLASSIFIER_SCRIPT + FOOT},
    "gan": {
        "hparams/train.yaml": GAN,
        "hparams/models.yaml": GAN_MODELS,
        "train.py": HEAD + GAN_SCRIPT + FOOT,
    },
}
_ENTRY = re.compile(r"^    (\w+): !ref <.*\n", re.MULTILINE)


def modules_of(recipe: str) -> str:
    return recipe[recipe.index("\nmodules:") :].split("\nmodel:")[0]


def removals() -> Iterator[ParameterSet]:
    for name, files in PROJECTS.items():
        for match in _ENTRY.finditer(modules_of(files["hparams/train.yaml"])):
            yield pytest.param(name, match[1], id=f"{name}-{match[1]}")


def findings(folder: Path, files: dict[str, str]) -> list[Finding]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [f for f in modellint.check([folder], isolated=True) if f.code.startswith(("ML2", "ML4"))]


@pytest.mark.parametrize("name", PROJECTS)
def test_a_recipe_whose_modules_are_complete_is_left_alone(name: str, tmp_path: Path) -> None:
    assert findings(tmp_path, PROJECTS[name]) == []


@pytest.mark.parametrize(("name", "entry"), list(removals()))
def test_an_entry_that_is_removed_is_named(name: str, entry: str, tmp_path: Path) -> None:
    files = dict(PROJECTS[name])
    recipe = files["hparams/train.yaml"]
    modules = modules_of(recipe)
    files["hparams/train.yaml"] = recipe.replace(modules, re.sub(rf"    {entry}: .*\n", "", modules))
    found = findings(tmp_path, files)
    assert {finding.symbol.rpartition("[")[2].rstrip("]") for finding in found} == {entry}
    assert len({finding.code for finding in found}) == 1, "one mistake, one kind of finding"


def test_what_is_left_behind_through_a_scorer_tells_how_it_is_reached(tmp_path: Path) -> None:
    files = dict(PROJECTS["seq2seq"])
    files["hparams/train.yaml"] = SEQ2SEQ.replace("    lm: !ref <lm>\n", "")
    (finding,) = findings(tmp_path, files)
    assert finding.code == "ML201"
    assert finding.path.endswith("hparams/train.yaml")
    text = "\n".join(finding.evidence)
    assert all(f"`{owner}`" in text for owner in ("searcher", "scorer", "lm_scorer", "lm"))
    assert {related.place.path.rpartition("/")[2] for related in finding.related} == {"train.py", "train.yaml"}
    assert finding.fix is not None
    (edit,) = finding.fix.edits
    assert edit.text == "\n    lm: !ref <lm>"


@pytest.mark.parametrize(
    ("modules", "expected"),
    [
        ("modules:\n  encoder: !ref <encoder>", "modules:\n  encoder: !ref <encoder>\n  lin: !ref <lin>"),
        (
            "modules:\n  encoder: !ref <encoder>  # first\n\nlast: 1",
            "modules:\n  encoder: !ref <encoder>  # first\n  lin: !ref <lin>\n\nlast: 1",
        ),
        ("modules: {encoder: !ref <encoder>}", "modules: {encoder: !ref <encoder>, lin: !ref <lin>}"),
        ("modules: { encoder: !ref <encoder>, }", "modules: { encoder: !ref <encoder>, lin: !ref <lin>, }"),
        (
            "modules:\n    encoder: !new:torch.nn.Linear\n        in_features: 2\n        out_features: 2\nz: 1",
            "modules:\n    encoder: !new:torch.nn.Linear\n        in_features: 2\n        out_features: 2\n"
            "    lin: !ref <lin>\nz: 1",
        ),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_fix_keeps_the_style(modules: str, expected: str, newline: str, tmp_path: Path) -> None:
    head = COMMON + "encoder: !new:torch.nn.Linear [2, 2]\nlin: !new:torch.nn.Linear [2, 2]\n"
    text = (head + modules + "\n").replace("\n", newline)
    body = (
        "    def compute_forward(self, batch, stage):\n        return self.hparams.lin(self.modules.encoder(batch))\n"
    )
    (tmp_path / "train.py").write_text(HEAD + body + FOOT)
    (tmp_path / "r.yaml").write_bytes(text.encode())
    (finding,) = modellint.check([tmp_path], isolated=True, select=["ML2"])
    assert finding.fix is not None
    (edit,) = finding.fix.edits
    lines = text.splitlines(keepends=True)
    start = sum(map(len, lines[: edit.place.span.line - 1])) + edit.place.span.column - 1
    assert text[:start] + edit.text + text[start:] == (head + expected + "\n").replace("\n", newline)
