"""What commits of speechbrain's history repaired was found before them, and is not found after them.

The clone is the one that `MODELLINT_SPEECHBRAIN` names; without it only the list of repairs itself is checked.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from history import Checkout, Clone, by_file, repairs, signs, told

if TYPE_CHECKING:
    from history import Repair

CLONE = os.environ.get("MODELLINT_SPEECHBRAIN")
REPAIRS = repairs()
GROUPS = by_file(REPAIRS)

needs_clone = pytest.mark.skipif(CLONE is None, reason="set MODELLINT_SPEECHBRAIN to a clone of speechbrain")


def test_nine_of_ten_repaired_mistakes_are_found() -> None:
    assert len({repair["commit"] for repair in REPAIRS}) >= 30
    assert sum("missed" in repair for repair in REPAIRS) <= len(REPAIRS) / 10


def test_every_repair_is_told_once_and_in_order() -> None:
    keys = [(r["date"], r["commit"], r["path"], r["code"], r["object"]) for r in REPAIRS]
    assert keys == sorted(set(keys))
    assert all(repair["fixed"].strip() for repair in REPAIRS)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    return Checkout(Path(str(CLONE)).resolve(), tmp_path_factory.mktemp("files"))


@needs_clone
@pytest.mark.parametrize(("where", "group"), GROUPS.items(), ids=map("-".join, GROUPS))
def test_a_mistake_is_found_until_a_commit_repaired_it(
    where: tuple[str, str], group: list[Repair], checkout: Checkout
) -> None:
    commit, path = where
    before, after = (checkout.findings(revision, path) for revision in (f"{commit}^", commit))
    for repair in group:
        assert told(repair, before) or "missed" in repair, repair
        assert not told(repair, after), repair


@needs_clone
def test_a_repair_is_seen_by_what_it_changed() -> None:
    clone = Clone(Path(str(CLONE)).resolve())
    changes = next(changes for changes in clone.changes("2023-06-14") if changes[0].commit.startswith("18be2ba45d"))
    assert [(sign.kind, sign.symbol) for sign in signs(changes[0], clone)] == [("reference", "n_mels")]
