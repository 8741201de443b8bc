"""ML002: a comment that silences nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint.finding import Confidence, Finding, Severity
from modellint.rule import Example, Rule
from modellint.source import Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from modellint.suppressions import Stale


class UnusedSuppression(Rule):
    """A comment asks modellint to ignore something that is not there

    ## What it does
    Reports `# modellint: ignore[…]` and `# modellint: ignore-file[…]` comments that silence no finding, that name
    a code which does not exist, or that stand where they have no effect. `# noqa` comments belong to other tools
    too and are never reported. Codes that this run does not look for are not judged.

    ## Why is this bad
    The mistake was corrected, or the code moved away from its comment. What is left silences the next mistake on
    that line, which nobody has looked at.

    ## How to fix
    Remove the comment, or the code from its list. Put `ignore-file` above the first statement.

    ## Confirming
    A comment has nothing to run.
    """

    code = "ML002"
    name = "unused-suppression"
    severity = Severity.WARNING
    bad = (
        Example(
            "Nothing to ignore",
            {
                "model.py": "from torch import nn\n\n"
                "layer = nn.Linear(80, 40)  # modellint: ignore[ML101]  # expect: ML002\n"
            },
        ),
        Example(
            "A bare comment with nothing to ignore",
            {"model.py": "from torch import nn\n\nlayer = nn.Linear(80, 40)  # modellint: ignore # expect: ML002\n"},
        ),
        Example(
            "A code that does not exist",
            {"model.py": "x = 1  # modellint: ignore[ML2001] see the notes  # expect: ML002\n"},
        ),
        Example(
            "A comment for the whole file, below its head",
            {"model.py": "import torch\n\n# modellint: ignore-file[ML101]  # expect: ML002\n"},
        ),
        Example(
            "Nothing to ignore in a recipe",
            {
                "hparams.yaml": "width: 80\n"
                "layer: !new:torch.nn.Linear  # modellint: ignore[ML201]  # expect: ML002\n"
                "    in_features: !ref <width>\n    out_features: 40\n"
            },
        ),
    )
    good = (
        Example(
            "A comment that silences a finding",
            {"model.py": "# modellint: ignore-file[ML001]\nfrom torch import nn\nlayer = nn.Linear(\n"},
        ),
        Example(
            "A comment that other tools share",
            {"model.py": "import os  # noqa: F401, ML101\n"},
        ),
        Example(
            "Text in a string is no comment",
            {"model.py": 'TEXT = "layer = f(x)  # modellint: ignore[ML101]"\n'},
        ),
        Example(
            "Text in a docstring is no comment",
            {"model.py": '"""Write it like this:\n\n    x = 1  # modellint: ignore[ML101]\n"""\n'},
        ),
        Example(
            "Text in a block scalar is no comment",
            {"hparams.yaml": "note: |\n    x  # modellint: ignore[ML201]\nlayer: !new:torch.nn.ReLU\n"},
        ),
        Example(
            "Text in a quoted scalar is no comment",
            {"hparams.yaml": 'note: "x  # modellint: ignore[ML201]"\nlayer: !new:torch.nn.ReLU\n'},
        ),
        Example(
            "A comment may ask for its own silence",
            {"model.py": "x = 1  # modellint: ignore[ML101, ML002]  kept until the next release\n"},
        ),
    )

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
    """What a comment, or a part of it, does not do."""
    if entry.suppression.misplaced:
        return "silences nothing: it stands below the head of the file"
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
