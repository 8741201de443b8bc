"""What the tests share: a project in a temporary folder, and the command line run in this process."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from incremental.circumstances import has_turn

from modellint.__main__ import main

# The classes that an activated environment holds are read before the shipped facts: the tests want the same everywhere.
os.environ.pop("VIRTUAL_ENV", None)
# Facts about installed packages are kept for all projects of a user: no test shares them with another run.
_CACHES = tempfile.mkdtemp(prefix="modellint-tests-")
os.environ["XDG_CACHE_HOME"] = os.environ["LOCALAPPDATA"] = _CACHES
atexit.register(shutil.rmtree, _CACHES, ignore_errors=True)
# Tests start hundreds of processes, each of which would compile all of modellint.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# How long an example takes depends on what else the machine does.
hypothesis_settings.register_profile("modellint", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis_settings.load_profile("modellint")

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

pytest_plugins = ["incremental.plugin"]


#: Of the tests that are marked as dear, one of so many is run where nobody asks for its file, and all of them in CI.
TURNS = 4


def waits(nodeid: str, args: Iterable[str]) -> bool:
    """True for a dear test that has no turn in a run of all tests; `MODELLINT_EXAMPLES=all` leaves out none."""
    is_named = any(nodeid.startswith(arg.partition("::")[0]) for arg in args if arg.endswith(".py") or "::" in arg)
    return os.environ.get("MODELLINT_EXAMPLES") != "all" and not is_named and not has_turn(nodeid, TURNS)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    args = list(map(str, config.args))
    waiting = [item for item in items if item.get_closest_marker("dear") and waits(item.nodeid, args)]
    if waiting:
        config.hook.pytest_deselected(items=waiting)
        items[:] = [item for item in items if item not in set(waiting)]
    # The long ones first, so that no worker begins one when all the others are done.
    items.sort(key=lambda item: [item.get_closest_marker(name) is None for name in ("long", "dear")])


def pytest_xdist_auto_num_workers() -> int | None:
    """One worker more than there are processors: many tests wait for processes that they have started."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    return 1 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


@dataclass(frozen=True)
class Outcome:
    """What a run of the command line gave."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Workspace:
    """A folder with files, which is the working directory."""

    root: Path
    capture: pytest.CaptureFixture[str]

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def run(self, *arguments: str) -> Outcome:
        """Run `modellint` with these arguments."""
        self.capture.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main(arguments)
        out, err = self.capture.readouterr()
        assert isinstance(exit_.value.code, int)
        return Outcome(exit_.value.code, out, err)

    @contextmanager
    def inside(self, folder: str) -> Iterator[None]:
        """With a folder below the root as the working directory."""
        os.chdir(self.root / folder)
        try:
            yield
        finally:
            os.chdir(self.root)

    def check(self, *arguments: str) -> Outcome:
        """Run `modellint check` with one line of output for each finding."""
        return self.run("check", "--output-format", "concise", *arguments)

    def places(self, *arguments: str) -> list[tuple[str, int, str]]:
        """Path, line and code of each finding."""
        findings = self.run("check", "--output-format", "json", *arguments).json["findings"]
        return [(finding["path"], finding["line"], finding["code"]) for finding in findings]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Workspace:
    """An empty project."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    return Workspace(root, capsys)


#: A rule that needs no knowledge of models: it flags each line that holds its word, in a file and in the files that
#: the file links to with a comment like `# link: other.yaml`.
WORD_RULE = '''
"""A pack of rules for tests."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from modellint.claims import Claim
from modellint.finding import Confidence, Related, Severity
from modellint.rule import Example, Rule
from modellint.source import Place, Span


@dataclass(frozen=True, slots=True)
class Word(Claim):
    """What a line says of the word in it."""

    says: str


class WordRule(Rule):
    """Flags a word."""

    code = "TST101"
    name = "word"
    severity = Severity.WARNING
    bad = (Example("A word", {"a.py": "WORD = 1  # expect: TST101"}),)

    def check_python(self, module, project):
        yield from self._check(module.source, project)

    def check_recipe(self, recipe, project):
        yield from self._check(recipe.source, project)

    def _check(self, source, project):
        yield from self._lines(source.path, source.text, source.path)
        for name in re.findall(r"# link: (\\S+)", source.text):
            path = Path(os.path.normpath(source.path.parent / name))
            data = project.files.read(path)
            if data is not None:
                yield from self._lines(path, data.decode(), source.path)

    def _lines(self, path, text, seen_from):
        if "CRASH" in text:
            raise RuntimeError("the rule is broken")
        for number, line in enumerate(text.splitlines(), 1):
            column = line.find("WORD")
            if column < 0:
                continue
            end = number + 1 if line.endswith("(") else number
            place = Place(path.as_posix(), Span(number, column + 1, end, column + 5))
            yield self.finding(
                place,
                "Found the word",
                symbol=line.split()[0],
                confidence=Confidence.LOW if "LOW" in line else Confidence.HIGH,
                severity=Severity(line.split("severity=")[1].split()[0]) if "severity=" in line else None,
                evidence=["it is written there"],
                related=[Related(Place(seen_from.as_posix(), Span(1, 1, 1, 2)), "seen from here")],
                help="Use another word",
                claim=Word(place, line.rpartition(" ")[2]),
            )
'''


@pytest.fixture
def words(workspace: Workspace) -> Workspace:
    """A project whose configuration adds a rule that flags the word `WORD`."""
    workspace.write({"rules/word.py": WORD_RULE, "modellint.toml": 'rule-paths = ["rules"]\nexclude = ["rules"]\n'})
    return workspace
