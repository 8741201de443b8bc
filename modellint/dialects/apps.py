"""The programs that compose configurations with Hydra: `hydra.main`, and `hydra.initialize` with `hydra.compose`.

NeMo's `hydra_runner` is a `hydra.main` as well.

A program has a search path and, where it names one, a primary configuration. Each file in the search path is one of its
configurations: the primary one, one that this composes by default, or one that somebody may choose instead.
"""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.dialects.hydra import SearchPath
from modellint.dialects.structured import stored_node
from modellint.graph.immutable import dataclass
from modellint.graph.value import EventKind, Op
from modellint.link.names import DefinedConstant, DefinedFunction, External

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.graph.python import ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.graph.value import Value
    from modellint.link.project import Project
    from modellint.source import Place

#: The decorator of a program of NeMo, and where it is defined. Source: NeMo 2.4, `core/config/hydra_runner.py`.
_RUNNERS = ("nemo.core.config.hydra_runner", "nemo.core.config.hydra_runner.hydra_runner")
#: Packages that a script of a program imports.
LIBRARIES = ("hydra", "nemo")
_MAIN, _INITIALIZE, _COMPOSE = (
    ("hydra.main", *_RUNNERS),
    ("hydra.initialize", "hydra.experimental.initialize"),
    ("hydra.compose",),
)
#: The folder of plugins, which may add to the search path.
_PLUGINS = "hydra_plugins"
YAML = ".yaml"
#: Words of files that Hydra composes; the first one is that of a defaults list.
_MARKS = (b"defaults", b"_target_", b"${", b"@package")
#: How many folders above a file are looked into in a large project.
_LEVELS = 5
#: Methods that return the path that they are called on, in another form.
#: The names of `import a, b.c as d`.
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([\w., \t]+)", re.MULTILINE)
#: The most files that a script is followed into.
_MOST_IMPORTED = 300
_SAME = ("resolve", "absolute", "as_posix", "expanduser")
#: How many names one after the other stand for a path.
_MOST_NAMES = 5


@dataclass(frozen=True)
class App:
    """A program: its script, the folder of its configurations, and the name of the primary one.

    `main` is the function that gets the configuration, or a static method (`Run.main`). The folder is None if it is not
    known, the name if none is given or known; `places` are where both are named. `written` is the folder as the program
    names it, if it is not there.
    """

    script: Path
    places: tuple[Place, Place]
    folder: Path | None
    name: str | None
    main: str = ""
    written: str = ""
    #: The program names a primary configuration, even if only a run knows which.
    is_named: bool = False


def apps_in(module: ModuleFacts, project: Project) -> tuple[App, ...]:
    """The programs in a file; nothing is searched for one that imports nothing of Hydra or NeMo."""
    return tuple(_apps_in(module, project)) if module.imports_of(*LIBRARIES) else ()


def apps(project: Project) -> tuple[App, ...]:
    """The programs of a project that compose configurations with Hydra; none if the project has too many files."""

    def find() -> tuple[App, ...]:
        found = (project.files.mentioning(project.options.root, word) for word in ("hydra", "hydra_runner"))
        return _apps_among(dict.fromkeys(path for paths in found for path in paths), project)

    return project.once(("hydra apps",), find)


def _apps_beside(folder: Path, project: Project) -> tuple[App, ...]:
    """The programs in a folder and in the folders in it."""

    def find() -> tuple[App, ...]:
        names = project.files.listdir(folder)
        inside = [folder / name for name in names if "." not in name and project.files.is_dir(folder / name)]
        scripts = (one / name for one in (folder, *inside) for name in project.files.listdir(one))
        texts = (path for path in scripts if path.suffix == ".py")
        return _apps_among((path for path in texts if b"hydra" in (project.files.read(path) or b"")), project)

    return project.once(("hydra apps", folder), find)


def _apps_among(paths: Iterable[Path], project: Project) -> tuple[App, ...]:
    modules = filter(None, map(project.python, paths))
    return tuple(app for module in modules for app in apps_in(module, project))


def _apps_in(module: ModuleFacts, project: Project) -> Iterator[App]:
    for function in module.all_functions():
        for decorator in function.signature.decorators:
            if decorator.op is Op.CALL and _is_of(decorator.callee, module, project, _MAIN):
                given = _arguments(decorator, ("config_path", "config_name", "version_base"), module)
                yield _app(module, decorator, given, project, function.qualname)
    for call in _calls(module, project, _INITIALIZE):
        for composed in _calls(module, project, _COMPOSE):
            given = _arguments(call, ("config_path", "job_name", "caller_stack_depth", "version_base"), module)
            yield _app(module, call, {**given, **_arguments(composed, ("config_name",), module)}, project)


def _arguments(call: Value, names: tuple[str, ...], module: ModuleFacts) -> dict[str, Value]:
    """The arguments of a call by name, those in a constant dictionary that is unpacked included."""
    found = dict(zip(names, call.positional, strict=False)) | call.keywords
    for name, value in zip(reversed(call.data), reversed(call.args), strict=False):
        unpacked = module.constants.get(str(value.data)) if name is None and value.op is Op.GLOBAL else None
        if unpacked is not None and unpacked.op is Op.DICT:
            keys = (key.data if key is not None else None for key in unpacked.data)
            found |= {key: part for key, part in zip(keys, unpacked.args, strict=True) if isinstance(key, str)}
    return found


def _calls(module: ModuleFacts, project: Project, names: tuple[str, ...]) -> Iterator[Value]:
    word = names[0].rpartition(".")[2]
    for function in (*module.all_functions(), module.body):
        if function is module.body or word in function.words:
            for event in function.flow.of(EventKind.CALL):
                if _is_of(event.value.callee, module, project, names):
                    yield event.value


def _is_of(callee: Value, module: ModuleFacts, project: Project, names: tuple[str, ...]) -> bool:
    found = project.names.definition(module, callee)
    if isinstance(found, DefinedFunction):
        return f"{found.function.module.name}.{found.function.qualname}" in names
    return isinstance(found, External) and found.name in names


def _app(module: ModuleFacts, call: Value, given: dict[str, Value], project: Project, main: str = "") -> App:
    path, named, base = (given.get(name) for name in ("config_path", "config_name", "version_base"))
    written, name = _text(path, module, project), _text(named, module, project)
    name = _name(named, module) if name is None else name.removesuffix(YAML)
    folder = None
    if path is None:
        # Without a folder, the script's own counts up to `version_base` 1.1, which is the default.
        is_own = base is None or _text(base, module, project) == "1.1"
        folder = module.file.parent if is_own and not call.has_unpacking else None
    elif written is None:
        folder = _folder_above(_tail(path, module), name, module.file, project)
    elif "://" not in written:
        folder = Path(os.path.normpath(module.file.parent / written))
        if os.path.isabs(written) and not project.files.is_dir(folder):  # that of another machine
            folder = _folder_above(os.path.basename(written.rstrip("/")), name, module.file, project)
    is_relative = written is not None and not os.path.isabs(written)
    is_missing = folder is not None and is_relative and not project.files.is_dir(folder)
    places = (module.place(one if one is not None and one.at else call) for one in (path, named))
    first, second = places
    missing = (written or "") if is_missing else ""
    return App(module.file, (first, second), folder, name, main, missing, named is not None or call.has_unpacking)


def _tail(value: Value, module: ModuleFacts, depth: int = 0) -> str | None:
    """The end of a path whose beginning is unknown: `configs` of `str(root / "configs")`; None if that is, too."""
    if depth > _MOST_NAMES:
        return None
    if value.op is Op.CONST:
        return value.data if isinstance(value.data, str) else None
    if value.op is Op.GLOBAL and str(value.data) in module.constants:
        return _tail(module.constants[str(value.data)], module, depth + 1)
    if value.op is Op.BIN and value.data in ("/", "+"):
        return _tail(value.args[1], module, depth + 1)
    if value.op is Op.STRING and value.data and isinstance(value.data[-1], str):
        return str(value.data[-1])
    if value.op is Op.ATTR and value.data == "parent":
        inner = _tail(value.args[0], module, depth + 1)
        return None if inner is None else os.path.dirname(inner) or None
    if value.op is Op.CALL and not value.positional and value.callee.op is Op.ATTR and value.callee.data in _SAME:
        return _tail(value.callee.args[0], module, depth + 1)
    if value.op is Op.CALL and value.positional:
        parts = [part.data for part in value.positional if part.op is Op.CONST and isinstance(part.data, str)]
        return "/".join(parts) if len(parts) > 1 else _tail(value.positional[-1], module, depth + 1)
    return None


def _name(value: Value | None, module: ModuleFacts) -> str | None:
    """The name of the file at the end of a path: `train` of `path.stem`; None if it is unknown."""
    is_part = value is not None and value.op is Op.ATTR and value.data in ("stem", "name")
    path = _tail(value.args[0], module) if value is not None and is_part else None
    return None if path is None else os.path.basename(path).removesuffix(YAML)


def _folder_above(tail: str | None, name: str | None, script: Path, project: Project) -> Path | None:
    """The folder of such a path beside the script or above it, with the primary configuration if that has a name."""
    files = project.files
    for above in script.parents if tail is not None else ():
        folder = Path(os.path.normpath(above / str(tail).strip("/")))
        if files.is_dir(folder) if name is None else files.exists(folder / f"{name}{YAML}"):
            return folder
        if above == project.options.root:
            break
    return None


def _text(value: Value | None, module: ModuleFacts, project: Project) -> str | None:
    """The text that a value is; None if it is unknown, or no text."""
    if value is None:
        return None
    if value.op is Op.CONST:
        return value.data if isinstance(value.data, str) else None
    found = project.names.definition(module, value) if value.op in (Op.GLOBAL, Op.ATTR) else None
    if isinstance(found, DefinedConstant) and found.value is not None and found.value.op is Op.CONST:
        return found.value.data if isinstance(found.value.data, str) else None
    return None


def may_be_composed(path: Path, data: bytes, project: Project) -> bool:
    """True if Hydra may compose a file, by its looks or by a defaults list in a file beside it or above it.

    To know for certain, `programs_of` searches the project.
    """
    if path.suffix != YAML:
        return False
    return any(mark in data for mark in _MARKS) or any(
        project.once(("defaults lists", folder), partial(_has_defaults, folder, project))
        for folder in path.parents[:_LEVELS]
        if folder == project.options.root or project.options.root in folder.parents
    )


def _has_defaults(folder: Path, project: Project) -> bool:
    """True if a file in a folder may have a defaults list."""
    paths = (folder / name for name in project.files.listdir(folder) if name.endswith(YAML))
    return any(_MARKS[0] in (project.files.read(path) or b"") for path in paths)


def programs_of(path: Path, project: Project) -> tuple[App, ...]:
    """The programs whose folder a file is in, those whose primary configuration it is first.

    In a project with too many files they are looked for beside the folders that the file is in.
    """
    root = project.options.root
    if project.files.is_searched(root):
        known: Iterable[App] = apps(project)
    else:
        above = [folder for folder in path.parents if folder == root or root in folder.parents][:_LEVELS]
        known = (app for folder in above for app in _apps_beside(folder, project))
    written = path.as_posix()
    found = [app for app in known if app.folder is not None and written.startswith(f"{app.folder.as_posix()}/")]
    return (
        tuple(found)
        if len(found) < 2
        else tuple(sorted(found, key=lambda app: app.folder is None or name_in(path, app.folder) != app.name))
    )


def name_in(path: Path, folder: Path) -> str:
    """The name of a file in a search path: `model/resnet`."""
    return path.as_posix()[len(folder.as_posix()) + 1 :].removesuffix(YAML)


def lacks_primary(app: App, project: Project) -> bool:
    """True if the primary configuration of a program is in no folder of its search path, and stored nowhere."""
    if app.folder is None or app.name is None or app.written:
        return False
    search = search_path(app, project)
    return search.is_known and app.name not in search.stored and search.file(app.name, project) is None


def search_path(app: App, project: Project) -> SearchPath:
    """The search path of a program, with the names that its project stores."""
    key = "hydra search path", app.script, app.folder, app.name
    return project.once(key, lambda: _search_path(app, project))


def _search_path(app: App, project: Project) -> SearchPath:
    assert app.folder is not None
    stored = project.once(("hydra stored",), lambda: _stored_names(project))
    folders, is_known = [app.folder], stored is not None
    for text in _more_folders(app, project):
        kind, _, rest = text.rpartition("://")
        rest = rest.replace(".", "/") if kind == "pkg" else rest  # of a package in the project
        found = [base / rest for base in (app.script.parent, project.options.root) if project.files.is_dir(base / rest)]
        if kind in ("file", "pkg", "") and found:
            folders.append(found[0])
        else:
            is_known = False
    is_known = is_known and not project.files.is_dir(project.options.root / _PLUGINS)
    nodes = {name: node for name, (script, node) in (stored or {}).items() if node and _imports(app, script, project)}
    return SearchPath(tuple(folders), frozenset(stored or ()), nodes, is_known)


def _imports(app: App, script: Path, project: Project) -> bool:
    """True if the script of a program is a file, or imports it or a name in it, or another file that does."""
    return script in project.once(("imported by", app.script), lambda: _imported_by(app.script, project))


def _imported_by(script: Path, project: Project) -> frozenset[Path]:
    """The files of the project that are imported where a script is run, with the script."""
    found: dict[Path, None] = {script: None}
    pending = [script]
    for path in pending:
        module = project.python(path)
        if module is None or len(found) > _MOST_IMPORTED:
            continue
        # Of `import a.b`, the outline has the name that it binds.
        plain = (one.split()[0] for names in _IMPORT.findall(module.text) for one in names.split(",") if one.strip())
        names = dict.fromkeys((*module.imports.values(), *module.star_imports, *plain))
        for name in dict.fromkeys(part for one in names for part in _prefixes(one)):
            other = project.names.find_module(name, path)
            if other is not None and other.file not in found and not project.names.path.is_packaged(other.file):
                found[other.file] = None
                pending.append(other.file)
    return frozenset(found)


def _prefixes(name: str) -> Iterator[str]:
    """A dotted name and the packages around it, which are imported as well."""
    parts = name.split(".")
    return (".".join(parts[:end]) for end in range(len(parts), 0, -1))


def _more_folders(app: App, project: Project) -> Iterator[str]:
    """The entries of `hydra.searchpath` in the primary configuration."""
    primary = SearchPath((app.folder,)).file(app.name, project) if app.folder and app.name else None
    recipe = None if primary is None else project.omegaconf(primary)
    hydra = None if recipe is None else recipe.keys.get("hydra")
    listed = None if hydra is None else hydra.value.get("searchpath")
    yield from (node.text for node in listed.value.elements) if listed is not None else ()


def _stored_names(project: Project) -> dict[str, tuple[Path, Recipe | None]] | None:
    """The names that calls of `ConfigStore.store` give, each with its script and the node; None if a name is unknown.

    The node of a name that is given twice is unknown.
    """
    names: dict[str, tuple[Path, Recipe | None]] = {}
    root = project.options.root
    if project.files.mentioning(root, "hydra_zen"):
        return None
    for module in filter(None, map(project.python, project.files.mentioning(root, "ConfigStore"))):
        for function in (*module.all_functions(), module.body):
            for event in function.flow.of(EventKind.CALL):
                call = event.value
                if call.callee.op is Op.ATTR and call.callee.data == "store" and _is_of_store(call):
                    group, name = call.argument(2, "group"), _text(call.argument(0, "name"), module, project)
                    inside = "" if group is None else _text(group, module, project)
                    if name is None or inside is None:
                        return None
                    whole = f"{inside}/{name.removesuffix(YAML)}" if inside else name.removesuffix(YAML)
                    node = None if whole in names else _stored_in(call, module, project)
                    names[whole] = module.file, node
    return names


def _stored_in(call: Value, module: ModuleFacts, project: Project) -> Recipe | None:
    """The node that a call of `ConfigStore.store` stores; None if it is unknown."""
    node, package = call.argument(1, "node"), call.argument(3, "package")
    written = None if package is None else _text(package, module, project)
    if node is None or (package is not None and written is None):
        return None
    if written is not None and not written.startswith("_global_"):
        written = f"_global_.{written}"
    return stored_node(node, module, written, project)


def _is_of_store(call: Value) -> bool:
    return bool({"name", "group", "node"} & call.keywords.keys()) or len(call.positional) > 1
