"""The arguments of classes and groups, compared with the fields that these take."""

from __future__ import annotations

import json
from abc import abstractmethod
from typing import TYPE_CHECKING

from modellint.dialects.lightning_cli.faults import Fault, FaultKind
from modellint.dialects.lightning_cli.types import Object, Type, options_of
from modellint.dialects.lightning_cli.values import NULLS, UnknownValueError, may_nest, plain_data, scalar_of
from modellint.edits.similar import get_close_matches
from modellint.graph.immutable import dataclass, replace
from modellint.graph.recipe import CLASS_PATH, DICT_KWARGS, INIT_ARGS, MERGE, NO_TAG, NodeKind, TagKind
from modellint.graph.value import Op
from modellint.link.recipes.targets import TargetKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from modellint.dialects.lightning_cli.classes import Callee
    from modellint.dialects.lightning_cli.parameters import Field, Takes
    from modellint.graph.recipe import Entry, Node, Recipe
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.source import Place, Span

#: The keys beside a class path. The last two are written by jsonargparse, and for editors.
BESIDE = frozenset((CLASS_PATH, INIT_ARGS, DICT_KWARGS, "__path__", "$schema"))
#: Aliases can multiply a few lines to any number of nodes.
_MOST = 100_000
#: A run gets no more text than this.
_LONGEST = 4_000
#: The similarity from which on a key may be meant by another one.
NEAR = 0.6


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
        """The part that is given below a key."""
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
    #: Where the value stands if it is an alias of the node.
    alias: Span | None = None

    def child(self, entry: Entry, name: str) -> Spot:
        """The value of an entry of this mapping."""
        path = f"{self.path}.{name}" if self.path else name
        return Spot(entry.value, entry.key, path, self.given.below(name), alias=entry.alias)


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


def _with_holder(faults: list[Fault], callee: Callee | None, name: str, value: Node) -> list[Fault]:
    """The faults of the value of an argument, with the class that it is an argument of."""
    if callee is None:
        return faults
    given = _as_json({name: value}) if faults else ""
    return [fault if fault.holder else replace(fault, holder=callee.name, given=given) for fault in faults]


def _as_json(given: Mapping[str, Node]) -> str:
    """Arguments as JSON; the empty text if they are not known, or too many."""
    try:
        text = json.dumps({name: plain_data(node, _LONGEST) for name, node in given.items()})
    except (UnknownValueError, RecursionError, ValueError):
        return ""
    return text if len(text) <= _LONGEST else ""


class ArgumentChecker:
    """The check of the arguments in one file. Class paths are looked up from the files `near`."""

    def __init__(
        self, recipe: Recipe, near: Sequence[Path], project: Project, *, home: str = "", interpolates: bool = True
    ) -> None:
        """`interpolates`: the program may resolve `${…}`, which jsonargparse does only if it is told to.

        `home` is the package of LightningCLI, whose parts are known by their names alone.
        """
        self._recipe = recipe
        self._near = tuple(near)
        self._project = project
        self._home = home
        self._interpolates = interpolates
        self._steps = 0
        #: The nodes with a class path that were compared with a type, by identity.
        self.seen: set[int] = set()

    def place(self, node: Node) -> Place:
        """The place of a node of the file."""
        return self._recipe.place(node.span)

    def is_tired(self) -> bool:
        """True if so many nodes were compared that aliases must have multiplied them."""
        self._steps += 1
        return self._steps > _MOST

    @abstractmethod
    def check(self, spot: Spot, kind: Type) -> list[Fault]:
        """The faults of a node as a value of a type; none if it may be one."""

    @abstractmethod
    def walk(self, spot: Spot) -> list[Fault]:
        """The faults of the nodes with class paths at a node and below it, of which no type is known."""

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
                faults = self._argument(spot.child(entry, name), field, is_appended=written != name)
                found += _with_holder(faults, callee, first, entry.value)
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
                given_here = {key: entry.value for key, entry in entries.items()}
                fault = Fault(FaultKind.MISSING, place, names[0], owner, names, (), spot.path, class_path, defined)
                yield replace(fault, holder=class_path, given=_as_json(given_here))

    def _unknown(
        self, spot: Spot, name: str, entry: Entry, takes: Takes, callee: Callee | None, owner: str = ""
    ) -> Fault:
        """The fault of a key that a class or group does not take."""
        given = {written.partition(".")[0].removesuffix("+") for written in entries_of(spot.node)}
        free = [one for one in takes.fields if one not in given]
        near = get_close_matches(name, free, n=1, cutoff=NEAR)
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
            holder=callee.name if callee is not None else "",
            given=_as_json({name: entry.value}),
        )

    def _beside(self, spot: Spot, entries: dict[str, Entry], callee: Callee, skipped: int = 0) -> list[Fault]:
        """The faults of the keys beside a class path, and of its arguments."""
        others = [entry for name, entry in entries.items() if name not in BESIDE]
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
        takes = callee.takes.without((), range(skipped))
        given = spot.given.below(INIT_ARGS)
        is_all = given.is_all and callee.resolved.kind is TargetKind.CLASS
        given = replace(given, names=given.names | more.keys(), is_all=is_all)
        arguments = entries.get(INIT_ARGS)
        is_dataclass = callee.model is not None and callee.model.facts.fields is not None
        if is_dataclass and not more and (arguments is None or _is_null(arguments.value)):
            return found  # a default may have the fields
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
