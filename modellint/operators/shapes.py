"""The facets of operators that tell the shape of a result and its type of elements.

They belong to the rows of `rows.py`, and stand apart since only one theory reads them. `tests/operators` makes calls
of each row, runs torch, and compares. An argument is `NAME@P` as there; several are joined by commas, in the order that
a facet names. Of a class in `torch.nn` the arguments are the constructor's.

    keeps-shape                 the operand's shape; `if-typed:TYPE@P` only with that argument
    broadcasts                  the common shape of all tensors among the arguments, or of the operand and those named
    in-place                    changes its operand, which keeps its shape
    ranks:3|4                   the numbers of dimensions that are taken; `along:DIM@P`: a dimension that must be there
    dims:DIM@P keeps:KEEPDIM@P  the dimensions that are reduced (all if none is given, `last`: the last one), and if
                                they stay as 1; `or-unbiased`: the first argument may be a flag; `or-other:OTHER@P`: or
                                the second tensor of two that are broadcast
    pairs                       a tuple of two of that shape: values and ids (of `dims` if a dimension is given)
    swaps:D@P,D@P               two dimensions are exchanged; `turns` those of a matrix, `turns-matrices` the last two
    permutes:DIMS@P             all dimensions in another order; `reverses` in reversed order; `moves:FROM@P,TO@P` some
    views:SHAPE@P               another shape of as many elements; `unflattens:DIM@P,SIZES@P` of one dimension
    merges:START@P,END@P        dimensions become one
    inserts:DIM@P               a dimension of 1; `drops:DIM@P` removes any, `squeezes-at:DIM@P` those of 1
    cats:DIM@P                  tensors are joined along a dimension; `piles:DIM@P` along a new one
    splits:SIZES@P,DIM@P        several of these sizes; `chunks:N@P,DIM@P` at most so many, `sections:N@P,DIM@P` so many
                                or up to these ends; `unbinds:DIM@P` one for each index
    narrows:DIM@P,LENGTH@P      so many along a dimension; `top:K@P,DIM@P` the same; `picks:DIM@P,INDEX@P` by ids
    multiplies                  the product of matrices; `multiplies:N`: both of N dimensions; `outer` of two vectors
    linear:WEIGHT@P             the product with a weight that is turned round; `bias:BIAS@P` as long as what it makes
    equation, pattern           what the first text says: `einsum`, or einops
    shaped-as:OTHER@P           the shape of another argument. `from:WHAT`: of as many `elements`, the operand
                                `expanded`, or of the same `rank`
    expands:SIZES@P             1 becomes the size that is given; `repeats-by:TIMES@P` sizes are multiplied
    appends:N@P                 one more dimension, of that size (of the weight's last one for `F.embedding`)
    made-of:SIZE@P              a tensor of these sizes (of the first argument that is a tuple, where several are named)
    counts-to:END@P             one dimension of that length; `ranges` that of `arange`; `grid:SIZE@P` a square
    literal-shape               that of the list it is given
    window:N                    a convolution or pool over N dimensions: `kernel:…`, `stride:…`, `padding:…`,
                                `dilation:…`, `ceil:…`, `output-padding:…`, `groups:…`; `indices:FLAG@P`: with ids
    convolves:IN@P,OUT@P        channels by the constructor's arguments; `deconvolves` of the transposed one; of a
                                function, `weighs:WEIGHT@P` by the weight's, `upward` of the transposed one
    resizes:SIZE@P,SCALE@P      spatial sizes are set or multiplied; `sets:SIZE@P` those of an adaptive pool
    shuffles:N@P                channels become pixels; `unshuffles:N@P` the other way round
    pads-by:PAD@P               pairs from the last dimension on; `pads-grid:PAD@P` of a layer
    halves:DIM@P                half as long along a dimension
    takes-features:N@P          the last dimension must be that long; `gives-features:N@P` becomes it
    takes-channels:N@P          dimension 1 (or `place:-2`) must be; `if:FLAG@P` that is true; `or-one`: 1 fits all
    normal:SHAPE@P              the last dimensions must be these
    divided:N@P,PARTS@P         the constructor refuses a number that the second does not divide; several such pairs
    states:HIDDEN@P,LAYERS@P,FIRST@P,TWO@P
                                a recurrent layer's output and state (that of an LSTM is two of this shape), with
                                `projects:SIZE@P` another width of the output; `cell:HIDDEN@P` one step of it
    attends:WIDTH@P,FIRST@P     the operand's shape, and attention weights; `attention` that of query and value
    diagonal-of:K@P             a square with that diagonal, or the diagonal of one; `diagonals:K@P,D@P,D@P` of two
                                dimensions, as a last one
    interleaves:N@P,DIM@P       so many times as long along a dimension, or in all as one
    selects, places             one dimension of unknown length; so many places of as many numbers as dimensions
    takes-along:INDEX@P,DIM@P   the shape of the ids along a dimension, the common one elsewhere
    adds-product:N              of the second and third tensors, both of N dimensions
    last:N@P                    the last dimension becomes that long
    meshes:INDEXING@P           a grid for each of several vectors; `several`: the same for each tensor
    stands:N, cats-at:DIM       at least so many dimensions; then joined along one
    pairs-rows:OTHER@P          the distance of each row of one to each of another
    slides:DIM@P,SIZE@P,STEP@P  parts of a dimension, which stand behind all others; `columns` those of images
    pads-sequence:FIRST@P       a list of sequences as one tensor, as long as the longest
    grid-of:SIZE@P              places in an image of that size; `samples:GRID@P` an image at such places
    compares:OTHER@P,DIM@P      one number for two vectors along a dimension, which is `at:1` if none is given
    bilinear:WEIGHT@P           the last dimension becomes the first one of the weight; `makes-channels:N@P` dimension 1
    shaped-as-second            the shape of the second tensor
    needs-several:FACET         it compares what is along the dimension that FACET names
    loses:broadcast             a loss of two tensors: one number, or their shape, as `reduction:TEXT@P` says;
                                `loses:same`: both of one shape; `loses:sequences`: of several lengths;
                                `weight:W@P` and `pos-weight:W@P` fit it
    classes                     a loss of scores and classes, with a `weight:W@P` for each class;
                                `classes:probabilities`: or probabilities of all classes
    type:T                      the result's type; without it, that of the operand (`type:as-input`). `type:float`: of
                                real numbers, of whole ones too; `type:sum`: whole ones become int64, `type:number`:
                                bool does; `type:default`: float32; `type:weights`: that of a layer's parameters;
                                `type:unknown`. `second:int64`: that of the second result
    promotes                    the result's type is the common one of all arguments
    rounds:MODE@P               with that argument, whole numbers stay whole
    takes-float                 refuses whole numbers; `takes-numbers` bool; `takes-ids` all but int32 and int64,
                                `takes-long` all but that; `takes-pixels` whole ones but uint8; `takes-bits` real ones,
                                `takes-some-float` two tensors of whole numbers
    same-types                  all tensors (or the first ones: `same-types:3`) must be of one type; `weighted`: the
                                operand must be of the layer's
    values:KIND                 what the elements of the result are: `scores`, `probabilities`, which add up to 1,
                                `chances` between 0 and 1, the logarithms of both, `positives`, `bounded`; `log`:
                                logarithms of what the operand holds. `logs:FLAG@P`: their logarithms with that flag
    seldom:KINDS                what the operand holds only by mistake; `positives-of-scores`: positives made of scores,
                                `chances-of-scores` the same; `maps`: what another linear map makes
    cuts                        no gradient reaches the result
    saves:WHAT                  what a backward pass needs again: the `result`, the `input`, `all` tensors, the
                                `factors` (each one where another one needs a gradient), the `second` one; or several
    kept-unless:NAME@P          the input is not needed where that argument is given
    learns:FLAG@P               a layer that has parameters, unless that argument is false
    shares                      the result shares the operand's memory, `shares:turned` in another order or repeated
    fresh                       the result needs no gradient, whatever the operand needs
    changes-if:FLAG@P           changes its operand if that argument is true
    mask, index, targets        the second tensor must be bool, int32 or int64, or ids of classes (or probabilities);
                                `condition`: the first one bool; `real-target`: the second of real numbers, `no-flags`:
                                no bool; `source`: the third one is of the operand's type
"""

from __future__ import annotations

from . import Operator, parse_rows
from .gradients import GRADIENTS

SHAPES = """
[functions of torch, methods of Tensor]
clone detach tril triu flip fliplr flipud roll      : keeps-shape
cumsum cumprod argsort softmax log_softmax          : keeps-shape along:dim@1
neg negative nan_to_num abs sign square bitwise_not logical_not : keeps-shape
exp log log1p log2 log10 sin cos tan sqrt rsqrt reciprocal sigmoid tanh relu floor trunc round ceil : keeps-shape
isnan isinf isfinite index_fill scatter scatter_add index_add index_copy : keeps-shape
masked_scatter                                      : broadcasts:mask@1
add sub subtract mul multiply floor_divide pow remainder fmod minimum maximum fmin fmax : broadcasts promotes
div divide true_divide atan2 hypot                  : broadcasts type:float
lt less le less_equal gt greater ge greater_equal eq ne not_equal logical_and logical_or logical_xor : broadcasts
bitwise_and bitwise_or bitwise_xor                  : broadcasts promotes
clamp clip clamp_max clamp_min                      : broadcasts promotes
masked_fill                                         : broadcasts type:as-input
lerp addcmul addcdiv                                : broadcasts promotes
where                                               : broadcasts
sum prod                                            : dims:dim@1 keeps:keepdim@2
all any                                             : dims:dim@1 keeps:keepdim@2
mean                                                : dims:dim@1 keeps:keepdim@2 takes-float
std var                                             : dims:dim@1 keeps:keepdim@3 or-unbiased takes-float
norm                                                : dims:dim@2 keeps:keepdim@3 takes-float
amax amin argmax argmin                             : dims:dim@1 keeps:keepdim@2
logsumexp nansum nanmean                            : dims:dim@1 keeps:keepdim@2
count_nonzero                                       : dims:dim@1
max min                                             : dims:dim@1 keeps:keepdim@2 pairs or-other:other@1
median                                              : dims:dim@1 keeps:keepdim@2 pairs
mode                                                : dims:dim@1 keeps:keepdim@2 pairs last
kthvalue                                            : dims:dim@2 keeps:keepdim@3 pairs last
topk                                                : top:k@1,dim@2 pairs
sort                                                : keeps-shape pairs along:dim@1
transpose                                           : swaps:dim0@1,dim1@2
swapaxes                                            : swaps:axis0@1,axis1@2
swapdims                                            : swaps:dim0@1,dim1@2
t                                                   : turns
erf erfinv expm1 asin acos atan sinh cosh asinh acosh atanh exp2 frac deg2rad rad2deg logit digamma lgamma : \
            keeps-shape
signbit isposinf isneginf isreal positive           : keeps-shape
logcumsumexp                                        : keeps-shape along:dim@1
cummax cummin                                       : keeps-shape along:dim@1 pairs
logaddexp logaddexp2 xlogy isclose copysign heaviside : broadcasts
diag                                                : diagonal-of:diagonal@1
diagonal                                            : diagonals:offset@1,dim1@2,dim2@3
repeat_interleave                                   : interleaves:repeats@1,dim@2
masked_select                                       : selects
nonzero                                             : places
take_along_dim                                      : takes-along:indices@1,dim@2
baddbmm                                             : adds-product:3
addmm                                               : adds-product:2
mv                                                  : multiplies:2,1 promotes
dot                                                 : multiplies:1,1 promotes
multinomial                                         : last:num_samples@1
permute                                             : permutes:dims@1
movedim moveaxis                                    : moves:source@1,destination@2
reshape                                             : views:shape@1
unflatten                                           : unflattens:dim@1,sizes@2
flatten                                             : merges:start_dim@1,end_dim@2
ravel                                               : merges:start_dim@9,end_dim@9
unsqueeze                                           : inserts:dim@1
squeeze                                             : squeezes-at:dim@1
select                                              : drops:dim@1
narrow                                              : narrows:dim@1,length@3
split                                               : splits:split_size_or_sections@1,dim@2
chunk                                               : chunks:chunks@1,dim@2
tensor_split                                        : sections:indices_or_sections@1,dim@2
unbind                                              : unbinds:dim@1
index_select                                        : picks:dim@1,index@2
gather                                              : shaped-as:index@2 from:rank along:dim@1
matmul                                              : multiplies promotes
mm                                                  : multiplies:2 promotes
bmm                                                 : multiplies:3 promotes
broadcast_to                                        : expands:size@1
tile                                                : repeats-by:dims@1

[functions of torch]
rand_like randn_like                                : keeps-shape
zeros_like ones_like empty_like full_like randint_like : keeps-shape
cat concat concatenate                              : cats:dim@1
stack                                               : piles:dim@1
einsum                                              : equation
outer                                               : outer
rand randn zeros ones empty                         : made-of:size@0
full                                                : made-of:size@0
randint                                             : made-of:size@1,size@2 type:int64
arange                                              : ranges
linspace logspace                                   : counts-to:steps@2 type:float
randperm                                            : counts-to:n@0 type:int64
meshgrid                                            : meshes:indexing@9
broadcast_tensors                                   : broadcasts several
hstack                                              : stands:1 cats-at:1
vstack                                              : stands:2 cats-at:0
dstack                                              : stands:3 cats-at:2
atleast_1d                                          : stands:1
atleast_2d                                          : stands:2
atleast_3d                                          : stands:3
cdist                                               : pairs-rows:x2@1
bucketize                                           : keeps-shape
searchsorted                                        : shaped-as:input@1
isin                                                : keeps-shape
complex polar                                       : broadcasts
eye                                                 : grid:n@0 type:float
tensor as_tensor                                    : literal-shape

[functions of torch.linalg]
norm vector_norm                                    : dims:dim@2 keeps:keepdim@3 takes-float
inv                                                 : keeps-shape

[functions of torch.nn.utils.rnn]
pad_sequence                                        : pads-sequence:batch_first@1

[functions of torch.nn.init]
normal_ uniform_ zeros_ ones_ trunc_normal_         : keeps-shape
xavier_uniform_ xavier_normal_ kaiming_uniform_ kaiming_normal_ orthogonal_ : keeps-shape
constant_                                           : keeps-shape

[attributes of Tensor]
data                                                : keeps-shape
T                                                   : reverses
mT mH                                               : turns-matrices

[methods of Tensor]
unfold                                              : slides:dimension@1,size@2,step@3
contiguous to type_as cpu cuda pin_memory float double half bfloat16 : keeps-shape
long int short char byte bool requires_grad_        : keeps-shape
copy_                                               : broadcasts in-place
normal_ uniform_ random_ exponential_ fill_ zero_ bernoulli_ index_put_ : keeps-shape
masked_scatter_ scatter_ index_add_ index_copy_     : keeps-shape
type                                                : if-typed:dtype@1
view                                                : views:size@1
view_as reshape_as                                  : shaped-as:other@1 from:elements
expand_as                                           : shaped-as:other@1 from:expanded
expand                                              : expands:size@1
repeat                                              : repeats-by:repeats@1
new_zeros new_ones new_empty                        : made-of:size@1 type:as-input
new_full                                            : made-of:size@1 type:as-input

[functions of torch.nn.functional]
dropout alpha_dropout feature_alpha_dropout dropout1d dropout2d dropout3d : keeps-shape
relu relu6 hardtanh sigmoid tanh gelu silu mish elu selu celu leaky_relu softplus softsign logsigmoid : keeps-shape
hardswish hardsigmoid prelu gumbel_softmax batch_norm : keeps-shape
softmax log_softmax                                 : keeps-shape along:dim@1
normalize                                           : keeps-shape along:dim@2
group_norm instance_norm                            : keeps-shape
layer_norm rms_norm                                 : normal:normalized_shape@1
glu                                                 : halves:dim@1
linear                                              : linear:weight@1 bias:bias@2 promotes
conv1d                                              : window:1 weighs:weight@1 bias:bias@2 stride:stride@3 \
            padding:padding@4 dilation:dilation@5 groups:groups@6 ranks:2|3
conv2d                                              : window:2 weighs:weight@1 bias:bias@2 stride:stride@3 \
            padding:padding@4 dilation:dilation@5 groups:groups@6 ranks:3|4
conv3d                                              : window:3 weighs:weight@1 bias:bias@2 stride:stride@3 \
            padding:padding@4 dilation:dilation@5 groups:groups@6 ranks:4|5
conv_transpose1d                                    : window:1 weighs:weight@1 bias:bias@2 upward stride:stride@3 \
            padding:padding@4 output-padding:output_padding@5 groups:groups@6 dilation:dilation@7 ranks:2|3
conv_transpose2d                                    : window:2 weighs:weight@1 bias:bias@2 upward stride:stride@3 \
            padding:padding@4 output-padding:output_padding@5 groups:groups@6 dilation:dilation@7 ranks:3|4
conv_transpose3d                                    : window:3 weighs:weight@1 bias:bias@2 upward stride:stride@3 \
            padding:padding@4 output-padding:output_padding@5 groups:groups@6 dilation:dilation@7 ranks:4|5
unfold                                              : window:2 columns kernel:kernel_size@1 dilation:dilation@2 \
            padding:padding@3 stride:stride@4 ranks:3|4
lp_pool1d                                           : window:1 kernel:kernel_size@2 stride:stride@3 ceil:ceil_mode@4 \
            ranks:2|3
lp_pool2d                                           : window:2 kernel:kernel_size@2 stride:stride@3 ceil:ceil_mode@4 \
            ranks:3|4
affine_grid                                         : grid-of:size@1
grid_sample                                         : samples:grid@1
cosine_similarity                                   : compares:x2@1,dim@2 at:1
pairwise_distance                                   : compares:x2@1 at:-1 keeps:keepdim@4
bilinear                                            : bilinear:weight@2
hardshrink softshrink tanhshrink softmin threshold local_response_norm : keeps-shape
scaled_dot_product_attention                        : attention
embedding                                           : appends:weight@1
interpolate                                         : resizes:size@1,scale_factor@2
pad                                                 : pads-by:pad@1
one_hot                                             : appends:num_classes@1
max_pool1d                                          : window:1 kernel:kernel_size@1 stride:stride@2 \
            padding:padding@3 dilation:dilation@4 ceil:ceil_mode@5 indices:return_indices@6 ranks:2|3
avg_pool1d                                          : window:1 kernel:kernel_size@1 stride:stride@2 \
            padding:padding@3 ceil:ceil_mode@4 ranks:2|3
max_pool2d                                          : window:2 kernel:kernel_size@1 stride:stride@2 \
            padding:padding@3 dilation:dilation@4 ceil:ceil_mode@5 indices:return_indices@6 ranks:3|4
avg_pool2d                                          : window:2 kernel:kernel_size@1 stride:stride@2 \
            padding:padding@3 ceil:ceil_mode@4 ranks:3|4
max_pool3d                                          : window:3 kernel:kernel_size@1 stride:stride@2 \
            padding:padding@3 dilation:dilation@4 ceil:ceil_mode@5 indices:return_indices@6 ranks:4|5
avg_pool3d                                          : window:3 kernel:kernel_size@1 stride:stride@2 \
            padding:padding@3 ceil:ceil_mode@4 ranks:4|5
adaptive_avg_pool1d                                 : window:1 sets:output_size@1 ranks:2|3
adaptive_max_pool1d                                 : window:1 sets:output_size@1 indices:return_indices@2 ranks:2|3
adaptive_avg_pool2d                                 : window:2 sets:output_size@1
adaptive_max_pool2d                                 : window:2 sets:output_size@1 indices:return_indices@2 ranks:3|4
adaptive_avg_pool3d                                 : window:3 sets:output_size@1
adaptive_max_pool3d                                 : window:3 sets:output_size@1 indices:return_indices@2 ranks:4|5
mse_loss l1_loss smooth_l1_loss                     : loses:broadcast reduction:reduction@4
kl_div                                              : loses:broadcast reduction:reduction@4
soft_margin_loss                                    : loses:broadcast reduction:reduction@4
poisson_nll_loss                                    : loses:broadcast reduction:reduction@7
huber_loss                                          : loses:broadcast reduction:reduction@2
binary_cross_entropy                                : loses:same weight:weight@2 reduction:reduction@5
binary_cross_entropy_with_logits                    : loses:same weight:weight@2 reduction:reduction@5 \
            pos-weight:pos_weight@6
cross_entropy                                       : classes:probabilities weight:weight@2 reduction:reduction@6
nll_loss                                            : classes weight:weight@2 reduction:reduction@6
ctc_loss                                            : loses:sequences reduction:reduction@5
pixel_shuffle                                       : shuffles:upscale_factor@1
pixel_unshuffle                                     : unshuffles:downscale_factor@1

[classes of torch.nn]
Identity Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout : keeps-shape
ReLU ReLU6 GELU SiLU Mish ELU SELU CELU LeakyReLU Softplus Softsign Sigmoid : keeps-shape
PReLU                                               : takes-channels:num_parameters@0 or-one keeps-shape
Softmax LogSoftmax Softmin                          : keeps-shape along:dim@0
LogSigmoid Tanh Hardtanh Hardswish Hardsigmoid Hardshrink Softshrink Tanhshrink ChannelShuffle : keeps-shape
LayerNorm RMSNorm                                   : normal:normalized_shape@0
Flatten                                             : merges:start_dim@0,end_dim@1
Unflatten                                           : unflattens:dim@0,unflattened_size@1
Linear                                              : takes-features:in_features@0 gives-features:out_features@1
Conv1d                                              : window:1 convolves:in_channels@0,out_channels@1 \
            divided:in_channels@0,groups@6,out_channels@1,groups@6 \
            kernel:kernel_size@2 stride:stride@3 padding:padding@4 dilation:dilation@5 groups:groups@6 ranks:2|3
Conv2d                                              : window:2 convolves:in_channels@0,out_channels@1 \
            divided:in_channels@0,groups@6,out_channels@1,groups@6 \
            kernel:kernel_size@2 stride:stride@3 padding:padding@4 dilation:dilation@5 groups:groups@6 ranks:3|4
Conv3d                                              : window:3 convolves:in_channels@0,out_channels@1 \
            divided:in_channels@0,groups@6,out_channels@1,groups@6 \
            kernel:kernel_size@2 stride:stride@3 padding:padding@4 dilation:dilation@5 groups:groups@6 ranks:4|5
ConvTranspose1d                                     : window:1 deconvolves:in_channels@0,out_channels@1 \
            divided:in_channels@0,groups@6,out_channels@1,groups@6 \
            kernel:kernel_size@2 stride:stride@3 padding:padding@4 output-padding:output_padding@5 \
            dilation:dilation@8 groups:groups@6 ranks:2|3
ConvTranspose2d                                     : window:2 deconvolves:in_channels@0,out_channels@1 \
            divided:in_channels@0,groups@6,out_channels@1,groups@6 \
            kernel:kernel_size@2 stride:stride@3 padding:padding@4 output-padding:output_padding@5 \
            dilation:dilation@8 groups:groups@6 ranks:3|4
ConvTranspose3d                                     : window:3 deconvolves:in_channels@0,out_channels@1 \
            divided:in_channels@0,groups@6,out_channels@1,groups@6 \
            kernel:kernel_size@2 stride:stride@3 padding:padding@4 output-padding:output_padding@5 \
            dilation:dilation@8 groups:groups@6 ranks:4|5
MaxPool1d                                           : window:1 kernel:kernel_size@0 stride:stride@1 \
            padding:padding@2 dilation:dilation@3 indices:return_indices@4 ceil:ceil_mode@5 ranks:2|3
MaxPool2d                                           : window:2 kernel:kernel_size@0 stride:stride@1 \
            padding:padding@2 dilation:dilation@3 indices:return_indices@4 ceil:ceil_mode@5 ranks:3|4
MaxPool3d                                           : window:3 kernel:kernel_size@0 stride:stride@1 \
            padding:padding@2 dilation:dilation@3 indices:return_indices@4 ceil:ceil_mode@5 ranks:4|5
AvgPool1d                                           : window:1 kernel:kernel_size@0 stride:stride@1 \
            padding:padding@2 ceil:ceil_mode@3 ranks:2|3
AvgPool2d                                           : window:2 kernel:kernel_size@0 stride:stride@1 \
            padding:padding@2 ceil:ceil_mode@3 ranks:3|4
AvgPool3d                                           : window:3 kernel:kernel_size@0 stride:stride@1 \
            padding:padding@2 ceil:ceil_mode@3 ranks:4|5
AdaptiveAvgPool1d                                   : window:1 sets:output_size@0 ranks:2|3
AdaptiveMaxPool1d                                   : window:1 sets:output_size@0 indices:return_indices@1 ranks:2|3
AdaptiveAvgPool2d                                   : window:2 sets:output_size@0
AdaptiveMaxPool2d                                   : window:2 sets:output_size@0 indices:return_indices@1 ranks:3|4
AdaptiveAvgPool3d                                   : window:3 sets:output_size@0
AdaptiveMaxPool3d                                   : window:3 sets:output_size@0 indices:return_indices@1 ranks:4|5
BatchNorm1d                                         : takes-channels:num_features@0 ranks:2|3 keeps-shape
BatchNorm2d                                         : takes-channels:num_features@0 ranks:4 keeps-shape
BatchNorm3d                                         : takes-channels:num_features@0 ranks:5 keeps-shape
GroupNorm                                           : takes-channels:num_channels@1 keeps-shape \
            divided:num_channels@1,num_groups@0
InstanceNorm1d                                      : takes-channels:num_features@0 place:-2 if:affine@3 ranks:2|3 \
            keeps-shape
InstanceNorm2d                                      : takes-channels:num_features@0 place:-3 if:affine@3 ranks:3|4 \
            keeps-shape
InstanceNorm3d                                      : takes-channels:num_features@0 place:-4 if:affine@3 ranks:4|5 \
            keeps-shape
Upsample                                            : resizes:size@0,scale_factor@1
UpsamplingNearest2d UpsamplingBilinear2d            : resizes:size@0,scale_factor@1
PixelShuffle                                        : shuffles:upscale_factor@0
PixelUnshuffle                                      : unshuffles:downscale_factor@0
ZeroPad1d ReflectionPad1d ReplicationPad1d ConstantPad1d : pads-grid:padding@0 window:1
ZeroPad2d ReflectionPad2d ReplicationPad2d ConstantPad2d : pads-grid:padding@0 window:2
ZeroPad3d ReflectionPad3d ReplicationPad3d ConstantPad3d : pads-grid:padding@0 window:3
GLU                                                 : halves:dim@0
Unfold                                              : window:2 columns kernel:kernel_size@0 dilation:dilation@1 \
            padding:padding@2 stride:stride@3 ranks:3|4
LPPool1d                                            : window:1 kernel:kernel_size@1 stride:stride@2 ceil:ceil_mode@3 \
            ranks:2|3
LPPool2d                                            : window:2 kernel:kernel_size@1 stride:stride@2 ceil:ceil_mode@3 \
            ranks:3|4
Softmax2d                                           : ranks:3|4 keeps-shape
Threshold LocalResponseNorm                         : keeps-shape
CosineSimilarity                                    : compares:x2@1,dim@0 at:1
PairwiseDistance                                    : compares:x2@1 at:-1 keeps:keepdim@2
Bilinear                                            : takes-features:in1_features@0 gives-features:out_features@2
LazyLinear                                          : gives-features:out_features@0
LazyConv1d                                          : window:1 makes-channels:out_channels@0 kernel:kernel_size@1 \
            stride:stride@2 padding:padding@3 dilation:dilation@4 groups:groups@5 ranks:2|3
LazyConv2d                                          : window:2 makes-channels:out_channels@0 kernel:kernel_size@1 \
            stride:stride@2 padding:padding@3 dilation:dilation@4 groups:groups@5 ranks:3|4
LazyConv3d                                          : window:3 makes-channels:out_channels@0 kernel:kernel_size@1 \
            stride:stride@2 padding:padding@3 dilation:dilation@4 groups:groups@5 ranks:4|5
LazyBatchNorm1d                                     : ranks:2|3 keeps-shape
LazyBatchNorm2d                                     : ranks:4 keeps-shape
CircularPad1d                                       : pads-grid:padding@0 window:1
CircularPad2d                                       : pads-grid:padding@0 window:2
Transformer                                         : shaped-as-second takes-features:d_model@0
TransformerEncoder TransformerDecoder               : ranks:2|3 keeps-shape
Embedding                                           : appends:embedding_dim@1
RNN                                                 : ranks:2|3 \
            states:hidden_size@1,num_layers@2,batch_first@5,bidirectional@7 takes-features:input_size@0
GRU                                                 : ranks:2|3 \
            states:hidden_size@1,num_layers@2,batch_first@4,bidirectional@6 takes-features:input_size@0
LSTM                                                : ranks:2|3 \
            states:hidden_size@1,num_layers@2,batch_first@4,bidirectional@6 takes-features:input_size@0 \
            projects:proj_size@7
LSTMCell                                            : pairs ranks:1|2 cell:hidden_size@1 takes-features:input_size@0
GRUCell RNNCell                                     : ranks:1|2 cell:hidden_size@1 takes-features:input_size@0
MultiheadAttention                                  : ranks:2|3 attends:embed_dim@0,batch_first@8 \
            takes-features:embed_dim@0 divided:embed_dim@0,num_heads@1
TransformerEncoderLayer TransformerDecoderLayer     : ranks:2|3 keeps-shape takes-features:d_model@0 \
            divided:d_model@0,nhead@1
MSELoss L1Loss SmoothL1Loss                         : loses:broadcast reduction:reduction@2
KLDivLoss                                           : loses:broadcast reduction:reduction@2
SoftMarginLoss                                      : loses:broadcast reduction:reduction@2
HuberLoss                                           : loses:broadcast reduction:reduction@0
BCELoss                                             : loses:same weight:weight@0 reduction:reduction@3
BCEWithLogitsLoss                                   : loses:same weight:weight@0 reduction:reduction@3 \
            pos-weight:pos_weight@4
CrossEntropyLoss                                    : classes:probabilities weight:weight@0 reduction:reduction@4
NLLLoss                                             : classes weight:weight@0 reduction:reduction@4
CTCLoss                                             : loses:sequences reduction:reduction@1

[functions of speechbrain.nnet.losses]
nll_loss bce_loss kldiv_loss ctc_loss               : type:unknown

[classes of speechbrain.nnet.activations]
Softmax                                             : keeps-shape along:dim@1 logs:apply_log@0

[classes of speechbrain.nnet.linear]
Linear                                              : type:float

[functions of einops]
rearrange                                           : pattern:pattern@1
reduce                                              : pattern:pattern@1
repeat                                              : pattern:pattern@1

[classes of einops.layers.torch]
Rearrange                                           : pattern:pattern@0
Reduce                                              : pattern:pattern@0
EinMix                                              : pattern:pattern@0 type:float
"""

#: Types of elements, by the last parts of names, of functions and methods, and of layers.
TYPES = """
softmax log_softmax Softmax LogSoftmax              : needs-several:along
argmax argmin max min                               : needs-several:dims
Tensor.normal_ Tensor.uniform_ randn_like rand_like : takes-float
leaky_relu glu normalize cdist multinomial quantile inv : takes-float
adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d gumbel_softmax : takes-float
AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d LeakyReLU GLU : takes-float
interpolate Upsample UpsamplingNearest2d UpsamplingBilinear2d : takes-pixels
bitwise_and bitwise_or bitwise_xor bitwise_not      : takes-bits
scatter scatter_add scatter_                        : source index
index_add index_copy index_add_ index_copy_         : source
binary_cross_entropy binary_cross_entropy_with_logits kl_div : real-target
BCELoss BCEWithLogitsLoss KLDivLoss                 : real-target
l1_loss L1Loss                                      : no-flags
mse_loss smooth_l1_loss huber_loss MSELoss SmoothL1Loss HuberLoss : takes-some-float
one_hot                                             : takes-long
exp log log1p log2 log10 sin cos tan sqrt rsqrt reciprocal sigmoid tanh erf erfinv expm1 asin acos atan sinh cosh : \
            type:float
asinh acosh atanh exp2 deg2rad rad2deg logit digamma lgamma logsumexp : type:float
div divide true_divide atan2 xlogy copysign         : promotes type:float
div divide                                          : rounds:rounding_mode@2
mean std var nanmean softmax log_softmax softmin    : takes-float
vector_norm gelu silu mish elu selu celu softplus logsigmoid hardswish hardsigmoid : takes-float
layer_norm group_norm batch_norm instance_norm      : takes-float
sum prod cumsum cumprod nansum                      : type:sum
square                                              : type:number
lt less le less_equal gt greater ge greater_equal eq ne not_equal logical_and logical_or logical_xor : type:bool
logical_not isnan isinf isfinite isreal signbit isposinf isneginf isclose isin : type:bool
einsum broadcast_tensors lp_pool1d lp_pool2d local_response_norm LPPool1d LPPool2d LocalResponseNorm : type:unknown
softsign tanhshrink                                 : type:float
all any to type type_as full tensor as_tensor arange complex polar mH logcumsumexp : type:unknown
argmax argmin argsort count_nonzero nonzero multinomial one_hot bucketize searchsorted : type:int64
max_pool1d max_pool2d max_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d : second:int64
MaxPool1d MaxPool2d MaxPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d : second:int64
max min median mode kthvalue topk sort cummax cummin : second:int64
maximum minimum fmin fmax cat concat concatenate stack hstack vstack dstack : promotes
clamp clip clamp_max clamp_min where outer          : promotes
mse_loss l1_loss smooth_l1_loss huber_loss kl_div soft_margin_loss poisson_nll_loss : type:unknown
lerp addcmul addcdiv logaddexp logaddexp2 hypot heaviside bitwise_and bitwise_or bitwise_xor : type:unknown
cosine_similarity pairwise_distance affine_grid     : type:unknown
matmul mm bmm mv dot addmm baddbmm linear conv1d conv2d conv3d bilinear : same-types
scaled_dot_product_attention                        : same-types:3 takes-float
rand randn                                          : type:default
zeros ones empty eye linspace logspace              : type:default
float                                               : type:float32
double                                              : type:float64
half                                                : type:float16
bfloat16                                            : type:bfloat16
long                                                : type:int64
int                                                 : type:int32
short                                               : type:int16
char                                                : type:int8
byte                                                : type:uint8
bool                                                : type:bool
embedding                                           : type:unknown takes-ids
masked_fill masked_select masked_scatter            : mask
torch.where                                         : condition
index_select index_add gather                       : index
neg negative sub subtract                           : takes-numbers
cross_entropy nll_loss                              : targets takes-float
binary_cross_entropy binary_cross_entropy_with_logits : type:unknown

Linear Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d : weighted type:weights
RNN LSTM GRU LSTMCell GRUCell RNNCell               : weighted type:weights
MultiheadAttention TransformerEncoderLayer TransformerDecoderLayer : weighted type:weights
LazyLinear LazyConv1d LazyConv2d LazyConv3d         : weighted type:weights
BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm GroupNorm RMSNorm : takes-float
InstanceNorm1d InstanceNorm2d InstanceNorm3d        : takes-float
Softmax LogSoftmax Softmin GELU SiLU Mish ELU SELU CELU Softplus LogSigmoid Hardswish Hardsigmoid : takes-float
Sigmoid Tanh                                        : type:float
Embedding                                           : takes-ids type:weights
Transformer TransformerEncoder TransformerDecoder   : weighted type:weights
PReLU Softsign Tanhshrink                           : type:unknown
CosineSimilarity PairwiseDistance CrossEntropyLoss NLLLoss MSELoss L1Loss SmoothL1Loss HuberLoss : type:unknown
BCELoss BCEWithLogitsLoss KLDivLoss SoftMarginLoss  : type:unknown
"""

#: What the elements of a result are, and what those of an operand seldom are, by the last parts of names.
ELEMENTS = """
softmax softmin gumbel_softmax Softmax Softmax2d Softmin : values:probabilities \
            seldom:probabilities|chances-of-scores|positives-of-scores
log_softmax LogSoftmax                              : values:log-probabilities \
            seldom:probabilities|chances-of-scores|positives-of-scores
sigmoid Sigmoid                                     : values:chances seldom:probabilities|chances|positives-of-scores
logsigmoid LogSigmoid                               : values:log-chances seldom:probabilities|chances
tanh Tanh                                           : values:bounded seldom:positives-of-scores
relu relu6 ReLU ReLU6                               : values:positives
torch.log Tensor.log                                : values:log
linear Linear Bilinear LazyLinear                   : values:scores
torch.nn.Linear                                     : seldom:maps
conv1d conv2d conv3d Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d : values:scores
cross_entropy CrossEntropyLoss                      : seldom:probabilities|chances
binary_cross_entropy_with_logits BCEWithLogitsLoss bce_loss : \
            seldom:probabilities|chances|log-probabilities|log-chances
binary_cross_entropy BCELoss                        : seldom:scores|log-probabilities|log-chances
nll_loss NLLLoss                                    : seldom:scores|probabilities|chances|positives-of-scores
kl_div KLDivLoss kldiv_loss ctc_loss CTCLoss        : seldom:scores|probabilities|chances
detach                                              : cuts
"""

_rows: dict[str, Operator] = {}


def _add_types() -> None:
    """Join the facets of types, elements and gradients to those of shapes."""
    named: dict[str, list[Operator]] = {}
    for full, row in _rows.items():
        named.setdefault(full, []).append(row)
        if not full.startswith("torch.nn.init."):
            named.setdefault(full.rpartition(".")[2], []).append(row)
    for line in filter(None, (TYPES + ELEMENTS + GRADIENTS).splitlines()):
        names, _, words = line.partition(" : ")
        facets = {key: value for key, _, value in (word.partition(":") for word in words.split())}
        for name in names.split():
            for row in named.get(name, ()):
                row.facets.update(facets)


def shape_row(name: str) -> Operator | None:
    """The facets about shapes of a function or class (`torch.cat`) or a method (`Tensor.view`); None if it has none.

    A method that changes its operand has those of the one that does not: `add_` those of `add`.
    """
    if not _rows:
        for homes, names, facets in parse_rows(SHAPES):
            _rows.update({f"{of}.{one}": Operator(f"{of}.{one}", dict(facets)) for _, of in homes for one in names})
        _add_types()
    found = _rows.get(name)
    if found is None and name.startswith("Tensor.") and name.endswith("_"):
        plain = _rows.get(name[:-1])
        found = None if plain is None else Operator(name, plain.facets | {"in-place": ""})
    return found


def shape_rows() -> tuple[Operator, ...]:
    """All rows that say something of shapes."""
    shape_row("")
    return tuple(_rows.values())
