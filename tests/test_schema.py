"""The JSON schema of the settings accepts what modellint accepts, and refuses what it refuses."""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from modellint.config.schema import configuration_schema

if TYPE_CHECKING:
    from conftest import Workspace

ROOT = Path(__file__).parent.parent
SCHEMA = configuration_schema()


def toml(text: str) -> dict[str, Any]:
    document: dict[str, Any] = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli").loads(text)
    return document


def accepts(table: dict[str, Any]) -> bool:
    return jsonschema.Draft7Validator(SCHEMA).is_valid(table)


def test_the_schema_is_one_and_stands_in_docs() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)
    assert json.loads((ROOT / "docs/modellint.schema.json").read_text("utf-8")) == SCHEMA


def test_the_examples_on_the_pages_are_accepted() -> None:
    pages = "".join((ROOT / f"docs/{name}.md").read_text("utf-8") for name in ("configuration", "confirming"))
    examples = re.findall(r"^```toml\n(.*?)^```$", pages, re.MULTILINE | re.DOTALL)
    tables = [toml(example)["tool"]["modellint"] for example in examples if "[tool.modellint" in example]
    assert len(tables) >= 2
    for table in tables:
        jsonschema.validate(table, SCHEMA)


def test_defaults_and_examples_are_accepted() -> None:
    for key, schema in SCHEMA["properties"].items():
        assert schema["description"], key
        for value in (*schema.get("examples", ()), *([schema["default"]] if "default" in schema else ())):
            assert accepts({key: value}), (key, value)


@pytest.mark.parametrize(
    "text",
    [
        'select = ["ML2"]\nignore = []\njobs = 2\nfail-on = "error"\nmin-confidence = "low"\noutput-format = "sarif"',
        'python = "python3"\nrule-paths = ["."]\ncache-dir = "x"\nbaseline = "y.json"\nexclude = ["a"]',
        'per-file-ignores = { "tests/*" = ["ML1"] }\nrecipes = { "a.yaml" = "train.py" }',
        'severity = { ML1 = "info" }\nfix = true\nfixable = ["ALL"]\ninclude = ["*.py"]\nforce-exclude = false',
        'severity = { ML1 = "fatal" }',
        "severity = { ML1 = 1 }",
        "preview = 1",
        'unfixable = "ML1"',
        'extend-per-file-ignores = { "a" = "ML1" }',
        "selct = []",
        'select = "ML2"',
        "select = [1]",
        "jobs = 0",
        "jobs = true",
        "jobs = 1.5",
        'fail-on = "fatal"',
        'min-confidence = "certain"',
        'output-format = "xml"',
        "python = 3",
        'per-file-ignores = ["a"]',
        'per-file-ignores = { "a" = "ML1" }',
        'recipes = { "a.yaml" = ["train.py"] }',
        "confirm = 1",
        'confirm = { guard = "required", memory = 2, mock-imports = [], overrides = {}, roots = ["."], timeout = 0.5 }',
        'confirm = { targets = { "a.py::B" = { arguments = { x = 1 } } } }',
        "confirm = { timeut = 1 }",
        "confirm = { timeout = 0 }",
        "confirm = { timeout = 1e9 }",
        'confirm = { roots = "src" }',
        'confirm = { guard = "on" }',
        'confirm = { targets = { "a.py::B" = { argument = {} } } }',
    ],
)
def test_the_schema_and_the_reader_agree(workspace: Workspace, text: str) -> None:
    workspace.write({"modellint.toml": text, "a.py": ""})
    assert accepts(toml(text)) == (workspace.run("check", "--show-settings").code == 0)
