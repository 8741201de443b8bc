"""The files that run beside a layer of a script which no other file can import."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.flow import queries
from modellint.graph.definitions import DefinedClass, DefinedConstant, DefinedFunction, DefinedModule

if TYPE_CHECKING:
    from pathlib import Path

    from modellint.graph.definitions import Definition
    from modellint.graph.python import ModuleFacts
    from modellint.rule import Project

#: The most files of a program.
_MAX_FILES = 20


def program_of(module: ModuleFacts, project: Project) -> set[Path] | None:
    """The files of the only program that runs the code of a file; None if there may be others, or more files.

    There is only one if the file's name is no name in Python, and no other file has it in a text.
    """
    words = re.findall(r"\w+", module.file.stem)
    if module.file.stem.isidentifier() or not words or queries.is_mentioned_elsewhere(module, project, *words):
        return None
    files = {module.file: module}
    pending = [module]
    while pending:
        importing = pending.pop()
        imported = [project.names.resolve(importing, name) for name in importing.imports]
        if importing.star_imports or None in imported or len(files) > _MAX_FILES:
            return None
        found = [home for one in imported if (home := _home(one)) is not None]
        pending += [one for one in found if one.file not in files]
        files.update((one.file, one) for one in found)
    return set(files)


def _home(definition: Definition | None) -> ModuleFacts | None:
    """The file that a definition stands in; None if it is in no file of the project."""
    if isinstance(definition, DefinedClass):
        return definition.cls.module
    if isinstance(definition, DefinedFunction):
        return definition.function.module
    return definition.module if isinstance(definition, DefinedConstant | DefinedModule) else None
