"""A machine with a simulated GPU: fake tensors that claim to lie on `cuda:0`, and the tensors that stay on the CPU.

`FakeTensorMode` makes tensors with a device and no data, and raises torch's own error where an operator mixes
devices. Two things do not work on a torch without CUDA and are replaced while `pretended` is active: functions that
ask the CUDA runtime (moves and indexing among them), and `Module._apply`, which swaps parameters in place, as fake
parameters with weak references do not allow.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import CellType, FunctionType
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes

from . import reroutes

DEVICE = "cuda:0"
#: The function by which torch draws from truncated normal distributions.
_DRAWING = "_no_grad_trunc_normal_"
#: Up to how many numbers a fake tensor made of constants keeps: constructors compute sizes with such tensors.
_CONSTANTS = 4096


class _Counted(TorchFunctionMode):
    """Keeps the numbers of short `torch.linspace` results: constructors read them, as rates of dropout."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        if func is not torch.linspace or made.numel() > _CONSTANTS or made.device.type != "cpu":
            return made
        with _disable_current_modes():
            numbers = func(*args, **{**(kwargs or {}), "device": "cpu"})
        return torch.tensor(numbers.tolist(), dtype=made.dtype, device=made.device)


class _Moves(TorchFunctionMode):
    """Replaces functions that ask the CUDA runtime by operators that fake tensors implement."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func is torch.Tensor.cuda:
            return _move(args[0], _device(args[1] if len(args) > 1 else kwargs.get("device")), None)
        if func is torch.Tensor.to:
            return self._to(args, kwargs)
        if func is torch.Tensor.pin_memory:
            return args[0]
        if func in _MAKING:
            device = kwargs.pop("device", None)
            if device is None and func is torch.Tensor.new_tensor:
                device = args[0].device
            made = func(*args, **kwargs) if func is not torch.Tensor.new_tensor else torch.tensor(*args[1:], **kwargs)
            return made if device is None else _move(made, torch.device(device), None)
        if func is torch.nonzero:
            return args[0].nonzero(**kwargs)
        if func in _CONVOLUTIONS:
            _refuse_mixed((*args, *kwargs.values()))
        return func(*args, **kwargs)

    @staticmethod
    def _to(args: Any, kwargs: dict[str, Any]) -> Any:
        tensor, *wanted = args
        device, dtype = kwargs.get("device"), kwargs.get("dtype")
        for value in (*wanted, kwargs.get("other")):
            if isinstance(value, torch.Tensor):
                device, dtype = value.device, value.dtype
            elif isinstance(value, torch.dtype):
                dtype = value
            elif isinstance(value, str | torch.device | int) and not isinstance(value, bool):
                device = value
        return _move(tensor, tensor.device if device is None else torch.device(device), dtype)


#: Functions of fake tensors that do not check the devices of all inputs.
_CONVOLUTIONS = frozenset(getattr(torch, f"conv{kind}{n}d") for kind in ("", "_transpose") for n in (1, 2, 3))
_MAKING = frozenset((torch.tensor, torch.as_tensor, torch.asarray, torch.Tensor.new_tensor))


def _refuse_mixed(given: tuple[Any, ...]) -> None:
    """Raise torch's error for tensors on several devices."""
    devices = list(dict.fromkeys(str(value.device) for value in given if isinstance(value, torch.Tensor)))
    if len(devices) > 1:
        found = f"at least two devices, {devices[0]} and {devices[1]}!"
        raise RuntimeError(f"Expected all tensors to be on the same device, but found {found}")


def _device(wanted: Any) -> torch.device:
    if wanted is None:
        return torch.device(DEVICE)
    return torch.device("cuda", wanted) if isinstance(wanted, int) else torch.device(wanted)


def _move(tensor: torch.Tensor, device: torch.device, dtype: torch.dtype | None) -> torch.Tensor:
    dtype = tensor.dtype if dtype is None else dtype
    if device.type == "cuda" and device.index is None:
        device = torch.device(DEVICE)
    if tensor.device == device and tensor.dtype is dtype:
        return tensor
    mode = torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE)
    if mode is not None and not isinstance(tensor, FakeTensor):
        tensor = mode.from_tensor(tensor)
    # A fake tensor that knows its numbers would be moved for real.
    constant, tensor.constant = getattr(tensor, "constant", None), None
    try:
        moved: torch.Tensor = torch.ops.aten._to_copy(tensor, device=device, dtype=dtype)
    finally:
        tensor.constant = constant
    return moved


def _apply(self: nn.Module, function: Any, recurse: bool = True) -> nn.Module:
    """`Module._apply` that replaces parameters by new ones; shared parameters stay shared."""
    memo: dict[int, nn.Parameter] = getattr(_apply, "memo", {})
    for child in self.children() if recurse else ():
        child._apply(function)
    for name, parameter in self._parameters.items():
        if parameter is not None:
            known = memo.get(id(parameter))
            if known is None or known[0] is not parameter:
                with torch.no_grad():
                    moved = nn.Parameter(function(parameter), parameter.requires_grad)
                known = memo[id(parameter)] = (parameter, moved)
            self._parameters[name] = known[1]
    for name, buffer in self._buffers.items():
        if buffer is not None:
            self._buffers[name] = function(buffer)
    return self


@contextmanager
def without_data() -> Iterator[FakeTensorMode]:
    """Tensors without data. Initialisers that read the numbers they draw do nothing, as on `meta`."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(fake_tensor, "CONSTANT_NUMEL_LIMIT", _CONSTANTS))
        if hasattr(nn.init, _DRAWING):
            stack.enter_context(patch.object(nn.init, _DRAWING, lambda tensor, *_, **__: tensor))
        mode = stack.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
        stack.enter_context(_Counted())
        yield mode


@contextmanager
def pretended() -> Iterator[FakeTensorMode]:
    """Build and run on fake tensors, with a `cuda:0` to move to. Gradients are off.

    Autograd on a fake CUDA tensor ends the whole process.
    """
    _apply.memo = {}  # type: ignore[attr-defined]
    with ExitStack() as stack:
        stack.enter_context(patch.object(nn.Module, "_apply", _apply))
        stack.enter_context(reroutes.runtime())
        for name in reroutes.METHODS:
            stack.enter_context(patch.object(FakeTensor, name, reroutes.method(name), create=True))
        # Autocast's cache of parameters makes autograd look at them.
        stack.callback(torch.set_autocast_cache_enabled, torch.is_autocast_cache_enabled())
        torch.set_autocast_cache_enabled(False)
        stack.enter_context(torch.no_grad())
        mode = stack.enter_context(without_data())
        stack.enter_context(_Moves())
        yield mode


@contextmanager
def on_gpu() -> Iterator[None]:
    """Build and run for real, with the `cuda:0` that there is."""
    with torch.no_grad():
        yield


def tensors(root: object, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor that can be reached from an object: through attributes, containers, closures and bound methods."""
    return ((where, value) for where, value in _reachable(root, path) if isinstance(value, torch.Tensor))


def state(root: object, path: str = "") -> Iterator[tuple[str, torch.Tensor]]:
    """The parameters and buffers of every module that can be reached from an object, which move with it."""
    seen: set[int] = set()
    for where, module in _reachable(root, path):
        if isinstance(module, nn.Module):
            for name, tensor in (*module._parameters.items(), *module._buffers.items()):
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield f"{where}.{name}" if where else name, tensor


def below(root: object) -> Iterator[object]:
    """All objects that can be reached from an object, each once, the object itself first."""
    return (value for _, value in _reachable(root, ""))


def _reachable(root: object, path: str) -> Iterator[tuple[str, object]]:
    seen: set[int] = set()
    pending: list[tuple[str, object]] = [(path, root)]
    while pending:
        where, value = pending.pop()
        if id(value) in seen or isinstance(value, _PLAIN):
            continue
        seen.add(id(value))
        yield where, value
        if not isinstance(value, torch.Tensor):
            pending.extend(reversed(list(_parts(where, value))))


_PLAIN = (str, bytes, int, float, complex, type, type(None), torch.dtype, torch.device, torch.Size)


def _parts(where: str, value: object) -> Iterator[tuple[str, object]]:
    def below(name: str) -> str:
        return f"{where}.{name}" if where else name

    if isinstance(value, nn.Module):
        for table in (value._parameters, value._buffers, value._modules):
            yield from ((below(name), part) for name, part in table.items())
    if isinstance(value, Mapping):
        yield from ((f"{where}[{key!r}]", part) for key, part in list(value.items()))
    elif isinstance(value, list | tuple | set | frozenset):
        yield from ((f"{where}[{number}]", part) for number, part in enumerate(value))
    elif isinstance(value, functools.partial):
        yield from ((where, part) for part in (value.func, *value.args, *value.keywords.values()))
    elif isinstance(value, FunctionType):
        yield from ((where, cell.cell_contents) for cell in value.__closure__ or () if _is_filled(cell))
    owner = getattr(value, "__self__", None)
    if owner is not None and not isinstance(owner, type) and type(owner).__module__ != "builtins":
        yield where, owner
    if type(value).__module__ == "builtins" or isinstance(value, FakeTensor):
        return
    for name, part in list(getattr(value, "__dict__", {}).items()):
        if not (isinstance(value, nn.Module) and name in ("_parameters", "_buffers", "_modules")):
            yield below(name), part


def _is_filled(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def left_behind(root: object, path: str = "") -> list[tuple[str, torch.Tensor]]:
    """The tensors with state on the CPU after the move, but for those without dimensions, which work on any device."""
    return [(path, tensor) for path, tensor in tensors(root, path) if tensor.device.type == "cpu" and tensor.dim() > 0]
