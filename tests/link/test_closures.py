"""What is moved, trained, saved and used under a recipe: each layer, and through what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.link.project import Project, ProjectOptions
from modellint.link.recipes.overview import LayerStatus, Registration, registrations_of

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.link.recipes.closures import Via

RECIPE = """\
seed: 1
batch_size: 8
frozen: true
encoder: !new:torch.nn.Linear [80, 64]
inner: !new:torch.nn.Linear [64, 64]
wrapper: !new:torch.nn.Sequential
    - !ref <inner>
    - !new:torch.nn.ReLU
head: !new:torch.nn.Linear [64, 40]
teacher: !copy <encoder>
pretrained: !new:speechbrain.lobes.models.huggingface_transformers.wav2vec2.Wav2Vec2
    source: facebook/wav2vec2-base
    save_path: w
    freeze: !ref <frozen>
modules:
    encoder: !ref <encoder>
    wrapper: !ref <wrapper>
    head: !ref <head>
    pretrained: !ref <pretrained>
model: !new:torch.nn.ModuleList
    - [!ref <encoder>, !ref <wrapper>]
opt_class: !name:torch.optim.Adam
other_opt_class: !name:torch.optim.SGD
lr_annealing: !new:speechbrain.nnet.schedulers.NewBobScheduler
    initial_value: 0.1
checkpointer: !new:speechbrain.utils.checkpoints.Checkpointer
    checkpoints_dir: save
    recoverables:
        model: !ref <model>
pretrainer: !new:speechbrain.utils.parameter_transfer.Pretrainer
    loadables:
        head: !ref <head>
"""

SCRIPT = """\
import sys

import speechbrain as sb
import torch
from hyperpyyaml import load_hyperpyyaml


class Model(sb.Brain):
    def compute_forward(self, batch, stage):
        with torch.no_grad():
            x = self.modules.pretrained(batch)
        x = self.modules.wrapper(self.modules.encoder(x))
        if stage == sb.Stage.TEST:
            self.hparams.teacher(x)
        return self.modules.head(x)
{methods}

if __name__ == "__main__":
    with open(sys.argv[1]) as fin:
        hparams = load_hyperpyyaml(fin)
    print(hparams["seed"], hparams["batch_size"])
{setup}
    brain = Model(
        modules=hparams["modules"],
        opt_class=hparams["opt_class"],
        hparams=hparams,
        checkpointer=hparams["checkpointer"],
    )
    brain.fit(range(3), [], [])
    brain.evaluate([])
"""


def registration(folder: Path, methods: str = "", setup: str = "", recipe: str = RECIPE) -> Registration:
    (folder / "hparams.yaml").write_text(recipe)
    lines = "".join(f"    {line}\n" for line in methods.splitlines())
    (folder / "train.py").write_text(SCRIPT.replace("{methods}", lines).replace("{setup}", setup))
    project = Project(ProjectOptions(folder))
    loaded = project.recipe(folder / "hparams.yaml")
    assert loaded is not None
    (found,) = registrations_of(loaded, project)
    return found


def statuses(found: Registration) -> dict[str, LayerStatus]:
    return {status.item.path: status for status in found.layers}


def told(via: Via | None) -> tuple[str, bool] | None:
    return None if via is None else (via.root.text, via.certain)


def test_layers_with_parameters_are_listed_and_others_are_not(tmp_path: Path) -> None:
    assert set(statuses(registration(tmp_path))) == {"encoder", "inner", "head", "teacher", "pretrained"}


def test_a_layer_is_moved_through_the_entry_that_registers_it(tmp_path: Path) -> None:
    found = statuses(registration(tmp_path))
    assert told(found["inner"].moved) == ("modules[wrapper]", True)
    assert told(found["head"].moved) == ("modules[head]", True)
    assert found["teacher"].moved is None


def test_what_the_script_moves_is_moved_but_not_in_modules(tmp_path: Path) -> None:
    found = registration(tmp_path, setup='    hparams["teacher"].to("cuda")')
    teacher = statuses(found)["teacher"]
    assert teacher.moved is not None
    assert found.modules.via(teacher.item) is None


def test_the_framework_gives_all_modules_to_its_optimizer(tmp_path: Path) -> None:
    found = registration(tmp_path)
    assert found.trained is not None
    assert found.trained.uses_default
    assert {name: told(status.trained) for name, status in statuses(found).items()} == {
        "encoder": ('hparams["opt_class"]', True),
        "inner": ('hparams["opt_class"]', True),
        "head": ('hparams["opt_class"]', True),
        "pretrained": ('hparams["opt_class"]', True),
        "teacher": None,
    }


@pytest.mark.parametrize(
    ("body", "trained", "closed"),
    [
        ("self.o = self.opt_class(self.hparams.model.parameters())", {"encoder", "inner"}, True),
        ("self.o = self.hparams.other_opt_class(self.modules.head.parameters(), lr=1)", {"head"}, True),
        ("self.o = torch.optim.Adam([{'params': self.modules.encoder.parameters()}])", {"encoder"}, True),
        (
            "ps = []\n    for m in [self.modules.encoder, self.modules.head]:\n        ps += list(m.parameters())\n"
            "    self.o = self.opt_class(ps)",
            {"encoder", "head"},
            True,
        ),
        ("self.o = self.opt_class([p for p in self.modules.head.parameters() if p.requires_grad])", {"head"}, True),
        ("self.o = self.opt_class(self.chosen().parameters())", set(), False),
        ("torch.nn.utils.clip_grad_norm_(self.modules.head.parameters(), 1)", set(), True),
        (
            "super().init_optimizers()\n    self.o = self.hparams.other_opt_class(self.hparams.teacher.parameters())",
            {"encoder", "inner", "head", "pretrained", "teacher"},
            True,
        ),
    ],
)
def test_an_optimizer_of_the_brain_trains_what_it_is_given(
    tmp_path: Path, body: str, trained: set[str], closed: bool
) -> None:
    found = registration(tmp_path, f"\ndef init_optimizers(self):\n    {body}")
    assert found.trained is not None
    assert {name for name, status in statuses(found).items() if status.trained} == trained
    assert found.trained.closed is closed


def test_an_optimizer_under_a_condition_that_only_a_run_decides_is_not_certain(tmp_path: Path) -> None:
    methods = """
def init_optimizers(self):
    if self.device == "cpu":
        self.o = self.opt_class(self.modules.head.parameters())
    if not self.hparams.frozen:
        self.p = self.opt_class(self.modules.pretrained.parameters())
    if not self.hparams.pretrained.freeze:
        self.q = self.opt_class(self.modules.encoder.parameters())
"""
    found = statuses(registration(tmp_path, methods))
    assert told(found["head"].trained) == ("self.opt_class", False)
    assert found["pretrained"].trained is None
    assert found["encoder"].trained is None


def test_layers_are_frozen_by_their_arguments_and_by_the_script(tmp_path: Path) -> None:
    setup = '    for p in hparams["head"].parameters():\n        p.requires_grad = False'
    methods = """
def on_fit_start(self):
    self.modules.encoder.requires_grad_(False)
    self.modules.encoder.requires_grad_(True)
    self.modules.wrapper.requires_grad_(False)
"""
    found = statuses(registration(tmp_path, methods, setup))
    assert {name for name, status in found.items() if status.may_be_frozen} == {"head", "inner", "pretrained"}
    assert found["pretrained"].frozen_by_itself
    thawed = statuses(registration(tmp_path, recipe=RECIPE.replace("frozen: true", "frozen: false")))
    assert not thawed["pretrained"].may_be_frozen


def test_layers_that_a_list_of_the_recipe_names_are_frozen(tmp_path: Path) -> None:
    methods = """
def on_stage_start(self, stage, epoch):
    for name in self.hparams.frozen_models:
        if epoch > 5 and name in self.hparams.thawed_models:
            for p in self.modules[name].parameters():
                p.requires_grad = True
        else:
            for p in self.modules[name].parameters():
                p.requires_grad = False
"""
    recipe = RECIPE + "frozen_models: [encoder, head]\nthawed_models: [head]\n"
    found = statuses(registration(tmp_path, methods, recipe=recipe))
    assert {name for name, status in found.items() if status.frozen} == {"encoder", "head"}


@pytest.mark.parametrize(
    "lines",
    [
        "made = self.make(self.opt_class)",
        "made = (lambda modules: self.opt_class(modules.parameters()))(self.modules)",
        "make = functools.partial(self.opt_class, self.modules.parameters())\n    made = make()",
        "made = make(self.opt_class, weights=self.modules.parameters())",
        "made = self.opt_class([{'params': m.parameters()} for m in self.modules.values()])",
        "made = (self.opt_class if self.device else self.opt_class)(self.modules.parameters())",
    ],
)
def test_an_optimizer_is_made_in_any_way(tmp_path: Path, lines: str) -> None:
    methods = f"""
def init_optimizers(self):
    {lines}
    self.optimizer = made

def make(self, opt_class):
    return opt_class(self.modules.parameters())
"""
    setup = "    def make(cls, weights):\n        return cls(weights)\n"
    found = registration(tmp_path, methods, setup)
    assert found.trained is not None
    trained = {name for name, status in statuses(found).items() if status.trained}
    assert trained == {"encoder", "inner", "head", "pretrained"}
    assert found.trained.optimizers


def test_a_checkpointer_saves_what_its_recoverables_register(tmp_path: Path) -> None:
    found = registration(tmp_path)
    assert found.saved is not None
    assert found.saved.exists
    assert found.saved.closed
    assert {name: told(status.saved) for name, status in statuses(found).items() if status.saved} == {
        "encoder": ("recoverables[model]", True),
        "inner": ("recoverables[model]", True),
    }


@pytest.mark.parametrize(
    ("setup", "saved", "closed"),
    [
        ('hparams["checkpointer"].add_recoverable("head", hparams["head"])', True, True),
        ('hparams["checkpointer"].add_recoverables({"head": hparams["head"]})', True, True),
        ('hparams["checkpointer"].recoverables["head"] = hparams["head"]', True, True),
        ('torch.save(hparams["head"].state_dict(), "head.pt")', True, True),
        ('hparams["checkpointer"].add_recoverable("other", make())', False, False),
        ('hparams["checkpointer"].add_recoverables(make())', False, False),
    ],
)
def test_a_script_adds_to_a_checkpointer(tmp_path: Path, setup: str, saved: bool, closed: bool) -> None:
    found = registration(tmp_path, setup=f"    {setup}")
    assert found.saved is not None
    assert (statuses(found)["head"].saved is not None) is saved
    assert found.saved.closed is closed


def test_an_optimizer_that_the_brain_adds_leaves_no_doubt_about_layers(tmp_path: Path) -> None:
    methods = """
def init_optimizers(self):
    self.optimizer = self.opt_class(self.modules.parameters())
    self.checkpointer.add_recoverable("optimizer", self.optimizer)
"""
    found = registration(tmp_path, methods)
    assert found.saved is not None
    assert found.saved.closed


def test_layers_are_used_in_stages_and_learn_where_gradients_are(tmp_path: Path) -> None:
    found = registration(tmp_path)
    layers = statuses(found)
    assert found.used is not None
    stages = {name: {stage for use in status.uses for stage in use.stages} for name, status in layers.items()}
    assert stages["head"] == {"TRAIN", "VALID", "TEST"}
    assert stages["teacher"] == {"TEST"}
    learning = {name for name, status in layers.items() if found.used.learning(status.item)}
    assert learning == {"encoder", "inner", "head"}


@pytest.mark.parametrize(
    ("line", "learns"),
    [
        ("return self.hparams.teacher(x)", True),
        ("return self.hparams.teacher(x).detach()", False),
        ("y = self.hparams.teacher(x)\n    print(y.shape)\n    return y.detach()", False),
        ("y = self.hparams.teacher(x)\n    return y + y.detach()", True),
        ("with torch.inference_mode():\n        return self.hparams.teacher(x)", False),
        ("with torch.set_grad_enabled(x.wanted):\n        return self.hparams.teacher(x)", False),
        ("self.hparams.teacher.eval()\n    return x", False),
    ],
)
def test_gradients_end_where_they_are_cut(tmp_path: Path, line: str, learns: bool) -> None:
    methods = f"\ndef compute_objectives(self, x, batch, stage):\n    {line}"
    found = registration(tmp_path, methods)
    assert found.used is not None
    assert (found.used.learning(statuses(found)["teacher"].item) is not None) is learns


def test_a_decorated_method_records_no_gradients(tmp_path: Path) -> None:
    methods = """
def compute_objectives(self, x, batch, stage):
    return self.judge(x)

@torch.no_grad()
def judge(self, x):
    return self.hparams.teacher(x)
"""
    found = registration(tmp_path, methods)
    assert found.used is not None
    assert found.used.learning(statuses(found)["teacher"].item) is None


def test_what_a_pretrainer_fills_is_known(tmp_path: Path) -> None:
    found = statuses(registration(tmp_path))
    assert told(found["head"].loaded) == ("pretrainer[loadables][head]", False)
    assert found["encoder"].loaded is None


def test_an_inference_recipe_has_modules_and_no_training(tmp_path: Path) -> None:
    path = tmp_path / "hyperparams.yaml"
    path.write_text(
        "lin: !new:torch.nn.Linear [2, 2]\nother: !new:torch.nn.Linear [2, 2]\nmodules:\n    lin: !ref <lin>\n"
        "pretrainer: !new:speechbrain.utils.parameter_transfer.Pretrainer\n    loadables:\n        lin: !ref <lin>\n"
    )
    project = Project(ProjectOptions(tmp_path))
    recipe = project.recipe(path)
    assert recipe is not None
    (found,) = registrations_of(recipe, project)
    assert found.trained is None
    assert found.saved is None
    layers = statuses(found)
    assert told(layers["lin"].moved) == ("modules[lin]", True)
    assert layers["other"].moved is None
