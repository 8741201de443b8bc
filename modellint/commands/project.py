"""The commands that are about a project: its settings, and what earlier runs left in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from modellint.commands.help import Command, section
from modellint.commands.options import project_options
from modellint.commands.rules import FilePath
from modellint.config.errors import UsageError, nearest
from modellint.reading.paths import shown
from modellint.results.outputs import deliver

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_shows, _runs = section("Output"), section("Configuration and runs")
_CONFIG_EXAMPLES = """
\b
Examples:
  modellint config
  modellint config per-file-ignores
  modellint config --output-format json

\b
Exit codes:
  0  the settings are listed or described
  2  wrong usage, or an unknown key
"""


@click.command(cls=Command, epilog=_CONFIG_EXAMPLES)
@click.argument("key", required=False)
@_shows("--output-format", type=click.Choice(["text", "json"]), default="text", help="Format. Default: text.")
def config(key: str | None, output_format: str) -> int:
    """List the settings, or describe one.

    Put settings under `[tool.modellint]` in pyproject.toml, or into modellint.toml. `modellint check --show-settings`
    prints the values that a project uses.
    """
    from modellint.config.schema import configuration_schema

    properties = configuration_schema()["properties"]
    if key is not None and key not in properties:
        raise UsageError(f"no key of the settings is called `{key}`{nearest(key, properties, _ALL)}")
    if output_format == "json":
        import json

        deliver(json.dumps(properties if key is None else properties[key], indent=2) + "\n", None, is_data=True)
    elif key is None:
        click.echo("\n".join(properties))
    else:
        click.echo("\n".join(_key_page(key, properties[key])))
    return 0


_ALL = "; `modellint config` lists them"


def _key_page(key: str, schema: Mapping[str, Any]) -> Iterator[str]:
    import json

    from modellint.config.schema import kind_in_words

    yield f"{key}: {schema['description']}"
    yield ""
    yield f"Value: {kind_in_words(schema)}"
    if "default" in schema:
        yield f"Default: {json.dumps(schema['default'])}"
    for example in schema.get("examples", ()):
        yield ""
        yield "[tool.modellint]"
        yield f"{key} = {_toml(example)}"


def _toml(value: Any) -> str:
    """A value of JSON as TOML has it."""
    import json

    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)


_CLEAN_EXAMPLES = """
\b
Examples:
  modellint clean
  modellint clean src

\b
Exit codes:
  0  the caches are removed
  2  wrong usage, or a cache that cannot be removed
"""


@click.command(cls=Command, epilog=_CLEAN_EXAMPLES)
@click.argument("folder", type=FilePath(file_okay=False), default=Path())
def clean(folder: Path) -> int:
    """Remove the caches in a folder and below it.

    The default of FOLDER is the current folder. modellint also removes the cache that the settings of FOLDER name.
    """
    from modellint.config import settings_for
    from modellint.pipeline.cache import is_cache, remove

    if not os.path.isdir(folder):
        raise UsageError(f"{folder}: no such folder")
    below = {Path(at) for at, _, _ in os.walk(folder) if os.path.basename(at) == ".modellint_cache"}
    for cache in sorted({*below, settings_for([folder]).cache_folder}):
        if is_cache(cache):
            try:
                remove(cache)
            except OSError as error:
                raise UsageError(f"{shown(cache)}: cannot be removed: {error.strerror}") from None
            click.echo(f"removed {shown(cache)}")
    return 0


_DOCTOR_EXAMPLES = """
\b
Examples:
  modellint doctor
  modellint doctor src recipes --output-format json

\b
Exit codes:
  0  the report is printed
  2  wrong usage or invalid configuration
"""


@click.command(cls=Command, epilog=_DOCTOR_EXAMPLES)
@click.argument("paths", nargs=-1, type=FilePath())
@_shows("--output-format", type=click.Choice(["text", "json"]), default="text", help="Format. Default: text.")
@_shows("--output-file", type=FilePath(), help="Write the report to this file. Default: stdout.")
@project_options(_runs)
def doctor(
    paths: tuple[Path, ...],
    output_format: str,
    output_file: Path | None,
    config: Path | None,
    isolated: bool,
    python: Path | None,
) -> int:
    """Report what modellint knows about a project.

    The report names the interpreter, the packages, the script of each recipe, and each name that modellint cannot
    resolve, with the reason. PATHS are files and folders. Default: the current folder.
    """
    from modellint.commands.checking import interpreter
    from modellint.commands.doctor import as_text, examine
    from modellint.commands.progress import Progress
    from modellint.config import settings_for
    from modellint.linter import undisturbed
    from modellint.reading.discovery import discover
    from modellint.reporters.text import printable

    paths = paths or (Path(),)
    settings = settings_for(paths, config, isolated=isolated).with_options(python=interpreter(python))
    files, _ = discover(paths, settings)
    with undisturbed(), Progress() as progress:
        told = examine(files, settings, progress.update)
    if output_format == "json":
        import json

        text = json.dumps(told.as_json(), indent=2, ensure_ascii=False) + "\n"
    else:
        text = "".join(f"{printable(line)}\n" for line in as_text(told))
    deliver(text, output_file, is_data=output_format == "json")
    return 0
