"""The memo of calls that are given constants only: what they give is the same in all runs of a process.

Whether a package is installed or which version it has, what a name is looked up as: frameworks ask this of themselves
at every turn. Kept is only what holds no value of a body: constants, and that something is plain or unknown.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from modellint.flow.domain import ClassRef, Constant, Outside, Plain, Unknown, function_of
from modellint.flow.heap import TENSORS
from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from modellint.flow.domain import Arguments, Atom, Atoms, FunctionRef
    from modellint.flow.heap import Shell
    from modellint.flow.interp import Interpreter
    from modellint.graph.python import Function


@dataclass(frozen=True, slots=True)
class CallSummary:
    """What a call gives, the functions that it runs, and how many steps that takes."""

    atoms: Atoms
    done: frozenset[Function]
    steps: int


class ConstantCalls:
    """Runs a call that is given constants only once, and remembers what it gives."""

    def __init__(self, run: Interpreter) -> None:
        self._run = run
        #: How many calls may be under way at most for the one that is being run to give the same elsewhere.
        self._limit: int | None = None

    def cut(self, depth: int) -> None:
        """A call is not followed because of the `depth` outermost calls under way."""
        if self._limit is not None:
            self._limit = min(self._limit, depth)

    def call(self, function: FunctionRef, given: Arguments, follow: Callable[[], Atoms]) -> Atoms:
        """What a call gives; `follow` runs it."""
        code = function_of(function.code)
        if code is None or function.frame is not None or not _is_constant(function.receiver, given):
            return follow()
        run = self._run
        made: list[Atoms] = []

        def summary() -> CallSummary | None:
            found, is_kept = self._followed(follow)
            made.append(found.atoms)
            return found if is_kept else None

        theories = tuple(type(theory) for theory in run.theories)
        settings = run.objects.is_at_work, run.loops > 0, theories, *(theory.state() for theory in run.asked.state)
        known = run.project.once(("call", code, function.receiver, function.above, given, settings), summary)
        if made:
            return made[0]
        if known is None:
            return follow()
        run.calls.done |= known.done
        run.steps += known.steps
        return known.atoms

    def _followed(self, follow: Callable[[], Atoms]) -> tuple[CallSummary, bool]:
        """What a call gives, and whether that is so in every run."""
        run, calls = self._run, self._run.calls
        limit, self._limit = self._limit, len(calls.under_way)
        done, calls.done = calls.done, set()
        was_complete, run.is_complete = run.is_complete, True
        shells, steps = len(run.shells()), run.steps
        atoms = follow()
        found = CallSummary(atoms, frozenset(calls.done), run.steps - steps)
        is_kept = run.is_complete and self._limit == len(calls.under_way) and all(map(_is_value, atoms))
        is_kept = is_kept and not any(map(_matters, islice(run.shells(), shells, None)))
        self._limit = self._limit if limit is None else min(limit, self._limit)
        run.is_complete = was_complete and run.is_complete
        calls.done = done | calls.done
        return found, is_kept


def _is_constant(receiver: Atom | None, given: Arguments) -> bool:
    if receiver is not None and not _holds_nothing(receiver):
        return False
    return all(_holds_nothing(atom) for atoms in given.all() for atom in atoms)


def _holds_nothing(atom: Atom) -> bool:
    if isinstance(atom, ClassRef):
        return not any(atom.arguments.all())
    return isinstance(atom, Outside) or _is_value(atom)


def _is_value(atom: Atom) -> bool:
    return isinstance(atom, Constant) or type(atom) is Plain or atom == Unknown()


def _matters(shell: Shell) -> bool:
    return shell.is_layer or shell.kind in TENSORS
