"""ML407: references, or included files, that lead back to themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NotLoaded
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.evaluation import Problem
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
    bad = (
        Example(
            "A key that refers to itself",
            {"hparams.yaml": "output_folder: !ref <output_folder>/1234  # expect: ML407\nseed: !ref <output_folder>\n"},
        ),
        Example(
            "Two keys that refer to each other",
            {
                "hparams.yaml": (
                    "n_mels: !ref <input_size>  # expect: ML407\n"
                    "input_size: !ref <n_mels>\n"
                    "encoder: !new:torch.nn.Linear [80, 256]\n"
                )
            },
        ),
        Example(
            "An object that is its own argument",
            {
                "hparams.yaml": (
                    "decoder: !new:torch.nn.Sequential\n"
                    "    first: !new:torch.nn.Linear [80, 256]\n"
                    "    second: !ref <decoder>  # expect: ML407\n"
                )
            },
        ),
        Example(
            "Two objects that each want the other one",
            {
                "hparams.yaml": (
                    "searcher: !new:collections.OrderedDict\n"
                    "    scorer: !ref <scorer>  # expect: ML407\n"
                    "scorer: !new:collections.OrderedDict\n"
                    "    searcher: !ref <searcher>\n"
                )
            },
        ),
        Example(
            "A file that includes itself",
            {"hparams.yaml": "seed: 1\nmodels: !include:hparams.yaml  # expect: ML407\n"},
        ),
        Example(
            "A copy of what it stands in",
            {
                "hparams.yaml": (
                    "modules:\n    layer: !new:torch.nn.Linear [1, 2]\n    all: !copy <modules>  # expect: ML407\n"
                )
            },
        ),
    )
    good = (
        Example(
            "Chains that end",
            {"hparams.yaml": "a: 3\nb: !ref <a>\nc: !ref <b>\nfolder: !ref results/<c>\nlog: !ref <folder>/log\n"},
        ),
        Example(
            "One entry of a mapping refers to another one",
            {
                "hparams.yaml": (
                    "models:\n    width: 256\n    encoder: !new:torch.nn.Linear\n        in_features: 80\n"
                    "        out_features: !ref <models[width]>\n"
                )
            },
        ),
        Example(
            "Two objects that share a third one",
            {
                "hparams.yaml": (
                    "layer: !new:torch.nn.Linear [80, 80]\n"
                    "first: !new:torch.nn.Sequential [!ref <layer>]\n"
                    "second: !new:torch.nn.Sequential [!ref <layer>, !ref <first>]\n"
                )
            },
        ),
        Example(
            "A key of the same name on another level",
            {
                "hparams.yaml": (
                    "seed: 1\ntrain:\n    seed: !ref <seed>\n    options:\n        seed: !ref <train[seed]>\n"
                )
            },
        ),
        Example(
            "A file that is included twice",
            {
                "hparams.yaml": (
                    "student: !include:model.yaml\n    width: 64\nteacher: !include:model.yaml\n    width: 256\n"
                ),
                "model.yaml": "width: 128\nlayer: !new:torch.nn.Linear [80, !ref <width>]\n",
            },
        ),
        Example(
            "A forward reference to an object that refers back to a number",
            {
                "hparams.yaml": (
                    "modules:\n    encoder: !ref <encoder>\n    width: 80\n"
                    "encoder: !new:torch.nn.Linear [!ref <modules[width]>, 2]\n"
                )
            },
        ),
        Example(
            "A copy beside what it copies",
            {"hparams.yaml": "layer: !new:torch.nn.Linear [1, 2]\nlayers: [!ref <layer>, !copy <layer>]\n"},
        ),
        Example(
            "The key of an override has the name of what it refers to",
            {
                "hparams.yaml": "width: 64\nmodel: !include:model.yaml\n    width: !ref <width>\n",
                "model.yaml": "width: 128\nlayer: !new:torch.nn.Linear [80, !ref <width>]\n",
            },
        ),
    )

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.evaluation import ProblemKind
        from modellint.link.recipes.health import problems

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
