"""ML408: a published recipe with a placeholder that nobody says how to fill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Severity
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project


class PlaceholderLeft(Rule):
    """An inference recipe has a placeholder that nothing says how to fill

    ## What it does
    Looks at recipes that describe a trained model to load: those with `modules:` and a `Pretrainer`, and no training
    script. Reports a `!PLACEHOLDER` for which there is no comment, and which no document and no code beside the
    recipe mentions.

    ## Why is this bad
    `from_hparams` raises `ValueError: 'key' is a !PLACEHOLDER and must be replaced`. Whoever downloads the model has
    to guess which override is wanted.

    ## How to fix
    Put a value in, most often the one that was used in training or `null`; or say in a comment or in the model's README
    that `from_hparams(…, overrides={"key": …})` is needed.

    ## Confirming
    Not confirmed by running code: that HyperPyYAML refuses a placeholder which nobody fills is so for each of them, and
    that nothing says how to fill it is a matter of what can be read, not of what a run does.

    ## References
    - [SpeechBrain, inference interfaces](https://speechbrain.readthedocs.io/en/latest/tutorials/basics.html)
    """

    code = "ML408"
    name = "placeholder-left"
    severity = Severity.INFO

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from .placeholders import left_placeholders

        for left in left_placeholders(recipe, project):
            name = left.path.partition("[")[0]
            yield self.finding(
                left.place,
                f"`{left.path}` is a `!PLACEHOLDER`, and nothing says what belongs there",
                symbol=left.path,
                confidence=Confidence.HIGH,
                evidence=(
                    "the recipe describes a trained model, and no script starts it with overrides",
                    f"no comment, document or code beside the recipe mentions `{name}`",
                ),
                help="put a value in, or document the override",
            )
