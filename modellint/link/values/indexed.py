"""Look-ups in tables, by forward interpretation: index tensors, guards, and how the tables are made."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.domain import ANY_ARGUMENTS, FunctionRef, join
from modellint.flow.frame import class_frame
from modellint.flow.heap import Shell, tensors_in
from modellint.flow.lookup_records import LossLookup
from modellint.flow.lookups import Lookups
from modellint.flow.runs import called, follow, tensor_run
from modellint.flow.summaries import Summaries
from modellint.graph.immutable import dataclass
from modellint.link.budget import ExhaustedError
from modellint.link.classes.definitions import SourceMethod
from modellint.link.searched import mentioning
from modellint.link.values.callers import callers
from modellint.link.values.torch_reach import reaches_torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.domain import Atoms, Filler, Site
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.flow.lookup_records import IdLayer, Lookup, PaddedPositions
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project

#: How many of the files that mention a function are searched for its callers.
_MAX_USERS = 16
#: Names of torch's losses whose targets are classes.
_LOSSES = operators.words("judges")


@dataclass(frozen=True, eq=False, slots=True)
class MadeTable:
    """A table and the call that makes it, with the rows and the padding index that torch's constructor gets."""

    call: Value
    function: Function
    rows: Atoms
    padding: Atoms


class Indexed:
    """Finds the look-ups of files; one object per checked file."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._runs: dict[ModuleFacts, tuple[Interpreter, Lookups]] = {}
        #: The look-ups found so far, and the iterator that finds more.
        self._lookups: dict[ModuleFacts, tuple[list[Lookup], Iterator[Lookup]]] = {}
        #: The question whose budget ran out while look-ups were searched.
        self._exhausted: dict[ModuleFacts, str] = {}
        self._by_table: dict[ModuleFacts, dict[Site, list[Lookup]]] = {}
        #: The functions whose values were all evaluated, each with the file whose run did it.
        self._evaluated: set[tuple[Function, ModuleFacts]] = set()

    def lookups(self, module: ModuleFacts) -> Iterator[Lookup]:
        """The look-ups of a file's functions, or of their callees, whose index elements are known in part."""
        return (one for one in self._all_lookups(module) if not isinstance(one, LossLookup))

    def lookups_of(self, table: Site, module: ModuleFacts) -> list[Lookup]:
        """The look-ups in the table whose allocation site is `table`."""
        if module not in self._by_table:
            by_table: dict[Site, list[Lookup]] = {}
            for lookup in self.lookups(module):
                by_table.setdefault(lookup.table, []).append(lookup)
            self._by_table[module] = by_table
        return self._by_table[module].get(table, [])

    def judged(self, module: ModuleFacts) -> Iterator[LossLookup]:
        """The constants in the targets that a file's functions, or their callees, pass to losses."""
        return (one for one in self._all_lookups(module) if isinstance(one, LossLookup))

    def _all_lookups(self, module: ModuleFacts) -> Iterator[Lookup]:
        if module not in self._lookups:
            self._lookups[module] = [], self._find_lookups(module)
        found, more = self._lookups[module]
        yield from found
        try:
            for lookup in more:
                found.append(lookup)
                yield lookup
        except ExhaustedError as error:
            self._exhausted[module] = error.question
        if module in self._runs:
            self._runs[module][0].tell()
        if module in self._exhausted:
            self._project.budget.cut[self._exhausted[module]] = None

    def _find_lookups(self, module: ModuleFacts) -> Iterator[Lookup]:
        if not reaches_torch(module, self._project):
            return
        run, lookups = self.run(module)
        objects: dict[Class, Shell] = {}
        told = 0
        for function in self._project.of(Summaries).roots(module):
            follow(function, objects, run)
            found = list(lookups.found.values())
            yield from found[told:]
            told = len(found)

    def written(self, module: ModuleFacts) -> Iterator[tuple[Function, Filler]]:
        """The constants that calls in a file's functions write into tensors, each with its function."""
        if not reaches_torch(module, self._project):
            return
        run, _ = self.run(module)
        objects: dict[Class, Shell] = {}
        for function in module.all_functions():
            events = self._project.of(Summaries).body(function).fillers_written()
            for event, atoms in self._evaluated_at(events, function, objects, run):
                for tensor in tensors_in(atoms):
                    yield from (
                        (function, filler) for filler in tensor.fillers if filler.origin.value in event.value.args
                    )

    def lookups_beside(self, function: Function) -> Iterator[Lookup]:
        """The look-ups of the files with a caller of `function`, its own file left out."""
        for module in dict.fromkeys(caller.module for caller in callers(self._project, function)):
            if module is not function.module:
                yield from self.lookups(module)

    def judged_beside(self, function: Function) -> Iterator[LossLookup]:
        """Constants in loss targets of other files that use a loss and call `function` or one of its callers."""
        functions = {function: None}
        for one in (function, *callers(self._project, function)):
            functions.update(dict.fromkeys(callers(self._project, one)))
        for module in dict.fromkeys(caller.module for caller in functions):
            if module is not function.module and any(_LOSSES & one.words for one in module.all_functions()):
                yield from self.judged(module)

    def padded(self, module: ModuleFacts) -> Iterator[PaddedPositions]:
        """The constants that a file's functions, or their callees, write into position tensors."""
        for _ in self.lookups(module):
            pass
        if module in self._runs:
            yield from list(self._runs[module][1].padded.values())

    def goes_on(self, padded: PaddedPositions, module: ModuleFacts) -> bool:
        """True if a padding constant among positions leaves its function, and neither it nor a caller masks it out.

        Only a mask that selects or replaces elements counts, not one that is merely computed.
        """
        run, lookups = self.run(module)
        run.begin()
        if not lookups.gives_away(padded.filler.key, padded.frame) or padded.filler.key in lookups.taken_out:
            return False
        for caller in self._users(padded.frame.function):
            self._evaluate(caller, module)
            if padded.filler.key in lookups.taken_out:
                return False
        return True

    def is_compared(self, filler: Filler, module: ModuleFacts) -> bool:
        """True if the function that writes a constant into a tensor, or a caller, compares its elements for a mask."""
        function = filler.origin.function
        for each in () if function is None else (function, *self._users(function)):
            self._evaluate(each, module)
        return filler.key in self.run(module)[1].compared

    def _evaluate(self, function: Function, module: ModuleFacts) -> None:
        """Evaluate all values of a function once with unknown arguments, so that its comparisons are recorded."""
        if (function, module) in self._evaluated:
            return
        self._evaluated.add((function, module))
        run, lookups = self.run(module)
        for reference, frame in called(function, {}, self._project):
            body = run.body(reference, frame)
            for event in body.flow.events:
                run.behind(lookups.evaluated(event.value, body), body, event.guard)

    def lookups_of_users(self, padded: PaddedPositions) -> Iterator[Lookup]:
        """The look-ups of the files that call the function in which a padding constant is written."""
        for module in dict.fromkeys(caller.module for caller in self._users(padded.frame.function)):
            yield from self.lookups(module)

    def _users(self, function: Function | None) -> Iterator[Function]:
        """The functions of the project that may call `function`, as far as names tell."""
        if function is None:
            return
        home = function.owner.name if function.owner is not None else function.name
        for module in islice(mentioning(self._project, function.module, function.name, home), _MAX_USERS):
            for caller in (*module.all_functions(), module.body):
                if caller is not function and function.name in caller.words:
                    yield caller

    def sided(self, cls: Class, path: list[str]) -> IdLayer | None:
        """The table layer, with its number of ids, that a path of attributes leads to from an object of `cls`."""
        run, lookups = self.run(cls.module)
        atoms, frame = self._object_of(cls, run)
        for name in path:
            atoms = lookups.asked(partial(self._part, atoms, name, run), frame)
        return lookups.sided(atoms)

    def shared(self, cls: Class, method: Function) -> IdLayer | None:
        """The table layer, with its number of ids, that a method of an object of `cls` returns."""
        run, lookups = self.run(cls.module)
        atoms, frame = self._object_of(cls, run)
        reference = FunctionRef(SourceMethod(method, self._project.names), None, atoms[0])
        given = partial(run.start, reference, frame)
        return lookups.sided(lookups.asked(given, frame))

    def _object_of(self, cls: Class, run: Interpreter) -> tuple[Atoms, Frame]:
        """A new object of a class, constructed with unknown arguments, and its frame."""
        model = self._project.classes.model(cls)
        shell = Shell("instance", None, (id(cls),), model, ANY_ARGUMENTS)
        run.begin()
        run.objects.construct(shell)
        return (shell,), class_frame(model.facts.scope, id(cls))

    @staticmethod
    def _part(owners: Atoms, name: str, run: Interpreter) -> Atoms:
        return join(run.objects.attribute(atom, name, None, None) for atom in owners)

    def made(self, module: ModuleFacts) -> Iterator[MadeTable]:
        """The tables that a file's functions make with a padding index."""
        if not reaches_torch(module, self._project):
            return
        run, lookups = self.run(module)
        objects: dict[Class, Shell] = {}
        seen: set[Value] = set()
        for function in (*module.all_functions(), module.body):
            events = self._project.of(Summaries).body(function).padded_tables_given()
            for event, atoms in self._evaluated_at(events, function, objects, run):
                for atom in atoms:
                    padding = lookups.padding_of(atom) if isinstance(atom, Shell) else None
                    if padding is not None and event.value not in seen:
                        seen.add(event.value)
                        yield MadeTable(event.value, function, *padding)

    def _evaluated_at(
        self, events: Iterator[Event], function: Function, objects: dict[Class, Shell], run: Interpreter
    ) -> Iterator[tuple[Event, Atoms]]:
        """The result of each event of a function with unknown arguments; its calls are set up once for all events."""
        calls: list[Frame] | None = None
        for event in events:
            if calls is None:
                calls = [run.body(reference, frame) for reference, frame in called(function, objects, self._project)]
            for body in calls:
                run.begin()
                yield event, run.evaluate_at(event, body)

    def run(self, module: ModuleFacts) -> tuple[Interpreter, Lookups]:
        """The run of a file's functions, with the look-ups that it has found so far."""
        run = self._runs.get(module)
        if run is None:
            run = self._runs[module] = tensor_run(self._project, Lookups)
        return run
