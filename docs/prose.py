"""Collects the texts that people read, without code: `python docs/prose.py FOLDER` writes them for `.ci/words`.

Pages keep their lines, so that a report names the right one. Below `pages/` are the pages, below `help/` the help of
each command, below `rules/` the page and the messages of each rule.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from modellint.cli import cli
from modellint.packs import load_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
#: Pages that programs write, and that list what other people's code says.
DATA = ("precision-findings.md", "probed-recipes.md")
_CODE = re.compile(
    r"^(```|~~~).*?^\1$|^(?: {4}.*\n)+|`[^`\n]+`|\]\([^)]*\)|<!--.*?-->|https?://\S+", re.MULTILINE | re.DOTALL
)
#: What `refresh.py` writes into pages: the docstrings of rooms, and the summaries of rules, which stand below `rules/`.
_GENERATED = re.compile(r"<!-- (rooms|rules) -->.*?<!-- end of \1 -->", re.DOTALL)
_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)


def without_code(text: str) -> str:
    """The text with code, addresses and comments replaced by a number, and with the same line breaks."""
    number = iter(range(len(text)))
    text = _GENERATED.sub(lambda match: "\n" * match[0].count("\n"), text)
    text = _HEADING.sub(lambda match: f"{match[0]}.", text)  # its last word does not belong to the next sentence
    return _CODE.sub(lambda match: f" c{next(number)} " + "\n" * match[0].count("\n"), text)


def pages() -> Iterator[tuple[str, str]]:
    for folder in (".", "docs", "benchmarks", "examples", "examples/*"):
        for path in sorted(ROOT.glob(f"{folder}/*.md")):
            if path.name not in DATA:
                yield f"pages/{'-'.join(path.relative_to(ROOT).parts)}", path.read_text("utf-8")


def helps(command: click.Command, names: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """The help of a command and of those below it: its description, and what each option says."""
    context = click.Context(command, info_name="modellint")
    records = (parameter.get_help_record(context) for parameter in command.params)
    told = [inspect.cleandoc(command.help or ""), *(record[1] for record in records if record)]
    yield f"help/{'-'.join(names) or 'modellint'}.md", "\n\n".join(told).replace("\b", "")
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            yield from helps(below, (*names, name))


def messages(path: Path) -> Iterator[str]:
    """The texts with spaces in a file of a rule that are no docstring, with a number for each part that is computed."""
    tree = ast.parse(path.read_text("utf-8"))
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    documented = {id(text) for node in ast.walk(tree) if (text := _docstring(node)) is not None}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "`code`" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner | documented:
            yield node.value


def _docstring(node: ast.AST) -> ast.expr | None:
    """The docstring of a module, class or function, as a node."""
    if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) or ast.get_docstring(node) is None:
        return None
    return node.body[0].value if isinstance(node.body[0], ast.Expr) else None


def rules() -> Iterator[tuple[str, str]]:
    for rule in load_rules().values():
        folder = Path(sys.modules[type(rule).__module__].__file__ or "").parent
        told = [message for path in sorted(folder.glob("*.py")) for message in messages(path) if " " in message.strip()]
        yield f"rules/{rule.code}.md", "\n\n".join((inspect.getdoc(type(rule)) or "", *told))


def main() -> None:
    folder = Path(sys.argv[1])
    for name, text in (*pages(), *helps(cli), *rules()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(without_code(text), "utf-8")


if __name__ == "__main__":
    main()
