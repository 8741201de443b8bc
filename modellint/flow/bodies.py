"""Elements of index tensors in one function: where they are made, where they flow, and where a look-up takes them.

Elements are followed over the value graph by their kinds: drawn ids, constants among ids, positions, real numbers, and
whatever a caller passes as a parameter.
"""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from modellint import operators
from modellint.flow.callees import (
    HOLDING,
    NONE,
    NOTHING,
    PASSING,
    Matrix,
    PaddedTable,
    ParameterObject,
    ProjectInstance,
    TableLayer,
    TorchLayer,
    operands,
    parameter_of,
    root,
    unwrap_argument,
)
from modellint.flow.collating import COLLATING
from modellint.flow.domain import Filler, Ids, Positions, Real
from modellint.flow.records import ADDERS
from modellint.flow.written_numbers import Below, Constants, Last, fill_targets, is_counter
from modellint.graph.arguments import possible_arguments
from modellint.graph.python import MAKING, Class, Function
from modellint.graph.value import EventKind, Nested, Op, called_name, dotted, subscripts, walk_all
from modellint.link.names import External

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from modellint.flow.callees import KnownValues, Objects
    from modellint.flow.summaries import Summaries
    from modellint.graph.value import Event, Flow, Value

#: Kinds of elements.
Kinds: TypeAlias = "frozenset[type]"
#: The use of elements: they index something, they do so as real numbers, or a constant is written among them.
Facet: TypeAlias = Literal["ids", "real", "padded"]
#: The tables that elements index: the names of parameters that are passed one, or an empty name for any other.
Tables: TypeAlias = "frozenset[str]"

#: Kinds that are followed through results of functions and through attributes; real numbers would be everywhere.
ELEMENTS = frozenset((Ids, Filler, Below, Last, Positions))
ALL_KINDS = ELEMENTS | {Real}
SURELY: Tables = frozenset(("",))
#: Facets of operators that look elements up, or write a constant among them.
_MEETING = frozenset(("ids", "pairs", "judges", "fill"))
#: Facets of operators that write a constant, or are given numbers that become elements.
_WRITING = frozenset(("fill", "literal"))
_POSITIONS, _REAL = frozenset((Positions,)), frozenset((Real,))
_CONSTANTS = frozenset((Filler, Below, Last))
#: Kinds for which any subscript, and any call that is of no operator, may be a look-up.
_INDEXING = frozenset((Ids, Filler, Below, Last))
#: Names of functions that draw ids, where the function cannot be read.
_ELSEWHERE = frozenset(("sample", "generate"))
#: Names of operators that yield the elements of their arguments one by one.
_PAIRING = operators.words("pairs")
_ARITHMETIC = frozenset("+-%|&")
_NO_NUMBERS = frozenset((Op.COMPARE, Op.STRING, Op.CONST, Op.GLOBAL, Op.SLICE, Op.UNKNOWN))
_NO_ELEMENTS = _NO_NUMBERS | {Op.UNARY}
#: Operations whose value comes from outside the function.
_PARAMETERS = frozenset((Op.PARAM, Op.INNER))
_UNMADE, _UNCALCULATED = _NO_ELEMENTS | _PARAMETERS, _NO_NUMBERS | _PARAMETERS
#: Operations whose value may be a table or a function that is passed on.
_PASSED_ON = frozenset((Op.ATTR, Op.GLOBAL, Op.PARAM, Op.INDEX, Op.ITEM, Op.UNPACK, Op.CALL, Op.CHOICE))
#: Stands for any parameter of a function.
_ANY = "*"


class Body(Constants):
    """The elements of one function: where they are made, where they flow, and where a look-up takes them."""

    def __init__(self, function: Function, summaries: Summaries, files: int, settled: KnownValues = NOTHING) -> None:
        super().__init__(function, summaries, files, settled)
        #: Whether events matter, by their identity and the kinds of elements that parameters are passed.
        self._mattering: dict[tuple[int, Kinds], bool] = {}

    @property
    def flow(self) -> Flow:
        return self.function.flow

    def is_root(self, *, takes_numbers: bool = True) -> bool:
        """True if the function may look up elements that it makes or gets from a callee, or may pad positions.

        Unless it `takes_numbers`, no look-up of real numbers counts: there is no table that would refuse them.
        """
        real = self.real if takes_numbers else _no_numbers
        return any("" in tables for event in self.flow.events for tables in self._own_meetings(event, real))

    def tables_at(self, event: Event) -> Tables:
        """The tables in which an event may look up the function's own elements, or pad its positions."""
        return NONE.union(*self._own_meetings(event, self.real))

    def _own_meetings(self, event: Event, real: Callable[[Value], Kinds]) -> Iterator[Tables]:
        yield from self._meetings(event, self.elements, real, _POSITIONS)
        if event.kind is EventKind.CALL:
            yield self.tables_for_callee(event)

    def _meetings(
        self,
        event: Event,
        elements: Callable[[Value], Kinds],
        real: Callable[[Value], Kinds],
        besides: Kinds = NONE,
    ) -> Iterator[Tables]:
        """The tables that an event meets, for each facet in turn; `besides` are kinds that count as no ids."""
        if event.kind is EventKind.CALL:
            row = self.row(event.value)
            if row is not None and row.facets.keys().isdisjoint(_MEETING):
                return
            yield self.meets(event, "real", real)
            if row is None and not any(map(elements, event.value.args[1:])):
                return
        elif event.kind is not EventKind.INDEX:
            return
        yield self.meets(event, "ids", lambda value: elements(value) - besides)
        yield self.meets(event, "padded", lambda value: elements(value) & _POSITIONS)

    # -- elements --------------------------------------------------------------------------------------------------

    def elements(self, value: Value) -> Kinds:
        """The kinds of ids, constants and positions that a value may be, or hold, but for those of parameters."""
        if value.op in _UNMADE:
            return NONE
        found = self.known.elements.get(id(value))
        if found is None:
            facts = self.known.elements, self._settled.elements
            found = self._summaries.fact(facts, id(value), self._compute_elements, value, ELEMENTS, NONE)
        return found

    def _all(self, values: Iterable[Value]) -> Kinds:
        return NONE.union(*map(self.elements, values))

    def _compute_elements(self, value: Value) -> Kinds:
        op = value.op
        if op is Op.CALL:
            return self._call_elements(value)
        if op is Op.BIN:
            return self._all(value.args) if str(value.data) in _ARITHMETIC else NONE
        if op is Op.ATTR:
            found = self._all(value.args)
            if value.data == "indices":
                found |= {Ids}
            return found | (self._summaries.stored_kinds(str(value.data), self._module, self._files) & ELEMENTS)
        if op is Op.UPDATE:
            return self._all(value.args) | self.assigned_kinds(value)
        if op is Op.UNPACK or op is Op.INDEX:
            owner = value.args[0]
            if is_counter(value):
                return NONE
            if owner.op is Op.CALL and (row := self.row(owner)) is not None and "pair" in row.facets:
                at = value.data if op is Op.UNPACK else value.args[1].data
                return self._all(owner.args) | (frozenset((Ids,)) if at == 1 else NONE)
            return self.elements(owner)
        return self._all(value.args[-1:] if op is Op.COMPREHENSION else value.args)

    def _call_elements(self, call: Value) -> Kinds:
        """The kinds of elements that a call may return."""
        row = self.row(call)
        if row is not None:
            return self._operator_elements(row, call)
        found = frozenset((Ids,)) if called_name(call.callee) in _ELSEWHERE else NONE
        functions = self.targets(call).functions
        called = (*functions, *self._passed_callees(functions, call), *self._collating(call))
        gives = (self._gives(function) & ELEMENTS for function in called)
        return found.union(*gives, self._all(operands(call)))

    def _collating(self, call: Value) -> Iterator[Function]:
        """The functions that make the batches of the `DataLoader` that a call makes."""
        given = call.keywords.get(COLLATING)
        for one in () if given is None else map(unwrap_argument, self.objects(given)):
            if isinstance(one, Function):
                yield one
            elif isinstance(one, ProjectInstance):
                yield from self._call_methods(one.cls)

    def _passed_callees(self, functions: Iterable[Function], call: Value) -> Iterator[Function]:
        """The functions among the arguments that a callee calls and whose result it returns: `given.pad(batch)`."""
        for one in (one for function in functions for one in self._called_arguments(function, call)):
            if isinstance(one, Function):
                yield one
            elif isinstance(one, ProjectInstance):
                yield from self._call_methods(one.cls)

    def _called_arguments(self, function: Function, call: Value) -> Iterator[object]:
        """The arguments of a call that `function` calls and whose result it returns."""
        files = self._files_left(function.module)
        paths = NONE if files < 0 else self._summaries.hands_on(function, files)
        pairs = list(possible_arguments(function.open_parameters, call)) if paths else []
        for path in paths:
            for arg in (arg for name, arg in pairs if name == parameter_of(path)):
                yield from map(unwrap_argument, self.objects_passed(arg, path))

    def results(self, value: Value) -> Tables:
        """The parameters, or attributes of these, of whose calls a value may be the result, or hold it."""
        found = self.known.results.get(id(value))
        if found is None:
            facts = self.known.results, self._settled.results
            found = self._summaries.fact(facts, id(value), self._compute_results, value, NONE, NONE)
        return found

    def _compute_results(self, value: Value) -> Tables:
        """The answer of `results`, not yet known; what other functions do with a result is not followed."""
        if value.op is Op.CALL:
            is_of_tensor = value.callee.op is not Op.ATTR or operators.row(f"Tensor.{value.callee.data}") is not None
            return NONE if is_of_tensor and self.row(value) is not None else self.targets(value).given
        if value.op is Op.UNPACK or value.op is Op.INDEX:
            return self.results(value.args[0])
        return NONE.union(*map(self.results, value.args)) if value.op in HOLDING else NONE

    def _operator_elements(self, row: operators.Operator, call: Value) -> Kinds:
        facets = row.facets.keys()
        found = set[type]()
        if facets & {"drawn", "distribution"} or ("pair" in facets and _is_told_dimension(row, call)):
            found.add(Ids)
        if self.fills(row, call):
            found.add(self.sign_of(row, call))
        if facets & {"counted", "sums-up"} and row.name != "builtins.range":
            found.add(Positions)
        return self._all(operands(call)).union(found) if facets & PASSING else frozenset(found)

    def real(self, value: Value) -> Kinds:
        """`{Real}` if a value may be real numbers, or hold some, other than those of parameters."""
        if value.op in _UNCALCULATED:
            return NONE
        found = self.known.reals.get(id(value))
        if found is None:
            facts = self.known.reals, self._settled.reals
            found = self._summaries.fact(facts, id(value), self._compute_real, value, _REAL, NONE)
        return found

    def _all_real(self, values: Iterable[Value]) -> Kinds:
        return _REAL if any(map(self.real, values)) else NONE

    def _compute_real(self, value: Value) -> Kinds:
        op = value.op
        if op is Op.CALL:
            return self._call_real(value)
        if op is Op.BIN and value.data in ("/", "@"):
            return _REAL
        if op is Op.ATTR:
            return self._all_real(value.args) or (
                self._summaries.stored_kinds(str(value.data), self._module, self._files) & _REAL
            )
        if op is Op.UNPACK or op is Op.INDEX:
            return self.real(value.args[0])
        return self._all_real(value.args[-1:] if op is Op.COMPREHENSION else value.args)

    def _call_real(self, call: Value) -> Kinds:
        row = self.row(call)
        if row is not None:
            if _makes_real(row, call):
                return _REAL
            return self._all_real(operands(call)) if row.facets.keys() & PASSING else NONE
        found = map(unwrap_argument, self.objects(call.callee))
        return _REAL if any(map(self._gives_real, found)) else self._all_real(operands(call))

    def _gives_real(self, one: object) -> bool:
        """True if calling the object may give real numbers."""
        if isinstance(one, Function):
            return Real in self._gives(one)
        if isinstance(one, ProjectInstance):
            called = self._call_methods(one.cls)
            return not called or any(Real in self._gives(function) for function in called)
        return isinstance(one, ParameterObject) or one is TorchLayer or one is TableLayer

    def carries(self, value: Value, name: str, facet: Facet) -> bool:
        """True if a value may be, or hold, the elements or the real numbers that the parameter `name` is passed."""
        if value.op is Op.PARAM:
            return value.data == name or (name == _ANY and not self._is_own(value))
        if value.op is Op.INNER:
            return name in (value.data, _ANY)
        if value.op in (_NO_NUMBERS if facet == "real" else _NO_ELEMENTS):
            return False
        key = id(value), name, facet == "real"
        found = self.known.carried.get(key)
        if found is None:
            facts = self.known.carried, self._settled.carried
            carrying = partial(self._is_carrying, name=name, facet=facet)
            found = self._summaries.fact(facts, key, carrying, value, most=True, least=False)
        return found

    def _is_carrying(self, value: Value, name: str, facet: Facet) -> bool:
        op, parts = value.op, value.args
        if op is Op.CALL:
            row = self.row(value)
            if row is not None and not row.facets.keys() & PASSING:
                return False
            parts = operands(value)
        elif op is Op.BIN and facet != "real" and str(value.data) not in _ARITHMETIC:
            return False
        elif op is Op.UNPACK or op is Op.INDEX:
            parts = () if is_counter(value) else value.args[:1]
        elif op is Op.COMPREHENSION:
            parts = value.args[-1:]
        return any(self.carries(part, name, facet) for part in parts)

    def _gives(self, function: Function) -> Kinds:
        files = self._files_left(function.module)
        return NONE if files < 0 else self._summaries.gives(function, files)

    # -- events ----------------------------------------------------------------------------------------------------

    def meets(self, event: Event, facet: Facet, kinds_of: Callable[[Value], Kinds | None]) -> Tables:
        """The tables in which an event may look up, or pad, the arguments for which `kinds_of` gives elements.

        `kinds_of` gives the kinds of elements of a value, None for some of an unknown kind.
        """
        if event.kind is EventKind.INDEX:
            value = event.value
            if facet != "ids" or value.args[1].op in (Op.SLICE, Op.CONST) or _is_of_attributes(value):
                return NONE
            owner, kinds = value.args[0], kinds_of(value.args[1])
            return NONE if kinds == NONE or self._gives_mapping(owner) else self._row_tables(kinds, (owner,))
        if event.kind is not EventKind.CALL or called_name(event.value.callee) in ADDERS:
            return NONE
        call, row = event.value, self.row(event.value)
        return (
            self._callee_tables(call, facet, kinds_of)
            if row is None
            else self._operator_tables(row, call, facet, kinds_of)
        )

    def _gives_mapping(self, value: Value) -> bool:
        """True if a value certainly is a dictionary, written here or returned by a callee: a subscript is a key."""
        if value.op is not Op.CALL or self.row(value) is not None:
            return self._is_mapping(value)
        functions = self.targets(value).functions
        return bool(functions) and all(map(self._returns_mapping, functions))

    def _returns_mapping(self, function: Function) -> bool:
        """True if a function returns nothing but dictionaries that it writes."""
        files = self._files_left(function.module)
        if files < 0 or any(function.flow.of(EventKind.YIELD)):
            return False
        body = self._summaries.body(function, files)
        returned = [event.value for event in function.flow.of(EventKind.RETURN)]
        return bool(returned) and all(map(body._is_mapping, returned))

    def _operator_tables(
        self, row: operators.Operator, call: Value, facet: Facet, kinds_of: Callable[[Value], Kinds | None]
    ) -> Tables:
        if facet == "padded":
            is_padding = "fill" in row.facets and "sized" not in row.facets and self.fills(row, call)
            return SURELY if is_padding and any(kinds_of(arg) != NONE for arg in fill_targets(call)) else NONE
        if "judges" in row.facets:
            return self._loss_tables(call, facet, kinds_of)
        if "ids" not in row.facets:
            if "pairs" not in row.facets or all(kinds_of(arg) == NONE for arg in operands(call)):
                return NONE
            return SURELY if any(self._looks_up(arg, facet) for arg in call.args[1:]) else NONE
        if facet == "real" and "real" not in row.facets:
            return NONE
        kinds = [kinds for arg in call.args[1:] if (kinds := kinds_of(arg)) != NONE]
        if "from-end" not in row.facets and any(Last in (one or NONE) for one in kinds):
            return SURELY
        return NONE.union(*(self._row_tables(one, operands(call)) for one in kinds))

    def _loss_tables(self, call: Value, facet: Facet, kinds_of: Callable[[Value], Kinds | None]) -> Tables:
        """SURELY if a call may pass a loss constants among its targets; no table otherwise."""
        target = call.argument(1, "target")
        targets = call.args[1:] if call.has_unpacking else () if target is None else (target,)
        kinds = map(kinds_of, targets) if facet == "ids" else ()
        return SURELY if any(kind is None or kind & _CONSTANTS for kind in kinds) else NONE

    def _row_tables(self, kinds: Kinds | None, owners: Iterable[Value]) -> Tables:
        """The tables of which elements of some kinds may pick rows; negative constants may pick them of anything."""
        if kinds is not None and Below in kinds:
            return SURELY
        found = [(owner, self._as_tables(self.objects(owner), self._has_rows)) for owner in owners]
        return NONE.union(*(tables | self._attribute_table(owner) for owner, tables in found if tables))

    def _as_tables(self, objects: Objects, may_look_up: Callable[[object], bool]) -> Tables:
        """The tables that objects may be: parameters, attributes of these, or an empty name for any other."""
        found: set[str] = set()
        for one in map(unwrap_argument, objects):
            if isinstance(one, ParameterObject):
                found.add(one.name)
            elif one is TableLayer or one is Matrix or ("" not in found and may_look_up(one)):
                found.add("")
        return frozenset(found)

    def _attribute_table(self, value: Value) -> Tables:
        """The attribute chain on a parameter that a value is, which may be a table where the parameter is known."""
        owner = root(value)
        if owner is value or owner.op is not Op.PARAM or self._is_own(owner):
            return NONE
        return frozenset((dotted(value) or "",)) - SURELY

    def _argument_tables(self, value: Value, path: str, facet: Facet) -> Tables:
        """The tables that an argument may be to a callee that looks something up in it, or calls it.

        `path` is the parameter of the callee, or the attribute chain on it, that is used so.
        """
        if value.op is Op.LAMBDA and isinstance(value.data, Nested):
            return SURELY if self._is_taken_inside(value.data, facet) else NONE
        objects = self.objects_passed(value, path)
        found = self._as_tables(objects, lambda one: self._has_rows(one) or self._is_looking_up(one, facet))
        return found | self._attribute_table(value) if found else found

    def _has_rows(self, one: object) -> bool:
        """True if a subscript of the object may look something up; runs of look-ups follow no `__getitem__`."""
        return isinstance(one, ProjectInstance) and self._derives_from_table(one.cls)

    def _callee_tables(self, call: Value, facet: Facet, kinds_of: Callable[[Value], Kinds | None]) -> Tables:
        """The tables in which a call that is of no operator may look up its arguments."""
        arguments = [arg for arg in call.args[1:] if kinds_of(arg) != NONE]
        if not arguments:
            return NONE
        targets = self.targets(call)
        if targets.is_judge and self._loss_tables(call, facet, kinds_of):
            return SURELY
        if facet != "padded" and targets.is_table:
            return self._attribute_table(call.callee) | SURELY
        is_read = targets.functions and not call.has_unpacking and not any(f.name in MAKING for f in targets.functions)
        if facet != "padded" and not is_read and self._is_looked_up_by(call.args[1:], arguments, facet):
            return SURELY
        if facet == "ids" and any(Below in (kinds_of(arg) or NONE) for arg in arguments) and self._goes_beyond(call):
            return SURELY
        if targets.inner is not None and self._is_taken_inside(targets.inner, facet):
            return SURELY
        tables: set[str] = set() if facet == "padded" else set(targets.given)
        for function in targets.functions:
            pairs, files = list(possible_arguments(function.open_parameters, call)), self._files_left(function.module)
            taken = [
                self._summaries.takes(function, name, facet, files) for name, arg in pairs if kinds_of(arg) != NONE
            ]
            for name in NONE.union(*taken):
                given = (arg for other, arg in pairs if other == parameter_of(name))
                tables |= NONE.union(*(self._argument_tables(arg, name, facet) for arg in given)) if name else SURELY
            if "" in tables:
                return SURELY
        return frozenset(tables)

    def _goes_beyond(self, call: Value) -> bool:
        """True if the call is a `super().method(…)` that may reach a base class which cannot be read."""
        callee = call.callee
        if callee.op is not Op.ATTR or callee.data == "__init__" or callee.args[0].op is not Op.CALL:
            return False
        if called_name(callee.args[0].callee) != "super":
            return False
        bases = [(cls.module, base) for cls in self._module.classes.values() for base in cls.bases]
        found = (self._names.definition(module, base) for module, base in bases)
        return any(isinstance(one, External) and not one.name.startswith(("torch.", "builtins.")) for one in found)

    def _is_taken_inside(self, nested: Nested, facet: Facet) -> bool:
        """True if a nested function may look up one of its parameters."""

        def is_taken(name: str) -> bool:
            def kinds_of(value: Value) -> Kinds | None:
                return None if self.carries(value, name, facet) else NONE

            return any(self.meets(event, facet, kinds_of) for event in self._events_inside(nested))

        return self._inside(nested, facet, lambda: any(map(is_taken, nested.parameters)))

    def _inside(self, nested: Nested, facet: Facet | None, compute: Callable[[], bool]) -> bool:
        """The answer to a question about a nested function; True if its events are not among those of the body."""
        if nested.flow is not None:
            return True
        key = nested.first, nested.last, facet
        found = self.known.inside.get(key, self._settled.inside.get(key))
        if found is None:
            self.known.inside[key] = False
            found = self.known.inside[key] = compute()
        return found

    def _events_inside(self, nested: Nested) -> Sequence[Event]:
        return self.flow.events[nested.first : nested.last]

    def _is_looked_up_by(self, values: Iterable[Value], elements: list[Value], facet: Facet) -> bool:
        """True if an argument of a call may look up another argument, which is in `elements`."""
        looking = [value for value in values if self._looks_up(value, facet)]
        return any(value is not other for value in looking for other in elements)

    def _looks_up(self, value: Value, facet: Facet) -> bool:
        """True if an argument may look something up itself: `map(self.table, ids)`, `pick(self.tables[0], ids)`."""
        while value.op in (Op.INDEX, Op.ITEM, Op.UNPACK):
            value = value.args[0]
        if value.op is Op.CALL and called_name(value.callee) in _PAIRING:
            return any(self._looks_up(arg, facet) for arg in value.args[1:])
        if value.op is Op.LAMBDA:
            return not isinstance(value.data, Nested) or self._is_taken_inside(value.data, facet)
        return value.op in (Op.ATTR, Op.GLOBAL) and any(self._is_looking_up(one, facet) for one in self.objects(value))

    def _looks_up_inside(self, inner: Nested) -> bool:
        """True if a nested function may look up elements that it makes or is passed."""
        events = self._events_inside(inner)
        return self._inside(inner, None, lambda: any(self._may_look_up_at(event, ALL_KINDS) for event in events))

    def _is_looking_up(self, one: object, facet: Facet) -> bool:
        """True if calling the object may look up the arguments of the call."""
        if isinstance(one, Function):
            return any(self._parameter_tables(one, facet))
        if isinstance(one, ProjectInstance):
            called = self._call_methods(one.cls)
            return self._derives_from_table(one.cls) or any(self._is_looking_up(method, facet) for method in called)
        if isinstance(one, Class):
            making = [method for name in MAKING for method in self._methods(one, name)]
            return any("" in taken for method in making for taken in self._parameter_tables(method, facet))
        return one is TableLayer

    def _parameter_tables(self, function: Function, facet: Facet) -> Iterator[Tables]:
        """For each parameter of a function, the tables in which it is looked up."""
        files = self._files_left(function.module)
        return (self._summaries.takes(function, parameter.name, facet, files) for parameter in function.parameters)

    def tables_for_callee(self, event: Event) -> Tables:
        """The tables that a call passes to a callee that draws ids itself and looks them up there."""
        if event.kind is not EventKind.CALL or self.row(event.value) is not None:
            return NONE
        call, found = event.value, set[str]()
        passed = [arg for arg in call.args[1:] if arg.op in _PASSED_ON]
        for function in self.targets(call).functions if passed else ():
            files = self._files_left(function.module)
            asked = self._summaries.asks(function, files) if function.owner is None else NONE
            pairs = (
                [(name, arg) for name, arg in possible_arguments(function.open_parameters, call) if arg in passed]
                if asked
                else []
            )
            for path in asked:
                for arg in (arg for name, arg in pairs if not path or name == parameter_of(path)):
                    found |= self._argument_tables(arg, path, "ids") | self._argument_tables(arg, path, "real")
        return frozenset(found)

    # -- what a run need not look at ---------------------------------------------------------------------------------

    def matters(self, event: Event, given: Kinds) -> bool:
        """True if an event may look up or pass on elements; `given`: the kinds that parameters are passed."""
        key = id(event), given
        known = self._mattering.get(key)
        if known is None:
            known = self._mattering[key] = self._may_matter(event, given)
        target = event.target
        return known or (target is not None and target.data in self._record.wanted)

    def _may_matter(self, event: Event, given: Kinds) -> bool:
        kind, value = event.kind, event.value
        if kind is EventKind.STORE or kind is EventKind.AUGMENT:
            target = event.target
            if self._may_be_any(value, given):
                return True
            if kind is EventKind.AUGMENT and self.holds_number(value) and id(value) in self._parts_of_lists:
                return True
            is_read = target is not None and (target.op is not Op.ATTR or target.data in self._looked_up[1])
            return is_read and self._may_be_real(value, given)
        if kind is EventKind.CALL and called_name(value.callee) in ADDERS:
            if self.draws or any(self._may_be_any(arg, given) for arg in value.args[1:]):
                return True
            if value.callee.op is not Op.ATTR:
                return False
            listed = id(value.callee.args[0])
            if any(map(self.holds_number, value.args[1:])) and listed in self._parts_of_lists:
                return True
            return listed in self._looked_up[0] or (listed in self._results and any(map(self._scores, value.args[1:])))
        if self._may_look_up_at(event, given) or self.tables_for_callee(event):
            return True
        return kind is EventKind.CALL and (self._stores_scores(value) or self._runs_inner(value))

    def _runs_inner(self, call: Value) -> bool:
        """True if a call runs a nested function that may look something up."""
        inner = call.callee.data
        return isinstance(inner, Nested) and inner.flow is None and self._looks_up_inside(inner)

    def _may_look_up_at(self, event: Event, given: Kinds) -> bool:
        """True if an event may look up elements of the body, or those that parameters are passed, of kinds `given`."""

        def elements(value: Value) -> Kinds:
            return self.elements(value) | (given & ELEMENTS if self._carries_any(value, given, "ids") else NONE)

        def real(value: Value) -> Kinds:
            return _REAL if self._may_be_real(value, given) else NONE

        value = event.value
        if event.kind is EventKind.INDEX or event.kind is EventKind.CALL:
            is_unread = event.kind is EventKind.INDEX or self.row(value) is None
            kinds = NONE.union(*map(elements, value.args[1:])) if is_unread or Below in given else NONE
            if (is_unread and kinds & _INDEXING) or Below in given & kinds:
                return True
        return any(self._meetings(event, elements, real))

    def may_look_up(self) -> bool:
        """True if the function may look up elements that it makes or is passed."""
        return any(self._may_look_up_at(event, ALL_KINDS) for event in self.flow.events)

    def _carries_any(self, value: Value, given: Kinds, facet: Facet) -> bool:
        return bool(given) and self.carries(value, _ANY, facet)

    def _may_be_any(self, value: Value, given: Kinds) -> bool:
        return bool(self.elements(value)) or self._carries_any(value, given & ELEMENTS, "ids")

    def _may_be_real(self, value: Value, given: Kinds) -> bool:
        return bool(self.real(value)) or self._carries_any(value, given & _REAL, "real")

    def is_carried(self, choice: Value, given: Kinds) -> bool:
        """True if a loop variable may carry elements, or real numbers that the body looks up."""
        return self._may_be_any(choice, given) or (
            id(choice) in self._looked_up[0] and self._may_be_real(choice, given)
        )

    @cached_property
    def _results(self) -> frozenset[int]:
        """The values that the body returns or yields, and their parts, by identity."""
        given = [event.value for event in self.flow.events if event.kind in (EventKind.RETURN, EventKind.YIELD)]
        return frozenset(map(id, walk_all(given))) if given else frozenset()

    def makes_of_numbers(self, call: Value) -> bool:
        """True if a call makes a tensor of the numbers that it is given: `torch.tensor(ids)`."""
        row = self.row(call)
        return row is not None and "literal" in row.facets

    @cached_property
    def _parts_of_lists(self) -> frozenset[int]:
        """The parts of what the body makes tensors of, or returns, by identity."""
        calls = (event.value for event in self.flow.of(EventKind.CALL))
        made = [call.args[1] for call in calls if call.positional and self.makes_of_numbers(call)]
        return self._results.union(map(id, walk_all(made)))

    def _scores(self, value: Value) -> bool:
        """True if another function may draw ids from the value: a slice of real numbers, or a torch layer's result."""
        if value.op is Op.INDEX:
            return any(part.op is Op.SLICE for part in subscripts(value)) and bool(self.real(value))
        return value.op is Op.CALL and TorchLayer in self.objects(value.callee)

    @cached_property
    def _looked_up(self) -> tuple[frozenset[int], frozenset[str]]:
        """The parts of all arguments that the body's calls may look up: values by identity, and names of attributes."""
        calls = [event.value for event in self.flow.of(EventKind.CALL) if self._may_take(event.value)]
        parts = list(walk_all(arg for call in calls for arg in call.args[1:]))
        return frozenset(map(id, parts)), frozenset(str(part.data) for part in parts if part.op is Op.ATTR)

    def _may_take(self, call: Value) -> bool:
        """True if the callee may look up the arguments of the call."""
        if self.row(call) is not None:
            return False
        targets = self.targets(call)
        return bool(targets.is_table or targets.given or targets.inner or targets.functions) or any(
            self._looks_up(arg, "ids") or self._looks_up(arg, "real") for arg in call.args[1:]
        )

    @cached_property
    def draws(self) -> bool:
        """True if a call in the body may return drawn ids."""
        return any(Ids in self.elements(event.value) for event in self.flow.of(EventKind.CALL))

    def _stores_scores(self, call: Value) -> bool:
        """True if a call makes another method store scores, from which this body draws ids later."""
        callee = call.callee
        if callee.op is not Op.ATTR or callee.args[0].op is not Op.PARAM:
            return False
        stored = self._record.stored_by(str(callee.data))
        if not stored or not (self.draws or not stored.isdisjoint(self._looked_up[1])):
            return False
        read = {v.data for v in walk_all(e.value for e in self.flow.events) if v.op is Op.ATTR} - set(
            _mutated_attributes(self.flow)
        )
        self._summaries.record_with_values(self._module).wanted |= stored & read
        return not stored.isdisjoint(read)

    def tables_given(self) -> Iterator[Event]:
        """The calls of the body that make a table, or return one that another function makes."""
        for event in self.flow.of(EventKind.CALL):
            if any(map(self.is_table, self._returned_objects(event.value))):
                yield event

    def padded_tables_given(self) -> Iterator[Event]:
        """The calls of the body that may return a table with a `padding_idx`."""
        for event in self.flow.of(EventKind.CALL):
            objects = self._returned_objects(event.value)
            if PaddedTable in objects or any(one is not TableLayer and self.is_table(one) for one in objects):
                yield event

    def _returned_objects(self, call: Value) -> Objects:
        """The objects that a call may return; none for an operator that makes no table."""
        row = self.row(call)
        return self.objects(call) if row is None or "table" in row.facets else NONE

    def tables_made(self) -> Iterator[Event]:
        """The calls of the body that make a table themselves."""
        for event in self.flow.of(EventKind.CALL):
            row = self.row(event.value)
            if "table" in row.facets if row is not None else self.makes_table(event.value):
                yield event

    def fillers_written(self) -> Iterator[Event]:
        """The calls of the body that may write a constant into elements."""
        for event in self.flow.of(EventKind.CALL):
            row = self.row(event.value)
            if row is not None and not row.facets.keys().isdisjoint(_WRITING) and self.fills(row, event.value):
                yield event


def _no_numbers(_: Value) -> Kinds:
    return NONE


def _is_of_attributes(subscript: Value) -> bool:
    """True for `x.__dict__[name]`, which picks an attribute by its name."""
    owner = subscript.args[0]
    return owner.op is Op.ATTR and owner.data == "__dict__"


def _mutated_attributes(flow: Flow) -> Iterator[object]:
    """The attributes whose elements a body changes in place."""
    for event in flow.events:
        if event.kind is EventKind.STORE and event.target is not None and event.target.op is Op.INDEX:
            yield event.target.args[0].data
        elif event.kind is EventKind.CALL and called_name(event.value.callee).endswith("_"):
            yield event.value.callee.args[0].data if event.value.callee.args else None


def _is_told_dimension(row: operators.Operator, call: Value) -> bool:
    """True if the call passes a dimension: without one, `max` returns a single number rather than a pair."""
    return "extreme" not in row.facets or bool(call.keywords) or len(call.positional) > (call.callee.op is not Op.ATTR)


def _makes_real(row: operators.Operator, call: Value) -> bool:
    """True if the operator may make real numbers of any operands."""
    if row.facets.keys() & {"real", "product"} or row.facets.get("like") == "/" or row.facets.get("casts") == "float":
        return True
    types = operators.attributes("torch", "type:float")
    return any(arg.op is Op.ATTR and arg.data in types for arg in call.args[1:])
