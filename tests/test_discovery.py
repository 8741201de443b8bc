"""Which files are checked."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from modellint.config import Settings
from modellint.config.errors import UsageError
from modellint.reading.discovery import discover, glob_matcher
from modellint.source import kind_of

if TYPE_CHECKING:
    from conftest import Workspace


def found(workspace: Workspace, *paths: str, **settings: tuple[str, ...]) -> list[str]:
    files, _ = discover(map(Path, paths or (".",)), Settings(workspace.root, **settings))  # type: ignore[arg-type]
    return [os.path.relpath(file).replace(os.sep, "/") for file in files]


def test_kinds_go_by_the_end_of_the_name() -> None:
    assert {name: kind_of(name) for name in ("a.py", "a.pyi", "a.yaml", "A.YML", "a.ipynb", "py", "a.py.txt")} == {
        "a.py": "python",
        "a.pyi": "python",
        "a.yaml": "yaml",
        "A.YML": "yaml",
        "a.ipynb": "notebook",
        "py": None,
        "a.py.txt": None,
    }


def test_folders_are_walked_without_those_that_hold_no_source(workspace: Workspace) -> None:
    names = ["a.py", "sub/b.yml", ".hidden/c.py", "sub/d.txt"]
    away = [".git/e.py", ".venv/f.py", "sub/node_modules/g.py", "build/h.py", "x/site-packages/i.py"]
    workspace.write(dict.fromkeys(names + away, ""))
    assert found(workspace) == [".hidden/c.py", "a.py", "sub/b.yml"]


def test_gitignore_applies_at_every_level(workspace: Workspace) -> None:
    workspace.write(
        {
            ".git/HEAD": "",
            ".gitignore": "*.gen.py\n/only_top.py\nout/\n!keep.gen.py\n# comment\n",
            "a.py": "",
            "a.gen.py": "",
            "keep.gen.py": "",
            "only_top.py": "",
            "sub/only_top.py": "",
            "sub/out/b.py": "",
            "sub/out.py": "",
            "sub/.gitignore": "local.py\n!special.gen.py\n",
            "sub/local.py": "",
            "sub/special.gen.py": "",
            "sub/deep/local.py": "",
            "other/local.py": "",
        }
    )
    kept = ["a.py", "keep.gen.py", "other/local.py", "sub/only_top.py", "sub/out.py", "sub/special.gen.py"]
    assert found(workspace) == kept
    assert found(workspace, "sub") == [name for name in kept if name.startswith("sub/")]


def test_gitignore_agrees_with_git(workspace: Workspace) -> None:
    patterns = ["*.tmp.py", "!very.tmp.py", "/root/*.py", "a/**/z.py", "[bc]?.py", "dir/", "\\#x.py", "**/end"]
    names = ["m.tmp.py", "s/very.tmp.py", "root/r.py", "root/s/r.py", "a/z.py", "a/b/c/z.py", "b1.py", "s/c2.py"]
    names += ["d1.py", "dir/x.py", "s/dir/y.py", "#x.py", "s/end/e.py", "end.py"]
    workspace.write(dict.fromkeys(names, ""))
    workspace.write({".gitignore": "\n".join(patterns)})
    subprocess.run(["git", "init", "-q"], check=True)
    listed = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard", "*.py"], check=True, capture_output=True, text=True
    )
    assert found(workspace) == sorted(listed.stdout.split())


def test_gitignores_above_a_repository_do_not_count(workspace: Workspace) -> None:
    workspace.write({".gitignore": "*.py", "repository/.git/HEAD": "", "repository/a.py": ""})
    assert found(workspace, "repository") == ["repository/a.py"]


def test_a_named_file_is_always_checked(workspace: Workspace) -> None:
    workspace.write({".git/HEAD": "", ".gitignore": "a.py", "a.py": "", "build/b.py": ""})
    assert found(workspace, "a.py", "build/b.py", exclude=("*",)) == ["a.py", "build/b.py"]


def test_a_named_folder_overrules_what_ignores_it(workspace: Workspace) -> None:
    workspace.write({".git/HEAD": "", ".gitignore": "out/", "out/a.py": "", "build/b.py": ""})
    assert found(workspace, "out", "build") == ["build/b.py", "out/a.py"]


def test_excludes_are_names_or_paths_below_the_root(workspace: Workspace) -> None:
    workspace.write(dict.fromkeys(("a.py", "gen/a.py", "x/gen/b.py", "x/y/c.py", "x/y/c_pb2.py"), ""))
    assert found(workspace, exclude=("gen",)) == ["a.py", "x/y/c.py", "x/y/c_pb2.py"]
    assert found(workspace, exclude=("./x/gen",)) == ["a.py", "gen/a.py", "x/y/c.py", "x/y/c_pb2.py"]
    assert found(workspace, extend_exclude=("x/**", "a.py")) == []
    assert found(workspace, exclude=("*_pb2.py", "**/b.py")) == ["a.py", "gen/a.py", "x/y/c.py"]
    assert found(workspace, "x", exclude=("x/y/*.py",)) == ["x/gen/b.py"]


def test_patterns_match_as_they_are_read(tmp_path: Path) -> None:
    matches = glob_matcher(["tests/*", "[ab].py", "docs/"], tmp_path)
    root = tmp_path.as_posix()
    hits = [f"{root}/tests/x.py", f"{root}/tests/deep/x.py", f"{root}/s/a.py", f"{root}/docs", f"{root}/s/docs"]
    misses = [f"{root}/x/tests/x.py", f"{root}/c.py", f"{root}/ab.py", f"{root}/docs.py"]
    assert [matches(path) for path in hits + misses] == [True] * len(hits) + [False] * len(misses)


def test_each_file_is_checked_once(workspace: Workspace) -> None:
    workspace.write({"sub/a.py": ""})
    assert found(workspace, ".", "sub", "sub/a.py", str(workspace.root / "sub/a.py")) == ["sub/a.py"]


def test_links_do_not_lead_in_circles_or_double(workspace: Workspace) -> None:
    workspace.write({"sub/a.py": "", "away/b.py": ""})
    (workspace.root / "sub/loop").symlink_to(workspace.root, target_is_directory=True)
    (workspace.root / "sub/self.py").symlink_to("self.py")
    (workspace.root / "sub/same.py").symlink_to("a.py")
    (workspace.root / "sub/b.py").symlink_to("../away/b.py")
    assert found(workspace, "sub") == ["sub/a.py", "sub/b.py"]
    assert found(workspace) == ["away/b.py", "sub/a.py"]


@pytest.mark.parametrize("name", ["nowhere.py", "dangling.py", "pipe"])
def test_what_is_no_file_is_refused(workspace: Workspace, name: str) -> None:
    (workspace.root / "dangling.py").symlink_to("gone.py")
    os.mkfifo(workspace.root / "pipe")
    with pytest.raises(UsageError, match=name):
        found(workspace, name)
    assert found(workspace) == []


def git(*arguments: str, **environment: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True, env={**os.environ, **environment})


def test_what_git_is_told_to_ignore_elsewhere_holds_too(
    workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`.git/info/exclude`, and the excludes of a user."""
    (tmp_path / "gitconfig").write_text(f"[core]\nexcludesFile = {tmp_path}/excludes\n")
    (tmp_path / "excludes").write_text("scratch*\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    git("init", "-q")
    workspace.write(
        {".git/info/exclude": "local/\n", "a.py": "", "local/b.py": "", "scratch1.py": "", "s/scratch/c.py": ""}
    )
    assert found(workspace) == ["a.py"]
    assert found(workspace, respect_gitignore=False) == ["a.py", "local/b.py", "s/scratch/c.py", "scratch1.py"]  # type: ignore[arg-type]
    assert found(workspace, "local") == ["local/b.py"]


def test_what_is_tracked_is_checked_although_it_is_ignored(workspace: Workspace) -> None:
    workspace.write(
        {".gitignore": "gen/\n", "gen/kept.py": "", "gen/new.py": "", "a.py": "", "gone.py": "", "build/b.py": ""}
    )
    git("init", "-q")
    git("add", "--force", "gen/kept.py", "a.py", "gone.py", "build/b.py")
    (workspace.root / "gone.py").unlink()
    assert found(workspace) == ["a.py", "gen/kept.py"]


def test_repositories_inside_of_a_repository_are_checked(workspace: Workspace, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git("init", "-q", str(library))
    (library / "inner.py").write_text("")
    git("-C", str(library), "add", "--all")
    git("-C", str(library), "commit", "-q", "-m", "As it was")
    git("init", "-q")
    git("submodule", "add", str(library), "third_party/library")
    workspace.write({"a.py": "", "clone/b.py": "", "clone/.gitignore": "c.py\n", "clone/c.py": "", "venv/lib/d.py": ""})
    git("init", "-q", "clone")
    git("init", "-q", "venv/lib")
    assert found(workspace) == ["a.py", "clone/b.py", "third_party/library/inner.py"]
    assert found(workspace, extend_exclude=("third_party",)) == ["a.py", "clone/b.py"]


def test_links_that_git_knows_count_once(workspace: Workspace) -> None:
    workspace.write({"a.py": "", "away/b.py": ""})
    git("init", "-q")
    for name, target in (("link.py", "a.py"), ("folder", "away"), ("nowhere.py", "gone.py")):
        (workspace.root / name).symlink_to(target)
    git("add", "link.py", "folder", "nowhere.py")
    assert found(workspace) == ["a.py", "away/b.py"]


def test_names_that_git_would_quote_are_found(workspace: Workspace) -> None:
    names = ["ä.py", "with space.py", 'quo"te.py', "tab\tbed.py"]
    workspace.write(dict.fromkeys(names, ""))
    git("init", "-q")
    git("add", names[0], names[3])
    assert found(workspace) == sorted(names)


def test_a_hook_of_another_repository_changes_nothing(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """As git sets these for its hooks, from which modellint may be run on any folder."""
    workspace.write({"a.py": "", "sub/b.py": ""})
    git("init", "-q")
    git("add", "--all")
    monkeypatch.setenv("GIT_DIR", ".git")
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    assert found(workspace, "sub") == ["sub/b.py"]


def test_without_git_the_folders_are_read(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace.write({".gitignore": "b.py\n", "a.py": "", "b.py": ""})
    git("init", "-q")
    monkeypatch.setenv("PATH", "")
    assert found(workspace) == ["a.py"]


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/b/c/a.py", True),
        ("src/**/*.py", "other/src/a.py", False),
        ("src/**/test/*.py", "src/test/a.py", True),
    ],
)
def test_two_stars_are_any_number_of_folders(pattern: str, path: str, matches: bool) -> None:
    assert glob_matcher([pattern], Path("/project"))(f"/project/{path}") == matches
