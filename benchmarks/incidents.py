"""Whether the incidents are still found in the repositories where they happened.

    python benchmarks/incidents.py --mirrors FOLDER [--confirm] [NAME…]

FOLDER holds `OWNER+NAME/repo`, git directories (bare or not). Each tree is written out at its commit and checked as a
user would check it; what must be found, and where nothing must be, is compared. A repository that is not there is
named and left out. Ends with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: What is written out of a tree.
SUFFIXES = (".py", ".yaml", ".yml", ".ipynb", ".toml", ".json")


@dataclass(frozen=True)
class Incident:
    """A tree: `found` are the places of a rule that a finding tells, itself or as related; `silent` rules tell none."""

    name: str
    repository: str
    commit: str
    found: tuple[tuple[str, str, int], ...] = ()
    silent: tuple[str, ...] = ()


INCIDENTS = (
    Incident(
        "mini-omni",
        "gpt-omni/mini-omni",
        "26c31d5",
        (
            ("ML103", "inference.py", 182),
            ("ML103", "inference.py", 247),
            ("ML103", "inference.py", 315),
            ("ML103", "utils/snac_utils.py", 27),
        ),
    ),
    Incident(
        "VILA",
        "NVlabs/VILA",
        "eb6f174",
        (
            ("ML304", "llava/model/llava_arch.py", 322),
            ("ML302", "llava/train/transformers_replace/llama/modeling_llama.py", 356),
            ("ML302", "llava/train/transformers_replace/llama/modeling_llama.py", 458),
        ),
    ),
    Incident(
        "VILA, repaired",
        "NVlabs/VILA",
        "bbc609b",
        (
            ("ML301", "llava/train/transformers_replace/models/mistral/modeling_mistral.py", 375),
            ("ML301", "llava/train/transformers_replace/models/mixtral/modeling_mixtral.py", 506),
        ),
        silent=("ML304",),
    ),
    Incident(
        "Amphion, repaired",
        "open-mmlab/Amphion",
        "d3de90f",
        (
            ("ML303", "models/codec/ns3_codec/transformer.py", 47),
            ("ML303", "models/svc/transformer/transformer.py", 69),
            ("ML303", "models/vc/Noro/noro_model.py", 217),
            ("ML303", "modules/naturalpseech2/transformers.py", 48),
        ),
        silent=("ML1",),
    ),
    Incident("Flower-SpeechBrain", "yan-gao-GY/Flower-SpeechBrain", "HEAD", silent=("ML1", "ML3")),
)


def written(git: Path, commit: str, folder: Path) -> None:
    """Write the sources of a commit into a folder; objects that a partial clone lacks are left out."""
    listing = subprocess.run(
        ["git", "--git-dir", str(git), "ls-tree", "-r", commit], capture_output=True, text=True, check=True
    )
    for entry in listing.stdout.splitlines():
        about, _, path = entry.partition("\t")
        mode, kind, name = about.split()
        if kind != "blob" or mode == "120000" or not path.endswith(SUFFIXES):
            continue
        read = subprocess.run(
            ["git", "--git-dir", str(git), "cat-file", "blob", name], capture_output=True, check=False
        )
        if read.returncode == 0:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(read.stdout)


def findings(folder: Path, *, confirm: bool) -> list[dict[str, Any]]:
    """What `modellint check` finds in a folder; RuntimeError tells what it said where it fails."""
    command = [sys.executable, "-m", "modellint", "check", ".", "--isolated", "--no-cache", "--exit-zero"]
    command += ["--output-format", "json", *(["--confirm"] if confirm else [])]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(f"exit {run.returncode}: {run.stderr.strip()}")
    return list(json.loads(run.stdout)["findings"])


def differences(incident: Incident, found: Sequence[dict[str, Any]]) -> Iterator[str]:
    """What an incident's tree must have and has not, and the other way round."""
    told = {(one["code"], place["path"], place["line"]) for one in found for place in (one, *one["related"])}
    for code, path, line in incident.found:
        if (code, path, line) not in told:
            yield f"{incident.name}: {code} is not found at {path}:{line}"
    for one in found:
        if one["code"].startswith(incident.silent) and incident.silent:
            yield f"{incident.name}: {one['code']} is found at {one['path']}:{one['line']}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(i.name for i in INCIDENTS))
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--confirm", action="store_true", help="print what is shown of each finding, too")
    options = parser.parse_args(arguments)
    is_different = False
    for incident in INCIDENTS:
        if options.names and incident.name not in options.names:
            continue
        git = options.mirrors / incident.repository.replace("/", "+") / "repo"
        git = git / ".git" if (git / ".git").is_dir() else git
        if not git.is_dir():
            print(f"{incident.name}: left out, {git} is not there")
            continue
        with tempfile.TemporaryDirectory() as folder:
            written(git, incident.commit, Path(folder))
            found = findings(Path(folder), confirm=options.confirm)
        missing = list(differences(incident, found))
        is_different = is_different or bool(missing)
        print(*(missing or [f"{incident.name}: as it should be"]), sep="\n")
        for one in found if options.confirm else ():
            verdict = one.get("verdict") or {"status": "not run", "detail": ""}
            print(f"  {one['code']} {one['path']}:{one['line']} {verdict['status']}: {verdict['detail']}")
    return int(is_different)


if __name__ == "__main__":
    sys.exit(main())
