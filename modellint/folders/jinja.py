"""Chat templates: the syntax of Jinja is checked, and the texts and names of a template are collected.

transformers compiles a chat template with loop controls (`break`, `continue`) and a tag `generation`, which are known
here. Nothing is rendered.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from modellint.folders.jinja_expressions import DEEPEST, Expressions, Text, word_of
from modellint.folders.jinja_tokens import TemplateError, Token, tokens_of

#: Words that no name of a variable may be.
_WORDS: Final = frozenset("and else if in is not or".split())
_CONSTANTS: Final = frozenset("true false none True False None".split())
#: Tags that have a body, with the tags that divide it.
_DIVIDERS: Final = {"if": ("elif", "else"), "for": ("else",)}


class Template(NamedTuple):
    """The texts of a template, in their order, and the error that Jinja raises, None if it accepts the template.

    `reads` are the names that it reads, with the number of the first character of each, `bound` those that it sets.
    """

    texts: tuple[Text, ...]
    error: TemplateError | None
    reads: tuple[tuple[str, int], ...] = ()
    bound: frozenset[str] = frozenset()


def read_template(template: str) -> Template:
    """The texts, the names and the first error of a template."""
    parser = _Parser(template)
    error = None
    try:
        parser.tokens = [*tokens_of(template)]
        parser.body(())
    except TemplateError as found:
        error = found
    return Template(tuple(parser.texts), error, tuple(parser.reads), frozenset(parser.bound))


class _Parser(Expressions):
    """Tags of a template, and the bodies between them."""

    def body(self, ends: tuple[str, ...], opened: Token | None = None) -> str:
        """Read text and tags up to one of the tags `ends`, which is returned and of which the name is read."""
        self.depth += 1
        if self.depth > DEEPEST:
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
        self.bound.add(self.name())
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
            name = self.name()
            self.bound.add(self.name() if self.accept("as", "name") else name)
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
        self.bound.add(token.text)

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
                self.fail(f"cannot assign to {word_of(self.token)}")
            else:
                return
            if not self.accept(","):
                return
