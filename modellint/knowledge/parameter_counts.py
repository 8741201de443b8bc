"""Count the parameters of layers of `torch.nn` and `speechbrain.nnet` by the arguments of their constructors.

Taken from the documentation of the classes; the tests build the layers with torch, where it is installed, and compare.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.graph.arguments import bind
from modellint.graph.size import Size
from modellint.graph.value import Parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

#: The type of an argument: a size with or without symbols, a constant, or a list of those.
Argument = object


class UncountableError(Exception):
    """The arguments do not determine the number of parameters."""


class _Given:
    """The arguments of one call, the defaults filled in."""

    def __init__(self, arguments: Mapping[str, Argument]) -> None:
        self._arguments = arguments

    def has(self, name: str) -> bool:
        """True if an argument is not None."""
        return self._arguments.get(name) is not None

    def size(self, name: str) -> Size:
        return _size(self._arguments.get(name))

    def number(self, name: str) -> int:
        """An argument that must be a number, as it decides how many parts there are."""
        number = self.size(name).constant
        if number is None or not 0 <= number <= 1000:
            raise UncountableError
        return number

    def flag(self, name: str) -> bool:
        value = self._arguments.get(name)
        if not isinstance(value, bool | int):
            raise UncountableError
        return bool(value)

    def product(self, name: str, dimensions: int) -> Size:
        """The product of a list; of a number, its power."""
        value = self._arguments.get(name)
        if isinstance(value, list | tuple):
            return _product(_size(item) for item in value)
        return _product([_size(value)] * dimensions)

    def last(self, shape: str, size: str) -> Size:
        """The number of features: `size`, or the last of `shape`."""
        if self.has(size):
            return self.size(size)
        value = self._arguments.get(shape)
        if not isinstance(value, list | tuple) or not value:
            raise UncountableError
        return _size(value[-1])


def _size(value: Argument) -> Size:
    if isinstance(value, Size):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Size.of(value)
    raise UncountableError


def _product(sizes: Iterable[Size]) -> Size:
    total = Size.of(1)
    for size in sizes:
        total = total * size
    return total


def _divide(size: Size, divisor: Size) -> Size:
    number, by = size.constant, divisor.constant
    if by == 1:
        return size
    if number is None or not by:
        raise UncountableError
    return Size.of(number // by)


_NOTHING = Size.of(0)


def _affine(inputs: Size, outputs: Size, *, bias: bool) -> Size:
    return inputs * outputs + (outputs if bias else _NOTHING)


def _linear(given: _Given) -> Size:
    return _affine(given.size("in_features"), given.size("out_features"), bias=given.flag("bias"))


def _bilinear(given: _Given) -> Size:
    both = given.size("in1_features") * given.size("in2_features")
    return _affine(both, given.size("out_features"), bias=given.flag("bias"))


def _convolution(dimensions: int, *, is_transposed: bool = False) -> Callable[[_Given], Size]:
    def count(given: _Given) -> Size:
        inputs, outputs, groups = (given.size(name) for name in ("in_channels", "out_channels", "groups"))
        grouped = inputs * _divide(outputs, groups) if is_transposed else _divide(inputs, groups) * outputs
        weights = grouped * given.product("kernel_size", dimensions)
        return weights + (outputs if given.flag("bias") else _NOTHING)

    return count


def _embedding(given: _Given) -> Size:
    return given.size("num_embeddings") * given.size("embedding_dim")


def _norm(features: str, switch: str) -> Callable[[_Given], Size]:
    """A scale and a shift for each feature."""

    def count(given: _Given) -> Size:
        return Size.of(2) * given.size(features) if given.flag(switch) else _NOTHING

    return count


def _layer_norm(given: _Given) -> Size:
    if not given.flag("elementwise_affine"):
        return _NOTHING
    return given.product("normalized_shape", 1) * Size.of(2 if given.flag("bias") else 1)


def _rms_norm(given: _Given) -> Size:
    return given.product("normalized_shape", 1) if given.flag("elementwise_affine") else _NOTHING


def _recurrent(gates: int) -> Callable[[_Given], Size]:
    def count(given: _Given) -> Size:
        hidden, projected = given.size("hidden_size"), given.size("proj_size")
        is_projected = projected.constant != 0
        outputs = projected if is_projected else hidden
        directions = 2 if given.flag("bidirectional") else 1
        total, inputs = _NOTHING, given.size("input_size")
        for _ in range(given.number("num_layers")):
            one = hidden * inputs + hidden * outputs + (Size.of(2) * hidden if given.flag("bias") else _NOTHING)
            one = one * Size.of(gates) + (projected * hidden if is_projected else _NOTHING)
            total = total + one * Size.of(directions)
            inputs = outputs * Size.of(directions)
        return total

    return count


def _cell(gates: int) -> Callable[[_Given], Size]:
    def count(given: _Given) -> Size:
        hidden, inputs = given.size("hidden_size"), given.size("input_size")
        bias = Size.of(2) * hidden if given.flag("bias") else _NOTHING
        return Size.of(gates) * (hidden * inputs + hidden * hidden + bias)

    return count


def _attention(given: _Given) -> Size:
    width = given.size("embed_dim")
    keys = given.size("kdim") if given.has("kdim") else width
    values = given.size("vdim") if given.has("vdim") else width
    total = width * width * Size.of(2) + width * keys + width * values
    total = total + (Size.of(4) * width if given.flag("bias") else _NOTHING)
    return total + (Size.of(2) * width if given.flag("add_bias_kv") else _NOTHING)


def _transformer(attentions: int) -> Callable[[_Given], Size]:
    def count(given: _Given) -> Size:
        width, inner, bias = given.size("d_model"), given.size("dim_feedforward"), given.flag("bias")
        attention = Size.of(4) * _affine(width, width, bias=bias)
        norms = Size.of((2 if bias else 1) * (attentions + 1)) * width
        feedforward = _affine(width, inner, bias=bias) + _affine(inner, width, bias=bias)
        return Size.of(attentions) * attention + feedforward + norms

    return count


def _prelu(given: _Given) -> Size:
    return given.size("num_parameters")


# -- layers that learn their input's width from a shape ------------------------------------------------------------


def _shaped_linear(given: _Given) -> Size:
    if not given.has("input_size") and given.flag("combine_dims"):
        raise UncountableError
    return _affine(given.last("input_shape", "input_size"), given.size("n_neurons"), bias=given.flag("bias"))


def _one_hot_embedding(given: _Given) -> Size:
    if given.flag("consider_as_one_hot"):
        return given.size("num_embeddings") * (given.size("num_embeddings") - Size.of(1))
    return _embedding(given)


def _shaped_norm(switch: str) -> Callable[[_Given], Size]:
    def count(given: _Given) -> Size:
        if not given.has("input_size") and given.has("skip_transpose"):
            raise UncountableError
        return Size.of(2) * given.last("input_shape", "input_size") if given.flag(switch) else _NOTHING

    return count


def _shaped_recurrent(gates: int) -> Callable[[_Given], Size]:
    plain = _recurrent(gates)

    def count(given: _Given) -> Size:
        names = ("hidden_size", "num_layers", "bias", "bidirectional")
        arguments = {name: given._arguments.get(name) for name in names}
        return plain(_Given({**arguments, "input_size": given.last("input_shape", "input_size"), "proj_size": 0}))

    return count


_CONV = "in_channels out_channels kernel_size stride padding dilation groups=1 bias=True"
_TRANSPOSED = "in_channels out_channels kernel_size stride padding output_padding groups=1 bias=True"
_BATCH = "num_features eps momentum affine=True"
_INSTANCE = "num_features eps momentum affine=False"
_RNN = "input_size hidden_size num_layers=1 bias=True batch_first dropout bidirectional=False proj_size=0"
_PLAIN_RNN = (
    "input_size hidden_size num_layers=1 nonlinearity bias=True batch_first dropout bidirectional=False proj_size=0"
)
_CELL = "input_size hidden_size bias=True"
_LAYER = (
    "d_model nhead dim_feedforward=2048 dropout activation layer_norm_eps batch_first norm_first bias=True device dtype"
)
_TORCH: dict[str, tuple[str, Callable[[_Given], Size]]] = {
    "Linear": ("in_features out_features bias=True", _linear),
    "Bilinear": ("in1_features in2_features out_features bias=True", _bilinear),
    "Conv1d": (_CONV, _convolution(1)),
    "Conv2d": (_CONV, _convolution(2)),
    "Conv3d": (_CONV, _convolution(3)),
    "ConvTranspose1d": (_TRANSPOSED, _convolution(1, is_transposed=True)),
    "ConvTranspose2d": (_TRANSPOSED, _convolution(2, is_transposed=True)),
    "ConvTranspose3d": (_TRANSPOSED, _convolution(3, is_transposed=True)),
    "Embedding": ("num_embeddings embedding_dim", _embedding),
    "EmbeddingBag": ("num_embeddings embedding_dim", _embedding),
    "BatchNorm1d": (_BATCH, _norm("num_features", "affine")),
    "BatchNorm2d": (_BATCH, _norm("num_features", "affine")),
    "BatchNorm3d": (_BATCH, _norm("num_features", "affine")),
    "SyncBatchNorm": (_BATCH, _norm("num_features", "affine")),
    "InstanceNorm1d": (_INSTANCE, _norm("num_features", "affine")),
    "InstanceNorm2d": (_INSTANCE, _norm("num_features", "affine")),
    "InstanceNorm3d": (_INSTANCE, _norm("num_features", "affine")),
    "GroupNorm": ("num_groups num_channels eps affine=True", _norm("num_channels", "affine")),
    "LayerNorm": ("normalized_shape eps elementwise_affine=True bias=True", _layer_norm),
    "RMSNorm": ("normalized_shape eps elementwise_affine=True", _rms_norm),
    "RNN": (_PLAIN_RNN, _recurrent(1)),
    "LSTM": (_RNN, _recurrent(4)),
    "GRU": (_RNN, _recurrent(3)),
    "RNNCell": (_CELL, _cell(1)),
    "LSTMCell": (_CELL, _cell(4)),
    "GRUCell": (_CELL, _cell(3)),
    "MultiheadAttention": (
        "embed_dim num_heads dropout bias=True add_bias_kv=False add_zero_attn kdim=None vdim=None",
        _attention,
    ),
    "TransformerEncoderLayer": (_LAYER, _transformer(1)),
    "TransformerDecoderLayer": (_LAYER, _transformer(2)),
    "PReLU": ("num_parameters=1", _prelu),
}
_SHAPED_RNN = "hidden_size input_shape=None input_size=None num_layers=1 bias=True dropout re_init bidirectional=False"
_SPEECHBRAIN: dict[str, tuple[str, Callable[[_Given], Size]]] = {
    "linear.Linear": (
        "n_neurons input_shape=None input_size=None bias=True max_norm combine_dims=False",
        _shaped_linear,
    ),
    "embedding.Embedding": ("num_embeddings embedding_dim=128 consider_as_one_hot=False", _one_hot_embedding),
    "normalization.BatchNorm1d": (
        "input_shape=None input_size=None eps momentum affine=True",
        _shaped_norm("affine"),
    ),
    "normalization.BatchNorm2d": (
        "input_shape=None input_size=None eps momentum affine=True",
        _shaped_norm("affine"),
    ),
    "normalization.InstanceNorm1d": (
        "input_shape=None input_size=None eps momentum track_running_stats affine=False",
        _shaped_norm("affine"),
    ),
    "RNN.RNN": (
        "hidden_size input_shape=None input_size=None nonlinearity num_layers=1 bias=True dropout re_init "
        "bidirectional=False",
        _shaped_recurrent(1),
    ),
    "RNN.LSTM": (_SHAPED_RNN, _shaped_recurrent(4)),
    "RNN.GRU": (_SHAPED_RNN, _shaped_recurrent(3)),
}
_TABLE = {
    **{f"torch.nn.{name}": entry for name, entry in _TORCH.items()},
    **{f"speechbrain.nnet.{name}": entry for name, entry in _SPEECHBRAIN.items()},
}
_DEFAULTS = {"True": True, "False": False, "None": None}


def describes(name: str) -> bool:
    """True if the arguments of the class with the canonical `name` determine its number of parameters."""
    return name in _TABLE


def arguments_of(name: str, positional: tuple[Argument, ...], keywords: Mapping[str, Argument]) -> dict[str, Argument]:
    """The arguments of a call of a described class by name, the defaults that matter among them."""
    words = [word.partition("=") for word in _TABLE[name][0].split()]
    defaults = {one: _DEFAULTS[told] if told in _DEFAULTS else int(told) for one, _, told in words if told}
    bound = bind([Parameter(one, "positional", None, None) for one, _, _ in words], positional, keywords)
    return {**defaults, **bound.given, **bound.options}


def count(name: str, arguments: Mapping[str, Argument]) -> Size | None:
    """The number of parameters of a described class built with `arguments`; None if they do not determine it."""
    try:
        return _TABLE[name][1](_Given(arguments))
    except UncountableError:
        return None
