"""The state of one editor: its documents and the findings shown. Checks run in one thread, beside the protocol's.

Diagnostics are pushed, or given to editors that ask for them, which are told when to ask again. A change that comes
while an older one is being looked at goes first, and that is given up; what was asked for in between is answered once
everything is checked.
Nothing is said of a document before its present text is checked.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import queue
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from modellint.config.errors import UsageError
from modellint.flow.shapes.shown import UNKNOWN
from modellint.home import page_of
from modellint.link.budget import SupersededError
from modellint.reading.discovery import glob_matcher
from modellint.reading.model_folders import is_part
from modellint.results.failures import Crash
from modellint.server.aside import Aside
from modellint.server.configuration import Configuration
from modellint.server.documents import Workspace
from modellint.server.hints import has_hint, hints, in_lines, tensor_at
from modellint.server.hover import layer_text, rule_text, tensor_text
from modellint.server.notebooks import SYNC, Placed, as_file, cells_of, key_of, line_in_module
from modellint.server.protocol import SOURCE, Converter, path_of, touches, uri_of
from modellint.server.questions import Question, Questions
from modellint.server.rpc import Protocol
from modellint.server.session import Session
from modellint.server.shown import Shown, Text, Told, encode, text_of
from modellint.server.written import Written
from modellint.source import NOTEBOOK, YAML, Place, SourceFile, kind_of
from modellint.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from modellint.finding import Finding
    from modellint.flow.shapes.shown import TensorExpression
    from modellint.pipeline.analyser import FileResult
    from modellint.server.notebooks import CellDocument
    from modellint.source import Span

T = TypeVar("T")
log = logging.getLogger(__name__)
CONFIGURATION = ("pyproject.toml", "modellint.toml")
#: Seconds without work after which memory of old checks is freed, and the checks after which it is freed in any case.
_IDLE, _MANY_CHECKS = 2.0, 20
#: Seconds for which a large file must be unchanged to be checked: not every key press starts a process.
_PAUSE = 0.3
#: Seconds within which an editor has to send its settings.
_PATIENCE = 10.0
#: The error code of the specification for a request that the server could not answer.
_SERVER_CANCELLED = -32802


class Server(LanguageServer):
    """The state of one editor's session."""

    protocol: Protocol

    def __init__(self) -> None:
        super().__init__(SOURCE, __version__, notebook_document_sync=SYNC, protocol_cls=Protocol)
        self.shown = Shown()
        self._uris: dict[str, str] = {}
        self._texts: dict[str, Text] = {}
        self._cells: dict[str, tuple[CellDocument, ...]] = {}
        self._keys: dict[str, str] = {}
        self._configuration = Configuration()
        self._sessions: dict[tuple[Path, Path | None], Session] = {}
        #: By document: how to open it again, for all that the editor has open, excluded ones too.
        self._again: dict[str, Callable[[], None]] = {}
        self._owners: dict[str, Session] = {}
        self._told = Told()
        self._aside: tuple[Aside, Session] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._questions = Questions(self._in_loop)
        #: By file: its content when hints were shown, and the tensors that have one; and if the editor shall ask again.
        self._hinted: dict[str, tuple[bytes | None, list[TensorExpression] | list[tuple[Span, str]]]] = {}
        self._asks_for_hints = self._are_hints_old = False
        #: Complaints about settings that were shown: each is shown once, not with every key press.
        self._complaints: set[str] = set()
        self._is_dirty = False
        self._checks = 0
        self._thread = threading.Thread(target=self._run, name="check", daemon=True)

    # -- called by the protocol's thread ---------------------------------------------------------------------------

    @property
    def documents(self) -> Workspace:
        """The editor's open documents."""
        assert isinstance(self.workspace, Workspace)
        return self.workspace

    def begin(self) -> None:
        self._loop = asyncio.get_running_loop()
        if not self._thread.ident:  # it is begun once
            self._thread.start()

    def end(self) -> None:
        self._work.put(None)

    def take_settings(self, table: Any) -> None:
        """Take settings that the editor sent, for all folders; None if it sent none."""
        self.submit(lambda: self._repeat_complaints(self._configuration.tell(table)))

    async def configure(self) -> None:
        """Ask the editor for the settings of each folder, and take them."""
        tables: dict[str | None, Any] = {}
        if self.knows("workspace", "configuration"):
            uris: list[str | None] = [folder.uri for folder in self.workspace.folders.values()] or [None]
            items = [types.ConfigurationItem(uri, SOURCE) for uri in uris]
            asked = self.workspace_configuration_async(types.ConfigurationParams(items))
            try:
                tables = dict(zip(uris, await asyncio.wait_for(asked, _PATIENCE), strict=False))
            except (asyncio.TimeoutError, JsonRpcException, TypeError) as error:
                log.warning("the editor does not tell its settings: %r", error)
                return
        self.submit(lambda: self._take_answers(tables))

    def submit(self, work: Callable[[], None]) -> None:
        """Let the checking thread do something before it goes on checking."""
        self._work.put(work)

    async def up_to_date(self, answer: Callable[[], Any], key: str | None = None, *, is_slow: bool = False) -> Any:
        """The result of `answer`, run in the checking thread once everything is checked, after those that are not slow.

        Large files are waited for only by a question that is about them, the document `key`.
        """
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.submit(lambda: self._questions.add(Question(future, key, answer, is_slow)))
        return await future

    async def at_once(self, answer: Callable[[], Any]) -> Any:
        """The result of `answer`, run in the checking thread before anything more is checked."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        question = Question(future, None, answer, is_slow=False)

        def work() -> None:
            self._questions.answer_now(question)

        self.submit(work)
        self._supersede()
        return await future

    def document_changed(self, uri: str) -> None:
        """Handle a document that was opened or edited."""
        path, document = path_of(uri), self.documents.document_at(uri)
        if path is None or document is None:
            return
        if kind_of(Path(path).name) is None and not is_part(Path(path).name):
            return
        self._uris[path] = uri
        version, text = document.version, document.source
        self.submit(lambda: self._open(path, version, text))
        self._supersede()

    def document_closed(self, uri: str) -> None:
        """Handle a document or a notebook that was closed."""
        path = path_of(uri)
        if path is not None:
            self.submit(lambda: self._close(path))

    def notebook_changed(self, uri: str) -> None:
        """Handle a notebook that was opened or edited."""
        path, cells = path_of(uri), cells_of(self.documents, uri)
        if path is not None and cells is not None:
            self._keys.update({cell.uri: key_of(path, cell) for cell in cells})
            self.submit(lambda: self._open_notebook(path, cells))
            self._supersede()

    def _supersede(self) -> None:
        """Let the checking thread give up its present check, and handle the changes first."""
        for session in tuple(self._sessions.values()):
            session.supersede()

    def key_of(self, uri: str) -> str | None:
        """The key of a document: its path; a cell of a notebook has a key of its own."""
        return self._keys.get(uri) or path_of(uri)

    def require(self, uri: str, place: types.Range) -> None:
        """Raises JsonRpcInvalidParams for a range that runs backwards, or has lines that an open document has not.

        It may end where the next line would begin; columns beyond the end of a line mean that end, as LSP has it.
        """
        start, end = place.start, place.end
        if (end.line, end.character) < (start.line, start.character):
            raise JsonRpcInvalidParams("`range` ends before it starts")
        document = self.documents.document_at(uri)
        if document is not None and end.line > len(document.lines):
            raise JsonRpcInvalidParams(f"line {end.line} is not there; the document has {len(document.lines)}")

    # -- called by the checking thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        gc.disable()  # a collection takes longer than a check: it waits for a pause
        while self._take_work():
            session = self._outdated_session()
            if session is not None:
                self._safely(session.check)
                self._checks += 1
            if session is not None or self._is_dirty:
                self._safely(self._publish)
                self._is_dirty = False
            if self._outdated_session() is None and self._work.empty():
                self._answer()
                self._safely(self._renew_hints)
        self._stop_aside()

    def _take_work(self) -> bool:
        """Do the submitted work; if there is nothing to check, wait for it. False when it is time to end."""
        works: list[Callable[[], None] | None] = []
        if self._aside is None:
            self._safely(self._begin_aside)
        if self._outdated_session() is None:
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
        """The next piece of work; memory of old checks is freed in a pause, or after many checks."""
        if self._aside is None and any(session.waits for session in self._sessions.values()):
            with contextlib.suppress(queue.Empty):
                return self._work.get(timeout=_PAUSE)
            return lambda: None
        if self._checks < _MANY_CHECKS:
            with contextlib.suppress(queue.Empty):
                return self._work.get(timeout=_IDLE)
        if self._checks:
            for session in self._sessions.values():
                session.tidy()
            gc.collect()
            self._checks = 0
        return self._work.get()

    def _outdated_session(self) -> Session | None:
        return next((session for session in self._sessions.values() if session.is_outdated), None)

    def _begin_aside(self) -> None:
        """Start the check of a large file that nobody has edited for a moment."""
        for session in self._sessions.values():
            task = session.aside(_PAUSE)
            if task is not None:
                self._aside = Aside(task, lambda *done: self.submit(lambda: self._end_aside(*done))), session
                return

    def _end_aside(self, aside: Aside, result: FileResult | None) -> None:
        """Take the result of checking a large file; if the file was changed meanwhile, it is dropped."""
        if self._aside is None or self._aside[0] is not aside:
            return
        _, session = self._aside
        self._aside = None
        session.take(aside.path, result)
        if result is None:
            self._tell(f"{aside.path}: not checked, since the process that does it ended", types.MessageType.Warning)
        self._is_dirty = True

    def _stop_aside(self, path: str | None = None) -> None:
        """Stop the check of a large file: of the one at `path`, whose text has changed, or of any."""
        if self._aside is not None and path in (None, self._aside[0].path.as_posix()):
            self._aside[0].stop()
            self._aside = None

    def _safely(self, work: Callable[[], object]) -> None:
        """Run `work`; an error of ours is reported, and costs this work, not the server."""
        try:
            work()
        except UsageError as error:
            self._complain(str(error), types.MessageType.Error)
        except Exception:
            log.exception("internal error")
            self._tell("modellint: internal error; the log of the server has it", types.MessageType.Warning)

    def _complain(self, complaint: str, kind: types.MessageType = types.MessageType.Warning) -> None:
        """Show a complaint about settings, once."""
        if complaint not in self._complaints:
            self._complaints.add(complaint)
            self._tell(complaint, kind)

    def _tell(self, message: str, kind: types.MessageType) -> None:
        self._in_loop(lambda: self.window_show_message(types.ShowMessageParams(kind, message)))

    def _in_loop(self, call: Callable[[], object]) -> None:
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it may be closed by now
                self._loop.call_soon_threadsafe(call)

    def _answer(self) -> None:
        """Answer the requests that wait for no check, the slow ones as long as nothing else is to be done."""

        def has_to_wait(one: Question) -> bool:
            return (one.is_slow and not self._work.empty()) or (one.key is not None and self._is_aside(one.key))

        if self._questions.answer(has_to_wait):
            self.submit(lambda: None)  # the change may have been handled by now

    def _renew_hints(self) -> None:
        """Let the editor ask again if other hints are to be shown, as another file or a setting has changed."""
        if not (self._hinted or self._are_hints_old) or not self.knows("workspace", "inlay_hint", "refresh_support"):
            return
        for file, (data, known) in list(self._hinted.items()):
            session = self._owners.get(file)
            if session is None or session.contents().read(Path(file)) != data:
                del self._hinted[file]  # the editor asks again for a text of its own
            elif not self._are_hints_old and self._work.empty():
                try:
                    now = self._hinted_in(file, session)
                except SupersededError:
                    self.submit(lambda: None)
                    return
                self._hinted[file] = data, now
                self._are_hints_old = now != known
        if self._are_hints_old:
            self._are_hints_old = False
            self._in_loop(lambda: self.workspace_inlay_hint_refresh(None))

    def _open(self, path: str, version: int | None, text: str) -> None:
        self._again[path] = partial(self._open, path, version, text)
        self._stop_aside(path)
        session = self._session(Path(path))
        if session is None:
            return
        self._texts[path] = text_of(path, version, text)
        self._owners[path] = session
        session.open(Path(path), encode(path, text))

    def _open_notebook(self, path: str, cells: tuple[CellDocument, ...]) -> None:
        self._again[path] = partial(self._open_notebook, path, cells)
        self._stop_aside(path)
        self._forget_cells(path)
        session = self._session(Path(path))
        if session is None:
            return
        self._cells[path] = cells
        self._owners[path] = session
        for cell in cells:
            key = key_of(path, cell)
            self._uris[key] = cell.uri
            self._texts[key] = Text(cell.version, SourceFile(Path(key), cell.text), path)
            self._owners[key] = session
        session.open(Path(path), as_file(cells))

    def _forget_cells(self, path: str) -> None:
        for cell in self._cells.pop(path, ()):
            self._texts.pop(key_of(path, cell), None)
            self._owners.pop(key_of(path, cell), None)

    def _session(self, path: Path) -> Session | None:
        """The session of a file's project; None for a file that the settings say is not to be checked."""
        settings = self._configuration.settings_for(path, self._complain)
        if settings is None:
            return None
        key = (settings.source or settings.root, self._configuration.folder_of(path))
        if key not in self._sessions:
            session = self._sessions[key] = Session(settings)
            session.on_first_answer = lambda: self._safely(self._publish)
        session = self._sessions[key]
        is_excluded = glob_matcher(settings.exclude + settings.extend_exclude, settings.root)
        return None if any(is_excluded(part.as_posix()) for part in (path, *path.parents)) else session

    def _close(self, path: str) -> None:
        self._again.pop(path, None)
        self._texts.pop(path, None)
        self._stop_aside(path)
        self._forget_cells(path)
        session = self._owners.pop(path, None)
        self._is_dirty = True
        if session is not None:
            session.close(Path(path))

    def files_changed(self, paths: Sequence[str]) -> None:
        """Handle changes on disk of files, or of folders with them."""
        if any(os.path.basename(path) in CONFIGURATION for path in paths):
            self._begin_anew()
            return
        for session in self._sessions.values():
            for path in paths:
                session.touch(Path(path))

    def _take_answers(self, tables: dict[str | None, Any]) -> None:
        """Take the editor's settings for each folder, and begin anew."""
        self._repeat_complaints(self._configuration.answer(tables))
        self._begin_anew()

    def _repeat_complaints(self, are_others: bool) -> None:
        """If the editor's settings have changed, show complaints about them again."""
        if are_others:
            self._complaints.clear()

    def _begin_anew(self) -> None:
        """Begin anew, since settings have changed."""
        self._stop_aside()
        for known in (self._sessions, self._owners, self._texts, self._cells, self._hinted):
            known.clear()
        self._are_hints_old = self._asks_for_hints
        self._is_dirty = True
        for again in list(self._again.values()):
            self._safely(again)

    def _is_checked(self, key: str) -> bool:
        return self._owners[key].is_checked(Path(self._texts[key].file))

    def _is_aside(self, key: str) -> bool:
        return key in self._texts and self._owners[key].is_aside(Path(self._texts[key].file))

    def _publish(self) -> None:
        """Send the editor the changed findings of checked documents, and of files that it has not open."""
        texts = dict(self._texts)
        unchecked = {key for key in texts if not self._is_checked(key)}
        found: dict[str, list[Finding]] = {key: [] for key in texts if key not in unchecked}
        for session in self._sessions.values():
            for finding in self._findings(session):
                if finding.path not in unchecked:
                    found.setdefault(finding.path, []).append(finding)
            self._tell_news(session)
        shown = Shown(found, texts)
        # An editor that pulls the diagnostics of its documents would show pushed ones twice.
        asks = self.knows("textDocument", "diagnostic")
        pushed = {key: of_key for key, of_key in found.items() if not (asks and key in texts)}
        messages = [
            self._diagnostics(key, pushed.get(key, ()), shown) for key in self._told.news(pushed, unchecked, shown)
        ]
        can_refresh = asks and self.knows("workspace", "diagnostics", "refresh_support")
        refresh = self._outdated_session() is None and self._told.settle(shown) and can_refresh

        def send() -> None:
            self.shown = shown
            for message in messages:
                self.text_document_publish_diagnostics(message)
            if refresh:
                self.workspace_diagnostic_refresh(None)

        self._in_loop(send)

    def _tell_news(self, session: Session) -> None:
        """Log crashes, which cost no finding of another rule or file, and files that are not checked."""
        for item in session.news():
            if isinstance(item, Crash):
                log.error("%s\n%s", item, item.traceback)
                self._note(f"{item.path}: {item.message}", types.MessageType.Error)
            else:
                self._note(f"{item.path}: not checked: {item.reason}", types.MessageType.Info)

    def _note(self, message: str, kind: types.MessageType) -> None:
        self._in_loop(lambda: self.window_log_message(types.LogMessageParams(kind, message)))

    def _diagnostics(self, key: str, findings: Sequence[Finding], shown: Shown) -> types.PublishDiagnosticsParams:
        with_related = self.knows("textDocument", "publish_diagnostics", "related_information")
        converter = self.converter(shown)
        diagnostics = [converter.diagnostic(finding, with_related=with_related) for finding in findings]
        return types.PublishDiagnosticsParams(self._uri(key), diagnostics, shown.version(key))

    def _findings(self, session: Session) -> list[Finding]:
        """The findings of a session, at places that the editor knows."""
        placed = Placed(session.contents(), self._cells)
        return list(map(placed.finding, session.findings()))

    # -- for both --------------------------------------------------------------------------------------------------

    def knows(self, *names: str) -> bool:
        """True if the editor has a capability, given by nested names."""
        value: Any = self.client_capabilities
        for name in names:
            value = getattr(value, {"textDocument": "text_document"}.get(name, name), None)
        return bool(value)

    def _uri(self, path: str) -> str:
        """The URI by which the editor knows a file."""
        return self._uris.get(path) or uri_of(path)

    def converter(self, shown: Shown) -> Converter:
        return Converter(self.workspace.position_codec, shown.source, self._uri, self._page_of)

    def _page_of(self, code: str) -> str | None:
        """The address of the page about a rule; None if the editor cannot follow it, or there is none."""
        if not self.knows("textDocument", "publish_diagnostics", "code_description_support"):
            return None
        known = (session.rules.rules.get(code) for session in list(self._owners.values()))
        rule = next((rule for rule in known if rule is not None), None)
        return None if rule is None else page_of(type(rule))

    def diagnostics_of(self, key: str) -> list[types.Diagnostic]:
        """For the checking thread: the diagnostics of one document as they are now."""
        session = self._owners.get(key)
        if session is None or key not in self._texts:
            return []
        if not self._is_checked(key):
            raise JsonRpcException("it could not be checked", _SERVER_CANCELLED, {"retriggerRequest": False})
        converter = self.converter(Shown({}, dict(self._texts)))
        found = [finding for finding in self._findings(session) if finding.path == key]
        return [converter.diagnostic(finding, with_related=True) for finding in found]

    def hover_at(self, key: str, position: types.Position) -> types.Hover | None:
        """For the checking thread: the hover text at a position; None if there is none. Raises SupersededError."""
        session = self._owners.get(key)
        if session is None:
            return None
        tensor = tensor_at(self._tensors_in(key, session), position, self._ranges_in(key))
        if tensor is not None and tensor[0].words == UNKNOWN:
            tensor = None
        texts = [] if tensor is None else [tensor_text(tensor[0])]
        texts += self._texts_about(key, position.line + 1, session)
        written = self.document_at(key)
        about = None if tensor is not None or written is None else written.hover(position)
        found = tensor[1] if tensor is not None else None
        if about is not None:
            texts, found = [about[0], *texts], about[1]
        content = types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n".join(texts))
        return types.Hover(content, found) if texts else None

    def document_at(self, key: str) -> Written | None:
        """For the checking thread: a document with its project; None for a cell of a notebook, and if none is open."""
        session, text = self._owners.get(key), self._texts.get(key)
        if session is None or text is None or text.file != key:
            return None
        return Written(session, text, self.converter(Shown({}, dict(self._texts))))

    def _texts_about(self, key: str, line: int, session: Session) -> list[str]:
        """The hover texts of a line, from 1."""
        found = [f.code for f in self._findings(session) if f.path == key and touches(f.span, line, line)]
        if found:
            rules = (session.rules.rules.get(code) for code in dict.fromkeys(found))
            return [rule_text(rule) for rule in rules if rule is not None]
        file, line = self._in_file(key, line, session)
        text = session.ask(lambda project: layer_text(Path(file), line, project))
        return [text] if text else []

    def class_at(self, key: str, line: int) -> str | None:
        """For the checking thread: the innermost class around a line, from 0; None if there is none."""
        session = self._owners.get(key)
        if session is None:
            return None
        file, at = self._in_file(key, line + 1, session)
        module = session.ask(lambda project: project.python(Path(file)))
        found = (
            [] if module is None else [one for one in module.classes.items() if one[1].line <= at <= one[1].end_line]
        )
        return max(found, key=lambda one: one[1].line)[0] if found else None

    def ask_written(self, key: str, question: Callable[[Written, T], Any], about: T) -> Any:
        """For the checking thread: the answer to a question about a document; None if it is not open."""
        written = self.document_at(key)
        return None if written is None else question(written, about)

    def hints_in(self, key: str, wanted: types.Range) -> list[types.InlayHint]:
        """For the checking thread: the inlay hints in a range of a document. Raises SupersededError."""
        self._asks_for_hints = True
        session, text = self._owners.get(key), self._texts.get(key)
        if session is None or text is None or not self._configuration.wants_hints(Path(text.file)):
            return []
        found = self._tensors_in(key, session)
        written = self.document_at(key) if kind_of(text.file) == YAML else None
        self._hinted[text.file] = session.contents().read(Path(text.file)), self._hinted_in(text.file, session)
        return written.hints(wanted) if written is not None else list(hints(found, wanted, self._ranges_in(key)))

    def _hinted_in(self, file: str, session: Session) -> list[TensorExpression] | list[tuple[Span, str]]:
        """The tensors of a file that have a hint; of a configuration the references with their values."""
        written = self.document_at(file) if kind_of(file) == YAML else None
        if written is not None:
            return written.values()
        return list(filter(has_hint, self._tensors_of(file, session)))

    def _tensors_of(self, file: str, session: Session) -> Sequence[TensorExpression]:
        try:
            return session.tensors(Path(file))
        except Exception:
            log.exception("internal error")
            return ()

    def _tensors_in(self, key: str, session: Session) -> list[TensorExpression]:
        """The tensors in a document, by its own lines; none in the JSON of a notebook."""
        text = self._texts.get(key)
        if text is None or (kind_of(text.file) == NOTEBOOK and text.file not in self._cells):
            return []
        file, first = self._in_file(key, 1, session)
        return in_lines(self._tensors_of(file, session), first, len(text.source.lines))

    def _ranges_in(self, key: str) -> Callable[[Span], types.Range]:
        converter = self.converter(Shown({}, dict(self._texts)))
        return lambda span: converter.range(Place(key, span))

    def _in_file(self, key: str, line: int, session: Session) -> tuple[str, int]:
        """The file that a document belongs to, and the line in its code of a line of the document."""
        for path, cells in self._cells.items():
            for number, cell in enumerate(cells, 1):
                if key_of(path, cell) == key:
                    return path, line_in_module(path, number, line, session.contents())
        return key, line
