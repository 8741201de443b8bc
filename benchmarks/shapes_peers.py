"""What checkers of shapes say of pairs of small programs: `bad/` with a mistake, `good/` with its repair.

    python -m venv peers && peers/bin/pip install pyrefly==1.4.0 pyrefly-torch-stubs==1.4.0 torchtyc==0.5.0 torch
    python benchmarks/shapes_peers.py --cases FOLDER --peers peers/bin [--names NAME ...]

The programs have no annotations of shapes, as most code has none. A mistake counts as found where a tool says something
of `bad/` that it does not say of `good/`; what it says of `good/` as an error or a warning is an alarm. jaxtyping and
torchtyping check annotations while code runs, so that they say nothing here.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _said(*command: str, folder: Path) -> str:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def modellint(folder: Path, _: Path) -> Iterator[str]:
    """The findings of ML501 and ML520: what layers and operations refuse for shapes."""
    command = (sys.executable, "-m", "modellint", "check", ".", "--no-cache", "--isolated", "--output-format", "json")
    for one in json.loads(_said(*command, "--select", "ML501,ML520", folder=folder))["findings"]:
        if one["severity"] != "info":
            yield f"{one['code']} {one['message']}"


def pyrefly(folder: Path, peers: Path) -> Iterator[str]:
    """The errors of pyrefly; shapes come from its stubs of torch."""
    options = ("--python-interpreter-path", str(peers / "python"), "--output-format", "json", "--preset", "default")
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.py"))
    found = _said(str(peers / "pyrefly"), "check", *files, *options, folder=folder)
    return (f"{one['name']} {one['description']}" for one in json.loads(found)["errors"])


def torchtyc(folder: Path, peers: Path) -> Iterator[str]:
    """The problems that `torchtyc check` tells of functions with annotations."""
    lines = _said(str(peers / "torchtyc"), "check", ".", folder=folder).splitlines()
    return (line for line in lines if " error" in line or " warning" in line)


TOOLS: dict[str, Callable[[Path, Path], Iterator[str]]] = {
    "modellint": modellint,
    "pyrefly": pyrefly,
    "torchtyc": torchtyc,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--peers", type=Path, required=True, help="the folder of the other tools' programs")
    parser.add_argument("--names", nargs="*", default=[], help="the pairs to look at; all by default")
    arguments = parser.parse_args()
    cases = sorted(one.parent for one in arguments.cases.resolve().glob("*/bad"))
    cases = [one for one in cases if not arguments.names or one.name in arguments.names]
    peers = arguments.peers.absolute()
    print(f"| tool | found, of {len(cases)} | alarms |\n|---|---:|---:|")
    for name, tool in TOOLS.items():
        if tool is not modellint and not (peers / name).exists():
            print(f"{name} is left out: it is not there", file=sys.stderr)
            continue
        found, alarms = [], 0
        for case in cases:
            good = list(tool(case / "good", peers))
            found += [case.name] if set(tool(case / "bad", peers)) - set(good) else []
            alarms += len(good)
        print(f"| {name} | {len(found)} | {alarms} |", flush=True)
        print(f"{name}: {', '.join(found)}", file=sys.stderr)


if __name__ == "__main__":
    main()
