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
    "extend": "a file of settings that these ones go on top of: lists that extend add to its own, all else replaces it",
    "select": "codes to check: whole codes, beginnings such as `ML2`, or `ALL`",
    "extend-select": "codes in addition to `select`",
    "ignore": "codes not to check; the longest code that fits a rule decides",
    "per-file-ignores": "a table from a file pattern to codes not to report there",
    "extend-per-file-ignores": "the same, in addition to `per-file-ignores`",
    "severity": "a table from codes, or their beginnings, to the severity of their findings; the longest decides",
    "preview": "whether rules on trial are run, too",
    "explicit-preview-rules": "whether a rule on trial has to be selected by its whole code, besides `preview`",
    "fix": "whether `modellint check` fixes what can be fixed safely; `--no-fix` does without",
    "unsafe-fixes": "whether fixes are made that need a look, too",
    "show-fixes": "whether what was fixed is listed",
    "fixable": "codes whose findings may be fixed",
    "extend-fixable": "codes in addition to `fixable`",
    "unfixable": "codes whose findings may not; the longest code that fits a rule decides",
    "include": "patterns of the files that are looked at in folders, of those that modellint can read",
    "extend-include": "patterns in addition to `include`",
    "exclude": "file and folder patterns to pass over, instead of the built-in ones (`.venv`, `build`, …)",
    "extend-exclude": "patterns in addition to `exclude`",
    "force-exclude": "whether what is excluded is left out even where it is named on the command line",
    "respect-gitignore": "whether what git ignores is left out in folders",
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
