"""What editors say of settings: what is not understood is told, and the rest of them counts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modellint.config import KINDS, Settings
from modellint.server.configuration import Configuration
from modellint.server.session import Session

if TYPE_CHECKING:
    from pathlib import Path

MODEL = b"""\
from torch import nn


class Text(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.layers = [nn.Linear(size, size) for _ in range(2)]

    def forward(self, hidden):
        return self.layers[0](hidden)
"""
OWN = ("configuration", "enable", "interpreter", "inlay-hints", "path", "trace")
VALUES = (True, 0, -1, 2.5, "", "nowhere", "\0", [], [""], [1], [None], {}, {"a": 1}, {"": []}, {"ML204": "loud"}, [[]])


def said(folder: Path, table: Any) -> tuple[Settings | None, list[str]]:
    """The settings for a file of a folder, and what is told of those that the editor says."""
    (folder / "modellint.toml").touch()
    configuration, complaints = Configuration(), list[str]()
    configuration.tell(table)
    return configuration.settings_for(folder / "model.py", complaints.append), complaints


def codes(folder: Path, table: Any) -> set[str]:
    """What is found in a model under these settings."""
    wanted, _ = said(folder, table)
    assert wanted is not None
    session = Session(wanted)
    session.open(folder / "model.py", MODEL)
    session.check()
    return {finding.code for finding in session.findings()}


@pytest.mark.dear
@pytest.mark.parametrize("key", [*KINDS, *OWN, "unheard-of"])
def test_a_setting_of_any_kind_leaves_the_others_as_they_are(tmp_path: Path, key: str) -> None:
    for value in VALUES:
        wanted, complaints = said(tmp_path, {"min-confidence": "low", key: value})
        assert wanted is not None, value
        assert wanted.min_confidence.value == "low" or key == "min-confidence", value
        assert len(complaints) < 2, value
        assert all(f"`{key}`" in complaint for complaint in complaints), value
        session = Session(wanted)
        session.open(tmp_path / "model.py", MODEL)
        session.check()
        if key not in ("select", "ignore", "exclude", "per-file-ignores"):
            assert [finding.code for finding in session.findings()] == ["ML204"], value


@pytest.mark.parametrize("table", [True, 1, 0, "ignore", ["ignore"], [{"ignore": ["ML204"]}], "", False])
def test_settings_that_are_no_object_are_told_and_left_out(tmp_path: Path, table: Any) -> None:
    wanted, complaints = said(tmp_path, table)
    assert wanted == said(tmp_path, None)[0]
    assert complaints == [
        f"the editor's settings: expected an object with the keys of `[tool.modellint]`, not {table!r}"
    ]


@pytest.mark.parametrize("table", [None, {}, [], {"select": None, "enable": None, "interpreter": []}])
def test_settings_that_say_nothing_are_none(tmp_path: Path, table: Any) -> None:
    assert said(tmp_path, table) == (said(tmp_path, None)[0], [])


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def test_anything_may_be_said_of_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("project")
    keys = st.sampled_from([*KINDS, *OWN]) | st.text(max_size=5)

    @given(st.dictionaries(keys, ANYTHING, max_size=6) | ANYTHING)
    @settings(max_examples=60)
    def say(table: Any) -> None:
        wanted, _ = said(folder, table)
        assert wanted is None or Session(wanted)
        assert (wanted is None) == (isinstance(table, dict) and table.get("enable") is False)

    say()


def test_each_mistake_is_told_by_its_key_and_the_rest_counts(tmp_path: Path) -> None:
    table = {
        "unheard-of": 1,
        "ignroe": [],
        "select": ["ML2", "ML999"],
        "ignore": ["ML204"],
        "min-confidence": 3,
        "enable": "no",
        "trace": {"server": "off"},
        "path": ["/usr/bin/modellint"],
    }
    wanted, (complaint,) = said(tmp_path, table)
    assert wanted is not None
    assert (wanted.select, wanted.ignore) == (("ALL",), ("ML204",))
    assert complaint.splitlines() == [
        "the editor's settings: unknown key `unheard-of`",
        "the editor's settings: unknown key `ignroe`; did you mean `ignore`?",
        "the editor's settings: `enable` must be true or false, not 'no'",
        "the editor's settings: `select`: no rule has the code `ML999`; `modellint rules` lists the codes",
        "the editor's settings: `min-confidence` must be one of 'low', 'medium', 'high', not the number 3",
    ]


def test_a_rule_on_trial_is_selected_wherever_preview_stands(tmp_path: Path) -> None:
    (tmp_path / "trial.py").write_text(
        "from modellint.finding import Severity\nfrom modellint.rule import Rule\n\n\nclass Trial(Rule):\n"
        '    """On trial"""\n\n    code = "TST101"\n    name = "trial"\n    severity = Severity.INFO\n'
        "    preview = True\n"
    )
    table = {"select": ["TST101"], "ignroe": [], "jobs": "many", "preview": True, "rule-paths": ["trial.py"]}
    wanted, (complaint,) = said(tmp_path, table)
    assert wanted is not None
    assert wanted.select == ("TST101",)
    assert [line.split("`")[1] for line in complaint.splitlines()] == ["ignroe", "jobs"]


def test_nothing_is_checked_where_the_editor_says_so(tmp_path: Path) -> None:
    assert said(tmp_path, {"enable": False, "select": "ML1"}) == (None, [])
    assert codes(tmp_path, {"enable": True}) == {"ML204"}


def test_an_interpreter_is_that_of_the_project(tmp_path: Path) -> None:
    for said_so in (sys.executable, [sys.executable], [sys.executable, "/nowhere"]):
        wanted, complaints = said(tmp_path, {"interpreter": said_so})
        assert wanted is not None
        assert (wanted.python and wanted.python.as_posix(), complaints) == (sys.executable, [])
    (tmp_path / "python").touch()
    wanted, _ = said(tmp_path, {"interpreter": "python", "python": sys.executable})
    assert wanted is not None
    assert wanted.python is not None
    assert wanted.python.as_posix() == sys.executable
    wanted, complaints = said(tmp_path, {"interpreter": ["nowhere/python"], "ignore": ["ML204"]})
    assert wanted is not None
    assert (wanted.python, wanted.ignore) == (None, ("ML204",))
    assert complaints == ["the editor's settings: `interpreter`: nowhere/python: no such file"]


def test_a_configuration_file_that_is_none_is_told_and_the_nearest_one_counts(tmp_path: Path) -> None:
    (tmp_path / "modellint.toml").write_text('ignore = ["ML204"]\n')
    (tmp_path / "broken.toml").write_text("select = [\n")
    for file, told in (("none.toml", "no such configuration file"), ("broken.toml", "not valid TOML")):
        wanted, (complaint,) = said(tmp_path, {"configuration": file, "extend-select": ["ML1"]})
        assert wanted is not None
        assert (wanted.ignore, wanted.extend_select) == (("ML204",), ("ML1",))
        assert complaint.startswith("the editor's settings: `configuration`: ")
        assert told in complaint
