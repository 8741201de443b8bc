"""What has one cause is one finding, with the other places beside it; each place is silenced and known on its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

RECIPE = "net: !new:speechbrain.nnet.linear.Liner\n    n_neurons: 3\n    input_size: 2\n"
FIRST, PLACES = "a.yaml", [f"{name}.yaml" for name in "abcdefghijkl"]


def recipes(workspace: Workspace, text: str = RECIPE) -> None:
    workspace.write(dict.fromkeys(PLACES, text))


def findings(workspace: Workspace, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = workspace.run("check", "--output-format", "json", *arguments).json["findings"]
    return found


def places(finding: dict[str, Any]) -> list[str]:
    return [finding["path"], *(related["path"] for related in finding["related"])]


def test_a_class_that_is_missing_in_many_recipes_is_one_finding_at_the_first(workspace: Workspace) -> None:
    recipes(workspace)
    (finding,) = findings(workspace)
    assert finding["message"] == "`speechbrain.nnet.linear` has no `Liner`, here and in 11 other places"
    assert (finding["path"], finding["line"]) == (FIRST, 1)
    assert places(finding) == PLACES
    assert findings(workspace) == [finding], "also of what the cache knows"


def test_an_argument_that_a_class_does_not_take_is_one_finding_and_another_class_another(workspace: Workspace) -> None:
    wrong = "net: !new:speechbrain.nnet.linear.Linear\n    n_neurons: 3\n    input_size: 2\n    biass: True\n"
    other = "net: !new:torch.nn.Linear [3, 2]\n    # no argument by name\n"
    workspace.write({"a.yaml": wrong, "b.yaml": wrong.replace("net:", "model:"), "c.yaml": other})
    workspace.write({"d.yaml": "net: !new:torch.nn.Linear\n    in_features: 1\n    out_features: 2\n    biass: True\n"})
    assert [places(finding) for finding in findings(workspace)] == [["a.yaml", "b.yaml"], ["d.yaml"]]


def test_every_name_of_a_module_that_is_missing_has_one_cause(workspace: Workspace) -> None:
    workspace.write({"a.yaml": "a: !new:speechbrain.nett.linear.A\n", "b.yaml": "a: !name:speechbrain.nett.conv.B\n"})
    (finding,) = findings(workspace)
    assert finding["message"] == "`speechbrain` has no `nett`, here and in one other place"


def test_a_comment_silences_its_own_place(workspace: Workspace) -> None:
    recipes(workspace)
    silenced = RECIPE.replace("Liner\n", "Liner  # modellint: ignore[ML402]\n")
    workspace.write({"b.yaml": silenced})
    (finding,) = findings(workspace)
    assert places(finding) == ["a.yaml", *PLACES[2:]]
    workspace.write({FIRST: silenced})
    (finding,) = findings(workspace)
    assert places(finding) == PLACES[2:]


def test_comments_are_added_in_each_place(workspace: Workspace) -> None:
    recipes(workspace)
    assert "Ignored 12 findings" in workspace.run("check", "--add-ignore", "it is of a fork").err
    assert findings(workspace) == []
    assert all("ignore[ML402]" in (workspace.root / name).read_text() for name in PLACES)


def test_a_baseline_knows_each_place(workspace: Workspace) -> None:
    recipes(workspace)
    baseline = ("--baseline", "known.json")
    assert "known.json: 12 findings" in workspace.run("check", *baseline, "--write-baseline").err
    assert findings(workspace, *baseline) == []
    workspace.write({FIRST: RECIPE.replace("Liner", "Linear")})
    assert findings(workspace, *baseline) == [], "those that are left are no news"
    workspace.write({"m.yaml": RECIPE, "n.yaml": RECIPE})
    (finding,) = findings(workspace, *baseline)
    assert places(finding) == ["m.yaml", "n.yaml"]


def test_what_is_checked_decides_where_it_stands(workspace: Workspace) -> None:
    recipes(workspace)
    (finding,) = findings(workspace, "c.yaml")
    assert places(finding) == ["c.yaml"]
    assert finding["message"] == "`speechbrain.nnet.linear` has no `Liner`"
    assert places(findings(workspace, "e.yaml", "d.yaml")[0]) == ["d.yaml", "e.yaml"]


@pytest.mark.parametrize(
    "name", ["concise", "github", "gitlab", "junit", "rdjson", "json-lines", "pylint", "azure", "markdown"]
)
def test_every_format_tells_it_once(workspace: Workspace, name: str) -> None:
    recipes(workspace)
    out = workspace.run("check", "--output-format", name).out
    assert out.count("here and in 11 other places") in (1, 2)  # JUnit has it in an attribute, too
    assert out.count("has no `Liner`") == out.count("here and in 11 other places")


def test_sarif_has_the_other_places_as_related_ones(workspace: Workspace) -> None:
    recipes(workspace)
    (result,) = workspace.run("check", "--output-format", "sarif").json["runs"][0]["results"]
    related = [one["physicalLocation"]["artifactLocation"]["uri"] for one in result["relatedLocations"]]
    assert related == PLACES[1:]


def test_full_names_some_of_the_places(workspace: Workspace) -> None:
    recipes(workspace)
    lines = workspace.run("check").lines
    assert lines[0] == "a.yaml:1:6: ML402[error] `speechbrain.nnet.linear` has no `Liner`, here and in 11 other places"
    (line,) = (line for line in lines if "the same at" in line)
    assert line.endswith("h.yaml:1:6, i.yaml:1:6 and 3 other places (`--output-format json` lists them)")
    assert "Found 1 finding (1 error)" in lines
    assert workspace.run("check", "--statistics", "--output-format", "json").json[0]["count"] == 1


def test_recipes_that_each_leave_out_a_key_have_causes_of_their_own(workspace: Workspace) -> None:
    recipes(workspace, "a: !ref <b>\nc: !new:torch.nn.ReLU\n")
    assert [place for finding in findings(workspace) for place in places(finding)] == PLACES


LAYERS = """from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__(); wide = 32
        self.one = nn.Linear(8, 16)
        self.two = nn.Linear(wide, 8)
        self.three = nn.Linear(wide, 8)
        self.four = nn.Linear(64, 8)

    def pair(self, x):
        return x, x

    def forward(self, x):
        x = self.one(x)
        y, z, rest = self.pair(x)
        return self.two(x) + self.three(x) + self.four(x)

    def again(self, x):
        y, z, rest = self.pair(x)
        return y + z + rest
"""


@pytest.mark.parametrize(("code", "lines"), [("ML501", [[18, 18], [18]]), ("ML508", [[17, 21]])])
def test_what_goes_wrong_alike_in_one_class_is_one_finding(
    workspace: Workspace, code: str, lines: list[list[int]]
) -> None:
    workspace.write({"model.py": LAYERS})
    found = findings(workspace, "--select", code)
    same = "the same here"
    assert [
        [finding["line"], *(related["line"] for related in finding["related"] if related["message"] == same)]
        for finding in found
    ] == lines
