"""Tokens that are added to tokenizers, and layers that a class declares to be tied: said in many ways."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from modellint_rules.ml105_vocabulary_mismatch.vocabularies import Vocabularies

from modellint.link.project import Project, ProjectOptions

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """
from torch import nn
from transformers import AutoTokenizer


class Model(nn.Module):
    def __init__(self, n_tokens, width=64):
        super().__init__()
        self.layers = nn.ModuleList([nn.Embedding(n_tokens, width)])


class Tokenizer:
    def add_tokens(self, tokens):
        return 0


"""
ADD = "tokenizer.add_tokens(['<pad>'])"


def grown(body: str, folder: Path, parameters: str = "tokenizer") -> int:
    """How many tables are found that a function with this body makes too small."""
    (folder / "train.py").write_text(MODEL + f"def build({parameters}):\n    " + "\n    ".join(body.split("; ")) + "\n")
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / "train.py")
    assert module is not None
    return len(list(project.of(Vocabularies).growths(module.functions["build"])))


@pytest.mark.parametrize(
    "body",
    [
        f"model = Model(len(tokenizer)); {ADD}",
        f"n = len(tokenizer); {ADD}; model = Model(n)",
        f"sizes = {{'n_tokens': len(tokenizer)}}; model = Model(**sizes); {ADD}",
        f"{ADD}; model = Model(tokenizer.vocab_size)",
        f"{ADD}; model = nn.Sequential(nn.Embedding(num_embeddings=tokenizer.vocab_size, embedding_dim=8))",
        f"table = nn.Embedding(len(tokenizer), 8); tokens = ['<pad>']; {ADD.replace(str(['<pad>']), 'tokens')}",
    ],
)
def test_a_size_from_before_tokens_are_added_is_found(body: str, tmp_path: Path) -> None:
    assert grown(body, tmp_path) == 1


@pytest.mark.parametrize(
    "body",
    [
        f"{ADD}; model = Model(len(tokenizer))",
        "added = tokenizer.add_tokens(['<pad>']); model = Model(tokenizer.vocab_size + added)",
        "n = len(tokenizer); added = tokenizer.add_tokens(['<pad>']); model = Model(n + added)",
        "n = len(tokenizer); n += tokenizer.add_tokens(['<pad>']); model = Model(n)",
        "model = Model(len(tokenizer)); tokenizer.add_tokens([])",
        "model = Model(len(other)); tokenizer.add_tokens(['<pad>'])",
        "tokenizer = Tokenizer(); model = Model(len(tokenizer)); tokenizer.add_tokens(['<pad>'])",
    ],
)
def test_a_size_that_counts_them_is_left_alone(body: str, tmp_path: Path) -> None:
    assert grown(body, tmp_path, "tokenizer, other") == 0


def tied(declaration: str, constructor: str, folder: Path) -> int:
    """How many ties of layers of different sizes a class declares."""
    text = f"""
    from torch import nn


    class Inner(nn.Module):
        def __init__(self, n):
            super().__init__()
            self.table = nn.Embedding(n, 8)


    class Model(nn.Module):
        _tied_weights_keys = {declaration}

        def __init__(self, config):
            super().__init__()
            {constructor}

        def get_input_embeddings(self):
            return self.inner.table
    """
    (folder / "model.py").write_text(dedent(text).replace("; ", "\n        "))
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / "model.py")
    assert module is not None
    return len(list(project.of(Vocabularies).declared(module.classes["Model"])))


HEAD = "self.head = nn.Linear(8, config.n + 1)"


@pytest.mark.parametrize(
    "declaration", ["{'head.weight': 'inner.table.weight'}", "['head.weight']", "('head.weight',)"]
)
@pytest.mark.parametrize(
    "constructor",
    [
        f"self.inner = Inner(config.n); {HEAD}",
        f"inner = Inner(n=config.n); self.inner = inner; {HEAD}",
        f"self.add_module('inner', Inner(config.n)); {HEAD}",
        f"setattr(self, 'inner', Inner(config.n)); n = config.n; n = n + 1; {HEAD.replace('config.n + 1', 'n')}",
    ],
)
def test_layers_that_are_declared_to_share_a_weight_must_agree(
    declaration: str, constructor: str, tmp_path: Path
) -> None:
    assert tied(declaration, constructor, tmp_path) == 1
    assert tied(declaration, constructor.replace(" + 1", " + 0"), tmp_path) == 0


@pytest.mark.parametrize("declaration", ["['head.bias']", "[KEY]", "['other.weight']", "[]", "None"])
def test_what_is_declared_of_something_else_says_nothing(declaration: str, tmp_path: Path) -> None:
    assert tied(declaration, f"self.inner = Inner(config.n); {HEAD}", tmp_path) == 0


TIED = """
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(100, 8)
        self.head = nn.Linear(8, 90, bias=False)


def share(batch, errors):
    model = Model()
    """


def ties(line: str, folder: Path) -> tuple[int, int]:
    """How many ties are found, and how many runs that takes."""
    (folder / "train.py").write_text(TIED + line + "\n")
    project = Project(ProjectOptions(root=folder))
    module = project.python(folder / "train.py")
    assert module is not None
    return len(list(project.of(Vocabularies).ties(module))), len(project.runs)


@pytest.mark.parametrize(
    "line",
    [
        "model.head.weight = model.table.weight",
        "model.head.weight = nn.Parameter(model.table.weight)",
        "setattr(model.head, 'weight', model.table.weight)",
    ],
)
def test_a_weight_that_is_shared_is_found(line: str, tmp_path: Path) -> None:
    assert ties(line, tmp_path) == (1, 1)


@pytest.mark.parametrize(
    "line",
    [
        "batch.weight = (errors + 1) / 2.0",
        "batch.weight = errors.abs().sum(-1).mean(1)",
        "batch.weight = torch.mean(errors, dim=0)",
        "setattr(batch, 'weight', 0.5)",
    ],
)
def test_what_is_computed_is_no_weight_of_a_layer(line: str, tmp_path: Path) -> None:
    assert ties(line, tmp_path) == (0, 0)
