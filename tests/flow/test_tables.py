"""Queries about tables, and runs under a theory that a rule brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from effort import calls_of

from modellint.flow import queries
from modellint.graph.value import EventKind
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from conftest import Workspace

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Event, Value

MODEL = """\
import torch
import torch.nn.functional as F
from torch import nn

from parts import cut


class Model(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.head = nn.Linear(8, 12)
        self.table = nn.Embedding(10, 8, padding_idx=0)
        self.other = nn.Embedding(vocabulary, 8)

    def forward(self, x, labels, mask):
        scores = self.head(x)
        loss = F.cross_entropy(scores, labels.masked_fill(mask, -1))
        return self.table(cut(scores).argmax(-1)), loss

    def get_input_embeddings(self):
        return self.table


def run(model: Model, x):
    return model.forward(x, x, None)
"""
PARTS = "def cut(scores):\n    return scores / 2\n"


@pytest.fixture
def module(workspace: Workspace) -> ModuleFacts:
    workspace.write({"model.py": MODEL, "parts.py": PARTS})
    found = Project(ProjectOptions(workspace.root)).python(workspace.root / "model.py")
    assert found is not None
    return found


@pytest.fixture
def project(workspace: Workspace, module: ModuleFacts) -> Project:
    return Project(ProjectOptions(workspace.root))


@pytest.fixture
def asked(workspace: Workspace, project: Project) -> queries.Queries:
    found = project.python(workspace.root / "model.py")
    assert found is not None
    return queries.flow(found, project)


def test_a_lookup_has_its_table_and_its_element(asked: queries.Queries) -> None:
    (lookup,) = asked.lookups()
    assert isinstance(lookup.element, queries.Ids)
    assert (lookup.rows, lookup.element.bound.number) == (queries.size_of((queries.Constant(10),)), 12)
    assert asked.lookups_in(lookup.table) == [lookup] == list(asked.lookups())
    assert asked.lookups_in(lookup.element.origin) == []


GROWING = """\
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head, self.table = nn.Linear(8, 12), nn.Embedding(10, 8)

    def forward(self, x):
        ids = self.head(x).argmax(-1)
        end = ids.max()
{doubled}
        if end > 10:
            self.table = nn.Embedding(20, 8)
        return self.table(ids)
"""


def test_a_condition_that_names_a_value_again_and_again_looks_at_it_once(workspace: Workspace) -> None:
    def lookups(count: int) -> int:
        workspace.write({"growing.py": GROWING.format(doubled="        end = end + end\n" * count)})
        project = Project(ProjectOptions(workspace.root))
        module = project.python(workspace.root / "growing.py")
        assert module is not None
        return calls_of(lambda: list(queries.flow(module, project).lookups()))

    assert lookups(16) < 2 * lookups(8)


def test_constants_are_followed_to_losses(asked: queries.Queries) -> None:
    (target,) = asked.loss_targets()
    ((function, filler),) = asked.constants_written()
    assert target.element == filler
    assert (function.name, str(filler.size), str(target.ignored), str(target.rows)) == ("forward", "-1", "-100", "12")
    assert not asked.is_compared(filler)


def test_tables_and_layers_for_ids_have_their_sizes(asked: queries.Queries) -> None:
    model = asked._module.classes["Model"]
    (made,) = asked.padded_tables()
    assert (str(queries.size_of(made.rows)), str(queries.size_of(made.padding))) == ("10", "0")
    sizes = [asked.id_layer(model, [name]) for name in ("table", "head", "missing")]
    assert [None if one is None else (str(one.rows), one.is_table) for one in sizes] == [
        ("10", True),
        ("12", False),
        None,
    ]
    given = asked.id_layer_returned(model, model.methods["get_input_embeddings"])
    assert given is not None
    assert str(given.rows) == "10"


def test_a_file_tells_what_it_imports_and_what_its_classes_run(asked: queries.Queries) -> None:
    model = asked._module.classes["Model"]
    assert dict(asked.imported())["cut"] is not None
    assert asked.mro(model) == (model,)
    assert asked.method(model, "forward") is model.methods["forward"]
    assert asked.method(model, "table") is None
    assert [asked.may_look_up(model.methods[name]) for name in ("forward", "get_input_embeddings")] == [True, False]
    assert asked.may_keep_tables(model, "table")
    assert not asked.may_keep_tables(model, "head")
    assert [len(list(asked.tables_given(model.methods[name]))) for name in ("__init__", "forward")] == [2, 0]


COUNTER = """\
class Counter:
    def count(self, x):
        return x.seven()


def told(x, y=1):
    return x.six(), y
"""


class Named(queries.Theory):
    """Notes the methods of unknown objects that are called, and says what one gives."""

    rests_on = (queries.Tensors,)
    goes_before = (queries.Lookups,)

    def __init__(self, run: queries.Interpreter) -> None:
        self.names: list[str] = []

    def matters(self, event: Event, frame: queries.Frame) -> bool | None:
        return True if event.kind is EventKind.RETURN else None

    def method(
        self, atom: queries.Atom, name: str, arguments: queries.Arguments, frame: queries.Frame, value: Value
    ) -> queries.Atoms | None:
        if not isinstance(atom, queries.SymbolicInput):
            return None
        self.names.append(name)
        return (queries.Constant(7),) if name == "seven" else None


def test_a_run_follows_functions_under_a_theory(workspace: Workspace) -> None:
    workspace.write({"model.py": COUNTER})
    project = Project(ProjectOptions(workspace.root))
    module = project.python(workspace.root / "model.py")
    assert module is not None
    count, told = module.classes["Counter"].methods["count"], module.functions["told"]
    with queries.run(project, Named) as run:
        run.follow(told)
        (receiver,) = run.receivers(count)
        assert receiver is not None
        assert run.call(count, receiver) == (queries.Constant(7),)
        assert run.theory.names == ["six", "seven"]
        returned = told.flow.events[-1].value
        assert all(isinstance(atom, queries.Shell) for atom in run.evaluate(returned, run.body(told, None)))
        assert set(run.followed()) == {count, told}
        (given,) = run.call(told, None, y=(queries.Constant(2),))
        assert isinstance(given, queries.Shell)
        assert queries.Constant(2) in given.entries[1].atoms


def test_a_run_tells_what_objects_hold(asked: queries.Queries) -> None:
    with queries.run(asked._project, queries.Lookups) as run:
        model = run.object_of(asked._module.classes["Model"])
        ((atoms, path),) = run.attribute(model, "other")
        ((layer, _),) = run.layers_in(atoms, path)
        assert run.is_table(layer)
        ((atoms, _),) = run.attribute(model, "head")
        ((head, _),) = run.layers_in(atoms)
        assert (str(run.size(head, "own-width", "width")), run.size(layer, "width")) == ("8", None)
        assert str(queries.size_of(run.argument(layer, 0, "num_embeddings"))) == "vocabulary"
        assert run.argument(layer, 2, "padding_idx") is None
        assert run.method(model, "forward") is not None
        assert run.method(model, "table") is None
