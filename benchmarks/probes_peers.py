"""What other tools make of the targets of `probes.toml`: accelerate's `init_empty_weights`, and torchtyc's `run`.

    python -m venv peers && peers/bin/pip install accelerate==1.15.0 torchtyc==0.5.0
    python benchmarks/probes_peers.py --packages FOLDER --peers peers/bin/python [--only TEXT]

Neither of them makes up arguments or inputs, and `run` takes functions, no classes. So a class of a package is built
under `init_empty_weights`, as far as its constructor asks for nothing, and each of the twins is built and called by
`twins/call.py`, with all that it takes. What counts as found is a call that ends with an error. Tools that are not
there are named, and left out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from probes import HERE, folder_of, targets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TWINS = "twins"
#: Builds classes of a folder without memory for their weights, and prints the names of those that could be built.
_BUILD = """
import contextlib, importlib, json, os, sys
from accelerate import init_empty_weights

names, built, found = json.loads(sys.argv[1]), [], os.dup(1)
os.dup2(2, 1)
sys.path.insert(0, os.getcwd())
for target in names:
    place, _, name = target.rpartition(":")
    module = place.removesuffix(":").removesuffix(".py").replace("/", ".")
    with contextlib.suppress(Exception, SystemExit), init_empty_weights():
        getattr(importlib.import_module(module), name)()
        built.append(target)
os.write(found, json.dumps(built).encode())
"""
#: Builds one of the twins so, and calls it with tensors that have no numbers either.
_CALL = """
import runpy, sys
import torch
from accelerate import init_empty_weights

sys.path.insert(0, ".")
sys.argv = ["call.py", sys.argv[1]]
with init_empty_weights(include_buffers=True), torch.device("meta"):
    runpy.run_path("call.py", run_name="__main__")
"""
_TOOLS = {"init_empty_weights": "accelerate", "torchtyc run": "torchtyc"}


def is_there(package: str, python: str) -> bool:
    """Whether an interpreter has a package."""
    asked = [python, "-c", f"import importlib.util as u, sys; sys.exit(u.find_spec({package!r}) is None)"]
    return subprocess.run(asked, check=False).returncode == 0


def built_empty(names: Sequence[str], folder: Path, python: str) -> list[str]:
    """The targets of a folder that can be built under `init_empty_weights` with nothing passed."""
    run = subprocess.run([python, "-c", _BUILD, json.dumps(names)], cwd=folder, stdout=subprocess.PIPE, check=False)
    built: list[str] = json.loads(run.stdout or b"[]")
    return built


def fails(tool: str, name: str, python: str) -> bool:
    """Whether a call of one of the twins ends with an error."""
    if tool == "torchtyc run":
        command = [python, "-m", "torchtyc.cli", "run", "call.py::main", "--", name]
    else:
        command = [python, "-c", _CALL, name]
    return subprocess.run(command, cwd=HERE / TWINS, capture_output=True, check=False).returncode == 1


def judged(tool: str, known: Mapping[str, Mapping[str, str]], python: str) -> str:
    """What a tool says of the twins."""
    wrong = {target for target, statuses in known.items() if "failed" in statuses.values()}
    said = {target for target in known if fails(tool, target.rpartition(":")[2], python)}
    return f"{len(wrong & said)} of {len(wrong)} mistakes found, {len(said - wrong)} false"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--peers", required=True, help="an interpreter that has the other tools")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    known: dict[str, dict[str, Mapping[str, str]]] = defaultdict(dict)
    for package, target, expected in targets(arguments.only):
        known[package][target] = expected
    twins = known.pop(TWINS, {})
    tools = [tool for tool, package in _TOOLS.items() if is_there(package, arguments.peers)]
    for tool in _TOOLS.keys() - set(tools):
        print(f"{tool} is left out: {arguments.peers} has no {_TOOLS[tool]}", file=sys.stderr)
    folders = {package: folder_of(package, arguments.packages) for package in known}
    number = sum(len(known[package]) for package, folder in folders.items() if folder is not None)
    empty = {
        package: built_empty([*known[package]], folder, arguments.peers)
        for package, folder in folders.items()
        if folder is not None and "init_empty_weights" in tools
    }
    built = {
        "init_empty_weights": f"{sum(map(len, empty.values()))} of {number}",
        "torchtyc run": "takes functions only",
    }
    print("| tool | classes of packages built, with nothing passed | twins |\n|---|---|---|")
    for tool in tools:
        print(f"| {tool} | {built[tool]} | {judged(tool, twins, arguments.peers)} |")


if __name__ == "__main__":
    main()
