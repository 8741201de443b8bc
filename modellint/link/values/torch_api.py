"""What PyTorch's functions and layers do to the elements of a tensor (PyTorch documentation, `torch`, `torch.Tensor`,
`torch.nn` and `torch.nn.functional`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modellint.graph.value import Value

#: Attributes of a tensor that hold its elements.
PASS_ATTRIBUTES = frozenset(("data", "T", "mT", "H"))
#: Tensor methods that keep, repeat, reorder or pick elements.
PASS_METHODS = frozenset(
    """view reshape squeeze unsqueeze flatten unflatten transpose permute swapaxes movedim t contiguous detach clone cpu
    cuda to type expand expand_as repeat repeat_interleave tile tolist item numpy pin_memory chunk split unbind flip
    roll index_select gather take narrow type_as unfold view_as reshape_as select diagonal requires_grad_ copy values
    to_dense flatten_parameters""".split()
)

#: Functions that do the same to their first argument, which may be a list of tensors.
PASS_FUNCTIONS = frozenset(
    """torch.stack torch.cat torch.concat torch.concatenate torch.hstack torch.vstack torch.tensor torch.as_tensor
    torch.from_numpy torch.LongTensor torch.IntTensor torch.Tensor torch.squeeze torch.unsqueeze torch.flatten
    torch.reshape torch.transpose torch.permute torch.repeat_interleave torch.gather torch.flip torch.roll torch.chunk
    torch.split torch.index_select torch.take torch.clone torch.unbind torch.tile torch.broadcast_to torch.atleast_1d
    torch.atleast_2d numpy.array numpy.asarray numpy.stack numpy.concatenate einops.rearrange einops.repeat list tuple
    reversed sorted""".split()
)

#: Layers that pass elements on (in evaluation; dropout scales them, which keeps real numbers real).
PASS_LAYERS = frozenset(
    "torch.nn." + name
    for name in """Identity Flatten Unflatten Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout
    ChannelShuffle PixelShuffle PixelUnshuffle""".split()
)

#: Layers that keep the width of the last dimension and are no projections.
SAME_WIDTH_LAYERS = frozenset(
    "torch.nn." + name
    for name in """Identity Dropout AlphaDropout FeatureAlphaDropout ReLU ReLU6 GELU SiLU Mish ELU SELU CELU
    LeakyReLU PReLU Softplus Softsign Softmax LogSoftmax Sigmoid LogSigmoid Tanh Hardtanh Hardswish Hardsigmoid
    LayerNorm RMSNorm""".split()
)

#: Layers whose second result, the state, is real numbers too.
RECURRENT_LAYERS = frozenset(("torch.nn.RNN", "torch.nn.LSTM", "torch.nn.GRU"))

_FUNCTIONAL = """relu relu6 gelu silu mish elu selu celu leaky_relu prelu softplus softsign softmax log_softmax
    gumbel_softmax sigmoid logsigmoid tanh hardtanh hardswish hardsigmoid glu linear bilinear conv1d conv2d conv3d
    conv_transpose1d conv_transpose2d conv_transpose3d layer_norm batch_norm group_norm instance_norm rms_norm normalize
    scaled_dot_product_attention embedding embedding_bag"""

#: Functions whose result is real numbers whatever they are given.
CONTINUOUS_FUNCTIONS = frozenset(
    ["torch.nn.functional." + name for name in _FUNCTIONAL.split()]
    + [
        "torch." + name
        for name in """softmax log_softmax sigmoid tanh relu exp log log1p sin cos sqrt rsqrt randn rand randn_like
        rand_like cdist""".split()
    ]
)

#: Tensor methods whose result is real numbers.
CONTINUOUS_METHODS = frozenset(
    "softmax log_softmax sigmoid tanh relu exp log log1p sin cos sqrt rsqrt mean std var norm".split()
)

CASTS_TO_FLOAT = frozenset(("float", "double", "half", "bfloat16"))
CASTS_TO_INTEGER = frozenset(("long", "int", "short", "byte"))

_FLOAT_TYPES = frozenset(
    "float float16 float32 float64 double half bfloat16 FloatTensor HalfTensor DoubleTensor".split()
)
_INTEGER_TYPES = frozenset("long int int8 int16 int32 int64 short uint8 LongTensor IntTensor".split())

_NO_NUMBERS = frozenset(
    """Module ModuleList ModuleDict Sequential ParameterList ParameterDict Parameter Buffer UninitializedParameter
    UninitializedBuffer Container""".split()
)


def is_continuous_layer(name: str) -> bool:
    """Whether a `torch.nn` layer gives real numbers: all but containers and those that pass elements on."""
    package, _, short = name.rpartition(".")
    return package == "torch.nn" and short not in _NO_NUMBERS and name not in PASS_LAYERS and short[:1].isupper()


def is_float_dtype(value: Value | None) -> bool:
    """Whether an argument names a floating point type (`torch.float32`)."""
    return value is not None and _names(value, _FLOAT_TYPES)


def is_integer_dtype(value: Value | None) -> bool:
    """Whether an argument names an integer type (`torch.long`)."""
    return value is not None and _names(value, _INTEGER_TYPES)


def _names(value: Value, types: frozenset[str]) -> bool:
    is_torch = value.op.value == "attr" and value.args[0].data == "torch"
    return is_torch and value.data in types
