"""The playground in a real browser: built from the wheel, served from the disk, driven by Playwright in Chromium.

MODELLINT_NODE_MODULES may name a `node_modules` folder with pyodide, playwright-core and axe-core.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import work_tree

import modellint

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = os.environ.get("MODELLINT_BROWSER") or next(filter(None, map(shutil.which, _NAMES)), None)
MODULES = Path(os.environ.get("MODELLINT_NODE_MODULES") or "nowhere")
NODE = shutil.which("node")
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

pytestmark = [
    pytest.mark.skipif(
        NODE is None
        or BROWSER is None
        or not (MODULES / "playwright-core").is_dir()
        or not (MODULES / "pyodide").is_dir(),
        reason="needs node, Chromium, and npm's pyodide and playwright-core in MODELLINT_NODE_MODULES",
    ),
    pytest.mark.dear,
]

Drive = "Callable[..., list[Any]]"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


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
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/index.html"
    server.shutdown()


@pytest.fixture(scope="module")
def drive(site: str) -> Drive:
    def run(*steps: tuple[str, ...]) -> list[Any]:
        assert NODE is not None
        assert BROWSER is not None
        command = [NODE, str(ROOT / "tests/playground.mjs"), str(MODULES), BROWSER, site, json.dumps(steps)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


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


@pytest.mark.skipif(not (MODULES / "axe-core").is_dir(), reason="needs npm's axe-core")
def test_it_is_accessible(drive: Drive) -> None:
    assert drive(("open", ""), ("wait", "done"), ("axe",))[-1] == []
