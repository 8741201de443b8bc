"""Types of elements: of literals, of arrays of numpy, and of the results of calls."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from modellint.flow.domain import ClassRef, Constant, Counter, Outside, Plain
from modellint.flow.heap import Shell
from modellint.flow.shapes.atoms import Array, Shaped, ShapeOf, dim_of, is_number, sequence_of, type_of_operand
from modellint.flow.shapes.doubts import doubt_of_call, doubt_of_pair
from modellint.flow.shapes.dtypes import (
    DEFAULT,
    FLOATS,
    WHOLE,
    Typed,
    can_agree,
    can_be,
    is_of,
    of_number,
    promote,
    refuse_unary,
    type_of_operator,
    types_of_result,
)
from modellint.flow.shapes.given import type_named
from modellint.flow.shapes.held import doubt_of_elements
from modellint.flow.shapes.patches import ROWS, doubt_of_rows
from modellint.flow.shapes.shape import Dim, Refused, Shape, unknown
from modellint.graph.immutable import replace
from modellint.graph.value import InPlace
from modellint.operators.arrays import array_row

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from modellint.flow.domain import Arguments, Atom, Atoms
    from modellint.flow.shapes.given import Given
    from modellint.operators import Operator

#: The methods that change the type of a layer's parameters, or may.
CONVERTING = frozenset(("half", "double", "bfloat16", "to", "type"))
_DOUBTED = frozenset(("loses", "needs-several"))
_DEEPEST = 8
#: The types of sines and the like that numpy gives for arrays of whole numbers.
_REAL_OF = {
    "bool": "float16",
    "int8": "float16",
    "uint8": "float16",
    "int16": "float32",
    "int32": "float64",
    "int64": "float64",
}
#: The constructors of parameters, which need gradients unless they are told not to.
_PARAMETERS = ("torch.nn.Parameter", "torch.nn.parameter.Parameter")


class Judge:
    """The verdict on the types of operands, of all alternatives of one call."""

    __slots__ = ("doubts", "is_allowed", "meant", "refused", "weights")

    def __init__(self, weights: str | None = DEFAULT) -> None:
        #: The type of a layer's parameters.
        self.weights = weights
        self.refused: Refused | None = None
        #: True if some alternative is allowed.
        self.is_allowed = False
        #: Why what is done is seldom meant, by what is asked.
        self.doubts: dict[str, Refused] = {}
        #: What some alternative may well mean.
        self.meant: set[str] = set()

    def weigh(self, doubt: Refused | None, about: str = "shapes") -> None:
        """Take note of whether an alternative is seldom meant."""
        if doubt is None:
            self.meant.add(about)
        else:
            self.doubts[about] = doubt

    def of(self, check: Callable[[], str | None]) -> str | None:
        """The type that a check gives for one alternative; None if unknown, or where torch refuses it."""
        try:
            found = check()
        except Refused as refused:
            self.refused = refused
            return None
        self.is_allowed = True
        return found

    def of_call(self, call: Given) -> str | None:
        """The type of a call's result."""
        if not call.row.facets.keys().isdisjoint(_DOUBTED):
            self.weigh(doubt_of_call(call))
        if "seldom" in call.row.facets:
            self.weigh(doubt_of_elements(call), "elements")
        return self.of(lambda: _type_of(call, self.weights))

    def of_pair(self, name: str, one: Shaped, other: Shaped) -> str | None:
        """The type of the result of an operator."""
        if name == "-":
            self.weigh(doubt_of_pair(one.shape, other.shape))
        if name == "+":
            self.weigh(doubt_of_rows(one.shape, other.shape), ROWS)
        pair, in_place = (type_of_operand(one), type_of_operand(other)), isinstance(name, InPlace)
        return self.of(lambda: type_of_operator(name, *pair, in_place=in_place))

    def of_unary(self, name: str, operands: Iterable[Shaped]) -> None:
        """Judge the operand of `~` or `-`."""
        for one in operands:
            self.of(lambda one=one: refuse_unary(name, type_of_operand(one)))  # type: ignore[misc]

    def of_puts(self, into: Sequence[Shaped | None], given: Sequence[Shaped | None]) -> None:
        """Judge elements that are assigned to those which ids or a mask pick."""
        for one, other in product(into, given):
            if one is None or other is None or other.shape.least_rank == 0 or can_agree(one.dtype, other.dtype):
                self.is_allowed = True
            else:
                self.refused = Refused("dtype-put", one.dtype, other.dtype)


def _type_of(call: Given, weights: str | None) -> str | None:
    row, name = call.row, call.row.name
    if name in ("Tensor.to", "Tensor.type"):
        return _type_of_conversion(call)
    if name == "Tensor.type_as":
        other = call.picked.get(1)
        return None if other is None else other.dtype
    if name == "Tensor.view" and call.is_complete and len(given := call.further()) == 1 and not _is_size(given[0][1]):
        return type_named(given[0][1])  # `x.view(torch.int32)`
    operands = call.operands()
    is_typed, dtype = call.named_type()
    found = types_of_result(row, operands, dtype=dtype, weights=weights, is_typed=is_typed)[0]
    rounding = row.argument("rounds")
    if rounding is not None and call.is_given(*rounding):
        found = promote(operands)
    if not is_typed and name in ("torch.full", "torch.arange"):
        found = _type_of_numbers(call, name)
    if "classes" in row.facets:
        _refuse_classes(call)
    makes = not row.facets.keys().isdisjoint(("made-of", "ranges", "counts-to", "grid"))
    if (makes and call.flag(99, "requires_grad")) or (
        name == "Tensor.requires_grad_" and call.flag(1, "requires_grad", default=True)
    ):
        refuse_gradient(found)
    return found


def refuse_gradient(dtype: str | None) -> None:
    """Raise `Refused` for a type that can have no gradients."""
    if is_of(dtype, WHOLE):
        raise Refused("dtype-gradient", dtype, "float")


def _is_size(atoms: Atoms) -> bool:
    """True for a size, or a tuple of sizes."""
    return all(is_number(atom) or isinstance(atom, ShapeOf | Shell | Counter) for atom in atoms)


def _type_of_conversion(call: Given) -> str | None:
    """The type of `x.to(…)` and `x.type(…)`: the one that an argument names, or has; else its own."""
    is_known = call.is_complete
    for place, atoms in call.further():
        tensor = call.picked.get(place)
        named = tensor.dtype if tensor is not None else type_named(atoms)
        if tensor is not None or named is not None:
            return named
        is_known = is_known and all(map(_is_no_type, atoms))
    return call.first.dtype if is_known and call.first is not None else None


def _is_no_type(atom: Atom) -> bool:
    """True for the name of a device, a device, and a flag."""
    return isinstance(atom, Constant) or (isinstance(atom, Plain) and bool(atom.device))


def _type_of_numbers(call: Given, name: str) -> str | None:
    """The type of `torch.full(size, value)` and `torch.arange(1, 10, 2)`, by its numbers."""
    given = (
        [call.argument(1, "fill_value")]
        if name == "torch.full"
        else [call.argument(place, word) for place, word in enumerate(("start", "end", "step"))]
    )
    return type_of_numbers([one for one in given if one is not None])


def type_of_numbers(given: Sequence[Atoms]) -> str | None:
    """The common type of numbers; None if one of them is not known."""
    found = [type_of_literal(atoms, 0) for atoms in given]
    return None if not found or None in found else promote([Typed(one, 0) for one in found])


def _refuse_classes(call: Given) -> None:
    """Raise `Refused` for a target of real numbers that is no table of probabilities."""
    scores, target = call.first, call.picked.get("target") or call.picked.get(1)
    if scores is None or target is None or not is_of(target.dtype, FLOATS):
        return
    is_apart = None not in (scores.shape.rank, target.shape.rank) and scores.shape.rank != target.shape.rank
    if is_apart or call.row.facets["classes"] != "probabilities":
        raise Refused("dtype-targets", target.dtype, "int64")


# -- literals ----------------------------------------------------------------------------------------------------------


def type_of_display(name: str, arguments: Arguments) -> str | None:
    """The type of `torch.tensor([1, 2])`, `torch.LongTensor(…)`, by the constructor and what it is given."""
    if name.endswith("Tensor"):
        return DEFAULT if name == "torch.Tensor" else type_named((Outside(name),))
    named = arguments.keywords.get("dtype")
    if named is not None:
        return type_named(named)
    given = arguments.argument(0, "data")
    found = None if given is None else type_of_literal(given)
    if arguments.is_complete and _is_true(arguments.keywords.get("requires_grad")):
        refuse_gradient(found)
    return found


def _is_true(atoms: Atoms | None) -> bool:
    return atoms is not None and len(atoms) == 1 and isinstance(atoms[0], Constant) and atoms[0].value is True


def type_of_literal(atoms: Atoms, depth: int = _DEEPEST) -> str | None:
    """The type that nested lists of numbers are given as a tensor; None if unknown."""
    atom = atoms[0] if len(atoms) == 1 else None
    if isinstance(atom, Constant) and isinstance(atom.value, bool | int | float | complex):
        return of_number(atom.value).name
    if isinstance(atom, Counter):
        return "int64"
    if isinstance(atom, Array) or (isinstance(atom, Shaped) and depth == _DEEPEST):
        return atom.dtype
    if not isinstance(atom, Shell) or atom.kind not in ("list", "tuple") or not depth:
        return None
    found = {type_of_literal(entry.atoms, depth - 1) for entry in atom.items or atom.entries}
    if None in found or not found or (len(found) > 1 and atom.items is None):
        return None
    return found.pop() if len(found) == 1 else promote([Typed(one, 0) for one in found])


# -- arrays of numpy ---------------------------------------------------------------------------------------------------


def array_of(name: str, arguments: Arguments, key: Hashable) -> Atoms | None:
    """The array that a function of numpy gives; None if it is not known."""
    row = array_row(name)
    if row is None:
        return None
    facets, given = row.facets, arguments.positional
    at = int(facets.get("dtype", 99))
    named = arguments.argument(at, "dtype")
    dtype = _type_made(row, arguments) if named is None else type_named(named)
    if "keeps" in facets:
        operand = given[0] if given else ()
        array = operand[0] if len(operand) == 1 else None
        if not isinstance(array, Array):
            return None
        dtype = array.dtype if named is None else dtype
        dtype = _type_computed(row, dtype) if named is None else dtype
    if not arguments.is_complete or (facets.get("type") == "sized" and not given):
        return None
    return (Array(_shape_made(row, given, key), dtype),)


def _type_computed(row: Operator, dtype: str | None) -> str | None:
    """The type of numpy's result for an array of a type; None if it is not known."""
    facets = row.facets
    if "real" in facets and is_of(dtype, WHOLE):
        return _REAL_OF.get(str(dtype), "float")
    if "adds" in facets and is_of(dtype, WHOLE):
        return None if can_be(dtype, ("uint8",)) else "int64"
    return None if "no-flags" in facets and dtype == "bool" else dtype


def _type_made(row: Operator, arguments: Arguments) -> str | None:
    word = row.facets.get("type")
    if word == "sized":
        return "float64"
    if word not in ("literal", "count", "fill"):
        return word
    given = arguments.positional
    if word == "literal":
        found = type_of_literal(given[0]) if given else None
    else:
        found = type_of_numbers(given[1:2] if word == "fill" else given)
    return "float64" if found == DEFAULT and not _holds_array(given) else found


def _holds_array(given: Sequence[Atoms]) -> bool:
    return any(isinstance(atom, Array) for atoms in given for atom in atoms)


def _shape_made(row: Operator, given: Sequence[Atoms], key: Hashable) -> Shape:
    at = row.facets.get("shape")
    sizes = given[int(at)] if at is not None and int(at) < len(given) else None
    if sizes is None:
        return unknown(key)
    known = [dim_of(sizes)] if all(map(is_number, sizes)) else sequence_of(sizes)
    if known is None or any(one is not None and not isinstance(one, Dim) for one in known):
        return unknown(key)
    return Shape(tuple(one if isinstance(one, Dim) else dim_of(None) for one in known))


def method_of_array(array: Array, name: str, arguments: Arguments, key: Hashable) -> Atoms | None:
    """The result of a method of an array; None if it is not known."""
    row = array_row(f"Array.{name}")
    if row is None or "other" in row.facets:
        return None
    if "casts" in row.facets:
        named = arguments.argument(0, "dtype")
        return (Array(array.shape, None if named is None else type_named(named)),)
    return (array if name == "copy" else Array(unknown(key), array.dtype),)


def arithmetic_on_arrays(name: str, left: Atoms, right: Atoms, key: Hashable) -> Atoms | None:
    """The result of arithmetic on an array and another one, or a number; None if it is not known."""
    sides = [left[0] if len(left) == 1 else None, right[0] if len(right) == 1 else None]
    arrays = [one for one in sides if isinstance(one, Array)]
    numbers = [one.value for one in sides if isinstance(one, Constant)]
    if not arrays or len(arrays) + len(numbers) < 2 or name not in ("+", "-", "*", "/"):
        return None
    types = {one.dtype for one in arrays}
    dtype = types.pop() if len(types) == 1 else None
    if any(isinstance(one, complex) for one in numbers):
        dtype = None
    elif is_of(dtype, WHOLE) and (name == "/" or any(isinstance(one, float) for one in numbers)):
        dtype = "float64"
    elif dtype == "bool" and any(isinstance(one, int) and not isinstance(one, bool) for one in numbers):
        dtype = "int64"
    shape = arrays[0].shape if len(arrays) == 1 else unknown(key)
    return (Array(shape, dtype),)


# -- parameters and layers ---------------------------------------------------------------------------------------------


def refusal_of_parameter(
    function: Atom, arguments: Arguments, tensor_in: Callable[[Atoms], Shaped | None]
) -> Refused | None:
    """Why torch refuses to make a parameter: its elements can have no gradients."""
    if not isinstance(function, ClassRef) or function.model.name not in _PARAMETERS:
        return None
    tensor = tensor_in(arguments.argument(0, "data") or ())
    if tensor is None:
        return None
    needs = arguments.argument(1, "requires_grad")
    if (needs is not None and not _is_true(needs)) or not arguments.is_complete or not is_of(tensor.dtype, WHOLE):
        return None
    return Refused("dtype-gradient", tensor.dtype, "float")


def weights_of(made: Arguments, *, is_exact: bool) -> str | None:
    """The type of a layer's parameters, by its constructor's arguments; a kind if other code may convert it."""
    named = made.keywords.get("dtype")
    if named is not None:
        return (type_named(named) if is_exact else None) or "float"
    return DEFAULT if is_exact and made.is_complete else "float"


def converts(atom: Atom, name: str, arguments: Arguments) -> bool:
    """True if a method may change the type of the parameters of a layer, perhaps of one that is not known."""
    if isinstance(atom, Shaped) or name not in ("to", "type"):
        return not isinstance(atom, Shaped)
    if not isinstance(atom, Shell):
        return False
    given = list(arguments.all())
    return not all(type_named(atoms) == DEFAULT or all(map(_is_no_type, atoms)) for atoms in given)


def without_precision(atoms: Atoms) -> Atoms:
    """Tensors that an object holds: a conversion of the object changes how precise their real numbers are."""
    if not any(isinstance(atom, Shaped) and atom.dtype in FLOATS for atom in atoms):
        return atoms
    return tuple(
        replace(atom, dtype="float") if isinstance(atom, Shaped) and atom.dtype in FLOATS else atom for atom in atoms
    )
