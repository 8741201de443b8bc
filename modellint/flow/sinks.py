"""Sinks: observers of look-ups and of changes to elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import Length, Plain, Shape, SymbolicInput, Unknown

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from modellint.flow.domain import Arguments, Atom, Atoms, Filler, Site, Tensor
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Shell
    from modellint.graph.size import Size
    from modellint.graph.value import Value
    from modellint.operators import Operator


class Sink:
    """An observer of operators on tensors; subclasses override the events that they need."""

    #: True if every event must be run, not only those that ids may matter to, as for the sizes of stored tensors.
    follows_everything = False
    #: Kinds of atoms that count as equal among the arguments of a function, for the memo of calls.
    alike: tuple[type, ...] = (SymbolicInput, Unknown, Plain, Length, Shape)

    def met(self, table: Site, rows: Size | None, index: Atoms, frame: Frame, value: Value) -> None:
        """A table made at a site is indexed, by ids, positions, or an unknown tensor."""

    def sliced(self, owner: Atoms, value: Value, frame: Frame) -> None:
        """A value, perhaps a table, is subscripted: `self.table[:, :length]`."""

    def at_work(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> None:
        """A layer is called whose `forward` isn't readable, mostly one of torch."""

    def indexed(self, table: Atom, index: Atoms, frame: Frame, value: Value, *, takes_real: bool = True) -> None:
        """A value is indexed: `table[index]`, `F.embedding(index, table)`; `takes_real` if real numbers are allowed."""

    def judged(self, row: Operator, given: Arguments, ignored: Atoms | None, frame: Frame, value: Value) -> None:
        """A loss is called: `F.cross_entropy(scores, targets)`; `ignored` is its `ignore_index`."""

    def note_padded(self, tensor: Tensor, fillers: tuple[Filler, ...], frame: Frame) -> None:
        """Constants are written among the elements of a tensor of positions."""

    def note_taken_out(self, fillers: Iterable[Filler]) -> None:
        """Constants are removed from among elements by a mask, a limit or a condition."""

    def note_compared(self, keys: set[Hashable]) -> None:
        """The elements or scores with these keys are compared."""
