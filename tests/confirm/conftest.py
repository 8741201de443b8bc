"""Torch for the tests of confirming: they are skipped without it, but never where everything must run."""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from incremental.circumstances import has_turn
from served import SERVERS

from modellint.confirm import battery, confirmer, interpreters
from modellint.confirm.guarded import Guarding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from modellint.finding import Sandbox

HERE = Path(__file__).parent


#: Of the cases of tests, one of so many is run where nobody asks for these tests, and all of them in CI.
TURNS = 3


def waits(nodeid: str, args: Iterable[str]) -> bool:
    """True for a case of a test that has no turn in a run of all tests; `MODELLINT_CONFIRM=all` leaves out none."""
    is_whole = os.environ.get("MODELLINT_CONFIRM") == "all" or any("confirm" in arg for arg in args)
    return not is_whole and nodeid.endswith("]") and not has_turn(nodeid, TURNS)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    waiting = [item for item in items if HERE in item.path.parents and waits(item.nodeid, map(str, config.args))]
    if waiting:
        config.hook.pytest_deselected(items=waiting)
        items[:] = [item for item in items if item not in set(waiting)]
    if importlib.util.find_spec("torch") is None and not os.environ.get("CI"):
        skip = pytest.mark.skip(reason="torch is not installed")
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(skip)


@cache
def _guard(mode: str, device: str) -> Sandbox:
    return interpreters.guard_of(Guarding(mode, device=device))


@cache
def _has_torch(mode: str, device: str) -> bool:
    return interpreters.first_with_torch([Path(sys.executable)], Guarding(mode, device=device)) is not None


def _chosen(candidates: Iterable[Path], guarding: Guarding) -> Path | None:
    existing = [python for python in candidates if python.exists()]
    if existing != [Path(sys.executable)]:
        return interpreters.first_with_torch(existing, guarding)
    return existing[0] if _has_torch(guarding.mode, guarding.device) else None


@pytest.fixture(autouse=True)
def _this_interpreter_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands that are run in this process know what earlier tests have asked of the interpreter of the tests."""
    monkeypatch.setattr(confirmer, "guard_of", lambda guarding: _guard(guarding.mode, guarding.device))
    monkeypatch.setattr(confirmer, "first_with_torch", _chosen)


@pytest.fixture(autouse=True)
def _commands_ask_the_shared_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands that are run in this process fork from servers that have imported torch for earlier tests."""
    for module in (battery, confirmer):
        monkeypatch.setattr(module, "ForkServers", lambda: nullcontext(SERVERS))


@pytest.fixture(scope="session", autouse=True)
def _servers_end_with_the_tests() -> Iterator[None]:
    yield
    SERVERS.close()
