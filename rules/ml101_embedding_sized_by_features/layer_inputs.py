"""A theory that notes the inputs of layers: parameters, and the rows that tables return.

Results of elementwise operations on a parameter still count as it. The rows of a table are as wide as it has columns,
and a layer or a sum that takes them is noted where it tells how wide it takes them to be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow import queries
from modellint.graph.immutable import dataclass, replace
from modellint.graph.size import Size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import Function
    from modellint.graph.value import Value
    from modellint.operators import Operator

#: Facets of operators whose result consists of elements of their operand, or of numbers computed from each of them.
_OF_ELEMENTS = frozenset(("passed", "picked", "limit", "below", "lift", "like", "mask", "rounds", "same-shape", "pair"))
#: Facets of operators whose result never holds ids.
_OF_OTHERS = frozenset(("real", "drawn", "dtype", "product"))
_ARITHMETIC = frozenset(("+", "-", "*", "//", "%"))


@dataclass(frozen=True, eq=False, slots=True)
class LayerCall:
    """`layer` is called at `call`, on a path, while the function `root` runs with unknown arguments.

    It is that layer for sure, or another of its class; a table that is indexed by its weight counts as called.
    """

    layer: queries.Shell
    given: queries.Atoms
    call: queries.Site
    path: queries.Path
    root: Function


@dataclass(frozen=True, eq=False, slots=True)
class Taken:
    """Rows of the table that is made at `table` are taken to be `width` wide: by a layer, or by a sum.

    They are as wide as the table has `columns`.
    """

    table: queries.Site
    columns: Size | None
    width: Size
    taker: queries.Site


class _Elements(queries.Refinement):
    """Transfer functions of operators for tensors and parameters."""

    def __init__(self, watched: LayerInputs, tensors: queries.Tensors) -> None:
        self._watched = watched
        self._tensors = tensors

    # -- calls ---------------------------------------------------------------------------------------------------

    def method(
        self, atom: queries.Atom, name: str, arguments: queries.Arguments, frame: queries.Frame, value: Value
    ) -> queries.Atoms | None:
        if isinstance(atom, queries.Shell) and atom.kind in queries.TENSORS:
            made = [self.method(tensor, name, arguments, frame, value) for tensor in _all_tensors((atom,))]
            return queries.join(atoms for atoms in made if atoms is not None) or None
        found = self.inner.method(atom, name, arguments, frame, value)
        row = operators.row(f"Tensor.{name}")
        if row is None or not self._watched.is_at_work:
            return found
        if name == "expand" and isinstance(atom, queries.Tensor) and arguments.positional:
            is_whole = queries.constant(arguments.positional[-1]) == queries.Constant(-1)
            return (replace(atom, sizes=None, made=None),) if is_whole else found
        if not isinstance(atom, queries.SymbolicInput | queries.Unknown | queries.Plain):
            return found
        limit = row.argument("below") or row.argument("limit")
        below = None if limit is None else arguments.argument(limit[0] - 1, limit[1])
        return self._made_of((atom,), row, below, queries.Site(value, frame.function), found)

    def function(
        self, name: str, arguments: queries.Arguments, frame: queries.Frame, value: Value
    ) -> queries.Atoms | None:
        found = self.inner.function(name, arguments, frame, value)
        row = operators.row(name) or operators.row(name.removeprefix("torch."))
        if row is None or not name.startswith("torch.") or not self._watched.is_at_work:
            return found
        limit = row.argument("below") or row.argument("limit")
        below = None if limit is None else arguments.argument(*limit)
        operand = arguments.argument(0, "input") or ()
        if any(isinstance(atom, queries.Tensor) for atom in operand):
            return found
        return self._made_of(operand, row, below, queries.Site(value, frame.function), found)

    @staticmethod
    def _made_of(
        operand: queries.Atoms,
        row: Operator,
        below: queries.Atoms | None,
        made: queries.Site,
        found: queries.Atoms | None,
    ) -> queries.Atoms | None:
        """The result of an operator on a parameter, or of one that keeps numbers below a limit."""
        is_same = "casts" in row.facets or {"passed", "same-shape"} <= row.facets.keys()
        is_real = any(isinstance(atom, queries.Tensor) and atom.real is not None for atom in found or ())
        if is_real or (not is_same and row.facets.keys() & _OF_OTHERS):
            return found
        kept: list[queries.Atom] = []
        if is_same or row.facets.keys() & _OF_ELEMENTS:
            kept += [atom if is_same else atom.element() for atom in operand if isinstance(atom, queries.SymbolicInput)]
        size = queries.size_of(below)
        if size is not None:
            bound = size if "below" in row.facets else size + Size.of(1)
            kept.append(queries.Tensor(ids=queries.Ids(bound, made, None)))
        return queries.join([found or (), tuple(kept)]) or None if kept else found

    def sized(self, operation: queries.Operation) -> queries.Tensor:
        given = operation.arguments.positional
        first = given[0] if given else ()
        if len(given) == 1 and len(first) == 1 and isinstance(first[0], queries.Shell) and first[0].is_exact:
            given = tuple(entry.atoms for entry in first[0].entries)
        return replace(self.inner.sized(operation), width=queries.size_of(given[-1]) if given else None)

    def joined(self, row: Operator, operand: queries.Atoms, arguments: queries.Arguments) -> Iterator[queries.Tensor]:
        """The join of tensors: along another dimension than the last one, all have the width of any of them."""
        members = [a for atom in operand for a in (atom.contents() if isinstance(atom, queries.Shell) else (atom,))]
        widths = {tensor.width for tensor in _all_tensors(tuple(members))} - {None}
        dim = queries.constant(arguments.argument(1, "dim") or (queries.Constant(0),))
        is_front = dim is not None and dim.value in (0, 1)
        width = widths.pop() if is_front and len(widths) == 1 else None
        found = [replace(tensor, width=width) for tensor in self.inner.joined(row, operand, arguments)]
        yield from found or [queries.Tensor(width=width)]

    # -- layers --------------------------------------------------------------------------------------------------

    def layer(
        self,
        shell: queries.Shell,
        row: Operator | None,
        given: queries.Atoms | None,
        frame: queries.Frame,
        value: Value,
    ) -> queries.Atoms:
        if row is None or not self._watched.is_at_work:
            return self.inner.layer(shell, row, given, frame, value)
        if "table" in row.facets:
            width = queries.size_of(self._tensors.argument(shell, (1, "embedding_dim")))
            made = self.inner.layer(shell, row, given, frame, value)
            return tuple(replace(a, width=width, head=shell.site) if isinstance(a, queries.Tensor) else a for a in made)
        if "same-shape" not in row.facets:
            return self.inner.layer(shell, row, given, frame, value)
        tensors: list[queries.Atoms] = [(tensor,) for tensor in queries.tensors_in(given or ())] or [()]
        found = [self.inner.layer(shell, row, tensor, frame, value) for tensor in tensors]
        parameters = (
            tuple(atom for atom in given or () if isinstance(atom, queries.SymbolicInput))
            if "passed" in row.facets
            else ()
        )
        return queries.join([parameters, *found])

    # -- expressions ---------------------------------------------------------------------------------------------

    def arithmetic(self, operator: str, left: queries.Atoms, right: queries.Atoms, made: queries.Site) -> queries.Atoms:
        found = self.inner.arithmetic(operator, left, right, made)
        if not self._watched.is_at_work:
            return found
        if operator in ("+", "-"):
            for one, other in ((left, right), (right, left)):
                widths = {t.width for t in _all_tensors(other) if t.width is not None}
                if len(widths) == 1:
                    self._watched.note_taken(one, widths.pop(), made)
        if operator not in _ARITHMETIC:
            return found
        own = [
            atom.element() for atom in (*left, *right) if isinstance(atom, queries.SymbolicInput) and self._is_own(atom)
        ]
        limit = queries.size_of(right) if operator == "%" else None
        if limit is not None and not any(isinstance(atom, queries.Constant) for atom in left):
            return (*own, queries.Tensor(ids=queries.Ids(limit, made, None)))
        return queries.join(
            [found if not own else tuple(a for a in found if isinstance(a, queries.Tensor)), tuple(own)]
        )

    def _is_own(self, given: queries.SymbolicInput) -> bool:
        """True if the input is a parameter of the root function, which may be a tensor."""
        root = self._watched.root
        owner = "" if root is None else f"{root.module.path}:{root.qualname}"
        return given.symbol is None or given.symbol.owner == owner


class LayerInputs(queries.Theory, queries.Sink):
    """A sink for inputs of layers: collects the tensors and parameters that layers are called with in one run."""

    asks = "inputs of layers"
    rests_on = (queries.Tensors,)
    goes_before = (queries.Lookups,)

    def __init__(self, run: queries.Interpreter) -> None:
        self._run = run
        self._tensors = run.of(queries.Tensors)
        self._tensors.add(self)
        self._tensors.refine(_Elements(self, self._tensors))
        self.uses: list[LayerCall] = []
        self.taken: list[Taken] = []

    @property
    def lookups(self) -> queries.Lookups:
        return self._run.of(queries.Lookups)

    @property
    def is_at_work(self) -> bool:
        """True while the root function runs, rather than the code that makes its objects."""
        return self.lookups.is_running and not self._run.objects.under_construction

    @property
    def root(self) -> Function | None:
        return self.lookups.root

    def is_asked_for(self, frame: queries.Frame) -> bool:
        return True  # sums may stand in what is returned

    def at_work(self, shell: queries.Shell, arguments: queries.Arguments, frame: queries.Frame, value: Value) -> None:
        self._note_use(shell, arguments.argument(0, "input"), frame, value)

    def indexed(
        self, table: queries.Atom, index: queries.Atoms, frame: queries.Frame, value: Value, *, takes_real: bool = True
    ) -> None:
        if isinstance(table, queries.Bound) and isinstance(table.owner, queries.Shell):
            self._note_use(table.owner, index, frame, value)

    def _note_use(self, layer: queries.Shell, given: queries.Atoms | None, frame: queries.Frame, value: Value) -> None:
        root = self.root
        if not given or root is None or not self.is_at_work:
            return
        call = queries.Site(value, frame.function)
        if not self.lookups.is_one_of_several(value):
            self.uses.append(LayerCall(layer, given, call, self._run.path, root))
        row = self.lookups.row_of(layer)
        width = None if row is None else queries.size_of(self._tensors.argument(layer, _width_argument(row)))
        if width is not None:
            self.note_taken(given, width, call)

    def note_taken(self, given: queries.Atoms, width: Size, taker: queries.Site) -> None:
        """Note the rows of tables among the atoms `given`, which `taker` takes to be `width` wide."""
        if self.is_at_work:
            rows = {t.head: t.width for t in queries.tensors_in(given) if t.head is not None}
            self.taken += [Taken(table, columns, width, taker) for table, columns in rows.items()]


def _width_argument(row: Operator) -> tuple[int, str] | None:
    """The argument of a layer that is the width of its input."""
    return row.argument("width") or row.argument("own-width")


def _all_tensors(atoms: queries.Atoms) -> list[queries.Tensor]:
    """The tensors among atoms, with those that parameters of layers wrap."""
    found = list(queries.tensors_in(atoms))
    for atom in atoms:
        if isinstance(atom, queries.Shell) and atom.kind in queries.TENSORS:
            found += queries.tensors_in(atom.arguments.argument(0, "data") or ())
    return found
