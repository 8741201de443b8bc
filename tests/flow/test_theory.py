"""Theories: who is asked first, who is told, what nobody asks; and that the interpreter names none of them."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

import house
import pytest
from modellint_rules.ml204_layers_in_plain_container import LayersInPlainContainer
from modellint_rules.ml205_tensor_not_buffer import TensorNotBuffer
from modellint_rules.ml206_layer_created_in_forward import LayerCreatedInForward
from modellint_rules.ml209_layer_not_optimised import LayerNotOptimised

from modellint.examples import bad_is_found, good_is_left_alone, problems
from modellint.flow.devices import Devices
from modellint.flow.domain import ANY_ARGUMENTS, UNKNOWN, Constant, FunctionRef
from modellint.flow.frame import class_frame
from modellint.flow.interp import Interpreter
from modellint.flow.late_layers import LateLayers
from modellint.flow.runs import started
from modellint.flow.theory import Mode, StoredOutside, Theories, Theory
from modellint.flow.training import Training
from modellint.graph.value import EventKind, Op, Value
from modellint.link.classes.definitions import SourceMethod
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from modellint.flow.domain import Arguments, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.theory import Occurrence
    from modellint.graph.value import Event
    from modellint.rule import Rule

ROOT = Path(__file__).parents[2]
#: What all runs share.
CORE = """binding blocks calls conditions domain frame heap interp memo objects theory truth library.constants
    library.containers library.functions library.operations library.running""".split()
#: Theories that may be asked in any order.
FREE = (Training, LateLayers, Devices)
CODE = "import somewhere\n\n\ndef make():\n    return somewhere.settings()\n"


class Known(Theory):
    """Knows what functions give that cannot be read."""

    mode = Mode(outlives_run=True)
    observes = (StoredOutside,)
    answer: Atoms | None = None

    def __init__(self, run: Interpreter) -> None:
        self.asked: list[str] = []
        self.told = 0

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        self.asked.append(name)
        return self.answer

    def observe(self, occurrence: Occurrence) -> None:
        self.told += 1


class One(Known):
    answer = (Constant(1),)


class Two(Known):
    answer = (Constant(2),)


class Lazy(Known):
    """Has calls made only where their values are needed, and notes the conditions that they are made under."""

    def __init__(self, run: Interpreter) -> None:
        super().__init__(run)
        self._run = run
        self.guards: list[tuple[str, object, bool]] = []

    def matters(self, event: Event, frame: Frame) -> bool:
        return event.kind is EventKind.RETURN

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        guard = self._run.guard
        self.guards += [] if guard is None else [(name, link.test.data, link.truthy) for link in guard.chain()]
        return None


def made(folder: Path, *theories: type[Known], code: str = CODE) -> tuple[Atoms, list[Known]]:
    """What the function `make` of a file gives in a run with some theories."""
    folder.joinpath("code.py").write_text(code)
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / "code.py")
    assert module is not None
    run = started(project, *theories)
    method = SourceMethod(module.functions["make"], project.names)
    nowhere = Value(Op.UNKNOWN, (), None, None)
    found = run.calls.apply(FunctionRef(method), ANY_ARGUMENTS, class_frame(method.scope, 0), nowhere)
    known = [run.of(kind) for kind in theories]
    run.close()
    return found, known


def test_the_first_that_knows_answers_and_the_others_are_not_asked(tmp_path: Path) -> None:
    found, (silent, first, second) = made(tmp_path, Known, One, Two)
    assert found == (Constant(1),)
    assert [one.asked for one in (silent, first, second)] == [["somewhere.settings"], ["somewhere.settings"], []]
    assert made(tmp_path, Two, One)[0] == (Constant(2),)
    assert made(tmp_path)[0] == UNKNOWN


def test_all_are_told_what_happens(tmp_path: Path) -> None:
    _, known = made(tmp_path, One, Two, code="def make(x):\n    x.name = 1\n")
    assert [one.told for one in known] == [1, 1]


def test_a_value_that_is_needed_later_is_computed_under_its_condition(tmp_path: Path) -> None:
    code = """import a

def make(x):
    y = 0
    if x == 2:
        y = a.b(x) if x > 1 else a.c(x)
    return y, a.d(x)
"""
    _, (lazy,) = made(tmp_path, Lazy, code=code)
    assert isinstance(lazy, Lazy)
    assert lazy.guards == [("a.b", ">", True), ("a.b", "==", True), ("a.c", ">", False), ("a.c", "==", True)]


def test_only_those_are_asked_that_have_a_say() -> None:
    theories = Theories((Theory(None), One(None), Theory(None), Two(None)))  # type: ignore[arg-type]
    assert set(vars(theories)) >= {"function"}
    assert "method" not in vars(theories)


def test_the_interpreter_names_no_theory() -> None:
    source = house.read(ROOT)
    theories = {f"modellint.flow.{name}" for name in ("devices", "lengths", "lookups", "table_reads", "late_layers")}
    theories |= {f"modellint.flow.{name}" for name in ("runs", "tensors", "training", "unrolled")}
    named = {
        (name, one.target)
        for name in CORE
        for one in source.imports[f"modellint.flow.{name}"]
        if one.target in theories
    }
    assert not named


ORDERS = [order for order in permutations(FREE) if order != FREE]


@pytest.mark.dear
@pytest.mark.parametrize("rule", [LayersInPlainContainer, TensorNotBuffer, LayerCreatedInForward, LayerNotOptimised])
@pytest.mark.parametrize("order", ORDERS[:2] + ORDERS[-1:], ids=lambda order: " ".join(kind.__name__ for kind in order))
def test_the_order_is_free_of_what_is_said_to_be(
    rule: type[Rule], order: tuple[type[Theory], ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, orders = Interpreter.__init__, set()

    def started_otherwise(run: Interpreter, project: Project, gate: object, theories: object) -> None:
        start(run, project, gate, theories)  # type: ignore[arg-type]
        free = sorted((one for one in run.theories if type(one) in order), key=lambda one: order.index(type(one)))
        run.theories = (*(one for one in run.theories if type(one) not in order), *free)
        run.asked = Theories(run.theories)
        orders.add(tuple(map(type, run.theories)))

    monkeypatch.setattr(Interpreter, "__init__", started_otherwise)
    rules = {rule.code: rule()}
    for kind, examples, check in (("bad", rule.bad, bad_is_found), ("good", rule.good, good_is_left_alone)):
        for number, example in enumerate(examples):
            folder = tmp_path / f"{kind}{number}"
            folder.mkdir()
            assert not problems(check, rule, example, rules, folder), example.title
    assert orders
