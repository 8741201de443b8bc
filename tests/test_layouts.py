"""However the lines of a file are laid out, the same is found in it, at the same places, and fixed.

MODELLINT_REWRITINGS=all tries every example, `turn` a third that changes with the commit; the default is a tenth.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from effort import is_rewritten

from modellint.examples import Trial, materialise
from modellint.packs import load_rules
from modellint.rule import Example
from modellint.source import plain_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from modellint.rule import Rule

    #: What of a text makes another layout of it, and where a line and a column of it are then.
    Where = Callable[[int, int], tuple[int, int]]
    Layout = Callable[[str], tuple[str, Where]]

LOADED = load_rules()


def with_ends(end: str) -> Layout:
    """Lines that end in another way."""
    return lambda text: (text.replace("\n", end), lambda line, column: (line, column))


def pages(text: str) -> tuple[str, Where]:
    """A form feed on a line of its own before each definition of the file."""
    firsts = {
        min(node.lineno, *(decorator.lineno for decorator in node.decorator_list), node.lineno)
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    }
    lines = [f"\f\n{line}" if n in firsts else line for n, line in enumerate(text.splitlines(keepends=True), 1)]
    return "".join(lines), lambda line, column: (line + sum(first <= line for first in firsts), column)


def form_feeds(text: str) -> tuple[str, Where]:
    """A form feed before each statement, and one at the end of its line."""
    starts = {node.lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)}
    ends = {node.end_lineno for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Assign | ast.Return)}
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        front, behind = "\f" * (number in starts), " \f" * (number in ends and "#" not in line)
        lines.append(f"{front}{line}{behind}\n")
    return "".join(lines), lambda line, column: (line, column + (line in starts))


def continued(text: str) -> tuple[str, Where]:
    """A backslash behind the `=` of each assignment, and the value on the next line."""
    lines = text.splitlines(keepends=True)
    breaks = {
        node.lineno: lines[node.lineno - 1].encode()[: node.value.col_offset].decode()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Assign) and node.lineno == node.value.lineno
    }
    breaks = {number: front for number, front in breaks.items() if front.endswith("= ")}
    margins = {number: " " * (len(front) - len(front.lstrip()) + 4) for number, front in breaks.items()}
    for number, front in breaks.items():
        lines[number - 1] = f"{front}\\\n{margins[number]}{lines[number - 1][len(front) :]}"

    def where(line: int, column: int) -> tuple[int, int]:
        above = line + sum(number < line for number in breaks)
        if line not in breaks or column <= len(breaks[line]):
            return above, column
        return above + 1, column - len(breaks[line]) + len(margins[line])

    return "".join(lines), where


RECIPES = (".yaml", ".yml")
#: The files besides those of Python whose lines may end in another way, by layout. Lines of JSON end with line feeds; a
#: vocabulary, or weights, say something else if their bytes change.
ENDS = {"CR": RECIPES, "CRLF": (*RECIPES, ".json")}
LAYOUTS: dict[str, Layout] = {
    "CR": with_ends("\r"),
    "CRLF": with_ends("\r\n"),
    "pages": pages,
    "form feeds": form_feeds,
    "backslashes": continued,
}


def bad_examples() -> Iterator[tuple[type[Rule], Example]]:
    for rule in LOADED.values():
        for example in rule.bad:
            if is_rewritten(f"{rule.code} {example.title}", 10) and all(map(_is_python, example.files.items())):
                yield type(rule), example


def _is_python(file: tuple[str, str]) -> bool:
    try:
        ast.parse(file[1] if file[0].endswith(".py") else "")
    except SyntaxError:
        return False
    return True


def laid_out(files: Mapping[str, str], layout: str) -> tuple[dict[str, str], dict[str, Where]]:
    """Files in another layout, and where what stood in them is; recipes have nothing but other ends of lines."""
    texts, places = {}, {}
    for name, text in files.items():
        texts[name], places[name] = (LAYOUTS[layout] if _is_laid_out(name, layout) else with_ends("\n"))(text)
    return texts, places


def _is_laid_out(name: str, layout: str) -> bool:
    return name.endswith((".py", *ENDS.get(layout, ())))


def found(rule: type[Rule], files: Mapping[str, str], folder: Path) -> set[tuple[str, int, int, str, str]]:
    materialise(files, folder)
    trial = Trial(rule, Example("", files), folder, LOADED)
    return {
        (f.path[len(folder.as_posix()) + 1 :], f.span.line, f.span.column, f.code, f.symbol) for f in trial.findings()
    }


@pytest.fixture(scope="module")
def as_written(tmp_path_factory: pytest.TempPathFactory) -> list[set[tuple[str, int, int, str, str]]]:
    """What is found in each example as it is."""
    folder = tmp_path_factory.mktemp("as-written")
    return [found(rule, example.files, folder / f"{n}") for n, (rule, example) in enumerate(bad_examples())]


@pytest.mark.dear
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_is_found_where_it_stands(
    layout: str, tmp_path: Path, as_written: list[set[tuple[str, int, int, str, str]]]
) -> None:
    wrong = []
    for number, (rule, example) in enumerate(bad_examples()):
        texts, places = laid_out(example.files, layout)
        expected = {
            (name, *places[name](line, column), code, symbol) for name, line, column, code, symbol in as_written[number]
        }
        if found(rule, texts, tmp_path / f"{number}") != expected:
            wrong.append(f"{rule.code}: {example.title}")
    assert wrong == []


@pytest.mark.dear
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_is_fixed_and_nothing_else_changes(layout: str, tmp_path: Path) -> None:
    wrong = []
    for number, (rule, example) in enumerate(bad_examples()):
        if example.fixed is None:
            continue
        texts, _ = laid_out(example.files, layout)
        folder = tmp_path / f"{number}"
        materialise(texts, folder)
        failures = Trial(rule, Example("", texts), folder, LOADED).fix().failures
        made = {name: (folder / name).read_bytes().decode() for name in texts}
        for name, text in {**example.files, **example.fixed}.items():
            if failures or not _is_same(made[name], texts[name], text, layout if _is_laid_out(name, layout) else ""):
                wrong.append(f"{rule.code}: {example.title}: {name}: {[failure.reason for failure in failures]}")
    assert wrong == []


def _is_same(made: str, before: str, wanted: str, layout: str) -> bool:
    """Whether a text says what is wanted, in its layout."""
    if layout in ENDS:
        return made == LAYOUTS[layout](wanted)[0]
    return made.count("\f") == before.count("\f") and _words(made) == _words(wanted)


def _words(text: str) -> list[str]:
    return plain_text(text).split()
