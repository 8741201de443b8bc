"""Pairs recipes with the scripts that load them.

In this order: the configuration, a recipe table in the repository (a CSV file with a column for the
script and one for the recipe), and the nearest script up the folders that reads the keys of the recipe; one in a
folder beside it if that reads more of them.
"""

from __future__ import annotations

import csv
import fnmatch
from typing import TYPE_CHECKING

from modellint.frontends.recipe import can_include
from modellint.graph.immutable import dataclass
from modellint.graph.recipe import Dialect, Recipe, TagKind
from modellint.link.recipes.loading import LOADERS
from modellint.link.recipes.scripts import may_load
from modellint.link.recipes.signs import RECIPE_SUFFIXES, Fit, best_of, fit_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from modellint.link.project import Project

#: How many folders above a recipe its script may stand, and recipes below their script.
_LEVELS = 5
#: How many folders above a recipe are searched for scripts beside it, and for recipes that include it.
_NEAR_LEVELS = 3
#: The most folders that are searched for scripts beside a recipe's.
_MOST_FOLDERS = 64
_SCRIPT_SUFFIXES = (".py", ".ipynb")


@dataclass(frozen=True, slots=True)
class TurnedDown:
    """A script that was considered for a recipe and rejected, and the reason."""

    script: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Pairing:
    """The scripts of a recipe; several if nothing decides between them, so only facts true for each are certain.

    `reason` is why these were chosen, `turned_down` are the rejected ones. `is_doubtful`: there is evidence against it.
    """

    scripts: tuple[Path, ...]
    reason: str
    turned_down: tuple[TurnedDown, ...] = ()
    is_doubtful: bool = False


def scripts_of(recipe: Recipe, project: Project) -> Pairing:
    """The scripts that may load `recipe`; empty for configurations that a framework composes from several files."""
    if recipe.dialect is not Dialect.HYPERPYYAML:
        return Pairing((), "")
    return project.once(("pairing", recipe.file), lambda: _pair(recipe, project))


def known_pairing(recipe: Recipe, project: Project) -> Pairing | None:
    """The pairing that `scripts_of` has found for a recipe; None if it was not called."""
    found: Pairing | None = project.found(("pairing", recipe.file))
    return found


def recipes_of(script: Path, project: Project) -> tuple[Recipe, ...]:
    """The recipes whose only script is `script`, by path."""
    return project.once(("recipes", script), lambda: tuple(_recipes(script, project)))


def _pair(recipe: Recipe, project: Project) -> Pairing:
    explicit = tuple(_explicit(recipe, project))
    if explicit:
        return Pairing(explicit, "the configuration")
    listed = _table(project).get(recipe.file)
    if listed:
        return Pairing(listed, "the repository's recipe table")
    return _nearest(recipe, project)


# -- configured and listed ---------------------------------------------------------------------------------------


def _explicit(recipe: Recipe, project: Project) -> Iterator[Path]:
    root = project.options.root
    try:
        relative = recipe.file.relative_to(root).as_posix()
    except ValueError:
        return
    for pattern, script in project.options.recipes:
        if fnmatch.fnmatchcase(relative, pattern.removeprefix("./")) and project.files.exists(root / script):
            yield root / script


def _table(project: Project) -> Mapping[Path, tuple[Path, ...]]:
    """The scripts by recipe, from the tables below the project's root."""
    return project.once(("recipe table",), lambda: _read_tables(project))


def _listed_for(script: Path, project: Project) -> list[Path]:
    """The recipes that the tables list for a script."""

    def invert() -> Mapping[Path, list[Path]]:
        found: dict[Path, list[Path]] = {}
        for recipe, scripts in _table(project).items():
            for one in scripts:
                found.setdefault(one, []).append(recipe)
        return found

    return project.once(("recipes by script",), invert).get(script, [])


def _read_tables(project: Project) -> Mapping[Path, tuple[Path, ...]]:
    found: dict[Path, tuple[Path, ...]] = {}
    root, files = project.options.root, project.files
    folders = [root]
    folders += [root / name for name in files.listdir(root) if not name.startswith(".") and files.is_dir(root / name)]
    for folder in folders:
        for name in files.listdir(folder):
            if "recipe" not in name.lower():
                continue
            tables = [folder / name] if name.endswith(".csv") else _csv_files(folder / name, project)
            for table in tables:
                for recipe, script in _rows(table, root, project):
                    found[recipe] = (script,)
    return found


def _csv_files(folder: Path, project: Project) -> list[Path]:
    return [folder / name for name in project.files.listdir(folder) if name.endswith(".csv")]


def _rows(table: Path, root: Path, project: Project) -> Iterator[tuple[Path, Path]]:
    """The rows of a table whose head names a column for scripts and one for recipes."""
    data = project.files.read(table) or b""
    head = data.partition(b"\n")[0].lower()
    if b"script" not in head or not (b"hparam" in head or b"recipe" in head):
        return
    rows = csv.reader(data.decode("utf-8", "replace").splitlines())
    try:
        names = [name.lower() for name in next(rows)]
        script_column = next(i for i, name in enumerate(names) if "script" in name)
        recipe_column = next(i for i, name in enumerate(names) if "hparam" in name or "recipe" in name)
        for row in rows:
            if len(row) > max(script_column, recipe_column):
                script, recipe = root / row[script_column].strip(), root / row[recipe_column].strip()
                if recipe.suffix in RECIPE_SUFFIXES and project.files.exists(script):
                    yield recipe, script
    except (csv.Error, StopIteration):
        return


# -- search by keys ----------------------------------------------------------------------------------------------


def _nearest(recipe: Recipe, project: Project) -> Pairing:
    """The best script in the nearest folder upwards that has one; several if they are equally good.

    Notebooks are searched only if no script fits.
    """
    found = Pairing((), "")
    for suffix in _SCRIPT_SUFFIXES:
        search = _Search(suffix, recipe, project)
        best = search.best() or search.only()
        turned_down = (*found.turned_down, *search.turned_down(best))
        reason, is_doubtful = (best[0].evidence, best[0].is_doubtful) if best else ("", False)
        found = Pairing(tuple(fit.script for fit in best), reason, turned_down, is_doubtful)
        if best:
            break
    return found


class _Search:
    """The search for the scripts of a recipe among the files of one kind."""

    def __init__(self, suffix: str, recipe: Recipe, project: Project) -> None:
        self._suffix = suffix
        self._recipe = recipe
        self._project = project
        #: The folders whose commands may name the recipe.
        self._around = tuple(dict.fromkeys((*upwards(recipe.file, project), project.options.root)))
        self._looked_at: dict[Path, Fit] = {}

    def best(self) -> tuple[Fit, ...]:
        """The scripts that fit best, all equally well."""
        for folder in upwards(self._recipe.file, self._project):
            for scripts in (_scripts_in, _readers_in):
                fits = tuple(map(self._fit, self._of_kind(scripts(folder, self._project))))
                nearest = best_of(fit for fit in fits if fit.is_possible)
                if nearest:
                    nearest = best_of(fit for fit in fits if fit in nearest or fit.is_doubtful)
                    is_sure = not nearest[0].lacking or nearest[0].named_by
                    return nearest if is_sure else self._beside(nearest[0]) or nearest
        return self._beside(None)

    def only(self) -> tuple[Fit, ...]:
        """The only doubtful script nearby, if no script fits: commands run it with other recipes."""
        found = [fit for fit in self._looked_at.values() if fit.is_doubtful and fit.script.parent in self._around]
        return tuple(found) if len(found) == 1 else ()

    def turned_down(self, best: tuple[Fit, ...]) -> Iterator[TurnedDown]:
        """The rejected scripts, with the reasons."""
        for fit in self._looked_at.values():
            if fit not in best and (fit.is_possible or fit.script.parent in self._around):
                yield TurnedDown(fit.script, fit.why_not(best[0] if best else None))

    def _of_kind(self, paths: Iterable[Path]) -> Iterator[Path]:
        return (path for path in paths if path.suffix == self._suffix)

    def _fit(self, script: Path) -> Fit:
        if script not in self._looked_at:
            self._looked_at[script] = fit_of(script, self._recipe, self._around, self._project)
        return self._looked_at[script]

    def _beside(self, nearest: Fit | None) -> tuple[Fit, ...]:
        """The better scripts in folders beside a recipe's that have its name, or are named with it in a command.

        If there is no nearest script, one whose keys the recipe all has is enough.
        """
        found = []
        for path in self._of_kind(_scripts_below(_top(self._recipe.file, self._project), self._project)):
            fit = self._fit(path)
            is_meant = bool(fit.named_by) or self._recipe.file.stem in path.stem
            is_better = (is_meant and fit.share > nearest.share) if nearest else (is_meant or not fit.lacking)
            if fit.is_possible and is_better:
                found.append(fit)
        return best_of(found)


def _scripts_below(folder: Path, project: Project) -> tuple[Path, ...]:
    """The scripts of a folder and its subfolders; empty if there are too many folders."""

    def find() -> tuple[Path, ...]:
        folders = [folder]
        for one in folders:
            names = project.files.listdir(one)
            below = [one / name for name in names if "." not in name and project.files.is_dir(one / name)]
            folders += below
            if len(folders) > _MOST_FOLDERS:
                return ()
        return tuple(path for one in folders for path in _scripts_in(one, project))

    return project.once(("scripts below", folder), find)


def upwards(file: Path, project: Project, levels: int = _LEVELS) -> Iterator[Path]:
    """The folder of a file and those above it, up to the project's root."""
    root = project.options.root
    folder = file.parent
    for _ in range(levels):
        yield folder
        if folder == root or folder.parent == folder:
            return
        folder = folder.parent


def _scripts_in(folder: Path, project: Project) -> tuple[Path, ...]:
    """The Python files and notebooks of a folder that mention a function which loads recipes."""

    def find() -> tuple[Path, ...]:
        words = [loader.encode() for loader in LOADERS]
        return tuple(path for path in _code_in(folder, project) if _mentions(path, words, project))

    return project.once(("scripts in", folder), find)


def _readers_in(folder: Path, project: Project) -> tuple[Path, ...]:
    """The other files of a folder that mention one of its scripts, so they may load a recipe by its functions."""

    def find() -> tuple[Path, ...]:
        scripts = _scripts_in(folder, project)
        words = [path.stem.encode() for path in scripts if path.suffix == ".py"]
        others = (path for path in _code_in(folder, project) if path not in scripts)
        return tuple(path for path in others if _mentions(path, words, project))

    return project.once(("readers in", folder), find)


def _code_in(folder: Path, project: Project) -> list[Path]:
    return [folder / name for name in project.files.listdir(folder) if name.endswith(_SCRIPT_SUFFIXES)]


def _mentions(path: Path, words: list[bytes], project: Project) -> bool:
    data = project.files.read(path) or b"" if words else b""
    return any(word in data for word in words)


def _recipes(script: Path, project: Project) -> Iterator[Recipe]:
    module = project.python(script)
    is_configured = any(project.options.root / name == script for _, name in project.options.recipes)
    if module is None or not (is_configured or may_load(module, project)):
        return
    candidates = list(_listed_for(script, project))
    candidates += _yaml_below(script.parent, project, _LEVELS)
    seen: set[Path] = set()
    for path in sorted(candidates):
        if path in seen:
            continue
        seen.add(path)
        recipe = project.recipe(path)
        if recipe is not None and scripts_of(recipe, project).scripts == (script,):
            yield recipe
    for pattern, name in project.options.recipes:
        if project.options.root / name == script:
            for path in sorted(project.options.root.glob(pattern)):
                recipe = project.recipe(path) if path not in seen else None
                if recipe is not None:
                    yield recipe


def _yaml_below(folder: Path, project: Project, levels: int) -> list[Path]:
    """The YAML files of a folder and of its subfolders without a dot in their names."""
    found: list[Path] = []
    for name in project.files.listdir(folder):
        path = folder / name
        if name.endswith(RECIPE_SUFFIXES):
            found.append(path)
        elif levels > 1 and "." not in name and project.files.is_dir(path):
            found += _yaml_below(path, project, levels - 1)
    return found


# -- fragments ---------------------------------------------------------------------------------------------------


def includers_of(recipe: Recipe, project: Project) -> tuple[Path, ...]:
    """The recipes nearby that include `recipe`, which may then use keys that only they define."""
    if recipe.dialect is not Dialect.HYPERPYYAML:
        return ()

    def find() -> tuple[Path, ...]:
        included = _includes_around(_top(recipe.file, project), project)
        return included.get(recipe.file, ())

    return project.once(("includers", recipe.file), find)


def including(recipe: Recipe, project: Project) -> Iterator[Recipe]:
    """The whole recipes that contain `recipe`: those that include it and are not included, or else itself.

    A configuration of OpenMMLab is loaded by itself as well.
    """
    if recipe.dialect is Dialect.OPENMMLAB:
        yield recipe
        return
    seen = {recipe.file}
    pending = [recipe]
    is_whole = False
    for current in pending:
        includers = includers_of(current, project)
        if not includers:
            is_whole = True
            yield current
        for path in includers:
            includer = project.recipe(path) if path not in seen else None
            seen.add(path)
            if includer is not None:
                pending.append(includer)
    if not is_whole:  # they include each other
        yield recipe


def _top(file: Path, project: Project) -> Path:
    folders = list(upwards(file, project, _NEAR_LEVELS))
    return folders[-1]


def _includes_around(folder: Path, project: Project) -> Mapping[Path, tuple[Path, ...]]:
    """The recipes in or below `folder` by the files that they include."""

    def find() -> Mapping[Path, tuple[Path, ...]]:
        found: dict[Path, tuple[Path, ...]] = {}
        for path in _yaml_below(folder, project, _NEAR_LEVELS + 1):
            data = project.files.read(path)
            recipe = project.recipe(path) if data is not None and can_include(data) else None
            for key in dict.fromkeys(recipe.includes()) if recipe is not None else ():
                found[key] = (*found.get(key, ()), path)
        return found

    return project.once(("includes", folder), find)


def is_inference(recipe: Recipe) -> bool:
    """True if a recipe describes a trained model to load: it has modules and a pretrainer of its own."""
    keys = recipe.keys
    if "modules" not in keys:
        return False
    return any(
        entry.value.tag.kind is TagKind.NEW and entry.value.tag.target.endswith(".Pretrainer")
        for entry in keys.values()
    )
