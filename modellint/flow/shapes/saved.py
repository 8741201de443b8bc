"""Tensors that a backward pass needs again, and what changes them in place before it.

A result that is kept carries a mark (`Shaped.traced`), which goes with the tensor. An operand that is kept is known by
its expression, in one run of a body: an alias is the same value there, and a view leads back to what it shares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from modellint.flow.domain import Site
from modellint.flow.shapes.atoms import Kept, Scalar
from modellint.flow.shapes.parts import Effect, gives_gradient, kept_places, needs, short_name
from modellint.graph.value import InPlace, Op, subscripts
from modellint.link.calls.gradients import is_without_gradients
from modellint.operators.shapes import shape_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modellint.flow.domain import Arguments, Atom
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path, Shell
    from modellint.flow.interp import Interpreter
    from modellint.flow.shapes.atoms import Shaped
    from modellint.flow.shapes.given import Given, Place
    from modellint.flow.shapes.notes import Row
    from modellint.graph.python import Function
    from modellint.graph.value import Event, Value
    from modellint.operators import Operator

#: The kind of clashes of a tensor that is changed before the backward pass needs it.
CHANGED = "doubt-changed"
#: Methods whose names end like those that change elements, and that change none.
_SETTING = frozenset(("requires_grad_", "detach_", "retain_grad_", "share_memory_"))
_TURNED = frozenset(("T", "mT", "H", "mH"))
#: Operators of Python whose operands are kept.
_FACTORS = frozenset(("*", "@", "/"))
#: The most steps from a view to the tensor that it shares, and the most that is noted of one tensor.
_MAX_STEPS, _MAX_NOTES = 16, 8
#: A position at which no argument is passed.
_NEVER = 1_000


class Note(NamedTuple):
    """An operator that keeps a tensor, or that changes it in place; `order` tells which is carried out first."""

    by: str
    value: Value
    site: Site
    order: tuple[int, int, int, int]
    path: Path
    loops: int
    is_turned: bool = False
    is_whole: bool = False


class Ledger:
    """The tensors that one run of a function keeps and changes, by the identity of the values that they come from."""

    def __init__(self) -> None:
        self.kept: dict[int, list[Note]] = {}
        self.changed: dict[int, list[Note]] = {}
        self.roots: dict[int, Value] = {}
        #: The layers of torch that a call may run, as far as they were called.
        self.ways: dict[int, dict[Shell, _Way]] = {}
        #: The operands of calls that change them and give them back.
        self._same: dict[int, Value] = {}
        #: The answers of `root`, by the identity of the value.
        self._roots: dict[int, tuple[Value, bool]] = {}

    def give_back(self, call: Value, operand: Value) -> None:
        """Note a call that changes its operand and gives it back."""
        self._same[id(call)] = operand
        self._roots.clear()

    def root(self, value: Value) -> tuple[Value, bool]:
        """The value whose memory another one shares, and if a view on the way is in another order."""
        known = self._roots.get(id(value))
        if known is None:
            known = self._roots[id(value)] = self._find_root(value)
        return known

    def _find_root(self, value: Value) -> tuple[Value, bool]:
        is_turned = False
        for _ in range(_MAX_STEPS):
            before = self._before(value)
            if before is None:
                break
            is_turned = is_turned or (value.op is Op.ATTR and value.data in _TURNED) or _is_turning(value)
            value = before
        return value, is_turned

    def _before(self, value: Value) -> Value | None:
        if value.op is Op.CHOICE and value.data is not None and len(value.args) == 2:
            one, other = (self.root(arg)[0] for arg in value.args)
            return one if one is other else None
        if value.op is Op.INDEX and value.args[1].op is Op.CONST:
            return None  # it may be an element of a list
        return self._same.get(id(value)) or base_of(value)

    def effects(self) -> tuple[Effect, ...]:
        """The effects on parameters that are certain, changes first."""
        found = []
        for notes, is_change in ((self.changed, True), (self.kept, False)):
            for key, own in notes.items():
                root = self.roots[key]
                note = next((one for one in own if not one.path and not one.is_turned), None)
                if root.op is Op.PARAM and root.data != "self" and note is not None:
                    found.append(Effect(str(root.data), is_change, note.by))
        return tuple(found)


def base_of(value: Value) -> Value | None:
    """The value whose memory a view shares, or that an expression changes in place; None for anything else."""
    op = value.op
    if op is Op.CALL:
        return _base_of_call(value)
    if op is Op.INDEX:
        return value.args[0] if all(map(_is_plain, subscripts(value))) else None
    if (op is Op.UPDATE and value.data == "[]=") or (op is Op.BIN and isinstance(value.data, InPlace)):
        return value.args[0]
    return value.args[0] if op is Op.ATTR and value.data in _TURNED else None


def _is_plain(subscript: Value) -> bool:
    """True for a subscript that makes a view: a slice, a number that is written out, None or `...`."""
    return subscript.op is Op.SLICE or (subscript.op is Op.CONST and not isinstance(subscript.data, str))


def _base_of_call(call: Value) -> Value | None:
    """The operand of a method that gives a view of it, or changes it in place and gives it back."""
    callee = call.callee
    if callee.op is not Op.ATTR or callee.args[0].op is Op.GLOBAL:
        return None
    name = str(callee.data)
    row = shape_row(f"Tensor.{name}")
    is_change = name.endswith("_") and not name.endswith("__")
    return callee.args[0] if row is not None and (is_change or "shares" in row.facets) else None


def _is_turning(value: Value) -> bool:
    row = shape_row(f"Tensor.{value.callee.data}") if value.op is Op.CALL else None
    return row is not None and row.facets.get("shares") == "turned"


class Keeping(Protocol):
    """The theory of shapes, as far as is needed here."""

    row: Row | None

    @property
    def is_still(self) -> bool:
        """True if no gradients are recorded."""

    def tensor_of(self, atom: Atom, *, is_tensor: bool = True) -> Shaped | None:
        """The tensor that an atom is."""

    def ways_of(self, row: Operator, call: Value, frame: Frame) -> int:
        """The number of layers of torch one of which a call runs, 1 for any other operator; 0 if in doubt."""

    def is_of_root_file(self, code: Function) -> bool:
        """True for a function of the file that the root stands in."""

    def refuse_change(self, kept: Kept, by: str, value: Value, frame: Frame, *, is_late: bool = False) -> None:
        """Note that a tensor is changed in place before the backward pass needs it."""

    def allow_change(self, value: Value, frame: Frame) -> None:
        """Note that an operator may change a tensor that nothing keeps."""


class _Way(NamedTuple):
    """A call of an operator, in each alternative of its operands; `is_change` if it changes them."""

    row: Operator
    calls: Sequence[Given | None]
    is_change: bool


def _is_change(row: Operator, calls: Sequence[Given | None]) -> bool:
    """True if a call changes its operand in place."""
    if row.name.endswith("_"):
        return short_name(row) not in _SETTING and "Tensor." in row.name
    place = row.argument("changes-if")
    return place is not None and all(one is not None and one.flag(*place) is True for one in calls)


class Saved:
    """Notes of the functions under way: the tensors that a backward pass needs, and those that are changed."""

    def __init__(self, run: Interpreter, theory: Keeping) -> None:
        self._run = run
        self._theory = theory
        self._ledgers: list[Ledger] = []
        #: The number of functions under way whose decorators switch gradients off.
        self.still = 0

    def begin(self, code: Function) -> None:
        """A function is run."""
        self.still += is_without_gradients(code, self._run.project)
        self._ledgers.append(Ledger())

    def end(self, code: Function) -> tuple[Effect, ...]:
        """A function was run: what it does to its arguments."""
        self.still -= is_without_gradients(code, self._run.project)
        return self._ledgers.pop().effects()

    # -- calls -----------------------------------------------------------------------------------------------------

    def note_call(
        self, row: Operator, calls: Sequence[Given | None], value: Value, frame: Frame, layer: Shell | None = None
    ) -> None:
        """Note what a call keeps, and what it changes, in each alternative."""
        if not self._ledgers or self.still:
            return
        is_change = _is_change(row, calls)
        if not is_change and row.facets.get("saves", "result") == "result":
            return
        ways = self._theory.ways_of(row, value, frame)
        if ways == 1:
            self._note_each([_Way(row, calls, is_change)], value, frame)
        elif layer is not None and ways:
            others = self._ledgers[-1].ways.setdefault(id(value), {})
            others[layer] = _Way(row, calls, is_change)
            if len(others) == ways:
                self._note_each([*self._ledgers[-1].ways.pop(id(value)).values()], value, frame)

    def _note_each(self, ways: list[_Way], value: Value, frame: Frame) -> None:
        """Note what each of the layers keeps or changes one of which a call runs."""
        row = ways[0].row
        calls = [call for way in ways for call in way.calls]
        if all(way.is_change for way in ways):
            operand = self._operand(row, 0, value)
            if operand is not None and self._theory.row is None and not row.name.endswith("_"):
                self._ledgers[-1].give_back(value, operand)
            self.change([None if one is None else one.first for one in calls], operand, short_name(row), value, frame)
        elif not any(way.is_change for way in ways):
            self._keep_operands(row, calls, value, frame)

    def _keep_operands(self, row: Operator, calls: Sequence[Given | None], value: Value, frame: Frame) -> None:
        places: set[Place] | None = None
        for call in calls:
            own = set(kept_places(call)) if call is not None and gives_gradient(call) else set()
            places = own if places is None else places & own
        for place in places or ():
            operand = self._operand(row, place, value)
            if operand is not None:
                self.keep(operand, short_name(row), value, frame)

    def _operand(self, row: Operator, place: Place, call: Value) -> Value | None:
        """The expression that is passed to an operator; None within a `Sequential`, but for its first layer."""
        if call.op is not Op.CALL or call.has_unpacking:
            return None
        if row.name.rpartition(".")[2][:1].isupper():
            outer = self._theory.row
            if outer is not None and (any(outer.place) or not outer.is_called):
                return None
            return call.argument(0, "input")
        if row.name.startswith("Tensor."):
            if call.callee.op is not Op.ATTR:
                return None
            if place == 0:
                return call.callee.args[0]
            return call.argument(place - 1) if isinstance(place, int) else call.argument(_NEVER, place)
        return (
            call.argument(place, "input" if place == 0 else None)
            if isinstance(place, int)
            else call.argument(_NEVER, place)
        )

    def note_binary(self, value: Value, pairs: Sequence[tuple[Shaped | None, Shaped | None]], frame: Frame) -> None:
        """Note which operands `x * y` keeps, and what `x += y` changes."""
        if not self._ledgers or self.still or not pairs:
            return
        is_change = isinstance(value.data, InPlace)
        if is_change:
            self.change([one for one, _ in pairs], value.args[0], f"{value.data}=", value, frame)
        name = str(value.data)
        if name in _FACTORS:
            if name == "@" and not all(_are_matrices(*pair) for pair in pairs):
                return
            if not is_change and all(needs(other) for _, other in pairs):
                self.keep(value.args[0], name, value, frame)
            is_divided = name == "/" and not any(_is_number(one) for one, _ in pairs)
            if all(needs(one) or (is_divided and needs(other)) for one, other in pairs):
                self.keep(value.args[1], name, value, frame)
        elif name == "**" and not is_change and all(needs(one) for one, _ in pairs):
            self.keep(value.args[0], name, value, frame)

    def note_store(self, target: Value, frame: Frame) -> None:
        """Note that `x[i] = y` changes a tensor; an argument counts as one only where an operator keeps it whole."""
        if self._ledgers:
            owner = target.args[0]
            tensors = [self._theory.tensor_of(atom, is_tensor=False) for atom in self._run.evaluate(owner, frame)]
            notes = self._ledgers[-1].kept.get(id(owner), ())
            if any(tensors) or any(note.is_whole for note in notes):
                self.change(tensors, owner, "[]=", target, frame)

    # -- notes -----------------------------------------------------------------------------------------------------

    def keep(self, operand: Value, by: str, value: Value, frame: Frame) -> None:
        """Note that an operator keeps a tensor."""
        note = self._note(by, value, frame)
        if note is None or self._theory.is_still or frame.is_nested:
            return  # the conditions around a function inside of another one are not known there
        ledger = self._ledgers[-1]
        root, is_turned = ledger.root(operand)
        note = note._replace(is_turned=is_turned, is_whole=root is operand)
        self._put(ledger.kept, root, note)
        for change in ledger.changed.get(id(root), ()):
            if _is_before(note, change, root):
                self._theory.refuse_change(Kept(by, site=note.site), change.by, change.value, frame, is_late=True)

    def change(
        self, tensors: Sequence[Shaped | None], operand: Value | None, by: str, value: Value, frame: Frame,
    ) -> None:  # fmt: skip
        """Note that an operator changes a tensor in place; a clash if that is certainly kept."""
        note = self._note(by, value, frame)
        if note is None or self._theory.is_still:
            return
        marks = [None if one is None or one.traced is None else one.traced.kept for one in tensors]
        kept = marks[0] if marks and None not in marks else None
        if operand is not None and not frame.is_nested:
            ledger = self._ledgers[-1]
            root, _ = ledger.root(operand)
            if kept is None:
                before = (one for one in ledger.kept.get(id(root), ()) if _is_before(one, note, root))
                first = next(before, None)
                kept = None if first is None else Kept(first.by, site=first.site)
            self._put(ledger.changed, root, note)
        if kept is None:
            self._theory.allow_change(value, frame)
        else:
            self._theory.refuse_change(kept, by, value, frame)

    def _note(self, by: str, value: Value, frame: Frame) -> Note | None:
        if not self._ledgers or self.still or frame.function is None:
            return None
        event = frame.flow.circumstances(value) or frame.event
        path = self._run.conditions(None if event is None else event.guard, frame)
        if path is None:
            return None
        return Note(
            by, value, Site(value, frame.function), _order(value, event), path, 0 if event is None else event.loops
        )

    def _put(self, notes: dict[int, list[Note]], root: Value, note: Note) -> None:
        own = notes.setdefault(id(root), [])
        if len(own) < _MAX_NOTES:
            own.append(note)
            self._ledgers[-1].roots[id(root)] = root

    def pass_on(
        self, effects: tuple[Effect, ...], code: Function, arguments: Arguments, value: Value, frame: Frame
    ) -> None:
        """Note what a call of a function keeps and changes of its arguments."""
        row = self._theory.row
        if value.op is not Op.CALL or not self._ledgers or (row is not None and (any(row.place) or not row.is_called)):
            return
        names = code.argument_names
        for effect in effects:
            place = names.index(effect.parameter) if effect.parameter in names else _NEVER
            operand = value.argument(place, effect.parameter)
            given = arguments.argument(place, effect.parameter)
            if operand is None or given is None or self._run.evaluate(operand, frame) != given:
                continue
            if effect.is_change:
                is_told = self._theory.is_of_root_file(code)  # what carries a mark is told there
                tensors = [] if is_told else [self._theory.tensor_of(atom, is_tensor=False) for atom in given]
                self.change(tensors, operand, f"{code.qualname}()", value, frame)
            else:
                self.keep(operand, effect.by, value, frame)


def _order(value: Value, event: Event | None) -> tuple[int, int, int, int]:
    """The order in which expressions are carried out: by their ends, and inner ones before those around them."""
    stored = event.value if event is not None and event.target is value else value
    end = max((value.end_line, value.end_offset), (stored.end_line, stored.end_offset))
    return (*end, -value.line, -value.offset)


def _is_before(kept: Note, change: Note, root: Value) -> bool:
    """True if a tensor is kept before it is changed, and certainly so if it is changed."""
    if kept.is_turned or kept.order >= change.order or not set(kept.path) <= set(change.path):
        return False
    is_carried = root.op is Op.CHOICE and root.data is None
    return not is_carried or kept.loops == change.loops


def _are_matrices(one: Shaped | None, other: Shaped | None) -> bool:
    """True if the product of two tensors keeps them, and no copies of them: the second one has two dimensions."""
    return one is not None and other is not None and other.shape.rank == 2


def _is_number(tensor: Shaped | None) -> bool:
    """True for a number beside a tensor: `1 / x` keeps another tensor than `x`."""
    return isinstance(tensor, Scalar)
