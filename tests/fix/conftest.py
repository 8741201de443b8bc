"""A rule whose fixes say themselves what they do, for tests of how fixes are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

#: Flags names that begin with BAD. The comment of the line says what the fix does:
#: `# fix: TEXT` replaces the name, `# unsafe` makes the fix unsafe, `# also: FILE` replaces the same name in another
#: file, `# append: TEXT` adds to the end of the line before the comment, `# chain` counts the name's number down,
#: `# broken chain` too, and breaks the file at 0, `# worse` makes a name of which no fix is known.
FIXING_RULE = '''
"""A pack of rules for tests."""

import re

from modellint.finding import Applicability, Confidence, Edit, Fix, Severity
from modellint.rule import Example, Rule
from modellint.source import Place, Span


class BadName(Rule):
    """Flags a bad name."""

    code = "TST201"
    name = "bad-name"
    severity = Severity.ERROR
    bad = (Example("A name", {"a.py": "BAD = 1  # expect: TST201"}, {"a.py": "GOOD = 1"}),)

    def check_python(self, module, project):
        yield from self._check(module.source, project)

    def check_recipe(self, recipe, project):
        yield from self._check(recipe.source, project)

    def _check(self, source, project):
        for number, line in enumerate(source.lines, 1):
            code, _, comment = line.rstrip("\\\\r\\\\n").partition("#")
            for match in re.finditer(r"BAD\\w*", code):
                place = _place(source.path, number, match.start(), match.end())
                yield self.finding(
                    place,
                    "Found a bad name",
                    symbol=match[0],
                    confidence=Confidence.LOW if "LOW" in comment else Confidence.HIGH,
                    fix=_fix(match[0], place, code, comment, source, project),
                )


def _place(path, line, start, end):
    return Place(path.as_posix(), Span(line, start + 1, line, end + 1))


def _fix(name, place, code, comment, source, project):
    said = re.search(r"fix: (\\S+)", comment)
    text = said and said[1].replace("_", " ").replace("NAME", name.replace("BAD", "GOOD"))
    if "chain" in comment:
        count = int(name.removeprefix("BAD"))
        text = f"BAD{count - 1}" if count else "(" if "broken" in comment else "GOOD"
    if "worse" in comment:
        text = None if name.endswith("X") else f"{name}X"
    if text is None:
        return None
    edits = [Edit(place, text)]
    other = re.search(r"also: (\\S+)", comment)
    if other:
        path = source.path.parent / other[1]
        for number, line in enumerate(project.files.read(path).decode().splitlines(), 1):
            if name in line:
                edits.append(Edit(_place(path, number, line.index(name), line.index(name) + len(name)), text))
    more = re.search(r"append: (\\S+)", comment)
    if more:
        end = len(code.rstrip())
        edits.append(Edit(_place(source.path, place.span.line, end, end), more[1]))
    return Fix("Use a good name", Applicability.UNSAFE if "unsafe" in comment else Applicability.SAFE, tuple(edits))
'''


@pytest.fixture
def project(workspace: Workspace) -> Workspace:
    """A project with a rule that has fixes of all kinds."""
    workspace.write(
        {
            "rules/names.py": FIXING_RULE.replace("\\\\", "\\"),
            "modellint.toml": 'rule-paths = ["rules"]\nexclude = ["rules"]\nselect = ["TST", "ML001", "ML002"]\n',
        }
    )
    return workspace
