"""A call as transfer functions see it: one alternative for each of its tensors, numbers from its other arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import ClassRef, Constant, Outside, Plain, SymbolicInput, Unknown, text
from modellint.flow.heap import Shell
from modellint.flow.shapes.atoms import (
    constant_of,
    dim_of,
    entry_of,
    is_none,
    is_number,
    is_size,
    sequence_of,
    type_of_operand,
)
from modellint.flow.shapes.dtypes import TYPES, Typed, of_number
from modellint.flow.shapes.shape import Dim, Shape, Star, common, unknown
from modellint.operators import spellings

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from modellint.flow.domain import Arguments, Atoms
    from modellint.flow.shapes.atoms import Shaped
    from modellint.flow.shapes.shape import Refused
    from modellint.operators import Operator

#: Other names of types in `torch`.
_ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "cfloat": "complex64",
}
#: The types that names of Python and numpy stand for.
_OF_PYTHON = {"float": "float64", "int": "int64", "float_": "float64", "double": "float64", "single": "float32"} | {
    "half": "float16",
    "bool_": "bool",
    "int_": "int64",
    "long": "int64",
    "longlong": "int64",
}
#: The types of `x.type(torch.LongTensor)`, and of the constructors of these names.
_TENSORS = {
    "FloatTensor": "float32",
    "DoubleTensor": "float64",
    "HalfTensor": "float16",
    "BFloat16Tensor": "bfloat16",
    "LongTensor": "int64",
    "IntTensor": "int32",
    "ShortTensor": "int16",
    "CharTensor": "int8",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}
#: The order of arguments that are passed by name, where the facets of an operator count them.
_ORDER = ("input", "condition", "mask", "index", "target", "other", "source", "src", "tensor1", "tensor2", "value")
#: A place of an argument: its position in the table of operators, or its name.
Place = int | str

#: An operand of which nothing is known.
ANYTHING = Typed(None, None)


def type_named(atoms: Atoms) -> str | None:
    """The type that `torch.long`, `np.float32`, `float` or "float32" names; None if it is none, or not known."""
    atom = atoms[0] if len(atoms) == 1 else None
    if isinstance(atom, Outside):
        name = atom.name
    elif isinstance(atom, ClassRef):
        name = atom.model.name
    else:
        name = atom.value if isinstance(atom, Constant) and isinstance(atom.value, str) else ""
    home, _, last = name.rpartition(".")
    if home == "torch" or (home.startswith("torch.") and last.endswith("Tensor")):
        last = _TENSORS.get(last, last)
        return _ALIASES.get(last, last) if _ALIASES.get(last, last) in TYPES else None
    known = _OF_PYTHON.get(last, last) if home in ("numpy", "builtins", "") else ""
    return known if known in TYPES else None


class Given:
    """A call of an operator, or of a layer that was made with `arguments`; `tensors` are those that were picked."""

    def __init__(
        self,
        row: Operator,
        slots: tuple[Atoms, ...],
        arguments: Arguments,
        picked: dict[Place, Shaped | None],
        key: Hashable,
        tensor_in: Callable[[Atoms], Shaped | None],
        takes: Callable[[Dim, Dim], None] | None = None,
    ) -> None:
        self.row = row
        self.takes = takes
        self.taken: list[tuple[Dim, int, Refused]] = []
        #: What a layer's attribute of this name is called where its size is not known; None if it has no name.
        self.name_of: Callable[[str], Dim | None] | None = None
        self.key = key
        #: The tensors by their places; that of a layer's input is "input".
        self.picked = picked
        self._slots = slots
        self._arguments = arguments
        self._tensor_in = tensor_in
        #: What torch refuses unless symbols stand for equal sizes.
        self.doubts: list[Refused] = []

    @property
    def first(self) -> Shaped | None:
        """The operand with its type."""
        return self.picked.get(0) or self.picked.get("input")

    @property
    def operand(self) -> Shape | None:
        found = self.first
        return None if found is None else found.shape

    @property
    def is_layer(self) -> bool:
        """True for a layer, whose other arguments are the constructor's."""
        return self.row.name.rpartition(".")[2][:1].isupper()

    @property
    def is_complete(self) -> bool:
        """True if no more arguments are passed than are known."""
        return self._arguments.is_complete

    def further(self) -> list[tuple[Place, Atoms]]:
        """The arguments behind the operand, with their places."""
        return [*enumerate(self._slots[1:], 1), *self._arguments.keywords.items()]

    def tensors_with_types(self) -> list[Shaped]:
        """All tensors among the arguments."""
        return [one for one in self.picked.values() if one is not None]

    def operands(self) -> list[Typed]:
        """The types of the tensors and of the numbers that are computed with; unknown ones keep their places."""
        if self.is_layer:
            return [ANYTHING if one is None else type_of_operand(one) for one in self.picked.values()]
        facets = self.row.facets
        has_numbers, has_dim = "promotes" in facets, "source" in facets or "index" in facets
        found: list[Typed] = []
        for place, atoms in enumerate(self._slots):
            if has_dim and place == 1:
                continue
            tensor = self.picked.get(place)
            values = [atom.value for atom in atoms if isinstance(atom, Constant)]
            if tensor is not None:
                found.append(type_of_operand(tensor))
            elif place in self.picked or any(isinstance(atom, Unknown | Plain | SymbolicInput) for atom in atoms):
                found.append(ANYTHING)
            elif has_numbers and len(values) == len(atoms) == 1 and isinstance(values[0], int | float):
                found.append(of_number(values[0]))
            elif has_numbers and any(map(is_number, atoms)):
                found.append(Typed("real", 0))
        names = {place for place in self.picked if isinstance(place, str)}
        names |= self._arguments.keywords.keys() & {"index", "source", "src"} if has_dim else set()
        for name in sorted(names, key=lambda one: _ORDER.index(one) if one in _ORDER else len(_ORDER)):
            tensor = self.picked.get(name)
            found.append(ANYTHING if tensor is None else type_of_operand(tensor))
        return found or self._types_of_parts()

    def _types_of_parts(self) -> list[Typed]:
        """The types of the tensors in the list that is the operand."""
        return [ANYTHING if one is None else type_of_operand(one) for one in self.listed_tensors()]

    def listed_tensors(self) -> list[Shaped | None]:
        """The tensors in the list that is the operand; none if there is no such list."""
        given = self.argument(0, "tensors")
        shell = given[0] if given is not None and len(given) == 1 else None
        if not isinstance(shell, Shell) or not shell.is_container or shell.kind == "dict" or shell.items is None:
            return []
        return [self._tensor_in(entry.atoms) for entry in shell.entries]

    def named_type(self) -> tuple[bool, str | None]:
        """True if an argument names a type, and which one; a layer's constructor has named its own."""
        if self.is_layer:
            return False, None
        given = self._arguments.keywords.get("dtype")
        if given is None:
            is_method = self.row.name.startswith("Tensor.") and "type" not in self.row.facets  # `x.view(*sizes)`
            return not self._arguments.is_complete and not is_method, None
        return (False, None) if is_none(given) else (True, type_named(given))

    def tensors(self) -> list[Shape]:
        return [one.shape for one in self.tensors_with_types()]

    def tensor(self, position: int, name: str) -> Shape | None:
        places: tuple[Place, ...] = (*spellings(name), position)
        for place in places:
            found = self.picked.get(place)
            if found is not None:
                return found.shape
        made_with = self.argument(position, name) if "input" in self.picked and name != "input" else None
        is_symbolic = made_with is None or any(isinstance(atom, SymbolicInput) for atom in made_with)
        tensor = None if is_symbolic or made_with is None else self._tensor_in(made_with)
        return None if tensor is None else tensor.shape

    def argument(self, position: int, name: str) -> Atoms | None:
        """The atoms of an argument; None if it is not given."""
        keywords = self._arguments.keywords
        for spelt in spellings(name) if keywords else ():
            if spelt in keywords:
                return keywords[spelt]
        return self._slots[position] if position < len(self._slots) else None

    def parts(self) -> tuple[list[Shape], bool] | None:
        given = self.argument(0, "tensors")
        shell = given[0] if given is not None and len(given) == 1 else None
        if not isinstance(shell, Shell) or not shell.is_container or shell.kind == "dict":
            return None
        found: list[Shape] = []
        for number, entry in enumerate(shell.entries):
            tensor = self._tensor_in(entry.atoms)
            found.append(unknown((self.key, number)) if tensor is None else tensor.shape)
        if shell.items is None and found:  # any of these may be there, or not
            return [common(found)], True
        return found, shell.items is None

    def is_given(self, position: int, name: str) -> bool:
        found = self.argument(position, name)
        return not self._arguments.is_complete if found is None else not is_none(found)

    def size(self, position: int, name: str) -> Dim:
        given = self.argument(position, name)
        found = dim_of(given)
        if found.size is None and self.name_of is not None and given is not None:
            return self.name_of(name) or found
        return found

    def whole(self, position: int, name: str, default: int | None = None) -> int | None:
        found = self.argument(position, name)
        if found is None:
            return default if self._arguments.is_complete else None
        return constant_of(found)

    def flag(self, position: int, name: str, *, default: bool = False) -> bool | None:
        found = self.argument(position, name)
        if found is None:
            return default if self._arguments.is_complete else None
        atom = found[0] if len(found) == 1 else None
        return bool(atom.value) if isinstance(atom, Constant) else None

    def text(self, position: int, name: str) -> str | None:
        return text(self.argument(position, name))

    def sizes(self, position: int, name: str) -> list[Dim | Star | None] | None:
        for spelt in (name, "size", "shape"):
            found = self._arguments.keywords.get(spelt)
            if found is not None:
                known = sequence_of(found)
                return [entry_of(found)] if known is None and all(map(is_size, found)) else known
        given = self._slots[position:]
        if not self._arguments.is_complete or not given:
            return None
        known = sequence_of(given[0])
        if known is not None:
            return known
        if (len(given) == 1 or self.row.name.endswith("full")) and not all(map(is_size, given[0])):
            return None
        return [entry_of(one) for one in given]

    def many(self, position: int, name: str) -> list[Dim | Star | None] | Dim | None:
        found = self.argument(position, name)
        if found is None:
            return None
        known = sequence_of(found)
        if known is not None:
            return known
        size = dim_of(found)
        return size if size.size is not None else None

    def doubt(self, refused: Refused) -> None:
        self.doubts.append(refused)

    def keywords(self) -> dict[str, Dim]:
        return {name: dim_of(atoms) for name, atoms in self._arguments.keywords.items()}
