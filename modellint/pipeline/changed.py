"""Changes since a git revision, and the results that they concern."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.config.errors import UsageError
from modellint.graph.immutable import dataclass
from modellint.reading import git
from modellint.reading.files import PART, read_file
from modellint.reading.mentioning import Changed

if TYPE_CHECKING:
    from modellint.pipeline.analyser import FileResult


@dataclass(frozen=True, slots=True)
class Changes:
    """Files that differ from a revision, as absolute paths with `/`, and keys of dependencies that this may change."""

    revision: str
    files: frozenset[str]
    keys: frozenset[str]
    contents: Changed

    def concern(self, result: FileResult) -> bool:
        """True if a result may differ from the one at the revision: its file or one of its dependencies changed."""
        return result.path in self.files or result.rests_on(self.keys, self.contents)


def changes_since(revision: str, folder: Path) -> Changes:
    """The changes in the repository of `folder` since it left `revision`, those not committed and new files too.

    Raises UsageError where git is missing, the folder is in no repository, or no commit has that name.
    """
    top = Path(_git(folder, "rev-parse", "--show-toplevel").rstrip("\n"))
    if revision.startswith("-"):
        raise UsageError(f"--changed-since: `{revision}` is no revision; expected a commit, a branch or a tag")
    _git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", missing=revision)
    base = _git(folder, "merge-base", revision, "HEAD", missing=revision).strip()
    fields = _git(top, "diff", "--name-status", "--no-renames", "-z", base).split("\0")[:-1]
    statuses = dict(zip(fields[1::2], fields[::2], strict=True))
    new = _git(top, "ls-files", "--others", "--exclude-standard", "-z").split("\0")[:-1]
    statuses.update(dict.fromkeys(new, "A"))
    files: set[str] = set()
    keys: set[str] = set()
    for name, status in statuses.items():
        path = top / name
        files.add(path.as_posix())
        keys.update((f"file:{path.as_posix()}", f"{PART}{path.as_posix()}"))
        if status != "M":
            keys.update((f"is-file:{path.as_posix()}", f"dir:{path.parent.as_posix()}"))
            keys.update(f"is-dir:{parent.as_posix()}" for parent in path.parents if parent != top)

    @cache
    def contents() -> dict[Path, tuple[bytes, bytes]]:
        return {top / name: (_before(top, base, name), _now(top / name)) for name in statuses if name.endswith(".py")}

    return Changes(revision, frozenset(files), frozenset(keys), Changed(contents))


def _before(top: Path, base: str, name: str) -> bytes:
    """The content of a file in a commit; empty if it did not exist."""
    return git.run(top, "show", f"{base}:{name}").stdout


def _now(path: Path) -> bytes:
    try:
        return read_file(path)
    except OSError:
        return b""


def _git(folder: Path, *arguments: str, missing: str = "") -> str:
    """The output of a git command. Raises UsageError, about the revision `missing` if one is given."""
    try:
        done = git.run(folder, *arguments)
    except OSError as error:
        raise UsageError(f"--changed-since: git cannot be run: {error.strerror}") from None
    if done.returncode == 0:
        return done.stdout.decode("utf-8", "surrogateescape")
    if missing:
        raise UsageError(f"--changed-since: git knows no commit `{missing}` with a history in common with this one")
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    raise UsageError(f"--changed-since: {folder}: {said[-1] if said else 'git failed'}")
