"""ML401: a reference to a key that the recipe does not have."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.evaluation import Problem


class UndefinedReference(Rule):
    """A `!ref` or `!copy` leads to a key that the recipe does not define

    ## What it does
    Resolves every `<key>` and `<key[inner]>` of a recipe as HyperPyYAML does: through chains of references, merges
    (`<<`), anchors and included files with their overrides. Reports those that lead nowhere. A recipe that another
    one includes may use keys that only the other one defines; it is checked from there.

    ## Why is this bad
    Loading the recipe raises `ValueError: The reference "key" is not valid`, before anything else runs. In a recipe
    that is rarely run, such as one of many variants, a renamed key stays unnoticed for long.

    ## How to fix
    Correct the name, or define the key. Lists cannot be indexed: `<sizes[0]>` is not valid even if `sizes` is a list.

    ## References
    - [HyperPyYAML, `!ref`](https://github.com/speechbrain/HyperPyYAML#ref)
    """

    code = "ML401"
    name = "undefined-reference"
    severity = Severity.ERROR
    bad = (
        Example(
            "A misspelt key",
            {
                "hparams.yaml": (
                    "n_mels: 80\n"
                    "dnn_neurons: 512\n"
                    "encoder: !new:torch.nn.Linear\n"
                    "    in_features: !ref <n_mel>  # expect: ML401\n"
                    "    out_features: !ref <dnn_neurons>\n"
                )
            },
        ),
        Example(
            "An inner key that the mapping lacks, and an index into a list",
            {
                "hparams.yaml": (
                    "sizes: [256, 512]\n"
                    "models:\n"
                    "    encoder: !new:torch.nn.Linear [80, 256]\n"
                    "modules:\n"
                    "    encoder: !ref <models[encoder]>\n"
                    "    decoder: !ref <models[decoder]>  # expect: ML401\n"
                    "width: !ref <sizes[0]>  # expect: ML401\n"
                )
            },
        ),
        Example(
            "Inside a longer string",
            {
                "hparams.yaml": (
                    "seed: 1234\n"
                    "output_folder: !ref results/model/<seed>\n"
                    "save_folder: !ref <output_dir>/save  # expect: ML401\n"
                )
            },
        ),
        Example(
            "A key that neither the fragment nor what includes it defines",
            {
                "hparams.yaml": ("n_mels: 80\nmodels: !include:models/encoder.yaml\n    n_mels: !ref <n_mels>\n"),
                "models/encoder.yaml": (
                    "encoder: !new:torch.nn.Linear\n"
                    "    in_features: !ref <n_mels>\n"
                    "    out_features: !ref <emb_dim>  # expect: ML401\n"
                ),
            },
        ),
        Example(
            "A string that a reference leads to",
            {
                "hparams.yaml": (
                    "output_folder: results\n"
                    "log_name: <output_foldr>/log.txt\n"
                    "train_log: !ref <log_name>  # expect: ML401\n"
                )
            },
        ),
    )
    good = (
        Example(
            "References, backwards and forwards, nested and with arithmetic",
            {
                "hparams.yaml": (
                    "model: !new:torch.nn.Linear\n"
                    "    in_features: !ref <n_mels> * 2\n"
                    "    out_features: !ref <sizes[hidden]>\n"
                    "n_mels: 80\n"
                    "sizes: {hidden: 512}\n"
                    "folder: !ref results/<n_mels>/<sizes[hidden]>\n"
                )
            },
        ),
        Example(
            "A fragment gets its keys from the recipe that includes it",
            {
                "hparams.yaml": (
                    "n_mels: 80\nmodels: !include:models/encoder.yaml\n    n_mels: !ref <n_mels>\n"
                    "modules:\n    encoder: !ref <models[encoder]>\n"
                ),
                "models/encoder.yaml": "encoder: !new:torch.nn.Linear [!ref <n_mels>, 512]\n",
            },
        ),
        Example(
            "Keys that an anchor is merged in with",
            {
                "hparams.yaml": (
                    "defaults: &defaults\n    batch_size: 8\n    seed: !ref <base_seed>\n"
                    "base_seed: 17\n"
                    "train:\n    <<: *defaults\n    batch_size: 4\n"
                    "total: !ref <train[batch_size]> + <train[seed]>\n"
                )
            },
        ),
        Example(
            "Angle brackets in an ordinary string are only text",
            {
                "hparams.yaml": (
                    'blank: "<blank>"\nbos: <bos>\nn_mels: 80\ntokens: [<unk>, <pad>]\nwidth: !ref <n_mels>\n'
                )
            },
        ),
        Example(
            "An attribute of an object",
            {
                "hparams.yaml": (
                    "encoder: !new:torch.nn.Linear [80, 256]\n"
                    "head: !new:torch.nn.Linear [!ref <encoder.out_features>, 10]\n"
                )
            },
        ),
        Example(
            "What a function returns, or a placeholder, may hold anything",
            {
                "hparams.yaml": (
                    "table: !applyref:dict\n    a: 1\n"
                    "config: !PLACEHOLDER\n"
                    "first: !ref <table[a]>\n"
                    "rate: !ref <config[rate]>\n"
                )
            },
        ),
        Example(
            "A removed key that nothing refers to any more, private keys, and a copy",
            {
                "hparams.yaml": (
                    "__base: 4\n"
                    "width: !ref <__base> ** 2\n"
                    "layer: !new:torch.nn.Linear [!ref <width>, 2]\n"
                    "other: !copy <layer>\n"
                )
            },
        ),
    )

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.evaluation import ProblemKind, evaluate
        from modellint.link.recipes.pairing import including, is_inference, scripts_of

        for whole in including(recipe, project):
            known = bool(scripts_of(whole, project).scripts) or is_inference(whole)
            for problem in evaluate(whole, project).problems:
                concerned = whole is recipe or problem.place.path == recipe.path
                if problem.kind is ProblemKind.UNDEFINED and concerned:
                    yield self._finding(problem, whole, known)

    def _finding(self, problem: Problem, recipe: Recipe, known: bool) -> Finding:
        from modellint.graph.recipe import TagKind

        nested = problem.text != problem.missing
        what = f"`<{problem.text}>` leads nowhere: "
        if problem.available or not nested:
            what += f"there is no key `{problem.missing}`"
        else:
            what += f"what comes before `{problem.missing}` is no mapping"
        near = get_close_matches(problem.missing, problem.available, n=3, cutoff=0.6)
        if near:
            help = "did you mean " + " or ".join(f"`{name}`" for name in near) + "?"
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
            confidence=Confidence.HIGH if known or near else Confidence.MEDIUM,
            evidence=("HyperPyYAML raises `ValueError` for it when the recipe is loaded",),
            related=related,
            help=help,
        )
