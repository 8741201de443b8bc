"""What is claimed of recipes and configurations: what they lack, and what comes of what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import Claim

if TYPE_CHECKING:
    from modellint.source import Place


@dataclass(frozen=True, slots=True)
class NotMoved(Claim):
    """What `key` names stays where it is when the `modules` of the recipe move."""

    key: str


@dataclass(frozen=True, slots=True)
class NoModule(Claim):
    """The `modules` of the recipe have no entry `key`."""

    key: str


@dataclass(frozen=True, slots=True)
class NotSaved(Claim):
    """What `key` names is not in what `checkpointer` saves."""

    key: str
    checkpointer: str


@dataclass(frozen=True, slots=True)
class NotTrained(Claim):
    """The optimizers of the class `brain` in `script` are not given the parameters of what `key` names."""

    key: str
    script: str
    brain: str


@dataclass(frozen=True, slots=True)
class OptimizerNotSaved(Claim):
    """The optimizer that the class `brain` in `script` makes at `made` is not handed to the checkpointer."""

    script: str
    brain: str
    made: Place


@dataclass(frozen=True, slots=True)
class NotWrapped(Claim):
    """A method of the class `brain` in `script` calls, at `called`, what `key` names, not the wrapper of `entry`."""

    key: str
    entry: str
    script: str
    brain: str
    called: Place


@dataclass(frozen=True, slots=True)
class SizesDiffer(Claim):
    """What `head` names gives scores to another number of ids than what `other` names."""

    head: str
    other: str


@dataclass(frozen=True, slots=True)
class RowsLacking(Claim):
    """What `head` names gives scores to more ids than `other`, a table, has rows."""

    head: str
    other: str


@dataclass(frozen=True, slots=True)
class NotLoaded(Claim):
    """What stands at the place keeps the recipe from being loaded, and `instead` of it does not."""

    instead: str


@dataclass(frozen=True, slots=True)
class NotMade(Claim):
    """What `key` names is not made, since what the tag at the place names, `target`, is refused; `says` tells why."""

    key: str
    target: str
    says: str


@dataclass(frozen=True, slots=True)
class NoKey(Claim):
    """The recipe has no `key` for a script that reads it, or overrides it."""

    key: str
    is_override: bool


@dataclass(frozen=True, slots=True)
class Unresolved(Claim):
    """The interpolation `text` of a configuration leads nowhere."""

    text: str


@dataclass(frozen=True, slots=True)
class NotLocated(Claim):
    """There is nothing called `target` that a configuration could build."""

    target: str


@dataclass(frozen=True, slots=True)
class NotCalled(Claim):
    """`target` takes no such `keywords`, or not so many arguments by position."""

    target: str
    positional: int
    keywords: tuple[str, ...]
