"""ML203: a layer that is trained and that no checkpoint holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Finding, Fix, Related, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NotSaved
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.shortfalls import Shortfall
    from modellint.probes import Probe

_KEY = re.compile(r"[A-Za-z_]\w*")

_SCRIPT = """\
import sys

import speechbrain as sb
import torch
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
{body}

if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["batch_size"])
{setup}
    model = Model(
        modules=hparams["modules"],
        opt_class=hparams["opt_class"],
        hparams=hparams,
        run_opts=run_opts,
        checkpointer=hparams["checkpointer"],
    )
    model.fit(range(10), [], [])
    model.evaluate([])
"""

_FORWARD = """\
    def compute_forward(self, batch, stage):
        return self.modules.ctc_lin(self.modules.encoder(batch))

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()
"""

_LAYERS = """\
n_mels: 80
batch_size: 8
encoder: !new:torch.nn.Linear
    in_features: !ref <n_mels>
    out_features: 512
ctc_lin: !new:torch.nn.Linear{mark}
    in_features: 512
    out_features: 40
modules:
    encoder: !ref <encoder>
    ctc_lin: !ref <ctc_lin>
"""

_OPTIMIZER = """\
opt_class: !name:torch.optim.Adam
    lr: 0.001
"""

_MARK = "  # expect: ML203"


def _checkpointer(*entries: str) -> str:
    lines = "".join(f"        {entry}\n" for entry in entries)
    return f"""\
checkpointer: !new:speechbrain.utils.checkpoints.Checkpointer
    checkpoints_dir: save
    recoverables:
{lines}"""


def _project(
    recipe: str, mark: str = _MARK, body: str = _FORWARD, setup: str = "", opt_class: str = _OPTIMIZER
) -> dict[str, str]:
    script = _SCRIPT.replace("{body}", body).replace("{setup}\n", setup)
    return {"hparams.yaml": _LAYERS.replace("{mark}", mark) + opt_class + recipe, "train.py": script}


_LIST = "model: !new:torch.nn.ModuleList\n    - [!ref <encoder>{more}]\n"
_BLOCK_LIST = "model: !new:torch.nn.ModuleList\n  - - !ref <encoder>\n{more}"
_MODEL = _checkpointer("model: !ref <model>")
_ENCODER = _checkpointer("encoder: !ref <encoder>")


class LayerNotSaved(Rule):
    """A layer is trained, but no checkpoint holds it

    ## What it does
    Asks of every layer in `modules:` whose parameters an optimizer certainly holds and that learns in training whether
    the checkpointer saves it: as one of its `recoverables`, as a part of one that registers it (the usual
    `model: !new:torch.nn.ModuleList`), or because the script adds it with `add_recoverable`.

    Left alone are frozen layers, layers that get no gradients (a language model that only a search asks), buffers,
    trainings without a checkpointer, scripts that save the weights in their own way, and checkpointers of which it is
    unknown what they save.

    ## Why is this bad
    Training goes well. But when it is resumed, or when the best checkpoint is loaded for the test or for inference,
    the layer starts again with random weights (or with those that it was pretrained with), and nothing says so.

    ## How to fix
    Add the layer to the `ModuleList` that is saved, or to `recoverables`.

    ## References
    - [SpeechBrain: checkpointing](https://speechbrain.readthedocs.io/en/latest/tutorials/basics/checkpointing.html)
    """

    code = "ML203"
    name = "layer-not-saved"
    severity = Severity.ERROR
    triggers = ("import",)
    bad = (
        Example(
            "Missing from the list that is saved",
            _project(_LIST.replace("{more}", "") + _MODEL),
            fixed=_project(_LIST.replace("{more}", ", !ref <ctc_lin>") + _MODEL),
        ),
        Example(
            "Missing from a list with one entry to a line",
            _project(_BLOCK_LIST.replace("{more}", "") + _MODEL),
            fixed=_project(_BLOCK_LIST.replace("{more}", "    - !ref <ctc_lin>\n") + _MODEL),
        ),
        Example(
            "Layers are saved one by one",
            _project(_ENCODER),
            fixed=_project(_checkpointer("encoder: !ref <encoder>", "ctc_lin: !ref <ctc_lin>")),
        ),
        Example(
            "All layers are in a list, and the list is not saved",
            _project(
                f"model: !new:torch.nn.ModuleList{_MARK}\n    - [!ref <encoder>, !ref <ctc_lin>]\n"
                "counter: !new:speechbrain.utils.epoch_loop.EpochCounter\n    limit: 10\n"
                + _checkpointer("counter: !ref <counter>"),
                mark="",
            ),
            fixed=_project(
                f"model: !new:torch.nn.ModuleList{_MARK}\n    - [!ref <encoder>, !ref <ctc_lin>]\n"
                "counter: !new:speechbrain.utils.epoch_loop.EpochCounter\n    limit: 10\n"
                + _checkpointer("counter: !ref <counter>", "model: !ref <model>"),
                mark="",
            ),
        ),
        Example(
            "An optimizer of its own",
            _project(
                "head_opt_class: !name:torch.optim.SGD\n    lr: 0.1\n" + _ENCODER,
                body=_FORWARD + "\n    def init_optimizers(self):\n"
                "        self.optimizer = self.opt_class(self.modules.encoder.parameters())\n"
                "        self.head_optimizer = self.hparams.head_opt_class(self.modules.ctc_lin.parameters())\n"
                "        if self.checkpointer is not None:\n"
                '            self.checkpointer.add_recoverable("optimizer", self.optimizer)\n'
                '            self.checkpointer.add_recoverable("head_optimizer", self.head_optimizer)\n',
            ),
            fixed=_project(
                "head_opt_class: !name:torch.optim.SGD\n    lr: 0.1\n"
                + _checkpointer("encoder: !ref <encoder>", "ctc_lin: !ref <ctc_lin>"),
                body=_FORWARD + "\n    def init_optimizers(self):\n"
                "        self.optimizer = self.opt_class(self.modules.encoder.parameters())\n"
                "        self.head_optimizer = self.hparams.head_opt_class(self.modules.ctc_lin.parameters())\n"
                "        if self.checkpointer is not None:\n"
                '            self.checkpointer.add_recoverable("optimizer", self.optimizer)\n'
                '            self.checkpointer.add_recoverable("head_optimizer", self.head_optimizer)\n',
            ),
        ),
        Example(
            "A copy of what is saved",
            _project(
                f"projection: !copy <ctc_lin>{_MARK}\n"
                + _checkpointer("encoder: !ref <encoder>", "lin: !ref <ctc_lin>"),
                mark="",
                body=_FORWARD.replace("self.modules.ctc_lin(", "self.hparams.projection(self.modules.ctc_lin(").replace(
                    "(batch))", "(batch)))"
                ),
                setup='    hparams["modules"]["projection"] = hparams["projection"]\n',
            ),
            fixed=_project(
                f"projection: !copy <ctc_lin>{_MARK}\n"
                + _checkpointer("encoder: !ref <encoder>", "lin: !ref <ctc_lin>", "projection: !ref <projection>"),
                mark="",
                body=_FORWARD.replace("self.modules.ctc_lin(", "self.hparams.projection(self.modules.ctc_lin(").replace(
                    "(batch))", "(batch)))"
                ),
                setup='    hparams["modules"]["projection"] = hparams["projection"]\n',
            ),
        ),
    )
    good = (
        Example(
            "In the list that is saved",
            _project(_LIST.replace("{more}", ", !ref <ctc_lin>") + _MODEL, mark=""),
        ),
        Example(
            "Added by the script",
            _project(
                _ENCODER, mark="", setup='    hparams["checkpointer"].add_recoverable("ctc", hparams["ctc_lin"])\n'
            ),
        ),
        Example(
            "Added by the Brain, under its name in `modules`",
            _project(
                _ENCODER,
                mark="",
                body=_FORWARD + "\n    def on_fit_start(self):\n"
                '        self.checkpointer.add_recoverables({"ctc": self.modules.ctc_lin})\n'
                "        super().on_fit_start()\n",
            ),
        ),
        Example(
            "Frozen",
            _project(_ENCODER, mark="", setup='    hparams["ctc_lin"].requires_grad_(False)\n'),
        ),
        Example(
            "Pretrained, and asked to keep its weights",
            _project(
                "wav2vec2: !new:speechbrain.lobes.models.huggingface_transformers.wav2vec2.Wav2Vec2\n"
                "    source: facebook/wav2vec2-base\n    save_path: wav2vec2\n    freeze: true\n"
                + _checkpointer("encoder: !ref <encoder>", "ctc_lin: !ref <ctc_lin>"),
                mark="",
                body=_FORWARD.replace("(batch))", "(self.modules.wav2vec2(batch)))"),
                setup='    hparams["modules"]["wav2vec2"] = hparams["wav2vec2"]\n',
            ),
        ),
        Example(
            "It gets no gradients: only the search asks for it",
            _project(
                _ENCODER,
                mark="",
                body="    def compute_forward(self, batch, stage):\n"
                "        x = self.modules.encoder(batch)\n"
                "        if stage != sb.Stage.TRAIN:\n"
                "            x = self.modules.ctc_lin(x)\n"
                "        with torch.no_grad():\n"
                "            self.modules.ctc_lin(x)\n"
                "        return x\n",
            ),
        ),
        Example(
            "No optimizer holds it",
            _project(
                _ENCODER,
                mark="",
                body=_FORWARD + "\n    def init_optimizers(self):\n"
                "        self.optimizer = self.opt_class(self.modules.encoder.parameters())\n",
            ),
        ),
        Example(
            "Saved by the script in its own way",
            _project(
                _ENCODER,
                mark="",
                body=_FORWARD + "\n    def on_stage_end(self, stage, stage_loss, epoch=None):\n"
                '        torch.save(self.modules.ctc_lin.state_dict(), "ctc.pt")\n',
            ),
        ),
        Example(
            "A part of a module that is saved, and a checkpointer that the script fills",
            _project(
                "joint: !new:speechbrain.nnet.containers.Sequential\n    input_shape: [null, null, 80]\n"
                "    first: !ref <encoder>\n    second: !ref <ctc_lin>\n" + _checkpointer("joint: !ref <joint>"),
                mark="",
            ),
        ),
        Example(
            "It is unknown what is saved",
            _project(
                _ENCODER,
                mark="",
                setup="    for name in sys.argv:\n"
                '        hparams["checkpointer"].add_recoverable(name, globals()[name])\n',
            ),
        ),
        Example(
            "Without parameters",
            _project(
                "normalize: !new:torch.nn.BatchNorm1d\n    num_features: 80\n    affine: false\n"
                + _checkpointer("encoder: !ref <encoder>", "ctc_lin: !ref <ctc_lin>"),
                mark="",
                body=_FORWARD.replace("(batch))", "(self.modules.normalize(batch)))"),
                setup='    hparams["modules"]["normalize"] = hparams["normalize"]\n',
            ),
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.pairing import recipes_of

        for recipe in recipes_of(module.file, project):
            yield from self.check_recipe(recipe, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.pairing import including
        from modellint.link.recipes.shortfalls import unsaved_layers

        for whole in including(recipe, project):
            for shortfall in unsaved_layers(whole, project):
                if whole is recipe or shortfall.layer.place.path == recipe.path:
                    yield self._finding(shortfall, whole)

    def probe(self, claim: NotSaved, project: Project) -> Probe | None:
        """Build the recipe, and look for the layer's parameters in what the checkpointer saves."""
        from modellint.probes import recipe_probe

        return recipe_probe(claim, project)

    def _finding(self, shortfall: Shortfall, recipe: Recipe) -> Finding:
        from modellint.claims.recipes import unsaved

        layer, use = shortfall.layer, shortfall.use
        name = layer.path
        return self.finding(
            layer.place,
            f"`{name}` is trained, but no checkpoint holds it",
            symbol=name,
            confidence=Confidence.HIGH if shortfall.is_certain else Confidence.LOW,
            evidence=tuple(_evidence(shortfall)),
            related=[*_related(shortfall), Related(use.place, f"used here, in `{use.function}`")],
            help=_help(shortfall),
            fix=_fix(shortfall, recipe),
            claim=unsaved(shortfall.registration.saved, layer.place, name),
        )


def _evidence(shortfall: Shortfall) -> Iterator[str]:
    layer, part, status = shortfall.layer, shortfall.part, shortfall.status
    if layer is not part:
        yield f"`{layer.path}` holds `{part.path}`, and nothing of it is saved"
    yield f"`{part.target}` has parameters to train"
    if status.trained is not None:
        yield f"`{status.trained.root.text}` is given the parameters of `{status.trained.root.item.path}`"
    yield f"`{shortfall.use.function}` uses `{shortfall.use.text}` where gradients are computed"
    if not shortfall.use.certain:
        yield "the use depends on a condition that only a run decides"


def _related(shortfall: Shortfall) -> Iterator[Related]:
    saved, status = shortfall.registration.saved, shortfall.status
    if saved is not None and saved.place is not None:
        held = ", ".join(f"`{root.item.path}`" for root in saved.roots if root.certain) or "nothing of the recipe"
        yield Related(saved.place, f"what is saved: {held}")
    if shortfall.siblings is not None:
        yield Related(shortfall.siblings.place, f"`{shortfall.siblings.path}` holds the layers beside it")
    if status.trained is not None:
        yield Related(status.trained.root.place, "trained by this optimizer")


def _help(shortfall: Shortfall) -> str:
    layer, siblings = shortfall.layer, shortfall.siblings
    if siblings is not None:
        return f"add `!ref <{layer.path}>` to `{siblings.path}`"
    return f"add `{layer.name}: !ref <{layer.path}>` to the `recoverables` of the checkpointer"


def _fix(shortfall: Shortfall, recipe: Recipe) -> Fix | None:
    """The layer added to the list beside the others, or else to `recoverables`, where that stands in this file."""
    from modellint.edits.yaml import insert_element, insert_entry

    layer, siblings, saved = shortfall.layer, shortfall.siblings, shortfall.registration.saved
    if layer.recipe is not recipe or recipe.resolve(layer.path) is not layer.node:
        return None
    reference = f"!ref <{layer.path}>"
    if siblings is not None and siblings.recipe is recipe and shortfall.status.loaded is None:
        edit = insert_element(recipe, siblings.node, reference)
        where = siblings.path
    elif saved is not None and saved.recoverables is not None and saved.recoverables.recipe is recipe:
        edit = (
            insert_entry(recipe, saved.recoverables.node, layer.name, reference) if _KEY.fullmatch(layer.name) else None
        )
        where = "recoverables"
    else:
        return None
    return None if edit is None else Fix(f"Add `{layer.name}` to `{where}`", Applicability.SAFE, (edit,))
