"""Heads and tables whose sizes the calls of a constructor decide: `Bigram(len(chars), 64)`."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.immutable import dataclass, replace
from modellint.graph.size import Size, excess
from modellint.graph.value import Op, called_name, same

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.size import Symbol
    from modellint.graph.value import Value
    from modellint.rule import Project


@dataclass(frozen=True, eq=False, slots=True)
class Given:
    """A look-up with more classes than rows for the arguments of the call `made`.

    `rows` and `classes` say how many, as the call or the table's constructor writes them. `made` is None for a table
    whose own columns are the classes: their number is no expression of its rows.
    """

    lookup: queries.Lookup
    rows: str
    classes: str
    made: queries.Constructed | None = None
    #: True if a test or a demonstration makes the object.
    is_trial: bool = False


def beyond_rows(lookup: queries.Lookup, project: Project) -> Given | None:
    """A look-up whose sizes alone do not tell, with the arguments of a call that makes the classes more than the rows.

    A table that is its own head needs no such call if its rows are as many as something has elements. None if there is
    none.
    """
    ids, rows = lookup.element, lookup.rows
    if not isinstance(ids, queries.Ids) or ids.excluded or (rows is not None and excess(ids.bound, rows) is not None):
        return None
    written = lookup.table.value.argument(0, "num_embeddings")
    counted = [(written, lookup.table.module)] if rows is None else []
    owner = None if lookup.table.function is None else lookup.table.function.owner
    constructor = None if owner is None else owner.methods.get("__init__")
    if rows is not None and constructor is not None:
        calls = list(_constructions(constructor, project))
        for made in sorted(calls, key=lambda one: queries.is_trial_site(one.steps[0], project)):
            found = _for_call(lookup, ids, rows, constructor, made)
            if found is not None:
                return replace(found, is_trial=queries.is_trial_site(made.steps[0], project))
            value, _ = next(_argument(rows, constructor, made), (None, 0))
            counted.append((value, made.steps[0].module))
    is_own = ids.head is not None and ids.head == lookup.table and ids.bound.constant is not None
    if not is_own or not counted or not all(_is_length(*one) for one in counted):
        return None
    shown = "other" if written is None else f"`{lookup.table.module.text_of(written)}`"
    return Given(lookup, shown, ids.bound.described)


def _is_length(value: Value | None, module: ModuleFacts) -> bool:
    """True if a value is the length of something, perhaps under the name of a constant."""
    while value is not None and value.op is Op.ATTR and len(value.args) > 1:
        value = value.args[1]
    if value is None or value.op is not Op.GLOBAL:
        return value is not None and value.op is Op.CALL and called_name(value.callee) == "len"
    known = module.constants.get(str(value.data))
    return known is not None and known is not value and _is_length(known, module)


def _constructions(constructor: Function, project: Project) -> Iterable[queries.Constructed]:
    """The calls that make objects by a constructor; none if others may be out of sight."""
    assert constructor.owner is not None
    return queries.flow(constructor.module, project).constructed_anywhere(constructor.owner) or ()


def _for_call(
    lookup: queries.Lookup, ids: queries.Ids, rows: Size, constructor: Function, made: queries.Constructed
) -> Given | None:
    """The look-up for the arguments of one call; None if it has a row for each class, or that is unknown."""
    count, bound = (_number_for(size, constructor, made) for size in (rows, ids.bound))
    if count is not None and bound is not None:
        if bound <= count or count <= 0:
            return None
        known = replace(lookup, rows=Size.of(count), element=replace(ids, bound=Size.of(bound)))
        return Given(known, str(count), str(bound), made)
    written = dict(_argument(rows, constructor, made)), dict(_argument(ids.bound, constructor, made))
    first, second = (next(iter(one.items()), None) if len(one) == 1 else None for one in written)
    if first is None or second is None or not _is_one_number(first[0], second[0]) or second[1] <= first[1]:
        return None
    text = made.steps[0].module.text_of(first[0])
    shown = [f"`{text}{f' + {by}' if by > 0 else f' - {-by}' if by else ''}`" for by in (first[1], second[1])]
    return Given(lookup, shown[0], shown[1], made)


def _is_one_number(first: Value, second: Value) -> bool:
    """True if two values are the same expression, or lengths of the same one."""
    if (
        first.op is Op.CALL
        and second.op is Op.CALL
        and "len" == called_name(first.callee) == called_name(second.callee)
    ):
        return same(first.args[-1], second.args[-1])
    return same(first, second)


def _number_for(size: Size, constructor: Function, made: queries.Constructed) -> int | None:
    """A size with the arguments of a call in place of the constructor's parameters; None if one is unknown."""
    total: float = 0
    for symbols, factor in size.terms:
        numbers = [_number_of(symbol, constructor, made) for symbol in symbols]
        if None in numbers:
            return None
        total += factor * prod(number for number in numbers if number is not None)
    return int(total) if total == int(total) else None


def _number_of(symbol: Symbol, constructor: Function, made: queries.Constructed) -> float | None:
    names = [one.name for one in constructor.parameters[1:]]
    path, _, owner = symbol.owner.rpartition(":")
    if path != str(constructor.module.path):
        return symbol.default
    if owner == constructor.qualname and symbol.name in names:
        argument = made.argument(names.index(symbol.name), symbol.name)
        return argument.number if argument.atoms else symbol.default
    if owner not in names:
        return symbol.default
    argument = made.argument(names.index(owner), owner)
    for name in symbol.name.split("."):
        argument = argument.attribute(name)
    return argument.number


def _argument(size: Size, constructor: Function, made: queries.Constructed) -> Iterator[tuple[Value, int]]:
    """The argument that a size is, as a call writes it, and the number that is added to it there or here."""
    symbols = [symbol for symbol in size.symbols if symbol.owner == f"{constructor.module.path}:{constructor.qualname}"]
    added = (size - Size.symbol(symbols[0])).constant if len(symbols) == len(size.symbols) == 1 else None
    if added is None or len(made.steps) != 1:
        return
    value = constructor.bind(made.steps[0].value).get(symbols[0].name)
    while value is not None and value.op is Op.BIN and value.data in ("+", "-"):
        number = value.args[1].data if value.args[1].op is Op.CONST else None
        if type(number) is not int:
            break
        added += number if value.data == "+" else -number
        value = value.args[0]
    if value is not None:
        yield value, added
