"""The callers of a function: searched in its own file and in the other files of its folder."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.graph.python import alternatives
from modellint.graph.value import EventKind, Op, is_super, self_attribute
from modellint.link.names import DefinedClass, DefinedFunction, External
from modellint.link.values.members import Members

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.link.project import Project

#: Folders with more Python files than this are collections, not programs: only the file itself is searched.
_MAX_FILES = 60
#: How many values are visited to find the classes of one.
_MAX_VALUES = 200
#: Methods that run when an object is called.
_OF_CALLED_OBJECTS = frozenset(("forward", "__call__"))
#: Operations whose operands may be the object, or a container of it.
_TAKING_FROM = frozenset(
    (Op.CHOICE, Op.BOOL, Op.INDEX, Op.ITEM, Op.UNPACK, Op.STARRED, Op.LIST, Op.TUPLE, Op.COMPREHENSION)
)


def callers(project: Project, function: Function) -> list[Function]:
    """The functions that call `function`, in its own file and in the other files of its folder."""
    return project.once(("callers", function), lambda: _callers(project, function))


def _callers(project: Project, function: Function) -> list[Function]:
    found: list[Function] = []
    for module in neighbours(project, function.module, function.name):
        key = "calls by name", module, function.name, function.owner is not None
        calling = project.once(key, partial(_calling, project, module, function.name, function.owner is not None))
        found += (caller for caller in calling.get(function, ()) if caller is not function)
    return found


def _calling(project: Project, module: ModuleFacts, name: str, is_method: bool) -> dict[Function, dict[Function, None]]:
    """The functions of a file that call functions or methods of a name, by the function that is called."""
    found: dict[Function, dict[Function, None]] = {}
    for caller in (*module.all_functions(), module.body):
        for event in caller.flow.of(EventKind.CALL) if name in caller.text and name in caller.words else ():
            for target in _targets(event.value, caller, name, is_method, project):
                if target is not None:
                    found.setdefault(target, {})[caller] = None
    return found


def neighbours(project: Project, own: ModuleFacts, mentioned: str) -> list[ModuleFacts]:
    """The file itself, and the files of its folder whose text contains `mentioned`."""
    folder = own.file.parent
    names = [name for name in project.files.listdir(folder) if name.endswith(".py")]
    modules = [own]
    if len(names) > _MAX_FILES:
        return modules
    for name in names:
        path = folder / name
        if path != own.file and mentioned.encode() in (project.files.read(path) or b""):
            module = project.python(Path(path))
            if module is not None:
                modules.append(module)
    return modules


def _targets(call: Value, caller: Function, name: str, is_method: bool, project: Project) -> Iterator[Function | None]:
    """The targets of a CALL: the definition by name, or methods `name` of possible receivers."""
    callee = call.callee
    named = project.names.definition(caller.module, callee)
    if isinstance(named, DefinedFunction):
        yield named.function
    if named is not None or not is_method:
        return
    is_named = callee.op is Op.ATTR and callee.data == name
    if is_named and is_super(callee.args[0]) and caller.owner is not None:
        yield project.of(Members).method_after(caller.owner, caller.owner, name)
    elif is_named or name in _OF_CALLED_OBJECTS:
        for cls in _classes(callee.args[0] if is_named else callee, caller, project):
            yield project.of(Members).method(cls, name)


def _classes(value: Value, function: Function, project: Project) -> Iterator[Class]:
    """The classes of the project of which a value may be an object or an element."""
    seen: set[Value] = set()
    pending = [(value, function)]
    while pending and len(seen) < _MAX_VALUES:
        value, function = pending.pop()
        if value not in seen:
            seen.add(value)
            cls = _class_of(value, function, project)
            if cls is not None:
                yield cls
            else:
                pending += _sources(value, function, project)


def _class_of(value: Value, function: Function, project: Project) -> Class | None:
    """The class of a value by what is written at its source: `self`, an annotation, or a constructor call."""
    if value.op is Op.PARAM and value.data == "self" and function.owner is not None:
        return function.owner
    if value.op is Op.CALL:
        names: tuple[Value, ...] = (value.callee,)
    elif value.op is Op.PARAM:
        declared = function.parameter(str(value.data))
        names = () if declared is None or declared.annotation is None else tuple(alternatives(declared.annotation))
    else:
        return None
    found = (project.names.definition(function.module, name) for name in names)
    return next((one.cls for one in found if isinstance(one, DefinedClass)), None)


def _sources(value: Value, function: Function, project: Project) -> Iterator[tuple[Value, Function]]:
    """The values that may flow into a value, each with its function: stores, returns, elements of containers."""
    name = self_attribute(value)
    if name is not None and function.owner is not None:
        yield from ((event.value, other) for other, event in project.of(Members).stores(function.owner, name))
    elif value.op is Op.CALL:
        called = project.names.definition(function.module, value.callee)
        if isinstance(called, DefinedFunction):
            yield from ((event.value, called.function) for event in called.function.flow.of(EventKind.RETURN))
        elif isinstance(called, External):
            yield from ((part, function) for part in value.positional)
        elif value.callee.op is Op.ATTR:
            yield value.callee.args[0], function
    elif value.op in _TAKING_FROM:
        yield from ((part, function) for part in value.args)
