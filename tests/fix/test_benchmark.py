"""The benchmark of fixes: it plants, fixes, and sees what a wrong fix does."""

from __future__ import annotations

import random
from pathlib import Path

import fixes
import pytest

from modellint.finding import Edit
from modellint.source import Place, Span

LAYERS = b'''\
from torch import nn


class Model(nn.Module):
    """A model of \xc3\xa9."""

    def __init__(self, width, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(depth)])
        self.head = nn.Linear(width, 3)  # three

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)
'''


def test_what_is_planted_is_fixed_and_the_file_is_what_it_was(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_bytes(LAYERS)
    tasks = list(fixes.tasks_of(tmp_path, random.Random(0), ("ML204",)))
    assert len(tasks) == 1
    tally = fixes.fixed(tasks[0])
    assert (tally.made["ML204"], tally.wrong, tally.restored) == (2, [], 1)


def test_arguments_that_change_places_are_nothing_wrong() -> None:
    places = (Place("a.py", Span(1, 3, 1, 4)), Place("a.py", Span(1, 6, 1, 9)))
    edits = [Edit(places[0], "b.c"), Edit(places[1], "a")]
    assert list(fixes.compare(Path("a.py"), b"f(a, b.c)\n", b"f(b.c, a)\n", edits)) == []
    assert list(fixes.compare(Path("a.py"), b"f(a, b.c)\n", b"f(b.c + a)\n", edits)) == ["line 1: `,` is lost"]


@pytest.mark.parametrize(
    ("name", "after", "wrong"),
    [
        ("a.py", b"x = f(new, 1)  # old\ny = '''\n'''\n", []),
        ("a.py", b"x = f(new)  # old\ny = '''\n'''\n", ["line 1: `,` is lost"]),
        ("a.py", b"x = f(new, 1)  # new\ny = '''\n'''\n", ["line 1: `# old` is lost"]),
        ("a.py", b"x = f(new, 1)  # old\ny = '''\n''\n", ["cannot be parsed"]),
        ("a.py", b"x = f(new, '''1)  # old\ny = '''\n'')\n", ["line 1"]),
        ("a.yaml", b"x = f(new, 1)  # old\ny = '''\n'''\n", []),
    ],
)
def test_a_wrong_fix_is_noticed(name: str, after: bytes, wrong: list[str]) -> None:
    path = Path(name)
    edit = Edit(Place(name, Span(1, 7, 1, 10)), "new")
    found = list(fixes.compare(path, b"x = f(old, 1)  # old\ny = '''\n'''\n", after, [edit]))
    assert bool(found) == bool(wrong)
    for expected in wrong:
        assert any(what.startswith(expected) for what in found)
