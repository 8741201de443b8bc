"""The functions that look tables up in the file that makes them, their indices, and the layers that take the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.definitions import DefinedFunction
from modellint.graph.value import Op, walk_all

from .layer_inputs import LayerInputs
from .shapes import INPUT_WIDTH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.size import Size
    from modellint.rule import Project

    from .held import Held
    from .layer_inputs import LayerCall, Taken

#: Methods that are called without their name.
_UNNAMED = frozenset(("forward", "__call__"))


class TableUsers:
    """The functions of one file, run with unknown arguments, and their uses of tables and of the layers beside them."""

    def __init__(self, module: ModuleFacts, project: Project) -> None:
        self._module = module
        self._project = project
        self._flow = queries.flow(module, project)
        self._run = queries.run(project, LayerInputs)
        self._inputs = self._run.theory
        self._inputs.lookups.collects_all = True
        self._started: set[Function] = set()
        self._mentioning: dict[str, list[Function]] = {}

    def lookups(self, table: Held) -> list[LayerCall]:
        """The look-ups of a table."""
        self._run_users(table)
        return [use for use in self._inputs.uses if table.is_made_as(use.layer)]

    def takers(self, table: Held) -> Iterator[Taken]:
        """The operations that take the rows of a table to have some width."""
        self._run_users(table)
        columns = None if table.columns is None else table.columns.size
        return (taken for taken in self._inputs.taken if (taken.table, taken.columns) == (table.made, columns))

    def _run_users(self, table: Held) -> None:
        """Run the functions that may look a table up, once; the constructors of their objects before that."""
        wanted = [function for function in self.of(table) if function not in self._started]
        self._started.update(wanted)
        users = [(function, receiver) for function in wanted for receiver in self._run.receivers(function)]
        for _, receiver in users:
            if receiver is not None:
                self._run.construct(receiver)
                receiver.settle()
        constructing = set(self._run.followed())
        users.sort(key=lambda user: not any(self._flow.tables_given(user[0])))
        for function, receiver in users:
            if function not in constructing:
                self._run.call(function, receiver)

    def of(self, table: Held) -> list[Function]:
        """The functions that mention the attribute under which a table is kept, or a method that does."""
        if table.attribute not in self._mentioning:
            self._mentioning[table.attribute] = self._find(table.attribute)
        return self._mentioning[table.attribute]

    def _find(self, attribute: str) -> list[Function]:
        functions = [function for function in self._module.all_functions() if function.name != "__init__"]
        if not attribute:
            return [f for f in functions if self._flow.may_look_up(f)]
        names = {attribute, *self._imported_users(attribute)}
        found: dict[Function, None] = {}
        while new := [f for f in functions if f not in found and not names.isdisjoint(f.words)]:
            found.update(dict.fromkeys(new))
            names.update(f.name for f in new if f.name not in _UNNAMED)
        return list(found)

    def _imported_users(self, attribute: str) -> Iterator[str]:
        """The names of the imported functions that mention an attribute."""
        for name in self._module.imports:
            found = self._project.names.resolve(self._module, name)
            if isinstance(found, DefinedFunction) and attribute in found.function.words:
                yield name

    def is_transposed(self, table: Held) -> bool:
        """True if a table is never looked up, but used through its weight, which may lie either way."""
        values = walk_all(event.value for function in self._module.all_functions() for event in function.flow.events)
        weights = (value.args[0] for value in values if value.op is Op.ATTR and value.data == "weight")
        is_taken = any(owner.op is Op.ATTR and owner.data == table.attribute for owner in weights)
        return is_taken and not self.lookups(table)

    def fed_beside(self, lookup: LayerCall, rows: Size) -> Iterator[LayerCall]:
        """The layers whose input is a tensor that looks a table up, and is `rows` wide, on a path that both share."""
        tensors = {atom for atom in lookup.given if isinstance(atom, queries.SymbolicInput) and is_parameter(atom)}
        for use in self._inputs.uses if tensors else ():
            is_beside = use.root is lookup.root and use.call.value is not lookup.call.value
            is_fed = (
                is_beside and not tensors.isdisjoint(use.given) and not queries.are_exclusive(use.path, lookup.path)
            )
            if is_fed and self._input_width(use.layer) == rows:
                yield use

    def _input_width(self, layer: queries.Shell) -> Size | None:
        return self._run.size(layer, *INPUT_WIDTH)


def is_parameter(given: queries.SymbolicInput) -> bool:
    """True if an input is a parameter of its root, rather than an attribute or entry of one."""
    return "." not in given.name and "[" not in given.name


def indices(lookup: LayerCall) -> Iterator[queries.Tensor]:
    """The tensors of which something is known among the indices of a look-up."""
    yield from queries.tensors_in(lookup.given)
    for atom in lookup.given:
        if isinstance(atom, queries.Shell) and atom.kind in queries.TENSORS:
            yield from queries.tensors_in(
                atom.arguments.argument(0, "data") or atom.arguments.argument(0, "tensor") or ()
            )
