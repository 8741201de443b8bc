"""ML404: a key that a mapping of the recipe has twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims
from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.recipe import MERGE, Dialect
from modellint.link.recipes import queries
from modellint.rule import Rule, file_probe, recipe_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.rule import Probe, Project

    from .repeated import RepeatedKey


class DuplicateKey(Rule):
    """A mapping in a recipe has the same key twice

    ## What it does
    Compares the keys of each mapping as Python does: `1`, `0x1` and `true` are one key, `1` and `"1"` are two. Reports
    a key that occurs twice, and two `<<` in one mapping. A key may override one that `<<` merges in. The same holds in
    the configurations that a program of Hydra composes, in those of torchtune, and in latent-diffusion style if
    OmegaConf loads them. A repeated key in a configuration of LightningCLI or jsonargparse is a warning.

    In a configuration of OpenMMLab, it reports a key at the top that two of the files in `_base_` have, and, as a
    warning, one that a `{…}` has twice.

    ## Why is this bad
    HyperPyYAML does not load the recipe. It raises `DuplicateKeyError`, or, under `!new:` or `!name:`, the misleading
    `ConstructorError: could not determine a constructor for the tag`. Other YAML readers silently take the last value.
    A tool that only reads the file may then use a value that you did not mean. OmegaConf raises `ConstructorError`:
    `found duplicate key`.

    ## How to fix
    Remove one of the two. Merge several mappings with one `<<`:

    ```yaml
    <<: [*defaults, *more]
    ```

    ## References
    - [YAML 1.2, mappings](https://yaml.org/spec/1.2.2/#3211-nodes): keys are unique
    """

    code = "ML404"
    name = "duplicate-key"
    severity = Severity.ERROR
    requires = ("dialect", "evaluation", "refusals", "refuses_repeated")
    takes_configs = True

    def probe(self, claim: claims.NotLoaded | claims.KeyTwice, project: Project) -> Probe | None:
        """Load the file as its program does."""
        return file_probe(claim) if isinstance(claim, claims.KeyTwice) else recipe_probe(claim, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from .repeated import repeated_keys

        for repeated in repeated_keys(recipe, project):
            yield self._finding(repeated, queries.about(recipe, project).dialect)
        for refusal in queries.about(recipe, project).refusals() if recipe.dialect is Dialect.OPENMMLAB else ():
            if refusal.trouble.name == "TWO_BASES":
                yield self.finding(
                    refusal.place,
                    f"`{refusal.text}` has the key `{refusal.wanted}`, and so has `{refusal.available[0]}`",
                    symbol=refusal.wanted,
                    confidence=Confidence.HIGH,
                    evidence=("`Config.fromfile` raises `KeyError: Duplicate key is not allowed among bases`",),
                    help="remove the key from one of the two files, or let one inherit from the other",
                    claim=claims.NotLoaded(refusal.place, "", refusal.wanted),
                )

    def _finding(self, repeated: RepeatedKey, dialect: queries.Description) -> Finding:
        place = repeated.recipe.place(repeated.second.key.span)
        name, span = repeated.second.key.text, place.span
        tag = repeated.owner.tag.text
        error = f"`ConstructorError: could not determine a constructor for the tag '{tag}'`" if tag else None
        same = repeated.first.value.text and repeated.first.value.text == repeated.second.value.text
        where = f"`{repeated.path}`" if repeated.path else "one mapping"
        help = "remove one of the two" + (", which have the same value" if same else "")
        is_python = repeated.recipe.dialect is Dialect.OPENMMLAB
        evidence = (
            dialect.repeated or dialect.overwritten
            if dialect.is_plain
            else f"HyperPyYAML raises {error or '`DuplicateKeyError`'} when the recipe is loaded"
        )
        return self.finding(
            place,
            f"the key `{name}` occurs twice in {where}",
            symbol=name,
            severity=Severity.WARNING if dialect.overwritten or is_python else Severity.ERROR,
            confidence=Confidence.HIGH,
            evidence=(evidence,),
            related=(Related(repeated.recipe.place(repeated.first.key.span), "first defined here"),),
            help="merge both with one `<<`: `<<: [*one, *other]`" if name == MERGE else help,
            claim=claims.KeyTwice(place, name, is_kept=bool(dialect.overwritten) or is_python)
            if dialect.is_plain
            else claims.NotLoaded(place, f"modellint_{span.line}_{span.column}"),
        )
