"""The abstract domain: a value is an ordered union of atoms.

No atom at all is bottom: a value that never exists, as an element of an empty list. An atom beside `UNKNOWN` still
counts: a value that may be a layer or anything else is treated as the layer.
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

#: The number of atoms after which `join` widens constants to a plain value.
_MAX_CONSTANTS = 16
#: The length to which the text of an expression is cut in messages, in characters.
_MAX_TEXT = 60
#: The most atoms of a value; `join` replaces further ones by an unknown one.
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
    """Anything, perhaps a layer. `held` are objects that it was made from and may keep."""

    held: tuple[Shell, ...] = ()


@dataclass(frozen=True, slots=True)
class Plain:
    """A value that is no layer, no parameter and no container of them: a number, a string, a tensor.

    `device` is the name in `torch.device("cpu")`.
    """

    device: str = field(default="", kw_only=True)


@hashed_once
@dataclass(frozen=True, slots=True)
class SymbolicInput(HashedOnce):
    """The argument of a root function's parameter, or a part of it: `config`, `config.hidden_size`.

    `symbol` stands for its value as a number, `home` is the owner of the symbols of its parts. `is_there`: it is not
    None. `is_changed`: code has put something into it, or taken something out, so that its parts are others.
    """

    name: str
    symbol: Symbol | None = None
    home: str = ""
    is_there: bool = False
    is_changed: bool = False

    def part(self, name: str) -> SymbolicInput:
        """An attribute of the input, by its name."""
        if self.is_changed:
            return self.element()
        full = f"{self.name}.{name}"
        return (
            SymbolicInput(full, Symbol(self.home, full.partition(".")[2]), self.home)
            if self.home
            else SymbolicInput(full)
        )

    @property
    def is_tensor(self) -> bool:
        """True if the input is a tensor, whatever its annotation says."""
        return False

    @property
    def parameter(self) -> str:
        """The name of the parameter that the input is passed as."""
        return self.name.partition(".")[0].partition("[")[0]

    @property
    def is_any_element(self) -> bool:
        """True for an element that is not told apart from others, or a part of one."""
        return "[…]" in self.name

    def entry(self, place: int) -> SymbolicInput:
        """The element at a place of a sequence."""
        is_known = not self.is_any_element and not self.is_changed
        return SymbolicInput(f"{self.name}[{place}]", None, self.home) if is_known else self.element()

    def element(self) -> SymbolicInput:
        """An element of the input, or a slice of it."""
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
        """The source text of the callee or indexed value; of the whole expression if that is `self`, or for others."""
        value = self.value
        is_used = value.op is Op.CALL or value.op is Op.INDEX
        is_self = is_used and value.args[0].op is Op.PARAM and value.args[0].data == "self"
        text = self.module.text_of(value.args[0] if is_used and not is_self else value)
        return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 3]}..."


@dataclass(frozen=True, slots=True)
class Number:
    """An integer as a sum of products of symbols."""

    size: Size


@dataclass(frozen=True, slots=True)
class Counter:
    """A loop's counter: 0, 1, 2, … below `end`, if that is known; or a multiple of it."""

    end: int | None = None


@dataclass(frozen=True, slots=True)
class Length:
    """An integer known only at run time: a tensor's size along a dimension, or a number computed from one.

    `origin` (`x.shape`, `x.size(0)`, `len(x)`) is not compared. `is_made`: it was computed from a measured length.
    `is_more`: something was added to that, or the tensor was joined to another one.
    """

    origin: Site = field(compare=False)
    is_made: bool = False
    is_more: bool = False

    def along(self, _place: Hashable) -> Length:
        """The length along one of several dimensions; a theory of lengths overrides this."""
        return self


@hashed_once
@dataclass(frozen=True, slots=True)
class CoveredLengths(HashedOnce):
    """The `lengths` that a tensor was counted or cut to, which it is made for.

    It is a table of angles, sines or cosines (`is_periodic`), contains powers (`is_power`), or state of earlier calls
    (`is_grown`), which stands along the dimension before the last (`is_lengthened`).
    """

    lengths: tuple[Length, ...] = ()
    is_periodic: bool = False
    is_power: bool = False
    is_grown: bool = False
    is_lengthened: bool = False


@hashed_once
@dataclass(frozen=True, slots=True)
class Ids(HashedOnce):
    """Elements that are drawn ids: 0 … `bound` - 1, without one id for each test in `excluded`.

    `way` is the call that returned ids drawn by another function; `part` is the constant index by which they were
    picked from several.
    """

    bound: Size
    origin: Site
    head: Site | None
    excluded: frozenset[Value] = frozenset()
    way: Site | None = None
    part: Hashable | None = None

    @property
    def key(self) -> Hashable:
        """The key that identifies a draw."""
        return self.origin, self.way


@hashed_once
@dataclass(frozen=True, slots=True)
class Filler(HashedOnce):
    """A constant among elements, written at `origin`; `is_conditional` if it may be gone since.

    `stays` are the slices that leave some of them: "front" cuts the first element off, "back" the last one.
    """

    size: Size
    origin: Site
    is_conditional: bool = False
    stays: frozenset[str] = frozenset()

    @property
    def key(self) -> Hashable:
        """The key that identifies a constant."""
        return self.origin


@hashed_once
@dataclass(frozen=True, slots=True)
class Real(HashedOnce):
    """Elements that are real numbers, made at `origin`; `is_computed`: a cast of them to integers is deliberate.

    `origin` is not compared.
    """

    origin: Site = field(compare=False)
    is_computed: bool = False

    @property
    def key(self) -> Hashable:
        """The key that identifies the origin of these real numbers."""
        return self.origin


@hashed_once
@dataclass(frozen=True, slots=True)
class Positions(HashedOnce):
    """Elements that count up from 0, made at `origin`; `is_total`: a running total, which counts from 1.

    `length` is the expression of their number, if it is known only at run time; `is_given` if it comes from a caller.
    `is_ahead`: they begin later than 0, or go further than a measured length. `end` is the size behind the last one, if
    that is known; of a total, the rows that it needs if it counts `ahead` beyond the number of elements.
    """

    origin: Site
    is_total: bool = False
    length: Site | None = None
    is_ahead: bool = False
    is_given: bool = False
    end: Size | None = None
    ahead: Size | None = None

    @property
    def key(self) -> Hashable:
        """The key that identifies the origin of these positions."""
        return self.origin

    @property
    def is_bounded(self) -> bool:
        """True if it is known how far they go; a total is of positions if it has a length."""
        return self.end is not None and (not self.is_total or self.length is not None)


@hashed_once
@dataclass(frozen=True, slots=True)
class Tensor(HashedOnce):
    """A tensor, or a number taken from one: a product of several abstract domains.

    `width` is the size of its last dimension, `head` the layer that determines it; `sizes` are those of all dimensions
    (None for unknown ones), None if their number is unknown. `made` is the call that makes it by sizes. `ids`,
    `fillers`, `positions` and `real` describe its elements. `compared` are the keys of elements and scores that a mask
    compares. `extent` is the lengths that it is made for, if a theory follows them. `is_conditional`: the value may be
    something else. `is_cut`: its length is limited; `most`: a dimension, and the elements that it has there at most.
    `joined`: the dimension along which tensors were joined to it.
    `under` are conditions in functions under which alone it is returned. `properties` are those that rules describe.
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
    most: tuple[int, Size] | None = None
    joined: int | None = None
    under: frozenset[tuple[Function, Hashable, bool]] = frozenset()
    properties: frozenset[str] = frozenset()

    @property
    def rows(self) -> Size | None:
        """The number of rows of a matrix; None if unknown, or for another rank."""
        first = self.sizes[0] if self.sizes is not None and len(self.sizes) == 2 else None
        return first if isinstance(first, Size) else None

    @property
    def has_elements(self) -> bool:
        """True if anything is known of the tensor's elements."""
        return self.ids is not None or bool(self.fillers) or self.positions is not None or self.real is not None

    def elements(self) -> Iterator[Element]:
        """The abstract elements of the tensor: ids, constants, positions and real numbers."""
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
    """The sizes of `tensor`, or some of them; `length` stands for a size that is unknown."""

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
        """The argument at `position` (from 0), or called `name` in any of torch's spellings; None if there is none."""
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
    """A function, class or module whose source isn't readable, by its dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class Prepared(Outside):
    """An outside function with the arguments of a `partial`."""

    arguments: Arguments


@dataclass(frozen=True, slots=True)
class Derived:
    """A tensor that `operation`, a method or an operator, made of a parameter; `value` is the operation's."""

    parameter: Shell
    operation: str
    value: Value = field(compare=False)
    #: True if the operation returns the parameter itself unless it changes the dtype.
    is_rare: bool = False
    #: The constructor's argument that names the device, if the operation only moves the tensor.
    moved_to: SymbolicInput | None = None


@dataclass(frozen=True, slots=True)
class ClassRef:
    """A class as a value, with the arguments of a `partial`."""

    model: ClassModel
    arguments: Arguments = NO_ARGUMENTS


@dataclass(frozen=True, slots=True)
class FunctionRef:
    """A function with readable source: a method, or a nested function with the `frame` that it was made in.

    `receiver` is the object of a bound method, `above` the index in its MRO at which the method was found.
    """

    code: Method | Nested
    frame: Frame | None = None
    receiver: Atom | None = None
    above: int = 0
    arguments: Arguments = NO_ARGUMENTS


@dataclass(frozen=True, slots=True)
class Super:
    """`super()` of an object; `above` is the number of classes to skip in its MRO."""

    shell: Shell
    above: int


@dataclass(frozen=True, slots=True)
class Bound:
    """A method or table of an object by name: `list.append`, `module._modules`."""

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
    """The join of several values: their atoms without duplicates, widened if there are too many."""
    options = [*options]
    if len(options) == 1 and len(options[0]) <= 1:
        return options[0]
    found: dict[Atom, None] = {}
    for atoms in options:
        for atom in atoms:
            found[atom] = None
    if len(found) > _MAX_CONSTANTS:
        return _widen(found)
    return tuple(found)


def map_join(atoms: Atoms, transfer: Callable[..., Atoms], *arguments: Any) -> Atoms:
    """The join of `transfer(atom, *arguments)` over all atoms."""
    if len(atoms) == 1:
        result = transfer(atoms[0], *arguments)
        return result if len(result) <= 1 else join((result,))
    return join([transfer(atom, *arguments) for atom in atoms])


def _widen(atoms: Iterable[Atom]) -> Atoms:
    """Widen a value of many atoms: constants become one plain atom, tensors with other constants are merged."""
    rest = [atom for atom in atoms if not isinstance(atom, Constant) or atom.value is None]
    found = dict.fromkeys((*_merge_tensors(rest), *PLAIN))
    return tuple(found) if len(found) <= _MAX_ATOMS else (*list(found)[:_MAX_ATOMS], *UNKNOWN)


def _merge_tensors(atoms: list[Atom]) -> Iterator[Atom]:
    """Merge tensors that differ in their constants only: a constant that isn't in all of them becomes conditional."""
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
    """The size that a value has on all paths, not counting None; else None."""
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


def has_property(atoms: Atoms, name: str, *, on_some_path: bool = False) -> bool:
    """True if a value has a property on all paths: `has_property(call.argument(0, "input").atoms, "probability")`.

    `on_some_path`: on one path at least. A value of which nothing is known has none.
    """
    having = (isinstance(atom, Tensor) and name in atom.properties for atom in atoms)
    return any(having) if on_some_path else bool(atoms) and all(having)


def function_of(code: Method | Nested) -> Function | None:
    """The function in a file that a method was read from."""
    return getattr(code, "function", None)


def length_in(values: Iterable[Atoms]) -> Length | None:
    """The first length among values."""
    return next((atom for atoms in values for atom in atoms if isinstance(atom, Length)), None)
