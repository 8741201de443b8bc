"""The commands that are about a project: its settings, and what earlier runs left in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from modellint.config.errors import UsageError, nearest
from modellint.help import Command, section
from modellint.outputs import deliver, shown
from modellint.rule_commands import FilePath

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_shows = section("Output")
_CONFIG_EXAMPLES = """
\b
Examples:
  modellint config
  modellint config per-file-ignores
  modellint config --output-format json

\b
Exit codes:
  0  the settings were described
  2  wrong usage, or there is no such key
"""


@click.command(cls=Command, epilog=_CONFIG_EXAMPLES)
@click.argument("key", required=False)
@_shows("--output-format", type=click.Choice(["text", "json"]), default="text", help="The form.")
def config(key: str | None, output_format: str) -> int:
    """List the keys of the settings, or describe one.

    They stand under `[tool.modellint]` in pyproject.toml, or in modellint.toml. `modellint check --show-settings` shows
    what a project has set.
    """
    from modellint.schema import configuration_schema

    properties = configuration_schema()["properties"]
    if key is not None and key not in properties:
        raise UsageError(f"no key of the settings is called `{key}`{nearest(key, properties, _ALL)}")
    if output_format == "json":
        import json

        deliver(json.dumps(properties if key is None else properties[key], indent=2) + "\n", None, is_data=True)
    elif key is None:
        click.echo("\n".join(properties))
    else:
        click.echo("\n".join(_described(key, properties[key])))
    return 0


_ALL = "; `modellint config` lists them"


def _described(key: str, schema: Mapping[str, Any]) -> Iterator[str]:
    import json

    from modellint.schema import kind_in_words

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
  0  the caches are gone
  2  wrong usage, or a cache that cannot be removed
"""


@click.command(cls=Command, epilog=_CLEAN_EXAMPLES)
@click.argument("folder", type=FilePath(file_okay=False), default=Path())
def clean(folder: Path) -> int:
    """Remove the caches of a folder and of those below it.

    FOLDER is the working directory if none is given. The cache that its settings name goes, too.
    """
    from modellint.cache import is_cache, remove
    from modellint.config import settings_for

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
