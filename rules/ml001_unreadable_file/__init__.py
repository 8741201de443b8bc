"""ML001: a file that cannot be read or parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Place, Severity
from modellint.rule import PYTHON_2, PYTHON_3_6, TEMPLATE, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.rule import UnreadableError


_REMEDIES = {
    PYTHON_2: "convert it to Python 3",
    PYTHON_3_6: "use another name",
    TEMPLATE: "check the files made from it",
}


class UnreadableFile(Rule):
    """A file cannot be read as text or parsed, so nothing in it was checked

    ## What it does
    Reports Python files, recipes and notebooks that cannot be decoded, that have a syntax error, or that are nested too
    deeply to parse. Skips plain YAML files that are not recipes. In a notebook, reports each cell that is not Python
    and checks the others. In the folder of a published model, reports documents that are no JSON.

    modellint parses Python with the grammar of the interpreter that runs it and, where that fails, with the grammar of
    Python 3.14. Files for Python 2 are an info, and so are files with `async` or `await` as a name, which Python 3.7
    made keywords. So are templates (Jinja, cookiecutter): files that cannot be parsed
    because of a tag in their code, or that lie in a folder whose name has a tag.

    ## Why is this bad
    modellint finds no mistakes in a file that it cannot parse, and silence would look like a clean result. The rule
    therefore runs whatever `select` says; only `ignore` turns it off.

    ## How to fix
    Correct the syntax, or declare the encoding in the first line:

    ```python
    # -*- coding: latin-1 -*-
    ```

    If the file is not meant to be checked, exclude it.

    ## Confirming
    Not run: a file that cannot be read has nothing to run.

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
