"""The shapes of the tensors on the lines of a file, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from modellint.flow.reveal import Frames, is_of_frame
from modellint.flow.runs import follow, tensor_run
from modellint.flow.shapes.atoms import Shaped
from modellint.flow.shapes.shape import common
from modellint.flow.shapes.theory import Shapes
from modellint.frontends.written_expressions import written_expressions
from modellint.graph.value import Event, EventKind
from modellint.link.budget import ExhaustedError

if TYPE_CHECKING:
    from collections.abc import Collection

    from modellint.flow.domain import Atom, Atoms
    from modellint.flow.heap import Shell
    from modellint.flow.shapes.shape import Shape
    from modellint.frontends.written_expressions import Written
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.link.project import Project

#: What is shown for a tensor of which no dimension is known, and the name of what a function returns.
UNKNOWN, RETURNED = "?", "return"


class _Lines(Shapes):
    """The theory for lines: each stands for all turns of a loop."""

    unrolls = False


class Shown(NamedTuple):
    """A variable that is assigned on a line, from 1, or what is returned there, and its shape in words: `[b, 64]`.

    `dtype` is the type of its elements, or a kind such as `float`; empty if unknown.
    """

    function: Function
    line: int
    name: str
    shape: str
    dtype: str


class Known(NamedTuple):
    """A tensor that an expression assigns or returns: its shape, None if unknown, and the type of its elements.

    `is_of_root` if the call that nobody makes tells it, rather than what the calls in the file have in common.
    """

    function: Function
    written: Written
    name: str
    shape: Shape | None
    dtype: str
    is_of_root: bool


def shapes_on_lines(module: ModuleFacts, project: Project, functions: Collection[Function]) -> list[Shown]:
    """The shapes of the tensors that some functions of a file assign and return, in the order of lines.

    Nothing else has been asked of the project about the file.
    """
    shown = [
        Shown(one.function, one.written.line, one.name, UNKNOWN if one.shape is None else str(one.shape), one.dtype)
        for one in tensors_on_lines(module, project, functions)
    ]
    return sorted(dict.fromkeys(shown), key=lambda one: one.line)


def tensors_on_lines(module: ModuleFacts, project: Project, functions: Collection[Function]) -> list[Known]:
    """The tensors that some functions of a file assign and return. Nothing else has been asked about the file."""
    asked: dict[Function, list[Written]] = {one: written_expressions(one) for one in functions}
    run, _ = tensor_run(project, _Lines, Frames)
    objects: dict[Class, Shell] = {}
    found: dict[Written, list[tuple[int, Atoms]]] = {}
    try:
        for function in module.placed.values():
            follow(function, objects, run)
            for frame in run.of(Frames).take():
                for one in asked.get(frame.function, ()) if frame.function is not None else ():
                    if is_of_frame(one, frame):
                        run.begin()
                        atoms = run.evaluate_at(Event(EventKind.READ, one.value, guard=one.guard), frame)
                        found.setdefault(one, []).append((len(frame.trail), atoms))
    except ExhaustedError as error:
        project.budget.cut[error.question] = None
    return [
        Known(function, one, RETURNED if one.is_returned else one.text, *known)
        for function, written in asked.items()
        for one in written
        if (one.is_target or one.is_returned) and (known := _of_calls(found.get(one, []))) is not None
    ]


def _of_calls(values: list[tuple[int, Atoms]]) -> tuple[Shape | None, str, bool] | None:
    """The shape and the type of a value, of those in several calls, each with its depth; None for what is no tensor.

    The call that nobody makes decides, if it knows the rank; otherwise what the others have in common.
    """
    least = min((depth for depth, _ in values), default=0)
    root = _of_atoms(dict.fromkeys(atom for depth, atoms in values if depth == least for atom in atoms))
    if root is None or (root[0] is not None and root[0].star is None):
        return root and (*root, True)
    others = _of_atoms(dict.fromkeys(atom for depth, atoms in values if depth > least for atom in atoms))
    return (*root, True) if others is None or others[0] is None else (*others, False)


def _of_atoms(atoms: Collection[Atom]) -> tuple[Shape | None, str] | None:
    tensors = [atom for atom in atoms if isinstance(atom, Shaped)]
    if not tensors:
        return None
    dtypes = {one.dtype for one in tensors}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    shape = common([one.shape for one in tensors])
    if len(tensors) < len(atoms):
        return None, ""
    return shape if shape.star is None or shape.least_rank > 0 else None, dtype or ""
