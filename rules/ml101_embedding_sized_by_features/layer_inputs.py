"""A theory that notes the inputs of layers: parameters, and the rows that tables return.

Results of elementwise operations on a parameter still count as it. The rows of a table are as wide as it has columns,
and a layer or a sum that takes them is noted where it tells how wide it takes them to be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.domain import (
    Bound,
    Constant,
    Ids,
    Plain,
    Site,
    SymbolicInput,
    Tensor,
    Unknown,
    constant,
    join,
    size_of,
)
from modellint.flow.heap import TENSORS, Shell, tensors_in
from modellint.flow.lookups import Lookups
from modellint.flow.sinks import Sink
from modellint.flow.tensors import Refinement, Tensors
from modellint.flow.theory import Mode, Theory
from modellint.graph.immutable import dataclass, replace
from modellint.graph.size import Size
from modellint.graph.value import EventKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.domain import Arguments, Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path
    from modellint.flow.interp import Interpreter
    from modellint.flow.operation import Operation
    from modellint.graph.python import Function
    from modellint.graph.value import Event, Value
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

    layer: Shell
    given: Atoms
    call: Site
    path: Path
    root: Function


@dataclass(frozen=True, eq=False, slots=True)
class Taken:
    """Rows of the table that is made at `table` are taken to be `width` wide: by a layer, or by a sum.

    They are as wide as the table has `columns`.
    """

    table: Site
    columns: Size | None
    width: Size
    taker: Site


class _Elements(Refinement):
    """Transfer functions of operators for tensors and parameters."""

    def __init__(self, watched: LayerInputs, tensors: Tensors) -> None:
        self._watched = watched
        self._tensors = tensors

    # -- calls ---------------------------------------------------------------------------------------------------

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        if isinstance(atom, Shell) and atom.kind in TENSORS:
            made = [self.method(tensor, name, arguments, frame, value) for tensor in _all_tensors((atom,))]
            return join(atoms for atoms in made if atoms is not None) or None
        found = self.inner.method(atom, name, arguments, frame, value)
        row = operators.row(f"Tensor.{name}")
        if row is None or not self._watched.is_at_work:
            return found
        if name == "expand" and isinstance(atom, Tensor) and arguments.positional:
            is_whole = constant(arguments.positional[-1]) == Constant(-1)
            return (replace(atom, sizes=None, made=None),) if is_whole else found
        if not isinstance(atom, SymbolicInput | Unknown | Plain):
            return found
        limit = row.argument("below") or row.argument("limit")
        below = None if limit is None else arguments.argument(limit[0] - 1, limit[1])
        return self._made_of((atom,), row, below, Site(value, frame.function), found)

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        found = self.inner.function(name, arguments, frame, value)
        row = operators.row(name) or operators.row(name.removeprefix("torch."))
        if row is None or not name.startswith("torch.") or not self._watched.is_at_work:
            return found
        limit = row.argument("below") or row.argument("limit")
        below = None if limit is None else arguments.argument(*limit)
        operand = arguments.argument(0, "input") or ()
        if any(isinstance(atom, Tensor) for atom in operand):
            return found
        return self._made_of(operand, row, below, Site(value, frame.function), found)

    @staticmethod
    def _made_of(operand: Atoms, row: Operator, below: Atoms | None, made: Site, found: Atoms | None) -> Atoms | None:
        """The result of an operator on a parameter, or of one that keeps numbers below a limit."""
        is_same = "casts" in row.facets or {"passed", "same-shape"} <= row.facets.keys()
        is_real = any(isinstance(atom, Tensor) and atom.real is not None for atom in found or ())
        if is_real or (not is_same and row.facets.keys() & _OF_OTHERS):
            return found
        kept: list[Atom] = []
        if is_same or row.facets.keys() & _OF_ELEMENTS:
            kept += [atom if is_same else atom.element() for atom in operand if isinstance(atom, SymbolicInput)]
        size = size_of(below)
        if size is not None:
            bound = size if "below" in row.facets else size + Size.of(1)
            kept.append(Tensor(ids=Ids(bound, made, None)))
        return join([found or (), tuple(kept)]) or None if kept else found

    def sized(self, operation: Operation) -> Tensor:
        given = operation.arguments.positional
        first = given[0] if given else ()
        if len(given) == 1 and len(first) == 1 and isinstance(first[0], Shell) and first[0].is_exact:
            given = tuple(entry.atoms for entry in first[0].entries)
        return replace(self.inner.sized(operation), width=size_of(given[-1]) if given else None)

    def joined(self, row: Operator, operand: Atoms, arguments: Arguments) -> Iterator[Tensor]:
        """The join of tensors: along another dimension than the last one, all have the width of any of them."""
        members = [a for atom in operand for a in (atom.contents() if isinstance(atom, Shell) else (atom,))]
        widths = {tensor.width for tensor in _all_tensors(tuple(members))} - {None}
        dim = constant(arguments.argument(1, "dim") or (Constant(0),))
        is_front = dim is not None and dim.value in (0, 1)
        width = widths.pop() if is_front and len(widths) == 1 else None
        found = [replace(tensor, width=width) for tensor in self.inner.joined(row, operand, arguments)]
        yield from found or [Tensor(width=width)]

    # -- layers --------------------------------------------------------------------------------------------------

    def layer(self, shell: Shell, row: Operator | None, given: Atoms | None, frame: Frame, value: Value) -> Atoms:
        if row is None or not self._watched.is_at_work:
            return self.inner.layer(shell, row, given, frame, value)
        if "table" in row.facets:
            width = size_of(self._tensors.argument(shell, (1, "embedding_dim")))
            made = self.inner.layer(shell, row, given, frame, value)
            return tuple(replace(a, width=width, head=shell.site) if isinstance(a, Tensor) else a for a in made)
        if "same-shape" not in row.facets:
            return self.inner.layer(shell, row, given, frame, value)
        tensors: list[Atoms] = [(tensor,) for tensor in tensors_in(given or ())] or [()]
        found = [self.inner.layer(shell, row, tensor, frame, value) for tensor in tensors]
        parameters = (
            tuple(atom for atom in given or () if isinstance(atom, SymbolicInput)) if "passed" in row.facets else ()
        )
        return join([parameters, *found])

    # -- expressions ---------------------------------------------------------------------------------------------

    def arithmetic(self, operator: str, left: Atoms, right: Atoms, made: Site) -> Atoms:
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
        own = [atom.element() for atom in (*left, *right) if isinstance(atom, SymbolicInput) and self._is_own(atom)]
        limit = size_of(right) if operator == "%" else None
        if limit is not None and not any(isinstance(atom, Constant) for atom in left):
            return (*own, Tensor(ids=Ids(limit, made, None)))
        return join([found if not own else tuple(a for a in found if isinstance(a, Tensor)), tuple(own)])

    def _is_own(self, given: SymbolicInput) -> bool:
        """True if the input is a parameter of the root function, which may be a tensor."""
        root = self._watched.root
        owner = "" if root is None else f"{root.module.path}:{root.qualname}"
        return given.symbol is None or given.symbol.owner == owner


class LayerInputs(Theory, Sink):
    """A sink for inputs of layers: collects the tensors and parameters that layers are called with in one run."""

    mode = Mode(asks="inputs of layers")
    rests_on = (Tensors,)
    goes_before = (Lookups,)

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        self._tensors = run.of(Tensors)
        self._tensors.add(self)
        self._tensors.refine(_Elements(self, self._tensors))
        self.uses: list[LayerCall] = []
        self.taken: list[Taken] = []

    @property
    def _lookups(self) -> Lookups:
        return self._run.of(Lookups)

    @property
    def is_at_work(self) -> bool:
        """True while the root function runs, rather than the code that makes its objects."""
        return self._lookups.is_running and not self._run.objects.under_construction

    @property
    def root(self) -> Function | None:
        return self._lookups.root

    def matters(self, event: Event, frame: Frame) -> bool | None:
        is_sure = event.kind is EventKind.RETURN and event.guard is None
        return True if is_sure else None  # sums may stand in what is returned

    def at_work(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> None:
        self._note_use(shell, arguments.argument(0, "input"), frame, value)

    def indexed(self, table: Atom, index: Atoms, frame: Frame, value: Value, *, takes_real: bool = True) -> None:
        if isinstance(table, Bound) and isinstance(table.owner, Shell):
            self._note_use(table.owner, index, frame, value)

    def _note_use(self, layer: Shell, given: Atoms | None, frame: Frame, value: Value) -> None:
        root = self.root
        if not given or root is None or not self.is_at_work:
            return
        call = Site(value, frame.function)
        if not self._lookups.is_one_of_several(value):
            self.uses.append(LayerCall(layer, given, call, self._run.path, root))
        row = self._lookups.row_of(layer)
        width = None if row is None else size_of(self._tensors.argument(layer, _width_argument(row)))
        if width is not None:
            self.note_taken(given, width, call)

    def note_taken(self, given: Atoms, width: Size, taker: Site) -> None:
        """Note the rows of tables among the atoms `given`, which `taker` takes to be `width` wide."""
        if self.is_at_work:
            rows = {t.head: t.width for t in tensors_in(given) if t.head is not None}
            self.taken += [Taken(table, columns, width, taker) for table, columns in rows.items()]


def _width_argument(row: Operator) -> tuple[int, str] | None:
    """The argument of a layer that is the width of its input."""
    return row.argument("width") or row.argument("own-width")


def _all_tensors(atoms: Atoms) -> list[Tensor]:
    """The tensors among atoms, with those that parameters of layers wrap."""
    found = list(tensors_in(atoms))
    for atom in atoms:
        if isinstance(atom, Shell) and atom.kind in TENSORS:
            found += tensors_in(atom.arguments.argument(0, "data") or ())
    return found
