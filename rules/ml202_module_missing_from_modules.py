"""ML202: an entry of `self.modules` that the recipe does not have."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Related, Severity
from modellint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims.recipes import NoModule
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project
    from modellint.link.recipes.interfaces import Unmet
    from modellint.link.recipes.registration import Lacking, MissingModule
    from modellint.probes import Probe

_RECIPE = """\
n_mels: 80
encoder: !new:speechbrain.nnet.linear.Linear
    input_size: !ref <n_mels>
    n_neurons: 512
output: !new:speechbrain.nnet.linear.Linear
    input_size: 512
    n_neurons: 40
number_of_epochs: 10
ctc_epochs: 4
use_output: true
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


def _project(body: str, recipe: str = _RECIPE) -> dict[str, str]:
    lines = ("    " + line if line else line for line in body.strip("\n").split("\n"))
    return {"hparams.yaml": recipe, "train.py": _SCRIPT.replace("{body}", "\n".join(lines) + "\n")}


_PUBLISHED = """\
n_mels: 80
masker: !new:speechbrain.nnet.linear.Linear
    input_size: !ref <n_mels>
    n_neurons: !ref <n_mels>
modules:{mark}
    enhance_modle: !ref <masker>
pretrainer: !new:speechbrain.utils.parameter_transfer.Pretrainer
    loadables:
        masker: !ref <masker>
"""
_CUSTOM = """\
from speechbrain.inference.interfaces import Pretrained


class CustomInterface(Pretrained):
    def enhance(self, wavs):
        return self.apply_mask(wavs)

    def apply_mask(self, wavs):
        if self.training:
            wavs = self.mods.augment(wavs)
        return self.mods.masker(wavs){mark}
"""
_README = """\
# A model

    model = foreign_class(source="me/model", pymodule_file="custom.py", classname="CustomInterface")
    print(model.enhance(wavs))
"""


class ModuleMissingFromModules(Rule):
    """A script uses an entry of `self.modules` that the recipe's `modules:` does not have

    ## What it does
    Follows the Brain that a script builds: from the methods that training and evaluation call, through its own
    methods and the script's functions, under the conditions that the recipe decides (`hasattr`, `in`, `getattr` with
    a default, flags, the stage, the epoch). Reports `self.modules.X` and `self.mods.X` that are certainly reached
    where `modules:` of a recipe that runs this script has no `X`. A use under a condition that stays unknown is
    reported with low confidence, which is not shown by default.

    A published model has no script. There the interface that loads it counts, which `config.json` or the README names:
    the modules that it declares to need, and what a class in the model's own folder uses.

    ## Why is this bad
    `AttributeError: 'ModuleDict' object has no attribute 'X'`: at once, or hours later when the first epoch ends and
    validation begins.

    ## How to fix
    Add the layer to `modules:` of the recipe, or correct the name.

    ## References
    - [SpeechBrain, the Brain class](https://speechbrain.readthedocs.io/en/latest/tutorials/basics/brain-class.html)
    """

    code = "ML202"
    name = "module-missing-from-modules"
    severity = Severity.ERROR
    triggers = ("import",)
    bad = (
        Example(
            "A layer that is defined but not listed",
            _project(
                """
def compute_forward(self, batch, stage):
    feats = self.modules.encoder(batch)
    return self.modules.output(feats)  # expect: ML202

def compute_objectives(self, predictions, batch, stage):
    return predictions.sum()
"""
            ),
        ),
        Example(
            "In a condition, whatever that comes to",
            _project(
                """
def compute_forward(self, batch, stage):
    x = self.modules.encoder(batch)
    if not self.modules.use_output:  # expect: ML202
        x = x.detach()
    return x

def compute_objectives(self, predictions, batch, stage):
    if stage == sb.Stage.TEST and self.hparams.n_mels > 100 and self.modules.output:
        predictions = predictions.abs()
    return predictions.sum()
"""
            ),
        ),
        Example(
            "In a script that hands the recipe through a function",
            {
                name: text.replace(
                    "    print(",
                    "    hparams, train_data = prepare(hparams)\n    print(",
                ).replace(
                    "\n\nclass Model",
                    "\n\ndef prepare(options):\n"
                    '    options["loader"] = {"shuffle": options["n_mels"] > 40}\n'
                    "    return options, []\n\n\nclass Model",
                )
                for name, text in _project(
                    """
def compute_forward(self, batch, stage):
    return self.modules.output(self.modules.encoder(batch))  # expect: ML202

def compute_objectives(self, predictions, batch, stage):
    return predictions.sum()
"""
                ).items()
            },
        ),
        Example(
            "In a method that only validation reaches",
            _project(
                """
def compute_forward(self, batch, stage):
    x = self.modules.encoder(batch)
    if stage != sb.Stage.TRAIN:
        x = self.decode(x)
    return x

def decode(self, x):
    return self.mods.decoder(x)  # expect: ML202

def compute_objectives(self, predictions, batch, stage):
    return predictions.sum()
"""
            ),
        ),
        Example(
            "Under a flag of the recipe, and in the first epochs",
            _project(
                """
def compute_forward(self, batch, stage):
    x = self.modules.encoder(batch)
    if self.hparams.use_output:
        x = self.modules.outptu(x)  # expect: ML202
    return x

def compute_objectives(self, predictions, batch, stage):
    current_epoch = self.hparams.epoch_counter.current
    if stage == sb.Stage.TRAIN and current_epoch <= self.hparams.ctc_epochs:
        return self.modules.ctc_lin(predictions).sum()  # expect: ML202
    return predictions.sum()
"""
            ),
        ),
        Example(
            "In a function of the script that a batch method calls",
            {
                "hparams.yaml": _RECIPE,
                "train.py": _SCRIPT.replace(
                    "{body}",
                    "    def fit_batch(self, batch):\n        return run(self, batch)\n",
                ).replace(
                    "class Model",
                    "def run(brain, batch):\n    return brain.modules.masknet(batch)  # expect: ML202\n\n\nclass Model",
                ),
            },
        ),
        Example(
            "In a method that the Brain inherits",
            {
                "hparams.yaml": _RECIPE,
                "train.py": _SCRIPT.replace(
                    "{body}",
                    "    def compute_objectives(self, predictions, batch, stage):\n        return predictions.sum()\n",
                )
                .replace("(sb.Brain)", "(Base)")
                .replace(
                    "class Model",
                    "class Base(sb.Brain):\n"
                    "    def compute_forward(self, batch, stage):\n"
                    "        return self.modules.proj(batch)  # expect: ML202\n\n\nclass Model",
                ),
            },
        ),
        Example(
            "A published model without a module that its interface needs",
            {
                "hyperparams.yaml": _PUBLISHED.replace("{mark}", "  # expect: ML202"),
                "config.json": '{"speechbrain_interface": "WaveformEnhancement"}\n',
            },
        ),
        Example(
            "A published model with an interface of its own",
            {
                "hyperparams.yaml": _PUBLISHED.replace("{mark}", ""),
                "custom.py": _CUSTOM.replace("{mark}", "  # expect: ML202"),
                "README.md": _README,
            },
        ),
    )
    good = (
        Example(
            "A published model with all modules that its interface needs, or of which several interfaces are shown",
            {
                "enhance/hyperparams.yaml": _PUBLISHED.replace("{mark}", "").replace(
                    "enhance_modle:", "enhance_model:"
                ),
                "enhance/config.json": '{"speechbrain_interface": "WaveformEnhancement"}\n',
                "speaker/hyperparams.yaml": _PUBLISHED.replace("{mark}", ""),
                "speaker/README.md": (
                    'a = EncoderClassifier.from_hparams(source="me/a")\nb = WaveformEncoder.from_hparams("me/b")\n'
                ),
            },
        ),
        Example(
            "A published model without its last module, which may be meant to be used without it",
            {
                "hyperparams.yaml": _PUBLISHED.replace("{mark}", "").replace("enhance_modle:", "encoder:"),
                "config.json": '{"speechbrain_interface": "SepformerSeparation"}\n',
            },
        ),
        Example(
            "A published model whose interface uses what it lacks only in a method that nobody is told to call",
            {
                "hyperparams.yaml": _PUBLISHED.replace("{mark}", ""),
                "custom.py": _CUSTOM.replace("{mark}", "").replace("enhance(", "enhance_file("),
                "README.md": _README,
            },
        ),
        Example(
            "Every entry is there",
            _project(
                """
def compute_forward(self, batch, stage):
    return self.modules.output(self.modules.encoder(batch))

def compute_objectives(self, predictions, batch, stage):
    self.modules.train()
    return sum(p.sum() for p in self.modules.parameters())
""",
                _RECIPE + "    output: !ref <output>\n",
            ),
        ),
        Example(
            "Asked for first",
            _project(
                """
def on_fit_start(self):
    self.has_extractor = hasattr(self.modules, "extractor")

def compute_forward(self, batch, stage):
    x = self.modules.encoder(batch)
    if hasattr(self.modules, "normalize"):
        x = self.modules.normalize(x)
    if "output" in self.modules.keys():
        x = self.modules.output(x)
    if hasattr(self.hparams, "use_lm") and self.hparams.use_lm:
        x = self.modules.lm(x)
    return self.modules.extractor(x) if self.has_extractor else x
"""
            ),
        ),
        Example(
            "Switched off by the recipe",
            _project(
                """
def __init__(self, *args, **kwargs):
    super().__init__(*args, **kwargs)
    self.use_output = self.hparams.use_output

def compute_forward(self, batch, stage):
    x = self.modules.encoder(batch)
    if self.use_output and stage == sb.Stage.TRAIN:
        return self.modules.output(x)
    if not getattr(self.hparams, "frozen", True):
        x = self.modules.wav2vec2(x)
    return x
""",
                _RECIPE.replace("use_output: true", "use_output: false"),
            ),
        ),
        Example(
            "In a method that nothing calls, and in another Brain that the script does not build",
            {
                "hparams.yaml": _RECIPE,
                "train.py": _SCRIPT.replace(
                    "{body}",
                    "    def compute_forward(self, batch, stage):\n"
                    "        return self.modules.encoder(batch)\n\n"
                    "    def export(self, batch):\n"
                    "        return self.modules.exporter(batch)\n",
                ).replace(
                    "class Model",
                    "class Other(sb.Brain):\n"
                    "    def compute_forward(self, batch, stage):\n"
                    "        return self.modules.masknet(batch)\n\n\nclass Model",
                ),
            },
        ),
        Example(
            "Under a condition that only the run decides",
            _project(
                """
def compute_forward(self, batch, stage):
    x = self.modules.encoder(batch)
    if batch.needs_masking:
        x = self.modules.masknet(x)
    return x
"""
            ),
        ),
        Example(
            "Added by the script",
            {
                "hparams.yaml": _RECIPE,
                "train.py": _SCRIPT.replace(
                    "{body}",
                    "    def compute_forward(self, batch, stage):\n"
                    "        return self.modules.output(self.modules.encoder(batch))\n",
                ).replace(
                    "    model = Model",
                    '    hparams["modules"]["output"] = hparams["output"]\n    model = Model',
                ),
            },
        ),
        Example(
            "An early return",
            _project(
                """
def compute_forward(self, batch, stage):
    x = self.modules.encoder(batch)
    if not hasattr(self.modules, "output"):
        return x
    return self.modules.output(x)

def compute_objectives(self, predictions, batch, stage):
    if self.hparams.ctc_epochs > self.hparams.number_of_epochs:
        return self.modules.ctc_lin(predictions)
    return predictions.sum()
"""
            ),
        ),
    )

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.interfaces import recipes_beside
        from modellint.link.recipes.registration import missing_modules

        for missing in missing_modules(module, project):
            yield self._finding(missing)
        for recipe in recipes_beside(module, project):
            yield from self.check_recipe(recipe, project)

    def check_recipe(self, recipe: Recipe, project: Project) -> Iterator[Finding]:
        from modellint.link.recipes.interfaces import unmet_modules
        from modellint.link.recipes.pairing import scripts_of
        from modellint.link.recipes.registration import missing_modules

        for unmet in unmet_modules(recipe, project):
            yield self._unmet(unmet, recipe)
        scripts = scripts_of(recipe, project).scripts
        module = project.python(scripts[0]) if len(scripts) == 1 else None
        for missing in missing_modules(module, project) if module is not None else ():
            if any(lacking.recipe.file == recipe.file for lacking in missing.recipes):
                yield self._finding(missing)

    def probe(self, claim: NoModule, project: Project) -> Probe | None:
        """Build the recipe, and ask its `modules` for the entry; that the use is reached has been read, not seen."""
        from modellint.probes import recipe_probe

        return recipe_probe(claim, project)

    def _finding(self, missing: MissingModule) -> Finding:
        from modellint.claims.recipes import NoModule

        use = missing.use
        certain = [lacking for lacking in missing.recipes if lacking.certain]
        recipes = certain or list(missing.recipes)
        return self.finding(
            use.place,
            f"`{use.text}` is used, but `modules` of {_named(recipes)} has no `{use.name}`",
            symbol=use.name,
            confidence=Confidence.HIGH if certain else Confidence.LOW,
            evidence=(
                f"`{use.function}` is reached from the methods that the training loop calls"
                if certain
                else f"`{use.function}` is reached, but under a condition that only a run decides",
            ),
            related=[Related(lacking.place, _described(lacking)) for lacking in recipes],
            help=_advice(use.name, recipes),
            # If it is not certain, what is in doubt is if the use is reached: no run of the recipe tells.
            claim=NoModule(recipes[0].place, use.name) if certain else None,
        )

    def _unmet(self, unmet: Unmet, recipe: Recipe) -> Finding:
        from modellint.claims.recipes import NoModule

        interface, name = unmet.interface, unmet.name
        near = get_close_matches(name, unmet.spare, n=1, cutoff=0.6)
        if unmet.is_defined:
            help = f"add `{name}: !ref <{name}>` to `modules:`"
        else:
            help = f"did you mean `{near[0]}`?" if near else f"define `{name}` and add it to `modules:`"
        entries = "`modules` has " + (", ".join(f"`{key}`" for key in unmet.keys) or "no entries")
        claim = NoModule(unmet.place, name)
        if unmet.use is None:
            # Without a sign that the entry was meant to be there, it may be one that this model does without.
            is_meant = bool(near) or unmet.is_defined
            return self.finding(
                unmet.place,
                f"`{interface.name}` needs `{name}`, and `modules` does not have it",
                symbol=name,
                confidence=Confidence.MEDIUM if is_meant else Confidence.LOW,
                evidence=(interface.evidence, f"`{interface.name}` lists `{name}` among the modules it needs", entries),
                help=help,
                claim=claim if is_meant else None,
            )
        return self.finding(
            unmet.use,
            f"`{unmet.text}` is used, but `modules` of `{recipe.file.name}` has no `{name}`",
            symbol=name,
            confidence=Confidence.HIGH,
            evidence=(interface.evidence, f"`{unmet.function}` comes by here whenever it runs"),
            related=(Related(unmet.place, entries),),
            help=help,
            claim=claim,
        )


def _named(recipes: list[Lacking]) -> str:
    first = recipes[0].recipe.file.name
    return f"`{first}`" if len(recipes) == 1 else f"`{first}` and {len(recipes) - 1} more"


def _described(lacking: Lacking) -> str:
    return "`modules` has " + (", ".join(f"`{name}`" for name in lacking.entries) or "no entries")


def _advice(name: str, recipes: list[Lacking]) -> str:
    near = get_close_matches(name, recipes[0].entries, n=1, cutoff=0.6)
    if recipes[0].defined:
        return f"add `{name}: !ref <{name}>` to `modules:`"
    return f"did you mean `{near[0]}`?" if near else f"define `{name}` and add it to `modules:`"
