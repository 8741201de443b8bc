"""The language server: a handler for each message of the editor."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types

from modellint.server.actions import actions
from modellint.server.commands import add_commands
from modellint.server.editor import CONFIGURATION, Server
from modellint.server.protocol import SOURCE, path_of
from modellint.server.written import TRIGGERS, Written
from modellint.source import PYTHON, YAML, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
#: For a folder that is created, deleted or renamed, editors send this message only.
_FOLDERS = types.FileOperationRegistrationOptions(
    [types.FileOperationFilter(types.FileOperationPattern("**", types.FileOperationPatternKind.Folder), "file")]
)
_WATCHED = ("**/*.py", "**/*.ipynb", "**/*.yaml", "**/*.yml", "**/pyproject.toml", "**/modellint.toml")


def create() -> Server:
    """A server that is ready to be started on stdin and stdout."""
    server = Server()

    async def ask(
        ls: Server, uri: str, position: types.Position, question: Callable[[Written, types.Position], Any]
    ) -> Any:
        """The answer to a question about a position in a document. Raises JsonRpcInvalidParams for a line too far."""
        ls.require(uri, types.Range(position, position))
        key = ls.key_of(uri)
        return None if key is None else await ls.at_once(lambda: ls.ask_written(key, question, position))

    async def ask_config(ls: Server, uri: str, question: Callable[[Written], list[T]]) -> list[T]:
        """The answer to a question about a configuration; none is asked about other files."""
        key = ls.key_of(uri)
        if key is None or kind_of(Path(key).name) != YAML:
            return []
        # Editors ask after each change, so a check need not wait for it.
        found = await ls.up_to_date(lambda: ls.ask_written(key, call, question), is_slow=True)
        return found or []

    def call(written: Written, question: Callable[[Written], Any]) -> Any:
        return question(written)

    def touched(*uris: str) -> None:
        paths = [path for uri in uris if (path := path_of(uri)) is not None]
        server.submit(lambda: server.files_changed(paths))

    @server.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        ls.protocol.keep_documents(params.workspace_folders or ())
        options = params.initialization_options
        ls.take_settings(options.get(SOURCE, options) if isinstance(options, dict) else options)

    @server.feature(types.INITIALIZED)
    async def initialized(ls: Server, params: types.InitializedParams) -> None:
        wishes: list[types.Registration] = []
        if ls.knows("workspace", "did_change_watched_files", "dynamic_registration"):
            watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
            watched = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            wishes.append(types.Registration("watch", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, watched))
        if ls.knows("workspace", "did_change_configuration", "dynamic_registration"):
            changed = types.DidChangeConfigurationRegistrationOptions(SOURCE)
            wishes.append(types.Registration("settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, changed))
        if wishes:
            ls.client_register_capability(types.RegistrationParams(wishes))
        await ls.configure()
        ls.begin()

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def did_change_workspace_folders(ls: Server, params: types.DidChangeWorkspaceFoldersParams) -> None:
        await ls.configure()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(ls: Server, params: types.DidChangeConfigurationParams) -> None:
        # Editors that can be asked may send nothing, or the settings of all servers.
        ls.take_settings(params.settings.get(SOURCE) if isinstance(params.settings, dict) else None)
        await ls.configure()

    @server.feature(types.SHUTDOWN)
    def shutdown(ls: Server, params: None) -> None:
        ls.end()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        ls.document_changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        ls.document_changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        ls.document_closed(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def did_open_notebook(ls: Server, params: types.DidOpenNotebookDocumentParams) -> None:
        ls.notebook_changed(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def did_change_notebook(ls: Server, params: types.DidChangeNotebookDocumentParams) -> None:
        ls.notebook_changed(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def did_close_notebook(ls: Server, params: types.DidCloseNotebookDocumentParams) -> None:
        ls.document_closed(params.notebook_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        if os.path.basename(path_of(params.text_document.uri) or "") in CONFIGURATION:
            touched(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
        touched(*(change.uri for change in params.changes))

    @server.feature(types.WORKSPACE_DID_CREATE_FILES, _FOLDERS)
    def did_create_files(ls: Server, params: types.CreateFilesParams) -> None:
        touched(*(file.uri for file in params.files))

    @server.feature(types.WORKSPACE_DID_DELETE_FILES, _FOLDERS)
    def did_delete_files(ls: Server, params: types.DeleteFilesParams) -> None:
        touched(*(file.uri for file in params.files))

    @server.feature(types.WORKSPACE_DID_RENAME_FILES, _FOLDERS)
    def did_rename_files(ls: Server, params: types.RenameFilesParams) -> None:
        touched(*(uri for file in params.files for uri in (file.old_uri, file.new_uri)))

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier=SOURCE),
    )
    async def diagnostic(ls: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        path = ls.key_of(params.text_document.uri)
        found = [] if path is None else await ls.up_to_date(lambda: ls.diagnostics_of(path), path)
        return types.RelatedFullDocumentDiagnosticReport(found or [])

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        ls.require(params.text_document.uri, types.Range(params.position, params.position))
        path = ls.key_of(params.text_document.uri)
        if path is None:
            return None
        hover: types.Hover | None = await ls.up_to_date(lambda: ls.hover_at(path, params.position), is_slow=True)
        return hover

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION,
        types.CompletionOptions(trigger_characters=list(TRIGGERS), resolve_provider=True),
    )
    async def completion(ls: Server, params: types.CompletionParams) -> list[types.CompletionItem]:
        uri = params.text_document.uri
        is_config = kind_of(Path(ls.key_of(uri) or "").name) in (YAML, PYTHON)  # nothing is asked about other files
        found = await ask(ls, uri, params.position, Written.complete) if is_config else None
        return found or []

    @server.feature(types.COMPLETION_ITEM_RESOLVE)
    async def completion_resolve(ls: Server, item: types.CompletionItem) -> types.CompletionItem:
        data = item.data if isinstance(item.data, dict) else {}
        name, key = data.get("of"), data.get("in")
        if isinstance(name, str) and isinstance(key, str):
            text = await ls.at_once(lambda: ls.ask_written(key, Written.resolve, name))
            if text is not None:
                item.documentation = types.MarkupContent(types.MarkupKind.Markdown, text)
        return item

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(ls: Server, params: types.DefinitionParams) -> list[types.Location]:
        found = await ask(ls, params.text_document.uri, params.position, Written.definition)
        return found or []

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    async def references(ls: Server, params: types.ReferenceParams) -> list[types.Location]:
        find = partial(Written.references, with_definition=params.context.include_declaration)
        found = await ask(ls, params.text_document.uri, params.position, find)
        return found or []

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def document_symbol(ls: Server, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        return await ask_config(ls, params.text_document.uri, Written.symbols)

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_LINK, types.DocumentLinkOptions())
    async def document_link(ls: Server, params: types.DocumentLinkParams) -> list[types.DocumentLink]:
        return await ask_config(ls, params.text_document.uri, Written.links)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hint(ls: Server, params: types.InlayHintParams) -> list[types.InlayHint]:
        ls.require(params.text_document.uri, params.range)
        path = ls.key_of(params.text_document.uri)
        found = None if path is None else await ls.up_to_date(lambda: ls.hints_in(path, params.range), is_slow=True)
        return found or []

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]),
    )
    async def code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        ls.require(params.text_document.uri, params.range)
        path = ls.key_of(params.text_document.uri)
        if path is None:
            return []
        await ls.up_to_date(lambda: None)
        return actions(ls, path, params)

    add_commands(server)
    return server
