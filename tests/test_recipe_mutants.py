"""The mutation harness for recipes: what it plants, what it leaves alone, and how it counts."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from effort import in_full

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))

import recipe_mutants
from planting.checkout import Checkout
from planting.recipes import OPERATORS, misspelt, read_training

if TYPE_CHECKING:
    from planting.recipes import Planted, Training

RECIPE = """\
seed: 17
n_mels: 80
width: 512
output_folder: !ref results/<seed>
save_folder: !ref <output_folder>/save
number_of_epochs: 10
data_folder: !PLACEHOLDER

encoder: !new:speechbrain.layers.Encoder
    input_size: !ref <n_mels>
    width: !ref <width>
ctc_lin: !new:speechbrain.layers.Output
    width: !ref <width>
    freeze: False
still: !new:speechbrain.layers.Output
    width: !ref <width>
    freeze: True
scorer_lin: !new:torch.nn.Linear
    in_features: !ref <width>
    out_features: 40
dropout: !new:torch.nn.Dropout
    p: 0.1

searcher: !new:speechbrain.search.Searcher
    layer: !ref <scorer_lin>
compute_features: !new:speechbrain.search.Features
augment: !new:speechbrain.search.Features

modules:
    encoder: !ref <encoder>
    ctc: !ref <ctc_lin>
    still: !ref <still>
    scoring: !ref <scorer_lin>
    dropout: !ref <dropout>

model: !new:torch.nn.ModuleList
    - [!ref <encoder>, !ref <ctc_lin>, !ref <still>]

opt_class: !name:torch.optim.Adam
    lr: 0.001
annealing: !new:speechbrain.schedulers.Warmup
    steps: 100
epoch_counter: !new:speechbrain.schedulers.Counter
    limit: !ref <number_of_epochs>
logger: !new:speechbrain.search.Features

checkpointer: !new:speechbrain.utils.checkpoints.Checkpointer
    checkpoints_dir: !ref <save_folder>
    recoverables:
        model: !ref <model>
        annealing: !ref <annealing>
        counter: !ref <epoch_counter>
        logger: !ref <logger>
"""

SCRIPT = """\
import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        if hasattr(self.hparams, "augment"):
            batch = self.hparams.augment(batch)
        x = self.modules.encoder(self.hparams.compute_features(batch))
        if hasattr(self.modules, "dropout"):
            x = self.modules.dropout(x)
        if stage == sb.Stage.TRAIN:
            return self.modules.ctc(x)
        if self.hparams.width > 1000:
            return self.modules.still(x)
        return self.hparams.searcher(x)

    def compute_objectives(self, predictions, batch, stage):
        return self.modules.still(predictions).sum()

    def on_stage_end(self, stage, stage_loss, epoch):
        if stage == sb.Stage.VALID:
            self.hparams.annealing(self.optimizer)
            self.hparams.logger(stage_loss)


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    sb.utils.distributed.ddp_init_group(run_opts)
    with open(hparams_file) as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    model = Model(
        modules=hparams["modules"],
        opt_class=hparams["opt_class"],
        hparams=hparams,
        run_opts=run_opts,
        checkpointer=hparams["checkpointer"],
    )
    model.fit(hparams["epoch_counter"], [], [])
    model.evaluate([])
"""

PACKAGE = {
    "layers.py": """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self, input_size, width):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(input_size, width)])

    def forward(self, x):
        return self.layers[0](x)


class Output(nn.Module):
    def __init__(self, width, freeze=False):
        super().__init__()
        self.linear = nn.Linear(width, 40)

    def forward(self, x):
        return self.linear(x)
""",
    "search.py": """\
class Searcher:
    def __init__(self, layer):
        self.layer = layer

    def __call__(self, x):
        return self.layer(x)


class Features:
    def __call__(self, x):
        return x
""",
    "schedulers.py": """\
from speechbrain.utils import checkpoints


class Counter:
    def __init__(self, limit):
        self.current = 0
        self.limit = limit

    def __next__(self):
        self.current += 1
        return self.current

    @checkpoints.mark_as_saver
    def save(self, path):
        pass

    @checkpoints.mark_as_loader
    def load(self, path, end_of_epoch=True):
        pass


class Warmup:
    def __init__(self, steps):
        self.steps = steps
        self.done = 0

    def __call__(self, optimizer):
        self.done += 1

    @checkpoints.mark_as_saver
    def save(self, path):
        pass

    @checkpoints.mark_as_loader
    def load(self, path, end_of_epoch=True):
        pass
""",
}

TABLE = """\
Task,Dataset,Script_file,Hparam_file
ASR,Small,recipes/Small/train.py,recipes/Small/hparams/train.yaml
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    files = {
        "recipes/Small/hparams/train.yaml": RECIPE,
        "recipes/Small/train.py": SCRIPT,
        "tests/recipes/Small.csv": TABLE,
        **{f"speechbrain/{name}": text for name, text in PACKAGE.items()},
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def training(checkout: Path) -> Training:
    reader = Checkout(checkout)
    [(recipe, script)] = reader.trainings()
    found = read_training(reader, recipe, script)
    assert found is not None
    assert found.script is not None
    return found


def planted(training: Training, kind: str) -> list[Planted]:
    return list(OPERATORS[kind](training))


def changed(training: Training, one: Planted) -> tuple[set[str], set[str]]:
    """The lines that a mistake takes away, and those that it brings."""
    text = one.path.read_text(encoding="utf-8")
    before, after = text.splitlines(), one.applied(text).splitlines()
    return {line.strip() for line in set(before) - set(after)}, {line.strip() for line in set(after) - set(before)}


def due(one: Planted) -> set[str]:
    """The text of the lines where a finding is due."""
    found = set()
    for path, number in one.due:
        text = path.read_text(encoding="utf-8")
        lines = (one.applied(text) if path == one.path else text).splitlines()
        found.add(lines[number - 1].strip())
    return found


def test_entries_go_that_the_script_certainly_asks_for_or_that_nothing_else_moves(training: Training) -> None:
    """A use under `hasattr`, or one that the recipe's constants rule out, is none."""
    found = {next(iter(changed(training, one)[0])): one for one in planted(training, "entry-removed-from-modules")}
    assert set(found) == {
        "encoder: !ref <encoder>",
        "ctc: !ref <ctc_lin>",
        "still: !ref <still>",
        "scoring: !ref <scorer_lin>",
    }
    assert due(found["ctc: !ref <ctc_lin>"]) == {
        "return self.modules.ctc(x)",
        "ctc_lin: !new:speechbrain.layers.Output",
    }
    assert due(found["still: !ref <still>"]) == {
        "return self.modules.still(predictions).sum()",
        "still: !new:speechbrain.layers.Output",
    }
    assert due(found["scoring: !ref <scorer_lin>"]) == {"scorer_lin: !new:torch.nn.Linear"}
    assert found["scoring: !ref <scorer_lin>"].codes == ("ML201",)


def test_only_what_learns_is_taken_out_of_a_module_list(training: Training) -> None:
    found = planted(training, "element-removed-from-module-list")
    assert [changed(training, one)[1] for one in found] == [
        {"- [!ref <ctc_lin>, !ref <still>]"},
        {"- [!ref <encoder>, !ref <still>]"},
    ]
    assert [due(one) for one in found] == [
        {"encoder: !new:speechbrain.layers.Encoder"},
        {"ctc_lin: !new:speechbrain.layers.Output"},
    ]


def test_only_what_training_changes_is_taken_out_of_recoverables(training: Training) -> None:
    found = {
        next(iter(changed(training, one)[0])): due(one) for one in planted(training, "entry-removed-from-recoverables")
    }
    assert found == {
        "model: !ref <model>": {
            "model: !new:torch.nn.ModuleList",
            "encoder: !new:speechbrain.layers.Encoder",
            "ctc_lin: !new:speechbrain.layers.Output",
        },
        "annealing: !ref <annealing>": {"annealing: !new:speechbrain.schedulers.Warmup"},
        "counter: !ref <epoch_counter>": {"epoch_counter: !new:speechbrain.schedulers.Counter"},
    }


def test_modules_are_asked_for_among_the_hyperparameters_and_the_other_way_round(training: Training) -> None:
    """Without a key of that name there is nothing to find; what does not learn needs no wrapper."""
    found = [(one.codes, changed(training, one)[1]) for one in planted(training, "modules-made-hparams")]
    assert found == [
        (("ML208",), {"x = self.hparams.encoder(self.hparams.compute_features(batch))"}),
        (("ML405",), {"return self.hparams.ctc(x)"}),
    ]
    swapped = [line for one in planted(training, "hparams-made-modules") for line in changed(training, one)[1]]
    assert swapped == [
        "batch = self.modules.augment(batch)",
        "x = self.modules.encoder(self.modules.compute_features(batch))",
        "if self.modules.width > 1000:",
        "return self.modules.searcher(x)",
        "self.modules.annealing(self.optimizer)",
        "self.modules.logger(stage_loss)",
    ]


def test_keys_are_misspelt_where_something_asks_for_them(training: Training) -> None:
    found = {one.what: (one.codes, due(one)) for one in planted(training, "key-misspelt")}
    assert found["n_mels"] == (("ML401",), {"input_size: !ref <n_mels>"})
    assert found["searcher"] == (("ML405",), {"return self.hparams.searcher(x)"})
    assert found["opt_class"] == (("ML405",), {'opt_class=hparams["opt_class"],'})
    assert "data_folder" not in found
    assert "augment" not in found, "the script asks whether it is there"


def test_classes_and_arguments_are_misspelt_where_their_source_is_at_hand(training: Training) -> None:
    classes = {one.what.partition(" ")[0] for one in planted(training, "class-path-misspelt")}
    assert "speechbrain.layers.Encoder" in classes
    assert "torch.nn.Linear" in classes
    assert "speechbrain.utils.checkpoints.Checkpointer" not in classes
    arguments = {one.what for one in planted(training, "argument-misspelt")}
    assert "speechbrain.layers.Encoder width" in arguments
    assert "torch.nn.Dropout p" not in arguments


@pytest.mark.parametrize("kind", ["reference-misspelt", "key-misspelt", "key-doubled", "tag-misspelt"])
def test_the_library_refuses_what_it_is_said_to_refuse(kind: str, training: Training) -> None:
    text = training.recipe.text
    assert not recipe_mutants.refusal(text)
    found = [one for one in planted(training, kind) if one.is_refused]
    assert found
    assert all(recipe_mutants.refusal(one.applied(text)) for one in found[::4])


def test_a_script_that_is_not_simple_is_left_alone(checkout: Path) -> None:
    """Nobody knows which entries a Brain has that changes them itself."""
    script = checkout / "recipes/Small/train.py"
    script.write_text(SCRIPT.replace("x = self", "self.modules.extra = x = self", 1), encoding="utf-8")
    reader = Checkout(checkout)
    [(recipe, path)] = reader.trainings()
    found = read_training(reader, recipe, path)
    assert found is not None
    assert found.script is None
    assert not planted(found, "entry-removed-from-modules")
    assert planted(found, "reference-misspelt")


@pytest.mark.parametrize("word", ["nn", "lr", "seed", "Linear", "speechbrain"])
def test_a_misspelt_word_is_another_one(word: str) -> None:
    assert misspelt(word, "seed") != word
    assert misspelt(word, "seed") == misspelt(word, "seed")


def run(checkout: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, Any]:
    survivors = checkout.parent / "survivors.json"
    recipe_mutants.main([str(checkout), "--survivors", str(survivors), *arguments])
    return capsys.readouterr().out, json.loads(survivors.read_text(encoding="utf-8"))


@in_full
def test_a_run_counts_what_is_found_and_lists_the_rest(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = ("entry-removed-from-modules", "element-removed-from-module-list", "modules-made-hparams")
    out, survivors = run(checkout, capsys, "--jobs", "1", *(word for kind in kinds for word in ("--only", kind)))
    assert out.startswith("8 mutants of recipes in checkout, seed 0")
    for kind, count in zip(kinds, (4, 2, 2), strict=True):
        row = next(line for line in out.splitlines() if f" {kind} |" in line)
        assert int(row.split("|")[2]) == count
    assert len(survivors) == 8 - sum(int(line.split("|")[3]) for line in out.splitlines() if line.startswith("| all "))
    assert all(survivor["reason"] != "found" and survivor["diff"] for survivor in survivors)


@in_full
def test_the_same_seed_gives_the_same_mutants_whatever_the_number_of_processes(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once = run(checkout, capsys, "--jobs", "1", "--mutants", "8", "--seed", "3")
    again = run(checkout, capsys, "--jobs", "2", "--mutants", "8", "--seed", "3")
    assert once == again
