"""Chat templates: the syntax of Jinja is checked, and the texts that a template may write are collected.

transformers compiles a chat template with loop controls (`break`, `continue`) and a tag `generation`, which are known
here. Nothing is rendered.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple, NoReturn

from modellint.folders.jinja_names import FILTERS, TESTS
from modellint.folders.jinja_strings import text_of
from modellint.folders.jinja_tokens import TemplateError, Token, tokens_of
from modellint.lazy import nearest

#: How deep expressions and blocks are followed; Python refuses deeper ones that Jinja compiles to.
_DEEPEST: Final = 60
_COMPARISONS: Final = frozenset(("==", "!=", "<", "<=", ">", ">="))
#: Words that begin no expression, and those that no name of a variable may be.
_WORDS: Final = frozenset("and else if in is not or".split())
_CONSTANTS: Final = frozenset("true false none True False None".split())
#: Operators by how tightly they bind, from the loosest.
_BINARY: Final = (frozenset("+-"), frozenset("~"), frozenset(("*", "/", "//", "%")), frozenset(("**",)))
#: Tags that have a body, with the tags that end it or divide it.
_DIVIDERS: Final = {"if": ("elif", "else"), "for": ("else",)}


class Text(NamedTuple):
    """A text that a template writes or compares with, and the number of the character at which it begins.

    `is_written` is False if it stands in an expression, whose result is not known.
    """

    text: str
    at: int
    is_written: bool


class Template(NamedTuple):
    """The texts of a template, in their order, and the error that Jinja raises, None if it accepts the template."""

    texts: tuple[Text, ...]
    error: TemplateError | None


def read_template(template: str) -> Template:
    """The texts and the first error of a template."""
    parser = _Parser(template)
    try:
        parser.tokens = [*tokens_of(template)]
        parser.body(())
    except TemplateError as error:
        return Template(tuple(parser.texts), error)
    return Template(tuple(parser.texts), None)


@dataclass
class _Parser:
    """A recursive descent through the tokens, which notes texts and builds nothing."""

    template: str
    tokens: list[Token] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
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
            self.fail(f"expected `{text}`, not {_word_of(self.token)}")

    def name(self) -> str:
        if self.token.kind != "name":
            self.fail(f"expected a name, not {_word_of(self.token)}")
        self.at += 1
        return self.tokens[self.at - 1].text

    def close(self) -> None:
        if self.token.kind != "close":
            self.fail(f"unexpected {_word_of(self.token)}")
        self.at += 1

    # -- statements ------------------------------------------------------------------------------------------------

    def body(self, ends: tuple[str, ...], opened: Token | None = None) -> str:
        """Read text and tags up to one of the tags `ends`, which is returned and of which the name is read."""
        self.depth += 1
        if self.depth > _DEEPEST:
            self.fail("nested too deeply")
        while True:
            token = self.token
            self.at += 1
            if token.kind == "text":
                self.texts.append(Text(token.text, token.at, True))
            elif token.kind == "end":
                if opened is None:
                    return ""
                self.at -= 1
                self.fail(f"`{opened.text}` has no `{ends[-1]}`", opened)
            elif token.text == "{{":
                self.tuple_()
                self.close()
            else:
                tag = self.token
                word = self.name()
                if word in ends:
                    self.depth -= 1
                    return word
                self.statement(word, tag)

    def block(self, tag: Token) -> None:
        """Read the body of a tag up to its end; the tag itself is read."""
        self.close()
        dividers, last = _DIVIDERS.get(tag.text, ()), f"end{tag.text}"
        while True:
            word = self.body((*dividers, last), tag)
            if word == "elif":
                self.tuple_(has_choice=False)
            elif word == "else":
                dividers = ()
            elif tag.text == "block" and self.token.kind == "name":
                self.at += 1
            self.close()
            if word == last:
                return

    def statement(self, word: str, tag: Token) -> None:
        """Read a tag of which the name is read."""
        reader = getattr(self, f"tag_{word}", None)
        if reader is None:
            self.fail(f"unknown tag `{word}`", tag)
        reader(tag)

    def tag_if(self, tag: Token) -> None:
        self.tuple_(has_choice=False)
        self.block(tag)

    def tag_for(self, tag: Token) -> None:
        self.target()
        self.expect("in", "name")
        self.tuple_(has_choice=False)
        if self.accept("if", "name"):
            self.expression()
        self.accept("recursive", "name")
        self.block(tag)

    def tag_set(self, tag: Token) -> None:
        self.target(may_be_attribute=True)
        if self.accept("="):
            self.tuple_()
            self.close()
            return
        while self.accept("|"):
            self.filter()
        self.block(tag)

    def tag_macro(self, tag: Token) -> None:
        self.name()
        self.parameters()
        self.block(tag)

    def tag_call(self, tag: Token) -> None:
        if self.is_next("("):
            self.parameters()
        begin = self.at
        self.expression()
        if not (self.tokens[self.at - 1].text == ")" and self.at - begin > 2):
            self.fail("expected a call", tag)
        self.block(tag)

    def tag_filter(self, tag: Token) -> None:
        self.filter()
        while self.accept("|"):
            self.filter()
        self.block(tag)

    def tag_with(self, tag: Token) -> None:
        while self.token.kind != "close":
            self.target()
            self.expect("=")
            self.expression()
            if self.token.kind != "close":
                self.expect(",")
        self.block(tag)

    def tag_block(self, tag: Token) -> None:
        self.name()
        while self.token.kind == "name" and self.token.text in ("scoped", "required"):
            self.at += 1
        self.block(tag)

    def tag_autoescape(self, tag: Token) -> None:
        self.expression()
        self.block(tag)

    def tag_generation(self, tag: Token) -> None:
        self.block(tag)

    def tag_break(self, tag: Token) -> None:
        self.close()

    tag_continue = tag_break

    def tag_print(self, tag: Token) -> None:
        if self.token.kind != "close":
            self.expression()
            while self.accept(","):
                self.expression()
        self.close()

    def tag_extends(self, tag: Token) -> None:
        self.expression()
        self.close()

    def tag_include(self, tag: Token) -> None:
        self.expression()
        if self.accept("ignore", "name"):
            self.expect("missing", "name")
        self.context()
        self.close()

    def tag_import(self, tag: Token) -> None:
        self.expression()
        self.expect("as", "name")
        self.target()
        self.context()
        self.close()

    def tag_from(self, tag: Token) -> None:
        self.expression()
        self.expect("import", "name")
        while self.token.kind == "name":
            self.name()
            if self.accept("as", "name"):
                self.name()
            self.context()
            if not self.accept(","):
                break
        self.close()

    def context(self) -> None:
        if self.token.text in ("with", "without") and self.tokens[self.at + 1].text == "context":
            self.at += 2

    def parameters(self) -> None:
        self.expect("(")
        has_default = False
        while not self.is_next(")"):
            self.variable()
            if self.accept("="):
                has_default = True
                self.expression()
            elif has_default:
                self.fail("a parameter without a default after one with a default")
            if not self.is_next(")"):
                self.expect(",")
        self.expect(")")

    def variable(self) -> None:
        token = self.token
        if self.name() in _CONSTANTS | _WORDS:
            self.fail(f"cannot assign to `{token.text}`", token)

    def target(self, *, may_be_attribute: bool = False) -> None:
        """Read a name, a name with an attribute if that may be, or a tuple of names."""
        begin = self.token
        if may_be_attribute and self.tokens[self.at + 1].text == ".":
            self.name()
            self.at += 1
            self.name()
            return
        while True:
            if self.accept("("):
                self.target()
                self.expect(")")
            elif self.token.kind == "name" and (self.token is begin or self.token.text not in _WORDS):
                self.variable()
            elif self.token is begin:
                self.fail(f"cannot assign to {_word_of(self.token)}")
            else:
                return
            if not self.accept(","):
                return

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
        if self.depth > _DEEPEST:
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
        if self.at - signs > _DEEPEST:
            self.fail("nested too deeply")
        self.primary()
        self.postfixes()

    def primary(self) -> None:
        token = self.token
        self.at += 1
        if token.kind in ("name", "int", "float"):
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
            self.fail(f"expected an expression, not {_word_of(token)}", token)

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
                        self.fail(f"expected `]`, not {_word_of(self.token)}")
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


def _word_of(token: Token) -> str:
    return "the end of the template" if token.kind == "end" else f"`{token.text[:40]}`"
