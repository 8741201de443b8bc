"""What a value may be while a program runs on paper: an ordered union of atoms.

No atom at all is what never comes to be: an element of something empty. An atom beside `UNKNOWN` still counts: a value
that may be a layer and may be anything else is looked at as the layer.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from modellint.graph.hashing import HashedOnce, hashed_once
from modellint.graph.immutable import dataclass, replace
from modellint.graph.size import Size, Symbol
from modellint.graph.value import Op
from modellint.operators import spellings

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from modellint.flow.frame import Frame
    from modellint.flow.heap import Shell
    from modellint.flow.theory import Foreign
    from modellint.graph.methods import Method
    from modellint.graph.python import Function, ModuleFacts
    from modellint.graph.value import Nested, Value
    from modellint.link.classes.models import ClassModel
    from modellint.source import Place

#: How many constants a value may be before it counts as anything plain.
_MAX_CONSTANTS = 16
#: How much of an expression is shown, in characters.
_MAX_TEXT = 60
#: How many atoms a value may have; with more of them it is unknown as well.
_MAX_ATOMS = 64


class Constant:
    """A Python constant; `1`, `True` and `1.0` are three."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"Constant({self.value!r})"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Anything, a layer among it. `held` are objects that it was made from and may keep."""

    held: tuple[Shell, ...] = ()


@dataclass(frozen=True, slots=True)
class Plain:
    """Something that is no layer, no parameter and no container of them: a number, a string, a tensor.

    Of `torch.device("cpu")`, `device` is the name.
    """

    device: str = field(default="", kw_only=True)


@hashed_once
@dataclass(frozen=True, slots=True)
class SymbolicInput(HashedOnce):
    """What a root's parameter was given, or a part of it: `config`, `config.hidden_size`.

    `symbol` is what it counts for where it is a number, `home` who owns the symbols of its parts. `is_there`: it is not
    None.
    """

    name: str
    symbol: Symbol | None = None
    home: str = ""
    is_there: bool = False

    def part(self, name: str) -> SymbolicInput:
        """An attribute of the input, by its name."""
        full = f"{self.name}.{name}"
        return (
            SymbolicInput(full, Symbol(self.home, full.partition(".")[2]), self.home)
            if self.home
            else SymbolicInput(full)
        )

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor, whatever an annotation may say."""
        return False

    @property
    def parameter(self) -> str:
        """The name of the parameter that the input is passed as."""
        return self.name.partition(".")[0].partition("[")[0]

    def element(self) -> SymbolicInput:
        """One of its elements, or any number of them."""
        return self if self.name.endswith("[…]") else SymbolicInput(f"{self.name}[…]", None, self.home)


@hashed_once
@dataclass(frozen=True, slots=True)
class Site(HashedOnce):
    """An expression, and the function that it stands in."""

    value: Value
    function: Function | None

    @property
    def module(self) -> ModuleFacts:
        assert self.function is not None
        return self.function.module

    @property
    def place(self) -> Place:
        return self.module.place(self.value)

    @property
    def name(self) -> str:
        """What is called or indexed, as it is written; all that is written, where that is `self` or nothing is."""
        value = self.value
        is_used = value.op is Op.CALL or value.op is Op.INDEX
        is_self = is_used and value.args[0].op is Op.PARAM and value.args[0].data == "self"
        text = self.module.text_of(value.args[0] if is_used and not is_self else value)
        return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 3]}..."


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number that is known as a sum of symbols."""

    size: Size


@dataclass(frozen=True, slots=True)
class Counter:
    """0, 1, 2, … as a loop counts, less than `end` if that is known; or a multiple of it."""

    end: int | None = None


@dataclass(frozen=True, slots=True)
class Length:
    """A whole number that only a run knows: how many elements a tensor has along a dimension, or what is made of it.

    Where it is measured (`x.shape`, `x.size(0)`, `len(x)`) makes no difference to what becomes of it. `is_made`: it was
    calculated from what was measured. `is_more`: something was added to that, or the tensor was joined to another one.
    """

    origin: Site = field(compare=False)
    is_made: bool = False
    is_more: bool = False

    def along(self, _place: Hashable) -> Length:
        """That along one of several dimensions, if it is known which."""
        return self


@hashed_once
@dataclass(frozen=True, slots=True)
class CoveredLengths(HashedOnce):
    """What a tensor is made for: the `lengths` that it was counted or cut to.

    It is a table of sines or cosines (`is_periodic`), or has what was kept from earlier calls in it (`is_grown`).
    """

    lengths: tuple[Length, ...] = ()
    is_periodic: bool = False
    is_grown: bool = False


@hashed_once
@dataclass(frozen=True, slots=True)
class Ids(HashedOnce):
    """Elements that were drawn from classes: 0 … `bound` - 1, less one for each of the tests that keep one away.

    `way` is the call that gives those that another function draws; `part` is the constant index of the one of several
    that they are.
    """

    bound: Size
    origin: Site
    head: Site | None
    excluded: frozenset[Value] = frozenset()
    way: Site | None = None
    part: Hashable | None = None

    @property
    def key(self) -> Hashable:
        """What tells one draw from another."""
        return self.origin, self.way


@hashed_once
@dataclass(frozen=True, slots=True)
class Filler(HashedOnce):
    """Some elements are a constant, written at `origin`; `is_conditional`: unless they have gone since."""

    size: Size
    origin: Site
    is_conditional: bool = False

    @property
    def key(self) -> Hashable:
        """What tells one constant from another."""
        return self.origin


@hashed_once
@dataclass(frozen=True, slots=True)
class Real(HashedOnce):
    """Real numbers, made at `origin`; `is_computed`: whoever makes whole numbers of them does so on purpose.

    Where they were made makes no difference to what becomes of them.
    """

    origin: Site = field(compare=False)
    is_computed: bool = False

    @property
    def key(self) -> Hashable:
        """What tells some from others."""
        return self.origin


@hashed_once
@dataclass(frozen=True, slots=True)
class Positions(HashedOnce):
    """Elements that count up from 0, made at `origin`; `is_total`: they are a running total, which does so less 1.

    `length` is where it is said how many there are, if only a run knows that; `is_given`: a caller does. `is_ahead`:
    they begin later than 0, or go further than what was measured.
    """

    origin: Site
    is_total: bool = False
    length: Site | None = None
    is_ahead: bool = False
    is_given: bool = False

    @property
    def key(self) -> Hashable:
        """What tells some from others."""
        return self.origin


@hashed_once
@dataclass(frozen=True, slots=True)
class Tensor(HashedOnce):
    """A tensor, or a number out of one.

    `width` is the size of its last dimension, `head` what says so; `sizes` are those of all of them, each as far as it
    is known, None where even their number is not. `made` is where it is made of sizes. `ids`, `fillers`, `positions`
    and `real` are what its elements are known to be. `compared` are the elements and scores that a mask was made by
    comparing. `extent` is what it is made for, where that is asked. `is_conditional`: it may be something else
    altogether. `is_cut`: it is no longer than some number. `joined`: the dimension along which it was joined of others.
    `under` are conditions in functions, without which it is not returned.
    """

    width: Size | None = None
    head: Site | None = None
    sizes: Sizes | None = None
    made: Site | None = None
    ids: Ids | None = None
    fillers: tuple[Filler, ...] = ()
    positions: Positions | None = None
    real: Real | None = None
    compared: frozenset[Hashable] = frozenset()
    extent: CoveredLengths | None = None
    is_conditional: bool = False
    is_cut: bool = False
    joined: int | None = None
    under: frozenset[tuple[Function, Hashable, bool]] = frozenset()

    @property
    def rows(self) -> Size | None:
        """How many rows a matrix has."""
        first = self.sizes[0] if self.sizes is not None and len(self.sizes) == 2 else None
        return first if isinstance(first, Size) else None

    @property
    def has_elements(self) -> bool:
        """Whether anything is known of what the tensor holds."""
        return self.ids is not None or bool(self.fillers) or self.positions is not None or self.real is not None

    def elements(self) -> Iterator[Element]:
        """The ids, constants, positions and real numbers that the tensor holds."""
        if self.ids is not None:
            yield self.ids
        yield from self.fillers
        if self.positions is not None:
            yield self.positions
        if self.real is not None:
            yield self.real


@hashed_once
@dataclass(frozen=True, slots=True)
class Shape(HashedOnce):
    """The sizes of a tensor, or some of them; `tensor` is what is known of it where these are all.

    One of which nothing else is known is a `length`.
    """

    tensor: Tensor
    length: Length


@hashed_once
@dataclass(frozen=True, slots=True)
class Arguments(HashedOnce):
    """The arguments of a call. `is_complete` is False where more may be passed (`*args`, `**options`)."""

    positional: tuple[Atoms, ...] = ()
    keywords: Mapping[str, Atoms] = field(default_factory=dict)
    is_complete: bool = True

    def __hash__(self) -> int:
        return hash((self.positional, tuple(self.keywords.items()), self.is_complete))

    def then(self, more: Arguments) -> Arguments:
        """These arguments, and those that a later call adds: `functools.partial(f, …)(…)`."""
        if self is NO_ARGUMENTS or self == NO_ARGUMENTS:
            return more
        return Arguments(
            (*self.positional, *more.positional),
            {**self.keywords, **more.keywords},
            self.is_complete and more.is_complete,
        )

    def without_first(self) -> Arguments:
        return Arguments(self.positional[1:], self.keywords, self.is_complete)

    def argument(self, position: int, name: str) -> Atoms | None:
        """The argument at `position` (0 is the first) or called `name`; torch has other names for some."""
        for spelt in spellings(name) if self.keywords else ():
            if spelt in self.keywords:
                return self.keywords[spelt]
        return self.positional[position] if position < len(self.positional) else None

    def all(self) -> Iterator[Atoms]:
        yield from self.positional
        yield from self.keywords.values()


NO_ARGUMENTS = Arguments()
ANY_ARGUMENTS = Arguments(is_complete=False)


@dataclass(frozen=True, slots=True)
class Outside:
    """A function, class or module that cannot be read, by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class Prepared(Outside):
    """One of them, with the arguments that a `partial` already gives it."""

    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Derived:
    """A tensor that `operation`, a method or an operator, made of a parameter; `value` is the operation's."""

    parameter: Shell
    operation: str
    value: Value = field(compare=False)
    #: Whether all that was done gives the parameter itself unless its numbers are of another kind.
    is_rare: bool = False
    #: What the constructor is given that says where the tensor is moved, where that is all that was done.
    moved_to: SymbolicInput | None = None


@dataclass(frozen=True, slots=True)
class ClassRef:
    """A class that is passed on uncalled, with the arguments that a `partial` already gives it."""

    model: ClassModel
    arguments: Arguments = NO_ARGUMENTS


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """A function that can be read: a method, or one inside of a function, with the `frame` that it was made in.

    `receiver` is the object that a bound method is called on, `above` where in its MRO the method was found.
    """

    code: Method | Nested
    frame: Frame | None = None
    receiver: Atom | None = None
    above: int = 0
    arguments: Arguments = NO_ARGUMENTS


@dataclass(frozen=True, slots=True)
class Super:
    """`super()` of an object; `above` is how many classes of the MRO are left behind."""

    shell: Shell
    above: int


@dataclass(frozen=True, slots=True)
class Bound:
    """A method or table of something whose class cannot be asked: `list.append`, `module._modules`."""

    owner: Atom
    name: str


if TYPE_CHECKING:
    Atom: TypeAlias = (
        Shell
        | Constant
        | Unknown
        | Plain
        | SymbolicInput
        | Number
        | Counter
        | Length
        | Tensor
        | Shape
        | Outside
        | Derived
        | ClassRef
        | FunctionRef
        | Super
        | Bound
        | Foreign
    )
    Atoms: TypeAlias = tuple[Atom, ...]
    Sizes: TypeAlias = tuple[Size | Length | None, ...]
    Element: TypeAlias = Ids | Filler | Positions | Real


UNKNOWN: Atoms = (Unknown(),)
PLAIN: Atoms = (Plain(),)
NONE: Atoms = (Constant(None),)
NEVER: Atoms = ()


def join(options: Iterable[Atoms]) -> Atoms:
    """One of `options`."""
    options = [*options]
    if len(options) == 1 and len(options[0]) <= 1:
        return options[0]
    found: dict[Atom, None] = {}
    for atoms in options:
        for atom in atoms:
            found[atom] = None
    if len(found) > _MAX_CONSTANTS:
        return _widened(found)
    return tuple(found)


def each(atoms: Atoms, give: Callable[..., Atoms], *given: Any) -> Atoms:
    """What `give` makes of one of some atoms, which it is given first."""
    if len(atoms) == 1:
        found = give(atoms[0], *given)
        return found if len(found) <= 1 else join((found,))
    return join([give(atom, *given) for atom in atoms])


def _widened(atoms: Iterable[Atom]) -> Atoms:
    """A value with many atoms: of numbers and strings it is enough that they are some, of tensors what they hold."""
    rest = [atom for atom in atoms if not isinstance(atom, Constant) or atom.value is None]
    found = dict.fromkeys((*_merged(rest), *PLAIN))
    return tuple(found) if len(found) <= _MAX_ATOMS else (*list(found)[:_MAX_ATOMS], *UNKNOWN)


def _merged(atoms: list[Atom]) -> Iterator[Atom]:
    """Atoms of which tensors that differ in their constants only are one: what not all of them have, it has perhaps."""
    alike: dict[Tensor, list[Tensor]] = {}
    for atom in atoms:
        if isinstance(atom, Tensor):
            alike.setdefault(replace(atom, fillers=()) if atom.fillers else atom, []).append(atom)
        else:
            yield atom
    for bare, tensors in alike.items():
        held = dict.fromkeys(filler for tensor in tensors for filler in tensor.fillers)
        sure = set(tensors[0].fillers).intersection(*(tensor.fillers for tensor in tensors))
        fillers = dict.fromkeys(one if one in sure else replace(one, is_conditional=True) for one in held)
        yield replace(bare, fillers=tuple(fillers)[:_MAX_CONSTANTS]) if fillers else bare


def constant(atoms: Atoms) -> Constant | None:
    """The constant that a value has on all paths; None if there is no such constant."""
    return atoms[0] if len(atoms) == 1 and isinstance(atoms[0], Constant) else None


def size_of(atoms: Atoms | None) -> Size | None:
    """The size that a value has on all paths, None aside."""
    found: Size | None = None
    for atom in atoms or ():
        if isinstance(atom, Constant) and atom.value is None:
            continue
        size = _size(atom)
        if size is None or (found is not None and size != found):
            return None
        found = size
    return found


def _size(atom: Atom) -> Size | None:
    if isinstance(atom, Constant):
        return Size.of(atom.value) if type(atom.value) is int else None
    if isinstance(atom, Number):
        return atom.size
    return Size.symbol(atom.symbol) if isinstance(atom, SymbolicInput) and atom.symbol is not None else None


def text(atoms: Atoms | None) -> str | None:
    """The string that a value has on all paths; None if there is no such string."""
    known = constant(atoms) if atoms else None
    return known.value if known is not None and isinstance(known.value, str) else None


def function_of(code: Method | Nested) -> Function | None:
    """The function in a file that a method was read from."""
    return getattr(code, "function", None)


def length_in(values: Iterable[Atoms]) -> Length | None:
    """The first length among values."""
    return next((atom for atoms in values for atom in atoms if isinstance(atom, Length)), None)
