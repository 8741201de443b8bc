"""Settings: where they are found, and how mistakes in them are refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from modellint.config import settings_for
from modellint.config.confirming import ConfirmSettings
from modellint.config.errors import UsageError
from modellint.finding import Confidence, Severity

if TYPE_CHECKING:
    from conftest import Workspace


def test_every_key_is_understood(workspace: Workspace) -> None:
    workspace.write(
        {
            "pyproject.toml": """
[project]
name = "x"

[tool.modellint]
select = ["ML1", "ML201"]
extend-select = ["ML3"]
ignore = ["ML104"]
exclude = ["generated"]
extend-exclude = ["third_party/**"]
min-confidence = "high"
fail-on = "error"
output-format = "concise"
python = ".venv/bin/python"
rule-paths = ["lint"]
cache-dir = "/var/cache/modellint"
jobs = 3

[tool.modellint.per-file-ignores]
"tests/*" = ["ML101"]

[tool.modellint.recipes]
"hparams/*.yaml" = "train.py"

[tool.modellint.confirm]
guard = "required"
memory = 8
mock-imports = ["flash_attn"]
overrides = { data = "x" }
python = "env"
roots = ["lib"]
timeout = 7.5

[tool.modellint.confirm.targets."model.py::Decoder"]
arguments = { rows = 10 }
"""
        }
    )
    settings = settings_for([Path()])
    assert settings.root == workspace.root
    assert settings.source == workspace.root / "pyproject.toml"
    assert settings.select == ("ML1", "ML201")
    assert settings.extend_select == ("ML3",)
    assert settings.ignore == ("ML104",)
    assert settings.exclude == ("generated",)
    assert settings.extend_exclude == ("third_party/**",)
    assert settings.min_confidence is Confidence.HIGH
    assert settings.fail_on is Severity.ERROR
    assert settings.output_format == "concise"
    assert settings.python == workspace.root / ".venv/bin/python"
    assert settings.rule_paths == (workspace.root / "lint",)
    assert settings.cache_folder == Path("/var/cache/modellint")
    assert settings.jobs == 3
    assert settings.per_file_ignores == (("tests/*", ("ML101",)),)
    assert settings.recipes == (("hparams/*.yaml", "train.py"),)
    assert settings.confirm == ConfirmSettings(
        guard="required",
        memory=8.0,
        mock_imports=("flash_attn",),
        overrides={"data": "x"},
        python="env",
        roots=("lib",),
        targets=(("model.py::Decoder", {"arguments": {"rows": 10}}),),
        timeout=7.5,
    )


def test_the_nearest_configuration_upward_counts(workspace: Workspace) -> None:
    workspace.write(
        {
            "modellint.toml": 'select = ["ML1"]',
            "inner/pyproject.toml": '[tool.modellint]\nselect = ["ML2"]',
            "inner/package/pyproject.toml": '[project]\nname = "x"',
            "inner/package/model.py": "",
            "other/model.py": "",
        }
    )
    assert settings_for([Path("inner/package/model.py")]).select == ("ML2",)
    assert settings_for([Path("inner/package"), Path("other/model.py")]).select == ("ML1",)
    assert settings_for([Path("inner")], isolated=True).select == ("ALL",)
    assert settings_for([Path("inner")], Path("modellint.toml")).select == ("ML1",)


def test_modellint_toml_comes_before_pyproject(workspace: Workspace) -> None:
    workspace.write({"modellint.toml": "jobs = 1", "pyproject.toml": "[tool.modellint]\njobs = 2"})
    assert settings_for([Path()]).jobs == 1


def test_the_command_line_overrules(workspace: Workspace) -> None:
    workspace.write({"modellint.toml": 'select = ["ML1"]\nignore = ["ML104"]\nexclude = ["a"]'})
    settings = settings_for([Path()])
    assert settings.with_options(ignore=("ML101",)).ignore == ("ML104", "ML101")
    assert settings.with_options(select=("ML104",)).ignore == ()
    assert settings.with_options(exclude=("b",)).extend_exclude == ("b",)
    assert settings.with_options(jobs=None, fail_on=None) == settings


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('\nselct = ["ML1"]', "modellint.toml:2: unknown key `selct`; did you mean `select`?"),
        ("zzz = 1", "modellint.toml:1: unknown key `zzz`; expected one of `extend`, `select`, "),
        ('select = "ML1"', "modellint.toml:1: `select` must be a list of strings, not the string 'ML1'"),
        ("select = [1]", "modellint.toml:1: `select` must be a list of strings, not the number 1"),
        ("# x\n\njobs = true", "modellint.toml:3: `jobs` must be a whole number from 1 up, not the boolean true"),
        ("jobs = 0", "`jobs` must be a whole number from 1 up, not the number 0"),
        (
            'min-confidence = "medum"',
            "`min-confidence` must be one of 'low', 'medium', 'high', not the string 'medum'; did you mean `medium`?",
        ),
        ("fail-on = 3", "`fail-on` must be one of 'info', 'warning', 'error', not the number 3"),
        ('output-format = "xml"', "modellint.toml:1: `output-format` must be one of 'full', "),
        ("recipes = 3", "modellint.toml:1: `recipes` must be a table, not the number 3"),
        ("jobs = 1\n[recipes]\nx = 1", "modellint.toml:2: `recipes` must be a table from a recipe"),
        ('[per-file-ignores]\n"a" = "ML1"', "modellint.toml:1: `per-file-ignores` must be a table from a pattern"),
        ("cache-dir = []", "`cache-dir` must be a string, not a list"),
        ("jobs = ", "modellint.toml: not valid TOML: "),
        ('select = ["ML999"]', "modellint.toml:1: `select`: no rule has the code `ML999`"),
        ('[per-file-ignores]\nx = ["ML0011"]', "no rule has the code `ML0011`; did you mean `ML001`?"),
        ('rule-paths = ["nowhere"]', "nowhere: no such folder"),
    ],
)
def test_what_is_not_understood_is_refused(workspace: Workspace, text: str, message: str) -> None:
    workspace.write({"modellint.toml": text, "a.py": ""})
    result = workspace.check("a.py")
    assert result.code == 2
    assert message in result.err
    assert result.out == ""


def test_lines_are_found_in_the_right_table(workspace: Workspace) -> None:
    workspace.write(
        {"pyproject.toml": "[tool.ruff]\nignor = []\n\n[tool.modellint]\njobs = 1\nignor = []\n", "a.py": ""}
    )
    with pytest.raises(UsageError, match=r"^pyproject.toml:6: unknown key `ignor`; did you mean `ignore`\?$"):
        settings_for([Path()])


def test_a_broken_pyproject_that_does_not_speak_of_us_is_none_of_our_business(workspace: Workspace) -> None:
    workspace.write({"pyproject.toml": "[tool.ruff\n", "a.py": ""})
    assert workspace.check("a.py").code == 0


def test_per_file_ignores_apply_to_files_below_the_root(words: Workspace) -> None:
    words.write(
        {
            "modellint.toml": 'rule-paths = ["rules"]\nexclude = ["rules"]\n'
            '[per-file-ignores]\n"tests/*" = ["TST"]\n"conf.py" = ["ALL"]\n',
            "tests/a/b.py": "b = WORD\n",
            "conf.py": "c = WORD\n",
            "src/conf.py": "c = WORD\n",
            "src/tests.py": "c = WORD\n",
        }
    )
    assert words.places(".") == [("src/tests.py", 1, "TST101")]


def test_a_rule_of_our_own_that_does_not_load_is_named(words: Workspace) -> None:
    words.write({"rules/broken.py": "raise ValueError('oh')\n"})
    result = words.check(".")
    assert result.code == 2
    assert "rules/broken.py: cannot be loaded: ValueError: oh" in result.err


def test_two_rules_cannot_share_a_code(words: Workspace) -> None:
    words.write({"rules/copy.py": (words.root / "rules/word.py").read_text()})
    result = words.check(".")
    assert result.code == 2
    assert "the code `TST101` is already taken by `word`" in result.err


def test_a_table_on_top_counts_as_options_do(workspace: Workspace) -> None:
    workspace.write({"modellint.toml": 'ignore = ["ML101"]\nextend-exclude = ["a"]\njobs = 2\n'})
    table = {"ignore": ["ML204"], "exclude": ["b"], "extend-exclude": ["c"], "jobs": 3}
    settings = settings_for([Path()]).with_table(table, "elsewhere")
    assert (settings.ignore, settings.jobs) == (("ML101", "ML204"), 3)
    assert settings.extend_exclude == ("a", "c", "b")
    assert settings.with_table({"select": ["ML101"]}, "elsewhere").ignore == ()
    with pytest.raises(UsageError, match=r"^elsewhere: `jobs` must be a whole number"):
        settings.with_table({"jobs": "many"}, "elsewhere")
