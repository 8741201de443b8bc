"""Options that several commands have, each written once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from modellint.commands.rules import FilePath

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any] | click.Command")
_CONFIG = "Use this pyproject.toml or modellint.toml. Default: the nearest file."
_PYTHON = "Read installed packages from this interpreter, as text. Default: VIRTUAL_ENV, then `.venv` of the project."


def project_options(
    option: Callable[..., Callable[[Any], Any]] = click.option, *, python: str = _PYTHON
) -> Callable[[F], F]:
    """A decorator: the options that say which settings and which interpreter to use.

    `option` makes each one, and `python` is the help of the last one. The parameters are `config`, `isolated` and
    `python`.
    """

    def add_options(command: F) -> F:
        for add in (  # decorators apply from the last one to the first
            option("--python", type=FilePath(), help=python),
            option("--isolated", is_flag=True, help="Use no configuration file."),
            option("--config", type=FilePath(), help=_CONFIG),
        ):
            command = add(command)
        return command

    return add_options
