"""Python's containers and torch's: what is in them, one by one where that is known, and what their methods do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
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
from modellint.link.classes.calls import ADDERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeGuard

    from modellint.flow.domain import Arguments, Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path
    from modellint.flow.library.running import Run
    from modellint.graph.value import Value

#: The most entries that are looked at one by one.
_MOST = 512
#: Sequences of which a part is taken in any run.
_ROWS = frozenset(("list", "tuple"))
_MANY = frozenset(("extend", "extendleft", "update"))
#: Methods that give what is in a container.
_ELEMENTS = frozenset(("pop", "popleft", "get", "popitem", "setdefault"))
_COPIED = frozenset(("copy", "values", "children", "modules", "parameters"))
_PAIRS = frozenset(("items", "named_children", "named_modules"))
_REMOVING = frozenset().union(*(operators.methods(of, "removes") for of in ("list", "dict", "set"))) - {"pop"}


def holds(atom: Atom | None) -> TypeGuard[Shell]:
    """Whether something is a container, one of Python's or of torch's."""
    return isinstance(atom, Shell) and (atom.is_container or atom.is_module_container)


def is_exact(atoms: Atoms) -> bool:
    """Whether a value is one container whose entries are known one by one."""
    return len(atoms) == 1 and isinstance(atoms[0], Shell) and atoms[0].items is not None


def elements(atoms: Atoms) -> list[Atoms] | None:
    """What iterating over a value yields, one by one; None if that is not known."""
    known = constant(atoms)
    if known is not None and isinstance(known.value, str):
        return [(Constant(letter),) for letter in known.value] if len(known.value) <= _MOST else None
    shell = atoms[0] if len(atoms) == 1 else None
    return list(unpacked(atoms)) if holds(shell) and shell.items is not None and len(shell.entries) <= _MOST else None


def unpacked(atoms: Atoms) -> Iterator[Atoms]:
    """The entries of a container, one by one where they are known, else all of them as one value."""
    for atom in atoms:
        if holds(atom):
            for entry in atom.entries:
                yield entry.atoms if atom.kind != "dict" else PLAIN if entry.key is None else (Constant(entry.key),)
        elif isinstance(atom, Shape):
            yield sizes.element(atom)
        elif not isinstance(atom, Constant | Plain | Length):
            yield (atom,) if isinstance(atom, SymbolicInput | Tensor) else UNKNOWN


def unpacked_items(atoms: Atoms) -> Iterator[tuple[str | None, Atoms]]:
    """The keys and values of what dicts hold."""
    for atom in atoms:
        for entry in atom.entries if holds(atom) else ():
            yield (entry.key if isinstance(entry.key, str) else None), entry.atoms


def merge(into: Shell, atoms: Atoms, path: Path) -> None:
    """Put what a container holds into another one: `extend`, `update`."""
    for atom in atoms:
        if holds(atom):
            into.take(atom)
            for entry in list(atom.entries):
                key = entry.key if into.kind == "dict" or into.is_module_container else None
                inner = _pair(entry.atoms) if into.kind == "dict" and atom.kind != "dict" else None
                if inner is None:
                    into.put(entry.atoms, _joined(path, entry.path), key)
                else:
                    into.put(inner[1], _joined(path, entry.path), inner[0])
            continue
        into.is_exact = False
        if isinstance(atom, Shape):
            into.put(sizes.element(atom), path)
        elif not isinstance(atom, Constant | Plain | Length):
            into.put((atom,) if isinstance(atom, SymbolicInput | Tensor) else UNKNOWN, path)


def _pair(atoms: Atoms) -> tuple[str | None, Atoms] | None:
    """The key and the value of a pair."""
    pair = atoms[0] if len(atoms) == 1 else None
    if isinstance(pair, Shell) and pair.kind == "tuple" and len(pair.entries) == 2:
        return text(pair.entries[0].atoms), pair.entries[1].atoms
    return None


def _joined(path: Path, more: Path) -> Path:
    return path + tuple(step for step in more if step not in path)


# -- several of them, and parts ------------------------------------------------------------------------------------


def column(run: Run, atoms: Atoms) -> list[Atoms] | Shell | Atoms:
    """A value as a column of `zip`: its elements one by one, a container of any number of them, or any one of them."""
    shell = atoms[0] if len(atoms) == 1 else None
    if run.counts or (holds(shell) and shell.kind != "dict"):
        known = elements(atoms)
        if known is not None:
            return known
    if holds(shell) and shell.kind != "dict":
        return shell
    found: list[Atoms] = []
    for atom in atoms:
        if holds(atom):
            found.append(_keys(atom) if atom.kind == "dict" else atom.element())
        else:
            found.append((atom,) if isinstance(atom, SymbolicInput | Unknown | Tensor) else PLAIN)
    return join(found)


def rows(run: Run, columns: Sequence[list[Atoms] | Shell | Atoms], value: Value, frame: Frame) -> Atoms:
    """Tuples of one element of each column at a time: slot by slot where these are known, else any of each."""
    known = [one for one in columns if isinstance(one, list)]
    if known and not any(isinstance(one, Shell) for one in columns):
        made: list[Atoms] = []
        for at in range(min(map(len, known))):
            row = [one[at] if isinstance(one, list) else one for one in columns if not isinstance(one, Shell)]
            made.append((run.sequence("tuple", row, value, frame, f"row {at}"),))
        return (run.sequence("generator", made, value, frame, "rows"),)
    of_any = [
        one.element() if isinstance(one, Shell) else join(one) if isinstance(one, list) else one for one in columns
    ]
    found = run.sequence("generator", [(run.sequence("tuple", of_any, value, frame, "row"),)], value, frame, "rows")
    found.is_exact = False
    return (found,)


def _keys(owner: Shell) -> Atoms:
    keys = [(Constant(entry.key),) for entry in owner.entries if entry.key is not None]
    return join(keys) if len(keys) == len(owner.entries) and keys else PLAIN


def sliced(run: Run, owner: Atoms, value: Value, frame: Frame) -> Atoms:
    """`owner[first:last]`: of sequences where all is known; else whatever it is."""
    if not run.counts and not any(isinstance(atom, Shell) and atom.kind in _ROWS for atom in owner):
        return owner
    bounds = [value_of(run.evaluate(arg, frame)) for arg in value.args[1].args]
    is_known = all(bound is None or type(bound) is int for bound in bounds) and bounds[-1] != 0
    return join(_part(run, atom, slice(*bounds) if is_known else None, value, frame) for atom in owner)


def _part(run: Run, atom: Atom, part: slice | None, value: Value, frame: Frame) -> Atoms:
    items = atom.items if holds(atom) and part is not None else None
    if not run.counts and (items is None or not isinstance(atom, Shell) or atom.kind not in _ROWS):
        return (atom,)
    if isinstance(atom, Constant) and isinstance(atom.value, str) and part is not None:
        return (Constant(atom.value[part]),)
    if not holds(atom):
        return PLAIN if isinstance(atom, SymbolicInput | Number | Constant) else (atom,)
    found = run.shell(atom.kind, value, frame, f"part of {id(atom)}")
    found.model, found.is_built = atom.model, True
    found.fill(tuple(entry.atoms for entry in (atom.entries if items is None or part is None else items[part])))
    found.is_exact = items is not None
    return (found,)


# -- methods -------------------------------------------------------------------------------------------------------


def method(run: Run, owner: Shell, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms:
    """A method of a plain container, or what torch's containers share with it."""
    given = arguments.positional
    known = _counted(run, owner, name, given, frame, value) if run.counts else None
    if known is not None:
        return known
    if name in ADDERS and given + tuple(arguments.keywords.values()):
        return _added(run, owner, name, arguments)
    if name in _ELEMENTS:
        is_keyed = name == "get" or (name == "pop" and owner.kind == "dict")
        if is_keyed and given:
            found, at = owner.part(given[0]), constant(given[0])
            if at is not None and owner.is_exact and any(e.key == at.value and not e.path for e in owner.entries):
                return found
            return join([found, *given[1:], *(() if found else (NONE,))])
        return owner.element()
    if name in _PAIRS:
        values = owner if owner.items is None else [entry.atoms for entry in owner.items]
        return rows(run, [_keys(owner), values], value, frame)
    if name in _COPIED:
        copied = run.shell("list", value, frame)
        merge(copied, (owner,), ())
        copied.is_exact = False
        return (copied,)
    return PLAIN


def _added(run: Run, owner: Shell, name: str, arguments: Arguments) -> Atoms:
    path = run.path
    owner.is_exact = owner.is_exact and not run.loops and not path
    added = arguments.positional[-1] if arguments.positional else NEVER
    if name in _MANY:
        is_sequence = owner.kind != "dict" and not owner.is_module_container
        for atom in added:
            if is_sequence and isinstance(atom, Shell) and atom.kind == "dict":
                owner.put(_keys(atom), path)
            else:
                merge(owner, (atom,), path)
        for key, atoms in arguments.keywords.items():
            owner.put(atoms, path, key)
    elif name == "setdefault":
        owner.put(added, path, text(arguments.positional[0]))
        return added
    else:
        owner.is_exact = owner.is_exact and name != "insert"
        owner.put(added, path)
    return (owner,) if owner.is_module_container else NONE


def _counted(run: Run, owner: Shell, name: str, given: Sequence[Atoms], frame: Frame, value: Value) -> Atoms | None:
    """What a container whose elements are known gives or becomes; None where that is not known."""
    is_sure = not run.path and not run.loops
    if name == "insert" and len(given) == 2:
        at = value_of(given[0])
        if owner.items is None or type(at) is not int or not is_sure:
            return None
        owner.insert(at, given[1])
        return NONE
    if name in _REMOVING:
        if name == "clear" and is_sure:
            owner.fill(())
        elif isinstance(owner, ExactShell):
            owner.lose()
        return PLAIN
    if name == "pop":
        return _popped(owner, given, is_sure=owner.items is not None and not run.path)
    if owner.items is None:
        return None
    if name == "reverse" and not run.path:
        owner.reverse()
        return NONE
    if name == "copy":
        copied = run.shell(owner.kind, value, frame)
        merge(copied, (owner,), ())
        return (copied,)
    keys: list[Atoms] = [(Constant(entry.key),) for entry in owner.items]
    values = [entry.atoms for entry in owner.items]
    if name == "items" and _is_dict(owner):
        return rows(run, [keys, values], value, frame)
    if name in ("keys", "values", "children"):
        return (run.sequence("generator", keys if name == "keys" else values, value, frame),)
    if name == "get" and _is_dict(owner) and given:
        key = value_of(given[0])
        found = next((entry.atoms for entry in owner.items if entry.key == key), (*given[1:], NONE)[0])
        return None if key is OPEN else found
    if name == "index" and given:
        return (Constant(values.index(given[0])),) if given[0] in values else PLAIN
    return None


def _is_dict(owner: Shell) -> bool:
    return owner.kind == "dict" or any(entry.key is not None for entry in owner.entries)


def _popped(owner: Shell, given: Sequence[Atoms], *, is_sure: bool) -> Atoms | None:
    """The entry that `pop` removes; None where it is not known which one that is."""
    at, is_dict = value_of(given[0]) if given else -1, _is_dict(owner)
    is_sure = is_sure or not isinstance(owner, ExactShell)
    places = [entry.key for entry in owner.entries] if is_dict else range(len(owner.entries))
    if is_sure and (at in places or (not is_dict and type(at) is int and len(owner.entries) + at in places)):
        return owner.pop(places.index(at) if is_dict else at)  # type: ignore[arg-type]
    if is_sure and is_dict and at is not OPEN and len(given) > 1:
        return given[1]
    if isinstance(owner, ExactShell):
        owner.lose()
    return None
