"""Messages of the editor, and the errors of LSP 3.17 for those that are invalid or come at the wrong time."""

from __future__ import annotations

import json
import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol

from modellint.server.documents import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from concurrent.futures import Future

    from cattrs import Converter
    from pygls.lsp.server import LanguageServer

log = logging.getLogger(__name__)


class Protocol(LanguageServerProtocol):
    """pygls' protocol (2.1.1), extended by the errors here; pygls would also store each notification for good."""

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.when_over: Callable[[int], object] = lambda code: None

    def keep_documents(self, folders: Sequence[types.WorkspaceFolder]) -> None:
        """Use the documents of `modellint.server.documents` from now on."""
        known = self.workspace
        self._workspace = Workspace(
            known.root_uri, workspace_folders=folders, position_encoding=known.position_encoding
        )

    @property
    def exit_code(self) -> int:
        """The server's exit status when the editor leaves: 0 after `shutdown`, else 1."""
        return 0 if self._shutdown else 1

    def receive(self, body: bytes) -> None:
        """Handle one message; answer with an error if it is invalid."""
        try:
            data = json.loads(body)
        except (ValueError, RecursionError) as error:
            self.refuse(JsonRpcParseError(f"not JSON: {error}"))
            return
        if not _is_message(data):
            expected = "expected an object with `jsonrpc` 2.0, and a `method` or the `id` of what it answers"
            self.refuse(JsonRpcInvalidRequest(expected), data.get("id") if isinstance(data, dict) else None)
        elif "method" not in data:
            self._take_answer(data)
        elif data["method"] == types.EXIT:
            self.when_over(self.exit_code)
        else:
            self._take(data, data["method"])

    def refuse(self, error: JsonRpcException, number: object = None) -> None:
        """Answer with an error; of a message that was not understood nobody knows the `id`."""
        number = number if _is_id(number) else None
        answer = {"code": error.code, "message": error.message}
        self._send_data({"jsonrpc": self.VERSION, "id": number, "error": answer})

    def _take(self, data: dict[str, Any], method: str) -> None:
        is_request = "id" in data
        try:
            self._admit(method)
            message = self._message(data, is_request)
            if method == types.SHUTDOWN:  # pygls' own loop over what is in flight loses its way when that ends
                for future in list(self._request_futures.values()):
                    future.cancel()
            self.handle_message(message)
        except JsonRpcException as error:
            if is_request:
                self.refuse(error, data["id"])
            elif isinstance(error, JsonRpcInvalidParams):
                log.warning("%s is ignored: %s", method, error.message)

    def _admit(self, method: str) -> None:
        """Raises the error for a message that may not come now."""
        if self._shutdown:
            raise JsonRpcInvalidRequest("the server is shut down; expected `exit`")
        if self._workspace is None and method != types.INITIALIZE:
            raise JsonRpcServerNotInitialized("expected `initialize` first")
        if self._workspace is not None and method == types.INITIALIZE:
            raise JsonRpcInvalidRequest("`initialize` was sent before; expected it once")
        if method not in (types.CANCEL_REQUEST, *self.fm.builtin_features, *self.fm.features):
            raise JsonRpcMethodNotFound.of(method)

    def _message(self, data: dict[str, Any], is_request: bool) -> Any:
        try:
            message: Any = self._converter.structure(data, types.METHOD_TO_TYPES[data["method"]][0])
        except Exception as error:  # whatever a value of another kind leads to
            raise JsonRpcInvalidParams(f"the parameters of `{data['method']}` are not those of LSP 3.17") from error
        if is_request != hasattr(message, "id"):
            raise JsonRpcInvalidRequest(f"`{data['method']}` is {'no request' if is_request else 'a request'}")
        return message

    def _take_answer(self, data: dict[str, Any]) -> None:
        """Pass on the editor's answer to a request."""
        try:
            message = self.structure_message(data)
        except JsonRpcException:
            error = types.ResponseError(JsonRpcInternalError.CODE, "the answer is not what LSP 3.17 has")
            message = types.ResponseErrorMessage(data["id"], error)
        self.handle_message(message)

    def _run_generator(
        self, future: Future[Any] | None, *, gen: Generator[Any, Any, Any], result_future: Future[Any]
    ) -> None:
        if future is not None and future.cancelled():  # which is no Exception, and pygls does not expect it
            gen.close()
            result_future.cancel()
            return
        known = set(self._request_futures)
        super()._run_generator(future, gen=gen, result_future=result_future)
        for step in [one for message, one in self._request_futures.items() if message not in known]:
            # A request that is cancelled cancels the step that it waits for, which pygls lets run on.
            result_future.add_done_callback(partial(_cancel_too, step))

    def _check_handler_result(self, future: Future[Any]) -> None:
        super()._check_handler_result(future)
        for message in [message for message, other in self._request_futures.items() if other is future]:
            del self._request_futures[message]


def _cancel_too(step: Future[Any], result: Future[Any]) -> None:
    if result.cancelled():
        step.cancel()


def _is_message(data: object) -> bool:
    if not isinstance(data, dict) or data.get("jsonrpc") != LanguageServerProtocol.VERSION:
        return False
    if "method" in data:
        return isinstance(data["method"], str) and ("id" not in data or _is_id(data["id"]))
    return _is_id(data.get("id")) and ("result" in data or "error" in data)


def _is_id(value: object) -> bool:
    return isinstance(value, (int, str)) and not isinstance(value, bool)
