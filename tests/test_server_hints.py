"""Shapes of tensors beside the code and on hover, spoken of as an editor does."""

from __future__ import annotations

import json
import random
import time
from typing import TYPE_CHECKING, Any

import pytest
from effort import PATIENCE, drawn
from preloaded import Client

from modellint.config import settings_for
from modellint.flow.shapes.shown import TensorExpression, tensors_in
from modellint.link.budget import Steps, SupersededError
from modellint.link.project import Project, ProjectOptions
from modellint.server.configuration import Configuration
from modellint.server.session import LARGE, Session

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """\
import torch
from torch import Tensor, nn


class Net(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.head = nn.Linear(16, classes)

    def forward(self, x: Tensor, *rest):
        batch, _ = x.shape
        é, é𝒳 = self.head(x), rest
        scores: Tensor = é + 1
        if rest:
            return (
                scores.softmax(-1)
            )
        return scores, rest[0] * 2
"""
SHOWN = {
    (10, "x: Tensor", " [batch, 16]"),
    (12, "é", ": [batch, classes] float32"),
    (13, "scores: Tensor", " [batch, classes] float32"),
    (16, "scores.softmax(-1)", ": [batch, classes] float32"),
    (18, "return scores", ": [batch, classes] float32"),
}
REFRESHES = {"workspace": {"inlayHint": {"refreshSupport": True}}}
#: The number of questions after which a server that says nothing has nothing to say.
MANY = 10 * PATIENCE
HINT, HOVER, REFRESH = "textDocument/inlayHint", "textDocument/hover", "workspace/inlayHint/refresh"


class Editor(Client):
    """An editor that answers nothing, and asks for hints and hovers."""

    def open(self, uri: str, text: str) -> str:
        item = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.send("textDocument/didOpen", {"textDocument": item})
        return uri

    def edit(self, uri: str, version: int, text: str) -> None:
        identity = {"uri": uri, "version": version}
        self.send("textDocument/didChange", {"textDocument": identity, "contentChanges": [{"text": text}]})

    def ask(self, method: str, params: Any, number: int = 7) -> Any:
        self.send(method, params, number)
        return self.answer(number)["result"]

    def hints(self, uri: str, first: int = 0, last: int = 0, text: str = MODEL) -> set[tuple[int, str, str]]:
        """The hints between two lines, from 0: line from 1, text before the hint, and the label with its padding."""
        ends = [{"line": line, "character": 0} for line in (first, last or text.count("\n"))]
        found = self.ask(HINT, {"textDocument": {"uri": uri}, "range": {"start": ends[0], "end": ends[1]}})
        assert all(one["kind"] == 1 for one in found)
        shown = set()
        for one in found:
            line, column = one["position"]["line"], one["position"]["character"]
            before = text.split("\n")[line].encode("utf-16-le")[: 2 * column].decode("utf-16-le")
            before = before.split(", ")[0] if "return" in before else before.rpartition("self, ")[2]
            shown.add((line + 1, before.strip(), " " * one["paddingLeft"] + one["label"]))
        return shown

    def hover(self, uri: str, line: int, character: int) -> str:
        place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        found = self.ask(HOVER, place)
        return "" if found is None else str(found["contents"]["value"])

    def is_told_to_ask_again(self, uri: str, questions: int = 3) -> bool:
        """True if the server says so while it answers some questions, with a pause before each."""
        for number in range(20, 20 + questions):
            time.sleep(0.1)
            self.send("textDocument/diagnostic", {"textDocument": {"uri": uri}}, number)
            while (message := self.receive()).get("id") != number:
                if message.get("method") == REFRESH:
                    self.answer(number)
                    return True
        return False


def started(folder: Path, capabilities: dict[str, Any] | None = None) -> Editor:
    (folder / "modellint.toml").touch()
    return Editor(folder, capabilities)


@pytest.fixture
def editor(tmp_path: Path):
    editor = started(tmp_path)
    yield editor
    editor.process.kill()


def test_shapes_are_beside_what_is_assigned_and_returned(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open((tmp_path / "net.py").as_uri(), MODEL)
    assert editor.hints(uri) == SHOWN
    assert editor.hints(uri, 12, 13) == {one for one in SHOWN if one[0] == 13}
    assert editor.hints(uri, 13, 15) == set()


def test_what_is_no_python_has_no_hints(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open((tmp_path / "train.yaml").as_uri(), "a: !new:torch.nn.Linear\n    in_features: 1\n")
    assert editor.hints(uri, text="\n\n") == set()
    assert editor.hints((tmp_path / "never-opened.py").as_uri()) == set()
    assert editor.hints("untitled:Untitled-1") == set()
    table = f"import torch\nx = torch.zeros(3)\n# {'-' * LARGE}\n"
    assert editor.hints(editor.open((tmp_path / "large.py").as_uri(), table), text=table) == set()


def test_hints_stay_while_a_line_is_typed(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open((tmp_path / "net.py").as_uri(), MODEL)
    assert editor.hints(uri) == SHOWN
    typed = MODEL.replace("        batch, _", "        y = (\n        batch, _")
    editor.edit(uri, 2, typed)
    assert editor.hints(uri, text=typed) == {(line + (line > 10), before, label) for line, before, label in SHOWN}
    typed = MODEL.replace("é + 1", "é.sum(")
    editor.edit(uri, 3, typed)
    assert editor.hints(uri, text=typed) == SHOWN
    typed = MODEL.replace("é + 1", "é.sum(0)")
    editor.edit(uri, 4, typed)
    assert (13, "scores: Tensor", " [classes] float32") in editor.hints(uri, text=typed)


def test_hints_are_about_the_latest_text(editor: Editor, tmp_path: Path) -> None:
    """A question that an edit comes after is answered by the text of the edit."""
    uri = editor.open((tmp_path / "net.py").as_uri(), MODEL)
    ends = [{"line": line, "character": 0} for line in (0, 18)]
    for number in range(20):
        editor.edit(uri, number + 2, MODEL.replace("16, ", f"{number + 16}, ").replace("classes", f"c{number}"))
        params = {"textDocument": {"uri": uri}, "range": {"start": ends[0], "end": ends[1]}}
        editor.send(HINT, params, number + 100)
    answers = [editor.answer(number + 100)["result"] for number in range(20)]
    assert {one["label"] for one in answers[-1]} >= {": [batch, c19] float32"}
    assert all(answers)


def test_an_editor_that_wants_no_hints_gets_none(tmp_path: Path) -> None:
    editor = started(tmp_path, REFRESHES)
    uri = editor.open((tmp_path / "net.py").as_uri(), MODEL)
    assert editor.hints(uri) == SHOWN
    assert not editor.is_told_to_ask_again(uri)
    for wanted, shown in ((False, set()), (True, SHOWN)):
        table = {"modellint": {"inlay-hints": wanted}}
        editor.send("workspace/didChangeConfiguration", {"settings": table})
        assert editor.is_told_to_ask_again(uri, MANY)
        assert editor.hints(uri) == shown
    assert "[batch, 16]" in editor.hover(uri, 9, 22)
    editor.process.kill()


def test_a_wish_about_hints_that_is_none_is_told(tmp_path: Path) -> None:
    configuration, complaints = Configuration(), list[str]()
    configuration.tell({"inlay-hints": "never"})
    assert configuration.settings_for(tmp_path / "net.py", complaints.append) is not None
    assert complaints == ["the editor's settings: `inlay-hints` must be true or false, not 'never'"]
    assert configuration.wants_hints(tmp_path / "net.py")


def test_the_editor_asks_again_if_another_file_changes_a_hint(tmp_path: Path) -> None:
    editor = started(tmp_path, REFRESHES)
    sizes, user = "WIDTH = {}\n", "import torch\nfrom sizes import WIDTH\n\nx = torch.zeros(2, WIDTH)\n"
    first = editor.open((tmp_path / "sizes.py").as_uri(), sizes.format(3))
    second = editor.open((tmp_path / "user.py").as_uri(), user)
    assert {label for _, _, label in editor.hints(second, text=user)} == {": [2, 3] float32"}
    editor.edit(first, 2, sizes.format(3) + "HEIGHT = 1\n")
    assert not editor.is_told_to_ask_again(second)
    editor.edit(first, 3, sizes.format(4))
    assert editor.is_told_to_ask_again(second, MANY)
    assert {label for _, _, label in editor.hints(second, text=user)} == {": [2, 4] float32"}
    editor.edit(second, 2, user.replace("2", "5"))  # the editor asks by itself
    assert not editor.is_told_to_ask_again(second)
    editor.send("textDocument/didClose", {"textDocument": {"uri": second}})
    editor.edit(first, 4, sizes.format(6))
    assert not editor.is_told_to_ask_again(first)
    editor.process.kill()


def test_hover_tells_the_shape_of_the_innermost_tensor(editor: Editor, tmp_path: Path) -> None:
    uri = editor.open((tmp_path / "net.py").as_uri(), MODEL)
    fence = "```python\n{}\n```".format
    assert editor.hover(uri, 15, 17) == fence("scores: [batch, classes] float32")
    assert editor.hover(uri, 15, 25) == fence("scores.softmax(-1): [batch, classes] float32")
    assert editor.hover(uri, 11, 8) == fence("é: [batch, classes] float32")
    assert editor.hover(uri, 11, 27) == fence("x: [batch, 16]")  # behind two halves of a character
    assert editor.hover(uri, 11, 19) == fence("self.head(x): [batch, classes] float32")
    assert editor.hover(uri, 14, 13) == ""
    uri = editor.open((tmp_path / "any.py").as_uri(), "import torch\n\nx = torch.load('x') + torch.tensor(y)\n")
    assert editor.hover(uri, 2, 28) == ""
    uri = (tmp_path / "net.py").as_uri()
    place = {"textDocument": {"uri": uri}, "position": {"line": 15, "character": 17}}
    ends = [{"line": 15, "character": character} for character in (16, 22)]
    assert editor.ask(HOVER, place)["range"] == {"start": ends[0], "end": ends[1]}


def test_hover_tells_the_shape_above_the_rule(editor: Editor, tmp_path: Path) -> None:
    text = "import torch\n\n\ndef f():\n    a = torch.zeros(2, 3)\n    return a @ torch.ones(2, 2)\n"
    uri = editor.open((tmp_path / "product.py").as_uri(), text)
    assert editor.hover(uri, 5, 11).startswith("```python\na: [2, 3] float32\n```\n\n---\n**ML520** shape-mismatch")
    assert editor.hover(uri, 5, 6).startswith("**ML520** shape-mismatch")


def test_cells_of_a_notebook_have_hints(editor: Editor, tmp_path: Path) -> None:
    cells = ["import torch\nwidth = 4\n", "# Title", "!ls\na = torch.zeros(3, width)", "b = a.T\n"]
    uris = [f"vscode-notebook-cell://{tmp_path.as_posix()}/book.ipynb#{number}" for number in range(4)]
    path = tmp_path / "book.ipynb"
    kinds = (2, 1, 2, 2)
    listed = [{"kind": kind, "document": uri} for kind, uri in zip(kinds, uris, strict=True)]
    documents = [
        {"uri": uri, "languageId": "python" if kind == 2 else "markdown", "version": 1, "text": text}
        for kind, uri, text in zip(kinds, uris, cells, strict=True)
    ]
    book = {"uri": path.as_uri(), "notebookType": "jupyter-notebook", "version": 1, "cells": listed}
    editor.send("notebookDocument/didOpen", {"notebookDocument": book, "cellTextDocuments": documents})
    assert editor.hints(uris[2], last=1, text=cells[2]) == set()  # the range ends before the second line has begun
    end = {"line": 1, "character": 30}
    around = {"start": {"line": 0, "character": 0}, "end": end}
    found = editor.ask(HINT, {"textDocument": {"uri": uris[2]}, "range": around})
    assert [(one["position"], one["label"]) for one in found] == [({"line": 1, "character": 1}, ": [3, 4] float32")]
    assert editor.hints(uris[3], text=cells[3]) == {(1, "b", ": [4, 3] float32")}
    assert editor.hints(uris[0], text=cells[0]) == editor.hints(uris[1], text="\n") == set()
    assert editor.hover(uris[3], 0, 4) == "```python\na: [3, 4] float32\n```"
    change = {"document": {"uri": uris[3], "version": 2}, "changes": [{"text": "b = a.\n"}]}
    identity = {"uri": path.as_uri(), "version": 2}
    editor.send(
        "notebookDocument/didChange", {"notebookDocument": identity, "change": {"cells": {"textContent": [change]}}}
    )
    assert editor.hints(uris[3], text="b = a.\n") == set()
    assert len(editor.ask(HINT, {"textDocument": {"uri": uris[2]}, "range": around})) == 1


def test_a_notebook_that_is_a_text_has_no_hints(editor: Editor, tmp_path: Path) -> None:
    code = {"cell_type": "code", "source": "import torch\nx = torch.zeros(3)\n"}
    text = json.dumps({"nbformat": 4, "cells": [code]}, indent=1)
    uri = editor.open((tmp_path / "book.ipynb").as_uri(), text)
    assert editor.hints(uri, text=text) == set()


def fresh_tensors(path: Path) -> list[TensorExpression]:
    settings = settings_for([path], isolated=True)
    project = Project(ProjectOptions(settings.root, settings.python, settings.recipes))
    module = project.whole(path)
    return [] if module is None else tensors_in(module, project)


def test_shapes_are_those_of_a_new_project(tmp_path: Path) -> None:
    """Whatever a session was asked before about files that change, it says the same as one that begins now."""
    base, model = tmp_path / "base.py", tmp_path / "net.py"
    texts = {
        base: MODEL,
        model: MODEL.replace("nn.Module", "Base").replace("import torch", "from base import Net as Base"),
    }
    chance, compared = random.Random(7), 0
    for path, text in texts.items():
        path.write_text(text)
    session = Session(settings_for([tmp_path], isolated=True))
    for path, text in texts.items():
        session.open(path, text.encode())
    for _ in range(drawn(40)):
        path = chance.choice((base, model))
        lines = texts[path].splitlines(keepends=True)
        at = chance.randrange(9, len(lines))
        lines[at] = lines[at].replace("-1", "0") if chance.random() < 0.3 else lines[at].replace("scores", "é")
        if chance.random() < 0.5:
            lines.insert(10, f"        x = self.head(x) + {chance.randrange(9)}\n")
        path.write_text("".join(lines))
        session.open(path, path.read_bytes())
        while session.is_outdated:
            session.check()
        for asked in (base, model):
            if chance.random() < 0.6:
                assert list(session.tensors(asked)) == fresh_tensors(asked)
                compared += 1
    assert compared


@pytest.mark.parametrize("at", [1, 3, 12])
def test_a_question_that_is_given_up_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    path = tmp_path / "net.py"
    path.write_text(MODEL)
    session = Session(settings_for([path], isolated=True))
    session.open(path, path.read_bytes())
    session.check()
    before, steps, spend = session.findings(), 0, Steps.spend

    def spend_and_give_up(budget: Steps, number: int = 1) -> None:
        nonlocal steps
        steps += 1
        if steps == at:
            session.supersede()
        spend(budget, number)

    with monkeypatch.context() as patch:
        patch.setattr(Steps, "spend", spend_and_give_up)
        with pytest.raises(SupersededError):
            session.tensors(path)
    assert list(session.tensors(path)) == fresh_tensors(path) != []
    session.open(path, path.read_bytes() + b"x = 1\n")
    session.check()
    assert session.findings() == before
