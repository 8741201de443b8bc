"""Torch for the tests of confirming: they are skipped without it, but never where everything must run."""

from __future__ import annotations

import importlib.util
import os
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from served import SERVERS

from modellint.confirm import battery, confirmer

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if importlib.util.find_spec("torch") is None and not os.environ.get("CI"):
        skip = pytest.mark.skip(reason="torch is not installed")
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(skip)


@pytest.fixture(autouse=True)
def _commands_ask_the_shared_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands that are run in this process fork from servers that have imported torch for earlier tests."""
    for module in (battery, confirmer):
        monkeypatch.setattr(module, "ForkServers", lambda: nullcontext(SERVERS))


@pytest.fixture(scope="session", autouse=True)
def _servers_end_with_the_tests() -> Iterator[None]:
    yield
    SERVERS.close()
