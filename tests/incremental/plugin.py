"""Leaves out the tests that passed with the same content before, says so, and notes what passes now.

The process that has the workers reads the store and tells them, so that all of them leave out the same.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from incremental.circumstances import ROOT, extent, machine
from incremental.closures import Repository
from incremental.store import VARIABLE, Store, key

if TYPE_CHECKING:
    from pathlib import Path

#: Tests of what a machine has, or whose own subject is what is left out.
ALWAYS = ("tests/test_incremental.py", "tests/test_examples.py")
_SHELF = "tests"


class Passed:
    """What passed before, and what passes in this run, by the key of each test."""

    def __init__(self, store: Store, before: frozenset[str], contents: dict[str, str]) -> None:
        """`contents` has for each test file a digest of all that its tests rest on."""
        self._store, self._before, self.contents = store, before, contents
        self._outcomes: dict[str, set[str]] = {}
        self.left_out: Counter[str] = Counter()

    def key(self, nodeid: str) -> str | None:
        """The key of a test, None if it has to run each time."""
        content = self.contents.get(nodeid.partition("::")[0])
        return None if content is None else key(content, nodeid)

    def has(self, nodeid: str) -> bool:
        return self.key(nodeid) in self._before

    def saw(self, report: pytest.TestReport) -> None:
        self._outcomes.setdefault(report.nodeid, set()).add(f"{report.when} {report.outcome}")

    def save(self) -> None:
        whole = {"setup passed", "call passed", "teardown passed"}
        keys = [self.key(nodeid) for nodeid, seen in self._outcomes.items() if seen == whole]
        self._store.note(_SHELF, [one for one in keys if one is not None])


_PASSED = pytest.StashKey[Passed]()
#: What workers are told, and what they tell.
_TOLD, _LEFT_OUT = "modellint_passed", "modellint_left_out"


def contents(root: Path) -> dict[str, str]:
    """A digest of all that the tests of each file rest on. Raises LookupError outside of a work tree of git."""
    repository = Repository(root)
    tests = [name for name in repository.below("tests") if name.rpartition("/")[2].startswith("test_")]
    return {
        test: key(machine(), extent(), repository.digest(repository.of_test(test)))
        for test in tests
        if test.endswith(".py") and test not in ALWAYS
    }


def pytest_configure(config: pytest.Config) -> None:
    store = Store.chosen()
    if store is None or config.option.collectonly:
        return
    told = getattr(config, "workerinput", {}).get(_TOLD)
    if told is not None:
        config.stash[_PASSED] = Passed(store, frozenset(told["before"]), told["contents"])
    elif not hasattr(config, "workerinput"):
        try:
            config.stash[_PASSED] = Passed(store, store.passed(_SHELF), contents(ROOT))
        except LookupError:
            return  # all runs


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    passed = node.config.stash.get(_PASSED, None)
    if passed is not None:
        node.workerinput[_TOLD] = {"before": sorted(passed._before), "contents": passed.contents}


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
