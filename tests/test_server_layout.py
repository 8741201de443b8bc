"""What is found in a file of which only comments and empty lines change is not found out anew, where that is safe."""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from effort import has_its_turn

from modellint.claims import name_at, places_of
from modellint.config import settings_for
from modellint.pipeline.analyser import FileResult
from modellint.server.layout import Layout, relaid
from modellint.server.session import Session
from modellint.source import without_comments

ROOT = Path(__file__).parent.parent
MODEL = """\
import torch
from torch import nn

WIDTH = 8
DEPTH = 2


class Model(nn.Module):
    \"\"\"A model.

    It has layers.
    \"\"\"

    def __init__(self):
        super().__init__()
        self.layers = [
            nn.Linear(WIDTH, WIDTH),
            nn.Linear(WIDTH, WIDTH),
        ]
        text = "of " \\
            "two"

    def forward(self, x):
        return [layer(x) for layer in self.layers]
"""
PACK = '''\
"""A pack."""
from modellint.rule import Rule
from modellint.finding import Severity


class Anything(Rule):
    """Anything."""

    code = "XX001"
    name = "anything"
    severity = Severity.WARNING

    def check_python(self, module, project):
        return ()
'''


class Editor:
    """One file in an editor, in a session that tells which files were checked."""

    def __init__(self, folder: Path, text: str) -> None:
        folder.mkdir(exist_ok=True)
        self.path = folder / "model.py"
        self.path.write_bytes(text.encode())
        self.session = Session(settings_for([folder], isolated=True))
        self.is_checked(text)

    def is_checked(self, text: str) -> bool:
        """Whether the rules are asked about a text."""
        self.session.open(self.path, text.encode())
        checked = False
        analyser = self.session._analyser
        look = analyser._look

        def looked(*args: Any) -> None:
            nonlocal checked
            checked = True
            look(*args)

        analyser._look = looked  # type: ignore[method-assign]
        self.session.check()
        analyser._look = look  # type: ignore[method-assign]
        return checked

    def found(self) -> list[tuple[Any, ...]]:
        """What is found, and where, without the folder."""
        found = []
        for one in self.session.findings():
            spans = [place.span for place in one.places]
            claimed = (
                [] if one.claim is None else [(place.span, name_at(one.claim, place)) for place in places_of(one.claim)]
            )
            anchors = () if one.claim is None else tuple((a.place.span, a.head.span, a.text) for a in one.claim.anchors)
            texts = (one.message, one.evidence, one.help, one.fix and [edit.text for edit in one.fix.edits])
            found.append((one.code, texts, spans, claimed, anchors))
        return found


@pytest.mark.parametrize(
    "text",
    [
        f"# A comment.\n{MODEL}",
        f"\n\n{MODEL}\n\n# The end.\n",
        MODEL.replace("WIDTH = 8", "WIDTH = 8  # wide"),
        MODEL.replace("WIDTH = 8", "# self.layers = nn.ModuleList()\nWIDTH = 8"),
        MODEL.replace("import torch\n", "import torch\n\n# modellint: ignore[ML204]\n"),
        MODEL.replace("import torch\n", "\n\nimport torch  # the library (that is used, here)\n"),
        f"{MODEL}# Of x: (batch, 80)",
        MODEL.replace("    def forward", "    # The fix is elsewhere.\n    def forward"),
    ],
)
def test_what_is_found_moves_with_its_code(tmp_path: Path, text: str) -> None:
    editor = Editor(tmp_path / "edited", MODEL)
    assert not editor.is_checked(text)
    found = editor.found()
    assert "ML204" in [code for code, *_ in found]
    assert found == Editor(tmp_path / "fresh", text).found()


@pytest.mark.parametrize(
    "text",
    [
        MODEL.replace("WIDTH = 8", "WIDTH = 9"),
        MODEL.replace("A model.\n\n", "A model.\n\n\n"),
        MODEL.replace("A model.", "A model.  # that is small"),
        MODEL.replace('" \\\n', '" + \\\n'),
        MODEL.replace("nn.Linear(WIDTH, WIDTH),\n        ]", "nn.Linear(WIDTH, WIDTH),  # the last\n        ]"),
        MODEL.replace("            nn.Linear", "\n            nn.Linear"),
        MODEL.replace("\n", "\r\n"),
        MODEL.replace("A model.", "A\rmodel."),
        f"# -*- coding: ascii -*-\n{MODEL}",
        f"# This file was generated.\n{MODEL}",
        f"{MODEL}# See train.yaml\n",
    ],
)
def test_what_may_change_findings_is_checked(tmp_path: Path, text: str) -> None:
    editor = Editor(tmp_path / "edited", MODEL)
    assert editor.is_checked(text)
    assert editor.found() == Editor(tmp_path / "fresh", text).found()


COMMENTED = """\
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(8, 8)
        self.tail = nn.Linear(8, 8)

    def forward(self, x):
        y = self.head(x)

        return F.dropout(y, 0.1)
"""


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (COMMENTED, ["ML213", "ML504"]),
        (COMMENTED.replace("        self.tail", "        # Kept for old checkpoints.\n        self.tail"), ["ML504"]),
        (COMMENTED.replace("0.1)", "0.1)  # a perturbation on purpose"), ["ML213"]),
        (COMMENTED.replace("(x)\n\n", "(x)\n        # Monte Carlo dropout\n\n"), ["ML213"]),
        (f"# Kept for old checkpoints, Monte Carlo dropout.\n{COMMENTED}", ["ML213", "ML504"]),
    ],
)
def test_comments_that_rules_ask_for_count(tmp_path: Path, text: str, codes: list[str]) -> None:
    """Where they stand there, and where they are taken away again."""
    assert [code for code, *_ in Editor(tmp_path / "fresh", text).found()] == codes
    for before, now in ((COMMENTED, text), (text, COMMENTED)):
        editor = Editor(tmp_path / "edited", before)
        editor.is_checked(f"\n{before}")
        editor.is_checked(now)
        assert editor.found() == Editor(tmp_path / "fresh", now).found()


def test_an_edit_that_is_taken_back_is_not_checked(tmp_path: Path) -> None:
    editor = Editor(tmp_path, MODEL)
    found = editor.found()
    other = MODEL.replace("WIDTH, WIDTH", "WIDTH, 3")
    for text in (f"{MODEL}(", other):
        assert editor.is_checked(text)
    assert not editor.is_checked(MODEL)
    assert not editor.is_checked(f"\n{other}")
    assert not editor.is_checked(MODEL)
    assert editor.found() == found


def test_what_a_result_rests_on_counts(tmp_path: Path) -> None:
    """A comment here, and another file that has changed meanwhile."""
    editor = Editor(tmp_path, f"from base import SIZE\n{MODEL}")
    (tmp_path / "base.py").write_text("SIZE = 3\n")
    editor.session.touch(tmp_path / "base.py")
    assert editor.is_checked(f"# A comment.\nfrom base import SIZE\n{MODEL}")


def test_a_line_that_is_told_in_words_is_told_anew(tmp_path: Path) -> None:
    """What a finding says may be about a line that has moved."""
    finding = Editor(tmp_path, MODEL).session.findings()[0]
    path = tmp_path / "model.py"
    for evidence, moves in (("line 24", False), ("of 4096", True), ("line 2", True)):
        result = FileResult(path.as_posix(), (replace(finding, evidence=(evidence,)),))
        before, now = (Layout.of(path, text.encode()) for text in (MODEL, MODEL.replace("WIDTH", "\nWIDTH", 1)))
        assert before is not None
        assert now is not None
        assert (relaid(result, before, now) is not None) is moves


def test_rules_of_other_packs_may_ask_for_anything(tmp_path: Path) -> None:
    (tmp_path / "rules.py").write_text(PACK)
    settings = settings_for([tmp_path], isolated=True)
    editor = Editor(tmp_path, MODEL)
    editor.session = Session(replace(settings, rule_paths=(tmp_path / "rules.py",)))
    editor.is_checked(MODEL)
    assert editor.is_checked(f"# A comment.\n{MODEL}")


READING = ("lines", "text", "text_of", "text_between", "text_of_bytes", "plain")
#: Who reads lines as they are written besides those who say so, and asks for no comment or notes the lines.
READERS = {
    "modellint/edits/python.py": {"lines", "text", "text_of"},
    "modellint/link/values/kinds.py": {"lines"},
    "rules/ml207_parameter_not_registered/sooner.py": {"lines"},
    "rules/ml504_dropout_always_on/__init__.py": {"lines"},
    "rules/ml506_unknown_method/imports.py": {"text"},
    "rules/ml705_gradients_never_cleared/__init__.py": {"lines"},
}


@pytest.mark.dear
def test_who_reads_comments_notes_it() -> None:
    found: dict[str, set[str]] = {}
    folders = ("modellint/edits", "modellint/flow", "modellint/link", "rules")
    for path in (path for folder in folders for path in (ROOT / folder).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not {"bad", "good", "fixed"}.isdisjoint(path.parts) or "recipes" in name or name.endswith("yaml.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            owner = node.value if isinstance(node, ast.Attribute) and node.attr in READING else None
            if isinstance(owner, ast.Attribute) and owner.attr == "source" and ast.unparse(owner.value) != "recipe":
                found.setdefault(name, set()).add(node.attr)
    assert found == READERS


def files() -> list[Path]:
    return [path for path in sorted((ROOT / "modellint").rglob("*.py")) if has_its_turn(path.name, 8)]


@pytest.mark.parametrize("path", files(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_comments_are_told_from_strings(path: Path) -> None:
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            (row, start), (_, end) = token.start, token.end
            lines[row - 1] = f"{lines[row - 1][:start]}{' ' * (end - start)}{lines[row - 1][end:]}"
    assert without_comments(text) in ("".join(lines), text)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("x = '#'  # y", "x = '#'     "),
        ('x = "\\"#"  # y', 'x = "\\"#"     '),
        ("x = r'\\'  # y", "x = r'\\'     "),
        ('x = """\n# a\n"""  # y', 'x = """\n# a\n"""     '),
        ("x = f\"{y['#']}\"  # y", "x = f\"{y['#']}\"     "),
        ('x = f"{y["#"]}"  # y', 'x = f"{y["#"]}"  # y'),
        ('x = "{"  # y', 'x = "{"     '),
    ],
)
def test_a_comment_is_blank_where_it_is_certain(text: str, bare: str) -> None:
    assert without_comments(text) == bare
