"""Configurations of OpenMMLab are composed as `mmengine.config.Config` does it: the same values, the same refusals."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from effort import IS_WHOLE

from modellint.dialects.openmmlab import composition_of, config_in
from modellint.frontends.openmmlab import looks_like_openmmlab
from modellint.graph.recipe import NO_TAG, NodeKind
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from modellint.dialects.openmmlab_places import Spot

#: The library and what it imports, without the packages for images and plots that it asks for besides.
PACKAGES = (
    *("mmengine==0.10.7", "addict==2.4.0", "yapf==0.43.0", "termcolor==3.3.0", "rich", "numpy", "pyyaml"),
    *("platformdirs", "pygments", "markdown-it-py", "mdurl"),
)
#: Loads the first configuration of each project, and prints what it is, or the error.
LOADER = """
import json, logging, sys, warnings
from mmengine.config import Config
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

def plain(value):
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value

for name in json.load(sys.stdin):
    try:
        found = plain(Config.fromfile(name)._cfg_dict.to_dict())
        text = json.dumps({"values": found}, default=lambda value: "?")
    except Exception as error:
        text = json.dumps({"error": type(error).__name__})
    print(text, flush=True)
"""
#: What the loader prints of functions.
FUNCTION = "?"

BASE = "n = 4\nm = dict(type='A', k=n, sub=dict(type='B', size=2), steps=[1, 2])\n"
OTHER = "runner = dict(epochs=3)\nhooks = [dict(type='Log', every=10), dict(type='Save')]\n"

#: The files of each project; `a.py` is loaded.
PROJECTS: dict[str, dict[str, str]] = {
    "alone": {"a.py": BASE},
    "a base": {"a.py": "_base_ = './b.py'\nm = dict(k=5)\n", "b.py": BASE},
    "two bases": {
        "a.py": "_base_ = ['b.py', './c.py']\nrunner = dict(epochs=9, more=1)\n",
        "b.py": BASE,
        "c.py": OTHER,
    },
    "one key in two bases": {"a.py": "_base_ = ['b.py', 'c.py']\n", "b.py": BASE, "c.py": "n = 3\n"},
    "a base of a base": {
        "a.py": "_base_ = 'b.py'\nm = dict(sub=dict(size=7))\n",
        "b.py": "_base_ = 'c.py'\nm = dict(sub=dict(more=1), k=0)\n",
        "c.py": BASE,
    },
    "a base in another folder": {"x/a.py": "_base_ = '../y/b.py'\nz = 1\n", "y/b.py": BASE},
    "no such base": {"a.py": "_base_ = ['b.py', 'd.py']\n", "b.py": BASE},
    "a base in YAML": {"a.py": "_base_ = 'b.yaml'\nm = dict(k=5)\n", "b.yaml": "m: {type: A, k: 1, l: [1, 2]}\nn: 2\n"},
    "a base in JSON": {
        "a.py": "_base_ = 'b.json'\nm = dict(k=5)\n",
        "b.json": '{"m": {"type": "A", "k": 1}, "n": null}\n',
    },
    "a type is changed": {"a.py": "_base_ = 'b.py'\nm = dict(type='C')\n", "b.py": BASE},
    "a dict is replaced": {"a.py": "_base_ = 'b.py'\nm = dict(_delete_=True, type='C')\n", "b.py": BASE},
    "an inner dict is replaced": {"a.py": "_base_ = 'b.py'\nm = dict(sub=dict(_delete_=True, a=1))\n", "b.py": BASE},
    "nothing to replace": {"a.py": "_base_ = 'b.py'\nq = dict(_delete_=True, a=1)\n", "b.py": BASE},
    "not replaced": {"a.py": "_base_ = 'b.py'\nm = dict(_delete_=False, type='C')\n", "b.py": BASE},
    "a list is replaced": {"a.py": "_base_ = 'b.py'\nm = dict(steps=[3])\n", "b.py": BASE},
    "a dict over a list": {"a.py": "_base_ = 'b.py'\nm = dict(steps=dict(a=1))\n", "b.py": BASE},
    "a dict over a number": {"a.py": "_base_ = 'b.py'\nn = dict(a=1)\n", "b.py": BASE},
    "a dict over None": {"a.py": "_base_ = 'b.py'\nn = dict(a=1)\n", "b.py": "n = None\n"},
    "a number over a dict": {"a.py": "_base_ = 'b.py'\nm = dict(sub=3)\n", "b.py": BASE},
    "a dict replaces a list": {"a.py": "_base_ = 'b.py'\nm = dict(steps=dict(_delete_=True, a=1))\n", "b.py": BASE},
    "an inherited value": {"a.py": "_base_ = 'b.py'\nx = _base_.n\ny = [_base_.m.sub.size]\n", "b.py": BASE},
    "an inherited dict": {"a.py": "_base_ = 'b.py'\nx = dict(inner=_base_.m.sub, k=1)\n", "b.py": BASE},
    "an inherited value in braces": {
        "a.py": "_base_ = 'b.py'\nx = {{_base_.n}}\ny = dict(k={{ _base_.m.k }})\n",
        "b.py": BASE,
    },
    "an inherited element": {
        "a.py": "_base_ = 'c.py'\nx = _base_.hooks[0].every\ny = _base_.hooks[-1]\n",
        "c.py": OTHER,
    },
    "no such inherited key": {"a.py": "_base_ = 'b.py'\nx = _base_.nn\n", "b.py": BASE},
    "no such inherited inner key": {"a.py": "_base_ = 'b.py'\nx = _base_.m.sub.sise\n", "b.py": BASE},
    "no such inherited key in braces": {"a.py": "_base_ = 'b.py'\nx = dict(a={{_base_.nn}})\n", "b.py": BASE},
    "an inherited key as a name": {"a.py": "_base_ = 'b.py'\nx = n + 1\n", "b.py": BASE},
    "a name of nothing": {"a.py": "x = 1\ny = dict(type='A', k=xx)\n"},
    "a redefined name": {"a.py": "_base_ = 'b.py'\nn = 9\n", "b.py": BASE},
    "an inherited key is removed": {"a.py": "_base_ = 'b.py'\ndel _base_.m\nq = 1\n", "b.py": BASE},
    "an inherited dict is taken out": {
        "a.py": "_base_ = 'b.py'\nm = dict(_delete_=True, inner=_base_.m)\n",
        "b.py": BASE,
    },
    "names": {"a.py": "w = 3\nnorm = dict(type='N', w=w)\nm = dict(a=norm, b=norm, c=[norm, w])\n"},
    "a shared dict is changed": {
        "a.py": "d = dict(a=1)\nm = dict(x=d)\nd.update(b=2)\nd['c'] = 3\nl = [d]\nl.append(4)\n"
    },
    "unpacked": {
        "a.py": "d = dict(a=1, b=2)\nm = dict(type='A', **d)\nq = {**d, 'b': 3}\np = [*m, 1] if False else [1]\n"
    },
    "sums": {
        "a.py": "a = 2 * 3 + 1\nb = -a\nc = [1] * 2 + [a]\nd = 7 // 2\ne = 'x' + 'y'\nf = f'{e}-{a}'\ng = 1 / 4\n"
    },
    "keys of other kinds": {"a.py": "m = {1: 'a', 'b': 2, 0.5: 3, True: 4}\n"},
    "functions": {"a.py": "def f(x):\n    return x\n\nm = dict(type='A', k=f(1), p=f)\n"},
    "a loop": {
        "a.py": "m = []\nfor i in range(3):\n    m.append(dict(type='A', i=i))\nn = [dict(k=i) for i in range(2)]\n"
    },
    "a condition": {"a.py": "n = 1\nif n:\n    m = dict(a=1)\nelse:\n    m = dict(b=2)\n"},
    "assigned together": {"a.py": "a = b = dict(k=1)\nb['l'] = 2\nc, d = 1, (2, 3)\n(e, *f) = [1, 2, 3]\n"},
    "files that inherit each other": {"a.py": "_base_ = 'b.py'\nx = 1\n", "b.py": "_base_ = 'a.py'\ny = 1\n"},
    "a file that inherits itself": {"a.py": "_base_ = 'a.py'\nx = 1\n"},
    "lazy": {
        "a.py": "from mmengine.config import read_base\n\nwith read_base():\n    from .b import *\n\nm.update(k=7)\n",
        "b.py": BASE,
    },
    "lazy, deeply": {
        "a.py": "from mmengine.config import read_base\n\nwith read_base():\n    from .b import *\n\n"
        "m.update(dict(sub=dict(size=9), new=dict(a=1)))\nn = 5\n",
        "b.py": BASE,
    },
    "lazy, some names": {
        "a.py": "from mmengine.config import read_base\n\nwith read_base():\n"
        "    from .b import m, n as number\n\nx = number\n",
        "b.py": BASE,
    },
    "lazy, replaced": {
        "a.py": "from mmengine.config import read_base\n\nwith read_base():\n    from .b import *\n\nm = dict(k=1)\n",
        "b.py": BASE,
    },
    "lazy, no such name": {
        "a.py": "from mmengine.config import read_base\n\nwith read_base():\n    from .b import mm\n\nx = 1\n",
        "b.py": BASE,
    },
    "lazy, no such file": {
        "a.py": "from mmengine.config import read_base\n\nwith read_base():\n    from .d import *\n\nx = 1\n",
        "b.py": BASE,
    },
}


@pytest.fixture(scope="session")
def mmengine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that mmengine is installed into."""
    folder = tmp_path_factory.mktemp("mmengine")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *PACKAGES]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode and not os.environ.get("CI"):
        pytest.skip(f"mmengine cannot be installed: {result.stderr.strip()}")
    assert result.returncode == 0, result.stderr
    return folder


def load(names: list[str], folder: Path, library: Path) -> list[dict[str, Any]]:
    """What mmengine makes of files, or the names of the errors."""
    result = subprocess.run(
        [sys.executable, "-c", LOADER],
        input=json.dumps(names),
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(library)},
    )
    return [json.loads(line) for line in result.stdout.splitlines()]


def write(files: Mapping[str, str], folder: Path) -> Path:
    """Write the files of a project; gives the one that is loaded."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / next(iter(files))


def differences(spot: Spot, values: object, where: str = "") -> list[str]:
    """The places whose value is known and another one than the loader's."""
    if spot.node.kind is NodeKind.MAPPING:
        if not isinstance(values, dict):
            return [f"{where}: a dict for {values!r}"]
        own = {str(key): child for key, child in spot.children.items()}
        found = [f"{where}: the keys {sorted(own)} for {sorted(values)}"] if own.keys() - values.keys() else []
        more = [key for key in values.keys() - own.keys() if values[key] != FUNCTION]
        if more and not spot.is_open:
            found.append(f"{where}: no {sorted(more)}")
        for key in own.keys() & values.keys():
            found += differences(own[key], values[key], f"{where}.{key}")
        return found
    if spot.node.kind is NodeKind.SEQUENCE:
        if not isinstance(values, list):
            return [f"{where}: a list for {values!r}"]
        if not spot.is_open and len(values) != len(spot.children):
            return [f"{where}: {len(spot.children)} elements for {len(values)}"]
        pairs = zip(spot.children.values(), values, strict=False)
        return [
            one for index, (child, value) in enumerate(pairs) for one in differences(child, value, f"{where}.{index}")
        ]
    is_known = spot.node.tag is NO_TAG and not spot.is_open
    return [f"{where}: {spot.node.scalar!r} for {values!r}"] if is_known and spot.node.scalar != values else []


def judge(path: Path, loaded: dict[str, Any], folder: Path) -> list[str]:
    """The differences between the composition of a file and what the loader makes of it."""
    project = Project(ProjectOptions(folder))
    composed = composition_of(path, project)
    assert composed is not None
    told: list[object] = []
    for one in sorted(folder.rglob("*.py")):  # each file tells its own
        part = composition_of(one, project)
        told += [] if part is None else [*part.refusals, *part.problems]
    if "error" in loaded:
        return [] if told else [f"not told: {loaded['error']}"]
    return [*(f"told: {one}" for one in told), *differences(composed.root, loaded["values"])]


def test_what_is_written_is_composed_as_mmengine_does(tmp_path: Path, mmengine: Path) -> None:
    paths = [write(files, tmp_path / str(number)) for number, files in enumerate(PROJECTS.values())]
    loaded = load([path.as_posix() for path in paths], tmp_path, mmengine)
    found = {
        name: wrong
        for name, path, one in zip(PROJECTS, paths, loaded, strict=True)
        if (wrong := judge(path, one, path.parent))
    }
    assert found == {}


def any_value(draw: Random, depth: int, names: list[str]) -> str:
    """The text of a random value."""
    kind = draw.randrange(9 if depth else 4)
    if kind < 3:
        return draw.choice(["1", "2.5", "'x'", "None", "True", "[1, 2]", "(1, 2)", "-3"])
    if kind == 3:
        return draw.choice(names) if names else "0"
    keys = draw.sample(["a", "b", "c", "d"], draw.randint(0, 3))
    parts = [f"{key}={any_value(draw, depth - 1, names)}" for key in keys]
    if kind == 4:
        return f"[{', '.join(any_value(draw, depth - 1, names) for _ in range(draw.randint(0, 2)))}]"
    if kind == 5:
        parts.append("_delete_=True")
    return f"dict({', '.join(parts)})"


def any_project(draw: Random) -> dict[str, str]:
    """A random configuration with one or two that it inherits."""
    texts: list[str] = []
    for number in range(draw.randint(2, 3)):
        names: list[str] = []
        lines = [f"_base_ = 'f{number - 1}.py'"] if number else []
        for key in draw.sample(["a", "b", "c", "d"], draw.randint(1, 4)):
            inherited = f"_base_.{draw.choice('abcd')}" + draw.choice(["", "", f".{draw.choice('abcd')}"])
            lines.append(f"{key} = {inherited if number and draw.random() < 0.2 else any_value(draw, 3, names)}")
            names.append(key)
        texts.append("\n".join(lines) + "\n")
    files = {f"f{number}.py": text for number, text in enumerate(texts)}
    return dict(reversed(files.items()))


def test_random_configurations_are_composed_as_mmengine_does(tmp_path: Path, mmengine: Path) -> None:
    draw = Random(5)
    projects = [any_project(draw) for _ in range(600 if IS_WHOLE else 150)]
    paths = [write(files, tmp_path / str(number)) for number, files in enumerate(projects)]
    loaded = load([path.as_posix() for path in paths], tmp_path, mmengine)
    found = [
        (files, wrong)
        for files, path, one in zip(projects, paths, loaded, strict=True)
        if (wrong := judge(path, one, path.parent))
    ]
    assert found == []
    assert sum("error" in one for one in loaded) < len(loaded) * 0.8


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("_base_ = ['./a.py']\n", True),
        ("from mmengine.config import read_base\nwith read_base():\n    from .a import *\n", True),
        ("model = dict(type='A')\n", True),
        ("model = {'type': 'A'}\n", True),
        ("hooks = [dict(type='A')]\n", True),
        ("import torch\n\nclass A(torch.nn.Module):\n    pass\n\nX = dict(type='a')\n", False),
        ("x = dict(kind='a')\n", False),
        ("def f(type):\n    return dict(type=type)\n", False),
        ("# _base_ is no word of Python\nx = 1\n", False),
        ("x = 1\r_base_ = './a.py'\r", True),
        (" \f_base_ \f= './a.py'\n", True),
        ("import mmengine\r\fmodel = [  # one\r  dict(type='A')]\r", True),
        ("X = dict(type='a')\r\fclass A:\r    pass\r", False),
    ],
)
def test_a_configuration_is_known_by_its_bytes(text: str, looks: bool) -> None:
    assert looks_like_openmmlab(text.encode()) is looks


def test_a_dict_with_a_type_is_a_configuration_where_something_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "layout.py"
    path.write_text("axis = dict(type='log')\n", encoding="utf-8")
    assert config_in(path, path.read_bytes(), Project(ProjectOptions(tmp_path))) is None
    (tmp_path / "nets.py").write_text("@MODELS.register_module()\nclass Net:\n    pass\n", encoding="utf-8")
    assert config_in(path, path.read_bytes(), Project(ProjectOptions(tmp_path))) is not None


@pytest.mark.parametrize(
    "text",
    [
        "_base_ = 3\nx = 1\n",
        "_base_ = ['a.py' + name]\n",
        f"_base_ = './a.py'\nx = {'[' * 60}{']' * 60}\n",
        "_base_ = './a.py'\n" + "".join(f"x{n} = [x{n - 1}] * 50\n" if n else "x0 = [1]\n" for n in range(8)),
        "_base_ = []\nx = dict()\nx['x'] = x\n",
        "_base_ = ''\nx = 10 ** 9999\n",
        "_base_ = './\\0.py'\n",
    ],
)
def test_bad_input_is_no_failure(text: str, tmp_path: Path) -> None:
    path = tmp_path / "b.py"
    path.write_text(text, encoding="utf-8")
    composed = composition_of(path, Project(ProjectOptions(tmp_path)))
    assert composed is not None
