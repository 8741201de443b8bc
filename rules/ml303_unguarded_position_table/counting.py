"""Tables of which the same class looks up more positions than it gives them rows: `arange(n + 1)` in `Embedding(n)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.value import EventKind, Op, Value, called_name, same, subscripts, walk_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.rule import Project

#: Names of layers that look up rows, and of functions that count up.
_TABLES, _COUNTED = operators.words("table"), operators.words("counted")
_TOTALS = operators.words("sums-up")
#: Operations of which a number is made that the constructor knows.
_FIXED = frozenset((Op.CONST, Op.PARAM, Op.ATTR, Op.GLOBAL, Op.BIN, Op.INDEX))


def lookups_beyond(cls: Class, project: Project) -> list[queries.TableRead]:
    """The look-ups by objects of a class of more positions than the table has rows, whatever their number is."""
    flow = queries.flow(cls.module, project)
    methods = [method for owner in flow.mro(cls) for method in owner.methods.values() if method.module is cls.module]
    if not _may_count_beyond(methods, cls.module):
        return []
    if project.classes.model(cls).is_module is not True:
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


def _may_count_beyond(methods: list[Function], module: ModuleFacts) -> bool:
    """True if methods, or functions that they call, make tables and count to a number that none of these is made for.

    The constructor knows the number.
    """
    tables, counters = _TABLES | _names_of(_TABLES, module), _COUNTED | _names_of(_COUNTED, module)
    words = frozenset[str]().union(*(method.words for method in methods))
    if not words.isdisjoint(tables) and _may_total(words, module) and any(map(_cuts, methods)):
        return True
    functions = [*methods, *(function for name, function in module.functions.items() if name in words)]
    making = [function for function in functions if not function.words.isdisjoint(tables)]
    counting = [function for function in functions if making and not function.words.isdisjoint(counters)]
    rows = [call.args[1] for function in making for call in _calls(function, tables) if len(call.args) > 1]
    counted = ((end, function) for function in counting for call in _calls(function, counters) for end in _end(call))
    ends = [end for end, function in counted if rows and _is_fixed(end, function)]
    return any(not any(same(one, end) for one in rows) for end in ends)


def _may_total(words: AbstractSet[str], module: ModuleFacts) -> bool:
    """True if methods, or functions of the file that they mention, sum up along a dimension."""
    totals = _TOTALS | _names_of(_TOTALS, module)
    named = (function for name, function in module.functions.items() if name in words)
    return not words.isdisjoint(totals) or any(not function.words.isdisjoint(totals) for function in named)


def _cuts(method: Function) -> bool:
    """True if a method cuts a tensor to a length that the constructor may know: `ids[:, :512]`."""
    parts = (part for event in method.flow.of(EventKind.INDEX) for part in subscripts(event.value))
    ends = (part.args[1] for part in parts if part.op is Op.SLICE)
    ends = (end.args[1] if end.op is Op.CALL and len(end.args) == 2 else end for end in ends)  # `int(n)`
    return any(_is_fixed(end, method) for end in ends if end.op is not Op.CONST or end.data is not None)


def _names_of(words: AbstractSet[str], module: ModuleFacts) -> set[str]:
    """The names by which a file imports what is called one of `words`."""
    return {name for name, origin in module.imports.items() if str(origin).rpartition(".")[2] in words}


def _calls(function: Function, names: AbstractSet[str]) -> Iterator[Value]:
    """The calls of functions called one of `names`."""
    for event in function.flow.of(EventKind.CALL):
        if called_name(event.value.callee) in names:
            yield event.value


def _end(call: Value) -> Iterator[Value]:
    """The number to which a call counts up; none if it does so in steps."""
    end = call.argument(1, "end")
    if call.argument(2, "step") is None and not call.has_unpacking:
        yield from filter(None, (end if end is not None else call.argument(0, "start"),))


def _is_fixed(end: Value, method: Function) -> bool:
    """True if a number may be known when the object is built: it is a constant, a setting, or a sum of such."""
    parts = list(walk_all((end,)))
    is_alone = end.op is Op.PARAM and method.name != "__init__"
    return not is_alone and all(part.op in _FIXED and part.data != "shape" for part in parts)
