"""Folders as they are published: a recipe, `config.json` and a README, and no script."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Workspace

#: A text-to-speech model; what it can look up is built by the interface from the recipe's keys.
SPEECH = """\
lexicon:
    - AA
    - B
n_symbols: 41
model: !new:speechbrain.nnet.containers.Sequential
    input_shape: [null, null, !ref <n_symbols>]
    linear: !new:speechbrain.nnet.linear.Linear
        input_size: !ref <n_symbols>
        n_neurons: 80
input_encoder: !new:speechbrain.dataio.encoder.TextEncoder
modules:
    model: !ref <model>
pretrainer: !new:speechbrain.utils.parameter_transfer.Pretrainer
    loadables:
        model: !ref <model>
"""
#: A recogniser: the searcher is a module, what it searches with is none.
RECOGNISER = """\
sample_rate: 16000
enc: !new:speechbrain.nnet.RNN.LSTM
    input_size: 40
    hidden_size: 64
emb: !new:speechbrain.nnet.embedding.Embedding
    num_embeddings: 31
    embedding_dim: 32
dec: !new:speechbrain.nnet.RNN.AttentionalRNNDecoder
    enc_dim: 64
    input_size: 32
    rnn_type: gru
    attn_type: location
    hidden_size: 64
    attn_dim: 64
    num_layers: 1
seq_lin: !new:speechbrain.nnet.linear.Linear
    input_size: 64
    n_neurons: 31
ctc_lin: !new:speechbrain.nnet.linear.Linear
    input_size: 64
    n_neurons: 31
lm: !new:speechbrain.lobes.models.RNNLM.RNNLM
    output_neurons: 31
    embedding_dim: 32
    dnn_neurons: 32
ctc_scorer: !new:speechbrain.decoders.scorer.CTCScorer
    eos_index: 2
    blank_index: 0
    ctc_fc: !ref <ctc_lin>
lm_scorer: !new:speechbrain.decoders.scorer.RNNLMScorer
    language_model: !ref <lm>
    temperature: 1.2
scorer: !new:speechbrain.decoders.scorer.ScorerBuilder
    full_scorers: [!ref <lm_scorer>, !ref <ctc_scorer>]
    weights: {rnnlm: 0.6, ctc: 0.4}
decoder: !new:speechbrain.decoders.S2SRNNBeamSearcher
    embedding: !ref <emb>
    decoder: !ref <dec>
    linear: !ref <seq_lin>
    bos_index: 1
    eos_index: 2
    min_decode_ratio: 0.0
    max_decode_ratio: 1.0
    beam_size: 10
    scorer: !ref <scorer>
encoder: !new:speechbrain.nnet.containers.LengthsCapableSequential
    input_shape: [null, null, 40]
    model: !ref <enc>
tokenizer: !new:sentencepiece.SentencePieceProcessor
modules:
    encoder: !ref <encoder>
    decoder: !ref <decoder>
pretrainer: !new:speechbrain.utils.parameter_transfer.Pretrainer
    loadables:
        encoder: !ref <encoder>
"""
#: An interface of the folder's own, as models with unusual front ends have them.
CUSTOM = """\
import torch
from speechbrain.inference.interfaces import Pretrained


class CustomClassifier(Pretrained):
    def encode_batch(self, wavs, wav_lens=None, normalize=False):
        if wav_lens is None:
            wav_lens = torch.ones(wavs.shape[0], device=self.device)
        outputs = self.mods.wav2vec2(wavs)
        outputs = self.mods.avg_pool(outputs, wav_lens)
        if normalize:
            outputs = self.hparams.mean_var_norm_emb(outputs)
        return outputs.view(outputs.shape[0], -1)

    def classify_file(self, path):
        outputs = self.encode_batch(self.load_audio(path).unsqueeze(0))
        out_prob = self.hparams.softmax(self.mods.output_mlp(outputs))
        score, index = torch.max(out_prob, dim=-1)
        return score, self.hparams.label_encoder.decode_torch(index), self.hparams.savedir
"""
CLASSIFIER = """\
encoder_dim: 768
wav2vec2: !new:speechbrain.lobes.models.huggingface_transformers.wav2vec2.Wav2Vec2
    source: facebook/wav2vec2-base
    save_path: wav2vec2
avg_pool: !new:speechbrain.nnet.pooling.StatisticsPooling
    return_std: false
output_mlp: !new:speechbrain.nnet.linear.Linear
    input_size: !ref <encoder_dim>
    n_neurons: 4
softmax: !new:speechbrain.nnet.activations.Softmax
label_encoder: !new:speechbrain.dataio.encoder.CategoricalEncoder
modules:
    wav2vec2: !ref <wav2vec2>
    avg_pool: !ref <avg_pool>
    output_mlp: !ref <output_mlp>
pretrainer: !new:speechbrain.utils.parameter_transfer.Pretrainer
    loadables:
        wav2vec2: !ref <wav2vec2>
"""
README = """\
# Emotion recognition

```python
from speechbrain.inference.interfaces import foreign_class
classifier = foreign_class(source="me/emotion", pymodule_file="custom_interface.py", classname="CustomClassifier")
score, label, folder = classifier.classify_file("me/emotion/anger.wav")
```
"""


def found(workspace: Workspace, files: dict[str, str], *arguments: str) -> list[tuple[str, str]]:
    """The code and the symbol of each finding in a folder."""
    workspace.write({f"model/{name}": text for name, text in files.items()})
    findings = workspace.run("check", "--output-format", "json", "model", *arguments).json["findings"]
    return sorted((finding["code"], finding["symbol"]) for finding in findings)


def test_the_class_in_config_json_says_what_a_model_needs(workspace: Workspace) -> None:
    config = '{"speechbrain_interface": "FastSpeech2", "vocoder_interface": "HIFIGAN"}'
    assert found(workspace, {"hyperparams.yaml": SPEECH, "config.json": config}) == [("ML405", "spn_predictor")]
    [finding] = workspace.run("check", "--output-format", "json", "model").json["findings"]
    assert finding["path"] == "model/hyperparams.yaml"
    assert "`config.json` names `FastSpeech2`" in finding["evidence"]
    assert "`FastSpeech2` needs the key `spn_predictor`" in finding["message"]


def test_the_readme_says_it_where_config_json_does_not(workspace: Workspace) -> None:
    readme = (
        "```python\nfrom speechbrain.pretrained import FastSpeech2\nfrom speechbrain.pretrained import HIFIGAN\n"
        'tts = FastSpeech2.from_hparams(source="me/model", savedir="tts")\n'
        'vocoder = HIFIGAN.from_hparams(source="me/other", savedir="vocoder")\n```\n'
    )
    assert found(workspace, {"hyperparams.yaml": SPEECH, "README.md": readme}) == [("ML405", "spn_predictor")]
    elsewhere = readme.replace("me/model", "me/another")
    assert found(workspace, {"README.md": elsewhere}) == []


@pytest.mark.parametrize(
    "config",
    ["", "{", "[]", '{"speechbrain_interface": 3}', '{"speechbrain_interface": "NoSuch"}', "[" * 100_000],
    ids=["empty", "broken", "list", "number", "unknown", "deep"],
)
def test_a_class_that_nothing_names_asks_for_nothing(workspace: Workspace, config: str) -> None:
    assert found(workspace, {"hyperparams.yaml": SPEECH, "config.json": config}) == []


def test_a_key_that_only_one_of_two_shown_classes_needs_is_not_asked_for(workspace: Workspace) -> None:
    readme = (
        'a = FastSpeech2.from_hparams(source="me/tts")\n'
        'b = FastSpeech2InternalAlignment.from_hparams(source="me/tts")\n'
    )
    assert found(workspace, {"hyperparams.yaml": SPEECH, "README.md": readme}) == []


def test_a_script_that_loads_the_recipe_counts_more_than_a_class(workspace: Workspace) -> None:
    script = (
        "from hyperpyyaml import load_hyperpyyaml\n\nhparams = load_hyperpyyaml(open('hyperparams.yaml'))\n"
        'print(hparams["modules"], hparams["lexicon"])\n'
    )
    config = '{"speechbrain_interface": "FastSpeech2"}'
    assert found(workspace, {"hyperparams.yaml": SPEECH, "config.json": config, "tts.py": script}) == []


def test_layers_that_only_a_scorer_holds_stay_behind(workspace: Workspace) -> None:
    config = '{"speechbrain_interface": "EncoderDecoderASR"}'
    files = {"hyperparams.yaml": RECOGNISER, "config.json": config}
    assert found(workspace, files) == [("ML201", "ctc_lin"), ("ML201", "lm")]
    moved = RECOGNISER.replace("modules:\n", "modules:\n    ctc_lin: !ref <ctc_lin>\n    lm: !ref <lm>\n")
    assert found(workspace, {"hyperparams.yaml": moved}) == []


def test_a_misspelt_entry_of_modules(workspace: Workspace) -> None:
    config = '{"speechbrain_interface": "EncoderDecoderASR"}'
    moved = "modules:\n    ctc_lin: !ref <ctc_lin>\n    lm: !ref <lm>\n    encoder:"
    recipe = RECOGNISER.replace("modules:\n    encoder:", moved.replace("encoder:", "encodr:"))
    assert found(workspace, {"hyperparams.yaml": recipe, "config.json": config}) == [("ML202", "encoder")]


def test_an_interface_of_the_folder_is_read(workspace: Workspace) -> None:
    files = {"hyperparams.yaml": CLASSIFIER, "custom_interface.py": CUSTOM, "README.md": README}
    assert found(workspace, files) == []
    lacking = CLASSIFIER.replace("    avg_pool: !ref <avg_pool>\n", "").replace("softmax:", "log_softmax:")
    assert found(workspace, {"hyperparams.yaml": lacking}) == [("ML202", "avg_pool"), ("ML405", "softmax")]
    assert found(workspace, {"README.md": "# Ask me how to load it\n"}) == [], "nobody is told to call its methods"


def test_an_entry_that_a_model_may_do_without_is_not_asked_for(workspace: Workspace) -> None:
    config = '{"speechbrain_interface": "EncoderClassifier"}'
    recipe = SPEECH.replace("    model: !ref <model>\npre", "    embedding_model: !ref <model>\npre")
    assert found(workspace, {"hyperparams.yaml": recipe, "config.json": config}) == []
    shown = found(workspace, {}, "--min-confidence", "low")
    assert shown == [("ML202", "classifier"), ("ML202", "compute_features"), ("ML202", "mean_var_norm")]


def test_a_placeholder_that_no_document_explains(workspace: Workspace) -> None:
    recipe = "data_folder:\n    !PLACEHOLDER\n" + SPEECH
    assert found(workspace, {"hyperparams.yaml": recipe}) == [("ML408", "data_folder")]
    assert found(workspace, {"README.md": 'from_hparams("me/tts", overrides={"data_folder": "."})\n'}) == []
