"""Ids that reach a published codec which is not there, through the functions of a whole project that drew them."""

from __future__ import annotations

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from served import served

from modellint.claims.lookups import IdsExceed
from modellint.confirm.child import answer
from modellint.confirm.plan import Group
from modellint.finding import Status, Verdict
from modellint.probes import Probe, Target
from modellint.source import Place, Span

sys.path.insert(0, str(Path(__file__).parent.parent))

from test_incidents import KEPT_IN_BOUNDS
from test_incidents import TALK as LONG_TALK

EVERY = os.environ.get("MODELLINT_CONFIRM") == "all"
#: The project, which speaks as briefly as it can: each step is run dozens of times.
TALK = {**LONG_TALK, "talking.py": LONG_TALK["talking.py"].replace("streams, 20, end", "streams, 9, end")}


def place(path: Path, text: str, words: str) -> Place:
    """Where words stand that occur once in a text."""
    start = text.index(words)
    line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
    return Place(path.as_posix(), Span(line, column, line, column + len(words)))


def verdict_of(folder: Path, file: str = "talking.py", before: str = "", after: str = "") -> Verdict:
    """The verdict that the answer's ids exceed the codec, once some words of the project are others."""
    assert before in TALK[file]
    for name, text in {**TALK, file: TALK[file].replace(before, after) if before else TALK[file]}.items():
        (folder / name).write_text(text)
    talking = (folder / "talking.py").read_text()
    model = (folder / "model.py").read_text()
    head = place(folder / "model.py", model, "nn.Linear(settings.width, settings.all_rows)")
    claim = IdsExceed(place(folder / "talking.py", talking, "codec.decode(books)"), "snac.SNAC", 4096, head)
    target = Target(folder / "talking.py", "answer")
    return answer(Group(target, ((0, Probe(target, claim)),)), served())[0]


def test_ids_of_a_padded_head_exceed_a_published_codec(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path)
    assert verdict.status is Status.CONFIRMED, verdict
    assert "ids [0, 4159] of a choice among 4160 classes look up 4096 rows" in verdict.detail
    assert "torch raises IndexError" in verdict.detail


def test_what_was_assumed_and_what_is_not_there_is_told(tmp_path: Path) -> None:
    detail = verdict_of(tmp_path).detail
    absent = [name for name in ("lightning", "snac") if find_spec(name) is None]
    assert f"not importable and replaced: {', '.join(absent)};" in detail
    assert "classes of the head = 30120" in detail


@pytest.mark.dear
@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        *(KEPT_IN_BOUNDS if EVERY else KEPT_IN_BOUNDS[::2]),
        ("frames.py", "torch.tensor(listed)", "torch.tensor(listed).remainder(4096)"),
    ],
)
def test_ids_that_are_kept_in_the_codec_confirm_nothing(tmp_path: Path, file: str, before: str, after: str) -> None:
    verdict = verdict_of(tmp_path, file, before, after)
    assert verdict.status is not Status.CONFIRMED, verdict


def test_a_configuration_that_is_large_is_made_small(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, "settings.py", "width: int = 64", "width: int = 65536")
    assert verdict.status is Status.CONFIRMED, verdict
    assert re.search(r"\bwidth = 64\b", verdict.detail)


def test_what_decides_over_ids_and_is_not_known_is_the_reason(tmp_path: Path) -> None:
    before, after = "books = in_books(frames)", "books = in_books(frames) if words.allow(frames) else [frames]"
    verdict = verdict_of(tmp_path, "talking.py", before, after)
    assert verdict.status is Status.UNCONFIRMED, verdict
    assert "nothing is known of what any `words.allow()` is" in verdict.detail
