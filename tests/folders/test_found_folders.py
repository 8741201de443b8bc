"""Folders of models are found on the way, whatever git ignores, and checked again when a part of them changes."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Workspace

CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 4, "hidden_size": 2}


def weights(rows: int, columns: int = 2) -> bytes:
    """A safetensors file with a table of tokens."""
    size = 4 * rows * columns
    entry = {"dtype": "F32", "shape": [rows, columns], "data_offsets": [0, size]}
    header = json.dumps({"model.embed_tokens.weight": entry}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(size)


def model(folder: str, rows: int = 5, **more: Any) -> dict[str, str | bytes]:
    """A folder whose table has other rows than its configuration says, unless these are 4."""
    config = json.dumps({**CONFIG, **more}, indent=2)
    return {f"{folder}/config.json": config, f"{folder}/model.safetensors": weights(rows)}


def places(workspace: Workspace, *arguments: str) -> list[tuple[str, str]]:
    report = workspace.run("check", "--isolated", "--output-format", "json", *arguments).json
    return [(finding["path"], finding["code"]) for finding in report["findings"]]


def test_a_folder_is_found_on_the_way(workspace: Workspace) -> None:
    workspace.write({**model("a/b"), "web/config.json": "{", "lone/model.safetensors": b"", "src/x.py": "a = 1\n"})
    assert places(workspace, ".") == [("a/b/config.json", "ML605")]
    assert "1 model folder" in workspace.run("check", "--isolated", ".").out


def test_two_configurations_are_a_model(workspace: Workspace) -> None:
    workspace.write({"m/config.json": json.dumps(CONFIG), "m/generation_config.json": '{"eos_token_id": 9}'})
    assert places(workspace, ".") == [("m/generation_config.json", "ML602")]


def test_weights_count_whether_git_ignores_them_or_not(workspace: Workspace) -> None:
    workspace.write({**model("kept"), **model("hidden"), ".gitignore": "*.safetensors\nhidden/\n"})
    subprocess.run(["git", "init", "-q", "."], cwd=workspace.root, check=True)
    assert places(workspace, ".") == [("kept/config.json", "ML605")]
    assert places(workspace, "hidden") == [("hidden/config.json", "ML605")]


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_part_that_is_named_stands_for_its_folder(name: str, workspace: Workspace) -> None:
    workspace.write({**model("m"), "m/README.md": "A model\n"})
    assert places(workspace, f"m/{name}") == [("m/config.json", "ML605")]
    assert "README.md" in workspace.check("--isolated", "m/README.md").err


def test_results_are_kept_until_a_part_changes(workspace: Workspace) -> None:
    workspace.write(model("m", rows=4))

    def told() -> list[str]:
        report = workspace.run("check", "--output-format", "json", "m").json
        return [finding["code"] for finding in report["findings"]]

    workspace.write({"pyproject.toml": "[tool.modellint]\n"})
    assert told() == told() == []
    path = workspace.root / "m/model.safetensors"
    before = path.stat()
    path.write_bytes(weights(5))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert told() == told() == ["ML605"]
    path.unlink()
    workspace.write({"m/vocab.txt": "a\n"})
    assert told() == told() == []
    path.write_bytes(weights(6))
    assert told() == ["ML605"]


def test_several_processes_find_the_same(workspace: Workspace) -> None:
    for number in range(6):
        workspace.write(model(f"m{number}", rows=4 + number % 3))
    one, two = (workspace.check("--isolated", "--no-cache", "--jobs", jobs, ".").out for jobs in ("1", "3"))
    assert one == two
    assert one.count("ML605") == 4


def test_findings_in_files_without_comments_are_ignored_by_settings(workspace: Workspace) -> None:
    workspace.write(model("m"))
    workspace.write({"pyproject.toml": '[tool.modellint.per-file-ignores]\n"m/*" = ["ML605"]\n'})
    assert workspace.check(".").code == 0
    workspace.write({"pyproject.toml": "[tool.modellint]\n"})
    assert workspace.check(".").code == 1
    before = (workspace.root / "m/config.json").read_bytes()
    workspace.run("check", "--add-ignore", ".")
    assert (workspace.root / "m/config.json").read_bytes() == before
    workspace.run("check", "--write-baseline", "--baseline", "old.json", ".")
    assert workspace.check("--baseline", "old.json", ".").code == 0


@pytest.mark.parametrize(
    "form", ["full", "sarif", "github", "gitlab", "junit", "rdjson", "json-lines", "pylint", "azure"]
)
def test_all_formats_report_weights(form: str, workspace: Workspace) -> None:
    workspace.write(model("m"))
    (workspace.root / "m/model.safetensors").write_bytes(weights(5)[:-3])
    result = workspace.run("check", "--isolated", "--output-format", form, ".")
    assert result.code == 1
    assert "\0" not in result.out
    assert "ML604" in result.out


def test_a_folder_that_changed_is_checked_since_a_commit(workspace: Workspace) -> None:
    def git(*arguments: str) -> None:
        command = ["git", "-c", "user.email=a@b.c", "-c", "user.name=a", *arguments]
        subprocess.run(command, cwd=workspace.root, check=True, capture_output=True)

    workspace.write({**model("m", rows=4), **model("other")})
    git("init", "-q", ".")
    git("add", "-A")
    git("commit", "-qm", "first")
    assert places(workspace, "--changed-since", "HEAD", ".") == []
    (workspace.root / "m/model.safetensors").write_bytes(weights(7))
    assert places(workspace, "--changed-since", "HEAD", ".") == [("m/config.json", "ML605")]


def test_a_large_file_of_weights_is_not_read(workspace: Workspace) -> None:
    workspace.write(model("m", rows=4))
    with (workspace.root / "m/pytorch_model.bin").open("wb") as file:
        file.truncate(1 << 40)  # of which the disk holds nothing
    assert places(workspace, ".") == []
    with (workspace.root / "m/model.safetensors").open("r+b") as file:
        file.truncate(1 << 40)
    assert places(workspace, ".") == [("m/model.safetensors", "ML604")]


def test_a_document_may_come_on_stdin(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    workspace.write(model("m", rows=4))
    changed = json.dumps({**CONFIG, "vocab_size": 9}).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(changed)))
    result = workspace.check("--isolated", "-", "--stdin-filename", "m/config.json")
    assert [line.split(": ")[1][:5] for line in result.lines if line.startswith("m/")] == ["ML605"]


def test_an_editor_shows_findings_in_documents(workspace: Workspace) -> None:
    from modellint.config import settings_for
    from modellint.server.session import Session

    workspace.write(model("m", rows=4))
    session = Session(settings_for([workspace.root], isolated=True))
    path = workspace.root / "m/config.json"
    session.open(path, path.read_bytes())
    session.check()
    assert session.findings() == []
    session.open(path, path.read_bytes().replace(b'"vocab_size": 4', b'"vocab_size": 7'))
    session.check()
    (finding,) = session.findings()
    assert (finding.code, finding.path) == ("ML605", path.as_posix())


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="links need rights there")
def test_links_out_of_the_folder_are_not_followed(workspace: Workspace) -> None:
    workspace.write({**model("m", rows=4), "outside/model.safetensors": weights(9)})
    link = workspace.root / "m/model.safetensors"
    link.unlink()
    link.symlink_to(workspace.root / "outside/model.safetensors")
    report = workspace.run("check", "--isolated", "--output-format", "json", "m").json
    assert [(one["code"], one["severity"]) for one in report["findings"]] == [("ML604", "info")]
    snapshot, blob = "hub/models--a--b/snapshots/0", "hub/models--a--b/blobs/1"
    workspace.write({f"{snapshot}/config.json": json.dumps(CONFIG), blob: weights(9)})
    (workspace.root / snapshot / "model.safetensors").symlink_to("../../blobs/1")
    assert places(workspace, snapshot) == [(f"{snapshot}/config.json", "ML605")]
