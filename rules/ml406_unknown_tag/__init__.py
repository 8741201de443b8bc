"""ML406: a tag that HyperPyYAML cannot construct."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, edits
from modellint.finding import Confidence, Finding, Severity
from modellint.graph.recipe import TagKind
from modellint.link.recipes import queries
from modellint.rule import Rule, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.rule import Project

    from .tags import FoundTag


class UnknownTag(Rule):
    """A recipe's tag is unknown to its loader, or on the wrong kind of node

    ## What it does
    Reports a tag that neither HyperPyYAML nor YAML defines, and that the script of the recipe does not register
    (`add_constructor`, `yaml_tag`):

    - a misspelt tag
    - `!new` and the like without the colon
    - `!<PLACEHOLDER>`, which YAML reads as the tag `PLACEHOLDER`

    Also reports `!ref`, `!copy` or `!tuple` in front of a mapping or a list. In configurations that OmegaConf or
    jsonargparse loads, the rule reports every tag but YAML's own, such as `!!float`.

    ## Why is this bad
    HyperPyYAML cannot load the recipe. It raises `ConstructorError: could not determine a constructor for the tag`, or
    another error for a tag that takes only text. OmegaConf and jsonargparse raise the same error.

    ## How to fix
    Correct the tag. `!new:`, `!name:`, `!apply:`, `!applyref:`, `!module:` and `!include:` need a name after the
    colon; `!ref`, `!copy`, `!tuple` and `!PLACEHOLDER` have no colon:

    ```yaml
    head: !new:torch.nn.Linear  # not `!new torch.nn.Linear`
        in_features: !ref <width>
        out_features: !PLACEHOLDER
    ```

    ## References
    - [HyperPyYAML, the tags](https://github.com/speechbrain/HyperPyYAML)
    """

    code = "ML406"
    name = "unknown-tag"
    severity = Severity.ERROR
    requires = (
        *("dialect", "evaluation", "live_nodes", "loaders", "pairing", "problems", "refuses_repeated"),
        "registering_files",
        "wholes",
    )
    takes_configs = True
    probe = staticmethod(recipe_probe)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from .tags import unknown_tags

        for tag in unknown_tags(recipe, project):
            yield self._unknown(tag, recipe, project)
        for found in queries.about(recipe, project).problems(queries.ProblemKind.SHAPE):
            yield self._misplaced_finding(found.problem)

    def _unknown(self, found: FoundTag, recipe: Recipe, project: Project) -> Finding:
        text = found.node.tag.text
        place = recipe.place(found.node.tag.span)
        dialect = queries.about(recipe, project).dialect
        near = _nearest(text, is_plain=dialect.is_plain)
        return self.finding(
            place,
            f"{dialect.loader} has no tag `{text}`",
            symbol=found.path or text,
            confidence=Confidence.HIGH if found.is_sure or near else Confidence.MEDIUM,
            evidence=(dialect.untagged,),
            help=f"did you mean `{near}`?" if near else "correct the tag, or register a constructor for it",
            claim=claims.NotLoaded(place, " ", text.strip("!<>"), "jsonargparse" if dialect.is_typed else "omegaconf")
            if dialect.is_plain
            else claims.NotLoaded(place, ""),
        )

    def _misplaced_finding(self, problem: queries.Problem) -> Finding:
        return self.finding(
            problem.place,
            f"`{problem.missing}` takes only text, but a mapping or list follows it",
            symbol=problem.missing,
            confidence=Confidence.HIGH,
            evidence=("HyperPyYAML raises an error when the recipe is loaded",),
            help=f"tag the elements one by one with `{problem.missing}`",
            claim=claims.NotLoaded(problem.place, "0"),
        )


#: The `!!` tags for which PyYAML's safe loader makes a value.
_YAML_TYPES = tuple(
    f"!!{name}"
    for name in ("binary", "bool", "float", "int", "map", "null", "omap", "pairs", "seq", "set", "str", "timestamp")
)


def _nearest(text: str, *, is_plain: bool) -> str | None:
    """The tag that was probably meant; plain configurations have none but YAML's own."""
    from .tags import PREFIXES

    if text.startswith("!!"):
        types = edits.get_close_matches(text, _YAML_TYPES, n=1, cutoff=0.7)
        return types[0] if types else None
    if is_plain:
        return None
    tags = {kind.value.lower(): kind.value for kind in TagKind if kind.value.startswith("!")}
    name, colon, target = text.strip("!<>").partition(":")
    near = edits.get_close_matches(f"!{name.lower()}", tags, n=1, cutoff=0.7)
    if not near:
        return None
    tag = tags[near[0]]
    return f"{tag}:{target if colon else '…'}" if tag in PREFIXES else tag
