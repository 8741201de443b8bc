"""Lengths of sine and cosine position tables in each function of a file, and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.flow.lengths import Lengths
from modellint.flow.runs import follow, tensor_run
from modellint.flow.sine_tables import sine_tables
from modellint.link.values.unread_tables import asking, note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.flow.heap import Shell
    from modellint.flow.length_terms import FunctionTables
    from modellint.graph.python import Class, ModuleFacts
    from modellint.link.project import Project


class PositionLengths:
    """Finds position tables and their lengths; one object per checked file."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._found: dict[ModuleFacts, list[FunctionTables]] = {}
        #: The questions whose budget ran out.
        self._cut: dict[ModuleFacts, dict[str, None]] = {}

    def asked(self, module: ModuleFacts) -> list[FunctionTables]:
        """The tables and lengths of each function of a file that may lead to a position table."""
        if module not in self._found:
            self._found[module] = list(self._find_tables(module))
        self._project.budget.cut.update(self._cut.get(module, {}))
        return self._found[module]

    def _find_tables(self, module: ModuleFacts) -> Iterator[FunctionTables]:
        functions = sine_tables(module, self._project).roots()
        unread = {function: calls for function in module.all_functions() if (calls := asking(function))}
        if not functions and not unread:
            return
        run, lengths = tensor_run(self._project, Lengths)
        objects: dict[Class, Shell] = {}
        for function in dict.fromkeys((*functions, *unread)):
            found = lengths.ask(function)
            follow(function, objects, run)
            if function in unread and not found.sized:
                note(unread[function], found, run, lengths)
            yield found
        self._cut[module] = run.cut
        run.close()
