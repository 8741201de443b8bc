"""ML201: a layer in use that `modules` does not move to the device."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Finding, Fix, Related, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NotMoved
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.evaluation import Item
    from modellint.link.recipes.registration import Omission
    from modellint.probes import Probe

_KEY = re.compile(r"[A-Za-z_]\w*")

_SCRIPT = """\
import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        x = self.modules.encoder(batch)
{body}
    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["seed"])
{setup}
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    model.fit(range(10), [], [])
    model.evaluate([])
"""

_LAYERS = """\
seed: 17
n_mels: 80
encoder: !new:speechbrain.nnet.linear.Linear
    input_size: !ref <n_mels>
    n_neurons: 512
ctc_lin: !new:speechbrain.nnet.linear.Linear{mark}
    input_size: 512
    n_neurons: 40
"""

_SEARCH = """\
log_softmax: !new:torch.nn.LogSoftmax
    dim: -1
ctc_scorer: !new:speechbrain.decoders.scorer.CTCScorer
    eos_index: 2
    blank_index: 0
    ctc_fc: !ref <ctc_lin>
scorer: !new:speechbrain.decoders.scorer.ScorerBuilder
    full_scorers: [!ref <ctc_scorer>]
    weights:
        ctc: 0.4
decoder: !new:speechbrain.nnet.RNN.AttentionalRNNDecoder
    enc_dim: 512
    input_size: 128
    rnn_type: gru
    attn_type: location
    hidden_size: 256
    attn_dim: 256
    num_layers: 1
    channels: 10
    kernel_size: 100
emb: !new:speechbrain.nnet.embedding.Embedding
    num_embeddings: 40
    embedding_dim: 128
seq_lin: !new:speechbrain.nnet.linear.Linear
    input_size: 256
    n_neurons: 40
searcher: !new:speechbrain.decoders.S2SRNNBeamSearcher
    embedding: !ref <emb>
    decoder: !ref <decoder>
    linear: !ref <seq_lin>
    bos_index: 1
    eos_index: 2
    min_decode_ratio: 0.0
    max_decode_ratio: 1.0
    beam_size: 8
    scorer: !ref <scorer>
"""

_MARK = "  # expect: ML201"
_DIRECT = "        return self.hparams.ctc_lin(x)\n"
_SEARCHED = "        return self.hparams.searcher(x, stage) if stage != sb.Stage.TRAIN else x\n"


def _project(recipe: str, body: str, setup: str = "", mark: str = _MARK) -> dict[str, str]:
    script = _SCRIPT.replace("{body}", body).replace("{setup}\n", setup)
    return {"hparams.yaml": _LAYERS.replace("{mark}", mark) + recipe, "train.py": script}


class LayerOmittedFromModules(Rule):
    """A layer with parameters or buffers is used, but not part of `modules`, so it never gets to the device

    ## What it does
    Pairs a recipe with the script that loads it and asks of every layer that the script uses (by itself, or through
    a searcher or scorer) whether it follows `modules=` to the device: because the mapping holds it, or because a
    module in the mapping registers it. The closure stops at objects that are no `torch.nn.Module`: a `ScorerBuilder`
    that holds a `CTCScorer` that holds a layer moves nothing. An inference recipe is checked without a script.

    Left alone are layers without state, layers that the script moves itself (`.to(device)`), layers that their owner
    moves or that move themselves to where their input is, and whatever the recipe makes of classes that are unknown.

    ## Why is this bad
    The layer stays on the CPU. Training fails with "Expected all tensors to be on the same device" — with a searcher
    only when the first epoch ends — or, on a CPU, seems fine while the layer is in no optimizer: it never learns.

    ## How to fix
    Add the layer to `modules:`.

    ## References
    - [SpeechBrain issue 2804](https://github.com/speechbrain/speechbrain/issues/2804)
    """

    code = "ML201"
    name = "layer-omitted-from-modules"
    severity = Severity.ERROR
    triggers = ("import",)
    bad = (
        Example(
            "Called by the Brain through `hparams`",
            _project("modules:\n    encoder: !ref <encoder>\n", _DIRECT),
            fixed=_project("modules:\n    encoder: !ref <encoder>\n    ctc_lin: !ref <ctc_lin>\n", _DIRECT),
        ),
        Example(
            "Used by a scorer of a searcher, which is no module (SpeechBrain issue 2804)",
            _project(
                _SEARCH
                + "modules:\n  encoder: !ref <encoder>\n  decoder: !ref <decoder>\n  emb: !ref <emb>\n"
                + "  seq_lin: !ref <seq_lin>\n",
                _SEARCHED,
            ),
            fixed=_project(
                _SEARCH
                + "modules:\n  encoder: !ref <encoder>\n  decoder: !ref <decoder>\n  emb: !ref <emb>\n"
                + "  seq_lin: !ref <seq_lin>\n  ctc_lin: !ref <ctc_lin>\n",
                _SEARCHED,
            ),
        ),
        Example(
            "An inference recipe whose searcher is a module, and whose scorer is not",
            {
                "hyperparams.yaml": (
                    _LAYERS.replace("{mark}", _MARK)
                    + _SEARCH
                    + "modules:\n  encoder: !ref <encoder>\n  searcher: !ref <searcher>\n"
                    + "pretrainer: !new:speechbrain.utils.parameter_transfer.Pretrainer\n"
                    + "  loadables:\n    encoder: !ref <encoder>\n"
                )
            },
            changes=(("  searcher: !ref <searcher>\n", "  searcher: !ref <searcher>\n  ctc_lin: !ref <ctc_lin>\n"),),
        ),
        Example(
            "A copy is another object",
            _project(
                f"head: !copy <ctc_lin>{_MARK}\nmodules: {{encoder: !ref <encoder>, ctc_lin: !ref <ctc_lin>}}\n",
                "        return self.hparams.head(self.modules.ctc_lin(x))\n",
                mark="",
            ),
            fixed=_project(
                f"head: !copy <ctc_lin>{_MARK}\n"
                "modules: {encoder: !ref <encoder>, ctc_lin: !ref <ctc_lin>, head: !ref <head>}\n",
                "        return self.hparams.head(self.modules.ctc_lin(x))\n",
                mark="",
            ),
        ),
        Example(
            "In an included file",
            {
                "hparams.yaml": (
                    "seed: 17\n"
                    "n_mels: 80\n"
                    "models: !include:models.yaml\n"
                    "modules:\n"
                    "    encoder: !ref <models[encoder]>\n"
                ),
                "models.yaml": (
                    f"encoder: !new:torch.nn.Linear [80, 512]\nhead: !new:torch.nn.Linear [512, 40]{_MARK}\n"
                ),
                "train.py": _SCRIPT.replace("{body}", '        return self.hparams.models["head"](x)\n').replace(
                    "{setup}\n", ""
                ),
            },
            changes=(("<models[encoder]>\n", "<models[encoder]>\n    head: !ref <models[head]>\n"),),
        ),
    )
    good = (
        Example(
            "In `modules`, under whatever name",
            _project("modules:\n    encoder: !ref <encoder>\n    head: !ref <ctc_lin>\n", _DIRECT, mark=""),
        ),
        Example(
            "Registered by a module that is listed",
            _project(
                "model: !new:torch.nn.ModuleList\n    - [!ref <encoder>, !ref <ctc_lin>]\n"
                "modules:\n    encoder: !ref <encoder>\n    model: !ref <model>\n",
                _DIRECT,
                mark="",
            ),
        ),
        Example(
            "Without state",
            _project(
                "log_softmax: !new:speechbrain.nnet.activations.Softmax\n    apply_log: true\n"
                "dropout: !new:torch.nn.Dropout\n    p: 0.1\n"
                "loss: !name:speechbrain.nnet.losses.ctc_loss\n    blank_index: 0\n"
                "modules:\n    encoder: !ref <encoder>\n    ctc_lin: !ref <ctc_lin>\n",
                "        x = self.hparams.dropout(self.modules.ctc_lin(x))\n"
                "        self.hparams.loss(x, batch)\n"
                "        return self.hparams.log_softmax(x)\n",
                mark="",
            ),
        ),
        Example(
            "Moved by the script",
            _project(
                "modules:\n    encoder: !ref <encoder>\n",
                _DIRECT,
                setup='    hparams["ctc_lin"].to(run_opts["device"])\n',
                mark="",
            ),
        ),
        Example(
            "Defined and never used, or switched off by the recipe",
            _project(
                "use_ctc: false\nlm: !new:torch.nn.LSTM [512, 512]\nmodules:\n    encoder: !ref <encoder>\n",
                "        if self.hparams.use_ctc:\n            x = self.hparams.ctc_lin(x)\n"
                '        if hasattr(self.hparams, "rescorer"):\n            x = self.hparams.lm(x)\n'
                "        return x\n",
                mark="",
            ),
        ),
        Example(
            "Moved by its owner, or by itself",
            {
                **_project(
                    "lm: !new:torch.nn.LSTM [512, 512]\n"
                    "scorer: !new:scorer.Rescorer\n    lm: !ref <lm>\n"
                    "follower: !new:scorer.Follower\n"
                    "modules:\n    encoder: !ref <encoder>\n    ctc_lin: !ref <ctc_lin>\n",
                    "        return self.hparams.follower(self.hparams.scorer(x))\n",
                    mark="",
                ),
                "scorer.py": (
                    "import torch\n\n\n"
                    "class Rescorer:\n"
                    "    def __init__(self, lm):\n"
                    "        self.lm = lm\n\n"
                    "    def __call__(self, x):\n"
                    "        self.lm.to(x.device)\n"
                    "        return self.lm(x)\n\n\n"
                    "class Follower(torch.nn.Module):\n"
                    "    def __init__(self):\n"
                    "        super().__init__()\n"
                    "        self.proj = torch.nn.Linear(512, 512)\n\n"
                    "    def forward(self, x):\n"
                    "        self.proj.to(x.device)\n"
                    "        return self.proj(x)\n"
                ),
            },
        ),
        Example(
            "A class that nobody knows",
            _project(
                "head: !new:somewhere.else.Head\n    linear: !ref <ctc_lin>\n"
                "modules:\n    encoder: !ref <encoder>\n    head: !ref <head>\n",
                _DIRECT,
                mark="",
            ),
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.pairing import recipes_of

        for recipe in recipes_of(module.file, project):
            yield from self.check_recipe(recipe, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.pairing import including
        from modellint.link.recipes.registration import omitted_layers

        for whole in including(recipe, project):
            for omission in omitted_layers(whole, project):
                if whole is recipe or omission.layer.place.path == recipe.path:
                    yield self._finding(omission, whole)

    def probe(self, claim: NotMoved, project: Project) -> Probe | None:
        """Build the recipe, move `modules`, and list what stays behind below the layer's key."""
        from modellint.probes import recipe_probe

        return recipe_probe(claim, project)

    def _finding(self, omission: Omission, recipe: Recipe) -> Finding:
        from modellint.claims.recipes import NotMoved

        layer = omission.layer
        name = layer.path
        related = []
        if omission.use is not None:
            related.append(Related(omission.use.place, f"used here, in `{omission.use.function}`"))
        if omission.modules is not None:
            related.append(Related(omission.modules.place, f"`modules` does not hold `{name}`"))
        return self.finding(
            layer.place,
            f"`{name}` is used but not in `modules`: it stays on the CPU",
            symbol=name,
            confidence=_confidence(omission),
            evidence=tuple(_evidence(omission)),
            related=related,
            help=f"add `{layer.name}: !ref <{name}>` to `modules:`",
            fix=_fix(omission, recipe),
            claim=NotMoved(layer.place, name),
        )


def _confidence(omission: Omission) -> Confidence:
    if not omission.sure:
        return Confidence.LOW
    return Confidence.HIGH if omission.agreed else Confidence.MEDIUM


def _evidence(omission: Omission) -> Iterator[str]:
    layer = omission.layer
    yield f"`{layer.target}` has parameters or buffers"
    if omission.use is not None:
        yield f"`{omission.use.function}` uses `{omission.use.text}`"
    if omission.owners:
        chain = [*omission.owners, layer]
        for owner, held in pairwise(chain):
            yield f"`{owner.path}` (`{owner.target}`) uses `{held.path}`"
    if not omission.sure:
        yield "the use depends on a condition that only a run decides"


def _fix(omission: Omission, recipe: Recipe) -> Fix | None:
    """The entry added to `modules`, where both stand in this file and the layer has a key of its own."""
    from modellint.edits.yaml import insert_entry

    layer, modules = omission.layer, omission.modules
    name = layer.name
    if modules is None or modules.recipe is not recipe or not _KEY.fullmatch(name):
        return None
    if layer.recipe is recipe and not _is_reached_by(layer, recipe):
        return None
    edit = insert_entry(recipe, modules.node, name, f"!ref <{layer.path}>")
    if edit is None:
        return None
    return Fix(f"Add `{name}` to `modules`", Applicability.SAFE, (edit,))


def _is_reached_by(layer: Item, recipe: Recipe) -> bool:
    """Whether a reference to the layer's path leads to it."""
    return recipe.resolve(layer.path) is layer.node
