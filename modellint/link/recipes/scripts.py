"""Training scripts: which recipe values they load, which Brain they build from them, and what they ask it to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modellint.graph.value import Event, EventKind, Op, Value, dotted
from modellint.link.names import DefinedClass, External

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.link.project import Project

LOADERS = ("load_hyperpyyaml", "load_extended_yaml")
_MAX_BASES = 20


@dataclass(frozen=True, eq=False)
class BrainUse:
    """A Brain that a script builds.

    `classes` are the user's classes in method resolution order, up to the framework's own. `called` are the
    methods that the script calls on the object, `stored` the attributes that it sets on it and where; `escapes`
    tells that it also hands the object to code that we do not follow.
    """

    module: ModuleFacts
    classes: tuple[Class, ...]
    call: Value
    called: frozenset[str]
    stored: tuple[tuple[str, Function, Value], ...]
    escapes: bool

    def argument(self, name: str) -> Value | None:
        position = _BRAIN_PARAMETERS.index(name)
        return self.call.argument(position, name)

    def method(self, name: str, after: Class | None = None) -> Function | None:
        """The method that `self.name()` runs, or with `after` the one that `super().name()` runs there."""
        classes = self.classes
        if after is not None:
            start = next((i + 1 for i, cls in enumerate(classes) if cls is after), len(classes))
            classes = classes[start:]
        return next((cls.methods[name] for cls in classes if name in cls.methods), None)


_BRAIN_PARAMETERS = ("modules", "opt_class", "hparams", "run_opts", "checkpointer")


@dataclass(frozen=True, eq=False)
class Script:
    """A Python file that loads a recipe.

    `names` are the variables that hold what was loaded, `loaders` the functions that load, its own ones included.
    """

    module: ModuleFacts
    names: frozenset[str]
    loaders: frozenset[str]
    brains: tuple[BrainUse, ...]
    #: Not several recipes, under different names, of which any may be meant.
    loads_one: bool = True

    def is_load(self, call: Value) -> bool:
        """Whether a call loads a recipe."""
        return (callee_name(call.callee) or "").rpartition(".")[2] in self.loaders


def read_script(module: ModuleFacts, project: Project) -> Script | None:
    """What a file does with a recipe, None if it loads none."""
    if not any(loader in module.text for loader in LOADERS):
        return None
    return project.once(("script", module.path), lambda: _read(module, project))


def _read(module: ModuleFacts, project: Project) -> Script:
    names: set[str] = set()
    targets: set[str] = set()
    loaders = _loaders(module)
    builds: list[tuple[Function, Value, tuple[Class, ...]]] = []
    for function in script_functions(module):
        for event in own_events(function):
            if event.kind is not EventKind.CALL:
                continue
            name = callee_name(event.value.callee) or ""
            if name.rpartition(".")[2] in loaders:
                names.add(event.value.target or "hparams")
                targets.update(filter(None, (event.value.target,)))
                continue
            classes = _brain_classes(module, event.value, name, project)
            if classes is not None:
                builds.append((function, event.value, classes))
    brains = tuple(
        BrainUse(module, classes, call, *_asked(module, function, call)) for function, call, classes in builds
    )
    return Script(module, frozenset(names), loaders, brains, len(targets) < 2)


def _loaders(module: ModuleFacts) -> frozenset[str]:
    """The names of functions that load a recipe in a file: the library's, by any name, and those that return it."""
    names = {*LOADERS}
    names.update(name for name, target in module.imports.items() if target.rpartition(".")[2] in LOADERS)
    for name, function in module.functions.items():
        returned = [event.value for event in function.flow.of(EventKind.RETURN)]
        calls = [value for value in returned if value.op is Op.CALL]
        if calls and all((callee_name(call.callee) or "").rpartition(".")[2] in names for call in calls):
            names.add(name)
    return frozenset(names)


def script_functions(module: ModuleFacts) -> Iterator[Function]:
    """The module's own code and its functions, methods left out."""
    yield module.body
    yield from module.functions.values()


def own_events(function: Function) -> Sequence[Event]:
    """The events of a function; of a module body only those outside of the functions it defines."""
    events = function.flow.events
    return events if function.name != "<module>" else [event for event in events if not _is_nested(event)]


def _is_nested(event: Event) -> bool:
    guards = event.guard.chain() if event.guard else ()
    return any(g.test.op is Op.UNKNOWN and g.test.data == "nested" for g in guards)


def callee_name(callee: Value) -> str | None:
    """The dotted name that a call goes to, where it is a name."""
    if callee.op is Op.UNKNOWN and isinstance(callee.data, str):
        return callee.data
    return dotted(callee)


def _brain_classes(module: ModuleFacts, call: Value, name: str, project: Project) -> tuple[Class, ...] | None:
    """The user's classes of a Brain that `call` builds, None if it builds none."""
    if not name or name.startswith("self."):
        return None
    found = project.names.resolve(module, name)
    if isinstance(found, External):
        return () if is_framework_brain(found) and "modules" in call.keywords else None
    if not isinstance(found, DefinedClass):
        return None
    classes, is_brain = _lineage(found.cls, project)
    if not is_brain and "modules" not in call.keywords:
        return None
    return classes


def is_framework_brain(found: External | DefinedClass) -> bool:
    """Whether a definition is SpeechBrain's own Brain."""
    if isinstance(found, External):
        return found.name.startswith("speechbrain.") and found.name.endswith(".Brain")
    return found.cls.name == "Brain" and found.cls.module.name == "speechbrain.core"


def _lineage(cls: Class, project: Project) -> tuple[tuple[Class, ...], bool]:
    """A class and its bases, nearest first, the framework's Brain left out; and whether that is among them."""
    classes: list[Class] = []
    is_brain = False
    pending = [cls]
    while pending and len(classes) < _MAX_BASES:
        current = pending.pop(0)
        if current in classes:
            continue
        classes.append(current)
        for base in current.bases:
            found = project.names.definition(current.module, base)
            if isinstance(found, External | DefinedClass) and is_framework_brain(found):
                is_brain = True
            elif isinstance(found, DefinedClass):
                pending.append(found.cls)
    return tuple(classes), is_brain


def _asked(
    module: ModuleFacts, function: Function, call: Value
) -> tuple[frozenset[str], tuple[tuple[str, Function, Value], ...], bool]:
    """What is called on the object that `call` builds, what is set on it, and if it goes where we do not follow."""
    called: set[str] = set()
    stored: list[tuple[str, Function, Value]] = []
    escapes = False
    holders = {call.target} if function.name == "<module>" and call.target else set()

    def is_brain(value: Value) -> bool:
        return value is call or (value.op is Op.GLOBAL and value.data in holders)

    for other in script_functions(module):
        for event in own_events(other):
            values = [event.value] if event.kind is not EventKind.CALL else list(event.value.args[1:])
            escapes = escapes or any(value is call for value in values)
            place = event.value.callee if event.kind is EventKind.CALL else event.target
            if place is not None and place.op is Op.ATTR and is_brain(place.args[0]):
                if event.kind is EventKind.CALL:
                    called.add(place.data)
                elif event.kind is EventKind.STORE:
                    stored.append((place.data, other, event.value))
    return frozenset(called), tuple(stored), escapes
