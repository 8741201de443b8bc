"""The atoms of the theory of shapes: tensors of a shape, and shapes as values."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from modellint.flow.domain import PLAIN, ClassRef, Constant, Number, Outside, SymbolicInput, size_of
from modellint.flow.heap import Shell
from modellint.flow.shapes.dtypes import Typed
from modellint.flow.shapes.shape import ANY, Dim, Shape, Star, limit
from modellint.flow.theory import Foreign
from modellint.graph.hashing import HashedOnce, hashed_once
from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from modellint.flow.domain import Atom, Atoms, Site
    from modellint.graph.size import Size

#: The classes whose instances tensors are.
_TENSORS = frozenset(("torch.Tensor", "torch._tensor.Tensor"))


@hashed_once
@dataclass(frozen=True, slots=True)
class Held(HashedOnce):
    """The kind of a tensor's elements, and the expression that makes them; `behind` is that of its operand.

    The kinds are `scores`, which a layer gives, `probabilities` that add up to 1, `chances` between 0 and 1, the
    logarithms of both, `positives`, and `bounded` ones between -1 and 1. `width` is that of a linear layer's input.
    """

    kind: str
    behind: str = ""
    site: Site | None = field(default=None, compare=False)
    width: Size | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.kind


@hashed_once
@dataclass(frozen=True, slots=True)
class Cut(HashedOnce):
    """The reason why no gradient reaches a tensor: the operator that has none, and its expression."""

    by: str
    site: Site | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return self.by


@hashed_once
@dataclass(frozen=True, slots=True)
class Kept(HashedOnce):
    """The operator that needs a tensor again in the backward pass, and its expression.

    `what` the tensor is for it: its `result` or its `operand`. A parameter is a `leaf`, which nothing may change.
    """

    by: str
    what: str = "operand"
    site: Site | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.what} {self.by}"


@hashed_once
@dataclass(frozen=True, slots=True)
class Traced(HashedOnce):
    """The part that a tensor has in the backward pass: if it certainly `needs` a gradient, and what `kept` it."""

    needs: bool = True
    kept: Kept | None = None


@hashed_once
@dataclass(frozen=True, slots=True)
class Shaped(HashedOnce, Foreign):
    """A tensor with its shape and the type of its elements, `float32` or a kind such as `float`; None if unknown.

    `is_presumed`: an argument, or a part of one, that may be an array of numpy as well. `held` is what the elements
    are, `cut` why no gradient reaches it, and `traced` its part in the backward pass; None if not known.
    """

    shape: Shape
    dtype: str | None = None
    is_presumed: bool = False
    held: Held | None = None
    cut: Cut | None = None
    traced: Traced | None = None

    def is_of(self, kind: Atom) -> bool | None:
        if isinstance(kind, Outside | ClassRef):
            name = kind.name if isinstance(kind, Outside) else kind.model.name
            return True if name in _TENSORS else False if name.startswith("builtins.") else None
        return None


@hashed_once
@dataclass(frozen=True, slots=True)
class Scalar(Shaped):
    """A number of Python beside a tensor, which counts least for the type of the result."""


@hashed_once
@dataclass(frozen=True, slots=True)
class Array(HashedOnce, Foreign):
    """An array of numpy, with the type of its elements."""

    shape: Shape
    dtype: str | None


@hashed_once
@dataclass(frozen=True, slots=True)
class ShapeOf(HashedOnce, Foreign):
    """The shape of a tensor, or a part of it, as a tuple of numbers."""

    shape: Shape

    def sequence(self) -> list[Atoms]:
        """The numbers, one by one; `Rest` stands for those of unknown number."""
        star: list[Atoms] = [] if self.shape.star is None else [(Rest(self.shape.star),)]
        return [*map(number_of, self.shape.head), *star, *map(number_of, self.shape.tail)]


@hashed_once
@dataclass(frozen=True, slots=True)
class Rest(HashedOnce, Foreign):
    """Any number of sizes in a tuple: `*x.shape[:-1]` of a tensor whose rank is unknown."""

    star: Star


@hashed_once
@dataclass(frozen=True, slots=True)
class AnyNumber(HashedOnce, Foreign):
    """A number of Python whose value is not known."""


ANY_NUMBER = AnyNumber()


def number_of(dim: Dim) -> Atoms:
    """The size of a dimension as a number."""
    if dim.size is None:
        return PLAIN
    return (Number(dim.size),) if dim.size.constant is None else (Constant(dim.size.constant),)


def dim_of(atoms: Atoms | None) -> Dim:
    """A number as a dimension; of unknown size where it is not known, or is no whole number."""
    size = size_of(atoms)
    if size is None or not atoms or any(isinstance(atom, Constant) and atom.value is None for atom in atoms):
        return ANY
    return Dim(limit(size))


def sequence_of(atoms: Atoms) -> list[Dim | Star | None] | None:
    """The numbers in a tuple, one by one; None if it is not known how many, or if it is no tuple."""
    atom = atoms[0] if len(atoms) == 1 else None
    if isinstance(atom, ShapeOf):
        star: list[Dim | Star | None] = [] if atom.shape.star is None else [atom.shape.star]
        return [*atom.shape.head, *star, *atom.shape.tail]
    if not isinstance(atom, Shell) or atom.kind not in ("tuple", "list"):
        return None
    entries = [entry.atoms for entry in atom.entries]
    has_rest = any(len(one) == 1 and isinstance(one[0], Rest) for one in entries)
    if atom.items is None and not (has_rest and not any(entry.path for entry in atom.entries)):
        return None
    return [entry_of(one) for one in entries]


def entry_of(atoms: Atoms) -> Dim | Star | None:
    """One number of a sequence, or the rest of a shape; None if it is not known."""
    if len(atoms) == 1 and isinstance(atoms[0], Rest):
        return atoms[0].star
    found = dim_of(atoms)
    return None if found.size is None else found


def is_number(atom: Atom) -> bool:
    """True if an atom is certainly a single number."""
    return isinstance(atom, Number) or (isinstance(atom, Constant) and isinstance(atom.value, int | float))


def is_size(atom: Atom) -> bool:
    """True if an atom is a single number, or an argument that is one by default."""
    return is_number(atom) or (
        isinstance(atom, SymbolicInput) and atom.symbol is not None and atom.symbol.default is not None
    )


def constant_of(atoms: Atoms) -> int | None:
    """The whole number that a value is; None if it is not known, or no whole number."""
    atom = atoms[0] if len(atoms) == 1 else None
    return atom.value if isinstance(atom, Constant) and type(atom.value) is int else None


def is_none(atoms: Atoms) -> bool:
    """True if a value is certainly None."""
    return bool(atoms) and all(isinstance(atom, Constant) and atom.value is None for atom in atoms)


def type_of_operand(tensor: Shaped) -> Typed:
    """An operand for the promotion of types: its type, and if it has dimensions."""
    if isinstance(tensor, Scalar):
        return Typed(tensor.dtype, 0)
    return Typed(tensor.dtype, None if tensor.shape.rank is None else 2 if tensor.shape.rank else 1)
