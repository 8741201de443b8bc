"""`--add-ignore`: comments that silence what is there, and change nothing else."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Workspace


def ignored(words: Workspace, text: str | bytes, *reason: str, name: str = "a.py") -> bytes:
    """What becomes of a file; nothing is found in it afterwards."""
    words.write({name: text})
    result = words.run("check", name, "--ignore", "ML002", "--add-ignore", *reason)
    assert (result.code, result.out) == (0, ""), result.err
    assert words.places(name, "--ignore", "ML002") == []
    return (words.root / name).read_bytes()


def test_a_comment_with_the_reason_is_put_at_the_end_of_the_line(words: Workspace) -> None:
    assert ignored(words, "a = WORD\nb = 1\n") == b"a = WORD  # modellint: ignore[TST101]\nb = 1\n"
    assert ignored(words, "a = WORD  \n", "seen, harmless") == (
        b"a = WORD  # modellint: ignore[TST101]  seen, harmless\n"
    )
    assert words.run("check", "a.py", "--add-ignore").err == "Ignored 0 findings\n"


def test_a_comment_that_is_there_gets_the_code(words: Workspace) -> None:
    text = "a = WORD  # modellint: ignore[ML101]  as agreed\n"
    assert ignored(words, text) == b"a = WORD  # modellint: ignore[ML101, TST101]  as agreed\n"


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfa = WORD\r\nb = 1\r\n",
        b"# -*- coding: latin-1 -*-\n\xe9 = WORD\n",
        b"a = WORD",
        b"a = WORD(\n    1,\n)\n",
    ],
    ids=["BOM and CRLF", "latin-1", "no last line end", "several lines"],
)
def test_every_other_byte_stays(words: Workspace, text: bytes) -> None:
    after = ignored(words, text)
    comment = b"  # modellint: ignore[TST101]"
    assert after.count(comment) == 1
    assert after.replace(comment, b"") == text


def test_recipes_get_comments_too(words: Workspace) -> None:
    text = ignored(words, "a: !ref <k>\nk: WORD  # why\n", name="a.yaml")
    assert text == b"a: !ref <k>\nk: WORD  # why  # modellint: ignore[TST101]\n"


def test_where_no_comment_can_stand_it_is_said(words: Workspace) -> None:
    text = 'a = """\nWORD\n"""\nk = WORD\n'
    words.write({"a.py": text})
    result = words.run("check", "--add-ignore")
    assert result.code == 1
    assert "a.py:2:1: no comment can ignore TST101 here\nIgnored 1 finding\n" in result.err
    assert (words.root / "a.py").read_text() == text.replace("k = WORD", "k = WORD  # modellint: ignore[TST101]")


def test_stdin_cannot_be_ignored(words: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a = WORD\n")))
    result = words.run("check", "-", "--stdin-filename", "a.py", "--add-ignore")
    assert result.code == 2
