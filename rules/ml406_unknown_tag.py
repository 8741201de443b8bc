"""ML406: a tag that HyperPyYAML cannot construct."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NotLoaded
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.evaluation import Problem
    from modellint.link.recipes.health import FoundTag
    from modellint.probes import Probe


class UnknownTag(Rule):
    """A recipe uses a tag that HyperPyYAML does not know, or knows only for something else

    ## What it does
    Reports tags that neither HyperPyYAML nor YAML defines and that the script which loads the recipe does not
    register (`add_constructor`, `yaml_tag`): misspelt ones, `!new` and its like without the colon that belongs to
    them, and `!<PLACEHOLDER>`, which YAML reads as the tag `PLACEHOLDER`. Also `!ref`, `!copy` and `!tuple` in front
    of a mapping or list.

    ## Why is this bad
    `ConstructorError: could not determine a constructor for the tag`: the recipe cannot be loaded.

    ## How to fix
    Correct the tag. The tags are `!new:`, `!name:`, `!apply:`, `!applyref:`, `!module:` and `!include:`, which a name
    follows, and `!ref`, `!copy`, `!tuple` and `!PLACEHOLDER`.

    ## References
    - [HyperPyYAML, the tags](https://github.com/speechbrain/HyperPyYAML)
    """

    code = "ML406"
    name = "unknown-tag"
    severity = Severity.ERROR
    bad = (
        Example(
            "A misspelt tag",
            {"hparams.yaml": ("lr: 0.001\nopt_class: !nme:torch.optim.Adam  # expect: ML406\n    lr: !ref <lr>\n")},
        ),
        Example(
            "A placeholder in angle brackets",
            {"hparams.yaml": "data_folder: !<PLACEHOLDER>  # expect: ML406\noutput: !ref <data_folder>/out\n"},
        ),
        Example(
            "A space instead of the colon",
            {"hparams.yaml": "n_mels: 80\nlayer: !new torch.nn.ReLU  # expect: ML406\nwidth: !ref <n_mels>\n"},
        ),
        Example(
            "A reference to several things at once",
            {"hparams.yaml": "a: 1\nb: 2\nc: !ref [<a>, <b>]  # expect: ML406\nd: !ref <a>\n"},
        ),
        Example(
            "In capitals, inside of a list",
            {"hparams.yaml": "a: 1\nlayers:\n    - !ref <a>\n    - !Ref <a>  # expect: ML406\n"},
        ),
        Example(
            "A type that YAML does not have",
            {"hparams.yaml": "a: 1\nrate: !!double 0.1  # expect: ML406\nb: !ref <a>\n"},
        ),
    )
    good = (
        Example(
            "Every tag that there is",
            {
                "hparams.yaml": (
                    "a: 1\n"
                    "b: !ref <a>\n"
                    "c: !copy <a>\n"
                    "d: !new:torch.nn.ReLU\n"
                    "e: !name:torch.nn.ReLU\n"
                    "f: !module:math\n"
                    "g: !apply:sorted [[3, 1]]\n"
                    "h: !applyref:sorted [[3, 1]]\n"
                    "i: !tuple (1, 2)\n"
                    "j: !PLACEHOLDER\n"
                    "k: !include:more.yaml\n"
                ),
                "more.yaml": "x: 1\n",
            },
        ),
        Example(
            "YAML's own types, and Python's",
            {
                "hparams.yaml": (
                    "a: !!str 12\nb: !!float 3\nc: !!set {x, y}\nd: !!python/tuple [1, 2]\n"
                    "e: !!python/name:collections.Counter\nf: !ref <a>\n"
                )
            },
        ),
        Example(
            "A tag that the script gives a meaning",
            {
                "hparams.yaml": "n_mels: 80\nseed: !env SEED\nlayer: !new:torch.nn.Linear [!ref <n_mels>, 2]\n",
                "train.py": (
                    "import os\n\n"
                    "import ruamel.yaml\n"
                    "from hyperpyyaml import load_hyperpyyaml\n\n"
                    'ruamel.yaml.Loader.add_constructor("!env", lambda loader, node: os.environ[node.value])\n'
                    "hparams = load_hyperpyyaml(open('hparams.yaml'))\n"
                    'print(hparams["n_mels"], hparams["layer"], hparams["seed"])\n'
                ),
            },
        ),
        Example(
            "Tags that the script registers in a loop",
            {
                "hparams.yaml": "n_mels: 80\nseed: !env SEED\nlayer: !new:torch.nn.Linear [!ref <n_mels>, 2]\n",
                "train.py": (
                    "import ruamel.yaml\n"
                    "from hyperpyyaml import load_hyperpyyaml\n"
                    "from tags import TAGS\n\n"
                    "for tag, constructor in TAGS.items():\n"
                    "    ruamel.yaml.Loader.add_constructor(tag, constructor)\n"
                    "hparams = load_hyperpyyaml(open('hparams.yaml'))\n"
                    'print(hparams["n_mels"], hparams["layer"], hparams["seed"])\n'
                ),
            },
        ),
        Example(
            "A file of another tool",
            {"docker.yaml": "services:\n    web: !reset null\n    db: !override [a]\n"},
        ),
        Example(
            "An exclamation mark in text, and the mark for plain text",
            {"hparams.yaml": 'a: "!nme:x"\nb: hello !new\nc: ! plain\nd: !ref <a>\n'},
        ),
        Example(
            "A key that whoever includes the file replaces",
            {
                "hparams.yaml": "model: !include:model.yaml\n    width: 64\n",
                "model.yaml": "width: !fill_in\nlayer: !new:torch.nn.Linear [80, !ref <width>]\n",
            },
        ),
        Example(
            "A tag in a comment",
            {"hparams.yaml": "# opt: !nme:torch.optim.Adam\nseed: 1  # or !<PLACEHOLDER>\nother: !ref <seed>\n"},
        ),
    )

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.evaluation import ProblemKind
        from modellint.link.recipes.health import problems, unknown_tags

        for tag in unknown_tags(recipe, project):
            yield self._unknown(tag, recipe)
        for found in problems(recipe, project, (ProblemKind.SHAPE,)):
            yield self._misplaced(found.problem)

    def probe(self, claim: NotLoaded, project: Project) -> Probe | None:
        """Load the recipe with HyperPyYAML, as it is and without the tag."""
        from modellint.probes import recipe_probe

        return recipe_probe(claim, project)

    def _unknown(self, found: FoundTag, recipe: Recipe) -> Finding:
        from modellint.claims.recipes import NotLoaded

        text = found.node.tag.text
        place = recipe.place(found.node.tag.span)
        near = _nearest(text)
        return self.finding(
            place,
            f"HyperPyYAML knows no tag `{text}`",
            symbol=text,
            confidence=Confidence.HIGH if found.is_sure or near else Confidence.MEDIUM,
            evidence=(_REFUSED,),
            help=f"did you mean `{near}`?" if near else "correct the tag, or register a constructor for it",
            claim=NotLoaded(place, ""),
        )

    def _misplaced(self, problem: Problem) -> Finding:
        from modellint.claims.recipes import NotLoaded

        return self.finding(
            problem.place,
            f"`{problem.missing}` stands in front of a mapping or list, and takes text only",
            symbol=problem.missing,
            confidence=Confidence.HIGH,
            evidence=("HyperPyYAML raises an error for it when the recipe is loaded",),
            help=f"tag the elements one by one with `{problem.missing}`",
            claim=NotLoaded(problem.place, "0"),
        )


_REFUSED = (
    "HyperPyYAML raises `ConstructorError: could not determine a constructor for the tag` when the recipe is loaded"
)
#: What PyYAML's safe loader makes of `!!` tags.
_YAML_TYPES = tuple(
    f"!!{name}"
    for name in ("binary", "bool", "float", "int", "map", "null", "omap", "pairs", "seq", "set", "str", "timestamp")
)


def _nearest(text: str) -> str | None:
    """The tag that was probably meant."""
    from modellint.graph.recipe import TagKind
    from modellint.link.recipes.health import PREFIXES

    if text.startswith("!!"):
        types = get_close_matches(text, _YAML_TYPES, n=1, cutoff=0.7)
        return types[0] if types else None
    tags = {kind.value.lower(): kind.value for kind in TagKind if kind.value.startswith("!")}
    name, colon, target = text.strip("!<>").partition(":")
    near = get_close_matches(f"!{name.lower()}", tags, n=1, cutoff=0.7)
    if not near:
        return None
    tag = tags[near[0]]
    return f"{tag}:{target if colon else '…'}" if tag in PREFIXES else tag
