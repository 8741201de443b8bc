"""What each function does with elements, by kinds and found out on demand: the first stage of look-ups.

A *token* is a kind of elements (drawn ids, constants among ids, positions, real numbers) or the name of a parameter. A
`Summary` says which tokens a function gives, which of its parameters a look-up takes, and which may be tables
themselves; whether a function looks up elements that it makes follows from the summaries of what it calls. Nothing is
run: tokens follow the value graph, calls are resolved by names and by the classes that attributes are made of. A
summary may say too much, never too little; what is not asked for is never computed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

from modellint import operators
from modellint.flow.domain import Filler, Ids, Positions, Real
from modellint.flow.fixpoint import Fixpoint
from modellint.graph.python import Class, Function
from modellint.graph.value import EventKind, Nested, Op, called_name, dotted, walk_all
from modellint.link.names import DefinedClass, DefinedConstant, DefinedFunction, DefinedModule, External

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.value import Event, Flow, Value
    from modellint.link.project import Project

#: Kinds of elements.
Kinds: TypeAlias = "frozenset[type]"
#: What becomes of elements: they index something, as real numbers they do so, a constant is written among them.
Facet: TypeAlias = Literal["ids", "real", "padded"]
#: What elements are looked up in: names of parameters that are given it, an empty one for anything else.
Tables: TypeAlias = "frozenset[str]"


class Table:
    """A layer that looks up rows."""


class TableClass:
    """The class of such a layer."""


class Matrix:
    """A tensor that is made of sizes, whose rows may be picked."""


class Below(Filler):
    """A constant that may be negative: it is looked up wherever it indexes anything."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a parameter is given: an object that may look something up."""

    name: str


@dataclass(frozen=True, slots=True)
class Made:
    """What an instance of a class of the project does when it is called."""

    cls: Class


#: What may be called or indexed: functions and classes of the project, their instances, tables and parameters.
Objects: TypeAlias = "frozenset[Function | Class | Made | Given | type]"

NONE: frozenset[Any] = frozenset()
T = TypeVar("T")
#: Kinds that are followed through what functions give and objects keep; real numbers are everywhere.
_ELEMENTS = frozenset((Ids, Filler, Below, Positions))
ALL_KINDS = _ELEMENTS | {Real}
#: Methods that run when an object is made, and when it is called.
_MAKING, _CALLED = ("__init__", "__post_init__", "__new__"), ("__call__", "forward")
_UNNAMED = frozenset((*_MAKING, *_CALLED))
#: Names under which ids are drawn by what cannot be read.
_ELSEWHERE = frozenset(("sample", "generate"))
#: Facets of operators that give the elements of what they are given.
_PASSING = frozenset(
    (
        "passed", "picked", "limit", "below", "lift", "mask", "chooses", "fill", "rounds", "pairs", "extreme", "copies",
        "adds", "contents", "element", "gathers", "like", "pair",
    )
)  # fmt: skip
#: Words of what gives the elements of what it is given one by one.
_PAIRING = operators.words("pairs")
_ADDERS = operators.methods("list", "adds", "extends") | operators.methods("dict", "adds", "extends")
_TABLES = operators.words("table")
_SIZED = frozenset(("sized", "trained", "kept"))
_ARITHMETIC = frozenset("+-%|&")
#: What holds its parts, or is one of them.
_HOLDING = frozenset(
    (
        Op.LIST, Op.TUPLE, Op.DICT, Op.SET, Op.CHOICE, Op.BOOL, Op.COMPREHENSION, Op.ITEM, Op.UNPACK, Op.UPDATE,
        Op.STARRED, Op.BIN, Op.LAMBDA,
    )
)  # fmt: skip
_NO_ELEMENTS = frozenset((Op.COMPARE, Op.STRING, Op.CONST, Op.GLOBAL, Op.SLICE, Op.UNKNOWN))
#: Any parameter of a function.
ANY = "*"
#: How deeply values and calls may be nested in each other; what is beyond may be anything.
_MAX_DEPTH, _MAX_CALLS = 80, 40
_MAX_BASES = 8
#: Through how many imports elements are followed.
MAX_FILES = 3
#: `self.x = …`, `self.x: T = …`, `self.x[i] = …`, `self.x.append(…)`, and names in quotes that `setattr` may take.
_KEPT = re.compile(rf"\.\s*(\w+)(?=[^=\n()]*=(?!=))|\.\s*(\w+)\s*\.\s*(?:{'|'.join(sorted(_ADDERS))})\b")
_QUOTED = re.compile(r"""["']([A-Za-z_]\w*)["']""")
_REGISTERING = re.compile(r"setattr|register_|add_module")


class Summaries:
    """Answers about the functions of a project, kept until a file that they rest on changes."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._answers = Fixpoint(project.files)
        self._records: dict[ModuleFacts, Record] = {}
        self._bodies: dict[tuple[Function, int], Body] = {}
        self._rows: dict[tuple[str, bool], operators.Operator | None] = {}

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

    def roots(self, module: ModuleFacts) -> list[Function]:
        """The functions that may look something up with elements that they make, or get from what they call."""
        functions = (*module.all_functions(), module.body)
        return [function for function in functions if self.body(function).is_root()]

    def draws(self, function: Function) -> bool:
        """Whether a function may give ids that it, or what it calls, draws."""
        return Ids in self.gives(function, MAX_FILES)

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
        return self._asked(_makes, function, (), files, NONE, NONE)

    def takes(self, function: Function, name: str, facet: Facet, files: int) -> Tables:
        """Where what a parameter of a function is given is looked up, or has a constant written into it."""
        return self._asked(_takes, function, (name, facet), files, NONE, _SURELY)

    def asks(self, function: Function, files: int) -> Tables:
        """The parameters of a function that it looks up in with elements that it makes."""
        return self._asked(_asks, function, (), files, NONE, NONE)

    def _asked(
        self, ask: Callable[..., T], function: Function, more: tuple[Any, ...], files: int, least: T, most: T
    ) -> T:
        if files < 0:
            return least
        if self._answers.depth > _MAX_CALLS:
            return most

        def compute() -> T:
            self.project.python(function.module.file)
            return ask(Body(function, self, files), *more)

        return self._answers.ask((ask, function, more, files), compute, least)

    # -- questions about attributes ----------------------------------------------------------------------------------

    def stored(self, name: str, module: ModuleFacts, files: int) -> Kinds:
        """The kinds of elements that the functions of a file store under an attribute."""
        if name not in self.record(module).keeping or self._answers.depth > _MAX_CALLS:
            return NONE
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
        if name not in self.record(module).keeping or self._answers.depth > _MAX_CALLS:
            return NONE
        key = ("held", name, module, family, files)
        return self._answers.ask(key, lambda: self._held(name, module, family, files), NONE)

    def _held(self, name: str, module: ModuleFacts, family: frozenset[str] | None, files: int) -> Objects:
        self.project.python(module.file)
        found: set[Any] = set()
        for function, value, is_own in self.record(module).values(name):
            if not is_own or family is None or (function.owner is not None and function.owner.name in family):
                found |= self.body(function, files).objects(value)
        return frozenset(one for one in found if not isinstance(one, Given))

    def member(self, cls: Class, name: str, files: int) -> Objects:
        """What a class's objects have under a name: methods, and what they keep there."""
        if self._answers.depth > _MAX_CALLS:
            return NONE
        key = ("member", cls, name, files)
        return self._answers.ask(key, lambda: self.body(cls.module.body, files).member(cls, name), NONE)

    def bases(self, cls: Class) -> Objects:
        """The classes that a class derives from directly."""

        def found() -> Objects:
            names = [name for base in cls.bases if (name := dotted(base))]
            resolved = [self.project.names.resolve(cls.module, name) for name in names]
            classes = [one.cls for one in resolved if isinstance(one, DefinedClass)]
            is_table = any(isinstance(one, External) and one.name.rpartition(".")[2] in _TABLES for one in resolved)
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
            record.wanted.clear()


def _gives(body: Body) -> Kinds:
    returned = [e.value for e in body.flow.events if e.kind in (EventKind.RETURN, EventKind.YIELD)]
    return NONE.union(*map(body.elements, returned), *map(body.real, returned))


def _makes(body: Body) -> Objects:
    return NONE.union(
        *(body.objects(e.value) for e in body.flow.events if e.kind in (EventKind.RETURN, EventKind.YIELD))
    )


def _takes(body: Body, name: str, facet: Facet) -> Tables:
    def found(value: Value) -> Kinds | None:
        return None if body.carries(value, name, facet) else NONE

    return _all_or_surely(body.meets(event, facet, found) for event in body.flow.events)


def _asks(body: Body) -> Tables:
    return NONE.union(*map(body.met, body.flow.events)) - _SURELY


def _all_or_surely(found: Iterable[Tables]) -> Tables:
    """All names, or the one answer that says more than any."""
    names: set[str] = set()
    for tables in found:
        if "" in tables:
            return _SURELY
        names |= tables
    return frozenset(names)


class Record:
    """What the text of a file says by names: functions by theirs, and who keeps something under an attribute."""

    def __init__(self, module: ModuleFacts) -> None:
        self._module = module
        #: The attributes that methods keep for others which draw from them, as far as that was asked.
        self.wanted: set[str] = set()

    @cached_property
    def functions(self) -> dict[str, list[Function]]:
        """Functions and methods by their names, but for those that are called by another one."""
        found: dict[str, list[Function]] = {}
        for function in self._module.all_functions():
            if function.name not in _UNNAMED:
                found.setdefault(function.name, []).append(function)
        return found

    @cached_property
    def keeping(self) -> dict[str, list[Function]]:
        """The functions that may keep something under an attribute."""
        found: dict[str, list[Function]] = {}
        for function in (*self._module.all_functions(), self._module.body):
            text = function.text
            names = {name for pair in _KEPT.findall(text) for name in pair if name}
            if _REGISTERING.search(text):
                names.update(_QUOTED.findall(text))
            for name in names:
                found.setdefault(name, []).append(function)
        return found

    def values(self, name: str) -> Iterator[tuple[Function, Value, bool]]:
        """What functions keep under an attribute, and whether the object that has it is their own."""
        for function in self.keeping.get(name, ()):
            for event in function.flow.events:
                target = event.target
                if event.kind is EventKind.STORE and target is not None:
                    while target.op is Op.INDEX:
                        target = target.args[0]
                    if target.op is Op.ATTR and target.data == name:
                        yield function, event.value, _is_self(target.args[0])
                elif event.kind is EventKind.CALL:
                    call = event.value
                    callee = call.callee
                    owner = callee.args[0] if callee.op is Op.ATTR else callee
                    is_added = owner.op is Op.ATTR and owner.data == name and owner is not callee
                    is_named = any(arg.op is Op.CONST and arg.data == name for arg in call.args[1:])
                    if (is_added and callee.data in _ADDERS | {"add_module"}) or is_named:
                        is_own = _is_self(owner.args[0]) if is_added else any(map(_is_self, (owner, *call.args[1:])))
                        yield from ((function, arg, is_own) for arg in call.args[1:])

    @cached_property
    def families(self) -> dict[str, frozenset[str]]:
        """The classes of the file that each one may share objects with: by bases, and bases of these, in the file."""
        found = {cls.name: {cls.name} for cls in self._module.classes.values()}
        for cls in self._module.classes.values():
            for base in cls.bases:
                family = found.get((dotted(base) or "").rpartition(".")[2], set()) | found[cls.name]
                found.update(dict.fromkeys(family, family))
        return {name: frozenset(family) for name, family in found.items()}

    def stored_by(self, name: str) -> frozenset[str]:
        """The attributes that methods of a name store, but for constructors."""
        stores = (
            event.target
            for function in self.functions.get(name, ())
            if function.owner is not None
            for event in function.flow.of(EventKind.STORE)
        )
        return frozenset(str(target.data) for target in stores if target is not None and target.op is Op.ATTR)

    @cached_property
    def own(self) -> dict[str, list[Class]]:
        """The classes of the file by their last names."""
        found: dict[str, list[Class]] = {}
        for cls in self._module.classes.values():
            found.setdefault(cls.name, []).append(cls)
        return found


def _is_self(value: Value) -> bool:
    return value.op is Op.PARAM and value.data == "self"


class Body:
    """The values of one function."""

    def __init__(self, function: Function, summaries: Summaries, files: int) -> None:
        self.function = function
        self._summaries = summaries
        self._files = files
        self._module = function.module
        self._record = summaries.record(function.module)
        self._names = summaries.project.names
        self._elements: dict[int, Kinds] = {}
        self._reals: dict[int, Kinds] = {}
        self._objects: dict[int, Objects] = {}
        self._carried: dict[tuple[str, bool], dict[int, bool]] = {}
        self._rows: dict[str | None, operators.Operator | None] = {}
        #: By identity, with the kinds that parameters are given: whether events matter.
        self._mattering: dict[tuple[int, Kinds], bool] = {}
        self._depth = 0

    @property
    def flow(self) -> Flow:
        return self.function.flow

    def is_root(self) -> bool:
        """Whether the function may look up elements that it makes, or gets from what it calls, or pads positions."""
        return any("" in self.met(event) for event in self.flow.events)

    def met(self, event: Event) -> Tables:
        """Where an event may look up elements that the function makes, or write constants among its positions."""
        return (
            self.meets(event, "ids", lambda value: self.elements(value) - _POSITIONS)
            | self.meets(event, "real", self.real)
            | self.meets(event, "padded", lambda value: self.elements(value) & _POSITIONS)
            | self.asking(event)
        )

    # -- elements --------------------------------------------------------------------------------------------------

    def elements(self, value: Value) -> Kinds:
        """The kinds of drawn ids, constants and positions that a value may be, or hold, but for what is given."""
        found = self._elements.get(id(value))
        if found is None:
            if self._depth > _MAX_DEPTH:
                return _ELEMENTS
            self._depth += 1
            self._elements[id(value)] = NONE  # a loop, which adds nothing by itself
            found = self._elements[id(value)] = self._found_elements(value)
            self._depth -= 1
        return found

    def _all(self, values: Iterable[Value]) -> Kinds:
        return NONE.union(*map(self.elements, values))

    def _found_elements(self, value: Value) -> Kinds:
        op = value.op
        if op is Op.CALL:
            return self._given(value)
        if op is Op.PARAM or op in _NO_ELEMENTS or op is Op.UNARY:
            return NONE
        if op is Op.BIN:
            return self._all(value.args) if str(value.data) in _ARITHMETIC else NONE
        if op is Op.ATTR:
            found = self._all(value.args)
            if value.data == "indices":
                found |= {Ids}
            return found | (self._summaries.stored(str(value.data), self._module, self._files) & _ELEMENTS)
        if op is Op.UPDATE:
            is_filled = value.data == "[]=" and _may_be_number(value.args[2])
            return self._all(value.args) | (frozenset((_sign(value.args[2]),)) if is_filled else NONE)
        if op is Op.UNPACK or op is Op.INDEX:
            owner = value.args[0]
            if owner.op is Op.CALL and (row := self.row(owner)) is not None and "pair" in row.facets:
                at = value.data if op is Op.UNPACK else value.args[1].data
                return self._all(owner.args) | (frozenset((Ids,)) if at == 1 else NONE)
            return self.elements(owner)
        return self._all(value.args[-1:] if op is Op.COMPREHENSION else value.args)

    def _given(self, call: Value) -> Kinds:
        """The elements that a call may give."""
        row = self.row(call)
        if row is not None:
            return self._given_by(row, call)
        found = frozenset((Ids,)) if called_name(call.callee) in _ELSEWHERE else NONE
        gives = (self._gives(function) & _ELEMENTS for function in self.targets(call).functions)
        return found.union(*gives, self._all(_operands(call)))

    def _is_own(self, value: Value) -> bool:
        """Whether a value is the object whose method this is."""
        return _is_self(value) and self.function.owner is not None

    def _given_by(self, row: operators.Operator, call: Value) -> Kinds:
        facets = row.facets.keys()
        found = set[type]()
        if facets & {"drawn", "distribution"} or ("pair" in facets and _is_told_dimension(row, call)):
            found.add(Ids)
        if self._fills(row, call):
            found.add(self._sign_of(row, call))
        if facets & {"counted", "sums-up"} and row.name != "builtins.range":
            found.add(Positions)
        return self._all(_operands(call)).union(found) if facets & _PASSING else frozenset(found)

    def real(self, value: Value) -> Kinds:
        """Whether a value may be real numbers, or hold some, but for what is given."""
        found = self._reals.get(id(value))
        if found is None:
            if self._depth > _MAX_DEPTH:
                return _REAL
            self._depth += 1
            self._reals[id(value)] = NONE
            found = self._reals[id(value)] = self._found_real(value)
            self._depth -= 1
        return found

    def _all_real(self, values: Iterable[Value]) -> Kinds:
        return _REAL if any(map(self.real, values)) else NONE

    def _found_real(self, value: Value) -> Kinds:
        op = value.op
        if op is Op.CALL:
            return self._given_real(value)
        if op is Op.PARAM or op in _NO_ELEMENTS:
            return NONE
        if op is Op.BIN and value.data in ("/", "@"):
            return _REAL
        if op is Op.ATTR:
            return self._all_real(value.args) or (
                self._summaries.stored(str(value.data), self._module, self._files) & _REAL
            )
        if op is Op.UNPACK or op is Op.INDEX:
            return self.real(value.args[0])
        return self._all_real(value.args[-1:] if op is Op.COMPREHENSION else value.args)

    def _given_real(self, call: Value) -> Kinds:
        row = self.row(call)
        if row is not None:
            if _makes_real(row, call):
                return _REAL
            return self._all_real(_operands(call)) if row.facets.keys() & _PASSING else NONE
        functions = self._record.functions.get(called_name(call.callee))
        if functions is None or any(Real in self._gives(function) for function in functions):
            return _REAL
        return self._all_real(_operands(call))

    def carries(self, value: Value, name: str, facet: Facet) -> bool:
        """Whether a value may be, or hold, the elements or the real numbers that a parameter is given."""
        known = self._carried.setdefault((name, facet == "real"), {})
        found = known.get(id(value))
        if found is None:
            if self._depth > _MAX_DEPTH:
                return True
            self._depth += 1
            known[id(value)] = False
            found = known[id(value)] = self._is_carrying(value, name, facet)
            self._depth -= 1
        return found

    def _is_carrying(self, value: Value, name: str, facet: Facet) -> bool:
        op, parts = value.op, value.args
        if op is Op.PARAM:
            return value.data == name or (name == ANY and not self._is_own(value))
        if op in _NO_ELEMENTS or (facet != "real" and op is Op.UNARY):
            return False
        if op is Op.CALL:
            row = self.row(value)
            if row is not None and not row.facets.keys() & _PASSING:
                return False
            parts = _operands(value)
        elif op is Op.BIN and facet != "real" and str(value.data) not in _ARITHMETIC:
            return False
        elif op is Op.UNPACK or op is Op.INDEX:
            parts = value.args[:1]
        elif op is Op.COMPREHENSION:
            parts = value.args[-1:]
        return any(self.carries(part, name, facet) for part in parts)

    # -- objects ---------------------------------------------------------------------------------------------------

    def objects(self, value: Value) -> Objects:
        """What a value may be, or hold, that can be called or indexed."""
        found = self._objects.get(id(value))
        if found is None:
            if self._depth > _MAX_DEPTH:
                return NONE
            self._depth += 1
            self._objects[id(value)] = NONE
            found = self._objects[id(value)] = self._found_objects(value)
            self._depth -= 1
        return found

    def _all_objects(self, values: Iterable[Value]) -> Objects:
        return NONE.union(*map(self.objects, values))

    def _found_objects(self, value: Value) -> Objects:
        op = value.op
        if op is Op.PARAM:
            return self._parameter(str(value.data))
        if op is Op.GLOBAL:
            return self._named(value)
        if op is Op.ATTR:
            return self._named(value) if dotted(value) and _root(value).op is Op.GLOBAL else self._member(value)
        if op is Op.CALL:
            return self._made_by(value)
        if op is Op.INDEX:
            return self.objects(value.args[0])
        return self._all_objects(value.args) if op in _HOLDING else NONE

    def _parameter(self, name: str) -> Objects:
        owner = self.function.owner
        if name == "self" and owner is not None:
            return frozenset((Made(owner),))
        return frozenset((Given(name),))

    def _annotated(self, name: str) -> Iterator[Class]:
        """The classes that the annotation of a parameter names."""
        parameter = self.function.parameter(name)
        for part in () if parameter is None or parameter.annotation is None else parameter.annotation.walk():
            if part.op in (Op.GLOBAL, Op.ATTR):
                yield from (one for one in self._named(part) if isinstance(one, Class))

    def _named(self, value: Value) -> Objects:
        """What a name stands for, or a chain of attributes on one."""
        name = dotted(value) or ""
        last = name.rpartition(".")[2]
        head, _, rest = name.partition(".")
        if not rest and (own := self._record.own.get(head)):
            return frozenset(own)
        target = self._module.imports.get(head)
        if last in _TABLES or (target is not None and not rest and target.rpartition(".")[2] in _TABLES):
            return frozenset((TableClass,))
        if target is None and not (head in self._module.constants or head in self._module.functions):
            if not self._module.star_imports and head not in self._record.own:
                return NONE
        elif target is not None and (target == "torch" or target.startswith("torch.")):
            return NONE
        return self._defined(self._names.resolve(self._module, name))

    def _defined(self, definition: object) -> Objects:
        if isinstance(definition, DefinedClass):
            return frozenset((definition.cls,))
        if isinstance(definition, DefinedFunction):
            return frozenset((definition.function,))
        if isinstance(definition, DefinedConstant) and self._nearer(definition.module) >= 0:
            home = self._summaries.body(definition.module.body, self._nearer(definition.module))
            return home.objects(definition.value)
        return NONE

    def _nearer(self, module: ModuleFacts) -> int:
        """Through how many imports elements are followed from a file that this one leads to."""
        return self._files - (module is not self._module)

    def _member(self, value: Value) -> Objects:
        """What an attribute of something is: a method, or what is kept there."""
        name, owners = str(value.data), self.objects(value.args[0])
        found: set[Any] = {one for one in owners if isinstance(one, type)}
        is_own = self._is_own(value.args[0])
        for one in owners:
            if isinstance(one, Made | Class):
                found |= self._of_class(one.cls if isinstance(one, Made) else one, name)
            elif isinstance(one, Given):
                found = found.union(*(self._of_class(cls, name) for cls in self._annotated(one.name)))
        if not is_own:
            found |= self._summaries.held(name, self._module, None, self._files)
            if name not in _UNNAMED:
                found.update(self._record.functions.get(name, ()))
                for cls in self._mentioned:
                    found |= self._of_class(cls, name)
        return frozenset(found) or frozenset(one for one in owners if isinstance(one, Given))

    @cached_property
    def _mentioned(self) -> list[Class]:
        """The imported classes that the function, or the class that it is of, mentions."""
        module, words = self._module, self.function.words
        if self.function.owner is not None:
            words = words.union(*(method.words for method in self.function.owner.methods.values()))
        found: list[Class] = []
        for name in sorted(words & module.imports.keys()):
            target = module.imports[name]
            if not target.startswith("torch"):
                definition = self._names.resolve(module, name)
                if isinstance(definition, DefinedClass):
                    found.append(definition.cls)
                elif isinstance(definition, DefinedModule):
                    there = definition.module
                    offered = words & (there.imports.keys() | there.classes.keys())
                    named = (self._names.resolve(there, word) for word in offered)
                    found.extend(one.cls for one in named if isinstance(one, DefinedClass))
        return found

    def _of_class(self, cls: Class, name: str) -> Objects:
        """A method of a class, or what its objects keep under an attribute; of its bases as well."""
        files = self._nearer(cls.module)
        return NONE if files < 0 else self._summaries.member(cls, name, files)

    def member(self, cls: Class, name: str) -> Objects:
        """The same of a class of the file."""
        family = self._record.families[cls.name]
        found: set[Any] = set(self._summaries.held(name, self._module, family, self._files))
        if name in cls.attributes:
            found |= self.objects(cls.attributes[name])
        for one in (own for member in family for own in self._record.own[member]):
            if name in one.methods:
                found.add(one.methods[name])
            for base in self._bases(one):
                if isinstance(base, Class) and base.module is not self._module:
                    found |= self._of_class(base, name)
        return frozenset(found)

    def _bases(self, cls: Class) -> Objects:
        """The classes that a class derives from directly."""
        return self._summaries.bases(cls)

    def _made_by(self, call: Value) -> Objects:
        """The objects that a call may give."""
        callee, name = call.callee, called_name(call.callee)
        if name == "super" and callee.op is Op.GLOBAL:
            owner = self.function.owner
            bases = NONE if owner is None else self._bases(owner)
            return frozenset(Made(one) if isinstance(one, Class) else Table for one in bases)
        if name == "getattr" and callee.op is Op.GLOBAL:
            named = [arg.data for arg in call.positional[1:2] if arg.op is Op.CONST]
            return NONE.union(*(self._summaries.held(str(n), self._module, None, self._files) for n in named))
        if callee.op is Op.LAMBDA:
            return self._all_objects((callee, *call.args[1:]))
        row = self.row(call)
        if row is not None:
            if "table" in row.facets:
                return _TABLE
            found = self._all_objects(_operands(call))
            return found | {Matrix} if row.facets.keys() & _SIZED else found
        made, called = set[Any](), self.objects(callee)
        is_holding = not called
        if callee.op is Op.CALL:  # a `partial`, say, and what it was given
            made |= called & {Table, Matrix}
        for one in called:
            if isinstance(one, Class):
                made.add(Made(one))
                is_holding = True
            elif isinstance(one, Function):
                made |= self._made_in(one, call)
            elif one is TableClass:
                made.add(Table)
            elif isinstance(one, Made):
                for function in self._called(one.cls):
                    made |= self._made_in(function, call)
        if is_holding:  # of what it is given
            made |= self._all_objects(arg for arg in call.args[1:] if arg.op is not Op.PARAM)
        return frozenset(made)

    def _made_in(self, function: Function, call: Value) -> Objects:
        files = self._nearer(function.module)
        makes = NONE if files < 0 else self._summaries.makes(function, files)
        names = {one.name for one in makes if isinstance(one, Given)}
        passed = self._all_objects(arg for name, arg in _bound(function, call) if name in names)
        return passed.union(one for one in makes if not isinstance(one, Given))

    # -- calls -----------------------------------------------------------------------------------------------------

    def row(self, call: Value) -> operators.Operator | None:
        """The row of the operator that a call may be of, by the last part of its name where that was imported from."""
        callee = call.callee
        name, is_global = called_name(callee), callee.op is Op.GLOBAL
        if not name or (not is_global and self._is_own(callee.args[0])):
            return None
        is_dotted = not is_global and _root(callee).op is Op.GLOBAL
        key = str(callee.data) if is_global else dotted(callee) if is_dotted else f"?.{name}"
        if key not in self._rows:
            self._rows[key] = self._row(callee, name, is_global=is_global, is_dotted=is_dotted)
        return self._rows[key]

    def _row(self, callee: Value, name: str, *, is_global: bool, is_dotted: bool) -> operators.Operator | None:
        origin = self._module.imports.get(name) if is_global else None
        last = name if origin is None else origin.rpartition(".")[2]
        if name in self._record.functions or name in self._record.own:
            return None
        is_builtin = is_global and origin is None and not self._module.star_imports
        row = self._summaries.best_row(last, is_builtin=is_builtin)
        if row is None or is_builtin:
            return row
        if is_global:
            is_of_torch = origin is not None and origin.startswith("torch")
            if not is_of_torch and isinstance(self._names.resolve(self._module, name), DefinedFunction | DefinedClass):
                return None
        elif is_dotted:
            return None if self._is_of_project(callee) else row
        elif (name in self._record.keeping and self._summaries.held(name, self._module, None, self._files)) or any(
            name in cls.methods for cls in self._mentioned
        ):
            return None
        return row

    def _is_of_project(self, callee: Value) -> bool:
        target = self._module.imports.get(str(_root(callee).data), "")
        if not target or target.startswith("torch"):
            return False
        return isinstance(self._names.definition(self._module, callee), DefinedFunction | DefinedClass)

    def targets(self, call: Value) -> Targets:
        """What a call may run."""
        callee = call.callee
        functions: dict[Function, None] = {}
        is_table = False
        given: set[str] = set()
        for one in self.objects(callee):
            if isinstance(one, Function):
                functions[one] = None
            elif isinstance(one, Class):
                for name in _MAKING:
                    functions.update(dict.fromkeys(self._methods(one, name)))
            elif isinstance(one, Made):
                called = self._called(one.cls)
                is_table = is_table or (not called and self._derives_from_table(one.cls))
                functions.update(dict.fromkeys(called))
            elif one is Table:
                is_table = True
            elif isinstance(one, Given):
                given.add(one.name)
        inner = callee.data if isinstance(callee.data, Nested) else None
        return Targets(tuple(functions), is_table, frozenset(given), inner)

    def _called(self, cls: Class) -> list[Function]:
        return [method for name in _CALLED for method in self._methods(cls, name)]

    def _methods(self, cls: Class, name: str, depth: int = 0) -> list[Function]:
        """What a method of a class is, as the nearest of its bases has it; those of subclasses in its file as well."""
        if self._nearer(cls.module) < 0 or depth > _MAX_BASES:
            return []
        own = cls.methods.get(name)
        if own is not None:
            return [own]
        return [m for base in self._bases(cls) if isinstance(base, Class) for m in self._methods(base, name, depth + 1)]

    def _derives_from_table(self, cls: Class, depth: int = 0) -> bool:
        if self._nearer(cls.module) < 0 or depth > _MAX_BASES:
            return False
        bases = self._bases(cls)
        return TableClass in bases or any(
            isinstance(b, Class) and self._derives_from_table(b, depth + 1) for b in bases
        )

    def _gives(self, function: Function) -> Kinds:
        files = self._nearer(function.module)
        return NONE if files < 0 else self._summaries.gives(function, files)

    # -- events ----------------------------------------------------------------------------------------------------

    def meets(self, event: Event, facet: Facet, found: Callable[[Value], Kinds | None]) -> Tables:
        """Where an event may look up what `found` finds in its arguments, or write a constant among it.

        `found` gives the kinds of elements of a value, None for some of an unknown kind.
        """
        if event.kind is EventKind.INDEX:
            value = event.value
            if facet != "ids" or value.args[1].op in (Op.SLICE, Op.CONST):
                return NONE
            kinds = found(value.args[1])
            return self._picked(kinds, value.args[:1]) if kinds != NONE else NONE
        if event.kind is not EventKind.CALL or called_name(event.value.callee) in _ADDERS:
            return NONE
        call, row = event.value, self.row(event.value)
        return self._met_at(call, facet, found) if row is None else self._met_by(row, call, facet, found)

    def _met_by(
        self, row: operators.Operator, call: Value, facet: Facet, found: Callable[[Value], Kinds | None]
    ) -> Tables:
        if facet == "padded":
            is_padding = "fill" in row.facets and "sized" not in row.facets and self._fills(row, call)
            return _SURELY if is_padding and any(found(arg) != NONE for arg in _operands(call)) else NONE
        if "ids" not in row.facets:
            if "pairs" not in row.facets or all(found(arg) == NONE for arg in _operands(call)):
                return NONE
            return _SURELY if any(map(self._looks_up, call.args[1:])) else NONE
        if facet == "real" and "real" not in row.facets:
            return NONE
        kinds = [kinds for arg in call.args[1:] if (kinds := found(arg)) != NONE]
        return NONE.union(*(self._picked(one, _operands(call)) for one in kinds))

    def _picked(self, kinds: Kinds | None, owners: Iterable[Value]) -> Tables:
        """What elements may pick rows of: negative constants may do so of anything."""
        if kinds is not None and Below in kinds:
            return _SURELY
        return NONE.union(*map(self._as_tables, owners))

    def _as_tables(self, value: Value) -> Tables:
        """What a value is as a table: the names of parameters that it may be, or be kept by."""
        found: set[str] = set()
        for one in self.objects(value):
            if isinstance(one, Given):
                found.add(one.name)
            elif one is Table or one is Matrix or self._is_layer(one):
                found.add("")
        root = _root(value)
        if found and root is not value and root.op is Op.PARAM and not self._is_own(root):
            found.add(str(root.data))
        return frozenset(found)

    def _met_at(self, call: Value, facet: Facet, found: Callable[[Value], Kinds | None]) -> Tables:
        """Where a call of something that can be read looks up its arguments."""
        arguments = [arg for arg in call.args[1:] if found(arg) != NONE]
        if not arguments:
            return NONE
        targets = self.targets(call)
        if facet != "padded" and targets.is_table:
            return self._as_tables(call.callee) | _SURELY
        if facet != "padded" and any(map(self._looks_up, call.args[1:])):
            return _SURELY
        if facet == "ids" and any(Below in (found(arg) or NONE) for arg in arguments) and self._goes_beyond(call):
            return _SURELY
        if targets.inner is not None and self._is_taken_inside(targets.inner, facet):
            return _SURELY
        tables: set[str] = set() if facet == "padded" else set(targets.given)
        for function in targets.functions:
            bound, files = list(_bound(function, call)), self._nearer(function.module)
            taken = [self._summaries.takes(function, name, facet, files) for name, arg in bound if arg in arguments]
            for name in NONE.union(*taken):
                given = (self._as_tables(arg) for other, arg in bound if other == name)
                tables |= NONE.union(*given) if name else _SURELY
            if "" in tables:
                return _SURELY
        return frozenset(tables)

    def _goes_beyond(self, call: Value) -> bool:
        """Whether a call may be of a method that a class inherits from one that cannot be read."""
        callee = call.callee
        if callee.op is not Op.ATTR or callee.data == "__init__" or callee.args[0].op is not Op.CALL:
            return False
        if called_name(callee.args[0].callee) != "super":
            return False
        bases = [(cls.module, base) for cls in self._module.classes.values() for base in cls.bases]
        found = (self._names.definition(module, base) for module, base in bases)
        return any(isinstance(one, External) and not one.name.startswith(("torch.", "builtins.")) for one in found)

    def _is_taken_inside(self, nested: Nested, facet: Facet) -> bool:
        """Whether a function inside of this one may look up what it is given."""
        if nested.flow is not None:
            return True
        events = self.flow.events[nested.first : nested.last]

        def is_taken(name: str) -> bool:
            def found(value: Value) -> Kinds | None:
                return None if self.carries(value, name, facet) else NONE

            return any(self.meets(event, facet, found) for event in events)

        return any(map(is_taken, nested.parameters))

    def _looks_up(self, value: Value) -> bool:
        """Whether an argument looks something up itself: `map(self.table, ids)`, `pick(self.tables[0], ids)`."""
        while value.op in (Op.INDEX, Op.ITEM, Op.UNPACK):
            value = value.args[0]
        if value.op is Op.CALL and called_name(value.callee) in _PAIRING:
            return any(map(self._looks_up, value.args[1:]))
        if value.op not in (Op.ATTR, Op.GLOBAL, Op.LAMBDA):
            return False
        return value.op is Op.LAMBDA or any(map(self._is_looking_up, self.objects(value)))

    def _is_looking_up(self, one: object) -> bool:
        if isinstance(one, Made):
            return self._derives_from_table(one.cls) or any(map(self._is_looking_up, self._called(one.cls)))
        if isinstance(one, Function):
            files = self._nearer(one.module)
            return any(self._summaries.takes(one, parameter.name, "ids", files) for parameter in one.parameters)
        return one is Table

    def asking(self, event: Event) -> Tables:
        """The tables that an event gives to a function that looks up there what it makes."""
        if event.kind is not EventKind.CALL or self.row(event.value) is not None:
            return NONE
        call, found = event.value, set[str]()
        tables = [(arg, given) for arg in call.args[1:] if arg.op in _PASSED_ON and (given := self._as_tables(arg))]
        for function in self.targets(call).functions if tables else ():
            files = self._nearer(function.module)
            asked = self._summaries.asks(function, files) if function.owner is None else NONE
            looked_up = [arg for name, arg in _bound(function, call) if name in asked] if asked else []
            found.update(name for arg, names in tables if arg in looked_up for name in names)
        return frozenset(found)

    def _is_layer(self, one: object) -> bool:
        return isinstance(one, Made) and (bool(self._called(one.cls)) or self._derives_from_table(one.cls))

    # -- what a run need not look at ---------------------------------------------------------------------------------

    def matters(self, event: Event, given: Kinds) -> bool:
        """Whether an event may look elements up, or pass them on, where parameters are of the kinds `given`."""
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
            is_read = target is not None and (target.op is not Op.ATTR or target.data in self._looked_up[1])
            return is_read and self._may_be_real(value, given)
        if kind is EventKind.CALL and called_name(value.callee) in _ADDERS:
            if self._draws or any(self._may_be_any(arg, given) for arg in value.args[1:]):
                return True
            return value.callee.op is Op.ATTR and id(value.callee.args[0]) in self._looked_up[0]
        if self._is_met(event, given) or self.asking(event):
            return True
        return kind is EventKind.CALL and (self._prepares(value) or self._runs_inner(value))

    def _runs_inner(self, call: Value) -> bool:
        """Whether a call is of a function inside of the function, which may look something up itself."""
        inner = call.callee.data
        if not isinstance(inner, Nested) or inner.flow is not None:
            return False
        return any(self._is_met(event, ALL_KINDS) for event in self.flow.events[inner.first : inner.last])

    def _is_met(self, event: Event, given: Kinds) -> bool:
        """Whether an event may look up elements of the body, or of what its parameters are given."""

        def elements(value: Value) -> Kinds:
            return self.elements(value) | (given & _ELEMENTS if self._carries_any(value, given, "ids") else NONE)

        def real(value: Value) -> Kinds:
            return _REAL if self._may_be_real(value, given) else NONE

        value = event.value
        if event.kind is EventKind.INDEX or event.kind is EventKind.CALL:
            kinds = NONE.union(*map(elements, value.args[1:]))
            is_unread = event.kind is EventKind.INDEX or self.row(value) is None
            if (is_unread and kinds & _INDEXING) or Below in given & kinds:
                return True
        return bool(
            self.meets(event, "ids", elements)
            or self.meets(event, "real", real)
            or self.meets(event, "padded", lambda value: elements(value) & _POSITIONS)
        )

    def may_look_up(self) -> bool:
        """Whether the function may look up what it makes, or is given."""
        return any(self._is_met(event, ALL_KINDS) for event in self.flow.events)

    def _carries_any(self, value: Value, given: Kinds, facet: Facet) -> bool:
        return bool(given) and self.carries(value, ANY, facet)

    def _may_be_any(self, value: Value, given: Kinds) -> bool:
        return bool(self.elements(value)) or self._carries_any(value, given & _ELEMENTS, "ids")

    def _may_be_real(self, value: Value, given: Kinds) -> bool:
        return bool(self.real(value)) or self._carries_any(value, given & _REAL, "real")

    def is_carried(self, choice: Value, given: Kinds) -> bool:
        """Whether a loop carries what may be elements that are looked up."""
        return self._may_be_any(choice, given) or (
            id(choice) in self._looked_up[0] and self._may_be_real(choice, given)
        )

    @cached_property
    def _looked_up(self) -> tuple[frozenset[int], frozenset[str]]:
        """What the look-ups of the body are made of: the values, by identity, and the names of attributes."""
        calls = [event.value for event in self.flow.of(EventKind.CALL) if self._may_take(event.value)]
        parts = list(walk_all(arg for call in calls for arg in call.args[1:]))
        return frozenset(map(id, parts)), frozenset(str(part.data) for part in parts if part.op is Op.ATTR)

    def _may_take(self, call: Value) -> bool:
        """Whether what is called may look up what it is given."""
        if self.row(call) is not None:
            return False
        targets = self.targets(call)
        return bool(targets.is_table or targets.given or targets.inner or targets.functions) or any(
            map(self._looks_up, call.args[1:])
        )

    @cached_property
    def _draws(self) -> bool:
        """Whether the body draws ids itself, perhaps from scores that are put together in a list."""
        return any(Ids in self.elements(event.value) for event in self.flow.of(EventKind.CALL))

    def _prepares(self, call: Value) -> bool:
        """Whether a call lets another method keep what the body draws from."""
        callee = call.callee
        if callee.op is not Op.ATTR or callee.args[0].op is not Op.PARAM:
            return False
        stored = self._record.stored_by(str(callee.data))
        if not stored or not (self._draws or not stored.isdisjoint(self._looked_up[1])):
            return False
        read = {v.data for v in walk_all(e.value for e in self.flow.events) if v.op is Op.ATTR} - set(
            _changed(self.flow)
        )
        self._record.wanted |= stored & read
        return not stored.isdisjoint(read)

    def tables_made(self) -> Iterator[Event]:
        """The calls of the body that make tables, or give some that other functions make."""
        for event in self.flow.of(EventKind.CALL):
            row = self.row(event.value)
            if "table" in row.facets if row is not None else self._is_table_made(event.value):
                yield event

    def _is_table_made(self, call: Value) -> bool:
        return any(map(self.is_table, self.objects(call)))

    def is_table(self, one: object) -> bool:
        """Whether an object is a table, or one of a class that derives from one."""
        return one is Table or (isinstance(one, Made) and self._derives_from_table(one.cls))

    def fillers_written(self) -> Iterator[Event]:
        """The calls of the body that may write a constant into elements."""
        for event in self.flow.of(EventKind.CALL):
            row = self.row(event.value)
            if row is not None and "fill" in row.facets and self._fills(row, event.value):
                yield event

    # -- constants -------------------------------------------------------------------------------------------------

    def _fills(self, row: operators.Operator, call: Value) -> bool:
        """Whether a call may write a constant into elements, which may be an id."""
        return any(map(_may_be_number, self._written(row, call)))

    def _sign_of(self, row: operators.Operator, call: Value) -> type:
        """What is known of the constants that a call writes."""
        return Below if any(_sign(value) is Below for value in self._written(row, call)) else Filler

    def _written(self, row: operators.Operator, call: Value) -> Iterator[Value]:
        if not row.facets.keys() & {"fill", "literal", "chooses"}:
            return
        if call.has_unpacking:
            yield from (part for arg in call.args[1:] for part in _parts(arg))
            return
        is_method = call.callee.op is Op.ATTR and not self._is_module(call.callee.args[0])
        if "literal" in row.facets and call.positional:
            yield from _parts(call.positional[0])
        argument = row.argument("fill")
        if argument is not None:
            written = call.argument(argument[0] - is_method, argument[1])
            if written is not None:
                yield written
        elif "chooses" in row.facets:
            yield from call.positional[1:]

    def _is_module(self, value: Value) -> bool:
        root = _root(value)
        return root.op is Op.GLOBAL and root.data in self._module.imports


@dataclass(frozen=True, slots=True)
class Targets:
    """What a call may run: functions, a table, what parameters of the caller are given, a function inside of it."""

    functions: tuple[Function, ...]
    is_table: bool
    given: frozenset[str]
    inner: Nested | None


_TABLE = frozenset((Table,))
#: What picks rows of whatever it indexes, as far as it is known.
_INDEXING = frozenset((Ids, Filler, Below))
_SURELY: Tables = frozenset(("",))
_POSITIONS, _REAL = frozenset((Positions,)), frozenset((Real,))
#: What may be a table or a function that is handed on.
_PASSED_ON = frozenset((Op.ATTR, Op.GLOBAL, Op.PARAM, Op.INDEX, Op.ITEM, Op.CALL, Op.CHOICE))


def _root(value: Value) -> Value:
    while value.op is Op.ATTR:
        value = value.args[0]
    return value


def _operands(call: Value) -> tuple[Value, ...]:
    """What a method is called on, or a function inside of another one gives, and the arguments of a call."""
    callee = call.callee
    if callee.op is Op.ATTR:
        return (callee.args[0], *call.args[1:])
    return call.args[1:] if callee.op is Op.GLOBAL else call.args


def _bound(function: Function, call: Value) -> Iterator[tuple[str, Value]]:
    """The arguments of a call, each with the parameters of a function that may get it."""
    names = function.argument_names
    keywords = [parameter.name for parameter in function.parameters]
    catching = [parameter.name for parameter in function.parameters if parameter.kind.startswith("var")]
    is_open = False
    for at, arg in enumerate(call.positional):
        is_open = is_open or arg.op is Op.STARRED
        for name in (*names, *catching) if is_open else names[at : at + 1] or catching:
            yield name, arg
    start = len(call.args) - len(call.data)
    for number, keyword in enumerate(call.data):
        for name in keywords if keyword is None else [keyword] if keyword in keywords else catching:
            yield name, call.args[start + number]


def _changed(flow: Flow) -> Iterator[object]:
    """The attributes whose elements a body changes in place."""
    for event in flow.events:
        if event.kind is EventKind.STORE and event.target is not None and event.target.op is Op.INDEX:
            yield event.target.args[0].data
        elif event.kind is EventKind.CALL and called_name(event.value.callee).endswith("_"):
            yield event.value.callee.args[0].data if event.value.callee.args else None


def _is_told_dimension(row: operators.Operator, call: Value) -> bool:
    """Whether what gives pairs is told a dimension, without which `max` gives one number."""
    return "extreme" not in row.facets or bool(call.keywords) or len(call.positional) > (call.callee.op is not Op.ATTR)


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
        if part.op in _HOLDING:
            pending.extend(arg for arg in part.args if id(arg) not in seen)
            seen.update(map(id, part.args))
        else:
            yield part


def _may_be_number(value: Value) -> bool:
    """Whether a value may be a whole number that is no row of every table: 0 always is one."""
    if value.op is Op.CONST:
        return type(value.data) is int and value.data != 0
    if value.op is Op.CALL:
        return called_name(value.callee) == "int" and any(map(_may_be_number, value.args[1:]))
    if value.op is Op.UNARY:
        return _may_be_number(value.args[0])
    if value.op is Op.ATTR:
        return _root(value).op is not Op.CALL
    return value.op in (Op.GLOBAL, Op.PARAM, Op.BIN, Op.CHOICE, Op.BOOL, Op.INDEX, Op.UNPACK, Op.ITEM)


def _sign(value: Value) -> type:
    """A constant that is a row, or may be a negative number."""
    return Filler if value.op is Op.CONST and (type(value.data) is not int or value.data >= -1) else Below


def _rank(row: operators.Operator) -> int:
    """How much a row may have to do with elements."""
    return 2 * ("drawn" in row.facets or "pair" in row.facets) + any(facet in row.facets for facet in _PASSING)
