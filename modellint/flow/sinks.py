"""Who takes notice of what operators do to tensors."""

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
    """What takes notice of what operators do to tensors."""

    #: Whether every event is run, not only those that ids may matter to: for the sizes of tensors that objects keep.
    follows_everything = False
    #: The kinds of values that are not told from others of their kind where a function is given some.
    alike: tuple[type, ...] = (SymbolicInput, Unknown, Plain, Length, Shape)

    def met(self, table: Site, rows: Size | None, index: Atoms, frame: Frame, value: Value) -> None:
        """A table is indexed, by ids, positions, or a tensor of which nothing is known."""

    def sliced(self, owner: Atoms, value: Value, frame: Frame) -> None:
        """Tables are sliced, perhaps: `self.table[:, :length]`."""

    def at_work(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> None:
        """The `forward` of a layer is run that cannot be read: torch's own, most of the time."""

    def indexed(self, table: Atom, index: Atoms, frame: Frame, value: Value, *, takes_real: bool = True) -> None:
        """`table[index]`, `F.embedding(index, table)`; whether a table takes real numbers is not asked of all."""

    def judged(self, row: Operator, given: Arguments, ignored: Atoms | None, frame: Frame, value: Value) -> None:
        """`F.cross_entropy(scores, targets)`; `ignored` is what it is told to take no notice of."""

    def note_padded(self, tensor: Tensor, fillers: tuple[Filler, ...], frame: Frame) -> None:
        """Constants are written among the elements of a tensor, which are positions."""

    def note_taken_out(self, fillers: Iterable[Filler]) -> None:
        """Constants are no longer among elements."""

    def note_compared(self, keys: set[Hashable]) -> None:
        """Elements, or scores, are compared with anything."""
