"""A check runs again where something that it rests on has changed, and only there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import work_tree
from incremental import circumstances
from incremental.closures import COMMAND, Repository
from incremental.store import Store
from rewriting import trials
from rewriting.catalogue import REWRITINGS
from rewriting.kept import Judged, Texts

from modellint.packs import load_rules

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

ROOT = Path(__file__).parent.parent

#: A repository of the same shape as this one.
_TESTS = "import helper\n\n\ndef test_it():\n    assert helper.flow.follow() == 1\n\n\ndef test_two():\n    pass\n"
FILES = {
    "pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['tests', '.']\n",
    "constraints.txt": "",
    "docs/page.md": "A page.\n",
    "modellint/__init__.py": "def check():\n    from modellint import linter\n    return linter.run()\n",
    "modellint/__main__.py": "from modellint import linter, server\n",
    "modellint/linter.py": "from modellint import packs\n\n\ndef run():\n    from modellint import flow\n",
    "modellint/packs.py": "def load():\n    import importlib\n    return importlib.import_module('x')\n",
    "modellint/flow/__init__.py": "from modellint.knowledge import facts\n\nfollow = facts.number\n",
    "modellint/knowledge/__init__.py": "",
    "modellint/knowledge/facts.py": "from pathlib import Path\n\n\ndef number():\n    return 1\n",
    "modellint/knowledge/torch.json": "{}",
    "modellint/server.py": "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import modellint.typed\n",
    "modellint/typed.py": "",
    "modellint/shows/__init__.py": "import importlib\n\nshow = lambda name: importlib.import_module(name)\n",
    "modellint/shows/full.py": "",
    "rules/__init__.py": "",
    "rules/ml101_rows/__init__.py": "",
    "rules/ml101_rows/bad/one/model.py": "import modellint.server\n",
    "tests/conftest.py": """
import pytest

pytest_plugins = ["incremental.plugin"]


@pytest.fixture
def command():
    from modellint import __main__
    return __main__


@pytest.fixture(autouse=True)
def always():
    from modellint import typed
""",
    "tests/helper.py": "from modellint import flow\n",
    "tests/test_flow.py": _TESTS,
    "tests/test_server.py": "def test_serves(command):\n    pass\n",
    "tests/test_run.py": "import subprocess\n\n\ndef test_runs():\n    ['python', '-m', 'modellint']\n",
    "tests/place.py": "from pathlib import Path\n\nROOT = Path(__file__).parent.parent\n",
    "tests/test_pages.py": "from place import ROOT\n\nPAGES = ROOT / 'docs'\n\ndef test_it():\n    PAGES.iterdir()\n",
    "tests/test_all.py": "from place import ROOT\n\nDATA = ROOT / 'docs'\n\ndef test_it():\n    str(ROOT)\n",
    "tests/test_examples_of_rules.py": "import modellint\n\nEXAMPLES = [rule.bad for rule in modellint.RULES]\n",
    "tests/test_stray.py": """
import os
from pathlib import Path


def test_it():
    Path(os.getcwd(), "docs/page.md").read_text()
""",
    "tests/test_shows.py": "from modellint import shows\n",
    "tests/test_interface.py": "import modellint\n",
}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A repository with these files, and this one's `tests/incremental`."""
    root = tmp_path / "repository"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "tests/incremental", root / "tests/incremental", ignore=ignored)
    (root / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


RESTS = (
    ("tests/test_flow.py", "modellint/knowledge/torch.json", True),  # the data beside a module that it reaches
    ("tests/test_flow.py", "tests/helper.py", True),
    ("tests/test_flow.py", "modellint/typed.py", True),  # a fixture of all tests
    ("tests/test_flow.py", "constraints.txt", True),
    ("tests/test_flow.py", "modellint/server.py", False),
    ("tests/test_flow.py", "modellint/linter.py", False),  # the package needs it in a function, which nobody calls here
    ("tests/test_flow.py", "rules/ml101_rows/__init__.py", False),
    ("tests/test_flow.py", "docs/page.md", False),
    ("tests/test_server.py", "modellint/server.py", True),  # by the fixture that it names
    ("tests/test_server.py", "rules/ml101_rows/__init__.py", True),  # by the loader of rules
    ("tests/test_server.py", "rules/ml101_rows/bad/one/model.py", False),
    ("tests/test_examples_of_rules.py", "rules/ml101_rows/bad/one/model.py", True),  # it speaks of examples
    ("tests/test_server.py", "modellint/shows/full.py", False),
    ("tests/test_run.py", "modellint/server.py", True),  # by the command that it names
    ("tests/test_pages.py", "docs/page.md", True),  # it says which folder it reads
    ("tests/test_pages.py", "modellint/server.py", False),
    ("tests/test_all.py", "modellint/server.py", True),  # it hands on the root
    ("tests/test_shows.py", "modellint/shows/full.py", True),  # imported by a computed name
    ("tests/test_interface.py", "modellint/flow/__init__.py", True),
)


@pytest.mark.parametrize(("test", "file", "does"), RESTS, ids=lambda value: str(value))
def test_a_test_rests_on_what_it_reaches(copy: Path, test: str, file: str, does: bool) -> None:
    assert (file in Repository(copy).of_test(test)) is does


def test_what_nothing_but_type_checkers_import_does_not_count(copy: Path) -> None:
    assert "modellint/typed.py" not in Repository(copy).closure(COMMAND)


def test_there_is_no_repository_without_git(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="expected a work tree of git"):
        Repository(tmp_path)


@pytest.fixture(scope="module")
def repository() -> Repository:
    """This repository."""
    if not work_tree.is_of_git():
        pytest.skip("an unpacked source distribution: only git says which files a check may rest on")
    return Repository(ROOT)


@pytest.fixture(scope="module")
def names() -> set[str]:
    """The modules of modellint that a process has after a check of the examples."""
    code = (
        "import sys\nfrom modellint.__main__ import main\n"
        "try:\n    main('check examples --no-cache --output-format sarif'.split())\nexcept SystemExit:\n    pass\n"
        "print('\\n' + ' '.join(name for name in sys.modules if name.startswith('modellint')))"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(result.stdout.splitlines()[-1].split())


@pytest.mark.dear
def test_what_a_check_loads_is_what_it_was_said_to_rest_on(repository: Repository, names: set[str]) -> None:
    closure = repository.closure(COMMAND)
    assert len(names) > 150
    assert {repository.modules[name] for name in names if name in repository.modules} <= closure


def test_the_engine_rests_on_no_part_that_only_a_command_needs(repository: Repository) -> None:
    engine = repository.closure(*circumstances.ENGINE, without="rules")
    parts = {name.split("/")[1] for name in engine if name.startswith("modellint/")}
    assert {"flow", "link", "graph", "operators", "frontends", "pipeline"} <= parts
    assert not parts & {"confirm", "server", "mapping", "commands", "cli.py"}


@pytest.mark.dear
def test_what_judges_files_for_rules_has_all_that_a_check_loads(repository: Repository, names: set[str]) -> None:
    found = repository.closure(*circumstances.ENGINE, without="rules")
    for code in load_rules():
        found |= circumstances.reached(repository, code)
    files = {repository.modules[name] for name in names if name in repository.modules}
    above = ("modellint/__main__.py", "modellint/cli.py", "modellint/commands/", "modellint/results/outputs.py")
    assert {file for file in files if not file.startswith(above)} <= found


def test_a_rule_rests_on_no_other_rule(repository: Repository) -> None:
    others = [name for name in circumstances.reached(repository, "ML103") if name.startswith("rules/ml")]
    assert others
    assert {name.split("/")[1].partition("_")[0] for name in others} == {"ml103"}


# ---- tests that passed


def run(root: Path, store: Path, *arguments: str, expected: int = 0) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "xdist", "-q", *arguments]
    environment = {"PATH": "/usr/bin:/bin", "MODELLINT_STORE": str(store), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    result = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == expected, result.stdout + result.stderr
    return result.stdout


TESTS = ("tests/test_flow.py", "tests/test_server.py", "tests/test_run.py")
AGAIN = "passed before with all that they rest on as it is now, and did not run again (MODELLINT_STORE)"


@pytest.mark.dear
@pytest.mark.parametrize("workers", [("-n", "0"), ("-n", "2")], ids="-".join)
def test_what_passed_does_not_run_again_until_something_changes(
    copy: Path, tmp_path: Path, workers: tuple[str, ...]
) -> None:
    store = tmp_path / "store"
    assert "did not run again" not in run(copy, store, *workers, *TESTS)
    out = run(copy, store, *workers, *TESTS)
    assert f"4 tests of 3 files {AGAIN}" in out
    assert " passed" not in out.replace(AGAIN, "")
    (copy / "modellint/server.py").write_text("SERVER = 1\n")
    out = run(copy, store, *workers, *TESTS)
    assert f"2 tests of 1 files {AGAIN}" in out
    assert "2 passed" in out


@pytest.mark.dear
@pytest.mark.parametrize("workers", [("-n", "0"), ("-n", "2")], ids="-".join)
def test_what_opens_more_than_its_closure_runs_each_time(copy: Path, tmp_path: Path, workers: tuple[str, ...]) -> None:
    for _ in range(2):
        out = run(copy, tmp_path / "store", *workers, "tests/test_stray.py")
        assert "1 passed" in out
        assert "tests/test_stray.py::test_it opens docs/page.md, which its file does not lead to" in out


def test_what_failed_runs_again(copy: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    broken = copy / "modellint/knowledge/facts.py"
    before = broken.read_text()
    broken.write_text(before.replace("1", "22"))  # another size: bytecode is as new to the second only
    for _ in range(2):
        assert "1 failed" in run(copy, store, "-n", "0", "tests/test_flow.py", expected=1)
    broken.write_text(before)
    assert "2 passed" in run(copy, store, "-n", "0", "tests/test_flow.py")


def test_a_store_that_is_damaged_has_no_notes(copy: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    run(copy, store, "-n", "0", "tests/test_flow.py")
    for path in store.rglob("*"):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:-1])
    assert "2 passed" in run(copy, store, "-n", "0", "tests/test_flow.py")


# ---- the store


DAMAGES = {
    "cut": lambda data: data[:-3],
    "empty": lambda data: b"",
    "one bit": lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
    "longer": lambda data: data + b"x",
    "without its seal": lambda data: bytes(32) + data[32:],
    "another version": lambda data: __import__("hashlib").blake2b(data[32:], digest_size=32).digest() + data[32:],
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_counts_as_none(tmp_path: Path, damage: str) -> None:
    store = Store(tmp_path)
    store.note("shelf", ["a key"])
    (path,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert store.passed("shelf") == {"a key"}
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert store.passed("shelf") == frozenset()
    store.note("shelf", ["another"])
    assert store.passed("shelf") == {"another"}


def test_notes_of_one_shelf_are_none_of_another(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.note("one", ["a key"])
    (path,) = (path for path in tmp_path.rglob("*") if path.is_file())
    store.note("two", ["another"])
    for other in tmp_path.rglob("*"):
        if other.is_file() and other != path:
            other.write_bytes(path.read_bytes())
    assert store.passed("two") == frozenset()


@pytest.mark.parametrize("document", [{"a": 1}, "text", [1, 2], None])
def test_notes_that_are_no_keys_count_as_none(tmp_path: Path, document: Any) -> None:
    store = Store(tmp_path)
    store.keep("passed: shelf", document)
    assert store.passed("shelf") == frozenset()


def test_no_store_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELLINT_STORE", "")
    assert Store.chosen() is None


# ---- turns


def test_every_part_has_its_turn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: dict[str, int] = {}
    for turn in range(6):
        monkeypatch.setattr(circumstances, "turn", lambda turn=turn: turn)
        for number in range(100):
            if circumstances.has_turn(f"file {number}", 6):
                assert turns.setdefault(f"file {number}", turn) == turn
    assert len(turns) == 100
    assert len(set(turns.values())) == 6


def test_the_turn_is_the_commits() -> None:
    command = "from incremental.circumstances import turn; print(turn())"

    def told(**variables: str) -> str:
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "tests"), **variables}
        run = subprocess.run(
            [sys.executable, "-c", command], capture_output=True, text=True, env=environment, check=True
        )
        return run.stdout.strip()

    assert told(MODELLINT_TURN="5") == "5"
    assert told() == told()


# ---- rewritings


CASE = next(trials.cases())
REWRITING = REWRITINGS[0]


def test_texts_are_made_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    texts = Texts(REWRITING, store)
    made = trials.rewrite(CASE, REWRITING)
    assert texts.of(CASE) is None
    texts.made(CASE, made)
    texts.save()
    assert Texts(REWRITING, store).of(CASE) == (made,)
    assert Texts(REWRITINGS[1], store).of(CASE) is None


def test_a_rule_that_passed_is_judged_again_once_it_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents: Mapping[str, str] = {"ML101": "one", "ML102": "two"}
    monkeypatch.setattr(circumstances, "rule", lambda code: contents[code])
    monkeypatch.setattr(circumstances, "judge", lambda code: f"engine and {contents[code]}")
    monkeypatch.setattr(circumstances, "changed_rules", lambda: frozenset({"ML102"}))
    store = Store(tmp_path)
    first = Judged(REWRITING, "turn", {}, store)
    assert [(first.passed(code), first.is_new(code)) for code in contents] == [(False, False), (False, True)]
    first.save(contents)
    second = Judged(REWRITING, "turn", {}, store)
    assert [(second.passed(code), second.is_new(code)) for code in contents] == [(True, False)] * 2
    assert not Judged(REWRITING, "all", {}, store).passed("ML101")
    assert not Judged(REWRITING, "turn", {"ML101 bad 0": "silent"}, store).passed("ML101")
    contents = {"ML101": "one", "ML102": "changed"}
    third = Judged(REWRITING, "turn", {}, store)
    assert [(third.passed(code), third.is_new(code)) for code in contents] == [(True, False), (False, True)]
    monkeypatch.setattr(circumstances, "judge", lambda code: "another engine")
    fourth = Judged(REWRITING, "turn", {}, store)
    assert [(fourth.passed(code), fourth.is_new(code)) for code in contents] == [(False, False), (False, True)]


def test_the_difference_to_the_ledger_is_told() -> None:
    from ledger import differences

    row = {"code": "ML101", "path": "a.py", "line": 3, "confidence": "high", "text": "self.x = 1"}
    new = {**row, "line": 4, "message": "wrong"}
    del new["text"]
    elsewhere, other = {**new, "path": "b.py"}, {**new, "code": "ML102"}
    found = differences({"findings": [row]}, {"findings": [new, elsewhere, other]}, ["a.py"], ["ML101"])
    assert found == ["new  a.py:4: ML101 (high) wrong", "gone a.py:3: ML101 (high) self.x = 1"]
    assert json.dumps(found)


def test_three_commits_run_all_cases_of_confirming(monkeypatch: pytest.MonkeyPatch) -> None:
    conftest = _loaded(ROOT / "tests/confirm/conftest.py")
    cases = [f"tests/confirm/test_inputs.py::test_input[{number}]" for number in range(60)]
    monkeypatch.delenv("MODELLINT_CONFIRM", raising=False)
    run = []
    for turn in range(3):
        monkeypatch.setattr(circumstances, "turn", lambda turn=turn: turn)
        run.append({case for case in cases if not conftest.waits(case, ["tests"])})
    assert set().union(*run) == set(cases)
    assert sum(map(len, run)) == len(cases)
    assert max(map(len, run)) < 30
    assert not any(conftest.waits(case, ["tests/confirm"]) for case in cases)
    monkeypatch.setenv("MODELLINT_CONFIRM", "all")
    assert not any(conftest.waits(case, ["tests"]) for case in cases)


def _loaded(path: Path) -> ModuleType:
    spec = spec_from_file_location("a_conftest", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
