"""Theories: what a run knows beyond Python, behind one protocol; the interpreter itself knows nothing of it.

A theory has atoms of its own, and transfer functions for names, operators, calls, attributes, stores and conditions.
A run has a tuple of theories. A hook that asks takes the answer of the first theory that has one; None leaves it to the
next, in the end to the interpreter. A hook that refines passes the atoms through all theories, in the same order. A
hook that observes is called on every theory. A hook that a theory does not override costs a run nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable

    from modellint.flow.blocks import Block
    from modellint.flow.domain import Arguments, Atom, Atoms, ClassRef, FunctionRef, Super
    from modellint.flow.frame import Frame
    from modellint.flow.heap import Path, Shell
    from modellint.graph.methods import Method
    from modellint.graph.python import Function, Parameter
    from modellint.graph.value import Event, EventKind, Loop, Nested, PathCondition, Value
    from modellint.link.classes.models import ClassModel
    from modellint.link.names import Definition


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


class Theory:
    """A theory without knowledge: every hook has its default."""

    #: The theories that this one needs, which are asked before it, and those that it must be asked before.
    rests_on: ClassVar[tuple[type[Theory], ...]] = ()
    goes_before: ClassVar[tuple[type[Theory], ...]] = ()
    #: The kinds of events that are evaluated when they happen, besides those that every run evaluates.
    events: ClassVar[Collection[EventKind]] = ()
    #: The types of atoms that an annotation of a parameter as neither tensor nor layer does not replace.
    keeps: ClassVar[tuple[type, ...]] = ()
    #: The maximal number of values and events that a run evaluates; None leaves it to the interpreter.
    max_steps: ClassVar[int | None] = None
    #: The plural noun for what the theory looks for in a file, for messages.
    asks: ClassVar[str] = ""
    #: Whether calls and stores in constructors are deferred until an attribute is read.
    waits: ClassVar[bool] = False
    #: Whether each turn of a loop allocates an object of its own, and the entries of containers are counted.
    counts: ClassVar[bool] = False
    #: Whether a value under an open condition is evaluated as if the condition held.
    assumes: ClassVar[bool] = False
    #: Whether attributes and entries of a root's arguments are told from the arguments themselves.
    names_parts: ClassVar[bool] = False

    def __init__(self, run: Any) -> None:
        """Makes the theory of one run, an `Interpreter`."""

    # -- names and parameters --------------------------------------------------------------------------------------

    def named(self, value: Value, frame: Frame) -> Atoms | None:
        """The atoms of a global name, or of an attribute chain on one."""
        return None

    def defined(self, definition: Definition) -> Atoms | None:
        """The atoms of a resolved name."""
        return None

    def parameter(self, parameter: Parameter, code: Method, frame: Frame) -> Atoms | None:
        """The atoms of a parameter that no argument is passed for."""
        return None

    def bound(self, atoms: Atoms, parameter: Parameter, code: Method, frame: Frame) -> Atoms:
        """Refines the atoms of a parameter once it is bound."""
        return atoms

    def field(self, model: ClassModel, name: str, default: Atoms) -> Atoms:
        """Refines the value of a field that an object gets from its class."""
        return default

    # -- attributes and parts --------------------------------------------------------------------------------------

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        """`atom.name`."""
        return None

    def unstored(self, shell: Shell, name: str) -> Atoms | None:
        """The atoms of `shell.name` where nothing was stored under that name."""
        return None

    def held(self, shell: Shell, name: str, atoms: Atoms) -> Atoms:
        """Refines the atoms that an object stores under an attribute when they are read."""
        return atoms

    def registers(self, atoms: Atoms) -> bool:
        """False if `register_buffer` stores the tensor itself rather than a new buffer."""
        return True

    def read(self, shell: Shell, found: Atoms) -> None:
        """Observes that an attribute of an object was read."""

    def index(self, owner: Atoms, value: Value, frame: Frame) -> Atoms | None:
        """The atoms of `owner[…]`, given all atoms of the owner at once."""
        return None

    def picked(self, owner: Atoms, found: Atoms, value: Value, frame: Frame) -> Atoms:
        """Refines the atoms found for `owner[…]`."""
        return found

    def part(self, atom: Atom, index: Atoms, frame: Frame, value: Value) -> Atoms | None:
        """`atom[index]`."""
        return None

    def element(self, atom: Atom) -> Atoms | None:
        """One element of an iteration over the atom."""
        return None

    def row(self, atom: Atom) -> Atoms | None:
        """One row or entry of the atom, whatever its index."""
        return None

    def content(self, container: Shell, atoms: Atoms) -> Atoms:
        """Refines the atoms that a container holds."""
        return atoms

    def empty(self, container: Atoms) -> Atoms | None:
        """One element of a container into which nothing was put."""
        return None

    # -- operators -------------------------------------------------------------------------------------------------

    def binary(self, value: Value, left: Atoms, right: Atoms, frame: Frame) -> Atoms | None:
        """`left + right`, and `left += right`."""
        return None

    def unary(self, value: Value, operand: Atoms, frame: Frame) -> Atoms | None:
        """`-operand`."""
        return None

    def comparison(self, value: Value, sides: list[Atoms], frame: Frame) -> Atoms | None:
        """The atoms of a comparison whose outcome is open."""
        return None

    def operation(self, operands: list[Atoms], found: Atoms, frame: Frame, value: Value) -> Atoms:
        """Refines the atoms that an operator makes of its operands."""
        return found

    def choice(self, value: Value, branches: list[Atoms], frame: Frame) -> Atoms | None:
        """The join of the branches of an open condition."""
        return None

    def updated(self, atom: Atom, value: Value, frame: Frame) -> Atoms | None:
        """The atoms of `atom` after `atom[…] = …`."""
        return None

    def comprehension(self, value: Value, frame: Frame) -> Atoms | None:
        """The container that a comprehension makes."""
        return None

    # -- calls -----------------------------------------------------------------------------------------------------

    def call(self, value: Value, frame: Frame) -> Atoms | None:
        """The result of a call, asked before its callee and arguments are evaluated."""
        return None

    def binds(self, cls: ClassRef) -> bool:
        """True if a class method gets the class that it is called on; otherwise its class is unknown."""
        return True

    def missed(self, value: Value, frame: Frame) -> None:
        """Observes a call that is skipped, because an argument has no atoms and so is never reached."""

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """`atom.name(…)`."""
        return None

    def super_method(
        self, atom: Super, owner: ClassModel, name: str, arguments: Arguments, frame: Frame, value: Value
    ) -> Atoms | None:
        """The result of `super().name(…)`, asked for each class of the MRO that may have it, nearest first."""
        return None

    def beyond(self, atom: Super, name: str, arguments: Arguments, frame: Frame, value: Value) -> None:
        """Observes that `super().name(…)` reaches a class that cannot be read."""

    def apply(self, function: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """`function(…)`."""
        return None

    def called(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of `shell(…)`, where the shell may be a layer."""
        return None

    def calling(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> None:
        """Observes each call of an object that may be a layer, before any theory evaluates it."""

    def forward(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of `shell.forward(…)`, where the layer's class defines no `forward` that can be read."""
        return None

    def output(self, shell: Shell) -> Atoms | None:
        """The result of a layer's method that is not followed."""
        return None

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of a function that cannot be read, asked before all built-in knowledge of libraries."""
        return None

    def outside(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """The result of a function that cannot be read and that `flow/library/` does not know."""
        return None

    def hand(self, arguments: Arguments, value: Value) -> None:
        """Observes that arguments escape to code that cannot be read."""

    def touch(self, shells: Iterable[Shell]) -> None:
        """Observes that objects escape, or are changed."""

    def made(self, shell: Shell, cls: ClassRef, frame: Frame, value: Value) -> None:
        """Observes that an object is made."""

    # -- what is followed ------------------------------------------------------------------------------------------

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms | None:
        """The result of a function that can be read; `run` runs its body."""
        return None

    def follows_all(self) -> bool:
        """True if every method has to be followed."""
        return False

    def follows(self, method: FunctionRef) -> bool:
        """True if the method has to be followed."""
        return False

    def concerns(self, arguments: Arguments) -> bool:
        """True if a method of another layer has to be followed because of its arguments."""
        return False

    def depths(self) -> tuple[int, int] | None:
        """The maximal depth of the call stack, and how often one function may stand in it."""
        return None

    def left_out(self, function: FunctionRef) -> None:
        """Observes a call that is not followed, because the call stack is at its limit."""

    def enter(self, frame: Frame, given: Arguments) -> None:
        """Observes that the body of a function is about to be run in a frame."""

    def state(self) -> Hashable:
        """The part of the memo key of calls that this theory adds: calls that differ in it are followed separately."""
        return None

    # -- events and conditions -------------------------------------------------------------------------------------

    def matters(self, event: Event, frame: Frame) -> bool | None:
        """True if the event has to be run, False if it is skipped; its values can still be evaluated later."""
        return None

    def is_asked_for(self, frame: Frame) -> bool | None:
        """True if the result of the body can reach a sink; if False, its RETURN events are skipped."""
        return None

    def loop(self, block: Block, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> bool | None:
        """Runs a loop in place of the interpreter, and says whether the function ends in it."""
        return None

    def carried(self, loop: Loop, frame: Frame) -> tuple[Value, ...] | None:
        """The variables of a loop that are followed from one turn to the next."""
        return None

    def after_loop(self, atoms: Atoms) -> Atoms:
        """Refines the atoms of a variable after any number of turns of a loop."""
        return atoms

    def is_left(self, test: Value) -> bool:
        """True if code under a condition that has no value, such as an `except`, is left out."""
        return False

    def behind(self, atoms: Atoms, guard: PathCondition, frame: Frame) -> Atoms:
        """Refines the atoms of a value by a path condition."""
        return atoms

    def is_sometimes(self, test: Value, frame: Frame) -> bool:
        """True if the run certainly sees the open condition both true and false."""
        return False

    def undecided(self, key: Hashable, test: Value, frame: Frame) -> None:
        """Observes a condition that stays open; paths name it by `key`."""

    def filters(self, guard: PathCondition | None, frame: Frame) -> Path:
        """The path condition that the `if` clauses of a comprehension add to its element."""
        return ()

    def closure(self, nested: Nested, value: Value, frame: Frame) -> None:
        """Observes that a nested function is made."""

    def delete(self, target: Value, frame: Frame) -> None:
        """Observes `del x.name`, `del x[i]`, under no open condition."""

    def fail(self) -> None:
        """Observes that an exception is raised, under no open condition."""

    def run_out(self) -> None:
        """Observes that the run has no steps left."""

    # -- stores ----------------------------------------------------------------------------------------------------

    def store(
        self, owner: Atom, key: Atoms, atoms: Atoms, frame: Frame, target: Value, *, is_sure: bool = True
    ) -> None:
        """Observes `owner.key = …` or `owner[key] = …`; `is_sure`: `owner` is the only object that it may be."""

    def stored(self, shell: Shell, atoms: Atoms, frame: Frame, target: Value | None, value: Value | None) -> Atoms:
        """Refines the atoms that are stored under an attribute of an object."""
        return atoms

    def give_away(self, owner: Atom) -> None:
        """Observes a store in a value that is no object of this run."""

    def release(self) -> None:
        """Drops all references, once nothing is asked any more."""
        self.__dict__.clear()


class Theories:
    """The theories of a run, by the hooks that they override: `theories.method` are those with their own `method`."""

    def __init__(self, theories: tuple[Theory, ...]) -> None:
        self._all = theories

    def __getattr__(self, method: str) -> tuple[Theory, ...]:
        """The theories that override a hook, found on first use."""
        default = getattr(Theory, method)
        found = tuple(theory for theory in self._all if getattr(type(theory), method) is not default)
        self.__dict__[method] = found
        return found
