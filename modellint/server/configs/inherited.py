"""Inheritance of OpenMMLab in the editor: the files of `_base_`, and inherited values such as `_base_.depth`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from modellint.dialects.openmmlab import composition_of, path_of
from modellint.dialects.openmmlab_places import spot_at
from modellint.frontends.openmmlab import read_openmmlab
from modellint.frontends.openmmlab_data import DATA, read_data
from modellint.graph.recipe import NO_TAG, NodeKind
from modellint.server.configs.offers import Offer, OfferKind
from modellint.server.configs.subjects import ReferenceSubject
from modellint.server.configs.trees import Key, in_words
from modellint.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from modellint.dialects.openmmlab_places import Spot
    from modellint.frontends.openmmlab import ConfigFile
    from modellint.link.project import Project

#: `_base_.model.depth`, and its beginning at the end of a text: the keys before the last one, and the last one.
_REFERENCE = re.compile(r"\b_base_((?:\s*\.\s*\w+)+)")
_BEGUN = re.compile(r"(?:\{\{\s*)?\b_base_\s*\.\s*((?:\w+\s*\.\s*)*)(\w*)\Z")
_REST = re.compile(r"\w*(?:\s*\}\})?")
_WORD = re.compile(r"\w+")
#: The name of a file that is begun in a Python configuration, at the end of a text.
_FILE_BEGUN = re.compile(r"^_base_\s*=\s*(?:[\[(]\s*)?(?:[\"'][^\"'\n]*[\"']\s*,\s*)*[\"']([^\"'\n]*)\Z", re.MULTILINE)


def inherited_subject(file: ConfigFile, line: int, column: int, project: Project) -> ReferenceSubject | None:
    """The inherited key that `_base_.…` names up to a place, line and column from 1; None if none stands there."""
    lines = file.recipe.source.lines
    text = lines[line - 1] if line <= len(lines) else ""
    for found in _REFERENCE.finditer(text):
        words = [word for word in _WORD.finditer(text, found.start(1), found.end(1)) if word.start() + 1 <= column]
        if words and column <= found.end(1) + 1:
            keys = [word[0] for word in words]
            spot = inherited_spot(file, keys, project)
            key = None if spot is None else _key(spot, keys)
            span = Span(line, words[-1].start() + 1, line, words[-1].end() + 1)
            return ReferenceSubject(span, f"_base_.{'.'.join(keys)}", key)
    return None


def inherited_spot(file: ConfigFile, keys: list[str], project: Project) -> Spot | None:
    """The place that some keys lead to in the files that a configuration inherits; None if there is none."""
    for base in file.bases:
        path = path_of(base, file.recipe, project)
        whole = None if path is None else composition_of(path, project)
        found = None if whole is None else spot_at(whole.root, ".".join(keys))
        if found is not None:
            return found
    return None


def _key(spot: Spot, keys: list[str]) -> Key:
    target = spot.node.tag.target if spot.node.tag is not NO_TAG else ""
    place = spot.recipe.place((spot.key or spot.node).span)
    return Key(tuple(keys), place, _words(spot), target, spot.node.kind is NodeKind.MAPPING)


def _words(spot: Spot) -> str:
    """A value on one line: a constant, what is called, or the names of its entries."""
    node = spot.node
    if node.kind is NodeKind.MAPPING:
        return f"{node.tag.target}(…)" if node.tag is not NO_TAG else f"{{{', '.join(map(str, spot.children))}}}"
    return (
        f"[{', '.join(map(_words, spot.children.values()))}]"
        if node.kind is NodeKind.SEQUENCE
        else in_words(None, node)
    )


def inherited_offers(path: Path, text: str, offset: int, project: Project) -> list[Offer] | None:
    """The keys, or files, for what is begun at an offset; None where no inherited value or file is named."""
    before = text[:offset]
    begun = _BEGUN.search(before)
    if begun is not None:
        rest = _REST.match(text, offset)
        neutral = f"{text[: begun.start()]}None{text[rest.end() if rest is not None else offset :]}"
        data = neutral.encode("utf-8", "surrogatepass")
        file = read_data(path, data) if path.suffix in DATA else read_openmmlab(path, data)
        return [] if file is None else list(_keys_below(file, _WORD.findall(begun[1]), len(begun[2]), project))
    named = _FILE_BEGUN.search(before) if path.suffix == ".py" else None
    return None if named is None else list(file_offers(path, named[1], project))


def _keys_below(file: ConfigFile, keys: list[str], typed: int, project: Project) -> Iterator[Offer]:
    known: dict[str, Offer] = {}
    for base in file.bases:
        path = path_of(base, file.recipe, project)
        whole = None if path is None else composition_of(path, project)
        holder = None if whole is None else spot_at(whole.root, ".".join(keys))
        for name, spot in holder.children.items() if holder is not None else ():
            offer = Offer(str(name), OfferKind.KEY, typed, detail=_words(spot))
            known.setdefault(offer.label, offer)
    yield from known.values()


def file_offers(path: Path, typed: str, project: Project) -> Iterator[Offer]:
    """The configurations and folders that the path of a file to inherit may go on with."""
    inside, _, last = typed.rpartition("/")
    folder = path.parent / inside
    for name in project.files.listdir(folder):
        if name.startswith((".", "__")) or folder / name == path:
            continue
        if name.endswith((".py", *DATA)):
            yield Offer(name, OfferKind.FILE, len(last))
        elif "." not in name and project.files.is_dir(folder / name):
            yield Offer(name, OfferKind.FOLDER, len(last), f"{name}/", order="1")
