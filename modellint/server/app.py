"""The language server: what the editor says and is told. Checking is done in one thread, beside the protocol's.

Diagnostics are pushed, or given to editors that ask for them, which are told when to ask again. A change that comes
while an older one is being looked at goes first; what was asked for in between is answered once everything is checked.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import logging
import os
import queue
import threading
import tokenize
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

import modellint
from modellint.config import UsageError
from modellint.discovery import glob_matcher
from modellint.finding import Applicability
from modellint.fix.edits import EditError, changes_of, edits_by_path
from modellint.ignoring import ignore_edit
from modellint.reporters import decoded_lines
from modellint.server.configuration import Configuration
from modellint.server.hover import finding_text, layer_text
from modellint.server.notebooks import SYNC, Placed, as_file, cells_of, key_of, line_in_module, without_magics
from modellint.server.protocol import SOURCE, Converter, path_of, touches, uri_of
from modellint.server.session import Session
from modellint.source import NOTEBOOK, PYTHON, SourceFile, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from concurrent.futures import Future

    from modellint.finding import Edit, Finding
    from modellint.server.notebooks import CellDocument

log = logging.getLogger(__name__)
_CONFIGURATION = ("pyproject.toml", "modellint.toml")
_WATCHED = ("**/*.py", "**/*.ipynb", "**/*.yaml", "**/*.yml", "**/pyproject.toml", "**/modellint.toml")
#: Seconds without work after which the garbage of the last checks is collected, and how many may come before that.
_IDLE, _MANY_CHECKS = 2.0, 20
#: Seconds that an editor has to tell its settings.
_PATIENCE = 10.0


@dataclass(frozen=True)
class Shown:
    """What the editor was last told: findings by path, and the texts and versions that they are about."""

    findings: dict[str, list[Finding]] = field(default_factory=dict)
    texts: dict[str, tuple[int | None, str]] = field(default_factory=dict)

    def source(self, path: Path) -> SourceFile:
        """The text of a file as the editor has it, or as it is on disk."""
        shown = self.texts.get(path.as_posix())
        return SourceFile(path, "".join(decoded_lines(path)) if shown is None else shown[1])

    def is_news_after(self, before: Shown) -> bool:
        """Whether there are other findings in a document that is the same: one that it is linked with has changed."""
        return any(
            before.texts.get(path) == text and before.findings.get(path, []) != self.findings.get(path, [])
            for path, text in self.texts.items()
        )


class Protocol(LanguageServerProtocol):
    """pygls' protocol, which would remember each notification for good (2.1.1): two KiB for every key typed."""

    def _check_handler_result(self, future: Future[Any]) -> None:
        super()._check_handler_result(future)
        for message in [message for message, other in self._request_futures.items() if other is future]:
            del self._request_futures[message]


class Server(LanguageServer):
    """The state of one editor's session."""

    def __init__(self) -> None:
        super().__init__(SOURCE, modellint.__version__, notebook_document_sync=SYNC, protocol_cls=Protocol)
        self.shown = Shown()
        self._settled = self.shown
        self._uris: dict[str, str] = {}
        self._texts: dict[str, tuple[int | None, str]] = {}
        self._cells: dict[str, tuple[CellDocument, ...]] = {}
        self._keys: dict[str, str] = {}
        self._configuration = Configuration()
        self._sessions: dict[tuple[Path, Path | None], Session] = {}
        #: How each document that the editor has open is opened again, those that are excluded too.
        self._again: dict[str, Callable[[], None]] = {}
        self._owners: dict[str, Session] = {}
        self._published: set[str] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._waiting: list[tuple[asyncio.Future[Any], Callable[[], Any]]] = []
        self._complaint = ""
        self._is_dirty = False
        self._checks = 0
        self._thread = threading.Thread(target=self._run, name="check", daemon=True)

    # -- called by the protocol's thread ---------------------------------------------------------------------------

    def begin(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    def end(self) -> None:
        self._work.put(None)

    def told(self, table: Any) -> None:
        """The editor has told its settings, for all folders; None where it has said nothing of them."""
        self.submit(lambda: self._configuration.tell(table))

    async def configure(self) -> None:
        """Take the editor's settings, which may be new, after asking for those of each folder."""
        tables: dict[str | None, Any] = {}
        if self.knows("workspace", "configuration"):
            uris: list[str | None] = [*self.workspace.folders] or [None]
            items = [types.ConfigurationItem(uri, SOURCE) for uri in uris]
            asked = self.workspace_configuration_async(types.ConfigurationParams(items))
            try:
                tables = dict(zip(uris, await asyncio.wait_for(asked, _PATIENCE), strict=False))
            except (asyncio.TimeoutError, JsonRpcException):
                log.exception("the editor does not tell its settings")
                return
        self.submit(lambda: self._configured(tables))

    def submit(self, work: Callable[[], None]) -> None:
        """Have something done by the checking thread, before it goes on checking."""
        self._work.put(work)

    async def up_to_date(self, answer: Callable[[], Any]) -> Any:
        """What `answer` gives, in the checking thread, once everything is checked."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.submit(lambda: self._waiting.append((future, answer)))
        return await future

    def opened(self, uri: str) -> None:
        """A document was opened or edited."""
        path = path_of(uri)
        if path is None or kind_of(Path(path).name) is None:
            return
        self._uris[path] = uri
        document = self.workspace.get_text_document(uri)
        self.submit(lambda: self._open(path, document.version, document.source))

    def closed(self, uri: str) -> None:
        """A document or a notebook was closed."""
        path = path_of(uri)
        if path is not None:
            self.submit(lambda: self._close(path))

    def notebook_changed(self, uri: str) -> None:
        """A notebook was opened or edited."""
        path, cells = path_of(uri), cells_of(self.workspace, uri)
        if path is not None and cells is not None:
            self._keys.update({cell.uri: key_of(path, cell) for cell in cells})
            self.submit(lambda: self._open_notebook(path, cells))

    def key_of(self, uri: str) -> str | None:
        """What a document is called here: its path; a cell of a notebook has a name of its own."""
        return self._keys.get(uri) or path_of(uri)

    # -- called by the checking thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        gc.disable()  # a collection takes longer than a check: it waits for a pause
        while self._take_work():
            session = self._outdated()
            if session is not None:
                self._safely(session.check)
                self._checks += 1
            if session is not None or self._is_dirty:
                self._safely(self._publish)
                self._is_dirty = False
            if self._outdated() is None and self._work.empty():
                self._answer()

    def _take_work(self) -> bool:
        """Do what was submitted; if there is nothing to check, wait for it. False when it is time to end."""
        works: list[Callable[[], None] | None] = []
        if self._outdated() is None:
            works.append(self._wait())
        with contextlib.suppress(queue.Empty):
            while True:
                works.append(self._work.get_nowait())
        for work in works:
            if work is None:
                return False
            self._safely(work)
        return True

    def _wait(self) -> Callable[[], None] | None:
        """The next piece of work; what is needed no more goes in a pause, or when there is a lot of it."""
        if self._checks < _MANY_CHECKS:
            with contextlib.suppress(queue.Empty):
                return self._work.get(timeout=_IDLE)
        if self._checks:
            for session in self._sessions.values():
                session.tidy()
            gc.collect()
            self._checks = 0
        return self._work.get()

    def _outdated(self) -> Session | None:
        return next((session for session in self._sessions.values() if session.is_outdated), None)

    def _safely(self, work: Callable[[], object]) -> None:
        """A failure of ours is told, and costs what was being done, not the server."""
        try:
            work()
        except UsageError as error:
            if str(error) != self._complaint:  # once, not with every key
                self._complaint = str(error)
                self._tell(str(error), types.MessageType.Error)
        except Exception:
            log.exception("internal error")
            self._tell("modellint: internal error; the log of the server has it", types.MessageType.Warning)

    def _tell(self, message: str, kind: types.MessageType) -> None:
        self._in_loop(lambda: self.window_show_message(types.ShowMessageParams(kind, message)))

    def _in_loop(self, call: Callable[[], object]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call)

    def _answer(self) -> None:
        waiting, self._waiting = self._waiting, []
        for future, answer in waiting:
            if future.cancelled():
                continue
            result: Any = None
            try:
                result = answer()
            except Exception:
                log.exception("internal error")
            self._in_loop(partial(_settle, future, result))

    def _open(self, path: str, version: int | None, text: str) -> None:
        self._again[path] = partial(self._open, path, version, text)
        session = self._session(Path(path))
        if session is None:
            return
        self._texts[path] = (version, text)
        self._owners[path] = session
        session.open(Path(path), _encoded(path, text))

    def _open_notebook(self, path: str, cells: tuple[CellDocument, ...]) -> None:
        self._again[path] = partial(self._open_notebook, path, cells)
        self._forget_cells(path)
        session = self._session(Path(path))
        if session is None:
            return
        self._cells[path] = cells
        self._owners[path] = session
        for cell in cells:
            key = key_of(path, cell)
            self._uris[key] = cell.uri
            self._texts[key] = (cell.version, cell.text)
            self._owners[key] = session
        session.open(Path(path), as_file(cells))

    def _forget_cells(self, path: str) -> None:
        for cell in self._cells.pop(path, ()):
            self._texts.pop(key_of(path, cell), None)
            self._owners.pop(key_of(path, cell), None)

    def _session(self, path: Path) -> Session | None:
        """The session of a file's project; None for a file that the project's settings exclude."""
        settings = self._configuration.settings_for(path)
        key = (settings.source or settings.root, self._configuration.folder_of(path))
        if key not in self._sessions:
            self._sessions[key] = Session(settings)
        session = self._sessions[key]
        is_excluded = glob_matcher(settings.exclude + settings.extend_exclude, settings.root)
        return None if any(is_excluded(part.as_posix()) for part in (path, *path.parents)) else session

    def _close(self, path: str) -> None:
        self._again.pop(path, None)
        self._texts.pop(path, None)
        self._forget_cells(path)
        session = self._owners.pop(path, None)
        self._is_dirty = True
        if session is not None:
            session.close(Path(path))

    def _touched(self, paths: Sequence[str]) -> None:
        """Files changed on disk."""
        if any(os.path.basename(path) in _CONFIGURATION for path in paths):
            self._begin_anew()
            return
        for session in self._sessions.values():
            for path in paths:
                session.touch(Path(path))

    def _configured(self, tables: dict[str | None, Any]) -> None:
        """The editor's settings are known, or others than before."""
        self._configuration.answer(tables)
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Settings that changed make everything anew."""
        for known in (self._sessions, self._owners, self._texts, self._cells):
            known.clear()
        self._is_dirty = True
        for again in list(self._again.values()):
            self._safely(again)

    def _publish(self) -> None:
        """Tell the editor what there is now, and of files that had findings and have none any more."""
        by_path: dict[str, list[Finding]] = {path: [] for path in self._texts}
        for session in self._sessions.values():
            for finding in self._findings(session):
                by_path.setdefault(finding.path, []).append(finding)
        shown = Shown(by_path, dict(self._texts))
        # An editor that asks for the diagnostics of what it shows would have them twice.
        asks = self.knows("textDocument", "diagnostic")
        pushed = [path for path in by_path if not (asks and path in self._texts)]
        gone = self._published.difference(pushed)
        self._published = set(pushed)
        converter = self.converter(shown)
        with_related = self.knows("textDocument", "publish_diagnostics", "related_information")
        messages = [
            types.PublishDiagnosticsParams(
                self._uri(path),
                [] if path in gone else [converter.diagnostic(one, with_related=with_related) for one in by_path[path]],
                shown.texts.get(path, (None, ""))[0],
            )
            for path in (*pushed, *sorted(gone))
        ]
        is_settled = self._outdated() is None
        can_refresh = asks and self.knows("workspace", "diagnostics", "refresh_support")

        def send() -> None:
            self.shown = shown
            for message in messages:
                self.text_document_publish_diagnostics(message)
            if is_settled:
                if can_refresh and shown.is_news_after(self._settled):
                    self.workspace_diagnostic_refresh(None)
                self._settled = shown

        self._in_loop(send)

    def _findings(self, session: Session) -> list[Finding]:
        """What a session has found, at places that the editor knows."""
        placed = Placed(session.contents(), self._cells)
        return list(map(placed.finding, session.findings()))

    # -- for both --------------------------------------------------------------------------------------------------

    def knows(self, *names: str) -> bool:
        """Whether the editor's capabilities say yes to `names`, one inside of the other."""
        value: Any = self.client_capabilities
        for name in names:
            value = getattr(value, {"textDocument": "text_document"}.get(name, name), None)
        return bool(value)

    def _uri(self, path: str) -> str:
        """The URI by which the editor knows a file."""
        return self._uris.get(path) or uri_of(path)

    def converter(self, shown: Shown) -> Converter:
        return Converter(self.workspace.position_codec, lambda path: shown.source(Path(path)).lines, self._uri)

    def diagnostics_of(self, path: str) -> list[types.Diagnostic]:
        """For the checking thread: the diagnostics of one file as they are now."""
        session = self._owners.get(path)
        if session is None:
            return []
        converter = self.converter(Shown({}, dict(self._texts)))
        found = [finding for finding in self._findings(session) if finding.path == path]
        return [converter.diagnostic(finding, with_related=True) for finding in found]

    def hover_at(self, path: str, line: int) -> str | None:
        """For the checking thread: what there is to say about a line, from 1, as Markdown."""
        session = self._owners.get(path)
        if session is None:
            return None
        found = [f for f in self._findings(session) if f.path == path and touches(f.span, line, line)]
        if found:
            return "\n\n---\n".join(finding_text(finding, session.rules.rules.get(finding.code)) for finding in found)
        file, line = self._in_file(path, line, session)
        return session.ask(lambda project: layer_text(Path(file), line, project))

    def _in_file(self, key: str, line: int, session: Session) -> tuple[str, int]:
        """The file that a document belongs to, and the line of its code that a line of the document is."""
        for path, cells in self._cells.items():
            for number, cell in enumerate(cells, 1):
                if key_of(path, cell) == key:
                    return path, line_in_module(path, number, line, session.contents())
        return key, line


def _encoded(path: str, text: str) -> bytes:
    """The bytes of a text as a file would hold them: Python says in the first lines how it is encoded."""
    data = text.encode("utf-8", "surrogatepass")
    if b"coding" not in data[:1024] or kind_of(Path(path).name) != PYTHON:
        return data
    try:
        return text.encode(tokenize.detect_encoding(io.BytesIO(data).readline)[0])
    except (SyntaxError, UnicodeEncodeError):
        return data


def _settle(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():  # the editor may have lost interest
        future.set_result(result)


def fix_all(findings: Iterable[Finding], source_of: Callable[[Path], SourceFile]) -> list[Edit]:
    """The edits of all safe fixes that do not touch one another."""
    chosen: list[Edit] = []
    for finding in findings:
        if finding.fix is None or finding.fix.applicability is not Applicability.SAFE:
            continue
        together = list(dict.fromkeys((*chosen, *finding.fix.edits)))
        try:
            for path, edits in edits_by_path(together).items():
                changes_of(source_of(path), edits)
        except EditError:
            continue
        chosen = together
    return chosen


def create() -> Server:
    """A server that is ready to be started on stdin and stdout."""
    server = Server()

    @server.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        options = params.initialization_options
        ls.told(options.get(SOURCE, options) if isinstance(options, dict) else options)

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
        ls.told(params.settings.get(SOURCE) if isinstance(params.settings, dict) else None)
        await ls.configure()

    @server.feature(types.SHUTDOWN)
    def shutdown(ls: Server, params: None) -> None:
        ls.end()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        ls.opened(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        ls.opened(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        ls.closed(params.text_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def did_open_notebook(ls: Server, params: types.DidOpenNotebookDocumentParams) -> None:
        ls.notebook_changed(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def did_change_notebook(ls: Server, params: types.DidChangeNotebookDocumentParams) -> None:
        ls.notebook_changed(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def did_close_notebook(ls: Server, params: types.DidCloseNotebookDocumentParams) -> None:
        ls.closed(params.notebook_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        path = path_of(params.text_document.uri)
        if path is not None and os.path.basename(path) in _CONFIGURATION:
            ls.submit(lambda: ls._touched([path]))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
        paths = [path for change in params.changes if (path := path_of(change.uri)) is not None]
        ls.submit(lambda: ls._touched(paths))

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier=SOURCE),
    )
    async def diagnostic(ls: Server, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        path = ls.key_of(params.text_document.uri)
        found = [] if path is None else await ls.up_to_date(lambda: ls.diagnostics_of(path))
        return types.RelatedFullDocumentDiagnosticReport(found or [])

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        path = ls.key_of(params.text_document.uri)
        if path is None:
            return None
        text = await ls.up_to_date(lambda: ls.hover_at(path, params.position.line + 1))
        return None if not text else types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]),
    )
    async def code_action(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        path = ls.key_of(params.text_document.uri)
        if path is None:
            return []
        await ls.up_to_date(lambda: None)
        return _actions(ls, path, params)

    return server


def _actions(ls: Server, path: str, params: types.CodeActionParams) -> list[types.CodeAction]:
    """For the lines that are selected: fix a finding, fix all of the file, ignore a finding."""
    shown = ls.shown
    findings = shown.findings.get(path, [])
    if (
        path not in shown.texts
        or shown.texts[path][0] != ls.workspace.get_text_document(params.text_document.uri).version
    ):
        return []
    converter = ls.converter(shown)
    wanted = params.context.only

    def is_wanted(kind: str) -> bool:
        return wanted is None or any(kind == only or kind.startswith(f"{only}.") for only in wanted)

    def edit(edits: Iterable[Edit]) -> types.WorkspaceEdit:
        return converter.workspace_edit(edits, lambda name: shown.texts.get(name, (None, ""))[0])

    actions: list[types.CodeAction] = []
    first, last = params.range.start.line + 1, params.range.end.line + 1
    source = shown.source(Path(path))
    commented = without_magics(source) if path_of(params.text_document.uri) is None else source
    for finding in findings if is_wanted(types.CodeActionKind.QuickFix) else ():
        if not touches(finding.span, first, last):
            continue
        about = [converter.diagnostic(finding, with_related=True)]
        if finding.fix is not None:
            is_safe = finding.fix.applicability is Applicability.SAFE
            actions.append(
                types.CodeAction(
                    f"{finding.fix.message}" + ("" if is_safe else " (unsafe: needs a look)"),
                    types.CodeActionKind.QuickFix,
                    about,
                    is_preferred=is_safe,
                    edit=edit(finding.fix.edits),
                )
            )
        comment = None if kind_of(path) == NOTEBOOK else ignore_edit(commented, finding)  # JSON has no comments
        if comment is not None:
            title = f"Ignore {finding.code} on this line"
            actions.append(types.CodeAction(title, types.CodeActionKind.QuickFix, about, edit=edit([comment])))
    all_edits = fix_all(findings, shown.source) if is_wanted(types.CodeActionKind.SourceFixAll) else []
    if all_edits:
        actions.append(
            types.CodeAction(
                "Fix all that modellint can fix safely", types.CodeActionKind.SourceFixAll, edit=edit(all_edits)
            )
        )
    return actions
