"""Who calls a function: looked for in its own file and in the files beside it."""

from __future__ import annotations

import re
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
    word = re.compile(rf"\b{re.escape(function.name)}\b")
    return [
        caller
        for module in _neighbours(project, function)
        for caller in (*module.all_functions(), module.body)
        if caller is not function and word.search(caller.text) and _calls(project, caller, function)
    ]


def _neighbours(project: Project, function: Function) -> list[ModuleFacts]:
    own = function.module
    folder = own.file.parent
    names = [name for name in project.files.listdir(folder) if name.endswith(".py")]
    modules = [own]
    if len(names) > _MAX_FILES:
        return modules
    for name in names:
        path = folder / name
        if path != own.file and function.name.encode() in (project.files.read(path) or b""):
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
