"""`modellint probe`: a class or recipe put through every check that a run can make, without a finding to start from."""

from __future__ import annotations

import ast
import json
import os
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint.claims.checks import (
    ClassFails,
    DevicesMix,
    EndFails,
    LoadingFails,
    LookupFails,
    ModesDiffer,
    NothingLearns,
    SomethingStays,
    TokensExceed,
    WeightsDiffer,
    WidthsDiffer,
)
from modellint.config.errors import UsageError, nearest
from modellint.confirm.child import answer
from modellint.confirm.confirmer import setup_for
from modellint.confirm.forkserver import ForkServers
from modellint.confirm.notebooks import files_of
from modellint.confirm.plan import Group
from modellint.finding import Extent, Status
from modellint.graph.immutable import dataclass
from modellint.link.names import DefinedClass, DefinedFunction
from modellint.link.project import Project, ProjectOptions
from modellint.probes import Probe, Target
from modellint.reading.files import Files
from modellint.reading.model_folders import MARKERS, marker_of
from modellint.reporters.json import guard_json
from modellint.source import NOTEBOOK, YAML, Place, Span, kind_of
from modellint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from modellint.config import Settings
    from modellint.confirm.confirmer import Wishes
    from modellint.confirm.setup import Setup
    from modellint.finding import Sandbox, Verdict
    from modellint.graph.python import ModuleFacts

#: The checks of each kind of target, in the order of a report: name, and what its probe claims.
_OF_CLASSES = (
    ("placement", DevicesMix),
    ("shapes", WidthsDiffer),
    ("values", LookupFails),
    ("boundaries", EndFails),
    ("gradients", NothingLearns),
    ("modes", ModesDiffer),
)
_OF_RECIPES = (("loading", LoadingFails), ("placement", SomethingStays))
_OF_FOLDERS = (("class", ClassFails), ("weights", WeightsDiffer), ("tokens", TokensExceed))
#: Statuses of checks that did not fail, where less than the whole claim could be tried.
_EXTENTS = {Extent.PART: "in-part", Extent.NOTHING: "nothing-to-check"}
_COLOURS = {
    "passed": "\x1b[32m",
    "failed": "\x1b[31m",
    "in-part": "\x1b[33m",
    "nothing-to-check": "",
    "not-run": "\x1b[33m",
}
#: The targets of an assignment by which a module replaces another one.
_MODULES = ("sys.modules", "modules")
_EXPECTED = "expected `package.module:Class`, `folder/file.py::Class`, a recipe (.yaml, .yml) or a model folder"


@dataclass(frozen=True)
class Check:
    """One check, and its verdict: in the detail what was seen, or why nothing was."""

    name: str
    verdict: Verdict

    @property
    def status(self) -> str:
        """Its word: "passed", "failed", "in-part" (what could be tried passed), "nothing-to-check" or "not-run"."""
        if self.verdict.status is Status.CONFIRMED:
            return "failed"
        return _EXTENTS.get(self.verdict.extent, "passed" if self.verdict.status is Status.REFUTED else "not-run")


@dataclass(frozen=True)
class Result:
    """The checks of a target, with the seconds that they took."""

    target: str
    checks: tuple[Check, ...]
    duration: float
    guard: Sandbox | None = None

    def number(self, status: str) -> int:
        return sum(check.status == status for check in self.checks)

    @property
    def is_askable(self) -> bool:
        """True if a check was not run, but might be with other arguments or settings."""
        return any(check.status == "not-run" and check.verdict.extent is not Extent.NEVER for check in self.checks)

    @property
    def exit_code(self) -> int:
        """1 if a check failed; 2 if none of those could be run for which there is something to check."""
        if self.number("failed"):
            return 1
        return 2 if self.number("not-run") and not (self.number("passed") or self.number("in-part")) else 0


def probe(target: str, settings: Settings, wishes: Wishes, servers: ForkServers | None = None) -> Result:
    """Run all checks of the class or recipe that `target` names. Raises UsageError without such a target, or torch.

    Whoever probes more than once can share fork servers, and then ends them.
    """
    started = time.perf_counter()
    setup = setup_for(settings, wishes, "modellint probe")
    found = find(target, settings, setup)
    # Settings for the name that was asked for apply to the definition that it resolves to.
    said = tuple((f"{found.path.as_posix()}::{found.name}", said) for name, said in setup.targets if name == target)
    is_folder = found.path.is_dir()
    checks = _OF_FOLDERS if is_folder else _OF_CLASSES if found.name else _OF_RECIPES
    files = files_of(found.path) if kind_of(found.path.name) == NOTEBOOK else {}
    place = Place(found.path.as_posix(), Span(1, 1, 1, 1))
    probes = tuple((number, Probe(found, claim(place), files=files)) for number, (_, claim) in enumerate(checks))
    with ForkServers() if servers is None else nullcontext(servers) as shared:
        verdicts = answer(Group(found, probes), replace(setup, servers=shared, targets=(*setup.targets, *said)))
    whole = "" if found.name or os.path.samefile(target, found.path) else f"in `{found.path.name}`, which includes it: "
    results = tuple(
        Check(name, replace(verdicts[number], detail=whole + verdicts[number].detail))
        for number, (name, _) in enumerate(checks)
    )
    return Result(target, results, time.perf_counter() - started, setup.guard)


def find(target: str, settings: Settings, setup: Setup) -> Target:
    """Resolve the name of a target: in the project, in `setup.roots`, or in the packages of its interpreter.

    Raises UsageError that says what was expected.
    """
    project = Project(ProjectOptions(settings.root, setup.python, settings.recipes))
    file, is_file, name = target.partition("::")
    if os.path.isdir(target):
        return Target(_model_folder(target))
    if is_file or kind_of(Path(target).name) is not None:
        return _in_file(target, Path(os.path.abspath(file)), name if is_file else None, project)
    module, colon, attribute = target.partition(":")
    if not colon or not attribute or not module:
        raise UsageError(f"{target}: {_EXPECTED}")
    places = [Path(folder, "__init__.py") for folder in dict.fromkeys((settings.root.as_posix(), *setup.roots))]
    for place in places:
        definition = project.names.absolute(f"{module}.{attribute}", place)
        if isinstance(definition, DefinedClass):
            return Target(Path(definition.cls.module.path), definition.cls.qualname)
        if isinstance(definition, DefinedFunction):
            return Target(Path(definition.function.module.path), definition.function.qualname)
    known = [found for place in places if (found := project.names.find_module(module, place)) is not None]
    if not known:
        raise UsageError(f"{target}: no module `{module}` in the project or in the packages of its interpreter")
    if (exporting := next(filter(_exports_others, known), None)) is not None:
        return Target(Path(exporting.path), attribute)
    raise UsageError(f"{target}: `{module}` defines no class or function `{attribute}`")


def _exports_others(module: ModuleFacts) -> bool:
    """True if a module may have names that its text does not tell: by `*`, `__getattr__` or `sys.modules[…] = …`."""
    for node in ast.walk(ast.parse(Path(module.path).read_bytes())):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            return True
        if isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
            return True
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) in _MODULES:
            return True
    return False


def _model_folder(target: str) -> Path:
    """The path of a model folder. Raises UsageError for another folder."""
    path = Path(os.path.abspath(target))
    if marker_of(path, Files()) is None:
        *names, last = [f"`{name}`" for name in MARKERS]
        marks = f"{', '.join(names)} or {last} beside weights or a tokenizer"
        raise UsageError(f"{target}: no model folder, which has {marks}; {_EXPECTED}")
    return path


def _in_file(target: str, path: Path, name: str | None, project: Project) -> Target:
    kind = kind_of(path.name)
    if kind is None or os.path.isdir(path):
        raise UsageError(f"{target}: {_EXPECTED}")
    if not os.path.isfile(path):
        raise UsageError(f"{target}: no such file")
    if kind == YAML:
        if name is not None:
            raise UsageError(f"{target}: a recipe has no classes; {_EXPECTED}")
        return _of_recipe(path, target, project)
    module = project.whole(path)
    if module is None:
        raise UsageError(f"{target}: cannot be read as Python")
    known = [*module.classes, *(function.qualname for function in module.all_functions())]
    if not name:
        raise UsageError(f"{target}: names no class; expected {path.name}::CLASS")
    if name not in known:
        raise UsageError(f"{target}: no class or function is called `{name}`{nearest(name, known, '')}")
    return Target(path, name)


def _of_recipe(path: Path, target: str, project: Project) -> Target:
    """A recipe with its script; a recipe that another one includes is loaded through that one, as it is meant to be."""
    from modellint.link.recipes.pairing import including, scripts_of

    recipe = project.recipe(path)
    if recipe is None:
        raise UsageError(f"{target}: no HyperPyYAML recipe; {_EXPECTED}")
    whole = next(iter(including(recipe, project)), recipe)
    return Target(whole.source.path, script=next(iter(scripts_of(whole, project).scripts), None))


def as_text(result: Result, *, colour: bool = False) -> str:
    """The report for people."""
    lines = [result.target]
    reasons: set[str] = set()
    width = max(len(check.name) for check in result.checks)
    longest = max(len(check.status) for check in result.checks)
    for check in result.checks:
        shown = status_text(check.status, width=longest, colour=colour)
        device = f" ({check.verdict.device})" if check.verdict.device else ""
        detail = check.verdict.detail
        if check.status == "not-run":
            detail = "for the same reason" if detail in reasons else detail
            reasons.add(check.verdict.detail)
        lines.append(f"  {check.name:<{width}}  {shown}  {detail}{device}")
    guard = [] if result.guard is None else [f"guard: {result.guard}"]
    return "\n".join([*lines, *guard, _summary(result)]) + "\n"


def status_text(status: str, *, width: int = 0, colour: bool = False) -> str:
    """A status in words, in its colour."""
    word = f"{status.replace('-', ' '):<{width}}"
    return f"{_COLOURS[status]}{word}\x1b[0m" if colour else word


def _summary(result: Result) -> str:
    parts = [f"{number} {word}" for word, number in _numbers(result) if number]
    hint = ""
    if result.exit_code == 2 and result.is_askable:
        hint = "; say what to pass to it, and its inputs, under `[tool.modellint.confirm.targets]`"
    return f"{len(result.checks)} checks: {', '.join(parts)}{hint}"


def _numbers(result: Result) -> Sequence[tuple[str, int]]:
    return [(word.replace("-", " "), result.number(word)) for word in _COLOURS]


def as_json(result: Result) -> str:
    """The report for programs."""
    shown = {"version": __version__, **as_object(result)}
    return json.dumps(shown, indent=2, ensure_ascii=False) + "\n"


def as_object(result: Result) -> dict[str, Any]:
    """A target with its checks, as JSON-able values."""
    checks = [
        {
            "name": check.name,
            "status": check.status,
            "device": check.verdict.device,
            "detail": check.verdict.detail,
        }
        for check in result.checks
    ]
    return {
        "target": result.target,
        "checks": checks,
        "duration_s": round(result.duration, 3),
        "guard": None if result.guard is None else guard_json(result.guard),
    }
