"""Look-ups in tables: the elements that index them, the rows that tables have, and the lengths they are made for.

A *table* is an embedding, a codebook, or any tensor whose rows are picked by ids or positions. Rows count from 0.
"""

from __future__ import annotations

from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING

from modellint.flow.collating import COLLATING
from modellint.flow.domain import join
from modellint.flow.frame import class_frame
from modellint.flow.heap import Shell, tensors_in
from modellint.flow.lengths import Lengths
from modellint.flow.lookup_records import LossLookup
from modellint.flow.lookups import Lookups
from modellint.flow.queries.runs import Run
from modellint.flow.runs import called, follow, tensor_run
from modellint.flow.sine_tables import sine_tables
from modellint.flow.step_batches import Step, modules_fed, steps
from modellint.flow.summaries import Summaries
from modellint.flow.unread_tables import asking, note
from modellint.graph.immutable import dataclass
from modellint.link.budget import ExhaustedError
from modellint.link.searched import mentioning
from modellint.link.values.torch_reach import reaches_torch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.domain import Atoms, Filler, Site
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.flow.length_terms import FunctionTables
    from modellint.flow.lookup_records import IdLayer, Lookup, PaddedPositions
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project

#: How many of the files that mention a function are searched for its callers.
_MAX_USERS = 16


@dataclass(frozen=True, eq=False, slots=True)
class PaddedTable:
    """A table and the call that makes it, with the rows and the padding index that torch's constructor gets."""

    call: Value
    function: Function
    rows: Atoms
    padding: Atoms


class TableQueries:
    """The queries about tables in one file."""

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        self._module = module
        self._project = project
        self._found: list[Lookup] = []
        #: The question whose budget ran out while look-ups were searched.
        self._exhausted: str | None = None
        #: The functions whose values were all evaluated.
        self._evaluated: set[Function] = set()

    # -- look-ups --------------------------------------------------------------------------------------------------

    def lookups(self) -> Iterator[Lookup]:
        """The look-ups of known elements in tables: `table(logits.argmax(-1))`.

        The file's functions are run with unknown arguments. A `Lookup` has the `element` (`Ids`, `Filler`, `Real` or
        `Positions`), the table's number of `rows` (None if unknown), and the calls that lead there (`steps`).
        """
        return (one for one in self._all_lookups() if not isinstance(one, LossLookup))

    def lookups_in(self, table: Site) -> list[Lookup]:
        """The look-ups in the table whose allocation site is `table`."""
        return self._by_table.get(table, [])

    def loss_targets(self) -> Iterator[LossLookup]:
        """The constants among the targets of losses: `F.cross_entropy(scores, labels.masked_fill(mask, -1))`.

        The loss counts as a table with a row for each class; `ignored` is its `ignore_index`.
        """
        return (one for one in self._all_lookups() if isinstance(one, LossLookup))

    @cached_property
    def _by_table(self) -> dict[Site, list[Lookup]]:
        found: dict[Site, list[Lookup]] = {}
        for lookup in self.lookups():
            found.setdefault(lookup.table, []).append(lookup)
        return found

    @cached_property
    def run_of_lookups(self) -> Run[Lookups]:
        """The run of the file's functions, with the look-ups that it has found so far."""
        return Run(self._project, Lookups)

    @cached_property
    def _roots(self) -> Iterator[Function]:
        """The functions that are still to be followed for their look-ups."""
        return iter(self._project.of(Summaries).roots(self._module) if self._may_use_torch else ())

    @property
    def _may_use_torch(self) -> bool:
        return reaches_torch(self._module, self._project)

    def _all_lookups(self) -> Iterator[Lookup]:
        told = 0
        while told < len(self._found) or self._search():
            found = self._found
            yield from found[told:]
            told = len(found)
        if "run_of_lookups" in self.__dict__:
            self.run_of_lookups.interpreter.tell()
        if self._exhausted is not None:
            self._project.budget.cut[self._exhausted] = None

    def _search(self) -> bool:
        """Follow one more function for its look-ups; False if there is none, or no budget for it."""
        try:
            root = next(self._roots, None)
            if root is not None:
                self.run_of_lookups.follow(root)
            elif not self._follow_step():
                return False
        except ExhaustedError as error:
            self._exhausted, self._roots, self._steps = error.question, iter(()), iter(())
            return False
        self._found = list(self.run_of_lookups.theory.found.values())
        return True

    @cached_property
    def _steps(self) -> Iterator[Step]:
        """The steps that are still to be followed with the batches of their loaders."""
        return steps(self._module, self._project) if self._may_use_torch else iter(())

    def _follow_step(self) -> bool:
        """Follow one more step of a module of Lightning with the batches that its loaders give; False without one."""
        step = next(self._steps, None)
        if step is None:
            return False
        run, batches = self.run_of_lookups, []
        for function, cls, value in step.loaders:
            receivers = run.receivers(function) if cls is None or function.owner is cls else (run.object_of(cls),)
            for receiver in receivers:
                given = run.evaluate(value, run.body(function, receiver))
                batches += [one.element() for one in given if isinstance(one, Shell) and one.kind == "generator"]
        if batches:
            receiver = run.object_of(step.cls)
            call = partial(run.call, step.method, receiver, **{step.batch: join(batches)})
            run.theory.pass_on(call, run.body(step.method, receiver))
        return True

    def modules_fed(self, function: Function) -> Iterator[ModuleFacts]:
        """The files with modules of Lightning whose steps may get what a function makes, as batches of a loader."""
        named = mentioning(self._project, self._module, function.name, COLLATING)
        for module in dict.fromkeys((self._module, *islice(named, _MAX_USERS))):
            yield from modules_fed(module, self._project)

    def may_look_up(self, function: Function) -> bool:
        """True if a function may look up elements that it makes or is passed, itself or by a call: `table(ids)`."""
        return self._project.of(Summaries).body(function).may_look_up()

    def tables_made(self, function: Function) -> Iterator[Event]:
        """The calls in a function that make a table themselves: `nn.Embedding(100, 8)`."""
        return self._project.of(Summaries).body(function).tables_made()

    def tables_given(self, function: Function) -> Iterator[Event]:
        """The calls in a function that make a table, or may return one that another function makes."""
        return self._project.of(Summaries).body(function).tables_given()

    def may_keep_tables(self, cls: Class, name: str) -> bool:
        """True if objects of a class may keep tables as `self.name`."""
        return self._project.of(Summaries).keeps_tables(name, cls)

    def may_keep_layers(self, cls: Class, name: str) -> bool:
        """False if objects of a class keep nothing but objects of project classes that are no layers as `self.name`."""
        return not self._project.of(Summaries).keeps_others(name, cls)

    # -- constants among elements ----------------------------------------------------------------------------------

    def constants_written(self) -> Iterator[tuple[Function, Filler]]:
        """The constants that a function of the file writes into tensors, each with its function: `torch.full(n, 9)`.

        Those in the lists of numbers that tensors are made of included: `torch.tensor(ids + [9] * n)`.
        """
        objects: dict[Class, Shell] = {}
        for function in self._module.all_functions() if self._may_use_torch else ():
            body = self._project.of(Summaries).body(function)
            for event, atoms in self._evaluated_at(body.fillers_written(), function, objects):
                is_made = body.makes_of_numbers(event.value)
                for tensor in tensors_in(atoms):
                    for filler in tensor.fillers:
                        if is_made or filler.origin.value in event.value.args:
                            yield function, filler

    def padded_positions(self) -> Iterator[PaddedPositions]:
        """The constants among positions: `pad_sequence([torch.arange(n), …], padding_value=-100)`."""
        for _ in self.lookups():
            pass
        if "run_of_lookups" in self.__dict__:
            yield from list(self.run_of_lookups.theory.padded.values())

    def escapes(self, padded: PaddedPositions) -> bool:
        """True if a constant among positions leaves its function, and neither it nor a caller masks it out.

        Only a mask that selects or replaces elements counts, not one that is merely computed.
        """
        lookups = self.run_of_lookups.theory
        self.run_of_lookups.interpreter.begin()
        if not lookups.gives_away(padded.filler.key, padded.frame) or padded.filler.key in lookups.taken_out:
            return False
        for caller in self.possible_callers(padded.frame.function):
            self._evaluate(caller)
            if padded.filler.key in lookups.taken_out:
                return False
        return True

    def is_compared(self, filler: Filler) -> bool:
        """True if the function that writes a constant into a tensor, or a caller, compares its elements for a mask."""
        function = filler.origin.function
        for each in () if function is None else (function, *self.possible_callers(function)):
            self._evaluate(each)
        return filler.key in self.run_of_lookups.theory.compared

    def _evaluate(self, function: Function) -> None:
        """Evaluate all values of a function once with unknown arguments, so that its comparisons are recorded."""
        if function in self._evaluated:
            return
        self._evaluated.add(function)
        run = self.run_of_lookups
        for reference, frame in called(function, {}, self._project):
            body = run.interpreter.body(reference, frame)
            for event in body.flow.events:
                run.interpreter.behind(run.evaluate(event.value, body), body, event.guard)

    def possible_callers(self, function: Function | None) -> Iterator[Function]:
        """The functions of the project that may call a function, as far as names tell."""
        if function is None:
            return
        home = function.owner.name if function.owner is not None else function.name
        for module in islice(mentioning(self._project, function.module, function.name, home), _MAX_USERS):
            for caller in (*module.all_functions(), module.body):
                if caller is not function and function.name in caller.words:
                    yield caller

    # -- how tables are made ---------------------------------------------------------------------------------------

    def position_tables(self) -> list[FunctionTables]:
        """The sine and cosine tables of each function that makes or reads one, and the lengths they are made for.

        `FunctionTables` has the tables by the length that sizes them (`sized`: `rotary(x, seq_len=q.shape[1] + 10)`)
        and the look-ups in them (`picked`: `cos[position_ids]`). A length is a `Term`, in tokens.
        """
        found, cut = self._position_tables
        self._project.budget.cut.update(cut)
        return found

    @cached_property
    def _position_tables(self) -> tuple[list[FunctionTables], dict[str, None]]:
        """The tables of the functions that may lead to some, and the questions whose budget ran out."""
        functions = sine_tables(self._module, self._project).roots()
        unread = {function: calls for function in self._module.all_functions() if (calls := asking(function))}
        if not functions and not unread:
            return [], {}
        run, lengths = tensor_run(self._project, Lengths)
        objects: dict[Class, Shell] = {}
        tables: list[FunctionTables] = []
        for function in dict.fromkeys((*functions, *unread)):
            found = lengths.ask(function)
            follow(function, objects, run)
            if function in unread and not found.sized:
                note(unread[function], found, run, lengths)
            tables.append(found)
        cut = run.cut
        run.close()
        return tables, cut

    def padded_tables(self) -> Iterator[PaddedTable]:
        """The tables that the file's functions make with a row for padding: `nn.Embedding(100, 8, padding_idx=0)`."""
        seen: set[Value] = set()
        objects: dict[Class, Shell] = {}
        for function in (*self._module.all_functions(), self._module.body) if self._may_use_torch else ():
            events = self._project.of(Summaries).body(function).padded_tables_given()
            for event, atoms in self._evaluated_at(events, function, objects):
                for atom in atoms:
                    padding = self.run_of_lookups.padding_of(atom) if isinstance(atom, Shell) else None
                    if padding is not None and event.value not in seen:
                        seen.add(event.value)
                        yield PaddedTable(event.value, function, *padding)

    def _evaluated_at(
        self, events: Iterator[Event], function: Function, objects: dict[Class, Shell]
    ) -> Iterator[tuple[Event, Atoms]]:
        """The result of each event of a function with unknown arguments; its calls are set up once for all events."""
        calls: list[Frame] | None = None
        for event in events:
            run = self.run_of_lookups.interpreter
            if calls is None:
                calls = [run.body(reference, frame) for reference, frame in called(function, objects, self._project)]
            for body in calls:
                run.begin()
                yield event, run.evaluate_at(event, body)

    # -- layers for ids --------------------------------------------------------------------------------------------

    def id_layer(self, cls: Class, path: list[str]) -> IdLayer | None:
        """The layer at a path of attributes (`["model", "embed"]`) of an object, and the number of ids it is made for.

        None if it is no table and no projection, or if its number of ids is unknown.
        """
        run, frame = self.run_of_lookups, self._class_frame(cls)
        atoms: Atoms = (run.object_of(cls),)
        for name in path:
            atoms = run.theory.asked(partial(_part, atoms, name, run.interpreter), frame)
        return run.id_layer(atoms)

    def id_layer_returned(self, cls: Class, method: Function) -> IdLayer | None:
        """The layer that a method of an object returns, and the number of ids that it is made for; None if unknown."""
        run, frame = self.run_of_lookups, self._class_frame(cls)
        return run.id_layer(run.theory.asked(partial(run.call, method, run.object_of(cls)), frame))

    def _class_frame(self, cls: Class) -> Frame:
        return class_frame(self._project.classes.model(cls).facts.scope, id(cls))


def _part(owners: Atoms, name: str, run: Interpreter) -> Atoms:
    return join(run.objects.attribute(atom, name, None, None) for atom in owners)
