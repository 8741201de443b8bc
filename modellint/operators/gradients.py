"""The facets of operators that tell what a backward pass needs, by the last parts of names; see `shapes.py`."""

from __future__ import annotations

GRADIENTS = """
exp expm1 exp2 tan sqrt rsqrt reciprocal sigmoid tanh relu softmax log_softmax softmin : saves:result
Sigmoid Tanh ReLU Softmax Softmax2d LogSoftmax Softmin : saves:result
cumprod prod std norm vector_norm amax amin logsumexp logcumsumexp : saves:input|result
nan_to_num abs square log log1p log2 log10 sin cos var nansum nanmean : saves:input
erf erfinv asin acos atan sinh cosh asinh acosh atanh logit digamma lgamma : saves:input
cummax cummin masked_select take_along_dim gather   : saves:input
relu6 hardtanh gelu silu mish elu selu celu leaky_relu softplus softsign logsigmoid hardswish hardsigmoid : saves:input
hardshrink softshrink threshold local_response_norm glu normalize group_norm instance_norm layer_norm : saves:input
rms_norm lp_pool1d lp_pool2d batch_norm             : saves:input
max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d : saves:input
adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d : saves:input
ReLU6 GELU SiLU Mish ELU SELU CELU LeakyReLU Softplus Softsign LogSigmoid Hardtanh Hardswish Hardsigmoid : saves:input
Hardshrink Softshrink Threshold LocalResponseNorm GLU LPPool1d LPPool2d LayerNorm GroupNorm : saves:input
BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d InstanceNorm2d InstanceNorm3d : saves:input
MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d : saves:input
AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d : saves:input
ReflectionPad1d ReplicationPad1d ReflectionPad2d ReplicationPad2d ReflectionPad3d ReplicationPad3d : saves:input
Linear PReLU ConvTranspose1d ConvTranspose2d ConvTranspose3d LSTMCell GRUCell : saves:input
Conv1d Conv2d Conv3d                                : saves:input kept-unless:padding_mode@8
minimum maximum fmin fmax atan2 logaddexp logaddexp2 xlogy : saves:all
prelu conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d grid_sample : saves:input|second
mse_loss smooth_l1_loss huber_loss MSELoss SmoothL1Loss HuberLoss : saves:all
binary_cross_entropy BCELoss BCEWithLogitsLoss      : saves:all
clamp_max clamp_min clamp clip                      : saves:all
mul multiply mm bmm mv dot outer linear             : saves:factors
div divide true_divide                              : saves:factors|second

Linear Bilinear LazyLinear Embedding PReLU          : learns
Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d LazyConv3d : learns
RNN LSTM GRU RNNCell LSTMCell GRUCell MultiheadAttention : learns
Transformer TransformerEncoder TransformerDecoder TransformerEncoderLayer TransformerDecoderLayer : learns
BatchNorm1d BatchNorm2d BatchNorm3d                 : learns:affine@3
GroupNorm                                           : learns:affine@3
LayerNorm RMSNorm                                   : learns:elementwise_affine@2

view view_as unsqueeze squeeze select narrow diagonal : shares
transpose swapaxes swapdims t permute movedim moveaxis expand expand_as broadcast_to : shares:turned
detach Identity                                     : shares
zeros_like ones_like empty_like full_like rand_like randn_like randint_like : fresh
new_zeros new_ones new_empty new_full tensor        : fresh

relu relu6 selu silu mish hardswish hardsigmoid     : changes-if:inplace@1
leaky_relu elu celu                                 : changes-if:inplace@2
hardtanh threshold                                  : changes-if:inplace@3
ReLU ReLU6 SELU SiLU Mish Hardswish Hardsigmoid     : changes-if:inplace@0
LeakyReLU ELU CELU                                  : changes-if:inplace@1
Hardtanh Threshold                                  : changes-if:inplace@2
"""
