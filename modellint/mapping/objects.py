"""What the interpreter works with besides numbers, strings, lists and dicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modellint.graph.size import Size
from modellint.knowledge import parameter_counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from modellint.graph.python import Function as Body
    from modellint.link.classes.models import ClassModel


class UncertainError(Exception):
    """What follows cannot be told: a loop without a known end, an open condition around something that matters."""


class _Unknown:
    """Anything."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


class Text:
    """A string of which nothing is known but that it is one."""

    __slots__ = ()


@dataclass(eq=False, slots=True)
class Weights:
    """A parameter or a tensor of `size` elements; only parameters count."""

    size: Size | None
    is_parameter: bool = False


@dataclass(eq=False, slots=True)
class ClassRef:
    """A class that is passed on uncalled, with arguments that it has already."""

    model: ClassModel
    positional: tuple[Any, ...] = ()
    keywords: Mapping[str, Any] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Function:
    """A function that can be read, or one that has only a `name`; `owner` is what it is a method of."""

    body: Body | None
    name: str = ""
    owner: Any = None
    above: int = 0


@dataclass(frozen=True, slots=True)
class Perhaps:
    """An attribute that is one of `values` or something else."""

    values: tuple[Any, ...]


class Thing:
    """An object of a class.

    `children` are what it was filled with as a container, `own` the parameters of a described class that it is.
    `is_open` tells that there may be more, or other things, than are known.
    """

    __slots__ = ("attributes", "children", "is_given", "is_open", "model", "own")

    def __init__(self, model: ClassModel, *, is_given: bool = False) -> None:
        self.model = model
        self.attributes: dict[str, Any] = {}
        self.children: list[Any] = []
        self.own: Size | None = Size.of(0)
        self.is_open = False
        #: A layer that is counted elsewhere.
        self.is_given = is_given

    def describe(self, name: str, positional: tuple[Any, ...], keywords: Mapping[str, Any]) -> None:
        """Take the parameters, and the arguments as attributes, of the described class that this is."""
        arguments = parameter_counts.arguments_of(name, positional, keywords)
        self.own = parameter_counts.count(name, arguments)
        self.attributes.update(arguments)

    def keep(self, name: str, value: Any) -> None:
        """Store an attribute; a weight that is replaced by another one is not counted twice, so it is not counted."""
        if name in ("weight", "bias") and self.own != Size.of(0):
            self.own = None
        self.attributes[name] = value

    def fill(self, values: Iterable[Any]) -> None:
        """Take in what a container is given: layers, lists and dicts of them."""
        pending = list(values)[::-1]
        opened: set[int] = set()
        while pending:
            value = pending.pop()
            if isinstance(value, list | tuple | dict):
                if id(value) not in opened:  # what is given twice is one child
                    opened.add(id(value))
                    pending.extend(reversed(list(value.values() if isinstance(value, dict) else value)))
            elif isinstance(value, Thing | Weights):
                self.children.append(value)
            elif value is UNKNOWN:
                self.is_open = True


def perhaps(before: Any, value: Any) -> Any:
    """What an attribute is that was `before`, and may have become `value`."""
    if same(before, value):
        return value
    options = [*(before.values if isinstance(before, Perhaps) else (before,)), value]
    layers = tuple(option for option in options if isinstance(option, Thing | Weights))
    return Perhaps(layers) if layers and not any(option is UNKNOWN for option in options) else UNKNOWN


def counted(values: Iterable[Any], is_plain: Callable[[Thing, str], bool]) -> Size | None:
    """How many parameters objects have together, each counted once; None if that is not known.

    `is_plain` tells whether an attribute that is not known is certainly no layer.
    """
    total = Size.of(0)
    seen: set[int] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Weights):
            if value.is_parameter:
                if value.size is None:
                    return None
                total = total + value.size
        elif isinstance(value, Perhaps):
            if any(counted((option,), is_plain) != Size.of(0) for option in value.values):
                return None
        elif isinstance(value, Thing):
            if value.is_given or value.model.is_module is False:
                continue
            if value.is_open or value.own is None or value.model.is_module is None:
                return None
            if any(held is UNKNOWN and not is_plain(value, name) for name, held in value.attributes.items()):
                return None
            total = total + value.own
            pending.extend(value.children)
            pending.extend(held for held in value.attributes.values() if isinstance(held, Weights | Thing | Perhaps))
    return total


def number(value: Any) -> Any:
    """A size without symbols as the number that it is; anything else as it is."""
    if isinstance(value, Size) and value.constant is not None:
        return value.constant
    return value


def whole(value: Any) -> Size | None:
    """A whole number as a size."""
    if isinstance(value, Size):
        return value
    return Size.of(value) if isinstance(value, int) and not isinstance(value, bool) else None


def same(left: Any, right: Any) -> bool:
    """Whether two values certainly are the same."""
    if left is right:
        return left is not UNKNOWN
    plain = (int, float, str, bool, Size, type(None))
    return isinstance(left, plain) and isinstance(right, plain) and type(left) is type(right) and left == right
