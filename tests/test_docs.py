"""What docs/ says exists, and what it shows works."""

from __future__ import annotations

import html
import inspect
import json
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from effort import IS_WHOLE, PATIENCE, in_full

from modellint import operators
from modellint.config import KINDS, settings_for
from modellint.config.confirming import KEYS
from modellint.flow.pack_theories import HOOKS
from modellint.flow.theory import Theory
from modellint.graph.python import Function, ModuleFacts
from modellint.graph.recipe import Entry, Node, Recipe
from modellint.graph.value import Event, Flow, Value
from modellint.home import SITE
from modellint.link.project import Project, ProjectOptions
from modellint.packs import load_rules
from modellint.rule import Rule

if TYPE_CHECKING:
    from conftest import Workspace

DOCS = Path(__file__).parent.parent / "docs"
FACTS: dict[str, object] = {
    **{cls.__name__: cls for cls in (ModuleFacts, Function, Flow, Event, Value, Recipe, Node, Entry)},
    "Project": Project(ProjectOptions(DOCS)),
}


def blocks(page: str, language: str) -> list[str]:
    text = (DOCS / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def example(marker: str) -> str:
    """The one Python example of the page that has a text in it."""
    (found,) = (text for text in blocks("writing-rules.md", "python") if marker in text)
    return found


def test_a_rule_of_ones_own_as_the_page_tells(workspace: Workspace) -> None:
    (commands,) = blocks("writing-rules.md", "console")
    for line in commands.splitlines():
        assert line.startswith("$ modellint ")
        assert workspace.run(*shlex.split(line)[2:]).code == 0
    rule = workspace.root / "house_rules/own001_no_full_dropout"
    settings, titles, *_ = blocks("writing-rules.md", "toml")
    assert (rule / "examples.toml").read_text("utf-8") == titles
    (tree,) = (block for block in blocks("writing-rules.md", "text") if block.startswith("house_rules/"))
    shown = {line.split()[0] for line in tree.splitlines()[1:]}
    written = {path.relative_to(rule).as_posix() for path in rule.rglob("*.*") if "__pycache__" not in path.parts}
    assert written | {"fixed/everything-is-dropped/model.py"} == shown
    workspace.write({"pyproject.toml": settings})
    assert workspace.run("explain", "OWN001").code == 0


def test_the_rule_about_recipes_holds(workspace: Workspace) -> None:
    workspace.write({"house_rules/lab002_fixed_seed.py": example("LAB002")})
    assert workspace.run("test-rules", "house_rules").lines[0] == "LAB002 fixed-seed: 1 bad, 2 good: ok"
    scope: dict[str, object] = {}
    exec(example("test_our_rules"), scope)
    our_rules = scope["test_our_rules"]
    assert callable(our_rules)
    our_rules()


def test_the_rule_with_a_claim_can_be_confirmed(workspace: Workspace) -> None:
    workspace.write({"house_rules/lab003_layers_in_list.py": example("LAB003")})
    assert workspace.run("test-rules", "house_rules").lines[0] == "LAB003 layers-in-list: 1 bad, 1 good: ok"
    model = "from torch import nn\n\n\nclass Encoder(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    workspace.write({"a.py": f"{model}        self.layers = [nn.Linear(1, 1)]\n"})
    workspace.write({"modellint.toml": 'rule-paths = ["house_rules"]\nselect = ["LAB"]\n'})
    assert workspace.places("a.py") == [("a.py", 7, "LAB003")]
    if not IS_WHOLE:  # torch takes seconds to be imported
        return
    pytest.importorskip("torch")
    result = workspace.run("check", "--confirm", "--output-format", "json", "a.py")
    assert [finding["verdict"]["status"] for finding in result.json["findings"]] == ["confirmed"]


def test_the_operators_of_the_page_are_understood() -> None:
    scope: dict[str, Any] = {}
    exec(example("LabOperators"), scope)
    operators.add((scope["LabOperators"].operators,))
    assert "lab_ops.pick_best" in operators.functions("drawn")
    operators.add(())
    assert "lab_ops.pick_best" not in operators.functions("drawn")


def test_the_rule_with_a_property_holds(workspace: Workspace) -> None:
    workspace.write({"house_rules/lab008_softmax.py": example("LAB008")})
    assert workspace.run("test-rules", "house_rules").lines[0] == "LAB008 softmax-in-loss: 1 bad, 1 good: ok"


def test_the_rule_with_a_theory_holds(workspace: Workspace) -> None:
    workspace.write({"house_rules/lab005_settings.py": example("LAB005")})
    assert workspace.run("test-rules", "house_rules").lines[0] == "LAB005 full-dropout-setting: 1 bad, 1 good: ok"


def test_the_hooks_that_the_page_names_are_there() -> None:
    text = (DOCS / "writing-rules.md").read_text("utf-8")
    table = text.partition("when it is asked, or told |")[2].partition("\n\n")[0]
    named = [re.findall(r"`(\w+)\(([\w, ]*|…)\)`", line.split("|")[1]) for line in table.splitlines()[2:]]
    assert {name for line in named for name, _ in line} == {*HOOKS, "__init__"}
    for name, parameters in (one for line in named for one in line):
        own = [one for one in inspect.signature(getattr(Theory, name)).parameters if one != "self"]
        assert parameters in ("…", ", ".join(own))


def test_the_facts_that_the_page_names_are_there() -> None:
    text = (DOCS / "writing-rules.md").read_text("utf-8")
    cells = re.findall(r"^\| (`[A-Z][^|]+) \|", text, re.MULTILINE)
    named = re.findall(r"`(\w+)\.(\w+)`", "\n".join(cells))
    assert {owner for owner, _ in named} == set(FACTS)
    for owner, name in named:
        fact = FACTS[owner]
        assert hasattr(fact, name) or name in getattr(fact, "__annotations__", {}), f"{owner}.{name}"


def test_each_attribute_of_a_rule_is_described() -> None:
    text = (DOCS / "writing-rules.md").read_text("utf-8")
    attributes = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert sorted(attributes) == sorted(name for name in Rule.__annotations__)


def test_a_page_of_a_rule_shows_two_examples_and_folds_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first bad and the first good one; nothing is lost."""
    monkeypatch.syspath_prepend(DOCS)
    spec = spec_from_file_location("pages_of_the_site", DOCS / "site.py")
    assert spec
    assert spec.loader
    site = module_from_spec(spec)
    spec.loader.exec_module(site)
    rule = load_rules()["ML002"]
    before, *sections = re.split(r"^## (?:Examples|Not reported)\n", site._rule_page(rule), flags=re.MULTILINE)
    assert "## What it prints" in before
    for section, examples in zip(sections, (rule.bad, rule.good), strict=True):
        shown, folded = section.split(f'\n??? example "{len(examples) - 1} more examples"\n')
        assert [line for line in shown.splitlines() if line.endswith(":")] == [f"{examples[0].title}:"]
        assert shown.count("```python") == 1
        titles = [line for line in folded.splitlines() if re.fullmatch(r" {4}[A-Z].*:", line)]
        assert titles == [f"    {example.title}:" for example in examples[1:]]
        assert all(line.startswith("    ") for line in folded.splitlines() if line)


@in_full
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    """Every link leads somewhere, and every rule has its page, with what modellint prints for it."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    result = subprocess.run(command, cwd=DOCS.parent, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    for rule in load_rules().values():
        page = html.unescape(re.sub(r"<[^>]+>", "", (tmp_path / f"rules/{rule.code.lower()}.html").read_text("utf-8")))
        assert f"{rule.code}[{rule.severity}]" in page
        assert all(example.title.replace("`", "") in page for example in (*rule.bad, *rule.good))
        assert f'<link rel="canonical" href="{SITE}/rules/{rule.code.lower()}.html">' in (
            tmp_path / f"rules/{rule.code.lower()}.html"
        ).read_text("utf-8")
    assert (tmp_path / "modellint.schema.json").is_file()
    assert not list(tmp_path.rglob("*.py*"))
    listed = json.loads((tmp_path / "search/search_index.json").read_text("utf-8"))["docs"]
    assert {"limits.html", "recall.html", "rules/ml103.html"} <= {entry["location"] for entry in listed}
    settings = (tmp_path / "configuration.html").read_text("utf-8")
    assert all(f"<code>{key}</code>" in settings for key in (*KINDS, *KEYS))
    folds = re.findall(r"<details\b.*?</details>", (tmp_path / "rules/ml103.html").read_text("utf-8"), re.DOTALL)
    assert [fold.count("<pre") > 0 for fold in folds] == [True, True]
    # On a narrow screen each cell has to say what it is about.
    assert '<td data-label="default"><code>["ALL"]</code></td>' in html.unescape(settings)
    verdicts = (tmp_path / "confirm.html").read_text("utf-8")
    (columns,) = set(re.findall(r'<table data-columns="8">.*?</table>', verdicts, re.DOTALL))
    assert columns.count("<td") == columns.count("<td data-label=") == 8 * (columns.count("<tr>") - 1)
    assert '<td data-label="what a Brain does">' in columns
    start = (tmp_path / "index.html").read_text("utf-8")
    assert all(f'<a href="rules/{rule.code.lower()}.html">{rule.code}</a>' in start for rule in load_rules().values())


def test_the_picture_is_of_what_comes_out() -> None:
    """`python docs/picture.py > docs/run.svg` draws it anew."""
    made = subprocess.run([sys.executable, str(DOCS / "picture.py")], capture_output=True, check=True)
    assert made.stdout.decode() == (DOCS / "run.svg").read_text("utf-8")
    document = ElementTree.fromstring(made.stdout)
    shown = [
        "".join(line.itertext()).replace("\N{NO-BREAK SPACE}", " ")
        for line in document.iter("{http://www.w3.org/2000/svg}text")
    ]
    assert shown[0] == "$ modellint check inference"
    assert any("ML201[error]" in line for line in shown)
    assert max(map(len, shown)) <= 50
    assert "](run.svg)" in (DOCS / "terminal.md").read_text("utf-8")


def test_the_settings_that_the_page_about_confirming_shows_are_accepted(tmp_path: Path) -> None:
    shown = []
    for settings in blocks("how-confirming-works.md", "toml"):
        (tmp_path / "pyproject.toml").write_text(settings, "utf-8")
        shown.append(settings_for([tmp_path]).confirm)
    assert [confirm and confirm.guard for confirm in shown] == ["required", "auto"]
    assert [target for confirm in shown if confirm for target, _ in confirm.targets] == ["models/decoder.py::Decoder"]


def test_the_settings_for_editors_can_be_read(words: Workspace) -> None:
    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    assert all(toml.loads(block) for block in blocks("editors.md", "toml"))
    read = [json.loads(block) for block in blocks("editors.md", "json")]
    (tasks,) = (block for block in read if "tasks" in block)
    assert len(read) >= 4
    pattern = tasks["tasks"][0]["problemMatcher"]["pattern"]
    words.write({"a.py": "a = WORD\n"})
    match = re.search(pattern["regexp"], words.check("a.py").lines[0])
    assert match
    named = {name: match[group] for name, group in pattern.items() if name != "regexp"}
    expected = {"file": "a.py", "line": "1", "column": "5", "code": "TST101", "severity": "warning"}
    assert named == {**expected, "message": "Found the word"}


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim (`nvim`) is not installed")
def test_the_settings_for_neovim_are_lua(tmp_path: Path) -> None:
    for block in blocks("editors.md", "lua"):
        (tmp_path / "settings.lua").write_text(block, "utf-8")
        check = (
            f"lua local f, e = loadfile('{tmp_path}/settings.lua') if not f then io.stderr:write(e) vim.cmd('cq') end"
        )
        command = ["nvim", "--headless", "--clean", "-i", "NONE", "-c", check, "-c", "qall!"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE)
        assert done.returncode == 0, done.stderr


LIMITS = re.findall(
    r"^```python\n# ((?:not )?found): ([^\n]+)\n(.*?)^```$", (DOCS / "limits.md").read_text("utf-8"), re.M | re.S
)


@pytest.mark.parametrize(("kind", "said", "code"), LIMITS, ids=[f"{kind} {said}" for kind, said, _ in LIMITS])
def test_what_cannot_be_seen_is_as_the_page_says(kind: str, said: str, code: str, workspace: Workspace) -> None:
    """A limit that has fallen is to be taken off the page."""
    workspace.write({"model.py": code})
    expected = [said] if kind == "found" else []
    assert [found for _, _, found in workspace.places()] == expected


def test_each_limit_has_what_is_found_beside_it() -> None:
    assert [kind for kind, _, _ in LIMITS] == ["found", "not found"] * (len(LIMITS) // 2)
    assert len(LIMITS) >= 12


ROOT = DOCS.parent


def test_contributing_is_short_and_names_what_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    assert len(text.encode()) <= 8192
    rows = re.findall(r"^\| (`.+`.*) \| (`[^|]+) \|$", text, re.MULTILINE)
    assert len(rows) >= 12
    for _, tests in rows:
        for name in " ".join(re.findall(r"`([^`]+)`", tests)).split():
            if re.fullmatch(r"[\w/]+(\.py)?", name) and name not in ("local", "PAGE"):
                assert (ROOT / "tests" / name).exists(), name
    pages = "".join((ROOT / name).read_text("utf-8") for name in ("CONTRIBUTING.md", "docs/testing.md"))
    for path in re.findall(r"`((?:tests|modellint|benchmarks|docs)/[\w/.]+)`", pages):
        assert (ROOT / path).exists(), path
