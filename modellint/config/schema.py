"""The JSON schema of `[tool.modellint]`: `python -m modellint.config.schema > docs/modellint.schema.json`."""

from __future__ import annotations

import json
from dataclasses import fields
from enum import Enum
from typing import TYPE_CHECKING, Any

from modellint.config import KINDS, OUTPUT_FORMATS, Settings
from modellint.config.keys import SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Mapping

_ABOUT = {
    "extend": "another file of settings, which these settings override; keys that extend a list add to it",
    "select": "rules to run: codes, prefixes such as `ML2`, or `ALL`",
    "extend-select": "rules to run in addition to `select`",
    "ignore": "rules to skip; if several codes match a rule, the longest wins",
    "per-file-ignores": "rules to skip in matching files: a table from file patterns to codes",
    "extend-per-file-ignores": "rules to skip in matching files, in addition to `per-file-ignores`",
    "severity": "a table from codes or prefixes to the severity of their findings; the longest wins",
    "preview": "run preview rules",
    "explicit-preview-rules": "with `preview`, run only the preview rules that `select` names with their whole code",
    "fix": "apply the safe fixes in every check; `--no-fix` applies none",
    "unsafe-fixes": "include the fixes that you should review",
    "show-fixes": "list the applied fixes",
    "fixable": "rules whose findings `--fix` may fix",
    "extend-fixable": "rules to fix in addition to `fixable`",
    "unfixable": "rules whose findings `--fix` must not fix; if several codes match a rule, the longest wins",
    "include": "patterns of the files to check in folders",
    "extend-include": "patterns in addition to `include`",
    "exclude": "patterns of files and folders to skip, instead of the built-in ones (`.venv`, `build`, …)",
    "extend-exclude": "patterns in addition to `exclude`",
    "force-exclude": "skip excluded files even if the command line names them",
    "respect-gitignore": "in folders, skip the files that git ignores",
    "min-confidence": "the lowest confidence to report: `low`, `medium` or `high`",
    "fail-on": "the lowest severity for which `check` exits with 1: `error`, `warning` or `info`",
    "output-format": f"the format of the report: {', '.join(f'`{name}`' for name in OUTPUT_FORMATS)}",
    "python": "the interpreter whose packages modellint reads, as text; by default that of `VIRTUAL_ENV`, then `.venv`",
    "recipes": "a table from recipes, or patterns, to the scripts that load them",
    "rule-paths": "folders with your own rules",
    "cache-dir": "the folder for the cache; by default `.modellint_cache` in the project",
    "index-dir": "the folder for facts about installed packages, for all projects; by default the user's cache folder",
    "baseline": "a file of known findings, which modellint hides",
    "jobs": "the number of processes; by default one for each core",
    "max-file-size": "skip larger files: a number of bytes, or a size such as `2 MB` or `500 kB`",
    "confirm": "settings for `--confirm`",
}


#: Values that show how a key is written.
_EXAMPLES: Mapping[str, Any] = {
    "extend": "../modellint.toml",
    "select": ["ML1", "ML2"],
    "extend-select": ["LAB"],
    "ignore": ["ML3"],
    "per-file-ignores": {"tests/*": ["ML1"]},
    "extend-per-file-ignores": {"tests/*": ["ML2"]},
    "severity": {"ML3": "warning", "ML4": "error"},
    "extend-fixable": ["ML2"],
    "unfixable": ["ML3"],
    "include": ["*.py", "recipes/**/*.yaml"],
    "extend-include": ["scripts/*.yaml"],
    "extend-exclude": ["third_party/*"],
    "recipes": {"recipes/*/hparams/*.yaml": "train.py"},
    "rule-paths": ["house_rules"],
    "max-file-size": "500 kB",
    "confirm": {"timeout": 120},
}


def configuration_schema() -> dict[str, Any]:
    """The schema (draft 7), made from how the settings are read."""
    defaults = {field.name.replace("_", "-"): field.default for field in fields(Settings)}
    properties = {
        key: {"description": _ABOUT[key], **kind.schema, **_default(kind.schema, defaults[key]), **_example(key)}
        for key, kind in KINDS.items()
    }
    properties["confirm"].update(additionalProperties=False, properties=SCHEMAS)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Settings of modellint: [tool.modellint] in pyproject.toml, or modellint.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def _default(schema: Mapping[str, Any], value: Any) -> dict[str, Any]:
    """The default of a setting as a part of its schema; empty if the default is determined at run time."""
    if value is None:
        return {}
    if schema.get("type") == "object":
        return {"default": dict(value)}
    return {"default": value.value if isinstance(value, Enum) else list(value) if isinstance(value, tuple) else value}


def _example(key: str) -> dict[str, Any]:
    return {"examples": [_EXAMPLES[key]]} if key in _EXAMPLES else {}


def kind_in_words(schema: Mapping[str, Any]) -> str:
    """The values that a setting's schema accepts, in words: `a list of strings`, `a whole number from 1 up`."""
    if "enum" in schema:
        return " or ".join((", ".join(f"`{word}`" for word in schema["enum"][:-1]), f"`{schema['enum'][-1]}`"))
    if "anyOf" in schema:
        return " or ".join(map(kind_in_words, schema["anyOf"]))
    if schema["type"] == "array":
        return "a list of strings"
    bounds = {"minimum": " from {} up", "exclusiveMinimum": " above {}"}
    bound = "".join(words.format(schema[name]) for name, words in bounds.items() if name in schema)
    kinds = {"string": "a string", "integer": "a whole number", "number": "a number", "boolean": "`true` or `false`"}
    return {**kinds, "object": "a table"}[schema["type"]] + bound


if __name__ == "__main__":
    print(json.dumps(configuration_schema(), indent=2))
