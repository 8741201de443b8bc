"""Makes the commit and the tag of each release of modellint that this repository has not: `python mirror.py`.

`python mirror.py 0.2.0` makes those of the version that is named, without asking the package index. Pushes nothing.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
INDEX = "https://pypi.org/pypi/modellint/json"
#: Releases only: no pre-releases.
_VERSION = re.compile(r"\d+(?:\.\d+)+\Z")
#: What stands before the version in the files that name it.
_NAMED = {"pyproject.toml": r"(modellint==)[\d.]+", "README.md": r"(rev: v)[\d.]+"}


def released() -> list[str]:
    """The versions that the package index has and has not withdrawn, oldest first."""
    with urllib.request.urlopen(INDEX, timeout=60) as answer:
        releases = json.load(answer)["releases"]
    there = [version for version, files in releases.items() if any(not file["yanked"] for file in files)]
    return sorted(filter(_VERSION.match, there), key=ordered)


def ordered(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def mirror(version: str) -> bool:
    """Commit and tag the files for a version; False if there is a tag of it already."""
    if git("tag", "--list", f"v{version}"):
        return False
    for name, pattern in _NAMED.items():
        file = HERE / name
        text, count = re.subn(pattern, rf"\g<1>{version}", file.read_text(encoding="utf-8"))
        if count != 1:
            raise SystemExit(f"{name}: the version stands there {count} times; expected once")
        file.write_text(text, encoding="utf-8")
    git("add", "--all")
    git("commit", "--quiet", "--allow-empty", "--message", f"modellint {version}")
    git("tag", "--annotate", f"v{version}", "--message", f"modellint {version}")
    return True


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=HERE, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def main(versions: list[str]) -> None:
    for version in versions:
        if not _VERSION.match(version):
            raise SystemExit(f"{version} is no version; expected one such as 0.1.0")
    for version in versions or released():
        print(f"v{version}" if mirror(version) else f"v{version} is there already")


if __name__ == "__main__":
    main(sys.argv[1:])
