"""What is claimed of layers: registered, moved, kept from call to call, trained, sized alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import Claim

if TYPE_CHECKING:
    from modellint.source import Place


@dataclass(frozen=True, slots=True)
class NotRegistered(Claim):
    """What an object of the class `owner` is given as `attribute` at the place is registered nowhere."""

    owner: str
    attribute: str


@dataclass(frozen=True, slots=True)
class KeptAsGiven(NotRegistered):
    """The same of the constructor's `argument`, for which it is given layers, in a `kind` of container."""

    argument: str
    kind: str


@dataclass(frozen=True, slots=True)
class LeftBehind(Claim):
    """The tensor that becomes `attribute` at the place stays behind when its layer moves; `use` meets what moved."""

    owner: str
    attribute: str
    use: Place


@dataclass(frozen=True, slots=True)
class MadeAside(Claim):
    """A layer of the class `owner` makes a tensor on the default device at the place; `use` meets what was moved."""

    owner: str
    use: Place


@dataclass(frozen=True, slots=True)
class MadeAnew(Claim):
    """Each call of the function that `entry` stands in makes a layer at the place, which is gone after it."""

    entry: Place


@dataclass(frozen=True, slots=True)
class NotListed(Claim):
    """The optimizer that `function` makes at the place is not given the parameters of `child` of an `owner`.

    Without a child, `owner` is a class of torch's, and it is parameters of the object itself.
    """

    owner: str
    child: str
    function: str


@dataclass(frozen=True, slots=True)
class MovedLate(Claim):
    """The place, on the way from `function`, gives another tensor than the one that `optimizer` was given."""

    optimizer: Place
    function: str


@dataclass(frozen=True, slots=True)
class Tied(Claim):
    """The layers made at the place and at `other` share a weight, but are not made for one number of ids.

    What stands at `tie` makes them share it in objects of the class `owner`, or has a base do that (`is_declared`).
    """

    other: Place
    tie: Place
    owner: str
    is_declared: bool


@dataclass(frozen=True, slots=True)
class Outgrown(Claim):
    """The size at the place is that of the argument `tokenizer`, without tokens added: `table` lacks their rows."""

    tokenizer: str
    table: Place


@dataclass(frozen=True, slots=True)
class NotSet(Claim):
    """The `attribute` that is read at the place is none of an object of the class `owner`."""

    owner: str
    attribute: str


@dataclass(frozen=True, slots=True)
class Unused(Claim):
    """What an object of the class `owner` keeps as `attribute` at the place gets no gradient from its `forward`."""

    owner: str
    attribute: str
