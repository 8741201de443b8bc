"""What `modellint check` costs on the recipes of a checkout, next to PyYAML's C parser composing the same files.

    python benchmarks/recipes.py CHECKOUT

Everything runs as a process of its own, in turns, as in `run.py`; the unit is one process that composes every file with
`yaml.CSafeLoader` and does nothing else. Recipes are checked together with their scripts and whatever these import.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

from run import Measurement, measure, modellint, table

COMPOSE = """
import sys, yaml
for path in sys.stdin.read().splitlines():
    with open(path, "rb") as file:
        try:
            yaml.compose(file, Loader=yaml.CSafeLoader)
        except yaml.YAMLError:
            pass
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("checkout", type=Path, help="a folder with recipes, such as a clone of speechbrain")
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    listed = subprocess.run(
        [*modellint("--show-files"), str(options.checkout.resolve())], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    recipes = [os.path.abspath(path) for path in listed if path.endswith((".yaml", ".yml"))]
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; {len(recipes)} YAML files")
    with tempfile.TemporaryDirectory() as folder:
        names = Path(folder, "files")
        names.write_text("\n".join(recipes), encoding="utf-8")
        cache = str(Path(folder, "cache"))
        base = Measurement(
            "PyYAML's C parser, `yaml.compose`",
            [sys.executable, "-c", f"import sys; sys.stdin = open({str(names)!r})\n{COMPOSE}"],
        )
        rows = [
            base,
            Measurement("modellint, cold, 1 job", modellint("--no-cache", "--jobs", "1", *recipes)),
            Measurement("modellint, cold, 2 jobs", modellint("--no-cache", "--jobs", "2", *recipes)),
            Measurement("modellint, warm", modellint("--cache-dir", cache, "--jobs", "1", *recipes)),
        ]
        measure(rows, options.repetitions)
        table(f"Recipes of {options.checkout.resolve().name}", rows, base, "compose")


if __name__ == "__main__":
    main()
