"""Which events of a function can matter to ids that are drawn: the gate of that question.

A value *may be ids* where an operator that draws them, or a function that gives them, stands among what it is made of,
and nothing on the way makes other numbers. It says only what cannot matter; what can is run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.value import EventKind, Op

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Flow, Value

#: Facets of operators that give the elements of what they are given.
_PASSING = ("passed", "picked", "limit", "below", "lift", "mask", "chooses", "fill")
#: How deeply values are looked into; what is made of more may be anything.
_MAX_DEPTH = 100
_ARITHMETIC = frozenset("+-%|&")
#: Methods that are called by another name than their own.
_UNNAMED = frozenset(("forward", "__call__", "__init__"))
#: Names under which ids are drawn by what cannot be read.
_ELSEWHERE = frozenset(("sample", "generate"))


class Drawing:
    """What may be ids in one file."""

    def __init__(self, module: ModuleFacts) -> None:
        self._module = module
        #: By identity, each with what has that identity: what may be ids in a body, if its parameters are or not.
        self._known: dict[tuple[int, bool], tuple[dict[int, bool], Flow]] = {}
        #: The names of functions, classes whose objects are called, and attributes that give ids.
        self._giving: set[str] = set(_ELSEWHERE)
        self._classes: set[str] = set()
        self._stored: set[str] = set()
        #: What the file itself defines, of whatever name.
        self._own = frozenset(f.name for f in module.all_functions())
        self._rows: dict[str, operators.Operator | None] = {}
        self._holding: set[str] = set()
        self._depth = 0

    def _row(self, callee: Value) -> operators.Operator | None:
        """The row that a callee may be of, by the last part of its name where that was imported from."""
        name = _last_name(callee)
        if name not in self._rows:
            origin = self._module.imports.get(name) if callee.op is Op.GLOBAL else None
            last = name if origin is None else str(origin).rpartition(".")[2]
            rows = () if name in self._own else operators.called(last)
            self._rows[name] = max(rows, key=_rank, default=None)
        return self._rows[name]

    def roots(self) -> list[Function]:
        """The functions that may look something up with ids that they draw, or get from what they call."""
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
        return [f for f in candidates if any(self.may_look_up(e, f.flow, False) for e in f.flow.events)]

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
            return self.may_be_ids(event.value, flow, is_given)
        if event.kind is EventKind.CALL and _last_name(event.value.callee) in _ADDERS:
            return self._draws(flow) or any(self.may_be_ids(arg, flow, is_given) for arg in event.value.args[1:])
        return self.may_look_up(event, flow, is_given)

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
        return any(may_pass) and not row.facets.keys().isdisjoint((*_PASSING, "adds", "contents", "element", "gathers"))

    def _is_pair(self, call: Value) -> bool:
        row = self._row(call.callee)
        return row is not None and "pair" in row.facets

    def _draws_along(self, call: Value) -> bool:
        """Whether what gives pairs is told a dimension, without which `max` gives one number."""
        row = self._row(call.callee)
        if row is None or "extreme" not in row.facets:
            return True
        return bool(call.keywords) or len(call.positional) > (call.callee.op is not Op.ATTR)


def _last_name(callee: Value) -> str:
    return str(callee.data) if callee.op in (Op.ATTR, Op.GLOBAL) else ""


def _rank(row: operators.Operator) -> int:
    """How much a row may have to do with ids."""
    return 2 * ("drawn" in row.facets or "pair" in row.facets) + any(facet in row.facets for facet in _PASSING)


def _words() -> AbstractSet[str]:
    return operators.words("drawn", "pair", "distribution") | _ELSEWHERE


_ADDERS = operators.methods("list", "adds", "extends") | operators.methods("dict", "adds", "extends")
