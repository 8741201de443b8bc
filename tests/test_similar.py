"""Names that are slips of the pen for others, and those that are other words."""

from __future__ import annotations

import pytest

from modellint.edits.similar import slip


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("biass", "bias"),
        ("embeding", "embedding"),
        ("lenght", "length"),
        ("unsqeeze", "unsqueeze"),
        ("seperable", "separable"),
        ("weight_linaer", "weight_linear"),
        ("embeddim", "embed_dim"),
        ("ReLU", "relu"),
        ("wavelength", "wavelengths"),
        ("masks", "mask"),
    ],
)
def test_a_letter_that_is_wrong_is_a_slip(word: str, meant: str) -> None:
    assert slip(word, [meant, "another", word]) == meant


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("encoder", "decoder"),
        ("encode", "encoder"),
        ("training", "trailing"),
        ("redistribute", "distribute"),
        ("continous", "contiguous"),
        ("clear_memory", "clear_all_memory"),
        ("n_depth", "depth"),
        ("conv1", "conv2"),
        ("norm1", "norm"),
        ("layer1", "layers"),
        ("q_proj", "k_proj"),
        ("from", "form"),
        ("relu_", "relu"),
    ],
)
def test_another_word_is_no_slip(word: str, other: str) -> None:
    assert slip(word, [other]) is None


def test_what_two_names_may_be_meant_by_is_no_slip() -> None:
    assert slip("weigth", ["weight", "weighht"]) == "weight"
    assert slip("weights", ["weight", "weightss"]) is None
