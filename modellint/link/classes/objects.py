"""What an expression in a constructor amounts to, as far as registration and state are concerned."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping

    from modellint.graph.value import Value
    from modellint.link.classes.construction import Frame
    from modellint.link.classes.methods import Method
    from modellint.link.classes.models import ClassModel


#: How many parts arguments may have for what comes of them to be remembered.
_MAX_KEY = 400


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything, a layer among it."""


@dataclass(frozen=True, slots=True)
class Plain:
    """Something that is no layer and no parameter: a number, a string, a tensor, a tokenizer."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A Python constant."""

    value: object


#: Which call made an object: the calls that lead there from the constructor, by identity, outermost first.
Origin = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tensor:
    """A parameter or buffer: state wherever it is registered. Only parameters are `trained`."""

    trained: bool = True
    origin: Origin | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Trained:
    """A layer with parameters whose class cannot be read: what a library's `from_pretrained` returns."""

    origin: Origin | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Given:
    """The value of a constructor parameter that is not known, or a part of it; `is_layer` if it is known to be one."""

    parameter: str
    is_layer: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """A list, tuple, set or dict. `keys` are those of a dict whose keys are all constant."""

    items: tuple[Object, ...]
    keys: tuple[object, ...] | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """What `zip`, `enumerate` and `dict.items` yield: one element of each column at a time."""

    columns: tuple[Object, ...]
    is_row: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several objects, or in a loop each of them in turn."""

    options: tuple[Object, ...]
    is_each: bool = False


@dataclass(frozen=True, slots=True)
class Never:
    """An element of something empty: what a loop does with it is not done."""


@dataclass(frozen=True, slots=True)
class ClassObject:
    """A class that is passed on uncalled, with the arguments that a `partial` or `!name:` already gives it."""

    model: ClassModel
    arguments: Arguments = field(default_factory=lambda: Arguments())


@dataclass(frozen=True, slots=True)
class Instance:
    """An object of a class; `contents` are layers that were put into it from outside."""

    model: ClassModel
    arguments: Arguments = field(default_factory=lambda: Arguments())
    contents: tuple[Object, ...] = ()
    origin: Origin | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Outside:
    """A function, class or module that cannot be read, by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class Callable:
    """A function that can be read; `body` is what a nested one returns, `frame` where it was made."""

    method: Method | None
    body: Value | None = None
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class Receiver:
    """The object under construction; `above` is how many classes of the MRO `super()` has left behind."""

    above: int = 0


Object = (
    Unknown
    | Plain
    | Constant
    | Tensor
    | Trained
    | Given
    | Group
    | Rows
    | Choice
    | Never
    | ClassObject
    | Instance
    | Outside
    | Callable
    | Receiver
)


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call. `is_complete` is False where more may be passed (`*args`, `**options`)."""

    positional: tuple[Object, ...] = ()
    keywords: Mapping[str, Object] = field(default_factory=dict)
    is_complete: bool = True

    def then(self, more: Arguments) -> Arguments:
        """These arguments, and those that a later call adds: `functools.partial(f, …)(…)`."""
        return Arguments(
            (*self.positional, *more.positional),
            {**self.keywords, **more.keywords},
            self.is_complete and more.is_complete,
        )


def key_of(arguments: Arguments) -> Hashable | None:
    """What equal arguments have in common, to remember what comes of them; None for some that nothing can equal.

    It holds the identities of class models, which live as long as what is remembered of them.
    """
    try:
        return _arguments_key(arguments, count(1))
    except _KeylessError:
        return None


class _KeylessError(Exception):
    """There are functions among the arguments, or too many parts."""


def _arguments_key(arguments: Arguments, parts: Iterator[int]) -> Hashable:
    positional = tuple(_key(value, parts) for value in arguments.positional)
    keywords = tuple((name, _key(value, parts)) for name, value in arguments.keywords.items())
    return positional, keywords, arguments.is_complete


def _key(value: Object, parts: Iterator[int]) -> Hashable:
    if next(parts) > _MAX_KEY:
        raise _KeylessError
    match value:
        case Constant(constant):
            return type(constant), repr(constant)
        case Instance(model, arguments, held):
            return id(model), _arguments_key(arguments, parts), tuple(_key(item, parts) for item in held)
        case ClassObject(model, arguments):
            return "class", id(model), _arguments_key(arguments, parts)
        case Group(items, keys):
            return "group", tuple(_key(item, parts) for item in items), repr(keys)
        case Rows(columns, is_row):
            return "rows", tuple(_key(column, parts) for column in columns), is_row
        case Choice(options, is_each):
            return "choice", tuple(_key(option, parts) for option in options), is_each
        case Callable():
            raise _KeylessError
        case _:
            return value


NO_ARGUMENTS = Arguments()
ANY_ARGUMENTS = Arguments(is_complete=False)
UNKNOWN = Unknown()
PLAIN = Plain()
TENSOR = Tensor()
BUFFER = Tensor(trained=False)
TRAINED = Trained()
NOTHING = Group(())
NEVER = Never()


def choice(options: Iterable[Object], *, is_each: bool = False) -> Object:
    """One of `options`, or each of them, flattened."""
    flat: list[Object] = []
    for option in options:
        is_each = is_each or (isinstance(option, Choice) and option.is_each)
        for part in alternatives(option):
            if part is not NEVER and not any(part is known for known in flat):
                flat.append(part)
    if len(flat) == 1:
        return flat[0]
    return Choice(tuple(flat), is_each) if flat else NEVER


def merged(options: list[Object], *, is_loop: bool) -> Object:
    """One of `options`; of lists, one list with what they have in common, and perhaps with what only some have.

    A list, or a layer that holds others, has all that a loop puts into it.
    """
    if is_loop and (filled := _filled([option for option in options if option is not NEVER])) is not None:
        return filled
    groups = [option for option in options if isinstance(option, Group) and option.keys is None]
    if len(groups) < 2 or len(groups) < sum(option is not NEVER for option in options):
        return choice(options)
    items: list[Object] = []
    for item in (item for group in groups for item in group.items):
        if not any(item is known for known in items):
            items.append(item)
    if is_loop:
        return Group(tuple(items))
    common = [all(any(item is other for other in group.items) for group in groups) for item in items]
    maybe = (item if sure else choice([item, Constant(None)]) for item, sure in zip(items, common, strict=True))
    return Group(tuple(maybe))


def _filled(options: list[Object]) -> Instance | None:
    """The one object that the options are, with all that they put into it.

    Shipped facts do not say what a loop leads back to: what is put there into a list is put into the container.
    """
    first = options[0] if options else None
    if not isinstance(first, Instance):
        return None
    held: list[Object] = []
    for option in options:
        if isinstance(option, Group) and first.model.is_container:
            items = option.items
        elif isinstance(option, Instance) and (option.model, option.arguments) == (first.model, first.arguments):
            items = option.contents
        else:
            return None
        held.extend(item for item in items if not any(item is known for known in held))
    return replace(first, contents=tuple(held))


def made_by(value: Object, origin: Origin, *, afresh: bool = False) -> Object:
    """`value` as the call `origin` returns it: what nobody else made was made there, `afresh` all of it."""
    if isinstance(value, Instance | Tensor | Trained):
        return replace(value, origin=origin) if afresh or value.origin is None else value
    if isinstance(value, Choice):
        return replace(value, options=tuple(made_by(option, origin, afresh=afresh) for option in value.options))
    if isinstance(value, Group) and afresh:
        items = (made_by(item, (*origin, number), afresh=True) for number, item in enumerate(value.items))
        return replace(value, items=tuple(items))
    return value


def alternatives(value: Object) -> tuple[Object, ...]:
    return value.options if isinstance(value, Choice) else (value,)


def element(value: Object) -> Object:
    """One element of what a value iterates over."""
    if isinstance(value, Group):
        return choice(value.items, is_each=True)
    if isinstance(value, Given | Plain | Never):
        return value
    if isinstance(value, Rows):
        return Rows(value.columns, is_row=True)
    if isinstance(value, Choice):
        return choice([element(option) for option in value.options])
    if isinstance(value, Constant | Tensor):
        return PLAIN
    return UNKNOWN


def part(value: Object, index: object) -> Object:
    """`value[index]`; with an index that is not a constant, any part."""
    if isinstance(value, Rows):
        if value.is_row and isinstance(index, int) and -len(value.columns) <= index < len(value.columns):
            return element(value.columns[index])
        return UNKNOWN
    if isinstance(value, Group) and index is not None:
        if value.keys is not None:
            if index in value.keys:
                return value.items[value.keys.index(index)]
        elif isinstance(index, int) and -len(value.items) <= index < len(value.items):
            return value.items[index]
    if isinstance(value, Choice):
        return choice([part(option, index) for option in value.options])
    return choice(value.items) if isinstance(value, Group) else element(value)


def contents(value: Object) -> tuple[Object, ...]:
    """The objects that a container built from `value` holds."""
    if isinstance(value, Group):
        nested = (contents(item) if isinstance(item, Group) else (item,) for item in value.items)
        return tuple(inner for items in nested for inner in items)
    if isinstance(value, Rows):
        return tuple(inner for column in value.columns[1:] for inner in contents(column))
    if isinstance(value, Constant | Plain | Never):
        return ()
    return (value,)
