"""Files replaced so that each is either old or new, whatever happens in between."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SUFFIX = ".modellint-tmp"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The content of a file as it was read, and its replacement."""

    path: Path
    before: bytes
    after: bytes


class WriteError(Exception):
    """A file that cannot be replaced; the message names it and says why."""


def write_together(rewrites: Sequence[Rewrite]) -> None:
    """Replace all of the files or, as far as the operating system lets us, none of them.

    The new contents stand on the disk, beside the old ones, before the first file is replaced; if a replacement
    fails, the files replaced before it get their old content back. Raises WriteError.
    """
    staged: list[tuple[Rewrite, Path, Path]] = []
    done: list[tuple[Rewrite, Path]] = []
    try:
        for rewrite in rewrites:
            target = Path(os.path.realpath(rewrite.path))
            with _naming_file(rewrite.path):
                staged.append((rewrite, target, _stage(target, rewrite)))
        for rewrite, target, temporary in staged:
            with _naming_file(rewrite.path):
                os.replace(temporary, target)
            done.append((rewrite, target))
    except BaseException:
        for rewrite, target in done:
            with suppress(OSError):
                os.replace(_copy_beside(target, rewrite.before), target)
        raise
    finally:
        for _, _, temporary in staged:
            temporary.unlink(missing_ok=True)
        for folder in {target.parent for _, target in done}:
            _sync_folder(folder)


@contextmanager
def _naming_file(path: Path) -> Iterator[None]:
    """Turn an error of the operating system into one that names the file."""
    try:
        yield
    except OSError as error:
        raise WriteError(f"{path}: {error.strerror or error}") from None


def _stage(target: Path, rewrite: Rewrite) -> Path:
    """The new content in a file beside the old one, with the same mode and owner."""
    status = target.stat()
    is_read_only = not status.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    if is_read_only or not os.access(target, os.W_OK):  # root may write what nobody should
        raise WriteError(f"{rewrite.path}: the file is read-only; expected one that can be written")
    if status.st_nlink > 1:  # to be replaced takes it from the others, and to be overwritten may end half-way
        reason = (
            f"the file has {status.st_nlink} hard links, of which only one would change; expected a file of its own"
        )
        raise WriteError(f"{rewrite.path}: {reason}")
    if target.read_bytes() != rewrite.before:
        raise WriteError(f"{rewrite.path}: something else has changed the file in the meantime; run modellint again")
    for leftover in _leftovers(target):
        leftover.unlink(missing_ok=True)
    return _copy_beside(target, rewrite.after)


def _copy_beside(target: Path, data: bytes) -> Path:
    temporary = target.with_name(f".{target.name}.{os.getpid()}{_SUFFIX}")
    status = target.stat()
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _copy_owner(target, temporary, status)
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _copy_owner(target: Path, temporary: Path, status: os.stat_result) -> None:
    """Owner, group and extended attributes (access lists among them), as far as we may set them."""
    if sys.platform == "win32":
        return
    for owner, group in ((-1, status.st_gid), (status.st_uid, -1)):
        with suppress(OSError):
            os.chown(temporary, owner, group)
    if sys.platform == "linux":
        with suppress(OSError):
            for name in os.listxattr(target):
                os.setxattr(temporary, name, os.getxattr(target, name))


def _leftovers(target: Path) -> Iterator[Path]:
    """Temporary files beside a file that killed runs have left."""
    start = f".{target.name}."
    for path in target.parent.iterdir():
        name = path.name
        if name.startswith(start) and name.endswith(_SUFFIX):
            number = name[len(start) : -len(_SUFFIX)]
            if number.isdigit() and not _is_running(int(number)):
                yield path


def _is_running(process: int) -> bool:
    if process == os.getpid():
        return False
    if sys.platform == "win32":  # where asking would end the process
        return True
    try:
        os.kill(process, 0)
    except OverflowError:
        return False
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


def _sync_folder(folder: Path) -> None:
    if sys.platform == "win32":
        return
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
