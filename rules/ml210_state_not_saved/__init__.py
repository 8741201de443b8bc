"""ML210: a scheduler, counter or optimizer whose state no checkpoint holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Applicability, Confidence, Edit, Finding, Fix, Related, Severity
from modellint.link.recipes import queries
from modellint.rule import Rule, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.rule import Project

    from .mixed import Mixed
    from .states import UnsavedState


class StateNotSaved(Rule):
    """No checkpoint holds the state of a scheduler, epoch counter or optimizer

    ## What it does
    Reports objects of a recipe that a checkpoint can save (their class has hooks for it) and training changes (a
    scheduler that the Brain calls, the counter that `fit` runs through), but that the `recoverables` of the
    checkpointer lack. Also reports

    - optimizers that a Brain makes in its own `init_optimizers` and does not add to the checkpointer: only the
      framework's version of the method adds them
    - objects that are added under the name of another, which nothing adds:
      `add_recoverable("scheduler_g", self.scheduler_d)`

    Skips schedulers without state, encoders that the script fills again or saves in their own file, trainings without a
    checkpointer, and trainings that nothing resumes (the Brain's `on_fit_start` recovers nothing). Skips what is left
    out on purpose: a comment says so, or code removes it from what is saved.

    ## Why is this bad
    A resumed training differs from one that ran through: the scheduler has lost the best loss and its patience, the
    counter starts at the first epoch, and the optimizer has lost its momenta. If you never interrupt a training, you
    never notice.

    ## How to fix
    Add the object to `recoverables`. Add an optimizer where you make it:

    ```python
    self.checkpointer.add_recoverable("optimizer", self.optimizer)
    ```

    ## References
    - [SpeechBrain: checkpointing](https://speechbrain.readthedocs.io/en/latest/tutorials/basics/checkpointing.html)
    """

    code = "ML210"
    name = "state-not-saved"
    severity = Severity.INFO
    requires = ("changes_state", "recipes", "registrations", "within_wholes")
    about = ("torch.Tensor",)
    probe = staticmethod(recipe_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from .mixed import mixed_names

        for pair in mixed_names(module):
            yield self._mixed_finding(pair)
        for recipe in queries.script(module, project).recipes:
            yield from self.check_recipe(recipe, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from .purposes import is_on_purpose
        from .states import unsaved_states

        for state in queries.about(recipe, project).within_wholes(unsaved_states):
            if not is_on_purpose(state):
                yield self._finding(state)

    def _finding(self, state: UnsavedState) -> Finding:
        name, use = state.item.path, state.use
        where = "the script" if use.function == "<module>" else f"`{use.function}`"
        what = "the optimizer is made here" if state.makes else "it changes here"
        related = [Related(use.place, f"{what}, in {where}")]
        if state.saved.place is not None:
            held = ", ".join(f"`{root.item.path}`" for root in state.saved.roots if root.certain)
            related.append(Related(state.saved.place, f"what is saved: {held or 'nothing of the recipe'}"))
        subject = f"the optimizer that `{name}` makes" if state.makes else f"`{name}`"
        return self.finding(
            state.place,
            f"{subject} changes in training, but no checkpoint holds its state",
            symbol=name,
            confidence=Confidence.HIGH if state.is_certain else Confidence.LOW,
            evidence=tuple(_evidence(state)),
            related=related,
            help=_help(state),
            fix=_fix(state),
            claim=_claim(state),
        )

    def _mixed_finding(self, pair: Mixed) -> Finding:
        module = pair.function.module
        place = module.place(pair.value)
        fix = Fix(f"Add `self.{pair.name}`", Applicability.UNSAFE, (Edit(place, f"self.{pair.name}"),))
        return self.finding(
            place,
            f"`self.{pair.other}` is saved under the name of `self.{pair.name}`, which no checkpoint holds",
            symbol=f"{pair.cls.name}.{pair.name}",
            confidence=Confidence.HIGH,
            evidence=(f"nothing adds `self.{pair.name}` to the checkpointer",),
            help=f"add `self.{pair.name}` under this name",
            fix=fix,
        )


def _claim(state: UnsavedState) -> claims.NotSaved | claims.OptimizerNotSaved | None:
    """The claim for a run; None without a checkpointer, or where the Brain makes no optimizers itself."""
    place, brain = state.place, state.brain
    if not state.makes:
        keeper = state.saved.checkpointer
        return None if keeper is None else claims.NotSaved(place, state.item.path, keeper.path)
    # If it is not certain, what is in doubt is if this Brain makes it.
    if not state.is_certain or brain.method("init_optimizers") is None:
        return None
    return claims.OptimizerNotSaved(place, brain.module.path, brain.classes[0].qualname, state.use.place)


def _evidence(state: UnsavedState) -> Iterator[str]:
    if state.makes:
        yield "only what the framework's own `init_optimizers` makes is added to the checkpointer"
    else:
        yield f"`{state.item.target}` has hooks for checkpoints, and `{state.use.text}` changes what they save"
    if not state.is_certain:
        yield "this depends on a condition that only a run decides"


def _help(state: UnsavedState) -> str:
    item = state.item
    if state.makes:
        return "add it with `self.checkpointer.add_recoverable(…)` where it is made"
    return f"add `{item.name}: !ref <{item.path}>` to the `recoverables` of the checkpointer"


def _fix(state: UnsavedState) -> Fix | None:
    """Add the object to `recoverables`, where both stand in this file."""
    recipe, item, to = state.recipe, state.item, state.saved.recoverables
    if state.makes or to is None or to.recipe is not recipe or item.recipe is not recipe:
        return None
    return edits.add_reference(recipe, item.name, item.path, to.node, to="recoverables", item=item.node)
