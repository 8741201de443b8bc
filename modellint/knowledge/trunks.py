"""Facts about trunks: networks of torchvision, timm and transformers that other networks are built on.

The facts are in `trunks.json`, which `python benchmarks/trunks_listed.py` extracts from the libraries.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

#: The number of classes that a network tells apart by default.
CLASSES = 1000
_PACKAGES = ("torchvision.models.", "timm.", "transformers.")
#: Folders of `torchvision.models` whose functions make other networks, of the same names.
_OTHERS = frozenset(("detection", "optical_flow", "quantization", "segmentation", "video"))
#: Kinds of parts that act otherwise in training: norms, dropout, blocks with norms or with paths that are dropped.
_BY_MODE = frozenset("BD~^")
_TOKEN = re.compile(r"[()]|[^\s()]+")


class Node(NamedTuple):
    """A part of a network: its name, empty for one that is counted, and what it is.

    `kind` is a letter (see `trunks.json`), "(" for a row of `parts`, "." for a function that `name` names, "?" for
    what is not known. `numbers` are those that it is made with, None for the number of classes. `is_called` is False
    for a part that the network calls in an unknown way.
    """

    name: str
    kind: str
    numbers: tuple[int | None, ...] = ()
    parts: tuple[Node, ...] = ()
    is_called: bool = True


class Pooled(NamedTuple):
    """A network of timm: the widths behind its pool and of its features, where its head is, and its maps' channels.

    `head` is empty if the network has no such layer, `classes` is 0 if their number is not known. `channels` are empty
    if the maps are not known.
    """

    width: int
    features: int
    head: str
    classes: int
    channels: tuple[int, ...]


class Encoder(NamedTuple):
    """A published text or image encoder: its class, and the width of its states; 0 if that is not known."""

    cls: str
    width: int


def may_be_trunk(name: str) -> bool:
    """True for a name of a package that has trunks."""
    return name.startswith(_PACKAGES)


def torchvision_name(name: str) -> str:
    """The last part of a function's name, if it makes a classifier of torchvision, or may; else empty."""
    parts = name.split(".")
    is_one = parts[:2] == ["torchvision", "models"] and len(parts) in (3, 4) and parts[2] not in _OTHERS
    return parts[-1] if is_one else ""


@lru_cache(maxsize=1)
def _facts() -> dict[str, dict[str, str]]:
    path = Path(__file__).with_name("trunks.json")
    import json

    data: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    return {package: dict(_rows(rows)) for package, rows in data.items()}


def _rows(rows: list[str]) -> list[tuple[str, str]]:
    """The names with what is said of each: `18=a b c` of torchvision, several names for one text of others."""
    found = []
    for row in rows:
        names, _, text = row.partition(" = ")
        found += [(name, text) for name in names.split()]
    return found


@lru_cache(maxsize=32)
def network(name: str) -> tuple[Node, ...]:
    """The parts of a classifier of torchvision, in the order in which they are called; empty for an unknown one."""
    text = _facts()["torchvision"].get(name)
    return () if text is None else tuple(_nodes(_TOKEN.findall(text)))


def _nodes(tokens: list[str]) -> list[Node]:
    found: list[Node] = []
    while tokens and (token := tokens.pop(0)) != ")":
        is_called = not token.startswith("!")
        name, _, made = token.lstrip("!").rpartition("=")
        if token.startswith("."):
            found.append(Node(token[1:], "."))
        elif not made:  # `features=(`
            tokens.pop(0)
            found.append(Node(token[:-1], "(", parts=tuple(_nodes(tokens))))
        else:
            found.append(Node(name, made[0], _numbers(made[1:]), is_called=is_called))
    return found


def _numbers(text: str) -> tuple[int | None, ...]:
    return tuple(None if one == "*" else int(one) for one in text.split(",") if one)


def acts_by_mode(name: str) -> bool:
    """True if a classifier of torchvision has batch norm, dropout, or blocks that do."""
    return any(_acts_by_mode(node) for node in network(name))


def _acts_by_mode(node: Node) -> bool:
    return node.kind in _BY_MODE or any(map(_acts_by_mode, node.parts))


def network_of_timm(name: str) -> Pooled | None:
    """The network of timm with a name; None for an unknown one."""
    text = _facts()["timm"].get(name)
    if text is None:
        return None
    width, features, head, classes, *channels = text.split()
    return Pooled(int(width), int(features), head.strip("-"), int(classes), tuple(map(int, channels)))


def encoder(checkpoint: str) -> Encoder | None:
    """The encoder that is published under a name, with or without its owner; None for an unknown one."""
    facts = _facts()["transformers"]
    text = facts.get(checkpoint)
    if text is None:
        return None
    cls, width = text.split()
    return Encoder(cls, int(width))


class EncoderClass(NamedTuple):
    """A class of encoders: its width by default, and True if it gives a pooled state, and one state for each token."""

    width: int
    pools: bool
    keeps_length: bool


def encoder_class(name: str) -> EncoderClass | None:
    """The class of encoders of transformers with a name; None for others."""
    text = _facts()["classes"].get(name.rpartition(".")[2])
    if text is None:
        return None
    width, _, marks = text.partition(" ")
    return EncoderClass(int(width), "p" in marks, "t" in marks)


def name_of_trunk(name: str, published: str) -> str:
    """A trunk in words, by the function that makes it, and its first argument if that is a text; else empty."""
    if not may_be_trunk(name):
        return ""
    builder = torchvision_name(name)
    if builder:
        builder = published if builder == "get_model" else builder
        return f"`{builder}` of torchvision" if network(builder) else ""
    package, _, last = name.partition(".")
    shown = published or last.removesuffix(".from_pretrained").rpartition(".")[2]
    return f"`{shown}` of {package}"
