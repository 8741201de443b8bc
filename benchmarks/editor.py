"""How long an editor waits for diagnostics after a change, and what the server keeps of many changes.

    python benchmarks/editor.py MODEL.py --edits 200

Runs `modellint server`, opens the file and edits it at random places: comments come and go, lines are cut off, so that
the file is now and then no Python. Prints the median and the 95th percentile from the change to its diagnostics, next
to the time of `ast.parse` of the same text, and the server's memory at the start and at the end.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MEBIBYTE = 1024 * 1024


class Client:
    """The little of the protocol that is needed here."""

    def __init__(self, root: Path) -> None:
        command = [sys.executable, "-m", "modellint", "server"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root)
        self.send("initialize", {"processId": None, "rootUri": root.as_uri(), "capabilities": {}}, request=1)
        while "result" not in self.receive():
            pass
        self.send("initialized", {})

    def send(self, method: str, params: Any, request: int | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if request is not None:
            message["id"] = request
        body = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        return message

    def diagnostics(self, uri: str, version: int) -> list[Any]:
        """The diagnostics of a version of a document."""
        while True:
            message = self.receive()
            params = message.get("params", {})
            is_it = message.get("method") == "textDocument/publishDiagnostics" and params["uri"] == uri
            if is_it and params.get("version") == version:
                found: list[Any] = params["diagnostics"]
                return found

    def memory(self) -> float:
        """MiB of memory that the server holds; 0 where the system does not tell."""
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024 / MEBIBYTE
        return 0.0


def edited(lines: list[str], chance: random.Random) -> None:
    """One change, as somebody might type it."""
    at = chance.randrange(len(lines))
    match chance.randrange(4):
        case 0:
            lines.insert(at, f"# note {chance.randrange(1000)}\n")
        case 1 if lines[at].startswith("# note"):
            del lines[at]
        case 2:
            lines[at] = lines[at].rstrip("\n") + "  # seen\n"
        case _ if lines[at].strip():
            cut = chance.randrange(len(lines[at]))
            lines[at] = lines[at][:cut].rstrip("\n") + "\n" if chance.random() < 0.1 else lines[at]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path)
    parser.add_argument("--edits", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    file = options.file.resolve()
    original = file.read_text(encoding="utf-8").splitlines(keepends=True)
    chance, client, uri = random.Random(options.seed), Client(file.parent), file.as_uri()
    item = {"uri": uri, "languageId": "python", "version": 0, "text": "".join(original)}
    client.send("textDocument/didOpen", {"textDocument": item})
    client.diagnostics(uri, 0)
    lines, waits, parses, memory = list(original), [], [], 0.0
    for version in range(1, options.edits + 1):
        if version % 25 == 0:
            lines = list(original)
        edited(lines, chance)
        text = "".join(lines)
        start = time.perf_counter()
        with contextlib.suppress(SyntaxError):
            ast.parse(text)
        parses.append(time.perf_counter() - start)
        change = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}
        start = time.perf_counter()
        client.send("textDocument/didChange", change)
        client.diagnostics(uri, version)
        waits.append(time.perf_counter() - start)
        if version == max(options.edits // 10, 1):
            memory = client.memory()
    waits.sort()
    median, late, parse = statistics.median(waits), waits[int(0.95 * (len(waits) - 1))], statistics.median(parses)
    print(f"{file.name}: {len(original)} lines, {options.edits} edits")
    print(f"median {median * 1000:.0f} ms ({median / parse:.1f} x `ast.parse`), 95th percentile {late * 1000:.0f} ms")
    print(f"memory {memory:.0f} MiB after a tenth of the edits, {client.memory():.0f} MiB at the end")
    client.process.kill()


if __name__ == "__main__":
    main()
