"""Files that are too large are skipped, and told so; they cost nothing, not even where others import them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import junitparser
import pytest
import sarif_pydantic
from hypothesis import given
from hypothesis import strategies as st
from preloaded import Client

import modellint
from modellint.config.errors import UsageError
from modellint.frontends import recipe
from modellint.reading.files import Files
from modellint.reading.sizes import DEFAULT_LIMIT, described, parse_size

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace

MODEL = "from torch import nn\ntable = nn.Embedding(3, 8, padding_idx=3)\n"
LARGE = "a = WORD  # modellint: ignore[ML001]\n" + "# note\n" * 40
SMALL = ("--max-file-size", "200 B")
SAYS = "it has 317 bytes, more than `max-file-size` allows (200 bytes)"


def book(text: str) -> str:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": text}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_a_file_that_is_too_large_is_skipped_and_told(words: Workspace) -> None:
    assert len(LARGE) == 317
    words.write({"a.py": LARGE, "b.py": "b = WORD\n", "c.yaml": "a: !new:b.C\n" + LARGE, "d.ipynb": book(LARGE)})
    for _ in range(2):  # the second time from the cache
        result = words.check(".", *SMALL)
        assert [line.partition(":")[0] for line in result.lines] == ["b.py", "Found 1 finding (1 warning)"]
        assert result.code == 1
        assert [line.partition(" is skipped")[0] for line in result.err.splitlines()] == [
            f"Warning: {name}" for name in ("a.py", "c.yaml", "d.ipynb")
        ]
        assert f"Warning: a.py is skipped: {SAYS}" in result.err
    assert words.check(".", *SMALL, "--quiet").err == ""
    assert words.run("check", ".", *SMALL, "--show-files").lines == ["b.py"]
    assert words.places("a.py") == [("a.py", 1, "TST101"), ("a.py", 1, "ML002")]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_formats_tell_of_it(words: Workspace, jobs: str) -> None:
    words.write({"a.py": LARGE, "b.py": "b = WORD\n"})
    formats = ("json", "json-lines", "sarif", "junit", "github", "azure")
    done = words.run("check", ".", *SMALL, "--jobs", jobs, *(f"--output-format={name}={name}.out" for name in formats))
    assert done.code == 1
    text = {name: (words.root / f"{name}.out").read_text() for name in formats}
    skipped = {"path": "a.py", "reason": SAYS, "size": 317, "tokens": None, "max_file_size": 200}
    document = json.loads(text["json"])
    assert (document["skipped"], document["files_checked"], document["errors"]) == ([skipped], 1, [])
    assert json.loads(text["json-lines"].splitlines()[1]) == {"skipped": skipped}
    sarif = sarif_pydantic.Sarif.model_validate_json(text["sarif"]).model_dump(mode="json", by_alias=True)
    (invocation,) = sarif["runs"][0]["invocations"]
    (note,) = invocation["toolExecutionNotifications"]
    assert invocation["executionSuccessful"] is True
    assert (note["level"], note["message"]["text"]) == ("warning", f"a.py: skipped: {SAYS}")
    suites = junitparser.JUnitXml.fromstring(text["junit"].encode())
    assert (suites.tests, suites.failures, suites.skipped) == (2, 1, 1)
    assert text["github"].splitlines()[1] == f"::warning title=modellint (skipped),file=a.py::a.py: {SAYS}"
    assert text["azure"].splitlines()[1] == f"##vso[task.logissue type=warning;sourcepath=a.py;]a.py: {SAYS}"
    merged = words.run("merge", "json.out", "--output-format", "json")
    assert (merged.code, merged.json["skipped"], merged.err) == (1, [skipped], f"Warning: a.py is skipped: {SAYS}\n")


def test_what_comes_on_stdin_may_be_too_large(words: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LARGE.encode())))
    result = words.check("-", "--stdin-filename", "a.py", *SMALL)
    assert (result.code, result.err) == (0, f"Warning: a.py is skipped: {SAYS}\n")
    assert result.lines[0].startswith("0 files checked: no layer class")
    assert result.lines[1:] == ["All checks passed!"]


def test_a_file_that_is_too_large_is_not_read_for_others(workspace: Workspace) -> None:
    """And what it could hold is unknown, not missing."""
    base = "from torch import nn\n\n\nclass Base(nn.Linear):\n    pass\n"
    heir = (
        "from torch import nn\nfrom base import Base\n\n\nclass Text(nn.Module):\n    def __init__(self):\n"
        "        super().__init__()\n        self.layers = [Base(1, 1) for _ in range(2)]\n\n"
        "    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return x\n"
    )
    recipes = {
        "main.yaml": "shared: !include:shared.yaml\nlayer: !new:base.Base\n    - !ref <shared[width]>\n    - 1\n",
        "shared.yaml": "width: 3\n",
    }
    workspace.write({"base.py": base, "text.py": heir, **recipes})
    small = ("text.py", "main.yaml", "--max-file-size", str(len(heir)))
    assert workspace.places(*small) == [("text.py", 8, "ML204")]
    workspace.write({"base.py": base + "# note\n" * 60, "shared.yaml": recipes["shared.yaml"] + "# note\n" * 60})
    assert workspace.places(*small) == []
    workspace.write({"base.py": base})
    assert workspace.places(*small) == [("text.py", 8, "ML204")]
    assert workspace.places(*small, "--max-file-size", "1") == []


def test_a_file_that_is_too_large_is_not_read_at_all(tmp_path: Path) -> None:
    large = tmp_path / "large.py"
    with large.open("wb") as file:
        file.truncate(1 << 40)  # of which the disk holds nothing
    files = Files(limit=DEFAULT_LIMIT)
    assert files.read(large) is None
    assert files.fingerprint(f"file:{large.as_posix()}") == "absent"
    assert files.exists(large)
    large.rename(tmp_path / "large.csv")
    assert files.oversized(tmp_path / "large.csv") is None


def test_a_map_of_it_is_refused(workspace: Workspace) -> None:
    workspace.write({"a.py": LARGE, "modellint.toml": "max-file-size = 200\n"})
    result = workspace.run("map", "a.py::A")
    assert (result.code, result.err) == (2, f"Error: a.py: {SAYS}\n")


def test_a_baseline_keeps_what_is_skipped(words: Workspace) -> None:
    words.write({"a.py": LARGE})
    words.check("--baseline", "known.json", "--write-baseline")
    before = (words.root / "known.json").read_text()
    assert "no longer found" not in words.check("--baseline", "known.json", *SMALL).err
    words.check("--baseline", "known.json", "--write-baseline", *SMALL)
    assert (words.root / "known.json").read_text() == before


# -- the setting -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "size"),
    [(1, 1), ("1", 1), ("2 MB", 2_000_000), ("500 kB", 500_000), ("1.5mb", 1_500_000), ("3KiB", 3072), ("0.1 b", 1)],
)
def test_sizes(value: object, size: int) -> None:
    assert parse_size(value) == size


@given(st.integers(1, 10**13))
def test_sizes_are_shown_as_they_can_be_read(size: int) -> None:
    assert 0.9 * size <= parse_size(described(size).replace("bytes", "B").replace("byte", "B")) <= size


@pytest.mark.parametrize("value", ["0", "-1", "true", "2.5", '"0 MB"', '"two"', '"2 XB"', '""', '"2 MB\\n"', "[1]"])
def test_what_is_no_size_is_refused(words: Workspace, value: str) -> None:
    words.write({"modellint.toml": f"jobs = 1\nmax-file-size = {value}\n", "a.py": ""})
    result = words.check(".")
    assert (result.code, result.out) == (2, "")
    expected = 'a number of bytes from 1 up, or a size such as "2 MB" or "500 kB"'
    assert result.err.startswith(f"Error: modellint.toml:2: `max-file-size` must be {expected}, not ")


def test_options_settings_and_the_api_say_it(words: Workspace) -> None:
    words.write({"a.py": LARGE, "modellint.toml": 'max-file-size = "0.2 kB"\n'})
    assert words.check("a.py").err == f"Warning: a.py is skipped: {SAYS}\n"
    assert words.check("a.py", "--max-file-size", "1 MB").err == ""
    assert "max-file-size = 1000" in words.run("check", "--show-settings", "--max-file-size", "1 kB").lines
    refused = words.check("a.py", "--max-file-size", "0")
    assert refused.code == 2
    assert "'--max-file-size': '0' is not a size; expected a number of bytes from 1 up, or" in refused.err
    with pytest.warns(UserWarning, match=r"a\.py is skipped: it has 317 bytes"):
        assert modellint.check(["a.py"]) == []
    assert modellint.check(["a.py"], max_file_size="1 MB", isolated=True) != []
    with pytest.raises(UsageError, match="a setting is not understood: no size: 'x'"):
        modellint.check(["a.py"], max_file_size="x")


# -- below it ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.py", "a.yaml", "a.ipynb"])
def test_a_file_of_too_many_tokens_is_skipped(workspace: Workspace, name: str) -> None:
    """To parse it takes as much memory as a larger file would."""
    dense = "x: !new:torch.nn.ReLU\ny: " if name == "a.yaml" else "import torch.nn\n"
    dense += f"[{'a,' * (400 if name == 'a.ipynb' else 140)}]\n"
    dense = book(dense) if name == "a.ipynb" else dense
    strings = f"'{'a,' * 60}'"
    quoted = f"x{':' if name == 'a.yaml' else ' ='} {strings}  # {strings}\n"
    workspace.write({name: dense, f"b{name.replace('.ipynb', '.py')}": quoted})
    limit = str(len(dense))
    assert len(quoted) < len(dense)
    result = workspace.run("check", "--output-format", "json", "--max-file-size", limit)
    (skipped,) = result.json["skipped"]
    assert (result.code, skipped["path"], result.json["files_checked"]) == (0, name, 1)
    assert skipped["tokens"] > 280
    assert f"it has {skipped['tokens']} tokens, more than a file may have" in result.err


def test_merges_that_grow_by_one_another_are_refused(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "MOST_MERGED", 60)
    chain = "layer: !new:torch.nn.ReLU\na0: &a0 {x: 1}\n"
    chain += "".join(f"a{i + 1}: &a{i + 1}\n  <<: *a{i}\n  k{i}: 1\n" for i in range(20))
    workspace.write({"a.yaml": chain, "b.yaml": chain.partition("a9")[0]})
    (found,) = workspace.run("check", "--output-format", "json").json["findings"]
    assert (found["path"], found["code"]) == ("a.yaml", "ML001")
    assert "merges (`<<`) add more than 60 entries" in found["message"]


# -- editors -----------------------------------------------------------------------------------------------------------


def test_a_document_that_is_too_large_is_told_once_and_not_checked(tmp_path: Path) -> None:
    (tmp_path / "modellint.toml").write_text("max-file-size = 100\n")
    client = Client(tmp_path)
    uri = (tmp_path / "a.py").as_uri()
    said = []

    def version(number: int, text: str) -> list[str]:
        identity = {"uri": uri, "version": number}
        if number == 1:
            client.send("textDocument/didOpen", {"textDocument": {**identity, "languageId": "python", "text": text}})
        else:
            client.send("textDocument/didChange", {"textDocument": identity, "contentChanges": [{"text": text}]})
        while (message := client.receive())["method"] != "textDocument/publishDiagnostics":
            said.append((message["params"]["type"], message["params"]["message"].partition(": ")[2]))
        return [found["code"] for found in message["params"]["diagnostics"]]

    try:
        found = version(1, MODEL)
        assert found != []
        assert version(2, MODEL + "# note\n" * 20) == []
        assert version(3, MODEL + "# note\n" * 21) == []
        assert version(4, MODEL) == found
        client.send("textDocument/diagnostic", {"textDocument": {"uri": uri}}, 5)
        client.answer(5)
    finally:
        client.process.kill()
    size = len(MODEL) + 140
    assert said == [(3, f"not checked: it has {size} bytes, more than `max-file-size` allows (100 bytes)")]


def test_a_rule_that_fails_in_an_editor_is_logged(words: Workspace) -> None:
    client = Client(words.root)
    uri = (words.root / "a.py").as_uri()
    item = {"uri": uri, "languageId": "python", "version": 1, "text": "a = WORD  # CRASH\nx = (\n"}
    try:
        client.send("textDocument/didOpen", {"textDocument": item})
        first = client.receive()
        item = {**item, "version": 2, "text": "# CRASH WORD\n" + MODEL}
        client.send("textDocument/didOpen", {"textDocument": item})
        messages = [client.receive(), client.receive()]
    finally:
        client.process.kill()
    assert [found["code"] for found in first["params"]["diagnostics"]] == ["ML001"]
    told = {message["method"]: message["params"] for message in messages}
    assert told["window/logMessage"]["type"] == 1
    assert "internal error in TST101: RuntimeError: the rule is broken" in told["window/logMessage"]["message"]
    assert told["textDocument/publishDiagnostics"]["diagnostics"] != []
