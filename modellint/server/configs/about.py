"""The text that an editor shows about a place of a configuration, as Markdown, and where its subject is defined."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modellint.server.configs.subjects import (
    ArgumentSubject,
    EntrySubject,
    FileSubject,
    KeySubject,
    NameSubject,
    ReferenceSubject,
    start_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.link.project import Project
    from modellint.server.configs.callables import Callable
    from modellint.server.configs.subjects import Subject
    from modellint.server.configs.trees import Key
    from modellint.source import Place


def text_about(subject: Subject, project: Project) -> str | None:
    """The text about a place; None if nothing is known that does not stand there."""
    match subject:
        case NameSubject(_, _, known):
            return None if known is None else text_of(known, project)
        case ArgumentSubject(_, argument, callee, key):
            parts = [_code(argument.words), f"of `{callee.name}`"]
            parts += [_value(key)] if key is not None and key.value else []
            return "\n\n".join(parts)
        case ReferenceSubject(_, text, None, (), is_missing):
            return f"`{text}` is not there" if is_missing else None
        case ReferenceSubject(_, _, key, others):
            found = others if key is None else (key,)
            return "\n\n".join(f"{_path(one)}\n\n{_value(one)}{_from(one, project)}" for one in found)
        case KeySubject(_, key, written):
            is_told = not key.value or key.value == " ".join(written.split())
            return None if is_told else f"{_path(key)}\n\n{_value(key)}{_from(key, project)}"
        case EntrySubject():
            return _of_entry(subject, project)
        case FileSubject(_, file):
            return f"`{shown_path(file, project)}`"
    return None


def places_of(subject: Subject) -> Iterator[Place]:
    """The places at which what a place is about is defined."""
    match subject:
        case NameSubject(_, _, known) if known is not None and known.place is not None:
            yield known.place
        case ArgumentSubject(_, argument, callee, _):
            place = argument.place or callee.place
            if place is not None:
                yield place
        case ReferenceSubject(_, _, None, others):
            yield from (one.place for one in others)
        case ReferenceSubject(_, _, key) | KeySubject(_, key) if key is not None:
            yield key.place
        case EntrySubject(_, _, files):
            for _, file in files:
                yield start_of(file)
        case FileSubject(_, file):
            yield start_of(file)


def text_of(known: Callable, project: Project) -> str:
    """The signature and the first paragraph of a class or function, and the file that it is from."""
    parts = [_code(known.signature), *([known.text] if known.text else [])]
    if known.place is not None:
        parts.append(f"`{shown_path(Path(known.place.path), project)}`")
    return "\n\n".join(parts)


def shown_path(file: Path, project: Project) -> str:
    """A path from the root of the project, if it is in there."""
    root = project.options.root
    return file.relative_to(root).as_posix() if root in file.parents else file.as_posix()


def _of_entry(entry: EntrySubject, project: Project) -> str:
    chosen = [f"`{shown_path(file, project)}`" for _, file in entry.files]
    lines = [", ".join(chosen) if chosen else "no such file"]
    others = [name for name in entry.options if name not in (entry.choice.names or ())]
    if others:
        lines.append(f"also there: {', '.join(f'`{name}`' for name in others)}")
    return "\n\n".join(lines)


def _path(key: Key) -> str:
    return f"**{'.'.join(map(str, key.path))}**" if key.path else "the whole configuration"


def _value(key: Key) -> str:
    return f"```yaml\n{key.value}\n```" if key.value else ""


def _from(key: Key, project: Project) -> str:
    return f"\n\n`{shown_path(Path(key.place.path), project)}`, line {key.place.span.line}"


def _code(text: str) -> str:
    return f"```python\n{text}\n```"
