"""Tensors on the CPU labelled as lying on a simulated GPU, for code that tensors without data do not get through.

Numbers are real, so that code may read them, choose by them, pack sequences or draw. Labels belong to storages: what an
operator computes of labelled tensors is labelled, views share theirs, and an operator that meets both devices raises
what torch says then. What a compiled function of torch makes on the way has the label of what that was given.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode

from . import reroutes
from .modes import ObservingMode
from .tensors import address_of, tensors_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

aten = torch.ops.aten
DEVICE = "cuda:0"
_TYPE = "torch.cuda."

#: Error messages of torch without a GPU: no CUDA in it, no driver, no device.
_NO_GPU = ("not compiled with CUDA", "not linked with support for cuda", "NVIDIA driver", "No CUDA GPUs")
_OLD_TYPES = tuple(f"{kind}Tensor" for kind in ("Float", "Double", "Half", "Long", "Int", "Byte", "Bool"))
#: Operators whose tensors may be on several devices, and those whose second result is always on the CPU.
_MEETING = frozenset((aten.copy_, aten._to_copy, aten._ctc_loss, aten.set_, aten._pad_packed_sequence))
_COUNTED = frozenset((aten._pack_padded_sequence, aten._pad_packed_sequence))
_INDEXING = frozenset((aten.index, aten.index_put, aten.index_put_, aten._index_put_impl_))
#: Operators for which a number in a tensor is a tensor like any other.
_JOINING = frozenset((aten.cat, aten.stack))
#: Modules of torch whose functions are written in Python: their calls are seen one by one.
_WRITTEN_OUT = (torch.nn.functional, torch.functional, torch._tensor, torch.nn.init)
_ASKING = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")


class _Labels:
    """Labels of storages: True for the GPU, False (the default) for the CPU, or None for unknown."""

    def __init__(self) -> None:
        # A reference that is kept keeps the address from being given to another storage.
        self._known: dict[int, tuple[StorageWeakRef, bool | None]] = {}
        #: The label of tensors made from no tensors: that of the running function's arguments.
        self.around: bool | None = None

    def of(self, tensor: torch.Tensor) -> bool | None:
        known = self._known.get(address_of(tensor))
        return known is not None and known[1]

    def put(self, tensor: torch.Tensor, label: bool | None) -> None:
        address = address_of(tensor)
        if label is False or not address:
            self._known.pop(address, None)
        else:
            self._known[address] = (StorageWeakRef(tensor.untyped_storage()), label)

    def united(self, tensors: list[torch.Tensor]) -> bool | None:
        """The label of a result of some tensors."""
        labels = [self.of(tensor) for tensor in tensors]
        return True if True in labels else None if None in labels else False


#: Labels are global: modules may keep tensors that they made when they were imported.
_LABELS = _Labels()


class _Operators(ObservingMode):
    """Propagates labels through operators, and raises where devices mix."""

    def __init__(self, labels: _Labels, *, is_strict: bool) -> None:
        super().__init__()
        self._labels = labels
        self._is_strict = is_strict

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        packet, given = func.overloadpacket, tensors_in((args, kwargs))
        if self._is_strict and len(given) > 1 and packet not in _MEETING:
            self._refuse_mixed(packet, args, given)
        result = func(*args, **kwargs)
        label = self._labels.united(given) if given else self._labels.around
        if label is not False:
            known = {address_of(tensor) for tensor in given}
            made = tensors_in(result)
            for tensor in made[:1] if packet in _COUNTED else made:
                if address_of(tensor) not in known:
                    self._labels.put(tensor, label)
        return result

    def _refuse_mixed(self, packet: Any, args: Any, given: list[torch.Tensor]) -> None:
        """Raise torch's error for tensors on several devices."""
        of = self._labels.of
        if packet is aten._pack_padded_sequence:
            if of(args[1]):
                raise RuntimeError(
                    f"'lengths' argument should be a 1D CPU int64 tensor, but got 1D {DEVICE} Long tensor"
                )
            return
        if packet in _INDEXING:
            indexed, rest = args[0], tensors_in(args[2:3])
            if of(indexed) is False and any(of(index) and index.dim() for index in tensors_in(args[1])):
                raise RuntimeError("indices should be either on cpu or on the same device as the indexed tensor (cpu)")
            given = [indexed, *rest]
        if packet not in _JOINING:
            # A number on the CPU may meet tensors on any device.
            given = [tensor for tensor in given if tensor.dim() or of(tensor)]
        labels = [of(tensor) for tensor in given]
        if True in labels and False in labels:
            first, second = (DEVICE, "cpu") if labels.index(True) < labels.index(False) else ("cpu", DEVICE)
            found = f"at least two devices, {first} and {second}!"
            raise RuntimeError(f"Expected all tensors to be on the same device, but found {found}")


class _Requests(TorchFunctionMode):
    """Answers queries and moves of devices by labels."""

    def __init__(self, labels: _Labels) -> None:
        super().__init__()
        self._labels = labels
        self._answers: dict[Any, Callable[..., Any]] = {
            torch.Tensor.device.__get__: lambda tensor: torch.device(DEVICE) if labels.of(tensor) else tensor.device,
            torch.Tensor.is_cuda.__get__: lambda tensor: bool(labels.of(tensor)) or tensor.is_cuda,
            torch.Tensor.is_cpu.__get__: lambda tensor: not labels.of(tensor) and tensor.is_cpu,
            torch.Tensor.get_device: lambda tensor: 0 if labels.of(tensor) else tensor.get_device(),
            torch.Tensor.cuda: lambda tensor, *_, **__: self._move(tensor, True),
            torch.Tensor.cpu: lambda tensor, *_, **__: self._move(tensor, False),
            torch.Tensor.to: self._to,
            torch.Tensor.type: self._type,
            torch.Tensor.numpy: self._numpy,
            torch.Tensor.pin_memory: lambda tensor, *_, **__: tensor,
        }

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if (answer := self._answers.get(func)) is not None:
            return answer(*args, **kwargs)
        given = tensors_in((args, kwargs))
        wanted = _is_cuda(kwargs["device"]) if kwargs.get("device") is not None else None
        if wanted:
            del kwargs["device"]
        before = self._labels.around
        self._labels.around = self._labels.united(given) if wanted is None else wanted
        try:
            result = func(*args, **kwargs)
        finally:
            self._labels.around = before
        return result if wanted is None else self._on_device(result, given, label=wanted)

    def _on_device(self, result: Any, given: list[torch.Tensor], *, label: bool) -> Any:
        """The result on the device that was asked for; a tensor that existed before is copied, as a move does."""
        if not isinstance(result, torch.Tensor) or bool(self._labels.of(result)) is label:
            return result
        if any(address_of(result) == address_of(tensor) for tensor in given):
            return self._move(result, label)
        self._labels.put(result, label)
        return result

    def _move(self, tensor: torch.Tensor, label: bool, dtype: torch.dtype | None = None) -> torch.Tensor:
        if bool(self._labels.of(tensor)) is label:
            return tensor if dtype is None else tensor.to(dtype)
        moved = tensor.to(dtype, copy=True) if dtype is not None else tensor.clone()
        self._labels.put(moved, label)
        return moved

    def _to(self, tensor: torch.Tensor, *wanted: Any, **named: Any) -> torch.Tensor:
        device, dtype = named.get("device"), named.get("dtype")
        label: bool | None = None
        for value in (*wanted, named.get("other")):
            if isinstance(value, torch.Tensor):
                label, dtype = bool(self._labels.of(value)), value.dtype
            elif isinstance(value, torch.dtype):
                dtype = value
            elif isinstance(value, str | torch.device) or type(value) is int:
                device = value
        label = _is_cuda(device) if device is not None else label
        if label is None:
            return tensor.to(*wanted, **named)
        if named.get("copy") and bool(self._labels.of(tensor)) is label:
            return tensor.clone() if dtype is None else tensor.to(dtype, copy=True)
        return self._move(tensor, label, dtype)

    def _type(self, tensor: torch.Tensor, wanted: Any = None, **named: Any) -> Any:
        if wanted is None:
            return str(tensor.type()).replace("torch.", _TYPE, 1) if self._labels.of(tensor) else tensor.type()
        if isinstance(wanted, str) and wanted.startswith(_TYPE):
            return self._move(tensor.type(wanted.replace(_TYPE, "torch.", 1)), True)
        return tensor.type(wanted, **named)

    def _numpy(self, tensor: torch.Tensor, **named: Any) -> Any:
        if self._labels.of(tensor):
            raise TypeError(
                f"can't convert {DEVICE} device type tensor to numpy. "
                "Use Tensor.cpu() to copy the tensor to host memory first."
            )
        return tensor.numpy(**named)


class _OldType(type):
    """The old names of tensors on the GPU (`torch.cuda.FloatTensor`): calls make them, and objects are told by them."""

    def __call__(cls, *args: Any) -> Any:
        made = getattr(torch, cls.__name__)(*args)
        _LABELS.put(made, True)
        return made

    def __instancecheck__(cls, tensor: object) -> bool:
        return isinstance(tensor, torch.Tensor) and tensor.type() == f"{_TYPE}{cls.__name__}"


def _is_cuda(device: Any) -> bool | None:
    """True for CUDA, False for the CPU, None for another device."""
    kind = "cuda" if type(device) is int else torch.device(device).type
    return {"cuda": True, "cpu": False}.get(kind)


@contextmanager
def labelled(*, is_strict: bool = True) -> Iterator[None]:
    """Build and run on the CPU, with a `cuda:0` that tensors can be said to lie on.

    Without `is_strict` devices may meet: code that asks for the GPU is run all the same, for what else it shows.
    """
    labels = _LABELS
    copied = torch.Tensor.__deepcopy__

    def deepcopy(tensor: torch.Tensor, memo: Any) -> Any:
        made = copied(tensor, memo)
        labels.put(made, labels.of(tensor))
        return made

    with ExitStack() as stack:
        stack.enter_context(reroutes.runtime())
        stack.enter_context(patch.object(torch.cuda, "_lazy_init", lambda: None))
        for name in _OLD_TYPES:
            stack.enter_context(patch.object(torch.cuda, name, _OldType(name, (), {}), create=True))
        for room in _WRITTEN_OUT:
            for name in _ASKING:
                if hasattr(room, name):
                    stack.enter_context(patch.object(room, name, lambda *_: False))
        stack.enter_context(patch.object(torch.Tensor, "__deepcopy__", deepcopy))
        stack.enter_context(_Operators(labels, is_strict=is_strict))
        stack.enter_context(_Requests(labels))
        yield


def asks_for_gpu(error: BaseException) -> bool:
    """True if torch complains that there is no GPU."""
    return any(words in str(error) for words in _NO_GPU)
