"""Containers of Python and torch: their entries, one by one where these are known, and their methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import sizes
from modellint.flow.domain import (
    NEVER,
    NONE,
    PLAIN,
    UNKNOWN,
    Constant,
    Length,
    Number,
    Plain,
    Shape,
    SymbolicInput,
    Tensor,
    Unknown,
    constant,
    join,
    text,
)
from modellint.flow.heap import ExactShell, Shell
from modellint.flow.library.constants import OPEN, value_of
from modellint.flow.library.running import Call
from modellint.flow.theory import Foreign
from modellint.link.classes.calls import ADDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeGuard

    from modellint.flow.domain import Arguments, Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path
    from modellint.flow.library.running import Run
    from modellint.graph.value import Value

#: The most entries that are looked at one by one.
_MOST = 512
#: Kinds of sequences that are sliced in any run.
_ROWS = frozenset(("list", "tuple"))
_MANY = frozenset(("extend", "extendleft", "update"))


def holds(atom: Atom | None) -> TypeGuard[Shell]:
    """True if an atom is a container, one of Python's or of torch's."""
    return isinstance(atom, Shell) and (atom.is_container or atom.is_module_container)


def is_exact(atoms: Atoms) -> bool:
    """True if a value is one container whose entries are known one by one."""
    return len(atoms) == 1 and isinstance(atoms[0], Shell) and atoms[0].items is not None


def elements(atoms: Atoms) -> list[Atoms] | None:
    """The elements of an iteration over a value, one by one; None if they are not known."""
    known = constant(atoms)
    if known is not None and isinstance(known.value, str):
        return [(Constant(letter),) for letter in known.value] if len(known.value) <= _MOST else None
    shell = atoms[0] if len(atoms) == 1 else None
    return list(unpacked(atoms)) if holds(shell) and shell.items is not None and len(shell.entries) <= _MOST else None


def unpacked(atoms: Atoms) -> Iterator[Atoms]:
    """The entries of the containers in a value; any other atom that can be iterated gives one entry."""
    for atom in atoms:
        if holds(atom):
            for entry in atom.entries:
                yield entry.atoms if atom.kind != "dict" else PLAIN if entry.key is None else (Constant(entry.key),)
        elif isinstance(atom, Shape):
            yield sizes.element(atom)
        elif isinstance(atom, Foreign) and len(atoms) == 1 and (known := atom.sequence()) is not None:
            yield from known
        elif not isinstance(atom, Constant | Plain | Length):
            yield _any_of(atom)


def unpacked_items(atoms: Atoms) -> Iterator[tuple[str | None, Atoms]]:
    """The keys and values of the entries of containers."""
    for atom in atoms:
        for entry in atom.entries if holds(atom) else ():
            yield (entry.key if isinstance(entry.key, str) else None), entry.atoms


def merge(into: Shell, atoms: Atoms, path: Path) -> None:
    """Put the entries of a container into another one: `extend`, `update`. Of several, only one is there."""
    into.is_exact = into.is_exact and len(atoms) == 1
    for atom in atoms:
        if holds(atom):
            into.take(atom)
            for entry in list(atom.entries):
                key = entry.key if into.kind == "dict" or into.is_module_container else None
                inner = _pair(entry.atoms) if into.kind == "dict" and atom.kind != "dict" else None
                if inner is None:
                    into.put(entry.atoms, _concatenate_paths(path, entry.path), key)
                else:
                    into.put(inner[1], _concatenate_paths(path, entry.path), inner[0])
            continue
        into.is_exact = False
        if isinstance(atom, Shape):
            into.put(sizes.element(atom), path)
        elif not isinstance(atom, Constant | Plain | Length):
            into.put(_any_of(atom), path)


def _any_of(atom: Atom) -> Atoms:
    """An element of a value whose elements are not known: of an argument that has a number, not this number."""
    if isinstance(atom, SymbolicInput):
        return (atom.element() if atom.home else atom,)
    return (atom,) if isinstance(atom, Tensor) else UNKNOWN


def _pair(atoms: Atoms) -> tuple[str | None, Atoms] | None:
    """The key and the value in a tuple of two; None for anything else."""
    pair = atoms[0] if len(atoms) == 1 else None
    if isinstance(pair, Shell) and pair.kind == "tuple" and len(pair.entries) == 2:
        return text(pair.entries[0].atoms), pair.entries[1].atoms
    return None


def _concatenate_paths(path: Path, more: Path) -> Path:
    return path + tuple(step for step in more if step not in path)


# -- several of them, and parts ------------------------------------------------------------------------------------


def column(run: Run, atoms: Atoms) -> list[Atoms] | Shell | Atoms:
    """A value as a column of `zip`: its elements one by one, a container of any number of them, or any one of them."""
    first = atoms[0] if len(atoms) == 1 else None
    is_row = holds(first) and first.kind != "dict"
    known = elements(atoms) if run.counts or is_row else None
    if known is not None:
        return known
    if is_row and isinstance(first, Shell):
        return first
    each = [elements((atom,)) if isinstance(atom, Shell) and atom.kind != "dict" else None for atom in atoms]
    alternatives = [one for one in each if one is not None]
    if alternatives and len(alternatives) == len(each):
        return [join(one) for one in zip(*alternatives, strict=False)]
    return join(
        (_keys(atom) if atom.kind == "dict" else atom.element())
        if holds(atom)
        else (_any_of(atom) if isinstance(atom, SymbolicInput | Unknown | Tensor) else _any_known(run, atom))
        for atom in atoms
    )


def _any_known(run: Run, atom: Atom) -> Atoms:
    """One element of a value that only a theory knows."""
    is_known = isinstance(atom, Plain) and type(atom) is not Plain
    return (run.asked.element(atom, None, None, None) if is_known else None) or PLAIN


def rows(run: Run, columns: Sequence[list[Atoms] | Shell | Atoms], value: Value, frame: Frame) -> Atoms:
    """Tuples of one element of each column: row by row where the elements are known, else one of any elements."""
    known = [one for one in columns if isinstance(one, list)]
    is_known = bool(known) and not any(isinstance(one, Shell) for one in columns)
    made: list[Atoms] = []
    for at in range(min(map(len, known)) if is_known else 1):
        row = [
            one.element()
            if isinstance(one, Shell)
            else one
            if isinstance(one, tuple)
            else one[at]
            if is_known
            else join(one)
            for one in columns
        ]
        made.append((run.sequence("tuple", row, value, frame, f"row {at}" if is_known else "row"),))
    found = run.sequence("generator", made, value, frame, "rows")
    found.is_exact = found.is_exact and is_known
    return (found,)


def _keys(owner: Shell) -> Atoms:
    keys = [(Constant(entry.key),) for entry in owner.entries if entry.key is not None]
    return join(keys) if len(keys) == len(owner.entries) and keys else PLAIN


def sliced(run: Run, owner: Atoms, value: Value, frame: Frame, *, is_counted: bool = False) -> Atoms:
    """`owner[first:last]`: of sequences with known entries and bounds their part, else the owner as it is.

    Where entries are counted, as in a run that counts, it is always another sequence.
    """
    is_counted = is_counted or run.counts
    if not is_counted and not any(isinstance(atom, Shell) and atom.kind in _ROWS for atom in owner):
        return owner
    bounds = [value_of(run.evaluate(arg, frame)) for arg in value.args[1].args]
    is_known = all(bound is None or type(bound) is int for bound in bounds) and bounds[-1] != 0
    part = slice(*bounds) if is_known else None
    return join(_part(run, atom, part, value, frame, is_counted=is_counted) for atom in owner)


def _part(run: Run, atom: Atom, part: slice | None, value: Value, frame: Frame, *, is_counted: bool) -> Atoms:
    items = atom.items if holds(atom) and part is not None else None
    if not is_counted and (items is None or not isinstance(atom, Shell) or atom.kind not in _ROWS):
        return (_without_numbers(run, atom, value, frame),)
    if isinstance(atom, Constant) and isinstance(atom.value, str) and part is not None:
        return (Constant(atom.value[part]),)
    if not holds(atom):
        return PLAIN if isinstance(atom, SymbolicInput | Number | Constant) else (atom,)
    found = run.shell(atom.kind, value, frame, f"part of {id(atom)}")
    found.model, found.is_built = atom.model, True
    found.fill(tuple(entry.atoms for entry in (atom.entries if items is None or part is None else items[part])))
    found.is_exact = items is not None
    return (found,)


def _without_numbers(run: Run, atom: Atom, value: Value, frame: Frame) -> Atom:
    """A list without the numbers that are known in it, which a part of it may lack; any other value as it is."""
    is_row = isinstance(atom, Shell) and atom.kind in _ROWS
    if not isinstance(atom, Shell) or not is_row or not any(_has_number(entry.atoms) for entry in atom.entries):
        return atom
    found = run.shell(atom.kind, value, frame, f"part of {id(atom)}")
    found.is_exact = False
    for entry in atom.entries:
        found.put(tuple(one for one in entry.atoms if not _has_number((one,))), entry.path)
    return found


def _has_number(atoms: Atoms) -> bool:
    return any(isinstance(atom, Constant) and type(atom.value) is int for atom in atoms)


# -- methods -------------------------------------------------------------------------------------------------------


def method(run: Run, owner: Shell, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
    """The result of a method of a plain container, or of one that torch's containers share with it."""
    known = _METHODS.get(name)
    return PLAIN if known is None else known(Call(run, name, arguments, frame, value), owner)


def _add(call: Call, owner: Shell) -> Atoms:
    run, path, given = call.run, call.run.path, call.positional
    added = given[-1] if given else NEVER
    at = value_of(given[0]) if call.name == "insert" and run.counts and len(given) == 2 else OPEN
    if type(at) is int and owner.items is not None and not run.loops and not path:
        owner.insert(at, added)
        return NONE
    owner.is_exact = owner.is_exact and not run.loops and not path and call.name != "insert"
    if call.name == "setdefault":
        owner.put(added, path, text(given[0]) if given else None)
        return added
    if call.name in _MANY:
        is_sequence = owner.kind != "dict" and not owner.is_module_container
        for atom in added:
            if is_sequence and isinstance(atom, Shell) and atom.kind == "dict":
                owner.put(_keys(atom), path)
            else:
                merge(owner, (atom,), path)
        for key, atoms in call.arguments.keywords.items():
            owner.put(atoms, path, key)
    else:
        before = owner.version
        owner.put(added, path)
        owner.is_exact = owner.is_exact and owner.version != before  # entries that are equal are kept once
    return (owner,) if owner.is_module_container else NONE


def _remove(call: Call, owner: Shell) -> Atoms:
    if call.name == "clear" and not call.run.path and not call.run.loops and call.run.counts:
        owner.fill(())
    elif isinstance(owner, ExactShell):
        owner.lose()
    else:
        owner.is_exact = False
    return PLAIN


def _pop(call: Call, owner: Shell) -> Atoms:
    """`pop` and the like: an entry that is taken out of a container which is not counted stays possible."""
    is_keyed = _is_dict(owner) if call.run.counts else owner.kind == "dict"
    if call.name == "pop" and call.run.counts:
        at = value_of(call.positional[0]) if call.positional else -1
        places = [entry.key for entry in owner.entries] if is_keyed else range(len(owner.entries))
        if not isinstance(owner, ExactShell) or (owner.items is not None and not call.run.path):
            if at in places or (not is_keyed and type(at) is int and len(places) + at in places):
                return owner.pop(places.index(at) if is_keyed else at)  # type: ignore[arg-type]
            if is_keyed and at is not OPEN and len(call.positional) > 1:
                return call.positional[1]
    if isinstance(owner, ExactShell):
        owner.lose()
    return _get(call, owner) if call.name == "pop" and owner.kind == "dict" else owner.element()


def _get(call: Call, owner: Shell) -> Atoms:
    if not call.positional:
        return owner.element()
    found, at = owner.part(call.positional[0]), constant(call.positional[0])
    if at is not None and owner.is_exact and any(e.key == at.value and not e.path for e in owner.entries):
        return found
    if at is not None and call.run.counts and owner.items is not None and _is_dict(owner):
        return (*call.positional[1:], NONE)[0]
    return join([found, *call.positional[1:], *(() if found else (NONE,))])


def _list(call: Call, owner: Shell) -> Atoms:
    """The elements or keys of a container, as another container."""
    items = owner.items if call.run.counts else None
    if call.name == "keys":
        return PLAIN if items is None else call.sequence("generator", [(Constant(entry.key),) for entry in items])
    if items is not None and call.name in ("values", "children"):
        return call.sequence("generator", [entry.atoms for entry in items])
    is_same = items is not None and call.name == "copy"
    made = call.allocate(owner.kind if is_same else "list")
    merge(made, (owner,), ())
    made.is_exact = made.is_exact and is_same
    return (made,)


def _items(call: Call, owner: Shell) -> Atoms:
    items = owner.items
    values = owner if items is None else [entry.atoms for entry in items]
    is_known = call.run.counts and items is not None and _is_dict(owner)
    keys: list[Atoms] | Atoms = [(Constant(entry.key),) for entry in owner.entries] if is_known else _keys(owner)
    return rows(call.run, [keys, values], call.value, call.frame)


def _reverse(call: Call, owner: Shell) -> Atoms:
    if not call.run.counts or owner.items is None or call.run.path:
        return PLAIN
    owner.reverse()
    return NONE


def _index(call: Call, owner: Shell) -> Atoms:
    values = [entry.atoms for entry in (call.run.counts and call.positional and owner.items) or ()]
    return (Constant(values.index(call.positional[0])),) if values and call.positional[0] in values else PLAIN


def _is_dict(owner: Shell) -> bool:
    return owner.kind == "dict" or any(entry.key is not None for entry in owner.entries)


#: The transfer functions of methods of containers.
_METHODS: dict[str, Callable[[Call, Shell], Atoms]] = {
    **dict.fromkeys(ADDERS, _add),
    **dict.fromkeys(("remove", "discard", "clear"), _remove),
    **dict.fromkeys(("pop", "popleft", "popitem"), _pop),
    **dict.fromkeys(("keys", "values", "copy", "children", "modules", "parameters"), _list),
    **dict.fromkeys(("items", "named_children", "named_modules"), _items),
    "get": _get,
    "index": _index,
    "reverse": _reverse,
}
