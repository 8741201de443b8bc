"""Lower bounds of the ranks (numbers of dimensions) of tensors, from factories and operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import Constant, text
from modellint.flow.heap import Shell, opened
from modellint.flow.tensor_devices import MAX_RANK, Fresh
from modellint.graph.declared import is_sequence
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.flow.domain import Arguments, Atoms
    from modellint.flow.frame import Frame
    from modellint.graph.value import Parameter, Value
    from modellint.operators import Operator


def rank_made(
    row: Operator, arguments: Arguments, frame: Frame, value: Value, declared: Callable[[Atoms], Parameter | None]
) -> int:
    """The least rank of a factory's tensor; `declared` gives the parameter that a value is the argument of."""
    given = arguments.positional
    size = given[0] if given else arguments.keywords.get("size", ())
    if "literal" in row.facets and "sized" not in row.facets:
        if is_sequence(value, frame.function):
            return 1
        parameter = declared(size)
        default = None if parameter is None else parameter.default
        if default is not None:
            return 1 if default.op in (Op.LIST, Op.TUPLE) else 0
        return _depth(size)
    if "sized" not in row.facets:
        return 1
    if len(given) > 1 and row.facets["sized"] != "tuple":
        return len(given)
    return sizes_in(size)


def rank_of(row: Operator, operands: list[Atoms], arguments: Arguments) -> int:
    """The least rank of an operator's result."""
    facets, most = row.facets, max(map(rank_in, operands))
    given = arguments.positional
    if "single" in facets:
        return 0
    if "reduces" in facets or "pair" in facets:
        return 0 if is_whole(row, arguments) else most - 1
    if "sizes" in facets:
        sizes = given if row.name.startswith("Tensor.") else given[1:]
        return len(sizes) if len(sizes) > 1 else sizes_in(sizes[0] if sizes else ())
    if "spreads" in facets or "flattens" in facets:
        return 2 if "spreads" in facets else 1
    if "product" in facets:
        return sum(map(rank_in, operands)) - 2
    if "subscripts" in facets:
        return len((text(given[0]) or "").partition("->")[2].strip()) if given else 0
    if "squeezes" in facets:
        return min(most, 1) if not arguments.keywords and len(given) < 2 else most - 1
    more = ("unsqueezes", "stacks", "one-hot", "parts")
    same = ("same-shape", "reorders", "repeats", "joins", "grows", "sums-up", "zeroes", "itself", "like")
    if any(facet in facets for facet in more):
        return most + 1
    return most if any(facet in facets for facet in same) else most - 1


def is_whole(row: Operator, arguments: Arguments) -> bool:
    """True if an operator reduces all dimensions to a single number."""
    rest = arguments.positional if row.name.startswith("Tensor.") else arguments.positional[1:]
    return "reduces" in row.facets and not rest and not arguments.keywords


def rank_in(atoms: Atoms) -> int:
    """The least rank of the fresh tensors among atoms; 0 if there are none."""
    ranks = [atom.rank for atom in atoms if isinstance(atom, Fresh)]
    return min(ranks, default=0)


def sizes_in(atoms: Atoms) -> int:
    """The number of sizes in one argument: the length of a tuple, or 1; 0 if it is absent."""
    shells = [atom for atom in atoms if isinstance(atom, Shell) and atom.is_container and atom.is_exact]
    return min((len(shell.entries) for shell in shells), default=1 if atoms else 0)


def is_empty(row: Operator, arguments: Arguments) -> bool:
    """True if a factory makes a tensor without elements: `torch.empty(0)`, `torch.tensor([])`."""
    given = arguments.positional if row.facets.get("sized") == "" else arguments.positional[:1]
    if "sized" not in row.facets or "passed" in row.facets:
        held = [atom for atoms in given for atom in atoms]
        return bool(held) and all(isinstance(a, Shell) and a.is_container and not a.entries for a in held)
    held = [atom for atoms in given for atom in opened(atoms)]
    return any(isinstance(atom, Constant) and type(atom.value) is int and atom.value == 0 for atom in held)


def _depth(atoms: Atoms, most: int = MAX_RANK) -> int:
    """The depth of nested lists of numbers, up to `most`, as a list may contain itself."""
    if not atoms or not most:
        return 0
    return min(
        1 + _depth(a.element(), most - 1) if isinstance(a, Shell) and a.is_container else rank_in((a,)) for a in atoms
    )
