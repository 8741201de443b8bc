"""Runs a pickle on paper: its opcodes move symbols on a stack, and nothing is imported, called or built.

`read` returns the value that the pickle describes, with tensors by dtype and shape, and all that
`torch.load(weights_only=True)` refuses. Its rules are those of torch 2.13, `torch/_weights_only_unpickler.py`:
a short list of names, calls and new objects of these names only, and the opcodes of protocol 2.
"""

from __future__ import annotations

import pickletools
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from modellint.folders.allowed import (
    ALLOWED,
    COUNTER,
    DATA,
    OF_STORAGE,
    OPCODES,
    ORDERED,
    PARAMETER,
    PASSED_ON,
    REBUILD,
    RENAMED,
    STORAGES,
    TENSORS,
    TYPED,
)

if TYPE_CHECKING:
    from collections.abc import Callable

#: The most opcodes of a pickle that is read. A tensor takes about forty.
_MOST = 1_200_000


class Refused(Enum):
    """The kind of thing that `weights_only` refuses. DATA: a name that only describes plain data."""

    NAME = "name"
    DATA = "data"
    CALL = "call"
    OPCODE = "opcode"
    FORMAT = "format"


class Refusal(NamedTuple):
    """One thing that `weights_only` refuses, by its kind and its name: `os.system`, `STACK_GLOBAL`."""

    kind: Refused
    name: str


class PickleError(Exception):
    """A pickle that cannot be read: it is cut short or no pickle; or `is_large`, and given up."""

    def __init__(self, reason: str, *, is_large: bool = False) -> None:
        super().__init__(reason)
        self.is_large = is_large


class Name(NamedTuple):
    """A name that a pickle imports."""

    full: str


class Storage(NamedTuple):
    """The storage of tensors: the key of its file, the dtype (empty if untyped) and the number of elements."""

    key: str
    dtype: str
    elements: int


class Block(NamedTuple):
    """A tensor: its dtype, shape, and the storage with the number of elements that it must have, if it has one."""

    dtype: str
    shape: tuple[int, ...]
    storage: Storage | None = None
    needs: int = 0


@dataclass
class Made:
    """An object that the pickle makes by a call or a class, with its arguments and its state."""

    by: str
    args: Any = ()
    state: Any = None


@dataclass
class Pickled:
    """The value of a pickle, its refusals, its storages by their keys, and where it ends."""

    value: Any
    refusals: dict[Refusal, None] = field(default_factory=dict)
    storages: dict[str, Storage] = field(default_factory=dict)
    end: int = 0


class _Unknown(NamedTuple):
    """A value about which nothing is known."""


UNKNOWN = _Unknown()
_MARK = object()


def read(data: bytes, start: int = 0) -> Pickled:
    """The pickle that begins at a byte. Raises PickleError."""
    return _Machine().run(data, start)


class _Machine:
    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        #: The keys at which the memo holds an object that a state may change into a tensor, by its id.
        self._memo_keys: dict[int, list[int]] = {}
        self._refusals: dict[Refusal, None] = {}
        self._storages: dict[str, Storage] = {}

    def run(self, data: bytes, start: int) -> Pickled:
        import io

        stream = io.BytesIO(data)
        stream.seek(start)
        count = 0
        try:
            for opcode, argument, _ in pickletools.genops(stream):
                count += 1
                if count > _MOST:
                    raise PickleError("it has millions of opcodes", is_large=True)
                name = opcode.name
                if name not in OPCODES and name != "FRAME":
                    self._refuse(Refused.OPCODE, name)
                if name == "STOP":
                    value = self._stack.pop() if self._stack else UNKNOWN
                    return Pickled(value, self._refusals, self._storages, stream.tell())
                self._step(name, argument)
        except PickleError:
            raise
        except (ValueError, IndexError, KeyError, UnicodeDecodeError, OverflowError, TypeError) as error:
            raise PickleError(f"its pickle cannot be read: {str(error)[:120]}") from None
        raise PickleError("its pickle does not end")

    def _refuse(self, kind: Refused, name: str) -> None:
        self._refusals[Refusal(kind, name[:200])] = None

    def _step(self, name: str, argument: Any) -> None:
        """Run one opcode. Raises IndexError or KeyError for what the stack or the memo lacks."""
        stack = self._stack
        plain = _PLAIN.get(name)
        if plain is not None:
            plain(self, argument)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name])
        elif name == "EMPTY_LIST":
            stack.append([])
        elif name == "EMPTY_DICT":
            stack.append({})
        elif name in ("PROTO", "FRAME"):
            pass
        else:
            stack.append(argument)

    # -- names, calls and objects ----------------------------------------------------------------------------------

    def _global(self, argument: str) -> None:
        module, _, name = argument.partition(" ")
        self._import(module, name)

    def _stack_global(self, _: Any) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        self._import(str(module) if isinstance(module, str) else "?", str(name) if isinstance(name, str) else "?")

    def _import(self, module: str, name: str) -> None:
        full = f"{RENAMED.get(module, module)}.{name}"
        if full not in ALLOWED:
            self._refuse(Refused.DATA if _is_data(full) else Refused.NAME, full)
        self._stack.append(Name(full))

    def _extension(self, argument: Any) -> None:
        self._stack.append(UNKNOWN)

    def _instance(self, argument: str) -> None:
        """INST: a name and a call at once."""
        args = tuple(self._items())
        self._global(argument)
        self._stack.append(self._call(self._stack.pop(), args))

    def _object(self, _: Any) -> None:
        items = self._items()
        self._stack.append(self._call(items[0], tuple(items[1:])))

    def _reduce(self, _: Any) -> None:
        args, function = self._stack.pop(), self._stack.pop()
        self._stack.append(self._call(function, args))

    def _new_object(self, _: Any) -> None:
        args, cls = self._stack.pop(), self._stack.pop()
        self._stack.append(self._call(cls, args))

    def _new_object_by_names(self, _: Any) -> None:
        self._stack.pop()
        self._new_object(_)

    def _call(self, function: Any, args: Any) -> Any:
        if not isinstance(function, Name):
            self._refuse(Refused.CALL, function.by if isinstance(function, Made) else "an object")
            return UNKNOWN
        return _result(function.full, args if isinstance(args, tuple) else ())

    def _build(self, _: Any) -> None:
        state = self._stack.pop()
        target = self._stack[-1]
        if isinstance(target, Made):
            target.state = state
            block = _legacy_tensor(target, state)
            if block is not None:
                self._stack[-1] = block
                for key in self._memo_keys.pop(id(target), ()):
                    if self._memo[key] is target:
                        self._memo[key] = block

    def _persistent(self, _: Any) -> None:
        identity = self._stack.pop()
        self._stack.append(self._load(identity))

    def _persistent_text(self, argument: str) -> None:
        self._stack.append(UNKNOWN)

    def _load(self, identity: Any) -> Any:
        """The storage of a persistent id; the class of one that a legacy file names."""
        if not isinstance(identity, tuple) or not identity:
            return UNKNOWN
        kind = identity[0].decode("ascii", "replace") if isinstance(identity[0], bytes) else identity[0]
        if kind == "module":
            self._refuse(Refused.CALL, "a module")
            return identity[1] if len(identity) > 1 else UNKNOWN
        if kind != "storage" or len(identity) < 5:
            self._refuse(Refused.CALL, f"a persistent {str(kind)[:40]}")
            return UNKNOWN
        _, cls, key, _, elements = identity[:5]
        dtype = STORAGES.get(cls.full, "") if isinstance(cls, Name) else ""
        storage = Storage(str(key), dtype, elements if isinstance(elements, int) else 0)
        self._storages[storage.key] = storage
        return storage

    # -- containers ------------------------------------------------------------------------------------------------

    def _items(self) -> list[Any]:
        """The values above the topmost mark, which is removed with them."""
        stack = self._stack
        at = len(stack) - 1
        while stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise ValueError("no mark on the stack")
        items = stack[at + 1 :]
        del stack[at:]
        return items

    def _mark(self, _: Any) -> None:
        self._stack.append(_MARK)

    def _tuple(self, _: Any) -> None:
        self._stack.append(tuple(self._items()))

    def _tuple_of(self, count: int) -> None:
        items = tuple(self._stack[-count:])
        if len(items) < count:
            raise IndexError("the stack is too short")
        self._stack[-count:] = [items]

    def _list(self, _: Any) -> None:
        self._stack.append(self._items())

    def _dict(self, _: Any) -> None:
        items = self._items()
        table: dict[Any, Any] = {}
        _set_items(table, items)
        self._stack.append(table)

    def _append(self, _: Any) -> None:
        item = self._stack.pop()
        if isinstance(self._stack[-1], list):
            self._stack[-1].append(item)

    def _appends(self, _: Any) -> None:
        items = self._items()
        if isinstance(self._stack[-1], list):
            self._stack[-1].extend(items)

    def _set_item(self, _: Any) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        _set_items(self._stack[-1], [key, value])

    def _set_items(self, _: Any) -> None:
        items = self._items()
        _set_items(self._stack[-1], items)

    def _frozen(self, _: Any) -> None:
        self._items()
        self._stack.append(UNKNOWN)

    def _add_items(self, _: Any) -> None:
        self._items()

    def _pop(self, _: Any) -> None:
        self._stack.pop()

    def _pop_mark(self, _: Any) -> None:
        self._items()

    def _duplicate(self, _: Any) -> None:
        self._stack.append(self._stack[-1])

    def _get(self, argument: Any) -> None:
        self._stack.append(self._memo[int(argument)])

    def _put(self, argument: Any) -> None:
        key, value = int(argument), self._stack[-1]
        self._memo[key] = value
        if isinstance(value, Made):
            self._memo_keys.setdefault(id(value), []).append(key)

    def _memoize(self, _: Any) -> None:
        self._put(len(self._memo))


_PLAIN: dict[str, Callable[[_Machine, Any], None]] = {
    "GLOBAL": _Machine._global,
    "STACK_GLOBAL": _Machine._stack_global,
    **dict.fromkeys(("EXT1", "EXT2", "EXT4"), _Machine._extension),
    "INST": _Machine._instance,
    "OBJ": _Machine._object,
    "REDUCE": _Machine._reduce,
    "NEWOBJ": _Machine._new_object,
    "NEWOBJ_EX": _Machine._new_object_by_names,
    "BUILD": _Machine._build,
    "BINPERSID": _Machine._persistent,
    "PERSID": _Machine._persistent_text,
    "MARK": _Machine._mark,
    "TUPLE": _Machine._tuple,
    "TUPLE1": lambda machine, _: machine._tuple_of(1),
    "TUPLE2": lambda machine, _: machine._tuple_of(2),
    "TUPLE3": lambda machine, _: machine._tuple_of(3),
    "LIST": _Machine._list,
    "DICT": _Machine._dict,
    "APPEND": _Machine._append,
    "APPENDS": _Machine._appends,
    "SETITEM": _Machine._set_item,
    "SETITEMS": _Machine._set_items,
    "FROZENSET": _Machine._frozen,
    "ADDITEMS": _Machine._add_items,
    "POP": _Machine._pop,
    "POP_MARK": _Machine._pop_mark,
    "DUP": _Machine._duplicate,
    **dict.fromkeys(("GET", "BINGET", "LONG_BINGET"), _Machine._get),
    **dict.fromkeys(("PUT", "BINPUT", "LONG_BINPUT"), _Machine._put),
    "MEMOIZE": _Machine._memoize,
    "READONLY_BUFFER": lambda machine, _: None,
}
_CONSTANTS = {
    "NONE": None,
    "NEWTRUE": True,
    "NEWFALSE": False,
    "EMPTY_TUPLE": (),
    "EMPTY_SET": UNKNOWN,
    "NEXT_BUFFER": UNKNOWN,
}


def _is_data(full: str) -> bool:
    return full in DATA or full.startswith("numpy.dtypes.")


def _set_items(target: Any, items: list[Any]) -> None:
    """Set keys of a dict; a key that is no plain value is left out, as nobody asks for it."""
    if isinstance(target, dict):
        for key, value in zip(items[::2], items[1::2], strict=False):
            if isinstance(key, bytes):
                key = key.decode("utf-8", "replace")
            if key is None or isinstance(key, (str, int, float)):
                target[key] = value


def _result(full: str, args: tuple[Any, ...]) -> Any:
    """The result of a call of a name."""
    if full in (ORDERED, COUNTER, "collections.defaultdict", "builtins.dict"):
        table: dict[Any, Any] = {}
        pairs = args[0] if args and isinstance(args[0], list) else []
        for pair in pairs:
            if isinstance(pair, (list, tuple)) and len(pair) == 2:
                _set_items(table, list(pair))
        return table
    if full in OF_STORAGE and len(args) >= 4 and isinstance(args[0], Storage):
        dtype = args[6].full if full.endswith("_v3") and len(args) > 6 and isinstance(args[6], Name) else ""
        return _block(args[0], args[1], args[2], args[3], dtype) or UNKNOWN
    if full in PASSED_ON or full == PARAMETER:
        return args[0] if args else Made(full, args)
    if full == TYPED and len(args) > 2 and isinstance(args[0], Name) and isinstance(args[2], tuple):
        return _result(args[0].full, args[2])
    if full == f"{REBUILD}meta_tensor_no_storage" and len(args) > 1 and isinstance(args[0], Name):
        shape = _shape(args[1])
        return UNKNOWN if shape is None else Block(args[0].full.removeprefix("torch."), shape)
    if full == f"{REBUILD}sparse_tensor" and len(args) > 1 and isinstance(args[1], tuple) and len(args[1]) > 2:
        values, shape = args[1][1], _shape(args[1][2])
        return UNKNOWN if shape is None or not isinstance(values, Block) else Block(values.dtype, shape)
    if full == "torch.Size":
        return args[0] if args else ()
    return Made(full, args)


def _block(storage: Storage, offset: Any, size: Any, stride: Any, dtype: str = "") -> Block | None:
    """The tensor on a storage; None if its numbers are none."""
    shape, steps = _shape(size), _shape(stride)
    if shape is None or steps is None or len(shape) != len(steps) or not isinstance(offset, int) or offset < 0:
        return None
    last = sum((count - 1) * step for count, step in zip(shape, steps, strict=True))
    needs = offset + last + 1 if all(shape) else 0
    return Block(dtype.removeprefix("torch.") or storage.dtype, shape, storage, needs)


def _legacy_tensor(made: Made, state: Any) -> Block | None:
    """A tensor of torch 0.3 or older: a new tensor that is given a storage, an offset, sizes and strides."""
    if not isinstance(state, tuple) or len(state) != 4 or not isinstance(state[0], Storage):
        return None
    return _block(*state) if made.by in TENSORS or made.by == "torch.Tensor" else None


def _shape(value: Any) -> tuple[int, ...] | None:
    if isinstance(value, list):
        value = tuple(value)
    if not isinstance(value, tuple) or not all(type(size) is int and size >= 0 for size in value):
        return None
    return value
