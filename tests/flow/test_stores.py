"""What constructors store: each run notes it when it happens, and finds it out when somebody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from modellint.flow.domain import ANY_ARGUMENTS
from modellint.flow.heap import Shell
from modellint.flow.interp import Interpreter
from modellint.flow.lookups import Lookups
from modellint.flow.runs import started, tensor_run
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
from torch import nn


def made(n):
    return nn.Linear(n, n)


class Base(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.width = n
        self.first = made(n)
        self.layers = [self.first]
        self.extend()

    def extend(self):
        self.layers = [*self.layers, nn.GELU()]


class Idle(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.width = n
        self.first = made(n)


class Own(Base):
    def __setattr__(self, name, value):
        super().__setattr__(name, value)
"""


def built(folder: Path, kind: str, name: str = "Base") -> tuple[Interpreter, Shell]:
    """An object of a class, in a run that looks up, that knows layers only, or that is about the object."""
    (folder / "model.py").write_text(CODE, encoding="utf-8")
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / "model.py")
    assert module is not None
    run = tensor_run(project, Lookups)[0] if kind == "look-ups" else started(project)
    shell = Shell("instance", None, (1,), project.classes.model(module.classes[name]), ANY_ARGUMENTS)
    if kind == "subject":
        run.objects.subject = shell
    run.objects.construct(shell)
    return run, shell


def shown(shell: Shell) -> dict[str, list[str]]:
    """The layers that an object stores under each attribute, in order, by their classes."""
    found: dict[str, list[str]] = {}
    for store in shell.stores:
        atoms = [atom for atom in store.atoms if isinstance(atom, Shell)]
        layers = [part for atom in atoms for part in (atom.contents() if atom.is_container else (atom,))]
        models = [one.model for one in layers if isinstance(one, Shell)]
        found[str(store.name)] = [model.name.rpartition(".")[2] for model in models if model is not None]
    return found


@pytest.mark.parametrize("name", ["Base", "Own"])
@pytest.mark.parametrize("kind", ["look-ups", "layers", "subject"])
def test_all_runs_answer_the_same(tmp_path: Path, kind: str, name: str) -> None:
    _, shell = built(tmp_path, kind, name)
    assert shown(shell) == {"width": [], "first": ["Linear"], "layers": ["Linear", "GELU"]}


def test_nothing_is_run_for_what_nobody_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies: list[str] = []
    follow = Interpreter.run

    def run(interpreter: Interpreter, code: Any, frame: Any) -> Any:
        bodies.append(getattr(code, "name", ""))
        return follow(interpreter, code, frame)

    monkeypatch.setattr(Interpreter, "run", run)
    _, shell = built(tmp_path, "look-ups", "Idle")
    assert [store.name for store in shell.stores] == ["width", "first"]
    assert bodies == ["__init__"]
    shell.find_out()
    assert bodies == ["__init__", "made"]
