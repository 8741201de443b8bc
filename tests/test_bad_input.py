"""No input takes modellint down: each bad file is one finding, and the others are still checked."""

from __future__ import annotations

import itertools
import os
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from effort import drawn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import modellint
from modellint.config import OUTPUT_FORMATS
from modellint.packs import load_rules

if TYPE_CHECKING:
    from conftest import Workspace

DEEP = 10_000
MODEL = "import torch.nn as nn\nlayer = nn.Embedding(4, 5)\n"
RECIPE = "layer: !new:torch.nn.ReLU\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("syntax.py", b"def f(:\n"),
        ("syntax.py", MODEL.encode() + b"def f(:\n"),
        ("truncated.py", MODEL.encode() + b"x = nn.Linear(4,"),
        ("string.py", MODEL.encode() + b'"""never closed'),
        ("binary.py", b"\x7fELF\x02\x01\x01\x00\xff\xfe"),
        ("nul.py", b"x = 1\n\x00\n"),
        ("latin.py", b"# caf\xe9\n"),
        ("latin.py", MODEL.encode() + b"name = 'caf\xe9'\n"),
        ("encoding.py", b"# -*- coding: klingon -*-\n"),
        ("utf16.py", MODEL.encode("utf-16")),
        ("surrogate.py", b"x = '\xed\xa0\x80'\n"),
        ("indent.py", b"if 1:\nx = 1\n"),
        ("tabs.py", b"if 1:\n\tx = 1\n        y = 2\n"),
        ("brackets.py", b"x = " + b"(" * DEEP + b")" * DEEP),
        ("minus.py", b"x = " + b"-" * DEEP + b"1"),
        ("minus.py", MODEL.encode() + b"x = " + b"-" * DEEP + b"1"),
        ("lists.py", MODEL.encode() + b"x = " + b"[" * DEEP + b"]" * DEEP),
        ("binary.yaml", b"a: !new:b.C\n\x00\x01"),
        ("latin.yaml", b"a: !new:b.C\nb: caf\xe9\n"),
        ("brackets.yaml", RECIPE.encode() + b"x: [1, 2}\n"),
        ("truncated.yaml", RECIPE.encode() + b'    args: ["a'),
        ("tabs.yaml", RECIPE.encode() + b"x:\n\t- 1\n"),
        ("alias.yaml", RECIPE.encode() + b"x: *nowhere\n"),
        ("deep.yaml", RECIPE.encode() + b"x: " + b"[" * DEEP + b"]" * DEEP),
    ],
)
def test_a_file_that_cannot_be_understood_is_one_finding(words: Workspace, name: str, content: bytes) -> None:
    words.write({name: content, "zzz.py": "a = WORD\n"})
    result = words.run("check", "--output-format", "json")
    assert result.code == 1
    assert result.err == ""
    found = [(finding["path"], finding["code"]) for finding in result.json["findings"]]
    assert found == [(name, "ML001"), ("zzz.py", "TST101")]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.py", b""),
        ("empty.yaml", b""),
        ("bom.py", b"\xef\xbb\xbf" + MODEL.encode()),
        ("crlf.py", MODEL.replace("\n", "\r\n").encode()),
        ("cr.py", MODEL.replace("\n", "\r").encode()),
        ("latin.py", b"# -*- coding: latin-1 -*-\n" + MODEL.encode() + b"name = 'caf\xe9'\n"),
        ("no_end.py", b"x = 1"),
        ("feed.py", b"\x0c" + MODEL.encode()),
        ("escapes.py", MODEL.encode() + b"x = '\\d'\n"),
        ("bom.yaml", b"\xef\xbb\xbf" + RECIPE.encode()),
        ("utf16.yaml", RECIPE.encode("utf-16")),
        ("crlf.yaml", RECIPE.replace("\n", "\r\n").encode()),
        ("comment.yaml", b"# !new:torch.nn.Linear\n"),
        ("plain.yaml", b"a: [1, 2}\n"),
        ("documents.yaml", b"a: 1\n---\nb: 2\n"),
    ],
)
def test_what_is_merely_unusual_is_fine(workspace: Workspace, name: str, content: bytes) -> None:
    workspace.write({name: content})
    result = workspace.check(".")
    assert (result.code, result.lines[-1], result.err) == (0, "All checks passed!", "")


def test_alias_bombs_and_circles_end(words: Workspace) -> None:
    names = "abcdefghijklmnopqrstuvwxyz"
    bomb = 'a: &a ["x"]\n' + "".join(
        f"{name}: &{name} [{', '.join([f'*{previous}'] * 9)}]\n" for previous, name in itertools.pairwise(names)
    )
    words.write(
        {
            "bomb.yaml": RECIPE + bomb + "y: !ref <z[0][0]>\n",
            "self.yaml": RECIPE + "x: &x [*x]\ny: !ref <y>\nz: !ref <w>\nw: !ref <z>\n",
            "one.yaml": RECIPE + "x: !include:two.yaml\n",
            "two.yaml": RECIPE + "x: !include:one.yaml\n",
            "me.yaml": RECIPE + "x: !include:me.yaml\n",
            "one.py": "from two import *\nfrom two import A\nimport torch.nn as nn\n\n\nclass B(A): pass\n",
            "two.py": "from one import *\nfrom one import B\nimport torch.nn as nn\n\n\nclass A(B): pass\n",
            "zzz.py": "a = WORD\n",
        }
    )
    result = words.check(".")
    assert "zzz.py:1:5: TST101[warning] Found the word" in result.lines
    assert (result.code, result.err) == (1, "")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_one_finding(workspace: Workspace) -> None:
    workspace.write({"a.py": "x = 1\n"})
    (workspace.root / "a.py").chmod(0)
    assert workspace.places() == [("a.py", 1, "ML001")]


def test_names_of_files_may_be_anything(words: Workspace) -> None:
    names = ["with space.py", "ünï.py", "new\nline.py", "-dash.py", "a'quote\".py", "[glob]*.py"]
    words.write(dict.fromkeys(names, "a = WORD\n"))
    assert sorted(path for path, _, _ in words.places()) == sorted(names)
    assert len(words.run("check", "--output-format", "full").lines) > len(names)
    undecodable = os.fsencode(words.root) + b"/\xff.py"
    Path(os.fsdecode(undecodable)).write_text("a = WORD\n")
    for output_format in OUTPUT_FORMATS:
        result = words.run("check", "--output-format", output_format)
        assert (result.code, result.err) == (1, "")
        assert words.run("check", "--output-format", output_format).out.count("\n") == result.out.count("\n")


SOURCES = sorted(
    {
        (Path(name).suffix, text)
        for rule in load_rules().values()
        for example in (*rule.bad, *rule.good)
        for name, text in example.files.items()
        if name.endswith((".py", ".yaml"))
    }
)
TOKENS = (
    *("(", ")", "[", "]", "{", "}", ":", "\n", "    ", "\t", "'", '"""', "#", "\\", "\0", "\ufeff", "é", "\udc80"),
    *(
        "self.",
        "nn.Embedding(",
        "for x in ",
        "lambda: ",
        "= ",
        "-1",
        "**",
        "*",
        "...",
        "yield ",
        "match x:\n",
        "async ",
    ),
    *("!ref <", ">", "!new:", "!include:", "!apply:", "&a ", "*a", "<<: ", "- ", "|\n", "# modellint: ignore["),
)


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, bytes]:
    """Real source with a few things deleted, doubled, inserted, moved, nested or cut off."""
    suffix, text = draw(st.sampled_from(SOURCES))
    data = text.encode()
    chance = random.Random(draw(st.integers(0, 2**32)))
    for _ in range(draw(st.integers(1, 5))):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice([1, 1, 5, 40]))
        token = chance.choice(TOKENS).encode("utf-8", "surrogatepass")
        data = chance.choice(
            [
                data[:start] + data[end:],
                data[:start] + data[start:end] * 2 + data[end:],
                data[:start] + token + data[start:],
                data[:start] + token + data[end:],
                data[:start] + token * chance.choice([2, 50, 2000]) + data[start:],
                data[:start] + bytes([chance.randrange(256)]) + data[start:],
                data[:start],
                data[start:] + data[:start],
            ]
        )
    return suffix, data


@settings(
    max_examples=drawn(150),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(mutated(), min_size=1, max_size=3))
def test_mutated_sources_are_checked_or_reported(
    tmp_path_factory: pytest.TempPathFactory, sources: list[tuple[str, bytes]]
) -> None:
    folder = tmp_path_factory.mktemp("mutated")
    for number, (suffix, data) in enumerate(sources):
        (folder / f"m{number}{suffix}").write_bytes(data)
    findings = modellint.check([folder], isolated=True, min_confidence="low")
    for finding in findings:
        text = Path(finding.path).read_bytes()
        span = finding.span
        assert 1 <= span.line <= span.end_line <= text.count(b"\n") + text.count(b"\r") + 1
        assert span.column >= 1
        assert (span.line, span.column) <= (span.end_line, span.end_column)
    assert modellint.check([folder], isolated=True, min_confidence="low") == findings
