"""Extensions of click for many options: help in sections, aliases of commands, and errors in one line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import click

from modellint.config.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

F = TypeVar("F", bound="Callable[..., Any] | click.Command")
#: Where what every command has is listed.
_REST = "Other options"


class Option(click.Option):
    """An option that help lists under the title of a section."""

    def __init__(self, *arguments: Any, section: str = _REST, **attributes: Any) -> None:
        super().__init__(*arguments, **attributes)
        self.section = section


def section(title: str) -> Callable[..., Callable[[F], F]]:
    """A decorator like `click.option`, for options of one section."""

    def option(*arguments: Any, **attributes: Any) -> Callable[[F], F]:
        return click.option(*arguments, cls=Option, section=title, **attributes)

    return option


class Command(click.Command):
    """A command whose options are listed by section, in the order in which they are declared."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = None if isinstance(parameter, click.Argument) else parameter.get_help_record(ctx)
            if record is not None:
                sections.setdefault(getattr(parameter, "section", _REST), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


class Group(click.Group):
    """A group of commands: help lists them by section, and some are also known by another name."""

    def __init__(
        self,
        *arguments: Any,
        sections: Mapping[str, Iterable[str]] | None = None,
        aliases: Mapping[str, str] | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(*arguments, **attributes)
        self._sections = sections or {}
        self._aliases = aliases or {}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, self._aliases.get(cmd_name, cmd_name))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = str(args[0])
        if self.get_command(ctx, name) is None and not name.startswith("-") and not ctx.resilient_parsing:
            ctx.fail(f"no command is called `{name}`{self._suggestion(name, ctx)}")
        return super().resolve_command(ctx, args)

    def _suggestion(self, name: str, ctx: click.Context) -> str:
        if f"--{name}" in _options(ctx):
            return f"; did you mean `{ctx.command_path} --{name}`?"
        if os.path.exists(name) and "check" in self.commands:
            return f"; did you mean `modellint check {name}`?"
        known = [*self.commands, *self._aliases]
        return nearest(name, known, f"; expected one of {', '.join(self.commands)}")

    def invoke(self, ctx: click.Context) -> Any:
        """As always, but Ctrl-C is told by one line, without an empty one before it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if not self._sections:
            super().format_commands(ctx, formatter)
            return
        limit = formatter.width - 6 - max(map(len, self.commands))
        for title, names in self._sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(limit)) for name in names])


def told(error: click.ClickException) -> str:
    """An error of the command line in one line: what is wrong, the likely correction, and the help to read.

    If nothing but the command's name was given: its help.
    """
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":  # which releases of click before 8.2 do not have
        return error.format_message()
    command = "modellint" if context is None else context.command_path
    if isinstance(error, click.NoSuchOption):
        said = f"no option is called `{error.option_name}`"
        other = _command_with(error.option_name, context)
        if other:
            said += f"; did you mean `{command} {other} {error.option_name}`?"
        else:
            said += nearest(error.option_name, _options(context), f"; `{command} --help` lists them")
    else:
        said = error.format_message().rstrip(".")
        if isinstance(error, click.MissingParameter) or said.startswith("Got unexpected"):
            said = f"{said[:1].lower()}{said[1:]}; `{command} --help` shows what is expected"
    return f"Error: {' '.join(said.split())}"


def _command_with(option: str, ctx: click.Context | None) -> str | None:
    """The first command of a group that has an option which the group itself lacks; None if none has it."""
    if ctx is None or not isinstance(ctx.command, Group):
        return None
    parameters = ((name, one) for name, command in ctx.command.commands.items() for one in command.get_params(ctx))
    return next((name for name, one in parameters if option in (*one.opts, *one.secondary_opts)), None)


def _options(ctx: click.Context | None) -> list[str]:
    """The long options of the command that is being parsed."""
    parameters = [] if ctx is None else ctx.command.get_params(ctx)
    return [name for one in parameters for name in (*one.opts, *one.secondary_opts) if name.startswith("--")]
