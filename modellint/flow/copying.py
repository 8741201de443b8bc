"""Copies of objects that were built in a run that counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.heap import ExactShell, Shell, Slot
from modellint.graph.immutable import replace

if TYPE_CHECKING:
    from modellint.flow.domain import Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.unrolled import UnrolledLoops
    from modellint.graph.value import Value


def copied(turns: UnrolledLoops, given: Atoms, frame: Frame, value: Value, *, is_deep: bool) -> Atoms:
    """Copies of objects with all that they hold: what is held twice is one object in the copy, too."""
    copies: dict[Shell, Shell] = {}

    def of(atoms: Atoms) -> Atoms:
        return tuple(copy(atom) if isinstance(atom, Shell) else atom for atom in atoms)

    inner = of if is_deep else tuple

    def copy(shell: Shell) -> Shell:
        if shell in copies:
            return copies[shell]
        turns.run.steps += 1 + len(shell.entries)
        made = copies[shell] = turns.run.shell(shell.kind, value, frame, f"copy {len(copies)}")
        made.model, made.arguments, made.passed = shell.model, shell.arguments, shell.passed
        made.is_built, made.is_initialised, made.is_exact = shell.is_built, shell.is_initialised, shell.is_exact
        if isinstance(made, ExactShell) and isinstance(shell, ExactShell):
            made.repeats = shell.repeats
        made.entries = [Slot(entry.key, inner(entry.atoms), entry.path) for entry in shell.entries]
        made.history = {
            name: [(inner(atoms() if callable(atoms) else atoms), path) for atoms, path in known]
            for name, known in shell.history.items()
        }
        for store in shell.stores:
            made.note(replace(store, held=inner(store.atoms)))
        turns.note_copy(shell, made)
        return made

    return of(given)
