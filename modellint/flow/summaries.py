"""Summaries of functions: what they do with elements, computed on demand. They are the first stage of look-ups.

Summaries say which kinds of elements a function returns, which of its parameters it looks up, in which of them it looks
up its own elements, and what an attribute holds; and so whether a function can look up elements that it makes. They
over-approximate. Nothing is computed before it is asked for, and answers outlive the file that asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from modellint import operators
from modellint.flow.bodies import ALL_KINDS, SURELY, Body
from modellint.flow.callees import (
    ANYTHING,
    NONE,
    NOTHING,
    OBJECTS,
    PASSING,
    TABLES,
    InstanceArgument,
    KnownValues,
    ParameterObject,
    ProjectInstance,
    TableClass,
    unwrap_argument,
)
from modellint.flow.fixpoint import Fixpoint
from modellint.flow.records import Record
from modellint.graph.python import Class, Function
from modellint.graph.value import EventKind, dotted
from modellint.link.lasting import Lasting
from modellint.link.names import DefinedClass, DefinedModule, External
from modellint.link.remembered import NAMES, Form
from modellint.link.values.torch_reach import reaches_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Hashable, Iterable, Iterator

    from modellint.flow.bodies import Facet, Kinds, Tables
    from modellint.flow.callees import Objects
    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.reading.files import Trace

K = TypeVar("K")
T = TypeVar("T")
#: How deeply questions may be nested, and values meanwhile, where a question counts for several values: Python allows a
#: thousand calls. Beyond that the answer is the largest one.
_MAX_CALLS, _MAX_NESTING, _OF_QUESTION = 40, 170, 3
#: How many answers may be computed for one question, those that rest on each other again and again. Beyond that the
#: answer is the largest one, too.
_MAX_COMPUTED = 2_000
#: How many parameters, and attributes of these, a summary may name.
_MAX_NAMES = 24
#: How deeply classes may derive from each other; bases beyond that are left out.
_MAX_BASES = 8
#: How many imports elements are followed through.
MAX_FILES = 3


class Summaries(Lasting):
    """Summaries of the functions of a project, kept until a file that they rest on changes."""

    def __init__(self, project: Project) -> None:
        self.project = project
        if project.kept is not None:
            project.kept.speaks_of((*OBJECTS, *ALL_KINDS))
        self._answers = Fixpoint(project.files, project.kept)
        self._records: dict[ModuleFacts, Record] = {}
        #: The records that hold values of bodies.
        self._filled: set[Record] = set()
        self._bodies: dict[tuple[Function, int], Body] = {}
        self._rows: dict[tuple[str, bool], operators.Operator | None] = {}
        #: The facts about functions that stable answers have found, with the files that these rest on.
        self._settled: dict[tuple[Function, int], tuple[KnownValues, Trace]] = {}
        #: The bodies that each of the questions under way has looked at.
        self._looked_at: list[dict[tuple[Function, int], Body]] = []
        self._nesting = 0
        #: How often an answer was the largest one because the question was too deep.
        self._cuts = 0

    def record(self, module: ModuleFacts) -> Record:
        """The names in the text of a file."""
        found = self._records.get(module)
        if found is None:
            found = self._records[module] = Record(module)
        return found

    def record_with_values(self, module: ModuleFacts) -> Record:
        """The record of a file, noted as one that may hold values of bodies."""
        found = self.record(module)
        self._filled.add(found)
        return found

    def body(self, function: Function, files: int = MAX_FILES) -> Body:
        """The body of a function; `files`: how many imports its elements are followed through."""
        bodies = self._looked_at[-1] if self._looked_at else self._bodies
        found = bodies.get((function, files))
        if found is None:
            settled, trace = self._settled.get((function, files), (NOTHING, ()))
            self.project.files.depend(trace)
            found = bodies[function, files] = Body(function, self, files, settled)
        return found

    def _answer(self, key: tuple[Hashable, ...], compute: Callable[[], T], least: T) -> T:
        """The answer to a question. The facts that it finds about bodies are kept once it is stable."""
        answer: T | None = self._answers.known(key, _FORMS.get(key[0], _OF_OBJECTS))
        if answer is not None:
            return answer
        bodies: dict[tuple[Function, int], Body] = {}
        cuts = self._cuts

        def compute_afresh() -> T:
            bodies.clear()
            self._looked_at.append(bodies)
            try:
                return compute()
            finally:
                self._looked_at.pop()

        answer = self._answers.ask(key, compute_afresh, least)
        trace = self._answers.rests_on(key) if cuts == self._cuts else None
        if trace is not None:
            self._answers.keep(key)
            for about, body in bodies.items():
                known, before = self._settled.get(about) or (KnownValues(), ())
                known.add(body.known)
                self._settled[about] = known, self.project.files.joined(before, trace)
        return answer

    def fact(
        self,
        facts: tuple[dict[K, T], dict[K, T]],
        key: K,
        question: Callable[[Value], T],
        value: Value,
        most: T,
        least: T,
    ) -> T:
        """A fact about a value: the settled one, or else the answer to a question, which may ask about its parts.

        `facts`: the known and the settled ones. `most` is the answer where too many values are nested in each other,
        `least` the answer while the question is under way.
        """
        known, settled = facts
        found = settled.get(key)
        if found is not None:
            return found
        if self._is_too_deep():
            known[key] = most
            return most
        known[key] = least
        self._nesting += 1
        try:
            found = known[key] = question(value)
        finally:
            self._nesting -= 1
        return found

    def _is_too_deep(self) -> bool:
        questions = self._answers.depth
        is_too_deep = (
            self._nesting + _OF_QUESTION * questions > _MAX_NESTING
            or questions > _MAX_CALLS
            or (questions > 0 and self._answers.computed > _MAX_COMPUTED)
        )
        self._cuts += is_too_deep
        return is_too_deep

    def roots(self, module: ModuleFacts) -> list[Function]:
        """The functions that may look up elements that they make or get from a callee, or that may pad positions."""
        functions = (*module.all_functions(), module.body)
        found = [function for function in functions if self.body(function).is_root()]
        sure = [function for function in found if self.body(function).is_root(takes_numbers=False)]
        return found if len(sure) < len(found) and reaches_tables(module, self.project) else sure

    def keeps_tables(self, name: str, cls: Class) -> bool:
        """True if objects of a class may keep tables under an attribute."""
        body = self.body(cls.module.body)
        return any(map(body.is_table, self.member(cls, name, MAX_FILES)))

    def keeps_others(self, name: str, cls: Class) -> bool:
        """True if objects of a class keep only objects of project classes that are no layers under an attribute."""
        found = self.member(cls, name, MAX_FILES)
        classes = [one.cls for one in found if isinstance(one, ProjectInstance)]
        is_known = 0 < len(classes) == len(found)
        return is_known and all(self.project.classes.model(cls).is_module is False for cls in classes)

    # -- questions about functions -----------------------------------------------------------------------------------

    def gives(self, function: Function, files: int) -> Kinds:
        """The kinds of elements that a function returns, made by itself or by a callee."""
        return self._summary(_gives, function, (), files, NONE, ALL_KINDS)

    def makes(self, function: Function, files: int) -> Objects:
        """The objects that a function may return."""
        return self._summary(_makes, function, (), files, NONE, ANYTHING)

    def hands_on(self, function: Function, files: int) -> Tables:
        """The parameters, or attributes of these, that a function calls and whose result it returns."""
        return self._summary(_hands_on, function, (), files, NONE, NONE)

    def takes(self, function: Function, name: str, facet: Facet, files: int) -> Tables:
        """The tables in which a function looks up, or pads, what the parameter `name` is passed."""
        return self._summary(_takes, function, (name, facet), files, NONE, SURELY)

    def asks(self, function: Function, files: int) -> Tables:
        """The parameters in which a function looks up elements that it makes itself; an empty name for any of them."""
        return self._summary(_asks, function, (), files, NONE, SURELY)

    def _summary(
        self, ask: Callable[..., T], function: Function, more: tuple[Any, ...], files: int, least: T, most: T
    ) -> T:
        if files < 0:
            return least
        if self._is_too_deep():
            return most

        def compute() -> T:
            self.project.python(function.module.file)
            return ask(self.body(function, files), *more)

        return self._answer((ask, function, more, files), compute, least)

    # -- questions about attributes ----------------------------------------------------------------------------------

    def stored_kinds(self, name: str, module: ModuleFacts, files: int) -> Kinds:
        """The kinds of elements that the functions of a file store under an attribute."""
        if name not in self.record(module).keeping:
            return NONE
        if self._is_too_deep():
            return ALL_KINDS
        return self._answer(("stored", name, module, files), lambda: self._compute_kinds(name, module, files), NONE)

    def _compute_kinds(self, name: str, module: ModuleFacts, files: int) -> Kinds:
        self.project.python(module.file)
        found: set[type] = set()
        bodies: dict[Function, Body] = {}
        for function, value, _ in self.record_with_values(module).values(name):
            body = bodies.setdefault(function, self.body(function, files))
            found |= body.elements(value)
            found |= body.real(value) if function.name != "__init__" else NONE
        return frozenset(found)

    def objects_under(self, name: str, module: ModuleFacts, family: frozenset[str] | None, files: int) -> Objects:
        """The objects that an attribute may hold, in classes of a family or in any class of a file."""
        if name not in self.record(module).keeping:
            return NONE
        if self._is_too_deep():
            return ANYTHING
        key = ("held", name, module, family, files)
        return self._answer(key, lambda: self._compute_objects(name, module, family, files), NONE)

    def _compute_objects(self, name: str, module: ModuleFacts, family: frozenset[str] | None, files: int) -> Objects:
        self.project.python(module.file)
        found: set[Any] = set()
        for function, value, _ in self.record_with_values(module).values(name, family):
            found |= self.body(function, files).objects(value)
        return frozenset(one for one in found if not isinstance(unwrap_argument(one), ParameterObject))

    def member(self, cls: Class, name: str, files: int) -> Objects:
        """The methods of a class under a name, and the objects that its instances keep there."""
        if not self._may_have(cls, name):
            return NONE
        if self._is_too_deep():
            return ANYTHING
        key = ("member", cls, name, files)
        return self._answer(key, lambda: self.body(cls.module.body, files).member(cls, name), NONE)

    def _may_have(self, cls: Class, name: str) -> bool:
        """True if the texts of files let a class's objects have something under the name."""
        named = self.project.once(("named", cls), lambda: tuple(_distinct(self._possible_names(cls))))
        return any(name in names for names in named)

    def _possible_names(self, cls: Class) -> Iterator[Container[str]]:
        """The names that a class's objects may have: those in its file, and those of bases in other files."""
        pending = [cls]
        for one in pending:
            self.project.python(one.module.file)
            record = self.record(one.module)
            yield record.keeping
            for own in record.related(one):
                yield from (own.methods, own.attributes)
                bases = (base for base in self.bases(own) if isinstance(base, Class))
                pending += [base for base in bases if base.module is not one.module and base not in pending]

    def mentioned_classes(self, function: Function, name: str) -> list[Class]:
        """The imported classes that a function, or its class, mentions; none if none of them may have `name`."""
        about = function.owner or function
        classes, named = self.project.once(("mentioned", about), lambda: self._compute_mentioned(about))
        return classes if any(name in names for names in named) else []

    def _compute_mentioned(self, about: Function | Class) -> tuple[list[Class], tuple[Container[str], ...]]:
        classes = list(self._mentioned_by(about))
        return classes, tuple(_distinct(names for cls in classes for names in self._possible_names(cls)))

    def _mentioned_by(self, about: Function | Class) -> Iterator[Class]:
        module, names = about.module, self.project.names
        functions = (*about.methods.values(), *about.hidden) if isinstance(about, Class) else (about,)
        words = frozenset[str]().union(*(function.words for function in functions))
        for name in sorted(words & module.imports.keys()):
            if module.imports[name].startswith("torch"):
                continue
            definition = names.resolve(module, name)
            if isinstance(definition, DefinedClass):
                yield definition.cls
            elif isinstance(definition, DefinedModule):
                there = definition.module
                offered = words & (there.imports.keys() | there.classes.keys())
                named = (names.resolve(there, word) for word in sorted(offered))
                yield from (one.cls for one in named if isinstance(one, DefinedClass))

    def bases(self, cls: Class) -> Objects:
        """The direct bases of a class that can be read, and `TableClass` if one is a table class."""

        def resolve() -> Objects:
            names = [name for base in cls.bases if (name := dotted(base))]
            resolved = [self.project.names.resolve(cls.module, name) for name in names]
            classes = [one.cls for one in resolved if isinstance(one, DefinedClass)]
            is_table = any(isinstance(one, External) and one.name.rpartition(".")[2] in TABLES for one in resolved)
            return frozenset((*classes, *((TableClass,) if is_table else ())))

        return self.project.once(("bases", cls), resolve, kept=_OF_OBJECTS)

    def methods(self, cls: Class, name: str, inside: ModuleFacts | None) -> tuple[Function, ...]:
        """The nearest definitions of a method in a class and its bases; with `inside`, those in that file."""
        return self.project.once(("methods", cls, name, inside), lambda: tuple(self._definitions(cls, name, inside)))

    def _definitions(self, cls: Class, name: str, inside: ModuleFacts | None, depth: int = 0) -> Iterator[Function]:
        if depth > _MAX_BASES or (inside is not None and cls.module is not inside):
            return
        if name in cls.methods:
            yield cls.methods[name]
            return
        for base in self.bases(cls):
            if isinstance(base, Class):
                yield from self._definitions(base, name, inside, depth + 1)

    def derives_from_table(self, cls: Class, inside: ModuleFacts | None) -> bool:
        """True if a class derives from a table class; with `inside`, over bases in that file only."""
        return self.project.once(("derives from table", cls, inside), lambda: self._is_table(cls, inside))

    def _is_table(self, cls: Class, inside: ModuleFacts | None, depth: int = 0) -> bool:
        if depth > _MAX_BASES or (inside is not None and cls.module is not inside):
            return False
        bases = self.bases(cls)
        return TableClass in bases or any(isinstance(b, Class) and self._is_table(b, inside, depth + 1) for b in bases)

    def bases_elsewhere(self, cls: Class) -> frozenset[Class]:
        """The bases in other files of a class and of the classes in its file that it may share objects with."""

        def compute() -> frozenset[Class]:
            bases = (base for one in self.record(cls.module).related(cls) for base in self.bases(one))
            return frozenset(base for base in bases if isinstance(base, Class) and base.module is not cls.module)

        return self._answer(("bases elsewhere", cls), compute, NONE)

    def best_row(self, name: str, *, is_builtin: bool) -> operators.Operator | None:
        """The row, of all operators with a name, that is closest to look-ups."""
        key = name, is_builtin
        if key not in self._rows:
            rows = operators.called(name)
            rows = [row for row in rows if row.name.startswith("builtins.")] if is_builtin else rows
            self._rows[key] = max(rows, key=_rank, default=None)
        return self._rows[key]

    def forget(self, keys: set[str]) -> None:
        """Drops the answers that rest on changed files, and all bodies."""
        self._answers.forget(keys)
        self._records.clear()
        self._filled.clear()
        self._bodies.clear()
        self._settled.clear()

    def release(self) -> None:
        """Drops the bodies, whose values are about to be freed."""
        self._bodies.clear()
        self._settled.clear()
        for record in self._filled:
            record.release()
        self._filled.clear()


def _distinct(found: Iterable[Container[str]]) -> Iterable[Container[str]]:
    """The containers that are not empty, each once."""
    return {id(one): one for one in found if one}.values()


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
    def kinds_of(value: Value) -> Kinds | None:
        return None if body.carries(value, name, facet) else NONE

    # Elements pick rows of other tables than themselves.
    return _all_or_surely(body.meets(event, facet, kinds_of) for event in body.flow.events) - {name}


def _asks(body: Body) -> Tables:
    return NONE.union(*map(body.tables_at, body.flow.events)) - SURELY


def _all_or_surely(found: Iterable[Tables]) -> Tables:
    """The union of some tables, or `SURELY`, which says more than any names."""
    names: set[str] = set()
    for tables in found:
        if "" in tables:
            return SURELY
        names |= tables
        if len(names) > _MAX_NAMES:
            return SURELY
    return frozenset(names)


def _rank(row: operators.Operator) -> int:
    """How close an operator's row is to look-ups: a larger number is closer."""
    return 2 * ("drawn" in row.facets or "pair" in row.facets) + any(facet in row.facets for facet in PASSING)


#: The forms of answers; those of others are objects.
_FORMS: dict[Hashable, Form] = {
    **dict.fromkeys((_gives, "stored"), Form(frozenset, (type,))),
    **dict.fromkeys((_hands_on, _takes, _asks), NAMES),
}
_OF_OBJECTS = Form(frozenset, (Function, Class, ProjectInstance, ParameterObject, InstanceArgument, type))
