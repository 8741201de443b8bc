"""Theories: what a run knows beyond Python, behind one protocol; the interpreter itself knows nothing of it.

A theory has atoms of its own, and transfer functions for expressions, operators, calls, attributes, stores and
conditions. A run has several, and asks their product (`Theories`). A hook that asks takes the answer of the first
theory that has one; None leaves it to the next, in the end to the interpreter. A hook that refines passes its first
argument through all theories, in the same order. `observe` is told of the kinds of occurrences that a theory asks for.
A hook that no theory overrides is a call of the default here, which does nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias
from weakref import WeakKeyDictionary

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from typing import ParamSpec

    from modellint.flow.blocks import Block
    from modellint.flow.domain import Arguments, Atom, Atoms, ClassRef, FunctionRef, Super
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Shell
    from modellint.graph.methods import Method
    from modellint.graph.python import Class, Function
    from modellint.graph.value import Event, EventKind, Nested, Parameter, PathCondition, Value
    from modellint.link.classes.models import ClassModel

    Fields = ParamSpec("Fields")


class Comparable:
    """An atom that answers questions of conditions itself; None where it does not know."""

    __slots__ = ()

    def truth(self) -> bool | None:
        """The truth value of the atom."""
        return None

    def is_none(self) -> bool | None:
        return False

    def has(self, key: object) -> bool | None:
        """The outcome of `key in atom`."""
        return None

    def compared(self, operator: str, other: Atom) -> bool | None:
        """The outcome of comparing the atom with another one."""
        return None

    def is_of(self, kind: Atom) -> bool | None:
        """The outcome of `isinstance(atom, kind)`."""
        return None

    def sequence(self) -> list[Atoms] | None:
        """The entries of an atom that is a sequence; None if it is none."""
        return None


class Foreign(Comparable):
    """An atom that only its theory understands; to everything else it is no value of Python."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Sometimes:
    """The key of a condition that a run certainly sees both true and false."""

    test: Hashable


class Gate(Protocol):
    """Decides which functions need not be run."""

    def is_idle_in(self, function: Function, model: ClassModel) -> bool:
        """True if the function, called on an object of `model`, has nothing to do with layers."""

    def may_make(self, function: Function, model: ClassModel | None) -> bool:
        """True if the function may make a layer."""

    def may_strand(self, cls: Class) -> bool:
        """True if the class's own methods may store a tensor created on the default device."""


# -- occurrences -------------------------------------------------------------------------------------------------------


class Read(NamedTuple):
    """An attribute of an object is read, and `found`."""

    shell: Shell
    found: Atoms


class Stored(NamedTuple):
    """`owner.key = …` or `owner[key] = …`; `is_sure`: `owner` is the only object that it may be."""

    owner: Atom
    key: Atoms
    atoms: Atoms
    frame: Frame
    target: Value
    is_sure: bool


class StoredOutside(NamedTuple):
    """Something is stored in a value that is no object of this run."""

    owner: Atom


class Deleted(NamedTuple):
    """`del x.name` or `del x[i]`, under no open condition."""

    target: Value
    frame: Frame


class Made(NamedTuple):
    """A call makes an object."""

    shell: Shell
    cls: ClassRef
    frame: Frame
    value: Value


class LayerCalled(NamedTuple):
    """An object is called that may be a layer, before any theory evaluates the call."""

    shell: Shell
    arguments: Arguments
    frame: Frame
    value: Value


class Unreached(NamedTuple):
    """A call is skipped, because an argument has no atoms and so is never reached."""

    value: Value
    frame: Frame


class UnreadableSuper(NamedTuple):
    """`super().name(…)` reaches a class that cannot be read."""

    atom: Super
    name: str
    arguments: Arguments
    frame: Frame
    value: Value


class Escaped(NamedTuple):
    """Arguments escape to code that cannot be read."""

    arguments: Arguments
    value: Value


class Touched(NamedTuple):
    """Objects escape, or are changed."""

    shells: Iterable[Shell]


class Entered(NamedTuple):
    """The body of a function is about to be run in a frame."""

    frame: Frame
    given: Arguments


class FunctionMade(NamedTuple):
    """A nested function or lambda is made."""

    nested: Nested
    value: Value
    frame: Frame


class CutOff(NamedTuple):
    """A call is not followed, because the call stack is at its limit."""

    function: FunctionRef


class Undecided(NamedTuple):
    """A condition stays open; paths name it by `key`."""

    key: Hashable
    test: Value
    frame: Frame


class Raised(NamedTuple):
    """An exception is raised, under no open condition."""


class RanOut(NamedTuple):
    """The run has no steps left."""


Occurrence: TypeAlias = (
    Read
    | Stored
    | StoredOutside
    | Deleted
    | Made
    | LayerCalled
    | Unreached
    | UnreadableSuper
    | Escaped
    | Touched
    | Entered
    | FunctionMade
    | CutOff
    | Undecided
    | Raised
    | RanOut
)
#: The kinds of occurrences that `observe` is told of.
OCCURRENCES: tuple[type[Occurrence], ...] = (
    Read, Stored, StoredOutside, Deleted, Made, LayerCalled, Unreached, UnreadableSuper, Escaped, Touched, Entered,
    FunctionMade, CutOff, Undecided, Raised, RanOut,
)  # fmt: skip


# -- theories ----------------------------------------------------------------------------------------------------------


#: The most steps that the constructor of an object takes which is no layer; frameworks set themselves up in more.
MOST_MADE = 1_500


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of nested calls: in all, of one function, and of one function under an open condition."""

    calls: int = 14
    recursion: int = 2
    recursion_if: int = 2


@dataclass(frozen=True, slots=True)
class Mode:
    """How runs with a theory go about what all runs do; the modes of several theories are joined."""

    #: The plural noun for what the theory looks for in a file, for messages.
    asks: str = ""
    #: The kinds of events that are evaluated when they happen, besides those that every run evaluates.
    events: tuple[EventKind, ...] = ()
    #: The types of atoms that an annotation of a parameter as neither tensor nor layer does not replace.
    keeps: tuple[type, ...] = ()
    #: The names of library functions and classes that are not read, and may be evaluated by the theory.
    unread: tuple[Callable[[str], bool], ...] = ()
    #: The maximal number of values and events that a run evaluates, and of nested calls; None: the interpreter's own.
    max_steps: int | None = None
    limits: Limits | None = None
    #: The most steps that the constructor of an object takes which is no layer; None for any number.
    most_made: int | None = None
    #: True if calls and stores in constructors are deferred until an attribute is read.
    waits: bool = False
    #: True if each turn of a loop allocates an object of its own, and the entries of containers are counted.
    counts: bool = False
    #: True if a value under an open condition is evaluated as if the condition held.
    assumes: bool = False
    #: True if attributes and entries of a root's arguments are told from the arguments themselves.
    names_parts: bool = False
    #: True if code under a condition that has no value, such as an `except`, is left out.
    skips_handlers: bool = False
    #: True if class methods are called on an unknown class unless it is a layer or has fields: others may make any.
    is_wary_of_classes: bool = False
    #: True if `layers[6] = …` replaces an entry of torch's containers; in other runs the one before stays possible.
    replaces_layers: bool = False
    #: True if what the theory noted is read after the run was closed.
    outlives_run: bool = False

    def joined(self, other: Mode) -> Mode:
        """The mode of a run with two theories; the first one's words and limits count."""
        return Mode(
            self.asks or other.asks,
            self.events + other.events,
            self.keeps + other.keeps,
            self.unread + other.unread,
            max(self.max_steps or 0, other.max_steps or 0) or None,
            self.limits or other.limits,
            self.most_made or other.most_made,
            self.waits or other.waits,
            self.counts or other.counts,
            self.assumes or other.assumes,
            self.names_parts or other.names_parts,
            self.skips_handlers or other.skips_handlers,
            self.is_wary_of_classes or other.is_wary_of_classes,
            self.replaces_layers or other.replaces_layers,
        )


class Theory:
    """A theory without knowledge: every hook has its default."""

    #: The theories that this one needs, which are asked before it, and those that it must be asked before.
    rests_on: ClassVar[tuple[type[Theory], ...]] = ()
    goes_before: ClassVar[tuple[type[Theory], ...]] = ()
    #: The kinds of occurrences that `observe` is told of.
    observes: ClassVar[tuple[type[Occurrence], ...]] = OCCURRENCES
    mode: ClassVar[Mode] = Mode()

    def __init__(self, run: Any) -> None:
        """Makes the theory of one run, an `Interpreter`."""

    # -- hooks that ask: the atoms of something, None if unknown ---------------------------------------------------

    def expression(self, value: Value, frame: Frame) -> Atoms | None:
        """A global name or attribute chain on one, a call, or a comprehension, before its parts are evaluated."""
        return None

    def operator(self, value: Value, operands: list[Atoms], frame: Frame) -> Atoms | None:
        """The result of an operator, by `value.op`.

        BIN (`+` and `+=`) and UNARY, given the operands; COMPARE whose outcome is open, given both sides; INDEX, given
        all atoms of the owner before the index is evaluated; CHOICE under an open condition, given the branches;
        UPDATE: the owner after `owner[…] = …`.
        """
        return None

    def parameter(self, parameter: Parameter, code: Method, frame: Frame) -> Atoms | None:
        """A parameter that no argument is passed for."""
        return None

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        """`atom.name`."""
        return None

    def element(self, atom: Atom, index: Atoms | None, frame: Frame | None, value: Value | None) -> Atoms | None:
        """`atom[index]`, or any element of an iteration (`index` is None); `frame` is None where it is unpacked."""
        return None

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of `atom.name(…)`, also of `super().name(…)`."""
        return None

    def apply(self, function: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of `function(…)`, whatever is called, except methods."""
        return None

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of a function that cannot be read, asked before all built-in knowledge of libraries."""
        return None

    def opaque(self, callee: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of a call that is not followed, asked after all built-in knowledge.

        `callee` is an object that may be a layer (`layer(…)`), a `Bound` `layer.forward` that cannot be read, a
        `FunctionRef` of a layer's method that is not worth following, or an `Outside` function.
        """
        return None

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms | None:
        """The result of a function that can be read; `run` runs its body."""
        return None

    # -- hooks that refine their first argument --------------------------------------------------------------------

    def bound(self, atoms: Atoms, parameter: Parameter, code: Method, frame: Frame) -> Atoms:
        """The atoms of a parameter once it is bound."""
        return atoms

    def result(self, found: Atoms, operands: list[Atoms], value: Value, frame: Frame) -> Atoms:
        """The result of BIN, UNARY, INDEX, an ITEM of an iteration, or a loop's variable (CHOICE) after the loop."""
        return found

    def load(self, atoms: Atoms, owner: Shell | ClassModel, name: str | None) -> Atoms:
        """The atoms read from an attribute of an object or class, or from the entries of a container (no `name`)."""
        return atoms

    def store(self, atoms: Atoms, shell: Shell, frame: Frame, target: Value | None, value: Value | None) -> Atoms:
        """The atoms that are stored under an attribute of an object."""
        return atoms

    def behind(self, atoms: Atoms, guard: PathCondition, frame: Frame) -> Atoms:
        """The atoms of a value that a path condition allows."""
        return atoms

    def condition(self, key: Hashable, test: Value, frame: Frame) -> Hashable:
        """The key of an open condition in paths: `Sometimes` if the run certainly sees it both true and false."""
        return key

    # -- what is followed ------------------------------------------------------------------------------------------

    def matters(self, event: Event, frame: Frame) -> bool | None:
        """True if an event has to be run, False if it is skipped; its values can still be evaluated later."""
        return None

    def loop(self, block: Block, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> bool | None:
        """Runs a loop in place of the interpreter, and says whether the function ends in it."""
        return None

    def follows(self, function: FunctionRef, arguments: Arguments, relation: str) -> bool:
        """True if a method has to be followed; `relation`: of the object's `own`, of an `other` one, or by `super`."""
        return False

    def state(self) -> Hashable:
        """The part of the memo key of calls that this theory adds: calls that differ in it are followed separately."""
        return None

    # -- what happens ----------------------------------------------------------------------------------------------

    def observe(self, occurrence: Occurrence) -> None:
        """Takes note of an occurrence of a kind in `observes`."""


_ASKING = (
    "expression", "operator", "parameter", "attribute", "element", "method", "apply", "function", "opaque", "follow",
    "matters", "loop",
)  # fmt: skip
_REFINING = ("bound", "result", "load", "store", "behind", "condition")
#: The hooks that each class of theories overrides.
_OWN: WeakKeyDictionary[type[Theory], tuple[str, ...]] = WeakKeyDictionary()


class Theories(Theory):
    """The product of the theories of a run: itself a theory, each of whose hooks combines those that override it."""

    def __init__(self, theories: tuple[Theory, ...]) -> None:
        hooks: dict[str, list[Callable[..., Any]]] = {}
        for theory in theories:
            for name in _own_hooks(type(theory)):
                hooks.setdefault(name, []).append(getattr(theory, name))
        self._observers: dict[object, list[Callable[[Occurrence], None]]] = {}
        for theory in theories if "observe" in hooks else ():
            for kind in theory.observes if type(theory).observe is not Theory.observe else ():
                self._observers.setdefault(kind, []).append(theory.observe)
        self._states = tuple(hooks.get("state", ()))
        for names, combine in ((_ASKING, _first), (_REFINING, _refined), (("follows",), _any)):
            for name in names:
                if name in hooks:
                    each = hooks[name]
                    self.__dict__[name] = each[0] if len(each) == 1 else combine(tuple(each))

    def tell(self, kind: Callable[Fields, Occurrence], *fields: Fields.args, **options: Fields.kwargs) -> None:
        """Tell those who observe a kind of occurrences of one."""
        observers = self._observers.get(kind)
        if observers is not None:
            occurrence = kind(*fields, **options)
            for observe in observers:
                observe(occurrence)

    def state(self) -> tuple[Hashable, ...]:
        """The states of all theories that have one."""
        return tuple([state() for state in self._states])


def _own_hooks(kind: type[Theory]) -> tuple[str, ...]:
    known = _OWN.get(kind)
    if known is None:
        names = (*_ASKING, *_REFINING, "follows", "state", "observe")
        known = _OWN[kind] = tuple(name for name in names if getattr(kind, name) is not getattr(Theory, name))
    return known


def _first(hooks: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    def ask(*arguments: Any) -> Any:
        for hook in hooks:
            found = hook(*arguments)
            if found is not None:
                return found
        return None

    return ask


def _refined(hooks: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    def refine(found: Any, *arguments: Any) -> Any:
        for hook in hooks:
            found = hook(found, *arguments)
        return found

    return refine


def _any(hooks: tuple[Callable[..., Any], ...]) -> Callable[..., Any]:
    def decide(*arguments: Any) -> bool:
        return any(hook(*arguments) for hook in hooks)

    return decide
