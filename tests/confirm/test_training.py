"""What a training keeps of a recipe: told by the identity of objects that were built, never by names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from served import served

from modellint.claims.layers import MovedLate, NotListed
from modellint.claims.recipes import NotSaved, NotTrained, NotWrapped, OptimizerNotSaved
from modellint.confirm.child import answer
from modellint.confirm.plan import Group
from modellint.finding import Status, Verdict
from modellint.link.project import Project, ProjectOptions
from modellint.pipeline.anchors import add_anchors
from modellint.probes import Probe, Target
from modellint.source import Place, Span

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.claims import Claim

RECIPE = """\
encoder: !new:torch.nn.Linear [8, 4]
head: !new:torch.nn.Linear [4, 2]
other: !copy <head>
frozen: !new:torch.nn.ReLU
model: !new:torch.nn.ModuleList
    - [!ref <encoder>]
counter: !new:collections.Counter
modules:
    encoder: !ref <encoder>
    lin: !ref <head>
    act: !ref <frozen>
opt_class: !name:torch.optim.SGD
    lr: 0.1
checkpointer: !new:keeper.Checkpointer
    checkpoints_dir: save
    recoverables:
        model: !ref <model>
        counter: !ref <counter>
"""
#: As a framework does it: the folder is made at once, which is not allowed here.
KEEPER = """
import os


class Checkpointer:
    def __init__(self, checkpoints_dir, recoverables):
        if {makes}:
            os.makedirs(os.path.join(os.path.dirname(__file__), checkpoints_dir))
        self.recoverables = recoverables
"""
SCRIPT = """
from framework_that_nobody_has import Brain


class Model(Brain):
    def init_optimizers(self):
        self.optimizer = self.opt_class({given}.parameters())
        {more}
"""


def verdicts_of(folder: Path, *claims: Claim, recipe: str = RECIPE, is_blocked: bool = True) -> Any:
    """The verdicts on claims, which share a process."""
    (folder / "keeper.py").write_text(KEEPER.replace("{makes}", str(is_blocked)))
    path = folder / "hparams.yaml"
    path.write_text(recipe)
    target = Target(path, script=folder / "train.py")
    project = Project(ProjectOptions(root=folder))
    group = Group(
        target, tuple((number, Probe(target, add_anchors(claim, project))) for number, claim in enumerate(claims))
    )
    answered = answer(group, served())
    return [answered[number] for number in range(len(claims))]


def verdict_of(folder: Path, claim: Claim, recipe: str = RECIPE) -> Verdict:
    (verdict,) = verdicts_of(folder, claim, recipe=recipe)
    assert isinstance(verdict, Verdict)
    return verdict


def in_recipe(folder: Path) -> Place:
    return Place((folder / "hparams.yaml").as_posix(), Span(1, 1, 1, 1))


def not_wrapped(script: Path, key: str, entry: str, call: str) -> NotWrapped:
    called = Place(script.as_posix(), Span(11, 9, 11, 9 + len(call)))
    return NotWrapped(in_recipe(script.parent), key, entry, str(script), "Model", called)


SAVED = [
    ("head", Status.CONFIRMED, "what is saved, `model`, `counter`, holds none of the 2 parameters of `head`"),
    ("other", Status.CONFIRMED, "none of the 2 parameters of `other`"),
    ("encoder", Status.REFUTED, "`recoverables` hold all 2 parameters of `encoder`"),
    ("frozen", Status.REFUTED, "`frozen` has no parameters that learn"),
    ("counter", Status.REFUTED, "`recoverables` hold `counter`"),
    ("opt_class", Status.CONFIRMED, "is in none of the `recoverables`: `model`, `counter`"),
    ("nothing", Status.UNCONFIRMED, "the recipe has no such object"),
]


@pytest.mark.parametrize("is_blocked", [True, False])
def test_what_is_saved(tmp_path: Path, is_blocked: bool) -> None:
    claims = [NotSaved(in_recipe(tmp_path), key, "checkpointer") for key, _, _ in SAVED]
    found = verdicts_of(tmp_path, *claims, is_blocked=is_blocked)
    assert [verdict.status for verdict in found] == [status for _, status, _ in SAVED]
    for (_, _, says), verdict in zip(SAVED, found, strict=True):
        assert says in verdict.detail
    assert not (tmp_path / "save").exists()


def test_what_an_object_that_could_not_be_built_saves_is_not_known(tmp_path: Path) -> None:
    recipe = RECIPE.replace("torch.nn.ModuleList", "package_that_nobody_has.Everything").replace(
        "[!ref <encoder>]", "[!ref <encoder>, !ref <head>]"
    )
    verdict = verdict_of(tmp_path, NotSaved(in_recipe(tmp_path), "head", "checkpointer"), recipe)
    assert verdict.status is Status.UNCONFIRMED
    assert "`head` is passed to `model`, which could not be built" in (verdict.detail or "")


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("self.modules", Status.REFUTED),
        ("self.modules.lin", Status.REFUTED),
        ("self.hparams.head", Status.REFUTED),
        ("self.hparams.other", Status.CONFIRMED),
        ("self.hparams.model", Status.CONFIRMED),
        ("self.hparams.nothing", Status.UNCONFIRMED),
    ],
)
def test_what_the_optimizer_of_a_brain_is_given(tmp_path: Path, given: str, status: Status) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace("{given}", given).replace("{more}", ""))
    verdict = verdict_of(tmp_path, NotTrained(in_recipe(tmp_path), "head", str(script), "Model"))
    assert verdict.status is status, verdict
    if status is Status.CONFIRMED:
        assert "made 1 optimizer with 2 parameters, 0 of the 2 of `head` among them" in (verdict.detail or "")


@pytest.mark.parametrize(
    ("more", "status"),
    [("", Status.CONFIRMED), ('self.checkpointer.add_recoverable("optimizer", self.optimizer)', Status.REFUTED)],
)
def test_whether_an_optimizer_is_handed_to_the_checkpointer(tmp_path: Path, more: str, status: Status) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace("{given}", "self.modules").replace("{more}", more))
    made = Place(script.as_posix(), Span(7, 1, 7, 80))
    verdict = verdict_of(tmp_path, OptimizerNotSaved(in_recipe(tmp_path), str(script), "Model", made))
    assert verdict.status is status, verdict


def test_an_optimizer_of_a_layer_that_cannot_be_built_is_asked_about_all_the_same(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    given = "self.modules.encoder"
    script.write_text(SCRIPT.replace("{given}", given).replace("{more}", ""))
    made = Place(script.as_posix(), Span(7, 1, 7, 80))
    for layer in ("package_that_nobody_has.Layer", "torch.nn.Transformer [-3, 0]"):
        recipe = RECIPE.replace("torch.nn.Linear [8, 4]", layer)
        claim = OptimizerNotSaved(in_recipe(tmp_path), str(script), "Model", made)
        verdict = verdict_of(tmp_path, claim, recipe=recipe)
        assert verdict.status is Status.CONFIRMED, verdict


CONSTRUCTED = """
from framework_that_nobody_has import Brain


class Model(Brain):
    def __init__(self, modules, opt_class, hparams, run_opts, checkpointer{more}):
        super().__init__(modules, opt_class, hparams, run_opts, checkpointer)
        self.given = self.modules.encoder

    def init_optimizers(self):
        self.optimizer = self.opt_class(self.given.parameters())
"""


@pytest.mark.parametrize(("more", "status"), [("", Status.CONFIRMED), (", unknown", Status.UNCONFIRMED)])
def test_what_a_brain_keeps_when_it_is_made_is_there(tmp_path: Path, more: str, status: Status) -> None:
    script = tmp_path / "train.py"
    script.write_text(CONSTRUCTED.replace("{more}", more))
    verdict = verdict_of(tmp_path, NotTrained(in_recipe(tmp_path), "head", str(script), "Model"))
    assert verdict.status is status, verdict
    verdict = verdict_of(tmp_path, NotTrained(in_recipe(tmp_path), "encoder", str(script), "Model"))
    assert verdict.status is (Status.REFUTED if status is Status.CONFIRMED else status), verdict


CALLS = """
from framework_that_nobody_has import Brain


class Model(Brain):
    @property
    def whole(self):
        return self.hparams.head

    def compute_forward(self, batch, stage):
        {call}(batch)
"""
WRAPPED = [
    ("self.hparams.head", Status.CONFIRMED, "a call of it exchanges 0 gradients with the other process, one of"),
    ("self.hparams.modules['lin']", Status.CONFIRMED, "`self.hparams.modules['lin']` is the very module inside of"),
    ("self.hparams.head.forward", Status.CONFIRMED, "exchanges 0 gradients"),
    ("self.whole", Status.CONFIRMED, "`self.whole` is the very module inside of the wrapper of `modules[lin]`"),
    ("self.modules.lin", Status.REFUTED, "`self.modules.lin` is what the framework wraps"),
    ("self.mods.lin.forward", Status.REFUTED, "is what the framework wraps"),
    ("self.hparams.other", Status.REFUTED, "`self.hparams.other` and `modules[lin]` are two objects"),
    ("layer", Status.UNCONFIRMED, "NameError: name 'layer' is not defined"),
]


def test_what_goes_around_the_wrapper(tmp_path: Path) -> None:
    claims = []
    for number, (call, _, _) in enumerate(WRAPPED):
        script = tmp_path / f"train{number}.py"
        script.write_text(CALLS.replace("{call}", call))
        key = call.rpartition(".")[2] if "other" in call else "head"
        claims.append(not_wrapped(script, key, "modules[lin]", call))
    found = verdicts_of(tmp_path, *claims)
    assert [verdict.status for verdict in found] == [status for _, status, _ in WRAPPED], found
    for (_, _, says), verdict in zip(WRAPPED, found, strict=True):
        assert says in verdict.detail


@pytest.mark.parametrize(
    ("call", "status"),
    [
        ("self.modules.lin", Status.REFUTED),
        ("self.modules.lin.part", Status.UNCONFIRMED),
        ("self.hparams.head", Status.UNCONFIRMED),
    ],
)
def test_the_entry_of_what_could_not_be_built_is_wrapped_all_the_same(
    tmp_path: Path, call: str, status: Status
) -> None:
    script = tmp_path / "train.py"
    script.write_text(CALLS.replace("{call}", call))
    recipe = RECIPE.replace("head: !new:torch.nn.Linear", "head: !new:package_that_nobody_has.Head")
    assert recipe != RECIPE
    verdict = verdict_of(tmp_path, not_wrapped(script, "head", "modules[lin]", call), recipe)
    assert verdict.status is status, verdict


def test_what_has_nothing_to_train_is_not_wrapped(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(CALLS.replace("{call}", "self.hparams.frozen"))
    verdict = verdict_of(tmp_path, not_wrapped(script, "frozen", "modules[act]", "self.hparams.frozen"))
    assert verdict.status is Status.REFUTED
    assert "no parameters to train, so that nothing wraps it" in (verdict.detail or "")


MODEL = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.encoder = nn.Linear(width, width)
        self.head = nn.Linear(width, 2)


def train(model: Model, batches):
    optimizer = torch.optim.SGD({given}, lr=0.1)
    for batch in batches:
        raise RuntimeError("there is no data")
"""


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ("model.encoder.parameters()", Status.CONFIRMED),
        ("model.parameters()", Status.REFUTED),
        ("[p for name, p in model.named_parameters() if 'head' in name]", Status.REFUTED),
        ("unknown(model)", Status.UNCONFIRMED),
    ],
)
def test_what_the_optimizer_of_a_file_is_given(tmp_path: Path, given: str, status: Status) -> None:
    path = tmp_path / "train.py"
    path.write_text(MODEL.replace("{given}", given))
    target = Target(path, "Model")
    claim = NotListed(Place(path.as_posix(), Span(14, 17, 14, 60)), "Model", "head", "train")
    group = Group(target, ((0, Probe(target, claim)),))
    verdict = answer(group, served())[0]
    assert verdict.status is status, verdict


LAZY = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.encoder = nn.Linear(width, width)
        self.head = None

    def forward(self, x):
        found = self.encoder(x)
        if self.head is None{more}:
            self.head = nn.Linear(found.shape[-1], 2)
        return self.head(found)


def train(batches):
    model = Model(16)
    {before}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches:
        model(batch).sum().backward()
"""


@pytest.mark.parametrize(
    ("before", "more", "status"),
    [
        ("pass", "", Status.CONFIRMED),
        ("model(torch.zeros(1, 16))", "", Status.REFUTED),
        ("pass", " and x is None", Status.UNCONFIRMED),
    ],
)
def test_what_a_model_makes_at_its_first_call(tmp_path: Path, before: str, more: str, status: Status) -> None:
    path = tmp_path / "train.py"
    path.write_text(LAZY.replace("{before}", before).replace("{more}", more))
    target = Target(path, "Model")
    claim = NotListed(Place(path.as_posix(), Span(22, 17, 22, 67)), "Model", "head", "train")
    verdict = answer(Group(target, ((0, Probe(target, claim)),)), served())[0]
    assert verdict.status is status, verdict


LATE = """
import torch


def fit(target, device):
    image = torch.rand(4, {made}requires_grad=True)
    {before}
    optimizer = torch.optim.LBFGS([image])
    image = image.to({to})

    def loss():
        found = ({used} - target).sum()
        found.backward()
        return found

    for _ in range(3):
        optimizer.step(loss)
"""


@pytest.mark.parametrize(
    ("made", "to", "used", "status"),
    [
        ("", "target.device", "image", Status.CONFIRMED),
        ("", "device", "image", Status.CONFIRMED),
        ("device=target.device, ", "target.device", "image", Status.REFUTED),
        ("", "'cpu'", "image", Status.UNCONFIRMED),
        ("", "target.device", "first", Status.UNCONFIRMED),
        ("size=0, ", "target.device", "image", Status.UNCONFIRMED),
    ],
)
def test_what_is_moved_once_an_optimizer_has_it(tmp_path: Path, made: str, to: str, used: str, status: Status) -> None:
    path = tmp_path / "fit.py"
    text = LATE.replace("{made}", made).replace("{to}", to).replace("{used}", used)
    path.write_text(text.replace("{before}", "first = image"))
    target = Target(path, "fit")
    places = [Place(path.as_posix(), Span(line, 13, line, 40)) for line in (9, 8)]
    verdict = answer(Group(target, ((0, Probe(target, MovedLate(*places, "fit"))),)), served())[0]
    assert verdict.status is status, verdict
