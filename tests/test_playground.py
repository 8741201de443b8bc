"""The playground in a real browser: built from the wheel, driven by Playwright in Chromium."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import work_tree
from browsers import MODULES, driven, needs, served_folder

import modellint

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
BROKEN = """\
from torch import nn


class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.é = [nn.Linear(2, 2)]

    def forward(self, x):
        for layer in self.é:
            x = layer(x)
        return x
"""

pytestmark = [needs("pyodide"), pytest.mark.dear]

Drive = "Callable[..., list[Any]]"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the playground."""
    scratch = tmp_path_factory.mktemp("playground")
    work_tree.copy(scratch / "tree")
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(scratch / "dist")]
    subprocess.run([*wheel, str(scratch / "tree")], check=True, capture_output=True)
    built = next((scratch / "dist").glob("*.whl"))
    program = ROOT / "packaging/playground/build.py"
    folder = scratch / "site"
    build = [sys.executable, str(program), str(folder), "--wheel", str(built), "--pyodide", str(MODULES / "pyodide")]
    subprocess.run(build, check=True, capture_output=True)
    with served_folder(folder) as address:
        yield f"{address}index.html"


@pytest.fixture(scope="module")
def drive(site: str) -> Drive:
    return partial(driven, site)


def fragment(files: dict[str, str]) -> str:
    spec = spec_from_file_location("pages_of_the_site", ROOT / "docs/site.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs"))
        spec.loader.exec_module(module)
    found: str = module.fragment(files)
    return found


def test_findings_are_those_of_a_check(drive: Drive, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(BROKEN, encoding="utf-8")
    expected = [finding.message.replace("`", "") for finding in modellint.check([tmp_path], cache=False)]
    *_, titles, marked, status = drive(
        ("open", ""),
        ("wait", "done"),
        ("fill", BROKEN),
        ("wait", "done"),
        ("texts", ".finding h3"),
        ("texts", "#marks mark"),
        ("text", "#status"),
    )
    assert titles == [f"error ML204 {message}" for message in expected]
    assert marked == ["self.é"]
    assert status.startswith("1 finding in ")


def test_a_fix_is_applied_and_a_finding_selected(drive: Drive) -> None:
    *_, selected, _, _, text, status = drive(
        ("open", ""),
        ("wait", "done"),
        ("fill", BROKEN),
        ("wait", "done"),
        ("click", ".finding button:has-text('Show')"),
        ("selection",),
        ("click", ".finding button:has-text('Fix')"),
        ("wait", "done"),
        ("value", "#code"),
        ("text", "#status"),
    )
    assert selected == "self.é"
    assert "self.é = nn.ModuleList([nn.Linear(2, 2)])" in text
    assert status.startswith("No findings")


def test_a_link_holds_the_files(drive: Drive) -> None:
    files = {"a/b.py": BROKEN, "c.py": "x = 1\n"}
    _, _, tabs, text, _, _, _, address = drive(
        ("open", f"#{fragment(files)}"),
        ("wait", "done"),
        ("texts", "#tabs button"),
        ("value", "#code"),
        ("fill", "y = 2\n"),
        ("click", "#share"),
        ("says", "The link is "),
        ("address",),
    )
    assert (tabs, text) == (list(files), BROKEN)
    _, _, text = drive(("open", "#" + address.partition("#")[2]), ("wait", "done"), ("value", "#code"))
    assert text == "y = 2\n"


def test_a_damaged_link_shows_an_example(drive: Drive) -> None:
    _, _, text = drive(("open", "#%%%"), ("wait", "done"), ("value", "#code"))
    assert "class Encoder" in text


def test_code_that_is_no_python_is_a_finding(drive: Drive) -> None:
    *_, titles = drive(("open", ""), ("wait", "done"), ("fill", "def\n"), ("wait", "done"), ("texts", ".finding h3"))
    assert [title.partition(" ML001")[0] for title in titles] == ["error"]


@needs("axe-core")
def test_it_is_accessible(drive: Drive) -> None:
    assert drive(("open", ""), ("wait", "done"), ("axe",))[-1] == []
