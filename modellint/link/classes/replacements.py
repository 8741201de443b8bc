"""Replacements of a library's code by a project: files copied over the library's, and replaced methods.

A file that is copied over one of a library's stands in the project where it cannot run: most of its relative imports
lead to no file. A method is replaced by assigning a function to an attribute of the library's class.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.graph.value import EventKind, Op
from modellint.link.names import DefinedFunction, External
from modellint.link.searched import mentioning

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.graph.python import Class, Function, ModuleFacts
    from modellint.graph.value import Event, Value
    from modellint.link.project import Project

_RELATIVE = re.compile(r"^from[ \t]+(\.+)([\w.]*)[ \t]+import\b", re.MULTILINE)


def copies(project: Project, name: str, near: ModuleFacts) -> tuple[Class, ...]:
    """The classes called `name` in files that are copied over a library's file, as seen from the file `near`."""
    last = name.rpartition(".")[2]
    found = (module for module in mentioning(project, near, f"class {last}") if last in module.classes)
    return tuple(module.classes[last] for module in found if module is not near and _is_out_of_place(module, project))


def replaced(project: Project, library: str, near: ModuleFacts) -> tuple[Function, ...]:
    """The functions of a project that replace functions or methods of a library."""
    return project.once(
        ("replaced", library, near.file.parent),
        lambda: tuple(dict.fromkeys(_find_replacements(project, library, near))),
    )


def _find_replacements(project: Project, library: str, near: ModuleFacts) -> Iterator[Function]:
    for module in mentioning(project, near, library):
        for function in (*module.all_functions(), module.body):
            for target, value in map(_attribute_store, function.flow.events):
                if target is None or value is None:
                    continue
                owner, new = (project.names.definition(module, part) for part in (target, value))
                is_theirs = isinstance(owner, External) and owner.name.partition(".")[0] == library
                if is_theirs and isinstance(new, DefinedFunction):
                    yield new.function


def _attribute_store(event: Event) -> tuple[Value, Value] | tuple[None, None]:
    """The object whose attribute an event sets, and the new value: `Owner.name = value`, `setattr(Owner, …)`."""
    if event.kind is EventKind.STORE and event.target is not None and event.target.op is Op.ATTR:
        return event.target.args[0], event.value
    call = event.value
    if event.kind is EventKind.CALL and call.callee.op is Op.GLOBAL and call.callee.data == "setattr":
        return (call.positional[0], call.positional[2]) if len(call.positional) == 3 else (None, None)
    return None, None


def _is_out_of_place(module: ModuleFacts, project: Project) -> bool:
    """True if a file cannot run where it stands: most of its relative imports lead to no file."""
    found = [_leads_somewhere(module.file, len(dots), rest, project) for dots, rest in _RELATIVE.findall(module.text)]
    return found.count(False) > found.count(True)


def _leads_somewhere(file: Path, dots: int, rest: str, project: Project) -> bool:
    if dots > len(file.parents):
        return False
    target = file.parents[dots - 1].joinpath(*filter(None, rest.split(".")))
    return project.files.is_dir(target) or project.files.exists(target.with_name(f"{target.name}.py"))
