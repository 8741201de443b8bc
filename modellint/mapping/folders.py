"""The map of a model folder: its tensors by part, with their parameters and memory, from the headers of its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.folders.folder import ModelFolder
from modellint.mapping.model import FolderMap, FolderPart, MapError, Weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from modellint.folders.tensors import Tensor
    from modellint.link.project import Project

#: The number in the name of a repeated layer.
_ANY = "*"


def map_folder(path: Path, shown: Path, project: Project, expected: str) -> FolderMap:
    """The map of a folder. Raises MapError for one without readable tensors; `expected` is the end of its message."""
    folder = ModelFolder(path, project.files)
    if folder.marker is None:
        raise MapError(f"{shown}: is no model folder; {expected}")
    parts = [_part(name, one) for name, one in _models(folder)]
    if not any(part.weights for part in parts):
        reasons = [reason for part in parts for reason in part.unread]
        raise MapError(f"{shown}: {reasons[0] if reasons else 'the folder has no weights'}")
    return FolderMap(path.as_posix(), tuple(part for part in parts if part.weights or part.unread))


def _models(folder: ModelFolder) -> Iterator[tuple[str, ModelFolder]]:
    """The folder and its components, by their paths within it."""
    yield "", folder
    yield from folder.components.items()


def _part(name: str, folder: ModelFolder) -> FolderPart:
    loaded = folder.main_weights
    tensors = folder.tensors()
    files = sorted({tensor.file for tensor in tensors.values()})
    return FolderPart(
        name, _class_name(folder), tuple(files), tuple(_rows(tensors)), _unread(folder, loaded), _is_tied(folder)
    )


def _class_name(folder: ModelFolder) -> str:
    """The class that the configuration names; empty if it names none."""
    config = folder.config.value if folder.config is not None else None
    if not isinstance(config, dict):
        return ""
    named = config.get("architectures")
    first = named[0] if isinstance(named, list) and named else None
    found = first or config.get("_class_name") or config.get("architecture")
    return found if isinstance(found, str) else ""


def _unread(folder: ModelFolder, loaded: str | None) -> tuple[str, ...]:
    """The files whose tensors are not known, with the reasons."""
    if loaded is None:
        return ()
    index = folder.index(loaded) if loaded in folder.index_names else None
    names: Iterable[str] = (loaded,) if index is None else index.files
    found = (folder.weights(one) for one in names if one not in folder.index_names)
    return tuple(f"`{one.name}`: {one.reason}" for one in found if one.trouble is not None)


def _is_tied(folder: ModelFolder) -> bool:
    """True if the configuration says that the output layer shares the rows of the input embedding."""
    config = folder.config.value if folder.config is not None else None
    inner = config.get("text_config") if isinstance(config, dict) else None
    return any(one.get("tie_word_embeddings") is True for one in (config, inner) if isinstance(one, dict))


def _rows(tensors: Mapping[str, Tensor]) -> Iterator[Weights]:
    """The tensors in the order of their names, those of repeated layers together if they have one shape and dtype."""
    alike: dict[tuple[str, str, tuple[int, ...]], list[Tensor]] = {}
    for name, tensor in sorted(tensors.items(), key=lambda pair: _natural(pair[0])):
        key = ".".join(_ANY if part.isdecimal() else part for part in name.split("."))
        alike.setdefault((key, tensor.dtype, tensor.shape), []).append(tensor)
    for (key, dtype, shape), same in alike.items():
        sizes = [tensor.size for tensor in same]
        known = [size for size in sizes if size is not None]
        memory = sum(known) if len(known) == len(sizes) else None
        name = same[0].name if len(same) == 1 else key
        yield Weights(name, len(same), dtype, shape, sum(tensor.elements for tensor in same), memory)


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts layer 10 behind layer 9."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in name.split(".")]
