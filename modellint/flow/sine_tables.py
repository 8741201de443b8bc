"""Which functions may say how long a table of sines and cosines is: a gate, which may only say that one cannot.

What computes sines is known by the names under which a file reaches it, in the file and in those that it imports.
Of the functions that call such a thing, those matter that may pass it a number that is a length: not a tensor.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.fixpoint import Fixpoint
from modellint.flow.summaries import Summaries
from modellint.graph.value import EventKind, Nested, Op, called_name, dotted, is_argument, self_attribute, subscripts
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

#: Through how many other files sines are looked for.
_MAX_FILES = 3
_PERIODIC, _COUNTED = operators.words("periodic"), operators.words("counted")
_CONSTRUCTORS = frozenset(("__init__", "__post_init__"))
#: Names by which a function is not told from others.
_UNNAMED = frozenset((*_CONSTRUCTORS, "forward", "__call__"))
_ENDING = frozenset((EventKind.RETURN, EventKind.YIELD))
_GIVEN = _ENDING | {EventKind.STORE}
#: Facets of operators that give a length of anything, and that give one of others.
_GIVING = frozenset(("counts", "largest"))
_OF_NUMBERS = frozenset(
    (
        *_GIVING, "extreme", "rounds", "number", "host", "passed", "same-number", "contents", "gathers", "pairs",
        "element", "adds", "extends", "copies",
    )
)  # fmt: skip
_SUMS = frozenset(("+", "-", "*", "//", "%"))
#: Facets of operators that give a table of the one that they are given.
_OF_TABLES = frozenset(
    (
        "passed", "same-shape", "squeezes", "unsqueezes", "flattens", "reorders", "sizes", "repeats", "stacks", "joins",
        "casts", "parts", "contents", "gathers", "pairs", "element", "adds", "copies", "spreads", "product",
        "subscripts", "counted",
    )
)  # fmt: skip
#: What may hold or give what it is made of.
_HOLDING = frozenset(
    (Op.CHOICE, Op.BOOL, Op.TUPLE, Op.LIST, Op.DICT, Op.SET, Op.STARRED, Op.ITEM, Op.UPDATE, Op.COMPREHENSION, Op.UNARY)
)
#: What may be a function or class that is handed on: to a `partial`.
_FUNCTIONS = frozenset((Op.GLOBAL, Op.ATTR, Op.LAMBDA))
_MAX_DEPTH, _MAX_ASKED = 60, 30


def sine_tables(module: ModuleFacts, project: Project, files: int = _MAX_FILES) -> SineTables:
    """What a file says by names, where so many other files are looked into that it imports."""
    return project.once(("speaks of sines", module, files), lambda: SineTables(module, project, files))


def lengths(project: Project) -> Fixpoint:
    """What gives lengths, by names in files, as far as that was asked."""
    return project.once(("lengths",), lambda: Fixpoint(project.files, project.kept))


class SineTables:
    """What one file says of tables of sines and cosines, and of lengths, by names."""

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
        #: What gives tables when it is called, and attributes that may be some.
        self.producers = {*_PERIODIC, *(name for name, origin in imports if _last(origin) in _PERIODIC)}
        self.producers = set(project.once(("gives sines", module, files), self._found_names, kept=NAMES))
        self.forwarders = set(project.once(("asks for sines", module, files), self._found_asked, kept=NAMES))

    # -- names -----------------------------------------------------------------------------------------------------

    def _found_names(self) -> frozenset[str]:
        self.producers |= self._imported(lambda there: there.producers)
        self._close(self.producers, self._giving_tables)
        return frozenset(self.producers)

    def _found_asked(self) -> frozenset[str]:
        self.forwarders = {*self.producers, *self._imported(lambda there: there.forwarders)}
        self._close(self.forwarders, self._handing_on)
        return frozenset(self.forwarders)

    def _imported(self, names: Callable[[SineTables], AbstractSet[str]]) -> set[str]:
        """Some of the names of the files that are imported, as the file calls them."""
        found: set[str] = set()
        for word, _, definition in reached(self._module, self._project) if self._files else ():
            home, own, beside = _home(definition)
            if home is not None and home is not self._module:
                there = names(sine_tables(home, self._project, self._files - 1))
                found |= there if own is None else there & beside
                found |= {word} if own in there else set()
        return found

    def _close(self, found: set[str], more: Callable[[Function], Iterator[str]]) -> None:
        """Find more names in the functions that mention those that were found, until nothing more is found."""
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
        """What gives numbers that count up, or what is made of them; asked for while it is found out, what is known."""
        if self._counting is None:
            found = self._counting = set(self._counted)
            key = "counts up", self._module, self._files
            self._counting = set(self._project.once(key, lambda: self._found_counting(found), kept=NAMES))
        return self._counting

    def _found_counting(self, found: set[str]) -> frozenset[str]:
        found |= self._imported(lambda there: there.counting)
        self._close(found, self._giving_tables)
        return frozenset(found)

    def _giving_tables(self, function: Function) -> Iterator[str]:
        """A function, or class, that gives tables, and the attributes under which it keeps some, or what gives some."""
        for event in function.flow.events:
            if event.kind is EventKind.STORE:
                if event.target is not None and event.target.op is Op.ATTR and self._may_be_table(event.value):
                    yield str(event.target.data)
            elif event.kind is EventKind.CALL and event.value.args[1:]:
                if any(map(self._may_be_table, event.value.args[1:])):
                    yield from _strings(event.value)
            elif event.kind in _ENDING and self._may_be_table(event.value):
                yield from _called(function)

    def _handing_on(self, function: Function) -> Iterator[str]:
        calls = (event.value for event in function.flow.of(EventKind.CALL))
        if any(called_name(call.callee) in self.forwarders and any(map(is_argument, call.args[1:])) for call in calls):
            yield from _called(function)

    def gives_length(self, name: str) -> bool:
        """Whether a function may give a length that is called by a name, or an attribute may be one."""
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
        """The functions that may say how long a table is, but for constructors and what only these call."""
        self._forget()
        found = [function for function in self._functions if self.may_say_length(function)]
        building = _building(self._functions) if found else set()
        return [function for function in found if function not in building]

    def may_say_length(self, function: Function) -> bool:
        """Whether a function may say how long a table is, or get one from what does."""
        if function.words.isdisjoint(self.forwarders):
            return False
        return self._says(function) or not function.words.isdisjoint(self.tables)

    @cached_property
    def tables(self) -> frozenset[str]:
        """The functions that may give or keep tables of lengths that they say themselves."""
        return self._project.once(("gives own tables", self._module, self._files), self._found_tables, kept=NAMES)

    def _found_tables(self) -> frozenset[str]:
        found = self._imported(lambda there: there.tables)
        self._forget()
        found.update(f.name for f in self._functions if f.name not in _UNNAMED and self._gives_own(f))
        return frozenset(found)

    def _gives_own(self, function: Function) -> bool:
        is_near = not function.words.isdisjoint(self.producers | self.counting)
        given = (event.value for event in function.flow.events if event.kind in _GIVEN) if is_near else ()
        return any(map(self._may_be_table, given)) and self._says(function)

    # -- tables ----------------------------------------------------------------------------------------------------

    def _may_be_table(self, value: Value) -> bool:
        """Whether a value may be a table, hold one, or give one when it is called."""
        return self._remembered(self._known_tables, value, self._is_table)

    def _is_table(self, value: Value) -> bool:
        op = value.op
        if op is Op.CALL:
            return self._is_table_given(value)
        if op is Op.GLOBAL:
            return value.data in self.producers
        if op is Op.ATTR:
            return value.data in self.producers or self._may_be_table(value.args[0])
        if op is Op.BIN:
            return any(map(self._may_be_table, value.args)) and any(map(_is_scale, value.args))
        if op is Op.INDEX:
            return self._may_be_table(value.args[0]) and all(map(_keeps_rows, subscripts(value)))
        if op is Op.LAMBDA:
            return any(map(self._may_be_table, value.data.returns if isinstance(value.data, Nested) else value.args))
        return (op in _HOLDING or op is Op.UNPACK) and any(map(self._may_be_table, value.args))

    def _is_table_given(self, call: Value) -> bool:
        """Whether a call may give a table: of what gives some, or of what gives what it is given."""
        callee, name = call.callee, called_name(call.callee)
        if name in self.producers or name in self.counting or not name:
            return bool(name) or self._may_be_table(callee)
        rows = [] if name in self._own else operators.called(name)
        given = (*callee.args[:1], *call.args[1:]) if callee.op is Op.ATTR else call.args[1:]
        if rows and not any(row.facets.keys() & _OF_TABLES for row in rows):
            return False
        is_passed = bool(rows) or name in self._module.classes or name in self._module.imports or name in self._own
        return any(self._may_be_table(arg) for arg in given if is_passed or arg.op in _FUNCTIONS)

    def _forget(self) -> None:
        """Forget what is known of values: those that had these identities may have gone since."""
        self._known.clear()
        self._known_tables.clear()

    def _says(self, function: Function) -> bool:
        """Whether a function may count up or cut to a length, or pass one on to what does."""
        return any(self._is_said(event) for event in function.flow.events)

    def _is_said(self, event: Event) -> bool:
        if event.kind is EventKind.INDEX:
            return self._is_cut(event.value)
        return event.kind is EventKind.CALL and self._asks(event.value)

    def _asks(self, call: Value) -> bool:
        """Whether a call may count up to a length, or ask for a table of one."""
        name = called_name(call.callee)
        is_asked = not name or name in self.forwarders or name in self.counting
        return is_asked and any(self._may_be_length(arg, self._known) for arg in call.args[1:])

    def _is_cut(self, value: Value) -> bool:
        if value.op is not Op.INDEX:
            return False
        ends = (part.args[1] for part in subscripts(value) if part.op is Op.SLICE)
        return any(self._may_be_length(end, self._known) for end in ends)

    # -- values ----------------------------------------------------------------------------------------------------

    def _may_be_length(self, value: Value, known: dict[int, bool]) -> bool:
        """Whether a value may be a number that only a run knows, or hold one: a parameter is for its caller to say."""
        return self._remembered(known, value, lambda asked: self._is_length(asked, known))

    def _remembered(self, known: dict[int, bool], value: Value, question: Callable[[Value], bool]) -> bool:
        """The answer to a question about a value, asked once; what a loop leads back to adds nothing."""
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
            return self._is_given(value, known)
        if op is Op.BIN:
            return str(value.data) in _SUMS and any(self._is_number(arg, known) for arg in value.args)
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
        """Whether an operand of a sum may be a number that only a run knows."""
        return value.op in (Op.PARAM, Op.INNER, Op.INDEX, Op.ITEM) or self._may_be_length(value, known)

    def _is_given(self, call: Value, known: dict[int, bool]) -> bool:
        """Whether a call may give a length: what counts, a function that gives one, and what is made of some."""
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
        """The functions of the file, which are no operators."""
        return frozenset(function.name for function in self._functions)


def _home(definition: Definition | None) -> tuple[ModuleFacts | None, str | None, AbstractSet[str]]:
    """The file that something comes from, its name there, and those of its methods."""
    if isinstance(definition, DefinedModule):
        return definition.module, None, frozenset()
    if isinstance(definition, DefinedFunction):
        return definition.function.module, definition.function.name, frozenset()
    if isinstance(definition, DefinedClass):
        return definition.cls.module, definition.cls.name, definition.cls.methods.keys()
    return None, None, frozenset()


def _building(functions: list[Function]) -> set[Function]:
    """Constructors, and what nothing else in a file calls than these: they are given constants."""
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


def _called(function: Function) -> Iterator[str]:
    """The name by which a function is called, or the object that it is run of."""
    if function.name not in _UNNAMED:
        yield function.name
    elif function.owner is not None and function.name not in _CONSTRUCTORS:
        yield function.owner.name


def _strings(call: Value) -> Iterator[str]:
    return (arg.data for arg in call.args[1:] if arg.op is Op.CONST and isinstance(arg.data, str))


def _keeps_rows(part: Value) -> bool:
    """Whether a part of a subscript picks no rows by ids."""
    return part.op in (Op.SLICE, Op.CONST)


def _is_scale(value: Value) -> bool:
    """Whether something may be one number: a constant, or an attribute of the object."""
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
