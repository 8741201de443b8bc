"""The table of operators of torch, of Python's containers and of builtins: one row for each, as data.

A row has the names of an operator, where it is found (a function of `torch` is often a method of `Tensor`, too), and
its facets. All knowledge about operators stands here, so that every rule and theory shares it; `tests/operators` checks
every facet against the installed torch. The *operand* is the tensor (or object) that a method is called on, or a
function's first argument; positions count from it, 0 (`masked_fill(x, mask, value)`: `value@2`).

Elements of the result
    passed              all are the operand's, perhaps of another type (of any tensor in it, where it is a list)
    picked              the same, picked for how large they are, or by a mask
    drawn:WHICH         ids of where something is along a dimension of n: 0 … n - 1. WHICH is what has the `best` score,
                        the `least`, or `any`
    pair:WHICH          a tuple of elements and their ids, along a dimension
    along:NAME@P        that argument is the dimension it works along
    counted             0, 1, 2, …
    real                real numbers, of integers too, or they are refused; `real:likely`: unless it is given integers,
                        for which it is not meant
    constant:N          all are N
    fill:NAME@P         all are argument P, called NAME; or some, if others are `passed`, or a `mask:NAME@P` says which
    zeroes              some are 0, the others the operand's; `one-hot`: all are 0, but one is 1
    sums-up             each is the sum of those up to its place
    random              whole numbers from 0, or the first number given, to below the last one
    limit:NAME@P        at most that argument; `below:NAME@P` smaller than it; `lift:NAME@P` at least
    literal             the numbers that it is given
    like:OP             what Python's operator or function OP gives of the same arguments (`like:neg`: unary minus)
    chooses             of its two last arguments, each element of one of them
    scores              keeps the order along a dimension, so that the best stays the best
    product             sums of products of two tensors
    rounds:WHERE        the next whole number `up`, `down` (or towards zero), or the `nearest`; `same-number`: that
    periodic            the same for an angle, and for one that is 2π more: its last argument
    root                the square root of a number
    extreme             the `smallest` or `largest` (further facets) of several numbers
    counts              how many elements there are, along dimensions or in all
Looking up
    ids:NAME@P          that argument picks rows or elements; what is not below their number is an error, and so is what
                        is negative, unless such count `from-end`
    judges:NAME@P       that argument holds classes; what is below none or not below their number is an error, but for
                        the argument `ignores:NAME@P` of the function, or of the layer's constructor
    table               a layer that looks up rows; `padding:NAME@P`: its constructor's row for padding
Dimensions
    same-shape          of the operand's shape (of the common one, where there are several)
    sizes               of the sizes that it is given; `repeats`: as often as it is told
    squeezes            without dimensions of one; `unsqueezes` with one more; `flattens` several to one
    reorders            the same dimensions, or elements along them, in another order
    reduces             without the dimensions that are reduced; without arguments, a single number
    single              a single number, unless it is told otherwise
    stacks              one more dimension; `joins` along one that is there; `grows`: longer than the operand
    parts               several tensors of the operand's dimensions; `spreads` one dimension of each of two
    narrows             some of the elements along one dimension
    subscripts          of the dimensions behind the arrow in its first argument
    sized               the first arguments are the sizes; `sized:tuple`: in one tuple. `flat`: one dimension
    spaced              from one number to another, in steps
    width:NAME@P        how wide the last dimension of the input must be, by the constructor's argument;
                        `own-width` the same of what keeps it, `makes-width` and `state-width` of the result.
                        `channels`, `makes-channels` the same of dimension 1
    recurrent           the second result, the state, is real numbers too
    resamples           an image of another size
Type, device and kind
    dtype:T             the result's type; `casts:float` and `casts:integer` change nothing else; `casts`: as told
    type:float          a type of real numbers; `type:integer` of whole ones
    fresh:default       made on the default device, unless `device=` names one; `fresh:cpu`: on the CPU. All else stays
                        where the operand is
    together            refuses tensors of two devices, unless one is a single number on the CPU; `together:GPU`: to see
                        that takes one; `together:strict-GPU`: refuses that number, too. A distribution refuses them
                        when something is drawn from it
    moves               may give the tensor or layer on another device; `host`: what it gives is on the CPU
    gives:KIND          no tensor: `number`, `int`, `bool`, `list`, `array`, `size`, `tuple`, `dtype`, `device`,
                        `layout`, `distribution`, or several: `tensors`
    distribution        what is drawn from by `sample`
Effects
    in-place            there is one of this name and `_` that changes its operand and gives it back
    changes             changes its operand; `itself` gives it back
    makes               a tensor of what it is given
    unchanged           gives its operand itself where there is nothing to change
    no-gradients        none are recorded under it, or perhaps none
Layers
    wraps               gives the layer that it is given (`itself`), or one that holds it
    weight-norm, spectral-norm   by which the weight is divided
    builds              an object of the class that it is given
    registers:NAME@P    registers that argument; `hooks` a function
    parameters          gives the parameters; `reads`: asks, or sets up, and computes nothing
    holds:NAME@P        a container, which registers what it is given by that argument; `holds` alone: a layer itself
    named               what it holds may come with names, which are attributes of it then
    trained, kept       a parameter; a buffer
    by-mode:NAME@P      acts otherwise in training than in evaluation, unless that argument is 0 or False
Containers and builtins
    adds:@P             adds that argument; `extends:@P` all in it; `removes` some or all
    contents            gives what is in it; `pairs` the same with a key, number or partner; `element` one of it
    gathers             in a new container
    copies              gives a copy
    number              gives a number; `looks` at what it is given, and keeps nothing of it
Checks
    unchecked:WHY       not run by the tests, since it needs WHY

Begin with `rows.py`, the table.
It imports nothing else of modellint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .rows import ALSO, ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    #: `functions`, `methods`, `attributes` or `words`; the class; the name, a full one of functions.
    _Entry = tuple[str, str, str]


@dataclass(frozen=True)
class Operator:
    """A row: one full name of an operator (`torch.clamp`, `Tensor.clamp_`), and its facets with their values."""

    name: str
    facets: dict[str, str]

    def argument(self, facet: str) -> tuple[int, str] | None:
        """The position and name of the argument that a facet names: (2, "value") for `fill`; None if it names none."""
        name, at, position = self.facets.get(facet, "").partition("@")
        return (int(position), name) if at else None


def row(name: str) -> Operator | None:
    """The row of a function or class (`torch.cat`, `builtins.list`), a method or an attribute (`Tensor.clamp_`)."""
    return _rows.get(name)


def spellings(name: str) -> tuple[str, ...]:
    """The names by which torch takes an argument: `dim` and `axis`."""
    return (name, *ALSO.get(name, ()))


def rows() -> Iterator[Operator]:
    """The rows of all operators, under each of their names."""
    return iter(_rows.values())


def arguments(facet: str, *of: str) -> dict[str, tuple[int, str]]:
    """Position and name of the argument that a facet names, by method of the classes `of` (or by function if none)."""
    names = {name: f"{cls}.{name}" for cls in of for name in methods(cls, facet)}
    if not of:
        names = {name: name for name in functions(facet)}
    positions = {name: _rows[full].argument(facet) for name, full in sorted(names.items())}
    return {name: argument for name, argument in positions.items() if argument is not None}


def called(name: str) -> list[Operator]:
    """All rows whose last part of the name is `name`, of any module or class: `max` of torch and of Python."""
    return _named.get(name, [])


def functions(*facets: str) -> AbstractSet[str]:
    """The full names of functions and classes with one of `facets`; "a b" asks for both `a` and `b`."""
    return _view("functions", "", facets)


def methods(of: str, *facets: str) -> AbstractSet[str]:
    """The names of methods of a class with one of `facets`, in-place ones included; without facets, of all methods."""
    return _view("methods", of, facets)


def attributes(of: str, *facets: str) -> AbstractSet[str]:
    """The names of attributes of a class (or module) with one of `facets`; without facets, of all attributes."""
    return _view("attributes", of, facets)


def words(*facets: str) -> AbstractSet[str]:
    """The last parts of the names of all operators with one of `facets`: a text that uses one mentions its word."""
    return _view("words", "", facets)


def facets() -> AbstractSet[str]:
    """The facets that rows have."""
    return _having.keys() - {""}


def add(texts: tuple[str, ...]) -> None:
    """Add rows of rule packs to the built-in table, in place of any that were added before.

    Sets that were returned before are updated, too. Raises ValueError for a malformed row, and then keeps none of them.
    """
    global _added
    if texts == _added:
        return
    _clear()
    try:
        _read(ROWS)
        known = frozenset(_having)
        for text in texts:
            _read(text)
        unknown = min((facet for facet in _having if ":" not in facet and facet not in known), default=None)
        if unknown is not None:
            raise ValueError(f"`{unknown}`: no facet; expected one that `modellint.operators` describes")
        _added = texts
    except ValueError:
        _clear()
        _read(ROWS)
        _added = ()
        raise
    finally:
        for (kind, of, facets), view in _views.items():
            view.clear()
            view.update(_select(kind, of, facets))


#: Rows by full name, and by the last part of it; entries (kind, class, name) by facet; the sets returned so far.
_rows: dict[str, Operator] = {}
_named: dict[str, list[Operator]] = {}
_having: dict[str, set[_Entry]] = {}
_views: dict[tuple[str, str, tuple[str, ...]], set[str]] = {}
_added: tuple[str, ...] = ()
_KINDS = ("functions", "classes", "methods", "attributes")


def _clear() -> None:
    _rows.clear()
    _named.clear()
    _having.clear()


def _read(text: str) -> None:
    for homes, names, facets in parse_rows(text):
        _put(names, homes, facets)


def parse_rows(text: str) -> Iterator[tuple[list[tuple[str, str]], list[str], dict[str, str]]]:
    """The lines of a table: the kinds and modules or classes of the heading, the names, and the facets.

    Raises ValueError for a malformed line.
    """
    homes: list[tuple[str, str]] = []
    for line in map(str.strip, text.splitlines()):
        names, colon, words = line.partition(" : ")
        if colon and homes and names.strip() and words.strip():
            split = [word.partition(":") for word in words.split()]
            yield homes, names.split(), {key: value for key, _, value in split}
        elif line.startswith("["):
            homes = [_home(home, line) for home in line.strip("[]").split(",")]
        elif line:
            raise ValueError(f"`{line}`: expected a heading in brackets, and below it lines `name : facet`")


def _home(text: str, line: str) -> tuple[str, str]:
    kind, _, of = text.strip().partition(" of ")
    if kind not in _KINDS or not of:
        raise ValueError(f"`{line}`: expected `[functions of MODULE]`, or `methods`, `classes` or `attributes`")
    return kind, of


def _put(names: list[str], homes: list[tuple[str, str]], facets: dict[str, str]) -> None:
    words = [f"{key}:{value}" if value else key for key, value in facets.items()]
    entries: list[_Entry] = []
    for kind, of in homes:
        is_method = kind == "methods"
        for name in (*names, *(f"{name}_" for name in names if is_method and "in-place" in facets)):
            full = f"{of}.{name}"
            if full in _rows:
                raise ValueError(f"`{full}`: there are two rows of it; expected one with all its facets")
            _rows[full] = Operator(full, facets)
            _named.setdefault(name, []).append(_rows[full])
            entries.append((kind, of, name) if is_method or kind == "attributes" else ("functions", "", full))
            entries.append(("words", "", name))
    for key in {"", *words, *facets}:
        _having.setdefault(key, set()).update(entries)


def _view(kind: str, of: str, facets: tuple[str, ...]) -> set[str]:
    view = _views.get((kind, of, facets))
    if view is None:
        view = _views[kind, of, facets] = _select(kind, of, facets)
    return view


def _select(kind: str, of: str, facets: tuple[str, ...]) -> set[str]:
    groups = [set.intersection(*(_having[facet] for facet in words.split())) for words in facets] or [_having[""]]
    return {entry[2] for group in groups for entry in group if entry[0] == kind and entry[1] == of}


_read(ROWS)
