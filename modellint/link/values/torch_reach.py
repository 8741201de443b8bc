"""Filters of files that can use torch, or its tables: the others are not interpreted for what they cannot hold.

A file can if it, or a file that it imports, mentions torch, imports another package with operators or facts,
calls a method that only tensors have, or has a class that may be a layer. A file that cannot be read
counts, too. It can use a table that takes whole numbers only if one of these files names such a table.
"""

from __future__ import annotations

import re
from functools import cache
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
_INNER_NAMES = re.compile(r"^[ \t]+from[ \t]+torch[.\w]*[ \t]+import\b([^\n#;]+)", re.MULTILINE)
_BY_NAME = ("importlib", "__import__")
#: Calls of methods with an underscore in their names: numpy's arrays have no such methods.
_METHODS = re.compile(r"\.([a-z]\w*_\w*)\(")


#: What the text of a file has in which classes may be registered that it does not import.
_REGISTERING = re.compile(r"regist|__init_subclass__", re.IGNORECASE)


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


def reaches_tables(module: ModuleFacts, project: Project) -> bool:
    """True if a file, or one that it imports, may make or call a table that refuses real numbers: `nn.Embedding`."""
    if _names_table(module) or project.options.theories:
        return True
    return project.once(("reaches tables", module), lambda: _leads_to_table(module, project))


def _leads_to_table(module: ModuleFacts, project: Project) -> bool:
    seen, pending = {module}, [module]
    for one in pending:
        beside = _beside(one, project)
        if beside is None:
            return True
        pending += beside - seen
        seen |= beside
    return False


def _names_table(module: ModuleFacts) -> bool:
    """True if the text of a file names a class or function of torch that looks up rows, and refuses real numbers.

    A function is named as an attribute or in an import, as variables have its name, too.
    """
    pattern, names, functions = _table_words()
    text = module.text
    if not any(name in text for name in names) and not module.star_imports:
        return False
    if pattern.search(text) or any(name.startswith(_TORCH) for name in module.star_imports):
        return True
    inside = (name.strip("(),") for names in _INNER_NAMES.findall(text) for name in names.split())
    imported = (name for name in module.imports.values() if name.startswith(_TORCH))
    return any(name.rpartition(".")[2] in functions for name in (*imported, *inside))


@cache
def _table_words() -> tuple[re.Pattern[str], frozenset[str], frozenset[str]]:
    """The pattern of a text that names a table, all names of tables, and those of the functions among them."""
    rows = list(operators.rows())
    classes = {row.name.rpartition(".")[2] for row in rows if "table" in row.facets}
    functions = {row.name.rpartition(".")[2] for row in rows if row.facets.keys() >= {"ids", "real"}}
    pattern = rf"\b(?:{'|'.join(sorted(classes))})\b|\.\s*(?:{'|'.join(sorted(functions))})\b"
    return re.compile(pattern), frozenset(classes | functions), frozenset(functions)


def _beside(module: ModuleFacts, project: Project) -> set[ModuleFacts] | None:
    """The files that one imports, and those in which classes may be registered.

    None if the file itself names a table, imports by a computed name, or a file that cannot be read.
    """
    return project.once(("beside", module), lambda: _find_beside(module, project))


def _find_beside(module: ModuleFacts, project: Project) -> set[ModuleFacts] | None:
    if _names_table(module) or any(word in module.text for word in _BY_NAME):
        return None
    files: list[Path] = []
    for name in dict.fromkeys(_imported_names(module)):
        found = [] if name.partition(".")[0] == _TORCH else _files(name, module, project)
        if found is None:
            return None
        files += found
    if _REGISTERING.search(module.text):
        folder = module.file.parent
        files += [folder / name for name in project.files.listdir(folder) if name.endswith(".py")]
    modules = [project.python(file) for file in dict.fromkeys(files)]
    return None if None in modules else {one for one in modules if one is not None}


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
    if name.startswith("."):
        return _relative_files(name, importing, project)
    parts = name.split(".")
    if is_standard(parts[0]) or parts[0] == "numpy":
        return []
    path = project.names.path
    folders = path.holding(parts[0], importing.file)
    if not folders:
        return None if _is_known(parts[0]) else []
    found = (path.locate(folder, parts[:length]) for folder in folders for length in range(1, len(parts) + 1))
    files = list(dict.fromkeys(one[0] for one in found if one is not None))
    is_read = bool(files) and not any(folder in path.site_packages for folder in folders)
    return files if is_read else None


def _relative_files(name: str, importing: ModuleFacts, project: Project) -> list[Path] | None:
    """The files of a relative import: those of the folder, where it names none; None if there are none."""
    rest = name.lstrip(".")
    folder = importing.file.parent
    for _ in range(len(name) - len(rest) - 1):
        folder = folder.parent
    if not rest:
        return [folder / one for one in project.files.listdir(folder) if one.endswith(".py")] or None
    found = (project.names.path.locate(folder, rest.split(".")[:length]) for length in range(1, rest.count(".") + 2))
    return list(dict.fromkeys(one[0] for one in found if one is not None)) or None


def _is_known(top: str) -> bool:
    """True if operators, shipped facts or codecs describe a package."""
    if top in knowledge.PACKAGES or top in codecs.PACKAGES or knowledge.METRICS.startswith(f"{top}."):
        return True
    return any(row.name.startswith(f"{top}.") for row in operators.rows())
