"""The action in a pull request: only new findings, one comment that is updated, suggestions, and a job summary.

A server that answers as GitHub's API does stands in for it; the repository, its base and the check are real.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
CHECK = ROOT / "packaging" / "github" / "check"
OLD = """\
from torch import nn


class Old(nn.Module):
    def __init__(self):
        super().__init__()
        {}

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
"""
BROKEN = "self.layers = [nn.Linear(2, 2) for _ in range(3)]"
SOUND = "self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the action's steps run in bash")


@dataclass
class GitHub:
    """The state of a pull request on the server, and the requests that changed it."""

    comments: list[dict[str, Any]] = field(default_factory=list)
    reviews: list[dict[str, Any]] = field(default_factory=list)
    patches: dict[str, str] = field(default_factory=dict)
    #: The status of requests that write; 403 for a token that may not.
    status: int = 200
    url: str = ""

    def answer(self, method: str, path: str, body: Any) -> Any:
        if method == "GET" and "page=1" not in path:
            return []
        if method == "GET" and "/issues/7/comments" in path:
            return self.comments
        if method == "GET" and "/pulls/7/comments" in path:
            return [comment for review in self.reviews for comment in review["comments"]]
        if method == "GET" and "/pulls/7/files" in path:
            return [{"filename": name, "patch": patch} for name, patch in self.patches.items()]
        if method == "POST" and path.endswith("/issues/7/comments"):
            self.comments.append({"id": len(self.comments) + 1, "body": body["body"]})
        elif method == "PATCH":
            number = int(path.rpartition("/")[2])
            self.comments[number - 1]["body"] = body["body"]
        elif method == "POST" and path.endswith("/pulls/7/reviews"):
            self.reviews.append(body)
        else:
            raise AssertionError(f"{method} {path}")
        return {}


@pytest.fixture
def github() -> Iterator[GitHub]:
    state = GitHub()

    class Handler(BaseHTTPRequestHandler):
        def reply(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            assert self.headers["Authorization"] == "Bearer secret"
            is_refused = self.command != "GET" and state.status != 200
            data = json.dumps({} if is_refused else state.answer(self.command, self.path, body)).encode()
            self.send_response(state.status if is_refused else 200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PATCH = reply  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    yield state
    server.shutdown()


class Pull:
    """A repository with a base and a change."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.email", "a@example.org")
        self.git("config", "user.name", "a")
        (folder / "pyproject.toml").write_text("[tool.modellint]\n")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, **files: str) -> str:
        for name, text in files.items():
            (self.folder / f"{name}.py").write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "change", "--allow-empty")
        return self.git("rev-parse", "HEAD")

    def patch(self, base: str, name: str) -> str:
        shown = self.git("diff", base, "--", name)
        return shown[shown.find("@@") :]

    def check(self, github: GitHub, base: str, **environment: str) -> subprocess.CompletedProcess[str]:
        event = self.folder.parent / "event.json"
        pull = {"number": 7, "head": {"sha": self.git("rev-parse", "HEAD")}, "base": {"sha": base}}
        event.write_text(json.dumps({"pull_request": pull}))
        given = {
            "PATHS": ".",
            "ARGS": "--no-cache",
            "BASE": base,
            "GITHUB_TOKEN": "secret",
            "GITHUB_API_URL": github.url,
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_STEP_SUMMARY": str(self.folder.parent / "summary.md"),
            "GITHUB_OUTPUT": str(self.folder.parent / "output"),
        }
        return subprocess.run(
            [str(CHECK), str(Path(sys.executable).parent)],
            cwd=self.folder,
            env={**os.environ, **given, **environment},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def pull(tmp_path: Path) -> Pull:
    (tmp_path / "repository").mkdir()
    return Pull(tmp_path / "repository")


def test_only_new_findings_are_told_commented_and_suggested(pull: Pull, github: GitHub, tmp_path: Path) -> None:
    base = pull.commit(old=OLD.format(BROKEN))
    pull.commit(new=OLD.format(BROKEN).replace("Old", "New"))
    github.patches["new.py"] = pull.patch(base, "new.py")
    done = pull.check(github, base)
    assert done.returncode == 1, done.stderr
    assert "file=new.py" in done.stdout
    assert "file=old.py" not in done.stdout
    assert (tmp_path / "output").read_text() == "findings=1\n"
    summary = (tmp_path / "summary.md").read_text()
    assert "1 error (" in summary
    assert "1 known before" in summary
    [comment] = github.comments
    assert comment["body"].startswith("<!-- modellint -->")
    assert "`new.py:7:" in comment["body"]
    [review] = github.reviews
    [suggested] = review["comments"]
    assert (suggested["path"], suggested["line"]) == ("new.py", 7)
    assert re.search(r"```suggestion\n {8}self\.layers = nn\.ModuleList\(.+\)\n```", suggested["body"])
    assert pull.git("status", "--porcelain") == ""


def test_a_later_run_updates_the_comment_and_suggests_nothing_twice(pull: Pull, github: GitHub) -> None:
    base = pull.commit(old=OLD.format(SOUND))
    pull.commit(old=OLD.format(BROKEN))
    github.patches["old.py"] = pull.patch(base, "old.py")
    pull.check(github, base)
    pull.check(github, base)
    assert (len(github.comments), len(github.reviews)) == (1, 1)
    pull.commit(old=OLD.format(SOUND))
    assert pull.check(github, base).returncode == 0
    [comment] = github.comments
    assert "No findings" in comment["body"]


def test_without_findings_no_comment_is_begun(pull: Pull, github: GitHub) -> None:
    base = pull.commit(old=OLD.format(SOUND))
    assert pull.check(github, base).returncode == 0
    assert not github.comments
    assert not github.reviews


def test_all_findings_are_told_on_request(pull: Pull, github: GitHub) -> None:
    base = pull.commit(old=OLD.format(BROKEN))
    done = pull.check(github, base, ONLY_NEW="false", COMMENT="false", SUGGESTIONS="false")
    assert done.returncode == 1
    assert "file=old.py" in done.stdout
    assert not github.comments


def test_a_token_that_may_not_write_is_a_warning(pull: Pull, github: GitHub) -> None:
    base = pull.commit(old=OLD.format(SOUND))
    pull.commit(old=OLD.format(BROKEN))
    github.status = 403
    done = pull.check(github, base)
    assert done.returncode == 1
    assert "::warning title=modellint::no comment on the pull request: the token may not write" in done.stdout


def test_a_fix_beyond_the_lines_of_the_change_is_not_suggested(pull: Pull, github: GitHub) -> None:
    base = pull.commit(old=OLD.format(SOUND))
    pull.commit(old=OLD.format(BROKEN))
    github.patches["old.py"] = "@@ -1,2 +1,2 @@\n from torch import nn\n+"
    pull.check(github, base)
    assert len(github.comments) == 1
    assert not github.reviews


def test_a_base_that_cannot_be_fetched_is_told(pull: Pull, github: GitHub) -> None:
    pull.commit(old=OLD.format(BROKEN))
    done = pull.check(github, "0" * 40)
    assert done.returncode == 1
    assert "cannot be fetched, so that all findings are reported" in done.stdout
