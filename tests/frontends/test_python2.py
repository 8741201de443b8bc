"""A file for Python 2, or for Python 3.6 and older, is told as that, once, and is no error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

OLD = {
    "print": ("x = 1\nprint 'a', x\n", 2, "the statement `print`"),
    "print of a name": ("def f(x):\n    print x\n", 2, "the statement `print`"),
    "exec": ("exec 'a = 1' in {}\n", 1, "the statement `exec`"),
    "backticks": ("x = `y`\n", 1, "backticks"),
    "unequal": ("if x <> y:\n    pass\n", 1, "the operator `<>`"),
    "octal": ("import os\nos.chmod(x, 0644)\n", 2, "an octal number without `0o`"),
    "long": ("x = 10L\n", 1, "a number with `L`"),
    "long hexadecimal": ("x = 0xFFL + 1\n", 1, "a number with `L`"),
    "raise": ("raise ValueError, 'no'\n", 1, "`raise` with a comma"),
    "raise over two lines": ("raise ValueError, \\\n    'no'\n", 1, "`raise` with a comma"),
    "except": ("try:\n    pass\nexcept ValueError, e:\n    print(e)\n", 3, "`except` with a comma before a name"),
    "except of two": ("try: pass\nexcept (A, B), e: pass\n", 2, "`except` with a comma before a name"),
    "string": ("x = ur'a'\n", 1, "a string with `ur`"),
    "parameters": ("def f(a, (b, c)):\n    pass\n", 1, "a tuple among the parameters"),
    "parameters of a lambda": ("f = lambda (a, b): a\n", 1, "a tuple among the parameters"),
    "tabs": ("for x in xrange(3):\n\ty = 1\n        z = 2\n", 3, "tabs and spaces mixed"),
}


@pytest.mark.parametrize(("text", "line", "sign"), OLD.values(), ids=OLD)
@pytest.mark.parametrize("end", ["\n", "\r"], ids=["LF", "CR"])
def test_python_2_is_one_info(workspace: Workspace, text: str, line: int, sign: str, end: str) -> None:
    behind = "print '%5.2f' % x\nraise E, 'f'\n" if "except" not in sign else ""
    workspace.write({"a.py": (text + behind).replace("\n", end)})
    result = workspace.run("check", "--output-format", "json")
    assert [(f["code"], f["severity"], f["line"], f["message"]) for f in result.json["findings"]] == [
        ("ML001", "info", line, f"this file is written for Python 2: {sign}")
    ]
    assert result.code == 0


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [
        ("def f(x, async=True):\n    return x\n", 1, "async"),
        ("x = f'{1}'\nf(x, async=True)  # async=True\n", 2, "async"),
        ("y = x.cuda(\n    async=True)\n", 2, "async"),
        ("import asyncio\nasyncio.async(f())\n", 2, "async"),
        ("async = await = 3\n", 1, "async"),
        ("x = 1\ny = await\n", 2, "await"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r"], ids=["LF", "CR"])
def test_python_3_6_is_one_info(workspace: Workspace, text: str, line: int, name: str, end: str) -> None:
    workspace.write({"a.py": text.replace("\n", end)})
    result = workspace.run("check", "--output-format", "json")
    assert [(f["code"], f["severity"], f["line"], f["message"]) for f in result.json["findings"]] == [
        ("ML001", "info", line, f"this file is written for Python 3.6 or older: the name `{name}`")
    ]
    assert result.code == 0


@pytest.mark.parametrize(
    "text",
    [
        "def f(x, async=True):\n    return (x\n",
        "f(async=True)\nx = 1 +\n",
        "x = 'async' +\n",
        "x = f'{a}'\nprint 'a'\n",
        "async def f():\n    print 'a'\n",
        "class A(B):\n    def __init__(self):\n        super().__init__()\n        print self\n",
        "def f(x) -> int:\n    raise ValueError, x\n",
        "if 1:\n\tx = 1\n        y = 2\n",
        "x = 1 +\n",
    ],
)
def test_python_3_with_a_mistake_is_an_error(workspace: Workspace, text: str) -> None:
    workspace.write({"a.py": text})
    result = workspace.run("check", "--output-format", "json")
    assert [(f["code"], f["severity"]) for f in result.json["findings"]] == [("ML001", "error")]
    assert result.code == 1


@pytest.mark.parametrize(
    "text",
    [
        "try: pass\nexcept ValueError, KeyError: pass\n",
        "from socket import timeout\ntry: pass\nexcept OSError, timeout: pass\n",
        "class Lost(Exception): pass\ntry: pass\nexcept OSError, Lost: pass\n",
        "from errors import *\ntry: pass\nexcept Lost, Found: pass\n",
        "x = f'{y}'\ntry: pass\nexcept OSError, lost: pass\n",
        "try: pass\nexcept A, B, c: pass\nexcept d.E, f.g: pass\n",
    ],
)
def test_exceptions_that_python_3_14_reads_are_no_python_2(workspace: Workspace, text: str) -> None:
    workspace.write({"a.py": text})
    assert workspace.places() == []


def test_a_notebook_tells_python_2_once(workspace: Workspace) -> None:
    cells = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
        for source in ("x = 1\n", "print x\n", "print 'a'\n", "y = 2\n", "raise E, 'b'\n")
    ]
    workspace.write({"a.ipynb": json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})})
    result = workspace.run("check", "--output-format", "json")
    assert [(f["severity"], f["cell"], f["message"]) for f in result.json["findings"]] == [
        ("info", 2, "this cell is written for Python 2: the statement `print`, and so are 2 more")
    ]
    assert result.code == 0
