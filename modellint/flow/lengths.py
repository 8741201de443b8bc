"""The theory of lengths: symbolic terms of lengths, and the tables of sines and cosines made for them.

If a function counts up to a length, or cuts a table to it, the table is made for that length. It notes numbers added
to the length, indices of the table, comparisons, and state of earlier calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.domain import (
    Constant,
    CoveredLengths,
    Length,
    Plain,
    Site,
    SymbolicInput,
    Tensor,
    Unknown,
    constant,
    size_of,
)
from modellint.flow.heap import TENSORS, Shell, tensors_in
from modellint.flow.length_terms import FunctionTables, LengthKind, Passed, PickedRows, SizedTable, Term
from modellint.flow.lookups import Lookups
from modellint.flow.operation import counted_end, joined_along
from modellint.flow.sinks import Sink
from modellint.flow.tensors import Refinement, Tensors
from modellint.flow.theory import MOST_MADE, Entered, Mode, Theory
from modellint.graph.immutable import replace
from modellint.graph.value import EventKind, Op, is_argument, self_attribute, subscripts

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from modellint.flow.domain import Arguments, Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.flow.theory import Occurrence
    from modellint.graph.python import Function
    from modellint.graph.value import Event, Value
    from modellint.operators import Operator

#: Facets of operators whose result covers the same lengths as their operand.
_KEEPING = frozenset(
    (
        "passed", "same-shape", "squeezes", "unsqueezes", "flattens", "reorders", "sizes", "repeats", "stacks", "joins",
        "casts", "parts", "spreads", "subscripts", "product", "like",
    )
)  # fmt: skip
#: Facets of operators that pass on numbers.
_SAME = frozenset(("passed", "casts", "host", "rounds", "reduces", "same-shape", "sizes"))
_OF_NUMBERS = frozenset(("number", "rounds", "same-number", "literal"))
_KINDS = {"+": LengthKind.SUM, "-": LengthKind.DIFFERENCE, "//": LengthKind.QUOTIENT}
_SUMS = frozenset(("+", "-"))
#: Operators whose result is a power, and facets and names of functions that multiply each position by each power.
_POWERS = frozenset(("**", "exp"))
_MULTIPLYING = frozenset(("product", "subscripts"))
#: Facets of layers that keep the positions of their input.
_BY_POSITION = frozenset(("passed", "same-shape", "own-width", "makes-width"))
#: Facets of operators that give parts of a tensor along a dimension.
_TAKING = frozenset(("parts", "narrows", "ids"))
_IDENTITY = frozenset(("is", "is not", "in", "not in"))
#: The index of the larger operand if a comparison holds.
_LARGER = {">": 0, ">=": 0, "<": 1, "<=": 1}


class _Calculated(Refinement):
    """Transfer functions of operators on tables and lengths."""

    def __init__(self, run: Interpreter, lengths: Lengths) -> None:
        self._run = run
        self._lengths = lengths
        self._terms: dict[Hashable, Term] = {}

    # -- lengths -------------------------------------------------------------------------------------------------

    def _term(self, origin: Site, kind: LengthKind, *operands: Atoms) -> Term:
        """The length measured or computed at a site; the same object for the same operands."""
        key = origin, kind, operands
        found = self._terms.get(key)
        if found is None:
            found = self._terms[key] = Term(origin, kind=kind, operands=operands)
        return found

    def length(self, site: Site, measured: Atoms) -> Length:
        return self._term(site, LengthKind.COUNT, measured)

    def _numbers(self, atoms: Atoms) -> Atoms:
        """The atoms that may be numbers known only at run time."""
        own = self._lengths.given
        return tuple(a for a in atoms if isinstance(a, Length) or (isinstance(a, SymbolicInput) and a in own))

    def is_number(self, atoms: Atoms) -> bool:
        return bool(self._numbers(atoms)) or self.inner.is_number(atoms)

    def are_known(self, left: Atoms, right: Atoms) -> bool:
        return bool(self._numbers(left) or self._numbers(right)) or self.inner.are_known(left, right)

    def arithmetic(self, operator: str, left: Atoms, right: Atoms, made: Site) -> Atoms:
        numbers = self._numbers(left), self._numbers(right)
        first, second = (tuple(a for a in atoms if not isinstance(a, Length)) for atoms in (left, right))
        is_known = self.inner.are_known(first, second)
        found = self.inner.arithmetic(operator, first, second, made) if is_known or not any(numbers) else ()
        found = self._arithmetic(operator, (left, right), found, made)
        is_moved = operator in _SUMS and any(map(_is_counted, (*left, *right)))
        if not any(numbers) and not is_moved:
            return found
        kept = tuple(atom for atom in found if isinstance(atom, Tensor))
        return (*kept, self._term(made, _KINDS.get(operator, LengthKind.OTHER), left, right))

    def _arithmetic(self, operator: str, operands: tuple[Atoms, Atoms], found: Atoms, made: Site) -> Atoms:
        """The result of arithmetic with tables; notes a periodic table as applied if the other operand is no scale."""
        extents = [self.extents(atoms) for atoms in operands]
        if operator in _POWERS and any(map(tensors_in, operands)):
            return _with(CoveredLengths(is_power=True), found)
        if operator == "*" and _are_angles(extents):
            return _with(self._angles(extents, made), found)
        for at, extent in enumerate(extents):
            other, value = operands[1 - at], made.value.args[1 - at] if made.value.op is Op.BIN else None
            is_number = constant(other) is not None or (size_of(other) is not None and not self._numbers(other))
            is_scale = is_number or (value is not None and self_attribute(value) is not None)
            if extent is not None and extent.is_periodic and not is_scale:
                self._lengths.note_applied(extent, extents[1 - at])
                kept = _mark_of_growth(extents[1 - at])
                return tuple(replace(a, extent=kept) if isinstance(a, Tensor) else a for a in found)
        return _with(_common(extents), found) if operator != "@" or None not in extents else found

    def _extreme(self, row: Operator, arguments: Arguments, site: Site) -> Atoms | None:
        """`max(a, b)`, `torch.maximum(a, b)`, `max([a, b])`."""
        operands = arguments.positional
        if len(operands) == 1 and len(operands[0]) == 1 and isinstance(operands[0][0], Shell):
            operands = tuple(entry.atoms for entry in operands[0][0].entries)
        if len(operands) < 2 or not any(map(self._numbers, operands)):
            return None
        return (self._term(site, LengthKind.MAXIMUM if "largest" in row.facets else LengthKind.MINIMUM, *operands),)

    # -- calls ---------------------------------------------------------------------------------------------------

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        row, site = operators.row(f"Tensor.{name}"), Site(value, frame.function)
        atom = self._table_in(atom)
        if row is None:
            return self._of_cache(atom, name, arguments, site) or self.inner.method(atom, name, arguments, frame, value)
        if "extreme" in row.facets and arguments.positional:
            made = self._extreme(row, replace(arguments, positional=((atom,), *arguments.positional)), site)
            if made is not None:
                return made
        is_unknown = isinstance(atom, SymbolicInput | Unknown | Plain | Tensor)
        if is_unknown and {"reduces", "largest"} <= row.facets.keys() and not arguments.positional:
            return (self._term(site, LengthKind.LARGEST, (atom,)),)
        if isinstance(atom, Length):
            return (atom,) if row.facets.keys() & _SAME else None
        if isinstance(atom, SymbolicInput) and atom in self._lengths.given:
            self._note_comparison(row, (atom,))
            if row.facets.keys() & {"passed", "casts", "rounds"} and "ids" not in row.facets:
                return (atom,)
        found = self.inner.method(atom, name, arguments, frame, value)
        return self._after(row, ((atom,), *arguments.all()), found, arguments, site)

    def _of_cache(self, atom: Atom, name: str, arguments: Arguments, site: Site) -> Atoms | None:
        """The result of a method of a possible cache, by the rows of `Cache`; None for other values and methods."""
        row = operators.row(f"Cache.{name}")
        if row is None or not isinstance(atom, SymbolicInput | Unknown):
            return None
        if "counts" in row.facets:
            return (self._term(site, LengthKind.KEPT, (atom,)),)
        if len(arguments.positional) < 2 or not self._lengths.is_part_of_given(atom):
            return None
        self._lengths.note_kept(atom)
        return (Tensor(extent=CoveredLengths(is_grown=True)),)

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        row, site = operators.row(name) or operators.row(name.removeprefix("torch.")), Site(value, frame.function)
        if row is None:
            return self.inner.function(name, arguments, frame, value)
        operand = arguments.argument(0, "input") or ()
        numbers = self._numbers(operand)
        if "extreme" in row.facets:
            made = self._extreme(row, arguments, site)
            if made is not None:
                return made
        if {"reduces", "largest"} <= row.facets.keys() and operand and len(tuple(arguments.all())) == 1:
            return (self._term(site, LengthKind.LARGEST, operand),)
        if numbers and row.facets.keys() & _OF_NUMBERS and "counts" not in row.facets:
            return numbers
        self._note_comparison(row, operand)
        found = self.inner.function(name, arguments, frame, value)
        if "counted" in row.facets and row.name != "builtins.range":
            return self._cover_count(arguments, found)
        if "joins" in row.facets:
            members = operand or arguments.argument(0, "tensors") or ()
            is_lengthened = _are_rows(joined_along(arguments), members)
            found = self._join_past(members, found, frame, value, is_lengthened)
        return self._after(row, arguments.all(), found, arguments, site)

    def _after(
        self, row: Operator, operands: Iterable[Atoms], found: Atoms | None, arguments: Arguments, site: Site
    ) -> Atoms | None:
        """The result of an operator, with the lengths that it covers; sines and cosines make a periodic table."""
        operands = list(operands)[: 1 if "casts" in row.facets else None]
        extent = _common([self.extents(atoms) for atoms in operands])
        if "periodic" in row.facets:
            extent = CoveredLengths(() if extent is None else extent.lengths, is_periodic=True)
            self._lengths.note_sized(extent, site)
            return _with(extent, found)
        if extent is not None and extent.is_lengthened and not _keeps_tokens(row, arguments):
            extent = replace(extent, is_lengthened=False)
        if row.facets.get("like") in _POWERS:
            return _with(CoveredLengths(is_power=True), found)
        if extent is None or not row.facets.keys() & _KEEPING or "ids" in row.facets:
            return found
        if row.facets.keys() & _MULTIPLYING and _are_angles([self.extents(atoms) for atoms in operands]):
            return _with(self._angles([extent], site), found)
        if extent.is_periodic and row.facets.get("like") in ("*", "+", "-", "/"):
            other = arguments.argument(0, "other") or arguments.argument(1, "other") or ()
            return self._arithmetic(row.facets["like"], (operands[0], other), found or (), site)
        if "product" in row.facets:
            extent = replace(extent, is_periodic=False)
        return _with(extent, found)

    def _angles(self, extents: list[CoveredLengths | None], site: Site) -> CoveredLengths:
        """The lengths of a table of angles: positions multiplied by powers."""
        lengths = tuple(length for extent in extents if extent is not None for length in extent.lengths)
        extent = CoveredLengths(lengths, is_periodic=True)
        self._lengths.note_sized(extent, site)
        return extent

    def _cover_count(self, arguments: Arguments, found: Atoms | None) -> Atoms | None:
        """The result of `arange(n)`, which covers the length `n`."""
        end = counted_end(arguments)
        lengths = tuple(a for a in self._numbers(end[0]) if isinstance(a, Length)) if end is not None else ()
        return _with(CoveredLengths(lengths), found) if lengths else found

    # -- what is kept --------------------------------------------------------------------------------------------

    def _join_past(
        self, members: Atoms, found: Atoms | None, frame: Frame, value: Value, is_lengthened: bool
    ) -> Atoms | None:
        """The result of `torch.cat([past, k])`: marked as grown if state from an argument or attribute comes first."""
        parts = next((arg for arg in value.args[1:] if arg.op in (Op.LIST, Op.TUPLE)), None)
        entries = [e.atoms for a in members if isinstance(a, Shell) for e in a.entries]
        if len(entries) < 2 or not entries[0]:
            return found
        kept = [atom for atom in entries[0] if isinstance(atom, SymbolicInput | Unknown)]
        own = _names(entries[0])
        others = parts.args[1:] if parts is not None and len(parts.args) > 1 else ()
        beside = self._made_of(others, frame).union(*map(_names, entries[1:]))
        is_attribute = parts is not None and self_attribute(_whole(parts.args[0])) is not None
        if not kept or not (own or is_attribute) or not own.isdisjoint(beside):
            return found
        self._lengths.note_kept(kept[0])
        return _with(CoveredLengths(is_grown=True, is_lengthened=is_lengthened), found)

    def _made_of(self, values: Iterable[Value], frame: Frame) -> set[str]:
        """The parameters of the function in question that values are computed from."""
        parameters = (part for value in values for part in value.walk() if is_argument(part))
        return {name for part in parameters for name in _names(self._run.evaluate(part, frame))}

    # -- tables --------------------------------------------------------------------------------------------------

    def extents(self, atoms: Atoms) -> CoveredLengths | None:
        """The joint lengths that the tensors among atoms cover; None if no tensor has any."""
        return _common([tensor.extent for tensor in tensors_in(tuple(map(self._table_in, atoms)))])

    def _table_in(self, atom: Atom) -> Atom:
        """The table that a buffer or parameter is made of; the atom itself for others."""
        if not isinstance(atom, Shell) or atom.kind not in TENSORS:
            return atom
        data = tensors_in(atom.arguments.argument(0, "data") or ())
        return next((tensor for tensor in data if tensor.extent is not None), atom)

    def cut(self, atom: Atom, value: Value, frame: Frame) -> Atom:
        return self.inner.cut(self._table_in(atom), value, frame)

    def after_picking(self, found: Atoms, owner: Atoms, value: Value, frame: Frame) -> Atoms:
        last = [constant(self._run.evaluate(part, frame)) for part in subscripts(value)[-1:]]
        if last != [Constant(-1)] or not any(isinstance(a, SymbolicInput | Unknown | Plain | Tensor) for a in owner):
            return found
        return (*found, self._term(Site(value, frame.function), LengthKind.LAST, owner))

    def subscripted(self, tensor: Tensor, value: Value, frame: Frame) -> Atoms:
        found = self.inner.subscripted(tensor, value, frame)
        extent = tensor.extent
        if extent is None:
            return found
        found = tuple(replace(a, extent=None) if isinstance(a, Tensor) else a for a in found)
        parts = subscripts(value)
        if extent.is_grown and _is_of_features(parts):
            parts = parts[:-1]
        if extent.is_lengthened and any(map(_limits, parts)):
            extent = replace(extent, is_lengthened=False)
        for part in parts:
            if part.op is Op.SLICE:
                lengths = tuple(a for a in self._run.evaluate(part.args[1], frame) if isinstance(a, Term))
                if lengths:
                    extent = replace(extent, lengths=lengths)
                    self._lengths.note_sized(extent, Site(part.args[1], frame.function), is_cut=True)
            elif part.op is not Op.CONST and not _is_one(self._run.evaluate(part, frame)):
                return found  # rows are picked
        return _with(extent, found)

    def layer(self, shell: Shell, row: Operator | None, given: Atoms | None, frame: Frame, value: Value) -> Atoms:
        found = self.inner.layer(shell, row, given, frame, value)
        if row is None or not row.facets.keys() & _BY_POSITION:
            return found
        return _with(_mark_of_growth(self.extents(given or ())), found)

    def _note_comparison(self, row: Operator, operand: Atoms) -> None:
        if row.facets.get("like") in (*_LARGER, "==", "!="):
            self._lengths.note_limits(operand)


class Lengths(Theory, Sink):
    """The tables of sines and cosines of one run, and the terms of their lengths."""

    mode = Mode(asks="lengths of tables", most_made=MOST_MADE)
    observes = (Entered,)
    rests_on = (Tensors,)
    goes_before = (Lookups,)
    alike = (Plain,)
    follows_everything = True

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self._calculated = _Calculated(run, self)
        tensors = run.of(Tensors)
        tensors.add(self)
        tensors.refine(self._calculated)
        self.about: FunctionTables | None = None
        #: The inputs of the function in question, and their elements.
        self.given: frozenset[Atom] = frozenset()

    def ask(self, function: Function) -> FunctionTables:
        """Start to record the tables of one function, in the returned object."""
        self.about, self.given = FunctionTables(function), frozenset()
        self.lookups.is_idle = True
        self.lookups.forget()
        return self.about

    @property
    def lookups(self) -> Lookups:
        """The theory of look-ups, which follows calls."""
        return self._run.of(Lookups)

    def observe(self, event: Occurrence) -> None:
        if isinstance(event, Entered) and not self.lookups.is_running:
            atoms = [atom for atoms in event.frame.names.values() for atom in atoms if isinstance(atom, SymbolicInput)]
            self.given = frozenset((*atoms, *(atom.element() for atom in atoms)))

    def matters(self, event: Event, frame: Frame) -> None:
        if event.kind is EventKind.COMPARE and event.value.data not in _IDENTITY:
            for arg in event.value.args:
                self.note_limits(self._run.evaluate(arg, frame))

    def indexed(self, table: Atom, index: Atoms, frame: Frame, value: Value, *, takes_real: bool = True) -> None:
        extent = self._calculated.extents((table,))
        if self.about is None or extent is None or not extent.is_periodic or not extent.lengths:
            return
        use = Site(value, frame.function)
        parts = subscripts(value) if value.op is Op.INDEX else value.args[-1:]
        for part in parts:
            ids = index if value.op is not Op.INDEX else self._run.evaluate(part, frame)
            if part.op is not Op.SLICE and part.op is not Op.CONST and not _is_one(ids):
                at = Site(part, frame.function)
                picked = PickedRows(extent.lengths, ids, at, use, self._sites_under_way())
                self.about.picked.setdefault((extent.lengths, ids, use), picked)

    # -- notes ---------------------------------------------------------------------------------------------------

    def note_sized(self, extent: CoveredLengths, use: Site, *, is_cut: bool = False) -> None:
        """Record that a periodic table is made for, or cut to, its lengths."""
        if self.about is None or use.function is None or not extent.is_periodic:
            return
        for length in extent.lengths:
            if isinstance(length, Term) and length.origin.function is not None:
                passed = {
                    Site(call, frame.function): self._passed_arguments(length, frame, call)
                    for frame, call in self._way()
                }
                sized = SizedTable(length, use, passed, frozenset(self._exceeding()), is_cut)
                self.about.sized.setdefault((length, use, sized.calls), sized)

    def _way(self) -> list[tuple[Frame, Value]]:
        """The calls under way with their frames, outermost first."""
        return [(frame, call) for frame, call in self._run.calls.way if frame.function is not None]

    def _sites_under_way(self) -> tuple[Site, ...]:
        return tuple(Site(call, frame.function) for frame, call in self._way())

    def _passed_arguments(self, length: Term, frame: Frame, call: Value) -> Passed:
        """The argument of a call that is the length, and the parameters that the call passes on."""
        passed = {arg: self._run.evaluate(arg, frame) for arg in call.args[1:]}
        own = next((Site(arg, frame.function) for arg, atoms in passed.items() if length in atoms), None)
        return Passed(own, frozenset(name for atoms in passed.values() for name in _names(atoms)))

    def _exceeding(self) -> Iterator[Atom]:
        """The atoms that open conditions of the functions under way show to be larger than, or unequal to, others."""
        for frame in self.lookups.frames:
            guard = None if frame.event is None else frame.event.guard
            for link in guard.chain() if guard is not None else ():
                for compare, holds in _comparisons(link.test, link.truthy):
                    for value in _larger(compare, holds):
                        yield from self._run.evaluate(value, frame)

    def note_applied(self, extent: CoveredLengths, other: CoveredLengths | None) -> None:
        """Record that a table is combined as a whole with another tensor."""
        if self.about is not None:
            self.about.applied.update(extent.lengths)
            if other is not None and other.is_lengthened and not other.lengths:
                self.about.too_short.add(extent.lengths)

    def is_part_of_given(self, atom: Atom) -> bool:
        """True if an atom is an argument of the function in question, or an attribute or entry of one."""
        return isinstance(atom, SymbolicInput) and any(
            isinstance(a, SymbolicInput) and a.home == atom.home for a in self.given
        )

    def note_kept(self, atom: Atom) -> None:
        """Record that state from an earlier call is joined to new values."""
        if self.about is not None:
            self.about.is_kept = True
            if isinstance(atom, SymbolicInput):
                self.about.kept[atom.parameter] = None

    def note_limits(self, atoms: Atoms) -> None:
        """Record the parameters whose values are compared; comparing their number of elements doesn't count."""
        if self.about is None:
            return
        pending = list(atoms)
        for atom in pending:
            if isinstance(atom, SymbolicInput):
                self.about.compared.add(atom.parameter)
            elif isinstance(atom, Term) and atom.kind not in (LengthKind.COUNT, LengthKind.KEPT):
                pending += [inner for operand in atom.operands for inner in operand]


def _is_one(atoms: Atoms) -> bool:
    """True if an index is a constant."""
    known = constant(atoms)
    return known is not None and isinstance(known, Constant)


def _is_counted(atom: Atom) -> bool:
    """True if an atom is a tensor of positions that count up from 0."""
    return isinstance(atom, Tensor) and atom.positions is not None and not atom.positions.is_ahead


def _mark_of_growth(extent: CoveredLengths | None) -> CoveredLengths | None:
    """The mark of a tensor that contains state of earlier calls, without lengths; None for others."""
    if extent is None or not extent.is_grown:
        return None
    return CoveredLengths(is_grown=True, is_lengthened=extent.is_lengthened)


def _are_angles(extents: list[CoveredLengths | None]) -> bool:
    """True if operands are positions up to a length and powers, which are no table yet."""
    known = [extent for extent in extents if extent is not None]
    is_table = any(extent.is_periodic or extent.is_grown for extent in known)
    return not is_table and any(e.is_power for e in known) and any(e.lengths and not e.is_power for e in known)


def _keeps_tokens(row: Operator, arguments: Arguments) -> bool:
    """False if an operator may leave tokens out: it takes parts along a dimension other than the last."""
    if not row.facets.keys() & _TAKING:
        return True
    named = [atoms for word in ("dim", "axis") if (atoms := arguments.keywords.get(word)) is not None]
    return any(constant(atoms) == Constant(-1) for atoms in (*named, *arguments.positional[-1:]))


def _are_rows(along: int | None, members: Atoms) -> bool:
    """True if tensors joined along a dimension have more tokens: it is no batch, and not the features."""
    if along in (1, -2):
        return True
    ranks = [len(tensor.sizes) for tensor in tensors_in(members) if tensor.sizes is not None]
    return along == 2 and any(rank > along + 1 for rank in ranks)


def _is_of_features(parts: tuple[Value, ...]) -> bool:
    """True if the last part of a subscript is of the last dimension: `x[..., :n]`."""
    return len(parts) > 1 and any(part.op is Op.CONST and part.data is Ellipsis for part in parts[:-1])


def _limits(part: Value) -> bool:
    """True if a part of a subscript may leave elements out: `:n`, but not `:` nor `None`."""
    if part.op is Op.SLICE:
        return any(bound.op is not Op.CONST or bound.data is not None for bound in part.args)
    return part.op is not Op.CONST or isinstance(part.data, int)


def _common(extents: Iterable[CoveredLengths | None]) -> CoveredLengths | None:
    """The union of the covered lengths of several tensors; None if none has any."""
    known = [extent for extent in extents if extent is not None]
    if not known:
        return None
    lengths = dict.fromkeys(length for extent in known for length in extent.lengths)
    return CoveredLengths(
        tuple(lengths),
        any(extent.is_periodic for extent in known),
        any(extent.is_power for extent in known),
        any(extent.is_grown for extent in known),
        any(extent.is_lengthened for extent in known),
    )


def _with(extent: CoveredLengths | None, found: Atoms | None) -> Atoms:
    """The atoms with their tensors marked by `extent`; a new tensor if there is none among them."""
    if extent is None or not found or not any(isinstance(atom, Tensor) for atom in found):
        return (found or ()) if extent is None else (Tensor(extent=extent),)
    return tuple(replace(atom, extent=extent) if isinstance(atom, Tensor) else atom for atom in found)


def _names(atoms: Atoms) -> set[str]:
    """The parameters whose arguments, or parts of them, are among the atoms."""
    return {atom.parameter for atom in atoms if isinstance(atom, SymbolicInput)}


def _whole(value: Value) -> Value:
    """The value that subscripts and unpackings pick from: `self.past` of `self.past[0]`."""
    while value.op in (Op.INDEX, Op.UNPACK):
        value = value.args[0]
    return value


def _comparisons(test: Value, holds: bool) -> Iterator[tuple[Value, bool]]:
    """The comparisons in a condition, each with its outcome where the condition's outcome is `holds`."""
    if test.op is Op.UNARY and test.data in ("not", "~"):
        yield from _comparisons(test.args[0], not holds)
    elif test.op is Op.BOOL:
        for arg in test.args:
            yield from _comparisons(arg, holds)
    else:
        yield from ((part, holds) for part in test.walk() if part.op is Op.COMPARE)


def _larger(compare: Value, holds: bool) -> tuple[Value, ...]:
    """The operands that a comparison with this outcome shows to be larger; both if it tests for equality."""
    if compare.data in _IDENTITY:
        return ()
    larger = _LARGER.get(str(compare.data))
    return compare.args if larger is None else (compare.args[larger if holds else 1 - larger],)
