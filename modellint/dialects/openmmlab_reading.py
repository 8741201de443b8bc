"""The keys that programs read of configurations of OpenMMLab: `cfg.model.depth` of `cfg = Config.fromfile(…)`."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.dialects.openmmlab import composition_of, config_file, has_readers, inheritors
from modellint.dialects.openmmlab_places import Spot, copy_of
from modellint.flow.domain import ANY_ARGUMENTS, NONE, UNKNOWN, Arguments, Constant, FunctionRef, join, text
from modellint.flow.frame import class_frame
from modellint.flow.runs import started
from modellint.flow.theory import Deleted, Foreign, Mode, Stored, Theory
from modellint.frontends.openmmlab import looks_like_openmmlab
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import NO_TAG, Node, NodeKind
from modellint.graph.value import EventKind, Op
from modellint.link.classes.definitions import SourceMethod
from modellint.link.names import DefinedFunction, External
from modellint.link.searched import files_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.flow.theory import Occurrence
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.recipe import Scalar
    from modellint.graph.value import Event, Flow, Value
    from modellint.link.project import Project
    from modellint.source import Place

_LOAD = "fromfile"
#: The classes of mmengine and mmcv that load configurations, by the names that they are imported by.
_LOADERS = frozenset(
    f"{module}.Config.{_LOAD}"
    for module in ("mmengine", "mmengine.config", "mmcv", "mmcv.utils", "mmengine.config.config")
)
#: Errors by which a missing key shows; a handler of one expects it.
_CAUGHT = frozenset(("AttributeError", "KeyError", "LookupError", "Exception", "BaseException"))
_SAME = frozenset(("copy.copy", "copy.deepcopy"))
_MUTATING = frozenset(("update", "setdefault", "merge", "pop", "clear", "popitem"))
#: Attributes and methods of any configuration. Source: mmengine 0.10.7, `Config` and `ConfigDict`; mmcv 1.7.2.
_OF_ALL = frozenset(
    (
        *("filename", "text", "pretty_text", "env_variables", "dump", "merge_from_dict", "diff", "to_dict", "copy"),
        *("keys", "values", "items", "get", "pop", "update", "setdefault", "clear", "popitem", "merge", "deepcopy"),
        *("build_lazy", "fromfile", "fromstring", "auto_argparser", "freeze", "unfreeze", "to_yaml"),
    )
)
#: The most configurations that a program may be run with, whose keys are compared.
_MOST = 200


@dataclass(frozen=True, slots=True)
class _Held(Foreign):
    """A mapping or sequence of the configuration."""

    spot: Spot

    def truth(self) -> bool | None:
        return bool(self.spot.children) or (None if self.spot.is_open else False)

    def has(self, key: object) -> bool | None:
        if key in self.spot.children:
            return True
        return None if self.spot.is_open else False


@dataclass(frozen=True, eq=False)
class UnmetKey:
    """A key that a program certainly reads, and that its configuration, or each that it may have, lacks.

    `where` is the key of the mapping that lacks it, empty for the top; `function` is the name of the reading function,
    and `configs` are the names of the configurations. `file` is one that lacks the key; empty if `is_partial`.
    """

    place: Place
    text: str
    name: str
    where: str
    available: tuple[str, ...]
    function: str
    configs: tuple[str, ...]
    #: Other configurations have the key.
    is_partial: bool = False
    file: str = ""


class _Reading(Theory):
    """The theory of a run of a program that loads configurations."""

    mode = Mode(asks="configurations", assumes=True, outlives_run=True, keeps=(_Held,))
    observes = (Stored, Deleted)

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self._project = run.project
        self.missing: dict[tuple[Value, str], tuple[Spot, Frame, tuple[str, ...]]] = {}
        self.stored: set[str | None] = set()
        self._is_only_program = _is_only_program(run.project)
        #: The names of the configurations that a root stands for.
        self._names: dict[int, tuple[str, ...]] = {}
        self._program: Function | None = None

    def start(self, function: Function) -> None:
        """Run a function, or the body of a file as it runs as a program."""
        self._program = function
        method = SourceMethod(function, self._project.names)
        self._run.start(FunctionRef(method, None, None), class_frame(method.scope, id(function)), ANY_ARGUMENTS)

    def expression(self, value: Value, frame: Frame) -> Atoms | None:
        is_name = value.op is Op.GLOBAL and value.data == "__name__"
        return (Constant("__main__"),) if is_name and frame.function is self._program else None

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        return self._child(atom.spot, name, frame, value) if isinstance(atom, _Held) else None

    def element(self, atom: Atom, index: Atoms | None, frame: Frame | None, value: Value | None) -> Atoms | None:
        if not isinstance(atom, _Held):
            return None
        if index is not None and len(index) == 1 and isinstance(index[0], Constant):
            key = index[0].value
            if isinstance(key, str):
                return self._child(atom.spot, key, frame, value)
            found = atom.spot.children.get(key) if isinstance(key, int) else None
            return UNKNOWN if found is None else self._atoms(found)
        if index is None and atom.spot.node.kind is NodeKind.SEQUENCE:
            return join(map(self._atoms, atom.spot.children.values()))
        return UNKNOWN

    def _child(self, spot: Spot, name: str, frame: Frame | None, value: Value | None) -> Atoms:
        found = spot.children.get(name)
        lacking = spot.lacking.get(name, ()) if isinstance(spot, _Shared) and self._is_only_program else ()
        if found is not None:
            is_reached = frame is not None and value is not None and not self._run.path
            if lacking and is_reached and self._is_reached(value, frame):  # type: ignore[arg-type]
                self.missing.setdefault((value, name), (spot, frame, lacking))  # type: ignore[arg-type]
            return self._atoms(found)
        may_be_key = name not in _OF_ALL and not name.startswith("_") and spot.node.kind is NodeKind.MAPPING
        is_known = not spot.is_open and not self._run.path
        if may_be_key and is_known and frame is not None and value is not None and self._is_reached(value, frame):
            self.missing.setdefault((value, name), (spot, frame, self._names.get(id(_root(spot)), ())))
        return UNKNOWN

    def _is_reached(self, value: Value, frame: Frame) -> bool:
        """True if a value is certainly evaluated, and no handler expects the error of a missing key."""
        event = frame.flow.once(_events_by_part).get(id(value))
        if event is None:
            return True
        return _CAUGHT.isdisjoint(event.handled) and not self._run.conditions(event.guard, frame)

    def _atoms(self, spot: Spot) -> Atoms:
        if spot.node.kind is not NodeKind.SCALAR:
            return (_Held(spot),)
        if spot.node.tag is not NO_TAG or spot.is_open:
            return UNKNOWN
        value = spot.node.scalar
        return NONE if value is None else (Constant(value),)

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if not isinstance(atom, _Held):
            return None
        key = text(arguments.positional[0]) if arguments.positional else None
        if name in _MUTATING:
            self.stored.update((key,) if name in ("pop", "setdefault") else (None,))
        if name in ("get", "pop", "setdefault") and key is not None:
            found = atom.spot.children.get(key)
            if found is not None:
                return self._atoms(found)
            default = arguments.argument(1, "default")
            return UNKNOWN if atom.spot.is_open else NONE if default is None else default
        return (atom,) if name in ("copy", "deepcopy") else UNKNOWN

    def apply(self, function: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        return UNKNOWN if isinstance(function, _Held) else None

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        given = arguments.positional
        if name in _LOADERS:
            path = text(given[0]) if given else None
            root, names = self._load(path, frame)
            if root is None:
                return UNKNOWN
            self._names[id(root)] = names
            return (_Held(root),)
        nodes = [atom for atom in (given[0] if given else ()) if isinstance(atom, _Held)]
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
        if name == "builtins.setattr":
            self.stored.add(key)
        return given[0] if name in _SAME else UNKNOWN

    def _load(self, path: str | None, frame: Frame) -> tuple[Spot | None, tuple[str, ...]]:
        """The configuration in a file, or what all of the project have, with their names."""
        if path is None:
            return _any_config(self._project)
        function = frame.function
        folders = (self._project.options.root, *(() if function is None else function.module.file.parents))
        for folder in folders:
            file = Path(os.path.normpath(folder / path))
            found = composition_of(file, self._project) if self._project.files.exists(file) else None
            if found is not None:
                return found.root, (file.name,)
            if folder == self._project.options.root and folder is not folders[0]:
                break
        return None, ()

    def follows(self, function: FunctionRef, arguments: Arguments, relation: str) -> bool:
        return True

    def observe(self, event: Occurrence) -> None:
        if isinstance(event, Stored) and isinstance(event.owner, _Held):
            self.stored.add(text(event.key))
        elif isinstance(event, Deleted):
            key = event.target.data
            self.stored.update((key,) if isinstance(key, str) else ())


def _root(spot: Spot) -> Spot:
    while spot.parent is not None:
        spot = spot.parent
    return spot


def _events_by_part(flow: Flow) -> dict[int, Event]:
    """The first event that evaluates a value, by the `id` of the value."""
    found: dict[int, Event] = {}
    for event in flow.events:
        for value in (event.value, event.target):
            for part in value.walk() if value is not None else ():
                found.setdefault(id(part), event)
    return found


def _any_config(project: Project) -> tuple[Spot | None, tuple[str, ...]]:
    """A root with the keys that any configuration has which no other one inherits; None if they are not known.

    A file that neither inherits nor is inherited may be one, or a part. Where the files are parts that a program puts
    together, no file has the keys of a whole configuration: most have none in common, or those that inherit have none
    of those in the parts that nothing inherits.
    """

    def find() -> tuple[Spot | None, tuple[str, ...]]:
        inherited = inheritors(project)
        roots: list[Spot] = []
        names: list[str] = []
        parts: list[Spot] = []
        for path in files_below(project, project.options.root) if has_readers(project) else ():
            if path in inherited or not looks_like_openmmlab(project.files.read(path) or b""):
                continue
            file = config_file(path, project)
            found = composition_of(path, project) if file is not None else None
            is_module = file is not None and not file.is_marked and bool(file.others)  # whose names others import
            if file is None or is_module or not (file.bases or not inherited):
                parts.extend((found.root,) if found is not None else ())
                continue
            if found is None or not found.is_whole or len(roots) >= _MOST:
                return None, ()
            roots.append(found.root)
            names.append(path.name)
        is_whole = _share_a_key(roots) and (not parts or not _keys(roots).isdisjoint(_keys(parts)))
        if not roots or not is_whole:
            return None, ()
        shared = _union(roots, names, None)
        for part in parts:
            _widen(shared, part)
        return shared, tuple(names)

    return project.once(("openmmlab any",), find)


def _widen(spot: Spot, other: Spot) -> None:
    """Add the keys of a file to a place, as it may be a configuration of its own; their values are unknown."""
    spot.is_open = spot.is_open or other.is_open or other.node.kind is not spot.node.kind
    for key, child in other.children.items():
        known = spot.children.get(key)
        if known is None:
            known = spot.children[key] = copy_of(child, spot)
            known.is_open = True
        else:
            _widen(known, child)


def _share_a_key(roots: Sequence[Spot]) -> bool:
    held = Counter(key for root in roots for key in root.children)
    return max(held.values(), default=0) * 2 > len(roots)


def _keys(roots: Sequence[Spot]) -> set[Scalar]:
    return {key for root in roots for key in root.children}


@dataclass(eq=False, slots=True)
class _Shared(Spot):
    """A place of several configurations; `lacking` are the files of those that lack a key which others have."""

    lacking: dict[Scalar, tuple[str, ...]] = field(default_factory=dict)


def _union(spots: Sequence[Spot], names: Sequence[str], parent: Spot | None) -> Spot:
    """A place with the keys of several; its values are unknown where they are not mappings."""
    first = spots[0]
    is_mapping = all(one.node.kind is NodeKind.MAPPING for one in spots)
    found = _Shared(first.node, first.recipe, first.path, first.key, parent)
    found.is_open = not is_mapping or any(one.is_open for one in spots)
    if not is_mapping:
        found.node = Node(NodeKind.SCALAR, first.node.tag, first.node.span)
        return found
    keys = dict.fromkeys(key for one in spots for key in one.children)
    for key in keys:
        held = [(one.children[key], name) for one, name in zip(spots, names, strict=True) if key in one.children]
        found.children[key] = _union([one for one, _ in held], [name for _, name in held], found)
        if len(spots) // 2 <= len(held) < len(spots):
            having = {name for _, name in held}
            found.lacking[key] = tuple(name for name in names if name not in having)
    return found


def unmet_keys(module: ModuleFacts, project: Project) -> Iterator[UnmetKey]:
    """The keys that a program in a file certainly reads, and that its configurations lack."""
    if _LOAD not in module.text:
        return
    told: set[tuple[int, str]] = set()
    for function in (module.body, *module.functions.values()):
        if not any(_is_loading(event.value, module, project) for event in function.flow.of(EventKind.CALL)):
            continue
        reading = started(project, _Reading).of(_Reading)
        reading.start(function)
        for (value, name), (spot, frame, configs) in reading.missing.items():
            reader = frame.function
            if reader is None or None in reading.stored or name in reading.stored or (id(value), name) in told:
                continue
            told.add((id(value), name))
            home = reader.module
            available = tuple(map(str, spot.children))
            where = spot.path.replace("[", ".").replace("]", "")
            text_of, is_partial = home.text_of(value), name in spot.children
            file = "" if is_partial else _root(spot).recipe.file.as_posix()
            place, said = home.place(value), reader.qualname
            yield UnmetKey(place, text_of, name, where, available, said, configs, is_partial, file)


def _is_only_program(project: Project) -> bool:
    """True if one file of the project loads configurations, so that each of them is for its program."""
    found = project.files.mentioning(project.options.root, _LOAD)
    return len(found) == 1 and project.files.is_searched(project.options.root)


def _is_loading(call: Value, module: ModuleFacts, project: Project) -> bool:
    if call.callee.data != _LOAD:
        return False
    found = project.names.definition(module, call.callee)
    if isinstance(found, DefinedFunction):
        return f"{found.function.module.name}.{found.function.qualname}" in _LOADERS
    return isinstance(found, External) and found.name in _LOADERS
