"""Pairing of tables and ids: one key, or one iteration of a loop, picks both a table and the ids for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import Bound, Filler, FunctionRef, Ids, Real
from modellint.flow.heap import TENSORS, Shell, tensors_held
from modellint.graph.value import Op

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from modellint.flow.domain import Atom, Atoms, Element
    from modellint.flow.frame import Frame
    from modellint.graph.size import Size
    from modellint.graph.value import Value

#: Operations that pick a part of a value.
_PARTS = frozenset((Op.ATTR, Op.INDEX, Op.ITEM, Op.UNPACK))


def is_for_another(
    element: Element,
    call: Value,
    given: Iterable[Atoms],
    frame: Frame,
    evaluate: Callable[[Value], Atoms],
    rows: Callable[[Atom], Size | None],
) -> bool:
    """True if an element among the arguments `given` may be meant for another one of several possible callees.

    That is so if an unknown key picks the callee (or the table that is passed on), or if an iteration of a loop picks
    both it and the element: `self.tables[name](ids)` for `name, ids in each.items()`. If a loop calls several layers
    with the same argument, each of them gets it.
    """
    carried = {id(choice) for choice in frame.flow.carried}
    for side in call.args:
        others = [arg for arg in call.args if arg is not side]
        for part in _picked_parts(side):
            if not _are_several(evaluate(part), element, rows):
                continue
            made_of = list(_made_of(part.args[1] if part.op is Op.INDEX else part, carried))
            turns = {id(value) for value in made_of if value.op is Op.ITEM}
            if not turns and not any(id(value) in carried for value in made_of):
                return True
            is_shared = any(id(value) in turns for other in others for value in _made_of(other, carried))
            if is_shared and _is_one_of_several(element, given):
                return True
    return False


def classes(atoms: Atoms) -> set[Hashable]:
    """The classes of objects, and the functions, among atoms; two objects of one class behave alike."""
    objects = {atom.kind if atom.model is None else atom.model.name for atom in atoms if isinstance(atom, Shell)}
    return {*objects, *(id(atom.code) for atom in atoms if isinstance(atom, FunctionRef))}


def _picked_parts(side: Value) -> Iterator[Value]:
    """The picked values on the way to a value: `self.tables[name]` of `self.tables[name].weight`."""
    while side.op in _PARTS:
        if side.op is not Op.ATTR:
            yield side
        side = side.args[0]


def _made_of(value: Value, carried: set[int]) -> Iterator[Value]:
    """A value and its transitive arguments, without those that an earlier iteration of a loop left."""
    seen: set[int] = set()
    queue = [value]
    for one in queue:
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            if id(one) not in carried:
                queue.extend(one.args)


def _are_several(atoms: Atoms, element: Element, rows: Callable[[Atom], Size | None]) -> bool:
    """True if a value may be one of several layers or tables that differ in how they take an element."""
    if isinstance(element, Real):
        return len(classes(atoms)) > 1
    tables = [atom for atom in atoms if isinstance(atom, Bound | FunctionRef) or _is_table(atom)]
    sizes = {rows(atom) for atom in tables}
    return len(tables) > 1 and (None in sizes or len(sizes) > 1)


def _is_table(atom: Atom) -> bool:
    return isinstance(atom, Shell) and (atom.kind in TENSORS or atom.kind == "instance" or atom.is_layer)


def _is_one_of_several(element: Element, given: Iterable[Atoms]) -> bool:
    """True if an argument may hold the element, or be something without one like it."""
    for atoms in given:
        holding = [[e for tensor in tensors_held((atom,)) for e in tensor.elements()] for atom in atoms]
        if any(e.key == element.key for elements in holding for e in elements):
            return not all(any(_is_alike(e, element) for e in elements) for elements in holding)
    return False


def _is_alike(element: Element, other: Element) -> bool:
    """True if two elements have the same bound, size or kind."""
    if isinstance(element, Ids) and isinstance(other, Ids):
        return element.bound == other.bound
    if isinstance(element, Filler) and isinstance(other, Filler):
        return element.size == other.size
    return type(element) is type(other)
