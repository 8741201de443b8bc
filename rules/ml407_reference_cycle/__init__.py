"""ML407: references, or included files, that lead back to themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Severity
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NotLoaded
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.items import Problem
    from modellint.probes import Probe


class ReferenceCycle(Rule):
    """A reference of a recipe leads back to itself

    ## What it does
    Follows `!ref`, `!copy`, references in strings and `!include:`. Reports those that end where they began, and
    references from inside of a mapping, a list or an object's arguments to that very thing.

    ## Why is this bad
    HyperPyYAML either fails (`RecursionError`, `Circular reference detected`, or `could not determine a constructor
    for the tag '!ref'`), or, where an object is to hold itself, hands it `None` without a word.

    ## How to fix
    Give one of the keys a value of its own. What two objects share needs a third key that both refer to.

    ## References
    - [HyperPyYAML, `!ref`](https://github.com/speechbrain/HyperPyYAML#ref)
    """

    code = "ML407"
    name = "reference-cycle"
    severity = Severity.ERROR

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.health import problems
        from modellint.link.recipes.items import ProblemKind

        for found in problems(recipe, project, (ProblemKind.CYCLE, ProblemKind.ITSELF)):
            yield self._finding(found.problem, found.problem.kind is ProblemKind.ITSELF)

    def probe(self, claim: NotLoaded, project: Project) -> Probe | None:
        """Load the recipe with HyperPyYAML, as it is and without the reference."""
        from modellint.probes import recipe_probe

        return recipe_probe(claim, project)

    def _finding(self, problem: Problem, is_itself: bool) -> Finding:
        from modellint.claims.recipes import NotLoaded

        if not problem.text:
            what = f"`{problem.missing}` is included by itself, or by what it includes"
            evidence, help = "HyperPyYAML includes it again and again until it fails", "take this `!include:` out"
        elif is_itself:
            what = f"`{problem.reference}` leads to what it is a part of"
            evidence = "HyperPyYAML puts `None` in its place, without a word"
            help = "refer to a key of its own that both can share"
        else:
            what = f"`{problem.reference}` leads back to itself"
            evidence = "HyperPyYAML raises an error when the recipe is loaded"
            help = "give one of the keys a value of its own"
        return self.finding(
            problem.place,
            what,
            symbol=problem.text or problem.missing,
            confidence=Confidence.HIGH,
            evidence=(evidence,),
            help=help,
            claim=NotLoaded(problem.place, "0"),
        )
