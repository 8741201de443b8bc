"""The folder of a published model: its documents, its weights and its components, each read when it is asked for."""

from __future__ import annotations

import os
import re
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from modellint.folders import safetensors
from modellint.folders.jsons import LARGEST, Json
from modellint.folders.shards import MOST_TENSORS, Index, index_of
from modellint.folders.tensors import Trouble, Weights
from modellint.reading.model_folders import (
    CONFIG,
    INDEX,
    PIPELINE,
    SENTENCES,
    SPEECHBRAIN,
    is_part,
    is_weights,
    marker_in,
)
from modellint.source import Place, Span, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from modellint.folders.pickles import Checkpoint
    from modellint.folders.rows import Rows
    from modellint.folders.tensors import Tensor
    from modellint.folders.tokenizers import Tokenizer
    from modellint.reading.files import Files

#: The head of a file that Git LFS wrote in place of a large one, and the most bytes of such a file.
_POINTER, _LARGEST_POINTER = b"version https://git-lfs.github.com/spec/", 1024
_IS_INDEX = re.compile(r"\.index(?:\.[\w-]+)?\.json$")
#: A shard by its name: `model-00002-of-00005.safetensors`, with the name of the whole.
_SHARD = re.compile(r"(.+?)[-_.](\d+)-of-(\d+)(\..+)")
#: The names of weights that libraries look for, in the order in which they do.
_LOADED_NAMES = (
    "model.safetensors",
    "model.safetensors.index.json",
    "adapter_model.safetensors",
    "diffusion_pytorch_model.safetensors",
    "diffusion_pytorch_model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
    "adapter_model.bin",
    "diffusion_pytorch_model.bin",
    "diffusion_pytorch_model.bin.index.json",
)
#: The small documents that libraries read.
_DOCUMENTS = (
    "config.json",
    "generation_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "preprocessor_config.json",
    "tokenizer.json",
    "adapter_config.json",
    "model_index.json",
    "modules.json",
)


class ModelFolder:
    """A folder as a library loads it. Nothing in it is executed or unpickled, and no link out of it is followed.

    Everything is read through `files`, so what a finding rests on is known. A document that is missing, a pointer of
    Git LFS or unreadable is None; `unreadable` has those that are no JSON, once they have been asked for.
    """

    def __init__(self, path: Path, files: Files) -> None:
        self.path = path
        self._files = files
        self._documents: dict[str, Json | None] = {}
        self._weights: dict[str, Weights] = {}
        self._checkpoints: dict[str, Checkpoint] = {}
        self._indices: dict[str, Index | None] = {}
        self._joined: dict[str, dict[str, Tensor]] = {}
        #: By name: documents that cannot be read, and why.
        self.unreadable: dict[str, UnreadableError] = {}

    # -- files -----------------------------------------------------------------------------------------------------

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The sorted names of what is in the folder itself."""
        return tuple(self._files.listdir(self.path))

    @cached_property
    def _names_set(self) -> frozenset[str]:
        return frozenset(self.names)

    def names_in(self, path: str) -> tuple[str, ...]:
        """The sorted names in a folder below; empty if it is not there, or leads out of this one."""
        return () if self.is_outside(path) else tuple(self._files.listdir(self.path / path))

    def is_there(self, name: str) -> bool:
        """True if the folder has this name, or a file at this path below it; a link that leads out of it counts."""
        if "/" not in name:
            return name in self._names_set
        return not self.is_outside(name) and self._files.exists(self.path / name)

    def data(self, name: str, limit: int = LARGEST) -> bytes | None:
        """The content of a file; None if it is missing, has more than `limit` bytes, or is not to be followed."""
        path = self.path / name
        size = None if self.is_outside(name) else self._files.size(path)
        if size is None or size > limit or self._is_pointer(path, size):
            return None
        return self._files.part(path, 0, size)

    def text(self, name: str, limit: int = 1_000_000) -> str | None:
        """The text of a file; None if it is none, as for `data`."""
        data = self.data(name, limit)
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            return None

    def size(self, name: str) -> int | None:
        """The number of bytes of a file; None if it is missing."""
        return self._files.size(self.path / name)

    def is_outside(self, name: str) -> bool:
        """True if a name, or the link of that name, leads out of the folder.

        A folder in the cache of the Hugging Face hub may have links to the blobs of the same repository.
        """
        if "/" not in name and name not in self._names_set and name != "..":
            return False
        path = self.path / name
        if ".." in PurePosixPath(name).parts or os.path.isabs(name):
            return True
        if not os.path.islink(path) and not any(os.path.islink(part) for part in _below(self.path, name)):
            return False
        real, top = Path(os.path.realpath(path)), Path(os.path.realpath(self.path))
        if real.is_relative_to(top):
            return False
        repository = next((part.parent for part in (top, *top.parents) if part.name == "snapshots"), None)
        return repository is None or not real.is_relative_to(repository / "blobs")

    def is_pointer(self, name: str) -> bool:
        """True if a file is a pointer of Git LFS."""
        size = None if self.is_outside(name) else self.size(name)
        return size is not None and self._is_pointer(self.path / name, size)

    def _is_pointer(self, path: Path, size: int) -> bool:
        if not len(_POINTER) < size <= _LARGEST_POINTER:
            return False
        return (self._files.part(path, 0, len(_POINTER)) or b"") == _POINTER

    def place(self, name: str) -> Place:
        """The place of a file as a whole: its first line."""
        return Place((self.path / name).as_posix(), Span(1, 1, 1, 1))

    # -- documents -------------------------------------------------------------------------------------------------

    def json(self, name: str) -> Json | None:
        """A JSON document, by its name or its path below the folder."""
        if name not in self._documents:
            self._documents[name] = self._read_json(name)
        return self._documents[name]

    def _read_json(self, name: str) -> Json | None:
        path = self.path / name
        if self._files.exists(path) and self.is_outside(name):
            self.unreadable[name] = UnreadableError("it is not followed", other="a link that leads out of the folder")
            return None
        size = self._files.size(path)
        if size is None:
            if name in self._names_set:
                self.unreadable[name] = UnreadableError(self._why_no_file(path))
            return None
        if self._is_pointer(path, size):
            return None
        if size > LARGEST:
            self.unreadable[name] = UnreadableError(f"it has {size} bytes; expected at most {LARGEST}")
            return None
        data = self._files.part(path, 0, size)
        if data is None:
            self.unreadable[name] = UnreadableError("it cannot be opened")
            return None
        try:
            found = Json(path.as_posix(), data)
        except UnreadableError as error:
            self.unreadable[name] = error
            return None
        kind = {b"{": "an object", b"[": "a list"}.get(data.lstrip()[:1], "a value")
        wanted = "a list" if name == SENTENCES else "an object"
        if (name in _DOCUMENTS or _IS_INDEX.search(name)) and kind != wanted:
            self.unreadable[name] = UnreadableError(f"it holds {kind}; expected {wanted}")
            return None
        return found

    @staticmethod
    def _why_no_file(path: Path) -> str:
        return "it is a link that leads nowhere" if os.path.islink(path) else "it is no regular file"

    def read_documents(self) -> None:
        """Read the documents that libraries read, so that `unreadable` has those among them that are no JSON."""
        for name in (*_DOCUMENTS, *self.index_names):
            if name in self.names:
                self.json(name)

    @cached_property
    def documents_at_pointers(self) -> tuple[str, ...]:
        """The names of documents, and of files of a tokenizer, in whose place Git LFS wrote a pointer."""
        weights = set(self.weight_names)
        return tuple(name for name in self.names if name not in weights and is_part(name) and self.is_pointer(name))

    @cached_property
    def marker(self) -> str | None:
        """The name of the file that stands for the folder."""
        return marker_in(self.names)

    @property
    def config(self) -> Json | None:
        """`config.json`."""
        return self.json(CONFIG)

    @property
    def generation_config(self) -> Json | None:
        """`generation_config.json`."""
        return self.json("generation_config.json")

    @property
    def tokenizer(self) -> Json | None:
        """`tokenizer.json`, which the library `tokenizers` loads."""
        return self.json("tokenizer.json")

    @property
    def tokenizer_config(self) -> Json | None:
        """`tokenizer_config.json`."""
        return self.json("tokenizer_config.json")

    @cached_property
    def tokens(self) -> Tokenizer | None:
        """The tokens of the folder's tokenizer with the ids that it gives them; None if the folder has none."""
        from modellint.folders import tokenizers

        return tokenizers.read(self)

    @cached_property
    def largest_table(self) -> Rows | None:
        """The rows of the largest table that may be one of tokens; None if they are unknown."""
        from modellint.folders import rows

        return rows.largest(self)

    @property
    def adapter_config(self) -> Json | None:
        """`adapter_config.json` of PEFT."""
        return self.json("adapter_config.json")

    # -- components ------------------------------------------------------------------------------------------------

    @cached_property
    def components(self) -> Mapping[str, ModelFolder]:
        """The folders of a pipeline's components: by their names in `model_index.json`, or the paths in `modules.json`.

        Only those that are there.
        """
        names: list[str] = []
        pipeline, modules = self.json(PIPELINE), self.json(SENTENCES)
        if pipeline is not None and isinstance(pipeline.value, dict):
            names = [name for name, entry in pipeline.value.items() if isinstance(entry, list)]
        elif modules is not None and isinstance(modules.value, list):
            rows = [row.get("path") for row in modules.value if isinstance(row, dict)]
            names = [path for path in rows if isinstance(path, str) and path]
        return {
            name: ModelFolder(self.path / name, self._files)
            for name in names
            if not self.is_outside(name) and self._files.is_dir(self.path / name)
        }

    # -- weights ---------------------------------------------------------------------------------------------------

    @cached_property
    def weight_names(self) -> tuple[str, ...]:
        """The names of the files with weights, without indices."""
        return tuple(name for name in self.names if is_weights(name) and not _IS_INDEX.search(name))

    @cached_property
    def index_names(self) -> tuple[str, ...]:
        """The names of the indices of shards."""
        return tuple(name for name in self.names if is_weights(name) and _IS_INDEX.search(name))

    def index(self, name: str) -> Index | None:
        """An index of shards; None if the document is not there, or is none."""
        if name not in self._indices:
            document = self.json(name)
            try:
                self._indices[name] = None if document is None else index_of(name, document)
            except UnreadableError as error:
                self._indices[name] = None
                self.unreadable[name] = error
        return self._indices[name]

    def weights(self, name: str) -> Weights:
        """One file of weights, by its name."""
        if name not in self._weights:
            self._weights[name] = self._read_weights(name)
        return self._weights[name]

    def _read_weights(self, name: str) -> Weights:
        if "/" not in name and name not in self._names_set:
            return Weights.without_tensors(name, Trouble.MISSING, "it is not there")
        path, files = self.path / name, self._files
        if self.is_outside(name):
            return Weights.without_tensors(name, Trouble.OUTSIDE, "it is a link that leads out of the folder")
        size = files.size(path)
        if size is None:
            if name in self.names:
                return Weights.without_tensors(name, Trouble.BROKEN, self._why_no_file(path))
            return Weights.without_tensors(name, Trouble.MISSING, "it is not there")
        if sum(len(one.tensors) for one in self._weights.values()) > MOST_TENSORS:
            return Weights.without_tensors(name, Trouble.UNREAD, f"the folder has more than {MOST_TENSORS} tensors")
        if self._is_pointer(path, size):
            return Weights.without_tensors(name, Trouble.POINTER, "it is a pointer of Git LFS, not the file itself")

        def part(start: int, length: int) -> bytes | None:
            return files.part(path, start, length)

        if name.lower().endswith(".safetensors"):
            return safetensors.read(name, size, part)
        from modellint.folders import pickles  # which needs the modules of archives

        self._checkpoints[name] = found = pickles.read(name, size, part)
        return found.weights

    def checkpoint(self, name: str) -> Checkpoint | None:
        """The content that `torch.load` finds in a file; None for a file of another kind, or an index."""
        if not is_index(name):
            self.weights(name)
        return self._checkpoints.get(name)

    @cached_property
    def main_weights(self) -> str | None:
        """The name of the file of weights, or of the index, that a library loads; None if there is no such name.

        A file of one of the known names, or else the only file or index that there is.
        """
        known = next((name for name in _LOADED_NAMES if name in self.names), None)
        if known is not None:
            return known
        whole = [*self.index_names, *self.weight_names]
        return whole[0] if len(whole) == 1 else None

    @property
    def is_main_known(self) -> bool:
        """True if a library looks for the name of `main_weights`."""
        return self.main_weights in _LOADED_NAMES

    @property
    def is_speechbrain(self) -> bool:
        """True if SpeechBrain's `hyperparams.yaml` describes the model."""
        return self.marker == SPEECHBRAIN

    @cached_property
    def shards_of_main(self) -> tuple[str, ...]:
        """The shards of `main_weights`, if that is an index."""
        name = self.main_weights
        index = self.index(name) if name is not None and _IS_INDEX.search(name) else None
        return () if index is None else index.files

    @property
    def shards_named(self) -> Mapping[str, str]:
        """The shard of each tensor that the index of `main_weights` names; empty without an index."""
        name = self.main_weights
        index = self.index(name) if name is not None and _IS_INDEX.search(name) else None
        return {} if index is None else index.shards

    def tensors(self) -> Mapping[str, Tensor]:
        """The tensors that a library loads, by name: what the files hold, whatever an index says. Empty if unknown."""
        return self.tensors_of(self.main_weights) if self.main_weights is not None else {}

    def tensors_of(self, name: str) -> Mapping[str, Tensor]:
        """The tensors of a file of weights, or of the shards of an index."""
        if not _IS_INDEX.search(name):
            return self.weights(name).tensors
        if name not in self._joined:
            index = self.index(name)
            self._joined[name] = self._tensors_in(() if index is None else index.files)
        return self._joined[name]

    def _tensors_in(self, files: Iterable[str]) -> dict[str, Tensor]:
        return {key: tensor for file in files for key, tensor in self.weights(file).tensors.items()}

    def are_known(self, name: str) -> bool:
        """True if all tensors of a file of weights, or of an index, are known."""
        if not _IS_INDEX.search(name):
            return self.weights(name).trouble is None
        index = self.index(name)
        return index is not None and all(self.weights(file).trouble is None for file in index.files)

    @cached_property
    def unclaimed_shards(self) -> Mapping[str, tuple[str, ...]]:
        """Shards that no index names, by the name of the whole (`model.safetensors` of `model-00001-of-00002…`)."""
        claimed = {file for name in self.index_names if (index := self.index(name)) for file in index.files}
        found: dict[str, tuple[str, ...]] = {}
        for name in self.weight_names:
            match = _SHARD.fullmatch(name)
            if match is not None and name not in claimed:
                whole = match[1] + match[4]
                found[whole] = (*found.get(whole, ()), name)
        return found


def _below(folder: Path, name: str) -> Iterator[Path]:
    """The folders between a folder and a path below it."""
    parts = PurePosixPath(name).parts[:-1]
    for count in range(1, len(parts) + 1):
        yield folder.joinpath(*parts[:count])


def tensors_at(path: Path, files: Files, keys: tuple[str, ...] = ()) -> Mapping[str, Tensor] | None:
    """The tensors under some keys of a file that code loads; None if the file is not known, or holds none there."""
    folder = ModelFolder(path.parent, files)
    weights = folder.weights(path.name)
    if weights.trouble is not None:
        return None
    checkpoint = folder.checkpoint(path.name)
    if checkpoint is None:
        return None if keys else weights.tensors
    return checkpoint.tables.get(keys)


def is_index(name: str) -> bool:
    """True if a file of this name is an index of shards."""
    return name.endswith(INDEX) or _IS_INDEX.search(name) is not None
