"""Calls that wait in constructors: what they store is there when it is asked for, as if they had not waited."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from modellint.flow import interp, objects
from modellint.flow.domain import ANY_ARGUMENTS, UNKNOWN, Ids
from modellint.flow.effects import effects
from modellint.flow.gate import Keepers
from modellint.flow.heap import Shell
from modellint.flow.queries import flow
from modellint.flow.queries.shapes import refused_operations
from modellint.flow.runs import tensor_run
from modellint.flow.table_reads import TableReads
from modellint.flow.theory import MOST_MADE
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

BASE = """\
from torch import nn

from maker import Maker


class Base(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows
        {body}

    def kept(self):
        return self.tables

    def prepare(self):
        {method}
"""
MAKER = """\
from torch import nn


class Maker:
    def fill(self, model):
        model.table = nn.Embedding(model.rows, 8)
"""
MODEL = """\
import torch
from torch import nn

from base import Base


class Model(Base):
    def __init__(self, width):
        super().__init__(1024)
        self.head = nn.Linear(width, 1028)
        {after}

    def forward(self, x):
        return {use}(self.head(x).argmax(-1))
"""


def rows_looked_up(folder: Path, body: str, method: str, after: str = "pass", use: str = "self.table") -> set[str]:
    """How many rows the tables have that the drawn ids look up."""
    (folder / "base.py").write_text(BASE.format(body=body, method=dedent(method).replace("\n", "\n        ")))
    (folder / "maker.py").write_text(MAKER)
    (folder / "model.py").write_text(MODEL.format(after=after, use=use))
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / "model.py")
    assert module is not None
    return {str(one.rows) for one in flow(module, project).lookups() if isinstance(one.element, Ids)}


@pytest.mark.parametrize(
    "method",
    [
        "self.table = nn.Embedding(self.rows, 8)",
        'setattr(self, "table", nn.Embedding(self.rows, 8))',
        'self.add_module("table", nn.Embedding(self.rows, 8))',
    ],
)
def test_what_a_method_of_another_file_stores_is_there_when_it_is_asked_for(tmp_path: Path, method: str) -> None:
    assert rows_looked_up(tmp_path, "self.prepare()", method) == {"1024"}


MADE = "self.table = nn.Embedding(self.rows, 8)"
TWICE = MADE + "\n\ndef again(self):\n    self.table = nn.Embedding(2 * self.rows, 8)"


@pytest.mark.parametrize(
    ("body", "method", "use"),
    [
        ("self.prepare(); self.table = nn.Embedding(4096, 8)", MADE, "self.table"),
        ("self.table = nn.Embedding(4096, 8); self.prepare()", MADE, "self.table"),
        ("self.prepare(); self.rows = 2048", MADE, "self.table"),
        ("self.prepare(); self.again()", TWICE, "self.table"),
        ("self.again(); self.prepare()", TWICE, "self.table"),
        ("self.prepare() if rows else self.again()", TWICE, "self.table"),
        ("self.part = nn.Module(); self.prepare()", "self.part.table = nn.Embedding(self.rows, 8)", "self.part.table"),
        ("self.maker = Maker(); self.prepare()", "self.maker.fill(self)", "self.table"),
        ("self.tables = []; self.prepare()", "self.kept().append(nn.Embedding(self.rows, 8))", "self.tables[0]"),
        (
            "tables = []; self.tables = tables; self.prepare(); self.kept = nn.ModuleList(tables)",
            "self.tables.append(nn.Embedding(self.rows, 8))",
            "self.kept[0]",
        ),
    ],
)
def test_waiting_changes_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, method: str, use: str
) -> None:
    waited = rows_looked_up(tmp_path, body, method, use=use)
    monkeypatch.setattr(objects.Objects, "puts_off", lambda *_: False)
    assert rows_looked_up(tmp_path, body, method, use=use) == waited


def test_what_is_stored_after_a_call_takes_its_place(tmp_path: Path) -> None:
    assert rows_looked_up(tmp_path, "self.prepare(); self.table = nn.Embedding(4096, 8)", MADE) == {"4096"}


def test_what_nobody_asks_for_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[str] = []
    follow = interp.Interpreter.run

    def noted(self: interp.Interpreter, code: object, frame: interp.Frame) -> object:
        run.append("" if frame.function is None else frame.function.name)
        return follow(self, code, frame)  # type: ignore[arg-type]

    monkeypatch.setattr(interp.Interpreter, "run", noted)
    body = "self.table = nn.Embedding(rows, 8); self.prepare()"
    assert rows_looked_up(tmp_path, body, "self.plan = {}\nself.plan.update(a=self.rows)") == {"1024"}
    assert "prepare" not in run


EACH_OTHER = """\
from torch import nn


class Base(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def finish(self):
        self.enable()

    def enable(self, every=1):
        if self.is_old("enable_old"):
            self.enable_old(every=every)
        else:
            self.set_up(every)

    def enable_old(self, every=1):
        if self.is_old("enable_old"):
            self.set_up(every)
        else:
            self.enable(every=every)

    def is_old(self, name):
        return getattr(type(self), name) is not getattr(Base, name)

    def set_up(self, every):
        self.every = every
        self.step = nn.Linear(8, 8)
"""
OF_EACH_OTHER = """\
from torch import nn

from base import Base


class Model(Base):
    def __init__(self, rows):
        super().__init__(rows)
        self.table = nn.Embedding(rows, 8)
        self.finish()
        self.head = nn.Linear(8, 1028)

    def forward(self, ids):
        return self.head(self.step(self.table(ids)) * self.every)


class Pair(nn.Module):
    def __init__(self, rows):
        super().__init__()
        self.one = Model(rows)
        self.other = Model(rows)

    def forward(self, ids):
        return self.one(ids) + self.other(ids)
"""


def test_methods_that_call_each_other_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[str] = []
    follow = interp.Interpreter.run

    def noted(self: interp.Interpreter, code: object, frame: interp.Frame) -> object:
        run.append("" if frame.function is None else frame.function.name)
        return follow(self, code, frame)  # type: ignore[arg-type]

    monkeypatch.setattr(interp.Interpreter, "run", noted)
    (tmp_path / "base.py").write_text(EACH_OTHER)
    (tmp_path / "model.py").write_text(OF_EACH_OTHER)
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    assert refused_operations(module, project) == []
    assert run.count("enable") <= 2
    assert run.count("set_up") <= 4


WIDTHS = """\
from torch import nn

from settings import Settings


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        settings = Settings()
        self.net = nn.Sequential(nn.Linear(8, settings.width), nn.Linear(32, 8))
"""


@pytest.mark.parametrize(("lines", "found"), [(8, ["[*, 16]"]), (MOST_MADE, [])])
def test_an_object_of_a_long_constructor_is_unknown(tmp_path: Path, lines: int, found: list[str]) -> None:
    further = "".join(f"\n        self.a{number} = [{number}]" for number in range(lines))
    settings = f"class Settings:\n    def __init__(self):\n        self.width = 16{further}\n"
    (tmp_path / "settings.py").write_text(settings)
    (tmp_path / "model.py").write_text(WIDTHS)
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    assert [one.left for one in refused_operations(module, project)] == found
    assert list(project.budget.cut) == ([] if found else ["shapes of `Model.__init__`"])


OPTIONS = """\
import logging

logger = logging.getLogger(__name__)


def silence(handler):
    logger.propagate = False


class Options:
    def __init__(self, rows):
        self.rows = rows
        self.validate()

    def validate(self):
        if self.rows < 1:
            silence(None)


def options_of(rows):
    return Options(rows)
"""


def test_an_object_that_is_made_when_an_attribute_is_asked_for_calls_no_more_than_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its class stands in another file; and what it stores in an object of no class of the project nobody asks for."""
    (tmp_path / "options.py").write_text(OPTIONS)
    source = """\
    from torch import nn

    from options import options_of


    class Model(nn.Module):
        def __init__(self, rows):
            super().__init__()
            self.options = options_of(rows)
    """
    (tmp_path / "model.py").write_text(dedent(source))
    project = Project(ProjectOptions(root=tmp_path))
    module = project.python(tmp_path / "model.py")
    assert module is not None
    ran: list[str] = []
    run = interp.Interpreter.run

    def noted(self: interp.Interpreter, code: object, frame: interp.Frame) -> object:
        ran.append("" if frame.function is None else frame.function.qualname)
        return run(self, code, frame)  # type: ignore[arg-type]

    monkeypatch.setattr(interp.Interpreter, "run", noted)
    lookups_run, _ = tensor_run(project, TableReads)
    model = project.classes.model(module.classes["Model"])
    shell = Shell("instance", None, (0,), model, ANY_ARGUMENTS)
    lookups_run.objects.construct(shell)
    options = shell.get("options")
    assert options is not None
    (made,) = options
    assert isinstance(made, Shell)
    lookups_run.objects.construct(made)
    made.set("rows", UNKNOWN)
    assert "Options.__init__" in ran
    assert "Options.validate" not in ran


@pytest.mark.parametrize(
    "method",
    [
        "maker = self.maker\nmaker.fill(self)",
        "self.kept().append(self.rows)\nself.other = nn.Linear(8, 8)",
        "setattr(self, self.rows, 1)",
        "self.__dict__.update(table=nn.Embedding(self.rows, 8))",
    ],
)
def test_what_cannot_be_told_by_names_does_not_wait(tmp_path: Path, method: str) -> None:
    rows_looked_up(tmp_path, "pass", method)
    project = Project(ProjectOptions(root=tmp_path))
    module, home = (project.python(tmp_path / name) for name in ("model.py", "base.py"))
    assert module is not None
    assert home is not None
    model = project.classes.model(module.classes["Model"])
    prepare = home.classes["Base"].methods["prepare"]
    assert effects(prepare, model, project, project.of(Keepers)) is None
