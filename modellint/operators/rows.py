"""The rows of the table of operators. The package's docstring explains the facets.

Sources: the documentation of PyTorch (`torch`, `torch.Tensor`, `torch.nn`, `torch.nn.functional`) and of Python; the
parser of PyTorch's arguments, which takes numpy's names as well (`torch/csrc/utils/python_arg_parser.cpp`).
"""

#: Alternative keyword names that torch's native functions and methods accept (those written in Python don't).
ALSO = {"dim": ("axis",), "keepdim": ("keepdims",), "input": ("x", "a", "x1"), "other": ("x2",)}

ROWS = """
[functions of torch, methods of Tensor]
reshape broadcast_to                                : passed sizes
repeat_interleave tile                              : passed repeats
squeeze                                             : passed squeezes in-place
unsqueeze                                           : passed unsqueezes in-place
flatten ravel                                       : passed flattens
unflatten diagonal                                  : passed
narrow select                                       : passed narrows
diag diag_embed diagflat                            : zeroes
transpose swapaxes swapdims t                       : passed reorders in-place
permute movedim moveaxis                            : passed reorders
flip fliplr flipud roll rot90                       : passed reorders
split chunk tensor_split hsplit vsplit              : passed gives:tensors parts
unbind                                              : passed gives:tensors
index_select gather                                 : passed ids:index@2 together
take                                                : passed ids:index@1 from-end together
take_along_dim                                      : passed together
masked_select                                       : picked together:GPU
detach                                              : passed same-shape in-place
clone                                               : passed same-shape
amax                                                : picked reduces largest along:dim@1
amin                                                : picked reduces smallest along:dim@1
max                                                 : pair:best along:dim@1 picked reduces largest extreme together
min                                                 : pair:least along:dim@1 picked reduces extreme smallest together
sort                                                : pair:any along:dim@1 passed
topk                                                : pair:best along:dim@2 picked
kthvalue                                            : pair:any along:dim@2 picked
median mode                                         : pair:any along:dim@1 picked
argmax                                              : drawn:best along:dim@1 reduces dtype:int64
argmin                                              : drawn:least along:dim@1 reduces dtype:int64
argsort                                             : drawn:any along:dim@1 same-shape dtype:int64
multinomial                                         : drawn:best dtype:int64
clamp clip                                          : limit:max@2 lift:min@1 same-shape in-place together:strict-GPU
clamp_max                                           : limit:max@1 same-shape in-place together:strict-GPU
clamp_min                                           : lift:min@1 same-shape in-place together:strict-GPU
minimum                                             : limit:other@1 same-shape extreme smallest together
maximum                                             : lift:other@1 same-shape extreme largest together
fmin                                                : limit:other@1 same-shape extreme smallest together
fmax                                                : lift:other@1 same-shape extreme largest together
remainder fmod                                      : below:other@1 like:% same-shape in-place together
masked_fill                                         : fill:value@2 mask:mask@1 same-shape in-place together
index_fill                                          : passed fill:value@3 same-shape in-place together
where                                               : chooses same-shape together
add                                                 : like:+ same-shape in-place together
sub                                                 : like:- same-shape in-place together
subtract                                            : like:- same-shape in-place together
mul multiply                                        : like:* same-shape in-place together
div divide true_divide                              : like:/ same-shape in-place together
floor_divide                                        : like:// same-shape in-place together
pow                                                 : like:** same-shape in-place together
neg negative                                        : like:neg same-shape in-place
lt less                                             : like:< same-shape dtype:bool together
le less_equal                                       : like:<= same-shape dtype:bool together
gt greater                                          : like:> same-shape dtype:bool together
ge greater_equal                                    : like:>= same-shape dtype:bool together
eq                                                  : like:== same-shape dtype:bool together
ne not_equal                                        : like:!= same-shape dtype:bool together
logical_not                                         : like:~ same-shape dtype:bool
logical_and                                         : like:& same-shape dtype:bool together
bitwise_not                                         : like:~ same-shape in-place
bitwise_and                                         : like:& same-shape in-place together
isnan isinf isfinite                                : same-shape dtype:bool
cumsum                                              : sums-up along:dim@1 same-shape in-place
tril triu                                           : zeroes same-shape in-place
abs sign                                            : same-shape in-place
floor trunc                                         : rounds:down same-shape in-place
round                                               : rounds:nearest same-shape in-place
ceil                                                : rounds:up same-shape in-place
nan_to_num square                                   : same-shape in-place
exp                                                 : like:exp real same-shape in-place
log                                                 : like:log real same-shape in-place
log1p                                               : like:log1p real same-shape in-place
log2                                                : like:log2 real same-shape in-place
log10                                               : like:log10 real same-shape in-place
sin                                                 : like:sin periodic real same-shape in-place
cos                                                 : like:cos periodic real same-shape in-place
tan                                                 : like:tan real same-shape in-place
sqrt                                                : like:sqrt real same-shape in-place
rsqrt                                               : like:1/sqrt real same-shape in-place
reciprocal                                          : like:1/ real same-shape in-place
sigmoid tanh                                        : real same-shape in-place
relu                                                : real:likely same-shape in-place
softmax log_softmax                                 : real same-shape scores
mean std var                                        : real reduces along:dim@1
norm                                                : real reduces along:dim@2
sum prod                                            : reduces along:dim@1
all any                                             : reduces along:dim@1 dtype:bool
matmul mm bmm                                       : product together
lerp addcmul addcdiv addmm atan2 hypot              : same-shape together in-place
logical_or logical_xor                              : same-shape dtype:bool together
bitwise_or bitwise_xor                              : same-shape together in-place
scatter scatter_add index_add index_copy            : same-shape together
masked_scatter                                      : same-shape together
scatter_reduce index_reduce put                     : same-shape together
arctan2 copysign heaviside xlogy                    : same-shape together in-place
float_power                                         : real same-shape together
gcd lcm ldexp igamma igammac nextafter              : same-shape together in-place
bitwise_left_shift bitwise_right_shift              : same-shape together in-place
addr baddbmm                                        : same-shape together in-place
logaddexp logaddexp2 cross                          : same-shape together
isclose                                             : same-shape dtype:bool together
addmv addbmm                                        : together in-place
kron cholesky_solve lu_solve orgqr                  : together
mv inner                                            : together
outer ger                                           : product spreads together
prelu                                               : real same-shape together
dot vdot dist                                       : single together
quantile nanquantile                                : real together
allclose equal                                      : gives:bool together:GPU
absolute angle sgn frac fix positive                : same-shape
acos acosh arccos arccosh asin asinh arcsin         : real same-shape in-place
arcsinh atan atanh arctan arctanh sinh cosh         : real same-shape in-place
erf erfc erfinv exp2 expm1 digamma lgamma i0 sinc   : real same-shape in-place
logit deg2rad rad2deg                               : real same-shape in-place
cumprod                                             : same-shape in-place
logcumsumexp                                        : same-shape
isneginf isposinf isreal signbit                    : same-shape dtype:bool
inverse matrix_exp                                  : real same-shape
pinverse logsumexp                                  : real
nansum                                              : reduces along:dim@1
nanmean                                             : real reduces along:dim@1
trace                                               : single
det logdet                                          : real single
numel                                               : gives:int counts
is_floating_point                                   : gives:bool

[functions of torch]
stack                                               : passed stacks together:strict-GPU
cat concat concatenate                              : passed joins grows together
hstack                                              : passed grows together:strict-GPU
vstack dstack                                       : passed together:strict-GPU
atleast_1d atleast_2d atleast_3d                    : passed
rand_like randn_like                                : real same-shape
zeros_like                                          : constant:0 same-shape
ones_like                                           : constant:1 same-shape
empty_like                                          : same-shape
randint_like                                        : random same-shape
full_like                                           : fill:fill_value@1 same-shape
cdist                                               : real together
searchsorted                                        : dtype:int64 together
tensordot                                           : single together
bilinear conv_tbc                                   : real together
cosine_similarity pairwise_distance                 : real together
trapezoid trapz cumulative_trapezoid                : together
cartesian_prod block_diag chain_matmul              : together
column_stack row_stack                              : passed grows together:strict-GPU
meshgrid                                            : gives:tensors together
broadcast_tensors                                   : gives:tensors
einsum                                              : subscripts together
complex                                             : same-shape together
polar                                               : periodic same-shape together
bucketize                                           : same-shape together
stft istft                                          : together
fill                                                : fill:value@1 same-shape
isin                                                : same-shape dtype:bool together
rand randn                                          : real sized fresh:default
zeros                                               : constant:0 sized fresh:default
ones                                                : constant:1 sized fresh:default
empty                                               : sized fresh:default
full                                                : fill:fill_value@1 sized:tuple fresh:default
arange                                              : counted flat fresh:default
range                                               : counted flat fresh:cpu
linspace logspace                                   : real flat spaced fresh:default
eye tril_indices triu_indices                       : fresh:default
randint                                             : random fresh:default
randperm                                            : flat fresh:default
hann_window hamming_window blackman_window          : real flat fresh:default
bartlett_window kaiser_window                       : real flat fresh:default
normal                                              : real fresh:cpu
tensor as_tensor                                    : passed literal fresh:default
from_numpy                                          : passed fresh:cpu unchecked:numpy
no_grad inference_mode set_grad_enabled             : no-gradients
compile                                             : wraps

[classes of torch]
Tensor FloatTensor                                  : passed sized dtype:float32 fresh:cpu
DoubleTensor                                        : passed sized dtype:float64 fresh:cpu
HalfTensor                                          : passed sized dtype:float16 fresh:cpu
LongTensor                                          : passed sized literal dtype:int64 fresh:cpu
IntTensor                                           : passed sized literal dtype:int32 fresh:cpu
BoolTensor                                          : sized dtype:bool fresh:cpu

[attributes of torch]
float float16 float32 float64 double half bfloat16  : type:float
long int int8 int16 int32 int64 short uint8 bool    : type:integer

[functions of torch.autograd]
no_grad set_grad_enabled                            : no-gradients
[classes of torch.autograd]
Variable                                            : passed same-shape

[functions of torch.nn.functional]
relu relu6 hardtanh                                 : real:likely same-shape
dropout alpha_dropout feature_alpha_dropout         : same-shape
dropout1d dropout2d dropout3d                       : same-shape
sigmoid tanh gelu silu mish elu selu celu           : real same-shape
leaky_relu softplus softsign logsigmoid             : real same-shape
hardswish hardsigmoid                               : real same-shape
prelu                                               : real same-shape together
softmax log_softmax gumbel_softmax                  : real same-shape scores
layer_norm rms_norm normalize                       : real same-shape
batch_norm                                          : real same-shape together
group_norm instance_norm                            : real same-shape
glu affine_grid                                     : real
hardshrink softshrink tanhshrink softmin rrelu      : real same-shape
threshold                                           : same-shape
adaptive_avg_pool1d adaptive_avg_pool2d             : real
adaptive_avg_pool3d lp_pool1d lp_pool2d             : real
max_pool1d max_pool2d max_pool3d                    : picked
pixel_shuffle pixel_unshuffle channel_shuffle       : passed
linear bilinear                                     : real together
conv1d conv2d conv3d                                : real together:GPU
conv_transpose1d conv_transpose2d conv_transpose3d  : real together:GPU
scaled_dot_product_attention                        : real together
embedding embedding_bag                             : real ids:input@0 together
mse_loss l1_loss smooth_l1_loss huber_loss          : real single together
soft_margin_loss hinge_embedding_loss               : real single together
margin_ranking_loss triplet_margin_loss             : real single together
triplet_margin_with_distance_loss                   : real single together
cosine_embedding_loss                               : real single together
gaussian_nll_loss                                   : real single together:GPU
poisson_nll_loss multi_margin_loss                  : real single together
multilabel_margin_loss multilabel_soft_margin_loss  : real single together
cross_entropy nll_loss                              : real single together judges:target@1 ignores:ignore_index@4
binary_cross_entropy kl_div                         : real single together
binary_cross_entropy_with_logits                    : real single together
cosine_similarity pairwise_distance grid_sample     : real together
conv_tbc                                            : real together
pad                                                 : passed fill:value@3 grows
interpolate                                         : resamples
one_hot                                             : one-hot dtype:int64

[functions of torch.nn.utils.rnn]
pad_sequence                                        : passed fill:padding_value@2

[functions of torch.nn.init]
normal_ uniform_ trunc_normal_ xavier_uniform_      : changes itself
xavier_normal_ kaiming_uniform_ kaiming_normal_     : changes itself
zeros_ ones_ orthogonal_ eye_ constant_             : changes itself

[methods of Tensor]
view expand                                         : passed sizes
repeat                                              : passed repeats
view_as reshape_as expand_as unfold                 : passed
contiguous                                          : passed same-shape unchanged
to                                                  : passed same-shape unchanged casts moves
type type_as                                        : passed same-shape unchanged casts moves
cpu                                                 : passed same-shape unchanged host
cuda                                                : passed same-shape unchanged moves unchecked:GPU
pin_memory                                          : passed same-shape unchanged unchecked:GPU
float                                               : passed same-shape unchanged casts:float dtype:float32
double                                              : passed same-shape unchanged casts:float dtype:float64
half                                                : passed same-shape unchanged casts:float dtype:float16
bfloat16                                            : passed same-shape unchanged casts:float dtype:bfloat16
long                                                : passed same-shape unchanged casts:integer dtype:int64
int                                                 : passed same-shape unchanged casts:integer dtype:int32
short                                               : passed same-shape unchanged casts:integer dtype:int16
char                                                : passed same-shape unchanged casts:integer dtype:int8
byte                                                : passed same-shape unchanged casts:integer dtype:uint8
bool                                                : same-shape unchanged dtype:bool
requires_grad_                                      : passed same-shape itself
to_dense                                            : passed same-shape unchanged
item                                                : passed gives:number host
tolist                                              : passed gives:list host
numpy                                               : passed gives:array host unchecked:numpy
new_zeros                                           : constant:0 sized
new_ones                                            : constant:1 sized
new_empty                                           : sized
new_full                                            : fill:fill_value@2 sized:tuple
new_tensor                                          : makes
size                                                : gives:size counts
dim ndimension nelement element_size data_ptr       : gives:int
stride                                              : gives:tuple
is_contiguous                                       : gives:bool
copy_ normal_ uniform_ random_ exponential_         : changes itself same-shape
fill_                                               : changes itself same-shape fill:value@1
zero_                                               : changes itself same-shape constant:0
bernoulli_ index_put_                               : changes itself same-shape
masked_scatter_ scatter_ index_add_ index_copy_     : changes itself same-shape together
scatter_add_ scatter_reduce_ index_reduce_ put_     : changes itself same-shape together

[attributes of Tensor]
T mT H mH                                           : passed reorders
data                                                : passed same-shape
real                                                : passed same-shape unchanged
imag                                                : same-shape
shape                                               : gives:size counts
device                                              : gives:device
dtype                                               : gives:dtype
ndim itemsize                                       : gives:int
is_cuda requires_grad                               : gives:bool
layout                                              : gives:layout

[classes of torch.nn]
Identity                                            : passed same-shape
Dropout Dropout1d Dropout2d Dropout3d               : passed same-shape by-mode:p@0
AlphaDropout FeatureAlphaDropout                    : passed same-shape by-mode:p@0
BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm   : real same-shape by-mode:track_running_stats@4
TransformerEncoderLayer TransformerDecoderLayer     : real same-shape by-mode:dropout@3
Flatten Unflatten                                   : passed
ChannelShuffle PixelShuffle PixelUnshuffle          : passed
ReLU ReLU6 GELU SiLU Mish ELU SELU CELU LeakyReLU   : real same-shape
PReLU Softplus Softsign Softmax LogSoftmax Sigmoid  : real same-shape
LogSigmoid Tanh Hardtanh Hardswish Hardsigmoid      : real same-shape
Hardshrink Softshrink Tanhshrink Softmin            : real same-shape
LayerNorm RMSNorm                                   : real same-shape own-width:normalized_shape@0
CrossEntropyLoss NLLLoss                            : real judges:target@1 ignores:ignore_index@2
Linear                                              : real width:in_features@0 makes-width:out_features@1
Conv1d                                              : real channels:in_channels@0 makes-channels:out_channels@1
Conv2d Conv3d                                       : real channels:in_channels@0 makes-channels:out_channels@1
RNN LSTM GRU                                        : real recurrent width:input_size@0 state-width:hidden_size@1
Embedding                                           : real table padding:padding_idx@2
EmbeddingBag                                        : real table padding:padding_idx@9
Module                                              : holds
Sequential                                          : holds:args@0 named
ModuleList                                          : holds:modules@0
ModuleDict                                          : holds:modules@0 named
ParameterList                                       : holds:values@0
ParameterDict                                       : holds:parameters@0 named
Parameter                                           : trained passed same-shape
UninitializedParameter                              : trained
Buffer                                              : kept passed same-shape
UninitializedBuffer                                 : kept

[functions of torch.nn.utils]
weight_norm                                         : wraps itself weight-norm
spectral_norm                                       : wraps itself spectral-norm
remove_weight_norm remove_spectral_norm             : wraps itself
skip_init                                           : builds

[functions of torch.nn.utils.weight_norm]
weight_norm                                         : wraps itself weight-norm
remove_weight_norm                                  : wraps itself

[functions of torch.nn.utils.spectral_norm]
spectral_norm                                       : wraps itself spectral-norm
remove_spectral_norm                                : wraps itself

[functions of torch.nn.utils.parametrizations]
weight_norm                                         : wraps itself weight-norm
spectral_norm                                       : wraps itself spectral-norm
orthogonal                                          : wraps itself

[functions of torch.jit]
script                                              : wraps

[classes of torch.nn.parallel]
DataParallel                                        : wraps
DistributedDataParallel                             : wraps unchecked:processes

[classes of torch.distributions, classes of torch.distributions.normal]
Normal                                              : gives:distribution together
[classes of torch.distributions, classes of torch.distributions.multivariate_normal]
MultivariateNormal                                  : gives:distribution together
[classes of torch.distributions]
LogNormal Uniform Beta                              : gives:distribution together
Categorical                                         : distribution
[classes of torch.distributions.categorical]
Categorical                                         : distribution
[methods of Categorical]
sample                                              : drawn:best dtype:int64

[methods of Cache]
update                                              : grows unchecked:transformers
get_seq_length get_usable_length get_max_length     : counts unchecked:transformers
[attributes of Tokenizer]
vocab_size                                          : counts unchecked:transformers
[methods of Module]
to                                                  : itself moves casts
to_empty                                            : itself moves
xpu ipu mtia                                        : itself moves unchecked:hardware
cuda                                                : itself moves unchecked:GPU
cpu                                                 : itself host
float half double bfloat16 type                     : itself casts
eval train requires_grad_ apply share_memory        : itself
add_module register_module                          : registers:module@1
register_parameter                                  : registers:param@1
register_buffer                                     : registers:tensor@1
parameters named_parameters                         : parameters
children modules                                    : contents
buffers named_buffers named_children named_modules  : reads
state_dict load_state_dict extra_repr get_submodule : reads
get_parameter get_buffer zero_grad get_extra_state  : reads
set_extra_state set_submodule compile               : reads
register_forward_hook register_forward_pre_hook     : hooks
register_full_backward_hook register_backward_hook  : hooks
register_full_backward_pre_hook                     : hooks
register_state_dict_post_hook                       : hooks
register_state_dict_pre_hook                        : hooks
register_load_state_dict_post_hook                  : hooks
register_load_state_dict_pre_hook                   : hooks

[attributes of Module]
training dump_patches call_super_init T_destination : reads

[methods of ModuleList, methods of Sequential, methods of ParameterList]
append                                              : adds:@1
extend                                              : extends:@1
[methods of ModuleList, methods of Sequential]
insert                                              : adds:@2
pop                                                 : removes element

[methods of ModuleDict, methods of ParameterDict, methods of dict]
items                                               : pairs
values                                              : contents
keys                                                : reads
pop                                                 : removes element
clear                                               : removes
update                                              : extends:@1
[methods of ParameterDict, methods of dict]
get                                                 : element
setdefault                                          : adds:@2 element
popitem                                             : removes
copy                                                : contents

[methods of list, methods of deque]
append                                              : adds:@1
extend                                              : extends:@1
insert                                              : adds:@2
pop                                                 : removes element
remove clear                                        : removes
copy                                                : contents
index count                                         : reads
reverse                                             : changes
[methods of list]
sort                                                : changes
[methods of deque]
appendleft                                          : adds:@1
extendleft                                          : extends:@1
popleft                                             : removes element

[methods of set]
add                                                 : adds:@1
update                                              : extends:@1
pop                                                 : removes element
remove discard clear                                : removes
copy                                                : contents

[functions of builtins]
list tuple set frozenset sorted                     : contents gathers passed
reversed iter                                       : contents passed
next                                                : element
enumerate zip                                       : pairs
dict                                                : gathers
int                                                 : number rounds:down
round                                               : number rounds:nearest
float                                               : number same-number
range                                               : counted
max                                                 : extreme largest
min                                                 : extreme smallest
len                                                 : looks number counts
abs sum any all bool                                : number
isinstance issubclass hasattr getattr id type print : looks
super                                               : looks
[functions of math]
floor trunc                                         : rounds:down
ceil                                                : rounds:up
sqrt isqrt                                          : root

[functions of copy]
copy deepcopy                                       : copies

[functions of numpy]
array asarray stack concatenate                     : passed unchecked:numpy
reshape                                             : passed sizes unchecked:numpy
tile repeat                                         : passed repeats unchecked:numpy
floor trunc fix                                     : rounds:down unchecked:numpy
round rint around                                   : rounds:nearest unchecked:numpy
ceil                                                : rounds:up unchecked:numpy
sqrt                                                : root unchecked:numpy
[functions of torchvision.transforms.functional, methods of Image]
resize                                              : resamples unchecked:torchvision
[functions of torchvision.transforms.functional]
get_image_size get_dimensions                       : gives:size unchecked:torchvision
[methods of Image]
thumbnail                                           : resamples unchecked:Pillow
[attributes of Image]
size                                                : gives:size unchecked:Pillow

[functions of einops]
rearrange repeat                                    : passed unchecked:einops
"""
