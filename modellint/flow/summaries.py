"""What functions do with elements, found out on demand: the first stage of look-ups.

Answers say which kinds of elements a function gives, which of its parameters a look-up takes, and in which it looks up
what it makes; what an attribute holds; and so whether a function can look up elements that it makes. They may say too
much, never too little. What is not asked for is never computed, and answers outlive the file that asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from modellint import operators
from modellint.flow.bodies import ALL_KINDS, SURELY, Body
from modellint.flow.callees import ANYTHING, NONE, PASSING, TABLES, Given, TableClass, kept_or_it
from modellint.flow.fixpoint import Fixpoint
from modellint.flow.records import Record
from modellint.graph.value import EventKind, dotted
from modellint.link.names import DefinedClass, External

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from modellint.flow.bodies import Facet, Kinds, Tables
    from modellint.flow.callees import Objects
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project

T = TypeVar("T")
#: How many questions may be answered for each other, and how deeply values nested in each other meanwhile, where a
#: question counts for several: Python allows a thousand calls. What is beyond may be anything.
_MAX_CALLS, _MAX_NESTING, _OF_QUESTION = 40, 200, 3
#: How many answers may be computed for one question, those that rest on each other again and again. The rest may be
#: anything, too.
_MAX_COMPUTED = 2_000
#: How many parameters of a function, and attributes of these, may be looked up in before it may be anything.
_MAX_NAMES = 24
#: Through how many imports elements are followed.
MAX_FILES = 3


class Summaries:
    """Answers about the functions of a project, kept until a file that they rest on changes."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._answers = Fixpoint(project.files)
        self._records: dict[ModuleFacts, Record] = {}
        self._bodies: dict[tuple[Function, int], Body] = {}
        self._rows: dict[tuple[str, bool], operators.Operator | None] = {}
        self._nesting = 0

    def record(self, module: ModuleFacts) -> Record:
        """What the text of a file says by names."""
        found = self._records.get(module)
        if found is None:
            found = self._records[module] = Record(module)
        return found

    def body(self, function: Function, files: int = MAX_FILES) -> Body:
        """A function's body; `files`: through how many imports its elements are followed."""
        if self._answers.depth:  # what it rests on may not be stable yet
            return Body(function, self, files)
        found = self._bodies.get((function, files))
        if found is None:
            found = self._bodies[function, files] = Body(function, self, files)
        return found

    def nested(self, question: Callable[[Value], T], value: Value, most: T) -> T:
        """The answer to a question about a value, which asks about the values in it; `most` where they are too many."""
        if self._is_too_deep():
            return most
        self._nesting += 1
        try:
            return question(value)
        finally:
            self._nesting -= 1

    def _is_too_deep(self) -> bool:
        questions = self._answers.depth
        if questions and self._answers.computed > _MAX_COMPUTED:
            return True
        return questions > _MAX_CALLS or self._nesting + _OF_QUESTION * questions > _MAX_NESTING

    def roots(self, module: ModuleFacts) -> list[Function]:
        """The functions that may look something up with elements that they make, or get from what they call."""
        functions = (*module.all_functions(), module.body)
        return [function for function in functions if self.body(function).is_root()]

    def keeps_tables(self, name: str, cls: Class) -> bool:
        """Whether objects of a class may keep tables under an attribute."""
        body = self.body(cls.module.body)
        return any(map(body.is_table, self.member(cls, name, MAX_FILES)))

    # -- questions about functions -----------------------------------------------------------------------------------

    def gives(self, function: Function, files: int) -> Kinds:
        """The kinds of elements that a function makes, or gets from what it calls, and returns."""
        return self._asked(_gives, function, (), files, NONE, ALL_KINDS)

    def makes(self, function: Function, files: int) -> Objects:
        """The objects that a function returns."""
        return self._asked(_makes, function, (), files, NONE, ANYTHING)

    def hands_on(self, function: Function, files: int) -> Tables:
        """The parameters, or attributes of these, that a function calls, to return the results."""
        return self._asked(_hands_on, function, (), files, NONE, NONE)

    def takes(self, function: Function, name: str, facet: Facet, files: int) -> Tables:
        """Where what a parameter of a function is given is looked up, or has a constant written into it."""
        return self._asked(_takes, function, (name, facet), files, NONE, SURELY)

    def asks(self, function: Function, files: int) -> Tables:
        """The parameters of a function that it looks up in with elements that it makes; an empty name for any."""
        return self._asked(_asks, function, (), files, NONE, SURELY)

    def _asked(
        self, ask: Callable[..., T], function: Function, more: tuple[Any, ...], files: int, least: T, most: T
    ) -> T:
        if files < 0:
            return least
        if self._is_too_deep():
            return most

        def compute() -> T:
            self.project.python(function.module.file)
            return ask(Body(function, self, files), *more)

        return self._answers.ask((ask, function, more, files), compute, least)

    # -- questions about attributes ----------------------------------------------------------------------------------

    def stored(self, name: str, module: ModuleFacts, files: int) -> Kinds:
        """The kinds of elements that the functions of a file store under an attribute."""
        if name not in self.record(module).keeping:
            return NONE
        if self._is_too_deep():
            return ALL_KINDS
        return self._answers.ask(("stored", name, module, files), lambda: self._stored(name, module, files), NONE)

    def _stored(self, name: str, module: ModuleFacts, files: int) -> Kinds:
        self.project.python(module.file)
        found: set[type] = set()
        bodies: dict[Function, Body] = {}
        for function, value, _ in self.record(module).values(name):
            body = bodies.setdefault(function, self.body(function, files))
            found |= body.elements(value)
            found |= body.real(value) if function.name != "__init__" else NONE
        return frozenset(found)

    def held(self, name: str, module: ModuleFacts, family: frozenset[str] | None, files: int) -> Objects:
        """The objects that an attribute may hold, of classes of a family, or of any class of a file."""
        if name not in self.record(module).keeping:
            return NONE
        if self._is_too_deep():
            return ANYTHING
        key = ("held", name, module, family, files)
        return self._answers.ask(key, lambda: self._held(name, module, family, files), NONE)

    def _held(self, name: str, module: ModuleFacts, family: frozenset[str] | None, files: int) -> Objects:
        self.project.python(module.file)
        found: set[Any] = set()
        for function, value, _ in self.record(module).values(name, family):
            found |= self.body(function, files).objects(value)
        return frozenset(one for one in found if not isinstance(kept_or_it(one), Given))

    def member(self, cls: Class, name: str, files: int) -> Objects:
        """What a class's objects have under a name: methods, and what they keep there."""
        if self._is_too_deep():
            return ANYTHING
        key = ("member", cls, name, files)
        return self._answers.ask(key, lambda: self.body(cls.module.body, files).member(cls, name), NONE)

    def bases(self, cls: Class) -> Objects:
        """The classes that a class derives from directly."""

        def found() -> Objects:
            names = [name for base in cls.bases if (name := dotted(base))]
            resolved = [self.project.names.resolve(cls.module, name) for name in names]
            classes = [one.cls for one in resolved if isinstance(one, DefinedClass)]
            is_table = any(isinstance(one, External) and one.name.rpartition(".")[2] in TABLES for one in resolved)
            return frozenset((*classes, *((TableClass,) if is_table else ())))

        return self._answers.ask(("bases", cls), found, NONE)

    def best_row(self, name: str, *, is_builtin: bool) -> operators.Operator | None:
        """The row of what has a name that may have most to do with elements."""
        key = name, is_builtin
        if key not in self._rows:
            rows = operators.called(name)
            rows = [row for row in rows if row.name.startswith("builtins.")] if is_builtin else rows
            self._rows[key] = max(rows, key=_rank, default=None)
        return self._rows[key]

    def forget(self, keys: set[str]) -> None:
        """Forget what rests on files that have changed."""
        self._answers.forget(keys)
        self._records.clear()
        self._bodies.clear()

    def release(self) -> None:
        """Let go of bodies, whose values are about to go."""
        self._bodies.clear()
        for record in self._records.values():
            record.release()


def _gives(body: Body) -> Kinds:
    returned = [e.value for e in body.flow.events if e.kind in (EventKind.RETURN, EventKind.YIELD)]
    return NONE.union(*map(body.elements, returned), *map(body.real, returned))


def _makes(body: Body) -> Objects:
    return NONE.union(
        *(body.objects(e.value) for e in body.flow.events if e.kind in (EventKind.RETURN, EventKind.YIELD))
    )


def _hands_on(body: Body) -> Tables:
    found = NONE.union(
        *(body.results(e.value) for e in body.flow.events if e.kind in (EventKind.RETURN, EventKind.YIELD))
    )
    return found if len(found) <= _MAX_NAMES else NONE


def _takes(body: Body, name: str, facet: Facet) -> Tables:
    def found(value: Value) -> Kinds | None:
        return None if body.carries(value, name, facet) else NONE

    return _all_or_surely(body.meets(event, facet, found) for event in body.flow.events) - {name}  # it picks of others


def _asks(body: Body) -> Tables:
    return NONE.union(*map(body.met, body.flow.events)) - SURELY


def _all_or_surely(found: Iterable[Tables]) -> Tables:
    """All names, or the one answer that says more than any."""
    names: set[str] = set()
    for tables in found:
        if "" in tables:
            return SURELY
        names |= tables
        if len(names) > _MAX_NAMES:
            return SURELY
    return frozenset(names)


def _rank(row: operators.Operator) -> int:
    """How much a row may have to do with elements."""
    return 2 * ("drawn" in row.facets or "pair" in row.facets) + any(facet in row.facets for facet in PASSING)
