"""ML408: a published recipe with a placeholder that nobody says how to fill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project

_RECIPE = """\
{head}
n_mels: 80
encoder: !new:speechbrain.nnet.linear.Linear
    input_size: !ref <n_mels>
    n_neurons: 512
modules:
    encoder: !ref <encoder>
pretrainer: !new:speechbrain.utils.parameter_transfer.Pretrainer
    loadables:
        encoder: !ref <encoder>
"""


def _recipe(head: str) -> str:
    return _RECIPE.replace("{head}", head)


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
    bad = (
        Example(
            "The path to the training data",
            {"hyperparams.yaml": _recipe("data_folder:  # expect: ML408\n    !PLACEHOLDER")},
        ),
        Example(
            "A README that speaks of something else",
            {
                "hyperparams.yaml": _recipe("pretrained_path:  # expect: ML408\n    !PLACEHOLDER"),
                "README.md": '# A model\n\n`EncoderASR.from_hparams(source="me/model")`\n',
            },
        ),
        Example(
            "Inside of a mapping",
            {
                "hyperparams.yaml": _recipe(
                    "folders:\n    data:  # expect: ML408\n        !PLACEHOLDER\n    out: results"
                )
            },
        ),
        Example(
            "Two of them, one documented",
            {
                "hyperparams.yaml": _recipe(
                    "output_folder: !PLACEHOLDER  # where results go\ntoken_list:  # expect: ML408\n    !PLACEHOLDER"
                )
            },
        ),
    )
    good = (
        Example("No placeholder", {"hyperparams.yaml": _recipe("data_folder: data")}),
        Example(
            "A comment says what belongs there",
            {"hyperparams.yaml": _recipe("data_folder: !PLACEHOLDER # the folder with the recordings")},
        ),
        Example(
            "A comment above says what belongs there",
            {
                "hyperparams.yaml": _recipe(
                    "# Has to be given: the folder with the recordings\ndata_folder: !PLACEHOLDER"
                )
            },
        ),
        Example(
            "The README shows the override",
            {
                "hyperparams.yaml": _recipe("data_folder: !PLACEHOLDER"),
                "README.md": 'EncoderASR.from_hparams("me/model", overrides={"data_folder": "/data"})\n',
            },
        ),
        Example(
            "The interface beside the recipe fills it",
            {
                "hyperparams.yaml": _recipe("data_folder: !PLACEHOLDER"),
                "custom_interface.py": 'OVERRIDES = {"data_folder": "."}\n',
            },
        ),
        Example(
            "A training recipe, which is started with overrides",
            {
                "hparams.yaml": _recipe("data_folder: !PLACEHOLDER"),
                "train.py": (
                    "from hyperpyyaml import load_hyperpyyaml\n\n"
                    "hparams = load_hyperpyyaml(open('hparams.yaml'))\n"
                    'print(hparams["n_mels"], hparams["modules"])\n'
                ),
            },
        ),
        Example(
            "A recipe that loads no trained model",
            {"hparams.yaml": "data_folder: !PLACEHOLDER\nout: !ref <data_folder>/out\n"},
        ),
        Example(
            "A fragment whose placeholder is filled by what includes it",
            {
                "hyperparams.yaml": _recipe("model: !include:model.yaml\n    width: 512"),
                "model.yaml": "width: !PLACEHOLDER\nlayer: !new:torch.nn.Linear [80, !ref <width>]\n",
            },
        ),
    )

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.health import left_placeholders

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
