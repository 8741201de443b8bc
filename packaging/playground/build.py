"""Builds the playground: `python packaging/playground/build.py FOLDER --wheel WHEEL --pyodide FOLDER`.

The page loads everything from its own folder: the wheel of modellint with the packages that a check needs, in one
archive, and Pyodide, which npm's package `pyodide` contains.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import sys
import zipfile
from pathlib import Path

_HERE = Path(__file__).parent
_PAGE = ("index.html", "playground.css", "playground.js", "worker.js")
_PYODIDE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json")
#: The packages that a check imports; each of them works without its compiled parts.
_PACKAGES = ("click", "packaging", "pathspec", "yaml")
#: The date in the archive, so that the same content gives the same bytes.
_DATE = (1980, 1, 1, 0, 0, 0)


def build(folder: Path, wheel: Path, pyodide: Path) -> None:
    """Write the page and what it loads to a folder. Raises FileNotFoundError for a part that is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _PAGE:
        shutil.copy(_HERE / name, folder / name)
    (folder / "pyodide").mkdir(exist_ok=True)
    for name in _PYODIDE:
        shutil.copy(pyodide / name, folder / "pyodide" / name)
    with zipfile.ZipFile(folder / "packages.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(_contents(wheel).items()):
            archive.writestr(zipfile.ZipInfo(name, _DATE), data, zipfile.ZIP_DEFLATED)


def _contents(wheel: Path) -> dict[str, bytes]:
    """The files of the archive by name."""
    found = {"modellint_playground.py": (_HERE / "modellint_playground.py").read_bytes()}
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            raise FileNotFoundError(f"the package {package} is not installed")
        top = Path(spec.origin).parent
        found |= {f"{package}/{path.relative_to(top).as_posix()}": path.read_bytes() for path in top.rglob("*.py")}
    with zipfile.ZipFile(wheel) as archive:
        found |= {name: archive.read(name) for name in archive.namelist()}
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--pyodide", type=Path, required=True, help="the folder of npm's package")
    given = parser.parse_args(arguments)
    try:
        build(given.folder, given.wheel, given.pyodide)
    except (OSError, zipfile.BadZipFile) as error:
        print(f"the playground cannot be built: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
