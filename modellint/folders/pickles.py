"""Checkpoints of torch, by the directory of their archive and the opcodes of their pickle: nothing is unpickled.

`torch.save` has written three formats (torch/serialization.py): a zip archive with `data.pkl` and one file for each
storage, since torch 1.6; before that pickles one after the other, followed by the storages; and once a tar archive. A
zip archive with `constants.pkl` is TorchScript, which `torch.jit.load` reads.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import field
from typing import TYPE_CHECKING, Any

from modellint.folders import opcodes
from modellint.folders.opcodes import Block, Made, PickleError, Refusal, Refused
from modellint.folders.tensors import ITEM_SIZES, Tensor, Trouble, Weights
from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from modellint.folders.opcodes import Pickled

    _Part = Callable[[int, int], bytes | None]

#: The most bytes of a pickle, and of the directory of an archive, that are read.
_LARGEST_PICKLE, _LARGEST_DIRECTORY = 16_000_000, 16_000_000
_CHUNK = 1 << 20
#: The first pickle of a file of the second format: a number.
_MAGIC = b"\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
_TAR = b"ustar"
_DEEPEST = 12


@dataclass(frozen=True)
class Checkpoint:
    """A file that `torch.load` reads.

    `weights` has the tensors of its state dict: the value itself, or else the table in it that has most tensors, whose
    keys are `at`. `tables` are all of them, by their keys. `refusals` is what `weights_only=True` refuses.
    """

    weights: Weights
    at: tuple[str, ...] = ()
    tables: Mapping[tuple[str, ...], Mapping[str, Tensor]] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()
    is_script: bool = False
    #: True if the value is an object, such as a whole model, and no dict.
    is_object: bool = False


def read(name: str, size: int, part: _Part) -> Checkpoint:
    """The checkpoint `name` of `size` bytes; `part(start, length)` gives bytes of it."""
    head = part(0, 512)
    if head is None:
        return Checkpoint(Weights.without_tensors(name, Trouble.UNREAD, "it cannot be opened"))
    if not head:
        return Checkpoint(Weights.without_tensors(name, Trouble.BROKEN, "it is empty"))
    if head.startswith(b"PK\x03\x04"):
        return _archive(name, size, part)
    if head[257 : 257 + len(_TAR)] == _TAR:
        refusal = Refusal(Refused.FORMAT, "the tar format of torch 0.1")
        return Checkpoint(Weights.without_tensors(name, Trouble.OTHER, "it is a tar archive"), refusals=(refusal,))
    if head[:1] == b"\x80":
        return _pickles(name, size, part)
    return Checkpoint(Weights.without_tensors(name, Trouble.OTHER, "it is no checkpoint of torch"))


class _Range(io.RawIOBase):
    """A file that is read in parts, none of them larger than a directory may be."""

    def __init__(self, size: int, part: _Part) -> None:
        self._size = size
        self._part = part
        self._at = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        base = (0, self._at, self._size)[whence]
        self._at = max(base + offset, 0)
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, length: int = -1) -> bytes:
        left = max(self._size - self._at, 0)
        length = left if length is None or length < 0 else min(length, left)
        if length > _LARGEST_DIRECTORY:
            raise PickleError("the directory of its archive is too large", is_large=True)
        data = self._part(self._at, length) or b""
        self._at += len(data)
        return data


def _archive(name: str, size: int, part: _Part) -> Checkpoint:
    """A zip archive."""

    def fault(reason: str, *refusals: Refusal) -> Checkpoint:
        return Checkpoint(Weights.without_tensors(name, Trouble.BROKEN, reason), refusals=refusals)

    try:
        archive = zipfile.ZipFile(_Range(size, part))
        entries = {entry.filename: entry for entry in archive.infolist()}
        strange = next((entry for entry in entries if _leads_out(entry)), None)
        refusals = () if strange is None else (Refusal(Refused.FORMAT, f"an entry named `{strange[:80]}`"),)
        top = next((entry[:-9] for entry in entries if entry.endswith("/data.pkl") and entry.count("/") == 1), "")
        record = entries.get(f"{top}/data.pkl")
        if record is None:
            known = Weights.without_tensors(name, Trouble.OTHER, "it is a zip archive without `data.pkl`")
            return Checkpoint(known, refusals=refusals)
        if f"{top}/constants.pkl" in entries:
            return Checkpoint(Weights.without_tensors(name, Trouble.OTHER, "it is TorchScript"), is_script=True)
        with archive.open(record) as stream:
            vars(stream)["_expected_crc"] = None  # torch does not look at it, and can be told to write none
            data = b"".join(iter(lambda: stream.read(_CHUNK), b"")) if record.file_size <= _LARGEST_PICKLE else b""
        if record.file_size > _LARGEST_PICKLE:
            raise PickleError("its pickle is too large", is_large=True)
        pickled = opcodes.read(data)
    except PickleError as error:
        if error.is_large:
            return Checkpoint(Weights.without_tensors(name, Trouble.UNREAD, str(error)))
        return fault(str(error))
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        return fault(f"its archive cannot be read, as of a file that is cut short: {str(error)[:120]}")
    except Exception as error:  # zlib, lzma and struct have errors of their own
        return fault(f"its archive cannot be read: {str(error)[:120]}")
    for key, storage in pickled.storages.items():
        entry = entries.get(f"{top}/data/{key}")
        needed = storage.elements * ITEM_SIZES.get(storage.dtype, 1)
        if entry is None:
            return fault(f"its archive has no `data/{key}`, which holds a tensor", *refusals, *pickled.refusals)
        if entry.file_size < needed and storage.dtype in ITEM_SIZES:
            reason = f"`data/{key}` in its archive has {entry.file_size} bytes, and its tensors need {needed}"
            return fault(reason, *refusals, *pickled.refusals)
    return _checkpoint(name, pickled, refusals)


def _leads_out(entry: str) -> bool:
    """True if the name of an entry leads out of the archive's folder."""
    parts = entry.replace("\\", "/").split("/")
    return ".." in parts or entry.startswith(("/", "\\")) or (len(entry) > 1 and entry[1] == ":")


def _pickles(name: str, size: int, part: _Part) -> Checkpoint:
    """Pickles one after the other: a number, a version, facts about the system, the value, the keys of storages."""
    data = part(0, min(size, _LARGEST_PICKLE)) or b""
    refusals: dict[Refusal, None] = {}
    is_legacy = data[2 : 2 + len(_MAGIC)] == _MAGIC
    at = 0
    try:
        if not is_legacy:
            first = opcodes.read(data)
            known = Weights.without_tensors(name, Trouble.OTHER, "it is a pickle that `torch.save` did not write")
            return Checkpoint(known, refusals=tuple(first.refusals))
        for _ in range(3):
            pickled = opcodes.read(data, at)
            refusals.update(pickled.refusals)
            at = pickled.end
        pickled = opcodes.read(data, at)
        keys = opcodes.read(data, pickled.end)
    except PickleError as error:
        if error.is_large or size > _LARGEST_PICKLE:
            return Checkpoint(Weights.without_tensors(name, Trouble.UNREAD, str(error)), refusals=tuple(refusals))
        trouble = Trouble.BROKEN if is_legacy else Trouble.OTHER
        return Checkpoint(Weights.without_tensors(name, trouble, str(error)), refusals=tuple(refusals))
    needed = keys.end
    for storage in pickled.storages.values():
        if storage.dtype not in ITEM_SIZES:
            needed = 0
            break
        needed += 8 + storage.elements * ITEM_SIZES[storage.dtype]
    refusals.update(pickled.refusals)
    if needed > size:
        reason = f"it has {size} bytes, and its tensors need {needed}"
        return Checkpoint(Weights.without_tensors(name, Trouble.BROKEN, reason), refusals=tuple(refusals))
    return _checkpoint(name, pickled, tuple(refusals))


def _checkpoint(name: str, pickled: Pickled, refusals: tuple[Refusal, ...]) -> Checkpoint:
    tables = {
        keys: {
            key: Tensor(key, value.dtype, value.shape, name)
            for key, value in table.items()
            if isinstance(key, str) and isinstance(value, Block)
        }
        for keys, table in _tables(pickled.value)
    }
    tables = {keys: table for keys, table in tables.items() if table}
    at = () if () in tables else max(tables, key=lambda keys: (len(tables[keys]), -len(keys)), default=())
    if isinstance(pickled.value, Made):
        reason = f"it holds an object of `{pickled.value.by}`"
        weights = Weights(name, tables[at]) if at in tables else Weights.without_tensors(name, Trouble.OTHER, reason)
    else:
        weights = Weights(name, tables.get(at, {}))
    is_object = isinstance(pickled.value, Made)
    return Checkpoint(weights, at, tables, (*refusals, *pickled.refusals), is_object=is_object)


def _tables(value: Any) -> Iterator[tuple[tuple[str, ...], dict[Any, Any]]]:
    """The dicts in a value, each once, by the keys that lead to them."""
    pending: list[tuple[tuple[str, ...], Any]] = [((), value)]
    seen: set[int] = set()
    for keys, one in pending:
        if isinstance(one, Made):
            one = one.state
        if not isinstance(one, dict) or id(one) in seen or len(keys) > _DEEPEST:
            continue
        seen.add(id(one))
        yield keys, one
        pending += [((*keys, key), inner) for key, inner in one.items() if isinstance(key, str)]
