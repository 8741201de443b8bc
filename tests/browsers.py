"""Pages in a real browser: served from the disk, and driven by Playwright in Chromium.

MODELLINT_NODE_MODULES may name a `node_modules` folder with pyodide, playwright-core and axe-core.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = os.environ.get("MODELLINT_BROWSER") or next(filter(None, map(shutil.which, _NAMES)), None)
MODULES = Path(os.environ.get("MODELLINT_NODE_MODULES") or "nowhere")
NODE = shutil.which("node")


def needs(*packages: str) -> pytest.MarkDecorator:
    """A mark that skips tests without Node.js, Chromium, Playwright's driver or other packages of npm."""
    wanted = ("playwright-core", *packages)
    is_there = NODE is not None and BROWSER is not None and all((MODULES / name).is_dir() for name in wanted)
    reason = f"needs node, Chromium, and npm's {' and '.join(wanted)} in MODELLINT_NODE_MODULES"
    return pytest.mark.skipif(not is_there, reason=reason)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def served_folder(folder: Path) -> Iterator[str]:
    """The address of a folder, which ends in a slash, as long as it is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()


def driven(address: str, *steps: tuple[str, ...]) -> list[Any]:
    """The result of each step that `browser.mjs` takes on a page; fails for errors of the page."""
    assert NODE is not None
    assert BROWSER is not None
    command = [NODE, str(ROOT / "tests/browser.mjs"), str(MODULES), BROWSER, address, json.dumps(steps)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
