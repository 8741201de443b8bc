"""ML405: a script reads a hyperparameter that its recipe does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.link.recipes import queries
from modellint.rule import Rule, file_probe, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.rule import Probe, Project

    from .checkpoint_keys import Unsaved


#: The most keys that a finding lists.
_MOST_NAMES = 8
_REFUSED = "jsonargparse raises `ValueError` when the program builds its parser"


class UndefinedHyperparameter(Rule):
    """A script reads a hyperparameter that its recipe does not define

    ## What it does
    Follows the script that loads a recipe: its main part, the functions that get the hyperparameters, and the Brain
    that it builds. Evaluates the conditions that the recipe decides (`hasattr`, `in`, `get` with a default, flags).
    Reports

    - `hparams["x"]` or `self.hparams.x` that the script certainly reaches, if a recipe of the script has no key `x` and
      nothing stores one
    - an override in the script of a key that the recipe does not have
    - a key by which the Brain ranks its checkpoints (`min_key="WER"`, `max_keys=["ACC"]`), if the meta data that the
      script saves with them has other keys (a warning)

    A published model has no script. For it, modellint takes the interface that `config.json` or the README names, and
    reports keys that the interface requires, or that a class in the model's folder reads.

    For a program with `@hydra.main`, it composes the configuration that the program gets without arguments, follows the
    program with it, and reports the keys that it certainly reads and that no file of the search path has; also
    `_target_`, if the program passes arguments to `instantiate` for a mapping without it.

    For a program with LightningCLI or jsonargparse, it reports keys at the top of a configuration that the program does
    not take, and keys of `link_arguments` that the parser, or the object that the link reads, does not have.

    It follows a program of torchtune (`@config.parse`) in the same way, with each configuration that a command line
    names with it, or that has most of the keys it reads. It follows a program that calls `OmegaConf.load` with the file
    that the code names, or else with all keys that the configurations of the project have.

    Overrides from the command line cannot add keys, unless the script passes `overrides_must_match=False`.

    ## Why is this bad
    The script raises `KeyError` or `AttributeError`, at once or hours later, when the epoch ends or the test begins. By
    a key that no checkpoint has, the test finds none and judges the last weights, and saving deletes the best ones.

    ## How to fix
    Add the key to the recipe, or correct the name in the script:

    ```yaml
    ctc_cost: !name:speechbrain.nnet.losses.ctc_loss  # `train.py` reads `self.hparams.ctc_cost`
    ```

    ## References
    - [SpeechBrain, hyperparameter files](https://speechbrain.readthedocs.io/en/latest/tutorials/basics/hyperpyyaml.html)
    - [jsonargparse, linked arguments](https://jsonargparse.readthedocs.io/en/stable/#argument-linking)
    """

    code = "ML405"
    name = "undefined-hyperparameter"
    severity = Severity.ERROR
    requires = (
        *("dialect", "faults", "interface_recipes", "loaders", "missing_config_keys", "missing_keys", "unmet_keys"),
        *("unmet_config_keys", "unmet_links"),
    )
    takes_configs = True

    def probe(self, claim: claims.NoKey | claims.NoEntry, project: Project) -> Probe | None:
        """Load the recipe with HyperPyYAML, or the configuration as its program does."""
        return file_probe(claim) if isinstance(claim, claims.NoEntry) else recipe_probe(claim, project)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        script = queries.script(module, project)
        for missing in script.missing_keys:
            yield self._finding(missing)
        for key in script.missing_config_keys:
            yield self._config_finding(key)
        for link in script.unmet_links:
            yield self._of_link(link)
        for unmet in script.unmet_config_keys:
            yield self._of_configs(unmet)
        for recipe in script.interface_recipes:
            yield from self.check_recipe(recipe, project)
        from .checkpoint_keys import unsaved_keys

        for unsaved in unsaved_keys(module, project):
            yield self._of_checkpoints(unsaved)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        asked = queries.about(recipe, project)
        for fault in asked.faults(queries.FaultKind.UNKNOWN_SECTION):
            yield self._section_finding(fault, asked.loaders)
        if asked.dialect.is_plain:
            return
        for unmet in asked.unmet_keys():
            yield self._unmet(unmet, recipe)
        for missing in asked.missing_keys():
            yield self._finding(missing)

    def _finding(self, missing: queries.Missing) -> Finding:
        use, recipes, is_certain = missing.use, missing.lacking, missing.is_certain
        near = edits.get_close_matches(use.name, recipes[0].names, n=1, cutoff=0.75)
        doubt = recipes[0].doubt if all(lacking.doubt for lacking in recipes) else ""
        verb = "is overridden" if missing.is_override else "is read"
        where = "the script" if use.function == "<module>" else f"`{use.function}`"
        return self.finding(
            use.place,
            f"`{use.text}` {verb}, but {_names_of(recipes)} has no key `{use.name}`",
            symbol=use.name,
            severity=Severity.WARNING if doubt else Severity.ERROR,
            confidence=(Confidence.MEDIUM if doubt else Confidence.HIGH) if is_certain else Confidence.LOW,
            evidence=(
                f"{where} reaches this line whenever it runs"
                if is_certain
                else f"{where} reaches this line only under a condition that the run decides, or keys may be added",
                *(
                    [f"modellint takes this for the script of `{recipes[0].recipe.file.name}` by {doubt}"]
                    if doubt
                    else []
                ),
            ),
            related=[Related(lacking.place, f"the recipe has no `{use.name}`") for lacking in recipes],
            help=f"did you mean `{near[0]}`?" if near else f"add `{use.name}` to the recipe",
            # If it is not certain, what is in doubt is if the script asks.
            claim=claims.NoKey(recipes[0].place, use.name, missing.is_override) if is_certain else None,
        )

    def _config_finding(self, missing: queries.MissingKey) -> Finding:
        near = edits.get_close_matches(missing.name, missing.available, n=1, cutoff=0.6)
        where = f"`{missing.where}`" if missing.where else f"`{missing.file}`" if missing.file else "configuration"
        lacks = f"{where} has no key" if missing.file else f"no {where} of the project has a key"
        listed = ", ".join(f"`{key}`" for key in missing.available[:_MOST_NAMES])
        says = "builds nothing, as" if missing.effect else "is read, but"
        reader = "the script" if missing.function == "<module>" else f"`{missing.function}`"
        run = f"the program runs with `{missing.file}`" if missing.file else "it runs"
        return self.finding(
            missing.place,
            f"`{missing.text}` {says} {lacks} `{missing.name}`",
            symbol=missing.name,
            confidence=Confidence.HIGH,
            evidence=(
                f"{reader} reaches this line whenever {run}",
                missing.effect or "OmegaConf raises `ConfigAttributeError`, or `ConfigKeyError` for an index",
            ),
            help=f"did you mean `{near[0]}`?" if near else f"it has {listed}" if listed else "add the key",
            claim=missing.source and claims.NoEntry(missing.place, missing.where, missing.name, *missing.source),
            cause=f"{missing.file.removesuffix('.yaml')}: {missing.where}.{missing.name}",
        )

    def _section_finding(self, fault: queries.Fault, loaders: Sequence[queries.Loaded]) -> Finding:
        listed = ", ".join(f"`{key}`" for key in fault.wanted[:_MOST_NAMES])
        reasons = [f"`{one.program.script.name}` loads the file, by {one.reason}" for one in loaders[:1]]
        return self.finding(
            fault.place,
            f"`{fault.owner}` takes no key `{fault.name}`",
            symbol=fault.name,
            confidence=Confidence.HIGH if fault.near else Confidence.MEDIUM,
            evidence=("jsonargparse refuses the configuration before anything is built", *reasons),
            help=f"did you mean `{fault.near[0]}`?" if fault.near else f"it takes {listed}",
        )

    def _of_link(self, link: queries.UnmetLink) -> Finding:
        near = edits.get_close_matches(link.key, link.available, n=1, cutoff=0.6)
        key, _, attribute = link.key.rpartition(".")
        effect = "the object has no such attribute when the link is followed" if link.on_instantiate else _REFUSED
        return self.finding(
            link.place,
            f"`{key}` has no attribute `{attribute}`" if link.on_instantiate else f"the parser has no key `{link.key}`",
            symbol=link.key,
            confidence=Confidence.HIGH if near or not link.on_instantiate else Confidence.MEDIUM,
            evidence=(effect,),
            help=f"did you mean `{near[0]}`?" if near else "correct the key, or add the argument before the link",
        )

    def _of_configs(self, unmet: queries.UnmetKey) -> Finding:
        available = [one for one in unmet.available if one != unmet.name]
        near = edits.get_close_matches(unmet.name, available, n=1, cutoff=0.6) if not unmet.is_partial else []
        is_one = len(unmet.configs) == 1
        holder = f"`{unmet.where}`" if unmet.where else "configuration"
        if is_one:
            lacks = f"`{unmet.where}` of `{unmet.configs[0]}`" if unmet.where else f"`{unmet.configs[0]}`"
            lacks = f"{lacks} has no key `{unmet.name}`"
        elif unmet.is_partial:
            others = f"{len(unmet.configs) - 1} other{'s' * (len(unmet.configs) > 2)}"
            where = f"`{unmet.where}` of " if unmet.where else ""
            lacks = f"{where}`{unmet.configs[0]}` and {others} have no key `{unmet.name}`"
        else:
            lacks = f"no {holder} of the project has a key `{unmet.name}`"
        listed = ", ".join(f"`{key}`" for key in unmet.available[:_MOST_NAMES])
        return self.finding(
            unmet.place,
            f"`{unmet.text}` is read, but {lacks}",
            symbol=unmet.name,
            severity=Severity.WARNING if unmet.is_partial else Severity.ERROR,
            confidence=Confidence.HIGH if (near or is_one) and not unmet.is_partial else Confidence.MEDIUM,
            evidence=(
                f"`{unmet.function}` reaches this line whenever it runs",
                "`Config` raises `AttributeError`, or `KeyError` for an index",
            ),
            help="add the key, or read it with `get`"
            if unmet.is_partial
            else f"did you mean `{near[0]}`?"
            if near
            else f"it has {listed}"
            if listed
            else "add the key",
            claim=claims.NoEntry(unmet.place, unmet.where, unmet.name, unmet.file) if unmet.file else None,
            cause=f"{unmet.where}.{unmet.name}",
        )

    def _of_checkpoints(self, found: Unsaved) -> Finding:
        saver, save = found.save
        near = edits.get_close_matches(found.key, found.saved, n=1, cutoff=0.6)
        keys = ", ".join(f"`{key}`" for key in found.saved) or "no keys"
        return self.finding(
            found.function.module.place(found.value),
            f"no checkpoint is saved with the key {found.key!r}, so `{found.call.callee.data}` finds none by it",
            symbol=f"{found.function.qualname}.{found.key}",
            severity=Severity.WARNING,
            confidence=Confidence.HIGH,
            evidence=(f"the meta data of all checkpoints has {keys}",),
            related=(Related(saver.module.place(save), "checkpoints are saved here"),),
            help=f"did you mean `{near[0]}`?" if near else f"save `{found.key}` in the meta data",
        )

    def _unmet(self, unmet: queries.Unmet, recipe: Recipe) -> Finding:
        interface, name = unmet.interface, unmet.name
        claim = claims.NoKey(unmet.place, name, is_override=False)
        near = edits.get_close_matches(name, unmet.spare, n=1, cutoff=0.75)
        help = f"did you mean `{near[0]}`?" if near else f"add `{name}` to the recipe"
        if unmet.use is None:
            return self.finding(
                unmet.place,
                f"`{interface.name}` needs the key `{name}`, but `{recipe.file.name}` does not have it",
                symbol=name,
                confidence=Confidence.HIGH,
                evidence=(
                    interface.evidence,
                    f"`{interface.name}` lists `{name}` among the keys it needs, and raises `ValueError` without it",
                ),
                help=help,
                claim=claim,
            )
        return self.finding(
            unmet.use,
            f"`{unmet.text}` is read, but `{recipe.file.name}` has no key `{name}`",
            symbol=name,
            confidence=Confidence.HIGH,
            evidence=(interface.evidence, f"`{unmet.function}` reaches this line whenever it runs"),
            related=(Related(unmet.place, f"the recipe has no `{name}`"),),
            help=help,
            claim=claim,
        )


def _names_of(recipes: Sequence[queries.Lacking]) -> str:
    first = recipes[0].recipe.file.name
    return f"`{first}`" if len(recipes) == 1 else f"each of `{first}` and {len(recipes) - 1} more"
