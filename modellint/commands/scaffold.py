"""Writes the files of a new rule: one that works, to be changed into what is wanted."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from modellint.config.errors import UsageError
from modellint.packs import is_code, load_rules

if TYPE_CHECKING:
    from pathlib import Path

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")
_RULE = '''\
"""{code}: a dropout that drops everything. Replace this by what the rule is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Severity
from modellint.flow import queries
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.finding import Finding
    from modellint.graph.python import ModuleFacts
    from modellint.rule import Project


class {class_name}(Rule):
    """A dropout drops everything

    ## What it does
    Looks for `nn.Dropout` with a probability of 1.

    ## Why is this bad
    Nothing passes in training.

    ## How to fix
    Give the share to drop, between 0 and 1.
    """

    code = "{code}"
    name = "{name}"
    severity = Severity.WARNING
    requires = ("constructed",)
    about = ("torch.nn.Dropout",)

    def check_python(self, module: ModuleFacts, project: Project) -> Iterator[Finding]:
        for made in queries.flow(module, project).constructed("torch.nn.Dropout"):
            if made.argument(0, "p").is_(1):
                yield self.finding(
                    made.place,
                    "`nn.Dropout` drops everything",
                    symbol=made.function.qualname,
                    confidence=Confidence.HIGH,
                    help="give the share to drop, between 0 and 1",
                )
'''
_TITLES = """\
[bad]
everything-is-dropped = "Everything is dropped"

[good]
a-tenth-is-dropped = "A tenth is dropped"
"""
_BAD = """\
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(1.0)  # expect: {code}
"""
_GOOD = """\
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.1)
"""
_TEST = '''\
"""The examples of {code} {name} are its tests."""

from pathlib import Path

from modellint.examples import examine
from modellint.packs import rules_at

RULE = Path(__file__).parent.parent / "{stem}"


def test_the_examples_of_{stem}_hold() -> None:
    everything, own = rules_at(RULE)
    assert [examine(type(rule), everything).problems for rule in own] == [[]]
'''


def write_rule(name: str, code: str | None, folder: Path) -> list[Path]:
    """Write a rule's own folder into `folder`, and its test into `folder/tests`; the files.

    Raises UsageError for a name or code that cannot be, a name or code that is taken, and a file that is there already.
    """
    if not _NAME.match(name):
        raise UsageError(f"`{name}` is not a name; expected lowercase words with hyphens, like `no-bare-dropout`")
    taken = load_rules((folder,) if folder.is_dir() else ())
    namesake = next((rule for rule in taken.values() if rule.name == name), None)
    if namesake is not None:
        raise UsageError(f"`{name}` is already the name of {namesake.code}")
    if code is None:
        code = next(code for code in (f"OWN{number:03}" for number in count(1)) if code not in taken)
    if not is_code(code):
        raise UsageError(f"--code: `{code}` is not a code; expected capital letters and digits, like `OWN001`")
    if code in taken:
        raise UsageError(f"--code: `{code}` is already taken by `{taken[code].name}`")
    stem = f"{code.lower()}_{name.replace('-', '_')}"
    words = {
        "code": code,
        "name": name,
        "stem": stem,
        "class_name": "".join(part.capitalize() for part in name.split("-")),
    }
    rule = folder / stem
    texts = {
        rule / "__init__.py": _RULE,
        rule / "examples.toml": _TITLES,
        rule / "bad" / "everything-is-dropped" / "model.py": _BAD,
        rule / "good" / "a-tenth-is-dropped" / "model.py": _GOOD,
        folder / "tests" / f"test_{stem}.py": _TEST,
    }
    for path in texts:
        if path.exists():
            raise UsageError(f"{path}: is there already; expected a name that is free")
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.format(**words), "utf-8")
    except OSError as error:
        raise UsageError(f"{error.filename}: cannot be written: {error.strerror}") from None
    return list(texts)
