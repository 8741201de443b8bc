"""A project under edit gives what checking its files anew would give."""

from __future__ import annotations

import random
from pathlib import Path

from effort import drawn

import modellint
from modellint.config import settings_for
from modellint.server.session import Session

EXAMPLES = Path(__file__).parent.parent / "examples"


def project(root: Path) -> list[Path]:
    """The broken examples, in one folder each."""
    files = []
    for source in sorted(EXAMPLES.glob("*/broken/**/*")):
        if source.suffix in (".py", ".yaml"):
            path = root / source.relative_to(EXAMPLES)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(source.read_bytes())
            files.append(path)
    return files


def test_random_edits_give_what_a_new_check_gives(tmp_path: Path) -> None:
    files = project(tmp_path)
    session = Session(settings_for(files, isolated=True))
    chance = random.Random(5)
    for path in files:
        session.open(path, path.read_bytes())
    for _ in range(drawn(40)):
        path = chance.choice(files)
        lines = path.read_text().splitlines(keepends=True)
        number = chance.randrange(len(lines))
        match chance.randrange(3):
            case 0:
                lines.insert(number, "# a comment\n")
            case 1 if not lines[number].lstrip().startswith(("def", "class", "return", "import", "from")):
                lines[number] = lines[number].replace("4096", "4160").replace("10", "1")
            case _:
                lines.append("\n")
        path.write_text("".join(lines))
        session.open(path, path.read_bytes())
        while session.is_outdated:
            session.check()
        if chance.random() < 0.3:
            session.tidy()
        fresh = modellint.check(files, isolated=True, cache=False)
        assert session.findings() == fresh
    assert fresh


MODEL_OF_BASE = """\
from torch import nn
from base import Base


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Base(8, 8), Base(8, 8)]

    def forward(self, x):
        return [layer(x) for layer in self.layers]
"""


def test_what_no_open_file_rests_on_is_let_go(tmp_path: Path) -> None:
    base, model = tmp_path / "base.py", tmp_path / "model.py"
    base.write_text("from torch import nn\n\n\nclass Base(nn.Linear):\n    pass\n")
    session = Session(settings_for([tmp_path], isolated=True))

    def edited(text: str) -> tuple[list[str], bool]:
        session.open(model, text.encode())
        session.check()
        session.tidy()
        return sorted(finding.code for finding in session.findings()), session.ask(
            lambda project: project.has_read(base)
        )

    assert edited(MODEL_OF_BASE) == (["ML204"], True)
    assert edited(MODEL_OF_BASE + "(") == (["ML001", "ML204"], True)
    assert edited(MODEL_OF_BASE.replace("from base", "from nowhere")) == ([], False)
    assert edited(MODEL_OF_BASE) == (["ML204"], True)


def test_a_file_on_disk_counts_when_it_is_not_open(tmp_path: Path) -> None:
    files = project(tmp_path)
    script, recipe = (next(f for f in files if f.match(f"training/{name}")) for name in ("train.py", "hparams.yaml"))
    session = Session(settings_for(files, isolated=True))
    session.open(script, script.read_bytes())
    session.check()
    assert [finding.code for finding in session.findings()] == ["ML201"]
    recipe.write_bytes((EXAMPLES / "speechbrain" / "fixed" / "training" / "hparams.yaml").read_bytes())
    session.touch(recipe)
    assert session.is_outdated
    session.check()
    assert session.findings() == []
    session.touch(tmp_path / "unrelated" / "file.py")
    assert not session.is_outdated
