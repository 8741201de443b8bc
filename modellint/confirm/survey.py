"""`modellint probe --all`: every class of layers, recipe and model folder below some paths, beside what was expected.

An expectation is a JSON file with the status of each check of each target. It is written once, committed, and compared
with later runs: a check that did not fail and fails now, or that ran and does not run now, is a difference that fails
the run. Whatever has got better is told, and changes nothing until the expectation is written again.
"""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from modellint.config.errors import UsageError
from modellint.confirm.battery import as_object, probe, status_text
from modellint.confirm.forkserver import ForkServers
from modellint.graph.immutable import dataclass
from modellint.link.project import Project, ProjectOptions
from modellint.reading.discovery import discover
from modellint.reading.files import Files, parse_json, read_file, write_atomically
from modellint.reading.model_folders import MARKERS, marker_of
from modellint.reading.paths import no_json, shown
from modellint.source import PYTHON, YAML, UnreadableError, kind_of
from modellint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from modellint.config import Settings
    from modellint.confirm.battery import Result
    from modellint.confirm.confirmer import Wishes

_VERSION = 1
#: Statuses from the best to the worst; those in one row are equally good.
_RANKS = {"passed": 0, "in-part": 1, "nothing-to-check": 1, "not-run": 2, "failed": 3}

#: The statuses of checks by name, for each target.
Statuses = dict[str, dict[str, str]]


@dataclass(frozen=True)
class Difference:
    """A check whose status is not the expected one; None where there is none on that side.

    Without a `check`, the target itself is gone.
    """

    target: str
    check: str
    expected: str | None
    found: str | None

    @property
    def is_worse(self) -> bool:
        """True if the run fails because of it: a new failure, or a check that no longer runs."""
        if self.found is None:
            return False
        if self.expected is None:
            return self.found == "failed"
        return _RANKS[self.found] > _RANKS[self.expected] and _RANKS[self.found] > 1

    def __str__(self) -> str:
        if not self.check:
            return f"{self.target}: is gone"
        expected = "nothing was expected" if self.expected is None else f"expected {_words(self.expected)}"
        found = "is gone" if self.found is None else _words(self.found)
        return f"{self.target}: {self.check}: {found}, {expected}"


@dataclass(frozen=True)
class Survey:
    """The results of all targets, and how they differ from the expectation; None without one."""

    results: tuple[Result, ...]
    differences: tuple[Difference, ...] | None
    duration: float

    @property
    def exit_code(self) -> int:
        """1 if a check is worse than expected; without an expectation, if one failed. 2 if no check could run."""
        if self.differences is not None:
            return int(any(one.is_worse for one in self.differences))
        codes = {result.exit_code for result in self.results}
        return 1 if 1 in codes else 2 if codes == {2} else 0


def survey(
    paths: Sequence[Path],
    settings: Settings,
    wishes: Wishes,
    expectation: Statuses | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Survey:
    """Probe every target below some paths. Raises UsageError without targets, or torch."""
    started = time.perf_counter()
    targets = list(targets_below(paths, settings))
    if not targets:
        raise UsageError(f"no class of layers, recipe or model folder in {', '.join(map(shown, paths))}")
    with ForkServers() as servers, ThreadPoolExecutor(settings.jobs or os.cpu_count() or 1) as executor:
        futures = [executor.submit(probe, target, settings, wishes, servers) for target in targets]
        results = []
        try:
            for number, future in enumerate(futures, 1):
                results.append(future.result())
                on_progress(number, len(futures))
        except BaseException:
            executor.shutdown(wait=True, cancel_futures=True)
            raise
    differences = None
    if expectation is not None:
        due = {target: row for target, row in expectation.items() if _is_below(target, paths)}
        differences = tuple(compare(due, statuses_of(results)))
    return Survey(tuple(results), differences, time.perf_counter() - started)


def targets_below(paths: Sequence[Path], settings: Settings) -> Iterator[str]:
    """The targets in files that a check would read: `models/encoder.py::Encoder`, a recipe, a folder."""
    files, _ = discover(paths, settings, lambda folder, error: None)
    project = Project(ProjectOptions(settings.root, settings.python, settings.recipes), Files())
    folders: set[Path] = set()
    for path in files:
        if path.name in MARKERS:
            marker = marker_of(path.parent, project.files)
            if marker == path and path.parent not in folders:
                folders.add(path.parent)
                yield shown(path.parent)
            continue
        try:
            if kind_of(path.name) == PYTHON:
                yield from (f"{shown(path)}::{name}" for name in _layers(path, project))
            elif kind_of(path.name) == YAML and _is_recipe(path, project):
                yield shown(path)
        except UnreadableError:
            continue


def _layers(path: Path, project: Project) -> Iterator[str]:
    """The classes of layers in a file that can be called: those with a `forward`."""
    data = project.files.read(path) or b""
    module = project.whole(path) if b"class " in data else None
    for cls in module.classes.values() if module is not None else ():
        model = project.classes.model(cls) if cls.bases else None
        if model is not None and model.is_module is True and model.method("forward") is not None:
            yield cls.qualname


def _is_recipe(path: Path, project: Project) -> bool:
    from modellint.frontends.recipe import looks_like_recipe
    from modellint.link.recipes.pairing import includers_of

    data = project.files.read(path) or b""
    recipe = project.recipe(path) if looks_like_recipe(data) else None
    return recipe is not None and not includers_of(recipe, project)


def _is_below(target: str, paths: Sequence[Path]) -> bool:
    """True if a target lies in one of the paths."""
    file = os.path.abspath(target.partition("::")[0])
    tops = [os.path.abspath(path) for path in paths]
    return any(file == top or file.startswith(top.rstrip(os.sep) + os.sep) for top in tops)


# -- expectations ------------------------------------------------------------------------------------------------------


def statuses_of(results: Sequence[Result]) -> Statuses:
    """The status of each check of each target."""
    return {result.target: {check.name: check.status for check in result.checks} for result in results}


def compare(expected: Mapping[str, Mapping[str, str]], found: Mapping[str, Mapping[str, str]]) -> Iterator[Difference]:
    """The checks whose status is not the expected one, by target; one difference for a target that is gone."""
    for target in sorted({*expected, *found}):
        before, now = expected.get(target, {}), found.get(target, {})
        if not now:
            yield Difference(target, "", None, None)
            continue
        for check in dict.fromkeys((*before, *now)):
            if before.get(check) != now.get(check):
                yield Difference(target, check, before.get(check), now.get(check))


def read_expectation(path: Path) -> Statuses:
    """The expectation in a file. Raises UsageError."""
    try:
        document = parse_json(read_file(path))
    except OSError as error:
        hint = "; `--write-expectation` makes one" if isinstance(error, FileNotFoundError) else ""
        raise UsageError(f"--expect: {shown(path)}: {error.strerror}{hint}") from None
    except ValueError as error:
        raise UsageError(f"--expect: {no_json(path, error)}; expected what `--write-expectation` writes") from None
    targets = document.get("targets") if isinstance(document, dict) else None
    if not isinstance(targets, dict) or document.get("version") != _VERSION or not all(map(_is_row, targets.values())):
        raise UsageError(
            f"--expect: {shown(path)}: expected an object with `version` {_VERSION} and the statuses of `targets`, "
            "as `--write-expectation` writes it"
        )
    return targets


def _is_row(row: object) -> bool:
    return isinstance(row, dict) and all(isinstance(status, str) and status in _RANKS for status in row.values())


def write_expectation(path: Path, results: Sequence[Result]) -> None:
    """Write the statuses to a file, whole or not at all. Raises UsageError."""
    document = {"version": _VERSION, "targets": dict(sorted(statuses_of(results).items()))}
    text = json.dumps(document, indent=2, ensure_ascii=False)
    try:
        write_atomically(path, f"{text}\n".encode("utf-8", "surrogatepass"))
    except OSError as error:
        raise UsageError(f"--write-expectation: {shown(path)}: {error.strerror}") from None


# -- reports -----------------------------------------------------------------------------------------------------------


def as_text(found: Survey, *, colour: bool = False) -> str:
    """The report for people: a line for each target, the failures, and the differences."""
    lines: list[str] = []
    for result in found.results:
        words = ", ".join(f"{check.name} {status_text(check.status, colour=colour)}" for check in result.checks)
        lines.append(f"{result.target}: {words}")
        lines += [f"  {check.name}: {check.verdict.detail}" for check in result.checks if check.status == "failed"]
    if found.differences is not None:
        lines += ["", *(f"{'worse' if one.is_worse else 'changed'}: {one}" for one in found.differences)]
        number = sum(one.is_worse for one in found.differences)
        lines.append("as expected" if not found.differences else f"{number} worse than expected")
    totals = [sum(result.number(status) for result in found.results) for status in _RANKS]
    counted = [f"{number} {_words(status)}" for status, number in zip(_RANKS, totals, strict=True) if number]
    lines.append(f"{len(found.results)} targets: {', '.join(counted)}")
    return "\n".join(lines) + "\n"


def as_json(found: Survey) -> str:
    """The report for programs."""
    document: dict[str, Any] = {
        "version": __version__,
        "targets": [as_object(result) for result in found.results],
        "differences": None
        if found.differences is None
        else [
            {
                "target": one.target,
                "check": one.check,
                "expected": one.expected,
                "found": one.found,
                "is_worse": one.is_worse,
            }
            for one in found.differences
        ],
        "duration_s": round(found.duration, 3),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _words(status: str) -> str:
    return status.replace("-", " ")
