"""ML202: an entry of `self.modules` that the recipe does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Rule, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.recipes.interfaces import Unmet
    from modellint.link.recipes.registration import Lacking, MissingModule
    from modellint.rule import Project


class ModuleMissingFromModules(Rule):
    """A script reads an entry of `self.modules` that the recipe's `modules` does not have

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
    probe = staticmethod(recipe_probe)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.interfaces import recipes_beside
        from modellint.link.recipes.registration import missing_modules

        for missing in missing_modules(module, project):
            yield self._finding(missing)
        for recipe in recipes_beside(module, project):
            yield from self.check_recipe(recipe, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.interfaces import unmet_modules
        from modellint.link.recipes.pairing import scripts_of
        from modellint.link.recipes.registration import missing_modules

        for unmet in unmet_modules(recipe, project):
            yield self._unmet(unmet, recipe)
        scripts = scripts_of(recipe, project).scripts
        module = project.python(scripts[0]) if len(scripts) == 1 else None
        for missing in missing_modules(module, project) if module is not None else ():
            if any(lacking.recipe.file == recipe.file for lacking in missing.recipes):
                yield self._finding(missing)

    def _finding(self, missing: MissingModule) -> Finding:

        use = missing.use
        certain = [lacking for lacking in missing.recipes if lacking.certain]
        recipes = certain or list(missing.recipes)
        return self.finding(
            use.place,
            f"`{use.text}` is used, but `modules` of {_names_of(recipes)} has no `{use.name}`",
            symbol=use.name,
            confidence=Confidence.HIGH if certain else Confidence.LOW,
            evidence=(
                f"`{use.function}` is reached from the methods that the training loop calls"
                if certain
                else f"`{use.function}` is reached, but under a condition that only a run decides",
            ),
            related=[Related(lacking.place, _entries_of(lacking)) for lacking in recipes],
            help=_advice(use.name, recipes),
            # If it is not certain, what is in doubt is if the use is reached: no run of the recipe tells.
            claim=claims.NoModule(recipes[0].place, use.name) if certain else None,
        )

    def _unmet(self, unmet: Unmet, recipe: Recipe) -> Finding:

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


def _names_of(recipes: list[Lacking]) -> str:
    first = recipes[0].recipe.file.name
    return f"`{first}`" if len(recipes) == 1 else f"`{first}` and {len(recipes) - 1} more"


def _entries_of(lacking: Lacking) -> str:
    return "`modules` has " + (", ".join(f"`{name}`" for name in lacking.entries) or "no entries")


def _advice(name: str, recipes: list[Lacking]) -> str:
    near = edits.get_close_matches(name, recipes[0].entries, n=1, cutoff=0.6)
    if recipes[0].defined:
        return f"add `{name}: !ref <{name}>` to `modules:`"
    return f"did you mean `{near[0]}`?" if near else f"define `{name}` and add it to `modules:`"
