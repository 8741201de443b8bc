"""Training scripts: the recipe values they load, the Brain they build, and the methods they call on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.value import Event, EventKind, Op, Value
from modellint.link.names import DefinedClass, DefinedFunction, DefinedModule, External
from modellint.link.recipes.keys import KeyWork, kept_under, key_work, may_be_keys
from modellint.link.recipes.loading import LOADERS, Loading, callee_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.link.project import Project

_MAX_BASES = 20


@dataclass(frozen=True, eq=False)
class BrainUse:
    """A Brain that a script builds.

    `classes` are the user's classes in method resolution order, up to the framework's own. `called` are the
    methods that the script calls on the object, `stored` the attributes that it sets on it and where. `escapes`: it
    also passes the object to code that is not followed.
    """

    module: ModuleFacts
    classes: tuple[Class, ...]
    call: Value
    called: frozenset[str]
    stored: tuple[tuple[str, Function, Value], ...]
    escapes: bool

    def argument(self, name: str) -> Value | None:
        position = _BRAIN_PARAMETERS.index(name)
        given = self.call.argument(position, name)
        return _unpacked_arguments(self.call).get(name) if given is None else given

    def method(self, name: str, after: Class | None = None) -> Function | None:
        """The method that `self.name()` calls, or with `after`, `super().name()` in that class; None without one."""
        classes = self.classes
        if after is not None:
            start = next((i + 1 for i, cls in enumerate(classes) if cls is after), len(classes))
            classes = classes[start:]
        return next((cls.methods[name] for cls in classes if name in cls.methods), None)

    def replaces(self, name: str) -> bool:
        """True if a method of the user's classes takes the place of the framework's: it does not call that."""
        method = self.method(name)
        return method is not None and not _calls_super(method, name)


def _calls_super(method: Function, name: str) -> bool:
    """True if a method calls the one that it overrides."""
    for event in method.flow.of(EventKind.CALL):
        callee = event.value.callee
        if callee.op is Op.ATTR and callee.data == name and callee.args[0].op is Op.CALL:
            return True
    return False


_BRAIN_PARAMETERS = ("modules", "opt_class", "hparams", "run_opts", "checkpointer")


@dataclass(frozen=True, eq=False)
class Script:
    """A Python file that loads a recipe.

    `names` are the variables that hold the keys, `work` are the keys that the file reads and stores.
    """

    module: ModuleFacts
    names: frozenset[str]
    loading: Loading
    brains: tuple[BrainUse, ...]
    #: False if several recipes are loaded under different names.
    loads_one: bool
    work: KeyWork
    #: True if it overrides keys itself; and if it passes or stores modules, so it builds a model.
    states_overrides: bool
    builds: bool

    def is_load(self, call: Value) -> bool:
        """True if a call loads a recipe."""
        return self.loading.is_load(call)


def read_script(module: ModuleFacts, project: Project) -> Script | None:
    """The script in a file; None if it loads no recipe."""
    if not may_load(module, project):
        return None
    return project.once(("script", module.path), lambda: _read(module, project))


def may_load(module: ModuleFacts, project: Project) -> bool:
    """True if a file mentions a loader, or imports from a file below its folder that does."""
    return speaks_of_loader(module) or any(map(speaks_of_loader, _neighbours(module, project)))


def speaks_of_loader(module: ModuleFacts) -> bool:
    return any(loader in module.text for loader in LOADERS)


def _neighbours(module: ModuleFacts, project: Project) -> Iterator[ModuleFacts]:
    """The files below a file's folder that it imports from."""
    folder = module.file.parent
    for name in module.imports:
        found = project.names.resolve(module, name)
        if isinstance(found, DefinedFunction):
            other = found.function.module
        elif isinstance(found, DefinedModule):
            other = found.module
        else:
            continue
        if other is not module and other.file.is_relative_to(folder):
            yield other


def _read(module: ModuleFacts, project: Project) -> Script:
    loading = Loading(module, project)
    names: set[str] = set()
    targets: set[tuple[str, str]] = set()
    builds: list[tuple[Function, Value, tuple[Class, ...]]] = []
    states_overrides = False
    for function in script_functions(module):
        for event in own_events(function):
            if event.kind is not EventKind.CALL:
                continue
            call = event.value
            if loading.learn(call):
                names.add(call.target or "hparams")
                targets.update((function.name, name) for name in (call.target,) if name)
                overrides = call.argument(1, "overrides")
                states_overrides = states_overrides or (overrides is not None and overrides.op is Op.DICT)
                continue
            classes = _brain_classes(module, call, callee_name(call.callee) or "", project)
            if classes is not None:
                builds.append((function, call, classes))
    names.update(name for name, value in module.constants.items() if loading.is_loaded(value))
    brains = tuple(
        BrainUse(module, classes, call, *_uses_of_brain(module, function, call)) for function, call, classes in builds
    )

    def is_keys(value: Value) -> bool:
        return may_be_keys(value, called) or (value.op is Op.CALL and loading.is_load(value))

    functions = (*module.all_functions(), module.body)
    called = set(names)
    called |= kept_under(functions, is_keys)
    work = key_work(functions, is_keys)
    kept = {name for function, name in targets if not loading.is_loader(function)}
    builds_any = bool(brains) or any(_sets_modules(event) for function in functions for event in function.flow.events)
    return Script(module, frozenset(names), loading, brains, len(kept) < 2, work, states_overrides, builds_any)


def _sets_modules(event: Event) -> bool:
    """True if an event passes an argument `modules`, or stores under that name."""
    if event.kind is EventKind.STORE and event.target is not None:
        return event.target.op is Op.ATTR and event.target.data == "modules"
    return event.kind is EventKind.CALL and ("modules" in event.value.data or event.value.target == "modules")


def _unpacked_arguments(call: Value) -> dict[str, Value]:
    """The arguments that a call unpacks from written dicts: `**{"modules": …}`."""
    start = len(call.args) - len(call.data)
    mappings = [call.args[start + i] for i, name in enumerate(call.data) if name is None]
    return {
        key.data: value
        for mapping in mappings
        if mapping.op is Op.DICT
        for key, value in zip(mapping.data, mapping.args, strict=True)
        if key is not None and key.op is Op.CONST
    }


def script_functions(module: ModuleFacts) -> Iterator[Function]:
    """The module's own code and its functions, methods left out."""
    yield module.body
    yield from module.functions.values()


def own_events(function: Function) -> Sequence[Event]:
    """The events of a function; those of a module body without the events of nested definitions."""
    events = function.flow.events
    return events if function.name != "<module>" else [event for event in events if not _is_nested(event)]


def _is_nested(event: Event) -> bool:
    guards = event.guard.chain() if event.guard else ()
    return any(g.test.op is Op.UNKNOWN and g.test.data == "nested" for g in guards)


def _brain_classes(module: ModuleFacts, call: Value, name: str, project: Project) -> tuple[Class, ...] | None:
    """The user's classes of the Brain that `call` builds; None if it builds none."""
    if not name or name.startswith("self."):
        return None
    found = project.names.resolve(module, name)
    has_modules = "modules" in call.keywords or "modules" in _unpacked_arguments(call)
    if isinstance(found, External):
        return () if is_framework_brain(found) and has_modules else None
    if not isinstance(found, DefinedClass):
        return None
    classes, is_brain = _lineage(found.cls, project)
    if not is_brain and not has_modules:
        return None
    return classes


def is_framework_brain(found: External | DefinedClass) -> bool:
    """True if a definition is SpeechBrain's own Brain."""
    if isinstance(found, External):
        return found.name.startswith("speechbrain.") and found.name.endswith(".Brain")
    return found.cls.name == "Brain" and found.cls.module.name == "speechbrain.core"


def _lineage(cls: Class, project: Project) -> tuple[tuple[Class, ...], bool]:
    """A class and its bases, nearest first, without the framework's Brain; and whether that is a base."""
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


def _uses_of_brain(
    module: ModuleFacts, function: Function, call: Value
) -> tuple[frozenset[str], tuple[tuple[str, Function, Value], ...], bool]:
    """The methods called and attributes stored on the Brain that `call` builds, and whether it escapes."""
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
