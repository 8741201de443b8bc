"""The facts of libraries that configurations name answer as the libraries do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
import zlib
from typing import TYPE_CHECKING

import pytest
from effort import IS_WHOLE

from modellint.knowledge import libraries, list_libraries
from modellint.knowledge.libraries import Absent, Found

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Fetch = Callable[[str, str], Path]

DISTRIBUTIONS = [library.distribution for library in libraries.LIBRARIES]


# -- a library that is made here --------------------------------------------------------------------------------------

PACKAGE = {
    "__init__.py": """
        from .layers import Dense as Layer, Narrow
        from .marks import *
        from . import tools
        from .tools import build
        Former = Narrow
    """,
    "layers.py": """
        import abc
        import functools
        from dataclasses import dataclass, field

        import torch
        from outside import renamed, Stranger
        from .marks import keeps, lends, _Hidden


        class Dense(torch.nn.Module):
            def __init__(self, width, bias=True, **kwargs):
                super().__init__()
                self.momentum = kwargs.pop("momentum", 0.1)
                if kwargs:
                    raise TypeError(kwargs)

            @classmethod
            def of(cls, path, **kwargs):
                return cls(**kwargs)

            @staticmethod
            def count(model):
                return 0

            def report(self):
                return 0


        class Narrow(Dense):
            def __init__(self, depth, *, rate: float = 0.5, **kwargs):
                super().__init__(3, **kwargs)


        class Same(Narrow):
            pass


        class Swallows(Dense):
            def __init__(self, **kwargs):
                super().__init__(1)


        class Filters(Dense):
            def __init__(self, **kwargs):
                kwargs = {name: value for name, value in kwargs.items() if name in ("width",)}
                super().__init__(**kwargs)


        class Sometimes(Dense):
            def __init__(self, easy=False, **kwargs):
                if easy:
                    return
                super().__init__(**kwargs)


        class Behind(Dense):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, bias=False, **kwargs)


        @keeps("a text")
        class Kept(Dense):
            pass


        @renamed
        class Renamed(Dense):
            pass


        class Foreign(Stranger):
            pass


        class Meta(type):
            def __call__(cls, *args, **kwargs):
                return 0


        class Made(metaclass=Meta):
            def __init__(self, a):
                pass


        class Chosen:
            def __new__(cls, task, top=1):
                return object.__new__(cls)


        @dataclass
        class Options:
            name: str
            size: int = 3
            table: dict = field(default_factory=dict)
            cache: int = field(default=0, init=False)


        @dataclass
        class More(Options):
            extra: bool = False


        class Child(_Hidden):
            pass


        @lends
        def lent(a, *, b=1):
            return a


        @lends
        def passed(a, **kwargs):
            return Dense(**kwargs)


        @functools.lru_cache
        def cached(width, **options):
            return inner(width, **options)


        def inner(width, height=2):
            return width
    """,
    "marks.py": """
        import functools

        __all__ = ["keeps"]


        def keeps(text):
            def mark(cls):
                cls.__doc__ = text
                return cls
            return mark


        def lends(function):
            @functools.wraps(function)
            def call(*args, **kwargs):
                if "old" in kwargs:
                    kwargs["b"] = kwargs.pop("old")
                return function(*args, **kwargs)
            return call


        class _Hidden:
            def __init__(self, secret=None):
                pass
    """,
    "tools/__init__.py": """
        try:
            from fast import build
        except ImportError:
            def build(path):
                return path
    """,
    "tools/made.py": """
        globals()["later"] = 3
    """,
    "tools/patches.py": """
        import lib.tools
        setattr(lib.tools, "patched", 1)
        import sys
        sys.modules["lib.tools.gone"] = sys.modules["lib.tools"]
    """,
}
CALLS = [
    ("lib.Layer", "width bias= momentum:="),
    ("lib.layers.Dense", "width bias= momentum:="),
    ("lib.Narrow", "depth rate:= bias:= momentum:="),
    ("lib.Former", "depth rate:= bias:= momentum:="),
    ("lib.layers.Same", "depth rate:= bias:= momentum:="),
    ("lib.layers.Swallows", "**kwargs"),
    ("lib.layers.Filters", "**kwargs"),
    ("lib.layers.Sometimes", "easy= **kwargs"),
    ("lib.layers.Behind", "width momentum:="),
    ("lib.layers.Kept", "width bias= momentum:="),
    ("lib.layers.Renamed", None),
    ("lib.layers.Foreign", None),
    ("lib.layers.Made", None),
    ("lib.layers.Chosen", "task top="),
    ("lib.layers.Options", "name size= table="),
    ("lib.layers.More", "name size= table= extra="),
    ("lib.layers.Child", "secret="),
    ("lib.layers.lent", "a *args b:= old:="),
    ("lib.layers.passed", "a *args width: bias:= momentum:= b:= old:="),
    ("lib.layers.cached", "width height:="),
    ("lib.layers.Dense.of", "path **kwargs"),  # a class that derives from it takes others
    ("lib.layers.Same.of", "path **kwargs"),
    ("lib.layers.Dense.count", "model"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> libraries.Library:
    """A library that two releases have been read of: the older one lacks `Narrow`, and has `Wide`."""
    known = libraries.Described("lib", ("lib",))
    roots = []
    for release in ("2.0", "1.0"):
        root = tmp_path_factory.mktemp(release)
        (root / f"lib-{release}.dist-info").mkdir()
        for name, text in PACKAGE.items():
            path = root / "lib" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            plain = "\n".join(line.removeprefix("        ") for line in text.splitlines())
            if release == "1.0":
                plain = plain.replace("Narrow", "Wide").replace("width, bias", "width, skip")
            path.write_text(plain, encoding="utf-8")
        roots.append(root)
    first, second = (list_libraries.write(known, order) for order in (roots, roots[::-1]))
    assert first == second
    return libraries.Library(known, first)


def text_of(found: Found | Absent | None) -> str | None:
    from modellint.knowledge.catalogue import write_parameters

    assert isinstance(found, Found)
    return write_parameters(found.signatures[0]) if found.signatures else None


@pytest.mark.parametrize(("name", "expected"), CALLS)
def test_arguments_are_followed_to_where_they_are_taken(
    name: str, expected: str | None, made: libraries.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(libraries._BY_PACKAGE, "lib", made.known)
    monkeypatch.setitem(libraries._loaded, "lib", made)
    assert text_of(made.find(name, ("2.0",))) == expected


def test_names_are_there_gone_moved_or_unknown(made: libraries.Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(libraries._BY_PACKAGE, "lib", made.known)
    monkeypatch.setitem(libraries._loaded, "lib", made)

    def missing(name: str, *releases: str) -> tuple[str, str, tuple[str, ...], str]:
        found = made.find(name, releases or None)
        assert isinstance(found, Absent), name
        return found.owner, found.missing, found.others, found.moved

    assert missing("lib.Wide", "2.0") == ("lib", "Wide", ("1.0",), "")
    assert missing("lib.Narrow", "1.0") == ("lib", "Narrow", ("2.0",), "")
    assert missing("lib.tools.Narrow", "2.0") == ("lib.tools", "Narrow", (), "lib.Narrow")
    assert missing("lib.layer.Dense") == ("lib", "layer", (), "lib.layers.Dense")
    assert missing("lib.layers.Dense.off") == ("lib.layers.Dense", "off", (), "")
    for unknown in ("lib.tools.made.other", "lib.tools.patched", "lib.tools.gone.other", "lib._secret"):
        assert made.find(unknown) is None
    assert made.find("lib.layers.Dense.report") is None  # a method of objects
    assert isinstance(made.find("lib.tools.build"), Found)
    assert isinstance(made.find("lib.keeps"), Found)
    assert isinstance(made.find("lib.lends"), Absent)  # not in `__all__`
    found = made.find("lib.Layer")
    assert isinstance(found, Found)
    assert found.releases == ("2.0", "1.0")
    assert [[one.name for one in row][1] for row in found.signatures] == ["bias", "skip"]


def test_what_a_class_derives_from(made: libraries.Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(libraries._BY_PACKAGE, "lib", made.known)
    monkeypatch.setitem(libraries._loaded, "lib", made)
    answers = {
        ("lib.layers.Same", "lib.Layer"): True,
        ("lib.Layer", "lib.layers.Dense"): True,
        ("lib.layers.Same", "torch.nn.Module"): True,
        ("lib.Layer", "lib.layers.Same"): False,
        ("lib.layers.Foreign", "lib.Layer"): None,
        ("lib.tools.build", "lib.Layer"): None,
        ("lightning.pytorch.callbacks.ModelCheckpoint", "lightning.pytorch.Callback"): True,
        ("pytorch_lightning.callbacks.ModelCheckpoint", "lightning.pytorch.callbacks.Callback"): True,
        ("lightning.pytorch.loggers.CSVLogger", "lightning.pytorch.callbacks.Callback"): False,
        ("torchmetrics.classification.MulticlassAccuracy", "torchmetrics.Metric"): True,
        ("torchmetrics.MeanMetric", "torch.nn.Module"): True,
        ("timm.scheduler.CosineLRScheduler", "timm.scheduler.scheduler.Scheduler"): True,
    }
    assert {pair: libraries.derives(*pair) for pair in answers} == answers


# -- the shipped facts ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def fetch(tmp_path_factory: pytest.TempPathFactory) -> Fetch:
    """Fetches a release of a library, for whatever system, and gives the folder that holds it."""

    def run(distribution: str, release: str) -> Path:
        folder = tmp_path_factory.mktemp(f"{distribution}-{release}")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
        foreign = ["--only-binary=:all:", "--python-version", "3.11", "--platform", "any"]
        foreign += [word for year in ("_2_28", "2014") for word in ("--platform", f"manylinux{year}_x86_64")]
        wanted = f"{distribution}=={release}"
        result = subprocess.run([*command, *foreign, wanted], capture_output=True, text=True, check=False)
        if result.returncode and not os.environ.get("CI"):
            pytest.skip(f"{wanted} cannot be fetched: {result.stderr.strip()}")
        assert result.returncode == 0, result.stderr
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            wheel.extractall(folder)
        return folder

    return run


def chosen_releases() -> list[tuple[str, str]]:
    """The newest release of each library, and in a run of everything the oldest, too."""
    found = []
    for distribution in DISTRIBUTIONS:
        releases = libraries.library(distribution).releases
        wanted = dict.fromkeys((releases[0], releases[-1]) if IS_WHOLE else releases[:1])
        found += [(distribution, release) for release in wanted]
    return found


def answers(library: libraries.Library, release: str) -> dict[str, object]:
    """All that is said of one release."""
    return {name: library.find(name, (release,)) for name in library.names(release)}


@pytest.mark.dear
@pytest.mark.parametrize(("distribution", "release"), chosen_releases())
def test_facts_equal_the_source(distribution: str, release: str, fetch: Fetch, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = libraries.library(distribution)
    expected = answers(shipped, release)
    read = libraries.Library(shipped.known, list_libraries.write(shipped.known, [fetch(distribution, release)]))
    monkeypatch.setitem(libraries._loaded, distribution, read)
    found = answers(read, release)
    assert len(found) > 20
    assert found.keys() == expected.keys()
    for name, one in found.items():
        assert said(one) == said(expected[name]), name


def said(answer: object) -> object:
    """An answer without what it owes to other releases."""
    if not isinstance(answer, Found):
        return answer if answer is None else type(answer)
    return answer.kind, answer.name, [[(p.name, p.kind) for p in row] for row in answer.signatures], answer.bases


#: What imports the library, with what it needs of others; a binary of torchvision fits one torch only.
IMPORTED = {
    "torchmetrics": ("lightning-utilities", "numpy"),
    "pytorch-lightning": ("lightning-utilities", "torchmetrics", "numpy", "fsspec", "tqdm", "PyYAML"),
}
#: Prints for each name how the real object is called, as inspect tells it; for one that is not there nothing.
ASK = """
import importlib, inspect, json, logging, sys, warnings
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
for line in sys.stdin:
    module, _, name = line.strip().rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
        taken = list(inspect.signature(found).parameters.values())
    except Exception:
        continue
    rows = [[p.name, p.kind.name.lower().replace("_", "-"), p.default is not p.empty] for p in taken]
    print(json.dumps([line.strip(), inspect.isclass(found), rows]))
"""


@pytest.mark.dear
@pytest.mark.parametrize("distribution", IMPORTED)
def test_facts_are_those_of_the_imported_library(distribution: str, tmp_path: Path) -> None:
    """No argument that the real function takes is refused, and none is wanted that it can do without."""
    library = libraries.library(distribution)
    release = library.releases[0]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path)]
    wanted = [f"{distribution}=={release}", *IMPORTED[distribution]]
    result = subprocess.run([*command, *wanted], capture_output=True, text=True, check=False)
    if result.returncode and not os.environ.get("CI"):
        pytest.skip(f"{distribution} cannot be fetched: {result.stderr.strip()}")
    assert result.returncode == 0, result.stderr
    known = {name: library.find(name, (release,)) for name in library.names(release) if "._" not in name}
    known = {name: one for name, one in known.items() if isinstance(one, Found) and one.signatures}
    real = subprocess.run(
        [sys.executable, "-c", ASK],
        input="\n".join(known),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    compared = 0
    for name, is_class, rows in map(json.loads, real.stdout.splitlines()):
        one = known[name]
        assert isinstance(one, Found)
        (signature,) = one.signatures
        taken = {p.name for p in signature if not p.kind.startswith("var-")}
        is_open = any(p.kind == "var-keyword" for p in signature)
        named = {word for word, kind, _ in rows if not kind.startswith("var-")}
        assert is_class == (one.kind == "class"), name
        assert is_open or named <= taken, name
        if not any(kind == "var-keyword" for _, kind, _ in rows):
            needed = {p.name for p in signature if not p.kind.startswith("var-") and p.default is None}
            assert needed == {
                word for word, kind, has_default in rows if not kind.startswith("var-") and not has_default
            }
            assert named == taken, name
        compared += 1
    assert compared > 500


def test_a_name_is_read_without_its_neighbours() -> None:
    """A run that names no library reads no file of one, and a name decodes the modules on its way."""
    script = """
import sys
from modellint.knowledge import libraries
assert not libraries._loaded
assert libraries.find("numpy.array") is None
assert not libraries._loaded
libraries.find("transformers.AutoModel.from_pretrained")
print(*libraries._loaded, len(libraries._loaded["transformers"]._rows))
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    name, rows = run.stdout.split()
    assert name == "transformers"
    assert int(rows) < 100  # of thousands


def test_facts_are_compact() -> None:
    sizes = {one.file: len(zlib.compress((libraries.FOLDER / one.file).read_bytes(), 9)) for one in libraries.LIBRARIES}
    assert sum(sizes.values()) < 650_000
