"""Commands that editors send with `workspace/executeCommand`: fix all, confirm, map, shapes and probe.

All but the first run modellint in a process of its own, on the files as they are saved, and end it when the editor
cancels the request or its progress, which an editor that knows progress is told of.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from modellint.server.actions import fix_all
from modellint.server.editor import Server  # noqa: TC001  # pygls looks its name up in annotations
from modellint.server.protocol import SOURCE
from modellint.source import NOTEBOOK, PYTHON, YAML, kind_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

FIX_ALL, CONFIRM, MAP, SHAPES, PROBE = (f"{SOURCE}.{name}" for name in ("fixAll", "confirm", "map", "shapes", "probe"))
#: The process imports modellint from where this one has it, and nothing from the folder that it runs in.
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1)); "
    "from modellint.__main__ import main; sys.argv[0] = 'modellint'; main(sys.argv[1:])"
)
_TOKENS = itertools.count(1)
#: Exit codes of commands that have an answer: nothing found, or something.
_ANSWERS = (0, 1)
#: The error code of the specification for a request that was right, and failed.
_REQUEST_FAILED = -32803
#: The seconds that a process has to end by itself.
_PATIENCE = 3


def add_commands(server: Server) -> None:
    """Let a server answer the commands."""

    @server.command(FIX_ALL)
    async def fix(ls: Server, *arguments: Any) -> bool:
        key = _key(ls, arguments)
        await ls.up_to_date(lambda: None)
        shown = ls.shown
        edits = fix_all(shown.findings.get(key, []), shown.source)
        if not edits:
            return False
        edit = ls.converter(shown).workspace_edit(edits, shown.version)
        answer = await ls.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, "Fix all"))
        return answer.applied

    @server.command(CONFIRM)
    async def confirm(ls: Server, *arguments: Any) -> dict[str, Any]:
        key = _key(ls, arguments)
        wanted = _field(arguments, "fingerprint", str)
        await ls.up_to_date(lambda: None)
        found = [one for one in ls.shown.findings.get(key, []) if not wanted or one.fingerprint == wanted]
        if not found:
            raise JsonRpcInvalidParams("there is no such finding any more")
        codes = ",".join(sorted({finding.code for finding in found}))
        command = ["check", key, "--select", codes, "--confirm", "--show-refuted", "--output-format", "json", "--quiet"]
        report = json.loads(await _run(ls, f"Confirming {codes}", key, command))
        by_fingerprint = {one["fingerprint"]: one["verdict"] for one in report["findings"]}
        verdicts = [
            {"fingerprint": one.fingerprint, **by_fingerprint[one.fingerprint]}
            for one in found
            if one.fingerprint in by_fingerprint
        ]
        return {"verdicts": verdicts}

    @server.command(MAP)
    async def show_map(ls: Server, *arguments: Any) -> dict[str, str]:
        target = await _target(ls, arguments)
        html = await _run(ls, "Mapping", target, ["map", target, "--output-format", "html"])
        return {"title": f"Map of {_name(target)}", "html": html}

    @server.command(SHAPES)
    async def show_shapes(ls: Server, *arguments: Any) -> dict[str, str]:
        key = _key(ls, arguments)
        return {"title": f"Shapes in {_name(key)}", "text": await _run(ls, "Following shapes", key, ["shapes", key])}

    @server.command(PROBE)
    async def probe(ls: Server, *arguments: Any) -> dict[str, str]:
        target = await _target(ls, arguments)
        text = await _run(ls, f"Probing {_name(target)}", target, ["probe", target, "--color", "never"])
        return {"title": f"Probe of {_name(target)}", "text": text}


def _field(arguments: tuple[Any, ...], name: str, kind: type) -> Any:
    """A field of the object that a command has for its only argument; None without it. Raises JsonRpcInvalidParams."""
    given = arguments[0] if len(arguments) == 1 else None
    if not isinstance(given, dict):
        raise JsonRpcInvalidParams('expected one argument, an object such as {"uri": …}')
    value = given.get(name)
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise JsonRpcInvalidParams(f"`{name}` is {value!r}; expected {kind.__name__}")
    return value


def _key(ls: Server, arguments: tuple[Any, ...]) -> str:
    """The file that a command is about. Raises JsonRpcInvalidParams."""
    uri = _field(arguments, "uri", str)
    key = None if uri is None else ls.key_of(uri)
    if key is None:
        raise JsonRpcInvalidParams(f"`uri` is {uri!r}; expected that of a file on this machine")
    return key


async def _target(ls: Server, arguments: tuple[Any, ...]) -> str:
    """The target of a map or probe: a recipe, or the class around a line. Raises JsonRpcInvalidParams."""
    key, line = _key(ls, arguments), _field(arguments, "line", int)
    if kind_of(Path(key).name) == YAML:
        return key
    if kind_of(Path(key).name) not in (PYTHON, NOTEBOOK):
        raise JsonRpcInvalidParams("expected a Python file, a notebook or a recipe")
    name = await ls.at_once(lambda: ls.class_at(key, line or 0))
    if name is None:
        raise JsonRpcInvalidParams("expected a line in a class")
    return f"{key}::{name}"


def _name(target: str) -> str:
    path, separator, name = target.partition("::")
    return name if separator else Path(path).name


async def _run(ls: Server, title: str, target: str, command: list[str]) -> str:
    """The output of a command of modellint, run in the folder of a file. Raises JsonRpcException."""
    folder = Path(target.partition("::")[0]).parent
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", _START, json.dumps([path for path in sys.path if path]), *command),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"},
    )
    try:
        async with _progress(ls, title):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:  # the request was cancelled
            await _end(process)
    if process.returncode not in _ANSWERS and not out:
        reason = err.decode("utf-8", "replace").strip().removeprefix("Error: ")
        raise JsonRpcException(reason or f"modellint ended with {process.returncode}", _REQUEST_FAILED)
    return out.decode("utf-8", "replace")


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process: it is asked to, so that it ends what it started, and killed where it does not answer."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), _PATIENCE)
        except asyncio.TimeoutError:  # before Python 3.11 no TimeoutError
            process.kill()


@contextlib.asynccontextmanager
async def _progress(ls: Server, title: str) -> AsyncIterator[None]:
    """Tell the editor that something begins, and that it has ended; cancel this task if the editor cancels that."""
    if not ls.knows("window", "work_done_progress"):
        yield
        return
    token = f"{SOURCE} {next(_TOKENS)}"
    progress = ls.work_done_progress
    await progress.create_async(token)
    task = asyncio.current_task()
    asked = progress.tokens[token]
    asked.add_done_callback(lambda asked: asked.cancelled() and task is not None and task.cancel())
    progress.begin(token, types.WorkDoneProgressBegin(title=title, cancellable=True))
    try:
        yield
    finally:
        del progress.tokens[token]
        progress.end(token, types.WorkDoneProgressEnd())
