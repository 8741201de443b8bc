"""What a Brain reaches under a recipe: conditions are decided where the recipe decides them, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.link.project import Project, ProjectOptions
from modellint.link.recipes.evaluation import evaluate
from modellint.link.recipes.reach import Reach, reach
from modellint.link.recipes.scripts import read_script

if TYPE_CHECKING:
    from pathlib import Path

RECIPE = """\
flag: true
off: false
count: 3
mode: fast
nothing: null
sizes: [1, 2]
empty: []
rate: !PLACEHOLDER
lin: !new:torch.nn.Linear [2, 2]
counter: !new:speechbrain.utils.epoch_loop.EpochCounter
    limit: 10
checkpointer: !new:speechbrain.utils.checkpoints.Checkpointer
    checkpoints_dir: save
modules:
    enc: !new:torch.nn.Linear [2, 2]
"""

SCRIPT = """\
import speechbrain as sb
from speechbrain import Stage
from hyperpyyaml import load_hyperpyyaml

LIMIT = 5


def helper(brain, value, deep=False):
    if deep:
        return brain.modules.deep(value)
    return brain.modules.shallow(value)


class Parent(sb.Brain):
    def on_stage_end(self, stage, loss, epoch):
        self.modules.parent(loss)

    def shared(self):
        self.modules.shared(1)


class ASR(Parent):
{methods}

if __name__ == "__main__":
    with open("r.yaml") as fin:
        hparams = load_hyperpyyaml(fin)
{setup}
    brain = ASR(modules=hparams["modules"], hparams=hparams, checkpointer=hparams["checkpointer"])
{calls}
"""
CALLS = "brain.fit(range(3), [], [])\nbrain.evaluate([])"


def indent(text: str) -> str:
    return "\n".join("    " + line if line else line for line in text.strip("\n").split("\n"))


def reached(folder: Path, methods: str, *, setup: str = "pass", calls: str = CALLS, recipe: str = RECIPE) -> Reach:
    text = SCRIPT.replace("{methods}", indent(methods)).replace("{setup}", indent(setup))
    (folder / "train.py").write_text(text.replace("{calls}", indent(calls)))
    (folder / "r.yaml").write_text(recipe)
    project = Project(ProjectOptions(folder))
    module, found = project.python(folder / "train.py"), project.recipe(folder / "r.yaml")
    assert module is not None
    assert found is not None
    script = read_script(module, project)
    assert script is not None
    (brain,) = script.brains
    return reach(script, brain, evaluate(found, project), project)


def uses(folder: Path, methods: str, **options: str) -> dict[str, bool]:
    """The entries of `modules` that are used, and whether that is certain; the inherited one left out."""
    found = reached(folder, methods, **options)
    return {use.name: use.certain for use in found.module_uses if use.name != "parent"}


CERTAIN, OPEN, NEVER = {"x": True}, {"x": False}, dict[str, bool]()


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("True", CERTAIN),
        ("self.hparams.flag", CERTAIN),
        ("not self.hparams.flag", NEVER),
        ("self.hparams.off", NEVER),
        ("self.hparams.off or self.hparams.flag", CERTAIN),
        ("self.hparams.off and batch.any()", NEVER),
        ("self.hparams.flag and batch.any()", OPEN),
        ("self.hparams.flag or batch.any()", CERTAIN),
        ("batch.any()", OPEN),
        ("self.hparams.count > 2", CERTAIN),
        ("self.hparams.count == LIMIT", NEVER),
        ("1 < self.hparams.count < 3", NEVER),
        ("self.hparams.count + 2 >= LIMIT", CERTAIN),
        ("self.hparams.mode == 'fast'", CERTAIN),
        ("self.hparams.mode in ('slow', 'fast')", CERTAIN),
        ("self.hparams.mode not in ['slow', 'fast']", NEVER),
        ("self.hparams.nothing is None", CERTAIN),
        ("self.hparams.lin is not None", CERTAIN),
        ("self.hparams.lin", CERTAIN),
        ("self.hparams.empty", NEVER),
        ("self.hparams.sizes[1] == 2", CERTAIN),
        ("self.hparams.rate > 1", OPEN),
        ("self.hparams.unheard_of", OPEN),
        ("hasattr(self.hparams, 'lin')", CERTAIN),
        ("hasattr(self.hparams, 'rate')", CERTAIN),
        ("hasattr(self.hparams, 'lm')", NEVER),
        ("hasattr(self.modules, 'enc')", CERTAIN),
        ("hasattr(self.modules, 'lm')", NEVER),
        ("'enc' in self.modules", CERTAIN),
        ("'lm' in self.modules.keys()", NEVER),
        ("'lm' in self.hparams.__dict__", NEVER),
        ("getattr(self.hparams, 'lm', False)", NEVER),
        ("getattr(self.hparams, 'lm', True)", CERTAIN),
        ("getattr(self.hparams, 'off', True)", NEVER),
        ("hasattr(self, 'lm')", OPEN),
        ("self.checkpointer is not None", CERTAIN),
        ("stage == sb.Stage.TRAIN", CERTAIN),
        ("stage == Stage.TEST", CERTAIN),
        ("stage in [sb.Stage.VALID, sb.Stage.TEST]", CERTAIN),
        ("stage == sb.Stage.TRAIN and stage == sb.Stage.TEST", NEVER),
        ("stage != sb.Stage.TRAIN and self.hparams.off", NEVER),
        ("self.hparams.counter.current <= self.hparams.count", CERTAIN),
        ("self.hparams.counter.current > 10", NEVER),
        ("self.hparams.counter.current == 10", CERTAIN),
        ("self.hparams.counter.current % 5 == 0", CERTAIN),
        ("self.hparams.counter.current % 50 == 0", OPEN),
        ("self.flag", CERTAIN),
        ("self.cached", NEVER),
        ("self.either", OPEN),
        ("isinstance(batch, list)", OPEN),
    ],
)
def test_conditions(condition: str, expected: dict[str, bool], tmp_path: Path) -> None:
    methods = f"""
def on_fit_start(self):
    self.flag = self.hparams.flag
    self.cached = hasattr(self.hparams, "lm")
    self.either = True

def on_evaluate_start(self):
    self.either = False

def compute_forward(self, batch, stage):
    if {condition}:
        return self.modules.x(batch)
"""
    assert uses(tmp_path, methods) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if self.hparams.flag:\n    return\nself.modules.x(1)", NEVER),
        ("if self.hparams.off:\n    return\nself.modules.x(1)", CERTAIN),
        ("if batch:\n    return\nself.modules.x(1)", OPEN),
        ("if self.hparams.off:\n    pass\nelse:\n    self.modules.x(1)", CERTAIN),
        ("y = self.modules.x(1) if self.hparams.off else 2", NEVER),
        ("y = self.hparams.off and self.modules.x(1)", NEVER),
        ("for i in range(3):\n    self.modules.x(i)", CERTAIN),
        ("with torch.no_grad():\n    self.mods.x(1)", CERTAIN),
        ("try:\n    pass\nexcept Exception:\n    self.modules.x(1)", OPEN),
        ("f = self.modules.x\nf(1)", CERTAIN),
        ("m = self.modules\nm.x(1)", CERTAIN),
        ("self.modules['x'](1)", CERTAIN),
        ("return self.modules.x.inner.weight", CERTAIN),
        ("self.modules.train()\nself.modules.module.parameters()", NEVER),
        ("def later():\n    self.modules.x(1)", NEVER),
        ("def later():\n    self.modules.x(1)\nlater()", CERTAIN),
        ("def later():\n    self.modules.x(1)\nunknown(later)", OPEN),
        ("m = lambda y: self.modules.x(y)\nm(1)", CERTAIN),
        ("if batch:\n    self.modules.x(1)\nelse:\n    self.modules.x(2)", CERTAIN),
        ("if batch:\n    return self.modules.x(1)\nself.modules.x(2)", CERTAIN),
        ("y = self.modules.x(1) if batch else self.modules.x(2)", CERTAIN),
        ("y = self.modules.x(1) if batch else 2", OPEN),
        ("m = 1\nif batch:\n    m = self.modules.x\nm(1)", OPEN),
    ],
)
def test_paths_through_a_method(body: str, expected: dict[str, bool], tmp_path: Path) -> None:
    assert uses(tmp_path, "def compute_forward(self, batch, stage):\n" + indent(body)) == expected


def test_calls_are_followed_with_their_arguments(tmp_path: Path) -> None:
    methods = """
def compute_forward(self, batch, stage):
    self.first(batch, use=self.hparams.off)
    self.shared()
    helper(self, batch, deep=True)

def first(self, batch, use=True):
    if use:
        self.modules.never(batch)
    self.second(sb.Stage.TRAIN)

def second(self, stage):
    if stage == sb.Stage.TEST:
        self.modules.never(1)
    self.modules.second(1)

def unused(self):
    self.modules.unused(1)
"""
    assert uses(tmp_path, methods) == {"second": True, "shared": True, "deep": True}


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("brain.fit(range(3), [], [])", {"train", "valid"}),
        ("brain.evaluate([])", {"test"}),
        (CALLS, {"train", "valid", "test"}),
        ("brain.transcribe([])", {"transcribe"}),
        ("run(brain)", {"train", "valid", "test"}),
    ],
)
def test_only_what_the_script_starts_is_reached(calls: str, expected: set[str], tmp_path: Path) -> None:
    methods = """
def compute_forward(self, batch, stage):
    if stage == sb.Stage.TRAIN:
        self.modules.train_(1)
    elif stage == sb.Stage.VALID:
        self.modules.valid_(1)
    else:
        self.modules.test_(1)

def transcribe(self, data):
    self.modules.transcribe_(1)
"""
    assert {name.rstrip("_") for name in uses(tmp_path, methods, calls=calls)} == expected


def test_a_batch_method_of_ones_own_decides_what_is_called(tmp_path: Path) -> None:
    methods = """
def fit_batch(self, batch):
    return self.compute_loss(batch)

def compute_loss(self, batch):
    self.modules.loss(batch)

def compute_forward(self, batch, stage):
    self.modules.forward_only(batch)
"""
    assert uses(tmp_path, methods, calls="brain.fit(range(3), [])") == {"loss": True, "forward_only": True}
    trained = reached(tmp_path, methods, calls="brain.fit(range(3), [])")
    assert {use.name for use in trained.module_uses if use.name == "forward_only" and use.certain}
    with_super = methods.replace("return self.compute_loss(batch)", "return super().fit_batch(batch)")
    assert "loss" not in uses(tmp_path, with_super)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("brain.fit(3, data)", {"train_": True, "valid_": False}),
        ("run(brain)", {"train_": True, "valid_": False, "test_": False}),
        ("brain.practise()", {"train_": False, "valid_": False}),
    ],
)
def test_a_loop_of_ones_own_drives_the_batch_methods_of_the_framework(
    calls: str, expected: dict[str, bool], tmp_path: Path
) -> None:
    """Which entries are used, and whether gradients reach them: `fit_batch` is for training, whatever runs it."""
    methods = """
def compute_forward(self, batch, stage):
    if stage == sb.Stage.TRAIN:
        self.modules.train_(batch)
    elif stage == sb.Stage.VALID:
        self.modules.valid_(batch)
    else:
        self.modules.test_(batch)

def fit(self, epochs, data):
    for batch in data:
        self.fit_batch(batch)
        self.evaluate_batch(batch, stage=sb.Stage.VALID)

def practise(self):
    self.fit(1, range(3))

def nobody_calls_this(self, stage):
    self.evaluate_batch([], stage)
"""
    used = reached(tmp_path, methods, calls=calls).module_uses
    assert {use.name: use.learns for use in used if use.name != "parent"} == expected


def test_objects_that_are_called_and_moved(tmp_path: Path) -> None:
    methods = """
def on_fit_start(self):
    self.layer = self.hparams.lin
    self.hparams.lin.to(self.device)

def compute_forward(self, batch, stage):
    self.hparams.lin.eval()
    return self.layer(batch)
"""
    found = reached(tmp_path, methods)
    assert [(use.item.path, use.certain, use.direct) for use in found.item_uses] == [("lin", True, True)]
    assert [item.path for item in found.moved] == ["lin"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("True", CERTAIN),
        ("hparams['off']", NEVER),
        ("hparams.get('off', True)", NEVER),
        ("hparams.get('missing', True)", CERTAIN),
        ("hparams.get('missing')", NEVER),
        ("'lin' in hparams", CERTAIN),
        ("compute()", OPEN),
    ],
)
def test_attributes_that_the_script_sets_on_the_brain(value: str, expected: dict[str, bool], tmp_path: Path) -> None:
    methods = """
def compute_forward(self, batch, stage):
    if self.switch:
        self.modules.x(batch)
"""
    assert uses(tmp_path, methods, calls=f"switch = {value}\nbrain.switch = switch\n{CALLS}") == expected


@pytest.mark.parametrize(
    ("setup", "entries", "closed"),
    [
        ("pass", {"enc"}, True),
        ('hparams["modules"]["x"] = hparams["lin"]', {"enc", "x"}, True),
        ('hparams["modules"].update(more())', {"enc"}, False),
        ('for name in names():\n    hparams["modules"][name] = 1', {"enc"}, False),
    ],
)
def test_entries_that_the_script_adds(setup: str, entries: set[str], closed: bool, tmp_path: Path) -> None:
    found = reached(tmp_path, "def compute_forward(self, batch, stage):\n    pass", setup=setup).modules
    assert found is not None
    assert (set(found.entries), found.closed) == (entries, closed)


def test_entries_that_the_brain_adds_itself(tmp_path: Path) -> None:
    methods = """
def on_fit_start(self):
    self.modules.x = self.hparams.lin
    self.modules.enc = self.modules.enc.module
"""
    found = reached(tmp_path, methods).modules
    assert found is not None
    assert set(found.entries) == {"enc", "x"}


def test_keys_that_are_read_and_not_there(tmp_path: Path) -> None:
    methods = """
def on_stage_start(self, stage, epoch):
    for name in self.hparams.sizes:
        if hasattr(self.hparams, "limit") and epoch > self.hparams.limit and name in self.hparams.others:
            self.modules.enc.train()
        else:
            self.modules.enc.eval()
    if epoch and self.hparams.first:
        self.seen = True
    return self.hparams.second
"""
    found = reached(tmp_path, methods)
    assert {(read.name, read.certain) for read in found.lacking} == {("first", False), ("second", True)}


def test_what_stands_under_a_condition_that_does_not_hold_never_comes_to_be(tmp_path: Path) -> None:
    methods = """
def compute_forward(self, batch, stage):
    y = batch
    if hasattr(self.modules, "lm"):
        for value in each(self.modules.lm(y)):
            y = value
    return y
"""
    setup = "def each(*values):\n    yield from values\n"
    assert uses(tmp_path, methods, setup=setup) == {}


def test_a_script_without_a_recipe_is_none(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("import torch\n")
    project = Project(ProjectOptions(tmp_path))
    module = project.python(path)
    assert module is not None
    assert read_script(module, project) is None
