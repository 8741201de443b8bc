"""The incidents under `examples/`, confirmed through the command line on a machine without a GPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
FACTS = {
    "mini-omni": (
        "ML103",
        ("ids [0, 4159]", "look up 4096 rows", "codec.py", "IndexError: index out of range in self"),
    ),
    "qwen2-vl": (
        "ML301",
        ("length 1: positions up to 9 pass, position 10 fails", "IndexError: index 10 is out of bounds"),
    ),
    "vila": ("ML304", ("length 99 fails", "IndexError: index -100 is out of bounds", "length 100 passes")),
    "amphion": ("ML101", ("real numbers", "look up 1583 rows", "Expected tensor for argument #1 'indices'")),
}


def confirmed(folder: str) -> tuple[int, list[dict[str, Any]]]:
    """The exit code and the findings of `check --confirm`, refuted ones too."""
    command = [sys.executable, "-m", "modellint", "check", "--no-cache", "--confirm", "--show-refuted"]
    environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    result = subprocess.run(
        [*command, "--output-format", "json", f"examples/{folder}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    assert result.returncode in (0, 1), result.stderr
    return result.returncode, json.loads(result.stdout)["findings"]


@pytest.mark.parametrize("incident", FACTS)
def test_what_is_broken_is_confirmed_with_the_fact(incident: str) -> None:
    code, facts = FACTS[incident]
    status, found = confirmed(f"{incident}/broken")
    assert status == 1
    assert [finding["code"] for finding in found] == [code]
    verdict = found[0]["verdict"]
    assert (verdict["status"], verdict["device"]) == ("confirmed", "cpu")
    assert [fact for fact in facts if fact not in verdict["detail"]] == []


@pytest.mark.parametrize("incident", FACTS)
def test_what_is_repaired_is_silent_or_refuted(incident: str) -> None:
    _, found = confirmed(f"{incident}/fixed")
    assert [finding for finding in found if finding["verdict"]["status"] != "refuted"] == []
