"""What IPython adds to Python is taken out of cells, and nothing that is Python."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import modellint
from modellint.notebook.magics import code_of
from modellint.source import split_lines


def python(source: str) -> str:
    return "".join(code_of(split_lines(source)).lines)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("%matplotlib inline\nx = 1", "\nx = 1"),
        ("!pip install torch # quiet", ""),
        ("!pip install \\\n  torch\nx = 1", "\n\nx = 1"),
        ("if x:\n    !ls -la\n    %cd", "if x:\n    pass\n    0"),
        ("if x:\n\t!ls -la", "if x:\n\tpass"),
        ("torch.nn?\nx[0]??\n?x\n%time?", "\n\n\n"),
        ("files = !ls\nn = %env N", "files = __\nn = __"),
        ("a, b = !ls\nself.x[1] =!ls", "a, b = __\nself.x[1] =__"),
        ("%time x = f(1)\n%time f(", "0;    x = f(1)\n"),
        ("if x:\n    %time y = 1", "if x:\n    0;    y = 1"),
        ("%time for i in x: pass", ""),
        ("%timeit x = 1", ""),
        ("%%time\nx = 1", "\nx = 1"),
        ("# why\n\n%%capture out\nx = 1\n!ls", "# why\n\n\nx = 1\n"),
        ("%%bash\nls\n", "\n\n"),
        ("%%unheard_of\nx = 1", "\n"),
        ("x = 1\n%%bash\nls", "x = 1\n\nls"),
        ("/f 1\n,f a b\n;f a b", "\n\n"),
        ("pip install torch\nx = 1", "\nx = 1"),
        ("x = 1\nconda install -y torch \\\n  torchaudio\ny = 2", "x = 1\n\n\ny = 2"),
        ("if x:\n    pip3 install x\ncd ..\ncd ~/models\nmkdir 'a b'", "if x:\n    pass\n\n\n"),
        ("uv pip install x\nrm *.pt\nrun train.py --n {n}\nload_ext autoreload", "\n\n\n"),
        ("time x = f(1)\ntimeit f (x) y", "0;   x = f(1)\n"),
        ("x = 5 %\\\n%d\n", "x = 5 %\\\n%d\n"),
        ("!ls\r\nx = 1\r\nf?\r\n", "   \r\nx = 1\r\n  \r\n"),
        ("print('ä')\n!ls", "print('ä')\n"),
    ],
)
def test_magics_become_as_many_characters_that_mean_nothing(source: str, expected: str) -> None:
    """As many: that is tested below."""
    assert [line.rstrip(" ") for line in python(source).split("\n")] == expected.split("\n")


@pytest.mark.parametrize(
    "source",
    [
        "x = (7\n% 2)",
        "x = [\n    '%s'\n    % y,\n    !=\n]",
        'x = """\n%matplotlib inline\n!ls\n?x\n"""',
        "x = '''\n!ls\\'''\n!ls'''",
        "x = 'what?'\n# why?\ny = 1 # why?",
        "x != y\nx %= 2\nx >= y\nf(x=1)",
        "cd = 3\ncd -= 1\ncd, ls = 1, 2\npip('install')\nrun (x)\nls\nstore [0]\nenv .x\nload: int = 1",
        "cat -la\ntime if x else y\nrun in x\nrun is not x\nmore and x",
        "time * f(\n    x\n)\nx = [\npip if x else y,\n]\nx = \\\n  ls -x\n'''\npip install x\n'''",
        "x = y \\\n    % z",
        "x = '= !ls'",
        "x = {'a': 1\n, 'b': 2}",
        "d = a / b; e = '/'",
    ],
)
def test_python_that_looks_like_a_magic_stays(source: str) -> None:
    assert python(source) == source


@pytest.mark.parametrize(
    ("first", "name", "appends"),
    [
        ("%%writefile a.py", "a.py", False),
        ("%%file  sub/a.yaml  ", "sub/a.yaml", False),
        ("%%writefile -a a.py", "a.py", True),
        ("%%writefile --append 'a b.py'", "a b.py", True),
        ('%%writefile "/content/a.py"', "/content/a.py", False),
    ],
)
def test_a_cell_that_writes_a_file_names_it(first: str, name: str, appends: bool) -> None:
    code = code_of([f"{first}\n", "x = 1\n"])
    assert code.writes is not None
    assert (code.writes.name, code.writes.first, code.writes.appends) == (name, 1, appends)
    assert "".join(code.lines).strip() == ""


def test_a_cell_that_writes_no_named_file_writes_none() -> None:
    assert code_of(["%%writefile\n", "x = 1\n"]).writes is None


@pytest.mark.parametrize("file", sorted(Path(modellint.__file__).parent.rglob("*.py"), key=str), ids=lambda p: p.name)
def test_real_python_stays_as_it_is(file: Path) -> None:
    text = file.read_text("utf-8")
    assert python(text) == text
    # Behind a magic, every line is looked at.
    assert python(f"!ls\n{text}") == f"   \n{text}"


@given(st.text(st.sampled_from("ab =%!?\\\n\r\t \"'#([{)]},;/e:")))
def test_lines_keep_their_lengths_and_ends(source: str) -> None:
    lines = split_lines(source)
    found = code_of(lines).lines
    assert [len(line) for line in found] == [len(line) for line in lines]
    assert [line[len(line.rstrip("\r\n")) :] for line in found] == [line[len(line.rstrip("\r\n")) :] for line in lines]


@given(st.text(st.sampled_from("ab =%!?\\\n \"'#([{)]},;/1:")))
def test_what_is_python_stays(source: str) -> None:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return
    assert python(source) == source
