"""Recipes of a SpeechBrain release are judged alike whether it is installed or not: by its source, or by shipped facts.

The recipes come from the clone that `MODELLINT_SPEECHBRAIN` names, the releases from their wheels.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from packages import checked, unpacked

CLONE = os.environ.get("MODELLINT_SPEECHBRAIN")
#: How many Python files and recipes the recipes of a release are, links left out.
RELEASES = {"1.0.3": 471, "1.1.0": 486}


def environment(root: Path, wheel: Path) -> Path:
    """The interpreter of an environment in which a wheel is installed, as far as reading it goes."""
    packages = root / "lib" / "python3" / "site-packages"
    packages.parent.mkdir(parents=True)
    packages.symlink_to(wheel, target_is_directory=True)
    (root / "pyvenv.cfg").touch()
    python = root / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    return python


def places(report: Any) -> set[tuple[Any, ...]]:
    keys = ("code", "path", "line", "column", "symbol", "message", "confidence")
    return {tuple(finding[key] for key in keys) for finding in report["findings"]}


@pytest.mark.timeout(1200)
@pytest.mark.skipif(CLONE is None, reason="set MODELLINT_SPEECHBRAIN to a clone of speechbrain")
@pytest.mark.parametrize("release", RELEASES)
def test_an_installed_release_makes_no_difference(release: str, tmp_path: Path) -> None:
    archive = subprocess.run(
        ["git", "-C", str(CLONE), "archive", f"v{release}", "recipes"], check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(tmp_path / "project")
    folder = Path(os.environ.get("MODELLINT_CORPUS") or tmp_path / "wheels")
    python = environment(tmp_path / "environment", unpacked("speechbrain", release, folder))
    without = checked(tmp_path / "project")
    installed = checked(tmp_path / "project", ".", "--python", str(python))
    assert without["files_checked"] == RELEASES[release]
    assert places(without) == places(installed)
    assert places(without)
