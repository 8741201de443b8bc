"""The names below a dotted name, as a configuration writes them: of the project, of installed and described packages.

Modules are read as text, and nothing is imported. Only the module that is asked about is read.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from modellint import knowledge
from modellint.graph.definitions import DefinedClass, DefinedFunction, DefinedModule, External
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Dialect
from modellint.knowledge import libraries, surface
from modellint.knowledge.catalogue import Catalogue, catalogue
from modellint.link.recipes.pairing import scripts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from modellint.graph.definitions import Definition
    from modellint.graph.python import Class, ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project

#: Through how many modules a name of an installed package is followed.
_MOST_HOPS = 12
#: How deep folders are looked into for modules, and how many of each.
_DEEPEST, _MOST_FOLDERS = 2, 20


class NameKind(Enum):
    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Name:
    """A name below another one. `is_own`: the module defines it, or it is a module itself; else it passes it on."""

    text: str
    kind: NameKind
    is_own: bool = True


def near(recipe: Recipe, project: Project) -> tuple[Path, ...]:
    """The files from which the names in a recipe are resolved: its scripts, and itself."""
    scripts = scripts_of(recipe, project).scripts if recipe.dialect is Dialect.HYPERPYYAML else ()
    return (*scripts, recipe.file)


def names_below(owner: str, files: Sequence[Path], project: Project) -> list[Name]:
    """The names below a dotted name, as the files import it; the packages themselves for an empty one."""
    found: dict[str, Name] = {}
    for file in files:
        for name in _top(file, project) if not owner else _below(owner, file, project):
            known = found.get(name.text)
            if known is None or (name.is_own and not known.is_own):
                found[name.text] = name
    return list(found.values())


def definition_of(name: str, files: Sequence[Path], project: Project) -> Definition | None:
    """The definition of a dotted name, as the first of the files imports it that can; read from installed packages."""
    last: Definition | None = None
    for file in files:
        found = project.names.absolute(name, file)
        if isinstance(found, External):
            found = (
                installed_definition(found.name, file, project) or installed_definition(name, file, project) or found
            )
        if found is not None and not isinstance(found, External):
            return found
        last = last or found
    return last


def installed_definition(name: str, file: Path, project: Project) -> Definition | None:
    """The definition of a name in the source of a package that is installed; None if it is not to be found there."""
    for _ in range(_MOST_HOPS):
        step = _step(name, file, project)
        if not isinstance(step, str):
            return step
        name = step
    return None


def _step(name: str, file: Path, project: Project) -> Definition | str | None:
    """The definition of a name in the module that its beginning names, or the name that this has it from."""
    parts = name.split(".")
    for base in project.names.path.holding(parts[0], file):
        located = project.names.path.locate(base, parts)
        module = project.python(located[0]) if located is not None else None
        if located is None or module is None:
            continue
        rest = parts[located[1] :]
        if not rest:
            return DefinedModule(module)
        return _member(module, rest, file, project)
    return None


def _member(module: ModuleFacts, rest: list[str], file: Path, project: Project) -> Definition | str | None:
    cls = module.classes.get(rest[0])
    if cls is not None:
        method = cls.methods.get(rest[1]) if len(rest) == 2 else None
        return DefinedClass(cls) if len(rest) == 1 else None if method is None else DefinedFunction(method)
    if rest[0] in module.functions:
        return DefinedFunction(module.functions[rest[0]]) if len(rest) == 1 else None
    if rest[0] in module.imports:
        return ".".join((module.imports[rest[0]], *rest[1:]))
    for star in module.star_imports:
        found = _module(star, file, project)
        if found is not None and _offers(found, rest[0], file, project, 0):
            return ".".join((star, *rest))
    return None


def _module(name: str, file: Path, project: Project) -> ModuleFacts | None:
    parts = name.split(".")
    for base in project.names.path.holding(parts[0], file):
        located = project.names.path.locate(base, parts)
        if located is not None and located[1] == len(parts):
            return project.python(located[0])
    return None


def _offers(module: ModuleFacts, name: str, file: Path, project: Project, depth: int) -> bool:
    if name in module.classes or name in module.functions or name in module.imports:
        return True
    stars = (_module(star, file, project) for star in module.star_imports) if depth < _MOST_HOPS else ()
    return any(_offers(one, name, file, project, depth + 1) for one in stars if one is not None and one is not module)


# -- lists of names ----------------------------------------------------------------------------------------------------


def _top(file: Path, project: Project) -> Iterator[Name]:
    path = project.names.path
    for name in sorted(path.beside(file)):
        bases = path.holding(name, file)[:1]
        if any(project.files.exists(base / f"{name}.py") or _has_modules(base / name, project, 0) for base in bases):
            yield Name(name, NameKind.MODULE)
    for name in knowledge.PACKAGES:
        yield Name(name, NameKind.MODULE)
    for library in libraries.LIBRARIES:
        for name in library.packages:
            yield Name(name, NameKind.MODULE, is_own=False)
    for folder in path.packages:
        for name in project.files.listdir(folder):
            stem, _, suffix = name.partition(".")
            if stem.isidentifier() and not stem.startswith("_") and suffix in ("", "py"):
                yield Name(stem, NameKind.MODULE, is_own=False)


def _below(owner: str, file: Path, project: Project) -> Iterator[Name]:
    match definition_of(owner, (file,), project):
        case DefinedModule(module):
            yield from _of_module(module, project)
        case DefinedClass(cls):
            yield from _of_class(cls, project)
        case None:
            yield from _of_folder(owner, file, project)
        case External():
            yield from _of_folder(owner, file, project)
    yield from _described_names(owner)


def _of_module(module: ModuleFacts, project: Project) -> Iterator[Name]:
    exported = project.names.exported(module)

    def is_public(name: str) -> bool:
        return name in exported if exported is not None and name.startswith("_") else not name.startswith("_")

    for name in module.classes:
        if "." not in name and is_public(name):
            yield Name(name, NameKind.CLASS)
    for name in module.functions:
        if "." not in name and is_public(name):
            yield Name(name, NameKind.FUNCTION)
    for name in module.imports:
        is_passed_on = module.is_package or (exported is not None and name in exported)
        if is_passed_on and "." not in name and is_public(name):
            yield Name(name, NameKind.CLASS if name[:1].isupper() else NameKind.VALUE, is_own=False)
    if module.is_package:
        yield from _in_folder(module.file.parent, project)


def _of_class(cls: Class, project: Project) -> Iterator[Name]:
    inside = f"{cls.qualname}."
    for name in cls.module.classes:
        if name.startswith(inside) and "." not in name[len(inside) :]:
            yield Name(name[len(inside) :], NameKind.CLASS)
    for base in project.classes.model(cls).mro():
        for name, method in base.cls.methods.items() if base.cls is not None else ():
            if (method.is_static or method.is_class_method) and not name.startswith("_"):
                yield Name(name, NameKind.FUNCTION, is_own=base.cls is cls)


def _of_folder(owner: str, file: Path, project: Project) -> Iterator[Name]:
    """The modules in a folder that is a package without `__init__.py`."""
    parts = owner.split(".")
    for base in project.names.path.holding(parts[0], file):
        folder = base.joinpath(*parts)
        if project.files.is_dir(folder):
            yield from _in_folder(folder, project)


def _in_folder(folder: Path, project: Project) -> Iterator[Name]:
    for name in project.files.listdir(folder):
        stem, _, suffix = name.partition(".")
        if not stem.isidentifier() or stem.startswith("__"):
            continue
        if suffix == "py" or (not suffix and _has_modules(folder / name, project, 0)):
            yield Name(stem, NameKind.MODULE)


def _has_modules(folder: Path, project: Project, depth: int) -> bool:
    """True if a folder, or one of a few in it, has Python files."""
    names = project.files.listdir(folder)
    if any(name.endswith(".py") for name in names):
        return True
    inner = [name for name in names if "." not in name and name.isidentifier() and depth < _DEEPEST]
    return any(_has_modules(folder / name, project, depth + 1) for name in inner[:_MOST_FOLDERS])


def _described_names(owner: str) -> Iterator[Name]:
    """The names that the shipped facts know."""
    yield from _of_library(owner)
    known = catalogue(owner.partition(".")[0]) if owner else None
    if known is None:
        return
    for name in sorted(surface.module_names(owner) or ()) if owner.startswith("torch") else ():
        if not name.startswith("_"):
            yield Name(name, NameKind.CLASS if name[:1].isupper() else NameKind.FUNCTION, is_own=False)
    owner = known.redirected(owner)
    module = known.module(owner)
    for name in sorted(known.submodules(owner)):
        if not name.startswith("_"):
            yield Name(name, NameKind.MODULE)
    if module is None:
        yield from _of_earlier(owner, known)
        return
    for name in sorted(module.classes):
        yield Name(name, NameKind.CLASS)
    for name in sorted(module.functions):
        if not name.startswith("_") and name not in module.classes:
            yield Name(name, NameKind.FUNCTION)


def _of_earlier(owner: str, known: Catalogue) -> Iterator[Name]:
    """The names of a module that only the releases before the described ones have."""
    earlier = known.earlier
    for name in sorted(earlier.names(owner)) if earlier is not None else ():
        if name == "*" or name.startswith("_") or earlier is None:
            continue
        is_class = earlier.is_class(f"{owner}.{name}")
        if is_class is not None:
            yield Name(name, NameKind.CLASS if is_class else NameKind.FUNCTION)


def _of_library(owner: str) -> Iterator[Name]:
    """The names of a module of a library in its newest described release; the sign of each goes by its case."""
    home = libraries.library_of(owner)
    known = _names_of(home.distribution) if home is not None else {}
    for name in known.get(owner, ()):
        if name.startswith("_"):
            continue
        is_class = name[:1].isupper() and not name.isupper()
        kind = NameKind.CLASS if is_class else NameKind.VALUE if name.isupper() else NameKind.FUNCTION
        yield Name(name, NameKind.MODULE if f"{owner}.{name}" in known else kind, is_own=kind is not NameKind.VALUE)


@cache
def _names_of(distribution: str) -> dict[str, tuple[str, ...]]:
    """The names of each module of a library, modules in it among them."""
    home = next(one for one in libraries.LIBRARIES if one.distribution == distribution)
    mirrored = [libraries.library_of(other) for _, other in home.mirrors]
    found: dict[str, dict[str, None]] = {}
    for one in dict.fromkeys(filter(None, (home, *mirrored))):
        known = libraries.library(one.distribution)
        for full in known.names(known.releases[0]):
            while "." in full:
                full, _, name = full.rpartition(".")
                found.setdefault(full, {})[name] = None
    for own, other in home.mirrors:
        found.setdefault(own.rpartition(".")[0], {})[own.rpartition(".")[2]] = None
        inside = [module for module in found if module == other or module.startswith(f"{other}.")]
        for module in inside:
            found.setdefault(own + module[len(other) :], {}).update(found[module])
    return {module: tuple(sorted(names)) for module, names in found.items()}
