"""ML408: a published recipe with a placeholder that nobody says how to fill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Severity
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.rule import Project


class PlaceholderLeft(Rule):
    """An inference recipe has a `!PLACEHOLDER` that nothing fills

    ## What it does
    Checks recipes of trained models: those with `modules:` and a `Pretrainer`, and without a training script. Reports
    a `!PLACEHOLDER` that has no comment, and that no document and no code beside the recipe mentions.

    ## Why is this bad
    `from_hparams` raises `ValueError: 'key' is a !PLACEHOLDER and must be replaced`. People who download the model have
    to guess the override.

    ## How to fix
    Set the value, usually the one from the training or `null`. Or document the override in a comment or in the model's
    README:

    ```yaml
    data_folder: !PLACEHOLDER  # pass from_hparams(…, overrides={"data_folder": …})
    ```

    ## Confirming
    No run confirms this rule. HyperPyYAML rejects every unfilled placeholder, so a run shows nothing new, and only the
    files show whether something says how to fill it.

    ## References
    - [SpeechBrain, inference interfaces](https://speechbrain.readthedocs.io/en/latest/tutorials/basics.html)
    """

    code = "ML408"
    name = "placeholder-left"
    severity = Severity.INFO
    requires = ("evaluation", "is_inference", "live_nodes", "pairing")

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from .placeholders import left_placeholders

        for left in left_placeholders(recipe, project):
            name = left.path.partition("[")[0]
            yield self.finding(
                left.place,
                f"`{left.path}` is a `!PLACEHOLDER`, and nothing says how to fill it",
                symbol=left.path,
                confidence=Confidence.HIGH,
                evidence=(
                    "the recipe describes a trained model, and no script starts it with overrides",
                    f"no comment, document or code beside the recipe mentions `{name}`",
                ),
                help="set a value, or document the override",
            )
