"""Completion in configurations, through a server: while they are typed, and at any place of a damaged one."""

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
from typed_configs import (
    CLASSES,
    CURSOR,
    HYDRA,
    NETS,
    RECIPE,
    SPEECHBRAIN,
    completed,
    defined,
    labels,
    opened,
    write,
)

from modellint.config import settings_for
from modellint.server.protocol import Converter
from modellint.server.session import Session
from modellint.server.shown import text_of
from modellint.server.written import Written

pytestmark = pytest.mark.asyncio


@pytest_lsp.fixture(config=SERVER)
async def client(lsp_client: LanguageClient, tmp_path: Path):
    await begin(lsp_client, tmp_path, client_capabilities("visual-studio-code"))
    yield
    await lsp_client.shutdown_session()


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
    "class methods of a base": ("conf/model/small.yaml", "_target_: app.nets.Tiny.¦\n", ["tiny"]),
    "shipped classes": ("conf/model/small.yaml", "_target_: torch.optim.lr_scheduler.¦\n", ["ChainedScheduler"]),
    "classes of a library": ("conf/model/small.yaml", "_target_: lightning.pytorch.¦\n", ["Callback"]),
    "arguments of its classes": (
        "conf/model/small.yaml",
        "_target_: lightning.pytorch.callbacks.EarlyStopping\n¦\n",
        ["monitor", "check_finite"],
    ),
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
    "arguments of a described base": (
        "!new:speechbrain.decoders.S2SRNNBeamSearcher\n  ¦",
        ["beam_size", "bos_index", "decoder", "embedding"],
    ),
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


#: A program whose primary configuration the command line names, and one with another folder in its search path.
UNNAMED = {
    "main.py": """\
import hydra
from pathlib import Path


@hydra.main(version_base=None, config_path=str(Path(__file__).parent.joinpath("conf")))
def main(cfg):
    pass
""",
    "conf/train_small.yaml": "defaults:\n  - task: push\nhorizon: 3\nsteps: 4\n",
    "conf/train_large.yaml": "defaults:\n  - task: pull\n  - more: null\nlong: 3\n",
    "conf/task/push.yaml": "size: ${horizon}\n",
    "conf/task/pull.yaml": "size: ${long}\n",
    "conf/more/extra.yaml": "depth: 3\n",
    "other.py": """\
import hydra


@hydra.main(config_path="second", config_name="main", version_base=None)
def main(cfg):
    pass
""",
    "second/main.yaml": "hydra:\n  searchpath:\n    - pkg://lib.shared\ndefaults:\n  - data: digits\n",
    "lib/shared/data/digits.yaml": "count: 10\n",
    "lib/shared/data/letters.yaml": "count: 26\n",
}
SEARCHED = {
    "keys of the file that chooses it": ("conf/task/push.yaml", "size: ${h¦\n", ["horizon", "steps", "task"]),
    "keys of another one": ("conf/task/pull.yaml", "size: ${l¦\n", ["long", "task"]),
    "keys of its own": ("conf/train_small.yaml", UNNAMED["conf/train_small.yaml"] + "a: ${task.¦\n", ["size"]),
    "keys of a file that may be chosen": (
        "conf/train_large.yaml",
        UNNAMED["conf/train_large.yaml"] + "a: ${more.¦\n",
        ["depth"],
    ),
    "names in a package": (
        "second/main.yaml",
        UNNAMED["second/main.yaml"].replace("digits", "¦"),
        ["digits", "letters"],
    ),
    "keys of a package": ("second/main.yaml", UNNAMED["second/main.yaml"] + "n: ${data.¦\n", ["count"]),
}


async def test_completions_where_a_program_says_less(client: LanguageClient, tmp_path: Path) -> None:
    write(tmp_path, UNNAMED)
    found = {name: await labels(tmp_path / file, text, client) for name, (file, text, _) in SEARCHED.items()}
    first = {name: labels[: len(SEARCHED[name][2])] for name, labels in found.items()}
    assert first == {name: expected for name, (*_, expected) in SEARCHED.items()}


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
