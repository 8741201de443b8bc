"""Data sets that cannot be read where code is run for its verdict: promised examples stand for theirs."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from torch.utils._pytree import tree_leaves
from torch.utils.data import DataLoader, Dataset

from .promised import Promised
from .standins import StandIn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .promised import Promises

#: Arguments of loaders that ask for processes, or need them.
_OF_PROCESSES = ("num_workers", "prefetch_factor", "persistent_workers", "multiprocessing_context", "timeout")
_PROMISED = "_modellint_promised"


@contextmanager
def promising_data(promises: Promises) -> Iterator[None]:
    """Inside the block, data sets, loaders and objects of missing libraries yield promised examples where they fail."""
    originals: list[tuple[type, str, Any]] = []

    def wrap(cls: type) -> None:
        for name, instead in _INSTEAD.items():
            if name in vars(cls):
                originals.append((cls, name, vars(cls)[name]))
                setattr(cls, name, _or_promised(vars(cls)[name], instead, promises))

    def with_subclass(cls: Any, /, **kwargs: Any) -> None:
        super(Dataset, cls).__init_subclass__(**kwargs)
        wrap(cls)

    for known in _subclasses(Dataset):
        wrap(known)
    dataset: Any = Dataset
    own = vars(Dataset).get("__init_subclass__")
    dataset.__init_subclass__ = classmethod(with_subclass)
    try:
        with (
            patch.object(DataLoader, "__init__", _loader_init(promises, DataLoader.__init__)),
            patch.object(DataLoader, "__iter__", _batches(DataLoader.__iter__, promises)),
            patch.object(DataLoader, "__len__", _or_promised(DataLoader.__len__, _length, promises)),
            patch.object(StandIn, "unknown", staticmethod(promises.make)),
        ):
            yield
    finally:
        for cls, name, original in originals:
            setattr(cls, name, original)
        if own is None:
            del dataset.__init_subclass__
        else:
            dataset.__init_subclass__ = own


def _subclasses(cls: type) -> Iterator[type]:
    """The classes of the user that derive from a class."""
    one: type
    for one in type.__subclasses__(cls):
        if not one.__module__.startswith("torch.utils."):
            yield one
        yield from _subclasses(one)


def _or_promised(original: Any, instead: Callable[[Any, Any], Any], promises: Promises) -> Any:
    """A method that gives something else for an object that could not be made, or where it fails itself."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _PROMISED not in vars(self):
            try:
                return original(self, *args, **kwargs)
            except Exception:
                vars(self)[_PROMISED] = promises.make(type(self).__name__)
        return instead(vars(self)[_PROMISED], args)

    return method


def _loader_init(promises: Promises, original: Any) -> Any:
    """The constructor of loaders: one that fails promises its batches, and there are no other processes."""

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            original(self, *args, **{name: value for name, value in kwargs.items() if name not in _OF_PROCESSES})
        except Exception:
            given = promises.make(type(args[0] if args else kwargs.get("dataset")).__qualname__.rpartition(".")[2])
            self.__dict__.update({"dataset": given, "batch_size": kwargs.get("batch_size", 1), _PROMISED: given})

    return init


def _batches(original: Any, promises: Promises) -> Any:
    """The iteration of a loader: it has promised batches if the first one fails, or has promised parts."""

    def batches(self: Any) -> Iterator[Any]:
        if _PROMISED in vars(self):
            return iter(vars(self)[_PROMISED])
        try:
            found = original(self)
            first = next(found)
        except StopIteration:
            return iter(())
        except Exception:
            return iter(promises.make(type(self.dataset).__name__))
        if any(isinstance(part, Promised) for part in tree_leaves(first)):
            return iter(promises.make(type(self.dataset).__name__))
        return itertools.chain([first], found)

    return batches


def _nothing(promised: Any, args: Any) -> None:
    pass


def _examples(promised: Any, args: Any) -> Any:
    return iter(promised)


def _length(promised: Any, args: Any) -> int:
    return len(promised)


def _example(promised: Any, args: Any) -> Any:
    return promised.part(0)


_INSTEAD: dict[str, Callable[[Any, Any], Any]] = {
    "__init__": _nothing,
    "__iter__": _examples,
    "__len__": _length,
    "__getitem__": _example,
}
