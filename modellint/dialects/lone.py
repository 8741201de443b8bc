"""The objects of a file with `_target_` keys that no known program composes.

Such a configuration is seldom alone: others are merged into it (`defaults:`), or it becomes a part of another one. Keys
that it refers to and does not have are therefore reported only where it shows that it is the whole.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING

from modellint.dialects.hydra_nodes import HYDRA
from modellint.dialects.omegaconf import Configuration
from modellint.dialects.spots import DEFAULTS, spots_of
from modellint.edits.similar import get_close_matches
from modellint.frontends.recipe import read
from modellint.graph.immutable import dataclass
from modellint.graph.interpolation import OPEN
from modellint.graph.recipe import Dialect, Recipe, below
from modellint.graph.value import EventKind, Op, self_attribute
from modellint.link.names import External
from modellint.link.recipes.items import Evaluation, Problem, ProblemKind
from modellint.link.recipes.loading import callee_name
from modellint.link.searched import files_below
from modellint.source import UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.link.project import Project

_LEVELS = 4
#: So many interpolations that resolve are no accident.
_MANY = 3
_PACKAGE = re.compile(r"^#\s*@package\b", re.MULTILINE)
_AT_TOP = re.compile(rf"{_PACKAGE.pattern}\s*_global_\s*$", re.MULTILINE)
_KEY = re.compile(r"([\w.-]+)[\"']?\s*:(?=\s|$)")
_MERGES = ("OmegaConf.merge", "OmegaConf.unsafe_merge")


def evaluate_alone(recipe: Recipe, project: Project) -> Evaluation:
    """The objects of a plain configuration, and the interpolations that certainly have no target."""
    run = configuration(recipe, project)
    root = run.root_item
    cycles = cycles_in(run, recipe, is_whole=not _may_be_part(recipe, project))
    return Evaluation(recipe, root, (*_missing_references(run, recipe, project), *cycles), (recipe,), run.items)


def cycles_in(run: Configuration, recipe: Recipe, *, is_whole: bool = True) -> Iterator[Problem]:
    """The interpolations in a file that lead back to the string that they stand in.

    In the content of a key of another file, `is_whole` false, an absolute interpolation leads out of the file.
    """
    asked = (one for cycle in run.cycles if is_whole or all(each.piece.dots for each in cycle) for one in cycle)
    for one in {(id(one.node), one.piece.start): one for one in asked}.values():
        if one.recipe.file == recipe.file:
            yield Problem(ProblemKind.CYCLE, one.place, one.expression)


def _may_be_part(recipe: Recipe, project: Project) -> bool:
    """True if the file of a configuration may become the content of a key: one beside it or above it composes files."""
    if recipe.dialect is Dialect.LATENT or _AT_TOP.search(recipe.source.text):
        return False
    paths = (path for path in _around(recipe.file, project) if path.suffix != ".py" and path != recipe.file)
    return any(_default_names(path, project) for path in paths)


def configuration(recipe: Recipe, project: Project) -> Configuration:
    """The objects and interpolations of a file that is a whole configuration."""
    return project.once(("configuration", recipe.file), lambda: Configuration(spots_of(recipe)))


# -- gaps that are mistakes ------------------------------------------------------------------------------------


def _missing_references(run: Configuration, recipe: Recipe, project: Project) -> Iterator[Problem]:
    """The gaps that are mistakes, in a configuration that is not composed with others."""
    if not run.gaps or DEFAULTS in recipe.keys or _PACKAGE.search(recipe.source.text):
        return
    for gap in run.gaps.values():
        asked = [one for key, one in gap.asked.items() if key not in run.led]
        if not asked:
            continue
        if recipe.dialect is Dialect.LATENT:  # the command line names the files that are merged
            if not _is_elsewhere(gap.key, recipe, project) and not is_stored(gap.key, recipe, project, is_near=True):
                first = asked[0]
                yield Problem(ProblemKind.UNDEFINED, first.place, first.expression, gap.key, gap.available, len(asked))
            continue
        # A key missing at the top may come from another file if this one is composed after all.
        is_near = bool(get_close_matches(gap.key, gap.available, n=1, cutoff=0.6 if gap.depth else 0.8))
        if not gap.depth and (gap.key == HYDRA or not is_near or run.resolved < _MANY):
            continue
        # An absolute reference into a nested mapping of this file is meant for this file.
        is_inside = is_near and gap.depth > 1 and any(not one.piece.dots for one in asked)
        if not run.resolved and not is_inside:
            continue
        if _is_added(gap.key, recipe, project, is_near=is_near):
            continue
        first = asked[0]
        yield Problem(ProblemKind.UNDEFINED, first.place, first.expression, gap.key, gap.available, len(asked))


def _is_elsewhere(key: str, recipe: Recipe, project: Project) -> bool:
    """True if another YAML file of the project has a key, or if there are too many files."""
    counts = _key_counts(project)
    return not counts or counts[key] > (key in _KEY.findall(recipe.source.text))


def is_anywhere(key: str, project: Project) -> bool:
    """True if a YAML file of the project has a key, or if there are too many files."""
    counts = _key_counts(project)
    return not counts or counts[key] > 0


def _key_counts(project: Project) -> Counter[str]:
    """The number of YAML files of the project that have a key; none if there are too many files."""

    def find() -> Counter[str]:
        paths = files_below(project, project.options.root, (".yaml", ".yml"))
        texts = ((project.files.read(path) or b"").decode("utf-8", "replace") for path in paths)
        return Counter(name for text in texts for name in set(_KEY.findall(text)))

    return project.once(("yaml keys",), find)


def _is_added(key: str, recipe: Recipe, project: Project, *, is_near: bool) -> bool:
    """True if a file nearby may add a key: a configuration that composes this one, or a script that stores it."""
    return is_stored(key, recipe, project, is_near=is_near) or any(
        path.suffix != ".py" and path != recipe.file and _composes(path, recipe.file.stem, project)
        for path in _around(recipe.file, project)
    )


def is_stored(key: str, recipe: Recipe, project: Project, *, is_near: bool) -> bool:
    """True if a script nearby stores a key, or merges configurations and the key is like no other one."""
    for path in _around(recipe.file, project):
        work = _script_work(path, project) if path.suffix == ".py" else None
        if work is not None and (key in work.stored or (work.merges and not is_near)):
            return True
    return False


@dataclass(slots=True)
class _ScriptWork:
    """The names that a script stores, in code or command line arguments, and whether it merges configurations."""

    stored: set[str] = field(default_factory=set)
    merges: bool = False


def _script_work(path: Path, project: Project) -> _ScriptWork:
    def read() -> _ScriptWork:
        work = _ScriptWork()
        module = project.python(path)
        for function in (*module.all_functions(), module.body) if module is not None else ():
            for event in function.flow.events:
                if event.kind is EventKind.STORE and event.target is not None:
                    target = event.target
                    if self_attribute(target) is not None:
                        continue  # an object keeps something for itself
                    work.stored.add(str(target.data if target.op is Op.ATTR else target.args[1].data))
                elif event.kind is EventKind.CALL and module is not None and not work.merges:
                    found = project.names.definition(module, event.value.callee)
                    name = found.name if isinstance(found, External) else callee_name(event.value.callee)
                    work.merges = name is not None and name.endswith(_MERGES)
                for text in (part.data for part in event.value.walk() if part.op is Op.CONST):
                    if isinstance(text, str) and "=" in text:
                        work.stored.add(text.partition("=")[0].lstrip("+").rpartition(".")[2])
        return work

    return project.once(("stores", path), read)


def _composes(path: Path, stem: str, project: Project) -> bool:
    """True if a file has a `defaults:` list that may name a file of this stem."""
    return any(stem in text or OPEN in text for text in _default_names(path, project))


def _default_names(path: Path, project: Project) -> list[str]:
    """The texts in the `defaults:` list of a file; none without one."""
    data = project.files.read(path) or b""
    recipe = _plain(path, project) if DEFAULTS.encode() in data else None
    entry = recipe.keys.get(DEFAULTS) if recipe is not None else None
    return [node.text for node in below(entry.value)] if entry is not None else []


def _plain(path: Path, project: Project) -> Recipe | None:
    """The content of a YAML file of any kind; None if it is no YAML."""

    def load() -> Recipe | None:
        try:
            return read(path, project.files.read(path) or b"", included=True)
        except UnreadableError:
            return None

    return project.once(("plain", path), load)


def _around(file: Path, project: Project) -> Iterator[Path]:
    """The Python and YAML files in the folders of a file and above it."""
    folder = file.parent
    for _ in range(_LEVELS):
        for name in project.files.listdir(folder):
            if name.endswith((".py", ".yaml", ".yml")):
                yield folder / name
        if folder == project.options.root or folder.parent == folder:
            return
        folder = folder.parent
