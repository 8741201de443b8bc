"""ML208: a module called around the wrapper that synchronises its gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NotWrapped
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.shortfalls import Bypass
    from modellint.probes import Probe

_RECIPE = """\
n_mels: 80
batch_size: 8
encoder: !new:torch.nn.Linear
    in_features: !ref <n_mels>
    out_features: 512
ctc_lin: !new:torch.nn.Linear
    in_features: 512
    out_features: 40
normalize: !new:speechbrain.processing.features.InputNormalization
    norm_type: global
wav2vec2: !new:speechbrain.lobes.models.huggingface_transformers.wav2vec2.Wav2Vec2
    source: facebook/wav2vec2-base
    save_path: wav2vec2
    freeze: !ref <freeze>
freeze: true
opt_class: !name:torch.optim.Adam
    lr: 0.001
modules:
    encoder: !ref <encoder>
    head: !ref <ctc_lin>
    normalize: !ref <normalize>
    wav2vec2: !ref <wav2vec2>
"""

_SCRIPT = """\
import sys

import speechbrain as sb
import torch
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
{body}

if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    sb.utils.distributed.ddp_init_group(run_opts)
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["batch_size"])
    model = Model(modules=hparams["modules"], opt_class=hparams["opt_class"], hparams=hparams, run_opts=run_opts)
    model.fit(range(10), [], [])
    model.evaluate([])
"""


def _project(body: str, recipe: str = _RECIPE, script: str = _SCRIPT) -> dict[str, str]:
    lines = ("    " + line if line else line for line in body.strip("\n").split("\n"))
    return {"hparams.yaml": recipe, "train.py": script.replace("{body}", "\n".join(lines) + "\n")}


_PLAIN = """
def compute_forward(self, batch, stage):
    x = self.modules.normalize(batch)
    return self.hparams.ctc_lin(self.modules.encoder(x))  # expect: ML208

def compute_objectives(self, predictions, batch, stage):
    return predictions.sum()
"""
_ALIAS = """
def compute_forward(self, batch, stage):
    return self.encode(batch, stage)

def encode(self, batch, stage):
    encoder = self.hparams.encoder  # expect: ML208
    with torch.no_grad():
        x = self.modules.normalize(batch)
    return self.modules.head(encoder(x))
"""
_TRAINING_ONLY = """
def compute_forward(self, batch, stage):
    x = self.modules.encoder(batch)
    if stage == sb.Stage.TRAIN:
        return self.hparams.modules["head"](x)  # expect: ML208
    return x
"""
_THAWED = """
def fit_batch(self, batch):
    x = self.hparams.wav2vec2(batch)  # expect: ML208
    loss = self.modules.head(x).sum()
    loss.backward()
    self.optimizer.step()
    return loss
"""


class CallBypassesDdp(Rule):
    """A module is called as the recipe made it, around the wrapper that synchronises gradients between processes

    ## What it does
    Where a script sets up distributed training, finds the calls `self.hparams.encoder(…)` of objects that are also
    entries of `modules:`, that have parameters to train and that learn from the call: it stands in a method that the
    training loop reaches under this recipe, and not under `torch.no_grad()`.

    Left alone are modules without parameters to train (the framework does not wrap them), frozen ones, calls in
    validation and testing only, and scripts that never join a process group. Confidence is low where the script also
    calls the wrapper: then gradients are expected, whatever way they come.

    ## Why is this bad
    With several processes the framework replaces each entry of `self.modules` with a `DistributedDataParallel` around
    it. A call of `self.hparams.encoder` reaches the module inside: its gradients are never averaged, each process
    trains a copy of its own, and the copy of the first one is saved as if it were the model. Nothing fails, with one
    process everything is right, and with more of them the model has seen only a part of the data.

    ## How to fix
    Call the entry of `self.modules`.

    ## Confirming
    A run builds the recipe, puts a wrapper around each entry of `modules` that learns, and evaluates what stands at the
    place of the call, in the script's own Brain: it is the module inside of a wrapper (confirmed), or a wrapper or
    another object (refuted). Where the module is small, torch's own `DistributedDataParallel` then counts the gradients
    that a call of each exchanges with a second process, which is pretended. That the training comes by this call, with
    gradients, is not run: it is told from the code.

    ## References
    - [SpeechBrain issue 930](https://github.com/speechbrain/speechbrain/issues/930)
    - [DistributedDataParallel](https://pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html)
    """

    code = "ML208"
    name = "call-bypasses-ddp"
    severity = Severity.ERROR
    triggers = ("import",)
    bad = (
        Example(
            "Called through `hparams`, though it is in `modules` under another name (SpeechBrain issue 930)",
            _project(_PLAIN),
            fixed=_project(_PLAIN.replace("self.hparams.ctc_lin", "self.modules.head")),
        ),
        Example(
            "In a method of its own, under a local name",
            _project(_ALIAS),
            fixed=_project(_ALIAS.replace("self.hparams.encoder", "self.modules.encoder")),
        ),
        Example(
            "The mapping in the recipe is not what the framework wraps",
            _project(_TRAINING_ONLY),
            fixed=_project(_TRAINING_ONLY.replace('self.hparams.modules["head"]', "self.modules.head")),
        ),
        Example(
            "A pretrained model that is fine-tuned, in a training step of its own",
            _project(_THAWED, _RECIPE.replace("freeze: true", "freeze: false")),
            fixed=_project(
                _THAWED.replace("self.hparams.wav2vec2", "self.modules.wav2vec2"),
                _RECIPE.replace("freeze: true", "freeze: false"),
            ),
        ),
        Example(
            "A container of layers",
            _project(
                "def compute_forward(self, batch, stage):\n    return self.hparams.net(batch)  # expect: ML208",
                "n_mels: 80\n"
                "batch_size: 8\n"
                "net: !new:speechbrain.nnet.containers.Sequential\n"
                "    input_shape: [null, null, !ref <n_mels>]\n"
                "    linear: !new:torch.nn.Linear [80, 40]\n"
                "opt_class: !name:torch.optim.Adam\n"
                "modules: {net: !ref <net>}\n",
            ),
            changes=(("self.hparams.net(batch)", "self.modules.net(batch)"),),
        ),
    )
    good = (
        Example(
            "Called through `modules`",
            _project(
                "def compute_forward(self, batch, stage):\n    return self.modules.head(self.modules.encoder(batch))"
            ),
        ),
        Example(
            "Nothing to train: the framework does not wrap it",
            _project(
                "def compute_forward(self, batch, stage):\n"
                "    return self.modules.encoder(self.hparams.normalize(batch))"
            ),
        ),
        Example(
            "Frozen by the recipe",
            _project(
                "def compute_forward(self, batch, stage):\n"
                "    return self.modules.encoder(self.hparams.wav2vec2(batch))"
            ),
        ),
        Example(
            "Frozen by the script",
            _project(
                "def on_fit_start(self):\n"
                "    super().on_fit_start()\n"
                "    for p in self.modules.encoder.parameters():\n"
                "        p.requires_grad = False\n\n"
                "def compute_forward(self, batch, stage):\n"
                "    return self.modules.head(self.hparams.encoder(batch))"
            ),
        ),
        Example(
            "Without gradients",
            _project(
                "def compute_forward(self, batch, stage):\n"
                "    with torch.no_grad():\n"
                "        x = self.embed(batch)\n"
                "    y = self.hparams.encoder(batch).detach()\n"
                "    return self.modules.head(x + y)\n\n"
                "def embed(self, batch):\n"
                "    return self.hparams.encoder(batch)"
            ),
        ),
        Example(
            "In validation and testing only, or in a method that nothing calls",
            _project(
                "def compute_forward(self, batch, stage):\n"
                "    x = self.modules.encoder(batch)\n"
                "    if stage != sb.Stage.TRAIN:\n"
                "        return self.hparams.ctc_lin(x)\n"
                "    return self.modules.head(x)\n\n"
                "def export(self, batch):\n"
                "    return self.hparams.encoder(batch)"
            ),
        ),
        Example(
            "A script for one process",
            _project(
                _PLAIN.replace("  # expect: ML208", ""),
                script=_SCRIPT.replace("    sb.utils.distributed.ddp_init_group(run_opts)\n", ""),
            ),
        ),
        Example(
            "No entry of `modules`, or a copy of one",
            _project(
                "def compute_forward(self, batch, stage):\n"
                "    x = self.hparams.teacher(batch)\n"
                "    return self.hparams.loss(x, self.modules.encoder(batch))",
                _RECIPE + "teacher: !copy <encoder>\nloss: !name:torch.nn.functional.mse_loss\n",
            ),
        ),
        Example(
            "Both are called in a step",
            _project(
                "def compute_forward(self, batch, stage):\n"
                "    x = self.modules.encoder(batch)\n"
                "    return self.modules.head(x) + self.modules.head(self.hparams.encoder(batch))"
            ),
        ),
        Example(
            "Its parameters, its mode and its attributes",
            _project(
                "def compute_forward(self, batch, stage):\n"
                "    self.hparams.encoder.train()\n"
                "    width = self.hparams.encoder.w.in_features\n"
                "    return self.modules.encoder(batch[..., :width])"
            ),
        ),
        Example(
            "Frozen by a list of the recipe",
            _project(
                "def on_stage_start(self, stage, epoch):\n"
                "    for name in self.hparams.frozen_models:\n"
                "        for p in self.modules[name].parameters():\n"
                "            p.requires_grad = False\n\n"
                "def compute_forward(self, batch, stage):\n"
                "    return self.modules.head(self.hparams.encoder(batch))",
                _RECIPE + "frozen_models: [encoder, normalize]\n",
            ),
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.shortfalls import bypassing_calls

        for bypass in bypassing_calls(module, project):
            yield self._finding(bypass)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.pairing import scripts_of
        from modellint.link.recipes.shortfalls import bypassing_calls

        scripts = scripts_of(recipe, project).scripts
        module = project.python(scripts[0]) if len(scripts) == 1 else None
        for bypass in bypassing_calls(module, project) if module is not None else ():
            if any(known.file == recipe.file for known, _ in bypass.recipes):
                yield self._finding(bypass)

    def probe(self, claim: NotWrapped, project: Project) -> Probe | None:
        """Build the recipe, wrap its entries, and look at what is called; see which gradients are exchanged."""
        from modellint.probes import recipe_probe

        return recipe_probe(claim, project)

    def _finding(self, bypass: Bypass) -> Finding:
        use, entry = bypass.use, bypass.entry
        name = "one of its entries" if entry is None else f"`self.modules.{entry}`"
        more = len(bypass.recipes) - 1
        return self.finding(
            use.place,
            f"`{use.text}` is called, not {name}: with several processes its gradients are never synchronised",
            symbol=use.item.path,
            confidence=Confidence.HIGH if bypass.is_certain else Confidence.LOW,
            evidence=(
                f"`{use.item.target}` has parameters to train, and is part of `modules` of "
                f"`{bypass.recipes[0][0].file.name}`" + (f" and {more} more" if more else ""),
                f"`{use.function}` computes gradients in the training loop",
                "the script sets up distributed training, which wraps the entries of `self.modules` only",
            ),
            related=[Related(root.place, f"`{root.text}` is `{use.item.path}`") for _, root in bypass.recipes],
            help=f"call {name}" if entry is not None else "call the entry of `self.modules`",
            fix=_fix(bypass),
            claim=_claim(bypass),
        )


def _claim(bypass: Bypass) -> NotWrapped | None:
    from modellint.claims.recipes import NotWrapped

    if not bypass.is_certain or not bypass.brain.classes:
        return None
    (recipe, root), script, brain = bypass.recipes[0], bypass.brain.module.path, bypass.brain.classes[0].qualname
    return NotWrapped(recipe.place(recipe.root.span), bypass.use.item.path, root.text, script, brain, bypass.place)


def _fix(bypass: Bypass) -> Fix | None:
    """The entry of `self.modules` instead of the recipe's own object, where that is written out."""
    from modellint.link.recipes.shortfalls import receiver_of

    receiver = receiver_of(bypass.use)
    if receiver is None or bypass.entry is None or not bypass.entry.isidentifier():
        return None
    if not bypass.module.text_of(receiver).startswith("self.hparams"):
        return None
    text = f"self.modules.{bypass.entry}"
    edit = Edit(bypass.module.place(receiver), text)
    return Fix(f"Call `{text}`", Applicability.SAFE, (edit,))
