"""The beliefs of the engine about the values on lines of code, for people.

Each function of the file is run as rules run it: with unknown arguments, and as other functions of the file call it.
The answer is the join over all these runs. Layers run once more as objects that are moved to a device, which tells
where tensors are.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from modellint.flow.frame import class_frame
from modellint.flow.gate import Keepers
from modellint.flow.object_run import ObjectRun
from modellint.flow.runs import follow, tensor_run
from modellint.flow.table_reads import TableReads
from modellint.flow.theory import Entered, Theory
from modellint.flow.words import device_of, facets, holds, text
from modellint.frontends.written_expressions import written_expressions
from modellint.graph.python import WORK
from modellint.graph.value import Event, EventKind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from modellint.flow.domain import Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Shell
    from modellint.flow.interp import Interpreter
    from modellint.flow.theory import Occurrence
    from modellint.flow.words import Facets
    from modellint.frontends.written_expressions import Written
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.link.project import Project


class Frames(Theory):
    """Keeps the frames in which a run runs functions."""

    observes = (Entered,)

    def __init__(self, run: Interpreter) -> None:
        self._frames: list[Frame] = []

    def observe(self, event: Occurrence) -> None:
        if isinstance(event, Entered):
            self._frames.append(event.frame)

    def take(self) -> list[Frame]:
        """The frames since the last question."""
        taken, self._frames = self._frames, []
        return taken


class Revealed(NamedTuple):
    """An expression on a line, and the belief about its value. `is_shown` unless it has to be asked for by name."""

    name: str
    facets: Facets
    is_shown: bool

    @property
    def words(self) -> str:
        """`ids below 4160, on the layer's device`."""
        return text(self.facets)

    def is_(self, words: str) -> bool:
        """True if words are true of the value; they may leave out facets."""
        return holds(words, self.facets)


def reveal(module: ModuleFacts, project: Project, lines: Collection[int]) -> dict[int, list[Revealed]]:
    """The beliefs about the expressions that begin on some lines of a file, by line, each name once.

    A name that is assigned on a line stands for what it holds after that. The bodies and runs that the project holds of
    the file are let go first: those runs are about values of bodies that are lowered anew here.
    """
    project.release_bodies(module)
    asked = {
        function: [one for one in written_expressions(function) if one.line in lines]
        for function in module.placed.values()
        if any(function.line <= line <= function.end_line for line in lines)
    }
    asked = {function: found for function, found in asked.items() if found}
    believed = _Believed(asked)
    if asked:
        believed.run_functions(module, project)
        believed.run_layers(module, project)
    by_line: dict[int, list[Revealed]] = {line: [] for line in sorted(lines)}
    for found in asked.values():
        for line in by_line:
            by_line[line] += believed.on_line([one for one in found if one.line == line])
    for line, one in _class_attributes(module, project, lines):
        by_line[line].append(one)
    return by_line


def _class_attributes(module: ModuleFacts, project: Project, lines: Collection[int]) -> Iterator[tuple[int, Revealed]]:
    """The beliefs about what class bodies assign, each with its line."""
    run, _ = tensor_run(project, TableReads)
    for cls in module.classes.values():
        scope = project.classes.model(cls).facts.scope
        for name, value in cls.attributes.items():
            if value.line in lines:
                run.begin()
                yield value.line, Revealed(name, facets([run.evaluate(value, class_frame(scope, id(value)))]), True)


class _Believed:
    """The atoms of the expressions that are asked for, of all runs."""

    def __init__(self, asked: dict[Function, list[Written]]) -> None:
        self._asked = asked
        self._atoms: dict[Written, list[Atoms]] = defaultdict(list)
        #: Those of runs of layers that are moved to a device.
        self._placed: dict[Written, list[Atoms]] = defaultdict(list)

    def run_functions(self, module: ModuleFacts, project: Project) -> None:
        """Run each function of a file, and its module-level code."""
        run, _ = tensor_run(project, TableReads, Frames)
        objects: dict[Class, Shell] = {}
        for function in module.placed.values():
            follow(function, objects, run)
            self._take(run, self._atoms)

    def run_layers(self, module: ModuleFacts, project: Project) -> None:
        """Run an object of each layer class of a file: its constructor, then its methods on another device."""
        for cls in module.classes.values():
            model = project.classes.model(cls)
            if model.is_module is not True:
                continue
            layer = ObjectRun(model, project, project.of(Keepers), theories=(Frames,))
            layer.begin()
            self._take(layer.run, self._placed)
            for method in sorted(cls.methods.values(), key=lambda one: one.name not in WORK):
                if method.name != "__init__":
                    layer.follow(method, at_work=method.name in WORK)
                    self._take(layer.run, self._placed)

    def _take(self, run: Interpreter, atoms: dict[Written, list[Atoms]]) -> None:
        """Take the atoms of the expressions that were reached since the last time."""
        for frame in run.of(Frames).take():
            for one in self._asked.get(frame.function, ()) if frame.function is not None else ():
                if is_of_frame(one, frame):
                    run.begin()
                    found = run.evaluate_at(Event(EventKind.READ, one.value, guard=one.guard), frame)
                    atoms[one].append(run.behind(found, frame, one.guard))

    def on_line(self, found: list[Written]) -> Iterator[Revealed]:
        """The beliefs about the expressions of one line, each name once; a target stands for itself."""
        targets = {one.text for one in found if one.is_target}
        assigned = {id(one.value) for one in found if one.is_target}
        found = [one for one in found if one.is_target or one.text not in targets]
        for name in dict.fromkeys(one.text for one in found):
            alike = [one for one in found if one.text == name]
            placed = [atoms for one in alike for atoms in self._placed[one]]
            known = facets((atoms for one in alike for atoms in self._atoms[one]), device_of(placed))
            is_shown = any(one.is_target or one.is_used for one in alike) and not _is_repeated(alike, assigned)
            yield Revealed(name, known, is_shown)


def is_of_frame(one: Written, frame: Frame) -> bool:
    """True if a frame is one of the function in which an expression stands: the outer one, or one inside of it."""
    if one.inner is None or not frame.is_nested:
        return one.inner is None and not frame.is_nested
    return all(id(held) in frame.memo for held in one.inner.parameters.values())


def _is_repeated(alike: list[Written], assigned: set[int]) -> bool:
    """True for a value that is assigned to a name on the same line, which stands for it."""
    return all(not one.is_target and id(one.value) in assigned for one in alike)
