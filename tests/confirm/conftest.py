"""Torch for the tests of confirming: they are skipped without it, but never where everything must run."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if importlib.util.find_spec("torch") is None and not os.environ.get("CI"):
        skip = pytest.mark.skip(reason="torch is not installed")
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(skip)
