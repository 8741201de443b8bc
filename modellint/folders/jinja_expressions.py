"""Expressions of Jinja: a recursive descent through tokens, which notes texts and names and builds nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple, NoReturn

from modellint.folders.jinja_names import FILTERS, TESTS
from modellint.folders.jinja_strings import text_of
from modellint.folders.jinja_tokens import TemplateError, Token
from modellint.lazy import nearest

#: How deep expressions and blocks are followed; Python refuses deeper ones that Jinja compiles to.
DEEPEST: Final = 60
_COMPARISONS: Final = frozenset(("==", "!=", "<", "<=", ">", ">="))
#: Operators by how tightly they bind, from the loosest.
_BINARY: Final = (frozenset("+-"), frozenset("~"), frozenset(("*", "/", "//", "%")), frozenset(("**",)))


class Text(NamedTuple):
    """A text that a template writes or compares with, and the number of the character at which it begins.

    `is_written` is False if it stands in an expression, whose result is not known.
    """

    text: str
    at: int
    is_written: bool


@dataclass
class Expressions:
    """The tokens of a template, the place that was read up to, and what was noted."""

    template: str
    tokens: list[Token] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    reads: list[tuple[str, int]] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)
    at: int = 0
    depth: int = 0

    # -- tokens ----------------------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def fail(self, reason: str, token: Token | None = None) -> NoReturn:
        raise TemplateError(reason, (token or self.token).at)

    def is_next(self, *texts: str, kind: str = "operator") -> bool:
        return self.token.kind == kind and self.token.text in texts

    def accept(self, text: str, kind: str = "operator") -> bool:
        if self.token.kind == kind and self.token.text == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str, kind: str = "operator") -> None:
        if not self.accept(text, kind):
            self.fail(f"expected `{text}`, not {word_of(self.token)}")

    def name(self) -> str:
        if self.token.kind != "name":
            self.fail(f"expected a name, not {word_of(self.token)}")
        self.at += 1
        return self.tokens[self.at - 1].text

    def close(self) -> None:
        if self.token.kind != "close":
            self.fail(f"unexpected {word_of(self.token)}")
        self.at += 1

    # -- expressions -----------------------------------------------------------------------------------------------

    def tuple_(self, *, has_choice: bool = True) -> None:
        """Read an expression, or several with commas; `has_choice` if it may be an `if` of Python's kind."""
        self.expression(has_choice=has_choice)
        while self.accept(","):
            if self.token.kind == "close" or self.is_next(")", "="):
                return
            self.expression(has_choice=has_choice)

    def expression(self, *, has_choice: bool = True) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            self.fail("nested too deeply")
        self.disjunction()
        while has_choice and self.accept("if", "name"):
            self.disjunction()
            if self.accept("else", "name"):
                self.expression()
                break
        self.depth -= 1

    def disjunction(self) -> None:
        """Read comparisons with `and`, `or` and `not`."""
        while True:
            while self.accept("not", "name"):
                pass
            self.comparison()
            if not (self.accept("and", "name") or self.accept("or", "name")):
                return

    def comparison(self) -> None:
        self.binary(0)
        while True:
            if self.token.kind == "operator" and self.token.text in _COMPARISONS:
                self.at += 1
            elif self.is_next("not", kind="name") and self.tokens[self.at + 1].text == "in":
                self.at += 2
            elif not self.accept("in", "name"):
                return
            self.binary(0)

    def binary(self, level: int) -> None:
        """Read operands of operators that bind at least as tightly as those of a level."""
        self.unary() if level == len(_BINARY) else self.binary(level + 1)
        while level < len(_BINARY) and self.token.kind == "operator" and self.token.text in _BINARY[level]:
            self.at += 1
            self.unary() if level + 1 == len(_BINARY) else self.binary(level + 1)

    def unary(self) -> None:
        signs = self.at
        while self.is_next("+", "-"):
            self.at += 1
        if self.at - signs > DEEPEST:
            self.fail("nested too deeply")
        self.primary()
        self.postfixes()

    def primary(self) -> None:
        token = self.token
        self.at += 1
        if token.kind == "name":
            self.reads.append((token.text, token.at))
            return
        if token.kind in ("int", "float"):
            return
        if token.kind == "string":
            self.note(token)
            while self.token.kind == "string":
                self.note(self.token)
                self.at += 1
        elif token.text == "(" and token.kind == "operator":
            if not self.accept(")"):
                self.tuple_()
                self.expect(")")
        elif token.text in ("[", "{") and token.kind == "operator":
            self.items("]" if token.text == "[" else "}", has_keys=token.text == "{")
        else:
            self.at -= 1
            self.fail(f"expected an expression, not {word_of(token)}", token)

    def note(self, token: Token) -> None:
        try:
            self.texts.append(Text(text_of(token.text), token.at, False))
        except ValueError as error:
            self.fail(str(error), token)

    def items(self, closer: str, *, has_keys: bool) -> None:
        while not self.is_next(closer):
            self.expression()
            if has_keys:
                self.expect(":")
                self.expression()
            if not self.is_next(closer):
                self.expect(",")
        self.expect(closer)

    def postfixes(self) -> None:
        """Read attributes, subscripts and calls, then filters and tests, each with calls of its own."""
        while True:
            if self.accept("."):
                if self.token.kind not in ("name", "int"):
                    self.fail("expected a name or a number behind `.`")
                self.at += 1
            elif self.accept("["):
                self.subscript()
            elif self.is_next("("):
                self.arguments()
            elif self.accept("|"):
                self.filter()
            elif self.is_next("is", kind="name"):
                self.test()
            else:
                return

    def subscript(self) -> None:
        while not self.is_next("]"):
            colons = 0
            while not self.is_next("]", ","):
                if colons < 2 and self.accept(":"):
                    colons += 1
                else:
                    self.expression()
                    if not self.is_next("]", ",", ":"):
                        self.fail(f"expected `]`, not {word_of(self.token)}")
                    if colons == 2 and self.is_next(":"):
                        self.fail("unexpected `:`")
            if not self.is_next("]"):
                self.expect(",")
        self.expect("]")

    def arguments(self) -> None:
        self.expect("(")
        has_keyword = has_double = False
        while not self.is_next(")"):
            begin = self.token
            if self.accept("**"):
                self.expression()
                has_double = True
            elif self.accept("*"):
                self.expression()
                has_keyword = has_keyword or has_double
            elif self.token.kind == "name" and self.tokens[self.at + 1].text == "=":
                self.at += 2
                self.expression()
                has_keyword = True
            else:
                self.expression()
                if has_keyword or has_double:
                    self.fail("a positional argument after one with a name", begin)
            if not self.is_next(")"):
                self.expect(",")
        self.expect(")")

    def dotted_name(self, known: frozenset[str], kind: str) -> None:
        token = self.token
        name = self.name()
        while self.accept("."):
            name = f"{name}.{self.name()}"
        if name not in known:
            near = nearest(name, dict.fromkeys(sorted(known)))
            self.fail(f"there is no {kind} `{name}`{near}", token)

    def filter(self) -> None:
        self.dotted_name(FILTERS, "filter")
        if self.is_next("("):
            self.arguments()

    def test(self) -> None:
        self.at += 1
        self.accept("not", "name")
        self.dotted_name(TESTS, "test")
        token = self.token
        if self.is_next("("):
            self.arguments()
        elif token.kind in ("string", "int", "float") or self.is_next("[", "{"):
            self.primary()
        elif token.kind == "name" and token.text not in ("else", "or", "and", "is", "if", "in", "not"):
            self.primary()
            self.test_operand()

    def test_operand(self) -> None:
        """Read attributes and subscripts behind the operand of a test."""
        while True:
            if self.accept("."):
                self.at += 1
            elif self.accept("["):
                self.subscript()
            elif self.is_next("("):
                self.arguments()
            else:
                return


def word_of(token: Token) -> str:
    """A token as messages name it."""
    return "the end of the template" if token.kind == "end" else f"`{token.text[:40]}`"
