"""The entry of `modellint` and `python -m modellint`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 nothing found, 1 findings, 2 wrong usage or an error of our own."""
    import click

    from modellint.cli import cli
    from modellint.config import UsageError

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(arguments, prog_name="modellint", standalone_mode=False)
        if not sys.stdout.closed:  # as the language server leaves it
            sys.stdout.flush()
    except UsageError as error:
        click.echo(f"Error: {error}", err=True)
        code = 2
    except click.ClickException as error:
        error.show()
        code = 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted", err=True)
        code = 2
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
