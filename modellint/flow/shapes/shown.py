"""The shapes of the tensors on the lines of a file, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modellint.flow.domain import Constant
from modellint.flow.reveal import Frames, is_of_frame
from modellint.flow.runs import follow, tensor_run
from modellint.flow.shapes.atoms import Shaped
from modellint.flow.shapes.presumed import Learnt, Presumed
from modellint.flow.shapes.shape import common
from modellint.frontends.written_expressions import written_expressions
from modellint.graph.value import Event, EventKind
from modellint.link.budget import ExhaustedError

if TYPE_CHECKING:
    from collections.abc import Collection

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.heap import Shell
    from modellint.frontends.written_expressions import Written
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.link.project import Project

#: What is shown for a tensor of which no dimension is known, and the name of what a function returns.
UNKNOWN, RETURNED = "?", "return"
#: The most runs of a file, each of which learns from the ones before.
_MAX_TURNS = 3


class Shown(NamedTuple):
    """A variable that is assigned on a line, from 1, or what is returned there, and its shape in words: `[b, 64]`.

    `dtype` is the type of its elements, or a kind such as `float`; empty if unknown.
    """

    function: Function
    line: int
    name: str
    shape: str
    dtype: str


def shapes_on_lines(module: ModuleFacts, project: Project, functions: Collection[Function]) -> list[Shown]:
    """The shapes of the tensors that some functions of a file assign and return, in the order of lines.

    Nothing else has been asked of the project about the file.
    """
    asked: dict[Function, list[Written]] = {one: written_expressions(one) for one in functions}
    learnt = Learnt()
    found: dict[Written, list[tuple[int, Atoms]]] = {}
    for turn in range(_MAX_TURNS):
        is_last = turn + 1 == _MAX_TURNS
        found = _atoms_of(asked, module, project, learnt)
        if is_last or not learnt.conclude():
            break
    shown = [
        Shown(function, one.line, RETURNED if id(one.value) in returned else one.text, *shape)
        for function, written in asked.items()
        for returned in [{id(event.value) for event in function.flow.of(EventKind.RETURN)}]
        for one in written
        if (one.is_target or id(one.value) in returned) and (shape := _of_calls(found.get(one, []))) is not None
    ]
    return sorted(dict.fromkeys(shown), key=lambda one: one.line)


def _atoms_of(
    asked: dict[Function, list[Written]], module: ModuleFacts, project: Project, learnt: Learnt
) -> dict[Written, list[tuple[int, Atoms]]]:
    """The atoms of expressions in one run of a file, in each call of their functions, with its depth."""
    run, theory = tensor_run(project, Presumed, Frames)
    theory.learnt = learnt
    objects: dict[Class, Shell] = {}
    found: dict[Written, list[tuple[int, Atoms]]] = {}
    try:
        for function in module.placed.values():
            follow(function, objects, run)
            for frame in run.of(Frames).take():
                theory.learn(frame)
                for one in asked.get(frame.function, ()) if frame.function is not None else ():
                    if is_of_frame(one, frame):
                        run.begin()
                        atoms = run.evaluate_at(Event(EventKind.READ, one.value, guard=one.guard), frame)
                        found.setdefault(one, []).append((len(frame.trail), theory.as_tensors(atoms)))
    except ExhaustedError as error:
        project.budget.cut[error.question] = None
    return found


def _of_calls(values: list[tuple[int, Atoms]]) -> tuple[str, str] | None:
    """The shape and the type of a value, of those in several calls, each with its depth; None for what is no tensor.

    The call that nobody makes decides, if it knows the rank; otherwise what the others have in common.
    """
    least = min((depth for depth, _ in values), default=0)
    root = _of_atoms(dict.fromkeys(atom for depth, atoms in values if depth == least for atom in atoms))
    if root is None or not (root[0] == UNKNOWN or "*" in root[0].strip("[]").split(", ")):
        return root
    return _of_atoms(dict.fromkeys(atom for depth, atoms in values if depth > least for atom in atoms)) or root


def _of_atoms(atoms: Collection[Atom]) -> tuple[str, str] | None:
    atoms = [atom for atom in atoms if atom != Constant(None)]
    tensors = [atom for atom in atoms if isinstance(atom, Shaped)]
    if not tensors:
        return None
    dtypes = {one.dtype for one in tensors}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    shape = common([one.shape for one in tensors])
    is_known = len(tensors) == len(atoms) and (shape.star is None or shape.least_rank > 0)
    return str(shape) if is_known else UNKNOWN, dtype or ""
