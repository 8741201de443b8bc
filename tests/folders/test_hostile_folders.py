"""Folders that somebody broke on purpose: each says what is wrong, nothing hangs, and memory stays small."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Workspace

CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 4, "hidden_size": 2}
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 7\n"
WEIGHTS, BIN, INDEX = "model.safetensors", "pytorch_model.bin", "model.safetensors.index.json"
#: The most memory of a check, and the seconds after which it hangs.
MOST_MEMORY, TIMEOUT = 200_000_000, 120
_MEASURE = """
import sys
from modellint.__main__ import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")), file=sys.stderr)
"""


class Case(NamedTuple):
    """A way to break a folder, and the finding: code, severity, file, and words of the message."""

    make: Callable[[Path], object]
    code: str
    severity: str
    file: str
    words: str


def header(text: bytes, body: int = 0) -> bytes:
    return len(text).to_bytes(8, "little") + text + bytes(body)


def entry(offsets: str, shape: str = "2") -> bytes:
    return b'{"a":{"dtype":"F32","shape":[%s],"data_offsets":[%s]}}' % (shape.encode(), offsets.encode())


def written(name: str, data: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(data)


def sparse(name: str, size: int, begin: bytes = b"") -> Callable[[Path], object]:
    """A file with `begin` and zeros, of which the disk holds nothing."""

    def make(folder: Path) -> None:
        with (folder / name).open("wb") as file:
            file.write(begin)
            file.truncate(size)

    return make


def archive(*entries: tuple[str, bytes]) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        (folder / WEIGHTS).unlink()
        with zipfile.ZipFile(folder / BIN, "w", zipfile.ZIP_DEFLATED) as file:
            for name, data in entries:
                file.writestr(name, data)

    return make


def pickled(data: bytes) -> Callable[[Path], object]:
    return archive(("m/data.pkl", data))


def link(name: str, target: str) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)

    return make


def pipe(name: str) -> Callable[[Path], object]:
    def make(folder: Path) -> None:
        (folder / name).unlink(missing_ok=True)
        os.mkfifo(folder / name)

    return make


#: Opcodes of a tensor of torch 0.3: a new object, and the state that turns it into a tensor.
OLD_TENSOR = (
    b"ctorch\nFloatTensor\n)\x81((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x01tQ"
    b"K\0K\x01\x85K\x01\x85tb0"
)
MEMO = b"\x80\x02}" + b"".join(b"r" + number.to_bytes(4, "little") for number in range(100_000))
LYING = b'{"weight_map":{"a":"../../a.safetensors","b":"/etc/passwd"}}'
CASES = {
    "a cut header": Case(written(WEIGHTS, header(entry("0,8"))[:40]), "ML604", "error", WEIGHTS, "header should have"),
    "a header of 100 MB": Case(
        sparse(WEIGHTS, 100_000_008, (100_000_000).to_bytes(8, "little")), "ML604", "info", WEIGHTS, "100000000 bytes"
    ),
    "a header of zeros": Case(
        sparse(WEIGHTS, 20_000_008, (20_000_000).to_bytes(8, "little")), "ML604", "error", WEIGHTS, "no JSON"
    ),
    "offsets outside": Case(
        written(WEIGHTS, header(entry(f"{1 << 60},{(1 << 60) + 8}"), 8)), "ML604", "error", WEIGHTS, "begins at byte"
    ),
    "a shape without end": Case(
        written(WEIGHTS, header(entry("0,4", ",".join([str(1 << 62)] * 90_000)), 4)),
        "ML604",
        "error",
        WEIGHTS,
        "more elements",
    ),
    "millions of numbers": Case(
        written(WEIGHTS, header(b'{"a":[' + b"1," * 10_000_000 + b"1]}")), "ML604", "info", WEIGHTS, "too many"
    ),
    "millions of keys": Case(
        written(WEIGHTS, header(b'{"a":{%s}}' % b",".join(b'"%d":1' % number for number in range(1_900_000)))),
        "ML604",
        "info",
        WEIGHTS,
        "too many",
    ),
    "deep lists": Case(written("config.json", b"[" * 300_000), "ML001", "error", "config.json", "nested too deeply"),
    "deep objects": Case(
        written("config.json", b'{"a":' * 150_000), "ML001", "error", "config.json", "nested too deeply"
    ),
    "a long number": Case(
        written("config.json", b'{"vocab_size": %s}' % (b"9" * 900_000)), "ML001", "error", "config.json", "4300 digits"
    ),
    "a string of a gigabyte": Case(
        sparse("config.json", 1 << 30, b'{"a": "'), "ML001", "error", "config.json", "1073741824 bytes"
    ),
    "an index of millions": Case(
        written(INDEX, b'{"weight_map":{%s}}' % b",".join(b'"t%d":"a"' % number for number in range(900_000))),
        "ML001",
        "error",
        INDEX,
        "more than 300000 tensors",
    ),
    "a list": Case(written("config.json", b"[1, 2]"), "ML001", "error", "config.json", "holds a list"),
    "a string": Case(written("config.json", b'"x"'), "ML001", "error", "config.json", "holds a value"),
    "a list as an index": Case(written(INDEX, b"[]"), "ML001", "error", INDEX, "expected an object"),
    "an object as modules": Case(written("modules.json", b"{}"), "ML001", "error", "modules.json", "expected a list"),
    "UTF-16": Case(
        written("config.json", json.dumps(CONFIG).encode("utf-16")), "ML001", "error", "config.json", "utf-8"
    ),
    "nothing": Case(written("config.json", b""), "ML001", "error", "config.json", "expecting value"),
    "a link out of the folder": Case(link(WEIGHTS, "../outside"), "ML604", "info", WEIGHTS, "leads out"),
    "a settings link out": Case(link("config.json", "../outside"), "ML001", "info", "config.json", "not followed"),
    "a link to itself": Case(link(WEIGHTS, WEIGHTS), "ML604", "error", WEIGHTS, "leads nowhere"),
    "a tokenizer's link to itself": Case(
        link("tokenizer.json", "tokenizer.json"), "ML001", "error", "tokenizer.json", "leads nowhere"
    ),
    "a link to nothing": Case(link("tokenizer.json", "gone"), "ML001", "error", "tokenizer.json", "leads nowhere"),
    "a pointer to weights": Case(written(WEIGHTS, POINTER), "ML604", "info", WEIGHTS, "not the weights"),
    "a pointer to settings": Case(written("config.json", POINTER), "ML604", "info", "config.json", "not the content"),
    "a pointer to a tokenizer": Case(
        written("tokenizer.model", POINTER), "ML604", "info", "tokenizer.model", "a pointer of Git LFS"
    ),
    "a pointer to an index": Case(written(INDEX, POINTER), "ML604", "info", INDEX, "a pointer of Git LFS"),
    "an entry that leads out": Case(
        archive(("../x", b"a"), ("m/data.pkl", pickle.dumps({}, 2))), "ML609", "warning", BIN, "named `../x`"
    ),
    "a zip bomb": Case(pickled(bytes(300 << 20)), "ML604", "info", BIN, "too large"),
    "a million opcodes": Case(
        pickled(b"\x80\x02" + b"N0" * 550_000 + b"}."), "ML609", "warning", BIN, "the opcode POP"
    ),
    "millions of opcodes": Case(
        pickled(b"\x80\x02" + b"N0" * 5_500_000 + b"}."), "ML604", "info", BIN, "millions of opcodes"
    ),
    "tensors and a large memo": Case(
        archive(("m/data.pkl", MEMO + OLD_TENSOR * 20_000 + b"."), ("m/data/0", bytes(4))),
        "ML609",
        "warning",
        BIN,
        "the opcode POP",
    ),
    "a pipe": Case(pipe(WEIGHTS), "ML604", "error", WEIGHTS, "no regular file"),
    "a pipe for a tokenizer": Case(pipe("tokenizer.json"), "ML001", "error", "tokenizer.json", "no regular file"),
    "an index that leads out": Case(written(INDEX, LYING), "ML604", "warning", INDEX, "outside of the folder"),
}


def model(folder: Path, case: Case) -> None:
    """A folder that is whole, and broken then."""
    folder.mkdir()
    (folder.parent / "outside").write_bytes(json.dumps(CONFIG).encode())
    (folder / "config.json").write_text(json.dumps(CONFIG))
    table = b'{"model.embed_tokens.weight":{"dtype":"F32","shape":[4,2],"data_offsets":[0,32]}}'
    (folder / WEIGHTS).write_bytes(header(table, 32))
    case.make(folder)


def told(findings: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(one["code"], one["severity"], one["path"].rpartition("/")[2]) for one in findings]


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")
@pytest.mark.parametrize("name", CASES)
def test_a_broken_folder_says_what_is_wrong(name: str, workspace: Workspace) -> None:
    case = CASES[name]
    model(workspace.root / "m", case)
    report = workspace.run("check", "--isolated", "--no-cache", "--output-format", "json", "m").json
    assert told(report["findings"]) == [(case.code, case.severity, case.file)]
    assert case.words in report["findings"][0]["message"]
    assert report["errors"] == []


def test_files_that_may_not_be_read_are_told(workspace: Workspace) -> None:
    """As root can read all files, a file that cannot be opened is made by the reader."""
    from modellint.folders import ModelFolder, Trouble
    from modellint.reading.files import Files

    class Closed(Files):
        def part(self, path: Path, start: int, length: int) -> bytes | None:
            return None

    model(workspace.root / "m", Case(lambda folder: None, "", "", "", ""))
    folder = ModelFolder(workspace.root / "m", Closed())
    assert folder.weights(WEIGHTS).trouble is Trouble.UNREAD
    assert folder.config is None
    assert str(folder.unreadable["config.json"]) == "it cannot be opened"


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="Linux tells the largest size of a process")
def test_memory_stays_small(workspace: Workspace) -> None:
    many = b",".join(b'"t%d":{"dtype":"U8","shape":[1],"data_offsets":[%d,%d]}' % (n, n, n + 1) for n in range(99_000))
    texts = b"".join(b"X\x14\0\0\0%020d" % number for number in range(600_000))
    cases = [
        *CASES.values(),
        *(Case(written(name, header(b"{" + many + b"}", 99_000)), "", "", "", "") for name in (WEIGHTS, "b" + WEIGHTS)),
        Case(sparse("vocab.txt", 1 << 30), "", "", "", ""),
        Case(written("vocab.txt", b"a\n" * 15_000_000), "", "", "", ""),
        Case(written("a.tiktoken", b"YQ== 1\n" * 4_000_000), "", "", "", ""),
        Case(written("tokenizer.model", b"\x0a\x05\x0a\x03abc" * 4_000_000), "", "", "", ""),
        Case(written("config.json", b'{"a": "%s"}' % (b"x" * 90_000_000)), "", "", "", ""),
        Case(pickled(b"\x80\x02](" + texts + b"e."), "", "", "", ""),
        Case(pickled(b"\x80\x02" + b"]" * 1_100_000 + b"."), "", "", "", ""),
    ]
    for number, case in enumerate(cases):
        model(workspace.root / str(number), case)
    command = [sys.executable, "-c", _MEASURE, "check", "--isolated", "--no-cache", "--jobs", "1", "."]
    done = subprocess.run(command, cwd=workspace.root, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert int(done.stderr.split()[-1]) * 1024 < MOST_MEMORY, done.stderr
    assert f"{len(cases)} model folders" in done.stdout
