"""Notes of a run about operations that torch refuses: in calls, in constructors, and in the turns of loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modellint.flow.domain import Arguments
from modellint.flow.shapes.atoms import dim_of
from modellint.flow.shapes.shape import Dim, differ
from modellint.flow.shapes.transfer import arguments
from modellint.graph.size import Size
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from modellint.flow.domain import Atom, Site
    from modellint.flow.heap import Path, Shell
    from modellint.flow.shapes.parts import Effect
    from modellint.graph.value import Event, Value
    from modellint.operators import Operator


_ONE = Size.of(1)


class Row(NamedTuple):
    """A layer of a `Sequential`, at a place in it, and in those that it holds; `is_called` unless it was only made."""

    sequential: Shell
    place: tuple[int, ...]
    is_called: bool

    def inner(self, number: int) -> Row:
        return self._replace(place=(*self.place, number))

    def element(self, made: Value) -> Value:
        """The argument that is the layer, or holds it, in the call that makes the `Sequential`; else that call."""
        given = made.positional
        is_written = (
            self.sequential.is_module_container and len(given) > 1 and all(one.op is not Op.STARRED for one in given)
        )
        return given[self.place[0]] if is_written and self.place[0] < len(given) else made


class Sized(NamedTuple):
    """A tensor that is an argument: the parameter's name, the type of its elements if it is known, and its sizes."""

    name: str
    dtype: str
    sizes: tuple[int, ...]


class Clash(NamedTuple):
    """A call or an operation that torch refuses: `kind` is what does not fit, `left` and `right` are the two sides.

    `given` is the size that a layer gets where it takes another one. `event` is the one that evaluates it, `layer` the
    layer that is called, as one of a `row` if that is in a `Sequential`. `steps` are the calls that lead to its
    function, outermost first, and `inputs` the tensors that this function is given, where their sizes are numbers.

    `doubt` is empty if torch certainly refuses it. It is "sizes" if symbols may stand for equal sizes, and "side" if a
    number that a condition chooses (`64 if narrow else 32`) fits on one side. `before` is the call of another layer,
    which takes the size `given` of the same tensor, whose own size is not known.
    """

    kind: str
    left: object
    right: object
    given: Size | None
    site: Site
    event: Event | None
    layer: Shell | None
    steps: tuple[Site, ...] = ()
    inputs: tuple[Sized, ...] = ()
    doubt: str = ""
    row: Row | None = None
    before: Clash | None = None

    def takes_other_than(self, other: Clash) -> bool:
        """True if the layer takes another size than the layer of a clash, whatever the symbols stand for."""
        sides = self.right, other.right
        return isinstance(sides[0], Dim) and isinstance(sides[1], Dim) and differ(sides[0].size, sides[1].size)

    def beside(self, other: Clash) -> Clash:
        """The clash of a layer with another one, which takes another size of the same tensor."""
        given = other.right.size if isinstance(other.right, Dim) else None
        return self._replace(left=other.left, given=given, before=other)


class NotePlace(NamedTuple):
    """The place of a note: an expression, what the note is about, and the turns of loops that it holds for.

    `turn` is "any", "first", or "perhaps": the first one, unless a condition keeps that from getting there.
    """

    key: Hashable
    about: object
    turn: str


class Noted(NamedTuple):
    """The operations that torch refuses in a run of a function, and what this does with its arguments.

    `taken` are the sizes that it takes of them, and `effects` tells which it changes, or keeps for the backward pass.
    """

    clashes: tuple[Clash, ...] = ()
    taken: tuple[tuple[Size, Clash], ...] = ()
    effects: tuple[Effect, ...] = ()


class Notes(NamedTuple):
    """The operations that torch refuses in one run of a function, and those that some alternative allows.

    `taken` are the layers that take a size of a dimension whose own size is not known, by that dimension, and the open
    conditions under which they are called: clashes with any layer that takes another size. None where that is told.
    """

    refused: dict[Hashable, Clash]
    allowed: set[Hashable]
    taken: dict[tuple[Hashable, Path], Clash | None]

    @staticmethod
    def of_none() -> Notes:
        return Notes({}, set(), {})

    def summary(self, path: Path, effects: tuple[Effect, ...]) -> Noted:
        """The parts that hold wherever the function is called; `path` are the conditions under which it was run."""
        taken = ((key, clash) for (key, at), clash in self.taken.items() if clash is not None and at == path)
        return Noted(self.clashes(), tuple((key, clash) for key, clash in taken if isinstance(key, Size)), effects)

    def clashes(self) -> tuple[Clash, ...]:
        return tuple(clash for place, clash in self.refused.items() if not self._is_allowed(place))

    def _is_allowed(self, place: Hashable) -> bool:
        if isinstance(place, NotePlace) and place.turn == "perhaps":
            return not self.allowed.isdisjoint(place._replace(turn=turn) for turn in ("first", "any"))
        return place in self.allowed


class Turn:
    """A loop under way: if it is in its first turn, and the number of open conditions where it begins."""

    def __init__(self, conditions: int) -> None:
        self.conditions = conditions
        self.is_first = True


def divisions(row: Operator, made: Arguments, site: Site, event: Event | None, layer: Shell) -> Iterator[Clash]:
    """The numbers that a layer's constructor divides with a remainder, for certain or by the defaults of symbols."""
    named = arguments(row, "divided")
    for whole, parts in zip(named[::2], named[1::2], strict=True):
        width, count = (dim_of(made.argument(*one)) for one in (whole, parts))
        if width.size is None or count.size in (None, width.size, _ONE):
            continue
        number, divisor = width.size.number, count.size.number
        if number is not None and divisor and number % divisor:
            is_certain = width.size.constant is not None and count.size.constant is not None
            doubt = "" if is_certain else "sizes"
            yield Clash("division", width, count, width.size, site, event, layer, doubt=doubt)


def alternatives(made: Arguments) -> list[Arguments]:
    """The arguments of a constructor, once for each side of the only one that a condition chooses between two numbers.

    `nn.Linear(64 if is_narrow else 32, 10)`.
    """
    chosen = [atoms for atoms in made.all() if len(atoms) == 2 and all(dim_of((one,)).size for one in atoms)]
    if len(chosen) != 1:
        return [made]

    def with_side(atom: Atom) -> Arguments:
        slots = tuple((atom,) if atoms is chosen[0] else atoms for atoms in made.positional)
        keywords = {name: (atom,) if atoms is chosen[0] else atoms for name, atoms in made.keywords.items()}
        return Arguments(slots, keywords, made.is_complete)

    return list(map(with_side, chosen[0]))
