"""Dotted names lead to the definitions that Python would find, and to nothing where that cannot be known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from modellint.link.names import (
    DefinedClass,
    DefinedConstant,
    DefinedFunction,
    DefinedModule,
    Definition,
    External,
)
from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Resolve = Callable[..., str]


def describe(definition: Definition | None, root: Path) -> str:
    """A definition in words: `class pkg/model.py::Encoder`, `external torch.nn.Linear`."""
    match definition:
        case DefinedClass(cls):
            return f"class {cls.module.file.relative_to(root).as_posix()}::{cls.qualname}"
        case DefinedFunction(function):
            return f"function {function.module.file.relative_to(root).as_posix()}::{function.qualname}"
        case DefinedConstant(module, name, value):
            return f"constant {module.file.relative_to(root).as_posix()}::{name} = {value.data!r}"
        case DefinedModule(module):
            return f"module {module.file.relative_to(root).as_posix()}"
        case External(name):
            return f"external {name}"
    return "nothing"


@pytest.fixture
def resolve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Resolve:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)

    def run(files: Mapping[str, str], name: str, *, file: str = "", python: Path | None = None) -> str:
        for path, text in files.items():
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        project = Project(ProjectOptions(tmp_path, python))
        module = project.python(tmp_path / (file or next(iter(files))))
        assert module is not None
        return describe(project.names.resolve(module, name), tmp_path)

    return run


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("import torch.nn as nn", "nn.Embedding", "external torch.nn.Embedding"),
        ("import torch", "torch.nn.Embedding", "external torch.nn.Embedding"),
        ("from torch import nn", "nn.modules.sparse.Embedding", "external torch.nn.Embedding"),
        ("from torch.nn.modules.sparse import Embedding as E", "E", "external torch.nn.Embedding"),
        ("from torch.nn.parameter import Parameter", "Parameter", "external torch.nn.Parameter"),
        ("from torch.nn import *", "Linear", "external torch.nn.Linear"),
        ("from torch.nn import *", "Lineal", "nothing"),
        ("import torch.nn as nn\nNorm = nn.LayerNorm", "Norm", "external torch.nn.LayerNorm"),
        ("import math", "math.sqrt", "external math.sqrt"),
        ("", "len", "external builtins.len"),
        ("", "missing", "nothing"),
        ("class A:\n    class B: pass", "A.B", "class main.py::A.B"),
        ("class A:\n    rows = 3\nclass B(A): pass", "B.rows", "constant main.py::A.rows = 3"),
        ("class A:\n    def f(self): pass\nclass B(A): pass", "B.f", "function main.py::A.f"),
        ("rows = 3", "rows", "constant main.py::rows = 3"),
        ("try:\n    from apex import Norm\nexcept ImportError:\n    class Norm: pass", "Norm", "class main.py::Norm"),
        ("if True:\n    import torch.nn as layers", "layers.GRU", "external torch.nn.GRU"),
        # A function that imports for itself writes its names out.
        ("", "torch.nn.Linear", "external torch.nn.Linear"),
    ],
)
def test_names_of_one_file(resolve: Resolve, text: str, name: str, expected: str) -> None:
    assert resolve({"main.py": text}, name) == expected


PACKAGE = {
    "pkg/__init__.py": "from .layers import *\nfrom .model import model\nfrom .deep import Deep as Shallow\n",
    "pkg/layers.py": (
        "__all__ = ['Encoder']\n__all__ += ['Decoder']\nclass Encoder: pass\nclass Decoder: pass\nclass Own: pass\n"
    ),
    "pkg/model.py": "from .. import pkg\nfrom . import layers\nfrom .config import Config as C\ndef model(): pass",
    "pkg/config.py": "class Config:\n    vocab = 4160\n",
    "pkg/deep/__init__.py": "from .inner import Deep\n",
    "pkg/deep/inner.py": "from ..layers import Encoder\nclass Deep(Encoder): pass\n",
}


@pytest.mark.parametrize(
    ("file", "name", "expected"),
    [
        ("main.py", "pkg.Encoder", "class pkg/layers.py::Encoder"),
        ("main.py", "pkg.Decoder", "class pkg/layers.py::Decoder"),
        ("main.py", "pkg.Own", "nothing"),
        ("main.py", "pkg.layers.Own", "class pkg/layers.py::Own"),
        ("main.py", "pkg.Shallow", "class pkg/deep/inner.py::Deep"),
        ("main.py", "model", "function pkg/model.py::model"),
        ("main.py", "pkg.config", "module pkg/config.py"),
        ("pkg/model.py", "C.vocab", "constant pkg/config.py::Config.vocab = 4160"),
        ("pkg/model.py", "layers.Encoder", "class pkg/layers.py::Encoder"),
        ("pkg/deep/inner.py", "Encoder", "class pkg/layers.py::Encoder"),
    ],
)
def test_names_across_a_package(resolve: Resolve, file: str, name: str, expected: str) -> None:
    files = {"main.py": "import pkg\nfrom pkg import model\n", **PACKAGE}
    assert resolve(files, name, file=file) == expected


def test_a_script_sees_the_folders_above_it_up_to_the_project(resolve: Resolve) -> None:
    files = {
        "egs/tts/train.py": "from models.tts import Encoder\nfrom utils import seed\n",
        "models/tts.py": "class Encoder: pass",
        "utils.py": "def seed(): pass",
        "egs/tts/utils.py": "def seed(): pass",
    }
    assert resolve(files, "Encoder") == "class models/tts.py::Encoder"
    assert resolve(files, "seed") == "function egs/tts/utils.py::seed"


def test_sources_below_src_are_found(resolve: Resolve) -> None:
    files = {"train.py": "from pkg.model import Model\n", "src/pkg/model.py": "class Model: pass"}
    assert resolve(files, "Model") == "class src/pkg/model.py::Model"


@pytest.mark.parametrize("library", ["lib/python3.12/site-packages", "Lib/site-packages"])
def test_packages_of_the_interpreter_are_read_as_text(resolve: Resolve, tmp_path: Path, library: str) -> None:
    marker = tmp_path / "imported"
    files = {
        "train.py": "from other.net import Net\nimport other\n",
        f"env/{library}/other/__init__.py": f"open({str(marker)!r}, 'w')\n",
        f"env/{library}/other/net.py": "class Net: pass",
    }
    python = tmp_path / "env" / "bin" / "python"
    assert resolve(files, "Net", python=python) == f"class env/{library}/other/net.py::Net"
    assert resolve(files, "other.made_up", python=python) == "external other.made_up"
    assert not marker.exists()


def test_an_environment_beside_the_project_is_found(resolve: Resolve) -> None:
    files = {
        "train.py": "from other import Net\n",
        ".venv/lib/python3.11/site-packages/other.py": "class Net: pass",
    }
    assert resolve(files, "Net") == "class .venv/lib/python3.11/site-packages/other.py::Net"


def test_an_editable_install_is_followed(resolve: Resolve, tmp_path: Path) -> None:
    files = {
        "project/train.py": "from other import Net\n",
        "env/lib/python3.11/site-packages/other.pth": f"{(tmp_path / 'checkout').as_posix()}\nimport something\n",
        "checkout/other.py": "class Net: pass",
    }
    assert resolve(files, "Net", python=tmp_path / "env/bin/python") == "class checkout/other.py::Net"


def test_without_an_environment_a_name_stays_what_it_is_called(resolve: Resolve) -> None:
    assert resolve({"train.py": "from other.net import Net\n"}, "Net") == "external other.net.Net"


LAZY = {
    "structure": (
        "from .utils import _LazyModule\n"
        "_import_structure = {'modeling': ['Model']}\n"
        "_import_structure['config'] = ['Config']\n"
        "import sys\nsys.modules[__name__] = _LazyModule(__name__, _import_structure)\n"
    ),
    "getattr": "_MODULES = {'Model': '.modeling', 'Config': '.config'}\ndef __getattr__(name): ...\n",
    "typing": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from .modeling import *\n    from .config import Config\n"
        "else:\n    import sys\n"
    ),
}


@pytest.mark.parametrize("style", sorted(LAZY))
def test_lazily_loaded_packages(resolve: Resolve, style: str) -> None:
    files = {
        "main.py": "from lazy import Config\nimport lazy",
        "lazy/__init__.py": LAZY[style],
        "lazy/modeling.py": "class Model: pass",
        "lazy/config.py": "class Config: pass",
    }
    assert resolve(files, "lazy.Model") == "class lazy/modeling.py::Model"
    assert resolve(files, "Config") == "class lazy/config.py::Config"


def test_redirected_modules(resolve: Resolve) -> None:
    files = {
        "main.py": "import kit",
        "kit/__init__.py": (
            "from .tools import deprecated_redirect\n"
            "moved = {'kit.old': 'kit.new'}\n"
            "def redirect():\n"
            "    for old, new in moved.items():\n        deprecated_redirect(old, new)\n"
            "    deprecated_redirect('kit.gone', 'kit.new.here')\n"
        ),
        "kit/tools.py": "def deprecated_redirect(old, new): ...",
        "kit/new/__init__.py": "class Net: pass",
        "kit/new/here.py": "class Layer: pass",
    }
    assert resolve(files, "kit.old.Net") == "class kit/new/__init__.py::Net"
    assert resolve(files, "kit.gone.Layer") == "class kit/new/here.py::Layer"


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": "from b import X\n", "b.py": "from a import X\n"},
        {"a.py": "from a import X\n"},
        {"a.py": "from b import *\n", "b.py": "from a import *\n"},
        {"a.py": "X = Y\nY = X\n"},
        {"a.py": "import a\nX = a.X\n"},
        {"a.py": "from c0 import X\n", **{f"c{i}.py": f"from c{i + 1} import X\n" for i in range(300)}},
    ],
    ids=["two files", "itself", "stars", "aliases", "own attribute", "a long chain"],
)
def test_circles_end(resolve: Resolve, files: dict[str, str]) -> None:
    assert resolve(files, "X").partition(" ")[0] in ("nothing", "constant", "external")


def test_files_that_were_looked_for_are_dependencies(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("from pkg.model import Model\n")
    project = Project(ProjectOptions(tmp_path))
    module = project.python(tmp_path / "main.py")
    assert module is not None
    for _ in range(2):
        with project.files.trace() as trace:
            project.names.resolve(module, "Model")
        assert f"is-dir:{(tmp_path / 'pkg').as_posix()}" in trace


def test_names_of_torch_cost_no_look_at_the_disk(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("import torch.nn as nn\n")
    project = Project(ProjectOptions(tmp_path))
    module = project.python(tmp_path / "main.py")
    assert module is not None
    with project.files.trace() as trace:
        assert project.names.resolve(module, "nn.Linear") == External("torch.nn.Linear")
        assert project.names.resolve(module, "nn.functional.relu") == External("torch.nn.functional.relu")
    assert trace == set()


def test_the_standard_library_is_not_searched_for(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text("")
    project = Project(ProjectOptions(tmp_path))
    with project.files.trace() as trace:
        assert project.names.find_module("collections.abc", tmp_path / "main.py") is None
    assert trace == set()
