"""The docstring of each room says where to begin, and names all that it imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import house
import pytest

ROOT = Path(__file__).parents[1]
ROOMS = [path.parent.relative_to(ROOT).as_posix() for path in ROOT.glob("modellint/*/**/__init__.py")]
#: The most modules that import each other, those for typing included: parts of one interpreter, and of its domain.
LARGEST = 8
#: How many modules a table of contents may have.
CONTENTS = 14


@pytest.fixture(scope="module")
def source() -> house.House:
    return house.read(ROOT)


def room_of(module: str) -> str:
    """The folder that a module stands in; a module of the top folder is one by itself."""
    parts = module.split(".")
    if parts[0] == "modellint_rules":
        return "rules/"
    folder = parts[1:] if ROOT.joinpath(*parts).is_dir() else parts[1:-1]
    return "/".join(folder) + "/" if folder else f"{parts[-1]}.py"


@pytest.mark.parametrize("room", [*sorted(ROOMS), "rules"])
def test_a_room_says_where_to_begin_and_what_it_imports(room: str, source: house.House) -> None:
    text = ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text("utf-8")))
    assert text is not None
    begin, imports = (
        re.search(r"Begin with ([^.;]|\.py)+", text),
        re.search(r"(?:It|They) imports? (.+)\.$", text, re.S),
    )
    assert begin is not None
    assert imports is not None
    assert all((ROOT / room / name).exists() for name in re.findall(r"`(\w+(?:\.py)?)`", begin[0]))
    own = f"{room.removeprefix('modellint/')}/"
    found = {
        room_of(one.target)
        for module, targets in source.imports.items()
        if room_of(module) == own
        for one in targets
        if room_of(one.target) != own
    }
    assert re.findall(r"`([^`]+)`", imports[1]) == sorted(found)


def test_the_top_folder_reads_like_a_table_of_contents() -> None:
    assert len(list((ROOT / "modellint").glob("*.py"))) <= CONTENTS


def test_modules_import_each_other_in_flow_only(source: house.House) -> None:
    graph = {name: [found.target for found in imports] for name, imports in source.imports.items()}
    circles = [one for one in house.components(graph) if len(one) > 1]
    assert [one for one in circles if {name.rpartition(".")[0] for name in one} != {"modellint.flow"}] == []
    assert max(map(len, circles)) <= LARGEST


@pytest.mark.skipif(sys.version_info < (3, 11), reason="import-linter wants Python 3.11")
def test_rooms_import_what_they_may() -> None:
    """The contracts stand in pyproject.toml."""
    program = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout


#: All that rules import of modellint, typing included: packages count with their modules.
OFFERED = (
    *("modellint.rule", "modellint.finding", "modellint.graph", "modellint.operators", "modellint.claims"),
    *("modellint.edits", "modellint.flow.queries", "modellint.folders", "modellint.link.recipes.queries"),
)
#: Rules that look into the engine: they follow optimizers by theories.
INSIDE = {"ml207_parameter_not_registered", "ml209_layer_not_optimised"}


def test_rules_speak_to_the_engine_by_queries(source: house.House) -> None:
    rules = {module: imports for module, imports in source.imports.items() if module.startswith("modellint_rules.ml")}
    looking = {
        module.split(".")[1]
        for module, imports in rules.items()
        for one in imports
        if one.target.startswith("modellint.") and one.target not in ("modellint.flow", "modellint.link.recipes")
        if not any(one.target == name or one.target.startswith(f"{name}.") for name in OFFERED)
    }
    assert len({module.split(".")[1] for module in rules}) > 40
    assert looking == INSIDE


@pytest.mark.dear
def test_what_is_imported_for_typing_exists() -> None:
    """Those imports are never executed, and mypy reads neither tests nor benchmarks."""
    files = [path for folder in ("modellint", "tests", "benchmarks", "docs") for path in (ROOT / folder).rglob("*.py")]
    lost = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.module}"
        for path in files
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "modellint"
        if not (ROOT / node.module.replace(".", "/")).is_dir()
        if not (ROOT / (node.module.replace(".", "/") + ".py")).is_file()
    ]
    assert lost == []
