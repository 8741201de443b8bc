"""What modellint says of public packages is what the ledger says of it, and what was repaired was found before.

The packages are fetched to the folder that `MODELLINT_CORPUS` names; without it only the ledger itself is checked.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tarfile
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from incremental import circumstances
from incremental.circumstances import has_turn
from incremental.store import Store, key
from ledger import (
    FALSE_ALARM,
    FINDINGS_PAGE,
    FIXES,
    PAGE,
    REAL,
    RECIPES,
    SAMPLES,
    SITES,
    VERDICTS,
    checked_again,
    differences,
    key_of,
    read,
    rendered,
    rendered_findings,
)
from packages import checked, fetched, lines_of, needs_packages

from modellint.config import settings_for
from modellint.packs import load_rules
from modellint.reading.discovery import discover

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = read()
RECIPES_OF_SPEECHBRAIN = read(RECIPES)
REPAIRS = read(FIXES)
CLONE = os.environ.get("MODELLINT_SPEECHBRAIN")

#: Whether every file is checked.
IS_WHOLE = os.environ.get("MODELLINT_LEDGER") == "all"
CODES = tuple(load_rules())

#: Rules that must not be wrong once.
FLAWLESS = ("ML101", "ML103", "ML204", "ML206", "ML207", "ML301", "ML304")


class Kept:
    """The rules that gave the ledger's findings of a package, with the engine and the rule as they are."""

    def __init__(self, package: Any) -> None:
        self._store, self._package = Store.chosen(), package
        self._shelf = f"ledger: {package['name']} {package['version']}"
        self._passed = self._store.passed(self._shelf) if self._store else frozenset()

    def codes(self) -> list[str]:
        """The rules that have to be asked again."""
        extents = ["all"] if IS_WHOLE else ["turn", "all"]
        return [code for code in CODES if not any(self._key(code, extent) in self._passed for extent in extents)]

    def save(self, codes: list[str]) -> None:
        if self._store is not None:
            self._store.note(self._shelf, [self._key(code, "all" if IS_WHOLE else "turn") for code in codes])

    def _key(self, code: str, extent: str) -> str:
        rows = [json.dumps(one, sort_keys=True) for one in self._package["findings"] if one["code"] == code]
        size = f"{self._package['files']} {self._package['lines']}"
        return key(extent, circumstances.judge(code), size, *rows)


def test_every_finding_has_a_verdict_and_says_why() -> None:
    for package in (*PACKAGES, RECIPES_OF_SPEECHBRAIN):
        for finding in package["findings"]:
            assert finding["verdict"] in VERDICTS, finding
            assert finding["why"].strip(), finding
            assert (finding["verdict"] == REAL) is bool(finding.get("breaks")), finding


def test_false_alarms_are_rarer_than_one_in_two_hundred_thousand_lines() -> None:
    false = Counter(f["code"] for package in PACKAGES for f in package["findings"] if f["verdict"] == FALSE_ALARM)
    assert false.total() <= sum(package["lines"] for package in PACKAGES) / 200_000
    assert not [code for code in FLAWLESS if false[code]]


def test_the_page_shows_the_ledger() -> None:
    shown = rendered(PACKAGES, RECIPES_OF_SPEECHBRAIN, REPAIRS, read(SITES), read(SAMPLES))
    listed = rendered_findings(PACKAGES, RECIPES_OF_SPEECHBRAIN)
    for page, text in ((PAGE, shown), (FINDINGS_PAGE, listed)):
        assert page.read_text("utf-8") == text, "run `python tests/corpus/ledger.py render`"


def test_the_page_says_which_code_was_used_for_tuning() -> None:
    text = " ".join(PAGE.read_text("utf-8").split())
    assert "while they wrote the rules, and fixed every false finding" in text
    assert text.index("Code that modellint was not tuned on") < text.index("Packages that modellint was tuned on")
    for one in read(SAMPLES):
        assert re.search(rf"{one['date']} \| {one['commit']} .* {one['findings']} \| {one['true']} ", text)


def test_enough_packages_and_repairs_are_pinned() -> None:
    assert len({package["name"] for package in PACKAGES}) >= 12
    assert len({(fix["package"], fix["code"], fix["symbol"]) for fix in REPAIRS}) >= 6


@pytest.mark.long
@needs_packages
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: f"{package['name']}-{package['version']}")
def test_a_package_gives_the_findings_of_the_ledger(package: dict[str, Any]) -> None:
    """Of the packages' files those with findings are checked each time, and of the others a sixth that turns."""
    kept = Kept(package)
    codes = kept.codes()
    if not codes:
        pytest.skip("what it rests on passed before")
    root = fetched(package["name"], package["version"])
    files = [path.relative_to(root).as_posix() for path in discover([root], settings_for([root], isolated=True))[0]]
    assert (len(files), lines_of(root)) == (package["files"], package["lines"])
    told = {finding["path"] for finding in package["findings"]}
    paths = [path for path in files if IS_WHOLE or path in told or has_turn(path, 6)]
    whole = () if len(codes) == len(CODES) else ("--select", ",".join(codes))
    report = checked(root, *(["."] if IS_WHOLE else paths), *whole)
    assert differences(package, report, paths, codes) == []
    kept.save(codes)


def test_recipes_hold_three_false_alarms_at_most() -> None:
    assert sum(f["verdict"] == FALSE_ALARM for f in RECIPES_OF_SPEECHBRAIN["findings"]) <= 3


@pytest.mark.timeout(1200)
@pytest.mark.skipif(CLONE is None, reason="set MODELLINT_SPEECHBRAIN to a clone of speechbrain")
def test_a_repository_gives_the_findings_of_the_ledger(tmp_path: Path) -> None:
    archive = [
        "git",
        "-C",
        str(CLONE),
        "archive",
        "--output",
        str(tmp_path / "tree.tar"),
        RECIPES_OF_SPEECHBRAIN["version"],
    ]
    subprocess.run(archive, check=True)
    root = tmp_path / "tree"
    with tarfile.open(tmp_path / "tree.tar") as tar:
        tar.extractall(root)
    now = checked_again(RECIPES_OF_SPEECHBRAIN, root)
    assert list(map(key_of, now["findings"])) == list(map(key_of, RECIPES_OF_SPEECHBRAIN["findings"]))


@needs_packages
@pytest.mark.parametrize("fix", REPAIRS, ids=lambda fix: f"{fix['package']}-{fix['newer']}-{fix['code']}")
def test_a_mistake_is_found_until_it_was_repaired(fix: dict[str, str]) -> None:
    def symbols(version: str) -> list[str]:
        report = checked(fetched(fix["package"], version), fix["path"], "--select", fix["code"])
        assert report["files_checked"] == 1
        return [finding["symbol"] for finding in report["findings"] if finding["path"] == fix["path"]]

    assert fix["symbol"] in symbols(fix["older"])
    assert fix["symbol"] not in symbols(fix["newer"])
