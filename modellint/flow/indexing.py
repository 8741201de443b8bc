"""Which events of a function can matter to tables and to what indexes them: the gate of that question.

A value *may be* of a kind of elements (drawn ids, constants among ids, positions, real numbers) where what makes such
stands among what it is made of, and nothing on the way makes other numbers. What *takes* elements looks up what it is
given, what *pads* writes constants among it. This says only what cannot matter; what can is run.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.domain import Filler, Ids, Positions, Real
from modellint.flow.learned import GIVEN, KINDS, Learned, Offered, imported
from modellint.graph.value import EventKind, Nested, Op, called_name, dotted, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Flow, Value
    from modellint.link.project import Project

#: Facets of operators that give the elements of what they are given.
_PASSING = frozenset(
    ("passed", "picked", "limit", "below", "lift", "mask", "chooses", "fill", "rounds", "pairs", "extreme", "copies")
)
_OF_CONTAINERS = frozenset(("adds", "contents", "element", "gathers"))
#: How deeply values are looked into; what is made of more may be anything.
_MAX_DEPTH = 100
#: How deeply what is called is looked into for what it is a part of.
_MAX_PARTS = 6
_ARITHMETIC = frozenset("+-%|&")
#: What holds its parts, or is one of them.
_HOLDING = frozenset(
    (Op.LIST, Op.TUPLE, Op.DICT, Op.SET, Op.CHOICE, Op.BOOL, Op.COMPREHENSION, Op.LAMBDA, Op.INDEX, Op.ITEM, Op.UNPACK)
)
#: What is put together of lists.
_JOINING = frozenset((Op.UPDATE, Op.STARRED, Op.BIN))
#: Methods that are called by another name than their own.
_UNNAMED = frozenset(("forward", "__call__", "__init__"))
#: Through how many files elements are followed that one gets from the next.
_MAX_FILES = 3


def indexing(module: ModuleFacts, project: Project, away: int = 0) -> Indexing:
    """What may matter in a file, by its own code and by what it imports; `away`: how many imports led there."""
    return Indexing(module, _learned(module, project, max(_MAX_FILES - away, 0)))


def _learned(module: ModuleFacts, project: Project, files: int) -> Learned:
    """What is known of a file by names, once what it imports is."""

    def found() -> Learned:
        given = Offered()
        if files:
            given = imported(module, project, lambda other: _learned(other, project, files - 1).offered())
        return project.once(("speaks of tables", module, given), lambda: Indexing.learn(module, given))

    return project.once(("speaks of tables", module, files), found)


class Indexing:
    """What may matter in one file."""

    def __init__(self, module: ModuleFacts, learned: Learned) -> None:
        self._module = module
        self.learned = learned
        #: By identity, each with what has that identity: what may be elements in a body, by the kind and whether its
        #: parameters may be.
        self._known: dict[tuple[int, type | None, bool], tuple[dict[int, bool], Flow]] = {}
        self._names, self._makers, self._taking = learned.names, learned.makers, learned.taking
        self._rows: dict[tuple[str, bool], operators.Operator | None] = {}
        #: By identity: what is a table or holds one, as far as that is known.
        self._made: dict[int, bool] = {}
        self._storing: dict[str, frozenset[str]] = {}
        self._real: dict[str, bool] = {}
        self._looked_at: dict[int, tuple[frozenset[int], frozenset[str], Flow]] = {}
        #: By identity: whether events can matter, by the kinds that parameters may be.
        self._events: dict[tuple[int, frozenset[type]], tuple[bool, Event]] = {}
        #: What methods keep for those that call them to draw from.
        self._wanted: set[str] = set()
        self._depth = 0
        #: The class whose method is looked at.
        self._owner = ""

    @cached_property
    def _families(self) -> dict[str, set[str]]:
        """The classes of the file that each one may share objects with: by bases, and bases of these, in the file."""
        found = {cls.name: {cls.name} for cls in self._module.classes.values()}
        for cls in self._module.classes.values():
            for base in cls.bases:
                family = found.get((dotted(base) or "").rpartition(".")[2], set()) | found[cls.name]
                found.update(dict.fromkeys(family, family))
        return found

    def _is_kept_here(self, name: str) -> bool:
        """Whether the class whose method is looked at may keep what looks something up under an attribute."""
        family = self._families.get(self._owner)
        return family is None or any((name, home) in self.learned.homes for home in ("", *family))

    def about(self, function: Function) -> Flow:
        """Look at a function's body from now on."""
        self._owner = function.owner.name if function.owner is not None and not function.is_static else ""
        return function.flow

    @cached_property
    def _functions(self) -> dict[str, list[Function]]:
        """The functions and methods of the file by their names."""
        found: dict[str, list[Function]] = {}
        for function in self._module.all_functions():
            found.setdefault(function.name, []).append(function)
        return found

    def _row(self, callee: Value) -> operators.Operator | None:
        """The row that a callee may be of, by the last part of its name where that was imported from."""
        name, is_global = called_name(callee), callee.op is Op.GLOBAL
        if not is_global and (name in self._taking or _is_of_self(callee)):
            return None
        key = name, is_global
        if key not in self._rows:
            origin = self._module.imports.get(name) if is_global else None
            last = name if origin is None else str(origin).rpartition(".")[2]
            rows = [] if name in self.learned.own else operators.called(last)
            if is_global and origin is None and name not in self.learned.starred:
                rows = [row for row in rows if row.name.startswith("builtins.")]
            self._rows[key] = max(rows, key=_rank, default=None)
        return self._rows[key]

    def roots(self) -> list[Function]:
        """The functions that may look something up with elements that they make, or get from what they call."""
        found: list[Function] = []
        for function in self._candidates():
            kinds = [kind for kind in KINDS if self.speaks_of(kind, function)]
            events = [e for e in self.about(function).events if self._is_known(e)] if kinds else ()
            if any(self.may_look_up(e, function.flow, kind, is_given=False) for e in events for kind in kinds):
                found.append(function)
        return found

    def _is_known(self, event: Event) -> bool:
        """Whether the file may know what an event calls, which is not so of what a function is given."""
        call = event.value
        if event.kind is not EventKind.CALL or self._row(call.callee) is not None:
            return True
        name = called_name(call.callee)
        is_named = name in self.learned.asking or name in self.learned.padding
        return is_named or self._may_take(call, is_given=False)

    def makers_of(self, function: Function) -> Iterator[Event]:
        """The events of a function that make tables, or objects of classes that are some."""
        if not function.words.isdisjoint(self._makers):
            for event in function.flow.of(EventKind.CALL):
                if called_name(event.value.callee) in self._makers:
                    yield event

    def users(self) -> list[Function]:
        """The functions that may look something up, or pass it on to what does."""
        functions = (f for f in self._module.all_functions() if f.name != "__init__")
        return [f for f in functions if self._speaks_of_tables(f) or self.speaks_of(None, f)]

    def fillers_of(self, function: Function) -> Iterator[Event]:
        """The calls of a function that may write a constant into elements."""
        if not function.words.isdisjoint(self.learned.filling):
            for event in function.flow.of(EventKind.CALL):
                row = self._row(event.value.callee)
                if row is not None and "fill" in row.facets and self._fills(row, event.value):
                    yield event

    def _candidates(self) -> list[Function]:
        """The functions that may have to do with tables, as far as that is known."""
        learned = self.learned
        words = learned.all().union(learned.drawing, learned.filling, learned.counting, learned.looking)
        return [f for f in (*self._module.all_functions(), self._module.body) if not f.words.isdisjoint(words)]

    @staticmethod
    def learn(module: ModuleFacts, imported: Offered) -> Learned:
        """Find out what gives elements and takes some, until nothing more is found."""
        learned = Learned(module, imported)
        new: set[str] | None = None
        while new is None or new:
            turn = Indexing(module, learned)
            before, homes = learned.all(), set(learned.homes)
            turn._derive()
            new = None if new is None else new | (learned.all() - before)
            for function in turn._candidates():
                if new is None or not function.words.isdisjoint(new):
                    turn._learn(function)
            new = (learned.all() - before) | {name for name, _ in learned.homes - homes}
        return learned

    def speaks_of(self, kind: type | None, function: Function) -> bool:
        """Whether a function mentions what makes elements of a kind; for real numbers and None: what takes some."""
        learned, words = self.learned, function.words
        if kind is None or kind not in learned.names:
            return not words.isdisjoint(learned.looking) or self._speaks_of_tables(function)
        names = learned.names[kind]
        made = {Ids: learned.drawing, Filler: learned.filling, Positions: learned.counting}[kind]
        sets = made, names.functions, names.classes, names.stored, names.holding
        return not all(words.isdisjoint(one) for one in sets)

    def _speaks_of_tables(self, function: Function) -> bool:
        return not function.words.isdisjoint(self._taking) or not function.words.isdisjoint(self._makers)

    def _derive(self) -> None:
        """Note what classes are tables by their bases, and keep objects of classes that give elements."""
        for names in self._names.values():
            names.holding = self._holders(names.classes)
        for cls in self._module.classes.values():
            if any((dotted(base) or "").rpartition(".")[2] in self._makers for base in cls.bases):
                self._makers.add(cls.name)
                self.learned.are_tables = True

    def _learn(self, function: Function) -> None:
        """Note what a function gives, stores and takes."""
        flow = self.about(function)
        kinds = [kind for kind in GIVEN if self.speaks_of(kind, function)]
        has_tables = self._speaks_of_tables(function)
        may_take = has_tables or self.speaks_of(None, function)
        may_pad = not function.words.isdisjoint(self.learned.filling | self.learned.padding)
        may_hold = not function.words.isdisjoint(self.learned.owners)
        if not (kinds or may_take or may_pad or may_hold):
            return
        for event in flow.events:
            if event.kind in (EventKind.RETURN, EventKind.YIELD):
                for kind in kinds:
                    names = self._names[kind]
                    if function.name not in names.functions and self.may_be(event.value, flow, kind, is_given=False):
                        self._add(function, names.functions, names.classes)
                if has_tables and function.name not in self._makers and self._makes(event.value):
                    self._makers.add(function.name)
            elif event.kind is EventKind.STORE and event.target is not None:
                if event.target.op is Op.ATTR:
                    self._learn_store(event.target, event.value, flow, kinds, has_tables=has_tables)
            elif event.kind is EventKind.CALL:
                self._learn_call(event.value, has_tables=has_tables)
            if may_pad and function.name not in self.learned.padding and self._pads(event, flow, None, is_given=True):
                self._add(function, self.learned.padding, set())
            is_open = may_take and function.owner is None and function.name not in self.learned.asking
            if is_open and any(self.may_look_up(event, flow, kind, is_given=False) for kind in KINDS):
                self.learned.asking.add(function.name)
            is_known = (function.name, "") in self.learned.homes
            if may_take and not is_known and self.may_look_up(event, flow, None, is_given=True):
                self._add(function, self._taking, self._makers)
                self.learned.take(self._taking & {function.name})
                if function.owner is not None and function.name not in _UNNAMED:
                    self.learned.owners.setdefault(function.owner.name, set()).add(function.name)

    @staticmethod
    def _add(function: Function, names: set[str], classes: set[str]) -> None:
        """Note a function, or the class whose objects are called."""
        if function.name not in _UNNAMED:
            names.add(function.name)
        elif function.owner is not None:
            classes.add(function.owner.name)

    def _learn_store(self, target: Value, value: Value, flow: Flow, kinds: list[type], *, has_tables: bool) -> None:
        name = str(target.data)
        for kind in kinds:
            names = self._names[kind]
            if name not in names.stored and self.may_be(value, flow, kind, is_given=False):
                names.stored.add(name)
        if has_tables and self._makes(value):
            self.learned.take((name,), self._owner if _is_of_self(target) else "")
        if self._is_made_of_sizes(value):
            self.learned.matrices.add(name)
        if value.op is Op.CALL:
            self.learned.held.update(self.learned.owners.get(called_name(value.callee), ()))

    def _learn_call(self, call: Value, *, has_tables: bool) -> None:
        """Note where a table is kept by what it is given to: a list, `setattr`, a method that stores what it gets."""
        if any(self._is_made_of_sizes(arg) for arg in call.args[1:]):
            self.learned.matrices.update(_strings(call))
        is_made = not has_tables or called_name(call.callee) in self._makers
        if is_made or not any(self._makes(arg) for arg in call.args[1:]):
            return
        self.learned.take(_strings(call))
        owner = call.callee
        while owner.op is Op.ATTR:
            owner = owner.args[0]
            if owner.op is Op.ATTR:
                self.learned.take((str(owner.data),))
        self.learned.take(self._stored_by(called_name(call.callee)))

    def _makes(self, value: Value) -> bool:
        """Whether a value is a table, or holds one or what looks something up."""
        if value.op is Op.GLOBAL:
            return value.data in self._makers
        if value.op is Op.ATTR:
            return value.data in self._makers or value.data in self._taking
        if value.op is not Op.CALL and value.op not in _HOLDING and value.op not in _JOINING:
            return False
        found = self._made.get(id(value))
        if found is None and self._depth < _MAX_DEPTH:
            self._depth += 1
            self._made[id(value)] = False  # what holds itself
            found = self._made[id(value)] = self._holds(value)
            self._depth -= 1
        return found is True

    def _holds(self, value: Value) -> bool:
        parts = value.args
        if value.op is Op.CALL:
            if called_name(value.callee) in self._makers:
                return True
            if value.callee.op is Op.ATTR and value.callee.data in self._taking:
                return False
            parts = value.args[value.callee.op in (Op.ATTR, Op.GLOBAL) :]
        elif value.op is Op.LAMBDA and isinstance(value.data, Nested):
            parts = value.data.returns
        return any(map(self._makes, parts))

    def _holders(self, classes: set[str]) -> set[str]:
        """The attributes under which objects of classes are kept."""
        if not classes:
            return set()
        return {
            name
            for cls in self._module.classes.values()
            for name, called in cls.built.items()
            if not called.isdisjoint(classes)
        }

    # -- events --------------------------------------------------------------------------------------------------

    def may_look_up(self, event: Event, flow: Flow, kind: type | None, *, is_given: bool) -> bool:
        """Whether an event may look something up with elements of a kind; None: with what a function is given.

        Of positions: whether it may write a constant among them.
        """
        value = event.value
        if kind is Positions:
            return self._pads(event, flow, kind, is_given=is_given)
        if event.kind is EventKind.INDEX:
            if kind is Real or value.args[1].op in (Op.SLICE, Op.CONST):
                return False
            is_table = kind is Ids or kind is Filler or self._is_matrix(value.args[0])
            return is_table and self.may_be(value.args[1], flow, kind, is_given=is_given)
        if event.kind is not EventKind.CALL or called_name(value.callee) in _ADDERS:
            return False
        if kind is not None and called_name(value.callee) in self.learned.asking:
            return True
        row = self._row(value.callee)
        if row is not None and ("ids" not in row.facets or (kind is Real and "real" not in row.facets)):
            return False
        if row is None and kind is not Ids and not self._may_take(value, is_given=is_given and kind is not None):
            return False
        return any(self.may_be(arg, flow, kind, is_given=is_given) for arg in value.args[1:])

    def _pads(self, event: Event, flow: Flow, kind: type | None, *, is_given: bool) -> bool:
        """Whether an event may write a constant among elements of a kind."""
        call = event.value
        if event.kind is not EventKind.CALL:
            return False
        row = self._row(call.callee)
        if row is None:
            is_padding = called_name(call.callee) in self.learned.padding
        else:
            is_padding = "fill" in row.facets and "sized" not in row.facets and self._fills(row, call)
        given = call.args[1:] if call.callee.op is not Op.ATTR else (call.callee.args[0], *call.args[1:])
        return is_padding and any(self.may_be(arg, flow, kind, is_given=is_given) for arg in given)

    def _is_matrix(self, value: Value) -> bool:
        """Whether a value may be a table that is indexed itself."""
        if value.op is Op.ATTR and value.data in self.learned.matrices:
            return True
        return self._is_made_of_sizes(value) or self._is_taking(value, is_given=False)

    def _is_made_of_sizes(self, value: Value) -> bool:
        row = self._row(value.callee) if value.op is Op.CALL else None
        return row is not None and bool(row.facets.keys() & {"sized", "trained", "kept"})

    def _may_take(self, call: Value, *, is_given: bool) -> bool:
        """Whether what is called may look up what it is given, or calls what it is given that does."""
        return self._is_taking(call.callee, is_given=is_given) or any(map(self._is_passed_on, call.args[1:]))

    def _is_taking(self, value: Value, depth: int = 0, *, is_given: bool) -> bool:
        """Whether a value is, or is a part of, what looks up what it is given when it is called."""
        if value.op is Op.ATTR or value.op is Op.GLOBAL:
            name = str(value.data)
            if name in self._taking and (not _is_of_self(value) or self._is_kept_here(name)):
                return True
        elif value.op is Op.PARAM:
            return is_given and value.data != "self"
        elif value.op is Op.LAMBDA:
            return True
        elif value.op is Op.CALL:
            is_named = called_name(value.callee) == "getattr" and any(
                arg.data in self._taking for arg in value.args[1:]
            )
            makers = self._makers if not self.learned.are_tables else {*self._makers, "super"}
            return is_named or called_name(value.callee) in makers or any(map(self._is_passed_on, value.args[1:]))
        return depth < _MAX_PARTS and any(self._is_taking(arg, depth + 1, is_given=is_given) for arg in value.args)

    def _is_passed_on(self, value: Value) -> bool:
        """Whether an argument looks something up itself: `map(self.table, ids)`, `pick(self.tables[0], ids)`."""
        while value.op in (Op.INDEX, Op.ITEM, Op.UNPACK):
            value = value.args[0]
        if value.op is Op.CALL and called_name(value.callee) in _PAIRING:
            return any(map(self._is_passed_on, value.args[1:]))
        return value.op in (Op.ATTR, Op.GLOBAL, Op.LAMBDA) and str(value.data) in self._taking

    def matters(self, event: Event, function: Function, flow: Flow, given: frozenset[type]) -> bool:
        """Whether an event may look elements up, or pass them on; `given`: the kinds that parameters may be."""
        key = id(event), given
        known = self._events.get(key)
        if known is None:
            self.about(function)
            known = self._events[key] = self._matters(event, flow, given), event
        target = event.target
        return known[0] or (target is not None and target.data in self._wanted)

    def _matters(self, event: Event, flow: Flow, given: frozenset[type]) -> bool:
        if event.kind is EventKind.STORE or event.kind is EventKind.AUGMENT:
            target = event.target
            if self._may_be_any(event.value, flow, given):
                return True
            is_read = target is not None and (target.op is not Op.ATTR or target.data in self._indexing(flow)[1])
            return is_read and self.may_be(event.value, flow, Real, is_given=Real in given)
        if event.kind is EventKind.CALL and called_name(event.value.callee) in _ADDERS:
            added, callee = event.value.args[1:], event.value.callee
            if self._draws(flow) or any(self._may_be_any(arg, flow, given) for arg in added):
                return True
            return callee.op is Op.ATTR and id(callee.args[0]) in self._indexing(flow)[0]
        if any(self.may_look_up(event, flow, kind, is_given=kind in given) for kind in KINDS):
            return True
        return self._prepares(event, flow) or self._calls_nested(event, flow)

    def _calls_nested(self, event: Event, flow: Flow) -> bool:
        """Whether a call is of a function inside of the function, which may look something up itself."""
        nested = event.value.callee.data if event.kind is EventKind.CALL else None
        if not isinstance(nested, Nested) or nested.flow is not None:
            return False
        inside = flow.events[nested.first : nested.last]
        return any(self.may_look_up(e, flow, kind, is_given=True) for e in inside for kind in KINDS)

    def is_carried(self, choice: Value, flow: Flow, given: frozenset[type]) -> bool:
        """Whether a loop carries what may be elements that are looked up."""
        if self._may_be_any(choice, flow, given):
            return True
        return id(choice) in self._indexing(flow)[0] and self.may_be(choice, flow, Real, is_given=Real in given)

    def _may_be_any(self, value: Value, flow: Flow, given: frozenset[type]) -> bool:
        return any(self.may_be(value, flow, kind, is_given=kind in given) for kind in GIVEN)

    def _indexing(self, flow: Flow) -> tuple[frozenset[int], frozenset[str]]:
        """What the look-ups of a body are made of: the values, by identity, and the names of attributes."""
        known = self._looked_at.get(id(flow))
        if known is None:
            calls = [e.value for e in flow.of(EventKind.CALL) if self._may_take(e.value, is_given=True)]
            parts = list(walk_all(arg for call in calls for arg in call.args[1:]))
            names = frozenset(str(part.data) for part in parts if part.op is Op.ATTR)
            known = self._looked_at[id(flow)] = frozenset(map(id, parts)), names, flow
        return known[0], known[1]

    def _prepares(self, event: Event, flow: Flow) -> bool:
        """Whether a call lets another method keep what a body draws from."""
        callee = event.value.callee if event.kind is EventKind.CALL else None
        if callee is None or callee.op is not Op.ATTR or callee.args[0].op is not Op.PARAM:
            return False
        stored = self._stored_by(str(callee.data))
        if not stored or not (self._draws(flow) or not stored.isdisjoint(self._indexing(flow)[1])):
            return False
        read = {v.data for v in walk_all(e.value for e in flow.events) if v.op is Op.ATTR} - set(_changed(flow))
        self._wanted |= stored & read
        return not stored.isdisjoint(read)

    def _stored_by(self, name: str) -> frozenset[str]:
        """The attributes that methods of a name store, but for constructors."""
        if name not in self._storing:
            stores = (
                event.target
                for function in self._functions.get(name, ())
                if function.owner is not None and name != "__init__"
                for event in function.flow.of(EventKind.STORE)
            )
            self._storing[name] = frozenset(str(t.data) for t in stores if t is not None and t.op is Op.ATTR)
        return self._storing[name]

    def _draws(self, flow: Flow) -> bool:
        """Whether a body draws ids itself, perhaps from scores that are put together in a list."""
        return any(e.kind is EventKind.CALL and self.may_be(e.value, flow, Ids, is_given=False) for e in flow.events)

    # -- values --------------------------------------------------------------------------------------------------

    def may_be(self, value: Value, flow: Flow, kind: type | None, *, is_given: bool) -> bool:
        """Whether a value of a body may be elements of a kind, or hold some; `is_given`: where its parameters may.

        Of no kind: whether it may be what the parameters are.
        """
        key = (id(flow), kind, is_given)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = {}, flow
        return self._asked(value, known[0], kind, is_given)

    def _asked(self, value: Value, known: dict[int, bool], kind: type | None, is_given: bool) -> bool:
        found = known.get(id(value))
        if found is None:
            if self._depth > _MAX_DEPTH:
                return True
            self._depth += 1
            known[id(value)] = False  # a loop, which adds nothing by itself
            found = known[id(value)] = self._found(value, known, kind, is_given)
            self._depth -= 1
        return found

    def _found(self, value: Value, known: dict[int, bool], kind: type | None, is_given: bool) -> bool:
        def any_of(values: tuple[Value, ...]) -> bool:
            return any(self._asked(arg, known, kind, is_given) for arg in values)

        op = value.op
        if op is Op.CALL:
            return self._call(value, known, kind, is_given)
        if op is Op.PARAM:
            return is_given and value.data != "self"
        if op is Op.BIN:
            if kind is Real:
                return value.data in ("/", "@") or any_of(value.args)
            return str(value.data) in _ARITHMETIC and any_of(value.args)
        if op is Op.ATTR:
            if value.data == "indices" and kind is Ids:
                return True
            return self._is_stored(str(value.data), kind) or any_of(value.args)
        if op is Op.UPDATE:
            is_filled = kind is Filler and value.data == "[]=" and _may_be_number(value.args[2])
            return is_filled or any_of(value.args)
        if op is Op.UNPACK or op is Op.INDEX:
            if value.args[0].op is Op.CALL and self._is_pair(value.args[0]):
                at = value.data if op is Op.UNPACK else value.args[1].data
                return (at == 1 and kind is Ids) or any_of(value.args[0].args)
            return any_of(value.args[:1])
        if op in (Op.COMPARE, Op.STRING, Op.CONST, Op.GLOBAL, Op.SLICE, Op.UNKNOWN):
            return False
        if op is Op.UNARY:
            return kind is Real and any_of(value.args)
        if op is Op.COMPREHENSION:
            return any_of(value.args[-1:])
        return any_of(value.args)

    def _is_stored(self, name: str, kind: type | None) -> bool:
        """Whether an attribute may hold elements of a kind."""
        if kind is None:
            return False
        if kind is not Real:
            return name in self._names[kind].stored
        if name not in self._real:
            self._real[name] = False  # what is made of itself
            stores = (
                (event, function.flow)
                for function in self._module.all_functions()
                if name in function.words and function.name != "__init__"
                for event in function.flow.of(EventKind.STORE)
            )
            self._real[name] = any(
                event.target is not None
                and event.target.op is Op.ATTR
                and event.target.data == name
                and self.may_be(event.value, flow, Real, is_given=True)
                for event, flow in stores
            )
        return self._real[name]

    def _call(self, call: Value, known: dict[int, bool], kind: type | None, is_given: bool) -> bool:
        callee = call.callee
        name = called_name(callee)
        names = self._names.get(kind) if kind is not None else None
        if names is not None and (name in names.functions or name in names.classes):
            return True
        row = self._row(callee)
        given = call.args[1:] if callee.op is not Op.ATTR else (callee.args[0], *call.args[1:])
        if row is None and kind is Real:
            return self._may_give_real(name) or any(self._asked(arg, known, kind, is_given) for arg in given)
        may_pass = any(self._asked(arg, known, kind, is_given) for arg in given)
        if row is None:
            if names is not None and callee.op is Op.ATTR and callee.data in names.holding:
                return True
            is_made = callee.op not in (Op.ATTR, Op.GLOBAL) and self._asked(callee, known, kind, is_given)
            return may_pass or is_made
        if kind is Ids:
            if "drawn" in row.facets or "distribution" in row.facets:
                return True
            if "pair" in row.facets:
                return may_pass or self._draws_along(call)
        elif (kind is Filler and self._fills(row, call)) or (kind is Real and _makes_real(row, call)):
            return True
        elif kind is Positions and row.facets.keys() & {"counted", "sums-up"}:
            return row.name != "builtins.range"
        is_passed = row.facets.keys() & (_PASSING | _OF_CONTAINERS) or "like" in row.facets or "pair" in row.facets
        return may_pass and bool(is_passed)

    def _may_give_real(self, name: str) -> bool:
        """Whether what is called by a name may give real numbers: anything may that is no function of the file."""
        functions = self._functions.get(name)
        if functions is None:
            return True
        key = f"{name}()"
        if key not in self._real:
            self._real[key] = False  # what calls itself
            self._real[key] = any(
                self.may_be(event.value, function.flow, Real, is_given=False)
                for function in functions
                for event in function.flow.events
                if event.kind in (EventKind.RETURN, EventKind.YIELD)
            )
        return self._real[key]

    def _fills(self, row: operators.Operator, call: Value) -> bool:
        """Whether a call may write a constant into elements, which may be an id."""
        if call.has_unpacking:
            return any(map(_may_be_number, _parts_of_unpacked(call)))
        is_method = call.callee.op is Op.ATTR and not self._is_module(call.callee.args[0])
        if "literal" in row.facets and call.positional:
            return any(_may_be_number(part) for part in _parts(call.positional[0]))
        argument = row.argument("fill")
        if argument is not None:
            written = call.argument(argument[0] - is_method, argument[1])
            return written is not None and _may_be_number(written)
        if "chooses" in row.facets:
            return any(_may_be_number(arg) for arg in call.positional[1:])
        return False

    def _is_module(self, value: Value) -> bool:
        while value.op is Op.ATTR:
            value = value.args[0]
        return value.op is Op.GLOBAL and value.data in self._module.imports

    def _is_pair(self, call: Value) -> bool:
        row = self._row(call.callee)
        return row is not None and "pair" in row.facets

    def _draws_along(self, call: Value) -> bool:
        """Whether what gives pairs is told a dimension, without which `max` gives one number."""
        row = self._row(call.callee)
        if row is None or "extreme" not in row.facets:
            return True
        return bool(call.keywords) or len(call.positional) > (call.callee.op is not Op.ATTR)


def _strings(call: Value) -> Iterator[str]:
    """The strings among the arguments of a call."""
    return (arg.data for arg in call.args[1:] if arg.op is Op.CONST and isinstance(arg.data, str))


def _makes_real(row: operators.Operator, call: Value) -> bool:
    """Whether an operator may make real numbers of any."""
    if row.facets.keys() & {"real", "product"} or row.facets.get("like") == "/" or row.facets.get("casts") == "float":
        return True
    types = operators.attributes("torch", "type:float")
    return any(arg.op is Op.ATTR and arg.data in types for arg in call.args[1:])


def _parts(value: Value) -> Iterator[Value]:
    """A value, or what stands in it where it is a list of lists."""
    pending, seen = [value], {id(value)}
    for part in pending:
        if part.op in _HOLDING or part.op in _JOINING:
            pending.extend(arg for arg in part.args if id(arg) not in seen)
            seen.update(map(id, part.args))
        else:
            yield part


def _parts_of_unpacked(call: Value) -> Iterator[Value]:
    """What may stand in what a call unpacks, and its other arguments."""
    for arg in call.args[1:]:
        yield from _parts(arg)


def _may_be_number(value: Value) -> bool:
    """Whether a value may be a whole number that is no row of every table: 0 always is one."""
    if value.op is Op.CONST:
        return type(value.data) is int and value.data != 0
    if value.op is Op.CALL:
        return called_name(value.callee) == "int" and any(map(_may_be_number, value.args[1:]))
    if value.op is Op.UNARY:
        return _may_be_number(value.args[0])
    if value.op is Op.ATTR:
        root: Value = value
        while root.op is Op.ATTR:
            root = root.args[0]
        return root.op is not Op.CALL
    return value.op in (Op.GLOBAL, Op.PARAM, Op.BIN, Op.CHOICE, Op.BOOL, Op.INDEX, Op.UNPACK, Op.ITEM)


def _changed(flow: Flow) -> Iterator[object]:
    """The attributes whose elements a body changes in place."""
    for event in flow.events:
        if event.kind is EventKind.STORE and event.target is not None and event.target.op is Op.INDEX:
            yield event.target.args[0].data
        elif event.kind is EventKind.CALL and called_name(event.value.callee).endswith("_"):
            yield event.value.callee.args[0].data if event.value.callee.args else None


def _is_of_self(callee: Value) -> bool:
    """Whether a method is called on the object that a body is about, which is no tensor."""
    return callee.op is Op.ATTR and callee.args[0].op is Op.PARAM and callee.args[0].data == "self"


def _rank(row: operators.Operator) -> int:
    """How much a row may have to do with elements."""
    return 2 * ("drawn" in row.facets or "pair" in row.facets) + any(facet in row.facets for facet in _PASSING)


#: Words of what gives the elements of what it is given one by one.
_PAIRING = operators.words("pairs")
_ADDERS = operators.methods("list", "adds", "extends") | operators.methods("dict", "adds", "extends")
