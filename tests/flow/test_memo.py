"""Calls that are given no object are run once for all runs, unless something else comes of them or decides them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from effort import calls_of

from modellint.flow.domain import ANY_ARGUMENTS
from modellint.flow.heap import Shell
from modellint.flow.interp import Interpreter
from modellint.flow.queries import flow
from modellint.flow.runs import started
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    import pytest

CODE = """\
import torch
from torch import nn


def depth():
    return 3


def built(n):
    return [nn.Linear(4, 4) for _ in range(n)]


def options():
    return {"depth": 3}


def even(n):
    return odd(n)


def odd(n):
    return even(n) or depth()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.depth = depth()
        self.layers = built(2)
        self.options = options()
        self.even, self.odd = even(2), odd(2)
"""


class Runs:
    """The bodies that runs on one project go through."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        Path(folder, "model.py").write_text(CODE, encoding="utf-8")
        self.project = Project(ProjectOptions(root=folder))
        self.module = self.project.python(folder / "model.py")
        self.bodies: list[str] = []
        follow = Interpreter.run

        def run(interpreter: Interpreter, code: Any, frame: Any) -> Any:
            self.bodies.append(getattr(code, "name", ""))
            return follow(interpreter, code, frame)

        monkeypatch.setattr(Interpreter, "run", run)

    def new(self) -> tuple[Interpreter, Shell]:
        """An object that is made in a run of its own."""
        assert self.module is not None
        self.bodies.clear()
        run = started(self.project)
        model = self.project.classes.model(self.module.classes["Model"])
        shell = run.objects.subject = Shell("instance", None, (), model, ANY_ARGUMENTS)
        run.objects.initialise(shell, ANY_ARGUMENTS)
        return run, shell


def test_what_a_call_gives_is_known_to_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(tmp_path, monkeypatch)
    first, one = runs.new()
    assert "depth" in runs.bodies
    second, other = runs.new()
    assert "depth" not in runs.bodies
    assert one.get("depth") == other.get("depth")
    assert first.steps == second.steps
    assert {function.name for function in first.calls.done} == {function.name for function in second.calls.done}


def test_what_makes_objects_is_run_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(tmp_path, monkeypatch)
    found = []
    for _ in range(2):
        _, shell = runs.new()
        assert {"built", "options"} <= set(runs.bodies)
        found.append((shell.get("layers"), shell.get("options")))
    assert found[0] != found[1], "each run has objects of its own"


def test_what_a_circle_gives_is_the_same_from_either_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(tmp_path, monkeypatch)
    found = [runs.new()[1] for _ in range(2)]
    for name in ("even", "odd"):
        assert found[0].get(name) == found[1].get(name)


def test_what_calls_itself_with_new_objects_is_followed_a_few_times(tmp_path: Path) -> None:
    """Each call makes a list of its own: told apart, there are as many calls as there are ways from one to the next."""
    path = tmp_path / "model.py"

    def check(methods: int) -> None:
        walks = "".join(
            f"    def walk{i}(self, rows, x):\n        rows = [self.walk{(i + 1) % methods}([rows], x),"
            f" self.walk{(i + 2) % methods}([rows, i], x)]\n"
            "        return rows, self.table(self.head(x).argmax(-1))\n\n"
            for i in range(methods)
        )
        made = "        self.table, self.head = nn.Embedding(10, 4), nn.Linear(4, 10)\n\n"
        head = (
            "from torch import nn\n\n\nclass Walks(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        )
        path.write_text(head + made + walks, encoding="utf-8")
        project = Project(ProjectOptions(root=tmp_path))
        module = project.python(path)
        assert module is not None
        assert list(flow(module, project).lookups())

    check(1)  # what is imported counts for neither
    few = calls_of(lambda: check(3))
    assert calls_of(lambda: check(6)) < 8 * few
