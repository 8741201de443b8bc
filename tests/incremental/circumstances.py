"""What checks rest on besides the files of the repository, and whose turn it is."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import zlib
from functools import cache
from importlib import metadata
from pathlib import Path

from incremental.closures import RULES, Repository
from incremental.store import key

ROOT = Path(__file__).parents[2]
#: What checks files: the pipeline, and the loader of rules.
ENGINE = ("modellint/linter.py", "modellint/packs.py", "modellint/examples.py")
#: Variables that say how much is tried.
EXTENT = tuple(
    f"MODELLINT_{name}" for name in ("CONFIRM", "EXAMPLES", "HOSTILE", "KILLS", "LARGE", "LEDGER", "REWRITINGS")
)


@cache
def machine() -> str:
    """The Python and the packages that run the tests."""
    packages = {f"{one.metadata['Name']} {one.version}" for one in metadata.distributions()}
    return "\n".join([sys.version, platform.platform(), *sorted(packages)])


def extent() -> str:
    """How much the tests are to try."""
    return "\n".join(f"{name}={os.environ.get(name, '')}" for name in EXTENT)


@cache
def turn() -> int:
    """A number that changes with the commit; `MODELLINT_TURN` sets it."""
    told = os.environ.get("MODELLINT_TURN")
    if told is None:
        command = ["git", "-C", str(ROOT), "rev-parse", "HEAD"]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        told = str(int(found.stdout[:12], 16)) if found.returncode == 0 else "0"
    return int(told)


def has_turn(name: str, every: int) -> bool:
    """Whether a check is in the part, one of `every`, that this commit tries."""
    return zlib.crc32(name.encode()) % every == turn() % every


@cache
def repository() -> Repository | None:
    """The work tree that the tests are in, None where it is none of git."""
    try:
        return Repository(ROOT)
    except LookupError:
        return None


@cache
def engine() -> str:
    """A digest of what checks a file but for the rules, with the machine that runs it."""
    found = repository()
    return key(machine(), found.digest(found.closure(*ENGINE, without=RULES))) if found else ""


@cache
def rule(code: str) -> str:
    """A digest of the folder of a rule."""
    found = repository()
    return found.digest(_folder(found, code)) if found else ""


@cache
def judge(code: str) -> str:
    """A digest of what checks a file for a rule: the engine, the rule, and what it alone asks of the engine."""
    found = repository()
    return key(engine(), found.digest(reached(found, code))) if found else ""


def reached(found: Repository, code: str) -> frozenset[str]:
    """The files of a rule, and those that it leads to."""
    own = _folder(found, code)
    return found.closure(*(target for name in own for target in found.edges(name)), without=RULES) | {
        *own,
        f"{RULES}/__init__.py",
    }


def _folder(found: Repository, code: str) -> list[str]:
    return [name for name in found.below(RULES) if name.startswith(f"{RULES}/{code.lower()}_")]


@cache
def changed_rules() -> frozenset[str]:
    """The codes of the rules that differ from the commit `MODELLINT_BASE`, by default from the one before."""
    base = os.environ.get("MODELLINT_BASE") or "HEAD^"
    command = ["git", "-C", str(ROOT), "diff", "--name-only", base, "--", RULES]
    listed = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    return frozenset(name.split("/")[1].partition("_")[0].upper() for name in listed)
