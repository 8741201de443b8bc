"""Local variables of a constructor, above all layers, that other methods read as if they were global ones."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.rule import Project

#: Code that may bind a global name from elsewhere.
_BINDING = ("global ", "globals(", "exec(", "vars(", "__builtins__", "builtins")
_CATCHING = frozenset(("NameError", "Exception", "BaseException"))


@dataclass(frozen=True, slots=True)
class LocalVariable:
    """A read of a name that only the constructor binds, to the value `made`. `event` is the call that reads it."""

    cls: Class
    function: Function
    event: Event
    value: Value
    made: Value

    @property
    def name(self) -> str:
        return str(self.value.data)


def local_variables(cls: Class) -> dict[str, Value]:
    """The local variables that a constructor assigns, with a value of each."""
    constructor = cls.methods.get("__init__")
    values = walk_all(constructor.flow.evaluated()) if constructor is not None else ()
    return {value.target: value for value in values if value.target is not None and value.op is not Op.LAMBDA}


def read_as_global(module: ModuleFacts, project: Project) -> Iterator[LocalVariable]:
    """The names in the methods of a file's layers that nothing but the constructor of the class binds."""
    if module.star_imports or any(word in module.code for word in _BINDING):
        return
    for cls in module.classes.values():
        others = [method for method in cls.methods.values() if method.name != "__init__"]
        constructor = cls.methods.get("__init__")
        shared = frozenset[str]().union(*(method.words for method in others))
        if constructor is None or not shared & constructor.words or not project.classes.model(cls).is_module:
            continue
        assigned = local_variables(cls)
        found = {name: value for name, value in assigned.items() if name in shared and not _is_bound(name, module)}
        for method in others if found else ():
            yield from _reads(found, cls, method)


def _is_bound(name: str, module: ModuleFacts) -> bool:
    """True if the file, or Python, may bind a global name."""
    tops = (module.imports, module.constants, module.functions, module.classes)
    if hasattr(builtins, name) or any(name in names for names in tops):
        return True
    inside = {line for first, last, *_ in module.definitions for line in range(first, last + 1)}
    lines = module.code.split("\n")
    return any(number not in inside and name in line for number, line in enumerate(lines, 1))


def _reads(names: dict[str, Value], cls: Class, method: Function) -> Iterator[LocalVariable]:
    if method.words.isdisjoint(names):
        return
    seen: set[str] = set()
    for event in method.flow.of(EventKind.CALL):
        callee = event.value.callee
        root = callee
        while root.op is Op.ATTR:
            root = root.args[0]
        is_read = root.op is Op.GLOBAL and root.data in names and root.data not in seen
        if is_read and _CATCHING.isdisjoint(event.handled):
            seen.add(str(root.data))
            yield LocalVariable(cls, method, event, root, names[str(root.data)])
