"""Who calls a function: looked for in its own file and in the files beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modellint.graph.value import EventKind

if TYPE_CHECKING:
    from modellint.graph.python import Function, ModuleFacts
    from modellint.link.project import Project

#: Folders with more Python files than this are collections, not programs: only the file itself is searched.
_MAX_FILES = 60


def callers(project: Project, function: Function) -> list[Function]:
    """The functions that call `function`, in its own file and in the other files of its folder."""
    return project.once(("callers", function), lambda: _callers(project, function))


def _callers(project: Project, function: Function) -> list[Function]:
    return [
        caller
        for module in neighbours(project, function.module, function.name)
        for caller in (*module.all_functions(), module.body)
        if caller is not function and function.name in caller.words and _calls(project, caller, function)
    ]


def neighbours(project: Project, own: ModuleFacts, mentioned: str) -> list[ModuleFacts]:
    """A file, and those of its folder that mention a name."""
    folder = own.file.parent
    names = [name for name in project.files.listdir(folder) if name.endswith(".py")]
    modules = [own]
    if len(names) > _MAX_FILES:
        return modules
    for name in names:
        path = folder / name
        if path != own.file and mentioned.encode() in (project.files.read(path) or b""):
            module = project.python(Path(path))
            if module is not None:
                modules.append(module)
    return modules


def _calls(project: Project, caller: Function, function: Function) -> bool:
    frame = project.evaluator.root(caller)
    for event in caller.flow.of(EventKind.CALL):
        inner = project.evaluator.call_frame(event.value, frame)
        if inner is not None and inner.function is function:
            return True
    return False
