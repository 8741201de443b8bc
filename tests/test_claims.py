"""What findings claim: kept wherever findings are kept, and taken by probes as it is.

MODELLINT_EXAMPLES=all tries every example; by default two of each rule, and a third of the others takes its turn.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from effort import has_its_turn

from modellint.claims import Claim, as_json, from_json, moved
from modellint.claims.layers import NotRegistered
from modellint.config import settings_for
from modellint.examples import materialise
from modellint.link.project import Project, ProjectOptions
from modellint.linter import run
from modellint.packs import RuleSet, load_rules
from modellint.pipeline.analyser import Analyser
from modellint.reading.discovery import discover
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Workspace

    from modellint.finding import Finding
    from modellint.rule import Rule

RULES = load_rules()
PLACE = Place("/a.py", Span(1, 2, 3, 4))
STORED = [".layers", "NotRegistered", {"place": ["/a.py", 1, 2, 3, 4]}, "Encoder", "layers"]


@dataclass(frozen=True, slots=True)
class Tangled(Claim):
    """All that a claim may hold."""

    text: str
    number: int
    is_true: bool
    other: Place | None
    places: tuple[Place, ...]
    pair: tuple[str, int]
    nested: tuple[tuple[str, Place | None], ...]


def found_twice(rule: Rule, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Finding, Finding]]:
    """The findings of a rule in its bad examples, as they are found and as they are remembered."""
    for number, example in enumerate(rule.bad):
        if not has_its_turn(f"{rule.code} {example.title}", 5) and number > 1:
            continue
        root = folder / str(number)
        materialise(example.files, root)
        settings = settings_for([root], isolated=True).with_options(jobs=1, cache_dir=folder / f"cache{number}")
        paths, _ = discover([root], settings)
        rules = RuleSet(RULES, frozenset({rule.code}))
        first = run(paths, settings, rules).findings
        with monkeypatch.context() as patch:
            patch.setattr(Analyser, "analyse", lambda *_: pytest.fail("the cache was not used"))
            yield from zip(first, run(paths, settings, rules).findings, strict=True)


@pytest.mark.dear
@pytest.mark.parametrize("code", RULES)
def test_the_cache_keeps_what_is_claimed(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = list(found_twice(RULES[code], tmp_path, monkeypatch))
    assert [remembered for _, remembered in found] == [finding for finding, _ in found]
    assert any(finding.claim for finding, _ in found) == RULES[code].is_confirmable()


@pytest.mark.dear
@pytest.mark.parametrize("code", [code for code, rule in RULES.items() if rule.is_confirmable()])
def test_a_probe_needs_nothing_but_the_claim(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probes = []
    for _, remembered in found_twice(RULES[code], tmp_path, monkeypatch):
        if remembered.claim is not None:
            project = Project(ProjectOptions(root=tmp_path))
            probes.append(RULES[code].probe(remembered.claim, project))
    assert [probe for probe in probes if probe is None] == []


def test_what_is_stored_is_what_was_claimed() -> None:
    claim = Tangled(PLACE, "ü", 7, True, None, (PLACE, PLACE), ("a", 1), (("b", PLACE), ("c", None)))
    assert from_json(json.loads(json.dumps(as_json(claim)))) == claim
    assert from_json(STORED) == NotRegistered(PLACE, "Encoder", "layers")
    assert as_json(NotRegistered(PLACE, "Encoder", "layers")) == STORED


@pytest.mark.parametrize(
    "stored",
    [
        [],
        [".layers"],
        STORED[:-1],
        [*STORED, "more"],
        [*STORED[:-1], 7],
        [*STORED[:-1], None],
        [*STORED[:2], "place", *STORED[3:]],
        [*STORED[:2], {"place": [1, 1, 2, 3, 4]}, *STORED[3:]],
        [".layers", "Place", *STORED[2:]],
        [".layers", "dataclass", *STORED[2:]],
        [".nothing", *STORED[1:]],
        [".layers.NotRegistered", *STORED[1:]],
        ["antigravity", *STORED[1:]],
        [None, *STORED[1:]],
        [[], *STORED[1:]],
        7,
    ],
)
def test_what_no_claim_stored_is_refused(stored: Any) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        from_json(stored)
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize(
    "fields",
    [
        ("a", 7, True, None, (), ("a", 1), (("b", "c"),)),
        ("a", 7, True, None, (), ("a", 1, 2), ()),
        ("a", 7, True, None, [], ("a", 1), ()),
        ("a", True, True, None, (), ("a", 1), ()),
        ("a", 7, 1, None, (), ("a", 1), ()),
        (None, 7, True, None, (), ("a", 1), ()),
        ("a", 7, True, "b", (), ("a", 1), ()),
        ("a", 7, True, None, (None,), ("a", 1), ()),
    ],
)
def test_a_claim_is_made_of_what_it_says(fields: Any) -> None:
    with pytest.raises(TypeError, match="of the claim `Tangled` must be"):
        Tangled(PLACE, *fields)


def test_places_of_a_claim_move() -> None:
    there = Place("/b.py", Span(1, 1, 1, 1))
    claim = Tangled(PLACE, "/a.py", 7, True, PLACE, (PLACE,), ("a", 1), (("b", PLACE), ("c", None)))
    expected = Tangled(there, "/a.py", 7, True, there, (there,), ("a", 1), (("b", there), ("c", None)))
    assert moved(claim, lambda _: there) == expected


def test_a_claim_that_cannot_be_stored_is_a_failure_of_its_rule(words: Workspace) -> None:
    rule = words.root / "rules/word.py"
    rule.write_text(rule.read_text().replace("Word(place, ", "Word(place, 7 or "))
    words.write({"a.py": "a = WORD\n"})
    result = words.run("check", "a.py")
    assert result.code == 2
    assert "`says` of the claim `Word` must be <class 'str'>, not 7" in result.err


def test_a_rule_path_has_one_name_in_all_processes(words: Workspace) -> None:
    code = "from modellint.packs import load_rules; from pathlib import Path; "
    code += f"print(type(load_rules([Path({str(words.root / 'rules')!r})])['TST101']).__module__)"
    names = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", code]
        names.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(names) == 1
