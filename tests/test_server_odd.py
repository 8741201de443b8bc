"""Editors that say odd things."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import pytest
from preloaded import Client

from modellint.server.protocol import path_of, uri_of
from modellint.server.shown import encode

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """\
from torch import nn


class Text(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = [nn.Linear(size, size) for _ in range(2)]

    def forward(self, hidden):
        for layer in self.layers:
            hidden = layer(hidden)
        return hidden
"""


@pytest.fixture
def client(tmp_path: Path):
    (tmp_path / "modellint.toml").write_text("")
    client = Client(tmp_path)
    yield client
    client.process.kill()


def opened(client: Client, uri: str, text: str, version: int = 1) -> None:
    item = {"uri": uri, "languageId": "python", "version": version, "text": text}
    client.send("textDocument/didOpen", {"textDocument": item})


def changed(client: Client, uri: str, version: int, *changes: dict[str, Any]) -> None:
    identity = {"uri": uri, "version": version}
    client.send("textDocument/didChange", {"textDocument": identity, "contentChanges": list(changes)})


def pulled(client: Client, uri: str) -> list[str]:
    client.send("textDocument/diagnostic", {"textDocument": {"uri": uri}}, 5)
    return [item["code"] for item in client.answer(5)["result"]["items"]]


def first(client: Client) -> tuple[str, int | None, list[str]]:
    """What is told next, which has to be diagnostics."""
    message = client.receive()
    assert message["method"] == "textDocument/publishDiagnostics"
    params = message["params"]
    return params["uri"], params.get("version"), [item["code"] for item in params["diagnostics"]]


def test_a_document_that_is_not_open_is_not_edited(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    changed(client, path.as_uri(), 2, {"text": MODEL})
    client.send("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
    client.send("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}})
    opened(client, path.as_uri(), "x = 1\n")
    assert first(client) == (path.as_uri(), 1, [])
    changed(client, path.as_uri(), 2, {"text": MODEL})
    assert first(client) == (path.as_uri(), 2, ["ML204"])


def test_a_notebook_that_is_not_open_is_not_edited(client: Client, tmp_path: Path) -> None:
    book = {"uri": (tmp_path / "book.ipynb").as_uri(), "version": 2}
    text = {"document": {"uri": "cell:1", "version": 2}, "changes": [{"text": MODEL}]}
    change = {"cells": {"textContent": [text]}}
    client.send("notebookDocument/didChange", {"notebookDocument": book, "change": change})
    uri = (tmp_path / "model.py").as_uri()
    opened(client, uri, MODEL)
    assert first(client) == (uri, 1, ["ML204"])


def test_what_is_opened_twice_is_what_it_was_opened_as_last(client: Client, tmp_path: Path) -> None:
    uri = (tmp_path / "model.py").as_uri()
    opened(client, uri, MODEL, version=7)
    assert first(client) == (uri, 7, ["ML204"])
    opened(client, uri, "x = 1\n", version=3)
    assert first(client) == (uri, 3, [])
    changed(client, uri, 2, {"text": MODEL})
    assert first(client) == (uri, 2, ["ML204"])


def test_several_changes_come_one_after_the_other(client: Client, tmp_path: Path) -> None:
    uri = (tmp_path / "model.py").as_uri()
    opened(client, uri, "x = 1\n")
    assert first(client) == (uri, 1, [])

    def at(line: int, text: str) -> dict[str, Any]:
        place = {"line": line, "character": 0}
        return {"range": {"start": place, "end": place}, "text": text}

    changed(client, uri, 2, at(0, "# \u2028\n"), {"text": MODEL}, at(0, "# \f\n"), at(1, "# \x85\n"))
    client.send("textDocument/diagnostic", {"textDocument": {"uri": uri}}, 5)
    (found,) = client.answer(5)["result"]["items"]
    assert found["range"]["start"] == {"line": 8, "character": 8}


@pytest.mark.parametrize(
    "uri", ["untitled:Untitled-1", "git:{}?ref", "file://[", "file://elsewhere{}", "file:///a%00.py"]
)
def test_what_is_no_file_of_this_machine_is_left_alone(client: Client, tmp_path: Path, uri: str) -> None:
    odd, uri = uri.format((tmp_path / "odd.py").as_posix()), (tmp_path / "model.py").as_uri()
    opened(client, odd, MODEL)
    changed(client, odd, 2, {"text": MODEL + "\n"})
    assert pulled(client, odd) == []
    opened(client, uri, MODEL)
    assert first(client) == (uri, 1, ["ML204"])


@pytest.mark.parametrize("name", ["a b.py", "a%25.py", "a#b?c;d.py", "é漢😀.py", "a%20b.py", "[a].py"])
def test_names_of_files_are_what_uris_say(client: Client, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    uri = (folder / name).as_uri()
    assert path_of(uri) == (folder / name).as_posix()
    opened(client, uri, MODEL)
    assert first(client) == (uri, 1, ["ML204"])
    folder.mkdir()
    (folder / "modellint.toml").write_text('ignore = ["ML204"]\n')
    event = {"uri": (folder / "modellint.toml").as_uri(), "type": 1}
    client.send("workspace/didChangeWatchedFiles", {"changes": [event]})
    assert first(client) == (uri, 1, [])


def test_a_file_keeps_the_uri_that_the_editor_has_for_it(client: Client, tmp_path: Path) -> None:
    uri = f"file://{tmp_path.as_posix()}/./%6dodel.py"
    assert path_of(uri) == (tmp_path / "model.py").as_posix()
    opened(client, uri, MODEL)
    assert first(client) == (uri, 1, ["ML204"])


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names of files are text there")
def test_names_that_are_not_utf8(client: Client, tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff.py"
    with open(path, "wb") as file:
        file.write(MODEL.encode())
    uri = f"{tmp_path.as_uri()}/%FF.py"
    assert uri_of(os.fsdecode(path)) == uri
    assert path_of(uri) == os.fsdecode(path)
    opened(client, uri, MODEL)
    assert first(client) == (uri, 1, ["ML204"])


def test_a_mark_of_the_byte_order_takes_a_column(client: Client, tmp_path: Path) -> None:
    uri = (tmp_path / "model.py").as_uri()
    for text, columns in (("x = [1, 2)\n", 9), ("\ufeffx = [1, 2)\n", 10)):
        opened(client, uri, text)
        client.send("textDocument/diagnostic", {"textDocument": {"uri": uri}}, 5)
        (found,) = client.answer(5)["result"]["items"]
        assert (found["code"], found["range"]["start"]["character"]) == ("ML001", columns)


def test_what_the_declared_encoding_does_not_have_moves_nothing() -> None:
    text = "# -*- coding: latin-1 -*-\nx = '漢', y\n"
    assert encode("/a.py", text).decode("latin-1") == text.replace("漢", "?")
    assert encode("/a.py", text.replace("latin-1", "utf-8")).decode() == text.replace("latin-1", "utf-8")


def test_halves_of_characters_are_told_and_nothing_else(client: Client, tmp_path: Path) -> None:
    uri = (tmp_path / "model.py").as_uri()
    opened(client, uri, "x = '\ud83d'\n" + MODEL)
    assert first(client) == (uri, 1, ["ML001"])
    place = {"line": 0, "character": 6}
    changed(client, uri, 2, {"range": {"start": place, "end": place}, "text": "\ude00"})
    assert first(client) == (uri, 2, ["ML204"])


def test_a_folder_that_is_renamed_takes_its_files_along(client: Client, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("")
    (tmp_path / "parts" / "base.py").write_text("from torch import nn\n\n\nclass Base(nn.Linear):\n    pass\n")
    uri = (tmp_path / "model.py").as_uri()
    opened(client, uri, MODEL.replace("nn\n", "nn\nfrom parts.base import Base\n", 1).replace("[nn.Linear(", "[Base("))
    assert first(client) == (uri, 1, ["ML204"])
    (tmp_path / "parts").rename(tmp_path / "pieces")
    renamed = {"oldUri": (tmp_path / "parts").as_uri(), "newUri": (tmp_path / "pieces").as_uri()}
    client.send("workspace/didRenameFiles", {"files": [renamed]})
    assert first(client) == (uri, 1, [])
    (tmp_path / "pieces").rename(tmp_path / "parts")
    client.send("workspace/didCreateFiles", {"files": [{"uri": (tmp_path / "parts").as_uri()}]})
    assert first(client) == (uri, 1, ["ML204"])


def test_a_file_that_is_deleted_while_it_is_open_is_what_the_editor_has(client: Client, tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    opened(client, path.as_uri(), MODEL)
    assert first(client) == (path.as_uri(), 1, ["ML204"])
    path.unlink()
    client.send("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": 3}]})
    assert pulled(client, path.as_uri()) == ["ML204"]
    client.send("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
    assert first(client) == (path.as_uri(), None, [])
    assert pulled(client, path.as_uri()) == []


def test_documents_that_are_closed_while_they_are_checked(client: Client, tmp_path: Path) -> None:
    uris = [(tmp_path / f"{number}.py").as_uri() for number in range(20)]
    for uri in uris:
        opened(client, uri, MODEL)
        client.send("textDocument/didClose", {"textDocument": {"uri": uri}})
    last: dict[str, list[str]] = {}
    client.send("textDocument/diagnostic", {"textDocument": {"uri": uris[0]}}, 5)
    while (message := client.receive()).get("id") != 5:
        last[message["params"]["uri"]] = message["params"]["diagnostics"]
    assert not any(last.values())
    assert client.messages == []


def test_folders_of_the_workspace_come_and_go(client: Client, tmp_path: Path) -> None:
    folder = {"uri": (tmp_path / "a b").as_uri(), "name": "a"}
    for added, removed in (([folder], []), ([], [folder]), ([], [folder]), ([folder], [folder])):
        client.send("workspace/didChangeWorkspaceFolders", {"event": {"added": added, "removed": removed}})
    uri = (tmp_path / "a b" / "model.py").as_uri()
    opened(client, uri, MODEL)
    assert first(client) == (uri, 1, ["ML204"])
