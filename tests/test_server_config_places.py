"""Definitions, references, hover texts, outlines and links in configurations, through a server."""

from __future__ import annotations

from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities
from test_server import SERVER, begin
from typed_configs import (
    CURSOR,
    HYDRA,
    RECIPE,
    SPEECHBRAIN,
    defined,
    hovered,
    opened,
    write,
)

pytestmark = pytest.mark.asyncio


@pytest_lsp.fixture(config=SERVER)
async def client(lsp_client: LanguageClient, tmp_path: Path):
    await begin(lsp_client, tmp_path, client_capabilities("visual-studio-code"))
    yield
    await lsp_client.shutdown_session()


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
    "a class": ("conf/model/small.yaml", "_target_: app.nets.N¦et\n", ("nets.py", 13)),
    "a function": ("conf/model/small.yaml", "_target_: app.nets.ma¦ke\n", ("nets.py", 42)),
    "a constant": ("conf/model/small.yaml", "_target_: app.nets.make_¦small\n", ("nets.py", 46)),
    "a module": ("conf/model/small.yaml", "_target_: app.ne¦ts.Net\n", ("nets.py", 1)),
    "a parameter": ("conf/model/small.yaml", "_target_: app.nets.Net\nra¦te: 3\n", ("nets.py", 19)),
    "a parameter of a base": ("conf/model/small.yaml", "_target_: app.nets.Net\nde¦pth: 3\n", ("nets.py", 9)),
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
    "a class": ("hparams/train.yaml", RECIPE.replace("net.Net", "net.N¦et"), ("net.py", 13)),
    "a parameter": ("hparams/train.yaml", RECIPE.replace("  width", "  wi¦dth"), ("net.py", 19)),
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


async def test_references_to_a_key_of_a_recipe(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, SPEECHBRAIN)
    text = RECIPE.replace("width: 80", f"wid{CURSOR}th: 80")
    about = opened(tmp_path / "hparams/train.yaml", text, client)
    found = await client.text_document_references_async(
        types.ReferenceParams(types.ReferenceContext(include_declaration=False), *about)
    )
    places = [(Path(one.uri).name, one.range.start.line + 1) for one in found or ()]
    assert places == [("train.yaml", 4), ("train.py", 16)]


async def test_values_beside_references(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, {**HYDRA, **SPEECHBRAIN})

    async def hints(name: str, text: str) -> list[tuple[int, str]]:
        document, _ = opened(tmp_path / name, text, client)
        whole = types.Range(types.Position(0, 0), types.Position(text.count("\n"), 0))
        found = await client.text_document_inlay_hint_async(types.InlayHintParams(document, whole))
        return [(one.position.line, str(one.label)) for one in found or ()]

    text = "_target_: app.nets.Net\nwidth: ${trainer.epochs}\nname: x_${classes}\nhead: ${nothing}\na: [¦\n"
    assert await hints("conf/model/small.yaml", text) == [(1, "= 3"), (2, "= x_10")]
    assert await hints("hparams/train.yaml", RECIPE + CURSOR) == [(3, "= 80"), (8, "= net.Net(…)")]
