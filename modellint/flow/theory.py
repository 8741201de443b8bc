"""Theories: what a run knows beside Python, one protocol for all of it, and nothing of it in the interpreter.

A theory brings values of its own and says what names, operators, calls, attributes, stores and conditions do to them.
A run has a tuple of theories. Where one of them is asked for an answer, the first that knows one gives it, and None
leaves it to the next, in the end to the interpreter. What is found out is handed through those that may know more of
it, in the same order. What happens is told to all. A method that a theory leaves as it is here costs a run nothing.
"""

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
    """A value that answers itself what conditions ask of it; None where it does not know."""

    __slots__ = ()

    def truth(self) -> bool | None:
        """Whether it counts as true."""
        return None

    def is_none(self) -> bool | None:
        return False

    def has(self, key: object) -> bool | None:
        """Whether `key in …` holds."""
        return None

    def compared(self, operator: str, other: Atom) -> bool | None:
        """The outcome of a comparison with something else."""
        return None

    def is_of(self, kind: Atom) -> bool | None:
        """Whether it is an instance of a class."""
        return None


class Foreign(Comparable):
    """A value that only its theory knows, and that is no value of Python's to anybody else."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Sometimes:
    """A condition that comes out either way in the course of a run, each for certain."""

    test: Hashable


class Gate(Protocol):
    """Tells which functions need not be run."""

    def is_idle_in(self, function: Function, model: ClassModel) -> bool:
        """Whether a function has nothing to do with layers where an object of a class has it."""

    def may_make(self, function: Function, model: ClassModel | None) -> bool:
        """Whether a function may make a layer."""


class Theory:
    """A theory that knows nothing, and takes no notice of anything."""

    #: The theories that it rests on, which are asked before it, and those that it is asked before.
    rests_on: ClassVar[tuple[type[Theory], ...]] = ()
    goes_before: ClassVar[tuple[type[Theory], ...]] = ()
    #: The events that are evaluated when they happen, beside those that every run evaluates.
    events: ClassVar[Collection[EventKind]] = ()
    #: The atoms that stay what they are where an annotation says that a parameter is no tensor and no layer.
    keeps: ClassVar[tuple[type, ...]] = ()
    #: How many values and events a run may look at; None leaves that to the interpreter.
    max_steps: ClassVar[int | None] = None
    #: What is asked with it, in words: the plural of what is found in a file.
    asks: ClassVar[str] = ""
    #: Whether constructors make their calls, and find out what they store, when an attribute is asked for.
    waits: ClassVar[bool] = False
    #: Whether each object that a loop makes is another one, and what a container holds is counted.
    counts: ClassVar[bool] = False
    #: Whether what stands under an open condition is looked at under it.
    assumes: ClassVar[bool] = False
    #: Whether the parts of what is given are told from each other.
    names_parts: ClassVar[bool] = False

    def __init__(self, run: Any) -> None:
        """The theory of one run, an `Interpreter`."""

    # -- names and parameters --------------------------------------------------------------------------------------

    def named(self, value: Value, frame: Frame) -> Atoms | None:
        """What a global name, or an attribute of one, stands for."""
        return None

    def defined(self, definition: Definition) -> Atoms | None:
        """What a resolved name is."""
        return None

    def parameter(self, parameter: Parameter, code: Method, frame: Frame) -> Atoms | None:
        """What a parameter is for which nothing is given, perhaps."""
        return None

    def bound(self, atoms: Atoms, parameter: Parameter, code: Method, frame: Frame) -> Atoms:
        """What a parameter is, of which `atoms` is known."""
        return atoms

    def field(self, model: ClassModel, name: str, default: Atoms) -> Atoms:
        """What an object has under an attribute of its class, of which `default` is known."""
        return default

    # -- attributes and parts --------------------------------------------------------------------------------------

    def attribute(self, atom: Atom, name: str, frame: Frame | None, value: Value | None) -> Atoms | None:
        """`atom.name`."""
        return None

    def unstored(self, shell: Shell, name: str) -> Atoms | None:
        """`shell.name`, under which nothing was stored."""
        return None

    def held(self, shell: Shell, name: str, atoms: Atoms) -> Atoms:
        """What an object keeps under an attribute, of which `atoms` is known."""
        return atoms

    def registers(self, atoms: Atoms) -> bool:
        """Whether a tensor that is registered as a buffer is another one from then on."""
        return True

    def read(self, shell: Shell, found: Atoms) -> None:
        """An attribute of an object was read."""

    def index(self, owner: Atoms, value: Value, frame: Frame) -> Atoms | None:
        """`owner[…]`, of all that the owner may be at once."""
        return None

    def picked(self, owner: Atoms, found: Atoms, value: Value, frame: Frame) -> Atoms:
        """`owner[…]`, of which `found` is known."""
        return found

    def part(self, atom: Atom, index: Atoms, frame: Frame, value: Value) -> Atoms | None:
        """`atom[index]`."""
        return None

    def element(self, atom: Atom) -> Atoms | None:
        """One element of what a value iterates over."""
        return None

    def row(self, atom: Atom) -> Atoms | None:
        """One of several things that a value consists of, whichever is asked for."""
        return None

    def content(self, container: Shell, atoms: Atoms) -> Atoms:
        """What a container holds, of which `atoms` is known."""
        return atoms

    def empty(self, container: Atoms) -> Atoms | None:
        """One element of what nothing was put into."""
        return None

    # -- operators -------------------------------------------------------------------------------------------------

    def binary(self, value: Value, left: Atoms, right: Atoms, frame: Frame) -> Atoms | None:
        """`left + right`, and `left += right`."""
        return None

    def unary(self, value: Value, operand: Atoms, frame: Frame) -> Atoms | None:
        """`-operand`."""
        return None

    def comparison(self, value: Value, sides: list[Atoms], frame: Frame) -> Atoms | None:
        """What a comparison gives of which the outcome is not known."""
        return None

    def operation(self, operands: list[Atoms], found: Atoms, frame: Frame, value: Value) -> Atoms:
        """What an operator gives of its operands, of which `found` is known."""
        return found

    def choice(self, value: Value, branches: list[Atoms], frame: Frame) -> Atoms | None:
        """One of several values, as an open condition has it."""
        return None

    def updated(self, atom: Atom, value: Value, frame: Frame) -> Atoms | None:
        """What was changed in place by `atom[…] = …`."""
        return None

    def comprehension(self, value: Value, frame: Frame) -> Atoms | None:
        """What a comprehension makes."""
        return None

    # -- calls -----------------------------------------------------------------------------------------------------

    def call(self, value: Value, frame: Frame) -> Atoms | None:
        """What a call gives, whatever its callee turns out to be."""
        return None

    def binds(self, cls: ClassRef) -> bool:
        """Whether a class method is given the class that it is called on, rather than any."""
        return True

    def missed(self, value: Value, frame: Frame) -> None:
        """A call is left out, because nothing comes to be that it is given."""

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """`atom.name(…)`."""
        return None

    def super_method(
        self, atom: Super, owner: ClassModel, name: str, arguments: Arguments, frame: Frame, value: Value
    ) -> Atoms | None:
        """`super().name(…)`, asked for each class that may have it, nearest first."""
        return None

    def beyond(self, atom: Super, name: str, arguments: Arguments, frame: Frame, value: Value) -> None:
        """`super().name(…)` reaches a class that cannot be read."""

    def apply(self, function: Atom, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """`function(…)`."""
        return None

    def called(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """`shell(…)` of what may be a layer."""
        return None

    def calling(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> None:
        """What may be a layer is called, whoever says what that gives."""

    def forward(self, shell: Shell, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """`shell.forward(…)` of a layer whose class defines none that can be read."""
        return None

    def output(self, shell: Shell) -> Atoms | None:
        """What a method of a layer gives that is not followed."""
        return None

    def function(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """What a function gives that cannot be read."""
        return None

    def outside(self, name: str, arguments: Arguments, frame: Frame, value: Value) -> Atoms | None:
        """What a function gives that cannot be read, and that the library of Python does not know."""
        return None

    def hand(self, arguments: Arguments, value: Value) -> None:
        """Somebody who cannot be read gets something."""

    def touch(self, shells: Iterable[Shell]) -> None:
        """Somebody gets objects, or changes them."""

    def made(self, shell: Shell, cls: ClassRef, frame: Frame, value: Value) -> None:
        """An object is made."""

    # -- what is followed ------------------------------------------------------------------------------------------

    def follow(
        self, function: FunctionRef, arguments: Arguments, frame: Frame, value: Value, run: Callable[[], Atoms]
    ) -> Atoms | None:
        """What a function gives that can be read; `run` runs it."""
        return None

    def follows_all(self) -> bool:
        """Whether any method may matter."""
        return False

    def follows(self, method: FunctionRef) -> bool:
        """Whether a method may matter."""
        return False

    def concerns(self, arguments: Arguments) -> bool:
        """Whether a method of a layer matters for what it is given."""
        return False

    def depths(self) -> tuple[int, int] | None:
        """How many calls may be under way, and how many of one function."""
        return None

    def left_out(self, function: FunctionRef) -> None:
        """A call is not followed, because too many are under way."""

    def enter(self, frame: Frame, given: Arguments) -> None:
        """A function is run in a frame."""

    def state(self) -> Hashable:
        """What beside its arguments a call depends on: two that differ in it are followed both."""
        return None

    # -- events and conditions -------------------------------------------------------------------------------------

    def matters(self, event: Event, frame: Frame) -> bool | None:
        """Whether an event has to happen; what it computes can be asked for later."""
        return None

    def is_asked_for(self, frame: Frame) -> bool | None:
        """Whether it matters what a body returns."""
        return None

    def loop(self, block: Block, frame: Frame, returned: list[Atoms], yielded: list[Atoms]) -> bool | None:
        """Run a loop; whether the function ends in it."""
        return None

    def carried(self, loop: Loop, frame: Frame) -> tuple[Value, ...] | None:
        """What is to be followed from one turn of a loop to the next."""
        return None

    def after_loop(self, atoms: Atoms) -> Atoms:
        """What a variable is after any number of turns of a loop."""
        return atoms

    def is_left(self, test: Value) -> bool:
        """Whether what stands under a condition of no value, such as an exception, is left out."""
        return False

    def behind(self, atoms: Atoms, guard: PathCondition, frame: Frame) -> Atoms:
        """What conditions leave of a value."""
        return atoms

    def is_sometimes(self, test: Value, frame: Frame) -> bool:
        """Whether an open condition comes out either way in the course of a run."""
        return False

    def undecided(self, key: Hashable, test: Value, frame: Frame) -> None:
        """A condition stays open, which paths tell by `key`."""

    def filters(self, guard: PathCondition | None, frame: Frame) -> Path:
        """On which path an element stands in what a comprehension makes."""
        return ()

    def closure(self, nested: Nested, value: Value, frame: Frame) -> None:
        """A function inside of a function is made."""

    def delete(self, target: Value, frame: Frame) -> None:
        """`del x.name`, `del x[i]`, under no condition that is open."""

    def fail(self) -> None:
        """An exception is raised, under no condition that is open."""

    def run_out(self) -> None:
        """No steps are left."""

    # -- stores ----------------------------------------------------------------------------------------------------

    def store(
        self, owner: Atom, key: Atoms, atoms: Atoms, frame: Frame, target: Value, *, is_sure: bool = True
    ) -> None:
        """`owner.key = …`, or `owner[key] = …`; `is_sure`: of this owner, and not of one of several."""

    def stored(self, shell: Shell, atoms: Atoms, frame: Frame, target: Value | None, value: Value | None) -> Atoms:
        """What an attribute of an object keeps that is told to keep `atoms`."""
        return atoms

    def give_away(self, owner: Atom) -> None:
        """Something is stored in what is no object that was seen being made."""

    def release(self) -> None:
        """Let go of everything, once nothing is asked any more."""
        self.__dict__.clear()


class Theories:
    """The theories of a run, by what they have a say in: `theories.method` are those that say something of methods."""

    def __init__(self, theories: tuple[Theory, ...]) -> None:
        self._all = theories

    def __getattr__(self, method: str) -> tuple[Theory, ...]:
        """Those that do not leave a method as `Theory` has it; found out when it is first asked for."""
        default = getattr(Theory, method)
        found = tuple(theory for theory in self._all if getattr(type(theory), method) is not default)
        self.__dict__[method] = found
        return found
