"""What rules say of code does not depend on whether it stands in files or in the cells of a notebook.

MODELLINT_REWRITINGS=all tries every example, `turn` a third that changes with the commit; the default is a tenth.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from books import cut, notebook, places_in, sources_of
from effort import is_rewritten

from modellint.config import settings_for
from modellint.fix.fixer import Fixer
from modellint.linter import run
from modellint.packs import RuleSet, load_rules
from modellint.reading.discovery import discover
from modellint.reading.files import Files
from modellint.reporters import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from _pytest.mark import ParameterSet

    from modellint.results.report import Report
    from modellint.rule import Example, Rule

LOADED = load_rules()
Found = list[tuple[str, str, str, int, int, int, int]]


def examples(*, in_cells: bool) -> Iterable[ParameterSet]:
    """Those of one Python file, which can stand in cells; or all whose files cells can write."""
    for rule in LOADED.values():
        if rule.code == "ML408" and not in_cells:  # a notebook beside a recipe counts as text that explains it
            continue
        for number, example in enumerate((*rule.bad, *rule.good)):
            if all(name.endswith((".py", ".yaml")) and text for name, text in example.files.items()):
                name, text = next(iter(example.files.items()))
                if not in_cells or (len(example.files) == 1 and name.endswith(".py") and _is_python(text)):
                    title = f"{rule.code}-{number}-{example.title}"
                    if is_rewritten(title, every=10):
                        yield pytest.param(rule, example, id=title)


def _is_python(text: str) -> bool:
    """Whether it parses; what says how its bytes are encoded says nothing of cells."""
    try:
        return bool(ast.parse(text).body) and "coding:" not in text
    except SyntaxError:
        return False


def checked(folder: Path, rules: Iterable[str], fixer: Fixer | None = None) -> Report:
    settings = settings_for([folder], isolated=True).with_options(jobs=1)
    files = discover([folder], settings)[0]
    report = run(files, settings, RuleSet(LOADED, frozenset(rules)), use_cache=False, fix=fixer)
    assert report.crashes == ()
    return View(folder, Files()).located(report)


def found(report: Report, folder: Path, lines: dict[tuple[int, int], int] | None = None) -> Found:
    """Code, symbol, message and place of each finding; with `lines`, by the line of the whole."""
    result = []
    for finding in report.findings:
        span = finding.span
        line, end_line = span.line, span.end_line
        if lines is not None:
            line, end_line = lines[finding.place.cell, line], lines[finding.place.cell, end_line]
        symbol = finding.symbol.replace("book.ipynb", "model.py")
        result.append((finding.code, symbol, finding.message, line, span.column, end_line, span.end_column))
    return sorted(result)


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return folder.resolve()


@pytest.mark.dear
@pytest.mark.parametrize(("rule", "example"), list(examples(in_cells=True)))
def test_a_module_in_cells_gives_the_same_findings_and_fixes(rule: Rule, example: Example, tmp_path: Path) -> None:
    text = next(iter(example.files.values()))
    as_text = len(text) % 2 == 0
    cells = cut(text)
    assert "".join(cells) == text
    plain = write(tmp_path / "plain", {"book.py": text})
    noted = write(tmp_path / "noted", {"book.ipynb": notebook("#md Title", *cells, as_text=as_text)})
    lines = {(cell + 1, line): whole for (cell, line), whole in places_in(cells).items()}
    assert found(checked(noted, LOADED), noted, lines) == found(checked(plain, LOADED), plain)
    for folder in (plain, noted):
        checked(folder, {rule.code}, Fixer(settings_for([folder], isolated=True), rules_of(rule), unsafe=True))
    after = sources_of((noted / "book.ipynb").read_bytes())
    assert "".join(after[1:]) == (plain / "book.py").read_text()


def rules_of(rule: Rule) -> RuleSet:
    return RuleSet(LOADED, frozenset({rule.code}))


@pytest.mark.dear
@pytest.mark.parametrize(("rule", "example"), list(examples(in_cells=False)))
def test_files_that_cells_write_give_the_same_findings_and_fixes(rule: Rule, example: Example, tmp_path: Path) -> None:
    plain = write(tmp_path / "plain", example.files)
    cells = [f"%%writefile {name}\n{text}" for name, text in example.files.items()]
    noted = write(tmp_path / "noted", {"book.ipynb": notebook(*cells)})
    names = list(example.files)

    def by_file(report: Report, *, in_cells: bool) -> list[tuple[str, str, str, str, int, int]]:
        result = []
        for finding in report.findings:
            place = finding.place
            name = names[place.cell - 1] if in_cells else Path(place.path).relative_to(plain).as_posix()
            line = place.span.line - in_cells
            symbol = finding.symbol.replace("book.ipynb", name.rpartition("/")[2])
            result.append((finding.code, name, symbol, finding.message, line, place.span.column))
        return sorted(result)

    assert by_file(checked(noted, LOADED), in_cells=True) == by_file(checked(plain, LOADED), in_cells=False)
    for folder in (plain, noted):
        checked(folder, {rule.code}, Fixer(settings_for([folder], isolated=True), rules_of(rule), unsafe=True))
    after = sources_of((noted / "book.ipynb").read_bytes())
    assert dict(zip(names, (cell.partition("\n")[2] for cell in after), strict=True)) == {
        name: (plain / name).read_text() for name in names
    }
