"""Analyses one file after the other: frontends, links and rules, with every failure contained."""

from __future__ import annotations

import gc
import symtable
from dataclasses import field, replace
from time import process_time
from typing import TYPE_CHECKING, TypeVar

from modellint import operators
from modellint.finding import verified
from modellint.graph.immutable import dataclass
from modellint.graph.value import dotted
from modellint.link.budget import ExhaustedError, LeftOutError, SupersededError
from modellint.link.project import Project, ProjectOptions
from modellint.link.recipes.copies import copied_from
from modellint.pipeline.stack import in_one_chunk
from modellint.reading.files import Files
from modellint.reading.model_folders import SPEECHBRAIN, marker_of
from modellint.reading.paths import shown
from modellint.results.failures import RAISED, Crash, noted
from modellint.results.report import Inventory, ScriptChoice
from modellint.results.suppressions import Suppression, has_marker, in_python, in_yaml
from modellint.rule import Rule
from modellint.source import NOTEBOOK, PYTHON, YAML, UnreadableError, decode_python, decode_yaml, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from modellint.config import Settings
    from modellint.finding import Finding
    from modellint.flow.pack_theories import PackTheory, TheoryError
    from modellint.graph.python import Class, ModuleFacts
    from modellint.graph.recipe import Recipe
    from modellint.packs import RuleSet
    from modellint.reading.index import Indexes
    from modellint.reading.mentioning import Changed
    from modellint.reading.sizes import Oversized

T = TypeVar("T")
#: Keys of what a result rests on, each with its fingerprint.
Dependencies = tuple[tuple[str, str], ...]
#: The part of the time that isn't spent in rules.
READING = "reading files"
#: The package whose modules read files, and how many innermost frames `_recursing` looks at.
_FRONTENDS, _INNERMOST = "modellint.frontends", 50
_TOO_DEEP = UnreadableError("nested too deeply to be analysed")


#: The seconds that a rule is taken to need before it has run.
_A_BIT = 0.001
_NOTHING = Inventory()
#: The number of files after which the garbage collector frees cycles, and the oldest generation that it looks at: a
#: full collection takes much longer and finds little more.
_COLLECTED, _YOUNG = 256, 1


@dataclass(frozen=True, slots=True)
class FileResult:
    """The result of checking one root file: findings (in any file), before anything is suppressed or hidden.

    `readable` is False for a file that failed to parse, and `oversized` is set for one that was too large to read.
    `dependencies` are (key, fingerprint) pairs. `unfinished` are rules that ran out of budget, each with the question
    that was cut short. `seconds` is the processor time of each rule and of the rest, which is READING; empty if nothing
    was analysed. `inventory` counts what the file defines, and `paired` names the scripts of a recipe.
    """

    path: str
    findings: tuple[Finding, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    readable: bool = True
    crashes: tuple[Crash, ...] = ()
    dependencies: Dependencies = ()
    unfinished: tuple[tuple[str, str], ...] = ()
    oversized: Oversized | None = None
    seconds: tuple[tuple[str, float], ...] = field(default=(), compare=False)
    inventory: Inventory = _NOTHING
    paired: ScriptChoice | None = None
    #: The rules that are still to run, where the result is a first answer.
    waiting: frozenset[str] = frozenset()

    def sharing(self, known: dict[tuple[str, str], tuple[str, str]]) -> FileResult:
        """The result with its dependencies interned in `known`, so that results share them in memory."""
        return replace(self, dependencies=tuple(known.setdefault(pair, pair) for pair in self.dependencies))

    def rests_on(self, keys: Collection[str], changed: Changed | None = None) -> bool:
        """True if the result depends on one of `keys`, or on an answer that the changed files alter."""
        return any(key in keys or (changed is not None and changed.concerns(key)) for key, _ in self.dependencies)


@dataclass(frozen=True)
class Haste:
    """A first answer, wanted after so many `seconds` of processor time, with the rules that were dear before last.

    `answer` gets it while the other rules wait; `costs` are the seconds of each rule in an earlier check.
    """

    answer: Callable[[FileResult], None]
    costs: Mapping[str, float]
    seconds: float

    def ordered(self, rules: Sequence[Rule]) -> list[Rule]:
        """The rules, the cheapest first; of those without a cost the ones that ask for no more than calls.

        What several rules ask is paid by the first of them, so a rule counts as dear as those that it shares it with.
        """
        shares: dict[str, float] = {}
        for rule in rules:
            for query in set(rule.requires) - {"calls"}:
                shares[query] = max(shares.get(query, 0.0), self.costs.get(rule.code, 0.0))

        def cost(rule: Rule) -> float:
            own = self.costs.get(rule.code, 0.0 if rule.requires == ("calls",) else _A_BIT)
            return max(own, *(shares.get(query, 0.0) for query in rule.requires), 0.0)

        return sorted(rules, key=cost)


@dataclass
class _FileRun:
    """The result of a root file in the making."""

    path: Path
    haste: Haste | None = None
    findings: list[Finding] = field(default_factory=list)
    crashes: list[Crash] = field(default_factory=list)
    readable: bool = True
    unfinished: list[tuple[str, str]] = field(default_factory=list)
    #: Rules that asked for a theory which was left out.
    unasked: set[str] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=dict)
    #: The processor time at which the rule before ended, so that it is asked for once for each rule.
    clock: float = 0.0
    inventory: Inventory = _NOTHING
    paired: ScriptChoice | None = None

    def take(self, other: _FileRun) -> None:
        """Merge the result of another file, as one that a notebook writes, into this one."""
        self.findings += other.findings
        self.crashes += other.crashes
        self.readable &= other.readable
        self.unfinished += (part for part in other.unfinished if part not in self.unfinished)
        self.inventory = self.inventory.plus(other.inventory)
        for part, seconds in other.seconds.items():
            self.spend(part, seconds)

    def spend(self, part: str, seconds: float) -> None:
        self.seconds[part] = self.seconds.get(part, 0.0) + seconds


class Analyser:
    """Checks root files against the active rules; facts about linked files are cached between calls."""

    def __init__(
        self,
        rules: RuleSet,
        settings: Settings,
        overlay: Mapping[Path, bytes] | None = None,
        *,
        record: bool,
        largest: int | None = None,
        indexes: Indexes | None = None,
    ) -> None:
        """Linked files larger than `largest` bytes are not read; `indexes` are those of earlier runs."""
        self._theories = rules.theories
        options = ProjectOptions(
            settings.root, settings.python, settings.recipes, largest, self._theories, rules.properties
        )
        self.files = Files(overlay, record=record, limit=settings.max_file_size)
        self._project = Project(options, self.files, indexes)
        #: Projects without some theories of rule packs, by the set of those left out.
        self._others: dict[frozenset[PackTheory], Project] = {}
        #: Theories that don't terminate, and the file that showed it.
        self._endless: dict[PackTheory, Path] = {}
        self._rules = rules.active
        self._codes = rules.codes
        self._operators = rules.operators
        #: True while a file is being checked; and if that check was superseded.
        self._is_at_work = self._is_superseded = False
        #: The rules that check Python files.
        self._python_rules = [rule for rule in self._rules if type(rule).check_python is not Rule.check_python]
        #: The rules that check recipes or other configurations.
        self._recipe_rules = [rule for rule in self._rules if type(rule).check_recipe is not Rule.check_recipe]
        #: The rules that check folders of published models.
        self._folder_rules = [rule for rule in self._rules if type(rule).check_folder is not Rule.check_folder]

    def analyse_all(
        self, paths: Sequence[Path], on_begin: Callable[[Path], object] = lambda path: None
    ) -> Iterator[FileResult]:
        """The result of each path; Python files come last if no rule checks them, as others may have read them by then.

        `on_begin` is called with each path before anything that can fail.
        """
        idle = []
        self._project.expected.update(paths)
        for number, path in enumerate(paths, 1):
            on_begin(path)
            if kind_of(path.name) == PYTHON and not self._python_rules:
                idle.append(path)
            else:
                yield self.analyse(path)
            if not number % _COLLECTED:
                gc.collect(_YOUNG)
        for path in idle:
            on_begin(path)
            yield self.analyse(path)
        self._project.save()

    @in_one_chunk
    def analyse(self, path: Path, haste: Haste | None = None) -> FileResult:
        """Check one file; a Python file in `haste` gives a first answer. Raises SupersededError after `supersede`."""
        self._is_superseded, self._is_at_work = False, True
        try:
            return self._result(path, haste)
        except SupersededError:
            self._project.forget(set())  # what was begun
            self._others.clear()
            raise
        finally:
            self._is_at_work = False
            self._project.renew_budget()

    def supersede(self) -> None:
        """Abort the check under way, if there is one; may be called from another thread."""
        if self._is_at_work:
            self._is_superseded = True
            self._project.budget.supersede()

    def _result(self, path: Path, haste: Haste | None) -> FileResult:
        run, started = _FileRun(path, haste), process_time()
        operators.add(self._operators)
        with self.files.trace() as trace:
            # A part of a published model may be large, and is read as its kind is.
            data = self.files.read(path) if kind_of(path.name) is not None else b""
            oversized = self.files.oversized(path)
            if data is None:
                if oversized is None:
                    self._unreadable(run, UnreadableError("the file cannot be read"))
            elif (original := copied_from(path, self._project)) is not None:
                run.paired = ScriptChoice((), "", (), original.as_posix())
            elif self._theories:
                run = self._check_with_theories(path, data)
            else:
                self._look(run, data, self._project)
        prints = sorted((key, self.files.fingerprint(key)) for key in trace)
        self.files.forget(path)
        suppressions = suppressions_of(path, data, self._codes)
        run.spend(READING, process_time() - started - sum(run.seconds.values()))
        return FileResult(
            path.as_posix(),
            tuple(run.findings),
            suppressions,
            run.readable,
            tuple(run.crashes),
            tuple(prints),
            tuple(run.unfinished),
            oversized,
            tuple(run.seconds.items()),
            run.inventory,
            run.paired,
        )

    @in_one_chunk
    def renewed(self, result: FileResult, path: Path, data: bytes) -> FileResult | None:
        """A result with current dependencies; None if another dependency than the file, which holds `data`, changed."""
        own = f"file:{path.as_posix()}"
        if not all(key == own or self.files.holds(key, value) for key, value in result.dependencies):
            return None
        if copied_from(path, self._project) is not None:
            return None
        return replace(
            result,
            suppressions=suppressions_of(path, data, self._codes),
            dependencies=tuple((key, self.files.fingerprint(key)) for key, _ in result.dependencies),
        )

    def update(self, path: Path, data: bytes | None) -> set[str]:
        """Set the content of a file (None: what is on disk), and drop facts that depend on the old one.

        Returns the keys of dependencies that may have changed.
        """
        keys = self.files.update(path, data)
        self._project.forget(keys)
        self._others.clear()
        return keys

    @in_one_chunk
    def ask(self, question: Callable[[Project], T]) -> T:
        """The answer of `question(project)`; theories of rule packs that fail at it are left out."""
        return self._answer(question, frozenset(self._endless))[0] if self._theories else question(self._project)

    @in_one_chunk
    def ask_in_time(self, question: Callable[[Project], T]) -> tuple[T, Dependencies]:
        """The answer of `question(project)`, and what it rests on. Raises SupersededError after `supersede`."""
        self._is_superseded, self._is_at_work = False, True
        try:
            with self.files.trace() as trace:
                answer = self.ask(question)
        except SupersededError:
            self._project.forget(set())  # what was begun
            self._others.clear()
            raise
        finally:
            self._is_at_work = False
            self._project.renew_budget()
        return answer, tuple((key, self.files.fingerprint(key)) for key in sorted(trace))

    def keep(self, results: Iterable[FileResult]) -> None:
        """Drop files and facts that none of these results depends on."""
        keys = {key for result in results for key, _ in result.dependencies}
        self._project.save()
        self.files.keep(keys)
        self._project.keep(keys)
        self._others.clear()

    # -- theories of rule packs ------------------------------------------------------------------------------------

    def _check_with_theories(self, path: Path, data: bytes) -> _FileRun:
        """Check a file with the theories of rule packs, and again without those that fail or do harm."""

        def look(project: Project) -> _FileRun:
            run = _FileRun(path)
            self._look(run, data, project)
            return run

        name = path.as_posix()
        told = [
            Crash(str(theory), name, f"left out, as it did not come to an end on {shown(first)}")
            for theory, first in self._endless.items()
        ]
        run, failures = self._answer(look, frozenset(self._endless))
        left_out = frozenset((*self._endless, *(failure.theory for failure in failures)))
        for failure in failures:
            told.append(Crash.of(str(failure.theory), name, failure.error))
            if isinstance(failure.error, TimeoutError):
                self._endless.setdefault(failure.theory, path)
        for theory in self._theories:
            if theory not in left_out and (run.crashes or run.unfinished):
                other, more = self._answer(look, left_out | {theory})
                if not more and (harm := _harm(run, other)):
                    told.append(Crash(str(theory), name, harm))
                    run, left_out = other, left_out | {theory}
        run.crashes += told
        return run

    def _answer(self, question: Callable[[Project], T], left_out: frozenset[PackTheory]) -> tuple[T, list[TheoryError]]:
        """The answer of a project without the theories `left_out` and those that fail at it; and these failures."""
        from modellint.flow.pack_theories import TheoryError
        from modellint.pipeline.endless import ended_in_time

        failures: list[TheoryError] = []
        while True:
            project = self._without(left_out)
            try:
                with ended_in_time():
                    return question(project), failures
            except TheoryError as failure:
                project.forget(set())  # what was begun
                failures.append(failure)
                left_out |= {failure.theory}

    def _without(self, left_out: frozenset[PackTheory]) -> Project:
        if not left_out:
            return self._project
        found = self._others.get(left_out)
        if found is None:
            kept = tuple(theory for theory in self._theories if theory not in left_out)
            found = self._others[left_out] = Project(replace(self._project.options, theories=kept), self.files)
        return found

    # -- one file --------------------------------------------------------------------------------------------------

    def _look(self, run: _FileRun, data: bytes, project: Project) -> None:
        """Check a file by its kind, and add the outcome to `run`."""
        kind = kind_of(run.path.name)
        if kind == YAML:
            self._yaml(run, data, project)
        elif run.path.suffix == ".json":
            self._openmmlab(run, self.files.read(run.path) or b"", project)
        elif kind == NOTEBOOK:
            self._notebook(run, data, project)
        elif kind == PYTHON:
            self._python(run, data, project)
        if kind is None or run.path.name == SPEECHBRAIN:
            self._folder(run, project)

    def _folder(self, run: _FileRun, project: Project) -> None:
        """Check the folder of a published model that a file belongs to."""
        marker = marker_of(run.path.parent, self.files) or marker_of(run.path.parent.parent, self.files)
        if not self._folder_rules or marker is None or (run.path.name == SPEECHBRAIN and marker != run.path):
            return
        from modellint.folders import ModelFolder

        folder = ModelFolder(marker.parent, self.files)
        run.inventory = run.inventory.plus(Inventory(models=1))
        run.clock = process_time()
        for rule in self._folder_rules:
            self._check_rule(run, rule, rule.check_folder, folder, project)
        folder.read_documents()
        for name, error in sorted(folder.unreadable.items()):
            self._unreadable(run, error, marker.parent / name)

    def _python(self, run: _FileRun, data: bytes, project: Project) -> None:
        if not self._python_rules and (project.has_read(run.path) or _is_python(run.path, data)):
            self._openmmlab(run, data, project)
            return
        module = self._try_frontend(run, "the Python frontend", project.whole, run.path)
        if module is None:
            reason = project.reason(run.path) if kind_of(run.path.name) == PYTHON else None
            if reason is not None:
                self._unreadable(run, reason)
            else:  # the code of a notebook
                self._try_frontend(run, "the Python frontend", project.parsed, run.path, data)
            return
        run.clock = started = process_time()
        haste = run.haste
        rules = self._python_rules if haste is None else haste.ordered(self._python_rules)
        for number, rule in enumerate(rules, 1):
            if not rule.about or _reaches(rule.about, module, project):
                self._check_rule(run, rule, rule.check_python, module, project)
            if haste is not None and run.clock - started > haste.seconds and number < len(rules):
                self._answer_first(run, haste, rules[number:])
                haste = None
        if run.haste is not None:
            places = {rule.code: number for number, rule in enumerate(self._python_rules)}
            run.findings.sort(key=lambda finding: places.get(finding.code, -1))
        run.inventory = run.inventory.plus(Inventory(layers=_layers(module, project)))
        self._openmmlab(run, data, project)
        project.release(module)

    def _answer_first(self, run: _FileRun, haste: Haste, waiting: Sequence[Rule]) -> None:
        """Give the findings so far as a first answer."""
        with self.files.untraced():
            suppressions = suppressions_of(run.path, self.files.read(run.path), self._codes)
            codes = frozenset(rule.code for rule in waiting)
            haste.answer(FileResult(run.path.as_posix(), tuple(run.findings), suppressions, waiting=codes))

    def _yaml(self, run: _FileRun, data: bytes, project: Project) -> None:
        from modellint.dialects.apps import may_be_composed, programs_of
        from modellint.dialects.lightning_cli.gate import may_be_loaded, read_checked, read_loaded
        from modellint.frontends import recipe as recipe_frontend
        from modellint.graph.recipe import Dialect
        from modellint.link.recipes.loaders import is_loaded_otherwise

        part = "the recipe frontend"
        recipe = None
        if recipe_frontend.looks_like_recipe(data):
            recipe = self._try_frontend(run, part, project.recipe, run.path)
            if recipe is None:  # read again for the reason, which the project does not keep
                self._try_frontend(run, part, recipe_frontend.read, run.path, data)
            elif self._try_frontend(run, part, is_loaded_otherwise, recipe, project):
                recipe = None
        is_recipe = recipe is not None
        if recipe is None and may_be_composed(run.path, data, project) and programs_of(run.path, project):
            recipe = self._try_frontend(run, part, project.omegaconf, run.path)
            if recipe is None:
                self._try_frontend(run, part, recipe_frontend.read_omegaconf, run.path, data)
        elif recipe is None and recipe_frontend.looks_like_config(data):
            recipe = self._try_frontend(run, part, project.config, run.path)
            if recipe is None:
                self._try_frontend(run, part, recipe_frontend.read_config, run.path, data)
        if recipe is None and may_be_loaded(run.path, data, project):
            recipe = self._try_frontend(run, part, read_loaded, run.path, project)
            if recipe is None:
                self._try_frontend(run, part, read_checked, run.path, data, project)
        if recipe is None and not is_recipe and recipe_frontend.names_target(data, Dialect.LATENT):
            from modellint.dialects.latent import latent_config

            recipe = self._try_frontend(run, part, latent_config, run.path, data, project)
        if recipe is None:
            self._openmmlab(run, data, project)
        if recipe is not None:
            run.inventory = run.inventory.plus(Inventory(recipes=int(is_recipe), configurations=int(not is_recipe)))
            run.clock = process_time()
            for rule in self._recipe_rules:
                if is_recipe or rule.takes_configs:
                    self._check_rule(run, rule, rule.check_recipe, recipe, project)
            run.paired = _script_choice(recipe, project) if is_recipe else None

    def _openmmlab(self, run: _FileRun, data: bytes, project: Project) -> None:
        """Check a file as the configuration of OpenMMLab that it may be."""
        if b"_base" not in data and b"type" not in data:
            return
        from modellint.dialects.openmmlab import config_in

        file = self._try_frontend(run, "the recipe frontend", config_in, run.path, data, project)
        if file is not None:
            run.inventory = run.inventory.plus(Inventory(configurations=1))
            for rule in self._recipe_rules:
                if rule.takes_configs:
                    self._check_rule(run, rule, rule.check_recipe, file.recipe, project)

    def _notebook(self, run: _FileRun, data: bytes, project: Project) -> None:
        """Check a notebook's code as a module, and the files that its cells write as if they lay in its folder."""
        from modellint.notebook.places import into_notebook
        from modellint.notebook.reading import read

        run.haste = None  # its findings are moved into cells at the end
        book = self._try_frontend(run, "the notebook frontend", read, data)
        if book is None:
            return
        files, parts = self.files, book.files(run.path)
        if parts:
            files = self.files.beside({part.path: part.data for part in parts})
            project = Project(project.options, files)
        with files.trace() as trace:
            self._python(run, book.module(run.path).data, project)
            for part in parts:
                inner = _FileRun(part.path)
                check = self._yaml if kind_of(part.path.name) == YAML else self._python
                check(inner, part.data, project)
                run.take(inner)
        self.files.depend(tuple(trace))
        run.findings[:] = (into_notebook(finding, run.path, parts) for finding in run.findings)
        for error in book.errors:
            self._unreadable(run, error)

    def _try_frontend(self, run: _FileRun, part: str, compute: Callable[..., T], *args: object) -> T | None:
        """The result of `compute`; None if it fails, with the failure added to `run`."""
        if not run.readable or any(crash.part == part for crash in run.crashes):
            return None
        try:
            return compute(*args)
        except UnreadableError as error:
            self._unreadable(run, error)
        except (RecursionError, MemoryError):
            self._unreadable(run, _TOO_DEEP)
        except RAISED as error:
            run.crashes.append(Crash.of(part, run.path.as_posix(), error))
        return None

    def _check_rule(
        self, run: _FileRun, rule: Rule, check: Callable[[T, Project], Iterable[Finding]], about: T, project: Project
    ) -> None:
        """Run a rule's check and add its findings one by one, so that a later failure loses none of them."""
        if not run.readable:
            return
        if self._is_superseded:
            raise SupersededError
        budget = project.budget
        budget.begin()
        try:
            for finding in check(about, project):
                found = verified(finding)
                if not _is_tested(found, about, project):
                    run.findings.append(_with_anchors(found, project))
        except UnreadableError as error:
            self._unreadable(run, error)
        except ExhaustedError as error:
            budget.cut[error.question] = None
        except LeftOutError as error:
            run.unasked.add(rule.code)
            if all(theory.kind is not error.kind for theory in self._theories):
                run.crashes.append(Crash.of(rule.code, run.path.as_posix(), error))
        except RAISED as error:
            place = _recursing(rule, error) if isinstance(error, RecursionError) else "rule"
            if place == "frontend":
                self._unreadable(run, _TOO_DEEP)
            elif place == "engine":
                budget.cut[""] = None
            else:
                run.crashes.append(Crash.of(rule.code, run.path.as_posix(), error))
        finally:
            run.unfinished += ((rule.code, question) for question in budget.cut)
            now = process_time()
            run.spend(rule.code, now - run.clock)
            run.clock = now

    def _unreadable(self, run: _FileRun, error: UnreadableError, file: Path | None = None) -> None:
        """Report the file of a run, or another one that is read with it, as unreadable."""
        run.readable = False
        path = (file or run.path).as_posix()
        for rule in self._rules:
            with noted(run.crashes, rule.code, path):
                run.findings += map(verified, rule.check_unreadable(path, error))


def _harm(run: _FileRun, other: _FileRun) -> str:
    """A failure of `run` that doesn't occur in the `other` run of the same file, in words; empty if there is none."""
    still = {crash.part for crash in other.crashes} | other.unasked
    mended = next((crash for crash in run.crashes if crash.part not in still), None)
    if mended is not None:
        return f"{mended.error} (in {mended.part})"
    ended = {code for code, _ in other.unfinished} | other.unasked
    unfinished = dict.fromkeys(code for code, _ in run.unfinished if code not in ended)
    return f"{', '.join(unfinished)} would not come to an end with it" if unfinished else ""


def _is_tested(finding: Finding, about: object, project: Project) -> bool:
    """True if a test expects the code of a finding, or of all its related places, to fail (`pytest.raises`)."""
    from modellint.graph.python import ModuleFacts
    from modellint.link.calls.doubts import is_meant_to_fail

    if not isinstance(about, ModuleFacts) or finding.path != about.path:
        return False
    uses = [one.place for one in finding.related]
    is_used_so = bool(uses) and all(
        place.path == about.path and is_meant_to_fail(about, place.span.line, project) for place in uses
    )
    return is_used_so or is_meant_to_fail(about, finding.span.line, project)


def _with_anchors(finding: Finding, project: Project) -> Finding:
    """The finding with anchors for its claim's places."""
    if finding.claim is None:
        return finding
    from modellint.pipeline.anchors import add_anchors

    return replace(finding, claim=add_anchors(finding.claim, project))


def _script_choice(recipe: Recipe, project: Project) -> ScriptChoice | None:
    """The scripts that a recipe was paired with; None if no rule has asked for them."""
    from modellint.link.recipes.pairing import known_pairing

    pairing = known_pairing(recipe, project)
    if pairing is None:
        return None
    turned_down = tuple((one.script.as_posix(), one.reason) for one in pairing.turned_down)
    return ScriptChoice(tuple(script.as_posix() for script in pairing.scripts), pairing.reason, turned_down)


def _layers(module: ModuleFacts, project: Project) -> int:
    """The number of a module's classes that are known to be layers."""
    try:
        return sum(_is_layer(cls, module, project) for cls in module.classes.values() if cls.bases)
    except RAISED:  # which a rule that asks the same has told
        return 0


def _is_layer(cls: Class, module: ModuleFacts, project: Project) -> bool:
    """True if a class is known to be a layer; a direct base `nn.Module` tells without reading other files."""
    from modellint.link.classes.calls import MODULE
    from modellint.link.names import External

    for base in cls.bases:
        name = dotted(base)
        definition = None if name is None else project.names.resolve(module, name)
        if isinstance(definition, External) and definition.name == MODULE:
            return True
    return project.classes.model(cls).is_module is True


def _recursing(rule: Rule, error: RecursionError) -> str:
    """The code that recursed too deeply: "rule", "frontend" or "engine", by the frames of the error."""
    import traceback

    names = [str(frame.f_globals.get("__name__")) for frame, _ in traceback.walk_tb(error.__traceback__)]
    own = type(rule).__module__
    if 2 * sum(name == own or name.startswith(f"{own}.") for name in names) > len(names):
        return "rule"
    return "frontend" if any(name.startswith(_FRONTENDS) for name in names[-_INNERMOST:]) else "engine"


def _reaches(names: Collection[str], module: ModuleFacts, project: Project) -> bool:
    """True if a file may reach one of the libraries of some names, through the files that it imports, too."""
    from modellint.link.values.torch_reach import reaches_torch

    return any(not name.startswith("torch.") for name in names) or reaches_torch(module, project)


def _is_python(path: Path, data: bytes) -> bool:
    """True if a file that no rule checks decodes and parses; building a symbol table costs half of a syntax tree.

    The code of a notebook has been parsed.
    """
    if kind_of(path.name) == NOTEBOOK:
        return True
    try:
        if not data.isascii() or b"\0" in data:
            decode_python(path, data)
        symtable.symtable(data, "<file>", "exec")  # type: ignore[arg-type]
    except (UnreadableError, SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def suppressions_of(path: Path, data: bytes | None, codes: frozenset[str]) -> tuple[Suppression, ...]:
    """The comments in a file that silence findings of rules with these codes; none if it is unreadable."""
    if data is None or kind_of(path.name) is None or not has_marker(data, codes):
        return ()
    try:
        if kind_of(path.name) == YAML:
            return in_yaml(decode_yaml(path, data))
        if kind_of(path.name) == NOTEBOOK:
            from modellint.notebook.places import suppressions_in

            return suppressions_in(path, data)
        return in_python(decode_python(path, data))
    except UnreadableError:
        return ()
