"""Commands of `workspace/executeCommand`: fix all, map, shapes, confirm and probe, and those that are cancelled."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path  # noqa: TC003  # the plugin looks its name up
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import LanguageClient, client_capabilities
from test_server import SERVER, begin, put

from modellint.server.commands import CONFIRM, FIX_ALL, MAP, PROBE, SHAPES

pytestmark = pytest.mark.asyncio

MODEL = """\
import random

from torch import nn


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 16)
        self.layers = [nn.Linear(16, 16) for _ in range(3)]

    def forward(self, x):
        h = self.up(x)
        for layer in self.layers:
            h = layer(h)
        return h
"""

#: A module of the project that would take the place of Python's own.
SHADOW = "raise RuntimeError('of the project')\n"


@pytest_lsp.fixture(config=SERVER)
async def client(lsp_client: LanguageClient, tmp_path: Path):
    (tmp_path / "random.py").write_text(SHADOW)
    capabilities = client_capabilities("visual-studio-code")
    await begin(lsp_client, tmp_path, capabilities)
    yield
    await lsp_client.shutdown_session()


async def run(client: LanguageClient, command: str, *arguments: Any) -> Any:
    return await client.workspace_execute_command_async(types.ExecuteCommandParams(command, list(arguments)))


@pytest.fixture
def model(client: LanguageClient, tmp_path: Path) -> str:
    return put(tmp_path / "model.py", MODEL, client)


async def test_the_map_is_that_of_the_class_around_a_line(client: LanguageClient, model: str) -> None:
    found = await run(client, MAP, {"uri": model, "line": 9})
    assert found["title"] == "Map of Tower"
    assert "<h1>Registration map of <code>Tower</code></h1>" in found["html"]
    with pytest.raises(JsonRpcException, match="expected a line in a class"):
        await run(client, MAP, {"uri": model, "line": 1})


async def test_shapes_are_those_of_the_file(client: LanguageClient, model: str) -> None:
    found = await run(client, SHAPES, {"uri": model})
    assert found["title"] == "Shapes in model.py"
    assert "[*, 16] float32" in found["text"]


async def test_all_safe_fixes_are_applied(client: LanguageClient, model: str) -> None:
    edited: list[types.ApplyWorkspaceEditParams] = []

    @client.feature(types.WORKSPACE_APPLY_EDIT)
    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        edited.append(params)
        return types.ApplyWorkspaceEditResult(applied=True)

    assert await run(client, FIX_ALL, {"uri": model}) is True
    changes = edited[0].edit.document_changes
    assert changes is not None
    assert [edit.new_text for edit in changes[0].edits] == ["nn.ModuleList([nn.Linear(16, 16) for _ in range(3)])"]


async def test_a_file_without_fixes_is_told(client: LanguageClient, tmp_path: Path) -> None:
    assert await run(client, FIX_ALL, {"uri": put(tmp_path / "fine.py", "x = 1\n", client)}) is False


async def test_findings_are_confirmed(client: LanguageClient, model: str) -> None:
    [verdict] = (await run(client, CONFIRM, {"uri": model}))["verdicts"]
    assert verdict["status"] == "confirmed"
    with pytest.raises(JsonRpcException, match="no such finding any more"):
        await run(client, CONFIRM, {"uri": model, "fingerprint": "0"})


async def test_a_class_is_probed(client: LanguageClient, model: str) -> None:
    found = await run(client, PROBE, {"uri": model, "line": 9})
    assert found["title"] == "Probe of Tower"
    assert re.search(r"^  shapes +passed", found["text"], re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "expected one argument, an object"),
        (("model.py",), "expected one argument, an object"),
        (({},), "expected that of a file on this machine"),
        (({"uri": 7},), "`uri` is 7; expected str"),
        (({"uri": "untitled:Untitled-1"},), "expected that of a file on this machine"),
    ],
)
async def test_wrong_arguments_are_refused(client: LanguageClient, arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(JsonRpcException, match=re.escape(said)):
        await run(client, MAP, *arguments)


async def test_a_command_that_fails_says_why(client: LanguageClient, tmp_path: Path) -> None:
    uri = put(tmp_path / "plain.yaml", "a: 1\n", client)
    with pytest.raises(JsonRpcException, match="no HyperPyYAML recipe"):
        await run(client, MAP, {"uri": uri})


SLOW = """\
import time

from torch import nn


class Slow(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(8, 16)
        time.sleep(600)

    def forward(self, x):
        return self.up(x)
"""


def probes_of(path: Path) -> list[str]:
    """The processes that probe a file."""
    listed = subprocess.run(["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if f"{path}::" in line]


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes as Linux lists them")
@pytest.mark.parametrize("by", ["request", "progress"])
async def test_a_command_that_is_cancelled_ends(client: LanguageClient, tmp_path: Path, by: str) -> None:
    path = tmp_path / "slow.py"
    uri = put(path, SLOW, client)
    params = types.ExecuteCommandParams(PROBE, [{"uri": uri, "line": 9}])
    future = client.protocol.send_request(types.WORKSPACE_EXECUTE_COMMAND, params, msg_id="probe")
    while not (client.progress_reports and probes_of(path)):
        assert not future.done()
        await asyncio.sleep(0.05)
    [token] = client.progress_reports
    if by == "request":
        client.cancel_request(types.CancelParams("probe"))
    else:
        client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    with pytest.raises(JsonRpcException, match=r"(?i)cancel"):
        await asyncio.wrap_future(future)
    while probes_of(path):
        await asyncio.sleep(0.05)
    uri = put(tmp_path / "model.py", MODEL, client)
    assert (await run(client, SHAPES, {"uri": uri}))["title"] == "Shapes in model.py"
