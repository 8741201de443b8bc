"""A program under its configuration: the keys that it reads, and the nodes that it instantiates.

The function that gets the configuration is run with it, as it is without arguments on the command line: its values
decide conditions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import (
    ANY_ARGUMENTS,
    NONE,
    UNKNOWN,
    Arguments,
    ClassRef,
    Constant,
    FunctionRef,
    constant,
    join,
    text,
)
from modellint.flow.frame import class_frame
from modellint.flow.heap import Shell
from modellint.flow.theory import Deleted, Foreign, Made, Mode, Stored, Theory
from modellint.graph.immutable import dataclass, replace
from modellint.graph.recipe import Dialect, NodeKind
from modellint.graph.value import NOWHERE, Op
from modellint.link.classes.definitions import SourceMethod
from modellint.link.recipes.items import ItemKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from modellint.dialects.omegaconf import Configuration
    from modellint.dialects.spots import Spot
    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.flow.theory import Occurrence
    from modellint.graph.python import Function
    from modellint.graph.recipe import Scalar
    from modellint.graph.value import Event, Flow, Value
    from modellint.link.recipes.items import Item

#: Functions that build the object of a node, with the arguments of the call besides; and where they are defined.
_BUILDERS = frozenset(
    (
        *("hydra.utils.instantiate", "hydra.utils.call", "hydra._internal.instantiate._instantiate2.instantiate"),
        *("torchtune.config.instantiate", "torchtune.config._instantiate.instantiate"),
    )
)
#: Errors by which a missing key shows; a handler of one expects it.
_CAUGHT = frozenset(
    (
        *("AttributeError", "KeyError", "LookupError", "Exception", "BaseException"),
        *("ConfigAttributeError", "ConfigKeyError", "OmegaConfBaseException"),
    )
)
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
        return None if self._is_unsure else bool(self.spot.names)

    def has(self, key: object) -> bool | None:
        if key in self.spot.names:
            return None if self.spot.shared.is_any else True
        return None if self.spot.is_open else False

    @property
    def _is_unsure(self) -> bool:
        return self.spot.shared.is_any or (self.spot.is_open and not self.spot.names)


@dataclass(frozen=True, slots=True)
class _Entries(Foreign):
    """The result of `keys()`, `values()` or `items()` of a mapping, by that name, or a `pair` of the latter."""

    spot: Spot
    what: str


@dataclass(frozen=True, eq=False)
class Instantiation:
    """A call that builds the object of a node, by its keys, and the arguments besides.

    Not `is_final`: more arguments may be passed, or the object is only prepared (`_partial_`). `changed` are keys that
    the program puts into some node before, or takes out.
    """

    keys: tuple[Scalar, ...]
    positional: int = 0
    keywords: frozenset[str] = frozenset()
    is_final: bool = True
    changed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Builder:
    """A function of a project that builds the object of a node, and the arguments that it adds to those of the node.

    Not `is_final`: it may add more.
    """

    function: Function
    positional: int = 0
    keywords: frozenset[str] = frozenset()
    is_final: bool = True

    def instantiation(
        self, keys: tuple[Scalar, ...], given: int, names: Iterable[str], *, is_all: bool
    ) -> Instantiation:
        """The call of the object's class by a call of the function with so many arguments, and these by name."""
        own = {one.name for one in self.function.parameters}
        is_final = self.is_final and is_all and given <= len(own)
        return Instantiation(keys, self.positional, self.keywords | (frozenset(names) - own), is_final)


@dataclass(frozen=True, eq=False)
class Unpacking:
    """A call that certainly gets the entries of a mapping as arguments, `Net(**config.net)`, with others besides.

    `spot` is the mapping, and `frame` that of the calling function.
    """

    call: Value
    spot: Spot
    frame: Frame


class Reading(Theory):
    """The theory of a run of a program with its configuration."""

    mode = Mode(asks="configurations", assumes=True, outlives_run=True, keeps=(ConfigNode,))
    observes = (Stored, Deleted, Made)

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self._project = run.project
        self._items: Callable[[Spot], Item | None] = lambda spot: spot.item
        #: The functions of the project that build the object of a node, and the nodes that were built.
        self._builders: Mapping[Function, Builder] = {}
        self._made: set[int] = set()
        self._shells: list[Shell] = []
        #: The mappings that are built and name no class.
        self.untargeted: list[Spot] = []
        #: The keys that are read and missing, by place, with the mapping that lacks each.
        self.missing: dict[tuple[Value, str], tuple[Spot, Frame]] = {}
        #: The places that are read.
        self.found: set[str] = set()
        self.built: dict[tuple[Value, tuple[Scalar, ...]], Instantiation] = {}
        #: The calls that get the entries of a mapping as arguments.
        self.unpacked: dict[tuple[Value, int], Unpacking] = {}
        #: The keys that the program puts into some configuration; None among them for any.
        self.stored: set[str | None] = set()

    def start(self, function: Function, run: Configuration) -> None:
        """Run a function with the whole configuration as its argument."""
        root, self._items = run.root, run.item
        method = SourceMethod(function, self._project.names)
        given = Arguments(((ConfigNode(root),),))
        self._run.start(FunctionRef(method, None, None), class_frame(method.scope, id(function)), given)
        for shell in self._shells:
            self._run.objects.construct(shell)

    def build(self, spot: Spot, run: Configuration, builders: Mapping[Function, Builder]) -> None:
        """Run the constructor of a node's class, and those of its methods that build other objects."""
        self._items, self._builders = run.item, builders
        frame = class_frame(SourceMethod(next(iter(builders)), self._project.names).scope, id(spot))
        self._construct(spot, frame, NOWHERE)
        for shell in self._shells:
            self._run.objects.construct(shell)

    def _note_untargeted(self, spot: Spot, frame: Frame, value: Value) -> None:
        """Note a mapping that is certainly built and names no class."""
        is_lacking = spot.kind is NodeKind.MAPPING and spot.recipe.dialect.writing.target not in spot.names
        if is_lacking and not spot.is_open and self.is_certain(value, frame):
            self.untargeted.append(spot)

    def _construct(self, spot: Spot, frame: Frame, value: Value) -> None:
        item = self._items(spot)
        if item is None or id(spot) in self._made:
            return
        self._made.add(id(spot))
        model = self._project.classes.of(self._project.names.absolute(item.target, spot.recipe.file))
        if model is None or model.cls is None:
            return
        inside = spot.get(spot.recipe.dialect.writing.arguments)
        children = {} if inside is None else inside.children
        given = Arguments((), {str(name): self._atoms(child) for name, child in children.items()})
        words = {builder.name for builder in self._builders}
        for atom in self._run.calls.apply(ClassRef(model), given, frame, value):
            if isinstance(atom, Shell):
                self._run.objects.construct(atom)
            for name in dict.fromkeys(name for one in model.mro() if one.cls for name in one.cls.methods):
                code = model.method(name) if name != "__init__" else None
                if code is not None and not words.isdisjoint(code.words):
                    self._run.calls.method(atom, name, ANY_ARGUMENTS, frame, value)

    def expression(self, value: Value, frame: Frame) -> Atoms | None:
        if value.op is Op.CALL and None in value.data and value.args[-1].op is not Op.DICT:
            rest = zip(reversed(value.data), reversed(value.args), strict=False)
            parts = [part for name, part in rest if name is None]
            atoms = self._run.evaluate(parts[0], frame) if len(parts) == 1 else ()
            spot = atoms[0].spot if len(atoms) == 1 and isinstance(atoms[0], ConfigNode) else None
            is_mapping = spot is not None and spot.kind is NodeKind.MAPPING and not spot.shared.is_any
            if spot is not None and is_mapping and not spot.is_open and self.is_certain(value, frame):
                self.unpacked[value, id(spot)] = Unpacking(value, spot, frame)
        return None

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
            return join(map(self._atoms, atom.spot.children.values())) if is_list else _key_atoms(atom.spot)
        names = [one.value for one in index if isinstance(one, Constant) and isinstance(one.value, str)]
        if not names or len(names) < len(index):
            return UNKNOWN
        if len(names) == 1:
            return self._child(atom.spot, names[0], frame, value)
        # One of several keys: none of them is certainly read.
        return join(self._child(atom.spot, name, None, None) for name in names)

    def _entry(self, entries: _Entries, index: Atoms | None) -> Atoms:
        """An entry of a mapping, or the key or value in it."""
        if index is None and entries.what == "items":
            return (replace(entries, what="pair"),)
        at = constant(index) if index else None
        which = entries.what if index is None else at.value if at is not None and entries.what == "pair" else None
        if which in ("keys", 0):
            return _key_atoms(entries.spot)
        return join(map(self._atoms, entries.spot.children.values())) if which in ("values", 1) else UNKNOWN

    def _child(self, spot: Spot, name: str, frame: Frame | None, value: Value | None) -> Atoms:
        found = spot.get(name)
        if found is not None:
            self.found.add(found.path)
            return self._atoms(found)
        may_be_key = name not in _OF_ALL and not name.startswith("_") and spot.node.kind is NodeKind.MAPPING
        if may_be_key and frame is not None and value is not None:
            self._miss(spot, name, frame, value)
        return UNKNOWN

    def _miss(self, spot: Spot, name: str, frame: Frame, value: Value) -> None:
        """Note a key that a mapping lacks, if the program certainly reads it."""
        if not spot.is_open and self.is_certain(value, frame):
            self.missing.setdefault((value, name), (spot, frame))

    def is_certain(self, value: Value, frame: Frame) -> bool:
        """True if a value is certainly evaluated, and no handler expects the error of a missing key."""
        return not self._run.path and self._is_reached(value, frame)

    def _is_reached(self, value: Value, frame: Frame) -> bool:
        """True if a value is certainly evaluated where its function is, and no handler expects a missing key."""
        event = frame.flow.once(_events_by_part).get(id(value))
        if event is None:
            return True
        return _CAUGHT.isdisjoint(event.handled) and not self._run.conditions(event.guard, frame)

    def _atoms(self, spot: Spot) -> Atoms:
        """The atoms of a place: a node, or the value that it has by default."""
        if spot.node.kind is not NodeKind.SCALAR:
            return (ConfigNode(spot),)
        item = self._items(spot)
        if item is None or item.kind is not ItemKind.CONSTANT or spot.shared.is_any:
            return UNKNOWN
        return NONE if item.value is None else (Constant(item.value),)

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if not isinstance(atom, ConfigNode):
            return None
        key = text(arguments.positional[0]) if arguments.positional else None
        if name in _MUTATING:
            self.stored.update((key,) if name in ("pop", "setdefault") else (None,))
        if name in ("get", "pop", "setdefault") and key is not None:
            found, default = atom.spot.get(key), arguments.argument(1, "default_value")
            if found is not None:
                is_there = not atom.spot.shared.is_any or (name == "pop" and default is None)
                return self._atoms(found) if is_there else join((self._atoms(found), default or NONE))
            return UNKNOWN if atom.spot.is_open else NONE if default is None else default
        if name in ("keys", "values", "items"):
            return (_Entries(atom.spot, name),)
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

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms | None:
        code = function.code
        if isinstance(code, SourceMethod) and code.function in self._builders:
            for atom in arguments.argument(0, code.parameters[0].name) or ():
                if isinstance(atom, ConfigNode):
                    self._note_untargeted(atom.spot, frame, value)
                    self.note_built(self._builders[code.function], atom, arguments, value)
                    self._construct(atom.spot, frame, value)
            return UNKNOWN
        if not isinstance(code, SourceMethod) or f"{code.function.module.name}.{code.name}" not in _BUILDERS:
            return None
        self._build(arguments, frame, value)
        return UNKNOWN

    def note_built(self, builder: Builder, node: ConfigNode, arguments: Arguments, value: Value) -> None:
        """Note the call of a builder with a node."""
        keys, given = tuple(node.spot.keys), len(arguments.positional)
        found = builder.instantiation(keys, given, arguments.keywords, is_all=arguments.is_complete)
        self.built[value, keys] = found

    def _build(self, arguments: Arguments, frame: Frame, value: Value) -> None:
        config = arguments.argument(0, "config")
        names = frozenset(arguments.keywords) - {"config", "caller_globals"}
        positional = max(len(arguments.positional) - 1, 0)
        for atom in config or ():
            if isinstance(atom, ConfigNode):
                keys = tuple(atom.spot.keys)
                dialect = atom.spot.recipe.dialect
                target = dialect.writing.target
                is_needed = dialect is Dialect.TORCHTUNE or bool(names - dialect.writing.reserved_keys or positional)
                if is_needed and atom.spot.kind is NodeKind.MAPPING and target not in atom.spot.names:
                    self._miss(atom.spot, target, frame, value)
                self.built[value, keys] = Instantiation(keys, positional, names, arguments.is_complete)

    def follows(self, function: FunctionRef, arguments: Arguments, relation: str) -> bool:
        return True

    def observe(self, event: Occurrence) -> None:
        if isinstance(event, Stored) and isinstance(event.owner, ConfigNode):
            self.stored.add(text(event.key))
        elif isinstance(event, Made) and (self._builders or self._is_surely_given(event)):
            self._shells.append(event.shell)
        elif isinstance(event, Deleted):
            target = event.target
            key = target.args[1].data if target.op is Op.INDEX else target.data
            self.stored.update((key,) if isinstance(key, str) else ())

    def _is_surely_given(self, event: Made) -> bool:
        """True if the object is certainly made, with a part of the configuration as an argument."""
        given = (atom for atoms in event.shell.arguments.all() for atom in atoms)
        is_given = any(isinstance(atom, ConfigNode) for atom in given)
        return is_given and self.is_certain(event.value, event.frame)


def _key_atoms(spot: Spot) -> Atoms:
    return join((Constant(str(name)),) for name in spot.names)


def _events_by_part(flow: Flow) -> dict[int, Event]:
    """The first event that evaluates a value, by the `id` of the value."""
    found: dict[int, Event] = {}
    for event in flow.events:
        for value in (event.value, event.target):
            for part in value.walk() if value is not None else ():
                found.setdefault(id(part), event)
    return found
