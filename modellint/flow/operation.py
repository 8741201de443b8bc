"""Calls of operators, and their arguments: constants, dimensions, ends of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import sizes
from modellint.flow.domain import Constant, Filler, Site, SymbolicInput, constant, size_of
from modellint.flow.heap import Shell
from modellint.graph.immutable import dataclass
from modellint.graph.value import Op

if TYPE_CHECKING:
    from modellint.flow.domain import Arguments, Atoms, Sizes
    from modellint.flow.frame import Frame
    from modellint.graph.size import Size
    from modellint.graph.value import Value
    from modellint.operators import Operator

#: The most containers that are searched for numbers.
_MAX_LITERALS = 64
#: The slices that cut one element off an end.
_ANY_SLICE, _NO_SLICE = frozenset(("front", "back")), frozenset[str]()
#: Displays of numbers, operations that make lists of them, and those by which a number is written there.
_LISTED = frozenset((Op.LIST, Op.TUPLE))
_LISTS = _LISTED | {Op.BIN, Op.UPDATE, Op.CHOICE, Op.COMPREHENSION}
_WRITTEN = frozenset((Op.CONST, Op.UNARY, Op.GLOBAL, Op.PARAM, Op.ATTR))
#: Facets of operators that write a constant everywhere, or nowhere but where the code says.
_WRITING_ALL = frozenset(("sized", "literal", "itself"))


@dataclass(frozen=True, eq=False, slots=True)
class Operation:
    """A call of an operator. Positions count from the operand; for a method, the first argument is at `first` = 1."""

    row: Operator
    arguments: Arguments
    first: int
    #: Its arguments that are sizes.
    sizes: tuple[Atoms, ...]
    frame: Frame
    value: Value

    @property
    def site(self) -> Site:
        return Site(self.value, self.frame.function)

    def get(self, argument: tuple[int, str] | None) -> Atoms | None:
        """The argument at a position (counted from the operand) or of a name; None if it isn't passed."""
        if argument is None or argument[0] < self.first:
            return None if argument is None else self.arguments.keywords.get(argument[1])
        return self.arguments.argument(argument[0] - self.first, argument[1])

    def argument_site(self, argument: tuple[int, str]) -> Site:
        """The site of an argument's expression; that of the call if the argument isn't written there."""
        is_call = self.value.op is Op.CALL and argument[0] >= self.first
        found = self.value.argument(argument[0] - self.first, argument[1]) if is_call else None
        return self.site if found is None else Site(found, self.frame.function)

    def fillers(self, *arguments: tuple[int, str] | None) -> tuple[Filler, ...]:
        """The constants among arguments, as fillers of elements."""
        written = [(one, constant_in(self.get(one), self.frame)) for one in arguments if one is not None]
        stays = self._slices_leaving_some() if any(size is not None for _, size in written) else _NO_SLICE
        return tuple(Filler(size, self.argument_site(one), stays=stays) for one, size in written if size is not None)

    def _slices_leaving_some(self) -> frozenset[str]:
        """The slices by one element that leave some of the constants: all, where the data decides their number."""
        facets = self.row.facets
        if "grows" not in facets:
            return _NO_SLICE if facets.keys() & _WRITING_ALL else _ANY_SLICE
        before, after = map(sizes.whole, (*sizes.numbers((self.get((1, "pad")) or (),)), (), ())[:2])
        if before is not None and after is not None:
            return frozenset(cut for cut, padded in (("back", before), ("front", after)) if padded > 0)
        return _ANY_SLICE


def constant_in(atoms: Atoms | None, frame: Frame) -> Size | None:
    """The size of a constant; None for an argument of the frame's own function, which may be a tensor."""
    own = "" if frame.function is None else f"{frame.function.module.path}:{frame.function.qualname}"
    given = [atom for atom in atoms or () if isinstance(atom, SymbolicInput) and "." not in atom.name]
    is_own = any(atom.symbol is not None and atom.symbol.owner == own for atom in given)
    return None if is_own else size_of(atoms)


def literals(operation: Operation) -> tuple[Filler, ...]:
    """The integers in `torch.tensor([[bos, 7]])`, as fillers; conditional ones in one of several lists.

    A list of which nothing is known, as a slice of another one, makes none conditional.
    """
    found: dict[Filler, None] = {}
    pending: list[tuple[Atoms, Shell | None, bool]] = [(one, None, False) for one in operation.arguments.positional[:1]]
    for atoms, holder, is_one in pending:
        shells = [atom for atom in atoms if isinstance(atom, Shell) and atom.is_container and atom.entries]
        for size in filter(None, (constant_in((atom,), operation.frame) for atom in atoms)):
            given = operation.argument_site((0, "data"))
            site = None if holder is None else _written_in(holder.site, size) or _written_in(given, size)
            stays = _ANY_SLICE if holder is not None and _is_repeated(holder.value) else _NO_SLICE
            found[Filler(size, site or given, is_one, stays)] = None
        if len(pending) < _MAX_LITERALS:
            is_one = is_one or len(shells) > 1
            pending.extend((entry.atoms, shell, is_one) for shell in shells for entry in shell.entries)
    return tuple(found)


def _written_in(site: Site | None, size: Size) -> Site | None:
    """The site of a number in the displays that a list is made of, as in `ids + [-100] * n`; None if none is it."""
    pending = [] if site is None else [site.value]
    seen, leaves = set(map(id, pending)), []
    for part in pending:
        if part.op in _LISTED:
            leaves += [arg for arg in part.args if arg.op in _WRITTEN]
        inner = [arg for arg in part.args if arg.op in _LISTS and id(arg) not in seen]
        seen.update(map(id, inner))
        pending += inner
    fitting = [leaf for leaf in leaves if leaf.op is not Op.CONST or leaf.data == size.number]
    return Site(fitting[0], site.function) if site is not None and len(fitting) == 1 else None


def _is_repeated(made: Value | None) -> bool:
    """True for a list that data may make longer: `ids + [-100] * n`."""
    while made is not None and made.op is Op.BIN and made.data == "+":
        made = next((part for part in made.args if part.op is Op.BIN), None)
    return made is not None and made.op is Op.BIN and made.data == "*"


def _is_start(atoms: Atoms) -> bool:
    known = constant(atoms)
    return known is not None and known.value in (None, 0)


def joined_along(arguments: Arguments) -> int | None:
    """The dimension along which tensors are joined; 0 by default, None if unknown."""
    dim = arguments.argument(1, "dim")
    return 0 if dim is None else sizes.whole(dim)


def counted_sizes(arguments: Arguments) -> Sizes:
    """The sizes of `arange(n)` or `arange(0, n)`."""
    end = counted_end(arguments)
    return (None if end is None else sizes.side(end[0]),)


def counted_end(arguments: Arguments) -> tuple[Atoms, int] | None:
    """The end of `arange`, and its position; None if it begins at another number than 0 or has another step than 1."""
    start, end, at = arguments.argument(0, "start"), arguments.argument(1, "end"), 1
    if end is None:
        start, end, at = None, start, 0
    step = arguments.argument(2, "step")
    is_plain = (start is None or _is_start(start)) and (step is None or constant(step) == Constant(1))
    return (end, at) if is_plain and end is not None else None
