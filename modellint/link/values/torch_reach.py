"""A filter of files that can use torch: the others are not interpreted at all.

A file can if it, or a file that it imports, mentions torch, imports another package with operators or facts,
calls a method that only tensors have, or has a class that may be a layer. A file that cannot be read
counts, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint import knowledge, operators
from modellint.knowledge import codecs
from modellint.link.classes.calls import is_standard

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.graph.python import ModuleFacts
    from modellint.link.project import Project

_TORCH = "torch"
#: Imports inside of functions, which outlines do not list; and words of imports by a computed name.
_INNER = re.compile(r"^[ \t]+(?:from[ \t]+([.\w]+)[ \t]+import\b|import[ \t]+([^\n#;]+))", re.MULTILINE)
_BY_NAME = ("importlib", "__import__")
#: Calls of methods with an underscore in their names: numpy's arrays have no such methods.
_METHODS = re.compile(r"\.([a-z]\w*_\w*)\(")


def reaches_torch(module: ModuleFacts, project: Project) -> bool:
    """True if a file, or one that it imports, may use torch, or if rule packs bring theories of their own."""
    if _TORCH in module.text or project.options.theories:
        return True
    return project.once(("reaches torch", module), lambda: _reaches(module, project))


def _reaches(module: ModuleFacts, project: Project) -> bool:
    seen, pending = {module.file}, [module]
    for one in pending:
        if _is_source(one, project):
            return True
        for name in dict.fromkeys(_imported_names(one)):
            files = _files(name, one, project)
            if files is None:
                return True
            for file in files:
                if file not in seen:
                    seen.add(file)
                    other = project.python(file)
                    if other is None:
                        return True
                    pending.append(other)
    return False


def _is_source(module: ModuleFacts, project: Project) -> bool:
    """True if the file itself mentions torch, imports by a computed name, or has a class that may be a layer."""
    if _TORCH in module.text or any(word in module.text for word in _BY_NAME):
        return True
    if any(operators.row(f"Tensor.{name}") is not None for name in _METHODS.findall(module.text)):
        return True
    return any(project.classes.model(cls).is_module is not False for cls in module.classes.values())


def _imported_names(module: ModuleFacts) -> Iterator[str]:
    """The absolute dotted names that a file imports; a relative one begins with a dot."""
    yield from module.imports.values()
    yield from module.star_imports
    for source, names in _INNER.findall(module.text):
        yield from [source] if source else (name.split()[0] for name in names.split(",") if name.strip())


def _files(name: str, importing: ModuleFacts, project: Project) -> list[Path] | None:
    """The files of the project that an import reads, packages before their modules; None if it may reach torch.

    Empty for the standard library, numpy, and packages that are neither found nor described.
    """
    parts = name.split(".")
    if is_standard(parts[0]) or parts[0] == "numpy":
        return []
    path = project.names.path
    folders = path.holding(parts[0], importing.file) if parts[0] else ()
    if not folders:
        return None if not parts[0] or _is_known(parts[0]) else []
    found = (path.locate(folder, parts[:length]) for folder in folders for length in range(1, len(parts) + 1))
    files = list(dict.fromkeys(one[0] for one in found if one is not None))
    is_read = bool(files) and not any(folder in path.site_packages for folder in folders)
    return files if is_read else None


def _is_known(top: str) -> bool:
    """True if operators, shipped facts or codecs describe a package."""
    if top in knowledge.PACKAGES or top in codecs.PACKAGES or knowledge.METRICS.startswith(f"{top}."):
        return True
    return any(row.name.startswith(f"{top}.") for row in operators.rows())
