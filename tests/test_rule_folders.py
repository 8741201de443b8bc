"""Rules that are folders: their examples are files, kept byte for byte and read by nobody who does not ask for them."""

from __future__ import annotations

import json
import lzma
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from modellint.commands.explain import as_json, as_text
from modellint.config import UsageError
from modellint.examples import materialise
from modellint.packs import pack_files, rules_at

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Workspace

    from modellint.rule import Rule

#: A rule that flags each line of a Python file with what its second module says, and writes another word there.
RULE = '''
"""A rule in a folder."""

from modellint.finding import Applicability, Confidence, Edit, Fix, Severity
from modellint.rule import Rule

from .words import found


class OldWord(Rule):
    """An old word"""

    code = "TST301"
    name = "old-word"
    severity = Severity.WARNING

    def check_python(self, module, project):
        for place in found(module):
            fix = Fix("Write the new word", Applicability.SAFE, (Edit(place, "NEW"),))
            yield self.finding(place, "an old word", symbol="old", confidence=Confidence.HIGH, fix=fix)
'''
WORDS = '''
"""Where old words are."""

from modellint.source import Place, Span


def found(module):
    for number, line in enumerate(module.source.text.splitlines(), 1):
        at = line.find("OLD") + 1
        if at:
            yield Place(module.source.path.as_posix(), Span(number, at, number, at + 3))
'''
TITLES = '[bad]\na-word = "A word"\n\n[good]\nnone = "None"\nanother = "Another word"\n'
FOLDER = "rules/tst301_old_word"
FILES: dict[str, str | bytes] = {
    f"{FOLDER}/__init__.py": RULE,
    f"{FOLDER}/words.py": WORDS,
    f"{FOLDER}/examples.toml": TITLES,
    f"{FOLDER}/bad/a-word/model.py": "import a\nOLD = 1  # expect: TST301\n",
    f"{FOLDER}/fixed/a-word/model.py": "import a\nNEW = 1  # expect: TST301\n",
    f"{FOLDER}/good/none/model.py": "import a\n",
    f"{FOLDER}/good/another/deep/er/model.py": "import a\nNEW = 1\n",
}


@pytest.fixture
def folder(workspace: Workspace) -> Path:
    """The folder of a rule, in a project whose settings name the folder that it is in."""
    workspace.write({**FILES, "modellint.toml": 'rule-paths = ["rules"]\nselect = ["TST"]\n'})
    return workspace.root / FOLDER


def loaded(folder: Path) -> type[Rule]:
    _, (rule,) = rules_at(folder)
    return type(rule)


def test_a_rule_with_a_module_of_its_own_and_examples_beside_it_works(workspace: Workspace, folder: Path) -> None:
    for path in ("rules", FOLDER, f"{FOLDER}/__init__.py"):
        tested = workspace.run("test-rules", path)
        assert (tested.code, tested.lines[0]) == (0, "TST301 old-word: 1 bad, 2 good: ok")
    workspace.write({"model.py": "import a\nx = 1\nOLD = 1\n"})
    assert workspace.places("model.py") == [("model.py", 3, "TST301")]
    assert "TST301  old-word" in workspace.run("rules").out
    assert next(line for line in workspace.run("rules").lines if "TST301" in line).split()[3] == "fixable"


def test_examples_come_in_the_order_of_their_titles(folder: Path) -> None:
    rule = loaded(folder)
    assert [example.title for example in (*rule.bad, *rule.good)] == ["A word", "None", "Another word"]
    assert rule.good[1].files == {"deep/er/model.py": "import a\nNEW = 1\n"}
    assert rule.bad[0].expected("TST301") == {("model.py", 2)}


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbfimport a\n",
        b"import a\r\nNEW = 1\r\n",
        b"import a\rNEW = 1\r",
        b"# -*- coding: latin-1 -*-\nimport a\nNEW = 'M\xfcller'\n",
        b"import a\x0c\nNEW = 1",
        b"",
        b"\x00\xff\xfe\x80",
    ],
)
def test_the_bytes_of_an_example_are_kept(folder: Path, tmp_path: Path, data: bytes) -> None:
    (folder / "good/none/model.py").write_bytes(data)
    rule = loaded(folder)
    materialise(rule.good[0].files, tmp_path / "written")
    assert (tmp_path / "written/model.py").read_bytes() == data
    page = as_json(rule)["good"][0]["files"]["model.py"]
    assert page.encode() == (data if b"\xff" not in data and b"\xfc" not in data else page.encode())
    as_text(rule).encode()


def pack_examples(folder: Path, *, but: str = "") -> Path:
    """Put the examples in the folder of a rule into the file of its pack, but for those of a kind."""
    file, texts = folder.parent / "examples.json.xz", {}
    for kind in {"bad", "fixed", "good"} - {but}:
        for path in (folder / kind).rglob("*.*"):
            texts[path.relative_to(folder.parent).as_posix()] = path.read_bytes().decode("utf-8", "surrogateescape")
        shutil.rmtree(folder / kind)
    file.write_bytes(lzma.compress(json.dumps(texts).encode()))
    return file


def test_examples_in_the_file_of_a_pack_are_as_those_in_folders(workspace: Workspace, folder: Path) -> None:
    data = b"\xef\xbb\xbfimport a\r\nNEW = '\xfc'\r"
    (folder / "good/none/model.py").write_bytes(data)
    before = loaded(folder)
    expected = (before.bad, before.good)
    pack_examples(folder)
    rule = loaded(folder)
    assert (rule.bad, rule.good) == expected
    assert rule.is_fixable()
    materialise(rule.good[0].files, workspace.root / "written")
    assert (workspace.root / "written/model.py").read_bytes() == data
    tested = workspace.run("test-rules", "rules")
    assert (tested.code, tested.lines[0]) == (0, "TST301 old-word: 1 bad, 2 good: ok")
    (folder / "examples.toml").write_text(TITLES.replace("another", "other"))
    untitled = workspace.run("test-rules", "rules")
    assert untitled.err.startswith("Error: rules/examples.json.xz/tst301_old_word/good/another: no title; expected")


def test_a_rule_with_folders_of_its_own_does_without_the_file_of_its_pack(folder: Path) -> None:
    pack_examples(folder, but="good")
    rule = loaded(folder)
    assert [example.title for example in rule.good] == ["None", "Another word"]
    with pytest.raises(UsageError, match="bad/a-word: no files"):
        _ = rule.bad


@pytest.mark.parametrize(
    "damaged", [lambda data: data[:-40], lambda data: data[:80] + bytes([data[80] ^ 1]) + data[81:], lambda data: b""]
)
def test_a_damaged_file_of_examples_is_told(
    workspace: Workspace, folder: Path, damaged: Callable[[bytes], bytes]
) -> None:
    file = pack_examples(folder)
    file.write_bytes(damaged(file.read_bytes()))
    result = workspace.run("explain", "TST301")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Error: rules/examples.json.xz: cannot be read: ")
    assert len(result.err.splitlines()) == 1
    workspace.write({"model.py": "import a\nOLD = 1\n"})
    assert workspace.places("model.py") == [("model.py", 2, "TST301")]


def test_a_notebook_marks_the_lines_of_its_cells(workspace: Workspace, folder: Path) -> None:
    cells = [["# Words"], ["import a\n", "OLD = 1  # expect: TST301\n", "OLD_TOO = 2  # expect: TST301\n"]]
    kinds = ("markdown", "code")
    document = {
        "cells": [
            {"cell_type": kind, "metadata": {}, "source": source, "outputs": [], "execution_count": None}
            for kind, source in zip(kinds, cells, strict=True)
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    book = json.dumps(document, indent=1)
    workspace.write(
        {
            f"{FOLDER}/examples.toml": TITLES.replace("[good]", 'a-book = "A notebook"\n[good]'),
            f"{FOLDER}/bad/a-book/words.ipynb": book,
            f"{FOLDER}/fixed/a-book/words.ipynb": book.replace("OLD", "NEW"),
        }
    )
    tested = workspace.run("test-rules", FOLDER)
    assert (tested.code, tested.lines[0]) == (0, "TST301 old-word: 2 bad, 2 good: ok")


def test_what_installers_and_editors_leave_is_no_part_of_an_example(workspace: Workspace, folder: Path) -> None:
    workspace.write(
        {
            f"{FOLDER}/bad/__pycache__/x.pyc": b"",
            f"{FOLDER}/bad/a-word/__pycache__/model.cpython-311.pyc": b"",
            f"{FOLDER}/bad/a-word/.model.py.swp": b"",
            f"{FOLDER}/.hidden": b"",
        }
    )
    assert list(loaded(folder).bad[0].files) == ["model.py"]


@pytest.mark.parametrize(
    ("files", "error"),
    [
        (
            {"bad/new/a.py": ""},
            f'{FOLDER}/bad/new: no title; expected `new = "…"` in [bad] of examples.toml',
        ),
        ({"fixed/other/a.py": ""}, f"{FOLDER}/fixed/other: no bad example has this name"),
        ({"fixed/a-word/b.py": ""}, f"{FOLDER}/fixed/a-word/b.py: no file of the bad example has this path"),
        (
            {"examples.toml": '[bad]\na-word = "A word"\nlost = "Lost"\n'},
            f"{FOLDER}/bad/lost: no files; expected those of the example 'Lost'",
        ),
        ({"examples.toml": "[bad\n"}, f"{FOLDER}/examples.toml: not valid TOML: Expected ']'"),
        ({"examples.toml": "[ugly]\n"}, f"{FOLDER}/examples.toml: `ugly`: expected the tables [bad] and [good]"),
        ({"examples.toml": "bad = 1\n"}, f"{FOLDER}/examples.toml: `bad`: expected the tables [bad] and [good]"),
        (
            {"examples.toml": "[bad]\na-word = 1\n"},
            f"{FOLDER}/examples.toml: `bad.a-word`: expected the title of the example",
        ),
        ({"examples.toml": b"\xff\n"}, f"{FOLDER}/examples.toml: not valid TOML: "),
        ({"__init__.py": "import os\n"}, f"{FOLDER}: no rule; expected one in its `__init__.py`"),
        (
            {"__init__.py": RULE + RULE.replace("OldWord", "OlderWord").replace("TST301", "TST302")},
            f"{FOLDER}: TST301 and TST302 in one folder; expected one, with its examples",
        ),
        ({"words.py": "def"}, f"{FOLDER}: cannot be loaded: SyntaxError"),
    ],
)
def test_what_does_not_fit_together_is_told(
    workspace: Workspace, folder: Path, files: dict[str, str | bytes], error: str
) -> None:
    workspace.write({f"{FOLDER}/{name}": text for name, text in files.items()})
    result = workspace.run("test-rules", "rules")
    assert (result.code, result.out) == (2, "")
    assert error in result.err
    assert len(result.err.splitlines()) == 1


def test_examples_that_do_not_fit_together_keep_no_check_from_its_work(workspace: Workspace, folder: Path) -> None:
    workspace.write({f"{FOLDER}/examples.toml": "[bad\n", "model.py": "import a\nOLD = 1\n"})
    assert workspace.places("model.py") == [("model.py", 2, "TST301")]
    assert workspace.run("explain", "TST301").code == 2


def test_a_walk_leaves_examples_out_and_whoever_names_them_gets_them(workspace: Workspace, folder: Path) -> None:
    workspace.write({"bad/model.py": "import a\nOLD = 1\n", "modellint.toml": 'rule-paths = ["rules"]\n'})
    # The rule is no example, and mentions the word.
    assert {path for path, _, code in workspace.places() if code == "TST301"} == {"bad/model.py", f"{FOLDER}/words.py"}
    bad = f"{FOLDER}/bad/a-word/model.py"
    for path in (bad, f"{FOLDER}/bad/a-word", f"{FOLDER}/bad"):
        assert workspace.places(path) == [(bad, 2, "TST301")]


def test_a_changed_module_beside_the_rule_is_another_rule_for_the_cache(workspace: Workspace, folder: Path) -> None:
    workspace.write({"model.py": "import a\nOLD = 1\nOLDER = 1\n"})
    assert workspace.places("model.py") == [("model.py", 2, "TST301"), ("model.py", 3, "TST301")]
    workspace.write({f"{FOLDER}/words.py": WORDS.replace('"OLD"', '"OLDER"')})
    assert workspace.places("model.py") == [("model.py", 3, "TST301")]


def test_what_a_cache_rests_on_are_modules_and_no_examples(folder: Path) -> None:
    own = [path.relative_to(folder).as_posix() for path in pack_files([folder.parent]) if path.is_relative_to(folder)]
    assert own == ["__init__.py", "words.py"]
    builtin = [path for path in pack_files(()) if path.parts[-2].startswith("ml101")]
    assert [path.name for path in builtin] == sorted(path.name for path in builtin[0].parent.glob("*.py"))


def test_a_rule_whose_second_module_recurses_without_end_has_failed(workspace: Workspace, folder: Path) -> None:
    workspace.write(
        {f"{FOLDER}/words.py": "def found(module):\n    return found(module)\n", "model.py": "import a\nOLD = 1\n"}
    )
    result = workspace.run("check", "model.py")
    assert result.code == 2
    assert "TST301" in result.err
    assert "RecursionError" in result.err


#: Runs a command and prints which files of rules were opened.
WATCHED = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from modellint.__main__ import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(*[path.replace("\\\\", "/") for path in opened if "ml204" in path], sep="\\n", file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("command", "is_read"), [("check model.py --no-cache", False), ("rules", False), ("explain ML204", True)]
)
def test_examples_are_read_for_whoever_asks_for_them(workspace: Workspace, command: str, is_read: bool) -> None:
    workspace.write({"model.py": "from torch import nn\n"})
    watched = [sys.executable, "-c", WATCHED, *command.split()]
    done = subprocess.run(watched, cwd=workspace.root, capture_output=True, text=True, check=True)
    opened = done.stderr.splitlines()
    assert any(path.endswith("/__init__.py") or "/__pycache__/__init__" in path for path in opened)
    assert any("/bad/" in path or path.endswith("examples.toml") for path in opened) is is_read


def test_a_rule_that_derives_from_one_in_a_folder_has_its_examples(workspace: Workspace, folder: Path) -> None:
    base = loaded(folder)
    derived = type("Derived", (base,), {"code": "TST302"})
    assert derived.bad == base.bad != ()


def test_examples_in_the_class_are_preferred_to_files(workspace: Workspace, folder: Path) -> None:
    text = RULE.replace("import Rule", "import Example, Rule").replace(
        "    severity", '    bad = (Example("Inside", {"a.py": "OLD  # expect: TST301"}),)\n    severity'
    )
    workspace.write({f"{FOLDER}/__init__.py": text})
    assert [example.title for example in loaded(folder).bad] == ["Inside"]
    assert len(loaded(folder).good) == 2
