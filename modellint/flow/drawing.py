"""Which events of a function can matter to ids that are drawn: the gate of that question.

A value *may be ids* where an operator that draws them, or a function that gives them, stands among what it is made of,
and nothing on the way makes other numbers. It says only what cannot matter; what can is run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import EventKind, Op, walk_all
from modellint.link.names import DefinedClass, DefinedFunction, DefinedModule

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

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
_ARITHMETIC = frozenset("+-%|&")
#: Methods that are called by another name than their own.
_UNNAMED = frozenset(("forward", "__call__", "__init__"))
#: Names under which ids are drawn by what cannot be read.
_ELSEWHERE = frozenset(("sample", "generate"))
#: Through how many files ids are followed that one gets from the next.
_MAX_FILES = 3


@dataclass(frozen=True, slots=True)
class Giving:
    """What gives ids: the names of functions and methods, and of classes whose objects are called.

    `own` are names of the project's, which stand for no operator.
    """

    names: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()


def drawing(module: ModuleFacts, project: Project) -> Drawing:
    """What may be ids in a file, by its own code and by what it imports."""
    return Drawing(module, _imported(module, project, _MAX_FILES))


def _imported(module: ModuleFacts, project: Project, files: int) -> Giving:
    """What gives ids of what a file imports."""
    names, classes, own = set[str](), set[str](), set[str]()
    words = set(module.imports)
    if module.star_imports:
        words.update(*(function.words for function in module.all_functions()))
    for word in sorted(words) if files else ():
        found = project.names.resolve(module, word)
        if isinstance(found, DefinedModule):
            there = _giving(found.module, project, files - 1)
            names |= there.names
            classes |= there.classes
        elif isinstance(found, DefinedFunction) and found.function.module is not module:
            own.add(word)
            if found.function.name in _giving(found.function.module, project, files - 1).names:
                names.add(word)
        elif isinstance(found, DefinedClass) and found.cls.module is not module:
            there = _giving(found.cls.module, project, files - 1)
            own |= found.cls.methods.keys()
            names |= there.names & found.cls.methods.keys()
            if found.cls.name in there.classes:
                classes.add(word)
    return Giving(frozenset(names), frozenset(classes), frozenset(own))


def _giving(module: ModuleFacts, project: Project, files: int) -> Giving:
    """What of a file gives ids."""

    def found() -> Giving:
        imported = _imported(module, project, files)
        return project.once(("gives ids", module, imported), lambda: Drawing(module, imported).gives())

    return project.once(("gives ids", module, files), found)


class Drawing:
    """What may be ids in one file."""

    def __init__(self, module: ModuleFacts, imported: Giving) -> None:
        self._module = module
        #: By identity, each with what has that identity: what may be ids in a body, if its parameters are or not.
        self._known: dict[tuple[int, bool], tuple[dict[int, bool], Flow]] = {}
        #: The names of functions, classes whose objects are called, and attributes that give ids.
        self._giving: set[str] = {*_ELSEWHERE, *imported.names}
        self._classes: set[str] = set(imported.classes)
        self._stored: set[str] = set()
        #: What is no operator, of whatever name.
        self._own = frozenset((*(f.name for f in module.all_functions()), *imported.own, *imported.names))
        self._rows: dict[tuple[str, bool], operators.Operator | None] = {}
        self._holding: set[str] = set()
        self._storing: dict[str, frozenset[str]] = {}
        #: What methods keep for those that call them to draw from.
        self._wanted: set[str] = set()
        self._depth = 0

    def _row(self, callee: Value) -> operators.Operator | None:
        """The row that a callee may be of, by the last part of its name where that was imported from."""
        name, is_global = _last_name(callee), callee.op is Op.GLOBAL
        key = name, is_global
        if key not in self._rows:
            origin = self._module.imports.get(name) if is_global else None
            last = name if origin is None else str(origin).rpartition(".")[2]
            rows = [] if name in self._own else operators.called(last)
            if is_global and origin is None and not self._module.star_imports:
                rows = [row for row in rows if row.name.startswith("builtins.")]
            self._rows[key] = max(rows, key=_rank, default=None)
        return self._rows[key]

    def gives(self) -> Giving:
        """What the file gives to others."""
        self._candidates()
        return Giving(frozenset(self._giving - _ELSEWHERE), frozenset(self._classes))

    def roots(self) -> list[Function]:
        """The functions that may look something up with ids that they draw, or get from what they call."""
        found = self._candidates()
        return [f for f in found if any(self.may_look_up(e, f.flow, False) for e in f.flow.events)]

    def _candidates(self) -> list[Function]:
        """The functions that may have to do with ids, once it is known what gives some."""
        everything = [*self._module.all_functions(), self._module.body]
        candidates: list[Function] = []
        while True:
            self._holding = self._holders()
            names = _words() | self._giving | self._classes | self._stored | self._holding
            more = [f for f in everything if f not in candidates and not f.words.isdisjoint(names)]
            candidates.extend(more)
            before = len(self._giving) + len(self._classes) + len(self._stored)
            for function in candidates:
                self._learn(function)
            if len(self._giving) + len(self._classes) + len(self._stored) == before:
                break
            self._known.clear()
        return candidates

    def _learn(self, function: Function) -> None:
        """Note what a function gives and stores."""
        flow = function.flow
        for event in flow.events:
            if event.kind in (EventKind.RETURN, EventKind.YIELD):
                if function.name not in self._giving and self.may_be_ids(event.value, flow, False):
                    if function.name in _UNNAMED:
                        if function.owner is not None:
                            self._classes.add(function.owner.name)
                    else:
                        self._giving.add(function.name)
            elif event.kind is EventKind.STORE and event.target is not None:
                is_attribute = event.target.op is Op.ATTR and event.target.data not in self._stored
                if is_attribute and self.may_be_ids(event.value, flow, False):
                    self._stored.add(str(event.target.data))

    def _holders(self) -> set[str]:
        """The attributes under which objects are kept that give ids when they are called."""
        if not self._classes:
            return set()
        return {
            name
            for cls in self._module.classes.values()
            for name, called in cls.built.items()
            if not called.isdisjoint(self._classes)
        }

    # -- events --------------------------------------------------------------------------------------------------

    def may_look_up(self, event: Event, flow: Flow, is_given: bool) -> bool:
        """Whether an event may look something up with ids."""
        value = event.value
        if event.kind is EventKind.INDEX:
            return value.args[1].op not in (Op.SLICE, Op.CONST) and self.may_be_ids(value.args[1], flow, is_given)
        if event.kind is not EventKind.CALL or _last_name(value.callee) in _ADDERS:
            return False
        row = self._row(value.callee)
        if row is not None and "ids" not in row.facets:
            return False
        return any(self.may_be_ids(arg, flow, is_given) for arg in value.args[1:])

    def matters(self, event: Event, flow: Flow, is_given: bool) -> bool:
        """Whether an event may look up ids, or pass them on."""
        if event.kind is EventKind.STORE or event.kind is EventKind.AUGMENT:
            is_wanted = event.target is not None and event.target.data in self._wanted
            return is_wanted or self.may_be_ids(event.value, flow, is_given)
        if event.kind is EventKind.CALL and _last_name(event.value.callee) in _ADDERS:
            return self._draws(flow) or any(self.may_be_ids(arg, flow, is_given) for arg in event.value.args[1:])
        return self.may_look_up(event, flow, is_given) or self._prepares(event, flow)

    def _prepares(self, event: Event, flow: Flow) -> bool:
        """Whether a call lets another method keep what a body draws from."""
        callee = event.value.callee if event.kind is EventKind.CALL else None
        if callee is None or callee.op is not Op.ATTR or callee.args[0].op is not Op.PARAM:
            return False
        stored = self._stored_by(str(callee.data))
        if not stored or not self._draws(flow):
            return False
        read = {v.data for v in walk_all(e.value for e in flow.events) if v.op is Op.ATTR} - set(_changed(flow))
        self._wanted |= stored & read
        return not stored.isdisjoint(read)

    def _stored_by(self, name: str) -> frozenset[str]:
        """The attributes that methods of a name store, but for constructors."""
        if name not in self._storing:
            stores = (
                event.target
                for function in self._module.all_functions()
                if function.name == name and function.owner is not None and name != "__init__"
                for event in function.flow.of(EventKind.STORE)
            )
            self._storing[name] = frozenset(str(t.data) for t in stores if t is not None and t.op is Op.ATTR)
        return self._storing[name]

    def _draws(self, flow: Flow) -> bool:
        """Whether a body draws ids itself, perhaps from scores that are put together in a list."""
        return any(e.kind is EventKind.CALL and self.may_be_ids(e.value, flow, False) for e in flow.events)

    # -- values --------------------------------------------------------------------------------------------------

    def may_be_ids(self, value: Value, flow: Flow, is_given: bool) -> bool:
        """Whether a value of a body may be ids, or hold some; `is_given`: where its parameters may."""
        key = (id(flow), is_given)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = {}, flow
        return self._asked(value, known[0], is_given)

    def _asked(self, value: Value, known: dict[int, bool], is_given: bool) -> bool:
        found = known.get(id(value))
        if found is None:
            if self._depth > _MAX_DEPTH:
                return True
            self._depth += 1
            known[id(value)] = False  # a loop, which adds nothing by itself
            found = known[id(value)] = self._found(value, known, is_given)
            self._depth -= 1
        return found

    def _found(self, value: Value, known: dict[int, bool], is_given: bool) -> bool:
        def any_of(values: tuple[Value, ...]) -> bool:
            return any(self._asked(arg, known, is_given) for arg in values)

        op = value.op
        if op is Op.CALL:
            return self._call(value, known, is_given)
        if op is Op.PARAM:
            return is_given and value.data != "self"
        if op is Op.BIN:
            return str(value.data) in _ARITHMETIC and any_of(value.args)
        if op is Op.ATTR:
            if value.data in self._stored or value.data == "indices":
                return True
            return any_of(value.args)
        if op is Op.UNPACK or op is Op.INDEX:
            if value.args[0].op is Op.CALL and self._is_pair(value.args[0]):
                at = value.data if op is Op.UNPACK else value.args[1].data
                return at == 1 or any_of(value.args[0].args)
            return any_of(value.args[:1])
        if op in (Op.COMPARE, Op.UNARY, Op.STRING, Op.CONST, Op.GLOBAL, Op.SLICE, Op.UNKNOWN):
            return False
        if op is Op.COMPREHENSION:
            return any_of(value.args[-1:])
        return any_of(value.args)

    def _call(self, call: Value, known: dict[int, bool], is_given: bool) -> bool:
        callee = call.callee
        name = _last_name(callee)
        if name in self._giving or name in self._classes:
            return True
        row = self._row(callee)
        given = call.args[1:] if callee.op is not Op.ATTR else (callee.args[0], *call.args[1:])
        may_pass = [self._asked(arg, known, is_given) for arg in given]
        if row is None:
            if callee.op is Op.ATTR and callee.data in self._holding:
                return True
            is_made = callee.op not in (Op.ATTR, Op.GLOBAL) and self._asked(callee, known, is_given)
            return any(may_pass) or is_made
        if "drawn" in row.facets or "distribution" in row.facets:
            return True
        if "pair" in row.facets:
            return any(may_pass) or self._draws_along(call)
        return any(may_pass) and not row.facets.keys().isdisjoint(_PASSING | _OF_CONTAINERS)

    def _is_pair(self, call: Value) -> bool:
        row = self._row(call.callee)
        return row is not None and "pair" in row.facets

    def _draws_along(self, call: Value) -> bool:
        """Whether what gives pairs is told a dimension, without which `max` gives one number."""
        row = self._row(call.callee)
        if row is None or "extreme" not in row.facets:
            return True
        return bool(call.keywords) or len(call.positional) > (call.callee.op is not Op.ATTR)


def _changed(flow: Flow) -> Iterator[object]:
    """The attributes whose elements a body changes in place."""
    for event in flow.events:
        if event.kind is EventKind.STORE and event.target is not None and event.target.op is Op.INDEX:
            yield event.target.args[0].data
        elif event.kind is EventKind.CALL and _last_name(event.value.callee).endswith("_"):
            yield event.value.callee.args[0].data if event.value.callee.args else None


def _last_name(callee: Value) -> str:
    return str(callee.data) if callee.op in (Op.ATTR, Op.GLOBAL) else ""


def _rank(row: operators.Operator) -> int:
    """How much a row may have to do with ids."""
    return 2 * ("drawn" in row.facets or "pair" in row.facets) + any(facet in row.facets for facet in _PASSING)


def _words() -> AbstractSet[str]:
    return operators.words("drawn", "pair", "distribution") | _ELSEWHERE


_ADDERS = operators.methods("list", "adds", "extends") | operators.methods("dict", "adds", "extends")
