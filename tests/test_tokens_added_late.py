"""Tokens that are added once a model was resized, where both the model and its tokenizer are kept on an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Workspace

LOADING = """\
from transformers import AutoModelForCausalLM, AutoTokenizer


def load(name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForCausalLM.from_pretrained(name)
    model.resize_token_embeddings(len(tokenizer))
    return model, tokenizer


def template_for(tokenizer, words):
    if words:
        tokenizer.add_special_tokens({"additional_special_tokens": words})
    return words
"""
ENGINE = """\
from loading import load, template_for


class Engine:
    def __init__(self, name, words):
        self.model, self.tokenizer = load(name)
        self.template = template_for(self.{tokenizer}, words)
"""


def test_a_tokenizer_that_an_object_keeps_is_the_one_that_its_model_was_resized_for(workspace: Workspace) -> None:
    workspace.write({"loading.py": LOADING, "engine.py": ENGINE.replace("{tokenizer}", "tokenizer")})
    assert workspace.places("--select", "ML105") == [("engine.py", 6, "ML105")]


def test_another_tokenizer_may_grow_as_it_likes(workspace: Workspace) -> None:
    workspace.write({"loading.py": LOADING, "engine.py": ENGINE.replace("{tokenizer}", "other")})
    assert workspace.places("--select", "ML105") == []


def test_one_function_may_do_it_in_the_wrong_order(workspace: Workspace) -> None:
    workspace.write(
        {"loading.py": LOADING.replace("    return model", '    tokenizer.add_tokens(["<image>"])\n    return model')}
    )
    assert workspace.places("--select", "ML105") == [("loading.py", 7, "ML105")]
