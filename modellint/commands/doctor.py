"""The command `modellint doctor`: the state of a project as a check sees it, and what it cannot read, with reasons."""

from __future__ import annotations

import os
import platform
import sys
from dataclasses import asdict, field
from typing import TYPE_CHECKING, Any

from modellint import knowledge
from modellint.commands.packages import known_packages, release_in
from modellint.graph.immutable import dataclass
from modellint.graph.value import dotted
from modellint.link.names import External
from modellint.link.project import Project, ProjectOptions
from modellint.reading.files import Files
from modellint.reading.paths import shown
from modellint.results.report import Inventory
from modellint.source import NOTEBOOK, PYTHON, UnreadableError, kind_of
from modellint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from modellint.config import Settings
    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe

#: Modules that are found by name though no file of a project defines them.
_ELSEWHERE = frozenset((*sys.stdlib_module_names, *knowledge.PACKAGES, "__main__"))
#: The number of users that are named for each unresolved name.
_USERS = 3


@dataclass(frozen=True, slots=True)
class Paired:
    """A recipe and the scripts that may load it: none, or several if nothing tells which one is meant."""

    path: str
    scripts: tuple[str, ...]
    reason: str


@dataclass(slots=True)
class Unresolved:
    """A name that is used but not resolved: a `package`, `module`, `class` or `file`, with the reason and its users."""

    kind: str
    name: str
    reason: str
    users: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Diagnosis:
    """The state of a project, as a check sees it. Paths are relative to the working directory."""

    settings: Settings
    interpreter: str | None
    site_packages: tuple[str, ...]
    packages: tuple[dict[str, str], ...]
    files: int
    inventory: Inventory
    recipes: tuple[Paired, ...]
    unresolved: tuple[Unresolved, ...]

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON-able values."""
        return {
            "version": __version__,
            "python": {"version": platform.python_version(), "executable": sys.executable},
            "root": self.settings.root.as_posix(),
            "configuration": None if self.settings.source is None else shown(self.settings.source),
            "interpreter": self.interpreter,
            "site_packages": list(self.site_packages),
            "packages": list(self.packages),
            "files": self.files,
            "inventory": self.inventory._asdict(),
            "recipes": [asdict(recipe) for recipe in self.recipes],
            "unresolved": [asdict(one) for one in self.unresolved],
        }


def examine(
    files: Sequence[Path], settings: Settings, on_progress: Callable[[int, int], None] = lambda done, total: None
) -> Diagnosis:
    """Read `files` as a check would, and diagnose them."""
    contents = Files(limit=settings.max_file_size)
    project = Project(ProjectOptions(settings.root, settings.python, settings.recipes), contents)
    found: dict[tuple[str, str], Unresolved] = {}
    recipes: list[Paired] = []
    inventory = Inventory()
    for number, path in enumerate(files, 1):
        on_progress(number, len(files))
        if kind_of(path.name) is None:
            inventory = inventory.plus(Inventory(models=1))
            continue
        data = contents.read(path)
        if data is None:
            oversized = contents.oversized(path)
            reason = "it cannot be read" if oversized is None else oversized.reason
            found["file", shown(path)] = Unresolved("file", shown(path), reason)
            continue
        try:
            if kind_of(path.name) == PYTHON:
                inventory = inventory.plus(_module(project.whole(path) or project.parsed(path, data), project, found))
            elif kind_of(path.name) == NOTEBOOK:
                inventory = inventory.plus(_notebook(path, data, project, found))
            else:
                inventory = inventory.plus(_recipe(path, data, project, found, recipes))
        except UnreadableError as error:
            reason = f"line {error.span.line}: {error.reason}"
            found["file", shown(path)] = Unresolved("file", shown(path), reason)
        except (RecursionError, MemoryError):
            found["file", shown(path)] = Unresolved("file", shown(path), "nested too deeply to be analysed")
    site_packages = project.names.path.site_packages
    return Diagnosis(
        settings,
        _interpreter(settings, site_packages),
        tuple(folder.as_posix() for folder in site_packages),
        tuple(
            {
                "name": package.name,
                "release": package.release,
                "source": package.source if package.note or package.folder is None else package.folder.as_posix(),
            }
            for package in known_packages(settings)
        ),
        len(files),
        inventory,
        tuple(recipes),
        tuple(sorted(found.values(), key=lambda one: (_KINDS.index(one.kind), -len(one.users), one.name))),
    )


_KINDS = ("file", "package", "module", "class")


def _interpreter(settings: Settings, site_packages: Sequence[Path]) -> str | None:
    """The interpreter whose packages are read; None if there are none to read."""
    if settings.python is not None:
        return settings.python.as_posix()
    if active := os.environ.get("VIRTUAL_ENV"):
        return active
    return (settings.root / ".venv").as_posix() if site_packages else None


def _module(module: ModuleFacts, project: Project, found: dict[tuple[str, str], Unresolved]) -> Inventory:
    for target in dict.fromkeys((*module.imports.values(), *module.star_imports)):
        _import(target, module.file, project, found)
    layers = 0
    for name, cls in module.classes.items():
        model = project.classes.model(cls)
        layers += model.is_module is True
        if model.is_module is None and (reason := _why_unknown(module, cls.bases, project)):
            said = f"{reason}: whether it is a layer is not known"
            found["class", f"{module.path}::{name}"] = Unresolved("class", f"{shown(module.path)}::{name}", said)
    return Inventory(layers=layers)


def _why_unknown(module: ModuleFacts, bases: Iterable[Any], project: Project) -> str:
    """The reason why a class is unknown: which base cannot be read; "" if all can."""
    for base in bases:
        name = dotted(base)
        if name is None:
            return "a base of it is computed"
        definition = project.names.resolve(module, name)
        if definition is None:
            return f"its base `{name}` is defined nowhere that is read"
        if isinstance(definition, External) and project.classes.of(definition) is None:
            return f"its base `{definition.name}` cannot be read"
    return ""


def _import(target: str, near: Path, project: Project, found: dict[tuple[str, str], Unresolved]) -> None:
    """Note a package or module that is imported and cannot be read."""
    top = target.partition(".")[0]
    if not top or top in _ELSEWHERE:
        return
    if not isinstance(project.names.absolute(target, near), External):
        return
    folder = next((one for one in project.names.path.site_packages if _is_in(one, top)), None)
    if folder is not None:
        release = release_in(folder, top.lower().replace("-", "_"))
        kind, name = "module", target
        reason = f"{top} {release or ''}".strip() + " is installed, but has no source that defines it"
    else:
        kind, name = "package", top
        has_environment = bool(project.names.path.site_packages)
        reason = "not installed for the interpreter" if has_environment else "no interpreter with packages was found"
    one = found.setdefault((kind, name), Unresolved(kind, name, reason))
    if shown(near) not in one.users:
        one.users.append(shown(near))


def _is_in(folder: Path, package: str) -> bool:
    return os.path.exists(folder / package) or os.path.exists(folder / f"{package}.py")


def _notebook(path: Path, data: bytes, project: Project, found: dict[tuple[str, str], Unresolved]) -> Inventory:
    from modellint.notebook.reading import read

    book = read(data)
    module = project.whole(path) or project.parsed(path, book.module(path).data)
    return _module(module, project, found)


def _recipe(
    path: Path, data: bytes, project: Project, found: dict[tuple[str, str], Unresolved], recipes: list[Paired]
) -> Inventory:
    from modellint.dialects.lightning_cli.gate import may_be_loaded, read_checked
    from modellint.frontends import recipe as frontend
    from modellint.link.recipes.pairing import is_inference, scripts_of

    if frontend.looks_like_recipe(data):
        recipe = project.recipe(path)
        if recipe is not None:
            pairing = scripts_of(recipe, project)
            scripts = tuple(map(shown, pairing.scripts))
            reason = pairing.reason if scripts else ""
            if not scripts:
                reason = "an inference recipe" if is_inference(recipe) else "no script reads its keys"
            recipes.append(Paired(shown(path), scripts, reason))
            _targets(recipe, project, found)
            return Inventory(recipes=1)
        frontend.read(path, data)
    if frontend.looks_like_config(data):
        config = project.config(path)
        if config is not None:
            _targets(config, project, found)
            return Inventory(configurations=1)
        frontend.read_config(path, data)
    if may_be_loaded(path, data, project):
        config = read_checked(path, data, project)
        if config is not None:
            _targets(config, project, found)
            return Inventory(configurations=1)
    return Inventory()


def _targets(recipe: Recipe, project: Project, found: dict[tuple[str, str], Unresolved]) -> None:
    """Note packages of classes that a recipe names and that cannot be read."""
    for target in dict.fromkeys(node.tag.target for node in recipe.nodes() if "." in node.tag.target):
        _import(target, recipe.file, project, found)


def as_text(told: Diagnosis) -> Iterator[str]:
    """The diagnosis as text, line by line."""
    source = told.settings.source
    yield f"modellint {__version__} on Python {platform.python_version()} ({sys.executable})"
    yield f"project: {told.settings.root} ({f'settings in {shown(source)}' if source else 'no settings'})"
    yield f"interpreter: {_told_interpreter(told.interpreter)}"
    yield f"packages: {', '.join(map(_package, told.packages))}"
    yield f"files: {told.files}, with {str(told.inventory) or 'no layer class, no recipe and no configuration'}"
    if told.recipes:
        yield ""
        yield "recipes and their scripts:"
    for recipe in told.recipes:
        if recipe.scripts:
            several = "" if len(recipe.scripts) == 1 else ": only facts that hold for all of them count"
            yield f"  {recipe.path}: {', '.join(recipe.scripts)}, by {recipe.reason}{several}"
        else:
            yield f"  {recipe.path}: no script ({recipe.reason})"
    yield ""
    if not told.unresolved:
        yield "modellint resolves every name that the files use"
        return
    yield "names that modellint cannot resolve, and reports nothing about:"
    packages: dict[str, list[str]] = {}
    for one in told.unresolved:
        if one.kind == "package":
            packages.setdefault(one.reason, []).append(f"{one.name} ({len(one.users)})")
    for reason, names in packages.items():
        yield f"  packages ({reason}), with the number of files that use them: {', '.join(names)}"
    for one in told.unresolved:
        if one.kind != "package":
            yield f"  {one.kind} {one.name}: {one.reason}{_users(one.users)}"
    if packages and told.interpreter is None:
        yield "use `--python`, or `python` in the settings, to name the interpreter that has them"


def _told_interpreter(interpreter: str | None) -> str:
    without = "modellint reads only the project and its built-in facts"
    if interpreter is None:
        return f"none found: {without}"
    return interpreter if os.path.exists(interpreter) else f"{interpreter}, which does not exist: {without}"


def _package(package: Mapping[str, str]) -> str:
    return f"{package['name']} {package['release']} ({package['source']})".replace("  ", " ")


def _users(users: Sequence[str]) -> str:
    if not users:
        return ""
    more = len(users) - _USERS
    return f"; used in {', '.join(users[:_USERS])}" + (f" and {more} more" if more > 0 else "")
