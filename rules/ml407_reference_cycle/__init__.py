"""ML407: references, or included files, that lead back to themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Severity
from modellint.graph.recipe import Dialect
from modellint.link.recipes import queries
from modellint.rule import Rule, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.rule import Project

_OWN_VALUE = "give one of the keys a value of its own"


class ReferenceCycle(Rule):
    """A reference in a recipe points back to itself

    ## What it does
    Follows `!ref`, `!copy`, references in strings and `!include:`. Reports a chain that ends where it began, and a
    reference inside of a mapping, a list or an object's arguments to that mapping, list or object. In configurations of
    OpenMMLab, it reports an entry of `_base_` that leads back to the file.

    ## Why is this bad
    HyperPyYAML raises `RecursionError`, `Circular reference detected` or
    `could not determine a constructor for the tag '!ref'`. If a mapping, a list or an object refers to itself,
    HyperPyYAML silently puts `None` there. OmegaConf raises `InterpolationResolutionError` when a value that depends on
    itself is read.

    ## How to fix
    Give one of the keys a value of its own. If two objects share something, add a third key, and let both refer to it:

    ```yaml
    embedding: !new:torch.nn.Embedding
        num_embeddings: 1000
        embedding_dim: 256
    encoder: !new:model.Encoder
        embedding: !ref <embedding>
    decoder: !new:model.Decoder
        embedding: !ref <embedding>
    ```

    ## References
    - [HyperPyYAML, `!ref`](https://github.com/speechbrain/HyperPyYAML#ref)
    """

    code = "ML407"
    name = "reference-cycle"
    severity = Severity.ERROR
    requires = ("dialect", "problems")
    takes_configs = True
    probe = staticmethod(recipe_probe)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        kinds = queries.ProblemKind
        asked = queries.about(recipe, project)
        for found in asked.problems(kinds.CYCLE, kinds.ITSELF):
            if recipe.dialect is Dialect.OPENMMLAB:
                yield self._inherits_itself(found.problem)
            elif asked.dialect.is_plain:
                yield self._leads_back(found.problem)
            else:
                yield self._finding(found.problem, found.problem.kind is kinds.ITSELF)

    def _leads_back(self, problem: queries.Problem) -> Finding:
        text = f"${{{problem.text}}}"
        return self.finding(
            problem.place,
            f"`{text}` refers back to itself",
            symbol=text,
            confidence=Confidence.HIGH,
            evidence=("OmegaConf raises `InterpolationResolutionError` when the value is read",),
            help=_OWN_VALUE,
        )

    def _inherits_itself(self, problem: queries.Problem) -> Finding:
        return self.finding(
            problem.place,
            f"`{problem.missing}` inherits from itself, directly or through another file",
            symbol=problem.missing,
            confidence=Confidence.HIGH,
            evidence=("`Config.fromfile` reads the files again and again until it raises `RecursionError`",),
            help="remove this entry of `_base_`",
            claim=claims.NotLoaded(problem.place, "", "recursion"),
        )

    def _finding(self, problem: queries.Problem, is_itself: bool) -> Finding:
        if not problem.text:
            what = f"`{problem.missing}` includes itself, directly or through another file"
            evidence, help = "HyperPyYAML includes the file again and again until it fails", "remove this `!include:`"
        elif is_itself:
            what = f"`{problem.reference}` refers to the value that contains it"
            evidence = "HyperPyYAML silently puts `None` in its place"
            help = "move the shared value to a key of its own, and refer to that key"
        else:
            what = f"`{problem.reference}` refers back to itself"
            evidence = "HyperPyYAML raises an error when the recipe is loaded"
            help = _OWN_VALUE
        return self.finding(
            problem.place,
            what,
            symbol=problem.text or problem.missing,
            confidence=Confidence.HIGH,
            evidence=(evidence,),
            help=help,
            claim=claims.NotLoaded(problem.place, "0"),
        )
