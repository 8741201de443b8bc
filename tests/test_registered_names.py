"""The names that packages register are listed from their code, and are known by the packages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from modellint.knowledge import list_registered
from modellint.knowledge.registered import registering

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
@MODELS.register_module()
class Plain:
    pass


@MODELS.register_module(name=["First", "Second"])
class Hidden:
    pass


@TASKS.register_module("by_place")
def function():
    pass


@other.decorator
class Unregistered:
    pass


MODELS.register_module("Given", module=Plain)
MODELS.register_module(module=nets.Found)
for cls in classes:
    MODELS.register_module(name=cls.title, module=cls)
"""


def test_the_names_of_packages_are_listed(tmp_path: Path) -> None:
    for release in ("1.0", "2.0"):
        folder = tmp_path / f"toy-{release}"
        (folder / "toy" / "deep").mkdir(parents=True)
        (folder / f"toy-{release}.dist-info").mkdir()
        (folder / "toy" / "deep" / "nets.py").write_text(CODE, encoding="utf-8")
    target = tmp_path / "names.json"
    list_registered.main([str(tmp_path / "toy-1.0"), str(tmp_path / "toy-2.0"), "--output", str(target)])
    found = json.loads(target.read_text(encoding="utf-8"))
    assert found["releases"] == {"toy": ["1.0", "2.0"]}
    assert found["names"] == {"toy": ["First", "Found", "Given", "Plain", "Second", "by_place"]}


def test_shipped_names_are_known_by_their_packages() -> None:
    assert registering("LoggerHook") == {"mmengine"}
    assert "mmdet" in registering("FasterRCNN")
    assert registering("NoSuchName") == frozenset()
