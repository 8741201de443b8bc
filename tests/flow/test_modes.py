"""Training mode and evaluation mode, as rules see them: which layers act by it, who sets it, and who runs in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.flow import queries
from modellint.flow.queries import Act
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
import torch
from torch import nn
from torchvision import models


"""
NET = """\
class Net(nn.Module):
    def __init__(self, rate=0.1):
        super().__init__()
        self.out = nn.Sequential(nn.Linear(3, 3), nn.Dropout(rate))
        self.plain = nn.Linear(3, 3)

    def forward(self, x):
        return self.out(x)

    def score(self, x):
        return self.out(x)

    def distance(self, x, y):
        return (x - y).abs().mean()


"""


def module_of(folder: Path, text: str) -> tuple[queries.ModeCourse, Project]:
    """The course of the function `main` of a file, and the project."""
    (folder / "main.py").write_text(HEAD + NET + text)
    project = Project(ProjectOptions(folder))
    module = project.python(folder / "main.py")
    assert module is not None
    (course,) = queries.mode_courses([module.functions["main"]], project)
    return course, project


def acts(course: queries.ModeCourse) -> list[str]:
    return [one.act.value for one in course.actions]


def in_main(*lines: str) -> str:
    return "\n".join(("def main(path, x):", *(f"    {line}" for line in lines), ""))


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("nn.Dropout()", True),
        ("nn.Dropout(0.0)", False),
        ("nn.Dropout(path)", None),
        ("nn.Linear(3, 3)", False),
        ("nn.BatchNorm2d(3)", True),
        ("nn.BatchNorm2d(3, track_running_stats=False)", False),
        ("nn.LayerNorm(3)", False),
        ("nn.Sequential(nn.Linear(3, 3), nn.ReLU())", False),
        ("nn.Sequential(*[nn.Linear(3, 3), nn.Dropout(0.5)])", True),
        ("nn.Sequential(*[nn.BatchNorm1d(3) for _ in range(4)])", True),
        ("nn.ModuleList([nn.Linear(3, 3), nn.Dropout(0.5)])", True),
        ("nn.TransformerEncoderLayer(8, 2)", True),
        ("nn.TransformerEncoderLayer(8, 2, dropout=0.0)", False),
        ("Net()", True),
        ("Net(0.0)", False),
        ("Net(path)", None),
        ("models.resnet18()", True),
        ("models.vit_b_16()", None),
        ("models.unknown()", None),
    ],
)
def test_layers_that_act_by_mode(tmp_path: Path, made: str, expected: bool | None) -> None:
    course, project = module_of(tmp_path, in_main(f"net = {made}", "net(x)"))
    value = course.actions[-1].value.callee
    assert queries.acts_by_mode(queries.Operand(value, course.function, project)) is expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("net = Net()", "net.eval()", "net(x)", "net.train()"), ["eval", "run", "train"]),
        (("net = Net()", "net.train(False)", "net.train(True)", "net.train(x)"), ["eval", "train", "mode"]),
        (("net = Net()", "net.training = False"), ["mode"]),
        (("net = Net()", "net.load_state_dict(torch.load(path))", "net.forward(x)"), ["load", "run"]),
        (("net = Net().to(x.device)", "net(x).sum().backward()"), ["run", "backward"]),
        (("net = Net()", "torch.jit.trace(net, x)", "torch.onnx.export(net, x, path)"), ["record"]),
        (("net = Net()", "torch.onnx.export(net, x, path, dynamo=True)"), ["record"]),
        (("net = Net()", "net.score(x)"), ["run", "run"]),
        (("path.exists(x)",), ["other"]),
    ],
)
def test_the_acts_of_a_function(tmp_path: Path, lines: tuple[str, ...], expected: list[str]) -> None:
    course, _ = module_of(tmp_path, in_main(*lines))
    kinds = [one for one in acts(course) if one != "other" or expected == ["other"]]
    assert kinds == expected
    assert course.is_whole


def test_a_helper_acts_on_the_object_of_its_caller(tmp_path: Path) -> None:
    helper = "def quiet(net):\n    net.eval()\n\n\n"
    course, _ = module_of(tmp_path, helper + in_main("one, two = Net(), Net()", "quiet(one)", "two(x)"))
    (set_to_eval,) = course.of(Act.EVAL)
    (run,) = course.of(Act.RUN)
    one = course.objects(set_to_eval, set_to_eval.subject)
    two = course.objects(run, run.subject)
    assert one is not None
    assert two is not None
    assert one != two
    assert not course.may_be_related(one, two)


def test_wrappers_hold_the_same_object(tmp_path: Path) -> None:
    lines = ("net = Net()", "net.eval()", "net = nn.DataParallel(net.cuda())", "net(x)", "net.module(x)")
    course, _ = module_of(tmp_path, in_main(*lines))
    found = {course.objects(one, one.subject) for one in course.of(Act.EVAL, Act.RUN)}
    assert len(found) == 1


def test_runs_without_gradients(tmp_path: Path) -> None:
    helper = "@torch.no_grad()\ndef run(net, x):\n    return net(x)\n\n\n"
    lines = ("net = Net()", "net(x)", "run(net, x)", "with torch.inference_mode():", "    net(x)")
    course, _ = module_of(tmp_path, helper + in_main(*lines))
    assert [course.is_quiet(one) for one in course.of(Act.RUN)] == [False, True, True]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("set_up(net)", True),
        ("set_up(path)", False),
        ("set_up(net.parameters())", False),
        ("set_up(net.forward)", True),
        ("net.apply(print)", True),
        ("Path(path).exists()", False),
        ("watch = Watch(net); watch.begin()", True),
        ("optimizer = torch.optim.SGD(net.parameters(), 0.1); optimizer.step()", False),
    ],
)
def test_code_out_of_sight_that_gets_an_object(tmp_path: Path, line: str, expected: bool) -> None:
    text = "from elsewhere import Path, Watch, set_up\n\n\n" + in_main("net = Net()", *line.split("; "), "net(x)")
    course, _ = module_of(tmp_path, text)
    run = course.of(Act.RUN)[-1]
    keys = course.objects(run, run.subject)
    assert keys is not None
    assert any(course.may_hand_over(one, keys) for one in course.of(Act.OTHER, Act.RUN)) is expected


def test_methods_that_learn(tmp_path: Path) -> None:
    course, project = module_of(tmp_path, in_main("net = Net()", "net(x)"))
    model = queries.Operand(course.actions[-1].value.callee, course.function, project).object_class()
    assert model is not None
    methods = {name: model.method(name) for name in ("forward", "score", "distance")}
    assert [queries.learns_from(one, model, project) for one in methods.values() if one] == [True, True, False]
    assert [queries.runs_parts(one, model, project) for one in methods.values() if one] == [True, True, False]
