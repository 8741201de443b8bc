"""ML401: a reference to a key that the recipe does not have."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Example, Rule, any_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NotLoaded, Unresolved
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.evaluation import Problem
    from modellint.link.recipes.health import FoundProblem
    from modellint.probes import Probe


class UndefinedReference(Rule):
    """A reference of a recipe leads nowhere

    ## What it does
    Resolves every `<key>` and `<key[inner]>` of a recipe as HyperPyYAML does: through chains of references, merges
    (`<<`), anchors and included files with their overrides. Reports those that lead nowhere. A recipe that another
    one includes may use keys that only the other one defines; it is checked from there. Also reported: a reference to
    a key that is itself a reference and stands further down (HyperPyYAML resolves from top to bottom, so it is left
    as it is), an included file that is not there, and a division by zero.

    In plain configurations with `_target_:` it resolves `${a.b}` and `${.b}` as OmegaConf does. These are seldom the
    whole: what other files, the command line or a script may add is not missed. Reported are keys that a configuration
    without `defaults:` lacks in one of its own mappings, where others of its interpolations lead somewhere.

    ## Why is this bad
    Loading the recipe raises `ValueError: The reference "key" is not valid`, before anything else runs. In a recipe
    that is rarely run, such as one of many variants, a renamed key stays unnoticed for long.

    ## How to fix
    Correct the name, or define the key. Lists cannot be indexed: `<sizes[0]>` is not valid even if `sizes` is a list.
    Where a reference stands for a later one, refer to what that one refers to.

    ## References
    - [HyperPyYAML, `!ref`](https://github.com/speechbrain/HyperPyYAML#ref)
    """

    code = "ML401"
    name = "undefined-reference"
    severity = Severity.ERROR
    takes_configs = True
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
        Example(
            "A reference to a reference that stands further down, and a file that is not there",
            {
                "hparams.yaml": (
                    "width: !ref <hidden>  # expect: ML401\n"
                    "hidden: !ref <n_mels>\n"
                    "n_mels: 80\n"
                    "models: !include:models.yaml  # expect: ML401\n"
                    "stride: 0\n"
                    "frames: !ref 100 // <stride>  # expect: ML401\n"
                )
            },
        ),
        Example(
            "A plain configuration whose interpolations lead to keys that are called otherwise",
            {
                "conf/train.yaml": """\
name: asr
model:
  sample_rate: 16000
  hidden: 256
  preprocessor:
    _target_: features.Spectrogram
    sample_rate: ${model.sample_rate}
    window: ${.sample_rat}  # expect: ML401
  encoder:
    _target_: torch.nn.Linear
    in_features: 80
    out_features: ${model.hiden}  # expect: ML401
  decoder:
    _target_: torch.nn.Linear
    in_features: ${model.hiden}
    out_features: ${model.encoder.units}  # expect: ML401
"""
            },
        ),
    )
    good = (
        Example(
            "Interpolations of a plain configuration",
            {
                "conf/train.yaml": """\
model:
  sample_rate: 16000
  defaults: {filters: 64, size: 3}
  tokens: ???
  lm: null
  which: encoder
  preprocessor:
    _target_: features.Spectrogram
    sample_rate: ${model.sample_rate}
    channels: ${..defaults.filters}
    folder: ${oc.env:DATA}/${now:%Y}/${.sample_rate}
    pattern: \\${not.there}
    job: ${hydra.job.name}
    inner: ${model.${model.which}.filters}
    text: ${model.tokens.path}
    weights: ${model.lm.weights}
  encoder:
    filters: [1, 2]
    first: ${.filters.0}
    size: ${model.defaults.size}
"""
            },
        ),
        Example(
            "Configurations that are composed with others",
            {
                "conf/config.yaml": (
                    "defaults:\n  - model: small\n  - _self_\nname: a\nx: ${name}\ny: ${net.width}\n"
                    "net:\n  _target_: torch.nn.Identity\n  other: ${model.height}\n"
                ),
                "conf/model/small.yaml": (
                    "net:\n  _target_: torch.nn.Linear\n  in_features: ${data.width}\n  out_features: ${..depth}\n"
                    "size: ${net.in_features}\nother: ${net.widths}\n"
                ),
                "conf/experiment/one.yaml": (
                    "# @package _global_\nmodel:\n  net:\n    _target_: torch.nn.Linear\n  lr: 1\n"
                    "lr: ${model.lr}\nwidth: ${model.width}\n"
                ),
            },
        ),
        Example(
            "A key that a script stores, and configurations that a script merges",
            {
                "run.py": "cfg.model.vocab_size = len(tokens)\n",
                "train.yaml": (
                    "model:\n  hidden: 2\n  table:\n    _target_: torch.nn.Embedding\n"
                    "    num_embeddings: ${model.vocab_size}\n    embedding_dim: ${model.hidden}\n"
                ),
                "merged/run.py": "cfg = OmegaConf.merge(OmegaConf.load(first), OmegaConf.load(second))\n",
                "merged/train.yaml": (
                    "model:\n  hidden: 2\n  table:\n    _target_: torch.nn.Embedding\n"
                    "    num_embeddings: ${model.tokens}\n    embedding_dim: ${model.hidden}\n"
                ),
            },
        ),
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
            "A later reference inside of a longer string, and a later object",
            {
                "hparams.yaml": (
                    "folder: !ref results/<name>\n"
                    "name: !ref <kind>_<seed>\n"
                    "kind: cnn\n"
                    "seed: 3\n"
                    "modules: {encoder: !ref <encoder>}\n"
                    "encoder: !new:torch.nn.Linear [!ref <seed>, 2]\n"
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
        from modellint.link.recipes.evaluation import ProblemKind
        from modellint.link.recipes.health import problems

        kinds = [kind for kind in ProblemKind if kind is ProblemKind.UNDEFINED or kind.name in _DESCRIPTIONS]
        for found in problems(recipe, project, kinds):
            describe = _DESCRIPTIONS.get(found.problem.kind.name)
            yield self._undefined(found) if describe is None else self._unresolved(found, *describe(found.problem))

    def probe(self, claim: NotLoaded | Unresolved, project: Project) -> Probe | None:
        """Load the recipe with HyperPyYAML, as it is and without the reference; resolve what OmegaConf loads."""
        from modellint.claims.recipes import Unresolved
        from modellint.probes import file_probe, recipe_probe

        return file_probe(claim) if isinstance(claim, Unresolved) else recipe_probe(claim, project)

    def _undefined(self, found: FoundProblem) -> Finding:
        from modellint.claims.recipes import NotLoaded, Unresolved
        from modellint.graph.recipe import Dialect, TagKind

        problem, recipe = found.problem, found.recipe
        is_plain = recipe.dialect is Dialect.OMEGACONF
        nested = problem.text != problem.missing
        written = f"${{{problem.text}}}" if is_plain else problem.reference
        what = f"`{written}` leads nowhere: "
        if problem.available or not nested:
            what += f"there is no key `{problem.missing}`"
        else:
            what += f"what comes before `{problem.missing}` is no mapping"
        near = get_close_matches(problem.missing, problem.available, n=3, cutoff=0.6)
        if near:
            help = f"did you mean {any_of(near)}?"
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
            confidence=Confidence.HIGH if found.is_loaded or near else Confidence.MEDIUM,
            evidence=_interpolation(problem) if is_plain else (_REFUSED,),
            related=related,
            help=help,
            claim=Unresolved(problem.place, written) if is_plain else NotLoaded(problem.place, "0"),
        )

    def _unresolved(self, found: FoundProblem, what: str, evidence: str, help: str) -> Finding:
        from modellint.claims.recipes import NotLoaded

        problem = found.problem
        return self.finding(
            problem.place,
            what,
            symbol=problem.text or problem.missing,
            confidence=Confidence.HIGH,
            evidence=(evidence,),
            help=help,
            claim=NotLoaded(problem.place, "0"),
        )


_REFUSED = "HyperPyYAML raises `ValueError` for it when the recipe is loaded"


def _interpolation(problem: Problem) -> Iterator[str]:
    yield "OmegaConf raises `InterpolationKeyError` when it is read"
    if problem.times > 1:
        yield f"{problem.times} interpolations ask for `{problem.missing}` there"


def _forward(problem: Problem) -> tuple[str, str, str]:
    later = f"`{problem.missing}`" if problem.missing else "another reference"
    return (
        f"`<{problem.text}>` stands for {later}, which is resolved only further down",
        "HyperPyYAML resolves from top to bottom and raises `ConstructorError` for what is left",
        f"refer to {later} directly, or move this below the definition of `{problem.text}`",
    )


def _include(problem: Problem) -> tuple[str, str, str]:
    reason = "".join(problem.available)
    return (
        f"`{problem.missing}` cannot be included: {reason}",
        "HyperPyYAML opens it when the recipe is loaded",
        "correct the path, which is relative to this file" if "no such" in reason else "repair that file",
    )


def _division(problem: Problem) -> tuple[str, str, str]:
    return (
        f"`{problem.text}` divides by zero",
        "HyperPyYAML raises `ZeroDivisionError` when the recipe is loaded",
        "correct the value that is divided by",
    )


def _override(problem: Problem) -> tuple[str, str, str]:
    return (
        f"`{problem.text}` is a mapping here, and none in `{problem.missing}`",
        "HyperPyYAML merges overrides key by key and raises `ValueError` where there are none",
        f"give `{problem.text}` one value, or make it a mapping there",
    )


_DESCRIPTIONS = {"FORWARD": _forward, "INCLUDE": _include, "ARITHMETIC": _division, "OVERRIDE": _override}
