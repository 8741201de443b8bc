"""How a length is written anew: nothing of it changes but what must."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.edits.changes import applied, changes_of
from modellint.edits.lengths import maximum_of_all
from modellint.graph.value import EventKind
from modellint.link.project import Project, ProjectOptions
from modellint.source import SourceFile

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ids[-1] + 1", "ids.max() + 1"),
        ("int(ids[:, -1]) + 1", "int(ids.max()) + 1"),
        ("ids[:, -1].max().item() + 1", "ids.max().item() + 1"),
        ("torch.max(ids[:, -1]) + 1", "torch.max(ids) + 1"),
        ("torch.max(ids[:, -1], other) + 1", "torch.max(ids.max(), other) + 1"),
        ("ids[0] + 1", None),
    ],
)
def test_the_maximum_in_the_place_of_the_last(before: str, after: str | None, tmp_path: Path) -> None:
    text = f"import torch\n\n\ndef length(ids, other):\n    return {before}\n"
    (tmp_path / "a.py").write_text(text)
    module = Project(ProjectOptions(root=tmp_path)).python(tmp_path / "a.py")
    assert module is not None
    (event,) = module.functions["length"].flow.of(EventKind.RETURN)
    fix = maximum_of_all(event.value, module)
    if after is None:
        assert fix is None
        return
    assert fix is not None
    source = SourceFile(tmp_path / "a.py", text)
    assert applied(text, changes_of(source, fix.edits)) == text.replace(before, after)
