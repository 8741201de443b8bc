"""Facts that may show that a table's sizes are wrong: its holders, its look-ups, and the layers that are as wide."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from modellint import operators
from modellint.graph.definitions import DefinedFunction
from modellint.graph.value import Op, walk_all

from .held import Holders
from .shapes import INPUT_WIDTH, OWN_WIDTH, RECURRENT_WIDTH
from .table_users import TableUsers

if TYPE_CHECKING:
    from modellint.flow import queries
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.size import Size
    from modellint.rule import Project

    from .held import Held

#: Names of operators that keep ids below a number.
_LIMITING = operators.words("limit", "below")
_WIDTHS = (*INPUT_WIDTH, *OWN_WIDTH, *RECURRENT_WIDTH)


class Sizing:
    """The tables of one file, and questions about their sizes."""

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        self._module = module
        self._project = project
        self._limiting: dict[str, bool] = {}
        self.holders = Holders(module, project)

    @cached_property
    def users(self) -> TableUsers:
        """The functions of the file that use tables, run on demand."""
        return TableUsers(self._module, self._project)

    def may_limit(self, table: Held) -> bool:
        """True if a function that looks a table up, or one that it calls, may keep ids below a number."""
        if table.attribute not in self._limiting:
            self._limiting[table.attribute] = self._limits(table)
        return self._limiting[table.attribute]

    def _limits(self, table: Held) -> bool:
        functions = [function for function in self._module.all_functions() if function.name != "__init__"]
        found = [*self.users.of(table)]
        for user in found:
            called = user.words - {user.name}
            found += [other for other in functions if other.name in called and other not in found]
        words = frozenset[str]().union(*(function.words for function in found))
        imported = (self._project.names.resolve(self._module, name) for name in self._module.imports.keys() & words)
        return any(map(_may_limit, (*found, *(one.function for one in imported if isinstance(one, DefinedFunction)))))

    @cached_property
    def _parts(self) -> list[queries.Shell]:
        """The layers that objects with tables keep."""
        holders = {table.holder: None for table in self.holders.tables if table.holder is not None}
        return [part.layer for holder in holders for part in self.holders.parts(holder)]

    @cached_property
    def _given_sizes(self) -> set[Size]:
        """The sizes that these layers are given, but for the numbers of rows of tables."""
        return {size for layer in self._parts for size in self.holders.given_sizes(layer, with_rows=False)}

    @cached_property
    def _widths(self) -> set[Size | None]:
        """The widths of these layers and of their inputs."""
        return {self.holders.width(layer, (facet,)) for layer in self._parts for facet in _WIDTHS}

    def may_be_width(self, table: Held) -> bool:
        """True if a layer beside a table has a width that equals its number of rows."""
        return table.rows.size in self._widths

    def may_be_given(self, table: Held) -> bool:
        """True if a layer beside a table is given the table's number of rows."""
        return table.rows.size in self._given_sizes


def _may_limit(function: Function) -> bool:
    if not function.words.isdisjoint(_LIMITING):
        return True
    values = walk_all(event.value for event in function.flow.events) if "%" in function.text else ()
    return any(value.op is Op.BIN and value.data == "%" and value.args[0].op is not Op.CONST for value in values)
