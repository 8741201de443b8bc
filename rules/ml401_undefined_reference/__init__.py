"""ML401: a reference to a key that the recipe does not have."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Rule, any_of
from modellint.similar import get_close_matches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NotLoaded, Unresolved
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.health import FoundProblem
    from modellint.link.recipes.items import Problem
    from modellint.probes import Probe


class UndefinedReference(Rule):
    """A reference of a recipe leads nowhere

    ## What it does
    Resolves every `<key>` and `<key[inner]>` of a recipe as HyperPyYAML does: through chains of references, merges
    (`<<`), anchors and included files with their overrides. Reports those that lead nowhere. A recipe that another
    one includes may use keys that only the other one defines; it is checked from there. Also reported: a reference to
    a key that is itself a reference and stands further down (HyperPyYAML resolves from top to bottom, so it is left
    as it is), an included file that is not there, and a division by zero.

    In plain configurations with `_target_:` it resolves `${a.b}` and `${.b}` as OmegaConf does. These are seldom the
    whole: what other files, the command line, a script or Hydra itself (below `hydra:`) may add is not missed. Reported
    are keys that a configuration without `defaults:` lacks in one of its own mappings, where others of its
    interpolations lead somewhere.

    ## Why is this bad
    Loading the recipe raises `ValueError: The reference "key" is not valid`, before anything else runs. In a recipe
    that is rarely run, such as one of many variants, a renamed key stays unnoticed for long.

    ## How to fix
    Correct the name, or define the key. Lists cannot be indexed: `<sizes[0]>` is not valid even if `sizes` is a list.
    Where a reference stands for a later one, refer to what that one refers to.

    ## References
    - [HyperPyYAML, `!ref`](https://github.com/speechbrain/HyperPyYAML#ref)
    """

    code = "ML401"
    name = "undefined-reference"
    severity = Severity.ERROR
    takes_configs = True

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.health import problems
        from modellint.link.recipes.items import ProblemKind

        kinds = [kind for kind in ProblemKind if kind is ProblemKind.UNDEFINED or kind.name in _DESCRIPTIONS]
        for found in problems(recipe, project, kinds):
            describe = _DESCRIPTIONS.get(found.problem.kind.name)
            yield (
                self._undefined_finding(found)
                if describe is None
                else self._unresolved_finding(found, *describe(found.problem))
            )

    def probe(self, claim: NotLoaded | Unresolved, project: Project) -> Probe | None:
        """Load the recipe with HyperPyYAML, as it is and without the reference; resolve it in what OmegaConf loads."""
        from modellint.claims.recipes import Unresolved
        from modellint.probes import file_probe, recipe_probe

        return file_probe(claim) if isinstance(claim, Unresolved) else recipe_probe(claim, project)

    def _undefined_finding(self, found: FoundProblem) -> Finding:
        from modellint.claims.recipes import NotLoaded, Unresolved
        from modellint.graph.recipe import Dialect, TagKind

        problem, recipe = found.problem, found.recipe
        is_plain = recipe.dialect is Dialect.OMEGACONF
        nested = problem.text != problem.missing
        written = f"${{{problem.text}}}" if is_plain else problem.reference
        what = f"`{written}` leads nowhere: "
        if problem.available or not nested:
            what += f"there is no key `{problem.missing}`"
        else:
            what += f"what comes before `{problem.missing}` is no mapping"
        near = get_close_matches(problem.missing, problem.available, n=3, cutoff=0.6)
        if near:
            help = f"did you mean {any_of(near)}?"
        elif nested and problem.available:
            help = "defined there: " + ", ".join(f"`{name}`" for name in problem.available[:8])
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
            evidence=_interpolation(problem) if is_plain else (_REFUSED,),
            related=related,
            help=help,
            claim=Unresolved(problem.place, written) if is_plain else NotLoaded(problem.place, "0"),
        )

    def _unresolved_finding(self, found: FoundProblem, what: str, evidence: str, help: str) -> Finding:
        from modellint.claims.recipes import NotLoaded

        problem = found.problem
        return self.finding(
            problem.place,
            what,
            symbol=problem.text or problem.missing,
            confidence=Confidence.HIGH,
            evidence=(evidence,),
            help=help,
            claim=NotLoaded(problem.place, "0"),
        )


_REFUSED = "HyperPyYAML raises `ValueError` for it when the recipe is loaded"


def _interpolation(problem: Problem) -> Iterator[str]:
    yield "OmegaConf raises `InterpolationKeyError` when it is read"
    if problem.times > 1:
        yield f"{problem.times} interpolations ask for `{problem.missing}` there"


def _forward(problem: Problem) -> tuple[str, str, str]:
    later = f"`{problem.missing}`" if problem.missing else "another reference"
    return (
        f"`<{problem.text}>` stands for {later}, which is resolved only further down",
        "HyperPyYAML resolves from top to bottom and raises `ConstructorError` for what is left",
        f"refer to {later} directly, or move this below the definition of `{problem.text}`",
    )


def _include(problem: Problem) -> tuple[str, str, str]:
    reason = "".join(problem.available)
    if not problem.missing:
        return "no file is named to be included", "HyperPyYAML opens it when the recipe is loaded", "name the file"
    return (
        f"`{problem.missing}` cannot be included: {reason}",
        "HyperPyYAML opens it when the recipe is loaded",
        "correct the path, which is relative to this file" if "no such" in reason else "repair that file",
    )


def _division(problem: Problem) -> tuple[str, str, str]:
    return (
        f"`{problem.text}` divides by zero",
        "HyperPyYAML raises `ZeroDivisionError` when the recipe is loaded",
        "correct the value that is divided by",
    )


def _override(problem: Problem) -> tuple[str, str, str]:
    return (
        f"`{problem.text}` is a mapping here, and none in `{problem.missing}`",
        "HyperPyYAML merges overrides key by key and raises `ValueError` where there are none",
        f"give `{problem.text}` one value, or make it a mapping there",
    )


_DESCRIPTIONS = {"FORWARD": _forward, "INCLUDE": _include, "ARITHMETIC": _division, "OVERRIDE": _override}
