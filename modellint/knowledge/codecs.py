"""The rows of public audio codecs' codebooks, by class, by constructor function and by published checkpoint.

The numbers were read from the packages that define the codecs (`python -m modellint.knowledge.list_codecs`), each with
its source, and are loaded when somebody asks for a name of such a package.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from modellint.graph.immutable import dataclass

#: The packages that define codecs.
PACKAGES = frozenset(("dac", "encodec", "moshi", "snac", "transformers"))
#: Methods that create a codec as a published checkpoint has it.
_PUBLISHED = frozenset(("from_pretrained", "load"))


@dataclass(frozen=True, slots=True)
class Codec:
    """A class of codecs: `rows` of each codebook, and where that number stands.

    `takes`: the methods that look codes up, dotted where they are of a part (`quantizer.from_codes`), each with the
    position and the name of the argument. `argument`: by which its constructor is told another number, or, where it
    is `config`, the configuration that says so in `size`.
    """

    name: str
    rows: int
    source: str
    argument: str
    size: str
    takes: dict[str, tuple[int, str]]

    @property
    def parts(self) -> frozenset[str]:
        """The attributes of the parts that have some of the methods."""
        return frozenset(path.rpartition(".")[0] for path in self.takes if "." in path)


@cache
def _tables() -> dict[str, Any]:
    import json  # most files ask for no codec

    return dict(json.loads(Path(__file__).with_name("codecs.json").read_text(encoding="utf-8")))


@cache
def codec(name: str) -> Codec | None:
    """The class of codecs called `name`, as its package offers it."""
    known = _tables()["classes"].get(_tables()["aliases"].get(name, name)) if _is_of_package(name) else None
    if known is None:
        return None
    takes = {path: (at, argument) for path, (at, argument) in known["takes"].items()}
    return Codec(name, known["rows"], known["source"], known["argument"], known["size"], takes)


@cache
def made_by(name: str) -> Codec | None:
    """The codec that calling `name` creates: a class, one of its methods, a function of its package; else None."""
    if not _is_of_package(name):
        return None
    owner, _, method = name.rpartition(".")
    cls = codec(name) or codec(_tables()["makers"].get(name, ""))
    if cls is None and (method in _PUBLISHED or method == "from_config"):
        cls = codec(owner)
    return cls


def configured_by(name: str) -> Codec | None:
    """The codec whose configuration is the class called `name`; None for others."""
    return codec(_tables()["configurations"].get(name, "")) if _is_of_package(name) else None


def published(checkpoint: str | None) -> tuple[int, str] | None:
    """The rows of a published checkpoint, and where that number stands."""
    known = _tables()["checkpoints"].get(checkpoint)
    return None if known is None else (known["rows"], known["source"])


def of_checkpoint(checkpoint: str | None) -> Codec | None:
    """The class of a published checkpoint, for factories that find it by themselves (`AutoModel.from_pretrained`)."""
    known = _tables()["checkpoints"].get(checkpoint)
    return None if known is None else codec(known["class"])


def differs(cls: Codec) -> bool:
    """True if published checkpoints of a class have other numbers of rows than its default."""
    name = _tables()["aliases"].get(cls.name, cls.name)
    return any(one["class"] == name and one["rows"] != cls.rows for one in _tables()["checkpoints"].values())


def is_known(name: str) -> bool:
    """True if `name` is a class of codecs, or creates some."""
    return made_by(name) is not None


def _is_of_package(name: str) -> bool:
    return name.partition(".")[0] in PACKAGES
