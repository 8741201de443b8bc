"""Tables of which the same class looks up more positions than it gives them rows: `arange(n + 1)` in `Embedding(n)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.value import EventKind, Op, Value, called_name, same, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from modellint.graph.python import Class, Function
    from modellint.rule import Project

#: Names of layers that look up rows, and of functions that count up.
_TABLES, _COUNTED = operators.words("table"), operators.words("counted")
#: Operations of which a number is made that the constructor knows.
_FIXED = frozenset((Op.CONST, Op.PARAM, Op.ATTR, Op.GLOBAL, Op.BIN, Op.INDEX))


def looked_up_beyond(cls: Class, project: Project) -> list[queries.TableRead]:
    """The look-ups by objects of a class of more positions than the table has rows, whatever their number is."""
    methods = list(cls.methods.values())
    if not _may_count_beyond(methods) or project.classes.model(cls).is_module is not True:
        return []
    with queries.run(project, queries.TableReads) as run:
        shell = run.object_of(cls)
        built = {name: list(stored) for name, stored in shell.history.items()}
        model = project.classes.model(cls)
        for method in methods:
            if method.name != "__init__" and not method.is_static and model.method(method.name) is method:
                run.call(method, shell)
                shell.history = {name: list(stored) for name, stored in built.items()}
        return list(run.theory.beyond.values())


def _may_count_beyond(methods: list[Function]) -> bool:
    """True if methods make a table and count to numbers of the constructor, but not all to the same."""
    making = [method for method in methods if not method.words.isdisjoint(_TABLES)]
    counting = [method for method in methods if not method.words.isdisjoint(_COUNTED)]
    if not making or not counting:
        return False
    rows = [one for method in making for one in _first_arguments(method, _TABLES)]
    ends = [end for method in counting for end in _first_arguments(method, _COUNTED) if _is_fixed(end, method)]
    return any(not same(one, end) for one in rows for end in ends)


def _first_arguments(method: Function, names: AbstractSet[str]) -> Iterator[Value]:
    """The first arguments of the calls of functions called one of `names`."""
    for event in method.flow.of(EventKind.CALL):
        if called_name(event.value.callee) in names:
            yield from event.value.args[1:2]


def _is_fixed(end: Value, method: Function) -> bool:
    """True if a number may be known when the object is built: it is a constant, a setting, or a sum of such."""
    parts = list(walk_all((end,)))
    is_alone = end.op is Op.PARAM and method.name != "__init__"
    return not is_alone and all(part.op in _FIXED and part.data != "shape" for part in parts)
