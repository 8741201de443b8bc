"""The extension in Visual Studio Code itself: a server of VS Code, its page in Chromium, and what one sees there.

MODELLINT_VSCODE_MODULES may name the `node_modules` folder that `.ci/vscode` makes.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import work_tree

from modellint.config import KINDS
from modellint.server.commands import CONFIRM, FIX_ALL, MAP, PROBE, SHAPES

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

ROOT = Path(__file__).parent.parent
EXTENSION = ROOT / "editors" / "vscode"
MANIFEST: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text("utf-8"))
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = os.environ.get("MODELLINT_BROWSER") or next(filter(None, map(shutil.which, _NAMES)), None)
MODULES = Path(os.environ.get("MODELLINT_VSCODE_MODULES") or "nowhere")
NODE = shutil.which("node")
MODEL = """\
import torch
from torch import nn


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 16)
        self.layers = [nn.Linear(16, 16) for _ in range(3)]

    def forward(self, x: torch.Tensor):
        h = self.up(x)
        for layer in self.layers:
            h = layer(h)
        return h
"""


def load(path: Path) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# -- what its parts say ------------------------------------------------------------------------------------------------


def test_the_manifest_has_each_setting() -> None:
    refresh = load(ROOT / "docs" / "refresh.py")
    text = (EXTENSION / "package.json").read_text("utf-8")
    assert refresh.with_settings(text) == text
    settings = {name.removeprefix("modellint.") for name in MANIFEST["contributes"]["configuration"]["properties"]}
    assert settings >= set(KINDS) - {"confirm", "extend"}


def test_a_default_changes_no_setting_of_the_project() -> None:
    properties = MANIFEST["contributes"]["configuration"]["properties"]
    assert all(properties[f"modellint.{name}"]["default"] is None for name in set(KINDS) - {"confirm", "extend"})


def test_commands_are_declared_registered_and_answered() -> None:
    source = "".join(path.read_text("utf-8") for path in (EXTENSION / "src").glob("*.ts"))
    declared = {one["command"] for one in MANIFEST["contributes"]["commands"]}
    registered = set(re.findall(r'(?:registerCommand|add)\("(modellint\.\w+)"', source))
    assert declared == registered
    asked = set(re.findall(r'ask<[^(]+>\(running, "[^"]+", "(modellint\.\w+)"', source))
    assert asked == {FIX_ALL, CONFIRM, MAP, SHAPES, PROBE}
    assert not declared & asked  # the client registers those of the server under their own names


def test_names_in_the_code_are_those_of_the_manifest() -> None:
    source = "".join(path.read_text("utf-8") for path in (EXTENSION / "src").glob("*.ts"))
    asked = set(re.findall(r'"modellint\.(interpreter|importStrategy|enable)"', source))
    settings = MANIFEST["contributes"]["configuration"]["properties"]
    assert asked == {"interpreter", "importStrategy", "enable"}
    assert all(f"modellint.{name}" in settings for name in asked)
    assert f'getExtension("{MANIFEST["publisher"]}.{MANIFEST["name"]}")' in source


# -- in the editor -----------------------------------------------------------------------------------------------------

needs_vscode = pytest.mark.skipif(
    NODE is None or BROWSER is None or not (MODULES / "code-server").is_dir(),
    reason="needs node, Chromium, and MODELLINT_VSCODE_MODULES as `.ci/vscode` makes it",
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension as it is published, with the wheel of this tree."""
    scratch = tmp_path_factory.mktemp("extension")
    work_tree.copy(scratch / "tree")
    pip = [sys.executable, "-m", "pip"]
    wheel = [*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(scratch / "dist"), str(scratch / "tree")]
    subprocess.run(wheel, check=True, capture_output=True)
    folder = scratch / "tree/editors/vscode"
    bundle = load(folder / "bundle.py")
    bundle.bundle(next((scratch / "dist").glob("*.whl")), "-c", str(ROOT / "constraints.txt"))
    shutil.copy(ROOT / "LICENSE", folder / "LICENSE")
    (folder / "node_modules").symlink_to(MODULES)
    for command in (
        ["typescript/bin/tsc", "--noEmit", "-p", "."],
        ["esbuild/bin/esbuild", *MANIFEST["scripts"]["build"].split()[1:]],
        ["@vscode/vsce/vsce", "package", "--no-dependencies", "--out", str(scratch / "modellint.vsix")],
    ):
        program = MODULES / command[0]
        is_binary = program.read_bytes()[:4] == b"\x7fELF"
        call = [str(program)] if is_binary else [str(NODE), str(program)]
        done = subprocess.run([*call, *command[1:]], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return scratch / "modellint.vsix"


@contextlib.contextmanager
def opened(package: Path, tmp_path: Path, settings: dict[str, Any], **variables: str) -> Iterator[str]:
    """The address of a VS Code server with the extension and with settings, and the folder `project` open."""
    settings = {
        "security.workspace.trust.enabled": False,
        "telemetry.telemetryLevel": "off",
        "workbench.startupEditor": "none",
        **settings,
    }
    (tmp_path / "data/User").mkdir(parents=True)
    (tmp_path / "data/User/settings.json").write_text(json.dumps(settings))
    (tmp_path / "project").mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        *(str(NODE), str(MODULES / "code-server/lib/vscode/out/server-main.js"), "--host", "127.0.0.1"),
        *("--port", str(port), "--without-connection-token", "--accept-server-license-terms"),
        *("--extensions-dir", str(tmp_path / "extensions"), "--user-data-dir", str(tmp_path / "data")),
        # The environment is the test's, not the one of a login shell, whose profile may put a Python on the path again.
        *("--server-data-dir", str(tmp_path / "server"), "--force-disable-user-env"),
    ]
    environment = {**os.environ, "HOME": str(tmp_path), **variables}
    installed = subprocess.run(
        [*command, "--install-extension", str(package)], env=environment, capture_output=True, text=True, check=False
    )
    assert "successfully installed" in installed.stdout, installed.stdout + installed.stderr
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(command, env=environment, stdout=log, stderr=log) as server,
    ):
        try:
            _wait_for(f"http://127.0.0.1:{port}/")
            yield f"http://127.0.0.1:{port}/?folder={(tmp_path / 'project').as_posix()}"
        finally:
            server.terminate()


def _wait_for(url: str) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=5):
            return
        time.sleep(0.2)
    raise TimeoutError(url)


def drive(editor: str, tmp_path: Path, tour: str) -> dict[str, Any]:
    """What a tour of `vscode.mjs` tells, by its steps."""
    program = [str(NODE), str(ROOT / "tests/vscode.mjs"), str(MODULES), str(BROWSER), editor, "model.py", str(tmp_path)]
    done = subprocess.run([*program, tour], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    seen: dict[str, Any] = {}
    for line in done.stdout.splitlines():
        seen |= json.loads(line.replace("\u00a0", " "))
    return seen


@needs_vscode
@pytest.mark.long
def test_findings_hints_maps_and_fixes_are_seen(package: Path, tmp_path: Path) -> None:
    with opened(package, tmp_path, {"modellint.interpreter": sys.executable}) as editor:
        (tmp_path / "project/model.py").write_text(MODEL)
        seen = drive(editor, tmp_path, "findings")
    assert seen["squiggle"] == 1
    assert seen["status"] == "modellint: 1 finding in this file"
    assert "[*, 16] float32" in seen["hint"]
    assert "ML204" in seen["hover"]
    assert seen["map"].startswith("Registration map of Tower")
    assert seen["fixed"].strip().startswith("self.layers = nn.ModuleList(")
    assert seen["left"] == 0


@needs_vscode
@pytest.mark.long
def test_a_machine_without_python_is_told_with_what_to_do(package: Path, tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("node", "sh", "ps", "uname"):
        if program := shutil.which(name):
            (programs / name).symlink_to(program)
    with opened(package, tmp_path, {}, PATH=programs.as_posix()) as editor:
        (tmp_path / "project/model.py").write_text(MODEL)
        seen = drive(editor, tmp_path, "no server")
    assert "no Python from 3.10 on was found. Install Python, or name an interpreter" in seen["message"]
    assert "Open Settings" in seen["message"]
