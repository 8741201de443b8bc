"""Configurations in an editor: completion, definitions, references and hover texts, while they are being typed."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import pytest_lsp
from effort import calls_of, drawn
from lsprotocol import types
from pygls.workspace import PositionCodec
from pytest_lsp import LanguageClient, client_capabilities
from test_server import SERVER, begin, put

from modellint.config import settings_for
from modellint.server.protocol import Converter
from modellint.server.session import Session
from modellint.server.shown import text_of
from modellint.server.written import Written

pytestmark = pytest.mark.asyncio

#: Where the cursor is.
CURSOR = "¦"
NETS = '''\
from dataclasses import dataclass
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


class Data:
    def __init__(self, corpus: Corpus | None = None, *, head: nn.Linear | None = None):
        self.corpus = corpus


def make(size, count=3):
    """Make some."""
'''
CLASSES = ["Base", "Corpus", "Data", "Net"]
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


@pytest_lsp.fixture(config=SERVER)
async def client(lsp_client: LanguageClient, tmp_path: Path):
    await begin(lsp_client, tmp_path, client_capabilities("visual-studio-code"))
    yield
    await lsp_client.shutdown_session()


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


#: By name: the file, its text, and labels that are offered, the first ones in this order.
OFFERED = {
    "packages": (
        "conf/model/small.yaml",
        "_target_: ¦\n",
        ["app", "main", "speechbrain", "torch", "hydra", "lightning"],
    ),
    "modules": ("conf/model/small.yaml", "_target_: app.¦\n", ["more", "nets"]),
    "a folder without __init__": ("conf/model/small.yaml", "_target_: app.more.¦\n", ["heads"]),
    "classes and functions": (
        "conf/model/small.yaml",
        "_target_: app.nets.N¦\n",
        [*CLASSES, "make"],
    ),
    "class methods": ("conf/model/small.yaml", "_target_: app.nets.Net.¦\n", ["tiny"]),
    "shipped classes": ("conf/model/small.yaml", "_target_: torch.optim.lr_scheduler.¦\n", ["ChainedScheduler"]),
    "arguments, required ones first": (
        "conf/model/small.yaml",
        "_target_: app.nets.Net\n¦\n",
        ["depth", "width", "act", "head", "rate", "_args_", "_convert_", "_partial_", "_recursive_"],
    ),
    "arguments that are not given": (
        "conf/model/small.yaml",
        "_target_: app.nets.Net\nwidth: 3\nra¦\nrate: 0.2\n",
        ["depth", "act", "head", "_args_"],
    ),
    "arguments of described classes": (
        "conf/model/small.yaml",
        "_target_: app.nets.Net\nhead:\n  _target_: torch.nn.Linear\n  ¦\nwidth: 3\n",
        ["in_features", "out_features", "bias"],
    ),
    "arguments in braces": (
        "conf/model/small.yaml",
        "_target_: app.nets.Net\nhead: {_target_: torch.nn.Linear, in_features: 3, ¦}\n",
        ["out_features", "bias"],
    ),
    "arguments of an object in another file": (
        "conf/experiment/fast.yaml",
        "# @package _global_\ndefaults:\n  - override /model: large\nmodel:\n  ¦\n",
        ["act", "depth", "head", "rate", "width"],
    ),
    "fields of a dataclass that annotates": (
        "conf/model/small.yaml",
        "_target_: app.nets.Data\ncorpus:\n  ¦\n",
        ["path", "rate", "_target_"],
    ),
    "no arguments of another class": ("conf/model/small.yaml", "_target_: app.nets.Data\nhead:\n  ¦\n", ["_target_"]),
    "the beginning of an object": ("conf/model/small.yaml", "_target_: app.nets.Net\nhead:\n  ¦\n", ["_target_"]),
    "keys of other files": (
        "conf/experiment/fast.yaml",
        "# @package _global_\ntrainer:\n  ¦\n",
        ["epochs", "name"],
    ),
    "values of a literal": ("conf/model/small.yaml", "_target_: app.nets.Net\nact: ¦\n", ["gelu", "relu"]),
    "values of a directive": ("conf/model/small.yaml", "_target_: app.nets.Net\n_partial_: ¦\n", ["false", "true"]),
    "values of a directive in words": (
        "conf/model/small.yaml",
        "_target_: app.nets.Net\n_convert_: ¦\n",
        ["all", "none", "object", "partial"],
    ),
    "keys from the top": (
        "conf/model/small.yaml",
        "_target_: app.nets.Net\nwidth: ${¦\n",
        ["classes", "model", "optim", "trainer", "hydra", "now", "oc.create"],
    ),
    "keys below a key": ("conf/model/small.yaml", "_target_: a\nwidth: ${trainer.¦\n", ["epochs", "name"]),
    "keys beside": ("conf/config.yaml", "trainer:\n  epochs: 3\n  name: ${.¦}\n", ["epochs"]),
    "keys further out": ("conf/config.yaml", "trainer:\n  epochs: 3\n  name: ${..¦}\n", ["trainer"]),
    "keys in quotes": ("conf/model/small.yaml", '_target_: a\nwidth: "${tr¦\n', ["classes", "model"]),
    "keys within a text": ("conf/model/small.yaml", "_target_: a\nwidth: x_${classes}_${trainer.¦\n", ["epochs"]),
    "keys within a resolver": ("conf/model/small.yaml", "_target_: a\nwidth: ${oc.decode:${trainer.¦}}\n", ["epochs"]),
    "resolvers": ("conf/model/small.yaml", "_target_: a\nwidth: ${oc.¦\n", ["oc.create", "oc.decode"]),
    "groups": ("conf/config.yaml", "defaults:\n  - ¦\n", ["experiment", "model", "optim", "_self_", "optional"]),
    "groups half typed": ("conf/config.yaml", "defaults:\n  - mo¦\n", ["model"]),
    "names of a group": ("conf/config.yaml", "defaults:\n  - model: ¦\n", ["large", "small", "null", "???"]),
    "names in a list": ("conf/config.yaml", "defaults:\n  - model: [small, ¦]\n", ["large", "small"]),
    "groups to override": (
        "conf/experiment/fast.yaml",
        "# @package _global_\ndefaults:\n  - override /¦\n",
        ["/experiment", "/model", "/optim"],
    ),
    "names to override": (
        "conf/experiment/fast.yaml",
        "# @package _global_\ndefaults:\n  - override /model: ¦\n",
        ["large", "small", "null"],
    ),
    "packages of a header": ("conf/experiment/fast.yaml", "# @package ¦\n", ["_global_", "_group_"]),
    "packages of an entry": ("conf/config.yaml", "defaults:\n  - model@¦\n", ["_global_", "_group_", "_here_"]),
    "other broken lines": (
        "conf/model/small.yaml",
        "_target_: app.nets.Net\n  x y: z: 3\nrate [\nwidth: ${trainer.¦\n\tdepth: }\n",
        ["epochs", "name"],
    ),
    "nothing in a comment": ("conf/config.yaml", "a: 3 # ${¦\n", []),
    "nothing in a block of text": ("conf/config.yaml", "a: |\n  some ${¦\n  text\n", []),
}
#: The same of files of other dialects, which no program composes.
OTHERS = {
    "torchtune, a target": ("_component_: app.nets.N¦\n", [*CLASSES, "make"]),
    "torchtune, arguments": ("model:\n  _component_: app.nets.Net\n  ¦\n", ["depth", "width", "act"]),
    "torchtune, keys": ("a: 3\nmodel:\n  _component_: app.nets.Net\n  width: ${¦\n", ["a", "model"]),
    "latent diffusion, a target": (
        "m:\n  target: app.nets.N¦\n  params:\n    depth: 2\n",
        [*CLASSES, "make"],
    ),
    "latent diffusion, arguments": (
        "m:\n  target: app.nets.Net\n  params:\n    depth: 2\n    ¦\n",
        ["width", "act", "head", "rate"],
    ),
    "latent diffusion, beside them": ("m:\n  target: app.nets.Net\n  ¦\nn:\n  params:\n    a: 1\n", ["params"]),
}
#: The same of recipes.
TAGGED = {
    "tags": ("!¦", ["!PLACEHOLDER", "!apply:", "!copy <", "!include:", "!module:", "!name:", "!new:", "!ref <"]),
    "tags half typed": ("!n¦", ["!name:", "!new:"]),
    "no tag yet": ("¦", ["!PLACEHOLDER", "!apply:"]),
    "packages": ("!new:¦", ["net", "speechbrain", "torch", "train"]),
    "classes, for !new": ("!new:net.¦", CLASSES),
    "functions too, for !name": ("!name:net.¦", [*CLASSES, "make"]),
    "shipped classes": ("!new:speechbrain.nnet.CNN.¦", ["Conv1d", "Conv2d"]),
    "arguments": ("!new:net.Net\n  ¦", ["depth", "width", "act", "head", "rate"]),
    "arguments before others": ("!new:net.Net\n  ra¦\n  width: 3", ["depth", "act", "head", "rate"]),
    "keys": ("!ref <¦", ["encoder", "loss", "lr", "modules", "opts", "width"]),
    "keys before their end": ("!ref <w¦>", ["encoder", "loss", "lr"]),
    "keys below a key": ("!ref <opts[¦", ["deep"]),
    "keys in a product": ("!ref <lr> * <¦", ["encoder", "loss", "lr"]),
    "files": ("!include:¦", ["more.yaml"]),
}


async def test_completions_of_a_composed_configuration(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, HYDRA)
    found = {name: await labels(tmp_path / file, text, client) for name, (file, text, _) in OFFERED.items()}
    first = {name: labels[: len(OFFERED[name][2])] or labels for name, labels in found.items()}
    assert first == {name: expected for name, (*_, expected) in OFFERED.items()}


async def test_completions_of_other_dialects(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, HYDRA)
    path = tmp_path / "other/settings.yaml"
    found = {name: await labels(path, text, client) for name, (text, _) in OTHERS.items()}
    first = {name: labels[: len(OTHERS[name][1])] for name, labels in found.items()}
    assert first == {name: expected for name, (_, expected) in OTHERS.items()}


async def test_completions_of_a_recipe(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, SPEECHBRAIN)
    path = tmp_path / "hparams/train.yaml"
    found = {name: await labels(path, f"{RECIPE}dec: {text}", client) for name, (text, _) in TAGGED.items()}
    first = {name: labels[: len(TAGGED[name][1])] for name, labels in found.items()}
    assert first == {name: expected for name, (_, expected) in TAGGED.items()}


async def test_layers_that_a_brain_may_move(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, SPEECHBRAIN)
    path = tmp_path / "hparams/train.yaml"
    (loss,) = await completed(path, f"{RECIPE}  ¦", client)
    assert loss.text_edit is not None
    assert (loss.label, loss.text_edit.new_text) == ("loss", "loss: !ref <loss>")
    assert (await labels(path, RECIPE.replace("!ref <encoder>", "¦"), client))[:2] == ["!ref <encoder>", "!ref <loss>"]
    assert (await labels(path, RECIPE.replace("<encoder>", "¦"), client))[:2] == ["<encoder>", "<loss>"]


#: Texts about what is at the cursor, in part.
ABOUT = {
    "a class": ("conf/model/small.yaml", "_target_: app.nets.N¦et\n", ["class Net(", "depth: int", "A net of layers."]),
    "a module": ("conf/model/small.yaml", "_target_: app.ne¦ts.Net\n", ["app/nets.py"]),
    "a described class": ("conf/model/small.yaml", "_target_: torch.nn.Lin¦ear\n", ["in_features"]),
    "an argument": ("conf/model/small.yaml", "_target_: app.nets.Net\nra¦te: 0.2\n", ["rate: float = 0.1", "0.2"]),
    "a reference": ("conf/model/small.yaml", "_target_: a.b\nw: ${trainer.ep¦ochs}\n", ["trainer.epochs", "3"]),
    "its beginning": ("conf/model/small.yaml", "_target_: a.b\nw: ${train¦er.epochs}\n", ["trainer", "epochs, name"]),
    "a reference to nothing": ("conf/model/small.yaml", "_target_: a.b\nw: ${tr¦ainr}\n", ["not there"]),
    "a key with a reference": ("conf/config.yaml", "a: 3\nna¦me: run_${a}\n", ["run_3"]),
    "an entry": ("conf/config.yaml", "defaults:\n  - model: sm¦all\n", ["conf/model/small.yaml", "`large`"]),
    "an override": (
        "conf/experiment/fast.yaml",
        "# @package _global_\ndefaults:\n  - override /model: lar¦ge\n",
        ["conf/model/large.yaml", "`small`"],
    ),
}


async def test_hover_texts(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, HYDRA)
    found = {name: await hovered(tmp_path / file, text, client) for name, (file, text, _) in ABOUT.items()}
    told = {name: [part for part in ABOUT[name][2] if part in text] for name, text in found.items()}
    assert told == {name: expected for name, (*_, expected) in ABOUT.items()}


#: Where what is at the cursor is defined.
DEFINED = {
    "a class": ("conf/model/small.yaml", "_target_: app.nets.N¦et\n", ("nets.py", 12)),
    "a function": ("conf/model/small.yaml", "_target_: app.nets.ma¦ke\n", ("nets.py", 37)),
    "a module": ("conf/model/small.yaml", "_target_: app.ne¦ts.Net\n", ("nets.py", 1)),
    "a parameter": ("conf/model/small.yaml", "_target_: app.nets.Net\nra¦te: 3\n", ("nets.py", 18)),
    "a parameter of a base": ("conf/model/small.yaml", "_target_: app.nets.Net\nde¦pth: 3\n", ("nets.py", 8)),
    "a reference": ("conf/model/small.yaml", "_target_: a.b\nw: ${trainer.ep¦ochs}\n", ("config.yaml", 7)),
    "its beginning": ("conf/model/small.yaml", "_target_: a.b\nw: ${train¦er.epochs}\n", ("config.yaml", 6)),
    "an entry": ("conf/config.yaml", "defaults:\n  - model: sm¦all\n", ("small.yaml", 1)),
    "an entry, by its group": ("conf/config.yaml", "defaults:\n  - mo¦del: small\n", ("small.yaml", 1)),
    "the configuration of a script": (
        "main.py",
        HYDRA["main.py"].replace('"config"', '"con¦fig"'),
        ("config.yaml", 1),
    ),
    "a key that a script reads": (
        "main.py",
        HYDRA["main.py"].replace("trainer.epochs", "trainer.epo¦chs"),
        ("config.yaml", 7),
    ),
    "a mapping that a script reads": (
        "main.py",
        HYDRA["main.py"].replace("trainer.epochs", "trai¦ner.epochs"),
        ("config.yaml", 6),
    ),
}
DEFINED_IN_RECIPES = {
    "a class": ("hparams/train.yaml", RECIPE.replace("net.Net", "net.N¦et"), ("net.py", 12)),
    "a parameter": ("hparams/train.yaml", RECIPE.replace("  width", "  wi¦dth"), ("net.py", 18)),
    "a reference": ("hparams/train.yaml", RECIPE.replace("<width>", "<wi¦dth>"), ("train.yaml", 2)),
    "a nested key": ("hparams/train.yaml", f"{RECIPE}a: !ref <opts[de¦ep]>", ("train.yaml", 6)),
    "an included file": ("hparams/train.yaml", f"{RECIPE}a: !include:mo¦re.yaml", ("more.yaml", 1)),
    "a key that a script reads": (
        "train.py",
        SPEECHBRAIN["train.py"].replace('"width"', '"wi¦dth"'),
        ("train.yaml", 2),
    ),
    "a key of a Brain": ("train.py", SPEECHBRAIN["train.py"].replace("hparams.lr", "hparams.l¦r"), ("train.yaml", 1)),
    "a layer": ("train.py", SPEECHBRAIN["train.py"].replace("modules.enc", "modules.e¦nc"), ("train.yaml", 9)),
    "the recipe": ("train.py", SPEECHBRAIN["train.py"].replace("train.yaml", "tr¦ain.yaml"), ("train.yaml", 1)),
}


async def test_definitions(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, HYDRA)
    found = {name: await defined(tmp_path / file, text, client) for name, (file, text, _) in DEFINED.items()}
    assert found == {name: [expected] for name, (*_, expected) in DEFINED.items()}


async def test_definitions_in_recipes(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, SPEECHBRAIN)
    cases = DEFINED_IN_RECIPES.items()
    found = {name: await defined(tmp_path / file, text, client) for name, (file, text, _) in cases}
    assert found == {name: [expected] for name, (*_, expected) in cases}


async def test_references_to_a_key(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, HYDRA)
    for key, expected in (("cla¦sses:", {"config.yaml", "small.yaml"}), ("epo¦chs:", {"config.yaml", "main.py"})):
        text = HYDRA["conf/config.yaml"].replace(key.replace(CURSOR, ""), key)
        about = opened(tmp_path / "conf/config.yaml", text, client)
        found = await client.text_document_references_async(
            types.ReferenceParams(types.ReferenceContext(include_declaration=True), *about)
        )
        assert {Path(one.uri).name for one in found or ()} == expected


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
async def test_columns_line_ends_and_marks(ending: str, mark: str, client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, HYDRA)
    text = f"{mark}a\U0001d4b3: \xe9\n_target_: app.nets.Net\n'\U0001d4b3': ${{trainer.e¦}} # \U0001d4b3\n".replace(
        "\n", ending
    )
    first, *_ = await completed(tmp_path / "conf/model/small.yaml", text, client)
    assert isinstance(first.text_edit, types.TextEdit)
    start, end = first.text_edit.range.start, first.text_edit.range.end
    assert (first.label, start.line, start.character, end.character) == ("epochs", 2, 16, 17)
    assert await defined(tmp_path / "conf/model/small.yaml", text.replace("e¦", "e¦pochs"), client) == [
        ("config.yaml", 7)
    ]


async def test_texts_of_other_documents_count(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, HYDRA)
    put(tmp_path / "conf/config.yaml", HYDRA["conf/config.yaml"].replace("epochs", "rounds"), client)
    put(tmp_path / "app/nets.py", NETS.replace("rate", "share"), client)
    path = tmp_path / "conf/model/small.yaml"
    assert (await labels(path, "_target_: a.b\nwidth: ${trainer.¦\n", client))[:2] == ["name", "rounds"]
    assert "share" in await labels(path, "_target_: app.nets.Net\n¦\n", client)


async def test_a_class_that_is_offered_is_described(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, HYDRA)
    path = tmp_path / "conf/model/small.yaml"
    about = opened(path, "_target_: app.nets.¦\n", client)
    found = await client.text_document_completion_async(types.CompletionParams(*about))
    assert isinstance(found, list)
    (net,) = (item for item in found if item.label == "Net")
    resolved = await client.completion_item_resolve_async(net)
    assert isinstance(resolved.documentation, types.MarkupContent)
    assert "A net of layers." in resolved.documentation.value


async def test_outlines_and_links(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, {**HYDRA, **SPEECHBRAIN})
    document, _ = opened(tmp_path / "conf/config.yaml", HYDRA["conf/config.yaml"] + CURSOR, client)
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    assert [(one.name, one.kind) for one in symbols or ()][-2:] == [
        ("classes", types.SymbolKind.Property),
        ("trainer", types.SymbolKind.Object),
    ]
    links = await client.text_document_document_link_async(types.DocumentLinkParams(document))
    assert [(one.range.start.line, Path(one.target or "").name) for one in links or ()] == [
        (1, "small.yaml"),
        (2, "adam.yaml"),
    ]
    document, _ = opened(tmp_path / "hparams/train.yaml", f"{RECIPE}a: !include:more.yaml\nb: [{CURSOR}", client)
    symbols = await client.text_document_document_symbol_async(types.DocumentSymbolParams(document))
    assert [one.detail for one in symbols or () if isinstance(one, types.DocumentSymbol) and one.detail] == [
        "net.Net",
        "speechbrain.nnet.losses.nll_loss",
    ]
    (link,) = await client.text_document_document_link_async(types.DocumentLinkParams(document)) or ()
    assert (link.range.start.line, Path(link.target or "").name) == (9, "more.yaml")


async def test_other_files_have_none(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, HYDRA)
    assert await labels(tmp_path / "compose.yaml", "services:\n  web:\n    image: ¦\n", client) == []
    assert await labels(tmp_path / "app/nets.py", f"{NETS}\nnn.¦\n", client) == []


#: Parts of configurations, for what is typed at random.
BITS = (
    "${",
    "}",
    "!new:",
    "!ref <",
    "- ",
    ": ",
    "_target_: ",
    "{",
    "[",
    '"',
    "'",
    "\t",
    "&a ",
    "*a",
    "#",
    "| ",
    "\n",
    "@",
)


def damaged(text: str, random: Random) -> tuple[str, int]:
    """A text that somebody changes at random, and the place of the cursor."""
    at = random.randrange(len(text) + 1)
    if random.random() < 0.4:
        text = text[:at] + text[at:].partition("\n")[2]
    elif random.random() < 0.5:
        text = text[:at] + random.choice(BITS) + text[at:]
    if random.random() < 0.1:
        text = text.replace("\n", "\r\n")
    return text, min(at, len(text))


async def test_no_place_in_a_damaged_file_is_too_odd(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, {**HYDRA, **SPEECHBRAIN})
    random = Random(4)
    names = [name for name in (*HYDRA, *SPEECHBRAIN) if name.endswith(".yaml")]
    answers = 0
    for _ in range(drawn(700)):
        path = tmp_path / random.choice(names)
        text, at = damaged(path.read_text("utf-8"), random)
        document, position = opened(path, text[:at] + CURSOR + text[at:], client)
        found = (
            await client.text_document_completion_async(types.CompletionParams(document, position)),
            await client.text_document_definition_async(types.DefinitionParams(document, position)),
            await client.text_document_references_async(
                types.ReferenceParams(types.ReferenceContext(include_declaration=True), document, position)
            ),
        )
        answers += sum(bool(one) for one in found)
        client.text_document_did_close(types.DidCloseTextDocumentParams(document))
    assert answers > drawn(100)
    assert [message for message in client.log_messages if message.type is types.MessageType.Error] == []
    assert client.messages == []


def many_configurations(folder: Path) -> None:
    """A project whose program composes two of 300 configurations."""
    write(folder, HYDRA)
    for number in range(300):
        path = folder / f"conf/experiment/number_{number}.yaml"
        path.write_text(f"# @package _global_\ndefaults:\n  - override /model: large\ntrainer:\n  epochs: {number}\n")


async def test_a_key_press_among_300_configurations_costs_little(tmp_path: Path) -> None:
    many_configurations(tmp_path)
    path = tmp_path / "conf/experiment/number_7.yaml"
    session = Session(settings_for([tmp_path]))

    def press(text: str) -> list[str]:
        before, _, after = text.partition(CURSOR)
        session.open(path, f"{before}{after}".encode())
        source = text_of(path.as_posix(), 1, f"{before}{after}")
        codec = PositionCodec(types.PositionEncodingKind.Utf16)
        converter = Converter(codec, lambda name: source.source, lambda name: Path(name).as_uri())
        line = before.count("\n")
        position = types.Position(line, len(before.rpartition("\n")[2]))
        return [item.label for item in Written(session, source, converter).complete(position)]

    start = path.read_text("utf-8")
    press(f"{start}a: ${{t{CURSOR}\n")
    costs = []
    for typed in ("tr", "tra", "trainer", "trainer.", "trainer.e"):
        text = f"{start}a: ${{{typed}{CURSOR}\n"
        costs.append(calls_of(lambda text=text: press(text)))  # type: ignore[misc]
    assert "epochs" in press(f"{start}a: ${{trainer.{CURSOR}\n")
    assert max(costs) < 10_000
