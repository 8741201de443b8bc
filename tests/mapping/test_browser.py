"""The web page in a real browser: Chromium without a head, where there is one."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import zlib
from typing import TYPE_CHECKING

import pytest
from effort import PATIENCE
from mapped import PROJECT, RECIPE

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Workspace

#: Where else browsers are called so.
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
BROWSER = os.environ.get("MODELLINT_BROWSER") or next(filter(None, map(shutil.which, _NAMES)), None)
SOUND = RECIPE.replace("    head: !ref <head>\nmodel", "    head: !ref <head>\n    left: !ref <left>\nmodel").replace(
    "<left>]", "<left>, !ref <head>]"
)

pytestmark = pytest.mark.skipif(
    BROWSER is None, reason="no Chromium on the path, and MODELLINT_BROWSER names no other one"
)


def browse(page: Path, *arguments: str) -> str:
    """What the browser prints; its complaints about the page are failures."""
    assert BROWSER is not None
    command = [
        BROWSER,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--enable-logging=stderr",
    ]
    command += [f"--user-data-dir={page.parent / 'profile'}", "--window-size=1100,900", *arguments, page.as_uri()]
    result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=page.parent)
    assert result.returncode == 0, result.stderr
    assert "CONSOLE" not in result.stderr, result.stderr
    return result.stdout


def page_of(workspace: Workspace, recipe: str) -> Path:
    workspace.write({**PROJECT, "hparams.yaml": recipe})
    assert workspace.run("map", "hparams.yaml", "--output-format", "html", "--output-file", "map.html").code == 0
    return workspace.root / "map.html"


def pixels(png: bytes) -> list[bytes]:
    """The rows of a PNG without interlacing, 8 bits a channel, as red, green, blue for each pixel."""
    width, height, depth, colour = struct.unpack(">IIBB", png[16:26])
    assert (depth, colour in (2, 6)) == (8, True)
    channels = 3 if colour == 2 else 4
    data, position = b"", 8
    while position < len(png):
        (length,) = struct.unpack(">I", png[position : position + 4])
        if png[position + 4 : position + 8] == b"IDAT":
            data += png[position + 8 : position + 8 + length]
        position += length + 12
    raw = zlib.decompress(data)
    rows: list[bytes] = []
    above = bytearray(width * channels)
    for number in range(height):
        start = number * (width * channels + 1)
        kind, row = raw[start], bytearray(raw[start + 1 : start + 1 + width * channels])
        for index in range(len(row)):
            left = row[index - channels] if index >= channels else 0
            corner = above[index - channels] if index >= channels else 0
            row[index] = (row[index] + _predicted(kind, left, above[index], corner)) & 255
        above = row
        rows.append(bytes(row if channels == 3 else bytes(b for i, b in enumerate(row) if i % 4 != 3)))
    return rows


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 4:
        distances = [(abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner)]
        return min(distances)[2]
    return (0, left, up, (left + up) // 2)[kind]


def count_of(rows: list[bytes], colour: bytes) -> int:
    return sum(row[index : index + 3] == colour for row in rows for index in range(0, len(row), 3))


def test_the_script_runs_under_the_policy_and_nothing_is_refused(workspace: Workspace) -> None:
    shown = browse(page_of(workspace, RECIPE), "--dump-dom")
    assert re.search(r'<div class="tools" id="tools">', shown)
    assert shown.count('<g class="layer loose">') == 2


@pytest.mark.dear
def test_what_hangs_loose_is_red_on_the_screen_and_nothing_else_is(workspace: Workspace) -> None:
    red = bytes.fromhex("c01c28")
    counts = []
    for recipe in (RECIPE, SOUND):
        page = page_of(workspace, recipe)
        browse(page, "--screenshot=shot.png")
        rows = pixels((workspace.root / "shot.png").read_bytes())
        assert (len(rows), len(rows[0])) == (900, 3300)
        counts.append(count_of(rows, red))
    loose, sound = counts
    assert loose > 500
    assert sound == 0


@pytest.mark.dear
def test_dark_pages_are_dark(workspace: Workspace) -> None:
    page = page_of(workspace, SOUND)
    browse(page, "--screenshot=shot.png", "--blink-settings=preferredColorScheme=0")
    rows = pixels((workspace.root / "shot.png").read_bytes())
    assert count_of(rows, bytes.fromhex("14171b")) > 300_000


def test_a_hundred_layers_are_drawn(workspace: Workspace) -> None:
    names = [f"layer_{number}" for number in range(100)]
    recipe = "n_mels: 80\nbatch_size: 8\n"
    recipe += "".join(f"{name}: !new:torch.nn.Linear\n    in_features: 4\n    out_features: 4\n" for name in names)
    recipe += "modules:\n" + "".join(f"    {name}: !ref <{name}>\n" for name in names)
    shown = browse(page_of(workspace, recipe), "--dump-dom")
    assert shown.count('<g class="layer">') == 100
