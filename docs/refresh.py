"""Brings up to date what files repeat: `python docs/refresh.py` writes README's rules, the rooms, picture and schema.

`python docs/refresh.py REPOSITORY SITE` moves the project to these addresses first: `modellint/home.py` says them, and
README, pyproject.toml, the pages and the files in packaging/ have to repeat them.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modellint import home
from modellint.config.schema import configuration_schema
from modellint.packs import load_rules
from modellint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from modellint.rule import Rule

ROOT = Path(__file__).parent.parent
#: What the rules of a family are about, by the beginning of their codes.
FAMILIES = {
    "ML1": "Ids and tables",
    "ML2": "Layers and tensors that are not moved, trained or saved",
    "ML3": "Positions and sizes",
    "ML4": "Recipes",
    "ML5": "Widths and calls",
    "ML6": "Published models and checkpoints",
    "ML7": "Training",
    "ML0": "Files and comments",
}
_MIRRORED = ("README.md", "pyproject.toml")
_RULES = re.compile(r"(?<=<!-- rules -->\n).*?(?=<!-- end of rules -->)", re.DOTALL)
_ROOMS = re.compile(r"(?<=<!-- rooms -->\n).*?(?=<!-- end of rooms -->)", re.DOTALL)


def families(rules: Mapping[str, Rule]) -> Iterator[tuple[str, list[Rule]]]:
    """The titles of families with their rules; those of no family that is known come last."""
    for start, title in FAMILIES.items():
        members = [rule for code, rule in rules.items() if code.startswith(start)]
        if members:
            yield title, members
    others = [rule for code, rule in rules.items() if not code.startswith(tuple(FAMILIES))]
    if others:
        yield "More", others


def listed(rules: Mapping[str, Rule]) -> str:
    """The rules in a line each, by family, as README has them."""
    parts = []
    for title, members in families(rules):
        lines = [f"- {rule.code} {rule.docs().summary}" for rule in members]
        parts.append("\n".join([f"**{title}**", "", *lines, "", ""]))
    return "".join(parts)


def with_rules(readme: str, rules: Mapping[str, Rule]) -> str:
    """README with the rules that there are."""
    return _RULES.sub(lambda _: f"\n{listed(rules)}", readme)


def rooms() -> Iterator[tuple[str, str]]:
    """The folders of modellint below the top one and that of its rules, with their docstrings."""
    for file in (*sorted(ROOT.glob("modellint/*/**/__init__.py")), ROOT / "rules/__init__.py"):
        docstring = ast.get_docstring(ast.parse(file.read_text("utf-8")), clean=False) or ""
        yield file.parent.relative_to(ROOT).as_posix(), inspect.cleandoc(docstring)


def with_rooms(page: str) -> str:
    """A page with the table of rooms: what each is, and where to begin, as its docstring says."""
    lines = ["", "| room | what is in it | begin with |", "|---|---|---|"]
    for room, docstring in rooms():
        first, _, rest = docstring.partition("\n\n")
        begin = re.search(r"Begin with (.+?)[.;](?:\s|$)", rest, re.DOTALL)
        cells = (f"`{room}/`", first, begin[1] if begin else "")
        lines.append(f"| {' | '.join(' '.join(cell.split()) for cell in cells)} |")
    return _ROOMS.sub(lambda _: "\n".join([*lines, "", ""]), page)


def is_released() -> bool:
    """True once the changelog has a section for the present version, as `.ci/cut-release` writes it."""
    return f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def revision() -> str:
    """The revision that pages name: the branch `main` before the first release, which has the first tag."""
    return f"v{__version__}" if is_released() else "main"


def with_version(text: str, revision: str) -> str:
    """The text with the present version, whose hooks and actions are those of a revision."""
    text = re.sub(r"(modellint==|^  version: \")\d+\.\d+\.\d+", rf"\g<1>{__version__}", text, flags=re.MULTILINE)
    return re.sub(r"(rev: |uses: [\w./-]+/modellint@)(?:v\d+\.\d+\.\d+|main)\b", rf"\g<1>{revision}", text)


def published_elsewhere() -> list[Path]:
    """The files of a recipe and of a mirror, which name the version and where the project lives."""
    return [ROOT / "packaging/conda/recipe.yaml", *(ROOT / "packaging/pre-commit-mirror" / name for name in _MIRRORED)]


def with_release(text: str) -> str:
    """The text as it reads once modellint is on the index: it installs from there, without the notes about the wait."""
    if not is_released():
        return text
    source = re.escape(f"git+{home.REPOSITORY}")
    text = re.sub(rf"(?<=modellint\[)(\w+)\] @ {source}", r"\1]", text)
    text = re.sub(rf"(?:--from|--spec) {source} (?=modellint)", "", text)
    text = re.sub(source, "modellint", text)
    return re.sub(r"<!-- until the first release -->\n.*?<!-- end -->\n\n?", "", text, flags=re.DOTALL)


def files_with_addresses() -> list[Path]:
    """The files that repeat where the project lives."""
    named = [ROOT / "modellint/home.py", ROOT / "pyproject.toml", ROOT / "README.md"]
    extension = [ROOT / "editors/vscode" / name for name in ("package.json", "README.md")]
    return [*named, *extension, *sorted(ROOT.glob("docs/*.md")), *published_elsewhere()]


def moved(text: str, repository: str, site: str) -> str:
    """A text with these addresses in the place of the present ones."""
    for old, new in ((home.REPOSITORY, repository), (home.SITE, site)):
        text = text.replace(old, new)
    return text.replace(f"uses: {path_of(home.REPOSITORY)}@", f"uses: {path_of(repository)}@")


def path_of(repository: str) -> str:
    """`owner/name` of the address of a repository."""
    return "/".join(repository.rstrip("/").split("/")[-2:])


#: The settings that the extension has for itself.
_OF_EXTENSION: dict[str, Any] = {
    "enable": {"type": "boolean", "default": True, "description": "Check files. `false` turns all checks off."},
    "interpreter": {
        "type": ["string", "null"],
        "default": None,
        "markdownDescription": "The interpreter that runs modellint, and that has the project's packages. Default: the "
        "one that the Python extension has chosen, then `.venv`, then `python3`.",
    },
    "importStrategy": {
        "type": "string",
        "enum": ["fromEnvironment", "useBundled"],
        "default": "fromEnvironment",
        "markdownEnumDescriptions": [
            "Use the modellint of the interpreter if it has one, else that of the extension.",
            "Use the modellint of the extension.",
        ],
        "description": "Which modellint to run.",
    },
    "trace.server": {
        "type": "string",
        "enum": ["off", "messages", "verbose"],
        "default": "off",
        "description": "Which messages of the language server to log.",
    },
    "inlay-hints": {"type": "boolean", "default": True, "description": "Show the shapes of tensors beside the code."},
    "configuration": {
        "type": ["string", "null"],
        "default": None,
        "description": "The configuration file, relative to the workspace folder. Default: the nearest one.",
    },
}


def with_settings(manifest: str) -> str:
    """The manifest of the extension for Visual Studio Code with a setting for each key of the configuration.

    An editor sends the default of each setting: null leaves a key to the project's file.
    """
    document = json.loads(manifest)
    found = dict(_OF_EXTENSION)
    for key, schema in configuration_schema()["properties"].items():
        if key not in ("confirm", "extend"):
            kind = schema.get("type", "string")
            kinds = [*(kind if isinstance(kind, list) else [kind]), "null"]
            known = {name: schema[name] for name in ("items", "additionalProperties", "minimum") if name in schema}
            values = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
            text = schema["description"]
            found[key] = {
                "type": kinds,
                **values,
                **known,
                "default": None,
                "markdownDescription": text[:1].upper() + text[1:],
            }
    properties = {f"modellint.{name}": schema | {"scope": _scope(name)} for name, schema in found.items()}
    document["contributes"]["configuration"]["properties"] = properties
    document["version"] = __version__
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _scope(name: str) -> str:
    return "window" if name in ("trace.server", "importStrategy") else "resource"


def refresh() -> None:
    """Write what is made of the code."""
    readme = ROOT / "README.md"
    readme.write_text(with_rules(readme.read_text("utf-8"), load_rules()), "utf-8")
    design = ROOT / "docs/design.md"
    design.write_text(with_rooms(design.read_text("utf-8")), "utf-8")
    for file in (readme, *ROOT.glob("docs/*.md")):
        file.write_text(with_release(with_version(file.read_text("utf-8"), revision())), "utf-8")
    for file in published_elsewhere():
        file.write_text(with_version(file.read_text("utf-8"), f"v{__version__}"), "utf-8")
    schema = json.dumps(configuration_schema(), indent=2)
    (ROOT / "docs/modellint.schema.json").write_text(f"{schema}\n", "utf-8")
    manifest = ROOT / "editors/vscode/package.json"
    manifest.write_text(with_settings(manifest.read_text("utf-8")), "utf-8")
    picture = subprocess.run([sys.executable, str(ROOT / "docs/picture.py")], capture_output=True, check=True)
    (ROOT / "docs/run.svg").write_bytes(picture.stdout)


if __name__ == "__main__":
    if len(sys.argv) not in (1, 3):
        sys.exit("expected no arguments, or the addresses of the repository and of the site")
    if len(sys.argv) == 3:
        for file in files_with_addresses():
            file.write_text(moved(file.read_text("utf-8"), *(address.rstrip("/") for address in sys.argv[1:])), "utf-8")
    refresh()
