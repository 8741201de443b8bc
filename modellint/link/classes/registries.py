"""Classes that a decorator of the project enters into a dict: `@register("mlp")`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op
from modellint.link.names import DefinedConstant, DefinedFunction
from modellint.link.values.callers import neighbours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function
    from modellint.graph.value import Value
    from modellint.link.project import Project

_EMPTY = frozenset(("dict", "builtins.dict", "collections.OrderedDict", "OrderedDict"))


def entered(table: DefinedConstant, project: Project) -> tuple[Class, ...]:
    """The classes in sight that decorators enter into a dict which is empty where it is made."""
    if not _is_empty(table.value):
        return ()
    return project.once(("entered", table.module.path, table.name), lambda: tuple(_entered(table, project)))


def _is_empty(value: Value) -> bool:
    is_call = value.op is Op.CALL and value.callee.op is Op.GLOBAL and value.callee.data in _EMPTY
    return (value.op is Op.DICT and not value.args) or (is_call and len(value.args) == 1)


def _entered(table: DefinedConstant, project: Project) -> Iterator[Class]:
    functions = [one for one in table.module.functions.values() if table.name in one.words and _enters(one, table.name)]
    for function in functions:
        for module in neighbours(project, table.module, function.name):
            for cls in module.classes.values():
                for decorator in cls.head.decorators:
                    callee = decorator.callee if decorator.op is Op.CALL else decorator
                    definition = project.names.definition(module, callee)
                    if isinstance(definition, DefinedFunction) and definition.function is function:
                        yield cls


def _enters(function: Function, name: str) -> bool:
    """Whether a function stores what it is given under a key of a global name."""
    return any(
        event.target is not None
        and event.target.op is Op.INDEX
        and event.target.args[0].op is Op.GLOBAL
        and event.target.args[0].data == name
        and event.value.op in (Op.PARAM, Op.UNKNOWN)  # what a function inside of it is given
        for event in function.flow.of(EventKind.STORE)
    )
