"""The tensors in the code of a file, with their shapes in words, for people."""

from __future__ import annotations

from contextlib import suppress
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
    from modellint.flow.shapes.shape import Shape
    from modellint.frontends.written_expressions import Written
    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.link.project import Project
    from modellint.source import Span

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


class Known(NamedTuple):
    """A tensor that an expression is: its shape, None if unknown, and the type of its elements; empty if unknown.

    `is_of_root` if the call that nobody makes tells it, rather than the calls in the file: it is so in any call.
    """

    function: Function
    written: Written
    shape: Shape | None
    dtype: str
    is_of_root: bool

    @property
    def name(self) -> str:
        return RETURNED if self.written.is_returned else self.written.text

    @property
    def words(self) -> str:
        """The shape as it is shown."""
        return UNKNOWN if self.shape is None else str(self.shape)


class TensorExpression(NamedTuple):
    """An expression that is a tensor, where it stands, with its shape and type as in `Shown`.

    `annotated` is the span of a variable with its annotation; None without one.
    """

    name: str
    span: Span
    annotated: Span | None
    shape: str
    dtype: str
    is_target: bool
    is_returned: bool

    @property
    def words(self) -> str:
        """`[b, 64] float32`."""
        return f"{self.shape} {self.dtype}".rstrip()


def shapes_on_lines(module: ModuleFacts, project: Project, functions: Collection[Function]) -> list[Shown]:
    """The shapes of the tensors that some functions of a file assign and return, in the order of lines."""
    shown = [
        Shown(one.function, one.written.line, one.name, one.words, one.dtype)
        for one in tensors_on_lines(module, project, functions)
    ]
    return sorted(dict.fromkeys(shown), key=lambda one: one.line)


def tensors_on_lines(module: ModuleFacts, project: Project, functions: Collection[Function]) -> list[Known]:
    """The tensors that some functions of a file assign and return."""
    found = _tensors(module, project, functions)
    return [one for one in found if one.written.is_target or one.written.is_returned]


def tensors_in(module: ModuleFacts, project: Project) -> list[TensorExpression]:
    """The expressions of a file that are tensors, in order."""
    found = [_with_place(one, module) for one in _tensors(module, project, module.placed.values())]
    return sorted(found, key=lambda one: one.span)


def _tensors(module: ModuleFacts, project: Project, functions: Collection[Function]) -> list[Known]:
    """The tensors in some functions.

    The bodies and runs that the project holds of the file are let go first: those runs are about values of bodies that
    are lowered anew here.
    """
    project.release_bodies(module)
    try:
        asked, learnt = {one: written_expressions(one) for one in functions}, Learnt()
        values = _values_of(asked, module, project, learnt)
        return [
            Known(function, one, *known[:2], known[2] and function not in learnt.of_calls)
            for function, written in asked.items()
            for one in written
            if (known := _of_calls(values.get(one, []))) is not None
        ]
    finally:
        project.release_bodies(module)


def _values_of(
    asked: dict[Function, list[Written]], module: ModuleFacts, project: Project, learnt: Learnt
) -> dict[Written, list[tuple[int, Atoms]]]:
    """The values of expressions in all calls of their functions, each with the call's depth."""
    found: dict[Written, list[tuple[int, Atoms]]] = {}
    with suppress(ExhaustedError):
        for _ in range(_MAX_TURNS):
            found = _values_in_run(asked, module, project, learnt)
            if not learnt.conclude():
                break
    return found


def _values_in_run(
    asked: dict[Function, list[Written]], module: ModuleFacts, project: Project, learnt: Learnt
) -> dict[Written, list[tuple[int, Atoms]]]:
    """The values of expressions in one run of a file, with what was learnt in the runs before."""
    run, theory = tensor_run(project, Presumed, Frames)
    theory.learnt = learnt
    objects: dict[Class, Shell] = {}
    found: dict[Written, list[tuple[int, Atoms]]] = {}
    for function in module.placed.values():
        project.budget.spend()
        follow(function, objects, run)
        for frame in run.of(Frames).take():
            theory.learn(frame)
            for one in asked.get(frame.function, ()) if frame.function is not None else ():
                if is_of_frame(one, frame):
                    run.begin()
                    atoms = run.evaluate_at(Event(EventKind.READ, one.value, guard=one.guard), frame)
                    found.setdefault(one, []).append((len(frame.trail), theory.as_tensors(atoms)))
    return found


def _with_place(known: Known, module: ModuleFacts) -> TensorExpression:
    """A tensor with the place of its expression."""
    one, spanned = known.written, module.source.span_of_bytes
    start = (one.line, one.offset)
    annotated = None if one.annotated_end is None else spanned(*start, *one.annotated_end)
    span = spanned(*start, *one.end)
    return TensorExpression(one.text, span, annotated, known.words, known.dtype, one.is_target, one.is_returned)


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
    atoms = [atom for atom in atoms if atom != Constant(None)]
    tensors = [atom for atom in atoms if isinstance(atom, Shaped)]
    if not tensors:
        return None
    dtypes = {one.dtype for one in tensors}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    shape = common([one.shape for one in tensors])
    if len(tensors) < len(atoms):
        return None, ""
    return shape if shape.star is None or shape.least_rank > 0 else None, dtype or ""
