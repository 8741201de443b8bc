"""modellint: finds the mistakes in PyTorch model definitions that only surface at run time."""

from modellint.version import __version__

TYPE_CHECKING = False  # as Ctrl-C is taken care of only once this is imported, which typing would delay
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Any

    from modellint.finding import Finding

__all__ = ["__version__", "check"]


def check(
    paths: "Iterable[str | Path]" = (".",),
    *,
    config: "str | Path | None" = None,
    isolated: bool = False,
    cache: bool = False,
    **options: "Any",
) -> "list[Finding]":
    """The findings in files and folders, as `modellint check` reports them.

    `options` are the settings of the configuration file, with `_` for `-`: `select=["ML2"]`, `jobs=1`,
    `min_confidence="low"`, …. Raises `modellint.config.UsageError` for a path that does not exist or a setting
    that is not understood, and `modellint.linter.InternalError` if a rule fails on a file. Warns (UserWarning) of each
    file that is skipped since it is larger than `max_file_size`.
    """
    from modellint import linter

    return linter.check(paths, config=config, isolated=isolated, cache=cache, **options)
