"""The protocol by which transfer functions see a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from modellint.flow.shapes.shape import Dim, Refused, Shape, Star
    from modellint.operators import Operator

    #: What is known of a result: a shape, those of several tensors, or nothing.
    Result = Shape | list[Shape] | None


class Call(Protocol):
    """A call of an operator, with one alternative for each of its tensors.

    Positions count as in the table of operators: of functions and methods from the operand (0) on; of a layer, they are
    those of its constructor, and `operand` and `tensors()` are what the layer is called with.
    """

    row: Operator
    #: What is told a size, and the one that torch takes there; None in runs that learn nothing.
    takes: Callable[[Dim, Dim], None] | None
    #: The dimensions of the operand whose size is not known, their places, and the size that is taken there instead.
    taken: list[tuple[Dim, int, Refused]]
    #: What tells the result apart from those of other calls.
    key: Hashable

    @property
    def operand(self) -> Shape | None:
        """The shape of the operand; None for what makes a tensor of none."""

    def tensors(self) -> list[Shape]:
        """The shapes of all tensors among the arguments."""

    def tensor(self, position: int, name: str) -> Shape | None:
        """The shape of an argument; None if it is none, or not known to be a tensor."""

    def parts(self) -> tuple[list[Shape], bool] | None:
        """The shapes of the tensors in the list that is the operand, and True if there may be more of them."""

    def is_given(self, position: int, name: str) -> bool:
        """True if the argument is, or may be, given as something else than None."""

    def size(self, position: int, name: str) -> Dim:
        """A number as a dimension; of unknown size if it is not known."""

    def whole(self, position: int, name: str, default: int | None = None) -> int | None:
        """An argument that is a whole number, or its default; None if it is not known."""

    def flag(self, position: int, name: str, *, default: bool = False) -> bool | None:
        """An argument that is true or false; None if it is not known."""

    def text(self, position: int, name: str) -> str | None:
        """An argument that is a text."""

    def sizes(self, position: int, name: str) -> list[Dim | Star | None] | None:
        """The numbers that are given from a position on, one by one or as one tuple; None if not known how many."""

    def many(self, position: int, name: str) -> list[Dim | Star | None] | Dim | None:
        """An argument that is one number or a tuple of them."""

    def keywords(self) -> dict[str, Dim]:
        """The numbers among keyword arguments."""

    def doubt(self, refused: Refused) -> None:
        """Take note of what torch refuses unless symbols stand for equal sizes."""
