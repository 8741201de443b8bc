"""Mistakes in a configuration: parts that jsonargparse refuses, or takes in another way than they are meant."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from modellint.source import Place


class FaultKind(Enum):
    """The kinds of mistakes in a configuration."""

    UNRESOLVED = "unresolved"  # a class path that leads to nothing
    UNKNOWN_KEY = "unknown key"  # a key that the class or group does not take
    UNKNOWN_SECTION = "unknown section"  # such a key at the top of a program's configuration
    MISSING = "missing"  # a required argument that nothing gives
    BESIDE = "beside"  # a key beside `class_path` that is neither `init_args` nor `dict_kwargs`
    EMPTY = "empty"  # `init_args:` or a group without a value
    FOREIGN_CLASS = "foreign class"  # a class that does not derive from the type of the parameter
    WRONG_TYPE = "wrong type"  # a value of another type
    DICT_KWARGS = "dict_kwargs"  # an argument in `dict_kwargs` that the constructor does not take
    NO_SUBCLASSES = "no subclasses"  # `class_path` in a group of arguments of one class


@dataclass(frozen=True, eq=False, slots=True)
class Fault:
    """One mistake at a place.

    `name` is the key, class path or value, `owner` the class or group that refuses it, `wanted` what would be taken
    there: names, or a type. `near` are names that may be meant. `path` are the keys from the top to the node that is at
    fault; `class_path` and `arguments` are the class that jsonargparse builds there and the keys that it is given.
    `is_kept`: the parameter takes anything, so jsonargparse keeps the mapping as it is.
    """

    kind: FaultKind
    place: Place
    name: str
    owner: str = ""
    wanted: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    path: str = ""
    class_path: str = ""
    defined: Place | None = None
    releases: str = ""
    is_kept: bool = False
    #: The class whose parser refuses it, and what that is given there: a mapping as JSON.
    holder: str = ""
    given: str = ""
    #: A name without dots that may be that of a class which some import makes known.
    is_doubtful: bool = False

    @property
    def is_shallow(self) -> bool:
        """True if it concerns the value itself, not something in it."""
        return self.kind in (FaultKind.WRONG_TYPE, FaultKind.FOREIGN_CLASS)

    @property
    def is_short_name(self) -> bool:
        """True for a class path without dots that leads to no known class."""
        return self.kind is FaultKind.UNRESOLVED and not self.class_path
