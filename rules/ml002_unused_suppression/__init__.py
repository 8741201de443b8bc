"""ML002: a comment that silences nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Place, Severity
from modellint.rule import Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.rule import Stale


class UnusedSuppression(Rule):
    """A `modellint: ignore` comment silences nothing

    ## What it does
    Reports `# modellint: ignore[…]` and `# modellint: ignore-file[…]` comments that silence no finding, that name a
    code which does not exist, or that stand where they have no effect. Skips `# noqa` comments, which other tools read
    too, and codes that this run does not check.

    ## Why is this bad
    You corrected the mistake, or moved the code away from its comment. The comment that is left will silence the next
    mistake on its line, which nobody has looked at.

    ## How to fix
    Remove the comment, or remove the unused code from its list. Move `ignore-file` above the first statement.

    ## Confirming
    Not run: a comment has nothing to run.
    """

    code = "ML002"
    name = "unused-suppression"
    severity = Severity.WARNING

    def check_suppressions(self, path: str, stale: Sequence[Stale]) -> Iterator[Finding]:
        for entry in stale:
            comment = entry.suppression
            kind = "ignore-file" if comment.whole_file else "ignore"
            yield self.finding(
                Place(path, comment.span),
                f"`modellint: {kind}` {_silent(entry)}",
                symbol=f"{kind}[{','.join(comment.codes)}]",
                confidence=Confidence.HIGH,
                help=_help(entry),
            )


def _silent(entry: Stale) -> str:
    """The text about a comment's useless parts."""
    if entry.suppression.misplaced:
        return "silences nothing: it stands below the first statement"
    said = ["silences " + " and ".join(f"no `{code}`" for code in entry.unused)] if entry.unused else []
    if entry.unknown:
        said.append("names " + " and ".join(f"`{code}`" for code in entry.unknown) + ", which no rule has")
    return ", and ".join(said) or "silences nothing"


def _help(entry: Stale) -> str:
    if entry.suppression.misplaced:
        return "move the comment above the first statement"
    if entry.nearest:
        return f"did you mean `{entry.nearest}`?"
    if len(entry.unused) + len(entry.unknown) == len(entry.suppression.codes):
        return "remove the comment"
    return f"remove {_quoted((*entry.unused, *entry.unknown))} from the comment"


def _quoted(codes: Sequence[str]) -> str:
    return ", ".join(f"`{code}`" for code in codes)
