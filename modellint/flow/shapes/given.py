"""A call as transfer functions see it: one alternative for each of its tensors, numbers from its other arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import Constant, Outside, SymbolicInput, text
from modellint.flow.heap import Shell
from modellint.flow.shapes.atoms import constant_of, dim_of, entry_of, is_none, is_number, sequence_of, type_of_operand
from modellint.flow.shapes.dtypes import TYPES, of_number
from modellint.flow.shapes.shape import Dim, Shape, Star, common, unknown
from modellint.operators import spellings

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from modellint.flow.domain import Arguments, Atoms
    from modellint.flow.shapes.atoms import Shaped
    from modellint.flow.shapes.dtypes import Typed
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
#: A place of an argument: its position in the table of operators, or its name.
Place = int | str


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
        #: What a layer's attribute of this name is called where its size is not known; None if it has no name.
        self.name_of: Callable[[str], Dim | None] | None = None
        self.key = key
        #: The tensors by their places; that of a layer's input is "input".
        self.picked = picked
        self._slots = slots
        self._arguments = arguments
        self._tensor_in = tensor_in

    @property
    def first(self) -> Shaped | None:
        """The operand with its type."""
        return self.picked.get(0) or self.picked.get("input")

    @property
    def operand(self) -> Shape | None:
        found = self.first
        return None if found is None else found.shape

    def tensors_with_types(self) -> list[Shaped]:
        """All tensors among the arguments."""
        return [one for one in self.picked.values() if one is not None]

    def operands(self) -> list[Typed]:
        """The types of the tensors and of the numbers that are computed with."""
        found = [type_of_operand(one) for one in self.tensors_with_types()]
        values = [atoms[0].value for atoms in self._slots if len(atoms) == 1 and isinstance(atoms[0], Constant)]
        numbers = [of_number(value) for value in values if isinstance(value, int | float)]
        return [*found, *(numbers if "promotes" in self.row.facets else ())]

    @property
    def dtype(self) -> str | None:
        """The type that the argument `dtype` names, or the only argument of `to`."""
        found = self._arguments.keywords.get("dtype")
        if found is None and self.row.name == "Tensor.to" and len(self._slots) == 2:
            found = self._slots[1]
        atom = found[0] if found is not None and len(found) == 1 else None
        name = atom.name.removeprefix("torch.") if isinstance(atom, Outside) else ""
        return _ALIASES.get(name, name) if _ALIASES.get(name, name) in TYPES else None

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
                return [entry_of(found)] if known is None and all(map(is_number, found)) else known
        given = self._slots[position:]
        if not self._arguments.is_complete or not given:
            return None
        known = sequence_of(given[0])
        if known is not None:
            return known
        if (len(given) == 1 or self.row.name.endswith("full")) and not all(map(is_number, given[0])):
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

    def keywords(self) -> dict[str, Dim]:
        return {name: dim_of(atoms) for name, atoms in self._arguments.keywords.items()}
