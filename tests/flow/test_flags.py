"""What a function returns under a condition on its parameters is known to its caller under one on the arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import modellint

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """\
import torch
from torch import nn


class Drawing(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.head = nn.Linear(64, 100)
        self.kind = kind

    def draw(self, x, flag=False, other=None):
        if {inner}:
            return self.head(x){many}
        return self.head(x).argmax(-1){many}


class Reading(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.drawing = Drawing(kind)
        self.table = nn.Embedding(200, 64)

    def forward(self, x, wave=False, kind="a", *rest, **options):
        found{unpacked} = self.drawing.draw({given})
        if {outer}:
            return found
        return self.table(found)
"""


def is_found(folder: Path, inner: str, given: str, outer: str, many: str = "", unpacked: str = "") -> bool:
    text = MODEL.format(inner=inner, given=given, outer=outer, many=many, unpacked=unpacked)
    (folder / "model.py").write_text(text, encoding="utf-8")
    return any(finding.code == "ML102" for finding in modellint.check([folder], isolated=True))


@pytest.mark.parametrize(
    ("inner", "given", "outer"),
    [
        ("flag", "x, wave", "wave"),
        ("flag", "x, flag=wave", "wave"),
        ("flag", "x, flag=not wave", "not wave"),
        ("not not flag", "x, wave", "not not wave"),
        ("flag and other", "x, wave, kind", "wave"),
        ("flag", "x, wave", "wave or kind"),
        ("flag == 'a'", "x, kind", "kind != 'b'"),
        ("flag != 'b'", "x, kind", "kind != 'b'"),
        ("other is not None", "x, other=kind", "kind is not None"),
        ("flag", "x, kind == 'a'", "kind == 'a'"),
        ("self.kind", "x", "self.drawing.kind"),
    ],
)
@pytest.mark.parametrize(("many", "unpacked"), [("", ""), (", 1", ", _")])
def test_what_the_other_outcome_gives_is_left(
    tmp_path: Path, inner: str, given: str, outer: str, many: str, unpacked: str
) -> None:
    assert not is_found(tmp_path, inner, given, outer, many, unpacked)


@pytest.mark.parametrize(
    ("inner", "given", "outer"),
    [
        ("flag", "x, wave", "not wave"),
        ("flag", "x, not wave", "wave"),
        ("flag", "x, wave", "kind"),
        ("flag", "x, wave", "wave and kind"),
        ("flag or other", "x, wave, kind", "not wave"),
        ("flag == 'a'", "x, kind", "kind == 'b'"),
        ("flag", "x, True", "wave"),
        ("flag", "*rest", "wave"),
        ("flag", "x, **options", "wave"),
        ("self.kind", "x", "self.kind"),
    ],
)
def test_what_another_condition_leaves_is_looked_up(tmp_path: Path, inner: str, given: str, outer: str) -> None:
    assert is_found(tmp_path, inner, given, outer)
