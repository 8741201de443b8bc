"""The language server, spoken to as an editor does."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import preloaded
import pytest
import pytest_lsp
from books import notebook, sources_of
from effort import PATIENCE
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

from modellint.home import SITE
from modellint.server.app import create
from modellint.server.configuration import Configuration

pytestmark = pytest.mark.asyncio

EXAMPLES = Path(__file__).parent.parent / "examples"
SWAPPED = """\
from torch import nn


class Text(nn.Module):
    def __init__(self, vocab_size, width):
        super().__init__()
        self.é𝒳, self.table = None, nn.Embedding(width, vocab_size)
        self.layers = [nn.Linear(width, width) for _ in range(2)]
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        hidden = self.norm(self.table(ids))
        for layer in self.layers:
            hidden = layer(hidden)
        return hidden
"""


class Preloaded(ClientServerConfig):  # type: ignore[misc]
    """A server that need not be imported anew."""

    def get_server_command(self, devtools: str | None = None) -> list[str]:
        """What starts the server."""
        return preloaded.command()


SERVER = Preloaded(server_command=preloaded.SERVER)


async def begin(
    client: LanguageClient, folder: Path, capabilities: types.ClientCapabilities, options: object = None
) -> None:
    """Have an editor with these capabilities open a folder."""
    (folder / "modellint.toml").write_text("")

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams) -> None:
        """Editors take the wish to be told of files that change."""

    workspace = types.WorkspaceFolder(folder.as_uri(), "project")
    await client.initialize_session(
        types.InitializeParams(
            capabilities=capabilities,
            workspace_folders=[workspace],
            root_uri=folder.as_uri(),
            initialization_options=options,
        )
    )


@pytest_lsp.fixture(config=SERVER)
async def client(lsp_client: LanguageClient, tmp_path: Path):
    """An editor that waits for diagnostics, and a folder that it has open."""
    await begin(lsp_client, tmp_path, client_capabilities("visual-studio-code"))
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=SERVER)
async def asking(lsp_client: LanguageClient, tmp_path: Path):
    """An editor that asks for the diagnostics of what it shows, and can be told to ask again."""
    capabilities = client_capabilities("visual-studio-code")
    assert capabilities.text_document is not None
    assert capabilities.workspace is not None
    capabilities.text_document.diagnostic = types.DiagnosticClientCapabilities()
    capabilities.workspace.diagnostics = types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    await begin(lsp_client, tmp_path, capabilities)
    yield
    await lsp_client.shutdown_session()


@pytest_lsp.fixture(config=SERVER)
async def telling(lsp_client: LanguageClient, tmp_path: Path):
    """An editor that tells its settings, and can't be asked for them."""
    capabilities = client_capabilities("visual-studio-code")
    assert capabilities.workspace is not None
    capabilities.workspace.configuration = False
    await begin(lsp_client, tmp_path, capabilities, {"ignore": ["ML101"]})
    yield
    await lsp_client.shutdown_session()


def put(path: Path, text: str, client: LanguageClient) -> str:
    """Write a file and open it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    language = "python" if path.suffix == ".py" else "yaml"
    item = types.TextDocumentItem(path.as_uri(), language, 1, text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    return path.as_uri()


def edit(uri: str, version: int, text: str, client: LanguageClient) -> None:
    client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=version, uri=uri),
            [types.TextDocumentContentChangeWholeDocument(text)],
        )
    )


async def pulled(uri: str, client: LanguageClient) -> list[types.Diagnostic]:
    report = await client.text_document_diagnostic_async(
        types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
    )
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    return list(report.items)


async def pushed(uri: str, codes: set[str], client: LanguageClient) -> list[types.Diagnostic]:
    """The diagnostics of a file, once they are those."""
    for _ in range(10 * PATIENCE):
        found = client.diagnostics.get(uri, ())
        if {diagnostic.code for diagnostic in found} == codes:
            return list(found)
        await asyncio.sleep(0.1)
    raise AssertionError(f"{uri}: {client.diagnostics.get(uri)}, expected {codes}")


async def actions(uri: str, line: int, client: LanguageClient, *only: str) -> list[types.CodeAction]:
    place = types.Range(types.Position(line, 0), types.Position(line, 0))
    context = types.CodeActionContext([], only=[types.CodeActionKind(kind) for kind in only] or None)
    params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
    return list(await client.text_document_code_action_async(params) or [])


def applied(text: str, change: types.WorkspaceEdit) -> str:
    """The text with the edits of one file, whose columns count UTF-16 units."""
    (document,) = change.document_changes
    assert isinstance(document, types.TextDocumentEdit)
    lines = text.splitlines(keepends=True)

    def offset(position: types.Position) -> int:
        before = "".join(lines[: position.line])
        line = lines[position.line].encode("utf-16-le")[: 2 * position.character].decode("utf-16-le")
        return len(before) + len(line)

    for item in sorted(document.edits, key=lambda item: offset(item.range.start), reverse=True):
        text = text[: offset(item.range.start)] + item.new_text + text[offset(item.range.end) :]
    return text


async def test_unsaved_text_counts_and_columns_are_utf16(client: LanguageClient, tmp_path: Path) -> None:
    uri = put(tmp_path / "model.py", "x = 1\n", client)
    assert await pulled(uri, client) == []
    edit(uri, 2, SWAPPED, client)
    swapped, plain = sorted(await pulled(uri, client), key=lambda diagnostic: diagnostic.range.start.line)
    assert (swapped.code, plain.code, swapped.source) == ("ML101", "ML204", "modellint")
    line = SWAPPED.splitlines()[6].encode("utf-16-le")
    place = swapped.range
    assert line[2 * place.start.character : 2 * place.end.character].decode("utf-16-le") == (
        "nn.Embedding(width, vocab_size)"
    )
    assert swapped.severity == types.DiagnosticSeverity.Error
    assert "the arguments of `nn.Embedding` are swapped" in swapped.message
    assert await pushed(uri, {"ML101", "ML204"}, client)


async def test_fixes_and_ignores_are_offered(client: LanguageClient, tmp_path: Path) -> None:
    uri = put(tmp_path / "model.py", SWAPPED, client)
    await pulled(uri, client)
    offered = {action.title: action for action in await actions(uri, 6, client)}
    unsafe = next(action for title, action in offered.items() if title.endswith("(unsafe: needs a look)"))
    assert "nn.Embedding(vocab_size, width)" in applied(SWAPPED, unsafe.edit)
    ignored = applied(SWAPPED, offered["Ignore ML101 on this line"].edit)
    assert ignored.splitlines()[6].endswith("vocab_size)  # modellint: ignore[ML101]")
    edit(uri, 2, ignored, client)
    assert [diagnostic.code for diagnostic in await pulled(uri, client)] == ["ML204"]
    (everything,) = await actions(uri, 0, client, "source.fixAll")
    assert everything.title == "Fix all that modellint can fix safely"
    edit(uri, 3, applied(ignored, everything.edit), client)
    assert await pulled(uri, client) == []


async def test_a_recipe_and_its_script_tell_of_each_other(client: LanguageClient, tmp_path: Path) -> None:
    broken = EXAMPLES / "speechbrain" / "broken" / "training"
    script, recipe = (broken / name for name in ("train.py", "hparams.yaml"))
    (tmp_path / "hparams.yaml").write_text(recipe.read_text())
    uri = put(tmp_path / "train.py", script.read_text(), client)
    recipe_uri = (tmp_path / "hparams.yaml").as_uri()
    (found,) = await pushed(recipe_uri, {"ML201"}, client)
    assert found.related_information
    assert found.code_description == types.CodeDescription(f"{SITE}/rules/ml201.html")
    repaired = (EXAMPLES / "speechbrain" / "fixed" / "training" / "hparams.yaml").read_text()
    put(tmp_path / "hparams.yaml", recipe.read_text(), client)
    edit(recipe_uri, 2, repaired, client)
    await pushed(recipe_uri, set(), client)
    edit(uri, 2, script.read_text().replace("self.modules.enc(", "self.modules.encc("), client)
    (missing,) = await pushed(uri, {"ML202"}, client)
    assert "encc" in missing.message
    edit(recipe_uri, 3, repaired.replace("    enc: !ref <enc>", "    encc: !ref <enc>"), client)
    await pushed(uri, set(), client)


async def test_a_recipe_alone_shows_what_its_script_does_wrong(client: LanguageClient, tmp_path: Path) -> None:
    fixed = EXAMPLES / "speechbrain" / "fixed" / "training"
    script = (fixed / "train.py").read_text().replace("self.modules.enc(", "self.modules.encc(")
    (tmp_path / "train.py").write_text(script)
    recipe_uri = put(tmp_path / "hparams.yaml", (fixed / "hparams.yaml").read_text(), client)
    (missing,) = await pushed((tmp_path / "train.py").as_uri(), {"ML202"}, client)
    assert [place.location.uri for place in missing.related_information or ()] == [recipe_uri]
    (tmp_path / "train.py").write_text((fixed / "train.py").read_text())
    event = types.FileEvent((tmp_path / "train.py").as_uri(), types.FileChangeType.Changed)
    client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
    await pushed((tmp_path / "train.py").as_uri(), set(), client)


async def test_a_syntax_error_keeps_what_was_found_before(client: LanguageClient, tmp_path: Path) -> None:
    uri = put(tmp_path / "model.py", SWAPPED, client)
    await pulled(uri, client)
    edit(uri, 2, SWAPPED + "    def broken(self\n", client)
    assert {diagnostic.code for diagnostic in await pulled(uri, client)} == {"ML001", "ML101", "ML204"}
    edit(uri, 3, SWAPPED + "    def broken(self:\n", client)
    assert [d.code for d in await pulled(uri, client)].count("ML001") == 1
    edit(uri, 4, SWAPPED, client)
    assert {diagnostic.code for diagnostic in await pulled(uri, client)} == {"ML101", "ML204"}


async def test_a_closed_file_has_no_diagnostics(client: LanguageClient, tmp_path: Path) -> None:
    uri = put(tmp_path / "model.py", SWAPPED, client)
    await pushed(uri, {"ML101", "ML204"}, client)
    client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
    await pushed(uri, set(), client)


async def test_settings_are_read_anew_when_they_change(client: LanguageClient, tmp_path: Path) -> None:
    uri = put(tmp_path / "model.py", SWAPPED, client)
    await pushed(uri, {"ML101", "ML204"}, client)
    settings = tmp_path / "modellint.toml"

    def changed(text: str) -> None:
        settings.write_text(text)
        event = types.FileEvent(settings.as_uri(), types.FileChangeType.Changed)
        client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

    changed('ignore = ["ML101"]\n')
    await pushed(uri, {"ML204"}, client)
    changed("ignroe = []\n")
    for _ in range(10 * PATIENCE):
        if client.messages:
            break
        await asyncio.sleep(0.1)
    assert "unknown key `ignroe`; did you mean `ignore`?" in client.messages[0].message
    changed('extend-exclude = ["model.py"]\n')
    await pushed(uri, set(), client)


async def test_hover_shows_the_rule_or_the_row_of_the_map(client: LanguageClient, tmp_path: Path) -> None:
    uri = put(tmp_path / "model.py", SWAPPED, client)
    await pulled(uri, client)

    async def hover(uri: str, line: int) -> str:
        params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, 10))
        found: Any = await client.text_document_hover_async(params)
        return "" if found is None else found.contents.value

    text = await hover(uri, 6)
    assert text.startswith("**ML101** embedding-sized-by-features\n\n")
    assert "## Why is this bad" in text
    assert "`nn.Embedding` are swapped" not in text  # which the diagnostic says, and editors show above
    text = await hover(uri, 8)
    assert text.startswith("**norm**\n- class: ")
    assert "- registered: " in text
    assert await hover(uri, 1) == ""
    for name in ("train.py", "hparams.yaml"):
        (tmp_path / name).write_text((EXAMPLES / "speechbrain" / "fixed" / "training" / name).read_text())
    recipe = tmp_path / "hparams.yaml"
    uri = put(recipe, recipe.read_text(), client)
    line = next(n for n, text in enumerate(recipe.read_text().splitlines()) if text.startswith("seq_lin:"))
    text = await hover(uri, line)
    assert "**seq_lin**" in text
    assert "- moved: modules" in text


async def test_documents_that_are_no_files_are_left_alone(client: LanguageClient, tmp_path: Path) -> None:
    item = types.TextDocumentItem("untitled:Untitled-1", "python", 1, SWAPPED)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    item = types.TextDocumentItem((tmp_path / "notes.txt").as_uri(), "plaintext", 1, SWAPPED)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    uri = put(tmp_path / "site-packages" / "model.py", SWAPPED, client)
    other = put(tmp_path / "model.py", SWAPPED, client)
    await pushed(other, {"ML101", "ML204"}, client)
    assert not client.diagnostics.get(uri)
    assert not client.diagnostics.get("untitled:Untitled-1")


async def test_who_asks_is_told_once_and_when_to_ask_again(asking: LanguageClient, tmp_path: Path) -> None:
    """What the editor shows is not pushed as well; a change on one side of a recipe refreshes the other one."""
    fixed = EXAMPLES / "speechbrain" / "fixed" / "training"
    script, recipe = ((fixed / name).read_text() for name in ("train.py", "hparams.yaml"))
    broken = recipe.replace("    ctc_lin: !ref <ctc_lin>\n", "")
    (tmp_path / "hparams.yaml").write_text(broken)
    recipe_uri = (tmp_path / "hparams.yaml").as_uri()
    script_uri = put(tmp_path / "train.py", script, asking)
    assert await pulled(script_uri, asking) == []
    await pushed(recipe_uri, {"ML201"}, asking)  # it is not shown yet
    put(tmp_path / "hparams.yaml", broken, asking)
    await pushed(recipe_uri, set(), asking)
    assert [diagnostic.code for diagnostic in await pulled(recipe_uri, asking)] == ["ML201"]
    before = asking.diagnostic_refresh_count
    edit(script_uri, 2, script.replace("self.hparams.ctc_lin", "self.hparams.enc"), asking)
    for _ in range(10 * PATIENCE):
        if asking.diagnostic_refresh_count > before:
            break
        await asyncio.sleep(0.1)
    assert asking.diagnostic_refresh_count == before + 1
    assert await pulled(recipe_uri, asking) == []
    assert not asking.diagnostics.get(script_uri)
    asking.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(recipe_uri)))
    edit(script_uri, 3, script, asking)
    await pushed(recipe_uri, {"ML201"}, asking)


async def test_a_question_can_be_taken_back(client: LanguageClient, tmp_path: Path) -> None:
    uri = put(tmp_path / "model.py", SWAPPED, client)
    await pulled(uri, client)
    edit(uri, 2, "".join(SWAPPED.replace("Text", f"Text{number}") for number in range(60)), client)  # takes a while
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
    asked = client.protocol.send_request(types.TEXT_DOCUMENT_DIAGNOSTIC, params, msg_id="taken-back")
    client.cancel_request(types.CancelParams("taken-back"))
    with pytest.raises(JsonRpcException, match=r"(?i)cancel"):
        await asyncio.wait_for(asyncio.wrap_future(asked), PATIENCE)
    edit(uri, 3, SWAPPED, client)
    assert {diagnostic.code for diagnostic in await pulled(uri, client)} == {"ML101", "ML204"}


async def test_only_the_last_of_many_changes_has_to_be_checked(client: LanguageClient, tmp_path: Path) -> None:
    uri = put(tmp_path / "model.py", SWAPPED, client)
    for version in range(2, 40):
        edit(uri, version, SWAPPED + "# typed\n" * version, client)
    edit(uri, 40, "x = 1\n", client)
    assert await pulled(uri, client) == []
    await pushed(uri, set(), client)


async def test_each_folder_has_its_own_settings(client: LanguageClient, tmp_path: Path) -> None:
    for name, text in (("one", 'ignore = ["ML101"]\n'), ("two", 'select = ["ML101"]\n')):
        (tmp_path / name).mkdir()
        (tmp_path / name / "modellint.toml").write_text(text)
    one, two = (put(tmp_path / name / "model.py", SWAPPED, client) for name in ("one", "two"))
    assert [diagnostic.code for diagnostic in await pulled(one, client)] == ["ML204"]
    assert [diagnostic.code for diagnostic in await pulled(two, client)] == ["ML101"]


def configured(settings: object, client: LanguageClient, folder: Path | None = None) -> None:
    """The user changes the settings of the editor, for a folder of the workspace or for everything."""
    client.set_configuration(settings, section="modellint", scope_uri=None if folder is None else folder.as_uri())
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))


async def test_settings_of_the_editor_go_on_top_of_those_of_the_project(client: LanguageClient, tmp_path: Path) -> None:
    (tmp_path / "modellint.toml").write_text('ignore = ["ML204"]\n')
    uri = put(tmp_path / "model.py", SWAPPED, client)
    assert [item.code for item in await pulled(uri, client)] == ["ML101"]
    configured({"select": ["ML204"]}, client)
    await pushed(uri, {"ML204"}, client)
    configured({"ignore": ["ML101"]}, client)
    await pushed(uri, set(), client)
    (tmp_path / "other.toml").write_text("")
    configured({"configuration": "other.toml"}, client)
    await pushed(uri, {"ML101", "ML204"}, client)
    configured({"exclude": ["model.py"]}, client)
    await pushed(uri, set(), client)
    configured(None, client)
    await pushed(uri, {"ML101"}, client)


async def test_a_folder_of_the_workspace_has_settings_of_its_own(client: LanguageClient, tmp_path: Path) -> None:
    one, two = (put(tmp_path / name / "model.py", SWAPPED, client) for name in ("one", "two"))
    folder = types.WorkspaceFolder((tmp_path / "two").as_uri(), "two")
    configured({"ignore": ["ML204"]}, client)
    configured({"ignore": ["ML101"]}, client, tmp_path / "two")
    await pushed(two, {"ML101"}, client)
    client.workspace_did_change_workspace_folders(
        types.DidChangeWorkspaceFoldersParams(types.WorkspaceFoldersChangeEvent([folder], []))
    )
    await pushed(two, {"ML204"}, client)
    assert [item.code for item in await pulled(one, client)] == ["ML101"]


async def test_settings_that_are_not_understood_are_told(client: LanguageClient, tmp_path: Path) -> None:
    uri = put(tmp_path / "model.py", SWAPPED, client)
    await pushed(uri, {"ML101", "ML204"}, client)
    for settings, text in (
        (
            {"min-confidense": "low"},
            "the editor's settings: unknown key `min-confidense`; did you mean `min-confidence`?",
        ),
        ({"ignore": "ML101"}, "the editor's settings: `ignore` must be a list of strings, not the string 'ML101'"),
        ({"ignore": ["ML999"]}, "the editor's settings: `ignore`"),
        ([1], "the editor's settings: expected an object with the keys of `[tool.modellint]`, not [1]"),
        (
            {"configuration": 1},
            "the editor's settings: `configuration` must be the path of a configuration file, not 1",
        ),
    ):
        number = len(client.messages)
        configured(settings, client)
        for _ in range(10 * PATIENCE):
            if len(client.messages) > number:
                break
            await asyncio.sleep(0.05)
        assert text in client.messages[-1].message
        assert {item.code for item in await pulled(uri, client)} == {"ML101", "ML204"}
    edit(uri, 2, f"# typed meanwhile\n{SWAPPED}", client)
    configured({"ignore": ["ML101"]}, client)
    (found,) = await pushed(uri, {"ML204"}, client)
    assert found.range.start.line == 8


async def test_what_is_not_understood_is_told_once_and_the_rest_counts(client: LanguageClient, tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    uris = [put(tmp_path / name, SWAPPED, client) for name in ("model.py", "one/model.py")]
    settings = {"ignore": ["ML101"], "unheard-of": 1, "trace": {"server": "off"}, "path": [], "jobs": "two"}
    for _ in range(2):
        configured(settings, client)
        for version, uri in enumerate(uris, 2):
            await pushed(uri, {"ML204"}, client)
            edit(uri, version, f"{SWAPPED}\n", client)
            assert [item.code for item in await pulled(uri, client)] == ["ML204"]
    (message,) = client.messages
    assert "unknown key `unheard-of`" in message.message
    assert "`jobs` must be a whole number from 1 up, not the string 'two'" in message.message
    configured({"enable": False}, client)
    for uri in uris:
        await pushed(uri, set(), client)
    configured(settings, client)
    for uri in uris:
        await pushed(uri, {"ML204"}, client)
    assert [told.message for told in client.messages] == 2 * [message.message]


async def test_what_an_editor_no_longer_says_does_not_count(tmp_path: Path) -> None:
    inside = tmp_path / "folder" / "a.py"
    said = Configuration()
    said.tell({"ignore": ["ML101"]})
    said.answer({None: {"ignore": ["ML204"]}})
    assert said.settings_for(inside).ignore == ("ML204",)
    said.answer({None: None})
    assert said.settings_for(inside).ignore == ("ML101",)
    said.answer({(tmp_path / "folder").as_uri(): {"ignore": ["ML301"]}})
    assert said.settings_for(inside).ignore == ("ML301",)
    assert said.settings_for(tmp_path / "a.py").ignore == ("ML101",)
    said.answer({(tmp_path / "folder").as_uri(): None})
    assert said.settings_for(inside).ignore == ("ML101",)


async def test_settings_that_are_told_unasked(telling: LanguageClient, tmp_path: Path) -> None:
    uri = put(tmp_path / "model.py", SWAPPED, telling)
    assert [item.code for item in await pulled(uri, telling)] == ["ML204"]
    for settings, codes in (
        ({"pylsp": {"plugins": {}}}, {"ML204"}),
        ({"pylsp": {}, "modellint": {"ignore": ["ML204"]}}, {"ML101"}),
        ({"modellint": {}}, {"ML101", "ML204"}),
    ):
        telling.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
        await pushed(uri, codes, telling)


async def test_the_server_ends_in_silence(tmp_path: Path) -> None:
    pipe = asyncio.subprocess.PIPE
    server = await asyncio.create_subprocess_exec(*preloaded.SERVER, stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path)
    messages = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0", **message}) for message in messages]
    sent = "".join(f"Content-Length: {len(body)}\r\n\r\n{body}" for body in bodies)
    _, said = await asyncio.wait_for(server.communicate(sent.encode()), PATIENCE)
    assert (server.returncode, said) == (0, b"")


NOTEBOOK = "file://{}/book.ipynb"
CELL = "vscode-notebook-cell://{}/book.ipynb#W{}"
CLASS = SWAPPED.partition("\n\n\n")[2]


def open_notebook(folder: Path, cells: list[tuple[str, str]], client: LanguageClient) -> list[str]:
    """Open a notebook of cells, each with its language; the URIs of the cells."""
    uris = [CELL.format(folder.as_posix(), number) for number in range(len(cells))]
    kinds = [
        types.NotebookCellKind.Markup if language == "markdown" else types.NotebookCellKind.Code
        for language, _ in cells
    ]
    client.notebook_document_did_open(
        types.DidOpenNotebookDocumentParams(
            types.NotebookDocument(
                NOTEBOOK.format(folder.as_posix()),
                "jupyter-notebook",
                1,
                [types.NotebookCell(kind, uri) for kind, uri in zip(kinds, uris, strict=True)],
            ),
            [types.TextDocumentItem(uri, language, 1, text) for uri, (language, text) in zip(uris, cells, strict=True)],
        )
    )
    return uris


async def test_cells_of_a_notebook_have_their_own_diagnostics(client: LanguageClient, tmp_path: Path) -> None:
    cells = [
        ("markdown", "# Title"),
        ("shellscript", "ls | wc"),
        ("python", "%cd x\nfrom torch import nn"),
        ("python", CLASS),
    ]
    uris = open_notebook(tmp_path, cells, client)
    found = await pushed(uris[3], {"ML101", "ML204"}, client)
    assert sorted((item.code, item.range.start.line) for item in found) == [("ML101", 3), ("ML204", 4)]
    assert [list(client.diagnostics.get(uri, [])) for uri in uris[:3]] == [[], [], []]
    assert [item.code for item in await pulled(uris[3], client)] == [item.code for item in found]
    related = next(item for item in found if item.code == "ML204").related_information
    assert related is not None
    assert related[0].location.uri == uris[3]


async def test_fixes_and_hovers_in_cells(client: LanguageClient, tmp_path: Path) -> None:
    recipe = "%%writefile a.yaml\na: !new:torch.nn.Linear\n    in_features: !ref <b>\n    out_features: 1\n"
    cells = [("python", "from torch import nn"), ("python", CLASS + "!ls\n"), ("python", recipe)]
    uris = open_notebook(tmp_path, cells, client)
    await pushed(uris[1], {"ML101", "ML204"}, client)
    (ignore,) = await actions(uris[2], 2, client, types.CodeActionKind.QuickFix)
    assert ignore.edit is not None
    assert "!ref <b>  # modellint: ignore[ML401]\n" in applied(recipe, ignore.edit)
    fix, ignore = await actions(uris[1], 4, client, types.CodeActionKind.QuickFix)
    assert fix.title == "Wrap it in `nn.ModuleList`"
    assert fix.edit is not None
    assert "self.layers = nn.ModuleList([" in applied(CLASS, fix.edit)
    assert ignore.edit is not None
    assert "for _ in range(2)]  # modellint: ignore[ML204]\n" in applied(CLASS, ignore.edit)
    shown = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(uris[1]), types.Position(5, 14))
    )
    assert isinstance(shown, types.Hover)
    assert isinstance(shown.contents, types.MarkupContent)
    assert shown.contents.value.startswith("**norm**\n- class: ")


async def test_edited_and_closed_notebooks(client: LanguageClient, tmp_path: Path) -> None:
    uris = open_notebook(tmp_path, [("python", "from torch import nn"), ("python", CLASS)], client)
    await pushed(uris[1], {"ML101", "ML204"}, client)
    notebook = types.VersionedNotebookDocumentIdentifier(2, NOTEBOOK.format(tmp_path.as_posix()))
    change = types.NotebookDocumentCellContentChanges(
        types.VersionedTextDocumentIdentifier(2, uris[1]),
        [
            types.TextDocumentContentChangeWholeDocument(
                CLASS.replace("= [nn.", "= nn.ModuleList([nn.").replace(")]", ")])")
            )
        ],
    )
    client.notebook_document_did_change(
        types.DidChangeNotebookDocumentParams(
            notebook,
            types.NotebookDocumentChangeEvent(cells=types.NotebookDocumentCellChanges(text_content=[change])),
        )
    )
    await pushed(uris[1], {"ML101"}, client)
    client.notebook_document_did_close(
        types.DidCloseNotebookDocumentParams(
            types.NotebookDocumentIdentifier(notebook.uri), [types.TextDocumentIdentifier(uri) for uri in uris]
        )
    )
    await pushed(uris[1], set(), client)


async def test_a_notebook_that_is_opened_as_text_has_diagnostics_in_its_json(
    client: LanguageClient, tmp_path: Path
) -> None:
    text = notebook("#md Title", "from torch import nn", CLASS)
    uri = put(tmp_path / "book.ipynb", text, client)
    found = await pushed(uri, {"ML101", "ML204"}, client)
    line = next(number for number, content in enumerate(text.split("\n")) if "self.layers = " in content)
    assert {item.range.start.line for item in found if item.code == "ML204"} == {line}
    (fix,) = await actions(uri, line, client, types.CodeActionKind.QuickFix)
    assert fix.edit is not None
    assert "nn.ModuleList" in sources_of(applied(text, fix.edit))[2]
    edit(uri, 2, text[:-9], client)
    await pushed(uri, {"ML001", "ML101", "ML204"}, client)


async def test_the_server_keeps_nothing_of_changes_that_are_checked(tmp_path: Path) -> None:
    """pygls holds what it answers; of notifications it would hold that for good."""
    server = create()
    for number in range(50):
        document = types.VersionedTextDocumentIdentifier(version=number, uri=(tmp_path / "model.py").as_uri())
        change = types.DidChangeTextDocumentParams(document, [types.TextDocumentContentChangeWholeDocument("x = 1\n")])
        server.protocol._handle_notification(types.TEXT_DOCUMENT_DID_CHANGE, change)
    assert server.protocol._request_futures == {}
