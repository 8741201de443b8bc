"""Calls that give a class the rows and the columns of its table in each other's place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.definitions import DefinedClass, External
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Value
    from modellint.rule import Project

#: Operations whose value goes by the name that they have as data.
_NAMED = frozenset((Op.PARAM, Op.ATTR, Op.GLOBAL))


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A `call` with two arguments that are each named like the parameter of the other; `table` gets them as sizes."""

    call: Value
    #: Their positions, and the parameters that they are given for.
    arguments: tuple[tuple[int, str], tuple[int, str]]
    table: Value
    constructor: Function


def exchanged_sizes(module: ModuleFacts, project: Project) -> Iterator[Exchanged]:
    """The calls of a file that give the rows and the columns of a table in each other's place."""
    for function in (*module.all_functions(), module.body):
        for event in function.flow.of(EventKind.CALL):
            call = event.value
            if len(call.args) > 2 and not call.has_unpacking and len(set(map(_name, call.args[1:])) - {""}) > 1:
                definition = project.names.definition(module, call.callee)
                if isinstance(definition, DefinedClass):
                    yield from _exchanges_at(call, definition.cls, project)


def _exchanges_at(call: Value, cls: Class, project: Project) -> Iterator[Exchanged]:
    constructor = project.classes.model(cls).method("__init__")
    if constructor is None:
        return
    parameters, given = constructor.argument_names, constructor.bind(call)
    for rows, columns, table in _tables(constructor, project):
        if rows in given and columns in given and (_name(given[rows]), _name(given[columns])) == (columns, rows):
            first, second = sorted((rows, columns), key=parameters.index)
            arguments = (parameters.index(first), first), (parameters.index(second), second)
            yield Exchanged(call, arguments, table, constructor)


def _tables(constructor: Function, project: Project) -> Iterator[tuple[str, str, Value]]:
    """The parameters by which a constructor sizes its tables, rows first."""
    for event in constructor.flow.of(EventKind.CALL):
        call = event.value
        sizes = call.argument(0, "num_embeddings"), call.argument(1, "embedding_dim")
        if all(size is not None and size.op is Op.PARAM for size in sizes) and _is_table(call, constructor, project):
            rows, columns = (str(size.data) for size in sizes if size is not None)
            if {rows, columns} <= set(constructor.argument_names):
                yield rows, columns, call


def _is_table(call: Value, function: Function, project: Project) -> bool:
    definition = project.names.definition(function.module, call.callee)
    row = operators.row(definition.name) if isinstance(definition, External) else None
    return row is not None and "table" in row.facets


def _name(value: Value) -> str:
    """The name of an argument that is a name or an attribute; of another one, the variable that it was assigned to."""
    return str(value.data) if value.op in _NAMED else value.target or ""
