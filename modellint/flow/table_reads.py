"""The theory of table reads: records up to which length tables are read, and comparisons of lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import sizes
from modellint.flow.domain import Bound, Length, Plain, Site, SymbolicInput, Tensor, Unknown, size_of, text
from modellint.flow.heap import Shell, tensors_in
from modellint.flow.lookups import FEW, Lookups
from modellint.flow.operation import joined_along
from modellint.flow.sinks import Sink
from modellint.flow.tensors import Tensors
from modellint.flow.theory import MOST_MADE, Mode, Theory
from modellint.graph.immutable import dataclass
from modellint.graph.size import Size, excess, is_proved
from modellint.graph.value import EventKind, Op, subscripts

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from modellint.flow.domain import Arguments, Atom, Atoms, Positions, Sizes
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.graph.python import Function
    from modellint.graph.value import Event, Value

#: The constructor's arguments for the sizes of a table.
_OF_TABLE = ("num_embeddings", "embedding_dim")
#: Operations that may give a measured length.
_MEASURES = frozenset((Op.INDEX, Op.UNPACK, Op.CALL))
_ORDERS = frozenset(("<", "<=", ">", ">="))
_COMPARISONS = _ORDERS | {"==", "!="}


@dataclass(frozen=True, eq=False, slots=True)
class TableRead:
    """A read at `use` of the rows up to `length` of the table made at `table`.

    `rows` is the table's number of rows, None if unknown. The length is known only at run time; `is_given` if it comes
    from a caller, who may know more. `calls` lead to `use`, outermost first.
    """

    table: Site
    rows: Size | None
    use: Site
    length: Site
    is_given: bool
    calls: tuple[Site, ...]
    #: True if it is read beyond a measured length: from a later position than 0, or for more positions.
    is_ahead: bool = False
    #: True if `length` is a length; False if it is the index itself.
    is_length: bool = True
    #: How many rows more than its length a running total needs; None for other reads.
    ahead: Size | None = None

    def goes_beyond(self, most: Size, *, by_default: bool) -> bool:
        """True if a running total of up to `most` elements needs more rows than there are; ids are no less than 0.

        With `by_default`, defaults of parameters may decide.
        """
        if self.ahead is None or self.rows is None:
            return False
        left = (most - self.rows).constant
        if left is not None and all(factor > 0 for symbols, factor in self.ahead.terms if symbols):
            return left + sum(factor for symbols, factor in self.ahead.terms if not symbols) > 0
        over = most + self.ahead
        return (by_default or is_proved(over, self.rows)) and (excess(over, self.rows) or 0) > 0


@dataclass(frozen=True, eq=False, slots=True)
class LengthComparison:
    """A comparison of lengths in a function: its operator, and the tensors and parameters whose lengths it compares.

    `bound` is the number that a plain measured length is compared with, `most` the largest length that it lets through;
    None otherwise.
    """

    operator: str
    measured: tuple[Value, ...]
    bound: Size | None = None
    most: Size | None = None


class TableReads(Theory, Sink):
    """The table reads and comparisons of lengths of one run."""

    mode = Mode(asks="reads of tables", most_made=MOST_MADE)
    rests_on = (Tensors,)
    goes_before = (Lookups,)
    follows_everything = True
    alike = (SymbolicInput, Unknown, Plain)

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self._tensors = run.of(Tensors)
        self._tensors.add(self)
        self.reads: dict[Hashable, TableRead] = {}
        self.limits: dict[Function, dict[Value, LengthComparison]] = {}
        #: The positions that code compares with something else before it looks them up.
        self._checked: set[Hashable] = set()
        #: The look-ups of more positions than there are rows, by the table.
        self.beyond: dict[Site, TableRead] = {}

    @property
    def _lookups(self) -> Lookups:
        return self._run.of(Lookups)

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        """The number of tokens of a possible tokenizer of a library: a length; None for other attributes."""
        row = operators.row(f"Tokenizer.{name}") if isinstance(atom, Unknown) and value is not None else None
        is_counted = row is not None and "counts" in row.facets and frame is not None and frame.function is not None
        return (
            (Length(Site(value, frame.function)),) if is_counted and value is not None and frame is not None else None
        )

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of `cat`: an unknown tensor with the dimension along which it was joined."""
        row = operators.row(name)
        along = None if row is None or "joins" not in row.facets else joined_along(arguments)
        return None if along is None else (Tensor(joined=along),)

    def matters(self, event: Event, frame: Frame) -> None:
        if event.kind is EventKind.COMPARE:
            self._note_limit(event.value, frame)

    def met(self, table: Site, rows: Size | None, index: Atoms, frame: Frame, value: Value) -> None:
        """Record a read of a table by positions or by an argument."""
        if any(t.positions is not None and t.positions.key in self._checked for t in tensors_in(index)):
            return
        counted = [(t.positions, t.is_cut) for t in tensors_in(index) if t.positions is not None]
        for positions, is_cut in counted:
            is_open = not positions.is_total or not is_cut
            if positions.length is not None and is_open and not any(t.is_conditional for t in tensors_in(index)):
                self._note_positions(table, rows, positions, positions.length, frame, value)
        is_whole = len(index) == 1 and (isinstance(index[0], Tensor) or value.args[-1].op is not Op.INDEX)
        known = _data(index[0]) if is_whole else ()
        for tensor in tensors_in(known) if len(known) == 1 else ():
            if rows is not None and tensor.positions is not None and tensor.positions.is_bounded:
                self._note_beyond(table, rows, tensor.positions, frame, value)
        if not counted and any(isinstance(atom, SymbolicInput) for atom in index):
            self._note_read(table, rows, frame, value, Site(value.args[-1], frame.function), is_given=True)

    def sliced(self, owner: Atoms, value: Value, frame: Frame) -> None:
        """Record reads by a slice, `self.table[:, :length]`, or of the row behind a measured length."""
        parts = subscripts(value)
        if parts and parts[0].op in _MEASURES and self._lookups.is_running:
            self._note_row(owner, parts[0], value, frame)
        slices = [(at, part.args[1]) for at, part in enumerate(parts) if part.op is Op.SLICE]
        for at, upper in slices if self._lookups.is_running else ():
            ends = () if upper.op is Op.CONST else self._run.evaluate(upper, frame)
            is_known = any(isinstance(atom, Length) for atom in ends)
            if not is_known and not any(isinstance(atom, SymbolicInput) for atom in ends):
                continue
            for table, sides in self.tables(owner):
                place = sizes.place_of(at, parts, len(sides))
                if place is not None:
                    rows = sides[place]
                    known, end = rows if isinstance(rows, Size) else None, Site(upper, frame.function)
                    self._note_read(table, known, frame, value, end, is_given=not is_known, is_length=True)

    def _note_row(self, owner: Atoms, index: Value, value: Value, frame: Frame) -> None:
        """Record the read of one row of a table, `self.table[x.shape[0]]`, where a slice up to it may be meant."""
        known = self._run.evaluate(index, frame)
        if not known or not all(isinstance(atom, Length) and not atom.is_made for atom in known):
            return
        for table, sides in self.tables(owner):
            if len(sides) > 1 and isinstance(sides[0], Size):
                self._note_read(table, sides[0], frame, value, Site(index, frame.function), is_ahead=True)

    def tables(self, atoms: Atoms) -> Iterator[tuple[Site, Sizes]]:
        """The tables among atoms, and in containers among them: the site and sizes of each."""
        for atom in atoms:
            is_holding = isinstance(atom, Shell) and (atom.is_container or atom.is_module_container)
            for inner in atom.contents() if isinstance(atom, Shell) and is_holding else (atom,):
                found = self._sides_of(inner)
                if found is not None:
                    yield found

    def _sides_of(self, atom: Atom) -> tuple[Site, Sizes] | None:
        """The site that makes a table, and its sizes."""
        layer = atom.owner if isinstance(atom, Bound) else atom
        if isinstance(layer, Shell) and self._lookups.is_table(layer):
            given = (self._tensors.argument(layer, (at, name)) for at, name in enumerate(_OF_TABLE))
            return None if layer.site is None else (layer.site, tuple(size_of(one) for one in given))
        sides = sizes.of((atom,))
        if sides and any(tensor.positions is not None for tensor in tensors_in(_data(atom))):
            sides = (*sides, None)  # each is a row by itself
        made = atom.site if isinstance(atom, Shell) else atom.made if isinstance(atom, Tensor) else None
        return None if made is None or not sides else (made, sides)

    def _note_read(
        self,
        table: Site,
        rows: Size | None,
        frame: Frame,
        value: Value,
        length: Site,
        *,
        is_given: bool = False,
        is_ahead: bool = False,
        is_length: bool = False,
        ahead: Size | None = None,
    ) -> None:
        calls = tuple(Site(call, outer.function) for outer, call in self._run.calls.way if outer.function is not None)
        read = TableRead(table, rows, Site(value, frame.function), length, is_given, calls, is_ahead, is_length, ahead)
        self.reads.setdefault((table, rows, read.use, is_given, calls, is_ahead), read)

    def _note_positions(
        self, table: Site, rows: Size | None, positions: Positions, length: Site, frame: Frame, value: Value
    ) -> None:
        """Record a read by positions that count up to a length."""
        is_ahead = positions.is_ahead or positions.is_total
        self._note_read(
            table,
            rows,
            frame,
            value,
            length,
            is_given=positions.is_given,
            is_ahead=is_ahead,
            is_length=True,
            ahead=positions.ahead,
        )

    def _note_beyond(self, table: Site, rows: Size, positions: Positions, frame: Frame, value: Value) -> None:
        """Record a look-up of more positions than a table has rows, whatever their number is."""
        assert positions.end is not None
        read = TableRead(
            table, rows, Site(value, frame.function), positions.origin, is_given=False, calls=(), ahead=positions.ahead
        )
        if positions.ahead is not None:
            is_beyond = read.goes_beyond(positions.end - positions.ahead, by_default=False)
        else:
            is_beyond = is_proved(positions.end, rows) and (excess(positions.end, rows) or 0) > 0
        if is_beyond:
            self.beyond.setdefault(table, read)

    def _note_limit(self, test: Value, frame: Frame) -> None:
        """Record a comparison of a length, or of a numeric argument, with anything but a small number."""
        if test.data not in _COMPARISONS:
            return
        sides = [self._run.evaluate(arg, frame) for arg in test.args]
        if test.data in _ORDERS:
            checked = (tensor.positions for atoms in sides for tensor in tensors_in(atoms))
            self._checked.update(positions.key for positions in checked if positions is not None)
        compared = [a for atoms in sides for a in atoms if _is_length(a, frame)]
        if compared and not any(map(_is_few, sides)):
            measured = (_tensor_of_length(a.origin.value) for a in compared if isinstance(a, Length))
            is_plain = all(isinstance(a, Length) and not a.is_made and not a.is_more for a in compared)
            bound = next((size for atoms in sides if (size := size_of(atoms)) is not None), None) if is_plain else None
            arguments = (arg for arg in test.args if arg.op is Op.PARAM)
            is_first = any(_is_length(atom, frame) for atom in sides[0])
            lets_equal = test.data in ((">", "<=", "==", "!=") if is_first else ("<", ">=", "==", "!="))
            most = bound if bound is None or lets_equal else bound - Size.of(1)
            limit = LengthComparison(str(test.data), (*measured, *arguments), bound, most)
            functions = self._lookups.functions
            is_helper = len(functions) > 1 and functions[-1].owner is None
            for function in functions[-2:] if is_helper else functions[-1:]:
                self.limits.setdefault(function, {})[test] = limit


def _data(atom: Atom) -> Atoms:
    """The atom itself, or the data of a parameter or buffer."""
    return atom.arguments.argument(0, "data") or () if isinstance(atom, Shell) else (atom,)


def _tensor_of_length(value: Value) -> Value:
    """The tensor that is measured: `x` of `x.shape`, `x.size(0)`, `len(x)`."""
    if value.op is Op.ATTR:
        return value.args[0]
    callee = value.args[0]
    return callee.args[0] if callee.op is Op.ATTR else value.args[-1]


def _is_few(atoms: Atoms) -> bool:
    """True for a small number or a string."""
    size = size_of(atoms)
    return text(atoms) is not None or (size is not None and size.constant is not None and size.constant < FEW)


def _is_length(atom: Atom, frame: Frame) -> bool:
    """True for a length, or an argument of the frame's function that may be one."""
    if isinstance(atom, Length) or frame.function is None:
        return isinstance(atom, Length)
    own = f"{frame.function.module.path}:{frame.function.qualname}"
    return isinstance(atom, SymbolicInput) and atom.symbol is not None and atom.symbol.owner == own
