"""Three counts of words that only fall, and the texts that CI reads for spelling and style.

A docstring that begins with "What" or "Whether" has a clause for a subject. "The layers of a class" and "True if it is
a layer" are plainer. A function that a bare participle names (`kept`, `told`) does not say of what: `kept_layers` does.
"""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from modellint.packs import load_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
#: The most that there may be. Lower a limit when a count has fallen; never raise one.
LIMITS = {"docstrings with What": 0, "docstrings with Whether": 0, "bare participles": 253}
#: So far a count may fall before its limit has to follow.
SLACK = 25
#: Participles that do not end in "ed". Words that are verbs as well (`read`, `set`, `put`, `split`) name an action.
IRREGULAR = frozenset(
    "begun born bound broken brought built caught chosen dealt done drawn fed felt forgotten fought found given "
    "gone grown held hidden hung hurt kept known laid led left lent lit lost made meant met paid proven said seen "
    "sent shown sold sought spent spoken stood struck swept sworn taken taught thought thrown told torn "
    "understood won worn wound written".split()
)
#: Words that end in "ed" and are no participles.
VERBS = frozenset(("embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed"))


def modules() -> Iterator[ast.Module]:
    """The modules of the package and of the rules, without the examples of the rules."""
    for top in ("modellint", "rules"):
        for path in sorted((ROOT / top).rglob("*.py")):
            if top != "rules" or not {"bad", "fixed", "good"} & set(path.parts):
                yield ast.parse(path.read_text("utf-8"))


def is_bare_participle(name: str) -> bool:
    """True for one word that says what was done to something, such as `kept`."""
    word = name.strip("_")
    return word.isalpha() and (word in IRREGULAR or (word.endswith("ed") and len(word) > 3 and word not in VERBS))


@cache
def counts() -> Counter[str]:
    found: Counter[str] = Counter()
    for module in modules():
        for node in ast.walk(module):
            if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            first = ((ast.get_docstring(node, clean=False) or "").split(None, 1) or [""])[0].rstrip(",")
            if first in ("What", "Whether"):
                found[f"docstrings with {first}"] += 1
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and is_bare_participle(node.name):
                found["bare participles"] += 1
    return found


def test_words_are_counted() -> None:
    assert [name for name in ("kept", "_told", "needed", "registered") if not is_bare_participle(name)] == []
    assert [
        name for name in ("kept_layers", "read", "seed", "embed", "__enter__", "split") if is_bare_participle(name)
    ] == []


@pytest.mark.parametrize("kind", LIMITS)
def test_a_count_only_falls(kind: str) -> None:
    count, limit = counts()[kind], LIMITS[kind]
    assert count <= limit, f"{count} {kind}, {limit} at most: begin the new ones with a verb, or with the thing itself"
    assert count >= limit - SLACK, f"{count} {kind}: lower the limit to {count}"


def test_the_texts_to_check_have_no_code(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs/prose.py", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    page, shown = (
        (ROOT / "docs/terminal.md").read_text("utf-8"),
        (tmp_path / "pages/docs-terminal.md").read_text("utf-8"),
    )
    assert shown.count("\n") == page.count("\n")
    assert "`" not in shown
    assert "A finding shows its location" in shown
    assert "Apply the safe fixes" in (tmp_path / "help/check.md").read_text("utf-8")
    rule = (tmp_path / "rules/ML204.md").read_text("utf-8")
    described = inspect.getdoc(type(load_rules()["ML204"])) or ""
    assert "## Why is this bad" in rule
    assert rule.count("\n\n") > described.count("\n\n"), "its messages are among them"


def test_ci_reads_them() -> None:
    assert '.ci/words "$scratch/words/node_modules"' in (ROOT / ".ci/run").read_text("utf-8")
