"""Objects and containers while a program runs on paper: one for each allocation site.

An object is a shell: its class, what its constructor was given, what is stored under its attributes. A container only
grows: what is taken out of it again stays possible.
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

    #: What something is, found out when it is asked for.
    Later = Callable[[], Atoms]

#: The open conditions on the way to an event, outermost first: what identifies the test, and its outcome.
Path = tuple[tuple["Hashable", bool], ...]
#: The calls that lead to a place from where the run began, by identity, outermost first.
Trail = tuple[int, ...]

SEQUENCES = frozenset(("list", "tuple", "set", "generator"))
CONTAINERS = SEQUENCES | {"dict"}
TENSORS = frozenset(("parameter", "buffer"))
#: A container of so many entries takes more in only as one that may be any of them; an attribute is one of so many
#: stored values, or anything.
_MANY = 256
#: So many entries of a container are known one by one at most.
LONGEST = 4096


@dataclass(eq=False, slots=True)
class Slot:
    """Something in a container: under which constant key, if it has one, and on which path it was put there."""

    key: Hashable | None
    atoms: Atoms
    path: Path


@dataclass(eq=False, slots=True)
class Store:
    """Something that is stored under an attribute (None: of a name that is not known), and where.

    `registers` is False where `nn.Module` is told nothing of it: `object.__setattr__(self, …)`.
    """

    name: str | None
    #: What is stored, perhaps yet to be found out.
    held: Atoms | Later
    path: Path
    function: Function | None
    #: The ATTR that is assigned to, None for a call that stores.
    target: Value | None
    value: Value | None
    registers: bool = True
    #: Whether it is this object's attribute for sure, and not another one's.
    is_sure: bool = True
    #: Whether `nn.Module.__init__` had run on the object.
    is_initialised: bool = True

    @property
    def atoms(self) -> Atoms:
        """What is stored, found out by now."""
        return self.held() if callable(self.held) else self.held

    @property
    def place(self) -> Value | None:
        """Where it is stored: what is assigned to, or the call that stores."""
        return self.value if self.target is None else self.target


@dataclass(eq=False, slots=True)
class DeferredCall:
    """A call in a constructor that is deferred: which attributes it may store, and all names in it."""

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
        #: What makes it, in which function and on which way there.
        self.value = value
        self.function: Function | None = None
        self.trail = trail
        self.model = model
        self.arguments = arguments
        #: What was copied first, if it is a copy, or a copy of one.
        self.origin: Shell | None = None
        #: What its class gives the constructor of the class of torch's that it derives from.
        self.passed: Arguments | None = None
        #: What was stored under which attribute on which path, the latest last; perhaps yet to be found out.
        self._history: dict[str, list[tuple[Atoms | Later, Path]]] = {}
        #: The calls of its constructor that have yet to happen, in their order.
        self._waiting: list[DeferredCall] = []
        #: The same with where it was stored, for all attributes, in their order.
        self._stores: list[Store] = []
        self.entries: list[Slot] = []
        #: How often its entries changed.
        self.version = 0
        #: What stood in it at which version of it, and of the other containers that this stood in.
        self._contents: tuple[tuple[Atom, ...], int, tuple[tuple[Shell, int], ...]] | None = None
        #: On which paths its entries were put there, by key and atoms; None where that has to be counted anew.
        self._paths: dict[Hashable | None, dict[Atoms, list[Path]]] | None = None
        #: Whether the entries are all there is, each once and in this order.
        self.is_exact = True
        #: Whether its constructor has been run.
        self.is_built = False
        #: Whether `nn.Module.__init__` has run on it.
        self.is_initialised = False

    def __repr__(self) -> str:
        return f"<{self.kind} {self.model.name if self.model else ''} {self.entries or self.arguments.positional}>"

    @property
    def site(self) -> Site | None:
        """The allocation site, if it is in a file."""
        return None if self.value is None or self.function is None else Site(self.value, self.function)

    @property
    def is_layer(self) -> bool:
        """Whether it is, or may be, an `nn.Module`."""
        return self.kind == "pretrained" or (
            self.kind == "instance" and self.model is not None and self.model.is_module is not False
        )

    @property
    def is_module_container(self) -> bool:
        """Whether it is a `ModuleList`, `Sequential` or the like."""
        return self.kind == "instance" and self.model is not None and self.model.is_container

    @property
    def is_container(self) -> bool:
        """Whether it is a plain container."""
        return self.kind in CONTAINERS

    # -- attributes ------------------------------------------------------------------------------------------------

    @property
    def history(self) -> dict[str, list[tuple[Atoms | Later, Path]]]:
        """What was stored under which attribute, once all that waits has happened."""
        self.settle()
        return self._history

    @history.setter
    def history(self, history: dict[str, list[tuple[Atoms | Later, Path]]]) -> None:
        self._history = history

    @property
    def stores(self) -> list[Store]:
        """What was stored under attributes, in order, once all deferred calls have happened."""
        self.settle()
        return self._stores

    def find_out(self) -> None:
        """Find out all that is stored under attributes and has waited until now."""
        for name in list(self.history):
            self.get(name)

    def note(self, store: Store) -> None:
        """Note a store, if it is not one of another turn of a loop."""
        if callable(store.held) or not any(_is_same(store, other) for other in self._stores[-64:]):
            self._stores.append(store)

    def set(self, name: str, atoms: Atoms | Later, path: Path = ()) -> None:
        """Store something under an attribute, after all that may read or store what is there now."""
        if self._waiting:
            self._let_happen(lambda call: name in call.words)
        known = self._history.setdefault(name, [])
        if not path:
            known.clear()
        if (atoms, path) not in known[-16:]:
            known.append((atoms, path))

    def get(self, name: str, path: Path = ()) -> Atoms | None:
        """What an attribute holds where a path has been taken; None if nothing was stored."""
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
        """Have all deferred calls happen."""
        while self._waiting:
            self._waiting.pop(0).happen()

    def wait(self, call: DeferredCall) -> None:
        """Have a call of the constructor happen when an attribute is asked for, or stored, that it has to do with."""
        self._waiting.append(call)

    def let_happen(self, call: DeferredCall) -> None:
        """Have a call happen now, if it still waits."""
        self._let_happen(lambda other: other is call)

    def _let_happen(self, is_meant: Callable[[DeferredCall], bool]) -> None:
        while (call := next(filter(is_meant, self._waiting), None)) is not None:
            self._waiting.remove(call)
            call.happen()

    # -- what containers hold --------------------------------------------------------------------------------------

    def put(self, atoms: Atoms, path: Path, key: Hashable | None = None) -> None:
        """Put something in; what is there already, on this path or on part of it, is not put in again."""
        if not atoms:
            return
        paths = self._paths_of(key)
        known = paths.setdefault(atoms, [])
        if any(one[: len(path)] == path or path[: len(one)] == one for one in known):
            return
        if key is not None and self.kind == "dict" and not path:
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
        """The paths on which each value stands under a key."""
        if self._paths is None:
            self._paths = {}
            for entry in self.entries:
                self._paths.setdefault(entry.key, {}).setdefault(entry.atoms, []).append(entry.path)
        return self._paths.setdefault(key, {})

    def _changed(self) -> None:
        self._paths = None
        self.version += 1

    def fill(self, values: tuple[Atoms, ...]) -> None:
        """Begin with these elements; where it is filled again, by another turn of a loop, with those as well."""
        if len(values) > LONGEST:
            values = (*values[: LONGEST - 1], join(values[LONGEST - 1 :]))
            self.is_exact = False
        for number, atoms in enumerate(values):
            if number < len(self.entries):
                self.replace(number, join((self.entries[number].atoms, atoms)))
            else:
                self.entries.append(Slot(None, atoms, ()))
        self._changed()

    def replace(self, number: int, atoms: Atoms) -> None:
        """Put another value in the place of an entry."""
        self.entries[number].atoms = atoms
        self._changed()

    def insert(self, at: int, atoms: Atoms) -> None:
        """Put a value in at an index, from 0."""
        self.entries.insert(at, Slot(None, atoms, ()))
        self._changed()

    def reverse(self) -> None:
        """Turn the order of the entries round."""
        self.entries.reverse()
        self._changed()

    def pop(self, number: int) -> Atoms:
        """Take one of the entries out."""
        self._changed()
        return self.entries.pop(number).atoms

    def release(self) -> None:
        """Let go of all that leads to other objects, once nothing is asked any more."""
        self._history.clear()
        self._stores = [store for store in self._stores if not callable(store.held)]
        self._waiting.clear()
        self.entries.clear()
        self._contents = self._paths = None

    def clear(self) -> None:
        """Take all entries out."""
        self.entries = []
        self._changed()

    def element(self) -> Atoms:
        """One element."""
        return join(entry.atoms for entry in self.entries)

    def part(self, index: Atoms) -> Atoms:
        """What stands at an index or under a key."""
        known = index[0].value if len(index) == 1 and isinstance(index[0], Constant) else None
        if self.kind == "dict" or (self.is_module_container and isinstance(known, str)):
            found = [entry.atoms for entry in self.entries if entry.key == known]
            if known is not None and not found and self.is_exact and self.kind == "dict":
                return UNKNOWN  # stored by what did not matter: none of the others
            return join(found) if found and known is not None else self.element()
        if self.is_exact and isinstance(known, int) and -len(self.entries) <= known < len(self.entries):
            return self.entries[known].atoms
        return join(entry.atoms for entry in self.counted(index))

    def counted(self, index: Atoms) -> list[Slot]:
        """The entries that an index may be of: where a loop counts to a number, those before that."""
        end = index[0].end if len(index) == 1 and isinstance(index[0], Counter) else None
        return self.entries[:end] if self.is_exact and end is not None and end > 0 else self.entries

    def take(self, other: Shell) -> None:
        """Be no more exact than what it is filled from."""
        self.is_exact = self.is_exact and other.is_exact

    @property
    def items(self) -> list[Slot] | None:
        """The entries, if they are all there is on every path, each once and in order."""
        return self.entries if self.is_exact and not any(entry.path for entry in self.entries) else None

    def contents(self) -> tuple[Atom, ...]:
        """What stands in it, each once, containers in it opened."""
        known = self._contents
        if known is not None and known[1] == self.version and all(inner.version == at for inner, at in known[2]):
            return known[0]
        found, inside = self._opened()
        self._contents = found, self.version, tuple((inner, inner.version) for inner in inside)
        return found

    def _opened(self) -> tuple[tuple[Atom, ...], list[Shell]]:
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
    """An object or container of a run with unrolled loops: a value that is put in twice is in there twice."""

    #: Whether some entry stands for many, as many as the turn that made it.
    repeats = False
    #: How many entries a range has whose end is a sum of symbols.
    length: Size | None = None

    def take(self, other: Shell) -> None:
        """Know the entries one by one if the source of them does."""
        self.repeats = self.repeats or (self.is_exact and isinstance(other, ExactShell) and other.repeats)
        super().take(other)

    def lose(self) -> None:
        """Forget which entries there are: an unknown one was put in or taken out."""
        self.is_exact = self.repeats = False

    def put(self, atoms: Atoms, path: Path, key: Hashable | None = None) -> None:
        """Put something in, in the place of what stands under the same key."""
        for number, entry in enumerate(self.entries if key is not None and not path else ()):
            if entry.key == key:
                self.entries[number] = Slot(key, atoms, path)
                self._changed()
                return
        if self.kind == "set" and any(entry.atoms == atoms and not entry.path for entry in self.entries):
            return
        if len(self.entries) >= LONGEST:
            self.lose()
            self.replace(len(self.entries) - 1, join((self.entries[-1].atoms, atoms)))
            return
        self.entries.append(Slot(key, atoms, path))
        self._changed()

    def part(self, index: Atoms) -> Atoms:
        """The entry at an index (from 0, or from the end below 0) or under a key, if it is known which one that is."""
        known = index[0].value if len(index) == 1 and isinstance(index[0], Constant) else None
        items = self.items or ()
        if self.kind == "dict" or isinstance(known, str):
            found = [entry.atoms for entry in items if entry.key == known and known is not None]
        else:
            at = known if isinstance(known, int) and -len(items) <= known < len(items) else None
            found = [] if at is None else [items[at].atoms]
        return found[0] if found else (*self.element(), Unknown())

    def fill(self, values: tuple[Atoms, ...]) -> None:
        """Hold these elements."""
        self.clear()
        for atoms in values:
            self.put(atoms, ())


def _is_same(one: Store, other: Store) -> bool:
    """Whether something was stored before, in another turn of a loop."""
    return (
        one.name == other.name
        and one.target is other.target
        and one.value is other.value
        and one.path == other.path
        and one.held == other.held
    )


def are_exclusive(path: Path, other: Path) -> bool:
    """Whether two paths can never be taken together."""
    return any((test, not outcome) in other for test, outcome in path)


def shells_in(values: Iterable[Atoms]) -> Iterator[Shell]:
    """The objects that values are or hold in plain containers."""
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
    """The tensors that a value is, or holds in plain containers."""
    for atom in atoms:
        if isinstance(atom, Tensor):
            yield atom
        elif isinstance(atom, Shell) and atom.is_container:
            for inner in atom.contents():
                if isinstance(inner, Tensor):
                    yield inner


def tensors_held(atoms: Atoms) -> Iterator[Tensor]:
    """The tensors that a value is, or holds in plain containers or in the fields of a record."""
    yield from tensors_in(atoms)
    for atom in atoms:
        if isinstance(atom, Shell) and atom.model is not None and atom.kind == "instance":
            for field in atom.model.facts.fields or ():
                yield from tensors_in(atom.get(field.name) or ())


def opened(atoms: Atoms) -> Iterator[Atom]:
    """What a value may be, containers opened."""
    for atom in atoms:
        if isinstance(atom, Shell) and atom.is_container:
            yield from atom.contents()
        else:
            yield atom
