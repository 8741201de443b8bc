"""Which script loads which recipe.

In this order: what the configuration says, a recipe table in the repository (a CSV file with a column for the
script and one for the recipe), and the nearest script up the folders that reads what the recipe defines; one in a
folder beside it where that explains more.
"""

from __future__ import annotations

import csv
import fnmatch
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from modellint.frontends.recipe import can_include
from modellint.graph.recipe import Dialect, Recipe, TagKind
from modellint.link.recipes.loading import LOADERS
from modellint.link.recipes.scripts import may_load, read_script

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.link.project import Project

#: How many folders a recipe's script may stand above it, and its recipes below a script.
_LEVELS = 3
_MIN_SHARE = 0.6
#: In so many folders scripts beside a recipe's are looked for.
_MOST_FOLDERS = 64
_MIN_KEYS = 2
_RECIPE_SUFFIXES = (".yaml", ".yml")
_SCRIPT_SUFFIXES = (".py", ".ipynb")
#: The files of a folder that say how scripts are run.
_TELLING = re.compile(r"readme.*|makefile|.*\.(?:sh|bash|slurm|sbatch)", re.IGNORECASE)
_FILE = re.compile(r"""["']([^"'\n]+\.ya?ml)["']""")


@dataclass(frozen=True, slots=True)
class Pairing:
    """The scripts of a recipe. Several, where nothing tells which one is meant: only what holds for each is sure."""

    scripts: tuple[Path, ...]
    reason: str


def scripts_of(recipe: Recipe, project: Project) -> Pairing:
    """The scripts that may load `recipe`; none is looked for where a framework composes it of several files."""
    if recipe.dialect is not Dialect.HYPERPYYAML:
        return Pairing((), "")
    return project.once(("pairing", recipe.file), lambda: _pair(recipe, project))


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
    return Pairing(_nearest(recipe, project), "the keys it reads")


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
    """Recipes to scripts, from the tables below the project's root."""
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
                if recipe.suffix in _RECIPE_SUFFIXES and project.files.exists(script):
                    yield recipe, script
    except (csv.Error, StopIteration):
        return


# -- found by what is read ---------------------------------------------------------------------------------------


class _Score(NamedTuple):
    """How well a script fits a recipe: whether one names the other, and what share of the keys it reads is defined."""

    is_named: bool
    builds: bool
    share: float
    known: int

    @property
    def is_whole(self) -> bool:
        """Whether nothing speaks against it."""
        return self.share == 1.0


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a script tells: the keys it reads without asking first or with, and whether it builds something of them.

    `files` are those that it names, in code or comments.
    """

    keys: frozenset[str]
    optional: frozenset[str]
    builds: bool
    files: frozenset[str]

    def score(self, defined: set[str], file: str, *, is_named: bool = False) -> _Score | None:
        """How well a recipe that defines these keys fits, which a command may name; None if it does not."""
        keys = self.keys | (self.optional & defined)
        known = len(keys & defined)
        if not self.keys or known < _MIN_KEYS or known / len(keys) < _MIN_SHARE:
            return None
        return _Score(is_named or file in self.files, self.builds, known / len(keys), known)


def _nearest(recipe: Recipe, project: Project) -> tuple[Path, ...]:
    """The best script in the nearest folder upwards that has one; more than one if they are equally good.

    Where no script loads the recipe, a notebook may.
    """
    return next(filter(None, (_nearest_ending(suffix, recipe, project) for suffix in _SCRIPT_SUFFIXES)), ())


def _nearest_ending(suffix: str, recipe: Recipe, project: Project) -> tuple[Path, ...]:
    for folder in _upwards(recipe.file, project):
        for scripts in (_scripts_in, _readers_in):
            paths = [path for path in scripts(folder, project) if path.suffix == suffix]
            found = {path: score for path in paths if (score := _score(path, recipe, project)) is not None}
            if found:
                best = max(found.values())
                nearest = tuple(path for path, score in found.items() if score == best)
                if best.is_whole or best.is_named:
                    return nearest
                return _beside(suffix, recipe, best, project) or nearest
    return _beside(suffix, recipe, None, project)


def _score(script: Path, recipe: Recipe, project: Project) -> _Score | None:
    """How well a script fits; a script that commands run with other recipes has to fit in full."""
    defined = {name for name in recipe.keys if isinstance(name, str)}
    run_with = {
        other for folder in _around(recipe, project) for other in _commands(folder, project).get(script.name, ())
    }
    is_named = recipe.file.name in run_with
    score = _reading(script, project).score(defined, recipe.file.name, is_named=is_named)
    return None if score is not None and run_with and not is_named and not score.is_whole else score


def _around(recipe: Recipe, project: Project) -> list[Path]:
    """The folders whose commands may speak of a recipe: those above it, and the project's."""
    return list(dict.fromkeys((*_upwards(recipe.file, project), project.options.root)))


def _commands(folder: Path, project: Project) -> Mapping[str, tuple[str, ...]]:
    """The names of the recipes that the README and the shell scripts of a folder run a script with, by its name."""

    def find() -> Mapping[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for name in project.files.listdir(folder):
            if not _TELLING.fullmatch(name):
                continue
            text = (project.files.read(folder / name) or b"").decode("utf-8", "replace")
            for line in text.replace("\\\n", " ").splitlines():
                words = [word.strip("\"'`,;()") for word in line.split()]
                recipes = tuple(Path(word).name for word in words if word.endswith(_RECIPE_SUFFIXES))
                for word in words if recipes else ():
                    if word.endswith(".py"):
                        found[Path(word).name] = (*found.get(Path(word).name, ()), *recipes)
        return found

    return project.once(("commands", folder), find)


def _beside(suffix: str, recipe: Recipe, nearest: _Score | None, project: Project) -> tuple[Path, ...]:
    """The scripts in folders beside a recipe's that are called like it, or named with it, and fit it better.

    Where no script is nearer, one that finds all it reads is enough.
    """
    found: dict[Path, _Score] = {}
    for path in _scripts_below(_top(recipe.file, project), project):
        score = _score(path, recipe, project) if path.suffix == suffix else None
        if score is None:
            continue
        is_meant = score.is_named or recipe.file.stem in path.stem
        if (is_meant and score.share > nearest.share) if nearest is not None else (is_meant or score.is_whole):
            found[path] = score
    best = max(found.values(), default=None)
    return tuple(path for path, score in found.items() if score == best)


def _scripts_below(folder: Path, project: Project) -> tuple[Path, ...]:
    """The scripts of a folder and its subfolders; none where there are too many."""

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


def _upwards(file: Path, project: Project) -> Iterator[Path]:
    root = project.options.root
    folder = file.parent
    for _ in range(_LEVELS):
        yield folder
        if folder == root or folder.parent == folder:
            return
        folder = folder.parent


def _scripts_in(folder: Path, project: Project) -> tuple[Path, ...]:
    """The Python files and notebooks of a folder that speak of a function that loads recipes."""

    def find() -> tuple[Path, ...]:
        words = [loader.encode() for loader in LOADERS]
        return tuple(path for path in _code_in(folder, project) if _mentions(path, words, project))

    return project.once(("scripts in", folder), find)


def _readers_in(folder: Path, project: Project) -> tuple[Path, ...]:
    """The files of a folder that may load a recipe by a function of one that does."""

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


def _reading(path: Path, project: Project) -> _Reading:
    def read() -> _Reading:
        module = project.python(path)
        script = None if module is None else read_script(module, project)
        if module is None or script is None:
            return _Reading(frozenset(), frozenset(), False, frozenset())
        work = script.work
        files = frozenset(Path(name).name for name in _FILE.findall(module.text))
        optional = work.optional | work.stored
        return _Reading(frozenset(work.read - optional), frozenset(optional), script.builds, files)

    return project.once(("reads", path), read)


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
    """The YAML files of a folder and, where their names are not those of packages or hidden, its subfolders."""
    found: list[Path] = []
    for name in project.files.listdir(folder):
        path = folder / name
        if name.endswith(_RECIPE_SUFFIXES):
            found.append(path)
        elif levels > 1 and "." not in name and project.files.is_dir(path):
            found += _yaml_below(path, project, levels - 1)
    return found


# -- fragments ---------------------------------------------------------------------------------------------------


def includers_of(recipe: Recipe, project: Project) -> tuple[Path, ...]:
    """The recipes around that include `recipe`; it may then use keys that only they define."""
    if recipe.dialect is not Dialect.HYPERPYYAML:
        return ()

    def find() -> tuple[Path, ...]:
        included = _includes_around(_top(recipe.file, project), project)
        return included.get(recipe.file, ())

    return project.once(("includers", recipe.file), find)


def including(recipe: Recipe, project: Project) -> Iterator[Recipe]:
    """The recipes that have a say about `recipe`: those that include it and are whole, or else itself."""
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
    folders = list(_upwards(file, project))
    return folders[-1]


def _includes_around(folder: Path, project: Project) -> Mapping[Path, tuple[Path, ...]]:
    """For each file that is included by a recipe in or below `folder`: the recipes that do."""

    def find() -> Mapping[Path, tuple[Path, ...]]:
        found: dict[Path, tuple[Path, ...]] = {}
        for path in _yaml_below(folder, project, _LEVELS + 1):
            data = project.files.read(path)
            recipe = project.recipe(path) if data is not None and can_include(data) else None
            for key in dict.fromkeys(recipe.includes()) if recipe is not None else ():
                found[key] = (*found.get(key, ()), path)
        return found

    return project.once(("includes", folder), find)


def is_inference(recipe: Recipe) -> bool:
    """Whether a recipe describes a trained model to load: it has modules and a pretrainer of its own."""
    keys = recipe.keys
    if "modules" not in keys:
        return False
    return any(
        entry.value.tag.kind is TagKind.NEW and entry.value.tag.target.endswith(".Pretrainer")
        for entry in keys.values()
    )
