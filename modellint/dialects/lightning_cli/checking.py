"""Compares the nodes of a configuration with the types that jsonargparse parses them as."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects.lightning_cli.classes import Callee, callee_of, named_callee, near_names, returned_type
from modellint.dialects.lightning_cli.faults import Fault, FaultKind
from modellint.dialects.lightning_cli.types import (
    ANYTHING,
    Anything,
    ClassItself,
    Either,
    Function,
    Mapped,
    Object,
    OneOf,
    Plain,
    Several,
    Type,
    object_type,
    options_of,
    told,
)
from modellint.dialects.lightning_cli.values import (
    NULLS,
    UnknownValueError,
    is_one_of,
    is_plain,
    may_nest,
    scalar_of,
)
from modellint.edits.similar import get_close_matches
from modellint.graph.immutable import dataclass, replace
from modellint.graph.recipe import CLASS_PATH, DICT_KWARGS, INIT_ARGS, MERGE, NO_TAG, NodeKind, TagKind
from modellint.graph.value import Op
from modellint.link.recipes.targets import TargetKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from modellint.dialects.lightning_cli.parameters import Field, Takes
    from modellint.graph.recipe import Entry, Node, Recipe
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.source import Place

#: The keys beside a class path. The last two are written by jsonargparse, and for editors.
_BESIDE = frozenset((CLASS_PATH, INIT_ARGS, DICT_KWARGS, "__path__", "$schema"))
#: The similarity from which on a key may be meant by another one.
_NEAR = 0.6


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments below a node that something else gives: links, the command line, other files.

    `names` are their keys from here on, with dots. Not `is_all`: more may be given, so none counts as missing.
    """

    names: frozenset[str] = frozenset()
    is_all: bool = True
    #: A command line shows all that is given, so a required argument that is None has been forgotten.
    is_shown: bool = False

    def below(self, key: str) -> Given:
        """What is given below a key."""
        start = f"{key}."
        names = frozenset(name[len(start) :] for name in self.names if name.startswith(start))
        return replace(self, names=names)

    def has(self, key: str) -> bool:
        """True if something gives a key, or something below it."""
        return any(name == key or name.startswith(f"{key}.") for name in self.names)


ALL_GIVEN = Given(is_all=False)


@dataclass(frozen=True, slots=True)
class Spot:
    """A node with its key, the keys that lead to it, and what is given below it besides."""

    node: Node
    key: Node | None
    path: str
    given: Given
    #: The class path of the object whose arguments these are.
    named: Node | None = None

    def child(self, entry: Entry, name: str) -> Spot:
        """The value of an entry of this mapping."""
        path = f"{self.path}.{name}" if self.path else name
        return Spot(entry.value, entry.key, path, self.given.below(name))


def entries_of(node: Node) -> dict[str, Entry]:
    """The entries of a mapping by key; of two with one key, jsonargparse takes the last one."""
    found = {str(name): entry for name, entry in node.items().items() if isinstance(name, str)}
    for entry in node.entries:
        if isinstance(entry.name, str) and not (entry.key.plain and entry.key.text == MERGE):
            found[entry.name] = entry
    return found


def _is_null(node: Node) -> bool:
    """True if a value is None, which jsonargparse takes for each argument that is not required."""
    return node.kind is NodeKind.SCALAR and node.tag is NO_TAG and node.plain and node.text in NULLS


def _is_placeholder(node: Node) -> bool:
    """True for `{NAME}`, which another program fills in before the file is used."""
    is_short = node.kind is NodeKind.MAPPING and node.flow and len(node.entries) == 1
    return is_short and node.entries[0].value.kind is NodeKind.SCALAR and not node.entries[0].value.text


class Checker:
    """The check of one file. Class paths are looked up from the files `near`."""

    def __init__(self, recipe: Recipe, near: Sequence[Path], project: Project, *, interpolates: bool = True) -> None:
        """`interpolates`: the program may resolve `${…}`, which jsonargparse does only if it is told to."""
        self._recipe = recipe
        self._near = tuple(near)
        self._project = project
        self._interpolates = interpolates
        #: The nodes with a class path that were compared with a type, by identity.
        self.seen: set[int] = set()

    def place(self, node: Node) -> Place:
        """The place of a node of the file."""
        return self._recipe.place(node.span)

    # -- values ------------------------------------------------------------------------------------------------

    def check(self, spot: Spot, kind: Type) -> list[Fault]:
        """The faults of a node as a value of a type; none if it may be one."""
        node = spot.node
        is_tagged = node.tag.kind not in (TagKind.NONE, TagKind.TARGET)
        if is_tagged or (node.tag.text and node.tag.kind is TagKind.NONE) or _is_placeholder(node):
            return []
        match kind:
            case Either():
                return self._union(spot, kind)
            case Plain(name):
                return self._plain(spot, kind, name)
            case OneOf(values):
                return self._one_of(spot, kind, values)
            case Several():
                return self._several(spot, kind)
            case Mapped():
                return self._mapped(spot, kind)
            case Object():
                return self._object(spot, kind)
            case ClassItself(base):
                return self._class_itself(spot, kind, base)
            case Function():
                return self._function(spot, kind)
            case Anything():
                return [replace(fault, is_kept=True) for fault in self.walk(spot)]
        return []

    def walk(self, spot: Spot) -> list[Fault]:
        """The faults of the nodes with class paths at a node and below it, of which no type is known."""
        node = spot.node
        spot = Spot(node, spot.key, spot.path, ALL_GIVEN)
        entries = entries_of(node) if node.kind is NodeKind.MAPPING else {}
        if CLASS_PATH in entries:
            if id(node) in self.seen:
                return []
            return self._specified(spot, None) if self._is_specification(entries) else []
        found: list[Fault] = []
        for name, entry in entries.items():
            found += self.walk(spot.child(entry, name))
        for number, element in enumerate(node.elements):
            found += self.walk(Spot(element, None, f"{spot.path}[{number}]", ALL_GIVEN))
        return found

    @staticmethod
    def _is_specification(entries: dict[str, Entry]) -> bool:
        """True if a mapping in a place of unknown type is meant for jsonargparse: it has no other keys."""
        return entries.keys() <= _BESIDE and entries[CLASS_PATH].value.kind is NodeKind.SCALAR

    def _union(self, spot: Spot, kind: Either) -> list[Fault]:
        options = list(options_of(kind))
        found: list[list[Fault]] = []
        before = set(self.seen)
        after = set(before)
        for option in options:
            self.seen = set(before)
            faults = self.check(spot, option)
            self.seen = after = after | self.seen
            if all(fault.is_kept for fault in faults):
                return faults
            found.append(faults)
        named = [faults for faults in found if not faults[0].is_short_name]
        if len(named) < len(found) and all(one[0].is_shallow and one[0].path == spot.path for one in named):
            return min((faults for faults in found if faults[0].is_short_name), key=lambda one: one[0].is_doubtful)
        found = named
        deep = [faults for faults in found if not all(fault.is_shallow and fault.path == spot.path for fault in faults)]
        if deep:
            return min(deep, key=len)
        foreign = [one for faults in found for one in faults if one.kind is FaultKind.FOREIGN_CLASS]
        if foreign:
            return [replace(foreign[0], wanted=tuple(dict.fromkeys(name for one in foreign for name in one.wanted)))]
        return [self._wrong(spot, kind)]

    def _plain(self, spot: Spot, kind: Type, name: str) -> list[Fault]:
        if spot.node.kind is not NodeKind.SCALAR:
            return [self._wrong(spot, kind)]
        try:
            value = scalar_of(spot.node, self._interpolates)
        except UnknownValueError:
            return []
        return [] if is_plain(value, name) else [self._wrong(spot, kind)]

    def _one_of(self, spot: Spot, kind: OneOf, values: tuple[str | int | float | bool | None, ...]) -> list[Fault]:
        if spot.node.kind is not NodeKind.SCALAR:
            return [self._wrong(spot, kind)]
        try:
            value = scalar_of(spot.node, self._interpolates)
        except UnknownValueError:
            return []
        if is_one_of(value, values, is_enum=kind.is_enum):
            return []
        texts = [str(one) for one in values if isinstance(one, str)]
        near = get_close_matches(str(value), texts, n=1, cutoff=_NEAR) if isinstance(value, str) else []
        return [replace(self._wrong(spot, kind), near=tuple(near))]

    def _several(self, spot: Spot, kind: Several) -> list[Fault]:
        node = spot.node
        if node.kind is not NodeKind.SEQUENCE:
            is_text = node.kind is NodeKind.SCALAR and may_nest(node)
            return [] if is_text else [self._wrong(spot, kind)]
        wanted = kind.elements
        if wanted is not None and len(wanted) != len(node.elements):
            return [self._wrong(spot, kind)]
        found: list[Fault] = []
        for number, element in enumerate(node.elements):
            inner = kind.element if wanted is None else wanted[number]
            found += self.check(
                Spot(element, None, f"{spot.path}[{number}]", replace(spot.given, names=frozenset())), inner
            )
        return found

    def _mapped(self, spot: Spot, kind: Mapped) -> list[Fault]:
        node = spot.node
        if node.kind is not NodeKind.MAPPING:
            is_text = node.kind is NodeKind.SCALAR and may_nest(node)
            return [] if is_text else [self._wrong(spot, kind)]
        if isinstance(kind.value, Anything):
            return [replace(fault, is_kept=True) for fault in self.walk(spot)]
        found: list[Fault] = []
        for name, entry in entries_of(node).items():
            found += self.check(spot.child(entry, name), kind.value)
        return found

    # -- objects -----------------------------------------------------------------------------------------------

    def _object(self, spot: Spot, kind: Object) -> list[Fault]:
        node = spot.node
        if node.kind is NodeKind.SEQUENCE:
            return [self._wrong(spot, kind)] if self._is_built(kind) else []
        if node.kind is NodeKind.SCALAR:
            return self._named_object(spot, kind)
        entries = entries_of(node)
        if CLASS_PATH in entries:
            return self._specified(spot, kind)
        callee = self._callee(kind.name) if kind.model is None else self._of_model(kind)
        if kind.is_closed:
            return self.arguments(spot, callee.takes, callee)
        if INIT_ARGS in entries or DICT_KWARGS in entries:  # the class itself, or one that another file names
            return self.walk(spot) if spot.given.has(CLASS_PATH) else self._beside(spot, entries, callee)
        if spot.given.has(CLASS_PATH):
            return self.walk(spot)
        given = replace(spot.given, names=spot.given.below(INIT_ARGS).names | spot.given.names)
        return self.arguments(replace(spot, given=given), callee.takes, callee)

    def _is_built(self, kind: Object) -> bool:
        """True if a type is a known class, whose objects only its arguments make."""
        return kind.model is not None or self._callee(kind.name).resolved.kind is TargetKind.CLASS

    def _named_object(self, spot: Spot, kind: Object) -> list[Fault]:
        """The faults of a scalar where an object is expected: a class path, or the name of a file."""
        try:
            value = scalar_of(spot.node, self._interpolates)
        except UnknownValueError:
            return []
        if not isinstance(value, str):
            return [self._wrong(spot, kind)] if self._is_built(kind) else []
        if may_nest(spot.node) or kind.model is None:
            return []
        return self._built(spot, kind, value, spot.node, None)

    def _specified(self, spot: Spot, kind: Object | None) -> list[Fault]:
        """The faults of a mapping with a class path, as an object of a class; None for one of any class."""
        entries = entries_of(spot.node)
        self.seen.add(id(spot.node))
        value = entries[CLASS_PATH].value
        try:
            path = scalar_of(value, self._interpolates) if value.kind is NodeKind.SCALAR else None
        except UnknownValueError:
            return []
        if not isinstance(path, str):
            return []
        return self._built(spot, kind, path, value, entries)

    def _built(
        self, spot: Spot, kind: Object | None, path: str, written: Node, entries: dict[str, Entry] | None
    ) -> list[Fault]:
        """The faults of an object of the class at a path, which a node has `written`."""
        callee = self._resolve(path, kind)
        if callee is None:
            return self._unresolved_name(spot, kind, path, written)
        if callee.is_missing:
            return [self._missing_class(spot, callee, written)]
        foreign = None if kind is None else self._foreign(spot, kind, callee, written)
        if foreign is not None:
            return [foreign]
        return self._beside(replace(spot, named=written), entries or {}, callee)

    def _resolve(self, path: str, kind: Object | None) -> Callee | None:
        """What a class path leads to; None for a name without dots that leads nowhere known."""
        if "." in path:
            return self._callee(path)
        return None if kind is None else named_callee(path, kind, self._near, self._project)

    def _unresolved_name(self, spot: Spot, kind: Object | None, path: str, written: Node) -> list[Fault]:
        if kind is None:
            return []
        near = near_names(path, kind, self._near, self._project)
        place = self._recipe.place(written.span)
        module = kind.model.cls.module if kind.model is not None and kind.model.cls is not None else None
        is_own = module is not None and not self._project.names.path.is_installed(module)
        is_doubtful = not near and not is_own
        return [Fault(FaultKind.UNRESOLVED, place, path, near=tuple(near), path=spot.path, is_doubtful=is_doubtful)]

    def _missing_class(self, spot: Spot, callee: Callee, written: Node) -> Fault:
        resolved = callee.resolved
        return Fault(
            FaultKind.UNRESOLVED,
            self._recipe.place(written.span),
            resolved.missing,
            resolved.owner,
            near=tuple(callee.near),
            path=spot.path,
            class_path=callee.name,
            releases=" and ".join((resolved.package, *resolved.releases)) if resolved.releases else "",
        )

    def _foreign(self, spot: Spot, kind: Object, callee: Callee, written: Node) -> Fault | None:
        """The fault of a class, or of a function that returns an object, of another type than is expected."""
        is_foreign = callee.derives_from(kind) is False
        if callee.function is not None and kind.model is not None:
            returns = returned_type(callee.function, self._project)
            is_plain = not callee.takes.is_open or not callee.function.signature.decorators
            if isinstance(returns, Object) and returns.model is not None:
                is_foreign = kind.name not in {one.name for one in returns.model.mro()} and returns.model.is_complete
            else:
                is_foreign = returns is None and is_plain and callee.function.owner is None
        if callee.resolved.kind is TargetKind.MODULE:
            is_foreign = True
        if kind.is_closed and callee.model is not None and callee.model is not kind.model:
            is_foreign = True
        if not is_foreign:
            return None
        place = self._recipe.place(written.span)
        name = told(kind)
        return Fault(
            FaultKind.FOREIGN_CLASS,
            place,
            callee.name,
            wanted=(name,),
            path=spot.path,
            class_path=callee.name,
            defined=callee.resolved.place,
        )

    def _beside(self, spot: Spot, entries: dict[str, Entry], callee: Callee, skipped: int = 0) -> list[Fault]:
        """The faults of the keys beside a class path, and of its arguments."""
        others = [entry for name, entry in entries.items() if name not in _BESIDE]
        found = []
        for entry in others:
            near = get_close_matches(entry.key.text, (INIT_ARGS, DICT_KWARGS), n=1, cutoff=0.7)
            own = [INIT_ARGS] if not near and entry.key.text in callee.takes.fields else near
            place = self._recipe.place(entry.key.span)
            found.append(
                Fault(FaultKind.BESIDE, place, entry.key.text, near=tuple(own), path=spot.path, class_path=callee.name)
            )
        if others:
            return found
        extra = entries.get(DICT_KWARGS)
        more = entries_of(extra.value) if extra is not None and extra.value.kind is NodeKind.MAPPING else {}
        takes = callee.takes.without((), skipped)
        given = spot.given.below(INIT_ARGS)
        is_all = given.is_all and callee.resolved.kind is TargetKind.CLASS
        given = replace(given, names=given.names | more.keys(), is_all=is_all)
        arguments = entries.get(INIT_ARGS)
        if arguments is None:
            return [*found, *self._missing(spot, takes, {}, given, callee), *self._loose(spot, more, takes, callee)]
        named = entries[CLASS_PATH].value if CLASS_PATH in entries else None
        inner = Spot(arguments.value, arguments.key, f"{spot.path}.{INIT_ARGS}", given, named)
        if arguments.value.kind is NodeKind.SCALAR:
            return [*found, *self._no_mapping(inner, callee)]
        return [*found, *self.arguments(inner, takes, callee), *self._loose(spot, more, takes, callee)]

    def _loose(self, spot: Spot, more: dict[str, Entry], takes: Takes, callee: Callee) -> Iterator[Fault]:
        """The keys of `dict_kwargs` that a constructor without `**kwargs` cannot take."""
        signature = callee.model.signature if callee.model is not None and callee.model.cls is not None else None
        if takes.is_open or signature is None or any(one.kind == "var-keyword" for one in signature):
            return
        for name, entry in more.items():
            if name not in takes.fields and name not in {one.name for one in signature}:
                yield self._unknown(replace(spot, path=f"{spot.path}.{DICT_KWARGS}"), name, entry, takes, callee)

    def _no_mapping(self, spot: Spot, callee: Callee) -> Iterator[Fault]:
        """The fault of `init_args` that are no mapping."""
        try:
            value = scalar_of(spot.node, self._interpolates)
        except UnknownValueError:
            return
        if value is None or not may_nest(spot.node):
            key = spot.key or spot.node
            place = self._recipe.place(key.span)
            yield Fault(FaultKind.EMPTY, place, INIT_ARGS, callee.name, path=spot.path, class_path=callee.name)

    # -- arguments ---------------------------------------------------------------------------------------------

    def arguments(self, spot: Spot, takes: Takes, callee: Callee | None, owner: str = "") -> list[Fault]:
        """The faults of a mapping of arguments."""
        if spot.node.kind is not NodeKind.MAPPING:
            return []
        entries = entries_of(spot.node)
        found: list[Fault] = []
        given = set(spot.given.names)
        for written, entry in entries.items():
            name = written.removesuffix("+")
            first, _, rest = name.partition(".")
            field = takes.fields.get(first)
            given.add(name)
            if field is None:
                if not takes.is_open:
                    found.append(self._unknown(spot, first, entry, takes, callee, owner))
                else:
                    found += self.walk(spot.child(entry, name))
            elif _is_null(entry.value):  # as if it were not there
                given -= {name} if field.is_required and spot.given.is_shown else set()
            elif not rest:
                found += self._argument(spot.child(entry, name), field, is_appended=written != name)
        return [
            *found,
            *self._missing(spot, takes, entries, replace(spot.given, names=frozenset(given)), callee, owner),
        ]

    def _argument(self, spot: Spot, field: Field, *, is_appended: bool) -> list[Fault]:
        """The faults of the value of one argument."""
        node, default = spot.node, field.default
        if (is_appended and node.kind is not NodeKind.SEQUENCE) or self._is_default(node, default):
            return []
        is_mapping = node.kind is NodeKind.MAPPING and CLASS_PATH not in entries_of(node)
        if is_mapping and default is not None and default.op is Op.CALL:  # changes the object by default
            spot = replace(spot, given=ALL_GIVEN)
            if any(isinstance(option, Object) and not option.is_closed for option in options_of(field.type)):
                return self.walk(spot)
        return self.check(spot, field.type)

    def _is_default(self, node: Node, default: Value | None) -> bool:
        """True if a value is, or may be, the default of its parameter, which any type takes."""
        if default is None or node.kind is not NodeKind.SCALAR:
            return False
        if default.op is not Op.CONST:
            return default.op in (Op.BIN, Op.UNARY, Op.UNKNOWN, Op.CHOICE)
        try:
            value = scalar_of(node, self._interpolates)
        except UnknownValueError:
            return True
        return value is not None and value == default.data

    def _missing(
        self,
        spot: Spot,
        takes: Takes,
        entries: dict[str, Entry],
        given: Given,
        callee: Callee | None,
        owner: str = "",
    ) -> Iterator[Fault]:
        """The fault of required arguments that nothing gives; None counts as nothing."""
        if not given.is_all:
            return
        names = tuple(name for name, one in takes.fields.items() if one.is_required and not given.has(name))
        if names:
            class_path = callee.name if callee is not None else ""
            written = [key for key in entries if key.partition(".")[0] not in takes.fields]
            near = {name: get_close_matches(name, written, n=1, cutoff=0.8) for name in names}
            names = tuple(name for name in names if not near[name])
            is_object = spot.node.tag.kind is TagKind.TARGET
            span = spot.node.tag.span if is_object else (spot.named or spot.key or spot.node).span
            place = self._recipe.place(span)
            defined = callee.resolved.place if callee is not None else None
            if names:
                owner = owner or class_path
                yield Fault(FaultKind.MISSING, place, names[0], owner, names, (), spot.path, class_path, defined)

    def _unknown(
        self, spot: Spot, name: str, entry: Entry, takes: Takes, callee: Callee | None, owner: str = ""
    ) -> Fault:
        """The fault of a key that a class or group does not take."""
        given = {written.partition(".")[0].removesuffix("+") for written in entries_of(spot.node)}
        free = [one for one in takes.fields if one not in given]
        near = get_close_matches(name, free, n=1, cutoff=_NEAR)
        kind = FaultKind.DICT_KWARGS if spot.path.endswith(DICT_KWARGS) else FaultKind.UNKNOWN_KEY
        return Fault(
            kind,
            self._recipe.place(entry.key.span),
            name,
            owner or (callee.name if callee is not None else ""),
            tuple(takes.fields),
            tuple(near),
            spot.path,
            callee.name if callee is not None else "",
            callee.resolved.place if callee is not None else None,
        )

    # -- classes and functions as values -----------------------------------------------------------------------

    def _class_itself(self, spot: Spot, kind: Type, base: Type | None) -> list[Fault]:
        if spot.node.kind is not NodeKind.SCALAR:
            return [self._wrong(spot, kind)]
        try:
            value = scalar_of(spot.node, self._interpolates)
        except UnknownValueError:
            return []
        if not isinstance(value, str):
            return [self._wrong(spot, kind)]
        if "." not in value:
            return []
        callee = self._callee(value)
        if callee.is_missing:
            return [self._missing_class(spot, callee, spot.node)]
        is_foreign = isinstance(base, Object) and callee.derives_from(base) is False
        return [self._wrong(spot, kind)] if is_foreign or callee.function is not None else []

    def _function(self, spot: Spot, kind: Function) -> list[Fault]:
        node = spot.node
        if node.kind is NodeKind.SEQUENCE:
            return [self._wrong(spot, kind)]
        entries = entries_of(node) if node.kind is NodeKind.MAPPING else {}
        if node.kind is NodeKind.MAPPING and CLASS_PATH not in entries:
            if spot.given.has(CLASS_PATH):
                return self.walk(spot)
            return self._made_by_default(spot, kind.returns) if kind.returns is not None else [self._wrong(spot, kind)]
        written = entries[CLASS_PATH].value if entries else node
        try:
            value = scalar_of(written, self._interpolates) if written.kind is NodeKind.SCALAR else None
        except UnknownValueError:
            return []
        if not isinstance(value, str):
            return [] if entries else [self._wrong(spot, kind)]
        self.seen.add(id(node))
        returns = kind.returns if isinstance(kind.returns, Object) else None
        callee = self._resolve(value, returns)
        if callee is None:
            return self._unresolved_name(spot, returns, value, written)
        if callee.is_missing:
            return [self._missing_class(spot, callee, written)]
        if not entries:
            return []
        is_made = None if returns is None else callee.derives_from(returns)
        if is_made is None or kind.given is None:
            spot = replace(spot, given=ALL_GIVEN)
        return self._beside(spot, entries, callee, kind.given or 0 if is_made else 0)

    def _made_by_default(self, spot: Spot, returns: Type) -> list[Fault]:
        """The faults of arguments without a class path, for a function that returns objects of a class."""
        entries = entries_of(spot.node)
        if not isinstance(returns, Object):
            return []
        callee, open_spot = self._callee(returns.name), replace(spot, given=ALL_GIVEN)
        if INIT_ARGS in entries or DICT_KWARGS in entries:
            return self._beside(open_spot, entries, callee)
        return self.arguments(open_spot, callee.takes, callee)

    # -- small helpers -----------------------------------------------------------------------------------------

    def _callee(self, name: str) -> Callee:
        return callee_of(name, self._near, self._project)

    def _of_model(self, kind: Object) -> Callee:
        """The class of a type."""
        from modellint.dialects.lightning_cli.parameters import constructor_fields
        from modellint.link.recipes.targets import ResolvedName

        assert kind.model is not None
        if kind.model.cls is None:
            return self._callee(kind.name)
        resolved = ResolvedName(TargetKind.CLASS, place=kind.model.cls.place)
        return Callee(kind.name, resolved, kind.model, None, constructor_fields(kind.model, self._project))

    def _wrong(self, spot: Spot, kind: Type) -> Fault:
        """The fault of a value of a wrong type."""
        node = spot.node
        words = {NodeKind.MAPPING: "a mapping", NodeKind.SEQUENCE: "a list"}
        name = words.get(node.kind, node.text if node.plain else repr(node.text))
        if node.kind is NodeKind.SCALAR and node.plain and name in ("", "~"):
            name = "null"
        is_empty = not node.text and node.kind is NodeKind.SCALAR
        shown = spot.key if is_empty and spot.key is not None else node
        place = self._recipe.place(shown.span)
        return Fault(FaultKind.WRONG_TYPE, place, name, wanted=(told(kind),), path=spot.path)


__all__ = ["ALL_GIVEN", "ANYTHING", "Checker", "Given", "Spot", "entries_of", "object_type"]
