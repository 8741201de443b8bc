"""Claims about recipes and configurations: entries that they lack, and effects of those that they have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .claim import Claim

if TYPE_CHECKING:
    from modellint.source import Place


@dataclass(frozen=True, slots=True)
class NotMoved(Claim):
    """The object at `key` stays on its device when the `modules` of the recipe move."""

    key: str


@dataclass(frozen=True, slots=True)
class NoModule(Claim):
    """The `modules` of the recipe have no entry `key`."""

    key: str


@dataclass(frozen=True, slots=True)
class NotSaved(Claim):
    """The object at `key` is not saved by the checkpointer at `checkpointer`."""

    key: str
    checkpointer: str


@dataclass(frozen=True, slots=True)
class NotTrained(Claim):
    """The optimizers of the class `brain` in `script` don't get the parameters of the object at `key`."""

    key: str
    script: str
    brain: str


@dataclass(frozen=True, slots=True)
class OptimizerNotSaved(Claim):
    """The optimizer that the class `brain` in `script` makes at `made` is not added to the checkpointer."""

    script: str
    brain: str
    made: Place


@dataclass(frozen=True, slots=True)
class NotWrapped(Claim):
    """A method of `brain` in `script` calls, at `called`, the bare module at `key`, not the wrapped one at `entry`."""

    key: str
    entry: str
    script: str
    brain: str
    called: Place


@dataclass(frozen=True, slots=True)
class SizesDiffer(Claim):
    """The head at key `head` scores another number of ids than the one at key `other`."""

    head: str
    other: str


@dataclass(frozen=True, slots=True)
class RowsLacking(Claim):
    """The head at key `head` scores more ids than the table at key `other` has rows."""

    head: str
    other: str


@dataclass(frozen=True, slots=True)
class NotLoaded(Claim):
    """The text at the place makes the recipe fail to load; with `instead` in its place it loads.

    If nothing can stand in its place, or if the error is known to, that names `wanted`.
    """

    instead: str
    wanted: str = ""


@dataclass(frozen=True, slots=True)
class KeyTwice(Claim):
    """The `key` at the place stands in its mapping twice: the file is refused, or the last value `is_kept`."""

    key: str
    is_kept: bool


@dataclass(frozen=True, slots=True)
class NoEntry(Claim):
    """The mapping at `where` of a configuration has no `key`, which the program at the place reads.

    The configuration is the one that Hydra composes, as for NotComposed, or a file of its own if there is no `name`.
    """

    where: str
    key: str
    folder: str
    name: str = ""
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotMade(Claim):
    """The object at `key` cannot be made, since the `target` of the tag at the place raises; `says` gives the error."""

    key: str
    target: str
    says: str


@dataclass(frozen=True, slots=True)
class NoKey(Claim):
    """The recipe lacks the `key` that a script reads, or overrides (`is_override`)."""

    key: str
    is_override: bool


@dataclass(frozen=True, slots=True)
class Unresolved(Claim):
    """The interpolation `text` leads to no node: in the file, or in what Hydra composes, as for NotComposed."""

    text: str
    folder: str = ""
    name: str = ""
    arguments: tuple[str, ...] = ()
    script: str = ""


@dataclass(frozen=True, slots=True)
class NotComposed(Claim):
    """Hydra refuses to compose the configuration `name` in `folder` with `arguments` of the command line.

    The error names `wanted`. Importing the program `script` may register more configurations.
    """

    folder: str
    name: str
    arguments: tuple[str, ...]
    wanted: str
    script: str = ""


@dataclass(frozen=True, slots=True)
class NotLocated(Claim):
    """No object called `target` exists that a configuration could build: in these `releases` of its `package`.

    `releases` are single ones, or the ends of ranges (`1.5 to 2.6`); empty if the source itself was read.
    """

    target: str
    package: str = ""
    releases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NotParsed(Claim):
    """jsonargparse refuses `arguments`, a mapping as JSON, for the class or function `target`.

    The error names `wanted`.
    """

    target: str
    arguments: str
    wanted: str


@dataclass(frozen=True, slots=True)
class NotCalled(Claim):
    """`target` doesn't accept these `keywords`, or this many `positional` arguments.

    `is_final`: no more arguments follow, so that some may be missing. `package` and `releases` are as for NotLocated.
    """

    target: str
    positional: int
    keywords: tuple[str, ...]
    is_final: bool = False
    package: str = ""
    releases: tuple[str, ...] = ()
