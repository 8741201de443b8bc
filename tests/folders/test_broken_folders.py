"""Folders that the libraries wrote are told nothing about; each way of breaking one is told once, where it was done."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("transformers")

import published
from breaking import CHANGES, Change

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace


CODES = "ML601,ML602,ML603,ML606,ML607"


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All folders of `published.py`."""
    top = tmp_path_factory.mktemp("intact")
    for name, make in published.FOLDERS.items():
        (top / name).mkdir()
        make(top / name)
    return top


def told(workspace: Workspace, folder: str) -> list[tuple[str, str]]:
    """Code and file of each finding."""
    report = workspace.run("check", "--output-format", "json", "--select", CODES, folder).json
    return [(one["code"], one["path"].removeprefix(f"{folder}/")) for one in report["findings"]]


def test_an_intact_folder_is_told_nothing_about(workspace: Workspace, intact: Path) -> None:
    shutil.copytree(intact, workspace.root / "all")
    assert told(workspace, "all") == []


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_change_is_told_once_or_does_no_harm(change: Change, workspace: Workspace, intact: Path) -> None:
    folder = workspace.root / change.folder
    shutil.copytree(intact / change.folder, folder)
    change.make(folder)
    assert told(workspace, change.folder) == ([(change.code, change.file)] if change.code else [])


def test_there_are_many_ways_to_break_a_folder() -> None:
    names = [str(change) for change in CHANGES]
    assert len(names) == len(set(names))
    assert sum(bool(change.code) for change in CHANGES) >= 60
    assert json.dumps(names)
