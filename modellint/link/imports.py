"""Which files of a project import each other, and the folder of the program that a file belongs to.

A program is what imports connect: a file, the files that import it, those that import these, and what all of them
import. A repository may hold many programs, each in a folder of its own with a script that starts it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.graph.value import Op
from modellint.link.searched import paths_mentioning, root_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project

#: A program of more files than this counts as the whole project.
_MAX_FILES = 100


def program_folder(near: ModuleFacts, project: Project) -> Path:
    """The nearest folder above a file that holds a script that starts it, and what imports connect with its folder."""
    folder, root = near.file.parent, root_of(project, near.file)
    return project.once(("program", folder, root), lambda: _find_program(near, root, project))


def _find_program(near: ModuleFacts, root: Path, project: Project) -> Path:
    folder = near.file.parent
    while root in folder.parents:
        connected = _connected_folder(folder, root, project)
        if any(_is_entry(path, project) for path in _below(connected, paths_mentioning(project, near, "__main__"))):
            return connected
        folder = connected.parent
    return root


def _connected_folder(folder: Path, root: Path, project: Project) -> Path:
    """The folder of all files that imports connect with the files of one folder."""
    seen: set[Path] = set()
    pending = [folder / name for name in sorted(project.files.listdir(folder)) if name.endswith(".py")]
    while pending and folder != root:
        path = pending.pop()
        module = None if path in seen else project.python(path)
        seen.add(path)
        if len(seen) > _MAX_FILES:
            return root
        if module is not None:
            callers = list(_possible_importers(module, project))
            linked = (*_imports_of(module, project).values(), *(path.parent for path in callers))
            folder = Path(os.path.commonpath([folder, *(one for one in linked if one == root or root in one.parents)]))
            pending += callers
    return folder


def is_apart(module: ModuleFacts, project: Project) -> bool:
    """True if a file is a script that imports no other file of the project, and none imports it."""
    return _is_script(module) and not _imports_of(module, project) and not _is_imported(module, project)


def _is_entry(path: Path, project: Project) -> bool:
    """True if a file is a script that imports files of the project, and no other file imports it."""
    module = project.python(path)
    if module is None or not _is_script(module) or not _imports_of(module, project):
        return False
    return not _is_imported(module, project)


def _is_script(module: ModuleFacts) -> bool:
    """True if a file runs something where it is not imported: `if __name__ == "__main__":`."""
    guards = {id(event.guard): event.guard for event in module.body.flow.events if event.guard is not None}
    tests = (link.test for guard in guards.values() for link in guard.chain())
    return any(part.op is Op.GLOBAL and part.data == "__name__" for test in tests for part in test.walk())


def _is_imported(module: ModuleFacts, project: Project) -> bool:
    others = map(project.python, _possible_importers(module, project))
    return any(module.file in _imports_of(other, project) for other in others if other is not None)


def _imports_of(module: ModuleFacts, project: Project) -> dict[Path, Path]:
    """The files and packages of the project that a file imports, each with the folder in which its name is found."""
    return project.once(("imported", module.file), lambda: dict(_find_imports(module, project)))


def _find_imports(module: ModuleFacts, project: Project) -> Iterator[tuple[Path, Path]]:
    search = project.names.path
    stars = ((None, name) for name in module.star_imports)
    for local, name in (*module.imports.items(), *stars):
        parts = name.split(".")
        base = next(iter(search.holding(parts[0], module.file)), None)
        if base is None or base in search.site_packages:
            continue
        located = search.locate(base, parts)
        file = base / parts[0] if located is None else located[0]
        if file != module.file:
            yield file, file.parent if local in module.relative else base


def _possible_importers(module: ModuleFacts, project: Project) -> Iterator[Path]:
    """The other files that mention each part of the name by which they would import a file."""
    root, file = root_of(project, module.file), module.file
    folders = file.relative_to(root).parent.parts
    parts = [*folders, *(() if module.is_package else (file.stem,))]
    base, inner = file.parent, None
    for at in range(len(folders), -1, -1):
        words = parts[at:] or parts[-1:]
        for path in paths_mentioning(project, module, *words) if words else ():
            if path != file and base in path.parents and inner not in path.parents:
                yield path
        base, inner = base.parent, base


def _below(folder: Path, paths: tuple[Path, ...]) -> Iterator[Path]:
    return (path for path in paths if folder in path.parents)
