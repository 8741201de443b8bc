"""What operators make of their operands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow import sizes
from modellint.flow.domain import (
    ANY_ARGUMENTS,
    NEVER,
    PLAIN,
    Derived,
    Plain,
    SymbolicInput,
    Unknown,
    constant,
    join,
)
from modellint.flow.heap import Shell
from modellint.flow.library.constants import LONGEST, OPEN, atoms_of, calculated, changed_sign, value_of
from modellint.flow.library.containers import merge
from modellint.flow.library.parameters import changed

if TYPE_CHECKING:
    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.frame import Frame
    from modellint.flow.library.running import Run
    from modellint.graph.value import Value

_OF_TENSORS = frozenset("+ - * / @ **".split())


def unary(run: Run, atoms: Atoms, value: Value, frame: Frame) -> Atoms:
    """`-x`, `~x`."""
    known = constant(atoms)
    found = OPEN if known is None else changed_sign(value.data, known.value)
    negative = sizes.negative(value, atoms) if run.counts else None
    if found is not OPEN:
        return atoms_of(run, found, value, frame)
    return negative or join(changed(atom, f"`{value.data}`", value) for atom in atoms)


def binary(run: Run, left: Atoms, right: Atoms, value: Value, frame: Frame) -> Atoms:
    """`left + right` and the like."""
    known = _known(run, left, right, value, frame)
    if known is not None:
        return known
    found = join(_of_side(run, side, left, right, value, frame) for side in (left, right))
    if not found and left and right:
        return PLAIN
    return tuple(atom for atom in found if not isinstance(atom, Plain)) or found


def augmented(run: Run, atom: Atom, right: Atoms, value: Value, frame: Frame) -> Atoms:
    """What `x += right` makes of an `atom` that is not changed in place."""
    if isinstance(atom, Shell):
        return binary(run, (atom,), right, value, frame)
    known = _known(run, (atom,), right, value, frame)
    return _of_side(run, (atom,), (atom,), right, value, frame) if known is None else known


def _known(run: Run, left: Atoms, right: Atoms, value: Value, frame: Frame) -> Atoms | None:
    """What comes of numbers and strings that are known, in a run that counts of sums of symbols and containers, too."""
    if not run.counts:
        if constant(left) is None or constant(right) is None:
            return None
    elif any(isinstance(atom, Shell | Unknown) for atom in (*left, *right)):
        return _joined(run, left, right, value, frame)
    return atoms_of(run, calculated(str(value.data), value_of(left), value_of(right)), value, frame)


def _joined(run: Run, left: Atoms, right: Atoms, value: Value, frame: Frame) -> Atoms | None:
    """`[…] + […]`, `n * […]` of what is known one by one."""
    shells = [s[0] if len(s) == 1 and isinstance(s[0], Shell) and s[0].is_container else None for s in (left, right)]
    first, second = (None if shell is None else shell.items for shell in shells)
    if value.data == "+" and first is not None and second is not None:
        entries = [*first, *second]
    elif value.data == "*" and (first is None) is not (second is None):
        times = value_of(right if second is None else left)
        if type(times) is not int or times * len(first or second or ()) > LONGEST:
            return None
        entries = list(first or second or ()) * times
    else:
        return None
    kind = next(shell.kind for shell in shells if shell is not None)
    return (run.sequence(kind, [entry.atoms for entry in entries], value, frame),)


def _of_side(run: Run, side: Atoms, left: Atoms, right: Atoms, value: Value, frame: Frame) -> Atoms:
    """What one side of an operator has in the result."""
    name = value.data
    found: list[Atoms] = []
    for atom in side:
        if isinstance(atom, Shell) and atom.is_container and name in ("+", "*", "|"):
            made = run.shell(atom.kind, value, frame)
            made.is_exact = made.is_exact and name == "+" and made is not atom  # grown in a loop
            other = right if side is left else left
            made.is_exact = made.is_exact and all(isinstance(o, Shell) and o.is_container for o in other)
            if not (side is right and atom in left):
                run.steps += len(atom.entries)
                merge(made, (atom,), ())
            found.append((made,))
        elif isinstance(atom, Shell) and atom.is_module_container and name == "+" and side is left:
            made = run.shell("instance", value, frame, str(id(atom)))
            made.model, made.arguments = atom.model, ANY_ARGUMENTS
            merge(made, (atom,), ())
            merge(made, right, ())
            found.append((made,))
        elif isinstance(atom, Shell | Derived) and name in _OF_TENSORS and not getattr(atom, "is_container", False):
            other = right if side is left else left
            is_single = not any(isinstance(o, Derived) or getattr(o, "kind", "") == "parameter" for o in other)
            found.append(changed(atom, f"`{name}`", value) if is_single else PLAIN)
        elif isinstance(atom, SymbolicInput | Unknown) and name == "+":
            found.append((atom,))
        else:
            found.append(PLAIN if side is left else NEVER)
    return join(found)
