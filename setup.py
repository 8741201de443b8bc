"""Puts the examples of rules, which are many small files, into one: `examples.json.xz`, beside the rules' folders.

A wheel has no modules that extract the facts about packages anew: a checkout and a source distribution have them.
All else is in pyproject.toml. A checkout, and an installation that leads to one, have the files themselves.
"""

from __future__ import annotations

import json
from pathlib import Path

EXAMPLES = ("bad", "fixed", "good")
TITLES = "examples.toml"
NAME = "examples.json.xz"
#: Modules of `modellint.knowledge` that write its tables, and that nothing else imports.
EXTRACTORS = ("regenerate", "encoding", "packing", "stubs")


def pack(rules: Path, target: Path) -> None:
    """Write the examples below a folder of rules and their titles to a file: texts by paths, as compressed JSON.

    Packed as one they take half of what each for itself would. Its bytes depend on nothing but theirs.
    """
    import lzma  # some builds of Python lack it, and an editable installation needs none

    # For text: more of the byte before tells what comes, and its place within four bytes tells nothing.
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]
    patterns = (TITLES, *(f"{kind}/**/*" for kind in EXAMPLES))
    files = (path for pattern in patterns for path in rules.glob(f"*/{pattern}"))
    found = {path.relative_to(rules).as_posix(): path for path in files}
    texts = {
        name: path.read_bytes().decode("utf-8", "surrogateescape")
        for name, path in sorted(found.items())
        if path.is_file() and not any(_is_left_out(part) for part in name.split("/"))
    }
    target.write_bytes(lzma.compress(json.dumps(texts).encode(), filters=filters))


def _is_left_out(name: str) -> bool:
    """As in modellint/reading/example_folders.py."""
    return name == "__pycache__" or name.startswith(".")


def _is_extractor(package: str, module: str) -> bool:
    return package == "modellint.knowledge" and (module in EXTRACTORS or module.startswith("list_"))


def main() -> None:
    from setuptools import setup
    from setuptools.command.build_py import build_py

    class BuildWithExamples(build_py):
        def run(self) -> None:
            super().run()
            if not self.editable_mode:
                pack(Path(self.get_package_dir("modellint_rules")), self._examples())

        def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
            found: list[tuple[str, str, str]] = super().find_package_modules(package, package_dir)
            return [entry for entry in found if self.editable_mode or not _is_extractor(*entry[:2])]

        def get_outputs(self, include_bytecode: bool = True) -> list[str]:
            outputs = list(super().get_outputs(include_bytecode))
            return outputs if self.editable_mode else [*outputs, str(self._examples())]

        def _examples(self) -> Path:
            return Path(self.build_lib, "modellint_rules", NAME)

    setup(cmdclass={"build_py": BuildWithExamples})


if __name__ == "__main__":
    main()
