"""The abstract heap: one object or container for each allocation site.

An object is a shell: its class, the arguments of its constructor, and the atoms stored in its attributes. A container
only grows: an element that is taken out of it stays possible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.domain import NO_ARGUMENTS, UNKNOWN, Constant, Counter, Site, Tensor, Unknown, join
from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from modellint.flow.domain import Arguments, Atom, Atoms
    from modellint.graph.python import Function
    from modellint.graph.size import Size
    from modellint.graph.value import Value
    from modellint.link.classes.models import ClassModel

    #: Atoms that are computed on demand.
    Later = Callable[[], Atoms]

#: A path condition: the undecided tests on the way to an event, outermost first, each as (key, outcome).
Path = tuple[tuple["Hashable", bool], ...]
#: The calls that lead to a place from where the run began, by identity, outermost first.
Trail = tuple[int, ...]

SEQUENCES = frozenset(("list", "tuple", "set", "generator"))
CONTAINERS = SEQUENCES | {"dict"}
TENSORS = frozenset(("parameter", "buffer"))
#: The number of entries after which a container joins further ones into a single entry, and of stored values after
#: which an attribute is unknown, too.
_MANY = 256
#: The most entries of a container that are known one by one.
LONGEST = 4096


@dataclass(eq=False, slots=True)
class Slot:
    """One entry of a container: its constant key (None if unknown), its atoms, and the path condition of the store."""

    key: Hashable | None
    atoms: Atoms
    path: Path


@dataclass(eq=False, slots=True)
class Store:
    """A store in an attribute (`name` is None if unknown), with its place and path condition.

    `registers` is False for a store that bypasses `nn.Module`: `object.__setattr__(self, …)`.
    """

    name: str | None
    #: The stored atoms, or the function that computes them on demand.
    held: Atoms | Later
    path: Path
    function: Function | None
    #: The ATTR that is assigned to, None for a call that stores.
    target: Value | None
    value: Value | None
    registers: bool = True
    #: True if the store surely is to this object, not to one of several.
    is_sure: bool = True
    #: True if `nn.Module.__init__` had run on the object.
    is_initialised: bool = True

    @property
    def atoms(self) -> Atoms:
        """The stored atoms, computed now if they were deferred."""
        return self.held() if callable(self.held) else self.held

    @property
    def is_layer(self) -> bool:
        """True if layers are stored, and nothing else."""
        return bool(self.atoms) and all(isinstance(atom, Shell) and atom.is_layer for atom in self.atoms)

    @property
    def place(self) -> Value | None:
        """The expression that stores: the target of an assignment, or a call."""
        return self.value if self.target is None else self.target


@dataclass(eq=False, slots=True)
class DeferredCall:
    """A deferred call in a constructor: the attributes that it may store, and all names that it mentions."""

    own: frozenset[str]
    words: frozenset[str]
    happen: Callable[[], None]


class Shell:
    """An object, container or parameter. Compared by identity.

    `kind` is "instance", "list", "tuple", "set", "dict", "generator", "parameter", "buffer" or, for a layer whose class
    cannot be read, "pretrained".
    """

    __slots__ = (
        "_contents", "_history", "_paths", "_stores", "_waiting", "arguments", "entries", "function", "is_built",
        "is_exact", "is_initialised", "kind", "model", "origin", "passed", "trail", "value", "version",
    )  # fmt: skip

    def __init__(
        self,
        kind: str,
        value: Value | None,
        trail: Trail,
        model: ClassModel | None = None,
        arguments: Arguments = NO_ARGUMENTS,
    ) -> None:
        self.kind = kind
        #: The expression that makes the object, its function, and the calls that lead there.
        self.value = value
        self.function: Function | None = None
        self.trail = trail
        self.model = model
        self.arguments = arguments
        #: The original, if the object is a copy, or a copy of a copy.
        self.origin: Shell | None = None
        #: The arguments that its class passes to the constructor of its torch base class.
        self.passed: Arguments | None = None
        #: The stored atoms (or deferred ones) of each attribute with their path conditions, the latest last.
        self._history: dict[str, list[tuple[Atoms | Later, Path]]] = {}
        #: The deferred calls of its constructor, in order.
        self._waiting: list[DeferredCall] = []
        #: All stores in attributes, in order.
        self._stores: list[Store] = []
        self.entries: list[Slot] = []
        #: The number of changes to its entries.
        self.version = 0
        #: The cached result of `contents`, with the versions of the container and of those within it.
        self._contents: tuple[tuple[Atom, ...], int, tuple[tuple[Shell, int], ...]] | None = None
        #: The path conditions of its entries, by key and atoms; None if they must be collected again.
        self._paths: dict[Hashable | None, dict[Atoms, list[Path]]] | None = None
        #: True if the entries are complete, without duplicates and in order.
        self.is_exact = True
        #: True if its constructor has been run.
        self.is_built = False
        #: True if `nn.Module.__init__` has run on it.
        self.is_initialised = False

    def __repr__(self) -> str:
        return f"<{self.kind} {self.model.name if self.model else ''} {self.entries or self.arguments.positional}>"

    @property
    def site(self) -> Site | None:
        """The allocation site, if it is in a file."""
        return None if self.value is None or self.function is None else Site(self.value, self.function)

    @property
    def is_layer(self) -> bool:
        """True if the object is, or may be, an `nn.Module`."""
        return self.kind == "pretrained" or (
            self.kind == "instance" and self.model is not None and self.model.is_module is not False
        )

    @property
    def is_module_container(self) -> bool:
        """True for a `ModuleList`, `Sequential` and other container layers."""
        return self.kind == "instance" and self.model is not None and self.model.is_container

    @property
    def is_container(self) -> bool:
        """True for a list, tuple, set, generator or dict."""
        return self.kind in CONTAINERS

    # -- attributes ------------------------------------------------------------------------------------------------

    @property
    def history(self) -> dict[str, list[tuple[Atoms | Later, Path]]]:
        """The stored atoms of each attribute, after running all deferred calls."""
        self.settle()
        return self._history

    @history.setter
    def history(self, history: dict[str, list[tuple[Atoms | Later, Path]]]) -> None:
        self._history = history

    @property
    def stores(self) -> list[Store]:
        """All stores in attributes, in order, after running all deferred calls."""
        self.settle()
        return self._stores

    def find_out(self) -> None:
        """Compute all deferred atoms of attributes."""
        for name in list(self.history):
            self.get(name)

    def note(self, store: Store) -> None:
        """Record a store, unless another iteration of a loop has made the same one."""
        if callable(store.held) or not any(_is_same(store, other) for other in self._stores[-64:]):
            self._stores.append(store)

    def set(self, name: str, atoms: Atoms | Later, path: Path = ()) -> None:
        """Store atoms in an attribute, after running deferred calls that mention it."""
        if self._waiting:
            self._let_happen(lambda call: name in call.words)
        known = self._history.setdefault(name, [])
        if not path:
            known.clear()
        if (atoms, path) not in known[-16:]:
            known.append((atoms, path))

    def get(self, name: str, path: Path = ()) -> Atoms | None:
        """The atoms that an attribute may hold on a path; None if nothing was stored there."""
        if self._waiting:
            self._let_happen(lambda call: name in call.own)
        found: list[Atoms] = []
        for atoms, taken in reversed(self._history.get(name, ())):
            if not taken or not are_exclusive(taken, path):
                if len(found) == _MANY:
                    found.append(UNKNOWN)
                    break
                found.append(atoms() if callable(atoms) else atoms)
                if not taken or all(step in path for step in taken):
                    break
        return join(found) if found else None

    def settle(self) -> None:
        """Run all deferred calls."""
        while self._waiting:
            self._waiting.pop(0).happen()

    def wait(self, call: DeferredCall) -> None:
        """Defer a call of the constructor until an attribute is read that it may store, or stored that it mentions."""
        self._waiting.append(call)

    def let_happen(self, call: DeferredCall) -> None:
        """Run a deferred call now, if it hasn't run yet."""
        self._let_happen(lambda other: other is call)

    def _let_happen(self, is_meant: Callable[[DeferredCall], bool]) -> None:
        while (call := next(filter(is_meant, self._waiting), None)) is not None:
            self._waiting.remove(call)
            call.happen()

    # -- what containers hold --------------------------------------------------------------------------------------

    def put(self, atoms: Atoms, path: Path, key: Hashable | None = None) -> None:
        """Add an entry, unless the same one is there on this path or on a part of it."""
        if not atoms:
            return
        paths = self._paths_of(key)
        known = paths.setdefault(atoms, [])
        if any(one[: len(path)] == path or path[: len(one)] == one for one in known):
            return
        if key is not None and (self.kind == "dict" or self.is_module_container) and not path:
            if len(paths) > 1 or known:
                self.entries = [entry for entry in self.entries if entry.key != key or entry.path]
                for others in paths.values():
                    others[:] = filter(None, others)
        elif len(self.entries) >= _MANY:
            key, path = None, ()
            self.is_exact = False
        known.append(path)
        self.version += 1
        last = self.entries[-1] if len(self.entries) > _MANY else None
        if key is None and last is not None and last.key is None and not last.path:
            last.atoms = join((last.atoms, atoms))
        else:
            self.entries.append(Slot(key, atoms, path))

    def _paths_of(self, key: Hashable | None) -> dict[Atoms, list[Path]]:
        """The path conditions of the entries of a key, by their atoms."""
        if self._paths is None:
            self._paths = {}
            for entry in self.entries:
                self._paths.setdefault(entry.key, {}).setdefault(entry.atoms, []).append(entry.path)
        return self._paths.setdefault(key, {})

    def _invalidate(self) -> None:
        self._paths = None
        self.version += 1

    def fill(self, values: tuple[Atoms, ...]) -> None:
        """Set the elements; if there are some from an earlier iteration of a loop, join them one by one."""
        if len(values) > LONGEST:
            values = (*values[: LONGEST - 1], join(values[LONGEST - 1 :]))
            self.is_exact = False
        for number, atoms in enumerate(values):
            if number < len(self.entries):
                self.replace(number, join((self.entries[number].atoms, atoms)))
            else:
                self.entries.append(Slot(None, atoms, ()))
        self._invalidate()

    def replace(self, number: int, atoms: Atoms) -> None:
        """Replace the atoms of an entry."""
        self.entries[number].atoms = atoms
        self._invalidate()

    def insert(self, at: int, atoms: Atoms) -> None:
        """Insert an entry at an index, from 0."""
        self.entries.insert(at, Slot(None, atoms, ()))
        self._invalidate()

    def reverse(self) -> None:
        """Reverse the order of the entries."""
        self.entries.reverse()
        self._invalidate()

    def pop(self, number: int) -> Atoms:
        """Remove an entry and return its atoms."""
        self._invalidate()
        return self.entries.pop(number).atoms

    def release(self) -> None:
        """Drop all references to other objects, at the end of the run."""
        self._history.clear()
        self._stores = [store for store in self._stores if not callable(store.held)]
        self._waiting.clear()
        self.entries.clear()
        self._contents = self._paths = None

    def forget(self) -> None:
        """Forget all attributes, as if nothing was known of the constructor."""
        self._history.clear()
        self._waiting.clear()

    def clear(self) -> None:
        """Remove all entries."""
        self.entries = []
        self._invalidate()

    def element(self) -> Atoms:
        """The join of all entries."""
        return join(entry.atoms for entry in self.entries)

    def part(self, index: Atoms) -> Atoms:
        """The atoms at an index or key; the join of all entries if it is unknown."""
        known = index[0].value if len(index) == 1 and isinstance(index[0], Constant) else None
        if self.kind == "dict" or (self.is_module_container and isinstance(known, str)):
            found = [entry.atoms for entry in self.entries if entry.key == known]
            if known is not None and not found and self.is_exact and self.kind == "dict":
                return UNKNOWN  # stored by what did not matter: none of the others
            return join(found) if found and known is not None else self.element()
        if self.is_exact and isinstance(known, int) and -len(self.entries) <= known < len(self.entries):
            return self.entries[known].atoms
        return join(entry.atoms for entry in self.entries_at(index))

    def entries_at(self, index: Atoms) -> list[Slot]:
        """The entries that an index may select: all of them, or those below the end of a loop's counter."""
        end = index[0].end if len(index) == 1 and isinstance(index[0], Counter) else None
        return self.entries[:end] if self.is_exact and end is not None and end > 0 else self.entries

    def take(self, other: Shell) -> None:
        """Become inexact if the source of the entries is."""
        self.is_exact = self.is_exact and other.is_exact

    @property
    def items(self) -> list[Slot] | None:
        """The entries, if they are complete and in order on every path; else None."""
        return self.entries if self.is_exact and not any(entry.path for entry in self.entries) else None

    def contents(self) -> tuple[Atom, ...]:
        """The atoms in the container and in plain containers within it, without duplicates."""
        known = self._contents
        if known is not None and known[1] == self.version and all(inner.version == at for inner, at in known[2]):
            return known[0]
        found, inside = self._open_contents()
        self._contents = found, self.version, tuple((inner, inner.version) for inner in inside)
        return found

    def _open_contents(self) -> tuple[tuple[Atom, ...], list[Shell]]:
        """The atoms in the container and in plain containers within it, and these inner containers."""
        inside: list[Shell] = []
        pending = [entry.atoms for entry in reversed(self.entries)]
        seen: set[Atom] = {self}
        found: list[Atom] = []
        while pending:
            for atom in pending.pop():
                if atom in seen:
                    continue
                seen.add(atom)
                if isinstance(atom, Shell) and atom.is_container:
                    inside.append(atom)
                    pending.extend(entry.atoms for entry in reversed(atom.entries))
                else:
                    found.append(atom)
        return tuple(found), inside


class ExactShell(Shell):
    """An object or container of a run with unrolled loops, which keeps duplicate values."""

    #: True if an entry stands for many, one for each iteration that it was made in.
    repeats = False
    #: The length of a range whose end is a sum of symbols.
    length: Size | None = None

    def take(self, other: Shell) -> None:
        """Take over the exactness, and `repeats`, of the source of the entries."""
        self.repeats = self.repeats or (self.is_exact and isinstance(other, ExactShell) and other.repeats)
        super().take(other)

    def lose(self) -> None:
        """Mark the entries as incomplete: an unknown one was added or removed."""
        self.is_exact = self.repeats = False

    def put(self, atoms: Atoms, path: Path, key: Hashable | None = None) -> None:
        """Add an entry; replaces the entry of the same key."""
        for number, entry in enumerate(self.entries if key is not None and not path else ()):
            if entry.key == key:
                self.entries[number] = Slot(key, atoms, path)
                self._invalidate()
                return
        if self.kind == "set" and any(entry.atoms == atoms and not entry.path for entry in self.entries):
            return
        if len(self.entries) >= LONGEST:
            self.lose()
            self.replace(len(self.entries) - 1, join((self.entries[-1].atoms, atoms)))
            return
        self.entries.append(Slot(key, atoms, path))
        self._invalidate()

    def part(self, index: Atoms) -> Atoms:
        """The entry at a known index or key; otherwise the join of all entries and an unknown one."""
        known = index[0].value if len(index) == 1 and isinstance(index[0], Constant) else None
        items = self.items or ()
        if self.kind == "dict" or isinstance(known, str):
            found = [entry.atoms for entry in items if entry.key == known and known is not None]
        else:
            at = known if isinstance(known, int) and -len(items) <= known < len(items) else None
            found = [] if at is None else [items[at].atoms]
        return found[0] if found else (*self.element(), Unknown())

    def fill(self, values: tuple[Atoms, ...]) -> None:
        """Replace all entries by these elements."""
        self.clear()
        for atoms in values:
            self.put(atoms, ())


def _is_same(one: Store, other: Store) -> bool:
    """True if two stores are the same, made by different iterations of a loop."""
    return (
        one.name == other.name
        and one.target is other.target
        and one.value is other.value
        and one.path == other.path
        and one.held == other.held
    )


def are_exclusive(path: Path, other: Path) -> bool:
    """True if two paths contradict each other."""
    return any((test, not outcome) in other for test, outcome in path)


def shells_in(values: Iterable[Atoms]) -> Iterator[Shell]:
    """The objects among atoms, in plain containers among them, and those that unknown atoms hold."""
    for atoms in values:
        for atom in atoms:
            if isinstance(atom, Shell):
                if atom.is_container:
                    yield from (inner for inner in atom.contents() if isinstance(inner, Shell))
                else:
                    yield atom
            elif isinstance(atom, Unknown):
                yield from atom.held


def tensors_in(atoms: Atoms) -> Iterator[Tensor]:
    """The tensors among atoms and in plain containers among them."""
    for atom in atoms:
        if isinstance(atom, Tensor):
            yield atom
        elif isinstance(atom, Shell) and atom.is_container:
            for inner in atom.contents():
                if isinstance(inner, Tensor):
                    yield inner


def tensors_held(atoms: Atoms) -> Iterator[Tensor]:
    """The tensors among atoms, in plain containers among them and in fields of records (dataclasses)."""
    yield from tensors_in(atoms)
    for atom in atoms:
        if isinstance(atom, Shell) and atom.model is not None and atom.kind == "instance":
            for field in atom.model.facts.fields or ():
                yield from tensors_in(atom.get(field.name) or ())


def opened(atoms: Atoms) -> Iterator[Atom]:
    """The atoms, with plain containers replaced by their contents."""
    for atom in atoms:
        if isinstance(atom, Shell) and atom.is_container:
            yield from atom.contents()
        else:
            yield atom
