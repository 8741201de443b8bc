"""Theories of rule packs: each is wrapped in a guard, which checks its answers and knows its pack.

A failure in one is a `TheoryError`, which ends the analysis of the file: the caller begins again without that theory,
so that no result depends on a part of its answers.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast
from weakref import WeakKeyDictionary

from modellint.flow.domain import (
    Bound,
    ClassRef,
    Constant,
    Counter,
    Derived,
    FunctionRef,
    Length,
    Number,
    Outside,
    Plain,
    Shape,
    Super,
    SymbolicInput,
    Tensor,
    Unknown,
)
from modellint.flow.heap import Shell
from modellint.flow.theory import OCCURRENCES, Foreign, RanOut, Theory
from modellint.graph.immutable import dataclass
from modellint.link.budget import ExhaustedError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from modellint.flow.domain import Atoms
    from modellint.flow.interp import Interpreter
    from modellint.flow.theory import Occurrence

#: The most atoms of an answer.
_MAX_ATOMS = 64
#: The seconds of processor time that a theory may take for one file.
SECONDS = 2.0
_ATOMS = (
    Shell, Constant, Unknown, Plain, SymbolicInput, Number, Counter, Length, Tensor, Shape, Outside, Derived, ClassRef,
    FunctionRef, Super, Bound, Foreign,
)  # fmt: skip
#: The hooks that a pack's theory may override: those that answer or return None; those that refine atoms; and, besides
#: these, `observe`, which is told what happens, and `state`, which its answers depend on besides their arguments.
_ANSWERING = frozenset(
    (
        "expression", "operator", "parameter", "attribute", "element", "method", "apply", "function", "opaque",
    )
)  # fmt: skip
_REFINING = frozenset(("bound", "result", "load", "store", "behind"))
HOOKS = _ANSWERING | _REFINING | {"observe", "state"}
_GUARDS: WeakKeyDictionary[type[Theory], type[GuardedTheory]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class PackTheory:
    """A theory class of a pack, and the name of the pack for messages: `rule pack 'lab'`."""

    kind: type[Theory]
    pack: str

    def __str__(self) -> str:
        return f"theory `{self.kind.__name__}` of {self.pack}"

    def __call__(self, run: Interpreter) -> Theory:
        """Make the guarded theory of a run."""
        return _guard_class(self.kind)(self, run)


class TheoryError(BaseException):
    """A pack's theory failed. No `Exception`, so that no handler in between takes it for its own failure."""

    def __init__(self, theory: PackTheory, error: BaseException) -> None:
        super().__init__(theory, error)
        self.theory = theory
        self.error = error


class EndlessError(BaseException):
    """Raised asynchronously in a thread in which a pack's theory has run for too long."""


def reason_against(kind: object) -> str:
    """The reason why an object cannot be a pack's theory; empty if it can."""
    if not (isinstance(kind, type) and issubclass(kind, Theory)):
        return f"{kind!r} is no theory; expected a class that derives from `modellint.flow.theory.Theory`"
    changed = [name for name, own in vars(Theory).items() if not name.startswith("_") and _of(kind, name) is not own]
    for name in changed:
        if name not in HOOKS and name != "observes":
            return f"`{kind.__name__}` has a `{name}` of its own, which is of the engine's theories alone"
    if not isinstance(kind.observes, tuple) or any(one not in OCCURRENCES for one in kind.observes):
        kinds = "a tuple of kinds of occurrences, such as `modellint.flow.theory.Made`"
        return f"`{kind.__name__}` observes {kind.observes!r}; expected {kinds}"
    return ""


def _of(kind: type[Theory], name: str) -> object:
    """The raw attribute of a class or its bases, without descriptors being bound."""
    return next(vars(base)[name] for base in kind.__mro__ if name in vars(base))


class GuardedTheory(Theory):
    """The guard of a pack's theory: subclasses have exactly the hooks that the theory overrides."""

    def __init__(self, brought: PackTheory, run: Interpreter) -> None:
        self.brought = brought
        self._run = run
        #: The steps of the run at the last call of a hook, and the steps that hooks have taken themselves.
        self._before = self._steps = 0
        #: The hook being called.
        self._asked = ""
        self.theory = self.call_guarded(partial(brought.kind, run))

    @property
    def steps(self) -> int:
        """The run's steps so far, as a measure of its progress."""
        steps: int = self._run.__dict__.get("steps", 0)
        return steps

    def ask(self, hook: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Call a hook. The steps that it takes are counted apart from the run's, with a limit of the same size."""
        run, before = self._run, self._run.steps
        if before < self._before:  # something else is being run
            self._steps = 0
        run.steps, self._before = self._steps, before
        outer, self._asked = self._asked, hook
        found = self.call_guarded(lambda: getattr(self.theory, hook)(*arguments, **options))
        self._asked = outer
        run.steps, self._steps = before, run.steps
        return found

    def observe(self, occurrence: Occurrence) -> None:
        if not isinstance(occurrence, RanOut):
            self.ask("observe", (occurrence,), {})
        elif self._asked:
            self.fail_with(RuntimeError(f"`{self._asked}` looks at too many values"))

    def call_guarded(self, act: Callable[[], Any]) -> Any:
        """Call code of a pack, failures guarded; the watching thread knows the running theory by this frame."""
        try:
            return act()
        except ExhaustedError:  # the file has used up what it may ask for
            raise
        except EndlessError:
            self.fail_with(too_late())
        except (Exception, SystemExit) as error:
            self.fail_with(error)

    def atoms(self, hook: str, found: object) -> Atoms:
        """Return the answer of a hook if it is a tuple of atoms. Raises TheoryError otherwise."""
        if not isinstance(found, tuple):
            self.fail_with(TypeError(f"`{hook}` gives {_brief(found)}; expected a tuple of values"))
        if len(found) > _MAX_ATOMS:
            self.fail_with(ValueError(f"`{hook}` gives {len(found)} values; expected {_MAX_ATOMS} at most"))
        for atom in found:
            if not isinstance(atom, _ATOMS):
                self.fail_with(TypeError(f"`{hook}` gives {_brief(atom)}; expected values of `modellint.flow.domain`"))
        self.call_guarded(partial(hash, found))
        return cast("Atoms", found)

    def fail_with(self, error: BaseException) -> NoReturn:
        """End the analysis. Raises TheoryError."""
        raise TheoryError(self.brought, error) from error


def too_late() -> TimeoutError:
    """The error for a theory that takes too long."""
    return TimeoutError(f"it takes more than {SECONDS:g} s of processor time")


def _brief(found: object) -> str:
    """A short description of an invalid answer, for messages."""
    try:
        text = repr(found)
    except Exception:
        text = ""
    return text if 0 < len(text) < 60 else f"something of the type `{type(found).__name__}`"


def _guard_class(kind: type[Theory]) -> type[GuardedTheory]:
    """The guard class of a theory class, cached."""
    known = _GUARDS.get(kind)
    if known is None:
        known = _GUARDS[kind] = _make_guard_class(kind)
    return known


def _make_guard_class(kind: type[Theory]) -> type[GuardedTheory]:
    own = [name for name in HOOKS if _of(kind, name) is not vars(Theory)[name]]
    hooks = {name: _hook(name) for name in own if name != "observe"}
    observed = (one for one in kind.observes if one is not RanOut) if "observe" in own else ()
    return type(f"{kind.__name__}Guard", (GuardedTheory,), {**hooks, "observes": (*observed, RanOut)})


def _hook(name: str) -> Callable[..., Any]:
    """A guard's implementation of a hook, by the hook's kind."""

    def answer(self: GuardedTheory, *arguments: Any, **options: Any) -> Atoms | None:
        found = self.ask(name, arguments, options)
        return None if found is None else self.atoms(name, found)

    def refine(self: GuardedTheory, *arguments: Any, **options: Any) -> Atoms:
        return self.atoms(name, self.ask(name, arguments, options))

    def state(self: GuardedTheory) -> Hashable:
        found = self.ask(name, (), {})
        self.call_guarded(partial(hash, found))
        return cast("Hashable", found)

    if name in _ANSWERING:
        return answer
    return refine if name in _REFINING else state
