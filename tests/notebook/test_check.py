"""Notebooks on the command line: what is found where, in every format, and what is no notebook."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from books import notebook, sources_of

import modellint

if TYPE_CHECKING:
    from conftest import Workspace

MODEL = """\
from torch import nn


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(3, 3) for _ in range(4)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
RECIPE = """\
%%writefile hparams/train.yaml
model: !new:torch.nn.Linear
    in_features: 3
    out_features: 4
modules:
    model: !ref <modle>
"""


def stdin(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


# -- places ---------------------------------------------------------------------------------------------------------


def test_findings_are_placed_by_cell(words: Workspace) -> None:
    words.write({"sub/book.ipynb": notebook("#md WORD", "a = 1\nb = WORD", "\n\n  \nc = WORD\n")})
    result = words.check(".")
    assert result.lines[:2] == [
        "sub/book.ipynb:cell 2:2:5: TST101[warning] Found the word",
        "sub/book.ipynb:cell 3:4:5: TST101[warning] Found the word",
    ]
    assert result.code == 1


def test_the_source_shown_is_that_of_the_cell(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("%matplotlib inline\nx = 1", MODEL, "y = 2")})
    result = workspace.run("check")
    assert result.lines[0].startswith("book.ipynb:cell 2:7:9: ML204[error] `self.layers` is a plain list: ")
    assert result.lines[1:9] == [
        "   |",
        " 5 |     def __init__(self):",
        " 6 |         super().__init__()",
        " 7 |         self.layers = [nn.Linear(3, 3) for _ in range(4)]",
        "   |         ^^^^^^^^^^^",
        " 8 |",
        " 9 |     def forward(self, x):",
        "   |",
    ]
    assert "  :: book.ipynb:cell 2:10:22 used here" in result.lines


def test_a_name_of_one_cell_means_the_same_in_the_next(workspace: Workspace) -> None:
    cells = MODEL.replace("class Encoder", "#cut\nclass Encoder").split("#cut\n")
    workspace.write({"book.ipynb": notebook(*cells)})
    assert next(line for line in workspace.check().lines if "ML204" in line).startswith("book.ipynb:cell 2:4:9: ")


@pytest.mark.parametrize("output_format", ["json", "json-lines"])
def test_json_has_the_cell_beside_lines_of_the_cell(workspace: Workspace, output_format: str) -> None:
    workspace.write({"book.ipynb": notebook("#md Title", MODEL)})
    out = workspace.run("check", "--output-format", output_format).out
    finding = json.loads(out)["findings"][0] if output_format == "json" else json.loads(out)
    assert (finding["path"], finding["cell"], finding["line"], finding["column"]) == ("book.ipynb", 2, 7, 9)
    assert [(other["cell"], other["line"]) for other in finding["related"]] == [(2, 10)]
    assert [(edit["cell"], edit["start"], edit["end"]) for edit in finding["fix"]["edits"]] == [(2, [7, 23], [7, 58])]


@pytest.mark.parametrize("as_text", [False, True])
def test_formats_for_tools_have_the_lines_of_the_file(workspace: Workspace, as_text: bool) -> None:
    """A tool that shows a file shows its JSON: a place is where that holds the code, and the message tells the cell."""
    text = notebook("#md Title", MODEL.replace("4)]", "4)]  # ä"), as_text=as_text)
    workspace.write({"book.ipynb": text})
    lines = text.split("\n")
    line = next(number for number, content in enumerate(lines, 1) if "self.layers = " in content)
    column = lines[line - 1].index("self.layers = ") + 1

    def run(output_format: str) -> str:
        return workspace.run("check", "--output-format", output_format).out

    place = f"file=book.ipynb,line={line},endLine={line},col={column},endColumn={column + 11}::book.ipynb:cell 2:7:9: "
    assert place in run("github")
    assert run("pylint").startswith(f"book.ipynb:{line}: [ML204(layers-in-plain-container), Encoder.layers] ")
    assert run("pylint").endswith(" (cell 2, line 7)\n")
    (issue,) = json.loads(run("gitlab"))
    assert issue["location"]["positions"]["begin"] == {"line": line, "column": column}
    assert issue["description"].endswith("(cell 2, line 7)")
    case = next(ElementTree.fromstring(run("junit").encode()).iter("testcase"))
    assert (case.get("name"), case.get("line")) == ("ML204 Encoder.layers (cell 2:7:9)", str(line))

    (diagnostic,) = json.loads(run("rdjson"))["diagnostics"]
    assert diagnostic["location"]["range"]["start"] == {"line": line, "column": column}
    assert "(cell 2, line 7)" in diagnostic["message"]
    (suggestion,) = diagnostic["suggestions"]
    (result,) = json.loads(run("sarif"))["runs"][0]["results"]
    (location,) = result["locations"]
    assert location["logicalLocations"] == [{"name": "cell 2", "fullyQualifiedName": "book.ipynb:cell 2"}]
    assert location["physicalLocation"]["region"] == {
        "startLine": line,
        "startColumn": column,
        "endLine": line,
        "endColumn": column + 11,
    }
    (replacement,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
    region = replacement["deletedRegion"]
    before = [*lines[: region["startLine"] - 1], lines[region["startLine"] - 1][: region["startColumn"] - 1]]
    after = [lines[region["endLine"] - 1][region["endColumn"] - 1 :], *lines[region["endLine"] :]]
    fixed = "\n".join(before) + replacement["insertedContent"]["text"] + "\n".join(after)
    workspace.run("check", "--fix")
    assert fixed == (workspace.root / "book.ipynb").read_text()
    assert suggestion["text"] == replacement["insertedContent"]["text"]


def test_a_place_whose_notebook_is_gone_is_the_beginning_of_the_file(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("#md Title", MODEL)})
    workspace.run("check", "--output-format", "json=report.json")
    (workspace.root / "book.ipynb").unlink()
    merged = workspace.run("merge", "report.json", "--output-format", "github").out
    assert "file=book.ipynb,line=1,endLine=1,col=1,endColumn=1::book.ipynb:cell 2:7:9: ML204" in merged
    assert workspace.run("merge", "report.json").lines[0].startswith("book.ipynb:cell 2:7:9: ML204[error]")


#: What a report does not keep, as it is about the machine that it was made on.
KNOWN = "; built-in facts about torch 2.13.0 and speechbrain 1.1.2"


def test_merged_reports_keep_cells(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook(MODEL), "b.ipynb": notebook("#md Title", MODEL)})
    names = []
    for name in ("b", "book"):
        workspace.run("check", f"{name}.ipynb", "--output-format", f"json={name}.json")
        names.append(f"{name}.json")
    assert workspace.run("merge", *names).out == workspace.run("check").out.replace(KNOWN, "")


def test_the_library_gives_places_by_cell(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("#md Title", MODEL)})
    (finding,) = modellint.check(["book.ipynb"])
    assert (finding.place.cell, finding.span.line) == (2, 7)


# -- files that cells write -------------------------------------------------------------------------------------------


def test_a_recipe_that_a_cell_writes_is_checked(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("x = 1", RECIPE)})
    assert workspace.check().lines[0] == (
        "book.ipynb:cell 2:6:17: ML401[error] `<modle>` does not resolve: there is no key `modle`"
    )


def test_a_written_recipe_is_linked_with_the_script_that_is_written_for_it(workspace: Workspace) -> None:
    recipe = "%%file train.yaml\nwidth: 3\nmodel: !new:torch.nn.Linear\n    in_features: 3\n    out_features: 4\n"
    script = (
        "%%writefile train.py\nfrom hyperpyyaml import load_hyperpyyaml\n\n"
        'with open("train.yaml") as file:\n    hparams = load_hyperpyyaml(file)\n'
        'print(hparams["model"], hparams["width"])\nprint(hparams["wdith"])\n'
    )
    workspace.write({"book.ipynb": notebook(recipe, "#md and", script)})
    lines = workspace.check().lines
    assert lines[0].startswith("book.ipynb:cell 3:7:")
    assert "ML405" in lines[0]
    assert len(lines) == 2


LOADS = """\
from hyperpyyaml import load_hyperpyyaml

with open("train.yaml") as file:
    hparams = load_hyperpyyaml(file)
print(hparams["model"], hparams["width"])
print(hparams["wdith"])
"""
LOADED = "width: 3\nmodel: !new:torch.nn.Linear\n    in_features: !ref <width>\n    out_features: 4\n"


def test_a_written_recipe_is_linked_with_the_code_of_the_notebook(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook(f"%%writefile train.yaml\n{LOADED}", LOADS)})
    lines = workspace.check().lines
    assert lines[0].startswith("book.ipynb:cell 2:6:7: ML405")
    assert len(lines) == 2


def test_a_recipe_is_linked_with_a_notebook_that_loads_it(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("#md x", LOADS), "train.yaml": LOADED})
    assert workspace.check().lines[0].startswith("book.ipynb:cell 2:6:7: ML405")
    assert "book.ipynb:cell 2:6:7: ML405" in workspace.check("train.yaml").out


def test_a_script_comes_before_a_notebook(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("#md x", LOADS), "train.yaml": LOADED, "train.py": LOADS})
    assert [line.split(":")[0] for line in workspace.check().lines if "ML405" in line] == ["train.py"]


def test_what_is_appended_belongs_to_the_file(workspace: Workspace) -> None:
    first, rest = RECIPE.split("modules:\n")
    workspace.write({"book.ipynb": notebook(first, "%%writefile -a hparams/train.yaml\nmodules:\n" + rest)})
    assert workspace.check().lines[0].startswith("book.ipynb:cell 2:3:17: ML401")


def test_of_a_file_that_is_written_twice_the_last_counts(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook(RECIPE, RECIPE.replace("modle", "model"))})
    assert workspace.check().code == 0


def test_files_that_cells_write_are_not_there_for_others(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("%%writefile model.py\n" + MODEL), "other.py": "import model\n"})
    assert [line.split(":")[0] for line in workspace.check().lines if "ML204" in line] == ["book.ipynb"]
    assert not (workspace.root / "model.py").exists()


def test_a_written_file_is_checked_whatever_a_file_of_that_name_holds(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("%%writefile a.py\n" + MODEL), "a.py": "x = 1\n"})
    assert [line.split(":")[0] for line in workspace.check().lines if "ML204" in line] == ["book.ipynb"]


# -- what is not Python -----------------------------------------------------------------------------------------------


def test_cells_of_other_languages_and_magics_are_no_errors(workspace: Workspace) -> None:
    cells = (
        "!pip install torch\n%matplotlib inline\nimport torch;",
        "%%bash\nfor i in *; do echo $i; done",
        "files = !ls *.wav\nstart = %env START\ntorch.nn?\n?torch\ntorch.nn.Linear??",
        "if files:\n    %cd ..\n    !rm -r x \\\n       y\nelse:\n    pass",
        "await torch.load('a.pt')\nasync for x in y: print(x)",
        "  indented = 1\n  more = 2",
        "%%time\nz = 1",
    )
    workspace.write({"book.ipynb": notebook(*cells)})
    assert workspace.check().lines[-1] == "All checks passed!"


def test_a_cell_that_is_not_python_leaves_the_others_to_be_checked(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("x = (1,\n", MODEL, "def f(:\n    pass")})
    lines = workspace.check().lines
    assert [line.partition(" cannot")[0] for line in lines if "ML001" in line] == [
        "book.ipynb:cell 1:1:5: ML001[error]",
        "book.ipynb:cell 3:1:7: ML001[error]",
    ]
    assert any(line.startswith("book.ipynb:cell 2:7:9: ML204") for line in lines)


@pytest.mark.parametrize(
    "metadata",
    [
        {"kernelspec": {"name": "ir", "language": "R"}},
        {"language_info": {"name": "julia"}},
        {"kernelspec": {"name": "python2", "language": "python"}},
        {"language_info": {"name": "python", "version": "2.7.6"}},
        {"kernelspec": {"name": "x", "language": "sage"}, "language_info": {"name": "python"}},
    ],
)
def test_notebooks_of_other_languages_are_passed_over(workspace: Workspace, metadata: dict[str, Any]) -> None:
    workspace.write({"book.ipynb": notebook("x <- c(1, 2)", MODEL, metadata=metadata)})
    assert workspace.check().lines[-1] == "All checks passed!"


@pytest.mark.parametrize(
    "metadata",
    [
        {},
        {"language_info": {"name": "python", "version": "3.12.1"}},
        {"kernelspec": {"name": "python3"}, "language_info": {"name": "python", "version": "2.7.6"}},
    ],
)
def test_notebooks_that_name_no_other_language_are_python(workspace: Workspace, metadata: dict[str, Any]) -> None:
    workspace.write({"book.ipynb": notebook(MODEL, metadata=metadata)})
    assert "ML204" in workspace.check().out


def test_cells_of_another_language_are_passed_over(workspace: Workspace) -> None:
    document = json.loads(notebook("ls -la | wc", MODEL))
    document["cells"][0]["metadata"] = {"vscode": {"languageId": "shellscript"}}
    workspace.write({"book.ipynb": json.dumps(document)})
    assert [line[:19] for line in workspace.check().lines[:-2]] == ["book.ipynb:cell 2:7"]


def test_notebooks_of_format_3_are_read(workspace: Workspace) -> None:
    cells = [{"cell_type": "heading", "source": ["x"]}, {"cell_type": "code", "language": "python", "input": MODEL}]
    document = {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}
    workspace.write({"book.ipynb": json.dumps(document)})
    assert workspace.check("--fix").code == 0
    after = json.loads((workspace.root / "book.ipynb").read_text())
    after["worksheets"][0]["cells"][1]["input"] = MODEL
    assert after == document


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ('{\n "cells": [,]\n}', "2:12", "not valid JSON: Expecting value; expected a Jupyter notebook"),
        ("[]", "1:1", "no JSON object; expected a Jupyter notebook"),
        ("{}", "1:1", "no list `cells`; expected a Jupyter notebook (nbformat 4, or 3 with `worksheets`)"),
        (
            '{"cells": [\n {"cell_type": "code", "source": 3}]}',
            "2:2",
            "cell 1: `source` is neither a string nor a list",
        ),
        ('{"cells": [{"cell_type": "code", "source": ""},\n\n  7]}', "3:3", "cell 2: no object with a `cell_type`"),
        ("[" * 100_000, "1:1", "nested too deeply"),
        ('{"cells": ' + "9" * 5000 + "}", "1:1", "not valid JSON"),
    ],
)
def test_what_is_no_notebook_is_one_finding(workspace: Workspace, text: str, place: str, reason: str) -> None:
    workspace.write({"book.ipynb": text})
    result = workspace.check()
    assert result.lines[0].startswith(f"book.ipynb:{place}: ML001[error] cannot read this file: {reason}")
    assert len(result.lines) == 2
    for output_format in ("full", "sarif", "rdjson", "github"):
        assert workspace.run("check", "--output-format", output_format).code == 1


def test_bytes_that_are_no_utf_8_are_one_finding(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("x = 'ä'").encode("latin-1")})
    assert "ML001[error] cannot read this file: byte 0xe4 is not valid utf-8" in workspace.check().out


def test_an_empty_file_is_an_empty_notebook(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": "", "other.ipynb": notebook()})
    assert workspace.check().code == 0


# -- what works with files works with notebooks ------------------------------------------------------------------------


def test_comments_in_cells_silence_findings(words: Workspace) -> None:
    cells = ("a = WORD  # modellint: ignore[TST101]", "b = WORD  # noqa: TST101", "c = 1  # modellint: ignore[TST101]")
    words.write({"book.ipynb": notebook(*cells)})
    assert [line for line in words.check().lines if "ML" in line or "TST" in line] == [
        "book.ipynb:cell 3:1:8: ML002[warning] `modellint: ignore` silences no `TST101`"
    ]


def test_a_comment_for_the_whole_file_in_the_first_cell_silences_the_notebook(words: Workspace) -> None:
    words.write({"book.ipynb": notebook("!ls", "# modellint: ignore-file[TST101]", "b = WORD")})
    assert words.check().code == 0


def test_a_comment_for_a_whole_written_file_silences_that_file(words: Workspace) -> None:
    written = "%%writefile a.py\n# modellint: ignore-file[TST101]\nb = WORD"
    words.write({"book.ipynb": notebook("a = WORD", written, "c = WORD")})
    assert [line.split(": ")[0] for line in words.check().lines[:-1]] == [
        "book.ipynb:cell 1:1:5",
        "book.ipynb:cell 3:1:5",
    ]


def test_ignores_are_added_to_cells(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("#md x", MODEL, RECIPE)})
    assert workspace.run("check", "--add-ignore", "legacy").code == 0
    assert workspace.check().code == 0
    _, model, recipe = sources_of((workspace.root / "book.ipynb").read_bytes())
    assert "for _ in range(4)]  # modellint: ignore[ML204]  legacy\n" in model
    assert recipe.endswith("<modle>  # modellint: ignore[ML401]  legacy\n")


def test_a_baseline_survives_moved_cells(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook(MODEL)})
    workspace.run("check", "--baseline", "known.json", "--write-baseline")
    workspace.write({"book.ipynb": notebook("#md Title", "import os", MODEL)})
    assert workspace.check("--baseline", "known.json").code == 0


def test_warm_runs_and_several_processes_say_the_same(workspace: Workspace) -> None:
    workspace.write({f"{name}.ipynb": notebook("#md x", MODEL, RECIPE) for name in "abcd"})
    cold = workspace.run("check").out
    codes = [code for _, _, code in workspace.places()]
    assert codes.count("ML204") == codes.count("ML401") == 4
    assert workspace.run("check").out == cold
    assert workspace.run("check", "--no-cache", "--jobs", "2").out == cold
    workspace.write({"b.ipynb": notebook(MODEL)})
    assert [code for _, _, code in workspace.places()].count("ML401") == 3


def test_a_notebook_is_checked_again_when_what_it_imports_changes(workspace: Workspace) -> None:
    use = "from parts import Table\nfrom torch import nn\n" + MODEL.replace("nn.Linear(3, 3)", "Table()")
    workspace.write({"parts.py": "class Table:\n    pass\n", "book.ipynb": notebook(*use.split("\n\n\n"))})
    assert workspace.check().code == 0
    workspace.write({"parts.py": "from torch import nn\n\nclass Table(nn.Linear):\n    pass\n"})
    assert "book.ipynb:cell 2:4:9: ML204" in workspace.check().out


def test_stdin_is_read_as_a_notebook_and_fixed(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    text = notebook("#md x", MODEL)
    stdin(monkeypatch, text)
    assert workspace.check("-", "--stdin-filename", "sub/book.ipynb").lines[0].startswith("sub/book.ipynb:cell 2:7:9: ")
    stdin(monkeypatch, text)
    out = workspace.check("-", "--stdin-filename", "sub/book.ipynb", "--fix").out
    assert out == text.replace(
        "[nn.Linear(3, 3) for _ in range(4)]", "nn.ModuleList([nn.Linear(3, 3) for _ in range(4)])"
    )


def test_changed_notebooks_are_found_by_revision(workspace: Workspace) -> None:
    workspace.write({"a.ipynb": notebook(MODEL), "b.ipynb": notebook(MODEL)})
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"]):
        subprocess.run(["git", *command], check=True)
    workspace.write({"b.ipynb": notebook("#md x", MODEL)})
    lines = [line for line in workspace.check("--changed-since", "HEAD").lines if "ML204" in line]
    assert [line.split(": ")[0] for line in lines] == ["b.ipynb:cell 2:7:9"]


def test_the_registration_map_of_a_class_in_a_notebook(workspace: Workspace) -> None:
    workspace.write({"book.ipynb": notebook("#md x", MODEL)})
    result = workspace.run("map", "book.ipynb::Encoder")
    assert result.code == 0
    assert "layers" in result.out
