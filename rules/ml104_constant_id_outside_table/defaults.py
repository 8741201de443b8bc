"""Defaults of one constructor that do not fit each other, and that no caller leaves as they are."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from modellint.flow import queries

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.size import Size, Symbol
    from modellint.rule import Project


def never_by_default(size: Size, rows: Size, modules: Iterable[ModuleFacts], project: Project) -> bool:
    """True if an id and a number of rows depend on a constructor's defaults, and all callers pass fitting numbers.

    There has to be a caller.
    """
    symbols = size.symbols | rows.symbols
    owners = {symbol.owner for symbol in symbols}
    functions = (one for module in modules for one in module.all_functions())
    constructor = next((one for one in functions if owners == {f"{one.module.path}:{one.qualname}"}), None)
    if constructor is None or constructor.name != "__init__" or constructor.owner is None:
        return False
    made = queries.flow(constructor.module, project).constructed_anywhere(constructor.owner)
    return bool(made) and not any(_is_outside(size, rows, _numbers_of(one, symbols, constructor)) for one in made or ())


def _numbers_of(
    made: queries.Constructed, symbols: Iterable[Symbol], constructor: Function
) -> dict[Symbol, float | None]:
    """The numbers that an object is made with, the defaults included; None for an argument that is not known."""
    names = [one.name for one in constructor.parameters[1:]]
    found: dict[Symbol, float | None] = {}
    for symbol in symbols:
        argument = made.argument(names.index(symbol.name), symbol.name) if symbol.name in names else None
        found[symbol] = symbol.default if argument is None or not argument.atoms else argument.number
    return found


def _is_outside(size: Size, rows: Size, given: Mapping[Symbol, float | None]) -> bool:
    number, count = (_number(one, given) for one in (size, rows))
    return number is not None and (number < 0 or (count is not None and number >= count))


def _number(size: Size, given: Mapping[Symbol, float | None]) -> float | None:
    total: float = 0
    for symbols, factor in size.terms:
        numbers = [given.get(symbol) for symbol in symbols]
        if None in numbers:
            return None
        total += factor * prod(number for number in numbers if number is not None)
    return total
