"""ML210: a scheduler, counter or optimizer whose state no checkpoint holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.finding import Applicability, Confidence, Finding, Fix, Related, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NotSaved, OptimizerNotSaved
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.states import UnsavedState
    from modellint.probes import Probe

_KEY = re.compile(r"[A-Za-z_]\w*")

_RECIPE = """\
n_mels: 80
batch_size: 8
encoder: !new:speechbrain.nnet.linear.Linear
    input_size: !ref <n_mels>
    n_neurons: 40
modules:
    encoder: !ref <encoder>
opt_class: !name:torch.optim.Adam{opt_mark}
    lr: 0.001
epoch_counter: !new:speechbrain.utils.epoch_loop.EpochCounter{counter_mark}
    limit: 10
lr_annealing: !new:{scheduler}{mark}
{arguments}
checkpointer: !new:speechbrain.utils.checkpoints.Checkpointer
    checkpoints_dir: save
    recoverables:
        encoder: !ref <encoder>
{saved}
"""

_SCRIPT = """\
import sys

import speechbrain as sb
import torch
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch)

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()

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
    model.fit(hparams["epoch_counter"], [], [])
"""

_MARK = "  # expect: ML210"
_COUNTER = "        counter: !ref <epoch_counter>"
_ANNEALING = "        lr_annealing: !ref <lr_annealing>"
_SCHEDULE = """
def on_stage_end(self, stage, stage_loss, epoch=None):
    if stage == sb.Stage.VALID:
        old_lr, new_lr = self.hparams.lr_annealing(stage_loss)
        sb.nnet.schedulers.update_learning_rate(self.optimizer, new_lr)
"""
_PER_BATCH = """
def on_fit_batch_end(self, batch, outputs, loss, should_step):
    if hasattr(self.hparams.lr_annealing, "on_batch_end"):
        self.hparams.lr_annealing.on_batch_end(self.optimizer)
"""
_OWN_OPTIMIZER = """
def init_optimizers(self):
    self.optimizer = self.hparams.opt_class(self.modules.parameters())
    self.optimizers_dict = {"optimizer": self.optimizer}
"""


def _project(
    saved: str = _COUNTER,
    body: str = _SCHEDULE,
    mark: str = "",
    counter_mark: str = "",
    opt_mark: str = "",
    setup: str = "",
    scheduler: str = "speechbrain.nnet.schedulers.NewBobScheduler",
    arguments: str = "    initial_value: 0.001",
) -> dict[str, str]:
    lines = ("    " + line if line else line for line in body.strip("\n").split("\n"))
    recipe = _RECIPE.replace("{saved}", saved).replace("{mark}", mark).replace("{counter_mark}", counter_mark)
    recipe = recipe.replace("{opt_mark}", opt_mark).replace("{scheduler}", scheduler)
    script = _SCRIPT.replace("{body}", "\n".join(lines) + "\n").replace("{setup}\n", setup)
    return {"hparams.yaml": recipe.replace("{arguments}", arguments), "train.py": script}


_CYCLIC = {
    "scheduler": "speechbrain.nnet.schedulers.CyclicLRScheduler",
    "arguments": "    base_lr: 0.00000001\n    max_lr: 0.001\n    step_size: 65000",
    "body": _PER_BATCH,
}
_OWN_CLASS = """\
from speechbrain.utils.checkpoints import mark_as_loader, mark_as_saver, register_checkpoint_hooks


@register_checkpoint_hooks
class Patience:
    def __init__(self, initial_value):
        self.value = initial_value
        self.losses = []

    def __call__(self, loss):
        self.losses.append(loss)
        return self.value, self.value

    @mark_as_saver
    def save(self, path):
        with open(path, "w") as out:
            out.write(repr(self.losses))

    @mark_as_loader
    def load(self, path, end_of_epoch):
        with open(path) as given:
            self.losses = eval(given.read())
"""


class StateNotSaved(Rule):
    """The state of a scheduler, counter or optimizer changes in training, but no checkpoint holds it

    ## What it does
    Finds objects of a recipe that can be saved in a checkpoint (their class has hooks for it), whose state a training
    changes (a scheduler that the Brain calls, the counter that `fit` runs through), and that the `recoverables` of its
    checkpointer lack. Also optimizers that a Brain makes itself, in `init_optimizers`, and does not add: only the
    framework's own version adds what it makes.

    Left alone are schedulers without state, encoders that the script fills anew or keeps in a file of their own, and
    trainings without a checkpointer.

    ## Why is this bad
    A training that is resumed is another one than a training that ran through: the scheduler has forgotten the best
    loss and for how long it waits, the counter starts at the first epoch, the optimizer without its momenta. Whoever
    trains without interruption will never notice.

    ## How to fix
    Add the object to `recoverables`; add an optimizer with `self.checkpointer.add_recoverable` where it is made.

    ## References
    - [SpeechBrain: checkpointing](https://speechbrain.readthedocs.io/en/latest/tutorials/basics/checkpointing.html)
    """

    code = "ML210"
    name = "state-not-saved"
    severity = Severity.INFO
    triggers = ("import",)
    bad = (
        Example(
            "A scheduler that waits for the loss to fall",
            _project(mark=_MARK),
            fixed=_project(_COUNTER + "\n" + _ANNEALING, mark=_MARK),
        ),
        Example(
            "A scheduler that counts batches",
            _project(mark=_MARK, **_CYCLIC),
            fixed=_project(_COUNTER + "\n" + _ANNEALING, mark=_MARK, **_CYCLIC),
        ),
        Example(
            "The counter of the epochs",
            _project(_ANNEALING, counter_mark=_MARK),
            fixed=_project(_ANNEALING + "\n        epoch_counter: !ref <epoch_counter>", counter_mark=_MARK),
        ),
        Example(
            "An optimizer that the Brain makes itself",
            _project(body=_OWN_OPTIMIZER, opt_mark=_MARK),
        ),
        Example(
            "A class of the project's own",
            {
                **_project(mark=_MARK, scheduler="patience.Patience"),
                "patience.py": _OWN_CLASS,
            },
            fixed={
                **_project(_COUNTER + "\n" + _ANNEALING, mark=_MARK, scheduler="patience.Patience"),
                "patience.py": _OWN_CLASS,
            },
        ),
    )
    good = (
        Example("All are saved, under whatever name", _project(_COUNTER + "\n        scheduler: !ref <lr_annealing>")),
        Example(
            "A scheduler that has no state",
            _project(
                scheduler="speechbrain.nnet.schedulers.StepScheduler",
                body=_SCHEDULE.replace("(stage_loss)", "(epoch)"),
            ),
        ),
        Example(
            "Added by the script",
            _project(setup='    hparams["checkpointer"].add_recoverable("lr", hparams["lr_annealing"])\n'),
        ),
        Example(
            "The framework's own optimizer, and one that the Brain adds",
            _project(
                body=_OWN_OPTIMIZER
                + "    if self.checkpointer is not None:\n"
                + '        self.checkpointer.add_recoverable("optimizer", self.optimizer)\n',
            ),
        ),
        Example(
            "A training without a checkpointer",
            {
                name: text.replace('        checkpointer=hparams["checkpointer"],\n', "")
                for name, text in _project("", body=_SCHEDULE).items()
            },
        ),
        Example("A scheduler that nothing calls", _project(body="pass")),
        Example(
            "An encoder that has a file of its own",
            _project(
                scheduler="speechbrain.dataio.encoder.CategoricalEncoder",
                arguments="    unk_label: unknown",
                setup='    hparams["lr_annealing"].load_or_create(path="labels.txt")\n',
                body="\ndef on_stage_end(self, stage, stage_loss, epoch=None):\n"
                "    print(self.hparams.lr_annealing.decode_ndim([0]))\n",
            ),
        ),
        Example(
            "A scheduler that is called in another stage, or switched off",
            _project(
                body="\ndef on_stage_end(self, stage, stage_loss, epoch=None):\n"
                "    if stage == sb.Stage.TEST:\n"
                "        self.hparams.lr_annealing(stage_loss)\n"
                '    if hasattr(self.hparams, "warmup"):\n'
                "        self.hparams.lr_annealing(stage_loss)\n"
            ),
        ),
        Example(
            "A class whose hooks nobody knows of, or that has none",
            {
                **_project(scheduler="patience.Patience"),
                "patience.py": _OWN_CLASS.replace("@register_checkpoint_hooks\n", ""),
            },
        ),
        Example(
            "A counter that the Brain does not run through",
            {
                name: text.replace('model.fit(hparams["epoch_counter"], [], [])', "model.fit(range(10), [], [])")
                for name, text in _project(_ANNEALING).items()
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.pairing import recipes_of

        for recipe in recipes_of(module.file, project):
            yield from self.check_recipe(recipe, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.pairing import including
        from modellint.link.recipes.states import unsaved_states

        for whole in including(recipe, project):
            for state in unsaved_states(whole, project):
                if whole is recipe or state.item.place.path == recipe.path:
                    yield self._finding(state, whole)

    def probe(self, claim: NotSaved | OptimizerNotSaved, project: Project) -> Probe | None:
        """Build the recipe, and look for the object in what the checkpointer saves; or make the Brain's optimizers."""
        from modellint.probes import recipe_probe

        return recipe_probe(claim, project)

    def _finding(self, state: UnsavedState, recipe: Recipe) -> Finding:
        name = state.item.path
        where = "the script" if state.function == "<module>" else f"`{state.function}`"
        related = [Related(state.place, f"it changes here, in {where}")]
        if state.makes:
            related = [Related(state.place, f"the optimizer is made here, in {where}")]
        if state.saved.place is not None:
            held = ", ".join(f"`{root.item.path}`" for root in state.saved.roots if root.certain)
            related.append(Related(state.saved.place, f"what is saved: {held or 'nothing of the recipe'}"))
        subject = f"the optimizer that `{name}` makes" if state.makes else f"`{name}`"
        return self.finding(
            state.item.place,
            f"{subject} changes in training, but no checkpoint holds its state",
            symbol=name,
            confidence=Confidence.HIGH if state.certain else Confidence.LOW,
            evidence=tuple(_evidence(state)),
            related=related,
            help=_help(state),
            fix=_fix(state, recipe),
            claim=_claim(state),
        )


def _claim(state: UnsavedState) -> NotSaved | OptimizerNotSaved | None:
    from modellint.claims.recipes import unsaved, unsaved_optimizer

    place = state.item.place
    if not state.makes:
        return unsaved(state.saved, place, state.item.path)
    # If it is not certain, what is in doubt is if this Brain makes it.
    return unsaved_optimizer(state.brain, place, state.place) if state.certain else None


def _evidence(state: UnsavedState) -> Iterator[str]:
    if state.makes:
        yield "only what the framework's own `init_optimizers` makes is added to the checkpointer"
    else:
        yield f"`{state.item.target}` has hooks for checkpoints, and `{state.text}` changes what they save"
    if not state.certain:
        yield "this depends on a condition that only a run decides"


def _help(state: UnsavedState) -> str:
    item = state.item
    if state.makes:
        return "add it with `self.checkpointer.add_recoverable(…)` where it is made"
    return f"add `{item.name}: !ref <{item.path}>` to the `recoverables` of the checkpointer"


def _fix(state: UnsavedState, recipe: Recipe) -> Fix | None:
    """The object added to `recoverables`, where both stand in this file."""
    from modellint.edits.yaml import insert_entry

    item, recoverables = state.item, state.saved.recoverables
    if state.makes or recoverables is None or recoverables.recipe is not recipe or not _KEY.fullmatch(item.name):
        return None
    if item.recipe is not recipe or recipe.resolve(item.path) is not item.node:
        return None
    edit = insert_entry(recipe, recoverables.node, item.name, f"!ref <{item.path}>")
    return None if edit is None else Fix(f"Add `{item.name}` to `recoverables`", Applicability.SAFE, (edit,))
