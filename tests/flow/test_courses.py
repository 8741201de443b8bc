"""The steps of training, as rules see them: the parts in order, with those of helpers, and the loops around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.flow import queries
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
import torch
from torch import nn


"""
LOOP = """\
def train(model: nn.Module, loader):
    optimizer = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    for inputs in loader:
{body}
"""


def courses_of(folder: Path, files: dict[str, str], name: str = "train.py") -> list[queries.Course]:
    for path, text in files.items():
        (folder / path).write_text(HEAD + text)
    project = Project(ProjectOptions(folder))
    module = project.python(folder / name)
    assert module is not None
    return queries.courses(module, project)


def acts(course: queries.Course) -> list[str]:
    """The kinds of the actions that can be read."""
    return [one.act.value for one in course.actions if one.act is not queries.Act.OTHER]


def in_loop(*lines: str) -> str:
    return LOOP.format(body="\n".join(f"        {line}" for line in lines))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("model(inputs).mean().backward()", "optimizer.step()"), ["backward", "step"]),
        (("optimizer.zero_grad()", "torch.autograd.backward(model(inputs))"), ["clear", "backward"]),
        (("model(inputs).backward()", "for p in model.parameters(): p.grad = None"), ["backward", "set"]),
        (("model(inputs).backward()", "model.weight.grad.zero_()"), ["backward", "set"]),
        (("scheduler.step()", "model(inputs).backward()"), ["schedule", "backward"]),
        (("model(inputs).backward()", "nn.utils.clip_grad_norm_(model.parameters(), 1)"), ["backward", "clip"]),
        (("loader.backward(model(inputs))", "loader.step()"), ["engine"]),
    ],
)
def test_the_parts_of_a_step(tmp_path: Path, lines: tuple[str, ...], expected: list[str]) -> None:
    (course,) = courses_of(tmp_path, {"train.py": in_loop(*lines)})
    assert acts(course) == expected
    assert all(one.loops for one in course.of(queries.Act.BACKWARD))


def test_a_scaler_unscales_steps_and_updates(tmp_path: Path) -> None:
    text = in_loop(
        "scaler.scale(model(inputs).mean()).backward()",
        "if inputs.sum() > 0:",
        "    scaler.unscale_(optimizer)",
        "scaler.step(optimizer)",
        "scaler.update()",
    ).replace("    for inputs", '    scaler = torch.amp.GradScaler("cuda")\n    for inputs')
    (course,) = courses_of(tmp_path, {"train.py": text})
    assert acts(course) == ["backward", "unscale", "step", "update"]
    (turn,) = course.turns()
    assert turn.step.name == "optimizer"
    assert turn.step.scaler is not None


def test_a_helper_does_its_part_where_it_is_called(tmp_path: Path) -> None:
    files = {
        "steps.py": "def improve(net, solver, batch):\n    net(batch).mean().backward()\n    solver.step()\n",
        "train.py": "from steps import improve\n\n\n"
        + in_loop("optimizer.zero_grad()", "improve(model, optimizer, inputs)"),
    }
    found = courses_of(tmp_path, files, "steps.py")
    assert [course.function.name for course in found] == ["improve", "train"]
    alone, whole = found
    assert acts(alone) == ["backward", "step"]
    assert acts(whole) == ["clear", "backward", "step"]
    (turn,) = whole.turns()
    assert turn.step.function is alone.function
    assert [function.name for function in turn.step.functions] == ["train", "improve"]


def test_the_innermost_loop_around_both_is_the_turn(tmp_path: Path) -> None:
    text = in_loop("for part in inputs:", "    model(part).mean().backward()", "optimizer.step()")
    (course,) = courses_of(tmp_path, {"train.py": text})
    (turn,) = course.turns()
    assert [len(one.loops) for one in (*turn.losses, turn.step)] == [2, 1]
    assert turn.loop is turn.step.loops[0]


def test_a_file_that_never_goes_backward_costs_nothing(tmp_path: Path) -> None:
    assert courses_of(tmp_path, {"train.py": in_loop("optimizer.step()")}) == []


def test_a_call_hands_over_what_holds_gradients(tmp_path: Path) -> None:
    text = in_loop("model(inputs).mean().backward()", "loader.show(inputs)", "loader.tell(model)")
    (course,) = courses_of(tmp_path, {"train.py": text})
    shown = {one.function.module.text_of(one.value): queries.hands_over(one) for one in course.of(queries.Act.OTHER)}
    assert shown["loader.show(inputs)"] is False
    assert shown["loader.tell(model)"] is True
