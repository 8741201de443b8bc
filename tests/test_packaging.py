"""What holds the project together outside of its code."""

from __future__ import annotations

import ast
import importlib.util
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from glob import glob
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import work_tree
from effort import in_full
from packaging.requirements import Requirement

import modellint
from modellint.commands.explain import as_json, as_text
from modellint.packs import load_rules
from modellint.reading.example_folders import PACKED

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parent.parent


def toml(name: str) -> dict[str, Any]:
    parser = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    document: dict[str, Any] = parser.loads((ROOT / name).read_text("utf-8"))
    return document


def test_every_package_is_shipped() -> None:
    shipped = set(toml("pyproject.toml")["tool"]["setuptools"]["packages"])
    folders = {path.parent.relative_to(ROOT).as_posix() for path in (ROOT / "modellint").rglob("__init__.py")}
    assert shipped == {folder.replace("/", ".") for folder in folders} | {"modellint_rules"}


def builder() -> ModuleType:
    """`setup.py`, which builds nothing when it is imported."""
    spec = importlib.util.spec_from_file_location("setup", ROOT / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The built-in rules as a wheel has them: the files that `pyproject.toml` names, and the examples in one file."""
    pack = tmp_path / "site" / "modellint_rules"
    for name in ["__init__.py", *data_of_the_rules()]:
        (pack / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "rules" / name, pack / name)
    builder().pack(ROOT / "rules", pack / PACKED)
    return pack


def data_of_the_rules() -> list[str]:
    patterns = toml("pyproject.toml")["tool"]["setuptools"]["package-data"]["modellint_rules"]
    return [name for pattern in patterns for name in glob(pattern, root_dir=ROOT / "rules")]


def with_installed(pack: Path, *command: str, code: str = "") -> subprocess.CompletedProcess[str]:
    """A command of modellint, or some code, with these built-in rules and no others."""
    environment = {**os.environ, "PYTHONPATH": str(pack.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    start = ["-c", code] if code else ["-m", "modellint"]
    return subprocess.run(
        [sys.executable, *start, *command],
        cwd=pack.parent.parent,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_every_file_of_the_rules_is_shipped(installed: Path) -> None:
    """With their examples, which `explain` shows."""
    shipped = {path.relative_to(installed).as_posix() for path in installed.rglob("*") if path.is_file()} - {PACKED}
    packed = {name: text.encode("utf-8", "surrogateescape") for name, text in packed_texts(installed / PACKED).items()}
    rules = ROOT / "rules"
    files = {path for path in rules.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert shipped | set(packed) == {path.relative_to(rules).as_posix() for path in files}
    assert not shipped & set(packed)
    assert {name: data for name, data in packed.items() if (rules / name).read_bytes() != data} == {}


def test_the_examples_of_the_same_files_are_the_same_file(installed: Path, tmp_path: Path) -> None:
    """Whenever and in whatever order they were written, and whatever compilers and editors left among them."""
    copied, made = tmp_path / "copied", tmp_path / "made.json.xz"
    for rule in sorted((ROOT / "rules").glob("ml10*"), reverse=True):
        shutil.copytree(rule, copied / rule.name, copy_function=shutil.copyfile)
        (copied / rule.name / "bad/__pycache__").mkdir(exist_ok=True)
        (copied / rule.name / "bad/__pycache__/model.cpython-311.pyc").write_bytes(b"")
        (copied / rule.name / "good/.DS_Store").write_bytes(b"")
    builder().pack(copied, made)
    entries = packed_texts(made)
    expected = {name: text for name, text in packed_texts(installed / PACKED).items() if name.startswith("ml10")}
    assert len(expected) > 100
    assert list(entries) == sorted(expected)
    assert list(entries.items()) == list(expected.items())
    first = made.read_bytes()
    builder().pack(copied, made)
    assert made.read_bytes() == first


def packed_texts(file: Path) -> dict[str, str]:
    """The texts of examples in the file of a pack, by their paths, in its order."""
    texts: dict[str, str] = json.loads(lzma.decompress(file.read_bytes()))
    return texts


@pytest.mark.dear
def test_an_installed_pack_shows_the_examples_of_each_rule(installed: Path) -> None:
    code = (
        "import json\n"
        "from modellint.commands.explain import as_json\n"
        "from modellint.packs import load_rules\n"
        "print(json.dumps({code: as_json(type(rule)) for code, rule in load_rules().items()}))"
    )
    shown = with_installed(installed, code=code)
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout) == {code: as_json(type(rule)) for code, rule in load_rules().items()}
    page = with_installed(installed, "explain", "ML103", "--all-examples")
    assert page.stdout == as_text(type(load_rules()["ML103"])) + "\n"


@pytest.mark.dear
def test_the_examples_of_an_installed_pack_can_be_run(installed: Path) -> None:
    tested = with_installed(installed, "test-rules", str(installed / "ml503_not_a_layer_in_container"))
    rule = load_rules()["ML503"]
    told = f"ML503 not-a-layer-in-container: {len(rule.bad)} bad, {len(rule.good)} good: ok"
    assert (tested.returncode, tested.stdout.splitlines()[0]) == (0, told), tested.stderr


#: Runs a command, and prints whether the examples were opened and what reads them was imported.
WATCHED = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event == "open" else None)
from modellint.__main__ import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print([any(path.endswith("examples.json.xz") for path in opened), "lzma" in sys.modules], file=sys.stderr)
"""


@pytest.mark.dear
@pytest.mark.parametrize(
    ("command", "is_read"), [("check model.py --no-cache --jobs 1", False), ("explain ML204", True), ("rules", True)]
)
def test_no_check_reads_the_examples_of_an_installed_pack(installed: Path, command: str, is_read: bool) -> None:
    (installed.parent.parent / "model.py").write_text("from torch import nn\n\nlayer = nn.Linear(4, 5)\n")
    watched = with_installed(installed, *command.split(), code=WATCHED)
    assert watched.stderr.splitlines()[-1] == str([is_read, is_read])


def python_of(folder: Path) -> Path:
    """The interpreter of the environment in a folder."""
    return folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an environment, the unpacked source distribution of this tree, and the wheel that is made of it."""
    folder = tmp_path_factory.mktemp("built")
    work_tree.copy(folder / "tree")
    venv.create(folder / "venv", with_pip=True)
    python = python_of(folder)
    (wanted,) = toml("pyproject.toml")["build-system"]["requires"]

    def run(*command: str | Path, cwd: Path = folder) -> None:
        done = subprocess.run([python, *command], cwd=cwd, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    run("-m", "pip", "install", "--quiet", wanted, "wheel")
    code = "from setuptools import build_meta; build_meta.build_{}({!r})"
    run("-c", code.format("sdist", str(folder)), cwd=folder / "tree")
    (archive,) = folder.glob("*.tar.gz")
    shutil.unpack_archive(archive, folder / "unpacked")
    (source,) = (folder / "unpacked").iterdir()
    source.rename(folder / "source")
    run("-c", code.format("wheel", str(folder)), cwd=folder / "source")
    return folder


@in_full
def test_a_wheel_is_small_and_has_the_examples_in_one_file(built: Path, tmp_path: Path) -> None:
    (file,) = built.glob("*.whl")
    builder().pack(ROOT / "rules", tmp_path / PACKED)
    with zipfile.ZipFile(file) as wheel:
        names = wheel.namelist()
        assert wheel.read(f"modellint_rules/{PACKED}") == (tmp_path / PACKED).read_bytes()
    assert [name for name in names if re.search(r"/(bad|good|fixed)/", name)] == []
    assert [
        name for name in names if re.search(r"/knowledge/(list_\w+|regenerate|encoding|packing|stubs)\.py", name)
    ] == []
    # About 0.8 MB of it are the names and parameters of libraries that configurations build objects of (0.29 of them
    # those of transformers), 0.15 the rules of published models with their examples and the reader of their folders,
    # 0.12 the dialects of configurations, and 0.1 the language server.
    assert file.stat().st_size < 3_400_000
    # 45 modules are of the rules of published models, 38 of the dialects, 42 of the language server.
    assert len(names) < 850


@in_full
def test_a_source_distribution_is_the_tree_and_its_tests_run(built: Path) -> None:
    """All tests are found there, and some of each kind pass: of rules, pages, packaging and commands."""
    source, python = built / "source", python_of(built)
    added = re.compile(r"(PKG-INFO|setup\.cfg|(build|modellint\.egg-info)/.*)\Z")
    files = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    assert {name for name in files if not added.match(name)} == set(work_tree.names())

    (packages,) = (path for path in (built / "venv").rglob("site-packages") if path.is_dir())
    (packages / "these.pth").write_text("\n".join(path for path in sys.path if path.endswith("-packages")))
    install = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "-e", "."]
    subprocess.run(install, cwd=source, check=True, capture_output=True)
    some = [f"tests/test_{name}.py" for name in ("packaging", "ci_files", "incremental", "rooms")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MODELLINT_", "PYTEST_"))}
    for arguments in (["--collect-only"], some, ["tests/test_rules.py", "-k", "ML503"]):
        command = [python, "-m", "pytest", "-q", "-n", "0", *arguments]
        done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


OLDER = ("3.6", "3.7", "3.8", "3.9")


def entry() -> list[Path]:
    """The files that `python -m modellint` reads before it asks which Python this is."""
    return [ROOT / "modellint" / name for name in ("__init__.py", "version.py", "__main__.py")]


@pytest.mark.parametrize("older", OLDER)
def test_an_older_python_can_read_what_tells_it_so(older: str) -> None:
    for path in entry():
        tree = ast.parse(path.read_text("utf-8"), feature_version=tuple(map(int, older.split("."))))
        futures = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
        assert futures == [], "Python 3.6 knows no `annotations` there"


@pytest.mark.parametrize("older", OLDER)
def test_an_older_python_is_told_which_one_is_needed(older: str) -> None:
    """By itself where there is one, and otherwise by one that takes itself for it."""
    floor = toml("pyproject.toml")["project"]["requires-python"].removeprefix(">=")
    program = shutil.which(f"python{older}")
    environment = {**os.environ, "PYENV_VERSION": older, "PYTHONDONTWRITEBYTECODE": "1"}
    is_there = program and subprocess.run([program, "-c", ""], env=environment, capture_output=True).returncode == 0
    pretended = f"import runpy, sys; sys.version_info = ({older.replace('.', ', ')}, 0); runpy.run_module('modellint')"
    command = [program, "-m", "modellint"] if program and is_there else [sys.executable, "-c", pretended]
    said = subprocess.run([*command, "check"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    told = f"Error: modellint needs Python {floor} or newer; this is Python {older}\n"
    assert (said.returncode, said.stdout, said.stderr) == (2, "", told)


def test_every_dependency_is_pinned() -> None:
    project = toml("pyproject.toml")["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    pinned = {line.partition("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()}
    names = {re.split(r"[^\w.-]", requirement)[0] for requirement in wanted}
    assert {name.lower().replace("_", "-") for name in names} <= {name.lower().replace("_", "-") for name in pinned}


def test_the_page_about_installing_names_what_is_needed() -> None:
    """All dependencies but libcst, which only fixes need; the extras; the oldest Python."""
    page = (ROOT / "docs/installing.md").read_text("utf-8")
    project = toml("pyproject.toml")["project"]
    names = {Requirement(line).name for line in project["dependencies"]}
    (without,) = re.findall(r"--no-deps \S+ && pip install (.+)", page)
    assert set(without.split()) == names - {"libcst"}
    extras = (ROOT / "docs/getting-started.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", extras, re.MULTILINE)) == {"confirm", "lsp", "watch"}
    assert project["optional-dependencies"].keys() == {"confirm", "lsp", "watch", "docs", "dev"}
    assert f"Python {project['requires-python'].removeprefix('>=')} or later" in page


def test_the_version_is_stated_once() -> None:
    assert "version" in toml("pyproject.toml")["project"]["dynamic"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", modellint.__version__)


def test_ci_runs_what_readme_says() -> None:
    """`.ci/run` takes the line that ends in `pytest` from README's first block."""
    script = (ROOT / ".ci/run").read_text()
    pattern = re.search(r"grep -m1 '(.+?)'", script)
    assert pattern
    block = re.search(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert block
    matching = [line for line in block[1].splitlines() if re.search(pattern[1], line)]
    assert len(matching) == 1
    assert matching[0].startswith("python3 -m venv .venv && ")
    assert "constraints.txt" in matching[0]
