"""Claims about layers: whether they are registered, moved, kept between calls, trained, and of matching sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .claim import Claim

if TYPE_CHECKING:
    from modellint.source import Place


@dataclass(frozen=True, slots=True)
class NotRegistered(Claim):
    """The layers stored at the place in `attribute` of an object of the class `owner` are not registered."""

    owner: str
    attribute: str


@dataclass(frozen=True, slots=True)
class KeptAsGiven(NotRegistered):
    """The same for layers that the constructor gets as `argument`, in a container of type `kind`."""

    argument: str
    kind: str


@dataclass(frozen=True, slots=True)
class LeftBehind(Claim):
    """The tensor stored as `attribute` at the place stays when its layer moves, and meets moved tensors at `use`."""

    owner: str
    attribute: str
    use: Place


@dataclass(frozen=True, slots=True)
class MadeAside(Claim):
    """A layer of the class `owner` makes a tensor on the default device at the place; it meets moved ones at `use`.

    If `is_kept`, it makes it on the device that its constructor was given, by default.
    """

    owner: str
    use: Place
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class MadeAnew(Claim):
    """Each call of the function around `entry` makes a layer at the place, which is lost when the call returns.

    The function is a method that the class `owner` inherits, in the file of the place, if there is an `owner`.
    """

    entry: Place
    owner: str = ""


@dataclass(frozen=True, slots=True)
class NotListed(Claim):
    """The optimizer that `function` makes at the place is not given the parameters of `child` of an `owner`.

    Without a child, `owner` is a class of torch, and the parameters are the object's own.
    """

    owner: str
    child: str
    function: str


@dataclass(frozen=True, slots=True)
class MovedLate(Claim):
    """The place, reached from `function`, replaces a parameter that the optimizer made at `optimizer` already has."""

    optimizer: Place
    function: str


@dataclass(frozen=True, slots=True)
class Tied(Claim):
    """The layers made at the place and at `other` share a weight, but are not made for one number of ids.

    The code at `tie` ties them in objects of the class `owner`, or makes a base class tie them (`is_declared`).
    """

    other: Place
    tie: Place
    owner: str
    is_declared: bool


@dataclass(frozen=True, slots=True)
class Outgrown(Claim):
    """The size at the place leaves out the tokens added to the argument `tokenizer`: `table` lacks their rows."""

    tokenizer: str
    table: Place


@dataclass(frozen=True, slots=True)
class NotSet(Claim):
    """The `attribute` read at the place doesn't exist in an object of the class `owner`."""

    owner: str
    attribute: str


@dataclass(frozen=True, slots=True)
class Unused(Claim):
    """The layer stored at the place as `attribute` of an `owner` object gets no gradient from its `forward`."""

    owner: str
    attribute: str


@dataclass(frozen=True, slots=True)
class Changed(Claim):
    """The backward pass of a call of an `owner` object fails, for what is changed in place at the place."""

    owner: str


@dataclass(frozen=True, slots=True)
class Repeated(Claim):
    """The container of layers that is made at the place has one layer more than once."""
