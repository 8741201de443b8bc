"""Layers that an object makes when it is called: the calls that make them, the calls that use them, and escapes.

A layer that is called is used. A layer that escapes, or whose weights are read, is touched: it may be trained, written
or kept elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import operators
from modellint.flow.domain import Derived, Unknown
from modellint.flow.heap import Shell, shells_in
from modellint.flow.theory import LayerCalled, Made, Read, Theory, Touched
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op
from modellint.link.classes import calls

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.flow.domain import Arguments, Atom, Atoms, FunctionRef
    from modellint.flow.frame import Frame
    from modellint.flow.interp import Interpreter
    from modellint.flow.theory import Occurrence
    from modellint.graph.python import Function
    from modellint.graph.value import PathCondition, Value

#: Methods that run a layer.
_WORK = frozenset(("forward", "__call__"))
#: Methods that return the layer itself, and change no weight by their arguments.
_MOVING = calls.SAME - {"apply"}
#: Methods of containers of layers that concern only the entries.
_CONTENTS = calls.FOLLOWED | operators.methods("list", "adds", "extends") | operators.methods("dict", "adds", "extends")


@dataclass(frozen=True, eq=False, slots=True)
class Step:
    """A call site with its path condition."""

    function: Function
    value: Value
    guard: PathCondition | None


class LateLayers(Theory):
    """The layers that the object of one run makes when it is called."""

    observes = (Touched, Read, LayerCalled, Made)

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        #: For each layer, the calls that lead to it, outermost first, and the one that makes it.
        self.routes: dict[Shell, tuple[Step, ...]] = {}
        self._uses: dict[Shell, Step] = {}
        self._touched: set[Shell] = set()

    def observe(self, event: Occurrence) -> None:
        if isinstance(event, Touched):
            self._touch(event.shells)
        elif isinstance(event, Read):
            self._note_read(event.shell, event.found)
        elif isinstance(event, LayerCalled):
            self._use(event.shell, event.frame, event.value)
            self._touch(shells_in(event.arguments.all()))
        elif isinstance(event, Made):
            self._note_made(event.shell, event.frame, event.value)

    def _note_made(self, shell: Shell, frame: Frame, value: Value) -> None:
        if not self._run.objects.is_at_work or self._run.objects.under_construction:
            return
        if not shell.is_layer:
            self._touch(shells_in(shell.arguments.all()))
            return
        steps = [_step(*place) for place in (*self._run.calls.way[1:], (frame, value))]
        route = tuple(step for step in steps if step is not None)
        if len(route) == len(steps):
            self.routes.setdefault(shell, route)

    def _use(self, shell: Shell, frame: Frame, value: Value) -> None:
        """Note that a layer is called."""
        if shell in self.routes and shell not in self._uses:
            step = _step(frame, value)
            if step is not None:
                self._uses[shell] = step

    def _touch(self, shells: Iterable[Shell]) -> None:
        if self.routes:
            self._touched.update(shells)

    def method(self, atom: Atom, name: str, arguments: Arguments, frame: Frame, value: Value) -> None:
        if not isinstance(atom, Shell) or atom not in self.routes or name in _MOVING:
            return
        if atom in self._run.objects.under_construction or atom.get(name, self._run.path) is not None:
            return
        own = self._run.objects.own_method(atom, name)
        if name in _WORK or (own is not None and _returns(own)):
            self._use(atom, frame, value)
        elif not (atom.is_module_container and name in _CONTENTS):
            self._touch((atom,))

    def _note_read(self, shell: Shell, found: Atoms) -> None:
        is_made = shell in self.routes and shell not in self._run.objects.under_construction
        if is_made and any(isinstance(atom, Shell | Derived | Unknown) for atom in found):
            self._touch((shell,))

    # -- in the end ------------------------------------------------------------------------------------------------

    def use_of(self, shell: Shell) -> Step | None:
        """The call of a layer, or of one that holds it; None if there is none, or if something may change the layer."""
        holders = list(self._holders(shell))
        if any(holder in self._touched for holder in holders) or self._is_kept(holders):
            return None
        return next((self._uses[holder] for holder in holders if holder in self._uses), None)

    def attribute_of(self, shell: Shell) -> str | None:
        """The attribute of the object that keeps a layer, or an object that holds it."""
        subject = self._run.objects.subject
        holders = set(self._holders(shell))
        for store in subject.stores if subject is not None else ():
            if not holders.isdisjoint(shells_in((store.atoms,))):
                return store.name
        return None

    def _holders(self, shell: Shell) -> Iterator[Shell]:
        """A layer, and the objects whose constructors are passed it, directly or not."""
        pending, seen = [shell], {shell}
        while pending:
            inner = pending.pop()
            yield inner
            for outer in self.routes:
                if outer not in seen and inner in _parts(outer):
                    seen.add(outer)
                    pending.append(outer)

    def _is_kept(self, shells: list[Shell]) -> bool:
        """True if something made before this call, other than the object itself, keeps one of the layers."""
        wanted, began = set(shells), shells[0].trail[0]
        if any(not wanted.isdisjoint(shells_in((atoms,))) for atoms, _ in self._run.objects.given_away):
            return True
        older = (shell for shell in list(self._run.shells()) if shell.trail[0] != began)
        return any(not wanted.isdisjoint(_contents(shell)) for shell in older)


def _step(frame: Frame, value: Value) -> Step | None:
    """The call site of a value; None if it stands in no function: a default, a constant of a file."""
    if frame.function is None:
        return None
    return Step(frame.function, value, None if frame.event is None else frame.event.guard)


def _returns(method: FunctionRef) -> bool:
    """True if a method returns a result, rather than only changing its object."""
    flow = method.code.flow
    return flow is not None and any(event.value.op is not Op.CONST for event in flow.of(EventKind.RETURN))


def _parts(shell: Shell) -> Iterator[Shell]:
    """The objects among the arguments and the entries of an object."""
    yield from shells_in(shell.arguments.all())
    yield from shells_in(entry.atoms for entry in shell.entries)


def _contents(shell: Shell) -> Iterator[Shell]:
    """The objects in the attributes and entries of an object."""
    yield from shells_in(store.atoms for store in shell.stores)
    yield from shells_in(entry.atoms for entry in shell.entries)
