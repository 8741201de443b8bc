"""ML403: arguments in a recipe that the class or function does not take."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.graph.recipe import Dialect
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NotCalled, NotMade
    from modellint.graph.recipe import Recipe
    from modellint.link.classes.signatures import Misfit, Parameters
    from modellint.link.project import Project
    from modellint.link.recipes.targets import BadCall
    from modellint.probes import Probe

_LAYERS = """\
from torch import nn


class Base(nn.Module):
    def __init__(self, width, depth=2):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))


class Encoder(Base):
    pass


class Free(Base):
    def __init__(self, *args, scale, **kwargs):
        super().__init__(*args, **kwargs)
        self.scale = scale


def build(width, *, depth=2):
    return Base(width, depth)
"""


class ConstructorMismatch(Rule):
    """A recipe passes arguments that the class or function does not take, or leaves out some that it needs

    ## What it does
    Compares the arguments under `!new:`, `!apply:` and `!applyref:` with the parameters of what they name: in the
    project's source, in the packages of its interpreter, or in what modellint knows of `torch` and `speechbrain`
    (several releases: an argument is fine if one of them takes it, unless the project pins a release). Follows
    inheritance; `*args` and `**kwargs` take anything. Under `!name:` more arguments may follow when it is called, so
    that only those are reported that it can never take.

    So it is under `_target_:` in plain configurations. There the program may also take arguments out before it builds
    the object: one that is not known is reported with low confidence, unless it looks like one that is not given.

    ## Why is this bad
    `TypeError: Invalid argument to class …` when the recipe is loaded; under `!name:` not before the call, which may be
    hours into a training.

    ## How to fix
    Correct the argument's name, add what is missing, or take out what the class does not know.

    ## References
    - [HyperPyYAML, objects and functions](https://github.com/speechbrain/HyperPyYAML#objects-and-functions)
    """

    code = "ML403"
    name = "constructor-mismatch"
    severity = Severity.ERROR
    takes_configs = True
    bad = (
        Example(
            "A misspelt argument of a layer",
            {
                "hparams.yaml": (
                    "encoder: !new:speechbrain.nnet.linear.Linear\n"
                    "    input_sise: 80  # expect: ML403\n"
                    "    n_neurons: 256\n"
                )
            },
        ),
        Example(
            "An argument that is missing, and one too many",
            {
                "hparams.yaml": (
                    "encoder: !new:torch.nn.Linear  # expect: ML403\n"
                    "    in_features: 80\n"
                    "norm: !new:torch.nn.ReLU [true, false]  # expect: ML403\n"
                    "bare: !new:torch.nn.Linear  # expect: ML403\n"
                )
            },
        ),
        Example(
            "An optimizer that will not take what is prepared for it",
            {
                "hparams.yaml": (
                    "lr: 0.001\n"
                    "opt_class: !name:torch.optim.Adam\n"
                    "    lr: !ref <lr>\n"
                    "    momentum: 0.9  # expect: ML403\n"
                )
            },
        ),
        Example(
            "A class of the project, through its base",
            {
                "hparams.yaml": (
                    "encoder: !new:layers.Encoder\n"
                    "    width: 80\n"
                    "    deph: 3  # expect: ML403\n"
                    "free: !new:layers.Free [80]  # expect: ML403\n"
                    "made: !apply:layers.build [80, 3]  # expect: ML403\n"
                ),
                "layers.py": _LAYERS,
            },
        ),
        Example(
            "A misspelt argument that goes into `**kwargs` while the one that is meant is missing",
            {
                "hparams.yaml": "free: !new:layers.Free\n    width: 80\n    scael: 2  # expect: ML403\n",
                "layers.py": _LAYERS,
            },
        ),
        Example(
            "A loss function",
            {
                "hparams.yaml": (
                    "nll: !name:speechbrain.nnet.losses.nll_loss\n"
                    "    label_smooting: 0.1  # expect: ML403\n"
                    "    reduction: sum\n"
                )
            },
        ),
        Example(
            "An argument that whoever includes the file adds",
            {
                "hparams.yaml": "model: !include:model.yaml\n    layer:\n        bais: false\n",
                "model.yaml": (
                    "layer: !new:torch.nn.Linear  # expect: ML403\n    in_features: 80\n    out_features: 2\n"
                ),
            },
        ),
        Example(
            "A plain configuration",
            {
                "train.yaml": """\
encoder:
  _target_: torch.nn.Linear
  in_featurs: 80  # expect: ML403
  out_features: 40
optimizer: {_target_: torch.optim.AdamW, _partial_: true, lr: 0.1, weigth_decay: 0.1}  # expect: ML403
positional:
  _target_: layers.Base  # expect: ML403
  _args_: [80, 2, 3]
""",
                "layers.py": _LAYERS,
            },
        ),
    )
    good = (
        Example(
            "What a plain configuration says to its framework, what comes later, and what the program takes out",
            {
                "train.yaml": """\
defaults: [data]
_target_: layers.Base
width: ${hidden}
encoder: {_target_: torch.nn.Linear, in_features: 80}
made: {_target_: layers.build, _args_: [80], depth: 2, _convert_: all, _recursive_: false}
optimizer:
  _target_: torch.optim.AdamW
  lr: 0.1
  sched: {name: cosine}
called: {_target_: layers.build, _call_: false, wdth: 2}
""",
                "layers.py": _LAYERS,
            },
        ),
        Example(
            "Arguments that fit",
            {
                "hparams.yaml": (
                    "encoder: !new:speechbrain.nnet.linear.Linear\n    input_size: 80\n    n_neurons: 256\n"
                    "head: !new:torch.nn.Linear [256, 40]\n"
                    "act: !new:torch.nn.ReLU\n"
                    "opt_class: !name:torch.optim.Adam\n    lr: 0.001\n    betas: (0.9, 0.98)\n"
                    "nll: !name:speechbrain.nnet.losses.nll_loss\n    reduction: sum\n"
                )
            },
        ),
        Example(
            "What is still missing under `!name:` is passed later",
            {"hparams.yaml": "layer: !name:torch.nn.Linear\n    out_features: 40\nseed: !ref <layer>\n"},
        ),
        Example(
            "A class that takes anything",
            {
                "hparams.yaml": "free: !new:layers.Free\n    scale: 2\n    width: 80\n    anything: 3\n",
                "layers.py": _LAYERS,
            },
        ),
        Example(
            "Containers take their layers by any name",
            {
                "hparams.yaml": (
                    "model: !new:speechbrain.nnet.containers.Sequential\n"
                    "    input_shape: [null, null, 80]\n"
                    "    first: !new:torch.nn.ReLU\n"
                    "both: !new:torch.nn.ModuleList [[!ref <model>]]\n"
                    "many: !new:torch.nn.Sequential [!ref <model>, !ref <model>]\n"
                )
            },
        ),
        Example(
            "A class whose base, or whose maker, is not known",
            {
                "hparams.yaml": (
                    "one: !new:layers.One\n    width: 80\n"
                    "two: !new:layers.Two\n    width: 80\n"
                    "three: !new:layers.Three\n    width: 80\n"
                ),
                "layers.py": (
                    "import attrs\nfrom somewhere import Base\n\n\nclass One(Base):\n    pass\n\n\n"
                    "@attrs.define\nclass Two:\n    width: int\n\n\n"
                    "class Three:\n    def __new__(cls, **options):\n        return super().__new__(cls)\n"
                ),
            },
        ),
        Example(
            "A decorated function",
            {
                "hparams.yaml": "made: !apply:layers.build\n    width: 80\n    anything: 3\n",
                "layers.py": "from tools import flexible\n\n\n@flexible\ndef build(width):\n    return width\n",
            },
        ),
        Example(
            "Arguments that an anchor merges in",
            {
                "hparams.yaml": (
                    "defaults: &defaults\n    n_neurons: 256\n    bias: !ref <bias>\nbias: true\n"
                    "encoder: !new:speechbrain.nnet.linear.Linear\n    <<: *defaults\n    input_size: 80\n"
                )
            },
        ),
        Example(
            "What is missing in the fragment comes from whoever includes it",
            {
                "hparams.yaml": "model: !include:model.yaml\n    layer:\n        out_features: 2\n",
                "model.yaml": "layer: !new:torch.nn.Linear\n    in_features: 80\n",
            },
        ),
        Example(
            "Positional and other arguments of a function at once",
            {
                "hparams.yaml": (
                    "order: !applyref:layers.build\n    _args: [80]\n    _kwargs: {depth: 3}\n"
                    "dims: !applyref:layers.build [80]\n"
                ),
                "layers.py": _LAYERS,
            },
        ),
    )

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.targets import bad_calls

        for bad in bad_calls(recipe, project):
            for misfit in bad.misfits:
                yield self._finding(bad, misfit)

    def probe(self, claim: NotMade | NotCalled, project: Project) -> Probe | None:
        """Load the recipe with HyperPyYAML, and make what the tag names, with the arguments that it is given."""
        from modellint.claims.recipes import NotCalled
        from modellint.probes import file_probe, recipe_probe

        return file_probe(claim) if isinstance(claim, NotCalled) else recipe_probe(claim, project)

    def _finding(self, bad: BadCall, misfit: Misfit) -> Finding:
        from modellint.graph.recipe import TagKind

        target, tag = bad.target, bad.item.node.tag
        name = tag.target.rpartition(".")[2]
        parameters = target.signatures[0]
        is_plain = tag.kind is TagKind.TARGET
        wanted = [p.name for p in parameters if not (is_plain and p.name in bad.item.fields)]
        near = get_close_matches(misfit.unknown, wanted, n=1, cutoff=0.75 if is_plain else 0.6)
        later = is_plain or tag.kind is TagKind.NAME
        evidence = [
            ("calling it" if later else "loading the recipe") + " raises `TypeError`",
            _described(parameters),
        ]
        if target.releases:
            evidence.append(f"looked up in {target.package} " + " and ".join(target.releases))
        confidence = Confidence.HIGH if near or not target.package or misfit.missing else Confidence.MEDIUM
        claim: NotMade | NotCalled | None = _claim(bad, misfit)
        if is_plain and misfit.unknown and not near:
            confidence, claim = Confidence.LOW, None  # the program may take it out before it builds the object
        return self.finding(
            bad.place(misfit),
            _message(name, misfit, len(bad.item.elements)),
            symbol=misfit.unknown or bad.item.path or name,
            confidence=confidence,
            evidence=evidence,
            related=(Related(target.place, "defined here"),) if target.place is not None else (),
            help=f"did you mean `{near[0]}`?" if near else _advice(misfit, bad.meant(misfit)),
            claim=claim,
        )


def _claim(bad: BadCall, misfit: Misfit) -> NotMade | NotCalled:
    from modellint.claims.recipes import NotCalled, NotMade

    item, tag = bad.item, bad.item.node.tag
    if item.recipe.dialect is Dialect.OMEGACONF:
        return NotCalled(bad.place(misfit), tag.target, len(item.elements), tuple(map(str, item.fields)))
    first = next(one for one in bad.misfits if bad.place(one) == bad.place(misfit))  # whose error hides the others
    says = first.unknown or first.doubled or (*first.missing, "")[0]
    return NotMade(item.recipe.place(tag.span), item.top, tag.target, says)


def _message(name: str, misfit: Misfit, given: int) -> str:
    if misfit.unknown:
        return f"`{name}` takes no argument `{misfit.unknown}`"
    if misfit.missing:
        return f"`{name}` needs " + " and ".join(f"`{missing}`" for missing in misfit.missing)
    if misfit.doubled:
        return f"`{name}` is given `{misfit.doubled}` by position, and again by name"
    arguments = "argument" if misfit.most == 1 else "arguments"
    return f"`{name}` takes at most {misfit.most} {arguments} by position, not {given}"


def _described(parameters: Parameters) -> str:
    stars = {"var-positional": "*", "var-keyword": "**"}
    names = [f"`{stars.get(p.kind, '')}{p.name}`" for p in parameters]
    return "it takes " + (", ".join(names) if names else "no arguments")


def _advice(misfit: Misfit, meant: str | None) -> str:
    if misfit.unknown:
        return f"remove `{misfit.unknown}`"
    if misfit.doubled:
        return f"remove one `{misfit.doubled}`"
    if meant is not None:
        return f"is `{meant}` meant for what is missing?"
    return "add what is missing" if misfit.missing else "pass the arguments by name"
