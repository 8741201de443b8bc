"""ML402: a tag names a class, function or module that is not there."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.recipe import Dialect
from modellint.rule import Example, Rule, any_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NotLocated, NotMade
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.targets import BadTarget
    from modellint.probes import Probe

_LAYERS = """\
import torch
from torch import nn

from blocks import *


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer = nn.Linear(width, width)


def build(width):
    return Encoder(width)
"""


class UnresolvableClass(Rule):
    """A tag names a class, function or module that is not there

    ## What it does
    Looks up what `!new:`, `!name:`, `!apply:`, `!applyref:` and `!module:` name as HyperPyYAML does, without
    importing anything: in the project, beside the script that loads the recipe, in the packages of the project's
    interpreter, and in what modellint knows of `torch` and `speechbrain`. Follows re-exports, `import *`, lazy tables
    and modules that were moved with a redirection. Reports names that are certainly not there, and those that are not
    what the tag takes: `!new:` takes a class, `!apply:` a function, `!module:` a module.

    In plain configurations the same holds for `_target_:`, which takes classes and functions.

    A package of which nothing is known may have any names. So may a module that makes them while it runs.

    ## Why is this bad
    `ImportError: There is no such class as …` when the recipe is loaded.

    ## How to fix
    Correct the name. For a function use `!apply:` (its result) or `!name:` (the function itself).

    ## References
    - [HyperPyYAML, objects and functions](https://github.com/speechbrain/HyperPyYAML#objects-and-functions)
    """

    code = "ML402"
    name = "unresolvable-class"
    severity = Severity.ERROR
    takes_configs = True
    bad = (
        Example(
            "A misspelt class and a misspelt module",
            {
                "hparams.yaml": (
                    "encoder: !new:torch.nn.Liner [80, 256]  # expect: ML402\n"
                    "head: !new:speechbrain.nnet.linaer.Linear  # expect: ML402\n"
                    "    input_size: 256\n"
                    "    n_neurons: 40\n"
                    "opt_class: !name:torch.optim.AdamV  # expect: ML402\n"
                    "    lr: 0.001\n"
                )
            },
        ),
        Example(
            "Modules that were renamed, in a package that takes in what lies in it, and in folders of the project",
            {
                "hparams.yaml": (
                    "encoder: !new:blocks.layers.Encoder [80]\n"
                    "softmax: !new:blocks.layer.Encoder [80]  # expect: ML402\n"
                    "head: !new:blocks.complex.cnn.Head  # expect: ML402\n"
                    "lm_model: !new:recipes.corpus.LM.inference.Model  # expect: ML402\n"
                    "tokenizer: !new:recipes.corpus.LM.pretrained.Model\n"
                ),
                "blocks/__init__.py": "from . import *\n",
                "blocks/layers.py": "class Encoder:\n    def __init__(self, width):\n        self.width = width\n",
                "blocks/complex/complex_cnn.py": "class Head:\n    pass\n",
                "recipes/corpus/LM/pretrained.py": "class Model:\n    pass\n",
            },
        ),
        Example(
            "A class that a module of the project does not have",
            {
                "hparams.yaml": "encoder: !new:layers.Encodr [80]  # expect: ML402\n",
                "layers.py": _LAYERS.replace("from blocks import *\n", ""),
            },
        ),
        Example(
            "A function where a class is wanted, and a class where a function is wanted",
            {
                "hparams.yaml": (
                    "encoder: !new:layers.build [80]  # expect: ML402\n"
                    "other: !apply:layers.Encoder [80]  # expect: ML402\n"
                    "loss: !new:speechbrain.nnet.losses.nll_loss  # expect: ML402\n"
                    "table: !apply:dict [[]]  # expect: ML402\n"
                ),
                "layers.py": _LAYERS.replace("from blocks import *\n", ""),
            },
        ),
        Example(
            "A module where a class is wanted, and the other way round",
            {
                "hparams.yaml": (
                    "encoder: !new:speechbrain.nnet.linear  # expect: ML402\n"
                    "    n_neurons: 40\n"
                    "losses: !module:torch.nn.Linear  # expect: ML402\n"
                )
            },
        ),
        Example(
            "A misspelt package",
            {"hparams.yaml": "encoder: !new:spechbrain.nnet.linear.Linear  # expect: ML402\n    n_neurons: 8\n"},
        ),
        Example(
            "A class that a module lacks which only looks its names up",
            {
                "hparams.yaml": "encoder: !new:layers.Encodr [80]  # expect: ML402\n",
                "layers.py": (
                    _LAYERS.replace("from blocks import *\n", "")
                    + '\n\ndef known():\n    return [name for name in globals().keys() if name != "nn"]\n'
                ),
            },
        ),
        Example(
            "A function that the package does not have",
            {"hparams.yaml": "seed: 1\nnll: !name:speechbrain.nnet.losses.nll_los  # expect: ML402\nx: !ref <seed>\n"},
        ),
        Example(
            "A plain configuration",
            {
                "train.yaml": """\
model:
  encoder:
    _target_: torch.nn.Liner  # expect: ML402
    in_features: 80
  heads:
    - {_target_: speechbrain.nnet.linaer.Linear, n_neurons: 2}  # expect: ML402
    - _target_: "layers.Encodr"  # expect: ML402
  loss:
    _target_: torch.nn.functional  # expect: ML402
""",
                "layers.py": _LAYERS.replace("from blocks import *\n", ""),
            },
        ),
    )
    good = (
        Example(
            "Classes, functions and methods of a plain configuration, and names that are not known yet",
            {
                "train.yaml": """\
model:
  encoder: {_target_: torch.nn.Linear, in_features: 80, out_features: 2}
  build: {_target_: layers.build, width: 80}
  activation: {_target_: torch.nn.functional.relu, _partial_: true}
  resized: {_target_: torch.Tensor.resize_as_}
  other: {_target_: timm_extras.models.Encodr}
  chosen: {_target_: "layers.${name}"}
  given: {_target_: ???}
  none: {_target_: null}
name: Encoder
""",
                "layers.py": _LAYERS.replace("from blocks import *\n", ""),
            },
        ),
        Example(
            "A compiled module, in a package and in a folder",
            {
                "hparams.yaml": "a: !new:blocks.fast.Encoder\nb: !new:recipes.corpus.fast.Encoder\n",
                "blocks/__init__.py": "from . import *\n",
                "blocks/fast.abi3.so": "",
                "recipes/corpus/fast.abi3.so": "",
            },
        ),
        Example(
            "Classes and functions that are there",
            {
                "hparams.yaml": (
                    "encoder: !new:torch.nn.Linear [80, 256]\n"
                    "head: !new:speechbrain.nnet.linear.Linear\n    input_size: 256\n    n_neurons: 40\n"
                    "opt_class: !name:torch.optim.AdamW\n    lr: 0.001\n"
                    "loss: !name:speechbrain.nnet.losses.nll_loss\n    reduction: sum\n"
                    "act: !apply:torch.nn.functional.relu [1]\n"
                    "losses: !module:speechbrain.nnet.losses\n"
                )
            },
        ),
        Example(
            "A module that has moved, and is redirected",
            {
                "hparams.yaml": (
                    "wav2vec: !name:speechbrain.lobes.models.huggingface_transformers.wav2vec2.Wav2Vec2\n"
                    "asr: !name:speechbrain.pretrained.EncoderASR\n"
                )
            },
        ),
        Example(
            "A package that passes a class on",
            {
                "hparams.yaml": "encoder: !new:model.Encoder [80]\nsame: !new:model.Alias [80]\n",
                "model/__init__.py": "from .layers import Encoder\nfrom .layers import Encoder as Alias\n",
                "model/layers.py": _LAYERS.replace("from blocks import *\n", ""),
            },
        ),
        Example(
            "A name that may come with a star, from what cannot be read",
            {"hparams.yaml": "block: !new:layers.Block [80]\n", "layers.py": _LAYERS},
        ),
        Example(
            "A module that makes names while it runs",
            {
                "hparams.yaml": "block: !new:layers.Block [80]\nother: !new:more.Block [80]\n",
                "layers.py": 'from torch import nn\n\nfor name in ("Block",):\n    globals()[name] = nn.Linear\n',
                "more.py": "import blocks\n\n\ndef __getattr__(name):\n    return getattr(blocks, name)\n",
            },
        ),
        Example(
            "A package that is not known",
            {"hparams.yaml": "model: !new:timm_extras.models.Encodr\n    width: 80\n"},
        ),
        Example(
            "Packages that are called almost like one that is known",
            {
                "hparams.yaml": (
                    "a: !new:speechbrain2.nnet.linear.Linear\n    n_neurons: 8\n"
                    "b: !new:spechbrain.nnet.blocks.Block\n    n_neurons: 8\n"
                )
            },
        ),
        Example(
            "A folder of the project has the name of a package",
            {
                "recipes/codec/hparams/train.yaml": "encoder: !new:codec.encoder.Encoder\n    width: 80\n",
                "recipes/codec/train.py": "print()\n",
            },
        ),
        Example(
            "A class that exists under one condition or the other",
            {
                "hparams.yaml": "encoder: !new:layers.Encoder [80]\n",
                "layers.py": (
                    "try:\n    from fast_layers import Encoder\n"
                    "except ImportError:\n    from torch.nn import Linear\n\n"
                    "    class Encoder(Linear):\n        pass\n"
                ),
            },
        ),
        Example(
            "Class methods and constants, by a name without arguments",
            {
                "hparams.yaml": (
                    "load: !name:layers.Encoder.build\n"
                    "widths: !name:layers.WIDTHS\n"
                    "made: !apply:layers.Encoder.build [80]\n"
                ),
                "layers.py": (
                    "from torch import nn\n\nWIDTHS = (80, 40)\n\n\nclass Encoder(nn.Module):\n"
                    "    @classmethod\n    def build(cls, width):\n        return cls()\n"
                ),
            },
        ),
    )

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.targets import TargetKind, bad_targets

        for bad in bad_targets(recipe, project):
            if bad.target.kind is not TargetKind.MISSING:
                yield self._misfit(bad, recipe)
                continue
            near = get_close_matches(bad.target.missing, sorted(bad.target.available), n=3, cutoff=0.7)
            if near or bad.target.is_sure:
                yield self._missing(bad, recipe, near)

    def probe(self, claim: NotMade | NotLocated, project: Project) -> Probe | None:
        """Load the recipe with HyperPyYAML, and make what the tag names; locate what `_target_` names."""
        from modellint.claims.recipes import NotLocated
        from modellint.probes import file_probe, recipe_probe

        return file_probe(claim) if isinstance(claim, NotLocated) else recipe_probe(claim, project)

    def _missing(self, bad: BadTarget, recipe: Recipe, near: list[str]) -> Finding:
        target = bad.target
        sure = target.is_sure and (near or not target.package)
        is_plain = recipe.dialect is Dialect.OMEGACONF
        evidence = [_LOCATING if is_plain else f"HyperPyYAML raises `ImportError` for `{bad.node.tag.text}`"]
        if target.releases:
            evidence.append(f"looked up in {target.package} " + " and ".join(target.releases))
        return self.finding(
            recipe.place(bad.node.tag.span),
            f"`{target.owner}` has no `{target.missing}`"
            if target.owner
            else f"there is no package `{target.missing}`",
            symbol=bad.name,
            confidence=Confidence.HIGH if sure else Confidence.MEDIUM,
            evidence=evidence,
            help=f"did you mean {any_of(near)}?" if near else "correct the name",
            claim=_claim(bad, recipe),
        )

    def _misfit(self, bad: BadTarget, recipe: Recipe) -> Finding:
        tag, what = bad.node.tag.kind.value, bad.target.kind.value
        place = bad.target.place
        return self.finding(
            recipe.place(bad.node.tag.span),
            f"`{tag}:` takes {_WANTED[tag]}, and `{bad.name}` is {what}",
            symbol=bad.name,
            confidence=Confidence.HIGH,
            evidence=(
                _LOCATING
                if recipe.dialect is Dialect.OMEGACONF
                else f"HyperPyYAML raises `ValueError` for `{bad.node.tag.text}`",
            ),
            related=(Related(place, "defined here"),) if place is not None else (),
            help=_advice(tag, what),
            claim=_claim(bad, recipe),
        )


def _claim(bad: BadTarget, recipe: Recipe) -> NotMade | NotLocated:
    from modellint.claims.recipes import NotLocated, NotMade

    place = recipe.place(bad.node.tag.span)
    if recipe.dialect is Dialect.OMEGACONF:
        return NotLocated(place, bad.name)
    return NotMade(place, bad.item.top, bad.name, "")


_LOCATING = "Hydra raises `InstantiationException` when it is instantiated"
_WANTED = {
    "_target_": "a class or function",
    "!new": "a class",
    "!apply": "a function",
    "!applyref": "a function",
    "!module": "a module",
    "!name": "a class or function",
}


def _advice(tag: str, what: str) -> str:
    if what == "a function":
        return "use `!apply:` for what the function returns, `!name:` for the function itself"
    if what == "a class":
        return "use `!new:` for an object of the class, `!name:` for the class itself"
    return "add the name of a class or function in the module"
