"""The table of operators knows which operators of torch take two tensors, or this page says why it leaves one out."""

from __future__ import annotations

import inspect
import os
import types
from typing import TYPE_CHECKING, Any

import pytest

from modellint import operators

if TYPE_CHECKING:
    from collections.abc import Iterator

if "CI" not in os.environ:
    pytest.importorskip("torch")

import torch

#: Operators of two tensors without the facet `together`, by reason.
LEFT_OUT = {
    "The second tensor tells a shape, a type or a device only": """
        expand_as reshape_as view_as resize_as resize_as_ resize_as_sparse_ type_as to result_type is_same_size""",
    "It returns each tensor where it is": "atleast_1d atleast_2d atleast_3d broadcast_tensors dequantize",
    "The second tensor is a number, or indices that may be on the CPU": """
        narrow repeat_interleave tensor_split linspace logspace normal randint_like fill fill_ sort index_put
        index_put_ index bernoulli bernoulli_ binomial
        gradient""",
    "It copies from any device": "copy_ as_strided_scatter diagonal_scatter select_scatter slice_scatter slice_inverse",
    "It is about storage or gradients": "set_ is_set_to backward",
    "Sparse tensors": """
        hspmm smm sspaddmm sparse_mask sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor
        sparse_bsc_tensor sparse_compressed_tensor""",
    "Quantized tensors": """
        quantize_per_channel quantize_per_tensor fake_quantize_per_channel_affine fake_quantize_per_tensor_affine
        fused_moving_avg_obs_fake_quant quantized_batch_norm quantized_gru quantized_gru_cell quantized_lstm
        quantized_lstm_cell quantized_rnn_relu_cell quantized_rnn_tanh_cell fbgemm_linear_fp16_weight
        fbgemm_linear_fp16_weight_fp32_activation fbgemm_linear_int8_weight
        fbgemm_linear_int8_weight_fp32_activation scaled_mm scaled_grouped_mm""",
    "An inner form of what `torch.nn` and `torch.nn.functional` have": """
        batch_norm_backward_elemt batch_norm_backward_reduce batch_norm_elemt batch_norm_gather_stats
        batch_norm_gather_stats_with_counts binary_cross_entropy_with_logits conv1d conv2d conv3d conv_transpose1d
        conv_transpose2d conv_transpose3d convolution cosine_embedding_loss cudnn_batch_norm cudnn_convolution
        cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler embedding
        embedding_bag  grid_sampler grid_sampler_2d grid_sampler_3d gru gru_cell hinge_embedding_loss
        kl_div lstm lstm_cell margin_ranking_loss miopen_batch_norm miopen_convolution miopen_convolution_add_relu
        miopen_convolution_relu miopen_convolution_transpose miopen_ctc_loss miopen_depthwise_convolution miopen_rnn
        mkldnn_convolution mkldnn_linear_backward_weights mkldnn_rnn_layer multi_head_attention_forward
        poisson_nll_loss rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell rsub triplet_margin_loss""",
    "Lengths and targets may be on the CPU": "ctc_loss",
    "Rare, and its second result or argument is no plain tensor": """
        lstsq solve triangular_solve lu_unpack ormqr histogram histogramdd fractional_max_pool2d fractional_max_pool3d
        max_unpool1d max_unpool2d max_unpool3d grouped_mm linear_cross_entropy""",
    "It compares or computes in place, and gives no tensor to follow": """
        eq_ ne_ not_equal_ lt_ less_ le_ less_equal_ gt_ greater_ ge_ greater_equal_ logical_and_ logical_or_
        logical_xor_ float_power_""",
}
SPACES = {"torch": torch, "Tensor": torch.Tensor, "torch.nn.functional": torch.nn.functional}


def tensors_required(name: str, function: Any) -> int:
    """The number of tensors that an operator needs, by its native forms or by its annotations."""
    counts = [0]
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{name}"):
        kinds = [str(argument.type) for argument in schema.arguments if not argument.is_out]
        counts.append(kinds.count("Tensor") + 2 * kinds.count("List[Tensor]"))
    if isinstance(function, types.FunctionType):
        parameters = inspect.signature(function).parameters.values()
        counts.append(sum(one.annotation in (torch.Tensor, "Tensor", "torch.Tensor") for one in parameters))
    return max(counts)


def of_two_tensors() -> Iterator[str]:
    for space, home in SPACES.items():
        for name, function in inspect.getmembers(home, callable):
            is_other = name.startswith("_") or isinstance(function, type | types.ModuleType)
            is_other = is_other or (name.endswith("_") and home is torch)  # inner forms of methods
            if not is_other and tensors_required(name, function) > 1:
                yield f"{space}.{name}"


def test_each_operator_of_two_tensors_has_a_row_or_a_reason_why_not() -> None:
    reasons = {name for names in LEFT_OUT.values() for name in names.split()}
    rows = ((name, operators.row(name)) for name in of_two_tensors())
    without = {name for name, row in rows if row is None or "together" not in row.facets}
    assert {name for name in without if name.rpartition(".")[2] not in reasons} == set()
