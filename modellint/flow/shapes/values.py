"""Values of the theory of shapes: tensors, numbers, lists and layers among atoms."""

from __future__ import annotations

from itertools import islice, product
from typing import TYPE_CHECKING, TypeGuard

from modellint.flow.domain import UNKNOWN, Arguments, Constant, SymbolicInput
from modellint.flow.heap import Shell
from modellint.flow.library.containers import holds
from modellint.flow.shapes.atoms import Shaped, ShapeOf, is_number, number_of, sequence_of
from modellint.flow.shapes.notes import Sized
from modellint.flow.shapes.parts import common_part
from modellint.flow.shapes.shape import ANY, Dim, Shape, Star, common, limit, of_rank, unknown
from modellint.graph.immutable import replace
from modellint.graph.size import Size, Symbol
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.heap import Store
    from modellint.graph.python import Function
    from modellint.graph.value import Value
    from modellint.operators import Operator

#: The most alternatives of an argument that are told apart.
_MAX_TENSORS = 4
#: The most layers in a list that a loop is run over one by one.
_MAX_TURNS = 8
#: The most alternatives of the operands of one call that are tried, one by one.
MAX_ALTERNATIVES = 12


def with_batch(row: Operator, tensor: Shaped | None) -> Shaped | None:
    """The input of a convolution or a pool; one of unknown rank counts as a batch."""
    ranks = _ranks_of_windows(row)
    if tensor is None or not ranks or tensor.shape.star is None or tensor.shape.least_rank > ranks[-1]:
        return tensor
    return replace(tensor, shape=of_rank(tensor.shape, ranks[-1]))


def is_without_batch(row: Operator, tensor: Shaped | None) -> bool:
    """True if a convolution or a pool is given a single image, which is seldom meant: the result stays unknown."""
    ranks = _ranks_of_windows(row)
    return tensor is not None and len(ranks) > 1 and tensor.shape.rank == ranks[0]


def _ranks_of_windows(row: Operator) -> list[int]:
    facets = row.facets
    return [int(rank) for rank in facets["ranks"].split("|")] if "window" in facets and "ranks" in facets else []


def are_few_layers(over: Sequence[Atoms] | None) -> bool:
    """True for the elements of a list of a few layers, or of tuples with layers."""
    is_few = over is not None and 1 < len(over) <= _MAX_TURNS
    return is_few and all(map(_is_layer, over or ()))


def is_written(atoms: Atoms) -> bool:
    """True for a number or a text, or a tuple of such."""
    if len(atoms) != 1:
        return False
    entries = [atoms] if not holds(atoms[0]) else [entry.atoms for entry in atoms[0].entries]
    return all(len(own) == 1 and (isinstance(own[0], Constant) or is_number(own[0])) for own in entries)


def _is_layer(atoms: Atoms) -> bool:
    """True for a layer, or a tuple of layers and numbers."""
    shells = [atom for atom in atoms if isinstance(atom, Shell)]
    if len(shells) < len(atoms) or any(one.kind != "tuple" and not one.is_layer for one in shells):
        return False
    entries = [entry.atoms for one in shells if one.kind == "tuple" for entry in one.entries]
    return all(all(is_number(atom) or (isinstance(atom, Shell) and atom.is_layer) for atom in own) for own in entries)


def is_settings(atom: Atom) -> bool:
    """True for an argument of the root, or an object that is no layer."""
    is_object = isinstance(atom, Shell) and atom.kind == "instance" and not atom.is_layer
    return is_object or isinstance(atom, SymbolicInput)


def held_by(store: Store) -> Atoms:
    """The atoms that a store keeps; none where they are not computed yet."""
    return () if callable(store.held) else store.held


def layers_at(row: Shell, number: int) -> Atoms:
    """The layers at a place of a `Sequential`, which may be stored there by name: `row._modules["6"] = …`."""
    entry = row.entries[number]
    stored = row.get(str(number if entry.key is None else entry.key)) if row.stores else None
    return entry.atoms if stored is None else stored


def side_of(side: object) -> object:
    """A side of a misfit; a list of numbers as a text."""
    return f"[{', '.join(map(str, side))}]" if isinstance(side, list | tuple) else side


def tensors_given(code: Function, given: Arguments) -> tuple[Sized, ...]:
    """The tensors that a function is given, where their sizes are numbers."""
    own = 0 if code.owner is None or code.is_static else 1
    names = [one.name for one in code.parameters if one.kind == "positional"][own:]
    found = []
    for name, atoms in (*zip(names, given.positional, strict=False), *given.keywords.items()):
        tensor = atoms[0] if len(atoms) == 1 else None
        if isinstance(tensor, Shaped) and tensor.shape.star is None:
            sizes = [None if dim.size is None else dim.size.constant for dim in tensor.shape.head]
            known = tuple(size for size in sizes if size is not None)
            found += [Sized(name, tensor.dtype or "", known)] if len(known) == len(sizes) else []
    return tuple(found)


def few_tensors(atoms: Atoms) -> Atoms:
    """The atoms of an argument; many tensors become one, of what they have in common."""
    tensors = [atom for atom in atoms if isinstance(atom, Shaped)]
    if len(tensors) <= _MAX_TENSORS:
        return atoms
    return (*as_one(tensors), *(atom for atom in atoms if not isinstance(atom, Shaped)))


def without_elements(given: Arguments) -> Arguments:
    """Arguments without what is known of the elements and gradients of tensors."""
    atoms = (atom for one in given.all() for atom in one)
    if not any(isinstance(atom, Shaped) and (atom.held or atom.cut or atom.traced) for atom in atoms):
        return given

    def without(atoms: Atoms) -> Atoms:
        return tuple(
            replace(one, held=None, cut=None, traced=None) if isinstance(one, Shaped) else one for one in atoms
        )

    keywords = {name: without(atoms) for name, atoms in given.keywords.items()}
    return Arguments(tuple(map(without, given.positional)), keywords, given.is_complete)


def as_one(tensors: Sequence[Shaped]) -> Atoms:
    """A tensor of what several have in common."""
    part = None
    if any(one.traced is not None for one in tensors):
        part = common_part(tensors)
        if len({replace(one, traced=None) for one in tensors}) == 1:
            return (replace(tensors[0], traced=part),)
    dtypes = {one.dtype for one in tensors}
    shape = common([one.shape for one in tensors])
    return (Shaped(shape, dtypes.pop() if len(dtypes) == 1 else None, traced=part),)


def choices_of(sides: Sequence[Sequence[Shaped | None]]) -> Iterator[tuple[Shaped | None, ...]]:
    return islice(product(*(dict.fromkeys(side) for side in sides)), MAX_ALTERNATIVES + 1)


def concatenate(left: Atoms, right: Atoms) -> Atoms:
    """`x.shape[:-1] + (heads, -1)`."""
    one, other = sequence_of(left), sequence_of(right)
    parts = [*(one or ()), *(other or ())]
    stars = [number for number, part in enumerate(parts) if isinstance(part, Star)]
    if one is None or other is None or len(stars) > 1:
        return UNKNOWN
    dims = [part if isinstance(part, Dim) else ANY for part in parts]
    if not stars:
        return (ShapeOf(Shape(tuple(dims))),)
    star = parts[stars[0]]
    assert isinstance(star, Star)
    return (ShapeOf(Shape(tuple(dims[: stars[0]]), star, tuple(dims[stars[0] + 1 :]))),)


def calculate(name: str, one: Size | None, other: Size | None) -> Atoms | None:
    """The result of arithmetic on two sizes; None if it is left to the interpreter."""
    if one is None or other is None:
        return None
    if name == "//":
        return None if other == Size.of(0) else number_of(Dim(limit(one.floor(other))))
    if name == "**" and one.constant is None and other.constant == 2:
        return number_of(Dim(limit(one * one)))
    if name not in ("+", "-", "*"):
        return None
    return number_of(Dim(limit(one + other if name == "+" else one - other if name == "-" else one * other)))


def dim_named(owner: str, name: str) -> Dim:
    """A dimension whose size the code gives a name."""
    return Dim(Size.symbol(Symbol(owner, name)))


def owners_of(tensors: Iterable[Shaped | None]) -> set[str]:
    """The owners of the symbols that the sizes of tensors are, or will be once their number is known."""
    shapes = [one.shape for one in tensors if one is not None]
    dims = [dim for shape in shapes for dim in (*shape.head, *shape.tail) if dim.size is not None]
    found = {symbol.owner for dim in dims if dim.size is not None for symbol in dim.size.symbols}
    return found | {shape.star.symbol(0).owner for shape in shapes if shape.star is not None and shape.star.name}


def turn_matrix(shape: Shape, name: str) -> Shape:
    """The shape of `x.T` (all dimensions in the other order) or `x.mT` (the last two exchanged)."""
    if shape.star is not None:
        return unknown((shape, name))
    if name == "T":
        return Shape(shape.head[::-1])
    return Shape((*shape.head[:-2], *shape.head[-2:][::-1]))


def has_parts(atom: Atom) -> TypeGuard[SymbolicInput]:
    """True for an argument of a root whose parts are told apart."""
    return isinstance(atom, SymbolicInput) and bool(atom.home) and not atom.is_any_element


def is_part(subscript: Value) -> bool:
    """True for a slice that may leave out something."""
    is_whole = all(bound.op is Op.CONST and bound.data is None for bound in subscript.args)
    return subscript.op is Op.SLICE and not is_whole


def class_names(shell: Shell) -> list[str]:
    """The names of an object's class and its bases; `torch.nn.Linear` for `torch.nn.modules.linear.Linear`."""
    names = [model.name for model in shell.model.mro()] if shell.model is not None else []
    return [f"torch.nn.{name.rpartition('.')[2]}" if name.startswith("torch.nn.modules.") else name for name in names]
