"""What tells one call of a function from another one, and what the caller has of an answer that was remembered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import Real, Tensor
from modellint.flow.heap import Shell, tensors_in
from modellint.graph.immutable import replace

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from modellint.flow.domain import Arguments, Atom, Atoms, Element, Site


def keys_in(given: Arguments) -> set[Hashable]:
    """What tells apart the elements among arguments."""
    return {element.key for values in given.all() for t in tensors_in(values) for element in t.elements()}


def replaced_reals(before: Arguments, now: Arguments) -> dict[Site, Real]:
    """The real numbers that one call was given, and what another one was given in their place."""
    reals = [[t.real for values in given.all() for t in tensors_in(values) if t.real] for given in (before, now)]
    return {one.origin: other for one, other in zip(*reals, strict=False)}


def of_caller(element: Element, moved: dict[Site, Real]) -> Element:
    """An element as the caller knows it that a function was not run for."""
    if not isinstance(element, Real) or element.origin not in moved:
        return element
    return replace(element, origin=moved[element.origin].origin)


def given_by(atom: Atom, call: Site, keys: set[Hashable], moved: dict[Site, Real]) -> Atom:
    """What a call gives: ids that are not its arguments' are drawn anew by each call."""
    if not isinstance(atom, Tensor):
        return atom
    if atom.real is not None and atom.real.origin in moved:
        atom = replace(atom, real=of_caller(atom.real, moved))  # type: ignore[arg-type]
    if atom.ids is not None and atom.ids.key not in keys:
        return replace(atom, ids=replace(atom.ids, way=call))
    return atom


def shape_of(given: Arguments, alike: tuple[type, ...]) -> Hashable:
    """What a function can tell apart of its arguments, where those of some kinds are all the same."""
    positional = tuple(_told_apart(atoms, alike) for atoms in given.positional)
    keywords = tuple((name, _told_apart(atoms, alike)) for name, atoms in given.keywords.items())
    return positional, keywords, given.is_complete


def _told_apart(atoms: Atoms, alike: tuple[type, ...]) -> Hashable:
    return tuple(dict.fromkeys(_parts(atoms, alike)))


def _parts(atoms: Atoms, alike: tuple[type, ...]) -> Iterator[Hashable]:
    for atom in atoms:
        if isinstance(atom, alike):
            yield None
        else:
            yield atom
            if isinstance(atom, Shell) and atom.is_container:
                yield frozenset(_parts(tuple(atom.contents()), alike))
