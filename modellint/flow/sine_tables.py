"""A filter for functions that may say how long a table of sines and cosines is; only its False is certain.

Producers of sines are known by the names under which a file reaches them, in the file and in those that it imports.
Of the functions that call one, those matter that may pass it a length: a number, and no tensor.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.fixpoint import Fixpoint
from modellint.flow.summaries import Summaries
from modellint.graph.value import (
    EventKind,
    Nested,
    Op,
    called_name,
    dotted,
    is_argument,
    self_attribute,
    subscripts,
    walk_all,
)
from modellint.link.mentioned import reached
from modellint.link.names import DefinedClass, DefinedFunction, DefinedModule
from modellint.link.remembered import FLAG, NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from collections.abc import Set as AbstractSet

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.names import Definition
    from modellint.link.project import Project

#: How many imports producers of sines are looked for through.
_MAX_FILES = 3
_PERIODIC, _COUNTED = operators.words("periodic"), operators.words("counted")
#: Names of functions that multiply each position by each power.
_MULTIPLYING = operators.words("product") | operators.words("subscripts")
_CONSTRUCTORS = frozenset(("__init__", "__post_init__"))
#: Names that tell no function from others.
_UNNAMED = frozenset((*_CONSTRUCTORS, "forward", "__call__"))
_ENDING = frozenset((EventKind.RETURN, EventKind.YIELD))
_GIVEN = _ENDING | {EventKind.STORE}
#: Facets of operators that return a length whatever their operands, and of those that return one of lengths.
_GIVING = frozenset(("counts", "largest"))
_OF_NUMBERS = frozenset(
    (
        *_GIVING, "extreme", "rounds", "number", "host", "passed", "same-number", "contents", "gathers", "pairs",
        "element", "adds", "extends", "copies",
    )
)  # fmt: skip
_SUMS = frozenset(("+", "-", "*", "//", "%"))
#: Facets of operators that make a table of a table.
_OF_TABLES = frozenset(
    (
        "passed", "same-shape", "squeezes", "unsqueezes", "flattens", "reorders", "sizes", "repeats", "stacks", "joins",
        "casts", "parts", "contents", "gathers", "pairs", "element", "adds", "copies", "spreads", "product",
        "subscripts", "counted",
    )
)  # fmt: skip
#: Operations whose value holds its parts, or is one of them.
_HOLDING = frozenset(
    (Op.CHOICE, Op.BOOL, Op.TUPLE, Op.LIST, Op.DICT, Op.SET, Op.STARRED, Op.ITEM, Op.UPDATE, Op.COMPREHENSION, Op.UNARY)
)
#: Operations whose value is no number, but may hold some: `+` joins it to another one.
_SEQUENCES = frozenset((Op.TUPLE, Op.LIST, Op.COMPREHENSION, Op.STRING))
#: Operations whose value may be a function or class that is passed on, to a `partial`.
_FUNCTIONS = frozenset((Op.GLOBAL, Op.ATTR, Op.LAMBDA))
_MAX_DEPTH, _MAX_ASKED = 60, 30


def sine_tables(module: ModuleFacts, project: Project, files: int = _MAX_FILES) -> SineTables:
    """The names that a file has for tables of sines; `files`: how many imports they are looked for through."""
    return project.once(("speaks of sines", module, files), lambda: SineTables(module, project, files))


def lengths(project: Project) -> Fixpoint:
    """The answers to which names give lengths in which files."""
    return project.once(("lengths",), lambda: Fixpoint(project.files, project.kept))


class SineTables:
    """The names in one file that stand for tables of sines and cosines, and for lengths."""

    def __init__(self, module: ModuleFacts, project: Project, files: int) -> None:
        self._module, self._project, self._files = module, project, files
        imports = module.imports.items()
        self._counted = _COUNTED | {name for name, origin in imports if _last(origin) in _COUNTED}
        self._functions = list(module.all_functions())
        self._counting: set[str] | None = None
        #: By identity of values: whether they may be lengths, or tables.
        self._known: dict[int, bool] = {}
        self._known_tables: dict[int, bool] = {}
        self._depth = 0
        #: The names of functions that return tables, and of attributes that may be some.
        self.producers = {*_PERIODIC, *(name for name, origin in imports if _last(origin) in _PERIODIC)}
        self.producers = set(project.once(("gives sines", module, files), self._compute_producers, kept=NAMES))
        self.forwarders = set(project.once(("asks for sines", module, files), self._compute_forwarders, kept=NAMES))

    # -- names -----------------------------------------------------------------------------------------------------

    def _compute_producers(self) -> frozenset[str]:
        self.producers |= self._imported_names(lambda there: there.producers)
        self.producers |= self._angle_makers()
        self._close(self.producers, self._producer_names)
        return frozenset(self.producers)

    def _compute_forwarders(self) -> frozenset[str]:
        self.forwarders = {*self.producers, *self._imported_names(lambda there: there.forwarders)}
        self._close(self.forwarders, self._forwarder_names)
        return frozenset(self.forwarders)

    def _imported_names(self, names: Callable[[SineTables], AbstractSet[str]]) -> set[str]:
        """The names of one kind in the imported files, as this file spells them."""
        found: set[str] = set()
        for word, _, definition in reached(self._module, self._project) if self._files else ():
            home, own, beside = _home(definition)
            if home is not None and home is not self._module:
                there = names(sine_tables(home, self._project, self._files - 1))
                found |= there if own is None else there & beside
                found |= {word} if own in there else set()
        return found

    def _close(self, found: set[str], more: Callable[[Function], Iterator[str]]) -> None:
        """Adds the names that functions which mention a known one yield, until nothing is added."""
        before = -1
        while before < (before := len(found)):
            self._known_tables.clear()
            for function in self._functions:
                if not function.words.isdisjoint(found):
                    found.update(more(function))
            for cls in self._module.classes.values():
                if not cls.built_with.isdisjoint(found):
                    found.update(attribute for attribute, made in cls.built.items() if not made.isdisjoint(found))
                if not found.isdisjoint(_last(dotted(base) or "") for base in cls.bases):
                    found.add(cls.name)

    @property
    def counting(self) -> set[str]:
        """Names of functions that return numbers counting up, or values made of these; while computed, those known."""
        if self._counting is None:
            found = self._counting = set(self._counted)
            key = "counts up", self._module, self._files
            self._counting = set(self._project.once(key, lambda: self._compute_counting(found), kept=NAMES))
        return self._counting

    def _compute_counting(self, found: set[str]) -> frozenset[str]:
        found |= self._imported_names(lambda there: there.counting)
        self._close(found, self._producer_names)
        return frozenset(found)

    def _producer_names(self, function: Function) -> Iterator[str]:
        """The name of a function or class that returns tables, and of attributes that keep tables or producers."""
        for event in function.flow.events:
            if event.kind is EventKind.STORE:
                if event.target is not None and event.target.op is Op.ATTR and self._may_be_table(event.value):
                    yield str(event.target.data)
            elif event.kind is EventKind.CALL and event.value.args[1:]:
                if any(map(self._may_be_table, event.value.args[1:])):
                    yield from _strings(event.value)
            elif event.kind in _ENDING and self._may_be_table(event.value):
                yield from _callable_names(function)

    def _angle_makers(self) -> set[str]:
        """The names of functions and classes that may return positions, multiplied by powers."""
        if all(function.words.isdisjoint(self._counted) for function in self._functions):
            return set()
        imported = self._module.imports.items()
        multiplying = {*_MULTIPLYING, *(name for name, origin in imported if _last(origin) in _MULTIPLYING)}
        found: set[str] = set()
        before = -1
        while before < (before := len(multiplying)):
            for function in self._functions:
                if not function.words.isdisjoint(multiplying):
                    is_multiplying = any(True for _ in _products_in(function, multiplying))
                    multiplying.update(_callable_names(function) if is_multiplying else ())
        for function in self._functions:
            is_near = not function.words.isdisjoint(self.counting)
            if not is_near or not any(map(self._is_counted, _products_in(function, multiplying))):
                continue
            if any(map(self._may_be_table, _returned_values(function))):
                found.update(_callable_names(function))
        return found

    def _forwarder_names(self, function: Function) -> Iterator[str]:
        calls = (event.value for event in function.flow.of(EventKind.CALL))
        if any(called_name(call.callee) in self.forwarders and any(map(is_argument, call.args[1:])) for call in calls):
            yield from _callable_names(function)

    def gives_length(self, name: str) -> bool:
        """True if a function called `name` may return a length, or an attribute of that name may be one."""
        if name in _UNNAMED:
            return False
        answers = lengths(self._project)
        if answers.depth > _MAX_ASKED:
            return True
        key = "gives length", self._module, name, self._files
        known: bool | None = answers.known(key, FLAG)
        if known is None:
            known = answers.ask(key, lambda: self._gives_length(name), False)
            answers.keep(key)
        return known

    def _gives_length(self, name: str) -> bool:
        self._project.python(self._module.file)
        record = self._project.of(Summaries).record(self._module)
        given = [e.value for f in record.functions.get(name, ()) for e in f.flow.events if e.kind in _ENDING]
        given += [value for _, value, is_own in record.values(name) if is_own]
        known: dict[int, bool] = {}
        if any(self._may_be_length(value, known) for value in given):
            return True
        for word, _, definition in reached(self._module, self._project) if self._files else ():
            home, own, beside = _home(definition)
            if home is not None and home is not self._module:
                asked = own if own is not None and name == word else name if own is None or name in beside else None
                if asked is not None and sine_tables(home, self._project, self._files - 1).gives_length(asked):
                    return True
        return False

    # -- functions -------------------------------------------------------------------------------------------------

    def roots(self) -> list[Function]:
        """The functions that may say how long a table is, but for constructors and functions that only these call."""
        self._forget()
        found = [function for function in self._functions if self.may_say_length(function)]
        building = _building(self._functions) if found else set()
        return [function for function in found if function not in building]

    def may_say_length(self, function: Function) -> bool:
        """True if the function may say how long a table is, or get a table from a function that does."""
        if function.words.isdisjoint(self.forwarders):
            return False
        return self._states_any_length(function) or not function.words.isdisjoint(self.tables)

    @cached_property
    def tables(self) -> frozenset[str]:
        """The names of functions that may return or keep tables whose length they say themselves."""
        return self._project.once(("gives own tables", self._module, self._files), self._compute_tables, kept=NAMES)

    def _compute_tables(self) -> frozenset[str]:
        found = self._imported_names(lambda there: there.tables)
        self._forget()
        found.update(f.name for f in self._functions if f.name not in _UNNAMED and self._gives_own(f))
        return frozenset(found)

    def _gives_own(self, function: Function) -> bool:
        is_near = not function.words.isdisjoint(self.producers | self.counting)
        given = (event.value for event in function.flow.events if event.kind in _GIVEN) if is_near else ()
        return any(map(self._may_be_table, given)) and self._states_any_length(function)

    # -- tables ----------------------------------------------------------------------------------------------------

    def _may_be_table(self, value: Value) -> bool:
        """True if a value may be a table, hold one, or return one when it is called."""
        return self._memoise(self._known_tables, value, self._is_table)

    def _is_table(self, value: Value) -> bool:
        op = value.op
        if op is Op.CALL:
            return self._call_gives_table(value)
        if op is Op.GLOBAL:
            return value.data in self.producers
        if op is Op.ATTR:
            return value.data in self.producers or self._may_be_table(value.args[0])
        if op is Op.BIN:
            is_moved = value.data in ("+", "-") and any(map(self._is_count, value.args))
            return any(map(self._may_be_table, value.args)) and (is_moved or any(map(_is_scale, value.args)))
        if op is Op.INDEX:
            return self._may_be_table(value.args[0]) and all(map(_keeps_rows, subscripts(value)))
        if op is Op.LAMBDA:
            return any(map(self._may_be_table, value.data.returns if isinstance(value.data, Nested) else value.args))
        return (op in _HOLDING or op is Op.UNPACK) and any(map(self._may_be_table, value.args))

    def _call_gives_table(self, call: Value) -> bool:
        """True if a call may return a table: it is of a producer, or passes on a table among its arguments."""
        callee, name = call.callee, called_name(call.callee)
        if name in self.producers or self._counts(call) or not name:
            return bool(name) or self._may_be_table(callee)
        rows = [] if name in self._own else operators.called(name)
        given = (*callee.args[:1], *call.args[1:]) if callee.op is Op.ATTR else call.args[1:]
        if rows and not any(row.facets.keys() & _OF_TABLES for row in rows):
            return False
        is_passed = bool(rows) or name in self._module.classes or name in self._module.imports or name in self._own
        return any(self._may_be_table(arg) for arg in given if is_passed or arg.op in _FUNCTIONS)

    def _counts(self, call: Value) -> bool:
        """True if a call may return a tensor that counts up; Python's own `range` makes none."""
        callee = call.callee
        is_builtin = callee.op is Op.GLOBAL and callee.data == "range" and "range" not in self._module.imports
        return not is_builtin and called_name(callee) in self.counting

    def _is_count(self, value: Value) -> bool:
        return value.op is Op.CALL and self._counts(value)

    def _is_counted(self, product: Value) -> bool:
        """True if a factor may be positions; an index or a mask of them is none."""
        factors = product.args
        if product.op is Op.CALL:
            factors = (*product.callee.args[:1], *product.args[1:])
        return any(map(self._may_be_table, factors))

    def _forget(self) -> None:
        """Drops the answers about values: other values may have their identities by now."""
        self._known.clear()
        self._known_tables.clear()

    def _states_any_length(self, function: Function) -> bool:
        """True if a function may count up to a length or cut to one, or pass one to a function that does."""
        return any(self._states_length(event) for event in function.flow.events)

    def _states_length(self, event: Event) -> bool:
        if event.kind is EventKind.INDEX:
            return self._is_cut(event.value)
        return event.kind is EventKind.CALL and self._asks(event.value)

    def _asks(self, call: Value) -> bool:
        """True if a call may count up to a length, or request a table of one."""
        name = called_name(call.callee)
        is_asked = not name or name in self.forwarders or self._counts(call)
        return is_asked and any(self._may_be_length(arg, self._known) for arg in call.args[1:])

    def _is_cut(self, value: Value) -> bool:
        if value.op is not Op.INDEX:
            return False
        ends = (part.args[1] for part in subscripts(value) if part.op is Op.SLICE)
        return any(self._may_be_length(end, self._known) for end in ends)

    # -- values ----------------------------------------------------------------------------------------------------

    def _may_be_length(self, value: Value, known: dict[int, bool]) -> bool:
        """True if a value may be a number that only a run knows, or hold one; parameters are left to the callers."""
        return self._memoise(known, value, lambda asked: self._is_length(asked, known))

    def _memoise(self, known: dict[int, bool], value: Value, question: Callable[[Value], bool]) -> bool:
        """The memoised answer to a question about a value; False while it is computed, so a cycle adds nothing."""
        found = known.get(id(value))
        if found is None:
            if self._depth > _MAX_DEPTH:
                return True
            self._depth += 1
            known[id(value)] = False
            found = known[id(value)] = question(value)
            self._depth -= 1
        return found

    def _is_length(self, value: Value, known: dict[int, bool]) -> bool:
        op = value.op
        if op is Op.CALL:
            return self._call_gives_length(value, known)
        if op is Op.BIN:
            is_joined = any(arg.op in _SEQUENCES for arg in value.args)
            may_count = self._may_be_length if is_joined else self._is_number
            return str(value.data) in _SUMS and any(may_count(arg, known) for arg in value.args)
        if op is Op.INDEX or op is Op.UNPACK:
            owner = value.args[0]
            return _is_shape(owner) or _is_last(value) or self._may_be_length(owner, known)
        if op is Op.ATTR:
            if value.data == "shape" or self._may_be_length(value.args[0], known):
                return True
            return self.gives_length(str(value.data))
        if op is Op.LAMBDA:
            returned = value.data.returns if isinstance(value.data, Nested) else value.args
            return any(self._may_be_length(arg, known) for arg in returned)
        return op in _HOLDING and any(self._may_be_length(arg, known) for arg in value.args)

    def _is_number(self, value: Value, known: dict[int, bool]) -> bool:
        """True if an operand of a sum may be a number that only a run knows."""
        return value.op in (Op.PARAM, Op.INNER, Op.INDEX, Op.ITEM) or self._may_be_length(value, known)

    def _call_gives_length(self, call: Value, known: dict[int, bool]) -> bool:
        """True if a call may return a length: it counts, its function returns one, or it is made of lengths."""
        name = called_name(call.callee)
        if self.gives_length(name):
            return True
        rows = [] if name in self._own else operators.called(name)
        if rows and not any(row.facets.keys() & _OF_NUMBERS for row in rows):
            return False
        if any(row.facets.keys() & _GIVING for row in rows):
            return True
        operands = (*call.callee.args[:1], *call.args[1:]) if call.callee.op is Op.ATTR else call.args
        return any(self._may_be_length(arg, known) for arg in operands)

    @cached_property
    def _own(self) -> frozenset[str]:
        """The names of the file's own functions, which are no operators."""
        return frozenset(function.name for function in self._functions)


def _home(definition: Definition | None) -> tuple[ModuleFacts | None, str | None, AbstractSet[str]]:
    """The file that a definition stands in, its name there, and the names of its methods."""
    if isinstance(definition, DefinedModule):
        return definition.module, None, frozenset()
    if isinstance(definition, DefinedFunction):
        return definition.function.module, definition.function.name, frozenset()
    if isinstance(definition, DefinedClass):
        return definition.cls.module, definition.cls.name, definition.cls.methods.keys()
    return None, None, frozenset()


def _building(functions: list[Function]) -> set[Function]:
    """Constructors, and functions that only these call: their arguments are constants."""
    callers: dict[str, set[Function]] = {}
    for function in functions:
        for event in function.flow.of(EventKind.CALL):
            callers.setdefault(called_name(event.value.callee), set()).add(function)
    found = {function for function in functions if function.name in _CONSTRUCTORS}
    while True:
        more = {f for f in functions if callers.get(f.name) and callers[f.name] <= found} - found
        if not more:
            return found
        found |= more


def _callable_names(function: Function) -> Iterator[str]:
    """The name by which a function is called: for `forward` and `__call__` that of the class, for constructors none."""
    if function.name not in _UNNAMED:
        yield function.name
    elif function.owner is not None and function.name not in _CONSTRUCTORS:
        yield function.owner.name


def _strings(call: Value) -> Iterator[str]:
    return (arg.data for arg in call.args[1:] if arg.op is Op.CONST and isinstance(arg.data, str))


def _returned_values(function: Function) -> list[Value]:
    return [event.value for event in function.flow.events if event.kind in _ENDING]


def _products_in(function: Function, names: AbstractSet[str]) -> Iterator[Value]:
    """The products, and calls of functions called one of `names`, that what a function returns is made of."""
    for part in walk_all(_returned_values(function)):
        if _is_product(part) or (part.op is Op.CALL and called_name(part.callee) in names):
            yield part


def _is_product(value: Value) -> bool:
    """True if a value is the product of something and an attribute of the object: `steps[:, None] * self.rates`."""
    if value.op is not Op.BIN or value.data != "*":
        return False
    return any(self_attribute(arg.args[0] if arg.op is Op.INDEX else arg) is not None for arg in value.args)


def _keeps_rows(part: Value) -> bool:
    """True if a part of a subscript is a slice or a constant, which picks no rows by ids."""
    return part.op in (Op.SLICE, Op.CONST)


def _is_scale(value: Value) -> bool:
    """True if a value may be a single number: a constant, or an attribute of the object."""
    return value.op in (Op.CONST, Op.GLOBAL, Op.UNARY) or self_attribute(value) is not None


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _is_shape(value: Value) -> bool:
    """`x.shape`, `x.size()`."""
    if value.op is Op.CALL:
        return value.callee.op is Op.ATTR and value.callee.data == "size"
    return value.op is Op.ATTR and value.data == "shape"


def _is_last(index: Value) -> bool:
    """`x[-1]`, `x[:, -1]`."""
    last = subscripts(index)[-1:] if index.op is Op.INDEX else ()
    return any(part.op is Op.CONST and part.data == -1 for part in last)
