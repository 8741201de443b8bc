"""ML001: a file that cannot be read or parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Severity
from modellint.rule import Rule
from modellint.source import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.source import UnreadableError


class UnreadableFile(Rule):
    """A file cannot be read as text or parsed, so nothing in it was checked

    ## What it does
    Reports Python files, recipes and notebooks that are not text in their encoding, that have a syntax error, or
    that are nested too deeply. Plain YAML that is no recipe is not looked at. In a notebook each cell counts for
    itself: one that is not Python leaves the others to be checked.

    Python is read in the grammar of the interpreter that runs modellint, and where that does not suffice in that of
    Python 3.14. A file that is written for Python 2 is an info.

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
        problem = f"cannot read this {error.unit}: {error.reason}"
        remedy = f"correct the {error.unit}"
        if error.is_python2:
            problem = f"this {error.unit} is written for Python 2: {error.reason}"
            remedy = "convert it to Python 3"
        yield self.finding(
            Place(path, error.span),
            problem,
            symbol=path.rpartition("/")[2],
            confidence=Confidence.HIGH,
            severity=Severity.INFO if error.is_python2 else None,
            evidence=[error.tried] if error.tried else [],
            help=f"{remedy}, or exclude {excluded}: nothing in it was checked",
        )
