"""A program under its configuration: the keys that it reads, and the nodes that it instantiates.

The function that `hydra.main` decorates is run with the configuration as it is composed by default. The configuration's
values decide conditions, as they do when nobody gives arguments on the command line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.dialects.apps import apps_in
from modellint.dialects.placing import Composed, composed_with, composition, is_added, is_option
from modellint.flow.domain import NONE, UNKNOWN, Arguments, Constant, FunctionRef, constant, join, text
from modellint.flow.frame import class_frame
from modellint.flow.runs import started
from modellint.flow.theory import Deleted, Foreign, Mode, Stored, Theory
from modellint.graph.immutable import dataclass, replace
from modellint.graph.recipe import ARGUMENTS, PARTIAL, TARGET, Dialect, NodeKind
from modellint.graph.value import Op
from modellint.link.classes.definitions import SourceMethod
from modellint.link.recipes.items import ItemKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.dialects.apps import App
    from modellint.dialects.hydra import Composition
    from modellint.dialects.omegaconf import Spot
    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.flow.theory import Occurrence
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.recipe import Recipe, Scalar
    from modellint.graph.value import Event, Flow, Value
    from modellint.link.project import Project
    from modellint.link.recipes.items import Item
    from modellint.source import Place

_BUILDERS = frozenset(("hydra.utils.instantiate", "hydra.utils.call"))
#: Errors by which a missing key shows; a handler of one expects it.
_CAUGHT = frozenset(
    (
        *("AttributeError", "KeyError", "LookupError", "Exception", "BaseException"),
        *("ConfigAttributeError", "ConfigKeyError", "OmegaConfBaseException"),
    )
)
#: The directive that keeps objects within an object as they are, and those that make another object of one.
_RESERVED = Dialect.OMEGACONF.writing.reserved
_RECURSIVE, _CHANGES = "_recursive_", frozenset((TARGET, PARTIAL, ARGUMENTS))
#: Functions that return the configuration that they are given.
_SAME = frozenset(("copy.copy", "copy.deepcopy", "omegaconf.OmegaConf.masked_copy"))
_SELECT = frozenset(("omegaconf.OmegaConf.select",))
#: Functions that put keys into a configuration.
_CHANGING = frozenset(("omegaconf.OmegaConf.update", "builtins.setattr"))
#: Methods of a configuration that put keys into it, or take them out.
_MUTATING = frozenset(("update", "setdefault", "merge_with", "pop", "clear"))
#: Methods and attributes of any configuration.
_OF_ALL = frozenset(
    (
        *("keys", "values", "items", "items_ex", "get", "copy", "pop", "update", "setdefault", "clear", "merge_with"),
        *("popitem", "pretty", "select", "append", "extend", "insert", "index", "count", "sort", "remove"),
    )
)


@dataclass(frozen=True, slots=True)
class ConfigNode(Foreign):
    """A mapping or sequence of the configuration."""

    spot: Spot

    def truth(self) -> bool | None:
        return bool(self.spot.children) or (None if self.spot.is_open else False)

    def has(self, key: object) -> bool | None:
        if key in self.spot.children:
            return True
        return None if self.spot.is_open else False


@dataclass(frozen=True, slots=True)
class _Entries(Foreign):
    """The result of `items()` or, without keys, of `values()` of a mapping; as a `pair`, one entry of it."""

    spot: Spot
    has_keys: bool
    is_pair: bool = False


@dataclass(frozen=True, eq=False)
class MissingKey:
    """A key that a program reads and its configuration lacks.

    `where` is the key of the mapping that lacks it, empty for the top; `function` the name of the reading function.
    """

    place: Place
    text: str
    name: str
    where: str
    available: tuple[str, ...]
    function: str
    composition: Composition
    app: App


@dataclass(frozen=True, eq=False)
class Instantiation:
    """A call of `hydra.utils.instantiate` with a node, by its keys, and the arguments besides.

    Not `is_final`: more arguments may be passed, or the object is only prepared (`_partial_`). `changed` are keys that
    the program puts into some node before, or takes out.
    """

    keys: tuple[Scalar, ...]
    positional: int = 0
    keywords: frozenset[str] = frozenset()
    is_final: bool = True
    changed: frozenset[str] = frozenset()


class Reading(Theory):
    """The theory of a run of a program with its configuration."""

    mode = Mode(asks="configurations", assumes=True, outlives_run=True, keeps=(ConfigNode,))
    observes = (Stored, Deleted)

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self._project = run.project
        #: The keys that are read and missing, by place, with the mapping that lacks each.
        self.missing: dict[tuple[Value, str], tuple[Spot, Frame]] = {}
        self.built: dict[tuple[Value, tuple[Scalar, ...]], Instantiation] = {}
        #: The keys that the program puts into some configuration; None among them for any.
        self.stored: set[str | None] = set()

    def start(self, function: Function, root: Spot) -> None:
        """Run a function with the whole configuration as its argument."""
        method = SourceMethod(function, self._project.names)
        given = Arguments(((ConfigNode(root),),))
        self._run.start(FunctionRef(method, None, None), class_frame(method.scope, id(function)), given)

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        if not isinstance(atom, ConfigNode):
            return None
        return self._child(atom.spot, name, frame, value)

    def element(self, atom: Atom, index: Atoms | None, frame: Frame | None, value: Value | None) -> Atoms | None:
        if isinstance(atom, _Entries):
            return self._entry(atom, index)
        if not isinstance(atom, ConfigNode):
            return None
        if index is None:
            is_list = atom.spot.node.kind is NodeKind.SEQUENCE
            return join(map(self._atoms, atom.spot.children.values())) if is_list else UNKNOWN
        if len(index) == 1 and isinstance(index[0], Constant) and isinstance(index[0].value, str):
            return self._child(atom.spot, index[0].value, frame, value)
        return UNKNOWN

    def _entry(self, entries: _Entries, index: Atoms | None) -> Atoms:
        """An entry of a mapping, or the value in it."""
        if index is None and entries.has_keys:
            return (replace(entries, is_pair=True),)
        at = constant(index) if index else None
        if index is not None and (not entries.is_pair or at is None or at.value != 1):
            return UNKNOWN
        return join(map(self._atoms, entries.spot.children.values()))

    def _child(self, spot: Spot, name: str, frame: Frame | None, value: Value | None) -> Atoms:
        found = spot.children.get(name)
        if found is not None:
            return self._atoms(found)
        may_be_key = name not in _OF_ALL and not name.startswith("_") and spot.node.kind is NodeKind.MAPPING
        if may_be_key and frame is not None and value is not None:
            self._miss(spot, name, frame, value)
        return UNKNOWN

    def _miss(self, spot: Spot, name: str, frame: Frame, value: Value) -> None:
        """Note a key that a mapping lacks, if the program certainly reads it."""
        if not spot.is_open and not self._run.path and self._is_reached(value, frame):
            self.missing.setdefault((value, name), (spot, frame))

    def _is_reached(self, value: Value, frame: Frame) -> bool:
        """True if a value is certainly evaluated, and no handler expects the error of a missing key."""
        event = frame.flow.once(_events_by_part).get(id(value))
        if event is None:
            return True
        return _CAUGHT.isdisjoint(event.handled) and not self._run.conditions(event.guard, frame)

    def _atoms(self, spot: Spot) -> Atoms:
        """The atoms of a place: a node, or the value that it has by default."""
        if spot.node.kind is not NodeKind.SCALAR:
            return (ConfigNode(spot),)
        item = spot.item
        if item is None or item.kind is not ItemKind.CONSTANT:
            return UNKNOWN
        return NONE if item.value is None else (Constant(item.value),)

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if not isinstance(atom, ConfigNode):
            return None
        key = text(arguments.positional[0]) if arguments.positional else None
        if name in _MUTATING:
            self.stored.update((key,) if name in ("pop", "setdefault") else (None,))
        if name in ("get", "pop", "setdefault") and key is not None:
            found = atom.spot.children.get(key)
            if found is not None:
                return self._atoms(found)
            default = arguments.argument(1, "default_value")
            return UNKNOWN if atom.spot.is_open else NONE if default is None else default
        if name in ("items", "values"):
            return (_Entries(atom.spot, name == "items"),)
        return (atom,) if name == "copy" else UNKNOWN

    def apply(self, function: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        return UNKNOWN if isinstance(function, ConfigNode) else None

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        given = arguments.positional
        if name in _BUILDERS:
            self._build(arguments, frame, value)
            return UNKNOWN
        nodes = [atom for atom in (given[0] if given else ()) if isinstance(atom, ConfigNode)]
        if not nodes:
            return None
        key = text(given[1]) if len(given) > 1 else None
        if name in ("builtins.hasattr", "builtins.getattr") and len(given) > 1:
            found = [None if key is None else node.has(key) for node in nodes]
            if name == "builtins.hasattr":
                return join((Constant(one),) if one is not None else UNKNOWN for one in found)
            if key is not None and all(found):
                return join(self._atoms(node.spot.children[key]) for node in nodes)
            return given[2] if len(given) > 2 and not any(found) else UNKNOWN
        if name in _CHANGING:
            self.stored.add(None if key is None else key.rpartition(".")[2])
        return given[0] if name in _SAME else UNKNOWN

    def _build(self, arguments: Arguments, frame: Frame, value: Value) -> None:
        config = arguments.argument(0, "config")
        names = frozenset(arguments.keywords) - {"config"}
        positional = max(len(arguments.positional) - 1, 0)
        for atom in config or ():
            if isinstance(atom, ConfigNode):
                keys = tuple(atom.spot.keys)
                is_mapping = atom.spot.node.kind is NodeKind.MAPPING
                if (names - _RESERVED or positional) and is_mapping and TARGET not in atom.spot.children:
                    self._miss(atom.spot, TARGET, frame, value)
                self.built[value, keys] = Instantiation(keys, positional, names, arguments.is_complete)

    def follows(self, function: FunctionRef, arguments: Arguments, relation: str) -> bool:
        return True

    def observe(self, event: Occurrence) -> None:
        if isinstance(event, Stored) and isinstance(event.owner, ConfigNode):
            self.stored.add(text(event.key))
        elif isinstance(event, Deleted):
            target = event.target
            key = target.args[1].data if target.op is Op.INDEX else target.data
            self.stored.update((key,) if isinstance(key, str) else ())


def _events_by_part(flow: Flow) -> dict[int, Event]:
    """The first event that evaluates a value, by the `id` of the value."""
    found: dict[int, Event] = {}
    for event in flow.events:
        for value in (event.value, event.target):
            for part in value.walk() if value is not None else ():
                found.setdefault(id(part), event)
    return found


def readings(module: ModuleFacts, project: Project) -> Iterator[tuple[App, Composition, Reading]]:
    """The runs of the programs in a file, each with its configuration; none for one that only a run knows."""
    for app in apps_in(module, project):
        composed = composition(app, project) if app.main else None
        function = module.functions.get(app.main)
        if composed is None or function is None or not function.parameters or composed.root.is_open:
            continue
        _ = composed.configuration  # which evaluates the values
        reading = started(project, Reading).of(Reading)
        reading.start(function, composed.root)
        yield app, composed, reading


def missing_keys(module: ModuleFacts, project: Project) -> Iterator[MissingKey]:
    """The keys that the programs in a file read for certain, and that their configurations lack."""
    for app, composed, reading in readings(module, project):
        for (value, name), (spot, frame) in reading.missing.items():
            function = frame.function
            is_stored = name in reading.stored or None in reading.stored
            path = (*spot.keys, name)
            if function is None or is_stored or is_option(path, Composed(app, composed), project):
                continue
            if is_added(path, project):
                continue
            home = function.module
            place = home.place(value)
            keys = ".".join(map(str, spot.keys))
            available = tuple(map(str, spot.children))
            yield MissingKey(place, home.text_of(value), name, keys, available, function.qualname, composed, app)


def instantiation_of(item: Item, recipe: Recipe, project: Project) -> Instantiation | None:
    """How a program instantiates an object of a configuration; None if it is not known to.

    An object in one that is instantiated gets no more arguments than it has.
    """
    composed = composed_with(recipe.file, project)
    keys = None if composed is None else composed.composition.keys_of(item)
    if composed is None or keys is None:
        return None
    app = composed.app
    built = project.once(("instantiated", app.script, app.main), lambda: _instantiations(app, project))
    found = [one for one in built or () if one.keys == keys[: len(one.keys)]]
    exact = [one for one in found if one.keys == keys]
    if not found or built is None:
        return None
    is_made = item.kind is ItemKind.NEW
    if not exact:
        around = (composed.composition.root.at(keys[:end]) for one in found for end in range(len(one.keys), len(keys)))
        is_left = any(_RECURSIVE in one.keywords for one in found) or any(
            _RECURSIVE in spot.children for spot in around
        )
        return None if is_left else Instantiation(keys, is_final=is_made)
    if any(not _CHANGES.isdisjoint(one.keywords) for one in exact):
        return None
    names = frozenset(name for one in exact for name in one.keywords if name not in _RESERVED)
    is_final = is_made and all(one.is_final for one in exact)
    return Instantiation(keys, max(one.positional for one in exact), names, is_final, found[0].changed)


def _instantiations(app: App, project: Project) -> tuple[Instantiation, ...] | None:
    """The calls of `instantiate` in a program; None if it changes its configuration before in ways that are unknown."""
    module = project.python(app.script)
    found: list[Instantiation] = []
    for one, _, reading in readings(module, project) if module is not None else ():
        if one == app:
            if None in reading.stored:
                return None
            changed = frozenset(filter(None, reading.stored))
            found += (replace(each, changed=changed) for each in reading.built.values())
    return tuple(found)
