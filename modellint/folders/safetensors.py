"""The header of a safetensors file: names, dtypes and shapes, without a byte of the tensors.

What the library refuses is refused here, too: https://github.com/huggingface/safetensors#format. A file begins with
the length of its header (8 bytes, little-endian), at most 100 MB; the header is a JSON object; the tensors cover all
that follows, each byte once.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from modellint.folders.tensors import Tensor, Trouble, Weights

if TYPE_CHECKING:
    from collections.abc import Callable

#: The most bytes of a header for the library, and for us; the most tensors, and the most values of one.
LARGEST_HEADER, _LARGEST_READ = 100_000_000, 24_000_000
_MOST_TENSORS, _VALUES = 100_000, 8
#: The least number that is no offset, and no size.
_NO_OFFSET = 1 << 63
#: The dtypes of the format, by torch's names, with the bits of an element.
_DTYPES = {
    "BOOL": ("bool", 8),
    "F4": ("float4_e2m1fn_x2", 4),
    "F6_E2M3": ("float6_e2m3", 6),
    "F6_E3M2": ("float6_e3m2", 6),
    "U8": ("uint8", 8),
    "I8": ("int8", 8),
    "F8_E5M2": ("float8_e5m2", 8),
    "F8_E4M3": ("float8_e4m3fn", 8),
    "F8_E8M0": ("float8_e8m0fnu", 8),
    "F8_E5M2FNUZ": ("float8_e5m2fnuz", 8),
    "F8_E4M3FNUZ": ("float8_e4m3fnuz", 8),
    "I16": ("int16", 16),
    "U16": ("uint16", 16),
    "F16": ("float16", 16),
    "BF16": ("bfloat16", 16),
    "I32": ("int32", 32),
    "U32": ("uint32", 32),
    "F32": ("float32", 32),
    "C64": ("complex64", 64),
    "I64": ("int64", 64),
    "U64": ("uint64", 64),
    "F64": ("float64", 64),
}


class _RefusedError(Exception):
    """The library refuses a header; the message says why."""


def read(name: str, size: int, part: Callable[[int, int], bytes | None]) -> Weights:
    """The tensors of the safetensors file `name` of `size` bytes; `part(start, length)` gives bytes of it."""

    def fault(reason: str) -> Weights:
        return Weights.without_tensors(name, Trouble.BROKEN, reason)

    head = part(0, 8)
    if head is None:
        return Weights.without_tensors(name, Trouble.UNREAD, "it cannot be opened")
    if len(head) < 8:
        return fault(f"it has {size} bytes, too few for the length of a header")
    length = int.from_bytes(head, "little")
    if length > LARGEST_HEADER:
        return fault(f"its header is said to have {length} bytes, more than the 100 MB that safetensors reads")
    if 8 + length > size:
        return fault(f"its header should have {length} bytes, and {size - 8} are there")
    if length > _LARGEST_READ:
        return Weights.without_tensors(name, Trouble.UNREAD, f"its header has {length} bytes")
    data = part(8, length)
    if data is None or len(data) < length:
        return fault(f"its header should have {length} bytes, and {len(data or b'')} are there")
    if data.count(b"{") > _MOST_TENSORS or data.count(b",") + data.count(b"[") > _VALUES * _MOST_TENSORS:
        return Weights.without_tensors(name, Trouble.UNREAD, "its header names too many tensors")
    try:
        header = json.loads(data.decode("utf-8"))
    except RecursionError:
        return fault("its header is nested too deeply")
    except UnicodeDecodeError:
        return fault("its header is not valid utf-8")
    except _RefusedError as error:
        return fault(str(error))
    except ValueError as error:
        return fault(f"its header is no JSON: {error}")
    try:
        return Weights(name, _tensors(name, header, size - 8 - length))
    except _RefusedError as error:
        return fault(str(error))


def _tensors(file: str, header: Any, body: int) -> dict[str, Tensor]:
    """The tensors of a header, before a `body` of so many bytes. Raises _RefusedError."""
    if not isinstance(header, dict):
        raise _RefusedError("its header is no object")
    header.pop("__metadata__", None)
    tensors: dict[str, Tensor] = {}
    ranges: list[tuple[int, int, str]] = []
    #: The bits of tensors by dtype and shape, which most tensors share with others.
    known: dict[tuple[object, ...], int] = {}
    for name, entry in header.items():
        try:
            dtype, shape, (start, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
            title, bits = _DTYPES[dtype]
        except (KeyError, TypeError, ValueError):
            raise _RefusedError(_fault_of(name, entry)) from None
        if not (_are_naturals(shape) and type(start) is type(end) is int and 0 <= start <= end < _NO_OFFSET):
            raise _RefusedError(_fault_of(name, entry))
        tensors[name] = Tensor(name, title, tuple(shape), file)
        key = (bits, *shape)
        needed = known.get(key)
        if needed is None:
            needed = known[key] = bits * _elements(name, shape)
        if 8 * (end - start) != needed:
            reason = f"has {end - start} bytes, and its dtype and shape need {needed // 8}"
            raise _RefusedError(f"`{name[:80]}` {reason}")
        ranges.append((start, end, name))
    before = 0
    for start, end, name in sorted(ranges):
        if start != before:
            where = f"`{name[:80]}` begins at byte {start} of the tensors"
            raise _RefusedError(f"{where}, and the one before it ends at {before}")
        before = end
    if before != body:
        kind = "is cut short" if before > body else "has bytes that belong to no tensor"
        raise _RefusedError(f"it {kind}: its tensors take {before} bytes, and {body} are there")
    return tensors


def _fault_of(name: str, entry: Any) -> str:
    """Why the entry of a tensor is none."""
    shown = f"`{name[:80]}`"
    if not isinstance(entry, dict):
        return f"{shown} is no object with `dtype`, `shape` and `data_offsets`"
    dtype = entry.get("dtype")
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        return f"{shown} has the dtype {str(dtype)[:40]!r}, which safetensors does not know"
    return f"{shown} has no valid `{'data_offsets' if _are_naturals(entry.get('shape')) else 'shape'}`"


def _elements(name: str, shape: list[int]) -> int:
    """The number of elements of a shape. Raises _RefusedError if it is too large for the library."""
    count = 1
    for size in shape:
        count *= size
        if count >= 2 * _NO_OFFSET:
            raise _RefusedError(f"`{name[:80]}` has a shape with more elements than 64 bits can count")
    return count


def _are_naturals(values: Any) -> bool:
    """True for a list of whole numbers, none of them negative."""
    if not isinstance(values, list) or not set(map(type, values)) <= {int}:
        return False
    return not values or (min(values) >= 0 and max(values) < _NO_OFFSET)
