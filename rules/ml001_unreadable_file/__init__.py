"""ML001: a file that cannot be read or parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Severity
from modellint.rule import Rule
from modellint.source import PYTHON_2, TEMPLATE, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.source import UnreadableError


_REMEDIES = {PYTHON_2: "convert it to Python 3", TEMPLATE: "check what is made of it"}


class UnreadableFile(Rule):
    """A file cannot be read as text or parsed, so nothing in it was checked

    ## What it does
    Reports Python files, recipes and notebooks that are not text in their encoding, that have a syntax error, or
    that are nested too deeply. Plain YAML that is no recipe is not looked at. In a notebook each cell counts for
    itself: one that is not Python leaves the others to be checked.

    Python is read in the grammar of the interpreter that runs modellint, and where that does not suffice in that of
    Python 3.14. A file that is written for Python 2 is an info, and so is a template of a file (Jinja, cookiecutter):
    one that cannot be parsed where a tag stands in its code, or in a folder that is named by a tag.

    ## Why is this bad
    A file that is not understood is a file that is not checked. Staying silent would look like "all is well".
    The rule is therefore active whatever `select` says, unless it is ignored.

    ## How to fix
    Correct the syntax, or declare the encoding in the first line (`# -*- coding: latin-1 -*-`).

    ## Confirming
    A file that cannot be read has nothing to run.

    ## References
    - [PEP 263, defining Python source code encodings](https://peps.python.org/pep-0263/)
    - [YAML 1.1, character set](https://yaml.org/spec/1.1/#id868524)
    """

    code = "ML001"
    name = "unreadable-file"
    severity = Severity.ERROR

    def check_unreadable(self, path: str, error: UnreadableError) -> Iterator[Finding]:
        excluded = "it" if error.unit == "file" else "the file"
        problem = f"this {error.unit} is {error.other}" if error.other else f"cannot read this {error.unit}"
        remedy = _REMEDIES.get(error.other, f"correct the {error.unit}")
        yield self.finding(
            Place(path, error.span),
            f"{problem}: {error.reason}",
            symbol=path.rpartition("/")[2],
            confidence=Confidence.HIGH,
            severity=Severity.INFO if error.other else None,
            evidence=[error.tried] if error.tried else [],
            help=f"{remedy}, or exclude {excluded}: nothing in it was checked",
        )
