"""Classes that decorators or calls of the project enter into a dict, an object, or the table of a class.

`@register("mlp")`, `@BLOCKS.register`, `@Factory.register("mlp")`, or `__init_subclass__` of the class itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op
from modellint.link.names import DefinedClass, DefinedConstant, DefinedFunction
from modellint.link.values.callers import neighbours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project

#: The hook that a class runs for each of its subclasses.
HEIR = "__init_subclass__"
_EMPTY = frozenset(("dict", "builtins.dict", "collections.OrderedDict", "OrderedDict"))


def entered(table: DefinedConstant, project: Project) -> tuple[Class, ...]:
    """The classes in sight that decorators or calls enter into a dict which starts empty."""
    if not _is_empty(table.value):
        return ()
    return project.once(("entered", table.module.path, table.name), lambda: tuple(_find_entered(table, project)))


@dataclass(frozen=True, eq=False, slots=True)
class RegistryCall:
    """A decorator of `cls`, or a call with a class, that calls a method of the registry `owner`."""

    module: ModuleFacts
    value: Value
    owner: Value
    cls: Class | None


def registrations(
    table: DefinedConstant, project: Project, beside: ModuleFacts | None = None
) -> tuple[RegistryCall, ...]:
    """The calls that enter classes into an object of the project, in files around it and around `beside`."""
    files = _with(table.module, beside)
    key = "registrations", table.name, *(module.path for module in files)
    return project.once(key, lambda: tuple(_registrations(table, project, files)))


def _registrations(table: DefinedConstant, project: Project, files: tuple[ModuleFacts, ...]) -> Iterator[RegistryCall]:
    made = project.names.definition(table.module, table.value.callee) if table.value.op is Op.CALL else None
    if isinstance(made, DefinedClass) and project.classes.model(made.cls).is_module is False:
        yield from _entering(table, project, files)


def is_filled(cls: Class, name: str) -> bool:
    """True if a class has an empty dict `name` in its body that class methods, static methods or `HEIR` mention."""
    value = cls.attributes.get(name)
    methods = (one for one in cls.methods.values() if one.is_class_method or one.is_static or one.name == HEIR)
    return value is not None and _is_empty(value) and any(name in method.words for method in methods)


def registrations_by(cls: Class, project: Project, beside: ModuleFacts | None = None) -> tuple[RegistryCall, ...]:
    """The calls that enter classes by methods of a class, in files around it and around `beside`."""
    files = _with(cls.module, beside)
    key = "registrations by", cls.qualname, *(module.path for module in files)
    return project.once(key, lambda: tuple(_entering(cls, project, files)))


def heirs(cls: Class, project: Project, beside: ModuleFacts | None = None) -> tuple[Class, ...]:
    """The subclasses in sight of a class with `__init_subclass__`; empty without that hook."""
    if HEIR not in cls.methods:
        return ()
    files = _with(cls.module, beside)
    key = "heirs", cls.module.path, cls.qualname, *(module.path for module in files)
    return project.once(key, lambda: tuple(_heirs(cls, project, files)))


def _with(module: ModuleFacts, beside: ModuleFacts | None) -> tuple[ModuleFacts, ...]:
    """The file, and `beside` if that is another file."""
    return (module,) if beside is None or beside is module else (module, beside)


def _heirs(cls: Class, project: Project, files: tuple[ModuleFacts, ...]) -> Iterator[Class]:
    model = project.classes.model(cls)
    for module in dict.fromkeys(one for file in files for one in neighbours(project, file, cls.name)):
        for other in module.classes.values():
            if other is not cls and model in project.classes.model(other).mro():
                yield other


def _entering(
    table: DefinedConstant | Class, project: Project, files: tuple[ModuleFacts, ...]
) -> Iterator[RegistryCall]:
    """The decorators and module-level calls of a registry's methods that have a class as an argument."""
    for module in dict.fromkeys(one for file in files for one in neighbours(project, file, table.name)):
        for cls in module.classes.values():
            for decorator in cls.head.decorators:
                owner = _owner(decorator, table, module, project)
                if owner is not None:
                    yield RegistryCall(module, decorator, owner, cls)
        for event in module.body.flow.of(EventKind.CALL) if table.name in module.body.words else ():
            given = (project.names.definition(module, arg) for arg in event.value.args[1:])
            owner = _owner(event.value, table, module, project)
            if owner not in (None, event.value) and any(isinstance(one, DefinedClass) for one in given):
                yield RegistryCall(module, event.value, owner or event.value, None)


def _owner(value: Value, table: DefinedConstant | Class, module: ModuleFacts, project: Project) -> Value | None:
    """The registry in a decorator or call like `TABLE.register(…)`; None if the receiver is another object."""
    made = (table.value.line, table.value.offset) if isinstance(table, DefinedConstant) else None
    while value.op in (Op.CALL, Op.ATTR) and (module is not table.module or (value.line, value.offset) != made):
        value = value.args[0]
    if value.op is Op.CALL:
        return value
    found = project.names.definition(module, value) if value.op is Op.GLOBAL else None
    if not isinstance(table, DefinedConstant):
        return value if isinstance(found, DefinedClass) and found.cls is table else None
    is_it = isinstance(found, DefinedConstant) and found.module is table.module and found.name == table.name
    return value if is_it else None


def _is_empty(value: Value) -> bool:
    is_call = value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data in _EMPTY
    return (value.op is Op.DICT and not value.args) or (is_call and len(value.args) == 1)


def _find_entered(table: DefinedConstant, project: Project) -> Iterator[Class]:
    functions = [one for one in table.module.functions.values() if table.name in one.words and _enters(one, table.name)]
    for function in functions:
        for module in neighbours(project, table.module, function.name):
            for cls in module.classes.values():
                for decorator in cls.head.decorators:
                    callee = decorator.callee if decorator.op is Op.CALL else decorator
                    definition = project.names.definition(module, callee)
                    if isinstance(definition, DefinedFunction) and definition.function is function:
                        yield cls
            yield from _by_call(function, module, project)
    for event in table.module.body.flow.of(EventKind.STORE):
        if event.target is not None and event.target.op is Op.INDEX and _is_made_as(event.target.args[0], table):
            stored = project.names.definition(table.module, event.value)
            if isinstance(stored, DefinedClass):
                yield stored.cls


def _is_made_as(value: Value, table: DefinedConstant) -> bool:
    """True if a value at module level is the object of a global name, perhaps updated since."""
    while value.op is Op.UPDATE:
        value = value.args[0]
    return (value.line, value.offset) == (table.value.line, table.value.offset) or value.data == table.name


def _by_call(function: Function, module: ModuleFacts, project: Project) -> Iterator[Class]:
    """The classes that a file passes to a function at module level."""
    for event in module.body.flow.of(EventKind.CALL) if function.name in module.body.words else ():
        definition = project.names.definition(module, event.value.callee)
        if isinstance(definition, DefinedFunction) and definition.function is function:
            given = (project.names.definition(module, arg) for arg in event.value.args[1:])
            yield from (one.cls for one in given if isinstance(one, DefinedClass))


def _enters(function: Function, name: str) -> bool:
    """True if a function stores an argument or inner function under a key of a global name."""
    return any(
        event.target is not None
        and event.target.op is Op.INDEX
        and event.target.args[0].op is Op.GLOBAL
        and event.target.args[0].data == name
        and event.value.op in (Op.PARAM, Op.INNER)
        for event in function.flow.of(EventKind.STORE)
    )
