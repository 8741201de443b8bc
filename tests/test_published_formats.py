"""What every rule finds in its bad examples, in the formats of others, and read as those others read them.

MODELLINT_SCHEMAS may name a folder with the schemas that are published elsewhere, by their own names:
`sarif-schema-2.1.0.json` (oasis-tcs/sarif-spec, in sarif-2.1/schema), `codeclimate.json` (GitLab, in
app/validators/json_schemas) and `DiagnosticResult.json` (reviewdog, in proto/rdf/jsonschema).
MODELLINT_NODE_MODULES may name a `node_modules` folder with @actions/core and @umbrelladocs/rdformat-validator.
MODELLINT_EXAMPLES=all takes every bad example; by default it is two of each rule.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import junitparser
import pytest
import sarif_pydantic
from books import notebook
from effort import IS_WHOLE
from hypothesis import given
from hypothesis import strategies as st

from modellint.examples import materialise
from modellint.packs import load_rules
from modellint.reporters.github import command

FORMATS = ("json", "sarif", "gitlab", "junit", "rdjson", "github")
SCHEMAS = {"sarif": "sarif-schema-2.1.0.json", "gitlab": "codeclimate.json", "rdjson": "DiagnosticResult.json"}


def an_object(properties: dict[str, Any], *optional: str) -> dict[str, Any]:
    """The schema of an object with these properties and no others."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


TEXT = {"type": "string", "minLength": 1}
NUMBER = {"type": "integer", "minimum": 1}
POSITION = an_object({"line": NUMBER, "column": NUMBER})
RANGE = an_object({"start": POSITION, "end": POSITION})
LOCATION = an_object({"path": TEXT, "range": RANGE})
#: GitLab takes issues up to the first that lacks one of four keys, and knows five severities.
GITLAB = {
    "type": "array",
    "items": an_object(
        {
            "type": {"const": "issue"},
            "check_name": TEXT,
            "description": TEXT,
            "content": an_object({"body": TEXT}),
            "categories": {"type": "array", "items": {"const": "Bug Risk"}},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]+$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": an_object(
                {
                    "path": {"type": "string", "pattern": r"^(?!/|\./|\.\./)"},
                    "positions": an_object({"begin": POSITION, "end": POSITION}),
                }
            ),
        }
    ),
}
#: reviewdog reads protobuf's JSON: keys in camel case, enumerations by name.
RDJSON = an_object(
    {
        "source": an_object({"name": TEXT}),
        "diagnostics": {
            "type": "array",
            "items": an_object(
                {
                    "message": TEXT,
                    "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
                    "code": an_object({"value": TEXT, "url": TEXT}, "url"),
                    "location": LOCATION,
                    "relatedLocations": {"type": "array", "items": an_object({"message": TEXT, "location": LOCATION})},
                    "suggestions": {"type": "array", "items": an_object({"range": RANGE, "text": {"type": "string"}})},
                },
                "relatedLocations",
                "suggestions",
            ),
        },
    }
)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Bad examples of all rules, and those of one file in a notebook each, checked once, in each format."""
    folder = tmp_path_factory.mktemp("examples")
    for rule in load_rules().values():
        for number, example in enumerate(rule.bad if IS_WHOLE else rule.bad[:2]):
            materialise(example.files, folder / f"{rule.code}-ä {number}")
            if len(example.files) == 1:
                ((name, text),) = example.files.items()
                cell = text if name.endswith(".py") else f"%%writefile {name}\n{text}"
                book = notebook("#md ü", "%cd ü", cell, as_text=number % 2 == 0)
                materialise({f"ü {number}.ipynb": book}, folder / f"{rule.code}-in cells")
    outputs = [f"--output-format={name}=report.{name}" for name in FORMATS]
    options = ["--isolated", "--no-cache", "--preview", "--jobs", "1"]
    command_line = [sys.executable, "-m", "modellint", "check", *options, *outputs]
    done = subprocess.run(command_line, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    return {name: (folder / f"report.{name}").read_text("utf-8") for name in FORMATS}


@pytest.fixture
def findings(reports: dict[str, str]) -> list[Any]:
    found: list[Any] = json.loads(reports["json"])["findings"]
    assert {finding["code"] for finding in found} == set(load_rules())
    return found


@pytest.mark.dear
def test_sarif_is_read_by_a_library(reports: dict[str, str], findings: list[Any]) -> None:
    (run,) = sarif_pydantic.Sarif.model_validate_json(reports["sarif"]).runs
    assert [result.rule_id for result in run.results or ()] == [finding["code"] for finding in findings]


@pytest.mark.dear
def test_junit_is_read_by_a_library(reports: dict[str, str], findings: list[Any]) -> None:
    suites = junitparser.JUnitXml.fromstring(reports["junit"].encode())
    cases = [case for suite in suites for case in suite]
    assert [case.name.split()[0] for case in cases] == [finding["code"] for finding in findings]
    assert all(len(case.result) == 1 for case in cases)


@pytest.mark.parametrize(("name", "schema"), [("gitlab", GITLAB), ("rdjson", RDJSON)])
def test_json_has_what_its_reader_knows_and_nothing_else(name: str, schema: Any, reports: dict[str, str]) -> None:
    jsonschema.Draft202012Validator(schema).validate(json.loads(reports[name]))


def test_gitlab_tells_issues_apart(reports: dict[str, str], findings: list[Any]) -> None:
    issues = json.loads(reports["gitlab"])
    assert len({issue["fingerprint"] for issue in issues}) == len(issues) == len(findings)


@pytest.mark.skipif("MODELLINT_SCHEMAS" not in os.environ, reason="set MODELLINT_SCHEMAS to a folder with the schemas")
@pytest.mark.parametrize("name", SCHEMAS)
def test_json_is_valid_by_the_published_schema(name: str, reports: dict[str, str]) -> None:
    schema = json.loads((Path(os.environ["MODELLINT_SCHEMAS"]) / SCHEMAS[name]).read_text("utf-8"))
    schema = {"type": "array", "items": schema} if name == "gitlab" else schema
    jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)(schema).validate(
        json.loads(reports[name])
    )


# -- workflow commands -------------------------------------------------------------------------------------------------

UNESCAPED = {"%0D": "\r", "%0A": "\n", "%25": "%"}


def unescaped(text: str, also: dict[str, str]) -> str:
    escapes = UNESCAPED | also
    return re.sub("|".join(escapes), lambda match: escapes[match[0]], text)


def read_command(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as a runner takes it apart: `::name key=value,key=value::data`."""
    assert "\n" not in line
    assert "\r" not in line
    match = re.fullmatch(r"::(\w+) (.*?)::(.*)", line, re.DOTALL)
    assert match, line
    pairs = [pair.split("=", 1) for pair in match[2].split(",")]
    return match[1], {key: unescaped(value, {"%3A": ":", "%2C": ","}) for key, value in pairs}, unescaped(match[3], {})


def test_annotations_say_where_and_what(reports: dict[str, str], findings: list[Any]) -> None:
    lines = reports["github"].splitlines()
    assert len(lines) == len(findings)
    for line, finding in zip(lines, findings, strict=True):
        kind, properties, text = read_command(line)
        assert kind == {"error": "error", "warning": "warning", "info": "notice"}[finding["severity"]]
        assert properties["file"] == finding["path"]
        if finding["cell"] is None:
            assert (properties["line"], properties["endLine"]) == (str(finding["line"]), str(finding["end_line"]))
        else:
            assert f":cell {finding['cell']}:{finding['line']}:{finding['column']}: " in text
        assert finding["message"] in text


@given(st.dictionaries(st.sampled_from(["title", "file"]), st.text(), min_size=1), st.text())
def test_any_text_comes_out_of_a_command_as_it_went_in(properties: dict[str, str], text: str) -> None:
    assert read_command(command("error", properties, text)) == ("error", properties, text)


NODE_MODULES = os.environ.get("MODELLINT_NODE_MODULES", "")
needs_node = pytest.mark.skipif(not NODE_MODULES, reason="set MODELLINT_NODE_MODULES to a folder of npm packages")
TOOLKIT = """
import { readFileSync } from 'node:fs';
const core = await import(process.argv[2] + '/@actions/core/lib/core.js');
for (const { kind, properties, text } of JSON.parse(readFileSync(0, 'utf8'))) core[kind](text, properties);
"""


@needs_node
def test_annotations_are_those_of_the_toolkit_for_actions(reports: dict[str, str], tmp_path: Path) -> None:
    names = {"line": "startLine", "col": "startColumn"}
    told = []
    for line in reports["github"].splitlines():
        kind, properties, text = read_command(line)
        told.append({"kind": kind, "properties": {names.get(k, k): v for k, v in properties.items()}, "text": text})
    (tmp_path / "toolkit.mjs").write_text(TOOLKIT, "utf-8")
    said = subprocess.run(
        ["node", str(tmp_path / "toolkit.mjs"), str(Path(NODE_MODULES).resolve())],
        input=json.dumps(told),
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
    ).stdout
    assert said == reports["github"]


@needs_node
def test_rdjson_passes_a_validator(reports: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(reports["rdjson"], "utf-8")
    program = Path(NODE_MODULES) / "@umbrelladocs/rdformat-validator/bin/rdformat-validator.js"
    done = subprocess.run(["node", program, tmp_path / "report.json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All files are valid RDFormat" in done.stdout
