"""Running a theory of a rule pack over one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from modellint.flow.pack_theories import GuardedTheory
from modellint.flow.runs import follow, tensor_run
from modellint.flow.table_reads import TableReads
from modellint.flow.theory import Theory
from modellint.link.budget import LeftOutError

if TYPE_CHECKING:
    from modellint.flow.heap import Shell
    from modellint.graph.python import Class, ModuleFacts
    from modellint.link.project import Project

Known = TypeVar("Known", bound=Theory)


def theory_of(module: ModuleFacts, kind: type[Known], project: Project) -> Known:
    """Run each function of a file with unknown arguments, and return the theory. Raises LeftOutError if it failed."""
    run, _ = tensor_run(project, TableReads)
    guards = (theory for theory in run.theories if isinstance(theory, GuardedTheory) and theory.brought.kind is kind)
    guard = next(guards, None)
    if guard is None:
        raise LeftOutError(kind)
    objects: dict[Class, Shell] = {}
    for function in (*module.all_functions(), module.body):
        follow(function, objects, run)
    return cast("Known", guard.theory)
