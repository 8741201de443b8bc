"""Configurations that are being typed, and the questions that an editor asks about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from pytest_lsp import LanguageClient

#: Where the cursor is.
CURSOR = "¦"
NETS = '''\
from dataclasses import dataclass
from functools import partial
from typing import Literal, Optional

from torch import nn


class Base(nn.Module):
    def __init__(self, depth: int, act: Literal["relu", "gelu"] = "relu"):
        super().__init__()


class Net(Base):
    """A net of layers.

    It has more to it.
    """

    def __init__(self, width: int, *, rate: float = 0.1, head: Optional[nn.Module] = None, **kwargs):
        super().__init__(**kwargs)

    @classmethod
    def tiny(cls):
        return cls(1, depth=1)


@dataclass
class Corpus:
    path: str
    rate: int = 16_000


class Tiny(Net):
    pass


class Data:
    def __init__(self, corpus: Corpus | None = None, *, head: nn.Linear | None = None):
        self.corpus = corpus


def make(size, count=3):
    """Make some."""


make_small = partial(
    make, size=3
)
'''
CLASSES = ["Base", "Corpus", "Data", "Net", "Tiny"]
HYDRA = {
    "app/__init__.py": "",
    "app/nets.py": NETS,
    "app/more/heads.py": "class Head:\n    pass\n",
    "main.py": """\
import hydra


@hydra.main(config_path="conf", config_name="config", version_base=None)
def main(cfg):
    print(cfg.trainer.epochs)
    return hydra.utils.instantiate(cfg.model)
""",
    "conf/config.yaml": """\
defaults:
  - model: small
  - optim: adam
  - _self_
classes: 10
trainer:
  epochs: 3
  name: run_${classes}
""",
    "conf/model/small.yaml": "_target_: app.nets.Net\nwidth: 4\ndepth: ${classes}\n",
    "conf/model/large.yaml": "_target_: app.nets.Net\nwidth: 40\ndepth: 3\n",
    "conf/optim/adam.yaml": "_target_: torch.optim.Adam\nlr: 0.1\n",
    "conf/experiment/fast.yaml": "# @package _global_\ndefaults:\n  - override /model: large\n",
}
RECIPE = """\
lr: 0.1
width: 80
encoder: !new:net.Net
  width: !ref <width>
opts:
  deep: 3
loss: !name:speechbrain.nnet.losses.nll_loss
modules:
  encoder: !ref <encoder>
"""
SPEECHBRAIN = {
    "net.py": NETS,
    "train.py": """\
import sys

import speechbrain as sb
from hyperpyyaml import load_hyperpyyaml


class Brain(sb.Brain):
    def compute_forward(self, batch, stage):
        return self.modules.encoder(batch.sig) * self.hparams.lr


if __name__ == "__main__":
    hparams_file, run_opts, overrides = sb.parse_arguments(sys.argv[1:])
    with open("hparams/train.yaml") as fin:
        hparams = load_hyperpyyaml(fin, overrides)
    print(hparams["width"])
""",
    "hparams/train.yaml": RECIPE,
    "hparams/more.yaml": "a: 1\n",
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def opened(path: Path, text: str, client: LanguageClient) -> tuple[types.TextDocumentIdentifier, types.Position]:
    """Open a file without the sign of the cursor in it; the place of that, in UTF-16."""
    before = text[: text.index(CURSOR)]
    last = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    item = types.TextDocumentItem(path.as_uri(), path.suffix, 1, text.replace(CURSOR, "", 1))
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    column = len(last[-1].encode("utf-16-le")) // 2
    return types.TextDocumentIdentifier(path.as_uri()), types.Position(len(last) - 1, column)


async def completed(path: Path, text: str, client: LanguageClient) -> list[types.CompletionItem]:
    """The completions at the cursor, in the order in which an editor shows them."""
    found = await client.text_document_completion_async(types.CompletionParams(*opened(path, text, client)))
    assert isinstance(found, list)
    client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(path.as_uri())))
    return sorted(found, key=lambda item: item.sort_text or "")


async def labels(path: Path, text: str, client: LanguageClient) -> list[str]:
    return [item.label for item in await completed(path, text, client)]


async def hovered(path: Path, text: str, client: LanguageClient) -> str:
    found = await client.text_document_hover_async(types.HoverParams(*opened(path, text, client)))
    client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(path.as_uri())))
    if found is None:
        return ""
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


async def defined(path: Path, text: str, client: LanguageClient) -> list[tuple[str, int]]:
    """The names of the files, and the lines, at which what is at the cursor is defined."""
    found = await client.text_document_definition_async(types.DefinitionParams(*opened(path, text, client)))
    client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(path.as_uri())))
    assert isinstance(found, list)
    return [(Path(one.uri).name, one.range.start.line + 1) for one in found if isinstance(one, types.Location)]
