"""The chat templates of a folder, and the code that `auto_map` names.

transformers takes `chat_template.jinja` before `chat_template` of `tokenizer_config.json`, and `chat_template.json` for
a processor. Templates with names stand in a list, or in `additional_chat_templates/`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from modellint.folders.tokenizers import CONFIG
from modellint.folders.values import mapping_of
from modellint.source import Place, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.folders.folder import ModelFolder
    from modellint.folders.values import Keys

KEY: Final = "chat_template"
_FILE: Final = "chat_template.jinja"
_JSON: Final = "chat_template.json"
#: The files in which `auto_map` names classes of the folder's own code.
_MAPS: Final = (
    "config.json",
    CONFIG,
    "preprocessor_config.json",
    "processor_config.json",
    "image_processor_config.json",
)


class ChatTemplate(NamedTuple):
    """A template: its text, its file, and the keys that lead to it if the file is JSON."""

    text: str
    file: str
    keys: Keys = ()

    def place(self, folder: ModelFolder, at: int) -> Place:
        """The place of a character; of the key of the template if the file is JSON."""
        document = folder.json(self.file) if self.keys else None
        if document is not None:
            return document.place(*self.keys)
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        return Place(folder.place(self.file).path, Span(line, column, line, column + 1))

    def line(self, at: int) -> int:
        """The line of the template in which a character stands."""
        return self.text.count("\n", 0, at) + 1


def chat_templates(folder: ModelFolder) -> list[ChatTemplate]:
    """The chat templates that a folder has. Those that another file replaces are left out."""
    found = list(_files(folder))
    if any(one.file == _FILE for one in found):
        return found
    for file in (CONFIG, _JSON):
        found += _values(mapping_of(folder, file).get(KEY), file)
    return found


def _files(folder: ModelFolder) -> Iterator[ChatTemplate]:
    text = folder.text(_FILE) if _FILE in folder.names else None
    if text is not None:
        yield ChatTemplate(text, _FILE)


def _values(value: Any, file: str) -> Iterator[ChatTemplate]:
    if isinstance(value, str):
        yield ChatTemplate(value, file, (KEY,))
    for number, entry in enumerate(value if isinstance(value, list) else ()):
        text = entry.get("template") if isinstance(entry, dict) else None
        if isinstance(text, str):
            yield ChatTemplate(text, file, (KEY, number, "template"))


class OwnClass(NamedTuple):
    """A class that `auto_map` names in the folder's own code: the name of its file, and its own."""

    module: str
    name: str
    file: str
    keys: Keys

    @property
    def reference(self) -> str:
        """The class as `auto_map` writes it."""
        return f"{self.module.removesuffix('.py')}.{self.name}"


def own_classes(folder: ModelFolder) -> Iterator[OwnClass]:
    """The classes that `auto_map` names in files of the folder itself, and not of a repository (`repo--file.Class`)."""
    for file in _MAPS:
        entries = mapping_of(folder, file).get("auto_map") if file in folder.names else None
        for key, value in entries.items() if isinstance(entries, dict) else ():
            listed = value if isinstance(value, list) else [value]
            for number, one in enumerate(listed):
                if not isinstance(one, str) or "--" in one or one.count(".") != 1:
                    continue
                module, _, name = one.partition(".")
                keys = ("auto_map", key, number) if isinstance(value, list) else ("auto_map", key)
                yield OwnClass(f"{module}.py", name, file, keys)


def defines(text: str, name: str) -> bool | None:
    """True if a module of Python gives a name at its top level; None if it cannot be known."""
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    names: set[str] = set()
    pending = list(module.body)
    while pending:
        statement = pending.pop()
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(statement.name)
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            names.update(alias.asname or alias.name.partition(".")[0] for alias in statement.names)
        else:
            # A condition, a loop or an assignment: every name that stands for a target.
            parts = [node for node in ast.walk(statement) if node is not statement]
            names.update(node.id for node in parts if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
            pending += [node for node in parts if isinstance(node, ast.stmt)]
    return None if "*" in names else name in names
