"""Arguments that become what the code uses them as: batches, loaders, models and optimizers that only a run has.

A promised argument is unpacked into further ones, and yields some in a loop. It becomes a real tensor as soon as a
layer, a loss or a real tensor tells its shape.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_map

from .specs import BATCH, IMAGE, TIME
from .standins import StandInUsedError
from .targets import LOSSES, OF_CLASSES, targets
from .unpacked import number_unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from .attempts import Attempt

#: So many batches are in a loader.
_BATCHES = 2
#: The number of classes of scores that nothing tells.
_CLASSES = 4
#: Shapes of tensors that the code takes apart, by their number of dimensions.
_SHAPES = ((), (BATCH,), (BATCH, 64), (BATCH, TIME, 64), (BATCH, 3, IMAGE, IMAGE))
#: Methods that give the same elements, perhaps of another type or on another device.
_SAME = frozenset(
    "to cuda cpu float double half bfloat16 long int bool byte type type_as contiguous clone pin_memory".split()
)
#: Of these, the methods that make real numbers, and whole ones.
_REAL, _WHOLE = frozenset(("float", "double", "half", "bfloat16")), frozenset(("long", "int", "byte"))
#: What is known of each tensor whose values are not yet known.
_KNOWN = {
    "device": torch.device("cpu"),
    "dtype": torch.float32,
    "requires_grad": False,
    "is_cuda": False,
    "is_sparse": False,
    "is_leaf": True,
    "grad": None,
    "grad_fn": None,
}
#: Functions that make a tensor of something like one.
_CONVERTING = frozenset(("as_tensor", "asarray", "tensor"))
#: Kinds of elements: real numbers and whole ones.
_REALS, _WHOLES = "real", "whole"
#: Kinds of what unknown functions give: with a gradient, and without.
_OUTPUT, _CUT = "output", "cut"
#: Functions that look one tensor up by another: the shapes of ids.
_INDEXED = {"__getitem__": (BATCH,), "index_select": (BATCH,), "embedding": (BATCH, TIME), "gather": ()}
#: Functions whose results have no gradient.
_DRAWN = frozenset("argmax argmin argsort eq ne gt ge lt le nonzero multinomial round floor ceil sign".split())


class Promises:
    """The promised arguments of a run."""

    def __init__(self, attempt: Attempt | None = None, known: Mapping[torch.Size, torch.Size] | None = None) -> None:
        """`known` are the shapes that an earlier run has told, in place of others."""
        self._attempt = attempt
        self._known = dict(known or {})
        #: The shapes of the real numbers that promised arguments have become.
        self.shapes: list[torch.Size] = []
        #: True once an unknown function was given a tensor: what it gives is made up.
        self.is_guessing = False
        #: A layer in place of unknown models.
        self.any_layer = nn.Linear(1, 1)
        self._noted: dict[str, str] = {}

    @property
    def attempt(self) -> Attempt:
        """The way in which the code is built that is run."""
        assert self._attempt is not None
        return self._attempt

    def make(self, name: str) -> Promised:
        return Promised.make(self, name)

    def as_known(self, value: Any) -> Any:
        """The same, or a tensor of the shape that an earlier run has told in place of its own."""
        shape = self._known.get(value.shape) if is_real(value) else None
        return value if shape is None else torch.randn(shape)

    def note(self, name: str, value: torch.Tensor) -> None:
        """Add to the assumptions the type and sizes of a tensor that an argument has become."""
        if value.is_floating_point():
            self.shapes.append(value.shape)
        if "()" not in name and self._attempt is not None and name not in self._noted:
            kind = "float" if value.is_floating_point() else "ids" if value.dtype is torch.int64 else str(value.dtype)
            self._noted[name] = f"{kind} {'x'.join(map(str, value.shape))}".rstrip()
            self.attempt.builder.note_inputs(self._noted)


class Promised(torch.Tensor):
    """An argument of which only its uses tell what it is."""

    _name: str
    _promises: Promises
    _parts: dict[Any, Promised]
    _kind: str
    _is_trial: bool
    #: True if the code asks for its gradient.
    is_asked: bool
    #: What it has become: a tensor, or a number; None as long as that is open.
    _found: Any

    @staticmethod
    def make(promises: Promises, name: str, kind: str = "") -> Promised:
        """A new one. Its kind is known if its elements are converted, or if it is the result of an unknown call."""
        made: Promised = torch.Tensor._make_subclass(Promised, torch.tensor(0))
        made._name, made._promises, made._parts, made._kind, made._found = name, promises, {}, kind, None
        made._is_trial = made.is_asked = False
        return made

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = tree_map(found_in, (args, kwargs or {}))
        open_ones = [part for part in tree_leaves((args, kwargs)) if isinstance(part, Promised)]
        if not open_ones:
            return func(*args, **kwargs)
        return _apply(func, args, kwargs, open_ones)

    def part(self, key: Any) -> Any:
        """The part of it with a key: an index, a name, or what a call gives."""
        if self._found is not None:
            return getattr(self._found, key[1:]) if isinstance(key, str) and key[:1] == "." else self._found[key]
        if isinstance(key, torch.Tensor | slice | tuple | list):
            key = "[…]"
        if key not in self._parts:
            shown = key if isinstance(key, str) and key[:1] in (".", "(", "[") else f"[{key!r}]"
            self._parts[key] = Promised.make(self._promises, f"{self._name}{shown}", self._kind)
            self._parts[key]._is_trial = self._is_trial
        return self._parts[key]

    def become(self, value: Any) -> Any:
        """Let it be a value from now on."""
        if isinstance(value, torch.Tensor):
            value = self.as_kind(value)
            if not self._is_trial:
                self._promises.note(self._name, value)
        self._found = value
        return value

    def as_kind(self, value: torch.Tensor) -> torch.Tensor:
        """A tensor with elements of the kind that it has."""
        if self._kind == _OUTPUT and value.is_floating_point():
            return value * nn.Parameter(torch.ones(()))
        value = value.float() if self._kind == _REALS else value.abs().long() if self._kind == _WHOLES else value
        return value.requires_grad_() if self.is_asked and value.is_floating_point() else value

    def again(self) -> Promised:
        """The same, still open, for a trial."""
        made = Promised.make(self._promises, self._name, self._kind)
        made._is_trial = True
        return made

    @property
    def is_open(self) -> bool:
        """True as long as it has not become a value."""
        return self._found is None

    @property
    def is_cut(self) -> bool:
        """True for the result of a call that records no gradient."""
        return self._kind == _CUT

    def may_learn(self) -> None:
        """Let it have a gradient, as a tensor may have that is learned: it is no input of a layer, and no target."""
        self.is_asked |= not self._kind and torch.is_grad_enabled()

    def number(self) -> int:
        """Let it be a number."""
        if self._found is None:
            self.become(int(self._promises.attempt.builder.numbers.number(self._name.rpartition(".")[2])))
        return int(self._found)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in ("parameters", "state_dict", "named_parameters", "modules", "children"):
            return getattr(self._promises.any_layer, name)
        return self.part(f".{name}")

    def __getitem__(self, key: Any) -> Any:
        return self.part(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._found is not None:
            self._found[key] = found_in(value)

    def __iter__(self) -> Iterator[Any]:
        if self._found is not None:
            return iter(self._found)
        return iter([self.part(number) for number in range(number_unpacked(sys._getframe(1)) or _BATCHES)])

    def __next__(self) -> Any:
        return self.part(0)

    def __len__(self) -> int:
        return BATCH if self._found is None else len(self._found)

    def __index__(self) -> int:
        return self.number()

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.number())

    def __bool__(self) -> bool:
        if self._found is None:
            raise StandInUsedError(f"nothing is known of what `{self._name}` is")
        return bool(self._found)

    def __contains__(self, _: object) -> bool:
        raise StandInUsedError(f"nothing is known of what is in `{self._name}`")

    def __repr__(self, **_: Any) -> str:
        return f"any `{self._name}`"

    __str__ = __repr__

    def __format__(self, _: str) -> str:
        return repr(self)

    def __enter__(self) -> Promised:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Call an unknown function: it gives something that has a gradient, if gradients are recorded."""
        leaves = tree_leaves(tree_map(found_in, (given, named)))
        real = [one for one in leaves if is_real(one)]
        self._promises.is_guessing |= any(isinstance(one, torch.Tensor) for one in leaves)
        if not real:
            return Promised.make(self._promises, f"{self._name}()", _OUTPUT if torch.is_grad_enabled() else _CUT)
        own = nn.Parameter(torch.ones(()))
        return real[0] * own if len(real) == 1 else torch.stack([one.float().mean() for one in real]).sum() * own


def found_in(given: Any) -> Any:
    """The value that a promised argument has become, or itself."""
    return given._found if isinstance(given, Promised) and given._found is not None else given


def value_of(given: Any) -> Any:
    """A tensor; None for one that was promised and is still open."""
    given = found_in(given)
    return None if isinstance(given, Promised) else given


def _is_known(given: Any) -> bool:
    """True for a tensor that is no promised one."""
    return isinstance(given, torch.Tensor) and not isinstance(given, Promised)


def is_real(given: Any) -> bool:
    """True for a tensor of real numbers that is no promised one."""
    return _is_known(given) and bool(given.is_floating_point())


def _apply(func: Any, args: Any, kwargs: dict[str, Any], promised: list[Promised]) -> Any:
    """The result of a function of torch, some of whose arguments are promised."""
    name, first = getattr(func, "__name__", ""), promised[0]
    if name == "__set__":
        first.is_asked |= func.__self__.__name__ == "requires_grad"
        return None
    if name == "__get__":
        return _attribute(first, func.__self__.__name__)
    if name == "requires_grad_":
        first.is_asked = True
        return first
    if name in ("detach", "detach_"):
        return _of_kind(first, _CUT) if first._kind == _OUTPUT else first
    if name in _SAME and args and args[0] is first:
        kind = (
            _REALS
            if name in _REAL or any(one is torch.float for one in args[1:])
            else _WHOLES
            if name in _WHOLE
            else ""
        )
        return first if not kind or first._kind == _OUTPUT else _of_kind(first, kind)
    if name in ("size", "dim", "numel", "item", "tolist", "numpy"):
        return _fact(first, name, args[1:], kwargs)
    if name in _CONVERTING:
        kind = _REALS if kwargs.get("dtype") is torch.float else _WHOLES if kwargs.get("dtype") is torch.long else ""
        return _of_kind(first, kind or (_CUT if name == "tensor" and first._kind == _OUTPUT else first._kind))
    if name in LOSSES:
        return _loss(func, args, kwargs)
    if func in (torch.empty, torch.zeros, torch.ones, torch.randn, torch.rand, torch.full, torch.arange):
        return func(*tree_map(_as_number, args), **tree_map(_as_number, kwargs))
    others = [one for one in tree_leaves((args, kwargs)) if _is_known(one)]
    if others:
        for one in promised:
            one.may_learn()
            one.become(_ids(name, others[0]) if name in _INDEXED else _like(others[0]))
        args, kwargs = tree_map(found_in, (args, kwargs))
        return func(*args, **kwargs)
    return Promised.make(first._promises, first._name, _WHOLES if name in _DRAWN else _kind_of_all(promised))


def _kind_of_all(operands: list[Promised]) -> str:
    """The kind of what is computed of some promised arguments: it has a gradient if one of them has."""
    kinds = {one._kind for one in operands}
    if torch.is_grad_enabled() and (_OUTPUT in kinds or any(one.is_asked for one in operands)):
        return _OUTPUT
    return _CUT if kinds & {_OUTPUT, _CUT} else operands[0]._kind


def _as_number(given: Any) -> Any:
    return given.number() if isinstance(given, Promised) else given


def _of_kind(one: Promised, kind: str) -> Promised:
    """The same with elements of a kind."""
    if kind not in one._parts:
        one._parts[kind] = Promised.make(one._promises, one._name, kind)
    return one._parts[kind]


def _attribute(one: Promised, name: str) -> Any:
    """An attribute that each tensor has."""
    if name == "shape":
        return _Sizes(one)
    if name in _KNOWN:
        return _KNOWN[name]
    if name == "data" and one._kind == _OUTPUT:
        return _of_kind(one, _CUT)
    return one


def _fact(one: Promised, name: str, args: Any, kwargs: Any) -> Any:
    """A number that the code asks a tensor for."""
    at = args[0] if args else kwargs.get("dim")
    if name == "size" and at is None:
        return _Sizes(one)
    if name == "size":
        return _Sizes(one)[at]
    if name == "item":
        return 1
    raise StandInUsedError(f"nothing is known of what `{one._name}` is")


class _Sizes:
    """The sizes of a promised tensor: it becomes one with as many dimensions as the code asks for."""

    def __init__(self, one: Promised) -> None:
        self._one = one

    def __getitem__(self, at: Any) -> Any:
        if self._one.is_open and at in (0, slice(None, 1)):
            return BATCH if at == 0 else torch.Size((BATCH,))
        if isinstance(at, slice):
            ends = [abs(end) for end in (at.start, at.stop) if isinstance(end, int)]
            return self._of(max((2, *ends)))[at]
        return self._of(at + 1 if at >= 0 else max(2, -at))[at]

    def __iter__(self) -> Iterator[int]:
        return iter(self._of(number_unpacked(sys._getframe(1))))

    def _of(self, dimensions: int | None) -> torch.Size:
        if self._one.is_open:
            if dimensions is None or dimensions >= len(_SHAPES):
                raise StandInUsedError(f"nothing is known of the sizes of {self._one}")
            self._one.become(torch.randn(_SHAPES[dimensions]))
        shape: torch.Size = found_in(self._one).shape
        return shape


def _ids(name: str, other: torch.Tensor) -> torch.Tensor:
    """Ids with which a function can look another tensor up."""
    shape = (*other.shape[:-1], 1) if name == "gather" else _INDEXED[name]
    return torch.zeros(shape, dtype=torch.int64)


def _like(other: torch.Tensor) -> torch.Tensor:
    """A tensor of the shape and type of another one."""
    if other.is_floating_point():
        return torch.randn_like(other.detach(), requires_grad=False)
    return torch.zeros_like(other)


def _loss(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A loss whose scores or target are promised: the target becomes the first one that it takes."""
    name = func.__name__
    scores: Any = kwargs.get("input", args[0] if args else None)
    if isinstance(scores, Promised):
        target: Any = kwargs.get("target", args[1] if len(args) > 1 else None)
        shape = target.shape if is_real(target) else (BATCH, _CLASSES) if name in OF_CLASSES else (BATCH, 1)
        scores.may_learn()
        scores = scores.become(torch.rand(shape))
        args, kwargs = tree_map(found_in, (args, kwargs))
    promised = [one for one in tree_leaves((args, kwargs)) if isinstance(one, Promised)]
    first: Exception | None = None
    for target in targets(name, scores) if promised else ():
        known = {id(one): one.as_kind(target) for one in promised}
        try:
            result = _with(known, func, args, kwargs)
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            first = first or error
            continue
        for one in promised:
            one.become(known[id(one)])
        return result
    if first is not None:
        raise first
    return func(*args, **kwargs)


def _with(known: dict[int, torch.Tensor], func: Any, args: Any, kwargs: Any) -> Any:
    """The result of a function, with tensors in place of promised arguments."""
    args, kwargs = tree_map(lambda one: known.get(id(one), one), (args, kwargs))
    return func(*args, **kwargs)
