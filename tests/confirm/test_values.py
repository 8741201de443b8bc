"""Lookups that can fail, seen by running a function of a file with inputs that were made up for it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from modellint.confirm.child import Setup, answer
from modellint.confirm.plan import Group, Probe, Target
from modellint.finding import Status, Verdict

MODEL = """
import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, width={width}, classes={classes}, rows={rows}):
        super().__init__()
        self.rows = rows
        self.head = nn.Linear(width, classes)
        self.table = nn.Embedding(rows, width)

    def forward(self, hidden):
        ids = self.head(hidden).argmax(-1)
        {between}
        return self.table(ids)
"""


def verdict_of(folder: Path, code: str, targets: dict[str, Any] | None = None, **data: Any) -> Verdict:
    """The verdict on the last line of a file, that a forward method looks up ids there which have no row."""
    path = folder / "decoder.py"
    path.write_text(code)
    line = len(code.splitlines())
    text = code.splitlines()[-1]
    column = text.index("return ") + len("return ") + 1
    place = [path.as_posix(), line, column, line, len(text) + 1]
    target = Target(path, data.pop("name", "Decoder.forward"))
    probe = Probe(target, "values", {"name": target.name, "place": place, "claim": "ids", **data})
    setup = Setup(Path(sys.executable), (), targets=tuple((targets or {}).items()))
    return answer(Group(target, ((0, probe),)), setup)[0]


def model(classes: int = 4160, rows: int = 4096, width: int = 8, between: str = "pass") -> str:
    return MODEL.format(classes=classes, rows=rows, width=width, between=between)


def test_ids_of_a_head_with_more_classes_than_rows(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, model())
    assert verdict.status is Status.CONFIRMED, verdict
    assert verdict.device == "cpu"
    assert "ids [0, 4159] of a choice among 4160 classes look up 4096 rows in `decoder.py:16: embedding`" in str(
        verdict
    )
    assert "IndexError: index out of range in self" in str(verdict)
    assert "hidden = float" in str(verdict)


SAFE = {
    "cut": "ids = self.head(hidden)[..., : self.rows].argmax(-1)",
    "clamped": "ids = ids.clamp(max=self.rows - 1)",
    "rejected": "assert ids.max() < self.rows",
    "replaced one by one": "ids = torch.tensor([min(i, 4095) for i in ids.flatten().tolist()])",
    "dropped by Python": "ids = torch.tensor([i for i in ids.flatten().tolist() if i < self.rows])",
    "masked": "ids = self.head(hidden).masked_fill(torch.arange(4160) >= 4096, float('-inf')).argmax(-1)",
    "stopped by the same draw": "assert self.head(hidden).argmax(-1).max() < self.rows",
}


@pytest.mark.parametrize("name", SAFE)
def test_what_keeps_ids_in_the_table_is_never_confirmed(tmp_path: Path, name: str) -> None:
    assert verdict_of(tmp_path, model(between=SAFE[name])).status is not Status.CONFIRMED


def test_one_of_several_inputs_that_may_be_left_out(tmp_path: Path) -> None:
    between = "assert other is None"
    code = model(between=between).replace("(self, hidden)", "(self, hidden=None, other=None)")
    verdict = verdict_of(tmp_path, code)
    assert verdict.status is Status.CONFIRMED, verdict


def test_ids_that_stay_inside_refute(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, model(classes=4096))
    assert verdict.status is Status.REFUTED, verdict
    assert "ids [0, 4095] of a choice among 4096 classes look up 4096 rows" in str(verdict)


def test_what_no_run_reaches_stays_open(tmp_path: Path) -> None:
    verdict = verdict_of(tmp_path, model(between="raise ValueError('not today')"))
    assert verdict.status is Status.UNCONFIRMED
    assert "not today" in str(verdict)


@pytest.mark.parametrize(("classes", "status"), [(200_064, Status.CONFIRMED), (200_000, Status.UNCONFIRMED)])
def test_a_large_model_has_no_data(tmp_path: Path, classes: int, status: Status) -> None:
    verdict = verdict_of(tmp_path, model(classes=classes, rows=200_000, width=2048))
    assert verdict.status is status, verdict
    if status is Status.CONFIRMED:
        assert verdict.device == "fake"
        assert "ids [0, 200063] of a choice among 200064 classes look up 200000 rows" in str(verdict)


def test_numbers_that_were_assumed_prove_nothing(tmp_path: Path) -> None:
    code = model().replace("=4160", "").replace("=4096", "").replace("width=8, classes, rows", "classes, rows, width=8")
    verdict = verdict_of(tmp_path, code)
    assert verdict.status is Status.UNCONFIRMED, verdict


def test_settings_say_what_to_pass(tmp_path: Path) -> None:
    code = model().replace("=4160", "").replace("=4096", "").replace("width=8, classes, rows", "classes, rows, width=8")
    said = {"arguments": {"classes": 12, "rows": 10}, "inputs": {"hidden": {"shape": [3, 8]}}}
    for target in ("decoder:Decoder", f"{tmp_path.as_posix()}/decoder.py::Decoder", "decoder.py::Decoder"):
        verdict = verdict_of(tmp_path, code, {target: said})
        assert verdict.status is Status.CONFIRMED, verdict
        assert "ids [0, 11] of a choice among 12 classes look up 10 rows" in str(verdict)
