"""ML404: a key that a mapping of the recipe has twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NotLoaded
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.health import RepeatedKey
    from modellint.probes import Probe


class DuplicateKey(Rule):
    """A mapping of a recipe has the same key twice

    ## What it does
    Compares the keys of each mapping as Python compares them: `1`, `0x1` and `true` are one key, `1` and `"1"` are
    two. A key that replaces one of those that `<<` merges in is fine; two `<<` in one mapping are not.

    ## Why is this bad
    HyperPyYAML does not load the recipe: it raises `DuplicateKeyError`, or, where the mapping belongs to a `!new:` or
    `!name:`, the misleading `ConstructorError: could not determine a constructor for the tag`. Other YAML readers
    silently take the last value, so tools that only read the file disagree with what was meant.

    ## How to fix
    Remove one of the two. Merge several mappings with one key: `<<: [*defaults, *more]`.

    ## References
    - [YAML 1.2, mappings](https://yaml.org/spec/1.2.2/#3211-nodes): keys are unique
    """

    code = "ML404"
    name = "duplicate-key"
    severity = Severity.ERROR
    bad = (
        Example(
            "A key that was added a second time",
            {
                "hparams.yaml": (
                    "n_mels: 80\n"
                    "batch_size: 8\n"
                    "lr: 0.001\n"
                    "encoder: !new:torch.nn.Linear [!ref <n_mels>, 256]\n"
                    "batch_size: 16  # expect: ML404\n"
                )
            },
        ),
        Example(
            "An argument that is given twice",
            {
                "hparams.yaml": (
                    "encoder: !new:torch.nn.Linear\n"
                    "    in_features: 80\n"
                    "    out_features: 256\n"
                    "    in_features: 40  # expect: ML404\n"
                )
            },
        ),
        Example(
            "Among the modules, in one line and quoted",
            {
                "hparams.yaml": (
                    "encoder: !new:torch.nn.Linear [80, 256]\n"
                    'modules: {encoder: !ref <encoder>, "encoder": !ref <encoder>}  # expect: ML404\n'
                )
            },
        ),
        Example(
            "Two merges into one mapping, and one number written in two ways",
            {
                "hparams.yaml": (
                    "base: &base {seed: 1}\n"
                    "more: &more {width: 80}\nlayer: !new:torch.nn.Linear [80, 2]\n"
                    "train:\n"
                    "    <<: *base\n"
                    "    <<: *more  # expect: ML404\n"
                    "names:\n"
                    "    1: speech\n"
                    "    0x1: noise  # expect: ML404\n"
                )
            },
        ),
    )
    good = (
        Example(
            "A merged key that is overridden",
            {
                "hparams.yaml": (
                    "base: &base\n    lr: 0.1\n    seed: !ref <seed>\nseed: 3\ntrain:\n    <<: *base\n    lr: 0.01\n"
                )
            },
        ),
        Example(
            "Several mappings merged at once, with a key in common",
            {
                "hparams.yaml": (
                    "base: &base {lr: 0.1, seed: !ref <seed>}\n"
                    "more: &more {lr: 0.2}\n"
                    "seed: 3\n"
                    "train:\n    <<: [*base, *more]\n"
                )
            },
        ),
        Example(
            "The same argument of two objects",
            {
                "hparams.yaml": (
                    "first: !new:torch.nn.Linear\n    in_features: 80\n    out_features: 256\n"
                    "second: !new:torch.nn.Linear\n    in_features: 256\n    out_features: 10\n"
                )
            },
        ),
        Example(
            "A number and its text are two keys",
            {"hparams.yaml": 'names:\n    1: speech\n    "1": one\n    yes: 2\n    y: 3\nseed: !ref <names[yes]>\n'},
        ),
        Example(
            "The same key on different levels",
            {
                "hparams.yaml": (
                    "seed: 1\nencoder:\n    seed: 2\n    layer: !new:torch.nn.Linear [!ref <seed>, 2]\n"
                    "    inner:\n        seed: 3\n"
                )
            },
        ),
        Example(
            "A key that differs in case",
            {"hparams.yaml": "n_mels: 80\nN_mels: 40\nlayer: !new:torch.nn.Linear [!ref <n_mels>, !ref <N_mels>]\n"},
        ),
        Example(
            "A mapping that an alias repeats",
            {
                "hparams.yaml": (
                    "first: &options\n    rate: 16000\nsecond: *options\nlayer: !new:torch.nn.Linear [1, 2]\n"
                )
            },
        ),
        Example(
            "A key that replaces one of an included file",
            {
                "hparams.yaml": "models: !include:models.yaml\n    width: 256\n",
                "models.yaml": "width: 128\nlayer: !new:torch.nn.Linear [80, !ref <width>]\n",
            },
        ),
    )

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.health import repeated_keys

        for repeated in repeated_keys(recipe, project):
            yield self._finding(repeated)

    def probe(self, claim: NotLoaded, project: Project) -> Probe | None:
        """Load the recipe with HyperPyYAML, as it is and with another name for the second key."""
        from modellint.probes import recipe_probe

        return recipe_probe(claim, project)

    def _finding(self, repeated: RepeatedKey) -> Finding:
        from modellint.claims.recipes import NotLoaded
        from modellint.graph.recipe import MERGE

        place = repeated.recipe.place(repeated.second.key.span)
        name = repeated.second.key.text
        tag = repeated.owner.tag.text
        error = f"`ConstructorError: could not determine a constructor for the tag '{tag}'`" if tag else None
        same = repeated.first.value.text and repeated.first.value.text == repeated.second.value.text
        help = "remove one of the two" + (", which say the same" if same else "")
        return self.finding(
            place,
            f"the key `{name}` stands twice in one mapping",
            symbol=name,
            confidence=Confidence.HIGH,
            evidence=(f"HyperPyYAML raises {error or '`DuplicateKeyError`'} when the recipe is loaded",),
            related=(Related(repeated.recipe.place(repeated.first.key.span), "first defined here"),),
            help="merge both with one key, `<<: [*one, *other]`" if name == MERGE else help,
            claim=NotLoaded(place, f"modellint_{place.span.line}_{place.span.column}"),
        )
