"""Paths → files to check.

Files that are named are always checked. Folders are walked, without following links to folders; what `.gitignore`
files (at every level, up to the top of the repository) and the `exclude` settings name is left out, and so are the
examples of rules, which are mistakes on purpose. A folder of a published model is one file to check, the one that
describes it. Its weights count whether git ignores them or not: they are mostly too large for a repository.
"""

from __future__ import annotations

import errno
import fnmatch
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from modellint.config import DEFAULT_INCLUDES
from modellint.config.errors import UsageError
from modellint.reading.example_folders import EXAMPLES, TITLES, is_rule_folder
from modellint.reading.model_folders import MARKERS, is_part, marker_in
from modellint.source import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from modellint.config import Settings


#: The mode of a repository inside of another one.
_REPOSITORY = "160000"
#: The warning of git for a folder that it cannot list.
_UNLISTED = re.compile(rb"^warning: could not open directory '([^\n]*)': ([^\n]*)$", re.MULTILINE)


def discover(
    paths: Iterable[Path], settings: Settings, on_unlisted: Callable[[str, OSError], None] = lambda folder, error: None
) -> tuple[list[Path], list[Path]]:
    """The files to check below `paths`, sorted and each once, and the named files that are no source of ours.

    In a repository git says which files of a folder there are, elsewhere the folders do, without what `.gitignore`
    hides. A named file is there whatever is excluded, unless `force-exclude` is set; for a part of a published model it
    is the file that describes the model. Told of folders that cannot be
    listed. Raises UsageError for a path that cannot be checked.
    """
    is_excluded = glob_matcher(settings.exclude + settings.extend_exclude, settings.root)
    is_included = None if settings.include == DEFAULT_INCLUDES else glob_matcher(settings.includes, settings.root)
    walker = _Walker(is_excluded, is_included, on_unlisted, asks_git=settings.respect_gitignore)
    named: list[str] = []
    skipped: list[Path] = []
    for path in paths:
        absolute = os.path.abspath(path)
        if settings.force_exclude and is_left_out(absolute, settings.root, is_excluded):
            continue
        if os.path.isdir(absolute):
            _check_listable(path, absolute)
            walker.walk(absolute)
        elif not os.path.lexists(absolute):
            raise UsageError(f"{path}: {_why_missing(absolute)}")
        elif not os.path.exists(absolute):
            raise UsageError(f"{path}: a link that leads nowhere; expected a file or a folder")
        elif not os.path.isfile(absolute):
            raise UsageError(f"{path}: neither a file nor a folder")
        elif not os.access(absolute, os.R_OK):
            raise UsageError(f"{path}: cannot be read: {os.strerror(errno.EACCES)}")
        elif kind_of(absolute) is not None:
            named.append(absolute)
        elif (marker := marker_around(absolute)) is not None:
            named.append(marker)
        else:
            skipped.append(Path(path))
    return [Path(path) for path in sorted({*walker.files(), *named})], skipped


def is_left_out(path: str | Path, root: Path, is_excluded: Callable[[str], bool]) -> bool:
    """True if a path, or one of the folders around it below `root`, is excluded."""
    file = Path(os.path.normpath(path))
    if not file.is_relative_to(root):
        return is_excluded(file.as_posix())
    below = [file, *file.parents][: len(file.parts) - len(root.parts)]
    return any(is_excluded(part.as_posix()) for part in below)


def _is_source(name: str) -> bool:
    """True if a file of this name may be checked."""
    return kind_of(name) is not None or name in MARKERS


def _stands_alone(path: str) -> bool:
    """True if a file is a source by its kind, or stands for the folder of a published model."""
    if kind_of(path) is not None:
        return True
    folder, _, name = path.rpartition("/")
    return name == _marker_in(folder)


def marker_around(path: str) -> str | None:
    """The file that stands for the published model that a file is a part of; None if there is none.

    Components of a pipeline, and extra chat templates, lie in folders of it.
    """
    folder, _, name = path.rpartition("/")
    if not is_part(name):
        return None
    for around in (folder, os.path.dirname(folder)):
        marker = _marker_in(around)
        if marker is not None:
            return os.path.join(around, marker)
    return None


def _marker_in(folder: str) -> str | None:
    try:
        return marker_in(set(os.listdir(folder or "/")))
    except OSError:
        return None


def _check_listable(path: Path, folder: str) -> None:
    try:
        os.scandir(folder).close()
    except OSError as error:
        raise UsageError(f"{path}: the folder cannot be listed: {error.strerror}") from None


def _why_missing(path: str) -> str:
    """Why a path cannot be checked: it does not exist, or it cannot be looked at."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        pass
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return "no such file or folder"


def glob_matcher(patterns: Sequence[str], root: Path) -> Callable[[str], bool]:
    """A function that tells whether a path matches one of `patterns`.

    A pattern without `/` matches a name at any depth, one with `/` the path below `root`; `*` also crosses `/`, and
    `**/` is any number of folders.
    """
    names = {pattern for pattern in patterns if not re.search(r"[/*?\[]", pattern)}
    globs = [_glob_regex(pattern) for pattern in patterns if pattern not in names]
    expression = re.compile("|".join(globs)) if globs else None
    prefix = root.as_posix().rstrip("/") + "/"

    def matches(path: str) -> bool:
        if path[path.rfind("/") + 1 :] in names:
            return True
        return expression is not None and bool(expression.match(path.removeprefix(prefix)))

    return matches


#: Any number of folders, or none.
_FOLDERS = "(?:.*/)?"


def _glob_regex(pattern: str) -> str:
    body = pattern.removeprefix("./").strip("/").removesuffix("/**")
    anywhere = "/" not in body or body.startswith("**/")
    inner = fnmatch.translate(body.removeprefix("**/").replace("/**/", "/\0")).replace("\0", _FOLDERS)
    return (_FOLDERS if anywhere else "") + inner


class _Ignores:
    """The `.gitignore` files that apply in a folder: its own on top of those of the folders above."""

    def __init__(self, folder: str, outer: _Ignores | None) -> None:
        import pathspec

        self._start = len(folder.rstrip("/")) + 1
        self._outer = outer
        with open(os.path.join(folder, ".gitignore"), encoding="utf-8", errors="surrogateescape") as file:
            self._patterns = [
                (pattern.regex, pattern.include)
                for pattern in pathspec.GitIgnoreSpec.from_lines(file).patterns
                if isinstance(pattern, pathspec.RegexPattern) and pattern.regex and pattern.include is not None
            ]
        # Most paths match nothing, and one expression tells so several times faster than one for each pattern.
        bodies = (re.sub(r"\(\?P<\w+>", "(?:", regex.pattern) for regex, _ in self._patterns)
        self._any = re.compile("|".join(f"(?:{body})" for body in bodies))

    def matches(self, path: str, is_folder: bool) -> bool:
        """True if `path` is ignored: the last matching pattern decides, the innermost file first."""
        name = path[self._start :] + ("/" if is_folder else "")
        if self._any.search(name):
            for regex, include in reversed(self._patterns):
                if regex.search(name):
                    return bool(include)
        return self._outer is not None and self._outer.matches(path, is_folder)


class _Walker:
    def __init__(
        self,
        is_excluded: Callable[[str], bool],
        is_included: Callable[[str], bool] | None,
        on_unlisted: Callable[[str, OSError], None],
        *,
        asks_git: bool,
    ) -> None:
        self._is_excluded = is_excluded
        self._is_included = is_included
        self._on_unlisted = on_unlisted
        self._asks_git = asks_git
        self._files: list[str] = []
        self._links: list[str] = []
        self._targets: set[str] = set()

    def files(self) -> Iterable[str]:
        """The files found; a link counts only when its target was not found as well."""
        for link in sorted(self._links):
            target = os.path.realpath(link)
            if target not in self._targets:
                self._targets.add(target)
                self._files.append(link)
        self._links.clear()
        return self._files

    def walk(self, top: str) -> None:
        known = len(self._files)
        if not (self._asks_git and self._list(top)):
            ignores = _outer_ignores(top) if self._asks_git else None
            if ignores is not None and ignores.matches(top, True):
                ignores = None  # asking for an ignored folder overrules what ignores it
            self._walk(top, ignores)
        real = os.path.realpath(top)
        self._targets.update(real + path[len(top) :] for path in self._files[known:])

    def _list(self, top: str) -> bool:
        """Add the files of a folder that git lists: tracked ones, and new ones that are not ignored.

        False where git is not there, does not know the folder, or ignores all of it.
        """
        from modellint.reading import git

        repository = git.top_of(top)
        if repository is None:
            return False
        try:
            if repository != top and git.run(top, "check-ignore", "--quiet", ".").returncode == 0:
                return False
            listed = git.run(top, "ls-files", "-z", "-t", "--stage", "--cached", "--others", "--exclude-standard")
        except OSError:
            return False
        if listed.returncode != 0:
            return False
        for match in _UNLISTED.finditer(listed.stderr):
            folder = os.path.join(top, os.fsdecode(match[1]).rstrip("/"))
            self._on_unlisted(folder, OSError(errno.EACCES, match[2].decode("utf-8", "replace")))
        prefix = f"{top.rstrip('/')}/"
        away: dict[str, bool] = {prefix: False}
        nested = []
        for entry in dict.fromkeys(listed.stdout.split(b"\0")[:-1]):
            mode, name = _entry(os.fsdecode(entry))
            if mode != _REPOSITORY and not _is_source(name[name.rfind("/") + 1 :]):
                continue
            path = prefix + name
            if self._is_away(path, away) or self._is_excluded(path):
                continue
            if mode == _REPOSITORY:
                nested.append(path)
            else:
                self._take(path)
        for path in nested:
            if os.path.isdir(path) and not (self._is_in_itself(path) and self._list(path)):
                self._walk(path, None)
        return True

    @staticmethod
    def _is_in_itself(folder: str) -> bool:
        """True if a folder is a repository of its own, as a submodule is once it is fetched."""
        return os.path.exists(os.path.join(folder, ".git"))

    def _is_away(self, path: str, away: dict[str, bool]) -> bool:
        """True if a folder around a path is excluded or holds examples; `away` memoises folders."""
        folder = path[: path.rindex("/", 0, -1) + 1]
        if folder not in away:
            holder, _, name = folder[:-1].rpartition("/")
            has_examples = name in EXAMPLES and is_rule_folder(Path(holder))
            away[folder] = self._is_away(folder, away) or self._is_excluded(folder[:-1]) or has_examples
        return away[folder]

    def _take(self, path: str) -> None:
        """Take a file that was listed, if it is there and a file."""
        if self._is_included is not None and not self._is_included(path):
            return
        if not _stands_alone(path):
            return
        try:
            mode = os.lstat(path).st_mode
        except OSError:
            return
        if stat.S_ISREG(mode):
            self._files.append(path)
        elif stat.S_ISLNK(mode) and os.path.isfile(path):
            self._links.append(path)

    def _walk(self, folder: str, ignores: _Ignores | None) -> None:
        pending = [(folder, ignores)]
        while pending:
            folder, ignores = pending.pop()
            try:
                with os.scandir(folder) as scan:
                    entries = list(scan)
            except OSError as error:
                self._on_unlisted(folder, error)
                continue
            names = {entry.name for entry in entries}
            if self._asks_git and ".gitignore" in names and os.path.isfile(os.path.join(folder, ".gitignore")):
                ignores = _ignores_of(folder, ignores)
            if TITLES in names and is_rule_folder(Path(folder)):
                entries = [entry for entry in entries if entry.name not in EXAMPLES]
            for entry in entries:
                self._visit(entry, ignores, pending)

    def _visit(
        self, entry: os.DirEntry[str], ignores: _Ignores | None, pending: list[tuple[str, _Ignores | None]]
    ) -> None:
        path = entry.path.replace(os.sep, "/") if os.sep != "/" else entry.path
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
            if not is_folder and not (_is_source(entry.name) and entry.is_file()):
                return
            is_link = entry.is_symlink()
        except OSError:
            return
        if self._is_excluded(path) or (ignores is not None and ignores.matches(path, is_folder)):
            return
        if is_folder:
            pending.append((path, ignores))
        elif (self._is_included is None or self._is_included(path)) and _stands_alone(path):
            (self._links if is_link else self._files).append(path)


def _entry(listed: str) -> tuple[str, str]:
    """Mode and name in a line of `ls-files -t --stage`; an untracked entry has a mode only if it is a repository."""
    tag, _, rest = listed.partition(" ")
    if tag != "?":
        described, _, name = rest.partition("\t")
        return described.partition(" ")[0], name
    return (_REPOSITORY, rest.rstrip("/")) if rest.endswith("/") else ("", rest)


def _ignores_of(folder: str, outer: _Ignores | None) -> _Ignores | None:
    try:
        return _Ignores(folder, outer)
    except (OSError, ValueError):
        return outer


def _outer_ignores(top: str) -> _Ignores | None:
    """The `.gitignore` files above `top`, from the top of its repository down; None outside of a repository."""
    from modellint.reading import git

    repository = git.top_of(top)
    if repository in (None, top):
        return None
    above = [os.path.dirname(top)]
    while above[-1] != repository:
        above.append(os.path.dirname(above[-1]))
    ignores: _Ignores | None = None
    for folder in reversed(above):
        if os.path.isfile(os.path.join(folder, ".gitignore")):
            ignores = _ignores_of(folder, ignores)
    return ignores
