"""ML401: a reference to a key that the recipe does not have."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.recipe import Dialect, TagKind
from modellint.link.recipes import queries
from modellint.rule import Rule, any_of, file_probe, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.rule import Probe, Project


class UndefinedReference(Rule):
    """A reference in a recipe points to a key that does not exist

    ## What it does
    Resolves every `<key>` and `<key[inner]>` of a recipe as HyperPyYAML does: through chains of references, merges
    (`<<`), anchors and included files with their overrides. Reports

    - a reference to a key that does not exist
    - a reference to a key that is itself a reference and stands further down: HyperPyYAML resolves from top to bottom
    - an included file that does not exist
    - a division by zero

    An included recipe may use keys that only the including recipe defines; modellint checks it from there.

    In the configurations of a program with `@hydra.main`, it resolves `${a.b}` and `${.b}` in what Hydra composes: by
    default, and with each file that the command line may choose. A key that another choice brings is not reported.

    A configuration of torchtune is one file: a key that it lacks is reported, unless a command line that the project
    shows gives it, or a script stores it.

    In other plain configurations with `_target_:`, it resolves them as OmegaConf does. Other files, the command line or
    a script may add keys, so it reports a key only if the configuration has no `defaults:`, one of its own mappings
    lacks the key, and others of its interpolations resolve.

    In a configuration of OpenMMLab, it looks `_base_.a.b` and `{{_base_.a.b}}` up in the inherited files, and reports
    names that nothing in the file binds: what a file inherits are keys of the result, not names.

    ## Why is this bad
    HyperPyYAML raises an error before anything else runs: `ValueError: The reference "key" is not valid`, or
    `ConstructorError`, `FileNotFoundError` or `ZeroDivisionError` for the other three. If you rarely run the recipe,
    as with one of many variants, a renamed key stays unnoticed for long.

    ## How to fix
    Correct the name, or define the key:

    ```yaml
    n_mels: 80
    encoder: !new:torch.nn.Linear
        in_features: !ref <n_mels>
        out_features: 256
    ```

    You cannot index a list: `<sizes[0]>` is not valid even if `sizes` is a list. Instead of a reference to a later
    reference, refer to its target.

    ## References
    - [HyperPyYAML, `!ref`](https://github.com/speechbrain/HyperPyYAML#ref)
    """

    code = "ML401"
    name = "undefined-reference"
    severity = Severity.ERROR
    requires = ("command", "dialect", "problems")
    takes_configs = True

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        kinds = (kind for kind in queries.ProblemKind if kind.name in ("UNDEFINED", *_DESCRIPTIONS))
        asked = queries.about(recipe, project)
        for found in asked.problems(*kinds):
            describe = _DESCRIPTIONS.get(found.problem.kind.name)
            yield (
                self._undefined_finding(found, asked)
                if describe is None
                else self._unresolved_finding(found, *describe(found.problem))
            )

    def probe(self, claim: claims.NotLoaded | claims.Unresolved, project: Project) -> Probe | None:
        """Load the recipe with HyperPyYAML, with and without the reference; resolve it as OmegaConf or Hydra does."""
        return file_probe(claim) if isinstance(claim, claims.Unresolved) else recipe_probe(claim, project)

    def _undefined_finding(self, found: queries.FoundProblem, asked: queries.Queries) -> Finding:
        problem, recipe = found.problem, found.recipe
        is_python = recipe.dialect is Dialect.OPENMMLAB
        is_plain = asked.dialect.is_plain and not is_python
        nested = problem.text != problem.missing
        written = f"${{{problem.text}}}" if is_plain else problem.text if is_python else problem.reference
        claim: claims.Unresolved | claims.NotLoaded = claims.NotLoaded(problem.place, "0")
        if is_python:
            claim = claims.NotLoaded(problem.place, "0", problem.missing)
        elif is_plain:
            claim = claims.Unresolved(problem.place, written, *(asked.command or ()))
        what = f"`{written}` does not resolve: "
        if problem.available or not nested:
            what += f"there is no key `{problem.missing}`"
        else:
            what += f"the value before `{problem.missing}` is not a mapping"
        near = edits.get_close_matches(problem.missing, problem.available, n=3, cutoff=0.6)
        if near:
            help = f"did you mean {any_of(near)}?"
        elif nested and problem.available:
            help = "the mapping has the keys " + ", ".join(f"`{name}`" for name in problem.available[:8])
        else:
            help = f"define `{problem.missing}`, or correct the reference"
        related: list[Related] = []
        if problem.place.path != recipe.path:
            name = PurePosixPath(problem.place.path).name
            related += [
                Related(recipe.place(node.tag.span), "included here, without that key")
                for node in recipe.nodes()
                if node.tag.kind is TagKind.INCLUDE and PurePosixPath(node.tag.target).name == name
            ]
        return self.finding(
            problem.place,
            what,
            symbol=problem.text,
            confidence=Confidence.HIGH if found.is_loaded or near else Confidence.MEDIUM,
            evidence=_evidence(problem, asked.dialect),
            related=related,
            help=help,
            claim=claim,
        )

    def _unresolved_finding(self, found: queries.FoundProblem, what: str, evidence: str, help: str) -> Finding:
        problem = found.problem
        return self.finding(
            problem.place,
            what,
            symbol=problem.text or problem.missing,
            confidence=Confidence.HIGH,
            evidence=(evidence,),
            help=help,
            claim=claims.NotLoaded(problem.place, "0"),
        )


def _evidence(problem: queries.Problem, dialect: queries.Description) -> Iterator[str]:
    yield dialect.unresolved
    if problem.times > 1:
        yield f"{problem.times} interpolations in this mapping use `{problem.missing}`"


def _forward(problem: queries.Problem) -> tuple[str, str, str]:
    later = f"`{problem.missing}`" if problem.missing else "another reference"
    return (
        f"`<{problem.text}>` is itself a reference to {later}, which HyperPyYAML resolves only further down",
        "HyperPyYAML resolves from top to bottom, and raises `ConstructorError` for a reference that is left",
        f"refer to {later} directly, or move this below the definition of `{problem.text}`",
    )


def _include(problem: queries.Problem) -> tuple[str, str, str]:
    reason = "".join(problem.available)
    if not problem.missing:
        return "`!include:` names no file", "HyperPyYAML opens the file when the recipe is loaded", "name the file"
    return (
        f"`{problem.missing}` cannot be included: {reason}",
        "HyperPyYAML opens the file when the recipe is loaded",
        "correct the path, which is relative to this file" if "no such" in reason else "repair that file",
    )


def _division(problem: queries.Problem) -> tuple[str, str, str]:
    return (
        f"`{problem.text}` divides by zero",
        "HyperPyYAML raises `ZeroDivisionError` when the recipe is loaded",
        "correct the divisor",
    )


def _override(problem: queries.Problem) -> tuple[str, str, str]:
    return (
        f"`{problem.text}` is a mapping here, but not in `{problem.missing}`",
        "HyperPyYAML merges overrides key by key, and raises `ValueError` if the value has no keys",
        f"give `{problem.text}` one value, or make it a mapping in `{problem.missing}`",
    )


def _free_name(problem: queries.Problem) -> tuple[str, str, str]:
    near = edits.get_close_matches(problem.text, problem.available, n=1, cutoff=0.7)
    inherited = f"write `{problem.missing}`: the result has the inherited name, the file has not"
    return (
        f"the name `{problem.text}` is not defined in this file",
        "`Config.fromfile` raises `NameError` when it runs the file",
        inherited if problem.missing else f"did you mean `{near[0]}`?" if near else f"define `{problem.text}`",
    )


_DESCRIPTIONS = {
    "FORWARD": _forward,
    "INCLUDE": _include,
    "ARITHMETIC": _division,
    "OVERRIDE": _override,
    "UNBOUND": _free_name,
}
