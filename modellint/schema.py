"""The JSON schema of `[tool.modellint]`: `python -m modellint.schema > docs/modellint.schema.json`."""

from __future__ import annotations

import json
from typing import Any

from modellint.config import KINDS, OUTPUT_FORMATS
from modellint.config.keys import SCHEMAS

_ABOUT = {
    "select": "codes to check: whole codes, beginnings such as `ML2`, or `ALL`",
    "extend-select": "codes in addition to `select`",
    "ignore": "codes not to check; the longest code that fits a rule decides",
    "per-file-ignores": "a table from a file pattern to codes not to report there",
    "exclude": "file and folder patterns to pass over, instead of the built-in ones (`.venv`, `build`, …)",
    "extend-exclude": "patterns in addition to `exclude`",
    "min-confidence": "the least confidence that is shown: `low`, `medium`, `high`",
    "fail-on": "the least severity that makes `check` exit with 1: `error`, `warning`, `info`",
    "output-format": ", ".join(f"`{name}`" for name in OUTPUT_FORMATS),
    "python": "the interpreter whose installed packages are read (as text)",
    "recipes": "a table from a recipe, or a pattern, to the script that loads it",
    "rule-paths": "folders with rules of your own",
    "cache-dir": "where facts are remembered between runs",
    "baseline": "a file of known findings, which are not shown",
    "jobs": "processes to work with",
    "max-file-size": "larger files are skipped: a number of bytes, or a size such as `2 MB` or `500 kB`",
    "confirm": "settings for `--confirm`",
}


def configuration_schema() -> dict[str, Any]:
    """The schema (draft 7), made from how the settings are read."""
    properties = {key: {"description": _ABOUT[key], **kind.schema} for key, kind in KINDS.items()}
    properties["confirm"].update(additionalProperties=False, properties=SCHEMAS)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Settings of modellint: [tool.modellint] in pyproject.toml, or modellint.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


if __name__ == "__main__":
    print(json.dumps(configuration_schema(), indent=2))
