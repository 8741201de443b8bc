"""The entry of `modellint` and `python -m modellint`. A Python that is too old has to read it, to be told so."""

import os
import sys

if sys.version_info < (3, 10):  # noqa: UP036
    here = ".".join(map(str, sys.version_info[:2]))
    sys.stderr.write(f"Error: modellint needs Python 3.10 or newer; this is Python {here}\n")
    sys.exit(2)

try:
    from modellint import process
except KeyboardInterrupt:
    os.write(2, b"Interrupted\n")
    os._exit(2)

TYPE_CHECKING = False  # to import typing would take longer than all that happens before Ctrl-C is taken care of
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def main(arguments: "Sequence[str] | None" = None) -> "NoReturn":
    """Run the command line and exit: 0 nothing found that counts, 1 findings, 2 wrong usage or an error of our own.

    Without `arguments` it is a program, which takes those of the process and ends it.
    """
    if arguments is not None:
        sys.exit(_run(arguments))
    try:
        process.begin()
        process.leave(_run(None))
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted\n")
        process.leave(process.INTERRUPTED)
    except SystemExit as end:
        process.leave(end.code if isinstance(end.code, int) else int(end.code is not None))


def _run(arguments: "Sequence[str] | None") -> int:
    """Run a command and return its exit code; errors are printed in one line. None stands for `sys.argv`."""
    import click

    from modellint.cli import cli
    from modellint.config.errors import UsageError

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(arguments, prog_name="modellint", standalone_mode=False)
        if not sys.stdout.closed:  # as the language server leaves it
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        from modellint.commands.help import told

        click.echo(told(error), err=True)
    except click.Abort:
        click.echo("Interrupted", err=True)
    except UsageError as error:
        click.echo(f"Error: {error}", err=True)
    except Exception as error:
        click.echo(f"Error: {_message_of(error)}", err=True)
        if not {"-v", "--verbose"}.isdisjoint(sys.argv if arguments is None else arguments):
            import traceback

            traceback.print_exc()
    return 2


def _message_of(error: Exception) -> str:
    """The message for an error that no command handles."""
    unwritable = process.unwritable()
    if unwritable:
        return f"stdout cannot be written: {unwritable.strerror}"
    try:
        os.getcwd()
    except OSError as gone:
        return f"the working directory is gone: {gone.strerror}; expected to be started in a folder that exists"
    said = " ".join(str(error).split())
    return f"internal error: {type(error).__name__}: {said}"


if __name__ == "__main__":
    main()
