"""Writes the findings of a report into a pull request: one comment that later runs update, and suggestions from fixes.

It reads a report in JSON and one in Markdown, and the event of GitHub Actions. A token that may not write, as in a
pull request from a fork, is a warning and no failure: the annotations and the job summary are there all the same.
It needs the standard library only. API: https://docs.github.com/rest, "issues/comments" and "pulls/reviews".
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

MARK = "<!-- modellint -->"
_MARK_OF_FINDING = "<!-- modellint {fingerprint} -->"
_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
#: GitHub refuses longer comments.
_LONGEST = 65_000
#: The most suggestions of one review, and pages of a list with a hundred entries each.
_MOST, _PAGES = 30, 30


class Repository:
    """The API of one repository."""

    def __init__(self, api: str, name: str, token: str) -> None:
        self._base = f"{api.rstrip('/')}/repos/{name}"
        self._token = token

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """The answer of the API as JSON. Raises urllib.error.URLError."""
        request = urllib.request.Request(
            f"{self._base}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self._token}",
                "Content-Type": "application/json",
                "User-Agent": "modellint",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def every(self, path: str) -> list[Any]:
        """All entries of a list, page by page."""
        found: list[Any] = []
        for page in range(1, _PAGES + 1):
            entries = self.call("GET", f"{path}?per_page=100&page={page}")
            found += entries
            if len(entries) < 100:
                break
        return found


def write_comment(repository: Repository, number: int, text: str, *, has_findings: bool) -> None:
    """Write the comment, or update the one of an earlier run. Without findings, none is begun."""
    body = f"{MARK}\n{text}"[:_LONGEST]
    comments = repository.every(f"/issues/{number}/comments")
    old = next((one for one in comments if str(one.get("body", "")).startswith(MARK)), None)
    if old is not None:
        if old["body"] != body:
            repository.call("PATCH", f"/issues/comments/{old['id']}", {"body": body})
    elif has_findings:
        repository.call("POST", f"/issues/{number}/comments", {"body": body})


def write_suggestions(repository: Repository, number: int, commit: str, findings: list[dict[str, Any]]) -> None:
    """Write a review with the fixes that fit into lines of the change, but for those written before."""
    wanted = [finding for finding in findings if finding.get("fix")]
    if not wanted:
        return
    shown = {one["filename"]: lines_in(one.get("patch") or "") for one in repository.every(f"/pulls/{number}/files")}
    old = "\n".join(str(one.get("body", "")) for one in repository.every(f"/pulls/{number}/comments"))
    comments = []
    for finding in wanted:
        mark = _MARK_OF_FINDING.format(fingerprint=finding["fingerprint"])
        comment = suggestion(finding, shown)
        if comment is not None and mark not in old:
            comments.append({**comment, "body": f"{comment['body']}\n{mark}"})
    if comments:
        review = {"commit_id": commit, "event": "COMMENT", "comments": comments[:_MOST]}
        repository.call("POST", f"/pulls/{number}/reviews", review)


def lines_in(patch: str) -> set[int]:
    """The lines of the new file that a patch shows, added ones and those around them."""
    found: set[int] = set()
    line = 0
    for text in patch.split("\n"):
        hunk = _HUNK.match(text)
        if hunk:
            line = int(hunk[1])
        elif text[:1] in ("+", " "):
            found.add(line)
            line += 1
    return found


def suggestion(finding: dict[str, Any], shown: dict[str, set[int]]) -> dict[str, Any] | None:
    """The comment with the fix of a finding; None if the fix reaches beyond the lines of one file that are shown."""
    edits = finding["fix"]["edits"]
    paths = {edit["path"] for edit in edits}
    if paths != {finding["path"]} or finding["path"] not in shown:
        return None
    first, last = min(edit["start"][0] for edit in edits), max(edit["end"][0] for edit in edits)
    if not all(line in shown[finding["path"]] for line in range(first, last + 1)):
        return None
    try:
        lines = Path(finding["path"]).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError):
        return None
    if last > len(lines):
        return None
    text = "\n".join(edited(lines, edits)[first - 1 : len(edited(lines, edits)) - (len(lines) - last)])
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    unsafe = "" if finding["fix"]["applicability"] == "safe" else " (look before you take it)"
    body = f"**{finding['code']}**: {finding['message']}\n\n{finding['fix']['message']}{unsafe}:\n"
    body += f"{fence}suggestion\n{text}\n{fence}"
    comment = {"path": finding["path"], "side": "RIGHT", "line": last, "body": body}
    return comment if first == last else {**comment, "start_line": first, "start_side": "RIGHT"}


def edited(lines: list[str], edits: list[dict[str, Any]]) -> list[str]:
    """The lines of a file after edits, which do not overlap. Lines and columns start at 1."""
    text = "\n".join(lines)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for edit in sorted(edits, key=lambda edit: edit["start"], reverse=True):
        start = starts[edit["start"][0] - 1] + edit["start"][1] - 1
        end = starts[edit["end"][0] - 1] + edit["end"][1] - 1
        text = text[:start] + edit["text"] + text[end:]
    return text.split("\n")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", type=Path, required=True, help="the report in JSON")
    parser.add_argument("--summary", type=Path, required=True, help="the report in Markdown")
    parser.add_argument("--no-comment", action="store_true", help="write no comment")
    parser.add_argument("--no-suggestions", action="store_true", help="write no suggestions")
    given = parser.parse_args(arguments)
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    pull = event.get("pull_request")
    token = os.environ.get("GITHUB_TOKEN", "")
    if not pull:
        print("modellint: no pull request to comment on")
        return 0
    if not token:
        print("::warning title=modellint::no token: expected the input `token` to comment on the pull request")
        return 0
    try:
        document = json.loads(given.report.read_text(encoding="utf-8"))
        summary = given.summary.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        print(f"::error title=modellint::the report cannot be read: {error}")
        return 2
    api = os.environ.get("GITHUB_API_URL", "https://api.github.com")
    repository = Repository(api, os.environ["GITHUB_REPOSITORY"], token)
    try:
        if not given.no_comment:
            write_comment(repository, pull["number"], summary, has_findings=bool(document["findings"]))
        if not given.no_suggestions:
            write_suggestions(repository, pull["number"], pull["head"]["sha"], document["findings"])
    except urllib.error.HTTPError as error:
        reason = "the token may not write: expected `permissions: pull-requests: write`"
        said = reason if error.code in (401, 403) else f"GitHub answers {error.code} {error.reason}"
        print(f"::warning title=modellint::no comment on the pull request: {said}")
    except (urllib.error.URLError, TimeoutError, ValueError) as error:
        print(f"::warning title=modellint::no comment on the pull request: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
