"""A project under edit gives what checking its files anew would give."""

from __future__ import annotations

import gc
import random
import re
import weakref
from pathlib import Path

import pytest
from effort import drawn

import modellint
from modellint.config import settings_for
from modellint.link.budget import Steps
from modellint.pipeline.analyser import Analyser, FileResult, Haste
from modellint.results.failures import Crash
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


def edited(text: str, chance: random.Random) -> str:
    """One change of a file, as somebody might make it; what stands in it may no longer be Python."""
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines) + 1)
    if at == len(lines):
        return f"{text}\n"
    line = lines[at]
    names = re.findall(r"^ *(?:def|class) (\w+)|^(\w+) = ", text, re.MULTILINE)
    name = "".join(chance.choice(names)) if names else "x"
    match chance.randrange(11):
        case 0:
            lines.insert(
                at, chance.choice(("# a comment\n", "    # (batch, time)\n", "\n", "# x: of shape (batch, 80)\n"))
            )
        case 1 if not line.lstrip().startswith(("def", "class", "return", "import", "from")):
            lines[at] = line.replace("4096", "4160").replace("10", "1")
        case 2:
            lines[at] = line.rstrip("\n") + "  # self.layers = nn.Linear(8, 8)\n"
        case 3 if line.lstrip().startswith("#") or not line.strip():
            del lines[at]
        case 4:  # in a function, or a class attribute, or a constant of the module
            lines.insert(at, f"{line[: len(line) - len(line.lstrip())]}extra = {chance.randrange(9)}\n")
        case 5:
            lines.insert(at, line)
        case 6:  # what others call has another name
            lines[at] = line.replace(name, f"{name}_2", 1)
        case 7:
            return re.sub(rf"\b{name}\b", f"{name}_3", text)
        case 8:  # another base class
            lines[at] = line.replace("nn.Module", "nn.Sequential").replace("(Brain)", "(object)")
        case 9 if line.lstrip().startswith("def "):  # a helper is gone
            indent = len(line) - len(line.lstrip())
            end = next((n for n in range(at + 1, len(lines)) if lines[n].strip() and _indent(lines[n]) <= indent), None)
            del lines[at:end]
        case _:
            lines[at] = line[: chance.randrange(len(line) + 1)].rstrip("\n") + "\n"
    return "".join(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


@pytest.mark.dear
def test_random_edits_give_what_a_new_check_gives(tmp_path: Path) -> None:
    files = project(tmp_path)
    session = Session(settings_for(files, isolated=True))
    chance = random.Random(5)
    originals = {path: path.read_text() for path in files}
    for path in files:
        session.open(path, path.read_bytes())
    found = 0
    for _ in range(drawn(120)):
        path = chance.choice(files)
        text = path.read_text()
        is_sound = not any(
            finding.code == "ML001" and finding.path == path.as_posix() for finding in session.findings()
        )
        path.write_text(edited(text if is_sound and chance.random() < 0.9 else originals[path], chance))
        session.open(path, path.read_bytes())
        while session.is_outdated:
            session.check()
        if chance.random() < 0.3:
            session.tidy()
        fresh = modellint.check(files, isolated=True, cache=False)
        now = session.findings()
        # While a file is half typed, what was found in it before is shown, too.
        is_half_typed = any(finding.code == "ML001" for finding in fresh)
        assert [one for one in now if one in fresh or not is_half_typed] == fresh
        for place in (place for one in now if one not in fresh for place in one.places):
            lines = Path(place.path).read_text().split("\n")
            assert place.span.end_line <= len(lines), place
            assert place.span.end_column <= len(lines[place.span.end_line - 1]) + 1, place
        found += len(fresh)
    assert found


@pytest.mark.dear
@pytest.mark.parametrize("at", [1, 20, 200])
def test_a_check_that_is_given_up_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    files = project(tmp_path)
    session = Session(settings_for(files, isolated=True))
    for path in files:
        session.open(path, path.read_bytes())
    while session.is_outdated:
        session.check()
    path = next(path for path in files if path.name == "packing.py")
    path.write_text(path.read_text() + "SIZE = 3\n")
    session.open(path, path.read_bytes())
    steps, spend = 0, Steps.spend

    def spend_and_give_up(budget: Steps, number: int = 1) -> None:
        nonlocal steps
        steps += 1
        if steps == at:
            session.supersede()
        spend(budget, number)

    with monkeypatch.context() as patch:
        patch.setattr(Steps, "spend", spend_and_give_up)
        session.check()
    assert steps == at
    assert session.is_outdated
    assert not session.is_checked(path)
    while session.is_outdated:
        session.check()
    assert session.findings() == modellint.check(files, isolated=True, cache=False) != []


def test_of_a_file_that_is_edited_only_the_latest_state_is_held(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    session = Session(settings_for([tmp_path], isolated=True))
    states = []
    for number in range(5):
        session.open(path, f"import torch\n\nSIZE = {number}\n".encode())
        session.check()
        states.append(weakref.ref(session.ask(lambda project: project.python(path))))
    gc.collect()
    assert [state() is not None for state in states] == [False, False, False, False, True]


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
    assert edited(MODEL_OF_BASE + "SIZE = 3\n") == (["ML204"], True)


TYPED = """\
from torch import nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = [nn.Linear(width, width) for _ in range(2)]
        self.last = [nn.Linear(width, width) for _ in range(2)]

    def forward(self, x):
        for layer in self.first + self.last:
            x = layer(x)
        return x
"""


@pytest.mark.parametrize(
    ("before", "typed", "lines"),
    [
        ("        self.last", "        x = (\n\n        self.last", {"first": 7, "last": 10}),
        ("        super().__init__()\n", "", {"first": 6, "last": 7}),
        (
            "self.first = [nn.Linear(width, width) for _ in range(2)]",
            "self.first = [nn.Linear(width, (",
            {"first": 7, "last": 8},
        ),
        ("self.first = [nn.Linear(width, width) for _ in range(2)]", "self.fir = [nn.Linear(width, (", {"last": 8}),
        ("        self.first = [nn.Linear(width, width) for _ in range(2)]\n", "", {"last": 7}),
        ("from torch import nn\n\n\n", "", {"first": 4, "last": 5}),
        (TYPED[TYPED.index("        self.last") :], "", {"first": 7}),
        (TYPED, "", {}),
    ],
)
def test_what_was_found_before_is_where_its_code_is_in_half_typed_text(
    tmp_path: Path, before: str, typed: str, lines: dict[str, int]
) -> None:
    path = tmp_path / "model.py"
    session = Session(settings_for([tmp_path], isolated=True))
    session.open(path, TYPED.encode())
    session.check()
    assert {finding.symbol: finding.span.line for finding in session.findings()} == {"Model.first": 7, "Model.last": 8}
    text = TYPED.replace(before, typed) + "x = [("
    session.open(path, text.encode())
    session.check()
    found = [finding for finding in session.findings() if finding.code != "ML001"]
    assert {finding.symbol.partition(".")[2]: finding.span.line for finding in found} == lines
    for finding in found:
        source = text.splitlines()
        for place in finding.places:
            assert source[place.span.line - 1][place.span.column - 1 :].strip(), place
        name = finding.symbol.partition(".")[2]
        assert source[finding.span.line - 1].strip().startswith(f"self.{name}")
        for edit in finding.fix.edits if finding.fix is not None else ():
            assert f"self.{name}" in source[edit.place.span.line - 1]


def test_a_fix_of_a_line_that_is_half_typed_is_not_offered(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    session = Session(settings_for([tmp_path], isolated=True))
    for text in (
        TYPED,
        TYPED.replace("self.first = [nn.Linear(width, width) for _ in range(2)]", "self.first = [nn.Linear(width, ("),
    ):
        session.open(path, text.encode())
        session.check()
    fixes = {finding.symbol: finding.fix is not None for finding in session.findings() if finding.code == "ML204"}
    assert fixes == {"Model.first": False, "Model.last": True}


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


#: Findings of several rules: a layer that is not registered, one that is never used, ids beyond a table.
SEVERAL = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(8, 8)]
        self.spare = nn.Linear(8, 8)
        self.scores = nn.Linear(8, 17)
        self.table = nn.Embedding(16, 8)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.table(self.scores(x).argmax(-1))  # modellint: ignore[ML103]
"""


def test_a_first_answer_comes_before_the_dear_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "patience", -1.0)
    path = tmp_path / "model.py"
    session = Session(settings_for([path], isolated=True))
    seen: list[list[tuple[str, int]]] = []
    session.on_first_answer = lambda: seen.append([(one.code, one.place.span.line) for one in session.findings()])

    def open_file(text: str) -> list[tuple[str, int]]:
        path.write_text(text)
        session.open(path, text.encode())
        while session.is_outdated:
            session.check()
        now = session.findings()
        assert now == modellint.check([path], isolated=True, cache=False)
        return [(one.code, one.place.span.line) for one in now]

    assert open_file(SEVERAL) == [("ML204", 8), ("ML213", 9)]
    assert seen == [[]]  # and no comment counts as one that ignores nothing, before its rule has run
    assert open_file(SEVERAL.replace("import torch\n", "import torch\nimport os\n")) == [("ML204", 9), ("ML213", 10)]
    assert seen[1:] == [[("ML204", 9), ("ML213", 10)]]  # where the code is now
    assert open_file(SEVERAL.replace("self.layers = [nn.Linear(8, 8)]", "self.layers = nn.ModuleList()")) == [
        ("ML213", 9)
    ]
    assert seen[2:] == [[("ML204", 8), ("ML213", 9)]]  # until its rule has run
    session.tidy()


def test_rules_that_were_dear_run_last(tmp_path: Path) -> None:
    """So do those that share a query with a dear rule, as the first of them pays for all."""
    session = Session(settings_for([tmp_path / "model.py"], isolated=True))
    rules = list(session.rules.active)
    found = Haste(lambda result: None, {"ML103": 2.0, "ML213": 0.0}, 0.3).ordered(rules)
    dear = next(set(rule.requires) for rule in rules if rule.code == "ML103")
    sharing = [rule for rule in rules if not dear.isdisjoint(rule.requires)]
    assert {"ML102", "ML103", "ML104"} <= {rule.code for rule in sharing}
    assert found[-len(sharing) :] == sharing
    others = [rule for rule in rules if rule not in sharing]
    cheap = [rule for rule in others if rule.requires == ("calls",) or rule.code == "ML213"]
    assert found[: -len(sharing)] == [*cheap, *(rule for rule in others if rule not in cheap)]


def test_a_failure_is_told_once_although_answers_come_in_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Session, "patience", -1.0)
    path = tmp_path / "model.py"
    session = Session(settings_for([path], isolated=True))
    told: list[str] = []

    def tell() -> None:
        session.findings()
        told.extend(str(one.error) for one in session.news() if isinstance(one, Crash))

    session.on_first_answer = tell
    rule = next(rule for rule in session.rules.active if rule.code == "ML213")
    monkeypatch.setattr(type(rule), "check_python", lambda *_: 1 / 0)
    for number in range(3):
        session.open(path, f"{SEVERAL}x = {number}\n".encode())
        session.check()
        tell()
    assert told == ["ZeroDivisionError: division by zero"]


#: A table whose rows are the features of its input, if a comment says that.
FEATURES = """\
from torch import nn


class Config:
    input_dim: int = 1583
    d_model: int = 256


class Encoder(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        self.table = nn.Embedding(cfg.input_dim, cfg.d_model)

    def forward(self, x):
        return self.table(x)
"""


def test_only_a_comment_that_tells_a_shape_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.py"
    session = Session(settings_for([path], isolated=True))
    analysed = 0
    analyse = Analyser.analyse

    def counted(analyser: Analyser, path: Path, haste: Haste | None = None) -> FileResult:
        nonlocal analysed
        analysed += 1
        return analyse(analyser, path, haste)

    monkeypatch.setattr(Analyser, "analyse", counted)

    def state(text: str) -> tuple[list[str], int]:
        path.write_text(text)
        session.open(path, text.encode())
        session.check()
        now, number = session.findings(), analysed
        assert now == modellint.check([path], isolated=True, cache=False)
        return [one.code for one in now], number

    codes = {}
    for name, comment in {
        "none": "",
        "a note": "        # the number of sequences\n",
        "a shape": "        # x: (batch, time, input_dim)\n",
        "a note behind it": "        # x: (batch, time, input_dim)\n\n        # a note\n",
        "a shape of another size": "        # x: (batch, time)\n",
    }.items():
        before = analysed
        found, now = state(FEATURES.replace("        return", f"{comment}        return"))
        codes[name] = found, now > before
    assert codes == {
        "none": ([], True),
        "a note": ([], False),
        "a shape": (["ML101"], True),
        "a note behind it": (["ML101"], False),
        "a shape of another size": ([], True),
    }
