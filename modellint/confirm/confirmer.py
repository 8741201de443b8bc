"""From findings to verdicts: what to run, in which processes, and what remains to be shown."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.config.confirming import ConfirmSettings
from modellint.config.errors import UsageError
from modellint.confirm.child import answer
from modellint.confirm.forkserver import ForkServers
from modellint.confirm.guarded import Guarding, Limits
from modellint.confirm.interpreters import first_with_torch, guard_of, has_gpu, interpreters
from modellint.confirm.plan import group_by_target
from modellint.confirm.scratch import sweep
from modellint.confirm.setup import Setup
from modellint.finding import Confidence, Finding, Judged, Status, Verdict
from modellint.graph.immutable import dataclass
from modellint.link.project import Project, ProjectOptions
from modellint.pipeline.anchors import CodeChangedError, current
from modellint.reading.files import Files
from modellint.results.failures import RAISED, Crash
from modellint.source import NOTEBOOK, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from modellint.config import Settings
    from modellint.confirm.notebooks import Opened
    from modellint.confirm.plan import Group
    from modellint.packs import RuleSet
    from modellint.probes import Probe
    from modellint.rule import Rule

INSTALL = (
    "runs models and needs torch: `pip install 'modellint[confirm]'`, or name the project's interpreter with --python"
)
_NO_GUARD = (
    '{who}: `guard` is "required", but here code can be guarded in part only ({parts}); '
    'expected Landlock and seccomp (Linux 5.13 or later on x86-64 or 64-bit Arm), or `guard = "auto"`'
)
_CHANGED = "the code that it speaks of has changed since it was checked"
_NO_GPU = "--device cuda: {python} finds no GPU that torch can use; expected one, or --device auto"


@dataclass(frozen=True)
class Wishes:
    """The options of the command line that concern confirming; `timeout` is in seconds, for each process."""

    device: str = "auto"
    timeout: float | None = None
    show_refuted: bool = False
    confirmed_only: bool = False

    def divided(self, judged: Sequence[Finding]) -> tuple[Sequence[Finding], Sequence[Finding]]:
        """The findings to show of those with a verdict, and those that are left out as refuted."""
        refuted = [finding for finding in judged if finding.verdict.status is Status.REFUTED]
        if self.confirmed_only:
            return [finding for finding in judged if finding.verdict.status is Status.CONFIRMED], refuted
        if self.show_refuted:
            return judged, []
        return [finding for finding in judged if finding.verdict.status is not Status.REFUTED], refuted


class Confirmer:
    """Gives findings verdicts. Raises UsageError if there is no torch to run models with.

    Whoever confirms more than once can share fork servers, and then ends them.
    """

    def __init__(self, settings: Settings, rules: RuleSet, wishes: Wishes, servers: ForkServers | None = None) -> None:
        self._rules: Mapping[str, Rule] = rules.rules
        self._settings = settings
        self._wishes = wishes
        self._servers = servers
        #: Told how many of the models have been run.
        self.on_progress: Callable[[int, int], None] = lambda done, total: None
        self._project = self._linked_project()
        self._notebooks: dict[str, Opened] = {}
        #: By the number of the finding: the rules that failed to say what to run.
        self._crashes: dict[int, Crash] = {}
        self._setup = setup_for(settings, wishes, "--confirm")

    def __call__(self, findings: Sequence[Finding]) -> Judged:
        """The findings with their verdicts; those that confirm are of high confidence, refuted ones are left out."""
        self._crashes.clear()
        self._notebooks.clear()
        self._project = self._linked_project()
        judged = self._with_verdicts(findings)
        shown, refuted = self._wishes.divided(judged)
        return Judged(tuple(shown), tuple(refuted), self._setup.guard, tuple(self._crashes.values()))

    def _linked_project(self) -> Project:
        """A project with the files as they are on the disk now."""
        options = ProjectOptions(self._settings.root, self._settings.python, self._settings.recipes)
        return Project(options, Files(limit=self._settings.max_file_size))

    def _with_verdicts(self, findings: Sequence[Finding]) -> list[Finding]:
        verdicts: dict[int, Verdict] = {}
        probes: list[tuple[int, Probe]] = []
        for number, finding in enumerate(findings):
            try:
                probe = self._probe(finding)
            except CodeChangedError:
                verdicts[number] = Verdict(Status.UNCONFIRMED, None, _CHANGED)
                continue
            except RAISED as error:
                self._crashes[number] = crash = Crash.of(finding.code, finding.path, error)
                verdicts[number] = Verdict(Status.UNCONFIRMED, None, crash.message)
                continue
            if probe is None:
                verdicts[number] = Verdict(Status.UNCONFIRMED, None, self._why_not(finding))
            else:
                probes.append((number, probe))
        with nullcontext(self._servers) if self._servers else ForkServers() as servers:
            verdicts.update(self._answers(group_by_target(probes), replace(self._setup, servers=servers)))
        return [_with(finding, verdicts[number]) for number, finding in enumerate(findings)]

    def _answers(self, groups: Sequence[Group], setup: Setup) -> Mapping[int, Verdict]:
        verdicts: dict[int, Verdict] = {}
        done = 0
        with ThreadPoolExecutor(self._settings.jobs or 2) as executor:
            futures = [executor.submit(answer, group, setup) for group in groups]
            try:
                for future in as_completed(futures):
                    verdicts.update(future.result())
                    done += 1
                    self.on_progress(done, len(groups))
            except BaseException:  # Ctrl-C, say: nobody is to be waited for
                setup.guarding.stop.set()
                executor.shutdown(wait=True, cancel_futures=True)
                raise
        return verdicts

    def _probe(self, finding: Finding) -> Probe | None:
        rule = self._rules[finding.code]
        if finding.claim is None:
            return None
        if kind_of(finding.path) == NOTEBOOK:
            book = self._open_notebook(finding.path)
            claim = book.inner(finding).claim
            return None if claim is None else book.with_files(rule.probe(current(claim, book.project), book.project))
        return rule.probe(current(finding.claim, self._project), self._project)

    def _open_notebook(self, path: str) -> Opened:
        from modellint.confirm.notebooks import Opened

        if path not in self._notebooks:
            self._notebooks[path] = Opened(Path(path), self._project.options)
        return self._notebooks[path]

    def _why_not(self, finding: Finding) -> str:
        if self._rules[finding.code].is_confirmable():
            return "nothing that can be run was found for it"
        return f"{finding.code} is not confirmed by running code"


def _with(finding: Finding, verdict: Verdict) -> Finding:
    confidence = Confidence.HIGH if verdict.status is Status.CONFIRMED else finding.confidence
    return replace(finding, verdict=verdict, confidence=confidence)


def setup_for(settings: Settings, wishes: Wishes, who: str) -> Setup:
    """How to run models. Raises UsageError for bad settings, and if torch or a GPU that is asked for is not there."""
    said, root = settings.confirm or ConfirmSettings(), settings.root
    limits = Limits(wishes.timeout or said.timeout, int(said.memory * 2**30))
    guarding = Guarding(said.guard, limits, wishes.device)
    sweep()
    guard = guard_of(guarding)
    if guarding.mode == "required" and guard.name != "operating system":
        raise UsageError(_NO_GUARD.format(who=who, parts=", ".join(guard.parts)))
    roots = [root, root / "src", *(root / folder for folder in said.roots)]
    is_told = settings.origins.get("python") == "--python"
    own = None if is_told else _interpreter(said, settings)
    python = first_with_torch(interpreters(own or settings.python, root), guarding)
    if python is None:
        raise UsageError(f"{who} {INSTALL}")
    if wishes.device == "cuda" and not has_gpu(python, guarding):
        raise UsageError(_NO_GPU.format(python=python))
    folders = tuple(folder.as_posix() for folder in roots)
    overrides = tuple(said.overrides.items())
    return Setup(python, folders, guarding, overrides, said.mock_imports, said.targets, guard)


def _interpreter(said: ConfirmSettings, settings: Settings) -> Path | None:
    """The path in the setting `python` of `confirm`; None if it is not set. Raises UsageError without such a file."""
    if said.python is None:
        return None
    path = settings.root / said.python
    if not path.exists():
        where = settings.origins.get("confirm", "`confirm`")
        raise UsageError(f"{where}: `python`: {path}: no such file or folder")
    return path
