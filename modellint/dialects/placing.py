"""The places of files in what programs compose: the configurations that a file is a part of, and other choices.

Each file in the search path of a program is one of its configurations: the primary one, one that this composes by
default, or one that somebody may choose instead.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.dialects.apps import YAML, apps, name_in, programs_of, search_path
from modellint.dialects.defaults import entries_of, header_of
from modellint.dialects.hydra import Composition, compose
from modellint.dialects.hydra_nodes import HYDRA
from modellint.dialects.spots import DEFAULTS, spots_of
from modellint.graph.immutable import dataclass, replace
from modellint.link.searched import files_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from modellint.dialects.apps import App
    from modellint.graph.recipe import Scalar
    from modellint.link.project import Project

#: How many files one after the other may choose a file.
_DEEPEST = 3
#: How many files that choose a file by its name are looked at.
_MOST_CHOOSERS = 12
#: The endings of files that show command lines, and an argument that adds a key.
_SHOWING = (".md", ".rst", ".sh", ".slurm", ".txt")
_ADDING = re.compile(rb"(?<![\w+])\+{1,2}'?([\w.]+)=")


@dataclass(frozen=True, eq=False)
class Composed:
    """A file of a program in the configuration that it is a part of.

    Not `is_chosen`: no defaults list chooses the file or another one of its group, so it may be used otherwise.
    """

    app: App
    composition: Composition
    is_chosen: bool = True


def composed_with(path: Path, project: Project) -> Composed | None:
    """The configuration that a file is a part of; None if no program is known to compose it.

    Of several it is the first one in which a defaults list chooses the file.
    """

    def find() -> Composed | None:
        found = list(_chosen_first(all_composed_with(path, project)))
        return found[-1] if found and found[-1].is_chosen else next(iter(found), None)

    return project.once(("composed with", path), find)


def _chosen_first(composed: Iterator[Composed]) -> Iterator[Composed]:
    """The configurations up to the first one in which a defaults list chooses the file."""
    for one in composed:
        yield one
        if one.is_chosen:
            return


def all_composed_with(path: Path, project: Project) -> Iterator[Composed]:
    """The configurations that a file is a part of: by each program, and with files that choose it by name."""
    for app in programs_of(path, project):
        if app.folder is None:
            continue
        found = _composed_in(app, path, project) or _as_primary(app, path, project)
        if found is not None:
            yield found
        for name, _ in _choosers(app.folder, project).get(name_in(path, app.folder), ())[:_MOST_CHOOSERS]:
            chosen = _composed_in(app, app.folder / f"{name}{YAML}", project)
            if chosen is not None and chosen.composition.has(path):
                yield chosen


def composition(
    app: App, project: Project, overrides: tuple[tuple[str, str], ...] = (), added: tuple[str, ...] = ()
) -> Composition | None:
    """The configuration of a program; None if its primary one cannot be read."""
    folder, name = app.folder, app.name
    if folder is None or name is None:
        return None

    def find() -> Composition | None:
        search = search_path(app, project)
        return compose(name, search, project, overrides=dict(overrides), added=added)

    return project.once(("composition", folder, name, overrides, added), find)


def _composed_in(app: App, path: Path, project: Project) -> Composed | None:
    """The configuration of a program that a file is in: the one by default, or else with the file chosen.

    Of several ways to choose it the first one counts in which Hydra refuses nothing in the file.
    """
    assert app.folder is not None
    plain = composition(app, project)
    if plain is None or plain.has(path):
        return None if plain is None else Composed(app, plain)
    name = name_in(path, app.folder)
    last = None
    for overrides in _overrides_for(name, app, plain, project, 0):
        found = composition(app, project, overrides)
        if found is not None and found.has(path):
            last = last or Composed(app, found)
            if not found.refusals_in(path):
                return Composed(app, found)
    if last is not None:
        return last
    found = composition(app, project, (), (name,)) if "/" in name else None
    return Composed(app, found, is_chosen=False) if found is not None and found.has(path) else None


def _as_primary(app: App, path: Path, project: Project) -> Composed | None:
    """The configuration of a program that begins with a file which `--config-name` may name.

    It lies at the top of the search path, and has a defaults list.
    """
    is_possible = path.parent == app.folder and (app.name is not None or not app.is_named)
    recipe = project.omegaconf(path) if is_possible else None
    if recipe is None or DEFAULTS not in recipe.keys:
        return None
    app = replace(app, name=path.stem)
    found = composition(app, project)
    return None if found is None else Composed(app, found, is_chosen=False)


def _overrides_for(
    name: str, app: App, plain: Composition, project: Project, depth: int
) -> Iterator[tuple[tuple[str, str], ...]]:
    """The overrides by which a file may be chosen: of its group; of groups of files that choose it by default; last of
    a group above its own (`data=inference/small`).
    """
    parts = name.split("/")
    yield from _override_of(name, len(parts) - 1, plain)
    if depth < _DEEPEST and app.folder is not None:
        known = _choosers(app.folder, project)
        for chooser, key in (known.get(name, ()) + known.get("/".join(parts[:-1]), ()))[:_MOST_CHOOSERS]:
            is_in = plain.has(app.folder / f"{chooser}{YAML}")
            for above in ((),) if is_in else _overrides_for(chooser, app, plain, project, depth + 1):
                yield (*above, *(((key, parts[-1]),) if key else ()))
    for end in range(len(parts) - 2, 0, -1):
        if parts[:end] != [HYDRA]:  # what is below is a group of Hydra itself, such as `hydra/launcher`
            yield from _override_of(name, end, plain)


def _override_of(name: str, end: int, plain: Composition) -> Iterator[tuple[tuple[str, str], ...]]:
    """The override of the group that the first parts of a name are, where a configuration has that group."""
    parts = name.split("/")
    group, last = "/".join(parts[:end]), "/".join(parts[end:])
    keys = [key for key in plain.chosen if key.partition("@")[0] == group]
    if group and keys:
        yield tuple((key, last) for key in keys)


def is_option(keys: Sequence[Scalar], composed: Composed, project: Project) -> bool:
    """True if another file of the search path than those that are merged has a key, by all keys that lead to it.

    Another choice may bring it. A file that some entry gives a package of its own counts for each package.
    """
    folder = composed.app.folder
    if folder is None:
        return True
    merged = {one.file for one in composed.composition.files} | _primaries_of_others(composed.app, folder, project)
    known = project.once(("hydra keys", folder), lambda: _files_by_key(folder, project))
    wanted = [str(key) for key in keys]
    for start in range(len(wanted)):
        for path, package in known.get(tuple(wanted[start:]), ()):
            above = tuple(wanted[:start])
            if path not in merged and (
                package is None or (above and package[: len(above)] == above) or package == above
            ):
                return True
    return False


def _primaries_of_others(app: App, folder: Path, project: Project) -> set[Path]:
    """The primary configurations of other programs in a folder, unless a defaults list chooses them as well."""
    own = folder / f"{app.name}{YAML}"
    others = {folder / f"{one.name}{YAML}" for one in apps(project) if one.folder == folder and one.name is not None}
    chosen = _choosers(folder, project)
    return {path for path in others if path != own and name_in(path, folder) not in chosen}


def _files_by_key(folder: Path, project: Project) -> dict[tuple[str, ...], list[tuple[Path, tuple[str, ...] | None]]]:
    """The files that have a key, by the keys that lead to it in the file, each with its package; None for any.

    A file of a group may be chosen by a group above it, `data: small/digits`, and then has the package of that.
    """
    found: dict[tuple[str, ...], list[tuple[Path, tuple[str, ...] | None]]] = {}
    choosers = _choosers(folder, project)
    for path in _yaml_below(folder, project):
        recipe, name = project.omegaconf(path), name_in(path, folder)
        if recipe is None:
            continue
        group = name.rpartition("/")[0]
        is_elsewhere = any("@" in key for one in (name, group) for _, key in choosers.get(one, ()))
        header = header_of(recipe)
        written = group.replace("/", ".") if header is None else header.removeprefix("_global_")
        package = tuple(filter(None, written.split(".")))
        for end in range(1, len(package) + 1):
            found.setdefault(package[:end], []).append((path, ()))
        for spot in spots_of(recipe, frozenset((DEFAULTS,))).below():
            keys = tuple(map(str, spot.keys))
            if keys:
                found.setdefault(keys, []).append((path, None if is_elsewhere else package))
    return found


def is_added(keys: Sequence[Scalar], project: Project) -> bool:
    """True if a page or a shell script of the project adds a key, or a mapping around it: `+trainer.fast=true`."""
    added = project.once(("added keys",), lambda: _added_keys(project))
    names = [str(key) for key in keys]
    return any(".".join(names[:end]) in added for end in range(1, len(names) + 1))


def _added_keys(project: Project) -> frozenset[str]:
    paths = files_below(project, project.options.root, _SHOWING)
    return frozenset(
        name.decode() for path in paths for name in _ADDING.findall(project.files.read(path) or b"") if name.isascii()
    )


def _choosers(folder: Path, project: Project) -> dict[str, tuple[tuple[str, str], ...]]:
    """The files whose defaults lists choose a file, or one of a group, each with the key of the entry.

    The key is empty for an entry without a group. Overrides choose files only.
    """

    def find() -> dict[str, tuple[tuple[str, str], ...]]:
        found: dict[str, dict[tuple[str, str], None]] = {}
        for path in _yaml_below(folder, project):
            recipe = project.omegaconf(path)
            name = name_in(path, folder)
            for entry in entries_of(recipe, name.rpartition("/")[0]) if recipe is not None else ():
                if entry.is_self or not entry.names:
                    continue
                key = "" if entry.group is None else entry.key
                found.setdefault(entry.config_path.removesuffix(YAML), {})[name, key] = None
                if entry.group is not None and not entry.is_override:
                    found.setdefault(entry.group_path, {})[name, key] = None
        return {name: tuple(choosers) for name, choosers in found.items()}

    return project.once(("hydra choosers", folder), find)


def _yaml_below(folder: Path, project: Project) -> Iterator[Path]:
    """The YAML files below a folder, in its own order."""
    pending = [folder]
    for one in pending:
        for name in project.files.listdir(one):
            if name.endswith(YAML):
                yield one / name
            elif "." not in name and project.files.is_dir(one / name):
                pending.append(one / name)
