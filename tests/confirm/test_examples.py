"""The incidents under `examples/`, confirmed through the command line on a machine without a GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from modellint.__main__ import main

if TYPE_CHECKING:
    from collections.abc import Callable

    Confirmed = Callable[[str], tuple[int, list[dict[str, Any]]]]

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


@pytest.fixture
def confirmed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Confirmed:
    """The exit code and the findings of `check --confirm`, refuted ones too."""
    command = ("check", "--no-cache", "--confirm", "--show-refuted", "--output-format", "json")
    monkeypatch.chdir(ROOT)

    def run(folder: str) -> tuple[int, list[dict[str, Any]]]:
        with pytest.raises(SystemExit) as end:
            main((*command, f"examples/{folder}"))
        said = capsys.readouterr()
        assert end.value.code in (0, 1), said.err
        return end.value.code, json.loads(said.out)["findings"]

    return run


@pytest.mark.parametrize("incident", FACTS)
def test_what_is_broken_is_confirmed_with_the_fact(incident: str, confirmed: Confirmed) -> None:
    code, facts = FACTS[incident]
    status, found = confirmed(f"{incident}/broken")
    assert status == 1
    assert [finding["code"] for finding in found] == [code]
    verdict = found[0]["verdict"]
    assert (verdict["status"], verdict["device"]) == ("confirmed", "cpu")
    assert [fact for fact in facts if fact not in verdict["detail"]] == []


@pytest.mark.parametrize("incident", FACTS)
def test_what_is_repaired_is_silent_or_refuted(incident: str, confirmed: Confirmed) -> None:
    _, found = confirmed(f"{incident}/fixed")
    assert [finding for finding in found if finding["verdict"]["status"] != "refuted"] == []
