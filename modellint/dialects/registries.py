"""The registries of OpenMMLab: which class or function a name stands for, by the calls of `register_module`."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint.graph.definitions import DefinedClass, DefinedFunction
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.names import Definition
    from modellint.link.project import Project

_REGISTER = "register_module"
_REGISTRY = "Registry"


@dataclass(eq=False, slots=True)
class Registries:
    """The definitions that a project registers, by name; not `is_whole`: other names may be registered, too."""

    names: dict[str, list[Definition]] = field(default_factory=dict)
    is_whole: bool = True
    #: The scopes of the registries that the project makes.
    scopes: set[str] = field(default_factory=set)

    def add(self, name: str, definition: Definition) -> None:
        known = self.names.setdefault(name, [])
        if definition not in known:
            known.append(definition)


def registries(project: Project) -> Registries:
    """The registered names of a project."""

    def find() -> Registries:
        found = Registries()
        for path in project.files.mentioning(project.options.root, _REGISTER):
            module = project.python(path)
            if module is not None:
                _read(module, project, found)
        for path in project.files.mentioning(project.options.root, _REGISTRY):
            module = project.python(path)
            if module is not None:
                found.scopes.update(_scopes(module, project))
        return found

    return project.once(("registries",), find)


def definition_named(name: str, asker: Path, project: Project) -> Definition | None:
    """The only definition that a `type` stands for; None if several are registered under the name, or none is."""
    found = registries(project).names.get(name)
    if found is not None:
        return found[0] if len(found) == 1 else None
    return project.names.absolute(name, asker) if "." in name else None


def _scopes(module: ModuleFacts, project: Project) -> Iterator[str]:
    """The scopes of the registries that a file makes: by default, the package that the file is in."""
    for value in module.constants.values():
        if value.op is Op.CALL and value.callee.data == _REGISTRY:
            scope = value.keywords.get("scope")
            text = None if scope is None else _text(scope, module, project)
            yield text if text is not None else module.name.partition(".")[0]


def _read(module: ModuleFacts, project: Project, found: Registries) -> None:
    for cls in module.classes.values():
        for decorator in cls.head.decorators:
            _decorate(decorator, cls, DefinedClass(cls), module, project, found)
    for function in module.functions.values():
        for decorator in function.signature.decorators:
            _decorate(decorator, function, DefinedFunction(function), module, project, found)
    for function in (module.body, *module.all_functions()):
        if function is module.body or _REGISTER in function.words:
            for call in _calls(function):
                _call(call, function is module.body, module, project, found)


def is_registering(decorator: Value) -> bool:
    """True if a decorator registers what it decorates: `@MODELS.register_module()`."""
    callee = decorator.callee if decorator.op is Op.CALL else decorator
    return callee.op is Op.ATTR and callee.data == _REGISTER


def _decorate(
    decorator: Value,
    decorated: Class | Function,
    definition: Definition,
    module: ModuleFacts,
    project: Project,
    found: Registries,
) -> None:
    if not is_registering(decorator):
        return
    names = _names(decorator, module, project) if decorator.op is Op.CALL else ()
    if names is None:
        found.is_whole = False
    for name in (decorated.name,) if names == () else names or ():
        found.add(name, definition)


def _names(call: Value, module: ModuleFacts, project: Project) -> tuple[str, ...] | None:
    """The names that a call gives; none for the name of what is registered; None if they are unknown."""
    given = call.argument(0, "name")
    if given is None:
        return None if call.has_unpacking else ()
    if given.op is Op.CONST and given.data is None:
        return ()
    parts = given.args if given.op in (Op.LIST, Op.TUPLE) else (given,)
    names = [_text(part, module, project) for part in parts]
    return None if None in names else tuple(name for name in names if name is not None)


def _text(value: Value, module: ModuleFacts, project: Project) -> str | None:
    if value.op is Op.GLOBAL and str(value.data) in module.constants:
        value = module.constants[str(value.data)]
    return value.data if value.op is Op.CONST and isinstance(value.data, str) else None


def _calls(function: Function) -> Iterator[Value]:
    for event in function.flow.of(EventKind.CALL):
        yield event.value


def _call(call: Value, is_body: bool, module: ModuleFacts, project: Project, found: Registries) -> None:
    """A call that registers something: `MODELS.register_module(module=Net)`, `MODELS.register_module()(Net)`."""
    callee = call.callee
    if callee.op is Op.CALL and is_registering(callee):
        target, names = call.argument(0), _names(callee, module, project)
    elif is_registering(call):
        target, names = call.argument(2, "module"), _names(call, module, project)
        if target is None:
            return  # a decorator, or a part of a call
    else:
        return
    definition = None if target is None else project.names.definition(module, target)
    if names is None or target is None or (definition is None and names == ()):
        found.is_whole = False
        return
    if not isinstance(definition, DefinedClass | DefinedFunction):
        own = (str(target.data),) if target.op in (Op.GLOBAL, Op.ATTR) else ()
        if not own and not names:
            found.is_whole = False
        for name in names or own:
            found.names.setdefault(name, [])
        found.is_whole = found.is_whole and is_body
        return
    name = definition.cls.name if isinstance(definition, DefinedClass) else definition.function.name
    for one in names or (name,):
        found.add(one, definition)
