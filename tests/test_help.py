"""What `--help` says: every command shows examples that hold, and the exit codes that its page lists."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from modellint.cli import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import Workspace

PAGE = (Path(__file__).parent.parent / "docs/terminal.md").read_text("utf-8")


def commands(group: click.Group, names: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, command in group.commands.items():
        yield (*names, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*names, name))


COMMANDS = sorted(commands(cli))


def section(text: str, title: str) -> list[str]:
    """The lines under a title of a help text, without their indentation."""
    match = re.search(rf"^ *{title}:\n((?: +\S.*\n)+)", text, re.MULTILINE)
    assert match, f"no {title} in\n{text}"
    return [line.strip() for line in match[1].splitlines()]


@pytest.mark.parametrize("names", [(), *COMMANDS], ids=" ".join)
def test_the_examples_of_a_help_text_are_understood(names: tuple[str, ...], workspace: Workspace) -> None:
    for example in section(workspace.run(*names, "--help").out, "Examples"):
        program, *arguments = shlex.split(example.partition(" | ")[0])
        command: click.Command = cli
        while isinstance(command, click.Group) and arguments and arguments[0] in command.commands:
            command = command.commands[arguments.pop(0)]
        assert program == "modellint"
        command.make_context(program, arguments)


def test_the_exit_codes_of_each_command_are_those_of_the_page(workspace: Workspace) -> None:
    (table,) = re.findall(r"^\| command \| 0 \| 1 \| 2 \|\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    listed = {}
    for row in table.splitlines():
        named, *meanings = (cell.strip() for cell in row.strip("|").split("|"))
        codes = [f"{code}  {meaning}" for code, meaning in enumerate(meanings) if meaning]
        listed.update({tuple(name.split()): codes for name in re.findall(r"`([^`]+)`", named)})
    assert listed == {names: section(workspace.run(*names, "--help").out, "Exit codes") for names in COMMANDS}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("check", "nowhere"), "nowhere: no such file or folder"),
        (
            ("check", "--isolated", "--config", "modellint.toml"),
            "--isolated uses no configuration file; expected it, or",
        ),
        (
            ("check", "-", "--stdin-filename", "notes.txt"),
            "--stdin-filename: notes.txt is neither Python nor YAML; expected",
        ),
        (
            ("check", "--add-ignore", "model.py"),
            "--add-ignore: model.py is taken for the reason; expected `--add-ignore",
        ),
        (
            ("check", "--baseline", "known.json"),
            "--baseline: known.json: No such file or directory; `--write-baseline`",
        ),
        (("explain", "ML000"), "no rule has the code `ML000`; did you mean"),
        (("map", "model.py"), "model.py: a Python file; expected model.py::CLASS, and it defines no class"),
        (("test-rules", "broken.py"), "broken.py: cannot be loaded: SyntaxError:"),
    ],
)
def test_what_is_refused_is_said_in_a_line(arguments: tuple[str, ...], error: str, workspace: Workspace) -> None:
    workspace.write({"model.py": "x = 1\n", "broken.py": "class (\n", "modellint.toml": ""})
    result = workspace.run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"Error: {error}")
    assert result.err.count("\n") == 1
