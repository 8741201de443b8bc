"""ML202: an entry of `self.modules` that the recipe does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.link.recipes import queries
from modellint.rule import Rule, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.rule import Project


class ModuleMissingFromModules(Rule):
    """A script reads an entry that the recipe's `modules` does not have

    ## What it does
    Starts at the methods of a Brain that training and evaluation call, and follows their calls to its other methods and
    to functions of the script. Evaluates conditions that the recipe decides (`hasattr`, `in`, `getattr` with a default,
    flags, the stage, the epoch). Reports each `self.modules.X` and `self.mods.X` that is sure to run, if `modules` of a
    recipe for this script has no `X`. A use behind an unknown condition has low confidence, so modellint hides it by
    default.

    A published model has no script. `config.json` or the README names its SpeechBrain interface, such as
    `EncoderClassifier`. The rule reports modules that this interface requires, or that a class in the folder of the
    model uses, and that `modules` lacks.

    ## Why is this bad
    The run stops with `AttributeError: 'ModuleDict' object has no attribute 'X'`, either at once or hours later, when
    validation begins after the first epoch.

    ## How to fix
    Correct the name, or add the layer to `modules`:

    ```yaml
    modules:
        encoder: !ref <encoder>
    ```

    ## References
    - [SpeechBrain, the Brain class](https://speechbrain.readthedocs.io/en/latest/tutorials/basics/brain-class.html)
    """

    code = "ML202"
    name = "module-missing-from-modules"
    severity = Severity.ERROR
    requires = ("interface_recipes", "missing_modules", "unmet_modules")
    about = ("torch.nn.Module",)
    probe = staticmethod(recipe_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        script = queries.script(module, project)
        for missing in script.missing_modules:
            yield self._finding(missing)
        for recipe in script.interface_recipes:
            yield from self.check_recipe(recipe, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        asked = queries.about(recipe, project)
        for unmet in asked.unmet_modules():
            yield self._unmet(unmet, recipe)
        for missing in asked.missing_modules():
            yield self._finding(missing)

    def _finding(self, missing: queries.Missing) -> Finding:
        use, recipes, is_certain = missing.use, missing.lacking, missing.is_certain
        return self.finding(
            use.place,
            f"`{use.text}` is used, but `modules` of {_names_of(recipes)} has no `{use.name}`",
            symbol=use.name,
            confidence=Confidence.HIGH if is_certain else Confidence.LOW,
            evidence=(
                f"`{use.function}` is reached from the methods that the training loop calls"
                if is_certain
                else f"`{use.function}` is reached, but under a condition that only a run decides",
            ),
            related=[Related(lacking.place, _entries_of(lacking)) for lacking in recipes],
            help=_advice(use.name, recipes),
            # If it is not certain, what is in doubt is if the use is reached: no run of the recipe tells.
            claim=claims.NoModule(recipes[0].place, use.name) if is_certain else None,
        )

    def _unmet(self, unmet: queries.Unmet, recipe: Recipe) -> Finding:
        interface, name = unmet.interface, unmet.name
        near = edits.get_close_matches(name, unmet.spare, n=1, cutoff=0.6)
        if unmet.is_defined:
            help = f"add `{name}: !ref <{name}>` to `modules:`"
        else:
            help = f"did you mean `{near[0]}`?" if near else f"define `{name}` and add it to `modules:`"
        entries = "`modules` has " + (", ".join(f"`{key}`" for key in unmet.keys) or "no entries")
        claim = claims.NoModule(unmet.place, name)
        if unmet.use is None:
            # Without a sign that the entry was meant to be there, it may be one that this model does without.
            is_meant = bool(near) or unmet.is_defined
            return self.finding(
                unmet.place,
                f"`{interface.name}` needs `{name}`, and `modules` does not have it",
                symbol=name,
                confidence=Confidence.MEDIUM if is_meant else Confidence.LOW,
                evidence=(interface.evidence, f"`{interface.name}` lists `{name}` among the modules it needs", entries),
                help=help,
                claim=claim if is_meant else None,
            )
        return self.finding(
            unmet.use,
            f"`{unmet.text}` is used, but `modules` of `{recipe.file.name}` has no `{name}`",
            symbol=name,
            confidence=Confidence.HIGH,
            evidence=(interface.evidence, f"`{unmet.function}` reaches this line in each call"),
            related=(Related(unmet.place, entries),),
            help=help,
            claim=claim,
        )


def _names_of(recipes: Sequence[queries.Lacking]) -> str:
    first = recipes[0].recipe.file.name
    return f"`{first}`" if len(recipes) == 1 else f"`{first}` and {len(recipes) - 1} more"


def _entries_of(lacking: queries.Lacking) -> str:
    return "`modules` has " + (", ".join(f"`{name}`" for name in lacking.names) or "no entries")


def _advice(name: str, recipes: Sequence[queries.Lacking]) -> str:
    near = edits.get_close_matches(name, recipes[0].names, n=1, cutoff=0.6)
    if recipes[0].is_defined:
        return f"add `{name}: !ref <{name}>` to `modules:`"
    return f"did you mean `{near[0]}`?" if near else f"define `{name}` and add it to `modules:`"
