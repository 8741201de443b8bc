"""ML405: a script reads a hyperparameter that its recipe does not have."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NoKey
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.hyperparameters import LackingRecipe, MissingKey
    from modellint.link.recipes.interfaces import Unmet
    from modellint.probes import Probe
    from modellint.source import Place

_RECIPE = """\
n_mels: 80
blank_index: 0
use_lm: false
number_of_epochs: 10
output_folder: results
encoder: !new:speechbrain.nnet.linear.Linear
    input_size: !ref <n_mels>
    n_neurons: 512
epoch_counter: !new:speechbrain.utils.epoch_loop.EpochCounter
    limit: !ref <number_of_epochs>
modules:
    encoder: !ref <encoder>
"""

_SCRIPT = """\
import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
{body}

if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["n_mels"], hparams["number_of_epochs"])
    model = Model(modules=hparams["modules"], hparams=hparams, run_opts=run_opts)
    model.fit(hparams["epoch_counter"], [], [])
    model.evaluate([])
"""

_BODY = """
def compute_forward(self, batch, stage):
    return self.modules.encoder(batch)

def compute_objectives(self, predictions, batch, stage):
    return predictions.sum()
"""


def _project(body: str = _BODY, recipe: str = _RECIPE, **replaced: str) -> dict[str, str]:
    lines = ("    " + line if line else line for line in body.strip("\n").split("\n"))
    script = _SCRIPT.replace("{body}", "\n".join(lines) + "\n")
    for old, new in replaced.items():
        marks = {"printing": "    print(", "loading": "        hparams = load_hyperpyyaml(fin, overrides)\n"}
        script = script.replace(marks[old], new)
    return {"hparams.yaml": recipe, "train.py": script}


_PUBLISHED = """\
n_mels: 80{mark}
encoder: !new:speechbrain.nnet.linear.Linear
    input_size: !ref <n_mels>
    n_neurons: 512
decoder: !new:speechbrain.nnet.linear.Linear
    input_size: 512
    n_neurons: 40
modules:
    encoder: !ref <encoder>
    decoder: !ref <decoder>
pretrainer: !new:speechbrain.utils.parameter_transfer.Pretrainer
    loadables:
        encoder: !ref <encoder>
"""
_CUSTOM = """\
from speechbrain.inference.interfaces import Pretrained


class CustomInterface(Pretrained):
    def encode(self, wavs):
        if hasattr(self.hparams, "normalize"):
            wavs = self.hparams.normalize(wavs)
        x = self.mods.encoder(wavs * self.hparams.n_mels)
        return self.hparams.softmax(x){mark}
"""
_README = """\
# A model

    model = foreign_class(source="me/model", pymodule_file="custom.py", classname="CustomInterface")
    print(model.encode(wavs))
"""


class UndefinedHyperparameter(Rule):
    """A script reads a hyperparameter that its recipe does not have

    ## What it does
    Follows the script that loads a recipe: its main part, the functions that get the hyperparameters, and the Brain
    that it builds, under the conditions that the recipe decides (`hasattr`, `in`, `get` with a default, flags).
    Reports `hparams["x"]` and `self.hparams.x` that are certainly reached where a recipe that runs this script has no
    key `x` and nothing stores one. Also reported: an override that the script states for a key which is not there.

    A published model has no script. There the interface that loads it counts, which `config.json` or the README names:
    the keys that it declares to need, and what a class in the model's own folder reads.

    Overrides from the command line cannot add keys, unless the script says `overrides_must_match=False`.

    ## Why is this bad
    `KeyError` or `AttributeError`: at once, or hours later, when the epoch ends or the test begins.

    ## How to fix
    Add the key to the recipe, or correct the name.

    ## References
    - [SpeechBrain, hyperparameter files](https://speechbrain.readthedocs.io/en/latest/tutorials/basics/hyperpyyaml.html)
    """

    code = "ML405"
    name = "undefined-hyperparameter"
    severity = Severity.ERROR
    triggers = ("import",)
    bad = (
        Example(
            "In the Brain, and in the main part",
            _project(
                """
def compute_forward(self, batch, stage):
    return self.modules.encoder(batch)

def compute_objectives(self, predictions, batch, stage):
    return self.hparams.ctc_cost(predictions)  # expect: ML405
""",
                printing='    print(hparams["output_foldr"])  # expect: ML405\n    print(',
            ),
        ),
        Example(
            "In a function that gets the hyperparameters",
            _project(
                printing="    prepare(hparams)\n    print(",
            )
            | {
                "train.py": _SCRIPT.replace("{body}", "    pass\n")
                .replace("    print(", "    prepare(hparams)\n    print(")
                .replace(
                    "class Model",
                    'def prepare(hparams):\n    return hparams["data_folder"]  # expect: ML405\n\n\nclass Model',
                )
            },
        ),
        Example(
            "Where the step is made, with mixed precision and without",
            _project(
                _BODY
                + """
def fit_batch(self, batch):
    loss = self.compute_objectives(self.compute_forward(batch, sb.Stage.TRAIN), batch, sb.Stage.TRAIN)
    if self.auto_mix_prec:
        self.scaler.scale(loss).backward()
        if self.check_gradients(loss):
            if self.optimizer_step >= self.hparams.warmup_steps:  # expect: ML405
                self.scaler.step(self.optimizer)
    else:
        loss.backward()
        if self.check_gradients(loss):
            if self.optimizer_step >= self.hparams.warmup_steps:  # expect: ML405
                self.optimizer.step()
    return loss.detach()
"""
            ),
        ),
        Example(
            "Only when the test begins",
            _project(
                """
def compute_forward(self, batch, stage):
    x = self.modules.encoder(batch)
    if stage == sb.Stage.TEST:
        x = self.hparams.test_search(x)  # expect: ML405
    return x

def compute_objectives(self, predictions, batch, stage):
    return predictions.sum()
"""
            ),
        ),
        Example(
            "Beside a mapping of the script's own",
            _project(
                """
def compute_forward(self, batch, stage):
    return self.modules.encoder(batch)

def compute_objectives(self, predictions, batch, stage):
    return self.hparams.ctc_cost(predictions)  # expect: ML405
""",
                printing='    noise_hparams = {"n_mels": hparams["n_mels"]}\n    print(noise_hparams)\n    print(',
            ),
        ),
        Example(
            "In a condition",
            _project(
                """
def compute_forward(self, batch, stage):
    x = self.modules.encoder(batch)
    if self.hparams.use_augmentation:  # expect: ML405
        x = x.flip(0)
    return x

def compute_objectives(self, predictions, batch, stage):
    return predictions.sum()
"""
            ),
        ),
        Example(
            "An override of a key that is not there",
            _project(
                loading=(
                    "        hparams = load_hyperpyyaml(\n"
                    "            fin,\n"
                    '            overrides={"n_mel": 40},  # expect: ML405\n'
                    "        )\n"
                )
            ),
        ),
        Example(
            "A published model without a key that its interface needs",
            {
                "hyperparams.yaml": _PUBLISHED.replace("{mark}", "  # expect: ML405"),
                "config.json": '{"speechbrain_interface": "EncoderDecoderASR"}\n',
            },
        ),
        Example(
            "A published model with an interface of its own",
            {
                "hyperparams.yaml": _PUBLISHED.replace("{mark}", ""),
                "custom.py": _CUSTOM.replace("{mark}", "  # expect: ML405"),
                "README.md": _README,
            },
        ),
        Example(
            "In a script whose recipe is loaded by a function of another file",
            {
                "hparams.yaml": _RECIPE,
                "reading.py": """\
from hyperpyyaml import load_hyperpyyaml


def read(path, overrides):
    with open(path) as fin:
        return load_hyperpyyaml(fin, overrides)
""",
                "train.py": """\
import sys

import speechbrain as sb
from reading import read


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch) * self.hparams.scale  # expect: ML405

    def compute_objectives(self, predictions, batch, stage):
        return predictions.sum()


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    found = read(hparams_file, overrides)
    print(found["n_mels"], found["number_of_epochs"])
    model = Model(modules=found["modules"], hparams=found, run_opts=run_opts)
    model.fit(found["epoch_counter"], [], [])
    model.evaluate([])
""",
            },
        ),
    )
    good = (
        Example("Every key is there", _project()),
        Example(
            "Where no step is ever made, by its own word",
            _project(
                _BODY
                + """
def check_gradients(self, loss):
    return self.hparams.use_lm

def fit_batch(self, batch):
    loss = self.compute_objectives(self.compute_forward(batch, sb.Stage.TRAIN), batch, sb.Stage.TRAIN)
    if self.check_gradients(loss):
        self.optimizer.step(self.hparams.warmup_steps)
    return loss.detach()
"""
            ),
        ),
        Example(
            "Asked for first",
            _project(
                """
def compute_forward(self, batch, stage):
    x = self.modules.encoder(batch)
    if hasattr(self.hparams, "augmentation"):
        x = self.hparams.augmentation(x)
    if hasattr(self.hparams, "use_gan") and self.hparams.use_gan:
        x = self.hparams.generator(x)
    return x * getattr(self.hparams, "scale", 1)

def compute_objectives(self, predictions, batch, stage):
    return predictions.sum() if stage == sb.Stage.TRAIN else 0
""",
                printing=(
                    '    if "noise" in hparams:\n        print(hparams["noise"])\n'
                    '    print(hparams.get("seed"))\n    print('
                ),
            ),
        ),
        Example(
            "Stored by the script",
            _project(
                """
def on_stage_start(self, stage, epoch):
    self.hparams.best = 0

def compute_forward(self, batch, stage):
    return self.modules.encoder(batch)

def compute_objectives(self, predictions, batch, stage):
    return predictions.sum() + self.hparams.best + self.hparams.tokenizer.size
""",
                printing='    hparams["tokenizer"] = make()\n    print(hparams["tokenizer"])\n    print(',
            ),
        ),
        Example(
            "Stored in a way that may add any key",
            _project(
                """
def compute_forward(self, batch, stage):
    return self.hparams.anything(self.modules.encoder(batch))
""",
                printing="    hparams.update(read_more())\n    print(",
            ),
        ),
        Example(
            "Overrides that may add keys",
            _project(
                """
def compute_forward(self, batch, stage):
    return self.modules.encoder(batch) * self.hparams.scale
""",
                loading="        hparams = load_hyperpyyaml(fin, overrides, overrides_must_match=False)\n",
            ),
        ),
        Example(
            "Switched off by the recipe",
            _project(
                """
def compute_forward(self, batch, stage):
    x = self.modules.encoder(batch)
    if self.hparams.use_lm:
        x = self.hparams.language_model(x)
    return x
"""
            ),
        ),
        Example(
            "Caught, and under a condition that only the run decides",
            _project(
                """
def compute_forward(self, batch, stage):
    x = self.modules.encoder(batch)
    if batch.is_noisy:
        x = self.hparams.denoise(x)
    return x

def compute_objectives(self, predictions, batch, stage):
    try:
        return self.hparams.cost(predictions)
    except AttributeError:
        return predictions.sum()
"""
            ),
        ),
        Example(
            "A Brain that gets hyperparameters of its own",
            {
                "hparams.yaml": _RECIPE,
                "train.py": _project(
                    """
def compute_forward(self, batch, stage):
    return self.modules.encoder(batch) * self.hparams.scale
"""
                )["train.py"].replace("hparams=hparams,", "hparams=dict(hparams, scale=2),"),
            },
        ),
        Example(
            "A published model with all that its interface needs",
            {
                "hyperparams.yaml": _PUBLISHED.replace("{mark}", "") + "tokenizer: !new:tokens.Tokenizer\n",
                "config.json": '{"speechbrain_interface": "EncoderDecoderASR"}\n',
            },
        ),
        Example(
            "An interface of its own that asks first, and a method that nobody is told to call",
            {
                "hyperparams.yaml": _PUBLISHED.replace("{mark}", ""),
                "custom.py": _CUSTOM.replace("{mark}", "").replace("encode(", "encode_files("),
                "README.md": _README,
            },
        ),
        Example(
            "A published model that is loaded with more keys than the recipe has",
            {
                "hyperparams.yaml": _PUBLISHED.replace("{mark}", ""),
                "README.md": (
                    'model = EncoderDecoderASR.from_hparams(source="me/asr", overrides={"tokenizer": mine},\n'
                    "    overrides_must_match=False)\n"
                ),
            },
        ),
        Example(
            "A pipeline that is only used where the recipe has the key",
            _project()
            | {
                "train.py": _SCRIPT.replace("{body}", _project()["train.py"].split("Brain):\n")[1].split("\nif __")[0])
                .replace("    print(", "    prepare(hparams)\n    print(")
                .replace(
                    "class Model",
                    "def prepare(hparams):\n"
                    "    def perturbed(wav):\n"
                    '        return hparams["perturb"](wav)\n\n'
                    "    def plain(wav):\n"
                    "        return wav\n\n"
                    '    return perturbed if "perturb" in hparams else plain\n\n\nclass Model',
                )
            },
        ),
        Example(
            "Stored by objects that get the Brain, and keep its keys under another name",
            {
                "hparams.yaml": _RECIPE,
                "train.py": _SCRIPT.replace(
                    "{body}",
                    """\
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch) * self.hparams.scale + self.hparams.bias


class Client:
    def __init__(self, brain):
        self.told = brain.hparams

    def run(self, scale):
        self.told.scale = scale
""",
                )
                .replace("import sys\n", "import sys\n\nfrom runners import Runner\n")
                .replace("    model.fit(", "    Runner(model)\n    Client(model).run(2)\n    model.fit("),
                "runners.py": (
                    "class Runner:\n"
                    "    def __init__(self, brain):\n"
                    "        self.kept = brain.hparams\n"
                    "        self.kept.bias = 1\n"
                ),
            },
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.hyperparameters import missing_keys
        from modellint.link.recipes.interfaces import recipes_beside

        for missing in missing_keys(module, project):
            yield self._finding(missing)
        for recipe in recipes_beside(module, project):
            yield from self.check_recipe(recipe, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.hyperparameters import missing_keys
        from modellint.link.recipes.interfaces import unmet_keys
        from modellint.link.recipes.pairing import scripts_of

        for unmet in unmet_keys(recipe, project):
            yield self._unmet(unmet, recipe)
        scripts = scripts_of(recipe, project).scripts
        module = project.python(scripts[0]) if len(scripts) == 1 else None
        for missing in missing_keys(module, project) if module is not None else ():
            if any(lacking.recipe.file == recipe.file for lacking in missing.recipes):
                yield self._finding(missing)

    def probe(self, claim: NoKey, project: Project) -> Probe | None:
        """Load the recipe with HyperPyYAML, and look the name up as the script does."""
        from modellint.probes import recipe_probe

        return recipe_probe(claim, project)

    def _finding(self, missing: MissingKey) -> Finding:
        from modellint.claims.recipes import NoKey

        use = missing.use
        certain = [lacking for lacking in missing.recipes if lacking.certain]
        recipes = certain or list(missing.recipes)
        near = get_close_matches(use.name, recipes[0].keys, n=1, cutoff=0.75)
        verb = "is overridden" if missing.is_override else "is read"
        where = "the script" if use.function == "<module>" else f"`{use.function}`"
        return self.finding(
            use.place,
            f"`{use.text}` {verb}, but {_named(recipes)} has no key `{use.name}`",
            symbol=use.name,
            confidence=Confidence.HIGH if certain else Confidence.LOW,
            evidence=(
                f"{where} comes by here whenever it runs"
                if certain
                else f"{where} comes by here only under a condition that a run decides, or other keys may be added",
            ),
            related=[Related(_head(lacking), f"the recipe, which has no `{use.name}`") for lacking in recipes],
            help=f"did you mean `{near[0]}`?" if near else f"add `{use.name}` to the recipe",
            # If it is not certain, what is in doubt is if the script asks.
            claim=NoKey(_head(recipes[0]), use.name, missing.is_override) if certain else None,
        )

    def _unmet(self, unmet: Unmet, recipe: Recipe) -> Finding:
        from modellint.claims.recipes import NoKey

        interface, name = unmet.interface, unmet.name
        claim = NoKey(unmet.place, name, is_override=False)
        near = get_close_matches(name, unmet.spare, n=1, cutoff=0.75)
        help = f"did you mean `{near[0]}`?" if near else f"add `{name}` to the recipe"
        if unmet.use is None:
            return self.finding(
                unmet.place,
                f"`{interface.name}` needs the key `{name}`, and `{recipe.file.name}` does not have it",
                symbol=name,
                confidence=Confidence.HIGH,
                evidence=(
                    interface.evidence,
                    f"`{interface.name}` lists `{name}` among the keys it needs, and raises `ValueError` without it",
                ),
                help=help,
                claim=claim,
            )
        return self.finding(
            unmet.use,
            f"`{unmet.text}` is read, but `{recipe.file.name}` has no key `{name}`",
            symbol=name,
            confidence=Confidence.HIGH,
            evidence=(interface.evidence, f"`{unmet.function}` comes by here whenever it runs"),
            related=(Related(unmet.place, f"the recipe, which has no `{name}`"),),
            help=help,
            claim=claim,
        )


def _head(lacking: LackingRecipe) -> Place:
    """The first key of a recipe."""
    root = lacking.recipe.root
    return lacking.recipe.place(root.entries[0].key.span if root.entries else root.span)


def _named(recipes: list[LackingRecipe]) -> str:
    first = recipes[0].recipe.file.name
    return f"`{first}`" if len(recipes) == 1 else f"each of `{first}` and {len(recipes) - 1} more"
