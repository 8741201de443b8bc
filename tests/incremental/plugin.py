"""Leaves out the tests that passed with the same content before, says so, and notes what passes now.

The process that has the workers reads the store and tells them, so that all of them leave out the same. A test that
opens a file which it should not rest on, by its closure, is not noted, and the end of the run names it.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from incremental.circumstances import ROOT, extent, machine
from incremental.closures import Repository
from incremental.store import VARIABLE, Store, key

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

#: Tests of what a machine has, or whose own subject is what is left out.
ALWAYS = ("tests/test_incremental.py", "tests/test_examples.py")
_SHELF = "tests"


class Passed:
    """What passed before, and what passes in this run, by the key of each test."""

    def __init__(
        self,
        store: Store,
        before: frozenset[str],
        contents: dict[str, str],
        closures: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        """`contents` has for each test file a digest of all that its tests rest on, `closures` has the files."""
        self._store, self._before, self.contents, self._closures = store, before, contents, closures or {}
        self._outcomes: dict[str, set[str]] = {}
        self.strays: dict[str, str] = {}
        self.left_out: Counter[str] = Counter()

    def key(self, nodeid: str) -> str | None:
        """The key of a test, None if it has to run each time."""
        content = self.contents.get(nodeid.partition("::")[0])
        return None if content is None else key(content, nodeid)

    def has(self, nodeid: str) -> bool:
        return self.key(nodeid) in self._before

    def saw(self, report: pytest.TestReport) -> None:
        self._outcomes.setdefault(report.nodeid, set()).add(f"{report.when} {report.outcome}")
        closure = self._closures.get(report.nodeid.partition("::")[0])
        strays = set(getattr(report, _OPENED, ())) - (closure or set()) if closure is not None else set()
        if strays:
            self.strays[report.nodeid] = min(strays)

    def save(self) -> None:
        whole = {"setup passed", "call passed", "teardown passed"}
        noted = [nodeid for nodeid, seen in self._outcomes.items() if seen == whole and nodeid not in self.strays]
        keys = map(self.key, noted)
        self._store.note(_SHELF, [one for one in keys if one is not None])


_PASSED = pytest.StashKey[Passed]()
_FILES = pytest.StashKey[list[str]]()
#: What workers are told, and what they tell.
_TOLD, _LEFT_OUT, _OPENED = "modellint_passed", "modellint_left_out", "modellint_opened"
#: The tracked files that are opened while a test runs.
_opened: set[str] = set()


def closures(repository: Repository) -> dict[str, frozenset[str]]:
    """The files that the tests of each file rest on."""
    tests = [name for name in repository.below("tests") if name.rpartition("/")[2].startswith("test_")]
    return {test: repository.of_test(test) for test in tests if test.endswith(".py") and test not in ALWAYS}


def contents(repository: Repository, closures: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """A digest of all that the tests of each file rest on."""
    return {test: key(machine(), extent(), repository.digest(files)) for test, files in closures.items()}


def _listen(files: frozenset[str]) -> None:
    """Let each file of the repository that this process opens be remembered."""
    start = f"{ROOT}{os.sep}"

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(start):
            name = arguments[0][len(start) :].replace(os.sep, "/")
            if name in files:
                _opened.add(name)

    sys.addaudithook(hear)


def pytest_configure(config: pytest.Config) -> None:
    store = Store.chosen()
    if store is None or config.option.collectonly:
        return
    told = getattr(config, "workerinput", {}).get(_TOLD)
    if told is not None:
        config.stash[_PASSED] = Passed(store, frozenset(told["before"]), told["contents"])
        _listen(frozenset(told["files"]))
    elif not hasattr(config, "workerinput"):
        try:
            repository = Repository(ROOT)
        except LookupError:
            return  # all runs
        found = closures(repository)
        config.stash[_PASSED] = Passed(store, store.passed(_SHELF), contents(repository, found), found)
        config.stash[_FILES] = repository.files
        _listen(frozenset(repository.files))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    passed = node.config.stash.get(_PASSED, None)
    if passed is not None:
        node.workerinput[_TOLD] = {
            "before": sorted(passed._before),
            "contents": passed.contents,
            "files": node.config.stash[_FILES],
        }


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    report = yield
    if call.when == "teardown":
        setattr(report, _OPENED, sorted(_opened))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    _opened.clear()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    passed = config.stash.get(_PASSED, None)
    if passed is None:
        return
    left_out = [item for item in items if passed.has(item.nodeid)]
    passed.left_out.update(item.nodeid.partition("::")[0] for item in left_out)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not passed.has(item.nodeid)]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    passed = node.config.stash.get(_PASSED, None)
    if passed is not None:
        passed.left_out |= Counter(getattr(node, "workeroutput", {}).get(_LEFT_OUT, {}))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if _RUNNING:
        _RUNNING[0].saw(report)


#: Reports come without their configuration.
_RUNNING: list[Passed] = []


def pytest_sessionstart(session: pytest.Session) -> None:
    passed = session.config.stash.get(_PASSED, None)
    if passed is not None and not hasattr(session.config, "workerinput"):
        _RUNNING[:] = [passed]


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    passed = session.config.stash.get(_PASSED, None)
    if passed is None:
        return
    if hasattr(session.config, "workerinput"):
        session.config.workeroutput[_LEFT_OUT] = dict(passed.left_out)
        return
    passed.save()
    if session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and passed.left_out:
        session.exitstatus = pytest.ExitCode.OK


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    passed = config.stash.get(_PASSED, None)
    if passed is not None and passed.left_out:
        terminalreporter.write_line(
            f"{passed.left_out.total()} tests of {len(passed.left_out)} files passed before with all that they rest on "
            f"as it is now, and did not run again ({VARIABLE})"
        )
    for test, stray in sorted(passed.strays.items() if passed is not None else ()):
        terminalreporter.write_line(f"{test} opens {stray}, which its file does not lead to: it runs each time")
