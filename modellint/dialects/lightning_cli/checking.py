"""Compares the nodes of a configuration with the types that jsonargparse parses them as."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects.lightning_cli.arguments import ALL_GIVEN, BESIDE, NEAR, ArgumentChecker, Spot, entries_of
from modellint.dialects.lightning_cli.classes import (
    Callee,
    callee_of,
    named_callee,
    near_names,
    part_callee,
    returned_type,
)
from modellint.dialects.lightning_cli.faults import Fault, FaultKind
from modellint.dialects.lightning_cli.parameters import constructor_fields
from modellint.dialects.lightning_cli.types import (
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
    options_of,
    told_type,
)
from modellint.dialects.lightning_cli.values import (
    UnknownValueError,
    is_one_of,
    is_plain,
    may_nest,
    scalar_of,
)
from modellint.edits.similar import get_close_matches
from modellint.graph.immutable import replace
from modellint.graph.recipe import CLASS_PATH, DICT_KWARGS, INIT_ARGS, NodeKind, TagKind
from modellint.link.recipes.targets import ResolvedName, TargetKind

if TYPE_CHECKING:
    from modellint.graph.recipe import Entry, Node


#: The similarity from which on a key is a misspelt one for certain.
_ALMOST = 0.8


def _is_placeholder(node: Node) -> bool:
    """True for `{NAME}`, which another program fills in before the file is used."""
    is_short = node.kind is NodeKind.MAPPING and node.flow and len(node.entries) == 1
    return is_short and node.entries[0].value.kind is NodeKind.SCALAR and not node.entries[0].value.text


class Checker(ArgumentChecker):
    """The check of one file. Class paths are looked up from the files `near`."""

    # -- values ------------------------------------------------------------------------------------------------

    def check(self, spot: Spot, kind: Type) -> list[Fault]:
        """The faults of a node as a value of a type; none if it may be one."""
        node = spot.node
        if self.is_tired():
            return []
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
                return self._mapping(spot, kind)
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
        if self.is_tired():
            return []
        spot = Spot(node, spot.key, spot.path, ALL_GIVEN)
        entries = entries_of(node) if node.kind is NodeKind.MAPPING else {}
        if CLASS_PATH in entries:
            if id(node) in self.seen:
                return []
            return self._class_and_arguments(spot, None) if self._is_specification(entries) else []
        found: list[Fault] = []
        for name, entry in entries.items():
            found += self.walk(spot.child(entry, name))
        for number, element in enumerate(node.elements):
            found += self.walk(Spot(element, None, f"{spot.path}[{number}]", ALL_GIVEN))
        return found

    @staticmethod
    def _is_specification(entries: dict[str, Entry]) -> bool:
        """True if a mapping in a place of unknown type is meant for jsonargparse: other keys are misspelt ones."""
        others = entries.keys() - BESIDE
        is_near = all(get_close_matches(name, (INIT_ARGS, DICT_KWARGS), n=1, cutoff=_ALMOST) for name in others)
        return is_near and entries[CLASS_PATH].value.kind is NodeKind.SCALAR

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
        near = get_close_matches(str(value), texts, n=1, cutoff=NEAR) if isinstance(value, str) else []
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

    def _mapping(self, spot: Spot, kind: Mapped) -> list[Fault]:
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
        if not self._is_built(kind):  # another name of some type
            return self.walk(spot)
        entries = entries_of(node)
        if CLASS_PATH in entries:
            return self._class_and_arguments(spot, kind)
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
        return kind.model is not None or kind.is_class or self._callee(kind.name).resolved.kind is TargetKind.CLASS

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
        return self._object_at(spot, kind, value, spot.node, None)

    def _class_and_arguments(self, spot: Spot, kind: Object | None) -> list[Fault]:
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
        return self._object_at(spot, kind, path, value, entries)

    def _object_at(
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
        """The class or function that a class path leads to; None for a name without dots that leads nowhere known."""
        if "." in path:
            return self._callee(path)
        if kind is not None:
            return named_callee(path, kind, self._near, self._project)
        return part_callee(path, self._home, self._near, self._project) if self._home else None

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
        name = told_type(kind)
        return Fault(
            FaultKind.FOREIGN_CLASS,
            place,
            callee.name,
            wanted=(name,),
            path=spot.path,
            class_path=callee.name,
            defined=callee.resolved.place,
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
        place = self._recipe.place(spot.alias or shown.span)
        return Fault(FaultKind.WRONG_TYPE, place, name, wanted=(told_type(kind),), path=spot.path)
