"""Evidence for and against a script of a recipe: the keys that it reads, and commands that name both."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from modellint.graph.immutable import dataclass
from modellint.link.recipes.scripts import read_script
from modellint.link.requirements import TELLING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from modellint.graph.recipe import Recipe
    from modellint.link.project import Project

RECIPE_SUFFIXES = (".yaml", ".yml")
_MIN_SHARE = 0.6
#: The least share of a script that is taken though commands run it with other recipes.
_MIN_DOUBTFUL = 0.8
_MIN_KEYS = 2
#: How many keys of the recipe outweigh one that it lacks, or commands that run other recipes.
_LACKING_WEIGHS = 4
_OTHERS_WEIGH = 8
#: How many of the lacking keys a reason lists.
_TOLD = 3
_FILE = re.compile(r"""["']([^"'\n]+\.ya?ml)["']""")


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a script fits a recipe.

    `read` counts the keys that it reads, of which the recipe lacks `lacking`. `named_by` is the source that names the
    recipe with it, `run_by` the file whose commands run it with other recipes only; both may be empty. `is_alike`:
    those other recipes lack the same keys.
    """

    script: Path
    read: int
    lacking: tuple[str, ...]
    builds: bool
    named_by: str
    run_by: str
    is_alike: bool

    @property
    def known_count(self) -> int:
        """The number of keys that it reads and the recipe has."""
        return self.read - len(self.lacking)

    @property
    def share(self) -> float:
        return self.known_count / self.read if self.read else 0.0

    @property
    def is_possible(self) -> bool:
        """True if it may be the script of the recipe; one run with others must lack no more keys here than there."""
        is_near = self.known_count >= _MIN_KEYS and self.share >= _MIN_SHARE
        return is_near and not (self.run_by and not self.is_alike)

    @property
    def is_doubtful(self) -> bool:
        """True if it fits this recipe well, though commands run it with others that it fits better."""
        return bool(self.run_by) and not self.is_alike and self.known_count >= _MIN_KEYS and self.share >= _MIN_DOUBTFUL

    @property
    def weight(self) -> int:
        """The evidence of the keys: those that the recipe has, less penalties for missing ones and other recipes."""
        others = _OTHERS_WEIGH if self.run_by and not self.is_alike else 0
        return self.known_count - _LACKING_WEIGHS * len(self.lacking) - others

    @property
    def rank(self) -> tuple[bool, bool, int, int]:
        return bool(self.named_by), self.builds, self.weight, self.known_count

    @property
    def evidence(self) -> str:
        """The evidence in a message: `a command in README.md and the keys it reads (12 of 14)`."""
        named = f"{self.named_by} and " if self.named_by else ""
        doubt = f", though {self.run_by} runs it with others" if self.is_doubtful else ""
        return f"{named}the keys it reads ({self.known_count} of {self.read}{doubt})"

    def why_not(self, taken: Fit | None) -> str:
        """The reason for which it was rejected, or `taken` was preferred."""
        lacks = f"the recipe lacks {_list_names(self.lacking)} of the {self.read} keys that it reads"
        if self.read < _MIN_KEYS:
            return "it reads no key" if not self.read else "it reads a single key"
        if self.run_by and not self.is_alike:
            return f"{self.run_by} runs it with other recipes, and {lacks}"
        if not self.is_possible:
            return lacks
        if taken is None:
            return "neither its name nor a command goes with the recipe, and " + lacks
        if taken.named_by and not self.named_by:
            return f"nothing names it with the recipe, while {taken.named_by} names another"
        if taken.builds and not self.builds:
            return "it builds no model of what it loads"
        return lacks if self.lacking else f"it reads {self.known_count} keys of the recipe only"


def _list_names(names: Sequence[str]) -> str:
    told = ", ".join(f"`{name}`" for name in names[:_TOLD])
    return told if len(names) <= _TOLD else f"{told} and {len(names) - _TOLD} more"


def best_of(fits: Iterable[Fit]) -> tuple[Fit, ...]:
    """The fits of the highest rank, all that share it."""
    found = tuple(fits)
    best = max((fit.rank for fit in found), default=None)
    return tuple(fit for fit in found if fit.rank == best)


def fit_of(script: Path, recipe: Recipe, around: Iterable[Path], project: Project) -> Fit:
    """The fit of a script; commands in the folders `around` may name script and recipe."""
    reading = _reading(script, project)
    defined = {name for name in recipe.keys if isinstance(name, str)}
    keys = reading.keys | (reading.optional & defined) if reading.keys else frozenset()
    told = (command for folder in around for command in _commands(folder, project).get(script.name, ()))
    commands = [command for command in told if _names_any(command, recipe, project)]
    naming = next((command for command in commands if recipe.file.name in command.recipes), None)
    if naming is not None:
        named_by = f"a command in {naming.file}"
    else:
        named_by = "its own text" if recipe.file.name in reading.files else ""
    run_by = commands[0].file if commands and naming is None else ""
    lacking = keys - defined
    is_alike = not lacking or (bool(run_by) and lacking <= _lacking_beside(recipe, commands, reading.keys, project))
    return Fit(script, len(keys), tuple(sorted(lacking)), reading.builds, named_by, run_by, is_alike)


def _names_any(command: _Command, recipe: Recipe, project: Project) -> bool:
    """True if a recipe that a command names exists; a README often names files that were renamed since."""
    paths = (*(recipe.file.with_name(name) for name in sorted(command.recipes)), *command.paths)
    return any(map(project.files.exists, paths))


def _lacking_beside(
    recipe: Recipe, commands: Iterable[_Command], keys: frozenset[str], project: Project
) -> frozenset[str]:
    """The keys that all recipes lack which lie in the same folder and which commands run the script with."""
    names = sorted({name for command in commands for name in command.recipes})
    found = [project.recipe(path) for name in names if project.files.exists(path := recipe.file.with_name(name))]
    lacking = [keys.difference(other.keys) for other in found if other is not None]
    return frozenset.intersection(*lacking) if lacking else frozenset()


# -- keys that a script reads -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reading:
    """The keys that a script reads for certain and optionally, and whether it builds a model from them.

    `files` are the names of YAML files in its code or comments.
    """

    keys: frozenset[str]
    optional: frozenset[str]
    builds: bool
    files: frozenset[str]


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


# -- recipes in commands ----------------------------------------------------------------------------------------


class _Command(NamedTuple):
    """The recipes that a line names together with a script, and the name of the line's file.

    `paths` are their paths if the command is run in the folder of that file.
    """

    recipes: frozenset[str]
    file: str
    paths: tuple[Path, ...]


def _commands(folder: Path, project: Project) -> Mapping[str, Sequence[_Command]]:
    """The commands in the README and the shell scripts of a folder, by the names of the scripts that they run."""

    def find() -> Mapping[str, Sequence[_Command]]:
        found: dict[str, list[_Command]] = {}
        for name in project.files.listdir(folder):
            if not TELLING.fullmatch(name):
                continue
            text = (project.files.read(folder / name) or b"").decode("utf-8", "replace")
            for line in text.replace("\\\n", " ").splitlines():
                words = [word.strip("\"'`,;()") for word in line.split()]
                paths = tuple(folder / word for word in words if word.endswith(RECIPE_SUFFIXES))
                command = _Command(frozenset(path.name for path in paths), name, paths)
                scripts = {Path(word).name for word in words if word.endswith(".py")} if paths else ()
                for script in scripts:
                    found.setdefault(script, []).append(command)
        return found

    return project.once(("commands", folder), find)
