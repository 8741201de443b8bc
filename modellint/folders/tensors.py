"""The types that readers of weights return: tensors by name, dtype and shape, and why a file cannot be read."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from modellint.graph.immutable import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The bytes of an element, by the names that torch gives dtypes. Types of less than a byte are left out.
ITEM_SIZES = {
    **dict.fromkeys(("bool", "uint8", "int8", "float8_e5m2", "float8_e4m3fn", "float8_e8m0fnu"), 1),
    **dict.fromkeys(("float8_e5m2fnuz", "float8_e4m3fnuz", "quint8", "qint8"), 1),
    **dict.fromkeys(("int16", "uint16", "float16", "bfloat16"), 2),
    **dict.fromkeys(("int32", "uint32", "float32", "complex32", "qint32"), 4),
    **dict.fromkeys(("int64", "uint64", "float64", "complex64"), 8),
    "complex128": 16,
}


class Tensor(NamedTuple):
    """A tensor in a file of weights: `dtype` is torch's name of it, `file` the name of the file in its folder."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: str = ""

    @property
    def elements(self) -> int:
        """The number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count

    @property
    def size(self) -> int | None:
        """The number of bytes; None for a dtype of less than a byte, or an unknown one."""
        item = ITEM_SIZES.get(self.dtype)
        return None if item is None else item * self.elements


class Trouble(Enum):
    """Why the tensors of a file are not known.

    MISSING: the file is not there. POINTER: it is a pointer of Git LFS, whose content was not fetched. OUTSIDE: it is a
    link that leads out of the folder, and is not followed. BROKEN: no library reads it. UNREAD: it is too large to be
    read here, or may not be, which is no mistake. OTHER: it is no file of tensors, or its format is unknown.
    """

    MISSING = "missing"
    POINTER = "pointer"
    OUTSIDE = "outside"
    BROKEN = "broken"
    UNREAD = "unread"
    OTHER = "other"


@dataclass(frozen=True)
class Weights:
    """One file of weights: its tensors by name, or the `trouble` with it and the `reason`, in words."""

    name: str
    tensors: Mapping[str, Tensor]
    trouble: Trouble | None = None
    reason: str = ""

    @classmethod
    def without_tensors(cls, name: str, trouble: Trouble, reason: str) -> Weights:
        """A file whose tensors are not known."""
        return cls(name, {}, trouble, reason)
