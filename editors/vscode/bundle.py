"""Puts modellint and what its language server needs into the extension: `python bundle.py WHEEL`.

The packages are those that work on any platform and any Python from 3.10: compiled parts are left out, and so is
libcst, which only `--fix` needs.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

_HERE = Path(__file__).parent
_TARGET = _HERE / "bundled"
#: Packages that only some of the supported Pythons need.
_FOR_SOME = ("exceptiongroup", "tomli", "typing_extensions")
_LEFT_OUT = (
    "libcst",
    "libcst-*",
    "yaml_ft",
    "pyyaml_ft*",
    "bin",
    "_yaml",
    "*.so",
    "*.pyd",
    "**/*.so",
    "**/*.pyd",
    "**/__pycache__",
)


def bundle(wheel: Path, *options: str) -> None:
    """Install the wheel and its packages into the extension. Raises CalledProcessError."""
    shutil.rmtree(_TARGET, ignore_errors=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-compile", "--target", str(_TARGET), *options]
    subprocess.run([*command, f"{wheel}[lsp]", *_FOR_SOME], check=True)
    for pattern in _LEFT_OUT:
        for path in list(_TARGET.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("expected the path of a wheel of modellint")
    bundle(Path(sys.argv[1]).resolve(), *sys.argv[2:])
