"""Maps of classes: the layers that a constructor registers, those in plain containers, and their uses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.finding import Confidence
from modellint.flow.domain import ClassRef, Constant, SymbolicInput, Unknown
from modellint.flow.gate import Keepers
from modellint.flow.heap import TENSORS, Shell
from modellint.flow.object_run import ObjectRun, covers
from modellint.graph.attributes import set_attribute
from modellint.graph.size import Size
from modellint.link.classes.registered import reads, unregistered
from modellint.mapping.model import Attribute, ClassMap, Count, Fact, Loose, State, Usage
from modellint.mapping.parameters import counter_of, is_called
from modellint.mapping.text import class_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.domain import Atom, Atoms
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.classes.registered import Unregistered
    from modellint.link.project import Project
    from modellint.source import Place

#: Methods that run a layer, and those that only describe it.
_WORK = ("forward", "__call__", "training_step")
_IDLE = frozenset("__init__ __repr__ __str__ extra_repr __len__ __del__".split())
_ATTRIBUTE = re.compile(r"\.(\w+)")
#: How many classes a cell names.
_MAX_NAMES = 3
_MAX_NESTING = 3
_KINDS = {"parameter": "Parameter", "buffer": "buffer", "pretrained": "pretrained model"}


def map_class(cls: Class, project: Project) -> ClassMap:
    """The map of a class that is written in a file."""
    return _Builder(cls, project).build()


class _Everything(Keepers):
    """Keepers that let a run follow everything."""

    def is_idle(self, function: Function) -> bool:
        return False

    def is_idle_in(self, function: Function, model: ClassModel) -> bool:
        return False


class _Builder:
    def __init__(self, cls: Class, project: Project) -> None:
        self.cls = cls
        self.project = project
        self.model: ClassModel = project.classes.model(cls)
        self.owners = [model.cls for model in self.model.mro() if model.cls is not None]
        self.counts = counter_of(project).attributes(cls)
        self.object_run = ObjectRun(self.model, project, _Everything(project))
        self.object_run.begin()
        self.places = self._definition_places()
        self.at_work = self._working()

    def build(self) -> ClassMap:
        lost = {found.kept.attribute: found for found in self._unregistered()}
        rows = [*self._registered_rows(set(lost)), *map(self._loose_row, lost.values())]
        rows.sort(key=lambda row: self._order(row.name))
        module = self.cls.module
        return ClassMap(
            name=self.model.name,
            path=module.path,
            place=self.cls.place,
            bases=tuple(module.text_of(base) for base in self.cls.bases),
            is_module=self.model.is_module,
            is_complete=self.model.is_complete and self.object_run.run.is_complete,
            attributes=tuple(rows),
            loose=tuple(_as_loose(found) for found in lost.values() if _is_sure(found)),
        )

    # -- what is registered ------------------------------------------------------------------------------------

    def _registered_rows(self, lost: set[str]) -> Iterator[Attribute]:
        for name, known in self.object_run.shell.history.items():
            stored = [(atoms() if callable(atoms) else atoms, path) for atoms, path in known]
            options = [atom for atoms, _ in stored for atom in atoms if _may_be_layer(atom)]
            is_told = all(isinstance(option, SymbolicInput | Unknown) for option in options)
            if options and name not in lost and (not is_told or is_called(self.model, name)):
                yield self._row(name, options, covers(path for atoms, path in stored if all(map(_is_layer, atoms))))

    def _row(self, name: str, options: list[Atom], is_sure: bool) -> Attribute:
        kind, via = _kind(options)
        if self.model.is_module is not True:
            registered = Fact(State.NO if self.model.is_module is False else State.UNKNOWN)
        else:
            registered = Fact(State.YES if is_sure else State.MAYBE, via)
        names = list(dict.fromkeys(_class_name(option) for option in options))
        if names == ["?"] and name in self.counts:
            names = [class_text(self.counts[name].class_name) or "?"]
        return Attribute(
            name=name,
            kind=kind,
            class_name=" | ".join(names[:_MAX_NAMES]) + (" | …" if len(names) > _MAX_NAMES else ""),
            place=self.places.get(name),
            parameters=Count(Size.of(0)) if kind == "buffer" else self._count(name),
            registered=registered,
            uses=tuple(self._uses(name)),
            conditional=not is_sure,
        )

    def _count(self, name: str) -> Count:
        return self.counts[name].parameters if name in self.counts else Count(None)

    # -- what is not -------------------------------------------------------------------------------------------

    def _unregistered(self) -> Iterator[Unregistered]:
        """The layers that the class and its bases keep in plain containers."""
        told: set[int] = set()
        for owner in self.owners:
            for found in unregistered(owner.module, self.project):
                if found.cls is owner and id(found) not in told:
                    told.add(id(found))
                    yield found

    def _loose_row(self, found: Unregistered) -> Attribute:
        kept = found.kept
        names = dict.fromkeys(_loose_name(shell) for shell in (*found.layers, *found.parameters))
        uses = (use for use in found.uses if use.function.name not in _IDLE)
        return Attribute(
            name=kept.attribute,
            kind="layer" if found.layers or not found.parameters else "parameter",
            class_name=f"{kept.kind} of {', '.join(names)}" if names else kept.kind,
            place=kept.function.module.place(kept.target),
            parameters=self._count(kept.attribute),
            registered=Fact(State.LOOSE if _is_sure(found) else State.NO, kept.kind),
            uses=tuple(_use(use.function, use.value) for use in uses),
            conditional=False,
        )

    # -- places and uses ---------------------------------------------------------------------------------------

    def _definition_places(self) -> dict[str, Place]:
        """Where each attribute is first stored or registered; the class itself comes before its bases."""
        found: dict[str, Place] = {}
        for owner in self.owners:
            for function in owner.methods.values():
                for event in function.flow.events:
                    name = set_attribute(event)
                    if name is not None:
                        found.setdefault(name, function.module.place(event.target or event.value))
        return found

    def _order(self, name: str) -> tuple[int, int]:
        place = self.places.get(name)
        if place is None:
            return (len(self.owners), 0)
        files = [owner.module.path for owner in self.owners]
        return (files.index(place.path) if place.path in files else len(files), place.span.line)

    def _working(self) -> tuple[Function, ...]:
        """The methods that `forward` reaches, by the names that they mention."""
        methods: dict[str, Function] = {}
        for owner in self.owners:
            for method in owner.methods.values():
                methods.setdefault(method.name, method)
        reached: dict[str, Function] = {}
        pending = [name for name in _WORK if name in methods]
        while pending:
            name = pending.pop(0)
            if name not in reached and name not in _IDLE:
                reached[name] = methods[name]
                pending.extend(dict.fromkeys(n for n in _ATTRIBUTE.findall(methods[name].text) if n in methods))
        return tuple(reached.values())

    def _uses(self, name: str) -> Iterator[Usage]:
        for function in self.at_work:
            if f".{name}" in function.text:
                yield from (_use(function, value) for value in reads(function, name))


def _may_be_layer(atom: Atom) -> bool:
    return isinstance(atom, SymbolicInput | Unknown) or _is_part(atom)


def _is_part(atom: Atom) -> bool:
    """True if an atom is a parameter, a buffer or, as far as is known, a layer."""
    return isinstance(atom, Shell) and (atom.kind in TENSORS or atom.is_layer)


def _is_layer(atom: Atom) -> bool:
    """True if an atom certainly is a layer, a parameter or a buffer."""
    return isinstance(atom, Shell) and _is_part(atom) and (atom.model is None or atom.model.is_module is True)


def _use(function: Function, value: Value) -> Usage:
    module = function.module
    return Usage(module.place(value), function.qualname, module.text_of(value))


def _kind(options: Iterable[Atom]) -> tuple[str, str]:
    """The kind of an attribute's value, and what registers it."""
    shells = [option for option in options if isinstance(option, Shell)]
    tensors = {shell.kind for shell in shells} & TENSORS
    if tensors:
        return ("parameter", "Parameter") if "parameter" in tensors else ("buffer", "buffer")
    container = next((shell.model for shell in shells if shell.model is not None and shell.is_module_container), None)
    return "layer", "attribute" if container is None else class_text(container.name)


def _class_name(atom: Atom, depth: int = 0) -> str:
    """The name of an object's class; for a container, with the classes of its contents."""
    if isinstance(atom, SymbolicInput):
        return f"given as {atom.name.partition('.')[0]}"
    if isinstance(atom, ClassRef):
        return class_text(atom.model.name)
    if not isinstance(atom, Shell):
        return "?"
    if atom.model is None:
        return _KINDS.get(atom.kind, "?")
    name = class_text(atom.model.name)
    if not atom.is_module_container or depth > _MAX_NESTING:
        return name
    held = dict.fromkeys(_class_name(part, depth + 1) for entry in atom.entries for part in _layers_in(entry.atoms))
    listed = list(held)
    inside = ", ".join(listed[:_MAX_NAMES]) + (", …" if len(listed) > _MAX_NAMES else "")
    return f"{name}[{inside}]" if listed else name


def _layers_in(atoms: Atoms) -> Iterator[Atom]:
    """Atoms that may be layers, those in plain containers included."""
    for atom in atoms:
        if isinstance(atom, Shell) and atom.is_container:
            yield from atom.contents()
        elif not isinstance(atom, Constant):
            yield atom


def _is_sure(found: Unregistered) -> bool:
    """True if `modellint check` shows it by default."""
    return found.confidence >= Confidence.MEDIUM


def _loose_name(shell: Shell) -> str:
    """The map's name for a layer or parameter that is not registered."""
    if shell.model is not None:
        return shell.model.name.rpartition(".")[2]
    return "Parameter" if shell.kind == "parameter" else "?"


def _as_loose(found: Unregistered) -> Loose:
    kept = found.kept
    what = "layers" if found.layers or not found.parameters else "parameters"
    message = f"`self.{kept.attribute}` keeps {what} in a plain {kept.kind}: torch does not know of them"
    return Loose(kept.attribute, message, "not-registered", kept.function.module.place(kept.target))
