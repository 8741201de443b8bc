"""Where ids meet the tables that they look up, through however many calls.

What is looked up with what a function was given is said where its caller knows more: a finding stands where ids and
table first meet. A function is run once for each kind of arguments; what it gives, and what it looks up with them, is
remembered for the run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.domain import Arguments, Bound, Given, Plain, Site, Tensor, Unknown, join, size_of
from modellint.flow.drawing import Drawing, drawing
from modellint.flow.heap import TENSORS, Shell
from modellint.flow.library import ADDERS, REGISTRARS
from modellint.flow.tensors import Tensors, tensors_in
from modellint.graph.value import EventKind, Op

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.python import ModuleFacts
    from modellint.graph.size import Size
    from modellint.graph.value import Event, Flow, Guard, Loop, Value
    from modellint.operators import Operator


#: What need not happen where it has nothing to do with ids.
_LEFT_OUT = frozenset((EventKind.CALL, EventKind.INDEX, EventKind.STORE, EventKind.AUGMENT))


@dataclass(frozen=True, eq=False, slots=True)
class Lookup:
    """A tensor that indexes a table of `rows` rows, which is made at `table`.

    `steps` are the calls that lead there from where both are known, outermost first, and the look-up itself.
    """

    table: Site
    rows: Size
    tensor: Tensor
    steps: tuple[Site, ...]

    @property
    def place(self) -> Site:
        """Where ids and table meet: the look-up, or the call that leads to it."""
        return self.steps[0]


@dataclass(frozen=True, eq=False, slots=True)
class Indexed:
    """What a function looks up with an index of its own, itself or by `call`: whatever that may be."""

    table: Site
    rows: Size
    index: Value
    call: Value


class Lookups:
    """The look-ups of one run."""

    def __init__(self, run: Interpreter, tensors: Tensors) -> None:
        self._run = run
        self._tensors = tensors
        #: Whether every look-up is asked for, rather than those of drawn ids, and those that were found.
        self.is_open = False
        self.indexed_by: dict[int, Indexed] = {}
        #: The frames of the functions that were asked about.
        self.roots: list[Frame] = []
        #: Those that are done where ids and table meet, by place.
        self.found: dict[tuple[Site, Site, Tensor], Lookup] = {}
        #: The functions that are being run, and what each has looked up so far.
        self._frames: list[tuple[Frame, list[Lookup]]] = []
        self._drawings: dict[ModuleFacts, Drawing] = {}
        #: By identity, with the flow that they are of.
        self._used: dict[int, tuple[frozenset[int], Flow]] = {}
        self._answers: dict[Hashable, tuple[Atoms, list[Lookup]]] = {}
        #: By identity, with the flow that they are of: the comparisons by which a function is left early.
        self._exits: dict[int, tuple[list[tuple[Value, Guard]], Flow]] = {}

    # -- functions -----------------------------------------------------------------------------------------------

    def followed(self, key: tuple[Hashable, ...], given: Arguments, site: Site, run: Callable[[], Atoms]) -> Atoms:
        """What a call gives; what it looks up with its arguments is looked up by the caller."""
        full = (*key, given if self.is_open else _shape(given))
        known = self._answers.get(full)
        if known is None:
            known = self._answers[full] = self._ran(given, run)
        if self._frames:
            self._frames[-1][1].extend(replace(one, steps=(site, *one.steps)) for one in known[1])
        draws = _draws(given)
        return tuple(_given_by(atom, site, draws) for atom in known[0])

    def enter(self, frame: Frame, given: Arguments) -> None:
        frame.is_given_ids = self.is_open or any(t.ids is not None for atoms in given.all() for t in tensors_in(atoms))
        if self.is_open and not self._frames:
            self.roots.append(frame)
        self._frames.append((frame, []))

    def matters(self, event: Event, frame: Frame) -> bool:
        """Whether an event has to happen; what it computes can be asked for later."""
        if event.kind not in _LEFT_OUT or (event.kind is EventKind.STORE and self._run.objects.under_construction):
            return True
        if frame.function is None or self._run.objects.under_construction:
            if event.kind is not EventKind.CALL:
                return True
            return _changes_objects(event.value) and id(event.value) not in self._used_in(frame.flow)
        if self.is_open and len(self._frames) == 1:
            return True
        drawing = self.drawing(frame.function.module)
        return drawing.matters(event, frame.flow, frame.is_given_ids)

    def _used_in(self, flow: Flow) -> frozenset[int]:
        """What stands in other values of a body, which are found out when they are asked for."""
        known = self._used.get(id(flow))
        if known is None:
            values = [value for event in flow.events for value in (event.value, event.target) if value is not None]
            stored = {id(e.value) for e in flow.events if e.kind is EventKind.STORE}
            known = self._used[id(flow)] = frozenset(id(arg) for value in values for arg in value.args) | stored, flow
        return known[0]

    def carried(self, loop: Loop, frame: Frame) -> tuple[Value, ...]:
        """What a loop carries of ids from one turn to the next."""
        if frame.function is None or self._run.objects.under_construction:
            return loop.carried
        if self.is_open and len(self._frames) == 1:
            return loop.carried
        drawing = self.drawing(frame.function.module)
        return tuple(c for c in loop.carried if drawing.may_be_ids(c, frame.flow, frame.is_given_ids))

    def drawing(self, module: ModuleFacts) -> Drawing:
        """What may be ids in a file."""
        known = self._drawings.get(module)
        if known is None:
            known = self._drawings[module] = drawing(module, self._run.project)
            known.roots()
        return known

    def _ran(self, given: Arguments, run: Callable[[], Atoms]) -> tuple[Atoms, list[Lookup]]:
        depth = len(self._frames)
        atoms = run()
        looked_up = [one for _, found in self._frames[depth:] for one in found]
        del self._frames[depth:]
        draws = _draws(given)
        passed: list[Lookup] = []
        for one in looked_up:
            if one.tensor.ids is not None and one.tensor.ids.draw in draws:
                passed.append(one)
            else:
                self.found.setdefault((one.place, one.table, one.tensor), one)
        return atoms, passed

    # -- layers --------------------------------------------------------------------------------------------------

    def row_of(self, shell: Shell) -> Operator | None:
        """The row of the class of torch's that an object is of."""
        for model in shell.model.mro() if shell.model is not None else ():
            if model.name.startswith("torch."):
                return operators.row(model.name)
        return None

    def is_table(self, shell: Shell) -> bool:
        """Whether an object is a layer that looks up rows."""
        row = self.row_of(shell) if shell.kind == "instance" else None
        return row is not None and "table" in row.facets

    def called(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """What an object gives when it is called; None if that is not known."""
        objects = self._run.objects
        for name in ("__call__", "forward"):
            own = objects.own_method(shell, name)
            if own is not None:
                objects.construct(shell)
                return self._run.calls.apply(own, arguments, frame, value)
        return self.at_work(shell, arguments, frame, value)

    def at_work(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """What torch's `forward` gives."""
        row = self.row_of(shell)
        if row is None:
            return None
        given = arguments.argument(0, "input")
        if row.name == "torch.nn.Sequential":
            self._run.objects.construct(shell)
            for entry in shell.entries:
                layers = [atom for atom in entry.atoms if isinstance(atom, Shell) and atom.is_layer]
                done = [self.called(layer, Arguments((given or (),)), frame, value) for layer in layers]
                given = join(atoms or (Unknown(),) for atoms in done)
            return given
        if "table" in row.facets:
            rows = size_of(self._tensors.argument(shell, (0, "num_embeddings")))
            self._look_up(shell.site, rows, given or (), frame, value)
        return self._tensors.layer(shell, row, given)

    # -- look-ups ------------------------------------------------------------------------------------------------

    def indexed(self, table: Atom, index: Atoms, frame: Frame, value: Value) -> None:
        """`table[index]`, `F.embedding(index, table)`."""
        if isinstance(table, Bound) and isinstance(table.owner, Shell):
            rows = size_of(self._tensors.argument(table.owner, (0, "num_embeddings")))
            self._look_up(table.owner.site, rows, index, frame, value)
        elif isinstance(table, Shell) and table.kind in TENSORS:
            data = next(tensors_in(table.arguments.argument(0, "data") or ()), None)
            self._look_up(table.site, None if data is None else data.rows, index, frame, value)
        elif isinstance(table, Tensor):
            self._look_up(table.made, table.rows, index, frame, value)

    def _look_up(self, table: Site | None, rows: Size | None, index: Atoms, frame: Frame, value: Value) -> None:
        if table is None or rows is None or not self._frames or frame.function is None:
            return
        if self.is_open and len(value.args) > 1:
            self._note(table, rows, index, value)
        for tensor in tensors_in(index):
            left = self._left(tensor)
            if left.ids is not None:
                self._frames[-1][1].append(Lookup(table, rows, left, (Site(value, frame.function),)))

    def _note(self, table: Site, rows: Size, index: Atoms, value: Value) -> None:
        """Note what the function that is asked about looks up, itself or by a call that is given the index."""
        root = self._frames[0][0]
        if len(self._frames) == 1:
            self.indexed_by.setdefault(id(value), Indexed(table, rows, value.args[1], value))
            return
        wanted = {atom for atom in index if isinstance(atom, Given)}
        call = next((call for frame, call in self._run.calls.way if frame is root), None)
        for argument in call.args[1:] if wanted and call is not None else ():
            if call is not None and not wanted.isdisjoint(self._run.evaluate(argument, root)):
                self.indexed_by.setdefault(id(call), Indexed(table, rows, argument, call))

    def _left(self, tensor: Tensor) -> Tensor:
        """A tensor without the ids at which one of the functions that are being run is left early."""
        for frame, _ in self._frames:
            for test, link in self._exits_of(frame.flow):
                if tensor.ids is not None:
                    tensor = self._tensors.tested(tensor, test, link, frame)
        return tensor

    def _exits_of(self, flow: Flow) -> list[tuple[Value, Guard]]:
        known = self._exits.get(id(flow))
        if known is None:
            links = {id(link): link for event in flow.events if event.guard for link in event.guard.chain()}
            tests = [(part, link) for link in links.values() if link.early for part in link.test.walk()]
            known = self._exits[id(flow)] = [(part, link) for part, link in tests if part.op is Op.COMPARE], flow
        return known[0]


def _draws(given: Arguments) -> set[Hashable]:
    """Which ids there are among arguments."""
    return {t.ids.draw for values in given.all() for t in tensors_in(values) if t.ids is not None}


def _given_by(atom: Atom, call: Site, draws: set[Hashable]) -> Atom:
    """What a call gives: ids that are not its arguments' are drawn anew by each call."""
    if isinstance(atom, Tensor) and atom.ids is not None and atom.ids.draw not in draws:
        return replace(atom, ids=replace(atom.ids, way=call))
    return atom


def _changes_objects(call: Value) -> bool:
    """Whether a call in a constructor may store something, or put it into a container."""
    callee = call.callee
    if callee.op is Op.ATTR:
        owner = callee.args[0]
        is_above = callee.data == "__init__" or (owner.op is Op.CALL and owner.callee.data == "super")
        if is_above or _is_self(owner) or callee.data in ADDERS or callee.data in REGISTRARS:
            return True
    return any(_is_self(arg) for arg in call.args[1:])


def _is_self(value: Value) -> bool:
    return value.op is Op.PARAM and value.data == "self"


def _shape(given: Arguments) -> Hashable:
    """What a function can tell apart of its arguments."""
    positional = tuple(_told_apart(atoms) for atoms in given.positional)
    return positional, tuple((name, _told_apart(atoms)) for name, atoms in given.keywords.items()), given.is_complete


def _told_apart(atoms: Atoms) -> Hashable:
    return tuple(dict.fromkeys(_parts(atoms)))


def _parts(atoms: Atoms) -> Iterator[Hashable]:
    for atom in atoms:
        if isinstance(atom, Given | Unknown | Plain):
            yield None
        else:
            yield atom
            if isinstance(atom, Shell) and atom.is_container:
                yield frozenset(_parts(tuple(atom.contents())))
