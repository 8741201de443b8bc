"""Who looks a table up, in the file that builds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op, self_attribute, walk_all

if TYPE_CHECKING:
    from modellint.graph.python import Function
    from modellint.link.project import Project
    from modellint.link.values.arrivals import Arrival
    from modellint.link.values.evaluator import Frame
    from modellint.link.values.tables import Table


def arrivals(table: Table, frame: Frame, project: Project) -> list[Arrival]:
    """What indexes a table, in the functions of its file."""
    return project.arrivals.at(table, (frame.module, attribute_of(table, frame)), lambda: users(table, frame, project))


def users(table: Table, frame: Frame, project: Project) -> list[Function]:
    """The functions of a file that mention the attribute under which a table is kept."""
    name = attribute_of(table, frame)
    if name is None:
        return project.relevance.table_users(frame.module)
    return project.relevance.attribute_users(frame.module, (name,))


def attribute_of(table: Table, frame: Frame) -> str | None:
    """The attribute under which a table is kept."""
    for event in frame.function.flow.of(EventKind.STORE):
        attribute = self_attribute(event.target) if event.target is not None else None
        if attribute is not None and any(part is table.call for part in event.value.walk()):
            return attribute
    return None


def is_called(table: Table, frame: Frame, project: Project) -> bool:
    """Whether ids are looked up in a table, by calling the attribute under which it is kept."""
    name = attribute_of(table, frame)
    return name is not None and any(_calls(name, function) for function in users(table, frame, project))


def is_transposed(table: Table, frame: Frame, project: Project) -> bool:
    """Whether a table is never looked up, but used through its weight, which may lie either way."""
    name = attribute_of(table, frame)
    functions = [] if name is None else users(table, frame, project)
    if name is None or not any(_takes_weight(name, function) for function in functions):
        return False
    return not any(_calls(name, function) for function in functions)


def _calls(name: str, function: Function) -> bool:
    """Whether a function calls an attribute."""
    callees = (event.value.callee for event in function.flow.of(EventKind.CALL))
    return any(callee.op is Op.ATTR and callee.data == name for callee in callees)


def _takes_weight(name: str, function: Function) -> bool:
    """Whether a function uses the weight of an attribute."""
    values = walk_all(event.value for event in function.flow.events)
    weights = (value.args[0] for value in values if value.op is Op.ATTR and value.data == "weight")
    return any(owner.op is Op.ATTR and owner.data == name for owner in weights)
